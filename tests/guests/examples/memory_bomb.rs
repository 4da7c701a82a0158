//! Takes memory, and uses it, until there is no more.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|_| {
    let mut taken = Vec::new();
    loop {
        taken.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
});
