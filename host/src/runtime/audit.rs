//! What a component imports and exports, judged before it is compiled.
//!
//! Which of the contract's worlds a component is for, its exports say. [`World`] is what each may import.
//!
//! Only the names at a component's outermost level count: what is nested in it can reach
//! nothing else. Deny by default: an import that is neither the contract's nor granted is refused.

use wasmparser::{Encoding, Parser, Payload};

use super::{CONTRACT_VERSION, load_error::LoadError};

const PACKAGE: &str = "belljar:sandbox";
/// How deep components may be nested. Compiling keeps something of each level for all below it: a file of a
/// hundred kilobytes could take gigabytes.
const MAX_DEPTH: u32 = 100;

/// A world of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum World {
    /// A component with tools.
    Tool,
    /// A backend that serves the whole contract.
    Backend,
    /// A backend of which the host makes the contract.
    Client,
}

impl World {
    /// Its name in the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Backend => "backend",
            Self::Client => "client",
        }
    }

    /// The world that a component is for, as far as its imports and exports say it.
    ///
    /// # Errors
    /// [`LoadError`] when it is of none, or imports what its world does not have.
    pub fn of_component(bytes: &[u8]) -> Result<Self, LoadError> {
        let worlds = [Self::Backend, Self::Client, Self::Tool];
        audit(bytes, WasiMode::Deny, &worlds).map(|(world, _)| world)
    }

    /// The interfaces that it may import.
    const fn imports(self) -> &'static [&'static str] {
        match self {
            Self::Tool => &["types", "files", "processes", "session", "progress"],
            Self::Backend | Self::Client => &["types", "outgoing-http", "settings", "progress"],
        }
    }

    /// The interfaces that it must export.
    const fn exports(self) -> &'static [&'static str] {
        match self {
            Self::Tool => &["tools"],
            Self::Backend => &["lease", "files", "narrowed", "processes", "session"],
            Self::Client => &["lease", "machine"],
        }
    }

    /// The one of `worlds` whose exports are all there.
    fn of(exported: &[&str], worlds: &[Self]) -> Option<Self> {
        let exports_all = |world: &&Self| {
            let mut needed = world.exports().iter();
            needed.all(|interface| exported.contains(interface))
        };
        worlds.iter().find(exports_all).copied()
    }
}

/// What a component gets that imports WASI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WasiMode {
    /// It is refused.
    #[default]
    Deny,
    /// Stubs without effect: no directories, no environment, no arguments, no sockets; clocks and randomness work.
    Inert,
}

/// An import of a component, by its full name: `belljar:sandbox/files@0.1.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The name in the component.
    pub name: String,
    /// Whether it is one of the contract's; else it is WASI's.
    pub contract: bool,
}

/// Judges a component's bytes: which of `worlds` it is for, and what it imports.
pub(super) fn audit(
    bytes: &[u8],
    wasi: WasiMode,
    worlds: &[World],
) -> Result<(World, Vec<Import>), LoadError> {
    let (imports, exports) = outermost_names(bytes)?;
    let mut exported = Vec::new();
    for name in &exports {
        if let Some((PACKAGE, interface, version)) = name.parse_interface() {
            check_version(&name.0, version)?;
            exported.push(interface);
        }
    }
    let world = World::of(&exported, worlds);
    // What it may import is said first: a component that can do more than it may is not looked at further.
    let judged = world.or(worlds.first().copied());
    let known = judged.map_or(&[][..], World::imports);
    let listed = judge_imports(imports, wasi, known)?;
    match world {
        Some(world) => Ok((world, listed)),
        None => {
            let exports = exports.into_iter().map(|name| name.0).collect();
            Err(match worlds {
                [World::Tool] => LoadError::NotATool { exports },
                _ => LoadError::NotABackend { exports },
            })
        }
    }
}

fn judge_imports(
    imports: Vec<ExternName>,
    wasi: WasiMode,
    known: &[&str],
) -> Result<Vec<Import>, LoadError> {
    let mut foreign = Vec::new();
    let mut listed = Vec::new();
    for name in imports {
        match name.parse_interface() {
            Some((PACKAGE, interface, version)) => {
                check_version(&name.0, version)?;
                if !known.contains(&interface) {
                    return Err(LoadError::UnknownInterface {
                        name: name.0.clone(),
                        known: known.join(", "),
                    });
                }
                listed.push(Import {
                    name: name.0,
                    contract: true,
                });
            }
            Some((package, _, _)) if package.starts_with("wasi:") && wasi == WasiMode::Inert => {
                listed.push(Import {
                    name: name.0,
                    contract: false,
                });
            }
            _ => foreign.push(name.0),
        }
    }
    match foreign.is_empty() {
        true => Ok(listed),
        false => Err(LoadError::ForbiddenImports { names: foreign }),
    }
}

struct ExternName(String);

impl ExternName {
    /// `package/interface@version` in its parts.
    fn parse_interface(&self) -> Option<(&str, &str, &str)> {
        let (package, rest) = self.0.split_once('/')?;
        let (interface, version) = rest.split_once('@').unwrap_or((rest, ""));
        Some((package, interface, version))
    }
}

/// The same minor version before 1.0 is compatible, whatever the patch, as WIT's own rule has it.
fn check_version(name: &str, version: &str) -> Result<(), LoadError> {
    let track = |version: &str| {
        let mut parts = version.split('.').map(|part| part.parse::<u64>().ok());
        Some((parts.next()??, parts.next()??))
    };
    match track(version) {
        Some(found) if Some(found) == track(CONTRACT_VERSION) => Ok(()),
        _ => Err(LoadError::OtherVersion {
            name: name.to_owned(),
            found: if version.is_empty() {
                "none".to_owned()
            } else {
                version.to_owned()
            },
            supported: CONTRACT_VERSION,
        }),
    }
}

fn outermost_names(bytes: &[u8]) -> Result<(Vec<ExternName>, Vec<ExternName>), LoadError> {
    match bytes {
        [] => return Err(LoadError::Empty),
        [0, b'a', b's', b'm', ..] => {}
        _ => return Err(LoadError::NotWasm),
    }
    let mut depth = 0_u32;
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(LoadError::Malformed)? {
            Payload::Version {
                encoding: Encoding::Module,
                ..
            } if depth == 0 => {
                return Err(LoadError::CoreModule);
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(LoadError::TooDeep { most: MAX_DEPTH });
                }
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.push(ExternName(
                        import.map_err(LoadError::Malformed)?.name.name.to_owned(),
                    ));
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    exports.push(ExternName(
                        export.map_err(LoadError::Malformed)?.name.name.to_owned(),
                    ));
                }
            }
            _ => {}
        }
    }
    Ok((imports, exports))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component in a component, and so on.
    fn nested(depth: u32) -> Vec<u8> {
        let header = [0, b'a', b's', b'm', 0x0d, 0, 1, 0];
        let mut bytes = header.to_vec();
        for _ in 0..depth {
            let mut outer = header.to_vec();
            outer.push(4);
            let mut length = bytes.len();
            while length >= 0x80 {
                outer.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
                length >>= 7;
            }
            outer.push(u8::try_from(length).unwrap());
            outer.append(&mut bytes);
            bytes = outer;
        }
        bytes
    }

    #[test]
    fn components_are_not_nested_without_end() {
        let audited = |depth| audit(&nested(depth), WasiMode::Deny, &[World::Tool]);
        assert!(matches!(
            audited(MAX_DEPTH),
            Err(LoadError::NotATool { .. })
        ));
        assert!(matches!(
            audited(MAX_DEPTH + 1),
            Err(LoadError::TooDeep { most: MAX_DEPTH })
        ));
    }
}
