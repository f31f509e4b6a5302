//! Schedules: the choices of one execution, and their text form, the replay token.
//!
//! A token has a symbol for each choice, followed by a number if the choice was made several times
//! in a row. In schedules of threads, a choice is a task, and values that a task draws have an
//! equals sign: `a3b1a=2c4` is three steps of the first task, one of the second, one of the first
//! after which it draws the value 2, and four of the third. In schedules of messages, a choice is a
//! position in the list of enabled events.
//!
//! The first task or position is `a`, the second `b`, and so on to `z`; from the 27th on, the
//! number is in brackets, counted from 0: `a3c[27]` is the first three times, then the third, then
//! the 28th.

use std::{fmt, str::FromStr};

use clewline_core::ParseError;

use crate::step::TaskId;

/// One choice in a schedule of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pick {
    /// The task whose step was next.
    Task(TaskId),
    /// The value that was drawn.
    Value(u32),
}

/// The choices of one execution, in order: enough to replay it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule<P = Pick>(pub Vec<P>);

impl<P> Default for Schedule<P> {
    fn default() -> Self {
        Schedule(Vec::new())
    }
}

/// One choice, as written in tokens.
pub trait Symbol: Copy + PartialEq {
    /// What is expected after a symbol, other than another symbol.
    const TIMES: &'static str;

    /// Whether equal choices in a row are written as one symbol with a count.
    fn repeats(self) -> bool;

    /// Writes it.
    ///
    /// # Errors
    ///
    /// If the formatter fails.
    fn write(self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Reads the symbol that starts at `at`. Also returns where it ends.
    ///
    /// # Errors
    ///
    /// If there is none.
    fn read(token: &str, at: usize) -> Result<(Self, usize), ParseError>;
}

impl Symbol for Pick {
    const TIMES: &'static str = "a number of steps";

    fn repeats(self) -> bool {
        matches!(self, Pick::Task(_))
    }

    fn write(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pick::Task(task) => u32::from(task.0).write(f),
            Pick::Value(value) => write!(f, "={value}"),
        }
    }

    fn read(token: &str, at: usize) -> Result<(Self, usize), ParseError> {
        match token.as_bytes()[at] {
            b'a'..=b'z' | b'[' => match u32::read(token, at)? {
                (task, end) if (task as usize) < TaskId::MAX => Ok((Pick::Task(TaskId(task as u8)), end)),
                _ => Err(error_at(token, at + 1, "the number of a task, at most 63")),
            },
            b'=' => match number(token, at + 1) {
                (digits, Some(value)) => Ok((Pick::Value(value), at + 1 + digits)),
                (_, None) => Err(error_at(token, at + 1, "a value")),
            },
            _ => Err(error_at(token, at, "a task, `a` to `z` or `[`, or `=`")),
        }
    }
}

/// A position, counted from 0.
impl Symbol for u32 {
    const TIMES: &'static str = "how often the same is picked";

    fn repeats(self) -> bool {
        true
    }

    fn write(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            place @ 0..26 => write!(f, "{}", char::from(b'a' + place as u8)),
            place => write!(f, "[{place}]"),
        }
    }

    fn read(token: &str, at: usize) -> Result<(Self, usize), ParseError> {
        match token.as_bytes()[at] {
            letter @ b'a'..=b'z' => Ok((u32::from(letter - b'a'), at + 1)),
            b'[' => {
                let (digits, Some(place)) = number(token, at + 1) else {
                    return Err(error_at(token, at + 1, "a number"));
                };
                let end = at + 1 + digits;
                match token.as_bytes().get(end) {
                    Some(b']') => Ok((place, end + 1)),
                    Some(_) | None => Err(error_at(token, end, "`]`")),
                }
            }
            _ => Err(error_at(token, at, "a place, `a` to `z`, or `[`")),
        }
    }
}

fn error_at(token: &str, at: usize, expected: &'static str) -> ParseError {
    ParseError::at_character(TOKEN, token, at, expected)
}

/// The number of digits from `at` on, and their value if it is not too large.
fn number(token: &str, at: usize) -> (usize, Option<u32>) {
    let digits = token.as_bytes()[at..].iter().take_while(|it| it.is_ascii_digit()).count();
    (digits, token.get(at..at + digits).and_then(|it| it.parse().ok()))
}

impl<P: Symbol> fmt::Display for Schedule<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in self.0.chunk_by(|one, other| one == other && one.repeats()) {
            run[0].write(f)?;
            if 1 < run.len() {
                write!(f, "{}", run.len())?;
            }
        }
        Ok(())
    }
}

/// The name of the text form of a schedule.
pub const TOKEN: &str = "replay token";

/// The maximum number of steps of a token: a long number must not exhaust the memory.
pub const STEPS_MAX: usize = 1 << 24;

impl<P: Symbol> FromStr for Schedule<P> {
    type Err = ParseError;

    fn from_str(token: &str) -> Result<Self, ParseError> {
        let (mut picks, mut at) = (Vec::new(), 0);
        while at < token.len() {
            let (pick, end) = P::read(token, at)?;
            at = end;
            let times = match number(token, at) {
                (0, _) => 1,
                (digits, Some(times)) if 0 < times && picks.len() + times as usize <= STEPS_MAX => {
                    at += digits;
                    times
                }
                _ => return Err(error_at(token, at, P::TIMES)),
            };
            picks.extend(std::iter::repeat_n(pick, times as usize));
        }
        Ok(Schedule(picks))
    }
}

#[cfg(test)]
mod tests;
