//! One mount as an argument.

use std::path::Path;

use super::super::{ContainerEngine, ContainerOptionsError, validate::host_path};

/// `--mount` for something of the host's.
pub(super) fn bind(
    engine: ContainerEngine,
    source: &Path,
    target: &str,
    writable: bool,
) -> Result<String, ContainerOptionsError> {
    let source = host_path(source, engine)?;
    let mut fields = vec![
        "type=bind".to_owned(),
        format!("source={source}"),
        format!("target={target}"),
    ];
    match engine {
        // What is mounted on the host later stays out, and so does what is mounted in the container.
        ContainerEngine::Docker | ContainerEngine::Podman => {
            fields.push("bind-propagation=rprivate".into());
        }
        ContainerEngine::Apple => {}
    }
    if !writable {
        fields.push("readonly".into());
    }
    let fields: Vec<String> = match engine {
        ContainerEngine::Docker | ContainerEngine::Podman => {
            fields.iter().map(|field| quoted(field)).collect()
        }
        // Its parser has no quotes; what would need them was refused.
        ContainerEngine::Apple => fields,
    };
    Ok(format!("--mount={}", fields.join(",")))
}

/// A field of a line of comma-separated values, as RFC 4180 has it and Go reads it.
fn quoted(field: &str) -> String {
    match field.contains([',', '"']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

/// `--tmpfs` for scratch that has a size. Engines differ in every default, so each is said.
pub(super) fn scratch(target: &str, bytes: u64, exec: bool, owner: Option<(u32, u32)>) -> String {
    let exec = match exec {
        true => "exec",
        false => "noexec",
    };
    let owner = owner.map_or_else(String::new, |(uid, gid)| format!(",uid={uid},gid={gid}"));
    format!("--tmpfs={target}:rw,nosuid,nodev,{exec},size={bytes},mode=1777{owner}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(engine: ContainerEngine, source: &str) -> Option<String> {
        bind(engine, Path::new(source), "/w", false).ok()
    }

    #[test]
    fn what_needs_quotes_has_them() {
        for engine in [ContainerEngine::Docker, ContainerEngine::Podman] {
            for (source, field) in [
                ("/a", "source=/a"),
                ("/a b:c=d", "source=/a b:c=d"),
                ("/a,b", "\"source=/a,b\""),
                ("/a\"b", "\"source=/a\"\"b\""),
                ("/a,readonly=false", "\"source=/a,readonly=false\""),
            ] {
                let right = format!(
                    "--mount=type=bind,{field},target=/w,bind-propagation=rprivate,readonly"
                );
                assert_eq!(of(engine, source), Some(right));
            }
        }
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        for engine in ContainerEngine::ALL {
            for source in ["a", "", "./a", "/a\nb", "/a\0"] {
                assert_eq!(of(engine, source), None, "{source:?}");
            }
        }
        let apple = ContainerEngine::Apple;
        assert_eq!(of(apple, "/a,b"), None);
        assert_eq!(of(apple, "/a=b"), None);
        let right = "--mount=type=bind,source=/a b,target=/w,readonly";
        assert_eq!(of(apple, "/a b").as_deref(), Some(right));
    }

    #[test]
    #[cfg(unix)]
    fn a_path_that_is_no_text_is_refused() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        let path = Path::new(OsStr::from_bytes(b"/a\xff"));
        for engine in ContainerEngine::ALL {
            assert!(bind(engine, path, "/w", false).is_err());
        }
    }

    #[test]
    fn scratch_says_everything() {
        let right = "--tmpfs=/tmp:rw,nosuid,nodev,noexec,size=1024,mode=1777";
        assert_eq!(scratch("/tmp", 1024, false, None), right);
        let right = "--tmpfs=/w:rw,nosuid,nodev,exec,size=1,mode=1777,uid=5,gid=6";
        assert_eq!(scratch("/w", 1, true, Some((5, 6))), right);
    }
}
