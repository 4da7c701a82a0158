//! The `[limits]` table: every number, its default, and the range that it is kept in.

use std::time::Duration;

use belljar_contract::session::Limits;
use toml::Spanned;

use crate::limits::CallLimits;

use super::{
    document,
    interpret::Reading,
    quantity::{self, DurationValue, SizeValue},
};

/// Interprets the table: what is out of its range is brought into it, and reported.
pub(super) fn read(reading: &mut Reading<'_>, table: &document::Limits) -> (Limits, CallLimits) {
    let mut limits = Limits::default();
    let mut call = CallLimits::default();
    let mut of = Ranges { reading };

    // A process that has no time cannot start; a day is longer than any session should hang.
    let day = Duration::from_secs(24 * 3600);
    let least = Duration::from_millis(10);
    of.duration(
        "max-timeout",
        &table.max_timeout,
        &mut limits.timeout_maximum,
        least,
        day,
    );
    let most = limits.timeout_maximum;
    of.duration(
        "timeout",
        &table.timeout,
        &mut limits.timeout_default,
        least,
        most,
    );
    limits.timeout_default = limits.timeout_default.min(most);
    of.duration(
        "call-timeout",
        &table.call_timeout,
        &mut call.timeout,
        least,
        day,
    );

    // Both outputs of a process are held in memory, and so is a file.
    of.size(
        "max-output",
        &table.max_output,
        &mut limits.output_maximum,
        1 << 10,
        1 << 30,
    );
    let most = limits.output_maximum;
    of.size("output", &table.output, &mut limits.output_default, 0, most);
    limits.output_default = limits.output_default.min(most);
    of.size(
        "file",
        &table.file,
        &mut limits.file_bytes,
        1 << 10,
        1 << 30,
    );
    of.size("stdin", &table.stdin, &mut limits.stdin_bytes, 0, 1 << 30);
    // The system's own limit is 2 MiB on Linux, and a part of it is the pointers.
    of.size(
        "arguments",
        &table.arguments,
        &mut limits.argument_bytes,
        4 << 10,
        2 << 20,
    );
    of.count32("results", &table.results, &mut limits.results, 1, 1_000_000);
    of.count32(
        "processes",
        &table.processes,
        &mut limits.processes,
        1,
        4096,
    );

    // Below a megabyte the guest cannot even hold its own stack; a 32-bit memory ends at 4 GiB.
    of.size(
        "memory",
        &table.memory,
        &mut call.memory_bytes,
        1 << 20,
        4 << 30,
    );
    of.count32(
        "table-elements",
        &table.table_elements,
        &mut call.table_elements,
        100,
        10_000_000,
    );
    of.count(
        "host-calls",
        &table.host_calls,
        &mut call.host_calls,
        1,
        1 << 40,
    );
    of.size(
        "copied",
        &table.copied,
        &mut call.copied_bytes,
        64 << 10,
        1 << 40,
    );
    of.size(
        "answer",
        &table.answer,
        &mut call.answer_bytes,
        1 << 10,
        1 << 30,
    );
    of.count32(
        "progress-lines",
        &table.progress_lines,
        &mut call.progress_lines,
        0,
        1_000_000,
    );
    (limits, call)
}

struct Ranges<'a, 'b> {
    reading: &'a mut Reading<'b>,
}

impl Ranges<'_, '_> {
    fn duration(
        &mut self,
        key: &str,
        value: &Option<Spanned<DurationValue>>,
        into: &mut Duration,
        least: Duration,
        most: Duration,
    ) {
        let Some(value) = value else { return };
        match quantity::duration(&value.get_ref().0) {
            Ok(asked) => {
                *into = asked.clamp(least, most);
                self.report(key, value, asked, *into, quantity::show_duration);
            }
            Err(message) => self.bad(key, value, message),
        }
    }

    fn size(
        &mut self,
        key: &str,
        value: &Option<Spanned<SizeValue>>,
        into: &mut u64,
        least: u64,
        most: u64,
    ) {
        let Some(value) = value else { return };
        let asked = match value.get_ref() {
            SizeValue::Text(text) => quantity::size(text),
            SizeValue::Bytes(bytes) => not_negative(*bytes),
        };
        match asked {
            Ok(asked) => {
                *into = asked.clamp(least, most);
                self.report(key, value, asked, *into, quantity::show_size);
            }
            Err(message) => self.bad(key, value, message),
        }
    }

    fn count(
        &mut self,
        key: &str,
        value: &Option<Spanned<i64>>,
        into: &mut u64,
        least: u64,
        most: u64,
    ) {
        let Some(value) = value else { return };
        match not_negative(*value.get_ref()) {
            Ok(asked) => {
                *into = asked.clamp(least, most);
                self.report(key, value, asked, *into, |number| number.to_string());
            }
            Err(message) => self.bad(key, value, message),
        }
    }

    fn count32(
        &mut self,
        key: &str,
        value: &Option<Spanned<i64>>,
        into: &mut u32,
        least: u32,
        most: u32,
    ) {
        let mut wide = u64::from(*into);
        self.count(key, value, &mut wide, least.into(), most.into());
        *into = u32::try_from(wide).unwrap_or(most);
    }

    fn report<T: PartialEq, V>(
        &mut self,
        key: &str,
        value: &Spanned<V>,
        asked: T,
        used: T,
        show: impl Fn(T) -> String,
    ) {
        if asked != used {
            let message = format!("{} is out of range; {} is used", show(asked), show(used));
            self.reading
                .notice(format!("limits.{key}"), value.span().start, message);
        }
    }

    fn bad<V>(&mut self, key: &str, value: &Spanned<V>, message: String) {
        self.reading
            .bad(format!("limits.{key}"), value.span().start, message);
    }
}

fn not_negative(number: i64) -> Result<u64, String> {
    u64::try_from(number).map_err(|_| format!("{number} is negative"))
}
