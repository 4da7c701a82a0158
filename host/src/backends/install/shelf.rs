//! The residents of this installation, with their hashes.

use std::{fmt::Write as _, io, path::PathBuf};

use sha2::{Digest as _, Sha256};

/// An architecture as files name it, and as machines do in `uname -m`.
const ARCHITECTURES: [(&str, &[&str]); 2] = [
    ("x86_64", &["x86_64", "amd64"]),
    ("aarch64", &["aarch64", "arm64"]),
];

/// The most bytes that a resident may have; ours have half of it.
const MAX_BYTES: u64 = 16 << 20;

/// A resident for an architecture.
pub(in super::super) struct Resident {
    /// As files name it.
    pub(in super::super) architecture: &'static str,
    /// As machines name it.
    pub(in super::super) machines: &'static [&'static str],
    /// Its SHA-256, in hexadecimal digits.
    pub(in super::super) hash: String,
    pub(in super::super) bytes: Vec<u8>,
}

/// The residents that are in these folders, of each architecture the first.
///
/// # Ambient authority
/// The folders are the host's.
///
/// # Errors
/// When one is there and cannot be read.
pub(in super::super) fn residents_ambient(folders: &[PathBuf]) -> io::Result<Vec<Resident>> {
    let mut residents = Vec::new();
    for (architecture, machines) in ARCHITECTURES {
        let name = format!("belljar-resident-{architecture}-linux");
        let mut paths = folders.iter().map(|folder| folder.join(&name));
        let Some(path) = paths.find(|path| path.is_file()) else {
            continue;
        };
        if std::fs::metadata(&path)?.len() > MAX_BYTES {
            let message = format!("{} is over {MAX_BYTES} bytes", path.display());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a file of this installation, not of a workspace"
        )]
        let bytes = std::fs::read(&path)?;
        residents.push(Resident {
            architecture,
            machines,
            hash: hash(&bytes),
            bytes,
        });
    }
    Ok(residents)
}

pub(in super::super) fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // A string takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_architecture_counts() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let put = |at: usize, architecture: &str, bytes: &[u8]| {
            let name = format!("belljar-resident-{architecture}-linux");
            #[expect(clippy::disallowed_methods, reason = "a test sets up")]
            std::fs::write(folders[at].path().join(name), bytes).expect("it is written");
        };
        put(0, "aarch64", b"abc");
        put(1, "aarch64", b"");
        put(1, "x86_64", b"");
        let paths = folders.each_ref().map(|folder| folder.path().to_owned());
        let found = residents_ambient(&paths).expect("they are read");
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|resident| (resident.architecture, resident.hash.as_str()))
            .collect();
        // The test vectors of FIPS 180-2.
        assert_eq!(
            found,
            [
                (
                    "x86_64",
                    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
                ),
                (
                    "aarch64",
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
                ),
            ]
        );
    }
}
