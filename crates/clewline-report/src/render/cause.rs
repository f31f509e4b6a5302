//! Causes of violations: one name and one headline for each, in every method and in every output.

use std::fmt;

/// What is wrong with a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// No linearization of a history produces its results.
    NotLinearizable,
    /// A history does not satisfy the criterion that was asked for, which is another than
    /// linearizability.
    Criterion,
    /// Serial executions of the same calls return different results.
    Nondeterminism,
    /// An operation blocks that should return, and no thread can continue.
    Deadlock,
    /// An operation does not return although its thread runs: a loop never ends.
    Livelock,
    /// Two threads access the same data concurrently, without a happens-before order, and one of
    /// the accesses is a write.
    DataRace,
    /// An object still exists and is no longer reachable.
    MemoryLeak,
    /// Freed memory is accessed.
    UseAfterFree,
    /// Memory is freed twice.
    DoubleFree,
    /// A signal ends the program: a segmentation fault, a stack overflow, an abort.
    Crash,
    /// An operation panics.
    Panic,
    /// The program reports a failure: an assertion in C, an exit code.
    Failure,
    /// A property of an actor system does not hold.
    Property,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 13] = [
        Cause::NotLinearizable,
        Cause::Criterion,
        Cause::Nondeterminism,
        Cause::Deadlock,
        Cause::Livelock,
        Cause::DataRace,
        Cause::MemoryLeak,
        Cause::UseAfterFree,
        Cause::DoubleFree,
        Cause::Crash,
        Cause::Panic,
        Cause::Failure,
        Cause::Property,
    ];

    /// The name in JSON and in JUnit's XML.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Cause::NotLinearizable => "not-linearizable",
            Cause::Criterion => "criterion",
            Cause::Nondeterminism => "nondeterminism",
            Cause::Deadlock => "deadlock",
            Cause::Livelock => "livelock",
            Cause::DataRace => "data-race",
            Cause::MemoryLeak => "memory-leak",
            Cause::UseAfterFree => "use-after-free",
            Cause::DoubleFree => "double-free",
            Cause::Crash => "crash",
            Cause::Panic => "panic",
            Cause::Failure => "failure",
            Cause::Property => "property",
        }
    }

    /// The predicate of the headline: `has a deadlock`.
    const fn predicate(self) -> &'static str {
        match self {
            Cause::NotLinearizable => "is not linearizable",
            Cause::Criterion => "does not satisfy a criterion",
            Cause::Nondeterminism => "is nondeterministic",
            Cause::Deadlock => "has a deadlock",
            Cause::Livelock => "has a livelock",
            Cause::DataRace => "has a data race",
            Cause::MemoryLeak => "has a memory leak",
            Cause::UseAfterFree => "has a use after free",
            Cause::DoubleFree => "has a double free",
            Cause::Crash => "crashes",
            Cause::Panic => "panics",
            Cause::Failure => "fails",
            Cause::Property => "violates a property",
        }
    }

    /// The headline of a violation by `subject`: `bank has a deadlock in transfer`. `operation` is
    /// the call in which it shows, if there is one.
    #[must_use]
    pub fn headline(self, subject: &str, operation: Option<&str>) -> String {
        let place = operation.map_or_else(String::new, |it| format!(" in {it}"));
        format!("{subject} {}{place}", self.predicate())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cause_has_its_own_name_and_headline() {
        let names: BTreeSet<&str> = Cause::ALL.iter().map(|it| it.name()).collect();
        let headlines: BTreeSet<String> = Cause::ALL.iter().map(|it| it.headline("it", None)).collect();
        assert_eq!((names.len(), headlines.len()), (Cause::ALL.len(), Cause::ALL.len()));
        assert_eq!(Cause::Deadlock.headline("bank", Some("transfer")), "bank has a deadlock in transfer");
    }
}
