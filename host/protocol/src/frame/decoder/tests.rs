use proptest::prelude::*;

use super::*;
use crate::frame::{MAX_PAYLOAD, frames};

const BOUNDS: Bounds = Bounds {
    message_bytes: 1 << 20,
    messages: 3,
};

/// Gives bytes in pieces of this size, and takes what comes of them.
fn decode(bytes: &[u8], piece: usize) -> Result<Vec<Event>, Malformed> {
    let mut decoder = Decoder::new(BOUNDS);
    let mut events = Vec::new();
    for mut bytes in bytes.chunks(piece) {
        while !bytes.is_empty() {
            let spare = decoder.spare();
            let count = spare.len().min(bytes.len());
            spare[..count].copy_from_slice(&bytes[..count]);
            decoder.filled(count);
            bytes = &bytes[count..];
            while let Some(event) = decoder.next()? {
                events.push(event);
            }
        }
    }
    Ok(events)
}

fn encode(call: u32, message: &[u8]) -> Vec<Vec<u8>> {
    frames(call, message)
        .map(|(header, payload)| [header.to_bytes().as_slice(), payload].concat())
        .collect()
}

#[test]
fn messages_come_whole_however_they_are_cut_and_mixed() {
    let long = vec![b'a'; 3 * MAX_PAYLOAD + 1];
    let exact = vec![b'b'; MAX_PAYLOAD];
    let (first, second) = (encode(1, &long), encode(2, &exact));
    assert_eq!((first.len(), second.len()), (4, 1));
    let ping = Header::bare(Kind::Ping, 0).to_bytes().to_vec();
    let cancel = Header::bare(Kind::Cancel, 2).to_bytes().to_vec();
    let empty = encode(3, b"");
    let mixed = [
        &first[0], &second[0], &first[1], &ping, &cancel, &first[2], &empty[0], &first[3],
    ];
    let bytes: Vec<u8> = mixed.into_iter().flatten().copied().collect();
    let message = |call, bytes: &[u8]| Event::Message {
        call,
        bytes: bytes.to_vec(),
    };
    let expected = [
        Event::Begun {
            call: 1,
            bytes: long.len() as u64,
        },
        message(2, &exact),
        Event::Ping { call: 0 },
        Event::Cancel { call: 2 },
        message(3, b""),
        message(1, &long),
    ];
    for piece in [1, 15, 16, 17, 4096, 1 << 20] {
        assert_eq!(decode(&bytes, piece), Ok(expected.to_vec()), "{piece}");
    }
}

#[test]
fn a_message_that_was_begun_can_be_given_up() {
    let long = encode(1, &vec![b'a'; MAX_PAYLOAD + 1]);
    let cancel = Header::bare(Kind::Cancel, 1).to_bytes().to_vec();
    let again = encode(1, b"b");
    let bytes = [&long[0], &cancel, &again[0]].map(Vec::as_slice).concat();
    let message = Event::Message {
        call: 1,
        bytes: b"b".to_vec(),
    };
    assert_eq!(
        decode(&bytes, 1000),
        Ok(vec![
            Event::Begun {
                call: 1,
                bytes: MAX_PAYLOAD as u64 + 1,
            },
            Event::Cancel { call: 1 },
            message
        ])
    );
}

#[test]
fn of_a_skipped_message_nothing_is_held() {
    let mut decoder = Decoder::new(BOUNDS);
    let mut events = Vec::new();
    for frame in encode(1, &vec![b'a'; 5 * MAX_PAYLOAD + 3]) {
        let mut frame = frame.as_slice();
        while !frame.is_empty() {
            let spare = decoder.spare();
            let count = spare.len().min(frame.len());
            spare[..count].copy_from_slice(&frame[..count]);
            decoder.filled(count);
            frame = &frame[count..];
            while let Some(event) = decoder.next().unwrap() {
                decoder.skip(1);
                events.push(event);
            }
        }
        let held = decoder.begun.values().map(|begun| begun.message.capacity());
        assert_eq!(held.sum::<usize>(), 0);
    }
    let message = Event::Message {
        call: 1,
        bytes: b"aaa".to_vec(),
    };
    assert_eq!(
        events,
        [
            Event::Begun {
                call: 1,
                bytes: 5 * MAX_PAYLOAD as u64 + 3,
            },
            message
        ]
    );
}

#[test]
fn what_is_no_frame_is_said_and_takes_no_memory() {
    let header = |fields: [u32; 4]| fields.map(u32::to_le_bytes).concat();
    let refused = |bytes: &[u8]| decode(bytes, 16).expect_err("it is malformed");
    assert_eq!(refused(&header([9, 0, 0, 0])), Malformed::Kind(9));
    let long = u32::try_from(MAX_PAYLOAD + 1).unwrap();
    assert_eq!(
        refused(&header([0, 1, long, 0])),
        Malformed::FrameTooLong(long)
    );
    assert_eq!(refused(&header([1, 1, 1, 0])), Malformed::FrameTooLong(1));
    assert_eq!(
        refused(&header([0, 1, 1, 1 << 20])),
        Malformed::MessageTooLong {
            bytes: (1 << 20) + 1,
            limit: 1 << 20
        }
    );
    let begun = |call| [header([0, call, 1, 9]), vec![0]].concat();
    let skips = [begun(1), header([0, 1, 1, 7])].concat();
    assert_eq!(refused(&skips), Malformed::OutOfStep(1));
    let many: Vec<u8> = (1..=4).flat_map(begun).collect();
    assert_eq!(refused(&many), Malformed::TooManyCalls(3));
}

proptest! {
    #[test]
    fn any_bytes_are_frames_or_malformed(bytes: Vec<u8>, piece in 1_usize..100) {
        let whole = decode(&bytes, usize::MAX);
        prop_assert_eq!(decode(&bytes, piece), whole);
    }
}
