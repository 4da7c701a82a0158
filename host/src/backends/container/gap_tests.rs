//! What an engine cannot give, by what it says of itself.

use super::*;

fn names(options: &ContainerOptions, info: &EngineInfo) -> Vec<&'static str> {
    gaps(options, info, Some(&ImageInfo::default()))
        .iter()
        .map(|gap| gap.guarantee.as_str())
        .collect()
}

fn on(engine: ContainerEngine) -> ContainerOptions {
    ContainerOptions {
        engine,
        memory: Some(1 << 30),
        cpu_millis: Some(500),
        ..ContainerOptions::new("debian:12")
    }
}

#[test]
fn an_engine_that_can_has_no_gaps_but_its_own() {
    let able = EngineInfo {
        limits_pids: Some(true),
        limits_memory: Some(true),
        limits_cpus: Some(true),
        seccomp: Some(true),
        ..EngineInfo::default()
    };
    assert!(names(&on(ContainerEngine::Docker), &able).is_empty());
    assert!(names(&on(ContainerEngine::Podman), &able).is_empty());
}

#[test]
fn volumes_of_an_image_are_told_where_they_cannot_be_left_out() {
    let volume = ImageInfo {
        volumes: vec!["/data".into()],
        ..ImageInfo::default()
    };
    let told = |engine, image: Option<&ImageInfo>| {
        let gaps = gaps(&on(engine), &EngineInfo::default(), image);
        let named = |gap: &Gap| gap.guarantee == Guarantee::NoImageVolumes;
        gaps.iter().any(named)
    };
    for engine in ContainerEngine::ALL {
        let can = engine == ContainerEngine::Podman;
        assert_eq!(told(engine, Some(&volume)), !can);
        assert_eq!(told(engine, None), !can);
        assert!(!told(engine, Some(&ImageInfo::default())));
    }
}

#[test]
fn limits_that_cannot_be_set_are_told() {
    let unable = EngineInfo {
        limits_pids: Some(false),
        limits_memory: Some(false),
        limits_cpus: Some(false),
        seccomp: Some(false),
        ..EngineInfo::default()
    };
    let options = on(ContainerEngine::Podman);
    let right = ["pids-limit", "memory-limit", "cpu-limit", "seccomp"];
    assert_eq!(names(&options, &unable), right);
    // What is not asked for is not missing.
    let modest = ContainerOptions {
        memory: None,
        cpu_millis: None,
        ..options
    };
    assert_eq!(names(&modest, &unable), ["pids-limit", "seccomp"]);
}

#[test]
fn what_the_operator_gave_away_is_told() {
    let options = ContainerOptions {
        pids_limit: None,
        readonly_rootfs: false,
        ..on(ContainerEngine::Podman)
    };
    let gaps = names(&options, &EngineInfo::default());
    assert_eq!(gaps, ["pids-limit", "readonly-rootfs"]);
}

#[test]
fn apple_lacks_the_three_and_says_so() {
    let gaps = names(&on(ContainerEngine::Apple), &EngineInfo::default());
    for name in ["no-new-privileges", "pids-limit", "readonly-rootfs"] {
        assert!(gaps.contains(&name), "{gaps:?}");
    }
    assert!(!gaps.contains(&"pull-policy"));
    let never = ContainerOptions {
        pull: PullPolicy::Never,
        ..on(ContainerEngine::Apple)
    };
    assert!(names(&never, &EngineInfo::default()).contains(&"pull-policy"));
}

#[test]
fn a_workspace_on_a_daemon_that_remaps_is_not_the_callers() {
    let remaps = EngineInfo {
        remaps_users: true,
        ..EngineInfo::default()
    };
    let bound = ContainerOptions {
        workspace: Some("/srv/work".into()),
        ..on(ContainerEngine::Docker)
    };
    assert!(names(&bound, &remaps).contains(&"host-user"));
    assert!(!names(&on(ContainerEngine::Docker), &remaps).contains(&"host-user"));
}

#[test]
fn only_what_is_required_stops_a_session() {
    let mut options = on(ContainerEngine::Apple);
    let found = gaps(&options, &EngineInfo::default(), None);
    assert!(unmet(&options, &found).is_empty());
    options.require.insert(Guarantee::NoNewPrivileges);
    options.require.insert(Guarantee::NoNetwork);
    let unmet = unmet(&options, &found);
    assert_eq!(unmet.len(), 1);
    assert_eq!(unmet[0].guarantee, Guarantee::NoNewPrivileges);
}

#[test]
fn what_is_required_must_be_asked_for() {
    let mut options = ContainerOptions::new("debian:12");
    options.require = [Guarantee::MemoryLimit, Guarantee::Seccomp].into();
    let unmet = unmet(&options, &[]);
    assert_eq!(unmet.len(), 1);
    assert_eq!(unmet[0].guarantee, Guarantee::MemoryLimit);
}
