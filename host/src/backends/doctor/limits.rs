//! Limits, as the files of cgroups say them.

use belljar_protocol::facts::{Facts, LimitFile};

use super::Finding;

/// From here on a limit of the first version's is none: it is the largest that the kernel can count, in
/// whole pages.
const V1_NONE: u64 = i64::MAX as u64 - (64 << 10);

/// A limit; a smaller one is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    At(u64),
    None,
}

impl Limit {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "max" | "-1" => Some(Self::None),
            number => match number.parse::<u64>().ok()? {
                none if none >= V1_NONE => Some(Self::None),
                number => Some(Self::At(number)),
            },
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::At(number) => write!(f, "at most {number}"),
            Self::None => f.write_str("no limit"),
        }
    }
}

pub(in super::super) fn pids(facts: &Facts, asked: Option<u32>) -> Finding {
    finding(least(facts, "pids.max"), asked.map(u64::from), "")
}

/// Memory is what was asked, whatever becomes of swap.
#[cfg(feature = "kubernetes")]
pub(in super::super) fn memory_alone(facts: &Facts, asked: Option<u64>) -> Finding {
    let least = |name| least(facts, name);
    let memory = least("memory.max").or_else(|| least("memory.limit_in_bytes"));
    finding(memory, asked, " bytes")
}

/// Memory and swap together are what was asked.
pub(in super::super) fn memory(facts: &Facts, asked: Option<u64>) -> Finding {
    let least = |name| least(facts, name);
    let memory = least("memory.max").or_else(|| least("memory.limit_in_bytes"));
    let found = finding(memory, asked, " bytes");
    let (Some(asked), Some(Limit::At(memory))) = (asked, memory) else {
        return found;
    };
    let both = match (
        least("memory.memsw.limit_in_bytes"),
        least("memory.swap.max"),
    ) {
        (Some(both), _) => both,
        (None, Some(Limit::At(swap))) => Limit::At(memory.saturating_add(swap)),
        (None, Some(Limit::None)) => Limit::None,
        // The kernel does not count swap, or the machine has none.
        (None, None) => return found,
    };
    match both {
        Limit::At(both) if both <= asked => found,
        both => Finding::broken(
            format!("{}, with swap {both}", found.got),
            "with swap there is more memory than was asked",
        ),
    }
}

pub(in super::super) fn cpus(facts: &Facts, asked: Option<u32>) -> Finding {
    let v2 = facts.limits.iter().filter_map(|file| {
        let text = file.path.ends_with("/cpu.max").then_some(&file.text)?;
        let (quota, period) = text.split_once(' ')?;
        Some(millis(quota, period))
    });
    let v1 = facts.limits.iter().filter_map(|file| {
        let folder = file.path.strip_suffix("/cpu.cfs_quota_us")?;
        let is_period =
            |other: &&LimitFile| other.path.strip_suffix("/cpu.cfs_period_us") == Some(folder);
        let period = facts.limits.iter().find(is_period)?;
        Some(millis(&file.text, &period.text))
    });
    let all: Option<Vec<Limit>> = v2.chain(v1).collect();
    let least = all.and_then(|all| all.into_iter().min());
    finding(least, asked.map(u64::from), " thousandths of a processor")
}

/// Thousandths of a processor.
fn millis(quota: &str, period: &str) -> Option<Limit> {
    let Limit::At(quota) = Limit::parse(quota)? else {
        return Some(Limit::None);
    };
    let period: u64 = period.parse().ok()?;
    quota.checked_mul(1000)?.checked_div(period).map(Limit::At)
}

/// Every limit that is seen applies, so the least one does. None when there is none, or one means nothing.
fn least(facts: &Facts, name: &str) -> Option<Limit> {
    let named = facts.limits.iter().filter(|file| {
        let rest = file.path.strip_suffix(name);
        rest.is_some_and(|folder| folder.ends_with('/'))
    });
    let limits: Option<Vec<Limit>> = named.map(|file| Limit::parse(&file.text)).collect();
    limits?.into_iter().min()
}

/// Less than was asked is no gap.
fn finding(got: Option<Limit>, asked: Option<u64>, unit: &str) -> Finding {
    let Some(got) = got else {
        return Finding::unknown();
    };
    let text = match got {
        Limit::At(_) => format!("{got}{unit}"),
        Limit::None => got.to_string(),
    };
    match (got, asked) {
        (Limit::None, Some(_)) => Finding::broken(text, "there is no limit"),
        (Limit::At(got), Some(asked)) if got > asked => {
            Finding::broken(text, "the limit is higher than was asked")
        }
        _ => Finding::holds(text),
    }
}
