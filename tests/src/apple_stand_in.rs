//! Plays the part of Apple's `container` where there is none: understands what Belljar says to it, and runs what
//! is to be process 1 as a plain process of this machine, with no confinement at all.
//!
//! What it was told of a container is a file in `$HOME/containers`, as long as that runs.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program of the tests'"
)]

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use serde_json::{Map, Value, json};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["system", "status", "--format=json"] => answer(&json!({"status": "running"})),
        ["image", "inspect", image] if is_there(image) => answer(&json!([{"name": image}])),
        ["image", "inspect", image] => Err(refuse(&format!("Error: image {image}: notFound"))),
        ["image", "pull", "--progress=none", image] if is_there(image) => Ok(ExitCode::SUCCESS),
        ["list", "--all", "--format=json"] => list(),
        ["inspect", id] => inspect(id),
        ["delete", "--force", id] => delete(id),
        ["run", rest @ ..] => run(rest),
        _ => Err(refuse(&format!("Error: Unknown option {words:?}"))),
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn refuse(words: &str) -> io::Error {
    io::Error::other(words)
}

fn is_there(image: &str) -> bool {
    image == "stand-in"
}

fn folder() -> io::Result<PathBuf> {
    let home = std::env::var_os("HOME").ok_or_else(|| refuse("there is no HOME"))?;
    let folder = Path::new(&home).join("containers");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn answer(value: &Value) -> io::Result<ExitCode> {
    println!("{value}");
    Ok(ExitCode::SUCCESS)
}

fn list() -> io::Result<ExitCode> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder()?)? {
        // One may end meanwhile.
        if let Ok(text) = std::fs::read_to_string(entry?.path()) {
            all.push(serde_json::from_str(&text)?);
        }
    }
    answer(&Value::Array(all))
}

fn inspect(id: &str) -> io::Result<ExitCode> {
    let text = std::fs::read_to_string(folder()?.join(id));
    let text = text.map_err(|_| refuse("Error: no such container"))?;
    answer(&json!([serde_json::from_str::<Value>(&text)?]))
}

fn delete(id: &str) -> io::Result<ExitCode> {
    let file = folder()?.join(id);
    let text = std::fs::read_to_string(&file);
    let text = text.map_err(|_| refuse("Error: no such container"))?;
    let told: Value = serde_json::from_str(&text)?;
    if let Some(process) = told["process"].as_u64() {
        Command::new("kill")
            .args(["-KILL", &process.to_string()])
            .status()?;
    }
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// What the real one knows of `run`; anything else ends it, as it does there.
fn run(arguments: &[&str]) -> io::Result<ExitCode> {
    let (mut name, mut labels, mut resident) = (None, Map::new(), None);
    let mut words = arguments.iter();
    let image = loop {
        let Some(word) = words.next() else {
            return Err(refuse("Error: Missing expected argument '<image>'"));
        };
        match word.split_once('=').unwrap_or((word, "")) {
            ("--rm" | "--interactive", "") => {}
            ("--name", value) => name = Some(value),
            ("--label", value) => {
                let (key, value) = value.split_once('=').unwrap_or((value, ""));
                labels.insert(key.to_owned(), value.into());
            }
            ("--network", "none") | ("--cap-drop" | "--memory" | "--cpus" | "--user", _) => {}
            ("--mount", value) => {
                if let Some(source) = source(value, "/.belljar/resident")? {
                    resident = Some(source);
                }
            }
            ("--entrypoint", "/.belljar/resident") => {}
            _ if word.starts_with('-') => {
                return Err(refuse(&format!("Error: Unknown option '{word}'")));
            }
            _ => break *word,
        }
    };
    if !is_there(image) {
        return Err(refuse(&format!("Error: image {image}: notFound")));
    }
    let name = name.ok_or_else(|| refuse("Error: it is told its name"))?;
    let resident = resident.ok_or_else(|| refuse("Error: nothing is bound to start"))?;
    let file = folder()?.join(name);
    let mut child = Command::new(resident)
        .args(words)
        .env_clear()
        .stdin(Stdio::inherit())
        .spawn()?;
    let told = json!({
        "status": "running",
        "process": child.id(),
        "configuration": {"id": name, "labels": labels, "image": {"reference": image}},
    });
    std::fs::write(&file, told.to_string())?;
    let ended = child.wait();
    // It was told to remove it; somebody else may have.
    let _ = std::fs::remove_file(&file);
    match ended?.success() {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(ExitCode::from(137)),
    }
}

/// What is bound at a target, when this mount does that.
fn source(mount: &str, target: &str) -> io::Result<Option<PathBuf>> {
    let mut fields = mount
        .split(',')
        .map(|field| field.split_once('=').unwrap_or((field, "")));
    if fields
        .clone()
        .any(|(key, _)| !["type", "source", "target", "readonly"].contains(&key))
    {
        return Err(refuse(&format!("Error: invalid mount {mount}")));
    }
    let here = fields.clone().any(|field| field == ("target", target));
    let source = fields.find(|(key, _)| *key == "source");
    Ok(source.filter(|_| here).map(|(_, source)| source.into()))
}
