//! Clewline answers one question about concurrent software: *does this object behave as if its operations
//! happened one at a time?*
//!
//! An object that does is called *linearizable*: each of its operations seems to happen all at once, at some
//! moment between its call and its return. That is what users of a queue, a map or a lock expect without
//! ever saying so. Given a record of what the processes called and what they were told, a *history*, Clewline
//! finds an order of the operations that explains every answer, or the few operations for which there is none.
//!
//! # Should I use this?
//!
//! Yes, if you have written a structure that several threads use at once, or have recorded what several threads or
//! clients did with one object, and can say what it should do when a single client uses it. Most objects are
//! [built in](specs): registers, counters, maps, sets, stacks, queues, channels, locks.
//!
//! * In a test, with every interleaving of a few calls and no specification: [`LineUp`], or the attribute [`test`] on an impl
//!   block.
//! * In a test, with actors that send each other messages, in every order: [`Explore`].
//! * In a test, with real threads that call random operations on your structure: [`Stress`].
//! * In a test, with a history that your test records: [`assert_linearizable`] and [`check`].
//! * On files, from a program: [`check_file`](files::check_file), and [`Check`] for limits and other options.
//! * From a shell: the binary of `clewline-cli`, `clewline check FILE --spec queue` and, for structures that are built in,
//!   `clewline explore NAME` and `clewline stress NAME`.
//!
//! No, if operations are transactions over several objects (that is serializability), or if clients may see old
//! values (a weaker model than this one).
//!
//! # A test
//!
//! ```
//! use clewline::{Deterministic, Event, History, assert_linearizable};
//!
//! /// A dispenser of tickets: each is one more than the last.
//! struct Tickets;
//!
//! impl Deterministic for Tickets {
//!     type State = u64;
//!     type Call = ();
//!     type Return = u64;
//!
//!     fn initial(&self) -> u64 {
//!         0
//!     }
//!
//!     fn apply(&self, last: &mut u64, (): &()) -> Option<u64> {
//!         *last += 1;
//!         Some(*last)
//!     }
//! }
//!
//! // Two processes draw tickets at the same time. Either may be first.
//! let history = History::from_events([
//!     Event::call(0, ()),
//!     Event::call(1, ()),
//!     Event::ret(0, 2),
//!     Event::ret(1, 1),
//! ])?;
//! assert_linearizable(&Tickets, &history);
//! # Ok::<(), clewline::Malformed>(())
//! ```
//!
//! That dozen of lines is all a specification needs: a state, the calls, and a function from one state to the
//! next. One whose calls may have several outcomes implements [`Specification`] instead of [`Deterministic`];
//! one that is to be read from files also implements [`Codec`].
//!
//! # Which checker?
//!
//! `auto`, unless you know better. The others are for comparison, for hard histories, and for doubt.
//!
//! | name | idea | pick it |
//! |---|---|---|
//! | `auto` | what suits the history | always, at first |
//! | `jit-graph` | linearizes an operation only when it is about to return; remembers configurations | when you want one search and no surprises |
//! | `wg-graph` | takes operations as they were called (Wing and Gong); remembers configurations | in competition with `jit-graph`: it errs elsewhere |
//! | `jit-tree`, `wg-tree` | the same without remembering | on long, easy histories with little memory |
//! | `queue-oriented` | takes away each `enq` with its `deq` | on queues whose values are not distinct |
//! | `oracle` | tries everything, as simply as can be | for a second opinion on a small history |
//! | `A+B` | A and B in competition; the first to know answers | when a history takes too long |
//!
//! [`search`](internals::check::search) tells more about each.
//!
//! # Verdicts
//!
//! There are three, and each comes with its evidence. [`Verdict::Holds`] carries an order that explains every
//! answer; [`Verdict::Violated`] the operations that contradict each other; [`Verdict::Unknown`] the limit that
//! was hit. *Unknown is not a pass*: [`assert_linearizable`] panics on it, and the binary has an exit code for it.
//!
//!
//! # Features
//!
//! | feature | what it brings | by default |
//! |---|---|---|
//! | `line-up` | [`LineUp`] and the attribute [`test`] | yes |
//! | `stress` | [`Stress`] | yes |
//! | `actors` | [`Explore`] and [`actors`] | no |
//! | `catalog` | [specifications](specs) by their names, as in `against_named("queue")`; quasi factors | no |
//! | `files` | recordings of Jepsen, porcupine and Line-Up, besides JSON lines; implies `catalog` | no |
//! | `html` | reports as pages, pictures and JSON; summaries | no |
//!
//! The command line is the crate `clewline-cli`.

mod assert;

#[doc(inline)]
pub use clewline_check::Algorithm;
#[cfg(feature = "line-up")]
#[doc(inline)]
pub use clewline_methods::line_up::LineUp;
#[cfg(feature = "stress")]
#[doc(inline)]
pub use clewline_methods::stress::Stress;
#[doc(inline)]
pub use clewline_methods::{Check, Error, Quasi, Report, check};

#[cfg(feature = "actors")]
#[doc(inline)]
pub use clewline_methods::actors::Explore;

pub use assert::assert_linearizable;

#[cfg(feature = "line-up")]
pub use clewline_macros::test;

#[doc(inline)]
pub use clewline_core::{Codec, Deterministic, Event, History, Malformed, Specification, Value, Verdict};
#[doc(inline)]
pub use clewline_threads::{Subject, choose, hint, sync, thread, thread_local};

/// Sequential specifications that are built in, one module each.
pub use clewline_specs as specs;

/// [`LineUp`] and what belongs to it: matrices, outcomes, components whose calls are closures.
#[cfg(feature = "line-up")]
pub mod line_up {
    #[doc(hidden)]
    pub use clewline_methods::line_up::has_bound;
    #[doc(inline)]
    pub use clewline_methods::line_up::{
        Alphabet, BadMatrix, Cause, Checked, Every, Finding, LineUp, Matrix, Options, Outcome, Plan,
        Reference, ShownResult,
    };
    #[doc(inline)]
    pub use clewline_threads::{Component, Explorable, control::MemoryModel};
}

/// [`Stress`] and what belongs to it: outcomes, noise, clocks, where calls and values are drawn from.
#[cfg(feature = "stress")]
pub mod stress {
    #[doc(inline)]
    pub use clewline_core::{CallSampler, ValueDomain};
    #[doc(inline)]
    pub use clewline_methods::stress::{
        Cause, CauseKind, Finding, Outcome, Phase, Progress, Saved, Shrinking, Stress, Workload,
    };
    #[doc(inline)]
    pub use clewline_threads::{Clock, ClockKind, Noise, Pinning, point};
}

/// Actor systems: what one writes to have a system of one's own explored, and [`Explore`], which explores it.
#[cfg(feature = "actors")]
pub mod actors {
    #[doc(inline)]
    pub use clewline_actors::{
        Actor, ActorId, AnyActor, ClientCall, Clients, Context, Delivery, FaultPlacement, Faults,
        GlobalState, Harness, Mailbox, Message, Modality, Property, Restart, Rules, Scenario, Tracked,
    };
    #[doc(inline)]
    pub use clewline_methods::actors::{
        Coverage, Error, Explore, Finding, Limit, Metrics, Outcome, Step, ViolationKind,
    };
}

/// Recordings: histories in files, or that are still growing.
pub mod files {
    #[doc(inline)]
    pub use clewline_methods::{Alarm, Keys, LineOrder, Progress, Watch, check_file};
    #[doc(inline)]
    pub use clewline_report::formats::{self, InputFormat};
}

/// The crates behind this one, for those who extend Clewline. They change more often than what is above.
pub mod internals {
    #[cfg(feature = "actors")]
    pub use clewline_actors as actors;
    pub use clewline_check as check;
    pub use clewline_core as core;
    pub use clewline_methods as methods;
    pub use clewline_report as report;
    pub use clewline_threads as threads;
}

/// The examples of README.md and of the manual are tests.
#[cfg(doctest)]
mod manual {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/specifications.md")]
    struct Specifications;

    #[doc = include_str!("../../../docs/stress.md")]
    struct Stress;

    #[doc = include_str!("../../../docs/line-up.md")]
    struct LineUp;

    #[doc = include_str!("../../../docs/round-up.md")]
    struct RoundUp;

    #[doc = include_str!("../../../docs/actors.md")]
    struct Actors;

    /// What the attribute refuses does not compile. The messages have tests beside the macro.
    ///
    /// ```
    /// struct Counter;
    ///
    /// #[clewline::test(init = Counter)]
    /// impl Counter {
    ///     #[op(weight = 2, group = "one", once)]
    ///     fn add(&self, #[values(1, 2)] _n: u32, _twice: Option<bool>) {}
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// ```compile_fail
    /// struct Counter;
    ///
    /// #[clewline::test(init = Counter)]
    /// impl Counter {
    ///     #[op]
    ///     fn add(&mut self, #[values(1, 2)] _n: u32, _twice: Option<bool>) {}
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// ```compile_fail
    /// struct Counter;
    ///
    /// #[clewline::test]
    /// impl Counter {
    ///     #[op]
    ///     fn add(&self, #[values(1, 2)] _n: u32, _twice: Option<bool>) {}
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// ```compile_fail
    /// struct Counter;
    ///
    /// #[clewline::test(init = Counter)]
    /// impl Counter {
    ///     #[op(blocking)]
    ///     fn add(&self, #[values(1, 2)] _n: u32, _twice: Option<bool>) {}
    /// }
    /// # fn main() {}
    /// ```
    struct Refused;
}
