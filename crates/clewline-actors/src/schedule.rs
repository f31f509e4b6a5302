//! Schedules of messages: what was picked in one execution, and the token that says so in one word.
//!
//! What can happen next is offered in an order that depends on nothing but what happened before, so a pick is a place in that
//! order. A token names the first place `a`, the second `b`, and so on to `z`; from the 27th on, the number stands in brackets,
//! counted from 0. How often the same place is picked in a row follows it: `a3c[27]` is the first three times, then the
//! third, then the 28th.

use std::{fmt, str::FromStr};

use clewline_core::ParseError;
use clewline_explore::{STEPS_MAX, TOKEN};

use crate::Walk;

/// What was picked in one execution, in order: enough to see it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule(pub Vec<u32>);

impl Schedule {
    /// What was picked to come where `walk` is.
    #[must_use]
    pub fn of(walk: &Walk) -> Self {
        let picks = walk.events().iter().enumerate().map(|(at, event)| {
            let place = walk.enabled_before(at).iter().position(|it| *it == event.receive);
            place.expect("what happened was enabled") as u32
        });
        Schedule(picks.collect())
    }

    /// Takes `walk` back to its beginning, and then along this schedule.
    ///
    /// # Errors
    ///
    /// If something was picked that cannot happen there.
    pub fn replay(&self, walk: &mut Walk) -> Result<(), Unfit> {
        walk.rewind();
        for (step, &pick) in self.0.iter().enumerate() {
            let enabled = walk.enabled().len();
            if enabled <= pick as usize {
                return Err(Unfit { step, pick, enabled });
            }
            walk.take(pick as usize);
        }
        Ok(())
    }
}

/// A schedule of another system, or of this one as it was before it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// After how many steps.
    pub step: usize,
    /// Which place was picked, counted from 0.
    pub pick: u32,
    /// How many there are.
    pub enabled: usize,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfit { step, pick, enabled } = self;
        write!(
            f,
            "the schedule does not fit this system: step {} takes number {} of what can happen, which is {enabled}",
            step + 1,
            pick + 1
        )
    }
}

impl std::error::Error for Unfit {}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in self.0.chunk_by(|one, other| one == other) {
            match run[0] {
                pick @ 0..26 => write!(f, "{}", char::from(b'a' + pick as u8))?,
                pick => write!(f, "[{pick}]")?,
            }
            if 1 < run.len() {
                write!(f, "{}", run.len())?;
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(token: &str) -> Result<Self, ParseError> {
        let wrong = |at, expected| ParseError::at_character(TOKEN, token, at, expected);
        let bytes = token.as_bytes();
        let number = |at: usize| {
            let digits = bytes[at..].iter().take_while(|it| it.is_ascii_digit()).count();
            (digits, token.get(at..at + digits).and_then(|it| it.parse::<u32>().ok()))
        };
        let (mut picks, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let pick = match bytes[at] {
                letter @ b'a'..=b'z' => u32::from(letter - b'a'),
                b'[' => {
                    let (digits, Some(pick)) = number(at + 1) else {
                        return Err(wrong(at + 1, "a number"));
                    };
                    at += 1 + digits;
                    if bytes.get(at) != Some(&b']') {
                        return Err(wrong(at, "`]`"));
                    }
                    pick
                }
                _ => return Err(wrong(at, "a place, `a` to `z`, or `[`")),
            };
            at += 1;
            let times = match number(at) {
                (0, _) => 1,
                (digits, Some(times)) if 0 < times && picks.len() + times as usize <= STEPS_MAX => {
                    at += digits;
                    times
                }
                _ => return Err(wrong(at, "how often the same is picked")),
            };
            picks.extend(std::iter::repeat_n(pick, times as usize));
        }
        Ok(Schedule(picks))
    }
}

#[cfg(test)]
mod tests;
