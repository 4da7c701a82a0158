//! The guest bindings: generated from `wit/`, checked in, and compared.
//!
//! A guest that generates its bindings while it is built pays for a parser and a formatter in
//! every clean build; one that finds them in `guest-sdk/src/bindings/` builds in seconds. The price is
//! that the files can be out of date, which is what the comparison is for.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use wit_bindgen_core::{Files, WorldGenerator as _, wit_parser::Resolve};
use wit_bindgen_rust::WithOption;

/// A world, and the interfaces whose bindings it takes from those of another world, so that one conversion
/// serves them all.
const WORLDS: [(&str, &[Shared]); 3] = [
    ("tool", &[]),
    ("backend", &[("types", "tool"), ("progress", "tool")]),
    (
        "client",
        &[
            ("types", "tool"),
            ("progress", "tool"),
            ("outgoing-http", "backend"),
            ("settings", "backend"),
        ],
    ),
];

/// An interface, and the world whose bindings have it.
type Shared = (&'static str, &'static str);

/// Generates the bindings for each world of the package in `wit_dir`, and writes each to its file in the folder
/// `out` (which may not be there yet).
///
/// # Errors
/// The package does not parse, lacks a world, or `out` cannot be written.
pub(crate) fn generate(wit_dir: &Path, out: &Path) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("making {}", out.display()))?;
    for (world, shared) in WORLDS {
        let file = out.join(world).with_extension("rs");
        let text = render(wit_dir, world, shared)?;
        std::fs::write(&file, &text).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(())
}

/// Says whether the folder `checked_in` holds what [`generate`] would write there.
///
/// # Errors
/// The package does not parse, or a file cannot be read or differs.
pub(crate) fn check(wit_dir: &Path, checked_in: &Path) -> Result<()> {
    for (world, shared) in WORLDS {
        let file = checked_in.join(world).with_extension("rs");
        let right = render(wit_dir, world, shared)?;
        let there = std::fs::read_to_string(&file)
            .with_context(|| format!("reading {}", file.display()))?;
        ensure!(
            there == right,
            "{} is not what wit/ gives; run `cargo xtask bindings` and commit the file",
            file.display()
        );
    }
    Ok(())
}

fn render(wit_dir: &Path, world: &str, shared: &[Shared]) -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve
        .push_dir(wit_dir)
        .with_context(|| format!("parsing {}", wit_dir.display()))?;
    let id = resolve.select_world(&[package], Some(world))?;
    let version = &resolve.packages[package].name.version;
    let version = version.as_ref().context("the package has no version")?;
    let with = |(interface, owner): &Shared| {
        let name = format!("belljar:sandbox/{interface}@{version}");
        let module = interface.replace('-', "_");
        let path = format!("crate::bindings::{owner}::belljar::sandbox::{module}");
        (name, WithOption::Path(path))
    };
    let module = match world {
        "tool" => "belljar_guest::raw".to_owned(),
        other => format!("belljar_guest::raw::{other}"),
    };
    let options = wit_bindgen_rust::Opts {
        format: true,
        generate_all: true,
        pub_export_macro: true,
        default_bindings_module: Some(module),
        with: shared.iter().map(with).collect(),
        ..Default::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, id, &mut files)?;
    let (_, bytes) = files.iter().next().context("no file was generated")?;
    let text = String::from_utf8(bytes.to_vec())?;
    // Macros that a crate exports share one namespace, and two worlds export one interface.
    Ok(text.replace(
        "__export_belljar_sandbox_",
        &format!("__export_{world}_belljar_sandbox_"),
    ))
}
