//! What an instance has of the world, and when it must stop.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use belljar_contract::{Context, Stop};
use wasmtime::{ResourceLimiter, component::HasData};

use super::{
    super::{
        call::LimitKind,
        engine::{INSTANCES_PER_COMPONENT, MEMORIES_PER_COMPONENT, TABLES_PER_COMPONENT},
        state::{Ended, grow, shortened},
    },
    limits::{HOST_CALLS, LenderLimits, MESSAGE_BYTES, TABLE_ELEMENTS},
    outgoing::Outgoing,
};

/// How long a guest may compute after the end of its call, so that it comes to where it is told of it.
const UNTOLD: Duration = Duration::from_millis(50);
/// How long a guest that was told of its end has for the other side's, less than who waits for the call waits.
const AFTER_CANCELLATION: Duration = Duration::from_millis(900);
const AFTER_DEADLINE: Duration = Duration::from_millis(100);
/// A shorter secret would be found in texts that have nothing to do with it.
const SHORTEST_SECRET: usize = 6;

/// What the operator configured for a component.
#[derive(Default)]
pub(crate) struct Settings {
    /// By name; the secrets among them.
    values: BTreeMap<String, String>,
    /// The values that are in no text of the host's.
    secrets: Vec<String>,
}

impl Settings {
    /// Settings that may be seen, and secrets that may not; a secret wins over a setting of its name.
    pub(crate) fn new(
        settings: BTreeMap<String, String>,
        secrets: BTreeMap<String, String>,
    ) -> Self {
        let hidden = secrets.values();
        let hidden = hidden.filter(|value| value.len() >= SHORTEST_SECRET);
        let mut hidden: Vec<String> = hidden.cloned().collect();
        // One that has another in it goes first.
        hidden.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let mut values = settings;
        values.extend(secrets);
        Self {
            values,
            secrets: hidden,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// A text of the component's for the host's own: bounded, in one line, and without secrets.
    pub(super) fn told(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "***");
            }
        }
        let plain = |character: char| match character.is_control() {
            true => ' ',
            false => character,
        };
        let mut text: String = text.chars().map(plain).collect();
        if text.len() > MESSAGE_BYTES {
            text.truncate(text.floor_char_boundary(MESSAGE_BYTES));
            text.push('…');
        }
        text
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Settings")
            .field(&self.values.keys())
            .finish()
    }
}

/// What all instances of a session share.
#[derive(Clone)]
pub(super) struct World {
    pub(super) settings: Arc<Settings>,
    pub(super) outgoing: Arc<dyn Outgoing>,
}

/// The state of one instance.
pub(super) struct LenderState {
    pub(super) world: World,
    limits: LenderLimits,
    /// Of the call that it serves.
    context: Context,
    /// When it must come to its end, once its call is over.
    ending: Option<Ending>,
    host_calls: u64,
    memory_bytes: u64,
    table_elements: u64,
    panic: Option<String>,
}

/// The end of a call, as the guest sees it.
#[derive(Clone, Copy)]
struct Ending {
    stop: Stop,
    began: Duration,
    told: bool,
}

impl Ending {
    fn until(self) -> Duration {
        let grace = match (self.told, self.stop) {
            (false, _) => UNTOLD,
            (true, Stop::Cancelled) => AFTER_CANCELLATION,
            (true, Stop::TimedOut) => AFTER_DEADLINE,
        };
        self.began.saturating_add(grace)
    }
}

/// What a guest may do with a request now.
pub(super) enum Turn {
    /// Send it, as long as this lasts.
    Send(Context),
    /// It is told that its call is over.
    Tell,
}

impl LenderState {
    pub(super) fn new(world: World, limits: LenderLimits) -> Self {
        Self {
            world,
            limits,
            context: Context::new(),
            ending: None,
            host_calls: 0,
            memory_bytes: 0,
            table_elements: 0,
            panic: None,
        }
    }

    /// Begins a call.
    pub(super) fn begin(&mut self, context: Context) {
        self.context = context;
        self.ending = None;
        self.host_calls = 0;
        self.panic = None;
    }

    /// Whether its call came to an end that it did not make itself.
    pub(super) const fn was_stopped(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether it is fit for another call: one that holds much of its memory may not end the next one well.
    pub(super) const fn is_fresh(&self) -> bool {
        self.memory_bytes <= self.limits.memory_bytes / 2
    }

    pub(super) fn take_panic(&mut self) -> Option<String> {
        let panic = self.panic.take()?;
        Some(self.world.settings.told(&panic))
    }

    pub(super) fn set_panic(&mut self, message: String) {
        self.panic = Some(shortened(message));
    }

    /// Counts a call to the host.
    pub(super) fn charge(&mut self) -> Result<(), Ended> {
        self.host_calls += 1;
        match self.host_calls > HOST_CALLS {
            true => Err(Ended::Limit(LimitKind::HostCalls)),
            false => Ok(()),
        }
    }

    /// Says whether the guest may go on computing.
    pub(super) fn check(&mut self) -> Result<(), Ended> {
        match self.ending() {
            Some(ending) if self.context.now() >= ending.until() => Err(ending.stop.into()),
            _ => Ok(()),
        }
    }

    /// Says what is to be done with a request that the guest makes now.
    pub(super) fn turn(&mut self) -> Result<Turn, Ended> {
        match self.ending() {
            None => Ok(Turn::Send(self.context.clone())),
            Some(ending) if ending.told => {
                self.check()?;
                let left = ending.until().saturating_sub(self.context.now());
                Ok(Turn::Send(Context::new().with_timeout(left)))
            }
            Some(ending) => {
                self.ending = Some(Ending {
                    told: true,
                    ..ending
                });
                Ok(Turn::Tell)
            }
        }
    }

    fn ending(&mut self) -> Option<Ending> {
        if self.ending.is_none()
            && let Err(stop) = self.context.check()
        {
            self.ending = Some(Ending {
                stop,
                began: self.context.now(),
                told: false,
            });
        }
        self.ending
    }
}

impl HasData for LenderState {
    type Data<'a> = &'a mut LenderState;
}

impl ResourceLimiter for LenderState {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let limit = self.limits.memory_bytes;
        grow(
            &mut self.memory_bytes,
            current,
            desired,
            limit,
            LimitKind::Memory,
        )
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let limit = TABLE_ELEMENTS;
        grow(
            &mut self.table_elements,
            current,
            desired,
            limit,
            LimitKind::TableElements,
        )
    }

    fn instances(&self) -> usize {
        INSTANCES_PER_COMPONENT as usize
    }

    fn tables(&self) -> usize {
        TABLES_PER_COMPONENT as usize
    }

    fn memories(&self) -> usize {
        MEMORIES_PER_COMPONENT as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::outgoing::{HttpError, HttpRequest, HttpResponse},
        *,
    };

    struct Nowhere;

    impl Outgoing for Nowhere {
        fn send(&self, _: &Context, _: HttpRequest) -> Result<HttpResponse, HttpError> {
            Err(HttpError::Stopped)
        }
    }

    fn state() -> LenderState {
        let world = World {
            settings: Arc::default(),
            outgoing: Arc::new(Nowhere),
        };
        let limits = LenderLimits {
            memory_bytes: 1 << 20,
            timeout: Duration::from_secs(1),
            instances: 1,
        };
        LenderState::new(world, limits)
    }

    #[test]
    fn a_guest_is_told_once_that_its_call_is_over() {
        let mut state = state();
        let context = Context::new();
        state.begin(context.clone());
        assert!(matches!(state.turn(), Ok(Turn::Send(_))));
        context.cancellation().cancel();
        assert!(matches!(state.turn(), Ok(Turn::Tell)));
        let Ok(Turn::Send(rest)) = state.turn() else {
            panic!("a request is sent after it was told");
        };
        assert!(
            rest.remaining()
                .is_some_and(|left| left <= AFTER_CANCELLATION)
        );
        assert!(state.check().is_ok() && state.was_stopped());
    }

    #[test]
    fn the_next_call_begins_anew() {
        let mut state = state();
        state.begin(Context::new().with_timeout(Duration::ZERO));
        assert!(state.check().is_ok(), "it may come to where it is told");
        assert!(state.was_stopped());
        state.begin(Context::new());
        assert!(!state.was_stopped());
    }

    #[test]
    fn secrets_are_in_no_text() {
        let secrets = [("token", "s3cret-one"), ("longer", "s3cret-one-more")];
        let secrets = secrets.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = Settings::new(BTreeMap::new(), secrets.into());
        assert_eq!(
            settings.told("a s3cret-one-more\nb s3cret-one"),
            "a *** b ***"
        );
        assert!(!format!("{settings:?}").contains("s3cret"));
        assert_eq!(settings.get("token"), Some("s3cret-one"));
    }
}
