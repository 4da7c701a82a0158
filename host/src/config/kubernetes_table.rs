//! Interprets the `[sandbox.kubernetes]` table.
//!
//! What only the backend knows, such as which paths of a container are its own, it says when it is opened.

use std::time::Duration;

use toml::Spanned;

use super::{
    document::{Kubernetes, ResidentWay},
    error::Problem,
    interpret::Reading,
    quantity::{self, DurationValue, SizeValue},
};
use crate::backends::{ClusterAccess, KubernetesOptions, PodResident, PodToleration, PoolOptions};

const IMAGE: &str = "sandbox.kubernetes.image";
const IMAGE_MISSING: &str =
    "the kubernetes backend has no default image; name one, as in image = \"debian:12\"";

/// What is wrong, whoever made it. What a cluster itself refuses is said when it is asked.
pub(super) fn problems(options: &KubernetesOptions) -> Vec<Problem> {
    let missing = Problem::missing(IMAGE, IMAGE_MISSING);
    options
        .image
        .is_empty()
        .then_some(missing)
        .into_iter()
        .collect()
}

/// Reads the table; `offset` is where the backend was chosen, for what is missing.
pub(super) fn read(
    reading: &mut Reading<'_>,
    table: Option<&Spanned<Kubernetes>>,
    offset: usize,
) -> (KubernetesOptions, PoolOptions) {
    let Some(table) = table else {
        reading.missing(IMAGE, offset, IMAGE_MISSING);
        return (KubernetesOptions::new(""), PoolOptions::default());
    };
    let offset = table.span().start;
    let table = table.get_ref();
    let mut of = Table { reading };
    let image = of.word("image", table.image.as_ref());
    if table.image.is_none() {
        of.reading.missing(IMAGE, offset, IMAGE_MISSING);
    }
    let default = KubernetesOptions::new(image.unwrap_or_default());
    let (user, group) = of
        .user(table.user.as_ref())
        .unwrap_or((default.user, default.group));
    let tolerations = table.tolerations.iter().map(|one| PodToleration {
        key: one.key.clone(),
        value: one.value.clone(),
        effect: one.effect.clone(),
    });
    let options = KubernetesOptions {
        access: of.access(table),
        context: of.word("context", table.context.as_ref()),
        login_programs: table.login_programs.unwrap_or(default.login_programs),
        namespace: of.word("namespace", table.namespace.as_ref()),
        pull: table.pull.unwrap_or_default(),
        pull_secrets: table
            .pull_secrets
            .iter()
            .filter_map(|name| of.word("pull-secrets", Some(name)))
            .collect(),
        resident: of.resident(table, offset),
        runtime_class: of.word("runtime-class", table.runtime_class.as_ref()),
        node_selector: table.node_selector.clone(),
        tolerations: tolerations.collect(),
        cwd: of
            .absolute("cwd", table.cwd.as_ref())
            .unwrap_or(default.cwd),
        workspace_bytes: of
            .size("workspace-size", table.workspace_size.as_ref())
            .unwrap_or(default.workspace_bytes),
        tmp_bytes: of
            .size("tmp", table.tmp.as_ref())
            .unwrap_or(default.tmp_bytes),
        memory: of.size("memory", table.memory.as_ref()).or(default.memory),
        cpu_millis: match &table.cpus {
            None => default.cpu_millis,
            Some(cpus) => {
                if cpus.get_ref().0.is_none() {
                    of.bad("cpus", cpus, "not a number of processors".into());
                }
                cpus.get_ref().0
            }
        },
        user,
        group,
        readonly_rootfs: table.readonly_rootfs.unwrap_or(default.readonly_rootfs),
        dns: table.dns.unwrap_or(default.dns),
        start_timeout: of
            .duration("start-timeout", table.start_timeout.as_ref())
            .unwrap_or(default.start_timeout),
        schedule_patience: of
            .duration("schedule-patience", table.schedule_patience.as_ref())
            .unwrap_or(default.schedule_patience),
        patience: of
            .duration("patience", table.patience.as_ref())
            .unwrap_or(default.patience),
        keep_alive: of
            .duration("keep-alive", table.keep_alive.as_ref())
            .unwrap_or(default.keep_alive),
        lifetime: of
            .duration("lifetime", table.lifetime.as_ref())
            .unwrap_or(default.lifetime),
        environment: of.reading.environment("kubernetes", &table.environment),
        require: table.require.iter().copied().collect(),
        ..default
    };
    let default = PoolOptions::default();
    let pool = PoolOptions {
        size: of
            .count("pool.size", "Pods", table.pool.size.as_ref())
            .unwrap_or(default.size),
        idle: of
            .duration("pool.idle", table.pool.idle.as_ref())
            .unwrap_or(default.idle),
    };
    (options, pool)
}

struct Table<'a, 'b> {
    reading: &'a mut Reading<'b>,
}

impl Table<'_, '_> {
    fn bad<V>(&mut self, key: &str, value: &Spanned<V>, message: String) {
        let key = format!("sandbox.kubernetes.{key}");
        self.reading.bad(key, value.span().start, message);
    }

    fn access(&mut self, table: &Kubernetes) -> ClusterAccess {
        let inside = table.in_cluster.as_ref().filter(|inside| *inside.get_ref());
        match (inside, &table.kubeconfig) {
            (None, None) => ClusterAccess::Kubeconfig(Vec::new()),
            (None, Some(file)) => {
                let key = "sandbox.kubernetes.kubeconfig".to_owned();
                ClusterAccess::Kubeconfig(self.reading.path(key, file).into_iter().collect())
            }
            (Some(inside), file) => {
                if file.is_some() {
                    let message = "a kubeconfig says where the cluster is, or the Pod that this runs in: leave one of both out";
                    self.bad("in-cluster", inside, message.to_owned());
                }
                ClusterAccess::InCluster
            }
        }
    }

    fn resident(&mut self, table: &Kubernetes, offset: usize) -> PodResident {
        let path = self.absolute("resident-path", table.resident_path.as_ref());
        let path = path.unwrap_or_else(|| "/belljar-resident".to_owned());
        match table.resident.unwrap_or(ResidentWay::Copy) {
            ResidentWay::Copy => PodResident::Copy,
            ResidentWay::Image => PodResident::Image { path },
            ResidentWay::Init => {
                let image = self.word("resident-image", table.resident_image.as_ref());
                if table.resident_image.is_none() {
                    let what = "resident = \"init\" needs the image that has it";
                    let key = "sandbox.kubernetes.resident-image";
                    self.reading.missing(key, offset, what);
                }
                PodResident::Init {
                    image: image.unwrap_or_default(),
                    path,
                }
            }
        }
    }

    /// `UID` or `UID:GID`: what a name stands for, only the image knows.
    fn user(&mut self, text: Option<&Spanned<String>>) -> Option<(u32, u32)> {
        let text = text?;
        let (user, group) = match text.get_ref().split_once(':') {
            Some((user, group)) => (user, group),
            None => (text.get_ref().as_str(), text.get_ref().as_str()),
        };
        let numbers = user.parse().ok().zip(group.parse().ok());
        if numbers.is_none() {
            let message = "a user in a cluster is a number, UID or UID:GID".to_owned();
            self.bad("user", text, message);
        }
        numbers
    }

    /// A word of the cluster's, or of a registry's.
    fn word(&mut self, key: &str, text: Option<&Spanned<String>>) -> Option<String> {
        let text = text?;
        let bad = |c: char| c.is_whitespace() || c.is_control();
        let problem = match text.get_ref() {
            word if word.is_empty() => "it is empty",
            word if word.contains(bad) => "it has a space or a control character",
            word => return Some(word.clone()),
        };
        self.bad(key, text, problem.to_owned());
        None
    }

    fn absolute(&mut self, key: &str, text: Option<&Spanned<String>>) -> Option<String> {
        let text = text?;
        if text.get_ref().starts_with('/') {
            return Some(text.get_ref().clone());
        }
        let message = "a path in the Pod is absolute: begin it with /".to_owned();
        self.bad(key, text, message);
        None
    }

    fn count(&mut self, key: &str, of: &str, value: Option<&Spanned<i64>>) -> Option<u32> {
        let value = value?;
        let count = u32::try_from(*value.get_ref()).ok();
        if count.is_none() {
            let message = format!("{} is no number of {of}", value.get_ref());
            self.bad(key, value, message);
        }
        count
    }

    fn size(&mut self, key: &str, value: Option<&Spanned<SizeValue>>) -> Option<u64> {
        let value = value?;
        let bytes = match value.get_ref() {
            SizeValue::Text(text) => quantity::size(text),
            SizeValue::Bytes(bytes) => {
                u64::try_from(*bytes).map_err(|_| format!("{bytes} is negative"))
            }
        };
        bytes.map_err(|message| self.bad(key, value, message)).ok()
    }

    fn duration(&mut self, key: &str, value: Option<&Spanned<DurationValue>>) -> Option<Duration> {
        let value = value?;
        match quantity::duration(&value.get_ref().0) {
            Ok(duration) if duration.is_zero() => {
                let message = "nothing happens in no time".to_owned();
                self.bad(key, value, message);
                None
            }
            Ok(duration) => Some(duration),
            Err(message) => {
                self.bad(key, value, message);
                None
            }
        }
    }
}
