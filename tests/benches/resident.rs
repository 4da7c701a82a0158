//! A session on a resident, against a minimal helper on a socket of the same kind.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark"
)]
use belljar_contract::{Context, GuestPath, Launch, Request, processes, session::Limits};
use belljar_protocol::{Client, Stream, message::Open};
use std::{
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    process::Command,
    time::{Duration, Instant},
};

fn helper(path: &str) {
    let mut s = UnixStream::connect(path).unwrap();
    let mut head = [0u8; 5];
    while s.read_exact(&mut head).is_ok() {
        let n = u32::from_le_bytes(head[1..].try_into().unwrap()) as usize;
        let mut body = vec![0; n];
        s.read_exact(&mut body).unwrap();
        let out = match head[0] {
            b'r' => std::fs::read(std::str::from_utf8(&body).unwrap()).unwrap(),
            b'w' => {
                std::fs::write("w", &body).unwrap();
                vec![]
            }
            _ => {
                Command::new("/bin/sh")
                    .args(["-c", "true"])
                    .status()
                    .unwrap();
                vec![]
            }
        };
        let mut msg = (out.len() as u32).to_le_bytes().to_vec();
        msg.extend(&out);
        s.write_all(&msg).unwrap();
    }
}
fn ask(s: &mut UnixStream, kind: u8, body: &[u8]) -> Vec<u8> {
    let mut msg = vec![kind];
    msg.extend((body.len() as u32).to_le_bytes());
    msg.extend(body);
    s.write_all(&msg).unwrap();
    let mut n = [0; 4];
    s.read_exact(&mut n).unwrap();
    let mut out = vec![0; u32::from_le_bytes(n) as usize];
    s.read_exact(&mut out).unwrap();
    out
}
fn pair(name: &str, rounds: u32, mut ours: impl FnMut(), mut peer: impl FnMut()) {
    let mut times: [Vec<Duration>; 2] = [vec![], vec![]];
    for round in 0..rounds + rounds / 10 {
        for (i, work) in [&mut ours as &mut dyn FnMut(), &mut peer]
            .into_iter()
            .enumerate()
        {
            let t = Instant::now();
            work();
            if round >= rounds / 10 {
                times[i].push(t.elapsed());
            }
        }
    }
    let m: Vec<f64> = times
        .iter_mut()
        .map(|t| {
            t.sort();
            t[t.len() / 2].as_secs_f64() * 1e6
        })
        .collect();
    println!(
        "{name:<20} {:>10.1} µs {:>10.1} µs {:>6.2}",
        m[0],
        m[1],
        m[0] / m[1]
    );
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).map(String::as_str) == Some("--helper") {
        return helper(&args[2]);
    }
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("f"), [b'x'; 1024]).unwrap();
    std::fs::write(work.join("big"), vec![b'x'; 100 << 20]).unwrap();
    let listen = |name: &str| UnixListener::bind(dir.path().join(name)).unwrap();
    let (a, b) = (listen("a"), listen("b"));
    let resident = std::env::var("BELLJAR_RESIDENT").unwrap();
    let mut c1 = Command::new(resident)
        .arg("connect")
        .arg(dir.path().join("a"))
        .spawn()
        .unwrap();
    let mut c2 = Command::new(&args[0])
        .arg("--helper")
        .arg(dir.path().join("b"))
        .current_dir(&work)
        .spawn()
        .unwrap();
    let stream = Stream::try_from(a.accept().unwrap().0).unwrap();
    let mut peer = b.accept().unwrap().0;
    let open = Open {
        root: work.to_str().unwrap().into(),
        variables: vec![],
        limits: Limits::default(),
    };
    let (client, _) = Client::open(&Context::new(), stream, &open).unwrap();
    let path = |p: &str| GuestPath::parse(p, "/").unwrap();
    let cx = Context::new().with_timeout(Duration::from_secs(600));
    let f = work.join("f");
    let f = f.to_str().unwrap().as_bytes();
    pair(
        "read 1 KiB",
        20000,
        || {
            client.call(&cx, Request::Read { path: path("f") }).unwrap();
        },
        || {
            ask(&mut peer, b'r', f);
        },
    );
    pair(
        "write 1 KiB",
        5000,
        || {
            client
                .call(
                    &cx,
                    Request::Write {
                        path: path("w1"),
                        bytes: vec![1; 1024],
                        options: Default::default(),
                    },
                )
                .unwrap();
        },
        || {
            ask(&mut peer, b'w', &[1; 1024]);
        },
    );
    let launch = Launch {
        command: processes::Command::Shell("true".into()),
        directory: GuestPath::root(),
        environment: vec![],
        stdin: vec![],
        user: None,
        timeout: Some(Duration::from_secs(30)),
        output_limit: 1 << 20,
    };
    pair(
        "sh -c true",
        500,
        || {
            client.call(&cx, Request::Run(launch.clone())).unwrap();
        },
        || {
            ask(&mut peer, b'p', &[]);
        },
    );
    let big = work.join("big");
    let big = big.to_str().unwrap().as_bytes();
    pair(
        "read 100 MiB",
        10,
        || {
            let mut at = 0;
            while at < 100 << 20 {
                let r = client
                    .call(
                        &cx,
                        Request::ReadRange {
                            path: path("big"),
                            offset: at,
                            length: 16 << 20,
                        },
                    )
                    .unwrap();
                let belljar_contract::Response::Chunk(c) = r else {
                    panic!()
                };
                at += c.bytes.len() as u64;
            }
        },
        || {
            ask(&mut peer, b'r', big);
        },
    );
    drop(client);
    drop(peer);
    c1.wait().unwrap();
    c2.wait().unwrap();
}
