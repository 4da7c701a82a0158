//! The `[sandbox.virtual.programs]` table.

use super::*;

#[test]
fn programs_are_files_beside_the_configuration() {
    let text = "version = 1\n[sandbox.virtual.programs]\njq = 'bin/jq.wasm'\n\"g++\" = '/g.wasm'";
    let right = [("g++", "/g.wasm"), ("jq", "/p/bin/jq.wasm")]
        .map(|(name, path)| (name.to_owned(), PathBuf::from(path)));
    let config = good(text);
    let programs = right.into();
    assert_eq!(config.sandbox.backend, Backend::Virtual { programs });
    assert!(config.check().is_ok());
}

#[test]
fn what_is_wrong_is_refused_where_it_stands() {
    let text = "version = 1\n[sandbox.virtual]\nprogram = 1\n[sandbox.virtual.programs]\nsh = 'a.wasm'\n\
        'a b' = 'a.wasm'\nc = ''\nd = 1";
    let mut at: Vec<_> = problems(text)
        .into_iter()
        .map(|(key, (line, _), _)| (line, key))
        .collect();
    at.sort();
    let keys: Vec<_> = at.iter().map(|(line, key)| (*line, key.as_str())).collect();
    assert_eq!(
        keys,
        [
            (3, "sandbox.virtual.program"),
            (5, "sandbox.virtual.programs.sh"),
            (6, "sandbox.virtual.programs.a b"),
            (7, "sandbox.virtual.programs.c"),
            (8, "sandbox.virtual.programs.d"),
        ]
    );
    let mut config = Config::temporary();
    let programs = [("cd".to_owned(), PathBuf::from("a.wasm"))].into();
    config.sandbox.backend = Backend::Virtual { programs };
    assert!(config.check().is_err());
}

#[test]
fn with_another_backend_the_table_is_not_looked_at() {
    let text = "version = 1\n[sandbox]\nbackend = 'remote'\n[sandbox.remote]\ncommand = ['ssh']\n\
        root = '/w'\n[sandbox.virtual.programs]\njq = 'jq.wasm'";
    assert_eq!(good(text).notices.len(), 1);
}
