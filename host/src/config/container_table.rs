//! Interprets the `[sandbox.container]` table.
//!
//! What only the backend knows, such as which paths of a container are its own, it says when it is opened.

use std::{path::PathBuf, time::Duration};

use toml::Spanned;

use super::{
    document::{self, Container},
    error::Problem,
    interpret::Reading,
    quantity::{self, DurationValue, SizeValue},
};
use crate::backends::{Bind, ContainerOptions, ContainerUser, PoolOptions, ResidentChoice};

const IMAGE: &str = "sandbox.container.image";
const IMAGE_MISSING: &str =
    "the container backend has no default image; name one, as in image = \"debian:12\"";

/// What is wrong, whoever made it. What a container itself refuses is said when it is opened.
pub(super) fn problems(options: &ContainerOptions) -> Vec<Problem> {
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
    table: Option<&Spanned<Container>>,
    offset: usize,
) -> (ContainerOptions, PoolOptions) {
    let Some(table) = table else {
        reading.missing(IMAGE, offset, IMAGE_MISSING);
        return (ContainerOptions::new(""), PoolOptions::default());
    };
    let offset = table.span().start;
    let table = table.get_ref();
    let mut of = Table { reading };
    let image = of.word("image", table.image.as_ref());
    if table.image.is_none() {
        of.reading.missing(IMAGE, offset, IMAGE_MISSING);
    }
    let default = ContainerOptions::new(image.unwrap_or_default());
    let options = ContainerOptions {
        engine: table.engine.unwrap_or_default(),
        program: table
            .program
            .as_ref()
            .and_then(|program| match program.get_ref().contains('/') {
                true => of.path("program", program),
                false => of.word("program", Some(program)).map(PathBuf::from),
            }),
        pull: table.pull.unwrap_or_default(),
        cwd: of
            .absolute("cwd", table.cwd.as_ref())
            .unwrap_or(default.cwd),
        binds: table
            .binds
            .iter()
            .filter_map(|bind| of.bind(bind))
            .collect(),
        network: of
            .word("network", table.network.as_ref())
            .unwrap_or(default.network),
        cap_add: table
            .cap_add
            .iter()
            .filter_map(|capability| of.word("cap-add", Some(capability)))
            .collect(),
        memory: of.size("memory", table.memory.as_ref()),
        cpu_millis: table.cpus.as_ref().and_then(|cpus| {
            if cpus.get_ref().0.is_none() {
                of.bad("cpus", cpus, "not a number of processors".into());
            }
            cpus.get_ref().0
        }),
        pids_limit: match of.count("pids-limit", "processes", table.pids_limit.as_ref()) {
            None => default.pids_limit,
            Some(0) => None,
            limit => limit,
        },
        user: of
            .word("user", table.user.as_ref())
            .map(|user| match user.as_str() {
                "host" => ContainerUser::Host,
                "image" => ContainerUser::Image,
                _ => ContainerUser::Named(user),
            }),
        readonly_rootfs: table.readonly_rootfs.unwrap_or(default.readonly_rootfs),
        scratch_bytes: of
            .size("scratch", table.scratch.as_ref())
            .unwrap_or(default.scratch_bytes),
        scratch_exec: table.scratch_exec.unwrap_or(default.scratch_exec),
        tmp_bytes: of
            .size("tmp", table.tmp.as_ref())
            .unwrap_or(default.tmp_bytes),
        tmp_exec: table.tmp_exec.unwrap_or(default.tmp_exec),
        start_timeout: of
            .duration("start-timeout", table.start_timeout.as_ref())
            .unwrap_or(default.start_timeout),
        name: of.word("name", table.name.as_ref()),
        reconnect: of.reconnect(table, offset),
        lease: of
            .duration("lease", table.lease.as_ref())
            .unwrap_or(default.lease),
        environment: of.reading.environment("container", &table.environment),
        resident: of.resident(table.resident.as_ref()),
        transport: table.transport.unwrap_or_default(),
        patience: of
            .duration("patience", table.patience.as_ref())
            .unwrap_or(default.patience),
        require: table.require.iter().copied().collect(),
        ..default
    };
    let default = PoolOptions::default();
    let pool = PoolOptions {
        size: of
            .count("pool.size", "containers", table.pool.size.as_ref())
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
        let key = format!("sandbox.container.{key}");
        self.reading.bad(key, value.span().start, message);
    }

    /// A word that becomes an argument: not empty, and none that a program takes for an option.
    fn word(&mut self, key: &str, text: Option<&Spanned<String>>) -> Option<String> {
        let text = text?;
        let word = text.get_ref();
        let problem = if word.is_empty() {
            "it is empty"
        } else if word.starts_with('-') {
            "it begins with -, as an option does"
        } else if word.contains(|c: char| c.is_whitespace() || c.is_control()) {
            "it has a space or a control character"
        } else {
            return Some(word.clone());
        };
        self.bad(key, text, problem.to_owned());
        None
    }

    fn absolute(&mut self, key: &str, text: Option<&Spanned<String>>) -> Option<String> {
        let text = text?;
        if text.get_ref().starts_with('/') {
            return Some(text.get_ref().clone());
        }
        let message = "a path in the container is absolute: begin it with /".to_owned();
        self.bad(key, text, message);
        None
    }

    fn path(&mut self, key: &str, text: &Spanned<String>) -> Option<PathBuf> {
        self.reading.path(format!("sandbox.container.{key}"), text)
    }

    fn bind(&mut self, bind: &Spanned<document::Bind>) -> Option<Bind> {
        let offset = bind.span().start;
        let document::Bind {
            host,
            container,
            writable,
        } = bind.get_ref();
        let host = match host {
            Some(host) => self.path("binds.host", host),
            None => {
                let what = "a bind names what it binds: host = \"./data\"";
                self.reading
                    .missing("sandbox.container.binds.host", offset, what);
                None
            }
        };
        if container.is_none() {
            let what = "a bind names where it is seen: container = \"/data\"";
            self.reading
                .missing("sandbox.container.binds.container", offset, what);
        }
        let container = self.absolute("binds.container", container.as_ref());
        Some(Bind {
            host: host?,
            container: container?,
            writable: writable.unwrap_or(false),
        })
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
        let duration = quantity::duration(&value.get_ref().0);
        duration
            .map_err(|message| self.bad(key, value, message))
            .ok()
    }

    fn reconnect(&mut self, table: &Container, offset: usize) -> bool {
        let reconnect = table.reconnect.unwrap_or(false);
        if reconnect && table.name.is_none() {
            let what = "reconnect needs a name to find the container by";
            self.reading.missing("sandbox.container.name", offset, what);
        }
        reconnect
    }

    fn resident(&mut self, text: Option<&Spanned<String>>) -> ResidentChoice {
        let Some(text) = text else {
            return ResidentChoice::Auto;
        };
        match text.get_ref().as_str() {
            "auto" => ResidentChoice::Auto,
            "off" => ResidentChoice::Off,
            path if path.contains('/') => self
                .path("resident", text)
                .map_or(ResidentChoice::Auto, ResidentChoice::Path),
            _ => {
                let message = "auto, off, or a path with a slash, as in \"./belljar-resident\"";
                self.bad("resident", text, message.to_owned());
                ResidentChoice::Auto
            }
        }
    }
}
