//! A panic's message, on its way to the host before the trap.

use std::sync::Once;

use crate::imports;

/// Makes every later panic of this component leave its message with the host. The first call
/// does it, the others nothing.
pub fn report_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| imports::panicked(&panic.to_string())));
    });
}
