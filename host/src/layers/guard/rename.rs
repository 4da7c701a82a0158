//! What `rename` may replace.

use belljar_contract::{
    Context, ErrorKind, Expected, GuestPath, Operation, Request, Response, Result, files::EntryKind,
};

use super::{backend::Guard, state::Much};

const OPERATION: Operation = Operation::Rename;

impl Guard {
    pub(super) async fn rename(
        &self,
        context: &Context,
        mut source: GuestPath,
        target: GuestPath,
        asked: Expected,
    ) -> Result<Response> {
        let chosen = asked == Expected::Any && source.as_str() != target.as_str();
        let destination = match asked {
            Expected::Any if chosen => self.replaced(context, &mut source, &target).await?,
            Expected::Any | Expected::Absent => asked,
            Expected::Version(version) => {
                let leave = self.leave_for(context, OPERATION, &target, version, Much::Whole);
                leave.await?.expected
            }
        };
        let (from, to) = (source.clone(), target.clone());
        let request = Request::Rename {
            source,
            target,
            destination,
        };
        let answer = match self.below.call(context, request).await {
            Err(mut error) if chosen && error.kind == ErrorKind::AlreadyExists => {
                error.message = "something is there that has not been read; remove it first".into();
                return Err(error);
            }
            answer => answer?,
        };
        if from.as_str() != to.as_str() {
            self.seen.moved(from.as_str(), to.as_str());
        }
        Ok(answer)
    }

    /// What to expect of a target that may be replaced. A link is not replaced: there is no way to
    /// say that the link, and nothing that comes in its place meanwhile, is meant.
    async fn replaced(
        &self,
        context: &Context,
        source: &mut GuestPath,
        target: &GuestPath,
    ) -> Result<Expected> {
        match self.version(context, OPERATION, target).await {
            Ok(version) => {
                if self.is_link(context, target).await? {
                    return Ok(Expected::Absent);
                }
                let leave = self.leave_for(context, OPERATION, target, version, Much::Whole);
                Ok(leave.await?.expected)
            }
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Expected::Absent),
            Err(error) if error.kind == ErrorKind::IsADirectory => {
                // A directory replaces an empty directory, and never a file.
                let path = source.clone();
                match self.below.call(context, Request::Stat { path }).await {
                    Ok(Response::Info(info)) if info.kind == EntryKind::Directory => {
                        *source = source.clone().into_directory();
                        Ok(Expected::Any)
                    }
                    Ok(_) => Err(error),
                    Err(error) => Err(error.during(OPERATION)),
                }
            }
            Err(error) => Err(error),
        }
    }

    async fn is_link(&self, context: &Context, path: &GuestPath) -> Result<bool> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else {
            return Ok(false);
        };
        let parent = self.resolve(context, OPERATION, &parent).await?;
        let real = self.resolve(context, OPERATION, path).await?;
        Ok(parent
            .join(name)
            .map_or(true, |itself| itself.as_str() != real.as_str()))
    }
}
