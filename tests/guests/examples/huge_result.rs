//! Answers a text of as many bytes as the first number in its arguments says.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|arguments| {
    let digits: String = arguments
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    "x".repeat(digits.parse().unwrap_or(0))
});
