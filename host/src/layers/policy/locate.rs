//! Where a path leads: what a rule is asked about.

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Operation, Request, Response, Result,
};

use super::{Rules, backend::PolicyBackend};

/// A path as its caller spelt it, and where it leads.
pub(super) struct Located {
    /// As it was spelt.
    pub(super) asked: GuestPath,
    /// Where it leads, without links.
    pub(super) real: GuestPath,
    /// Whether it may only be seen if it is a directory, on the way to what may be used.
    pub(super) only_directory: bool,
    /// Why there is nothing, and nothing can be made: a link on the way points to nothing, or a file is
    /// on the way.
    pub(super) dangling: Option<Error>,
}

impl PolicyBackend {
    /// Finds where a path leads, every link followed. What is missing at the end stays as it is.
    ///
    /// `may_ask` says whether a path, as spelt, is one whose absence may be told.
    pub(super) async fn locate(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
        may_ask: impl Fn(&str) -> bool,
    ) -> Result<Located> {
        let found = self.follow(context, operation, path).await;
        found.map_err(|error| tell(error, operation, path, may_ask(path.as_str())))
    }

    /// Finds where the directory of an entry leads: the entry itself is not followed.
    pub(super) async fn locate_entry(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
        may_ask: impl Fn(&str) -> bool,
    ) -> Result<Located> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else {
            return Err(path_denied(operation, path));
        };
        let may_tell = may_ask(path.as_str());
        let parent = match self.follow(context, operation, &parent).await {
            Ok(parent) => parent,
            Err(error) => return Err(tell(error, operation, path, may_tell)),
        };
        let real = join(operation, &parent.real, name)?;
        if let Some(error) = parent.dangling {
            let may_tell = may_tell && may_ask(real.as_str());
            return Err(tell(error, operation, path, may_tell));
        }
        Ok(Located {
            real: like(real, path),
            asked: path.clone(),
            only_directory: false,
            dangling: None,
        })
    }

    async fn follow(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
    ) -> Result<Located> {
        let first = match self.resolve(context, operation, path).await {
            Ok(real) => {
                return Ok(Located {
                    real: like(real, path),
                    asked: path.clone(),
                    only_directory: false,
                    dangling: None,
                });
            }
            Err(error) if leads_nowhere(&error) => error,
            Err(error) => return Err(error.at(path.to_string())),
        };
        // Something on the way is missing, or is a file: what is there decides where the rest would be,
        // and so whether it may be told.
        let mut missing = Vec::new();
        let mut at = path.clone();
        let real = loop {
            context.check().map_err(|stop| stop.during(operation))?;
            let (Some(parent), Some(name)) = (at.parent(), at.name()) else {
                return Err(first.at(path.to_string()));
            };
            missing.push(name.to_owned());
            at = parent;
            match self.resolve(context, operation, &at).await {
                Ok(real) => break real,
                Err(error) if leads_nowhere(&error) => {}
                Err(error) => return Err(error.at(path.to_string())),
            }
        };
        // In a directory that is there, a missing name resolves; so this one is a link to nothing, or is in a
        // file.
        let stat = Request::Stat { path: real.clone() };
        let is_there = self.ask(context, stat).await.is_ok();
        let mut whole = real;
        for name in missing.into_iter().rev() {
            whole = join(operation, &whole, &name)?;
        }
        Ok(Located {
            real: like(whole, path),
            asked: path.clone(),
            only_directory: false,
            dangling: is_there.then(|| first.at(path.to_string())),
        })
    }

    pub(super) async fn resolve(
        &self,
        context: &Context,
        operation: Operation,
        asked: &GuestPath,
    ) -> Result<GuestPath> {
        // Whether it is the directory that it must be is for the operation itself to say: here it
        // would be taken for a link to nothing when it is not there yet.
        let mut path = GuestPath::try_from(asked.to_string())
            .map_err(|error| Error::new(error.kind(), operation, error.to_string()))?;
        if asked.no_links() {
            path = path.without_links();
        }
        match self.ask(context, Request::Resolve { path }).await {
            Ok(Response::Path(path)) => Ok(path),
            Ok(_) => Err(Error::new(
                ErrorKind::BackendFailed,
                operation,
                "the backend gave a response of another operation",
            )),
            Err(error) => Err(error.during(operation)),
        }
    }
}

/// Whether a path has no place: what is on its way is missing, or is no directory.
fn leads_nowhere(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The path with what the caller's spelling says of its kind, to be reached without links.
fn like(real: GuestPath, asked: &GuestPath) -> GuestPath {
    let real = real.without_links();
    match asked.must_be_directory() {
        true => real.into_directory(),
        false => real,
    }
}

fn join(operation: Operation, directory: &GuestPath, name: &str) -> Result<GuestPath> {
    directory.join(name).map_err(|error| {
        Error::new(error.kind(), operation, error.to_string())
            .at(name)
            .because(error)
    })
}

/// What is told of a path that leads nowhere: the reason only where the path may be asked about.
fn tell(error: Error, operation: Operation, path: &GuestPath, may_tell: bool) -> Error {
    // These are about the call and not about the path.
    let of_the_call = matches!(
        error.kind,
        ErrorKind::Cancelled
            | ErrorKind::TimedOut
            | ErrorKind::Closed
            | ErrorKind::BackendUnavailable
            | ErrorKind::BackendFailed
    );
    match may_tell || of_the_call {
        true => error.at(path.to_string()),
        false => path_denied(operation, path),
    }
}

pub(super) fn path_denied(operation: Operation, path: &GuestPath) -> Error {
    let message = "the policy does not let this tool do this with this path";
    Error::new(ErrorKind::AccessDenied, operation, message).at(path.to_string())
}

/// What is said of something that may not be seen, where what may be could be: as of nothing.
pub(super) fn hidden(error: Error) -> Error {
    let message = "there is nothing here that the policy lets this tool see";
    let told = Error::new(ErrorKind::NotFound, error.operation, message);
    match error.path {
        Some(path) => told.at(path),
        None => told,
    }
}

/// Gives an error the path that its caller knows.
pub(super) fn as_asked(error: Error, paths: &[&Located]) -> Error {
    let of = |located: &&&Located| error.path.as_deref() == Some(&located.real.to_string());
    match paths.iter().find(of) {
        Some(located) => {
            let hide = located.only_directory && error.kind == ErrorKind::NotADirectory;
            let error = if hide { hidden(error) } else { error };
            error.at(located.asked.to_string())
        }
        None => error,
    }
}

/// Whether a path may be seen: it may be read, or something below it may.
pub(super) fn may_see(rules: Option<&Rules>, path: &str) -> bool {
    rules.is_none_or(|rules| rules.matches(path) || rules.may_match_below(path))
}

/// Whether a file may be used.
pub(super) fn may_use(rules: Option<&Rules>, path: &str) -> bool {
    rules.is_none_or(|rules| rules.matches(path))
}

/// Whether everything below a directory may be used.
pub(super) fn may_use_below(rules: Option<&Rules>, path: &str) -> bool {
    rules.is_none_or(|rules| rules.covers(path))
}
