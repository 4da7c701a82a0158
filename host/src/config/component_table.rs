//! Interprets the `[sandbox.component]` table.

use std::{path::PathBuf, time::Duration};

use toml::Spanned;

use super::{
    document::{ComponentTable, Http, Secret},
    error::{Problem, ProblemKind},
    interpret::Reading,
    quantity::{self, DurationValue, SizeValue},
};
use crate::backends::{ComponentLimits, ComponentOptions, HttpGrant, SecretSource};

const COMPONENT: &str = "sandbox.component.component";
const COMPONENT_MISSING: &str =
    "there is no default component; name one, as in component = \"vendor.wasm\"";
const HTTP: &str = "sandbox.component.http";
/// The least memory in which a component does anything.
const LEAST_MEMORY: u64 = 1 << 20;

/// What is wrong, whoever made it.
pub(super) fn problems(options: &ComponentOptions) -> Vec<Problem> {
    let mut problems = Vec::new();
    if options.component.as_os_str().is_empty() {
        problems.push(Problem::missing(COMPONENT, COMPONENT_MISSING));
    }
    for grant in &options.http {
        if let Err(error) = grant.validated() {
            problems.push(Problem {
                key: HTTP.to_owned(),
                position: None,
                kind: ProblemKind::BadValue(error.to_string()),
            });
        }
    }
    problems
}

/// Reads the table; `offset` is where the backend was chosen, for what is missing.
pub(super) fn read(
    reading: &mut Reading<'_>,
    table: Option<&Spanned<ComponentTable>>,
    offset: usize,
) -> ComponentOptions {
    let Some(table) = table else {
        reading.missing(COMPONENT, offset, COMPONENT_MISSING);
        return ComponentOptions::new("");
    };
    let offset = table.span().start;
    let table = table.get_ref();
    let component = match &table.component {
        Some(path) => reading.path(COMPONENT.to_owned(), path),
        None => {
            reading.missing(COMPONENT, offset, COMPONENT_MISSING);
            None
        }
    };
    let mut of = Table { reading };
    let secrets = table.secrets.iter();
    let secrets = secrets.filter_map(|(name, secret)| {
        if table.settings.contains_key(name) {
            let message = "a setting has the same name".to_owned();
            of.bad(&format!("secrets.{name}"), secret.span().start, message);
        }
        Some((name.clone(), of.secret(name, secret)?))
    });
    let secrets = secrets.collect();
    let http = table.http.iter();
    let http = http.filter_map(|grant| of.grant(grant)).collect();
    let default = ComponentLimits::default();
    ComponentOptions {
        settings: table.settings.clone(),
        secrets,
        http,
        ca: table.ca.as_ref().and_then(|path| of.path("ca", path)),
        component_limits: ComponentLimits {
            memory_bytes: of
                .size("memory", table.memory.as_ref(), LEAST_MEMORY)
                .unwrap_or(default.memory_bytes),
            body_bytes: of
                .size("body", table.body.as_ref(), 1)
                .unwrap_or(default.body_bytes),
            timeout: of
                .timeout(table.timeout.as_ref())
                .unwrap_or(default.timeout),
            calls: of.calls(table.calls.as_ref()).unwrap_or(default.calls),
        },
        ..ComponentOptions::new(component.unwrap_or_default())
    }
}

struct Table<'a, 'b> {
    reading: &'a mut Reading<'b>,
}

impl Table<'_, '_> {
    fn bad(&mut self, key: &str, offset: usize, message: String) {
        let key = format!("sandbox.component.{key}");
        self.reading.bad(key, offset, message);
    }

    fn path(&mut self, key: &str, text: &Spanned<String>) -> Option<PathBuf> {
        let key = format!("sandbox.component.{key}");
        self.reading.path(key, text)
    }

    fn secret(&mut self, name: &str, secret: &Spanned<Secret>) -> Option<SecretSource> {
        let key = format!("secrets.{name}");
        let offset = secret.span().start;
        match secret.get_ref() {
            Secret {
                env: Some(variable),
                file: None,
            } => {
                let is_one = !variable.is_empty() && !variable.contains(['=', '\0']);
                if !is_one {
                    let message = format!("{variable:?} is no variable's name");
                    self.bad(&key, offset, message);
                }
                is_one.then(|| SecretSource::Environment {
                    name: variable.clone(),
                })
            }
            Secret {
                env: None,
                file: Some(file),
            } => {
                let path = self.path(&key, file)?;
                Some(SecretSource::File { path })
            }
            Secret { .. } => {
                let message = "a secret is in a variable or in a file: { env = \"NAME\" } or { file = \"PATH\" }";
                self.bad(&key, offset, message.to_owned());
                None
            }
        }
    }

    fn grant(&mut self, grant: &Spanned<Http>) -> Option<HttpGrant> {
        let offset = grant.span().start;
        let table = grant.get_ref();
        let mut ports = Vec::new();
        for port in table.ports.iter().flatten() {
            match u16::try_from(*port) {
                Ok(port) => ports.push(port),
                Err(_) => {
                    self.bad("http", offset, format!("there is no port {port}"));
                    return None;
                }
            }
        }
        let grant = HttpGrant {
            hosts: table.hosts.clone(),
            ports: table.ports.is_some().then_some(ports),
            methods: table.methods.clone(),
            private: table.private.unwrap_or(false),
            http: table.http.unwrap_or(false),
        };
        match grant.validated() {
            Ok(()) => Some(grant),
            Err(error) => {
                self.bad("http", offset, error.to_string());
                None
            }
        }
    }

    fn size(&mut self, key: &str, value: Option<&Spanned<SizeValue>>, least: u64) -> Option<u64> {
        let value = value?;
        let bytes = match value.get_ref() {
            SizeValue::Text(text) => quantity::size(text),
            SizeValue::Bytes(bytes) => {
                u64::try_from(*bytes).map_err(|_| format!("{bytes} is negative"))
            }
        };
        let bytes = bytes.and_then(|bytes| match bytes < least {
            true => Err(format!("it is less than {}", quantity::show_size(least))),
            false => Ok(bytes),
        });
        bytes
            .map_err(|message| self.bad(key, value.span().start, message))
            .ok()
    }

    fn timeout(&mut self, value: Option<&Spanned<DurationValue>>) -> Option<Duration> {
        let value = value?;
        let read = quantity::duration(&value.get_ref().0);
        let read = read.and_then(|duration| match duration.is_zero() {
            true => Err("nothing happens in no time".to_owned()),
            false => Ok(duration),
        });
        read.map_err(|message| self.bad("timeout", value.span().start, message))
            .ok()
    }

    fn calls(&mut self, value: Option<&Spanned<i64>>) -> Option<u32> {
        let value = value?;
        let count = u32::try_from(*value.get_ref()).ok();
        let count = count.filter(|count| *count > 0);
        if count.is_none() {
            let message = format!("{} is no number of calls", value.get_ref());
            self.bad("calls", value.span().start, message);
        }
        count
    }
}
