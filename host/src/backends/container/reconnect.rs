//! A container that is found again by its name.
//!
//! A resident ends with its stream, and as process 1 it ends its container. So what is found has stopped, or
//! is about to, and is started again: the same process 1 comes to the same place. What is kept of it is what its
//! engine keeps of any container that stops.

use belljar_contract::Context;

use super::{
    arguments,
    cli::CALL_TIMEOUT,
    listing::{Listed, list},
    meeting::Meeting,
    not_started::Failed,
    running::Running,
    standing::Standing,
    start::Starter,
};

impl Starter {
    /// Starts the container of the configured name again, or a new one where there is none.
    pub(super) fn reconnect(&self, context: &Context) -> Result<Running, Failed> {
        // Both were asked for when the options were checked.
        let (Some(name), Some(state)) = (&self.options.name, &self.options.state) else {
            return self.start_new(context, None);
        };
        let standing = Standing::take_ambient(state, self.cli.engine(), name)?;
        let mut found = list(&self.cli, context, Some(name))?;
        // The engine may have looked for a part of it.
        found.retain(|one| one.labels.name.as_ref() == Some(name));
        match found.as_slice() {
            [] => self.start_new(context, Some(standing)),
            [one] => self.again(context, name, one, standing),
            several => Err(Failed::Several {
                name: name.clone(),
                ids: several.iter().map(|one| one.id.clone()).collect(),
            }),
        }
    }

    fn again(
        &self,
        context: &Context,
        name: &str,
        one: &Listed,
        standing: Standing,
    ) -> Result<Running, Failed> {
        let mut differences = self.labels(String::new(), None).differences(&one.labels);
        let here = Meeting::place_below(standing.folder());
        if let Some(there) = &one.labels.stream
            && *there != here
        {
            differences.push(format!("place of its socket: {here} here, {there} there"));
        }
        if !differences.is_empty() {
            return Err(Failed::Different {
                name: name.to_owned(),
                id: one.id.clone(),
                differences,
            });
        }
        // Its place is ours, so whoever owned it is gone, and what runs in it is about to end.
        self.cli.stop(&one.id, CALL_TIMEOUT)?;
        let running = match one.labels.stream {
            Some(_) => {
                let meeting = Meeting::below_ambient(standing.folder())?;
                self.met(context, meeting, &arguments::start(&one.id, false), &one.id)
            }
            None => self.attached(context, &arguments::start(&one.id, true), &one.id),
        };
        if running.is_err() {
            // Nothing is to run in it without an owner; why it failed is known already.
            let _ = self.cli.stop(&one.id, CALL_TIMEOUT);
        }
        let running = running?;
        running.hold(Some(standing));
        Ok(running)
    }
}
