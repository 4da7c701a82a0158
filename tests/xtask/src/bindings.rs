//! The guest bindings: generated from `wit/`, checked in, and compared.
//!
//! A guest that generates its bindings while it is built pays for a parser and a formatter in
//! every clean build; one that finds them in `guest-sdk/src/bindings.rs` builds in seconds. The price is
//! that the file can be out of date, which is what the comparison is for.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use wit_bindgen_core::{Files, WorldGenerator as _, wit_parser::Resolve};

/// Generates the bindings for the world `tool` of the package in `wit_dir`, writes them to `out`
/// (which may not be there yet), and returns them.
///
/// # Errors
/// The package does not parse, has no such world, or `out` cannot be written.
pub(crate) fn generate(wit_dir: &Path, out: &Path) -> Result<String> {
    let text = render(wit_dir)?;
    std::fs::write(out, &text).with_context(|| format!("writing {}", out.display()))?;
    Ok(text)
}

/// Says whether `checked_in` holds what [`generate`] would write there.
///
/// # Errors
/// The package does not parse, or the file cannot be read or differs.
pub(crate) fn check(wit_dir: &Path, checked_in: &Path) -> Result<()> {
    let right = render(wit_dir)?;
    let there = std::fs::read_to_string(checked_in)
        .with_context(|| format!("reading {}", checked_in.display()))?;
    ensure!(
        there == right,
        "{} is not what wit/ gives; run `cargo xtask bindings` and commit the file",
        checked_in.display()
    );
    Ok(())
}

fn render(wit_dir: &Path) -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve
        .push_dir(wit_dir)
        .with_context(|| format!("parsing {}", wit_dir.display()))?;
    let world = resolve.select_world(&[package], Some("tool"))?;
    let options = wit_bindgen_rust::Opts {
        format: true,
        generate_all: true,
        pub_export_macro: true,
        default_bindings_module: Some("belljar_guest::raw".to_owned()),
        ..Default::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, world, &mut files)?;
    let (_, bytes) = files.iter().next().context("no file was generated")?;
    Ok(String::from_utf8(bytes.to_vec())?)
}
