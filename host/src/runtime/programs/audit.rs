//! What a program imports and exports, judged before it is compiled.

use wasmparser::{Encoding, Parser, Payload};

use super::error::ProgramError;

/// The one module that a preview-1 program imports from.
const PREVIEW_1: &str = "wasi_snapshot_preview1";
/// The packages that a component may import. Standard libraries import sockets without using them; whoever uses
/// them is refused each.
const PACKAGES: [&str; 6] = [
    "wasi:cli",
    "wasi:clocks",
    "wasi:filesystem",
    "wasi:io",
    "wasi:random",
    "wasi:sockets",
];
/// As of a tool's component.
const MAX_DEPTH: u32 = 100;

/// What a program's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A module of WASI's first preview.
    Module,
    /// A component.
    Component,
}

/// Judges a program's bytes, and lists its imports: interfaces of a component, functions of a module.
pub(super) fn audit(bytes: &[u8]) -> Result<(Kind, Vec<String>), ProgramError> {
    if !bytes.starts_with(b"\0asm") {
        return Err(ProgramError::NotWasm);
    }
    let mut kind = Kind::Module;
    let mut depth = 0_u32;
    let (mut imports, mut forbidden) = (Vec::new(), Vec::new());
    let mut is_command = false;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(ProgramError::Malformed)? {
            Payload::Version {
                encoding: Encoding::Component,
                ..
            } if depth == 0 => kind = Kind::Component,
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(ProgramError::TooDeep { most: MAX_DEPTH });
                }
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ImportSection(section) if depth == 0 && kind == Kind::Module => {
                for import in section.into_imports() {
                    let import = import.map_err(ProgramError::Malformed)?;
                    let name = format!("{}/{}", import.module, import.name);
                    if import.module != PREVIEW_1 {
                        forbidden.push(name.clone());
                    }
                    imports.push(name);
                }
            }
            Payload::ExportSection(section) if depth == 0 && kind == Kind::Module => {
                for export in section {
                    is_command |= export.map_err(ProgramError::Malformed)?.name == "_start";
                }
            }
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    let name = import.map_err(ProgramError::Malformed)?.name.name;
                    let package = name.split('/').next().unwrap_or(name);
                    if !PACKAGES.contains(&package) {
                        forbidden.push(name.to_owned());
                    }
                    imports.push(name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let name = export.map_err(ProgramError::Malformed)?.name.name;
                    is_command |= name.starts_with("wasi:cli/run@");
                }
            }
            _ => {}
        }
    }
    if !is_command {
        return Err(ProgramError::NotACommand);
    }
    if !forbidden.is_empty() {
        return Err(ProgramError::ForbiddenImports { names: forbidden });
    }
    Ok((kind, imports))
}
