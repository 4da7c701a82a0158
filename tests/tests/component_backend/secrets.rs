//! What a component is told, and what nobody else is.

use belljar::{
    ErrorKind, OpenOptions, Sandbox,
    backends::{ComponentError, OpenError, SecretError, SecretSource},
    config::Config,
};

use crate::{Lender, kind, lending, server};

#[tokio::test]
async fn a_component_sees_its_own_settings_only() {
    let with = Lender::new("lends_badly").secret("key", "k");
    let without = Lender::new("lends_badly");
    let (with, without) = (with.opened(), without.opened());
    let keys = async |session: &Sandbox| session.read("keys").await.expect("it answers").bytes;
    assert_eq!(keys(&with).await, b"Some(\"k\")");
    assert_eq!(keys(&without).await, b"None");
    // Nor a variable of this process.
    let path = Lender::new("lends_requests").opened();
    assert_eq!(kind(path.read("PATH").await), ErrorKind::NotFound);
}

#[test]
fn a_secret_that_is_not_there_opens_nothing() {
    let mut lender = Lender::new("lends_badly").secret("key", "k");
    lender.secrets = Default::default();
    let opened = lender.open();
    assert!(matches!(
        opened,
        Err(OpenError::Component(ComponentError::Secret(
            SecretError::NotSet { .. }
        )))
    ));
}

#[tokio::test]
async fn a_secret_may_be_in_a_file() {
    let server = server();
    let mut lender = lending(&server);
    let path = lender.folder.path().join("token");
    std::fs::write(&path, format!("{}\n", belljar_tests::LendingServer::TOKEN))
        .expect("it is written");
    lender
        .options
        .secrets
        .insert("token".into(), SecretSource::File { path });
    let session = lender.opened();
    session
        .write("a", "x", belljar::WriteOptions::default())
        .await
        .expect("it is lent");
    session.close().await.expect("it closes");
}

#[test]
fn secrets_are_in_no_debug_output() {
    let lender = Lender::new("lends_badly").secret("key", "s3cret-of-the-test");
    let options = OpenOptions {
        secrets: lender.secrets.clone(),
        ..OpenOptions::default()
    };
    let config = Config::component(lender.options.clone());
    let session = lender.opened();
    let shown = format!("{options:?} {config:?} {session:?}");
    assert!(!shown.contains("s3cret-of-the-test"), "{shown}");
}

#[test]
fn a_wrong_token_is_told_as_what_it_is() {
    let server = server();
    let lender = lending(&server).secret("token", "not-the-token");
    let error = lender.refused();
    assert_eq!(error.kind, ErrorKind::BackendFailed);
    assert!(!error.to_string().contains("not-the-token"), "{error}");
}
