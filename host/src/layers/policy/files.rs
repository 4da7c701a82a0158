//! Which changes of files a policy allows.

use belljar_contract::{
    Context, Error, ErrorKind, Expected, GuestPath, Operation, Request, Response, Result,
    files::EntryKind,
};

use super::{
    backend::{PolicyBackend, denied},
    locate::{Located, as_asked, may_see, may_use, may_use_below, path_denied},
};

impl PolicyBackend {
    /// Changes what may be changed.
    pub(super) async fn change(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        // `replace` tells whether a text occurs, and the other two carry content to another path.
        let reads = matches!(
            operation,
            Operation::Replace | Operation::Copy | Operation::Rename
        );
        if reads && !self.policy.read {
            return Err(denied(operation, "look at files, which this needs"));
        }
        if self.policy.write_paths.is_none() && (!reads || self.policy.read_paths.is_none()) {
            return self.ask(context, request).await;
        }
        match request {
            Request::Write {
                path,
                bytes,
                options,
            } => {
                let at = self.target(context, operation, &path, &options.expected);
                let at = at.await?;
                let path = at.real.clone();
                let request = Request::Write {
                    path,
                    bytes,
                    options,
                };
                self.ask_at(context, request, &[&at]).await
            }
            Request::Append {
                path,
                bytes,
                options,
            } => {
                let at = self.target(context, operation, &path, &options.expected);
                let at = at.await?;
                let path = at.real.clone();
                let request = Request::Append {
                    path,
                    bytes,
                    options,
                };
                self.ask_at(context, request, &[&at]).await
            }
            Request::Replace {
                path,
                old,
                new,
                options,
            } => {
                let at = self
                    .target(context, operation, &path, &Expected::Any)
                    .await?;
                self.must(operation, &at, self.may_read(&at.real))?;
                let path = at.real.clone();
                let request = Request::Replace {
                    path,
                    old,
                    new,
                    options,
                };
                self.ask_at(context, request, &[&at]).await
            }
            Request::Copy {
                source,
                target,
                destination,
            } => {
                let from = self.seen(context, operation, &source).await?;
                let to = self
                    .target(context, operation, &target, &destination)
                    .await?;
                let request = Request::Copy {
                    source: from.real.clone(),
                    target: to.real.clone(),
                    destination,
                };
                self.ask_at(context, request, &[&from, &to]).await
            }
            Request::MakeDirectory { path } => self.make_directory(context, &path).await,
            Request::Remove { path, recursive } => self.remove(context, &path, recursive).await,
            Request::Rename {
                source,
                target,
                destination,
            } => self.rename(context, &source, &target, destination).await,
            // Every other request changes nothing, and does not come here.
            _ => Err(denied(operation, "do this")),
        }
    }

    /// A file that is to be changed or made.
    async fn target(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
        expected: &Expected,
    ) -> Result<Located> {
        let rules = self.policy.write_paths.as_ref();
        let may = |path: &str| may_use(rules, path);
        let mut at = self.locate(context, operation, path, may).await?;
        // The root is no file, as the backend will say.
        let root = at.real.is_root();
        self.must(operation, &at, root || may(at.real.as_str()))?;
        match at.dangling.take() {
            // A link is something, whatever it points to.
            Some(error) if *expected == Expected::Absent && error.kind == ErrorKind::NotFound => {
                let message = "a link to nothing is there";
                let error = Error::new(ErrorKind::AlreadyExists, operation, message);
                Err(error.at(path.to_string()))
            }
            Some(error) => Err(error),
            None => Ok(at),
        }
    }

    async fn make_directory(&self, context: &Context, path: &GuestPath) -> Result<Response> {
        let operation = Operation::MakeDirectory;
        let rules = self.policy.write_paths.as_ref();
        // A directory on the way to what may be written may be made.
        let may = |path: &str| may_see(rules, path);
        let at = self.locate(context, operation, path, may).await?;
        self.must(operation, &at, may(at.real.as_str()))?;
        if let Some(error) = at.dangling {
            // Where its directory is there, it is the last name that is a link to nothing.
            let parent = path.parent().unwrap_or(GuestPath::root());
            let itself = error.kind == ErrorKind::NotFound
                && self.resolve(context, operation, &parent).await.is_ok();
            let message = "a link to nothing has this name";
            return Err(match itself {
                true => {
                    Error::new(ErrorKind::AlreadyExists, operation, message).at(path.to_string())
                }
                false => error,
            });
        }
        let path = at.real.clone();
        let request = Request::MakeDirectory { path };
        self.ask_at(context, request, &[&at]).await
    }

    async fn remove(
        &self,
        context: &Context,
        path: &GuestPath,
        recursive: bool,
    ) -> Result<Response> {
        let operation = Operation::Remove;
        let rules = self.policy.write_paths.as_ref();
        let may = |path: &str| may_use(rules, path);
        let at = self.locate_entry(context, operation, path, may).await?;
        let (itself, below) = (
            may(at.real.as_str()),
            may_use_below(rules, at.real.as_str()),
        );
        self.must(operation, &at, itself || below)?;
        // A rule for what is in a directory allows to remove the directory, and nothing else of this name.
        let path = match itself {
            true => at.real.clone(),
            false => at.real.clone().into_directory(),
        };
        let request = Request::Remove {
            path,
            recursive: recursive && below,
        };
        match self.ask_at(context, request, &[&at]).await {
            Err(error) if error.kind == ErrorKind::NotEmpty && recursive => {
                Err(denied(operation, "remove everything in this directory")
                    .at(at.asked.to_string()))
            }
            answer => answer,
        }
    }

    /// A file, or a link, moves by the rules for its two paths. With a directory moves all that is in
    /// it, known or not, so the rules must cover it whole.
    async fn rename(
        &self,
        context: &Context,
        source: &GuestPath,
        target: &GuestPath,
        destination: Expected,
    ) -> Result<Response> {
        let operation = Operation::Rename;
        let policy = &self.policy;
        let (read, write) = (policy.read_paths.as_ref(), policy.write_paths.as_ref());
        let may_move = |path: &str| may_use(read, path) && may_use(write, path);
        let may_take = |path: &str| may_use_below(read, path) && may_use_below(write, path);
        let may_ask = |path: &str| may_move(path) || may_take(path);
        let mut from = self
            .locate_entry(context, operation, source, may_ask)
            .await?;
        let may_put = |path: &str| may_use(write, path) || may_use_below(write, path);
        let to = self
            .locate_entry(context, operation, target, may_put)
            .await?;
        let (old, new) = (from.real.as_str(), to.real.as_str());

        let whole = may_take(old) && may_use_below(write, new);
        let single = may_move(old) && may_use(write, new);
        self.must(operation, &from, whole || may_move(old))?;
        self.must(operation, &to, whole || may_use(write, new))?;
        match (whole, single) {
            (true, true) => {}
            // Only as a directory, or only as something else.
            (true, false) => from.real = from.real.into_directory(),
            (false, _) => {
                let directory = self.is_directory(context, &from.real).await?;
                self.must(operation, &from, !directory)?;
            }
        }
        let request = Request::Rename {
            source: from.real.clone(),
            target: to.real.clone(),
            destination,
        };
        self.ask_at(context, request, &[&from, &to]).await
    }

    /// Whether an entry is a directory, and not a link to one.
    async fn is_directory(&self, context: &Context, entry: &GuestPath) -> Result<bool> {
        let path = entry.clone();
        match self.ask(context, Request::Stat { path }).await {
            Ok(Response::Info(info)) => Ok(info.kind == EntryKind::Directory),
            // Without links, a link is what may not be followed; and what is not there moves nowhere.
            Err(error) if matches!(error.kind, ErrorKind::AccessDenied | ErrorKind::NotFound) => {
                Ok(false)
            }
            Ok(_) => Ok(true),
            Err(error) => Err(error.during(Operation::Rename)),
        }
    }

    fn may_read(&self, path: &GuestPath) -> bool {
        may_use(self.policy.read_paths.as_ref(), path.as_str())
    }

    pub(super) fn must(&self, operation: Operation, at: &Located, may: bool) -> Result<()> {
        match may {
            true => Ok(()),
            false => Err(path_denied(operation, &at.asked)),
        }
    }

    /// Asks below, and gives an error the path that its caller knows.
    pub(super) async fn ask_at(
        &self,
        context: &Context,
        request: Request,
        paths: &[&Located],
    ) -> Result<Response> {
        let answer = self.ask(context, request).await;
        answer.map_err(|error| as_asked(error, paths))
    }
}
