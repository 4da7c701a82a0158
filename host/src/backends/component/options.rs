//! What an operator says of a backend that is a component.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use belljar_contract::session::Limits;

use super::{HttpGrant, SecretSource};

/// How the `component` backend is opened.
///
/// The component has of the world what is granted to it here and nothing else: no file, no process, no variable of this
/// machine.
///
/// ```
/// use belljar::backends::{ComponentOptions, HttpGrant};
///
/// let mut options = ComponentOptions::new("vendor.wasm");
/// options.http.push(HttpGrant::to(["api.sandboxes.example"]));
/// options.settings.insert("template".into(), "base".into());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ComponentOptions {
    /// The component: a file of this machine.
    pub component: PathBuf,
    /// What it is told by name.
    pub settings: BTreeMap<String, String>,
    /// Secrets that it is told by name.
    pub secrets: BTreeMap<String, SecretSource>,
    /// The requests that it may make.
    pub http: Vec<HttpGrant>,
    /// A file of certificates (PEM) whose owners are believed beside those that the system believes.
    pub ca: Option<PathBuf>,
    /// What it may use.
    pub component_limits: ComponentLimits,
    /// Whether the file functions may change anything. What processes may do, the other side alone decides.
    pub writable: bool,
    /// The numbers in force.
    pub limits: Limits,
}

impl fmt::Debug for ComponentOptions {
    /// Leaves out the settings' values: one may be a secret that somebody took for none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentOptions")
            .field("component", &self.component)
            .field("settings", &self.settings.keys())
            .field("secrets", &self.secrets)
            .field("http", &self.http)
            .field("ca", &self.ca)
            .field("component_limits", &self.component_limits)
            .field("writable", &self.writable)
            .field("limits", &self.limits)
            .finish()
    }
}

impl ComponentOptions {
    /// The defaults, with a component: it can reach nothing yet.
    #[must_use]
    pub fn new(component: impl Into<PathBuf>) -> Self {
        Self {
            component: component.into(),
            settings: BTreeMap::new(),
            secrets: BTreeMap::new(),
            http: Vec::new(),
            ca: None,
            component_limits: ComponentLimits::default(),
            writable: true,
            limits: Limits::default(),
        }
    }
}

/// What a backend that is a component may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentLimits {
    /// The memory of one instance. A call has an instance for itself.
    pub memory_bytes: u64,
    /// The most bytes in the body of one request or response.
    pub body_bytes: u64,
    /// The time for whatever has no limit of its own: opening, closing, an operation on files.
    pub timeout: Duration,
    /// Calls at once; the next one waits.
    pub calls: u32,
}

impl Default for ComponentLimits {
    fn default() -> Self {
        Self {
            // The largest input of a process, 64 MiB, in a body as base64 (a third more), and both in memory, with
            // what an allocator leaves between them.
            memory_bytes: 384 << 20,
            body_bytes: 96 << 20,
            // As long as a call of a tool lasts.
            timeout: Duration::from_secs(120),
            // As many processes as a session runs at once.
            calls: 64,
        }
    }
}
