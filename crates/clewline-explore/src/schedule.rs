//! Schedules: what was chosen in one execution, and the token that says so in one word.
//!
//! A token names tasks by letters, each with the number of steps it makes in a row, and values that a task draws with an
//! equals sign: `a3b1a=2c4` is three steps of the first task, one of the second, one of the first after which it draws
//! the value 2, and four of the third.

use std::{fmt, str::FromStr};

use clewline_core::ParseError;

use crate::TaskId;

/// One thing that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pick {
    /// Whose step was next.
    Task(TaskId),
    /// Which value was drawn.
    Value(u32),
}

/// What was chosen in one execution, in order: enough to see it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule(pub Vec<Pick>);

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut picks = self.0.iter().peekable();
        while let Some(pick) = picks.next() {
            match *pick {
                Pick::Task(task) => {
                    let mut steps = 1;
                    while picks.next_if_eq(&pick).is_some() {
                        steps += 1;
                    }
                    write!(f, "{}", char::from(b'a' + task.0))?;
                    if 1 < steps {
                        write!(f, "{steps}")?;
                    }
                }
                Pick::Value(value) => write!(f, "={value}")?,
            }
        }
        Ok(())
    }
}

/// What the text of a schedule is called.
pub const TOKEN: &str = "replay token";

/// No token has more steps: a number with many digits must not eat all memory.
pub const STEPS_MAX: usize = 1 << 24;

impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(token: &str) -> Result<Self, ParseError> {
        let wrong = |at, expected| ParseError::at_character(TOKEN, token, at, expected);
        let bytes = token.as_bytes();
        let mut picks = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let head = bytes[at];
            let digits = bytes[at + 1..].iter().take_while(|it| it.is_ascii_digit()).count();
            let number: Option<u32> = token.get(at + 1..at + 1 + digits).and_then(|it| it.parse().ok());
            match head {
                b'a'..=b'p' => {
                    let steps = match (digits, number) {
                        (0, _) => 1,
                        (_, Some(steps)) if 0 < steps && picks.len() + steps as usize <= STEPS_MAX => steps,
                        _ => return Err(wrong(at + 1, "a number of steps")),
                    };
                    let pick = Pick::Task(TaskId(head - b'a'));
                    picks.extend(std::iter::repeat_n(pick, steps as usize));
                }
                b'=' => match number {
                    Some(value) => picks.push(Pick::Value(value)),
                    None => return Err(wrong(at + 1, "a value")),
                },
                _ => return Err(wrong(at, "a task, `a` to `p`, or `=`")),
            }
            at += 1 + digits;
        }
        Ok(Schedule(picks))
    }
}

#[cfg(test)]
mod tests;
