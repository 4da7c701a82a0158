//! Any host: `cargo +nightly fuzz run resident` in `host/protocol`.
#![no_main]

use std::{
    io::{Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
};

use belljar_contract::{Context, Error, Request, Response, session::Limits};
use belljar_protocol::{
    Engine, Stream,
    frame::frames,
    message::{Ask, Open, Opened, PREAMBLE},
    serve,
};

struct Done;

impl Engine for Done {
    fn call(&self, _: &Context, _: Request) -> Result<Response, Error> {
        Ok(Response::Done)
    }
}

libfuzzer_sys::fuzz_target!(|sent: &[u8]| {
    let (mut host, resident) = UnixStream::pair().expect("a socket pair");
    let open = Ask::Open(Open {
        root: "/".into(),
        variables: vec![],
        limits: Limits::default(),
        silence: None,
    });
    let open = postcard::to_stdvec(&open).expect("it is encoded");
    let opening =
        frames(0, &open).flat_map(|(head, rest)| [head.to_bytes().as_slice(), rest].concat());
    let bytes: Vec<u8> = PREAMBLE
        .into_iter()
        .chain(opening)
        .chain(sent.iter().copied())
        .collect();
    let mut reads = host.try_clone().expect("a socket");
    let writes = std::thread::spawn(move || {
        let _ = host.write_all(&bytes);
        let _ = host.shutdown(Shutdown::Write);
    });
    let reads = std::thread::spawn(move || drop(reads.read_to_end(&mut Vec::new())));
    let opened = |_: &Open| {
        let opened = Opened {
            version: "1".into(),
            writable: true,
            gaps: vec![],
        };
        Ok((Done, opened))
    };
    // That it ends, and without a panic, is all that is asked.
    drop(serve(Stream::try_from(resident).expect("a stream"), opened));
    writes.join().expect("it ends");
    reads.join().expect("it ends");
});
