//! What a message takes in memory, whatever it says. In a program of its own: everything in it is counted.

mod support;

use std::sync::{Mutex, PoisonError};

use belljar_contract::{
    Context, ErrorKind, Pattern, Query, Request, Response, Scope,
    files::{
        Entry, EntryKind, Found, GlobResult, Line, Listing, Match, Name, SearchResult, Skipped,
        Syntax,
    },
    session::{CommandInfo, Limits},
};
use belljar_protocol::{
    ServeError,
    frame::Malformed,
    message::Answer,
    size::{self, Size},
};
use peak_alloc::PeakAlloc;
use support::{
    Answers, LONG, Peer, ask, client_within, echo, join, kind, pair, path, raw, serving,
};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What one test takes is not counted in another.
static ALONE: Mutex<()> = Mutex::new(());

/// What else is there: buffers, threads, and the errors.
const BESIDE: u64 = 2 << 20;

fn limits() -> Limits {
    Limits {
        file_bytes: 1 << 20,
        stdin_bytes: 1 << 20,
        output_maximum: 1 << 20,
        ..Limits::default()
    }
}

/// The most that was taken at once in this work.
fn taken(work: impl FnOnce()) -> u64 {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    work();
    (MEMORY.peak_usage() - before) as u64
}

/// The message, for which what came of it may be there twice while it grows, and what is read from it.
fn bound(size: Size) -> u64 {
    2 * size.bytes + size.memory + BESIDE
}

fn scope() -> Scope {
    Scope {
        base: path("."),
        hidden: true,
        ignored: true,
        limit: 200,
        within: vec![],
    }
}

fn search() -> Request {
    let query = Query {
        pattern: "a".into(),
        syntax: Syntax::Literal,
        ignore_case: false,
        include: vec![],
        exclude: vec![],
        context: 3,
    };
    let scope = scope();
    Request::Search { query, scope }
}

fn name() -> Name {
    Name {
        text: String::new(),
        raw: None,
    }
}

fn line() -> Line {
    Line {
        text: String::new(),
        lossy: false,
        dropped: 0,
    }
}

/// An answer whose list goes on with one small element until the message is as long as it may be. The list
/// is the first thing after so many bytes.
fn endless(answer: &Response, element: &[u8], most: u64) -> Vec<u8> {
    let whole = postcard::to_stdvec(&Answer::Call(Ok(answer.clone()))).expect("it is encoded");
    let start = &whole[..3];
    let count = (usize::try_from(most).expect("a length") - 20) / element.len();
    let mut bytes = start.to_vec();
    bytes.extend(postcard::to_stdvec(&count).expect("it is encoded"));
    bytes.extend(element.repeat(count));
    bytes
}

#[test]
fn a_hostile_answer_takes_no_more_than_the_largest_honest_one() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let encoded = |element: &dyn Fn() -> postcard::Result<Vec<u8>>| element().expect("encoded");
    let entry = encoded(&|| {
        postcard::to_stdvec(&Entry {
            name: name(),
            kind: EntryKind::File,
            size: None,
        })
    });
    let found = encoded(&|| {
        postcard::to_stdvec(&Found {
            path: name(),
            kind: EntryKind::File,
        })
    });
    let matched = encoded(&|| {
        postcard::to_stdvec(&Match {
            path: name(),
            line_number: 0,
            offset: 0,
            line: line(),
            before: vec![],
            after: vec![],
        })
    });
    let info = encoded(&|| {
        postcard::to_stdvec(&CommandInfo {
            name: String::new(),
            path: None,
            version: None,
        })
    });
    let list = Request::List {
        path: path("."),
        limit: 200,
    };
    let glob = Request::Glob {
        pattern: Pattern::parse("**").expect("a pattern"),
        scope: scope(),
    };
    let commands = Request::FindCommands {
        names: vec!["sh".into()],
    };
    let listing = Response::Listing(Listing {
        entries: vec![],
        total: 0,
    });
    let globbed = Response::Glob(GlobResult {
        paths: vec![],
        total: 0,
        skipped: Skipped::default(),
    });
    let searched = Response::Search(SearchResult {
        matches: vec![],
        more: false,
        skipped: Skipped::default(),
    });
    for (request, answer, element) in [
        (list, listing, entry),
        (glob, globbed, found),
        (search(), searched, matched),
        (commands, Response::Commands(vec![]), info),
    ] {
        let size = size::answer(&request, &limits());
        let message = endless(&answer, &element, size.bytes);
        let (host, resident) = pair();
        let peer = std::thread::spawn(move || {
            let mut peer = Peer::resident(resident);
            let (call, _) = peer.message();
            (peer, call)
        });
        let client = client_within(host, limits());
        std::thread::scope(|scope| {
            let calls = scope.spawn(|| client.call(&Context::new(), request.clone()));
            let (mut peer, call) = join(peer);
            let frames = raw(call, &message);
            let taken = taken(|| {
                peer.send(&frames);
                let answer = kind(calls.join().expect("it does not panic"));
                assert_eq!(answer, Err(ErrorKind::BackendFailed), "{request:?}");
            });
            assert!(taken <= bound(size), "{taken} {size:?} {request:?}");
        });
        assert!(client.death().is_some());
        // What would be taken without a bound.
        assert!(size.memory < 8 * size.bytes, "{size:?} {request:?}");
    }
}

#[test]
fn a_hostile_request_takes_no_more_than_the_largest_honest_one() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let size = size::request(&limits());
    let start =
        postcard::to_stdvec(&ask(Request::FindCommands { names: vec![] })).expect("encoded");
    let count = usize::try_from(size.bytes).expect("a length") - 20;
    let mut message = start[..start.len() - 1].to_vec();
    message.extend(postcard::to_stdvec(&count).expect("it is encoded"));
    message.resize(message.len() + count, 0);
    let (host, resident) = pair();
    let served = serving(resident, Answers(echo));
    let mut host = Peer::host_within(host, limits());
    let frames = raw(1, &message);
    let taken = taken(|| {
        host.send(&frames);
        let ended = join(served);
        assert!(
            matches!(
                ended,
                Err(ServeError::Malformed(Malformed::TooMuchMemory(_)))
            ),
            "{ended:?}"
        );
    });
    assert!(taken <= bound(size), "{taken} {size:?}");
}

/// Nothing is held of an answer that says it will be longer than any to what was asked.
#[test]
fn an_answer_that_is_too_long_for_what_was_asked_is_not_read() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stat = Request::Stat { path: path("a") };
    let size = size::answer(&stat, &limits());
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        let (call, _) = peer.message();
        peer.send(&raw(call, &vec![0; usize::try_from(size.bytes).unwrap() + 1])[..200 << 10]);
        while peer.next().is_some() {}
    });
    let client = client_within(host, limits());
    let answer = client.call(&Context::new().with_timeout(LONG), stat);
    assert_eq!(kind(answer), Err(ErrorKind::BackendFailed));
    drop(client);
    join(peer);
}
