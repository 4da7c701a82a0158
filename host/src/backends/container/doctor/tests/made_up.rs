//! Texts that differ from a real container's in one place, and such as no kernel says.

use super::{super::super::Bind, *};

#[test]
fn what_stands_in_a_place_of_its_own() {
    let asked = ContainerOptions {
        binds: vec![
            Bind::read_only("/srv/a", "/opt/a b"),
            Bind {
                writable: true,
                ..Bind::read_only("/srv/b", "/opt/b")
            },
        ],
        ..options(ContainerEngine::Docker)
    };
    let bound = |first: &str, second: &str| {
        let Told::Text(mut mounts) = docker().mounts else {
            panic!("they are told");
        };
        mounts.push_str(&format!(
            "200 126 254:0 /srv/a /opt/a\\040b {first},relatime - ext4 /dev/vda rw\n\
             201 126 254:0 /srv/b /opt/b {second},relatime - ext4 /dev/vda rw\n"
        ));
        Facts {
            mounts: Told::Text(mounts),
            ..docker()
        }
    };
    for (first, second, right) in [
        ("ro", "rw", Standing::Held),
        ("rw", "rw", Standing::Contradicted),
        ("ro", "ro", Standing::Contradicted),
    ] {
        let facts = bound(first, second);
        assert_eq!(standing(&asked, &facts, "binds"), right, "{first} {second}");
        assert_eq!(standing(&asked, &facts, "readonly-rootfs"), Standing::Held);
    }
    assert_eq!(standing(&asked, &docker(), "binds"), Standing::Contradicted);
}

/// The facts of a hardened container with a line more in its list of mounts.
fn mounted(line: &str) -> Facts {
    let Told::Text(mounts) = docker().mounts else {
        panic!("they are told");
    };
    Facts {
        mounts: Told::Text(format!("{mounts}{line}\n")),
        ..docker()
    }
}

#[test]
fn places_to_write_are_found_wherever_they_are() {
    let asked = options(ContainerEngine::Docker);
    for (line, right) in [
        ("1 2 0:1 / /run rw - tmpfs tmpfs rw", Standing::Contradicted),
        ("1 2 0:1 / /run rw - tmpfs tmpfs ro", Standing::Held),
        ("1 2 0:1 / /run ro - tmpfs tmpfs rw", Standing::Held),
        // A file system of the host's that only looks like the kernel's.
        (
            "1 2 0:1 / /dev/disk rw - ext4 /dev/sda rw",
            Standing::Contradicted,
        ),
        (
            "1 2 0:1 / /proc/x rw - ext4 /dev/sda rw",
            Standing::Contradicted,
        ),
        ("1 2 0:1 / /sys rw - sysfs sysfs rw", Standing::Contradicted),
        // The machine's own null device, as a rootless engine puts it there; and one that keeps what it gets.
        (
            "1 2 0:6 /null /dev/null rw - devtmpfs devtmpfs rw",
            Standing::Held,
        ),
        (
            "1 2 0:6 /sda /dev/null rw - devtmpfs devtmpfs rw",
            Standing::Contradicted,
        ),
        (
            "1 2 0:6 /null /dev/sda rw - devtmpfs devtmpfs rw",
            Standing::Contradicted,
        ),
        (
            "1 2 0:6 / /dev rw - devtmpfs devtmpfs rw",
            Standing::Contradicted,
        ),
        (
            "1 2 0:1 / /process rw - proc proc rw",
            Standing::Contradicted,
        ),
        // The root is covered by another, and options are no path's parts.
        (
            "1 2 0:1 / / rw - overlay overlay rw,lowerdir=/a,ro,x",
            Standing::Contradicted,
        ),
        // What is no line of the kernel's makes all of it nothing.
        ("nonsense", Standing::Unseen),
        ("1 2 0:1 / /a\\9 rw - tmpfs tmpfs rw", Standing::Unseen),
        ("", Standing::Unseen),
    ] {
        let facts = mounted(line);
        assert_eq!(standing(&asked, &facts, "readonly-rootfs"), right, "{line}");
    }
    let possible = Facts {
        root: Attempt::Possible,
        ..docker()
    };
    let right = Standing::Contradicted;
    assert_eq!(standing(&asked, &possible, "readonly-rootfs"), right);
}

#[test]
fn a_size_is_at_most_what_was_asked() {
    let asked = options(ContainerEngine::Docker);
    for (options, right) in [
        ("rw,size=262144k", Standing::Held),
        ("rw,size=4k", Standing::Held),
        ("rw,size=1000000k", Standing::Contradicted),
        ("rw", Standing::Contradicted),
        ("rw,size=99999999999999999999k", Standing::Contradicted),
        ("rw,size=18446744073709551615k", Standing::Contradicted),
    ] {
        let facts = mounted(&format!("1 2 0:1 / /tmp rw - tmpfs tmpfs {options}"));
        assert_eq!(standing(&asked, &facts, "scratch-size"), right, "{options}");
    }
}

#[test]
fn networks_are_what_leads_out() {
    const DEV: &str = "heading\nheading\n";
    const ROUTES: &str = "heading\n";
    let asked = options(ContainerEngine::Docker);
    for (interfaces, routes, routes6, right) in [
        ("lo: 0", "", "", Standing::Held),
        // The kernel's own, which leads nowhere.
        ("lo: 0\n sit0: 0", "", "", Standing::Held),
        ("lo: 0\n sit0: 0", "sit0 0 0", "", Standing::Contradicted),
        ("lo: 0\n eth0: 0", "", "", Standing::Contradicted),
        ("lo: 0", "eth0 0 0", "", Standing::Contradicted),
        ("lo: 0", "", "0 0 eth0", Standing::Contradicted),
        ("lo: 0", "lo 0 0", "0 0 lo", Standing::Held),
        ("", "", "", Standing::Unseen),
        ("nonsense", "", "", Standing::Unseen),
        ("lo: 0", "\n", "", Standing::Unseen),
    ] {
        let facts = Facts {
            interfaces: Told::Text(format!("{DEV}{interfaces}")),
            routes: Told::Text(format!("{ROUTES}{routes}")),
            ipv6_routes: Told::Text(routes6.to_owned()),
            ..docker()
        };
        let text = format!("{interfaces} {routes} {routes6}");
        assert_eq!(standing(&asked, &facts, "no-network"), right, "{text}");
    }
    let old = Facts {
        ipv6_routes: Told::Absent,
        ..docker()
    };
    assert_eq!(standing(&asked, &old, "no-network"), Standing::Held);
}

#[test]
fn the_least_limit_counts_in_both_versions() {
    let asked = options(ContainerEngine::Docker);
    let limited = |limits: &[(&str, &str)]| Facts {
        limits: limits
            .iter()
            .map(|(path, text)| LimitFile {
                path: format!("/sys/fs/cgroup{path}"),
                text: (*text).to_owned(),
            })
            .collect(),
        ..docker()
    };
    for (guarantee, limits, right) in [
        ("pids-limit", &[("/pids.max", "77")][..], Standing::Held),
        ("pids-limit", &[("/pids.max", "76")], Standing::Held),
        ("pids-limit", &[("/pids.max", "78")], Standing::Contradicted),
        (
            "pids-limit",
            &[("/pids.max", "max")],
            Standing::Contradicted,
        ),
        (
            "pids-limit",
            &[("/pids.max", "max"), ("/a/pids.max", "7")],
            Standing::Held,
        ),
        ("pids-limit", &[("/xpids.max", "7")], Standing::Unseen),
        ("pids-limit", &[("/pids.max", "-7")], Standing::Unseen),
        (
            "pids-limit",
            &[("/pids.max", "many"), ("/a/pids.max", "7")],
            Standing::Unseen,
        ),
        (
            "memory-limit",
            &[("/memory.max", "134217728")],
            Standing::Held,
        ),
        (
            "memory-limit",
            &[("/memory.max", "134217728"), ("/memory.swap.max", "0")],
            Standing::Held,
        ),
        (
            "memory-limit",
            &[("/memory.max", "134217728"), ("/memory.swap.max", "1")],
            Standing::Contradicted,
        ),
        (
            "memory-limit",
            &[("/memory.max", "134217728"), ("/memory.swap.max", "max")],
            Standing::Contradicted,
        ),
        (
            "memory-limit",
            &[
                ("/memory/memory.limit_in_bytes", "134217728"),
                ("/memory/memory.memsw.limit_in_bytes", "9223372036854771712"),
            ],
            Standing::Contradicted,
        ),
        (
            "memory-limit",
            &[("/memory/memory.limit_in_bytes", "9223372036854771712")],
            Standing::Contradicted,
        ),
        ("cpu-limit", &[("/cpu.max", "50000 100000")], Standing::Held),
        (
            "cpu-limit",
            &[("/cpu.max", "60000 100000")],
            Standing::Contradicted,
        ),
        (
            "cpu-limit",
            &[("/cpu.max", "max 100000")],
            Standing::Contradicted,
        ),
        ("cpu-limit", &[("/cpu.max", "50000 0")], Standing::Unseen),
        (
            "cpu-limit",
            &[("/cpu.max", "18446744073709551615 1")],
            Standing::Contradicted,
        ),
        (
            "cpu-limit",
            &[("/cpu.max", "9000000000000000000 1")],
            Standing::Unseen,
        ),
        (
            "cpu-limit",
            &[("/cpu/cpu.cfs_quota_us", "50000")],
            Standing::Unseen,
        ),
        (
            "cpu-limit",
            &[
                ("/cpu/cpu.cfs_quota_us", "-1"),
                ("/cpu/cpu.cfs_period_us", "100000"),
            ],
            Standing::Contradicted,
        ),
    ] {
        let facts = limited(limits);
        assert_eq!(standing(&asked, &facts, guarantee), right, "{limits:?}");
    }
}

#[test]
fn a_status_is_read_as_the_kernel_writes_it() {
    let asked = options(ContainerEngine::Docker);
    let Told::Text(status) = docker().status else {
        panic!("it is told");
    };
    for (from, to, guarantee, right) in [
        (
            "NoNewPrivs:\t1",
            "NoNewPrivs:\t0",
            "no-new-privileges",
            Standing::Contradicted,
        ),
        ("NoNewPrivs:\t1", "", "no-new-privileges", Standing::Unseen),
        (
            "Seccomp:\t2",
            "Seccomp:\t0",
            "seccomp",
            Standing::Contradicted,
        ),
        (
            "Seccomp:\t2",
            "Seccomp:\t1",
            "seccomp",
            Standing::Contradicted,
        ),
        ("Seccomp:\t2", "Seccomp:\ttwo", "seccomp", Standing::Unseen),
        (
            "CapAmb:\t0",
            "CapAmb:\t8",
            "capabilities",
            Standing::Contradicted,
        ),
        ("CapAmb:\t0", "CapAmb:\tx", "capabilities", Standing::Unseen),
        (
            "CapBnd:\t0",
            "CapBnd:\t1234567890123456780",
            "capabilities",
            Standing::Unseen,
        ),
    ] {
        assert!(status.contains(from));
        let facts = Facts {
            status: Told::Text(status.replace(from, to)),
            ..docker()
        };
        assert_eq!(standing(&asked, &facts, guarantee), right, "{to}");
    }
}

#[test]
fn apples_container_is_not_held_to_what_it_cannot() {
    let asked = options(ContainerEngine::Apple);
    let facts = Facts { pid: 2, ..docker() };
    assert_eq!(standing(&asked, &facts, "resident"), Standing::Believed);
    assert_eq!(standing(&asked, &facts, "pids-limit"), Standing::Missing);
}
