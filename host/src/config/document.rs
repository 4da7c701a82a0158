//! The form of a configuration file: its keys, their types, and what they mean.
//!
//! The doc comments here are what an editor shows: [`schema`] carries them. Values are kept as they
//! were written, with their place, for [`interpret`](super::interpret).

use std::collections::BTreeMap;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use toml::Spanned;

use super::quantity::{DurationValue, NumberValue, SizeValue};
use crate::backends::{ContainerEngine, Guarantee, PullPolicy, TransportChoice};

/// The version of the form.
pub(super) const VERSION: i64 = 1;

/// A configuration of Belljar: which sandbox there is, and what each tool may do in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "belljar.toml")]
pub(super) struct Document {
    /// The version of this form: 1.
    #[schemars(with = "Option<i64>", extend("const" = 1))]
    pub(super) version: Option<Spanned<i64>>,
    /// The backend and its workspace.
    #[serde(default)]
    pub(super) sandbox: Sandbox,
    /// The numbers in force. What is too small or too large is brought into its range, and
    /// reported.
    #[serde(default)]
    pub(super) limits: Limits,
    /// How components of registries are fetched, and who must have signed them.
    #[serde(default)]
    pub(super) registry: Registry,
    /// What is granted to which tool, by the name that listing shows.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Tool>")]
    pub(super) tools: BTreeMap<Spanned<String>, Tool>,
}

/// How components of registries are fetched, and who must have signed them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Registry {
    /// Whether a component of a registry is only loaded with a signature by one of the keys. Default: false.
    #[schemars(with = "Option<bool>")]
    pub(super) require_signature: Option<Spanned<bool>>,
    /// Public keys of minisign's that are trusted, by a name for people.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) keys: BTreeMap<String, Spanned<String>>,
    /// Registries, each with its port, that are asked without TLS, as localhost:5000.
    #[serde(default)]
    pub(super) plain_http: Vec<String>,
}

/// The backend and its workspace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Sandbox {
    /// Where files and processes are. Default: virtual.
    #[schemars(with = "Option<BackendName>")]
    pub(super) backend: Option<Spanned<BackendName>>,
    /// The directory that tools work in, relative to this file. When omitted, it is a
    /// temporary one that ends with the session.
    #[schemars(with = "Option<String>")]
    pub(super) workspace: Option<Spanned<String>>,
    /// Whether anything in the workspace may be changed. Default: true.
    pub(super) writable: Option<bool>,
    /// Read only when the backend is virtual.
    #[schemars(with = "Option<Virtual>")]
    pub(super) r#virtual: Option<Spanned<Virtual>>,
    /// Read only when the backend is local.
    #[serde(default)]
    pub(super) local: Local,
    /// Read only when the backend is component.
    #[schemars(with = "Option<ComponentTable>")]
    pub(super) component: Option<Spanned<ComponentTable>>,
    /// Read only when the backend is container.
    #[schemars(with = "Option<Container>")]
    pub(super) container: Option<Spanned<Container>>,
    /// Read only when the backend is kubernetes.
    #[schemars(with = "Option<Kubernetes>")]
    pub(super) kubernetes: Option<Spanned<Kubernetes>>,
    /// Read only when the backend is remote.
    #[schemars(with = "Option<Remote>")]
    pub(super) remote: Option<Spanned<Remote>>,
}

/// What the virtual backend has beside files.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Virtual {
    /// Programs that need no operating system, by the name that a command calls them by: files of WASI commands,
    /// relative to this file. One file may have several names; a program is told its name. Default: none, and then
    /// there are no processes.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) programs: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// A mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BackendName {
    /// Files, confined to the workspace, and programs that need no operating system.
    Virtual,
    /// Files, and processes of this machine with the host's own rights.
    Local,
    /// What a WebAssembly component lends: a vendor's sandbox, by its own shim.
    Component,
    /// A hardened container.
    Container,
    /// A Pod in a cluster.
    Kubernetes,
    /// Wherever a command reaches: another machine, a container that runs already.
    Remote,
}

/// What the local backend needs to know.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Local {
    /// Says that processes may run on this machine with the host's own rights: the
    /// workspace does not confine them. Must be true for the local backend.
    #[schemars(with = "Option<bool>")]
    pub(super) allow_host_processes: Option<Spanned<bool>>,
    /// The PATH of processes, instead of the documented default.
    #[schemars(with = "Option<String>")]
    pub(super) path: Option<Spanned<String>>,
    /// More variables for processes, which otherwise get the documented defaults and nothing else.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) environment: BTreeMap<Spanned<String>, String>,
}

/// What the component backend needs to know. The component reaches what is granted here and nothing else.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ComponentTable {
    /// The component, a file of the world backend or client, relative to this file. There is no default.
    #[schemars(with = "Option<String>")]
    pub(super) component: Option<Spanned<String>>,
    /// What the component is told by name: what there is, its own documentation says.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, String>,
    /// Secrets that the component is told by name; where each is, and not what it is.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Secret>")]
    pub(super) secrets: BTreeMap<String, Spanned<Secret>>,
    /// The requests that it may make. Default: none.
    #[serde(default)]
    #[schemars(with = "Vec<Http>")]
    pub(super) http: Vec<Spanned<Http>>,
    /// A file of certificates (PEM), relative to this file, whose owners are believed beside those that the system
    /// believes.
    #[schemars(with = "Option<String>")]
    pub(super) ca: Option<Spanned<String>>,
    /// The memory of one instance; each call at the same time has one. Default: 384MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) memory: Option<Spanned<SizeValue>>,
    /// The most bytes in the body of one request or response. Default: 96MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) body: Option<Spanned<SizeValue>>,
    /// The time for whatever has no limit of its own: opening, closing, an operation on files. Default: 2m.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) timeout: Option<Spanned<DurationValue>>,
    /// Calls at once; the next one waits. Default: 64.
    #[schemars(with = "Option<u32>")]
    pub(super) calls: Option<Spanned<i64>>,
}

/// Where a secret is: one of the two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Secret {
    /// A variable of the environment of whoever opens the sandbox.
    pub(super) env: Option<String>,
    /// A file, relative to this one; a line end at its end is no part of the secret.
    #[schemars(with = "Option<String>")]
    pub(super) file: Option<Spanned<String>>,
}

/// Requests that a component may make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Http {
    /// Names or addresses, as in ["api.example.com", "*.example.com"]; the second is every name below it.
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    /// Default: 443, and with http 80.
    pub(super) ports: Option<Vec<i64>>,
    /// In capitals. Default: GET, HEAD, POST, PUT, PATCH and DELETE.
    pub(super) methods: Option<Vec<String>>,
    /// Whether the hosts may have addresses of this machine or of a private network. Default: false.
    pub(super) private: Option<bool>,
    /// Whether http will do, which anybody on the way can read and change. Default: false.
    pub(super) http: Option<bool>,
}

/// What the container backend needs to know. Without more than an image the container has no network, no
/// capabilities, a read-only root, and of this machine the workspace alone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Container {
    /// Whose command line starts the container. Default: docker.
    pub(super) engine: Option<ContainerEngine>,
    /// The engine's program: a name on the PATH, or a path, relative to this file when it has a
    /// slash. Default: the engine's usual name.
    #[schemars(with = "Option<String>")]
    pub(super) program: Option<Spanned<String>>,
    /// The image. There is no default.
    #[schemars(with = "Option<String>")]
    pub(super) image: Option<Spanned<String>>,
    /// When the image is fetched from its registry. Default: missing.
    pub(super) pull: Option<PullPolicy>,
    /// Where the workspace is in the container. Default: /workspace.
    #[schemars(with = "Option<String>")]
    pub(super) cwd: Option<Spanned<String>>,
    /// More of this machine's directories and files, read-only unless one says otherwise.
    #[schemars(with = "Vec<Bind>")]
    #[serde(default)]
    pub(super) binds: Vec<Spanned<Bind>>,
    /// The network's name; none for no network at all. Default: none.
    #[schemars(with = "Option<String>")]
    pub(super) network: Option<Spanned<String>>,
    /// Capabilities that are given back after all were dropped, as NET_BIND_SERVICE. Default: none.
    #[schemars(with = "Vec<String>")]
    #[serde(default)]
    pub(super) cap_add: Vec<Spanned<String>>,
    /// The most memory, swap included. Default: the machine's.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) memory: Option<Spanned<SizeValue>>,
    /// The most processors, as 1.5. Default: the machine's.
    #[schemars(with = "Option<NumberValue>")]
    pub(super) cpus: Option<Spanned<NumberValue>>,
    /// The most processes and threads; 0 for the engine's own limit, which may be none. Default: 512.
    #[schemars(with = "Option<u64>")]
    pub(super) pids_limit: Option<Spanned<i64>>,
    /// Whose rights processes have: host for those of the user who calls, image for the image's, or a user
    /// of the image by name or as UID:GID. Default: host where there is a workspace, so that what
    /// is made there belongs to its owner; else image.
    #[schemars(with = "Option<String>")]
    pub(super) user: Option<Spanned<String>>,
    /// Whether the root is read-only; scratch and /tmp are then the only places to write. Default: true.
    pub(super) readonly_rootfs: Option<bool>,
    /// The size of the scratch that is the workspace when there is no other. Default: 1GiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) scratch: Option<Spanned<SizeValue>>,
    /// Whether programs in the scratch can be executed. Default: true.
    pub(super) scratch_exec: Option<bool>,
    /// The size of /tmp. Default: 256MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) tmp: Option<Spanned<SizeValue>>,
    /// Whether programs in /tmp can be executed. Default: false.
    pub(super) tmp_exec: Option<bool>,
    /// The longest time that a start may take, a pull included. Default: 2m.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) start_timeout: Option<Spanned<DurationValue>>,
    /// A name for the container.
    #[schemars(with = "Option<String>")]
    pub(super) name: Option<Spanned<String>>,
    /// Whether a container of this name is used again, and left when the session closes. Default: false.
    pub(super) reconnect: Option<bool>,
    /// How long prune leaves a container alone whose owner it cannot see. Default: 24h.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) lease: Option<Spanned<DurationValue>>,
    /// More variables for processes in the container.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) environment: BTreeMap<Spanned<String>, String>,
    /// The program that serves the contract in the container: auto for the one of this installation for the
    /// image's architecture, and where there is none for an exec for every operation, which is slow and
    /// weaker (require resident, to be refused instead); off for the exec; or a path, relative to this file,
    /// which must be there. Default: auto.
    #[schemars(with = "Option<String>")]
    pub(super) resident: Option<Spanned<String>>,
    /// How the resident is reached: auto for a socket where the engine is on this kernel, else standard input and
    /// output; or socket, or stdio. Default: auto.
    pub(super) transport: Option<TransportChoice>,
    /// How long a container that is waited for may say nothing at all before its session is dead. Default: 15s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) patience: Option<Spanned<DurationValue>>,
    /// Containers that run before a session needs one, for programs that open many.
    #[serde(default)]
    pub(super) pool: Pool,
    /// Guarantees without which no session opens.
    #[serde(default)]
    pub(super) require: Vec<Guarantee>,
}

/// Containers that run before a session needs one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Pool {
    /// How many are kept beside those in use. Default: 0.
    #[schemars(with = "Option<u32>")]
    pub(super) size: Option<Spanned<i64>>,
    /// How long they are kept when nobody asks for a session. Default: 5m.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) idle: Option<Spanned<DurationValue>>,
}

/// Something of this machine that is seen in the container.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Bind {
    /// A path of this machine, relative to this file.
    #[schemars(with = "Option<String>")]
    pub(super) host: Option<Spanned<String>>,
    /// Where it is seen.
    #[schemars(with = "Option<String>")]
    pub(super) container: Option<Spanned<String>>,
    /// Whether it may be changed. Default: false.
    pub(super) writable: Option<bool>,
}

/// What the kubernetes backend needs to know. Without more than an image a Pod has no token of the cluster's, no
/// capabilities, a user that is not root, a read-only root and limits for all that a Pod can limit; what it reaches over
/// the network only a NetworkPolicy can say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Kubernetes {
    /// The file that says where the cluster is and who asks, relative to this file. Default: KUBECONFIG's, or
    /// ~/.kube/config.
    #[schemars(with = "Option<String>")]
    pub(super) kubeconfig: Option<Spanned<String>>,
    /// Whether it is the service account of the Pod that belljar itself runs in. Default: false.
    #[schemars(with = "Option<bool>")]
    pub(super) in_cluster: Option<Spanned<bool>>,
    /// The kubeconfig's context. Default: its current one.
    #[schemars(with = "Option<String>")]
    pub(super) context: Option<Spanned<String>>,
    /// Whether the kubeconfig may name a program that logs in, which is run on this machine with the host's own rights
    /// and variables. Default: false.
    pub(super) login_programs: Option<bool>,
    /// The namespace. Default: the context's.
    #[schemars(with = "Option<String>")]
    pub(super) namespace: Option<Spanned<String>>,
    /// The image. There is no default.
    #[schemars(with = "Option<String>")]
    pub(super) image: Option<Spanned<String>>,
    /// When nodes fetch the image. Default: missing.
    pub(super) pull: Option<PullPolicy>,
    /// The names of the Secrets with which nodes fetch it.
    #[schemars(with = "Vec<String>")]
    #[serde(default)]
    pub(super) pull_secrets: Vec<Spanned<String>>,
    /// How the program that serves the contract reaches the Pod. Default: copy.
    pub(super) resident: Option<ResidentWay>,
    /// Its path in the image that has it. Default: /belljar-resident.
    #[schemars(with = "Option<String>")]
    pub(super) resident_path: Option<Spanned<String>>,
    /// With resident = "init", the image that has it.
    #[schemars(with = "Option<String>")]
    pub(super) resident_image: Option<Spanned<String>>,
    /// The RuntimeClass, as gvisor. Default: the cluster's usual runtime.
    #[schemars(with = "Option<String>")]
    pub(super) runtime_class: Option<Spanned<String>>,
    /// Labels that a node must have.
    #[serde(default)]
    pub(super) node_selector: BTreeMap<String, String>,
    /// Taints of nodes that are put up with.
    #[serde(default)]
    pub(super) tolerations: Vec<Toleration>,
    /// Where the workspace is in the Pod. Default: /workspace.
    #[schemars(with = "Option<String>")]
    pub(super) cwd: Option<Spanned<String>>,
    /// The most that the workspace may hold; a Pod that is over it is evicted. Default: 1GiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) workspace_size: Option<Spanned<SizeValue>>,
    /// The same for /tmp. Default: 256MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) tmp: Option<Spanned<SizeValue>>,
    /// The most memory, which is also reserved. Default: 1GiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) memory: Option<Spanned<SizeValue>>,
    /// The most processors, which are also reserved, as 0.5. Default: 1.
    #[schemars(with = "Option<NumberValue>")]
    pub(super) cpus: Option<Spanned<NumberValue>>,
    /// Whose rights processes have, as UID or UID:GID. Default: 65532.
    #[schemars(with = "Option<String>")]
    pub(super) user: Option<Spanned<String>>,
    /// Whether the root is read-only; the workspace and /tmp are then the only places to write. Default: true.
    pub(super) readonly_rootfs: Option<bool>,
    /// Whether the Pod is told of the cluster's name servers. Default: false.
    pub(super) dns: Option<bool>,
    /// The longest time until there is a session, pulls included. Default: 2m.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) start_timeout: Option<Spanned<DurationValue>>,
    /// How long the cluster may say that no node takes the Pod; where nodes are added on demand, the time that that
    /// takes. Default: 10s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) schedule_patience: Option<Spanned<DurationValue>>,
    /// How long whoever is waited for may say nothing at all before the session is dead. Default: 30s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) patience: Option<Spanned<DurationValue>>,
    /// How often a session that rests says that it lives. Default: 30s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) keep_alive: Option<Spanned<DurationValue>>,
    /// The longest life of a Pod, after which the cluster ends it; so long prune leaves one alone whose owner it
    /// cannot see. Default: 24h.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) lifetime: Option<Spanned<DurationValue>>,
    /// More variables for processes in the Pod.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) environment: BTreeMap<Spanned<String>, String>,
    /// Pods that run before a session needs one, for programs that open many.
    #[serde(default)]
    pub(super) pool: Pool,
    /// Guarantees without which no session opens.
    #[serde(default)]
    pub(super) require: Vec<Guarantee>,
}

/// How the program that serves the contract reaches a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ResidentWay {
    /// Over the stream; the image needs a POSIX shell and sha256sum or the like.
    Copy,
    /// The Pod's image has it.
    Image,
    /// Another image has it.
    Init,
}

/// A taint of nodes that a Pod puts up with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Toleration {
    /// The taint's key.
    pub(super) key: String,
    /// Its value. Default: any.
    pub(super) value: Option<String>,
    /// Its effect, as NoSchedule. Default: all.
    pub(super) effect: Option<String>,
}

/// What the remote backend needs to know. What confines processes there is unknown here: whoever names a command
/// lets tools do what the account that it reaches may do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Remote {
    /// A program of this machine and its arguments, whose standard input and output reach a resident, as
    /// ["ssh", "-o", "BatchMode=yes", "build", "belljar-resident", "stdio"]; with install a POSIX shell, as
    /// ["ssh", "-o", "BatchMode=yes", "build", "sh"]. The program is a name on the PATH, or a path, relative to
    /// this file when it has a slash. There is no default.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    /// The workspace: a directory there, absolute. There is no default.
    #[schemars(with = "Option<String>")]
    pub(super) root: Option<Spanned<String>>,
    /// Whether the command reaches a shell, which starts the resident that fits its machine, and is given it first
    /// where it lacks it. Its SHA-256 is checked before it is started. Default: false.
    pub(super) install: Option<bool>,
    /// The longest time until there is a session. Default: 30s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) connect_timeout: Option<Spanned<DurationValue>>,
    /// How long whoever is waited for may say nothing at all before the session is dead. Default: 30s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) patience: Option<Spanned<DurationValue>>,
    /// How often a session that rests says that it lives. Default: 30s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) keep_alive: Option<Spanned<DurationValue>>,
    /// More variables for processes there.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) environment: BTreeMap<Spanned<String>, String>,
}

/// The numbers in force.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Limits {
    /// A process's time limit when a call does not say. Default: 30s.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) timeout: Option<Spanned<DurationValue>>,
    /// The longest time limit that a process may be given. Default: 1h.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) max_timeout: Option<Spanned<DurationValue>>,
    /// Bytes kept of each output of a process when a call does not say. Default: 1MB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) output: Option<Spanned<SizeValue>>,
    /// The most bytes of each output that a call may ask for. Default: 16MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) max_output: Option<Spanned<SizeValue>>,
    /// The most bytes in one read or write of a file. Default: 16MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) file: Option<Spanned<SizeValue>>,
    /// The most bytes on a process's standard input. Default: 64MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) stdin: Option<Spanned<SizeValue>>,
    /// The most bytes in an argument vector and environment together. Default: 1MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) arguments: Option<Spanned<SizeValue>>,
    /// The most entries in one listing, and results in one search. Default: 10000.
    #[schemars(with = "Option<u64>")]
    pub(super) results: Option<Spanned<i64>>,
    /// The most processes that a session runs at once. Default: 64.
    #[schemars(with = "Option<u64>")]
    pub(super) processes: Option<Spanned<i64>>,
    /// The time for one whole call of a tool. Default: 2m.
    #[schemars(with = "Option<DurationValue>")]
    pub(super) call_timeout: Option<Spanned<DurationValue>>,
    /// A guest's memory, all of it together. Default: 256MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) memory: Option<Spanned<SizeValue>>,
    /// The most elements in a guest's tables together. Default: 100000.
    #[schemars(with = "Option<u64>")]
    pub(super) table_elements: Option<Spanned<i64>>,
    /// The most calls of the contract in one call of a tool. Default: 1000000.
    #[schemars(with = "Option<u64>")]
    pub(super) host_calls: Option<Spanned<i64>>,
    /// The most bytes copied to and from a guest in one call of a tool. Default: 1GiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) copied: Option<Spanned<SizeValue>>,
    /// The most bytes in a tool's answer. Default: 16MiB.
    #[schemars(with = "Option<SizeValue>")]
    pub(super) answer: Option<Spanned<SizeValue>>,
    /// The most progress and log lines in one call of a tool; the rest are
    /// dropped. Default: 1000.
    #[schemars(with = "Option<u64>")]
    pub(super) progress_lines: Option<Spanned<i64>>,
}

/// What a tool's component is, and what it may do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Tool {
    /// The component, relative to this file. When omitted, the application brings it.
    #[schemars(with = "Option<String>")]
    pub(super) component: Option<Spanned<String>>,
    /// The component in a registry, as registry.example/ada/coding:1.2, in the place of a file. `belljar pull` fetches it and
    /// pins it in belljar.lock.
    #[schemars(with = "Option<String>")]
    pub(super) reference: Option<Spanned<String>>,
    /// What it may do in the workspace. Default: read.
    #[schemars(with = "Option<Vec<Allow>>")]
    pub(super) allow: Option<Spanned<Vec<Allow>>>,
    /// Globs of the paths that it may read; all when omitted. A program that it runs is not bound
    /// by them.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) read: Option<Spanned<Vec<Spanned<String>>>>,
    /// Globs of the paths that it may change; all when omitted. A program that it runs is not
    /// bound by them.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) write: Option<Spanned<Vec<Spanned<String>>>>,
    /// The programs that it may run, by name, or by path if it is to give the path; all when
    /// omitted. Shell text needs sh.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) programs: Option<Spanned<Vec<Spanned<String>>>>,
    /// What becomes of imports from WASI. Default: deny.
    pub(super) wasi: Option<super::tool::Wasi>,
    /// Whether a file that exists must have been read before it is changed. Default: true.
    pub(super) guard: Option<bool>,
}

/// A part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Allow {
    /// Looking at files.
    Read,
    /// Changing files.
    Write,
    /// Running programs.
    Run,
}

/// The JSON Schema of [`Document`].
pub(super) fn schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // A reader of the schema, ours too, then need not look definitions up.
        settings.inline_subschemas = true;
    });
    settings
        .into_generator()
        .into_root_schema_for::<Document>()
        .to_value()
}
