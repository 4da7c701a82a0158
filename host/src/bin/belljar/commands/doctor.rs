//! `belljar doctor`: what the sandbox gives of what was asked, as it is seen from inside.

use belljar::{
    backends::{ExamineError, Report, Row, Weakness},
    examine_ambient,
};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::{SandboxArguments, open_options},
};

/// Open the sandbox and show what it gives of what the configuration asks for
///
/// A container is started, its resident looks around before anything else runs there (without a resident, its
/// shell), and the container is removed. Each guarantee is shown as asked and as got: held, believed (nothing inside can see it), not-asked,
/// missing (the engine cannot), contradicted (it was seen not to hold) or unseen. The exit code is 8 when one is
/// contradicted, or one that the configuration requires does not hold.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        let report = examine_ambient(interrupt.context(), &config, open_options(&config)).await;
        let report = report.map_err(|error| match error {
            ExamineError::Open(error) => Failure::from(error),
            ExamineError::Session(error) => Failure::from(error),
            other => Failure::new(Exit::NotOpened, other),
        })?;
        match output.is_json() {
            true => output.value(&to_json(&report))?,
            false => show(&report, output)?,
        }
        Ok(match report.failures().next() {
            None => Exit::Done,
            Some(_) => Exit::NotOffered,
        })
    }
}

fn to_json(report: &Report) -> Value {
    let row = |row: &Row| {
        json!({
            "guarantee": row.guarantee,
            "asked": row.asked,
            "got": row.got,
            "standing": row.standing.as_str(),
            "gap": row.gap,
            "required": row.required,
            "fails": row.fails(),
        })
    };
    let weakness = |weakness: &Weakness| {
        json!({
            "name": weakness.name,
            "message": weakness.message,
        })
    };
    json!({
        "backend": report.backend,
        "ok": report.failures().next().is_none(),
        "rows": report.rows.iter().map(row).collect::<Vec<Value>>(),
        "fall-back": report.fall_back.iter().map(weakness).collect::<Vec<Value>>(),
    })
}

fn show(report: &Report, output: Output) -> Result<(), Failure> {
    let width = |title: &str, text: fn(&Row) -> &str| {
        let widths = report.rows.iter().map(|row| text(row).chars().count());
        widths.chain([title.len()]).max().unwrap_or_default()
    };
    let guarantees = width("guarantee", |row| &row.guarantee);
    let standings = width("standing", |row| row.standing.as_str());
    let asked = width("asked", |row| &row.asked);
    let line = |guarantee: &str, standing: &str, ask: &str, got: &str| {
        let text = format!("{guarantee:guarantees$}  {standing:standings$}  {ask:asked$}  {got}");
        output.line(text.trim_end())
    };
    line("guarantee", "standing", "asked", "got")?;
    for row in &report.rows {
        line(&row.guarantee, row.standing.as_str(), &row.asked, &row.got)?;
        if let Some(gap) = &row.gap {
            output.line(&format!("  {gap}"))?;
        }
    }
    if !report.fall_back.is_empty() {
        output.line("without its resident the session would be weaker in:")?;
    }
    for Weakness { name, message } in &report.fall_back {
        output.line(&format!("  {name}: {message}"))?;
    }
    for row in report.failures() {
        let why = match row.required {
            true => "is required",
            false => "is other than asked",
        };
        output.note(&format!("{} {why}: {}", row.guarantee, row.standing));
    }
    Ok(())
}
