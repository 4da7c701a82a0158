//! Lists the guests from the folders they are in, so that none can be forgotten.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads its package and its environment"
)]

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let package = env::var("CARGO_MANIFEST_DIR")?;
    let package = Path::new(&package);
    // Each becomes a list of `(name, source)`: the macro's arguments are the names.
    let mut guests = Vec::new();
    for (folder, source) in [
        ("examples", "Source::Rust"),
        ("wat", "Source::Text(include_str!"),
        ("foreign", "Source::Bytes(include_bytes!"),
    ] {
        let folder = package.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if !path.is_file() {
                continue;
            }
            let name = path.file_stem().and_then(|stem| stem.to_str());
            let name = name.ok_or_else(|| format!("{} has no name", path.display()))?;
            let source = match source.strip_prefix("Source::Rust") {
                Some(_) => source.to_owned(),
                None => format!("{source}({:?}))", path),
            };
            guests.push((name.to_owned(), source));
        }
    }
    guests.sort();
    if let Some(pair) = guests.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(format!("two guests are called {}", pair[0].0).into());
    }

    let mut list = format!("const GUESTS: [(&str, Source); {}] = [\n", guests.len());
    let mut each = String::new();
    for (name, source) in &guests {
        writeln!(list, "    ({name:?}, {source}),")?;
        writeln!(each, "        $use!({name});")?;
    }
    let generated = format!(
        "{list}];\n\n\
        /// Calls a macro with the name of each guest.\n\
        #[macro_export]\n\
        macro_rules! for_each_guest {{\n    ($use:ident) => {{\n{each}    }};\n}}\n"
    );
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("guests.rs"), generated)?;
    Ok(())
}
