//! A small disk of a test's own, in a namespace of mounts that a process of the test holds open: with the test it
//! is gone, however that ends.

#![expect(clippy::disallowed_methods, reason = "it is outside every workspace")]

use std::{
    ffi::OsStr,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// A disk, for the programs that enter its namespace.
pub(crate) struct Disk {
    holder: Child,
    place: PathBuf,
}

impl Disk {
    /// Makes one of so many bytes at a folder. A file of ranges of borrowed ids takes the place of the system's.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn make(bytes: u64, place: &Path, ranges: Option<&Path>) -> io::Result<Self> {
        let text = "mount -t tmpfs -o size=\"$1\",mode=0711 none \"$2\" || exit; \
            for file in /etc/subuid /etc/subgid; do \
            [ -z \"$3\" ] || mount --bind \"$3\" $file || exit; done; echo ready; exec cat";
        let mut holder = Command::new("unshare")
            .args(["--mount", "--propagation=private", "sh", "-c", text, "sh"])
            .arg(bytes.to_string())
            .arg(place)
            .arg(ranges.unwrap_or(Path::new("")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = holder.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let disk = Self {
            holder,
            place: place.to_owned(),
        };
        match line.as_str() {
            "ready\n" => Ok(disk),
            _ => Err(io::Error::other("it cannot be mounted")),
        }
    }

    /// The words before a program that is to find it.
    pub(crate) fn enter(&self) -> [String; 2] {
        let namespace = format!("--mount=/proc/{}/ns/mnt", self.holder.id());
        ["nsenter".to_owned(), namespace]
    }

    /// A program that finds it.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let [enter, namespace] = self.enter();
        let mut command = Command::new(enter);
        command.arg(namespace).arg(program);
        command
    }

    /// Fills it to the last byte, until the file that this gives is removed.
    pub(crate) fn fill(&self) -> io::Result<PathBuf> {
        // As it is seen from here.
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        let place = root.join(self.place.strip_prefix("/").unwrap_or(&self.place));
        let all = place.join("fill");
        let mut file = std::fs::File::create(&all)?;
        match io::copy(&mut io::repeat(0), &mut file) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(all),
            Err(error) => Err(error),
            Ok(_) => Err(io::Error::other("it has no end")),
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
