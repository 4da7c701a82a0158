//! References as the bytes that were pinned.

use std::time::SystemTime;

use super::{
    client::{Pulled, Registry},
    error::RegistryError,
    lock::{Lock, Locked},
    reference::Reference,
    signature::TrustedKeys,
    store::Store,
};

/// The components that references stand for: what the lock pins, as far as it is here and trusted.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// What is pinned.
    pub lock: Lock,
    /// Where the bytes are.
    pub store: Store,
    /// Who may sign.
    pub keys: TrustedKeys,
    /// Whether somebody must have.
    pub require_signature: bool,
}

impl Pinned {
    /// Takes a component, without any network.
    ///
    /// # Errors
    /// [`RegistryError`] when it is not pinned, not here, not what was pinned, or not trusted.
    pub fn take(&self, reference: &Reference, now: SystemTime) -> Result<Vec<u8>, RegistryError> {
        let locked = self
            .lock
            .get(reference)
            .ok_or_else(|| RegistryError::NotLocked {
                reference: reference.to_string(),
            })?;
        let bytes = self.store.take(reference, locked)?;
        self.trust(reference, &bytes, locked.signature.as_deref(), now)?;
        Ok(bytes)
    }

    /// Fetches a component, unless it is here: what is pinned, or, with `update` or where nothing is, what the reference
    /// stands for now. Nothing is kept or pinned before `check` has seen the bytes, which are trusted then.
    ///
    /// # Errors
    /// [`RegistryError`], and what `check` says. What was pinned before is pinned still.
    pub async fn fetch<E: From<RegistryError>>(
        &mut self,
        registry: &Registry,
        reference: &Reference,
        update: bool,
        now: SystemTime,
        check: impl AsyncFnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<Locked, E> {
        let pinned = self.lock.get(reference).filter(|_| !update).cloned();
        let pulled: Pulled = match &pinned {
            Some(locked) => match self.take(reference, now) {
                Ok(_) => return Ok(locked.clone()),
                // Fetched anew: it is not here, or no longer what it was.
                Err(RegistryError::NotHere { .. } | RegistryError::OtherDigest { .. }) => {
                    registry
                        .pull_pinned(reference, locked.manifest, locked.digest)
                        .await?
                }
                Err(error) => return Err(error.into()),
            },
            None => registry.pull(reference).await?,
        };
        // The signature that was pinned, where one was: what the registry says now may be another.
        let locked = pinned.unwrap_or_else(|| Locked::from(&pulled));
        self.trust(reference, &pulled.bytes, locked.signature.as_deref(), now)?;
        check(&pulled.bytes).await?;
        self.store.put(&pulled.bytes)?;
        self.lock.pin(reference, locked.clone());
        Ok(locked)
    }

    /// A signature that is there must be good, whether one is required or not, as soon as there is a key to tell.
    fn trust(
        &self,
        reference: &Reference,
        bytes: &[u8],
        signature: Option<&str>,
        now: SystemTime,
    ) -> Result<(), RegistryError> {
        if !self.require_signature && (signature.is_none() || self.keys.is_empty()) {
            return Ok(());
        }
        match self.keys.verify(bytes, signature, now) {
            Ok(_) => Ok(()),
            Err(source) => Err(RegistryError::Untrusted {
                reference: reference.to_string(),
                source,
            }),
        }
    }
}
