//! A description that a layer makes from the one below it.

use std::sync::{Arc, Mutex, PoisonError};

use belljar_contract::session::Description;

/// Keeps what was derived for as long as what it was derived from is the same.
#[derive(Debug, Default)]
pub(super) struct Derived(Mutex<Option<(Arc<Description>, Arc<Description>)>>);

impl Derived {
    /// What `derive` makes of `below`.
    pub(super) fn of(
        &self,
        below: Arc<Description>,
        derive: impl FnOnce(&Description) -> Description,
    ) -> Arc<Description> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((from, derived)) = &*kept
            && Arc::ptr_eq(from, &below)
        {
            return Arc::clone(derived);
        }
        let derived = Arc::new(derive(&below));
        *kept = Some((below, Arc::clone(&derived)));
        derived
    }
}
