//! The texts are as the engines printed them: docker's program 28.2 with a daemon 20.10, and podman 4.3.1.

use super::*;

/// The variant's name, which is what the tests compare: two of one name are the same answer.
fn name(failure: &CliFailure) -> String {
    let debug = format!("{failure:?}");
    let end = debug.find([' ', '(']).unwrap_or(debug.len());
    debug[..end].to_owned()
}

#[track_caller]
fn means(code: i32, words: &str, right: &str) {
    assert_eq!(name(&classify(Some(code), words)), right, "{words}");
}

#[test]
fn docker_says() {
    for (code, words, right) in [
        (
            125,
            "docker: Error response from daemon: No such image: nosuch:1\n\nRun 'docker run --help' for more information",
            "ImageUnknown",
        ),
        (
            125,
            "Unable to find image 'nosuch:1' locally\ndocker: Error response from daemon: Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host",
            "PullFailed",
        ),
        (
            125,
            "Unable to find image 'localhost:1/x:1' locally\ndocker: Error response from daemon: Get \"http://localhost:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused",
            "PullFailed",
        ),
        (
            1,
            "Error response from daemon: Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host",
            "PullFailed",
        ),
        (
            125,
            "docker: invalid reference format: repository name (library/UPPER) must be lowercase",
            "ImageNameInvalid",
        ),
        (
            1,
            "Error response from daemon: No such container: nosuchc",
            "ContainerGone",
        ),
        (1, "Error: No such object: nosuchc", "ContainerGone"),
        (
            1,
            "Error response from daemon: Cannot kill container: nosuchc: No such container: nosuchc",
            "ContainerGone",
        ),
        (
            125,
            "docker: Cannot connect to the Docker daemon at unix:///tmp/nosock. Is the docker daemon running?",
            "EngineDown",
        ),
        (
            1,
            "Cannot connect to the Docker daemon at unix:///tmp/nosock. Is the docker daemon running?",
            "EngineDown",
        ),
        (
            1,
            "error during connect: Get \"http://nohost.invalid:1/v1.50/containers/json\": dial tcp: lookup nohost.invalid: no such host",
            "EngineDown",
        ),
        (
            1,
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/containers/json\": dial unix /var/run/docker.sock: connect: permission denied",
            "EngineRefuses",
        ),
        (
            125,
            "docker: Error response from daemon: Conflict. The container name \"/dupc\" is already in use by container \"3352af9285d8\". You have to remove (or rename) that container to be able to reuse that name.",
            "NameInUse",
        ),
        (
            1,
            "Error response from daemon: Container dupc is paused, unpause the container before exec",
            "ContainerPaused",
        ),
        (
            1,
            "Error response from daemon: Container 3352af9285d8 is not running",
            "ContainerNotRunning",
        ),
        (
            127,
            "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"/nosuch\": stat /nosuch: no such file or directory: unknown",
            "ProgramNotInImage",
        ),
        (
            126,
            "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"/etc\": permission denied: unknown",
            "NotExecutable",
        ),
        (1, "exec /bad: exec format error", "WrongArchitecture"),
        (
            125,
            "docker: Error response from daemon: invalid mount config for type \"bind\": bind source path does not exist: /tmp/nosuchsrc",
            "BindSourceMissing",
        ),
        (
            125,
            "unknown flag: --nosuchflag\n\nUsage:  docker run [OPTIONS] IMAGE [COMMAND] [ARG...]",
            "OptionUnknown",
        ),
        (
            125,
            "docker: Error response from daemon: unable to find user nosuchuser: no matching entries in passwd file",
            "UserUnknown",
        ),
        (
            125,
            "docker: Error response from daemon: network nosuchnet not found",
            "NetworkUnknown",
        ),
        (
            125,
            "docker: Error response from daemon: Minimum memory limit allowed is 6MB",
            "Other",
        ),
        (
            125,
            "docker: Error response from daemon: mkdir /var/lib/docker/overlay2/x: no space left on device",
            "OutOfDisk",
        ),
    ] {
        means(code, words, right);
    }
}

#[test]
fn podman_says() {
    for (code, words, right) in [
        (125, "Error: nosuch:1: image not known", "ImageUnknown"),
        (
            125,
            "Error: inspecting object: nosuch:1: image not known",
            "ImageUnknown",
        ),
        (
            125,
            "Error: short-name \"nosuch:1\" did not resolve to an alias and no unqualified-search registries are defined in \"/etc/containers/registries.conf\"",
            "PullFailed",
        ),
        (
            125,
            "Trying to pull localhost:1/x:1...\nError: initializing source docker://localhost:1/x:1: pinging container registry localhost:1: Get \"https://localhost:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused",
            "PullFailed",
        ),
        (
            125,
            "Error: Invalid image name \"UPPER/case\", expected colon-separated transport:reference",
            "ImageNameInvalid",
        ),
        (
            125,
            "Error: no container with name or ID \"nosuchc\" found: no such container",
            "ContainerGone",
        ),
        (
            125,
            "Error: inspecting object: no such container nosuchc",
            "ContainerGone",
        ),
        (
            125,
            "Error: creating container storage: the container name \"dupc\" is already in use by fbd6fdf03065. You have to remove that container to be able to reuse that name: that name is already in use",
            "NameInUse",
        ),
        (
            255,
            "Error: can only create exec sessions on running containers: container state improper",
            "ContainerNotRunning",
        ),
        (
            127,
            "Error: runc: runc create failed: unable to start container process: exec: \"/nosuch\": stat /nosuch: no such file or directory: OCI runtime attempted to invoke a command that was not found",
            "ProgramNotInImage",
        ),
        (
            126,
            "Error: runc: runc create failed: unable to start container process: exec: \"/etc\": permission denied: OCI permission denied",
            "NotExecutable",
        ),
        (
            125,
            "Error: statfs /tmp/nosuchsrc: no such file or directory",
            "BindSourceMissing",
        ),
        (
            126,
            "Error: unable to find user nosuchuser: no matching entries in passwd file",
            "UserUnknown",
        ),
        (
            125,
            "Error: unable to find network with name or ID nosuchnet: network not found",
            "NetworkUnknown",
        ),
        (
            125,
            "Cannot connect to Podman. Please verify your connection to the Linux system using `podman system connection list`\nError: unable to connect to Podman socket: Get \"http://d/v4.3.1/libpod/_ping\": dial unix /tmp/nosock: connect: no such file or directory",
            "EngineDown",
        ),
    ] {
        means(code, words, right);
    }
}

#[test]
fn what_is_not_known_is_no_guess() {
    means(1, "", "Other");
    means(139, "something new", "Other");
    assert!(matches!(
        classify(None, "killed"),
        CliFailure::Other { code: None }
    ));
}
