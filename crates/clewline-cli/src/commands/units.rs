//! Durations, sizes, fractions and numbers of passes as text.

use std::{str::FromStr, time::Duration};

use clewline_core::ParseError;

const DURATIONS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("min", 60_000), ("h", 3_600_000)];

const SIZES: [(&str, u64); 8] = [
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Whether, and for how long, a failing input is made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shrink {
    /// As long as the command does by default.
    Auto,
    /// Not at all.
    None,
    /// At most so long.
    Within(Duration),
}

/// A maximum, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtMost(pub(super) Option<u32>);

/// Reads a number, or `none`.
pub(super) fn at_most(text: &str) -> Result<AtMost, ParseError> {
    match text {
        "none" => Ok(AtMost(None)),
        _ => text.parse().map(|it| AtMost(Some(it))).map_err(|_| ParseError::new("a number or `none`", text)),
    }
}

/// Reads `auto`, `none` or a duration.
pub(super) fn shrink(text: &str) -> Result<Shrink, ParseError> {
    match text {
        "auto" => Ok(Shrink::Auto),
        "none" => Ok(Shrink::None),
        _ => {
            duration(text).map(Shrink::Within).map_err(|error| match text.starts_with(char::is_alphabetic) {
                true => ParseError::new("`auto`, `none` or a duration", text),
                false => error,
            })
        }
    }
}

/// Reads `10s`, `1.5h`, `1m30s`.
pub(super) fn duration(text: &str) -> Result<Duration, ParseError> {
    let error = || ParseError::new("a duration such as 500ms, 10s, 1m30s or 2h", text);
    let mut rest = text.trim();
    let mut total_ms = 0_f64;
    if rest.is_empty() {
        return Err(error());
    }
    while !rest.is_empty() {
        let (number, unit, after) = quantity(rest).ok_or_else(error)?;
        if unit.is_empty() {
            return Err(ParseError::new(
                format!("a number with a unit, for example {text}s or {text}ms"),
                text,
            ));
        }
        let (_, ms) = DURATIONS.iter().find(|it| it.0 == unit).ok_or_else(error)?;
        total_ms += number * *ms as f64;
        rest = after;
    }
    // A limit that can still be added to the current time.
    if 1e15 < total_ms {
        return Err(ParseError::new("at most 10000 years", text));
    }
    Ok(Duration::from_secs_f64(total_ms / 1_000.0))
}

/// Reads `4GiB`, `512MB`, `1000000`.
pub(super) fn size(text: &str) -> Result<usize, ParseError> {
    let error = || ParseError::new("a size such as 512MiB, 4GiB or 2GB", text);
    let (number, unit, after) = quantity(text.trim()).ok_or_else(error)?;
    let is_unit = |it: &&(&str, u64)| it.0.eq_ignore_ascii_case(unit) || unit.is_empty() && it.0 == "B";
    let (_, factor) = SIZES.iter().find(is_unit).ok_or_else(error)?;
    let bytes = number * *factor as f64;
    if !after.is_empty() || (usize::MAX as f64) < bytes {
        return Err(error());
    }
    Ok(bytes as usize)
}

/// Reads a fraction from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, ParseError> {
    let share = text.parse::<f64>().ok().filter(|it| (0.0..=1.0).contains(it));
    share.ok_or_else(|| ParseError::new("a number from 0 to 1", text))
}

/// The number at the start of `text`, the unit after it, and the rest.
fn quantity(text: &str) -> Option<(f64, &str, &str)> {
    let (number, rest) =
        text.split_at(text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len()));
    let rest = rest.trim_start();
    let (unit, rest) = rest.split_at(rest.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(rest.len()));
    Some((number.parse().ok()?, unit, rest.trim_start()))
}

/// `duration` as [`duration`](fn@duration) reads it.
pub(super) fn show_duration(duration: Duration) -> String {
    match duration.as_millis() {
        ms if !ms.is_multiple_of(1_000) => format!("{ms}ms"),
        ms if ms != 0 && ms.is_multiple_of(3_600_000) => format!("{}h", ms / 3_600_000),
        ms if ms != 0 && ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        ms => format!("{}s", ms / 1_000),
    }
}

/// `bytes` as [`size`] reads it.
pub(super) fn show_size(bytes: usize) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

/// How often a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    /// This often.
    Count(u64),
    /// As its size requires.
    Auto,
}

impl FromStr for Passes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Passes, ParseError> {
        let count = || text.parse().ok().filter(|it| (1..=PASSES_MAX).contains(it)).map(Passes::Count);
        let passes = if text == "auto" { Some(Passes::Auto) } else { count() };
        passes.ok_or_else(|| ParseError::new(format!("`auto`, or a number from 1 to {PASSES_MAX}"), text))
    }
}

/// The most.
pub(super) const PASSES_MAX: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_duration(text: &str, ms: u64) {
        assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        assert_eq!(duration(&show_duration(Duration::from_millis(ms))), Ok(Duration::from_millis(ms)));
    }

    #[test]
    fn durations_have_a_unit() {
        check_duration("10s", 10_000);
        check_duration("500ms", 500);
        check_duration("1.5 s", 1_500);
        check_duration("1m30s", 90_000);
        check_duration("2h", 7_200_000);
        check_duration("0s", 0);
    }

    #[test]
    fn wrong_durations_say_what_was_expected() {
        assert_eq!(
            duration("10").map_err(|it| it.to_string()),
            Err("expected a number with a unit, for example 10s or 10ms; found `10`".to_owned())
        );
        for text in ["", "s", "10 parsecs", "-1s", "1.2.3s", "1s2", "9999999999999999h"] {
            assert!(duration(text).is_err_and(|it| it.found == text), "{text}");
        }
    }

    #[test]
    fn sizes_may_have_a_unit() {
        for (text, bytes) in [("4GiB", 4 << 30), ("1.5kib", 1536), ("2GB", 2_000_000_000), ("77", 77)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
            assert_eq!(size(&show_size(bytes)), Ok(bytes));
        }
        for text in ["", "GiB", "4 gigs", "-1B", "1GiB1", "99999999999TiB"] {
            assert!(size(text).is_err_and(|it| it.expected.starts_with("a size")), "{text}");
        }
    }

    #[test]
    fn fractions_are_from_0_to_1() {
        assert_eq!(share("0.5"), Ok(0.5));
        for text in ["1.1", "-0.1", "NaN", "half"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
