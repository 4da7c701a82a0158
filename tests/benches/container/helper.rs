//! The minimal helper: a static program in a container hardened like ours, one call at a time.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    process::Command,
};

use belljar::backends::ContainerEngine;
use tempfile::TempDir;

/// A helper in a container.
pub(crate) struct Helper {
    stream: UnixStream,
    _folder: TempDir,
}

impl Helper {
    /// Builds it, starts it, and waits until it connects.
    pub(crate) fn start(engine: ContainerEngine, image: &str, workspace: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join("helper");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/container/minimal.rs");
        let built = Command::new("rustc")
            .args([
                "-C",
                "opt-level=3",
                "-C",
                "target-feature=+crt-static",
                "--edition=2024",
                "-o",
            ])
            .arg(&program)
            .arg(source)
            .status();
        assert!(built.expect("rustc").success());
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let bind =
            |from: &Path, to: &str, mode: &str| format!("--volume={}:{to}{mode}", from.display());
        let started = Command::new(engine.program())
            .args([
                "run",
                "--detach",
                "--rm",
                "--network=none",
                "--cap-drop=ALL",
            ])
            .args([
                "--read-only",
                "--security-opt=no-new-privileges",
                "--workdir=/workspace",
            ])
            .arg(bind(folder.path(), "/helper", ":ro"))
            .arg(bind(workspace, "/workspace", ""))
            .args(["--entrypoint=/helper/helper", image, "/helper/socket"])
            .output()
            .expect("the engine starts it");
        assert!(started.status.success(), "{started:?}");
        let (stream, _) = listener.accept().expect("it connects");
        Self {
            stream,
            _folder: folder,
        }
    }

    /// Asks, and gives the answer.
    pub(crate) fn ask(&mut self, what: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).expect("it is short");
        let mut message = vec![what];
        message.extend_from_slice(&length.to_le_bytes());
        message.extend_from_slice(body);
        self.stream.write_all(&message).expect("it reads");
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).expect("it answers");
        let mut answer = vec![0; u32::from_le_bytes(length) as usize];
        self.stream.read_exact(&mut answer).expect("it answers");
        answer
    }
}
