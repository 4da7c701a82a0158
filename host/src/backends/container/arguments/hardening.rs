//! What a container may do: the part of `run` that is the same for every session of the same options.
//!
//! Because it is the same, it is also written on the container, and compared before one is used again.

use super::{
    super::{
        ContainerEngine, ContainerOptions, ContainerOptionsError, ContainerUser, HostUser,
        info::EngineInfo,
    },
    mount,
};

/// What is known of where the container is to run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// The caller; none where the system has no such ids.
    pub(crate) host_user: Option<HostUser>,
    /// What the engine said of itself.
    pub(crate) info: EngineInfo,
}

/// The options of `run` that confine.
///
/// # Errors
/// [`ContainerOptionsError`] for a path that the engine cannot be told.
pub(crate) fn hardening(
    options: &ContainerOptions,
    surroundings: &Surroundings,
) -> Result<Vec<String>, ContainerOptionsError> {
    let engine = options.engine;
    let oci = engine != ContainerEngine::Apple;
    let mut arguments = vec![format!("--network={}", options.network)];
    arguments.push("--cap-drop=ALL".into());
    for capability in &options.cap_add {
        arguments.push(format!("--cap-add={}", capability_name(capability)));
    }
    if oci {
        arguments.push("--security-opt=no-new-privileges".into());
        // The daemon's default may be one that other containers can share.
        arguments.push("--ipc=private".into());
        if let Some(limit) = options.pids_limit {
            arguments.push(format!("--pids-limit={limit}"));
        }
    }
    memory_and_cpus(options, &mut arguments);
    users(options, surroundings, &mut arguments);
    if oci && options.readonly_rootfs {
        arguments.push("--read-only".into());
    }
    if engine == ContainerEngine::Podman {
        // It would mount tmpfs without a size on /run, /tmp and /var/tmp, and volumes of the image.
        if options.readonly_rootfs {
            arguments.push("--read-only-tmpfs=false".into());
        }
        arguments.push("--image-volume=ignore".into());
        // It would put the caller's proxies, and their passwords, into the container.
        arguments.push("--http-proxy=false".into());
    }
    mounts(options, surroundings, &mut arguments)?;
    Ok(arguments)
}

/// One spelling, so that two containers that are the same compare so.
fn capability_name(text: &str) -> String {
    let upper = text.to_ascii_uppercase();
    match upper.strip_prefix("CAP_") {
        Some(name) => name.to_owned(),
        None => upper,
    }
}

fn memory_and_cpus(options: &ContainerOptions, arguments: &mut Vec<String>) {
    if let Some(bytes) = options.memory {
        match options.engine {
            ContainerEngine::Docker | ContainerEngine::Podman => {
                arguments.push(format!("--memory={bytes}"));
                // Memory and swap together: otherwise the limit is twice what it says.
                arguments.push(format!("--memory-swap={bytes}"));
            }
            ContainerEngine::Apple => {
                arguments.push(format!("--memory={}M", bytes.div_ceil(1 << 20)));
            }
        }
    }
    if let Some(millis) = options.cpu_millis {
        match options.engine {
            ContainerEngine::Docker | ContainerEngine::Podman => {
                arguments.push(format!("--cpus={}.{:03}", millis / 1000, millis % 1000));
            }
            // Whole processors, of a virtual machine.
            ContainerEngine::Apple => arguments.push(format!("--cpus={}", millis.div_ceil(1000))),
        }
    }
}

fn users(options: &ContainerOptions, surroundings: &Surroundings, arguments: &mut Vec<String>) {
    match (options.effective_user(), surroundings.host_user) {
        (ContainerUser::Host, Some(HostUser { uid, gid })) => {
            match (options.engine, surroundings.info.rootless) {
                // Root in the container is the caller on the host; every other id is a borrowed one.
                (ContainerEngine::Docker, true) => arguments.push("--user=0:0".into()),
                (ContainerEngine::Podman, true) => {
                    arguments.push("--userns=keep-id".into());
                    arguments.push(format!("--user={uid}:{gid}"));
                }
                (ContainerEngine::Docker | ContainerEngine::Podman | ContainerEngine::Apple, _) => {
                    arguments.push(format!("--user={uid}:{gid}"))
                }
            }
        }
        (ContainerUser::Named(user), _) => arguments.push(format!("--user={user}")),
        (ContainerUser::Image, _) | (ContainerUser::Host, None) => {}
    }
}

fn mounts(
    options: &ContainerOptions,
    surroundings: &Surroundings,
    arguments: &mut Vec<String>,
) -> Result<(), ContainerOptionsError> {
    let engine = options.engine;
    let owner = scratch_owner(options, surroundings);
    match &options.workspace {
        Some(path) => {
            arguments.push(mount::bind(engine, path, &options.cwd, options.writable)?);
        }
        // Apple's root is writable, and its tmpfs takes no options.
        None if engine == ContainerEngine::Apple => {}
        None => arguments.push(mount::scratch(
            &options.cwd,
            options.scratch_bytes,
            options.scratch_exec,
            owner,
        )),
    }
    if engine != ContainerEngine::Apple {
        arguments.push(mount::scratch(
            "/tmp",
            options.tmp_bytes,
            options.tmp_exec,
            owner,
        ));
    }
    for bind in &options.binds {
        arguments.push(mount::bind(
            engine,
            &bind.host,
            &bind.container,
            bind.writable,
        )?);
    }
    Ok(())
}

/// Who owns the scratch, where it must be said.
///
/// Docker's runtime gives a tmpfs the mode of the directory that it covers, whatever mode was asked for; so
/// a user who is not root could not write in a scratch that the image has as a directory of root's. Podman
/// keeps the mode, and refuses an owner.
fn scratch_owner(options: &ContainerOptions, surroundings: &Surroundings) -> Option<(u32, u32)> {
    if options.engine != ContainerEngine::Docker {
        return None;
    }
    match options.effective_user() {
        ContainerUser::Host if !surroundings.info.rootless => surroundings
            .host_user
            .map(|HostUser { uid, gid }| (uid, gid)),
        ContainerUser::Named(user) => {
            let (uid, gid) = user.split_once(':').unwrap_or((&user, "0"));
            Some((uid.parse().ok()?, gid.parse().ok()?))
        }
        ContainerUser::Host | ContainerUser::Image => None,
    }
}

#[cfg(test)]
#[path = "hardening_tests.rs"]
mod tests;
