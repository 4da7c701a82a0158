//! Containers that stand ready.

use belljar::{
    OpenOptions, Sandboxes, WriteOptions,
    backends::{ContainerPool, OpenError, PoolOptions, ResidentChoice},
    config::{Backend, Config},
};

use super::*;

/// A pool whose containers are found by a label.
#[track_caller]
fn pool(options: ContainerOptions, name: &str, size: u32) -> (ContainerPool, String) {
    let name = a_name(name);
    let label = format!("belljar.name={name}");
    let options = ContainerOptions {
        name: Some(name),
        ..options
    };
    let pool = PoolOptions {
        size,
        ..PoolOptions::default()
    };
    match ContainerPool::open_ambient(options, pool) {
        Ok(pool) => (pool, label),
        Err(error) => panic!("it does not open: {error:?}"),
    }
}

#[track_caller]
fn filled(pool: &ContainerPool, size: usize) {
    until("the pool is full", Duration::from_secs(20), || {
        pool.ready() == size
    });
}

#[test]
fn one_is_handed_out_once_and_gone_with_its_session() {
    for options in on_each() {
        let of = options.engine;
        let (pool, label) = pool(options, "pool", 1);
        filled(&pool, 1);
        let ready = labelled(of, &label);
        assert_eq!(ready.len(), 1, "{of}");

        let first = Sandbox::new(pool.session());
        wait(first.write("mine", "secret", WriteOptions::default())).expect("it writes");
        printed(&first, "echo left > /tmp/left; sleep 600 >/dev/null & true");
        assert!(
            labelled(of, &label).contains(&ready[0]),
            "{of}: the one that stood ready"
        );
        filled(&pool, 1);
        let second = Sandbox::new(pool.session());
        // Another container, in which nobody was.
        let seen = printed(
            &second,
            "ls -A . /tmp | wc -w; ps | grep -c 'sleep 60[0]'; true",
        );
        assert_eq!(seen, "2\n0", "{of}: two empty directories, and no program");
        close(&first);
        assert!(
            !labelled(of, &label).contains(&ready[0]),
            "{of}: it does not go back"
        );
        close(&second);
        wait(pool.close());
        assert_eq!(labelled(of, &label), [] as [String; 0], "{of}");
    }
}

#[test]
fn one_that_ended_meanwhile_is_not_handed_out() {
    let Some(options) = on_docker() else { return };
    let of = options.engine;
    let (pool, label) = pool(options, "pool-dead", 2);
    filled(&pool, 2);
    let ready = labelled(of, &label);
    engine(of, &["kill", &ready[0]]);
    engine(of, &["pause", &ready[1]]);
    let sandbox = Sandbox::new(pool.session());
    assert_eq!(printed(&sandbox, "echo works"), "works");
    filled(&pool, 2);
    close(&sandbox);
    wait(pool.close());
    assert_eq!(labelled(of, &label), [] as [String; 0]);
}

#[test]
fn one_that_stands_still_takes_no_other_with_it() {
    let Some(options) = on_docker() else { return };
    let of = options.engine;
    let (pool, label) = pool(options, "pool-still", 2);
    filled(&pool, 2);
    let ready = labelled(of, &label);
    // The engine lists the newest first.
    let [lives, still] = ready.as_slice() else {
        panic!("{ready:?}");
    };
    engine(of, &["pause", still]);
    let sandbox = Sandbox::new(pool.session());
    assert_eq!(printed(&sandbox, "echo it works"), "it works");
    until("it is removed", Duration::from_secs(20), || {
        !labelled(of, &label).contains(still)
    });
    close(&sandbox);
    assert!(labelled(of, &label).contains(lives), "it was not asked");
    wait(pool.close());
    assert_eq!(labelled(of, &label), [] as [String; 0]);
}

#[test]
fn nobody_is_made_to_wait_by_an_empty_one() {
    let Some(options) = on_docker() else { return };
    let of = options.engine;
    let (pool, label) = pool(options, "pool-empty", 1);
    let sandboxes: Vec<Sandbox> = (0..4).map(|_| Sandbox::new(pool.session())).collect();
    std::thread::scope(|scope| {
        for sandbox in &sandboxes {
            scope.spawn(move || assert_eq!(printed(sandbox, "hostname"), "belljar"));
        }
    });
    sandboxes.iter().for_each(close);
    wait(pool.close());
    assert_eq!(labelled(of, &label), [] as [String; 0]);
    // A session goes on without its pool.
    let late = Sandbox::new(pool.session());
    assert_eq!(printed(&late, "echo late"), "late");
    close(&late);
}

#[test]
fn what_nobody_asks_for_goes() {
    let Some(options) = on_docker() else { return };
    let name = a_name("pool-idle");
    let label = format!("belljar.name={name}");
    let options = ContainerOptions {
        name: Some(name),
        ..options
    };
    let limits = PoolOptions {
        size: 1,
        // A start is to be done in it, on a machine that has other work.
        idle: Duration::from_secs(5),
    };
    let pool = ContainerPool::open_ambient(options, limits).expect("it opens");
    filled(&pool, 1);
    until("it is removed", Duration::from_secs(20), || {
        labelled(ContainerEngine::Docker, &label).is_empty()
    });
    let sandbox = Sandbox::new(pool.session());
    assert_eq!(printed(&sandbox, "echo again"), "again");
    filled(&pool, 1);
    close(&sandbox);
    drop(pool);
    until("it is removed", Duration::from_secs(20), || {
        labelled(ContainerEngine::Docker, &label).is_empty()
    });
}

#[test]
fn what_cannot_stand_ready_is_refused() {
    let Some(options) = on_docker() else { return };
    let pool = PoolOptions {
        size: 1,
        ..PoolOptions::default()
    };
    let again = ContainerOptions {
        reconnect: true,
        name: Some("a".to_owned()),
        ..options.clone()
    };
    let by_shell = ContainerOptions {
        resident: ResidentChoice::Off,
        ..options
    };
    for options in [again, by_shell] {
        let refused = ContainerPool::open_ambient(options, pool);
        assert!(matches!(refused, Err(OpenError::ContainerOptions(_))));
    }
}

#[test]
fn a_configuration_has_one() {
    let Some(options) = on_docker() else { return };
    let name = a_name("pool-configured");
    let label = format!("belljar.name={name}");
    let container = ContainerOptions {
        name: Some(name),
        ..ContainerOptions::new(BUSYBOX)
    };
    let pool = PoolOptions {
        size: 1,
        ..PoolOptions::default()
    };
    let mut config = Config::temporary();
    config.sandbox.backend = Backend::Container {
        options: container,
        pool,
    };
    let opened = OpenOptions {
        engine_environment: options.engine_environment,
        residents: options.residents,
        ..OpenOptions::default()
    };
    let sandboxes = Sandboxes::open_ambient(&config, opened).expect("it opens");
    until("one stands ready", Duration::from_secs(20), || {
        labelled(ContainerEngine::Docker, &label).len() == 1
    });
    let sandbox = sandboxes.sandbox_ambient().expect("it opens");
    assert_eq!(printed(&sandbox, "echo taken"), "taken");
    close(&sandbox);
    wait(sandboxes.close());
    assert_eq!(labelled(ContainerEngine::Docker, &label), [] as [String; 0]);
}
