//! A small backend in memory, for the tests of layers: files and links, strict about paths without links.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Expected, GuestPath, Operation, Request, Response, Result,
    Version, async_trait,
    files::{
        Chunk, Content, Entry, EntryKind, Found, GlobResult, Info, Line, Listing, Match, Name,
        Replaced, SearchResult,
    },
    processes::{Execution, Outcome, Output, ProcessId},
    session::{Capability, Description, Limits, PolicySummary},
};

use super::Rules;

/// A thing with a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    File(Vec<u8>),
    Link(String),
    Directory,
}

type Tree = BTreeMap<String, Node>;
type Hook = Box<dyn FnMut(&Request, &mut Tree) + Send>;

/// The backend: what is in it, and what was asked.
pub(super) struct Fake {
    tree: Mutex<Tree>,
    pub(super) asked: Mutex<Vec<Request>>,
    /// Runs before each request: someone else who works in the same place.
    hook: Mutex<Option<Hook>>,
    description: Arc<Description>,
}

impl Fake {
    /// Makes a backend with these files (`path=content`), links (`path->target`) and directories (`path/`).
    pub(super) fn with(nodes: &[&str]) -> Arc<Self> {
        let mut tree = Tree::new();
        for node in nodes {
            let (path, node) = if let Some((path, target)) = node.split_once("->") {
                (path, Node::Link(target.to_owned()))
            } else if let Some((path, content)) = node.split_once('=') {
                (path, Node::File(content.as_bytes().to_vec()))
            } else {
                (node.trim_end_matches('/'), Node::Directory)
            };
            for (end, _) in path.match_indices('/') {
                tree.entry(path[..end].to_owned())
                    .or_insert(Node::Directory);
            }
            tree.insert(path.to_owned(), node);
        }
        let description = Description {
            backend: "fake".into(),
            root: "/workspace".into(),
            process_root: None,
            writable: true,
            durable: false,
            capabilities: Capability::ALL.to_vec(),
            limits: Limits::default(),
            policy: PolicySummary::default(),
            instructions: "Fake.".into(),
            hardening_gaps: Vec::new(),
        };
        Arc::new(Self {
            tree: Mutex::new(tree),
            asked: Mutex::default(),
            hook: Mutex::default(),
            description: Arc::new(description),
        })
    }

    /// Works in the same place, before each request from now on.
    pub(super) fn meanwhile(&self, hook: impl FnMut(&Request, &mut Tree) + Send + 'static) {
        *self.hook.lock().unwrap() = Some(Box::new(hook));
    }

    pub(super) fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap()
    }

    /// The content at a path.
    pub(super) fn content(&self, path: &str) -> Option<String> {
        match self.tree().get(path) {
            Some(Node::File(bytes)) => Some(String::from_utf8(bytes.clone()).unwrap()),
            _ => None,
        }
    }
}

/// Runs a call to its end on this thread.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    belljar_contract::blocking::block_on(&Context::new(), future).unwrap()
}

pub(super) fn version(bytes: &[u8]) -> Version {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Version::parse(&format!("v{text}")).unwrap()
}

struct Op<'a> {
    tree: &'a mut Tree,
    operation: Operation,
}

impl Op<'_> {
    fn error(&self, kind: ErrorKind, path: &GuestPath) -> Error {
        Error::new(kind, self.operation, "fake").at(path.to_string())
    }

    /// Where a path leads. What is missing at the end stays.
    fn resolve(&self, path: &GuestPath) -> Result<String> {
        let mut rest: Vec<String> = path.names().rev().map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        let mut links = 0;
        // Whether what is left to follow came out of a link at the path's end.
        let mut of_link = false;
        while let Some(name) = rest.pop() {
            if name == ".." {
                at.pop()
                    .ok_or_else(|| self.error(ErrorKind::AccessDenied, path))?;
                continue;
            }
            at.push(name);
            match self.tree.get(&at.join("/")) {
                Some(Node::Link(target)) => {
                    links += 1;
                    if path.no_links() || links > 40 || target.starts_with('/') {
                        return Err(self.error(ErrorKind::AccessDenied, path));
                    }
                    at.pop();
                    of_link |= rest.is_empty();
                    rest.extend(target.split('/').rev().map(str::to_owned));
                    if rest.is_empty() {
                        break;
                    }
                }
                Some(Node::Directory) => {}
                Some(Node::File(_)) if rest.is_empty() => {}
                Some(Node::File(_)) => return Err(self.error(ErrorKind::NotADirectory, path)),
                None if rest.is_empty() && !of_link => {}
                None => return Err(self.error(ErrorKind::NotFound, path)),
            }
        }
        let real = at.join("/");
        let directory = real.is_empty() || self.tree.get(&real) == Some(&Node::Directory);
        if path.must_be_directory() && !directory {
            let there = self.tree.contains_key(&real);
            let kind = if there {
                ErrorKind::NotADirectory
            } else {
                ErrorKind::NotFound
            };
            return Err(self.error(kind, path));
        }
        Ok(real)
    }

    fn entry(&self, path: &GuestPath) -> Result<String> {
        let parent = self.resolve(&path.parent().unwrap())?;
        let name = path.name().unwrap();
        let real = if parent.is_empty() {
            name.to_owned()
        } else {
            format!("{parent}/{name}")
        };
        match self.tree.get(&real) {
            Some(Node::File(_) | Node::Link(_)) if path.must_be_directory() => {
                Err(self.error(ErrorKind::NotADirectory, path))
            }
            _ => Ok(real),
        }
    }

    fn file(&self, path: &GuestPath) -> Result<(String, Vec<u8>)> {
        let real = self.resolve(path)?;
        match self.tree.get(&real) {
            Some(Node::File(bytes)) => Ok((real, bytes.clone())),
            Some(_) => Err(self.error(ErrorKind::IsADirectory, path)),
            None if real.is_empty() => Err(self.error(ErrorKind::IsADirectory, path)),
            None => Err(self.error(ErrorKind::NotFound, path)),
        }
    }

    fn expect(&self, at: &str, path: &GuestPath, expected: &Expected) -> Result<()> {
        match (expected, self.tree.get(at)) {
            (_, Some(Node::Directory)) => Err(self.error(ErrorKind::IsADirectory, path)),
            (Expected::Any, _) | (Expected::Absent, None) => Ok(()),
            (Expected::Absent, Some(_)) => Err(self.error(ErrorKind::AlreadyExists, path)),
            (Expected::Version(asked), Some(Node::File(bytes))) if version(bytes) == *asked => {
                Ok(())
            }
            (Expected::Version(_), _) => Err(self.error(ErrorKind::Stale, path)),
        }
    }

    fn put(
        &mut self,
        path: &GuestPath,
        expected: &Expected,
        parents: bool,
        make: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<Version> {
        let dangling = self.resolve(path).is_err() && self.tree.contains_key(path.as_str());
        if dangling && *expected == Expected::Absent {
            return Err(self.error(ErrorKind::AlreadyExists, path));
        }
        if parents {
            for (end, _) in path.as_str().match_indices('/') {
                let parent = path.as_str()[..end].to_owned();
                self.tree.entry(parent).or_insert(Node::Directory);
            }
        }
        let real = self.resolve(path)?;
        self.expect(&real, path, expected)?;
        let before = match self.tree.get(&real) {
            Some(Node::File(bytes)) => bytes.clone(),
            _ => Vec::new(),
        };
        let bytes = make(&before);
        let version = version(&bytes);
        self.tree.insert(real, Node::File(bytes));
        Ok(version)
    }

    fn below(&self, directory: &str) -> Vec<(String, EntryKind)> {
        let prefix = if directory.is_empty() {
            String::new()
        } else {
            format!("{directory}/")
        };
        let below = self
            .tree
            .iter()
            .filter(|(path, _)| path.starts_with(&prefix));
        below
            .map(|(path, node)| (path.clone(), kind(node)))
            .collect()
    }

    fn answer(&mut self, request: Request) -> Result<Response> {
        Ok(match request {
            Request::Read { path } => {
                let (_, bytes) = self.file(&path)?;
                Response::Content(Content {
                    version: version(&bytes),
                    bytes,
                })
            }
            Request::ReadRange {
                path,
                offset,
                length,
            } => {
                let (_, bytes) = self.file(&path)?;
                let size = bytes.len();
                let from = usize::try_from(offset).unwrap().min(size);
                let to = from
                    .saturating_add(usize::try_from(length).unwrap())
                    .min(size);
                Response::Chunk(Chunk {
                    size: size as u64,
                    version: version(&bytes),
                    bytes: bytes[from..to].to_vec(),
                })
            }
            Request::Write {
                path,
                bytes,
                options,
            } => Response::Version(self.put(
                &path,
                &options.expected,
                options.make_parents,
                |_| bytes,
            )?),
            Request::Append {
                path,
                bytes,
                options,
            } => Response::Version(self.put(
                &path,
                &options.expected,
                options.make_parents,
                |before| [before, &bytes].concat(),
            )?),
            Request::Replace {
                path,
                old,
                new,
                options,
            } => {
                let (_, bytes) = self.file(&path)?;
                let text = String::from_utf8(bytes).unwrap();
                let (old, new) = (
                    String::from_utf8(old).unwrap(),
                    String::from_utf8(new).unwrap(),
                );
                let count = text.matches(&old).count() as u64;
                if count == 0 {
                    return Err(self.error(ErrorKind::NoMatch, &path));
                }
                let text = text.replace(&old, &new).into_bytes();
                let version = self.put(&path, &options.expected, false, |_| text)?;
                Response::Replaced(Replaced { count, version })
            }
            Request::Copy {
                source,
                target,
                destination,
            } => {
                let (_, bytes) = self.file(&source)?;
                Response::Version(self.put(&target, &destination, false, |_| bytes)?)
            }
            Request::Rename {
                source,
                target,
                destination,
            } => {
                let (from, to) = (self.entry(&source)?, self.entry(&target)?);
                let node = self.tree.get(&from).cloned();
                let node = node.ok_or_else(|| self.error(ErrorKind::NotFound, &source))?;
                if !(node == Node::Directory && self.tree.get(&to) == Some(&Node::Directory)) {
                    self.expect(&to, &target, &destination)?;
                }
                let prefix = format!("{from}/");
                let moving: Vec<String> = self
                    .tree
                    .keys()
                    .filter(|path| path.starts_with(&prefix))
                    .cloned()
                    .collect();
                for path in moving {
                    let node = self.tree.remove(&path).unwrap();
                    self.tree
                        .insert(format!("{to}{}", &path[from.len()..]), node);
                }
                self.tree.remove(&from);
                self.tree.insert(to, node);
                Response::Done
            }
            Request::Remove { path, recursive } => {
                let at = self.entry(&path)?;
                if !self.tree.contains_key(&at) {
                    return Err(self.error(ErrorKind::NotFound, &path));
                }
                let below: Vec<String> =
                    self.below(&at).into_iter().map(|(path, _)| path).collect();
                if !below.is_empty() && !recursive {
                    return Err(self.error(ErrorKind::NotEmpty, &path));
                }
                for path in below {
                    self.tree.remove(&path);
                }
                self.tree.remove(&at);
                Response::Done
            }
            Request::MakeDirectory { path } => {
                for (end, _) in path.as_str().match_indices('/') {
                    let parent = path.as_str()[..end].to_owned();
                    self.tree.entry(parent).or_insert(Node::Directory);
                }
                self.tree
                    .entry(path.as_str().to_owned())
                    .or_insert(Node::Directory);
                Response::Done
            }
            Request::Stat { path } => {
                let real = self.resolve(&path)?;
                let kind = match self.tree.get(&real) {
                    Some(node) => kind(node),
                    None if real.is_empty() => EntryKind::Directory,
                    None => return Err(self.error(ErrorKind::NotFound, &path)),
                };
                Response::Info(Info {
                    kind,
                    size: 0,
                    modified: 0,
                    mode: 0,
                })
            }
            Request::Resolve { path } => {
                let real = self.resolve(&path)?;
                let text = if real.is_empty() {
                    ".".to_owned()
                } else {
                    real
                };
                Response::Path(GuestPath::try_from(text).unwrap())
            }
            Request::List { path, limit } => {
                let real = self.resolve(&path)?;
                let skip = if real.is_empty() { 0 } else { real.len() + 1 };
                let below = self.below(&real).into_iter();
                let direct = below.filter(|(path, _)| !path[skip..].contains('/'));
                let entry = |(path, kind): (String, EntryKind)| Entry {
                    name: path[skip..].into(),
                    kind,
                    size: None,
                };
                let entries: Vec<Entry> = direct.map(entry).collect();
                let total = entries.len() as u64;
                let entries = entries.into_iter().take(limit as usize).collect();
                Response::Listing(Listing { entries, total })
            }
            Request::Glob { pattern, scope } => {
                let base = self.resolve(&scope.base)?;
                let skip = if base.is_empty() { 0 } else { base.len() + 1 };
                let rules = Rules::new([pattern.as_str()]).unwrap();
                let mut found = self.below(&base);
                found.retain(|(path, _)| rules.matches(&path[skip..]));
                let total = found.len() as u64;
                let found = found.into_iter().take(scope.limit as usize);
                let paths = found.map(|(path, kind)| Found {
                    path: path.as_str().into(),
                    kind,
                });
                Response::Glob(GlobResult {
                    paths: paths.collect(),
                    total,
                    skipped: Default::default(),
                })
            }
            Request::Search { query, scope } => {
                let base = self.resolve(&scope.base)?;
                let mut matches = Vec::new();
                for (path, _) in self.below(&base) {
                    let Some(Node::File(bytes)) = self.tree.get(&path) else {
                        continue;
                    };
                    if String::from_utf8_lossy(bytes).contains(&query.pattern) {
                        matches.push(Match {
                            path: Name::from(path.as_str()),
                            line_number: 1,
                            offset: 0,
                            line: Line::from_bytes(bytes),
                            before: Vec::new(),
                            after: Vec::new(),
                        });
                    }
                }
                let more = matches.len() > scope.limit as usize;
                matches.truncate(scope.limit as usize);
                Response::Search(SearchResult {
                    matches,
                    more,
                    skipped: Default::default(),
                })
            }
            Request::Run(_) => Response::Execution(Execution {
                outcome: Outcome::Exited(0),
                stdout: Output::default(),
                stderr: Output::default(),
                duration: Default::default(),
            }),
            Request::Start(_) => Response::Process(ProcessId(7)),
            Request::FindCommands { names } => Response::Commands(
                names
                    .into_iter()
                    .map(|name| belljar_contract::session::CommandInfo {
                        path: Some(format!("/usr/bin/{name}")),
                        version: None,
                        name,
                    })
                    .collect(),
            ),
            _ => Response::Done,
        })
    }
}

fn kind(node: &Node) -> EntryKind {
    match node {
        Node::File(_) => EntryKind::File,
        Node::Link(_) => EntryKind::Link,
        Node::Directory => EntryKind::Directory,
    }
}

#[async_trait]
impl Backend for Fake {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, _: &Context, request: Request) -> Result<Response> {
        self.asked.lock().unwrap().push(request.clone());
        let mut tree = self.tree();
        if let Some(hook) = self.hook.lock().unwrap().as_mut() {
            hook(&request, &mut tree);
        }
        let operation = request.operation();
        Op {
            tree: &mut tree,
            operation,
        }
        .answer(request)
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}
