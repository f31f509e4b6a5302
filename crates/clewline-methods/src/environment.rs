//! Settings of tests from the environment: variables, and the name of the test itself.

use std::time::Duration;

use clewline_core::{MayFail, ParseError};
use clewline_explore::{Bound, Bounds};

use crate::error::{Error, ErrorKind};

/// The parsed value of the variable, if it is set.
pub(crate) fn parsed<T>(
    look_up: impl Fn(&str) -> Option<String>,
    variable: &str,
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Error> {
    // Empty is as good as not set.
    let Some(found) = look_up(variable).filter(|it| !it.is_empty()) else { return Ok(None) };
    match parse(found.trim()) {
        Some(value) => Ok(Some(value)),
        None => {
            let (variable, error) = (variable.into(), Box::new(ParseError::new(expected.to_owned(), &found)));
            Err(ErrorKind::Environment { variable, error }.into())
        }
    }
}

/// The variables of every builder of tests.
#[derive(Debug)]
pub struct Variables {
    /// The seed.
    pub seed: Option<u64>,
    /// How many executions there are at most.
    pub executions: Option<u64>,
    /// How long the test runs at most.
    pub timeout: Option<Duration>,
    /// How many threads explore.
    pub jobs: Option<usize>,
}

impl Variables {
    /// Those that are set.
    ///
    /// # Errors
    /// One of them is not valid.
    pub fn read(look_up: impl Fn(&str) -> Option<String>) -> Result<Variables, Error> {
        let number = |it: &str| it.parse().ok().filter(|&it: &u64| it != 0);
        let from_one = "a number from 1";
        Ok(Variables {
            seed: parsed(&look_up, SEED, "a number", |it| it.parse().ok())?,
            executions: parsed(&look_up, EXECUTIONS, from_one, number)?,
            timeout: parsed(&look_up, TIMEOUT, "a duration such as 500ms, 10s, 5m or 1h", duration)?,
            jobs: parsed(&look_up, JOBS, from_one, number)?.map(|it| it as usize),
        })
    }
}

pub(crate) const SEED: &str = "CLEWLINE_SEED";
pub(crate) const EXECUTIONS: &str = "CLEWLINE_EXECUTIONS";
pub(crate) const TIMEOUT: &str = "CLEWLINE_TIMEOUT";
pub(crate) const JOBS: &str = "CLEWLINE_JOBS";

/// The results that operations may return with no effect, from `CLEWLINE_MAY_FAIL`.
pub(crate) fn may_fail(look_up: impl Fn(&str) -> Option<String>) -> Result<Option<MayFail>, Error> {
    let expected = "results that may be returned with no effect, such as deq=null,enq=false";
    parsed(look_up, MAY_FAIL, expected, |it| it.parse().ok())
}

pub(crate) const MAY_FAIL: &str = "CLEWLINE_MAY_FAIL";

/// Sets the bounds in `known` from their environment variables.
///
/// # Errors
/// One of them is not valid.
pub fn set_bounds(
    bounds: &mut Bounds,
    known: &[&Bound],
    look_up: impl Fn(&str) -> Option<String>,
) -> Result<(), Error> {
    for bound in known {
        let value = parsed(&look_up, &bound.variable(), bound.expected(), |it| bound.parse(it))?;
        if let Some(value) = value {
            bounds.set(bound, value);
        }
    }
    Ok(())
}

/// A duration such as `10s`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|it: char| it.is_ascii_alphabetic())?);
    let ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let number: u64 = number.trim().parse().ok()?;
    number.checked_mul(ms).filter(|&it| it != 0).map(Duration::from_millis)
}

/// The name of the test that runs on this thread, as far as it can be known: the harness names a
/// thread after its test.
#[must_use]
pub fn this_test() -> Option<String> {
    let thread = std::thread::current();
    let is_path = |it: &&str| it.chars().all(|it| it.is_alphanumeric() || "_:".contains(it));
    thread.name().filter(|&it| it != "main").filter(is_path).map(str::to_owned)
}
