//! Flags that say what is known of a recording, and not in its file.

use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use clewline_formats::{Circumstances, Mapping};
use clewline_report::render::text::shell_word;

use super::{status::Failure, units};

/// What is known of a recording.
#[derive(Debug, clap::Args)]
pub(super) struct KnownFlags {
    /// Maximum difference between the clocks of two processes: 2ms, or a number of ticks
    ///
    /// Each operation may have been called earlier and have returned later by this much. A duration
    /// (ns, us, ms, s) is for files with times in nanoseconds, such as those of etcd and
    /// OpenTelemetry; a number without a unit counts in the unit of the file's times.
    #[arg(long, value_name = "SKEW", default_value = "0", hide_default_value = true)]
    skew: Skew,

    /// State of each object before the first operation: JSON, a text, or @FILE
    ///
    /// A value (register), a number (counter, semaphore), true (a mutex that is held), the list of
    /// its elements (queue, stack, set, …), or an object of keys and values (map).
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    initial: Option<String>,

    /// File with the names of the columns (csv) or attributes (otlp) that make an operation
    ///
    /// JSON: {"process": "client", "op": "db.operation", "arg": ["key", "value"], "ret": "result",
    /// "ops": {"SET": "put"}, "json": true}.
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
}

impl KnownFlags {
    /// The flags again, for another command on the same file.
    pub(super) fn again(&self) -> String {
        let mut flags = String::new();
        if self.skew.0 != 0 {
            flags.push_str(&format!(" --skew {}", self.skew.0));
        }
        if let Some(initial) = &self.initial {
            flags.push_str(&format!(" --initial {}", shell_word(initial)));
        }
        if let Some(path) = &self.mapping {
            flags.push_str(&format!(" --mapping {}", shell_word(&path.display().to_string())));
        }
        flags
    }

    /// The files that the flags name.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let state = self.initial.as_deref().and_then(|it| it.strip_prefix('@')).map(Path::new);
        state.into_iter().chain(self.mapping.as_deref())
    }

    /// What the flags say.
    pub(super) fn circumstances(&self) -> Result<Circumstances, Failure> {
        let mut known = Circumstances::default();
        known.skew = self.skew.0;
        known.initial = match self.initial.as_deref().map(|it| (it, it.strip_prefix('@'))) {
            Some((_, Some(path))) => Some(fs::read_to_string(path).map_err(|it| Failure::at(path, it))?),
            Some((given, None)) => Some(given.to_owned()),
            None => None,
        };
        if let Some(path) = &self.mapping {
            let name = path.display().to_string();
            let text = fs::read_to_string(path).map_err(|it| Failure::at(&name, it))?;
            known.mapping = Mapping::parse(&text).map_err(|it| Failure::at(&name, it))?;
        }
        Ok(known)
    }
}

/// A number of ticks.
#[derive(Clone, Copy, Debug)]
struct Skew(i64);

impl FromStr for Skew {
    type Err = String;

    fn from_str(text: &str) -> Result<Skew, String> {
        if let Ok(ticks) = text.parse::<i64>() {
            return if ticks < 0 { Err("expected a skew from 0 on".to_owned()) } else { Ok(Skew(ticks)) };
        }
        let short = [("ns", 1), ("us", 1000), ("µs", 1000)];
        let short = short
            .iter()
            .find_map(|(unit, nanos)| Some((text.strip_suffix(unit)?.parse::<u32>().ok()?, nanos)));
        let duration = match short {
            Some((count, nanos)) => Duration::from_nanos(u64::from(count) * nanos),
            None => units::duration(text).map_err(|it| it.to_string())?,
        };
        i64::try_from(duration.as_nanos()).map(Skew).map_err(|_| "expected a shorter skew".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skew_is_a_duration_or_a_number_of_ticks() {
        let skew = |text: &str| text.parse::<Skew>().map(|it| it.0).ok();
        assert_eq!((skew("300us"), skew("9ns")), (Some(300_000), Some(9)));
        assert_eq!((skew("7"), skew("2ms"), skew("1s")), (Some(7), Some(2_000_000), Some(1_000_000_000)));
        assert_eq!((skew("-7"), skew("2 parsecs")), (None, None));
    }
}
