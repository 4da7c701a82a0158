//! `find-commands`: one look for all, and then each is asked for its version.

use std::time::Duration;

use belljar_contract::{
    Context,
    processes::{Execution, Outcome},
    session::CommandInfo,
};
use belljar_workspace::processes::DEFAULT_PATH;

use super::{
    PosixBackend,
    fault::Fault,
    shell::{self, Question},
};

/// How long one command has to say its version, and all together.
const EACH: Duration = Duration::from_secs(2);
const ALL: Duration = Duration::from_secs(5);
/// What one has to clean up when the caller wants no answer any more.
const GRACE: Duration = Duration::from_millis(50);
/// What is shown of an answer's first line, in characters.
const SHOWN: usize = 200;

impl PosixBackend {
    pub(super) async fn find_commands(
        &self,
        context: &Context,
        names: Vec<String>,
    ) -> Result<Vec<CommandInfo>, Fault> {
        let path = self
            .environment
            .get("PATH")
            .map_or(DEFAULT_PATH, String::as_str);
        let places: Vec<&str> = path.split(':').collect();
        let mut arguments = vec![path];
        arguments.extend(names.iter().map(String::as_str));
        let answer = self
            .shell
            .ask(
                context,
                Question {
                    script: shell::FIND,
                    path: "",
                    flags: "",
                    arguments: &arguments,
                    stdin: Vec::new(),
                    limit: 64 << 10,
                },
            )
            .await?;
        let lines = String::from_utf8_lossy(&answer.body).into_owned();
        let mut found = Vec::with_capacity(names.len());
        let mut lines = lines.lines();
        for name in names {
            let number: usize = lines
                .next()
                .and_then(|line| line.parse().ok())
                .ok_or_else(|| Fault::Nonsense("a command has no answer".into()))?;
            let place = number.checked_sub(1).and_then(|index| places.get(index));
            let path = place.map(|place| match place.trim_end_matches('/') {
                "" if place.is_empty() => format!("./{name}"),
                place => format!("{place}/{name}"),
            });
            found.push(CommandInfo {
                name,
                path,
                version: None,
            });
        }
        let asking = context.with_timeout(ALL);
        for info in &mut found {
            let Some(path) = &info.path else { continue };
            if asking.check().is_err() {
                break;
            }
            let argv = vec![path.clone(), "--version".into()];
            let launch = Self::plain_launch(argv, EACH, 4096);
            info.version = self
                .execute(&asking, launch, GRACE)
                .await
                .ok()
                .and_then(|execution| first_line(&execution));
        }
        context.check()?;
        Ok(found)
    }
}

fn first_line(execution: &Execution) -> Option<String> {
    if execution.outcome != Outcome::Exited(0) {
        return None;
    }
    [&execution.stdout, &execution.stderr]
        .into_iter()
        .find_map(|output| {
            let line = output.head.split(|byte| *byte == b'\n').next()?;
            let text = String::from_utf8_lossy(line);
            let text: String = text.trim().chars().take(SHOWN).collect();
            (!text.is_empty()).then_some(text)
        })
}
