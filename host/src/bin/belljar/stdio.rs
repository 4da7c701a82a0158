//! Messages on standard input and output, a line each: what every subcommand that talks so has.
//!
//! | file | what |
//! |---|---|
//! | `lines` | standard input as bounded lines |
//! | `answers` | standard output, and when nobody reads it any more |

pub(crate) mod answers;
pub(crate) mod lines;
