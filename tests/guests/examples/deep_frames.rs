//! Calls itself until the part of its memory that its compiler uses as a stack is used up.
#![cfg(target_family = "wasm")]

use std::hint::black_box;

belljar_test_guests::guest!(|_| descend(0).to_string());

fn descend(depth: u64) -> u64 {
    // Used after the call, and opaque: no compiler makes a loop of this.
    let frame = black_box([depth; 64]);
    if black_box(depth) == u64::MAX {
        return depth;
    }
    descend(depth + 1).wrapping_add(black_box(frame)[0])
}
