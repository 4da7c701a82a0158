//! `cargo xtask demo`: the coding tools, a component, at work on this project's own source tree.
//!
//! Everything is done by the `belljar` command, as a user would do it, and everything is checked:
//! a demo that shows something else than it says fails.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{checkout_copy, guests, process, workspace::Workspace};

/// The file that the demo edits, and the edit.
const FILE: &str = "wit/worlds.wit";
const OLD: &str = "/// A component with tools: all it can do is in these imports.";
const NEW: &str = "/// A component with tools: whatever it does, it does by these four imports.";

/// Builds the guests and the command, and shows them at work.
pub(crate) fn demo(workspace: &Workspace) -> Result<()> {
    guests::build(workspace)?;
    println!("building the command `belljar` (the first time takes minutes)");
    process::run(
        workspace
            .cargo()
            .args(["build", "--package", "belljar", "--bin", "belljar"]),
    )?;
    show(workspace)
}

/// Shows what is built at work.
pub(crate) fn show(workspace: &Workspace) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("belljar-demo-{}", std::process::id()));
    fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let shown = Stage::set(workspace, folder.clone()).and_then(|stage| stage.play());
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    shown
}

/// A folder with a configuration, and a copy of the checkout as the workspace.
struct Stage {
    belljar: PathBuf,
    folder: PathBuf,
}

impl Stage {
    fn set(workspace: &Workspace, folder: PathBuf) -> Result<Self> {
        let tree = folder.join("tree");
        let files = checkout_copy::copy(workspace.root(), &tree)?;
        let component = workspace.guests().join("coding.wasm");
        let config = format!(
            "version = 1\n\n\
             [sandbox]\nbackend = \"virtual\"\nworkspace = \"tree\"\nwritable = true\n\n\
             [tools.coding]\ncomponent = {:?}\nallow = [\"read\", \"write\"]\n",
            component.display().to_string()
        );
        fs::write(folder.join("belljar.toml"), &config).context("cannot write belljar.toml")?;
        println!(
            "\nThe workspace is a copy of this project's {files} source files, so that the edit below \
             is real and your checkout stays as it is. belljar.toml says:\n"
        );
        print_indented(&config);
        Ok(Self {
            belljar: workspace.built("belljar"),
            folder,
        })
    }

    fn play(&self) -> Result<()> {
        title("search: where is the trait that every backend implements?");
        let found = self.run(
            "search",
            r#"{"pattern": "^pub trait Backend\\b", "include": ["*.rs"]}"#,
        )?;
        expect(&found, "pub trait Backend: Send + Sync")?;

        title("read: what is a tool's world?");
        let read = self.run(
            "read",
            &format!(r#"{{"path": "{FILE}", "start_line": 1, "lines": 10}}"#),
        )?;
        expect(&read, OLD)?;

        title("edit: one exact text by another");
        let file = self.folder.join("tree").join(FILE);
        let before = fs::read_to_string(&file).context("cannot read the file to edit")?;
        self.run(
            "edit",
            &format!(r#"{{"path": "{FILE}", "edits": [{{"old": "{OLD}", "new": "{NEW}"}}]}}"#),
        )?;
        let after = fs::read_to_string(&file).context("cannot read the edited file")?;
        ensure!(
            after == before.replacen(OLD, NEW, 1) && after != before,
            "the edit changed something else than it was to"
        );
        self.diff(&before, &file)?;

        title("glob: which interfaces has the contract?");
        let found = self.run("glob", r#"{"pattern": "wit/*.wit"}"#)?;
        expect(&found, "wit/files.wit")?;

        title("a path that leaves the workspace is refused");
        let outside = r#"{"path": "../../etc/passwd"}"#;
        print_command("read", outside);
        let refused = self.call(&[], "read", outside)?;
        print_indented(&String::from_utf8_lossy(&refused.stderr));
        ensure!(!refused.status.success(), "the call was not refused");
        let refused = self.call(&["--json"], "read", outside)?;
        ensure!(!refused.status.success(), "the call was not refused");
        expect(
            &String::from_utf8_lossy(&refused.stdout),
            r#""contract-kind":"access-denied""#,
        )?;
        println!("\nEverything was as it should be.");
        Ok(())
    }

    /// Calls a tool that is to succeed, and shows the call and its answer.
    fn run(&self, tool: &str, arguments: &str) -> Result<String> {
        print_command(tool, arguments);
        let output = self.call(&[], tool, arguments)?;
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        print_indented(&answer);
        if !output.status.success() {
            print_indented(&String::from_utf8_lossy(&output.stderr));
            bail!("the call of `{tool}` failed ({})", output.status);
        }
        Ok(answer)
    }

    fn call(&self, options: &[&str], tool: &str, arguments: &str) -> Result<Output> {
        Command::new(&self.belljar)
            .current_dir(&self.folder)
            .args(options)
            .args(["run", "--config", "belljar.toml", "coding", tool, arguments])
            .output()
            .with_context(|| format!("cannot run {}", self.belljar.display()))
    }

    /// Shows how a file differs from what it was.
    fn diff(&self, before: &str, file: &Path) -> Result<()> {
        let old = self.folder.join("before");
        fs::write(&old, before).context("cannot keep the file as it was")?;
        let diff = Command::new("diff")
            .args(["-u", "--label", "before", "--label", FILE])
            .args([&old, file])
            .output()
            .context("cannot run `diff`; install diffutils")?;
        println!();
        print_indented(&String::from_utf8_lossy(&diff.stdout));
        Ok(())
    }
}

fn title(text: &str) {
    println!("\n--- {text}\n");
}

fn print_command(tool: &str, arguments: &str) {
    println!("$ belljar run --config belljar.toml coding {tool} '{arguments}'");
}

fn print_indented(text: &str) {
    for line in text.lines() {
        println!("  {line}");
    }
}

fn expect(answer: &str, part: &str) -> Result<()> {
    ensure!(
        answer.contains(part),
        "the answer should have {part:?} in it, and it is:\n{answer}"
    );
    Ok(())
}
