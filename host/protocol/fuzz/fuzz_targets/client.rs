//! Any resident: `cargo +nightly fuzz run client` in `host/protocol`.
#![no_main]

use std::{
    io::{Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    time::Duration,
};

use belljar_contract::{Context, GuestPath, Request, session::Limits};
use belljar_protocol::{
    Client, Stream,
    frame::frames,
    message::{Answer, Open, Opened, PREAMBLE},
};

libfuzzer_sys::fuzz_target!(|sent: &[u8]| {
    let (host, mut resident) = UnixStream::pair().expect("a socket pair");
    let opened = Answer::Opened(Opened {
        version: "1".into(),
        writable: true,
        gaps: vec![],
    });
    let opened = postcard::to_stdvec(&opened).expect("it is encoded");
    let opening =
        frames(0, &opened).flat_map(|(head, rest)| [head.to_bytes().as_slice(), rest].concat());
    let bytes: Vec<u8> = PREAMBLE
        .into_iter()
        .chain(opening)
        .chain(sent.iter().copied())
        .collect();
    let mut reads = resident.try_clone().expect("a socket");
    let writes = std::thread::spawn(move || {
        let _ = resident.write_all(&bytes);
        let _ = resident.shutdown(Shutdown::Write);
    });
    let reads = std::thread::spawn(move || drop(reads.read_to_end(&mut Vec::new())));
    let open = Open {
        root: "/".into(),
        variables: vec![],
        limits: Limits::default(),
        silence: None,
    };
    let context = Context::new().with_timeout(Duration::from_secs(60));
    let stream = Stream::try_from(host).expect("a stream");
    let (client, _) =
        Client::open(&context, stream, &open).expect("the opening is as it should be");
    // A message is 17 bytes at least, so that the session is dead at the last call.
    for _ in 0..=sent.len() / 17 + 1 {
        let request = Request::Stat {
            path: GuestPath::root(),
        };
        let _ = client.call(&context, request);
    }
    assert!(client.death().is_some());
    client.close(Duration::from_secs(60));
    drop(client);
    writes.join().expect("it ends");
    reads.join().expect("it ends");
});
