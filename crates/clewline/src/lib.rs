//! Clewline tests whether a concurrent object is *linearizable*: whether it behaves as if its
//! operations were executed one at a time.
//!
//! Each operation of a linearizable object appears to take effect instantaneously, at a
//! *linearization point* between its invocation and its response. Users of a queue, a map or a lock
//! usually expect this without stating it. A *history* is a record of the invocations and responses
//! of all processes. Given a history, Clewline finds a *linearization*, a sequential order of the
//! operations that explains every result, or a small *counterexample*: a few operations that have
//! none.
//!
//! # Should I use this?
//!
//! Yes, if you have written a data structure that several threads use concurrently, or have
//! recorded what several threads or clients did with one object, and can specify what it does when
//! a single client uses it. Most objects are [built in](specs): registers, counters, maps, sets,
//! stacks, queues, channels, locks.
//!
//! * In a test, with every interleaving of a few calls and no specification: [`LineUp`], or the
//!   attribute [`test`] on an impl block.
//! * In a test, with actors that exchange messages, in every order of delivery: `Explore`, with the
//!   feature `actors`.
//! * In a test, with real threads that call random operations on your structure: [`Stress`].
//! * In a test, with a history that your test records: [`assert_linearizable`] and [`check`].
//! * In a system that runs by itself, with threads or async tasks: [`Recorder`].
//! * On files, from a program: [`check_file`](files::check_file), and [`Check`] for limits and
//!   other options.
//! * From a shell: the binary of `clewline-cli`, `clewline check FILE --spec queue` and, for
//!   built-in structures, `clewline explore NAME` and `clewline stress NAME`.
//!
//! No, if operations are transactions over several objects: that is serializability. If clients may
//! read old values, only the weaker criteria of `clewline check --criterion` may help.
//!
//! # A test
//!
//! ```
//! use clewline::{Deterministic, Event, History, assert_linearizable};
//!
//! /// A ticket dispenser: each ticket is one more than the last.
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
//! # Ok::<(), clewline::Error>(())
//! ```
//!
//! These few lines are a complete specification: a state, the calls, and a function that applies a
//! call to a state. If calls may have several outcomes, implement [`Specification`] instead of
//! [`Deterministic`]; to read histories from files, also implement [`Codec`].
//!
//! # Which checker?
//!
//! Use `auto`. The others are for comparison, for hard histories, and for a second opinion.
//!
//! | name | algorithm | use it |
//! |---|---|---|
//! | `auto` | chooses by the history | by default |
//! | `jit-graph` | just-in-time linearization: an operation is linearized only when one has to return; caches configurations | for a single, predictable search |
//! | `wg-graph` | Wing and Gong: linearizes operations in the order of their calls; caches configurations | in competition with `jit-graph`: it is slow on other histories |
//! | `jit-tree`, `wg-tree` | the same without a cache | on long, easy histories with little memory |
//! | `two-frontiers` | orders the `enq`s of a queue when they are found, not when they return | on queues, relaxed queues and channels with values that are not distinct; `auto` does |
//! | `pushdown` | remembers the top of a stack, not what lies below | on stacks with values that are not distinct; `auto` does |
//! | `relaxed-pushdown` | remembers what may be removed next from a relaxed stack | on relaxed stacks; `auto` does |
//! | `late-pushes` | orders the pushes of a deque when they are found | on deques with values that are not distinct; `auto` does |
//! | `empty-moments` | chooses moments at which nothing is inside a bag | on bags with values that are not distinct; `auto` does |
//! | `monitor` | an algorithm for the specification, in nearly linear time | to see what is decided without a search; `auto` begins with it |
//! | `queue-oriented` | removes each `enq` together with its `deq` | on queues without peeks and pending `deq`s |
//! | `oracle` | tries every order, in the simplest way | for a second opinion on a small history |
//! | `A+B` | A and B in competition; the first verdict counts | when a history takes too long |
//!
//! See [`search`](internals::check::search) for details.
//!
//! # Verdicts
//!
//! There are three, each with its evidence. [`Verdict::Holds`] contains a linearization;
//! [`Verdict::Violated`] a counterexample; [`Verdict::Unknown`] the limit that was hit. *Unknown is
//! not a pass*: [`assert_linearizable`] panics on it, and the binary has an exit code for it.
//!
//! # Features
//!
//! | feature | adds | by default |
//! |---|---|---|
//! | `line-up` | [`LineUp`] and the attribute [`test`] | yes |
//! | `stress` | [`Stress`] | yes |
//! | `async` | `future`: asynchronous code under control, and `#[op] async fn` | no |
//! | `actors` | `Explore` and `actors` | no |
//! | `catalog` | [specifications](specs) by their names, as in `against_named("queue")`; quasi factors | no |
//! | `files` | recordings of Jepsen, porcupine and Line-Up, besides JSON lines; implies `catalog` | no |
//! | `html` | reports as pages, pictures and JSON; summaries | no |
//! | `serde` | histories of specifications without a [`Codec`], in files | no |
//!
//! The command line is the crate `clewline-cli`. The manual is in the folder `docs` of the
//! repository: tutorials, how-to guides, reference and explanation, as a book.

// Links to what a feature adds resolve only with that feature.
#![cfg_attr(
    not(all(feature = "actors", feature = "async", feature = "files", feature = "html")),
    allow(rustdoc::broken_intra_doc_links)
)]

mod assert;

#[cfg(feature = "line-up")]
#[doc(inline)]
pub use clewline_methods::line_up::LineUp;
#[cfg(feature = "stress")]
#[doc(inline)]
pub use clewline_methods::stress::Stress;
#[doc(inline)]
pub use clewline_methods::{Check, Error, Quasi, Recorder, Report, check};

#[cfg(feature = "actors")]
#[doc(inline)]
pub use clewline_systems::Explore;

pub use assert::assert_linearizable;

#[cfg(feature = "line-up")]
pub use clewline_macros::test;

#[doc(inline)]
pub use clewline_core::{Codec, Deterministic, Event, History, Specification, Value, Verdict};
#[doc(inline)]
pub use clewline_threads::{Subject, choose, hint, sync, thread};

/// Asynchronous code under control: tasks, timers, cancellation, and primitives that tasks await.
#[cfg(feature = "async")]
#[doc(inline)]
pub use clewline_async as future;

/// The code of an asynchronous operation, which needs the feature `async`.
#[cfg(feature = "async")]
#[doc(hidden)]
#[macro_export]
macro_rules! with_async {
    ($code:expr) => {
        $code
    };
}

/// The same without that feature: the error says what to write.
#[cfg(not(feature = "async"))]
#[doc(hidden)]
#[macro_export]
macro_rules! with_async {
    ($code:expr) => {
        ::core::compile_error!(
            "an `async` operation needs the feature `async`: write `clewline = { version = \"..\", \
             features = [\"async\"] }` in Cargo.toml"
        )
    };
}

/// The built-in sequential specifications, one module each.
#[doc(inline)]
pub use clewline_specs as specs;

/// [`LineUp`] and its types: matrices, outcomes, components with closures as calls.
#[cfg(feature = "line-up")]
pub mod line_up {
    #[doc(inline)]
    pub use clewline_core::{FailsWhen, MayFail};
    #[doc(inline)]
    pub use clewline_matrix::{Component, Explorable, SpecifiedSubject};
    #[doc(hidden)]
    pub use clewline_methods::line_up::find_bound;
    #[doc(inline)]
    pub use clewline_methods::line_up::{
        Alphabet, BadMatrix, Bound, CallList, Cause, Checked, ColumnList, Every, LineUp, LineUpFinding,
        LineUpOptions, LineUpOutcome, Matrix, Plan, Reference, ShownResult, ThreadScheduler,
    };
    #[doc(inline)]
    pub use clewline_threads::control::MemoryModel;
}

/// [`Stress`] and its types: outcomes, noise, clocks, samplers of calls and values.
#[cfg(feature = "stress")]
pub mod stress {
    #[doc(inline)]
    pub use clewline_core::{CallSampler, ValueDomain};
    #[doc(inline)]
    pub use clewline_methods::stress::{
        Cause, Phase, RunFailure, Saved, Shrinking, Stress, StressFinding, StressOutcome, StressProgress,
        ThreadRole, Workload,
    };
    #[doc(inline)]
    pub use clewline_threads::{Clock, ClockKind, Noise, Pinning, point};
}

/// Actor systems: the traits to implement for your own system, and [`Explore`], which explores it.
#[cfg(feature = "actors")]
pub mod actors {
    #[doc(inline)]
    pub use clewline_actors::{
        Actor, ActorId, AnyActor, ClientCall, Clients, Context, Delivery, FaultPlacement, Faults,
        GlobalState, Harness, Mailbox, Message, Modality, Property, Restart, Rules, Scenario, Tracked,
    };
    #[cfg(feature = "files")]
    #[doc(inline)]
    pub use clewline_actors::{FileHarness, FileMessage, HarnessFile, HarnessFileError};
    #[doc(inline)]
    pub use clewline_systems::{
        ActorFinding, ActorScheduler, ActorStep, Coverage, Explore, ExploreError, ExploreOutcome, Limit,
        Metrics, StuckCalls, ViolationKind,
    };
}

/// Recordings: histories in files, also in files that are still growing, and the algorithms that
/// check them.
pub mod files {
    #[doc(inline)]
    pub use clewline_check::Algorithm;
    #[doc(inline)]
    pub use clewline_core::{Criterion, Malformed};
    #[doc(inline)]
    pub use clewline_formats::formats::{self, InputFormat};
    #[doc(inline)]
    pub use clewline_methods::{
        Alarm, CheckProgress, Keys, LineOrder, OpenNote, OpenOperation, Watch, check_file,
    };
    #[cfg(feature = "serde")]
    #[doc(inline)]
    pub use clewline_methods::{read_history, save_history};
}

/// The crates behind this one, for extensions of Clewline. They change more often than the items
/// above.
pub mod internals {
    #[cfg(feature = "actors")]
    pub use clewline_actors as actors;
    pub use clewline_check as check;
    pub use clewline_core as core;
    pub use clewline_formats as formats;
    pub use clewline_matrix as matrix;
    pub use clewline_methods as methods;
    pub use clewline_report as report;
    #[cfg(feature = "actors")]
    pub use clewline_systems as systems;
    pub use clewline_threads as threads;
}

/// Runs the examples of README.md and of the manual as tests.
#[cfg(doctest)]
mod manual {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/tutorials/queue.md")]
    struct Queue;

    #[doc = include_str!("../../../docs/tutorials/ring-buffer.md")]
    struct RingBuffer;

    #[doc = include_str!("../../../docs/tutorials/mailbox.md")]
    struct Mailbox;

    #[doc = include_str!("../../../docs/tutorials/own-specification.md")]
    struct OwnSpecification;

    #[doc = include_str!("../../../docs/tutorials/async.md")]
    struct AsyncTutorial;

    #[doc = include_str!("../../../docs/how-to/actors.md")]
    struct Actors;

    #[doc = include_str!("../../../docs/how-to/async.md")]
    struct Async;

    #[doc = include_str!("../../../docs/how-to/check.md")]
    struct CheckRecording;

    #[doc = include_str!("../../../docs/how-to/record.md")]
    struct Record;

    #[doc = include_str!("../../../docs/reference/attribute.md")]
    struct Attribute;

    #[doc = include_str!("../../../docs/reference/specifications.md")]
    struct Specifications;

    #[doc = include_str!("../../../docs/how-to/stress.md")]
    struct Stress;

    #[doc = include_str!("../../../docs/how-to/round-up.md")]
    struct RoundUp;

    /// Invalid uses of the attribute do not compile. The messages are tested in the crate of the
    /// macro.
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
