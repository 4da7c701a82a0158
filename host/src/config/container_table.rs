//! Interprets the `[sandbox.container]` table.
//!
//! What only the backend knows, such as which paths of a container are its own, it says when it is opened.

use std::{path::PathBuf, time::Duration};

use toml::Spanned;

use super::{
    container::{BindConfig, ContainerConfig, IMAGE, IMAGE_MISSING, Resident, User},
    document::{Bind, Container},
    interpret::Reading,
    quantity::{self, DurationValue, SizeValue},
};

/// Reads the table; `offset` is where the backend was chosen, for what is missing.
pub(super) fn read(
    reading: &mut Reading<'_>,
    table: Option<&Spanned<Container>>,
    offset: usize,
) -> ContainerConfig {
    let Some(table) = table else {
        reading.missing(IMAGE, offset, IMAGE_MISSING);
        return ContainerConfig::default();
    };
    let offset = table.span().start;
    let table = table.get_ref();
    let mut of = Table { reading };
    let image = of.word("image", table.image.as_ref());
    if table.image.is_none() {
        of.reading.missing(IMAGE, offset, IMAGE_MISSING);
    }
    ContainerConfig {
        engine: table.engine.unwrap_or_default(),
        program: table
            .program
            .as_ref()
            .and_then(|program| match program.get_ref().contains('/') {
                true => of.path("program", program),
                false => of.word("program", Some(program)).map(PathBuf::from),
            }),
        image: image.unwrap_or_default(),
        pull: table.pull.unwrap_or_default(),
        cwd: of.absolute("cwd", table.cwd.as_ref()),
        binds: table
            .binds
            .iter()
            .filter_map(|bind| of.bind(bind))
            .collect(),
        network: of.word("network", table.network.as_ref()),
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
        pids_limit: of.count("pids-limit", "processes", table.pids_limit.as_ref()),
        user: of
            .word("user", table.user.as_ref())
            .map(|user| match user.as_str() {
                "host" => User::Host,
                "image" => User::Image,
                _ => User::Named(user),
            }),
        readonly_rootfs: table.readonly_rootfs,
        scratch_bytes: of.size("scratch", table.scratch.as_ref()),
        scratch_exec: table.scratch_exec,
        tmp_bytes: of.size("tmp", table.tmp.as_ref()),
        tmp_exec: table.tmp_exec,
        start_timeout: of.duration("start-timeout", table.start_timeout.as_ref()),
        name: of.word("name", table.name.as_ref()),
        reconnect: of.reconnect(table, offset),
        lease: of.duration("lease", table.lease.as_ref()),
        environment: of.environment(table),
        resident: of.resident(table.resident.as_ref()),
        transport: table.transport.unwrap_or_default(),
        patience: of.duration("patience", table.patience.as_ref()),
        pool_size: of
            .count("pool.size", "containers", table.pool.size.as_ref())
            .unwrap_or_default(),
        pool_idle: of.duration("pool.idle", table.pool.idle.as_ref()),
        require: table.require.iter().copied().collect(),
    }
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

    fn bind(&mut self, bind: &Spanned<Bind>) -> Option<BindConfig> {
        let offset = bind.span().start;
        let Bind {
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
        Some(BindConfig {
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

    fn environment(&mut self, table: &Container) -> std::collections::BTreeMap<String, String> {
        for (name, value) in &table.environment {
            let text = name.get_ref();
            if text.is_empty() || text.contains(['=', '\0']) || value.contains('\0') {
                let message =
                    "not a variable: a name is not empty and has no =, and nothing has a NUL";
                self.bad(&format!("environment.{text}"), name, message.to_owned());
            }
        }
        let variables = table.environment.iter();
        variables
            .map(|(name, value)| (name.get_ref().clone(), value.clone()))
            .collect()
    }

    fn resident(&mut self, text: Option<&Spanned<String>>) -> Resident {
        let Some(text) = text else {
            return Resident::Auto;
        };
        match text.get_ref().as_str() {
            "auto" => Resident::Auto,
            "off" => Resident::Off,
            path if path.contains('/') => self
                .path("resident", text)
                .map_or(Resident::Auto, Resident::Path),
            _ => {
                let message = "auto, off, or a path with a slash, as in \"./belljar-resident\"";
                self.bad("resident", text, message.to_owned());
                Resident::Auto
            }
        }
    }
}
