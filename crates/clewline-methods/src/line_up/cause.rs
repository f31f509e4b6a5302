//! Causes of violations in explored executions.

use std::fmt;

/// What is wrong with a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Serial executions of the same calls return different results.
    Nondeterministic,
    /// Overlapping operations return results that no serial order consistent with real time
    /// produces.
    NotLinearizable,
    /// An operation blocks that would not block in a serial execution.
    Blocking,
    /// An operation panics.
    Panic,
    /// A data race: two tasks access the same data concurrently, without a happens-before order.
    Race,
    /// An object is leaked: it still exists and is no longer reachable.
    Leak,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 6] = [
        Cause::Nondeterministic,
        Cause::NotLinearizable,
        Cause::Blocking,
        Cause::Panic,
        Cause::Race,
        Cause::Leak,
    ];

    /// The name used on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Nondeterministic => "nondeterministic",
            Cause::NotLinearizable => "not-linearizable",
            Cause::Blocking => "blocking",
            Cause::Panic => "panic",
            Cause::Race => "race",
            Cause::Leak => "leak",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
