//! Shards: a share of the work of a command, for many processes on any number of machines.
//!
//! Which work belongs to a shard follows from the arguments and the inputs alone, so that shards
//! need not know each other. Each keeps a journal, and `clewline merge` joins the journals.

use std::{fmt, str::FromStr};

use clewline_core::{ParseError, is_interrupted};

use super::status::{Failure, Status};

/// One of several shares of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Its number, from 0.
    pub(super) index: u64,
    /// How many there are.
    pub(super) count: u64,
}

impl Shard {
    /// The shard `index` of `count`, if there is one.
    pub(super) fn new(index: u64, count: u64) -> Option<Shard> {
        (index < count).then_some(Shard { index, count })
    }

    /// Whether the unit of work with this number belongs to it.
    pub(super) fn has(self, number: u64) -> bool {
        number % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Shard, ParseError> {
        let read = || {
            let (index, count) = text.split_once('/')?;
            Shard::new(index.parse().ok()?, count.parse().ok()?)
        };
        read().ok_or_else(|| ParseError::new("I/N with I from 0 to N-1, for example 0/4 to 3/4", text))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The share of the work that a command does.
#[derive(Debug, clap::Args)]
pub(super) struct ShardFlags {
    /// Do only share I of N, counted from 0; `clewline merge` joins the journals of all shares
    ///
    /// The exit code is 0 if the shard is finished, whatever was found, so that a scheduler does
    /// not start it again.
    #[arg(long, value_name = "I/N", requires = "journal")]
    pub(super) shard: Option<Shard>,

    /// End the shard at its first violation, with exit code 1
    #[arg(long, requires = "shard")]
    pub(super) fail_fast: bool,
}

impl ShardFlags {
    /// Refuses options that a shard has no use for: `merge` writes all files.
    pub(super) fn refuse<'a>(&self, asked: impl IntoIterator<Item = (&'a str, bool)>) -> Result<(), Failure> {
        match asked.into_iter().find(|it| self.shard.is_some() && it.1) {
            Some((name, _)) => Err(Failure::Message(format!(
                "{name} has no meaning for a shard: give it to `clewline merge`, if that has it"
            ))),
            None => Ok(()),
        }
    }
}

/// What a shard has done.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShardDone {
    pub(super) shard: Shard,
    /// Finished units, and their name in singular and plural.
    pub(super) units: (u64, (&'static str, &'static str)),
    pub(super) violated: u64,
    pub(super) is_fail_fast: bool,
}

impl ShardDone {
    /// What is printed: `shard 1/4 is finished: 25 matrices, 1 violated`.
    pub(super) fn line(&self) -> String {
        let ShardDone { shard, units: (count, nouns), violated, .. } = self;
        let noun = if *count == 1 { nouns.0 } else { nouns.1 };
        let state = if is_interrupted() { "was interrupted" } else { "is finished" };
        format!("shard {shard} {state}: {count} {noun}, {violated} violated\n")
    }

    /// The exit status.
    pub(super) fn status(&self) -> Status {
        if self.is_fail_fast && self.violated != 0 { Status::Violated } else { Status::Done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_numbered_from_zero_and_each_unit_is_in_one() {
        assert_eq!("2/3".parse::<Shard>().unwrap(), Shard { index: 2, count: 3 });
        for wrong in ["3/3", "0/0", "1", "-1/2", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        for number in 0..20 {
            let owners = (0..3).filter(|it| Shard::new(*it, 3).unwrap().has(number)).count();
            assert_eq!(owners, 1);
        }
    }

    #[test]
    fn a_shard_that_found_something_is_finished() {
        let done = ShardDone {
            shard: Shard { index: 0, count: 2 },
            units: (1, ("file", "files")),
            violated: 1,
            is_fail_fast: false,
        };
        assert_eq!(done.line(), "shard 0/2 is finished: 1 file, 1 violated\n");
        assert_eq!(done.status(), Status::Done);
        assert_eq!(ShardDone { is_fail_fast: true, ..done }.status(), Status::Violated);
    }
}
