//! The sandbox's own processes as the way to make what the contract cannot make.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicBool, Ordering},
};

use belljar_contract::{
    ErrorKind, RunOptions, Sandbox, async_trait,
    processes::{Command, Outcome},
};

use crate::{
    check::Failure,
    outside::{Filling, Outside, SECRET},
};

/// An [`Outside`] by commands that run in the sandbox; it ends with the session.
pub(crate) struct Processes {
    sandbox: Sandbox,
    /// A directory outside the workspace that only this case uses.
    outside: String,
    /// Whether it was made.
    is_made: AtomicBool,
}

impl Processes {
    pub(crate) fn new(sandbox: Sandbox, unique: &str) -> Self {
        Self {
            sandbox,
            outside: format!("/tmp/belljar-conformance-{unique}"),
            is_made: AtomicBool::new(false),
        }
    }

    async fn command(&self, argv: &[&str], stdin: &[u8]) -> Result<Vec<u8>, Failure> {
        let command = Command::Argv(argv.iter().map(ToString::to_string).collect());
        let options = RunOptions {
            stdin: stdin.to_vec(),
            ..RunOptions::default()
        };
        match self.sandbox.run(command, options).await {
            Err(error) if error.kind == ErrorKind::ProgramNotFound => Err(Failure::unmet(format!(
                "the sandbox has no command {}",
                argv[0]
            ))),
            Err(error) => Err(error.into()),
            Ok(execution) if execution.outcome == Outcome::Exited(0) => {
                Ok([execution.stdout.head, execution.stdout.tail].concat())
            }
            Ok(execution) => Err(Failure::unmet(format!(
                "{argv:?} ended with {:?}: {}",
                execution.outcome,
                execution.stderr.to_text()
            ))),
        }
    }
}

/// A name that no command takes for an option.
fn dotted(path: &str) -> String {
    format!("./{path}")
}

#[async_trait]
impl Outside for Processes {
    async fn symlink(&self, text: &str, link: &str) -> Result<(), Failure> {
        self.command(&["ln", "-s", "--", text, &dotted(link)], b"")
            .await
            .map(drop)
    }

    async fn hard_link(&self, file: &str, link: &str) -> Result<(), Failure> {
        self.command(&["ln", "--", &dotted(file), &dotted(link)], b"")
            .await
            .map(drop)
    }

    async fn mkfifo(&self, path: &str) -> Result<(), Failure> {
        self.command(&["mkfifo", &dotted(path)], b"")
            .await
            .map(drop)
    }

    async fn write(&self, path: &[u8], bytes: &[u8]) -> Result<(), Failure> {
        let mut escaped = String::new();
        for byte in path {
            let _ = write!(escaped, "\\{byte:03o}");
        }
        // The trailing dot keeps a newline at the name's end from being cut.
        let text = r#"name=$(printf "$1."); cat > "./${name%.}""#;
        self.command(&["sh", "-c", text, "sh", &escaped], bytes)
            .await
            .map(drop)
    }

    async fn fill(&self, directory: &str, fillings: &[Filling]) -> Result<(), Failure> {
        let mut lines = String::new();
        for Filling { name, size } in fillings {
            // Writing to a string does not fail.
            let _ = match size {
                Some(size) => writeln!(lines, "{size} {name}"),
                None => writeln!(lines, "- {name}"),
            };
        }
        // A width of 0 would be none.
        let text = r#"cd "$1" || exit; while IFS= read -r line; do
            name=./${line#* } size=${line%% *}
            case $size in
            -) mkdir "$name" ;;
            0) : >"$name" ;;
            *) printf "%${size}s" '' >"$name" ;;
            esac || exit
        done"#;
        let directory = dotted(directory);
        self.command(&["sh", "-c", text, "sh", &directory], lines.as_bytes())
            .await
            .map(drop)
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        self.command(&["cat", &dotted(path)], b"").await
    }

    async fn chmod(&self, path: &str, mode: u32) -> Result<(), Failure> {
        let mode = format!("{mode:04o}");
        self.command(&["chmod", &mode, &dotted(path)], b"")
            .await
            .map(drop)
    }

    async fn read_link(&self, link: &str) -> Result<String, Failure> {
        let bytes = self.command(&["readlink", &dotted(link)], b"").await?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    async fn outside_directory(&self) -> Result<String, Failure> {
        self.is_made.store(true, Ordering::Release);
        let text = r#"mkdir -p "$1/sub" && cat > "$1/secret.txt""#;
        self.command(&["sh", "-c", text, "sh", &self.outside], SECRET)
            .await?;
        Ok(self.outside.clone())
    }

    async fn outside_now(&self) -> Result<(Vec<String>, Vec<u8>), Failure> {
        let text = r#"ls -A "$1" "$1/sub" | grep -v -e ':$' -e '^$'"#;
        let names = self
            .command(&["sh", "-c", text, "sh", &self.outside], b"")
            .await?;
        let mut names: Vec<String> = String::from_utf8_lossy(&names)
            .lines()
            .map(str::to_owned)
            .collect();
        names.sort();
        let secret = format!("{}/secret.txt", self.outside);
        Ok((names, self.command(&["cat", &secret], b"").await?))
    }

    async fn permissions_bind(&self) -> Result<bool, Failure> {
        let id = self.command(&["id", "-u"], b"").await?;
        Ok(id.trim_ascii() != b"0")
    }

    async fn finish(&self) {
        if !self.is_made.load(Ordering::Acquire) {
            return;
        }
        // What cannot be removed is a directory of one small file in the sandbox's own /tmp.
        let _ = self.command(&["rm", "-rf", &self.outside], b"").await;
    }
}
