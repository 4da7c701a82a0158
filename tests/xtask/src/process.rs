//! Commands that say what they were when they fail.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader},
    process::{Command, ExitStatus, Stdio},
};

use anyhow::{Context, Result, bail};

/// Runs a command whose output the user sees.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot run `{}`", shown(command)))?;
    succeeded(command, status)
}

/// Runs a command and gives what it prints on standard output.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run `{}`", shown(command)))?;
    succeeded(command, output.status)?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` did not print text", shown(command)))
}

/// Runs a command, gives each line of both outputs to `look`, and shows the user those that it wants
/// shown, until both outputs have ended. Whether the command succeeded is in the status.
pub(crate) fn watch(
    command: &mut Command,
    mut look: impl FnMut(&str) -> bool,
) -> Result<ExitStatus> {
    // One pipe for both keeps the lines in the order in which they were printed.
    let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let shown = shown(command);
    let mut child = command
        .stdout(writer.try_clone().context("cannot share a pipe")?)
        .stderr(writer)
        .spawn()
        .with_context(|| format!("cannot run `{shown}`"))?;
    // The command holds two writing ends, which would keep the pipe open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader
        .read_until(b'\n', &mut line)
        .context("cannot read what a command prints")?
        > 0
    {
        let text = String::from_utf8_lossy(&line);
        if look(text.trim_end()) {
            print!("{text}");
        }
        line.clear();
    }
    child
        .wait()
        .with_context(|| format!("cannot wait for `{shown}`"))
}

/// Whether a command is there and does what it is asked to, without a word.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let name = std::path::Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .map(|word| quoted(&word))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./,:@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_can_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["run", "--", "", "it's", "a=b"]);
        assert_eq!(shown(&command), r"cargo run -- '' 'it'\''s' a=b");
    }

    #[test]
    fn watching_sees_every_line_and_the_end() -> Result<()> {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; printf three; exit 3"]);
        let status = watch(&mut command, |line| {
            lines.push(line.to_owned());
            false
        })?;
        assert_eq!(status.code(), Some(3));
        assert_eq!(lines, ["one", "two", "three"]);
        Ok(())
    }
}
