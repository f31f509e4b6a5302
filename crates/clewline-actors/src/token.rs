//! Replay tokens: one execution, in a word that can be typed.
//!
//! `a3bc` is a schedule of the whole scenario; `1,3:a3bc` one of its first and third call only.

use std::{fmt, str::FromStr};

use clewline_core::ParseError;
use clewline_explore::TOKEN;

use crate::schedule::MessageSchedule;

/// One execution: which calls of a scenario are made, and the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The calls, by their places in the scenario; `None` for all.
    pub calls: Option<Vec<usize>>,
    /// The choices, step by step.
    pub schedule: MessageSchedule,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(calls) = &self.calls {
            let calls: Vec<String> = calls.iter().map(|it| (it + 1).to_string()).collect();
            write!(f, "{}:", calls.join(","))?;
        }
        self.schedule.fmt(f)
    }
}

impl FromStr for Token {
    type Err = ParseError;

    fn from_str(token: &str) -> Result<Self, ParseError> {
        let (calls, schedule) = match token.split_once(':') {
            None => (None, token),
            Some((calls, schedule)) => {
                let numbers: Option<Vec<usize>> =
                    calls.split(',').map(|it| it.parse::<usize>().ok()?.checked_sub(1)).collect();
                let numbers = numbers.filter(|it| it.is_sorted_by(|one, other| one < other));
                let wrong =
                    || ParseError::in_part(TOKEN, "before the colon", "numbers of calls as in `1,3`", calls);
                (Some(numbers.ok_or_else(wrong)?), schedule)
            }
        };
        Ok(Token { calls, schedule: schedule.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_written() {
        for text in ["a3bc", "1,3:a3bc", "2:a", ""] {
            assert_eq!(text.parse::<Token>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn wrong_tokens_say_what_was_expected() {
        for wrong in ["0:a", "2,1:a", "1,1:a", ":a", "x:a", "1,:a"] {
            let error = wrong.parse::<Token>().map(|it| it.to_string()).unwrap_err().to_string();
            assert!(error.contains("expected numbers of calls"), "{error}");
        }
        let error = "1:?".parse::<Token>().map(|it| it.to_string()).unwrap_err().to_string();
        assert!(error.contains("character 1"), "{error}");
    }
}
