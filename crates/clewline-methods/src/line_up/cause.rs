//! Why a subject was found wrong when its executions were explored.

use std::fmt;

/// What is wrong with a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// One call at a time, it answers now this and now that.
    Nondeterministic,
    /// Operations that overlap answer what they could not one at a time, in any order that keeps what precedes what.
    NotLinearizable,
    /// An operation waits for ever that would not, one call at a time.
    Blocking,
    /// An operation panics.
    Panic,
    /// Two tasks get at the same data at the same time, and nothing orders them.
    Race,
    /// Something that was made is still there when nobody can get at it any more.
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
