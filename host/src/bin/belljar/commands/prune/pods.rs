//! `belljar prune` in a cluster.

use belljar::backends::{ClusterAccess, KubernetesOptions, LeftPod};
use serde_json::{Value, json};

use crate::{
    ambient,
    exit_code::Exit,
    failure::{Failure, messages},
    interrupt::Interrupt,
    output::Output,
};

/// Removes the Pods that nobody is left for.
pub(super) async fn prune(
    mut options: KubernetesOptions,
    dry_run: bool,
    output: Output,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    if let ClusterAccess::Kubeconfig(files) = &mut options.access
        && files.is_empty()
    {
        *files = ambient::kubeconfig();
    }
    let context = interrupt.context().clone();
    let prune = tokio::task::spawn_blocking(move || options.prune_ambient(&context, dry_run));
    let report = prune
        .await
        .map_err(|error| Failure::new(Exit::Host, error))?
        .map_err(|error| Failure::new(Exit::Host, error))?;
    match output.is_json() {
        true => {
            let pods: Vec<Value> = report.iter().map(|one| to_json(one, dry_run)).collect();
            output.value(&json!({ "dry-run": dry_run, "pods": pods }))?;
        }
        false => show(&report, dry_run, output)?,
    }
    Ok(match report.iter().any(|one| one.failure.is_some()) {
        true => Exit::Failed,
        false => Exit::Done,
    })
}

/// What became of a Pod.
fn outcome(one: &LeftPod, dry_run: bool) -> &'static str {
    match (one.verdict.removes(), dry_run, &one.failure) {
        (false, _, _) => "kept",
        (true, true, _) => "would-remove",
        (true, false, None) => "removed",
        (true, false, Some(_)) => "failed",
    }
}

fn to_json(one: &LeftPod, dry_run: bool) -> Value {
    json!({
        "name": one.name,
        "image": one.image,
        "state": one.fate.to_string(),
        "outcome": outcome(one, dry_run),
        "reason": one.verdict.as_str(),
        "message": one.failure.as_ref().map(|error| messages(error).join(": ")),
    })
}

fn show(report: &[LeftPod], dry_run: bool, output: Output) -> Result<(), Failure> {
    for one in report {
        let LeftPod {
            name,
            image,
            verdict,
            ..
        } = one;
        let outcome = outcome(one, dry_run);
        let line = format!("{outcome:<12}  {name}  {image}  {verdict}");
        match &one.failure {
            None => output.line(&line)?,
            Some(error) => output.line(&format!("{line}; {}", messages(error).join(": ")))?,
        }
    }
    if report.is_empty() {
        output.note("there are no Pods of ours");
    }
    Ok(())
}
