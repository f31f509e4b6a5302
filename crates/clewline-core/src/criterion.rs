//! Correctness criteria: what is required of a history, and of operations that a crash interrupts.

use std::{fmt, str::FromStr};

use crate::parse_error::ParseError;

/// A correctness criterion. The default is linearizability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Criterion {
    /// Each operation takes effect at one moment between its call and its return (Herlihy and Wing
    /// 1990). An operation that a crash interrupts is pending: it takes effect later, or never.
    #[default]
    Linearizable,
    /// Linearizable, and an operation that a crash of its process interrupts takes effect before
    /// the crash, or never (Aguilera and Frølund 2003).
    Strict,
    /// The history without its crashes is linearizable (Izraelevitz, Mendes and Scott 2016).
    Durable,
    /// At each crash of the whole system the last operations may be lost, even complete ones, as
    /// long as a consistent cut of each era survives (Izraelevitz, Mendes and Scott 2016).
    BufferedDurable,
    /// Operations take effect in one order that keeps the order of each process (Lamport 1979).
    Sequential,
    /// Of a register: each read returns the last value that was written before it, or one that is
    /// being written (Lamport 1986; several writers as in MWR1 of Shao, Pierce and Welch 2011).
    Regular,
    /// The strongest of the others that holds.
    Strongest,
}

impl Criterion {
    /// Every criterion, with its name on the command line and in JSON.
    pub const ALL: [(Criterion, &str); 7] = [
        (Criterion::Linearizable, "linearizable"),
        (Criterion::Strict, "strict"),
        (Criterion::Durable, "durable"),
        (Criterion::BufferedDurable, "buffered-durable"),
        (Criterion::Sequential, "sequential"),
        (Criterion::Regular, "regular"),
        (Criterion::Strongest, "strongest"),
    ];

    /// The name on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        Criterion::ALL.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }

    /// The property of a history that satisfies it: `strictly linearizable`.
    #[must_use]
    pub const fn adjective(self) -> &'static str {
        match self {
            Criterion::Linearizable => "linearizable",
            Criterion::Strict => "strictly linearizable",
            Criterion::Durable => "durably linearizable",
            Criterion::BufferedDurable => "buffered durably linearizable",
            Criterion::Sequential => "sequentially consistent",
            Criterion::Regular => "regular",
            Criterion::Strongest => "consistent",
        }
    }

    /// What becomes of an operation that a crash interrupts, as a part of a sentence.
    #[must_use]
    pub const fn after_crash(self) -> &'static str {
        match self {
            Criterion::Strict => "takes effect before it, or never",
            Criterion::BufferedDurable => "takes effect later, or never; the last ones before it may be lost",
            _ => "takes effect later, or never",
        }
    }

    /// Whether it is decided by the intervals of operations, object by object: a witness is one
    /// order of all complete operations, and every checker of linearizability decides it.
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self, Criterion::Linearizable | Criterion::Strict | Criterion::Durable)
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Criterion {
    type Err = ParseError;

    /// Reads a name; `atomic` is linearizable, as registers are called that are.
    fn from_str(text: &str) -> Result<Criterion, ParseError> {
        let found = Criterion::ALL.iter().find(|it| it.1 == text).map(|it| it.0);
        found.or((text == "atomic").then_some(Criterion::Linearizable)).ok_or_else(|| {
            let known: Vec<&str> = Criterion::ALL.iter().map(|it| it.1).collect();
            ParseError::new(format!("one of {}", known.join(", ")), text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (criterion, name) in Criterion::ALL {
            assert_eq!((name.parse(), criterion.to_string()), (Ok(criterion), name.to_owned()));
        }
        assert_eq!("atomic".parse(), Ok(Criterion::Linearizable));
        assert!("serial".parse::<Criterion>().is_err());
    }
}
