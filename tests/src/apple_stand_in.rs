//! Plays the part of Apple's `container` where there is none: understands what Belljar says to it, refuses what the
//! real one does not know, and has docker do the rest.
//!
//! What docker confines of its own accord, and Apple's virtual machine otherwise, is not asked for: a session has
//! here what it has there. The containers of one `$HOME` are one machine's.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program of the tests'"
)]

use std::{
    io,
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["system", "status", "--format=json"] => {
            docker(&["version"]).and_then(|_| answer(&json!({"status": "running"})))
        }
        ["image", "inspect", image] => has(image).and_then(|()| answer(&json!([{"name": image}]))),
        ["image", "pull", "--progress=none", image] => has(image).map(|()| ExitCode::SUCCESS),
        ["list", "--all", "--format=json"] => list(),
        ["inspect", id] => inspected(&[id]).and_then(|told| answer(&told)),
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

fn answer(value: &Value) -> io::Result<ExitCode> {
    println!("{value}");
    Ok(ExitCode::SUCCESS)
}

/// What docker prints.
fn docker(arguments: &[&str]) -> io::Result<Vec<u8>> {
    let output = Command::new("docker").args(arguments).output()?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(refuse(&String::from_utf8_lossy(&output.stderr))),
    }
}

/// The label of the containers of this machine.
fn machine() -> io::Result<String> {
    let home = std::env::var("HOME").map_err(|_| refuse("there is no HOME"))?;
    Ok(format!("apple-stand-in={home}"))
}

fn has(image: &str) -> io::Result<()> {
    match docker(&["image", "inspect", image]) {
        Ok(_) => Ok(()),
        Err(_) => Err(refuse(&format!("Error: image {image}: notFound"))),
    }
}

fn list() -> io::Result<ExitCode> {
    let ours = format!("--filter=label={}", machine()?);
    let ids = docker(&["ps", "--all", "--quiet", "--no-trunc", &ours])?;
    let ids = String::from_utf8_lossy(&ids);
    let mut all = Vec::new();
    for id in ids.split_whitespace() {
        // One may end meanwhile.
        if let Ok(Value::Array(told)) = inspected(&[id]) {
            all.extend(told);
        }
    }
    answer(&Value::Array(all))
}

/// What docker knows of some containers, in the words of the real one.
fn inspected(ids: &[&str]) -> io::Result<Value> {
    let told = docker(&[["container", "inspect"].as_slice(), ids].concat());
    let told = told.map_err(|_| refuse("Error: no such container"))?;
    let told: Vec<Value> = serde_json::from_slice(&told)?;
    let told = told.iter().map(|one| {
        let status = match one["State"]["Status"].as_str() {
            Some("running") => "running",
            _ => "stopped",
        };
        let name = one["Name"].as_str().unwrap_or_default();
        json!({
            "status": status,
            "configuration": {
                "id": name.trim_start_matches('/'),
                "labels": one["Config"]["Labels"],
                "image": {"reference": one["Config"]["Image"]},
            },
        })
    });
    Ok(Value::Array(told.collect()))
}

fn delete(id: &str) -> io::Result<ExitCode> {
    // Docker takes it as well when there is none.
    inspected(&[id])?;
    docker(&["rm", "--force", "--volumes", id])?;
    Ok(ExitCode::SUCCESS)
}

/// What the real one knows of `run`; anything else ends it, as it does there.
fn run(arguments: &[&str]) -> io::Result<ExitCode> {
    let ours = machine()?;
    let mut run = Command::new("docker");
    // What it has no option for there is nobody's wish, but a log would hold all that a session says.
    run.args(["run", "--pull=never", "--log-driver=none", "--label", &ours]);
    let mut words = arguments.iter();
    let image = loop {
        let Some(&word) = words.next() else {
            return Err(refuse("Error: Missing expected argument '<image>'"));
        };
        let known = match word.split_once('=').unwrap_or((word, "")) {
            ("--rm" | "--interactive", "") | ("--network", "none") => true,
            ("--name" | "--label" | "--cap-drop" | "--cap-add" | "--user" | "--entrypoint", _) => {
                true
            }
            // Whole processors, and as many bytes as a unit says.
            ("--cpus", value) => value.parse::<u32>().is_ok(),
            ("--memory", value) => value
                .strip_suffix(['K', 'M', 'G'])
                .is_some_and(|number| number.parse::<u64>().is_ok()),
            ("--mount", value) => is_mount(value),
            _ if word.starts_with('-') => false,
            _ => break word,
        };
        if !known {
            return Err(refuse(&format!("Error: Unknown option '{word}'")));
        }
        run.arg(word);
    };
    has(image)?;
    Err(run.arg(image).args(words).exec())
}

/// Whether the real one understands a mount. It has no quotes, and no other fields.
fn is_mount(mount: &str) -> bool {
    let mut fields = mount
        .split(',')
        .map(|field| field.split_once('=').unwrap_or((field, "")));
    fields.all(|(key, value)| match key {
        "type" => value == "bind",
        "source" | "target" => value.starts_with('/') && !value.contains(['=', '"']),
        "readonly" => value.is_empty(),
        _ => false,
    })
}
