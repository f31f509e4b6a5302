//! The types that all other crates share: histories, specifications, problems, verdicts.
//!
//! Data flow in one direction. A subject is tested or a file is read, which yields a [`History`]; a
//! history and a [`Specification`] make a [`Problem`]; a checker turns a problem into a
//! [`Verdict`]; a report shows the verdict. This crate defines these types; the other crates do the
//! work.
//!
//! Invariants:
//!
//! * This crate performs no input or output, reads no clock, and starts threads only in
//!   [`parallel`], whose results do not depend on their scheduling.
//! * A [`Verdict`] identifies operations by [`OperationId`] and owns no calls or results, so it is
//!   the same type for every object.
//! * After [`Problem`], nothing is generic in calls and returns.

mod any_specification;
mod borrowed;
mod budget;
mod by_criterion;
mod codec;
mod crash;
mod criterion;
mod dead_end;
mod erased;
mod history;
mod id;
mod initial;
mod intern;
mod label;
mod may_fail;
mod may_fail_history;
mod merge;
mod not_found;
pub mod parallel;
mod parse_error;
mod problem;
mod random;
mod rank;
mod recording;
mod role;
mod row_filter;
mod sampling;
mod set_operation;
mod shown;
mod simulate;
mod sorting;
mod specification;
mod static_name;
mod table;
mod ties;
mod timed_rows;
mod undo;
mod value;
mod verdict;
mod verify;
mod view;
mod witness;

pub use any_specification::{AnyCall, AnyReturn, AnySpecification};
pub use borrowed::{BorrowedHistory, EmptyHistory, name_of_type};
pub use budget::{Budget, Charge, Reason, interrupt, is_interrupted};
pub use by_criterion::CriterionHistory;
pub use codec::{Codec, CodecError, Encoded};
pub use crash::{Crash, CrashError, Incarnations, ProcessNames, TimedCrash};
pub use criterion::Criterion;
pub use erased::{
    ErasedHistory, ErasedSpec, LoadError, WriteHistory, erase_with, erase_with_codec, erase_with_debug,
    numbered_recording,
};
pub use history::{End, Event, EventLog, History, Malformed, Operation, Span, Timed, TimedColumns};
pub use id::{LabelId, ObjectId, OperationId, ProcessId, ResultId, StateId};
pub use intern::Interner;
pub use label::{read_label, write_label};
pub use may_fail::{FailsWhen, MayFail};
pub use may_fail_history::{MayFailHistory, failing, weakened};
pub use merge::Stamped;
pub use not_found::NotFound;
pub use parse_error::{ParseError, TextPlace};
pub use problem::{
    Automaton, PossibleResult, Problem, Retain, SequentialExecution, Show, Start, StepOutcome, Successor,
    UndoableExecution,
};
pub use random::Random;
pub use recording::{Names, Note, OwnTimes, RawCall, RawHistory, Recording, Skipped, Times};
pub use role::{ObjectKind, Role, RoleKind, Roles};
pub use row_filter::RowFilter;
pub use sampling::{CallSampler, GeneratorConfig, ValueDomain};
pub use set_operation::{SetOperation, SetOperations};
pub use shown::{Shown, ShownArguments, ShownReturn, visible};
pub use sorting::sort_by_key;
pub use specification::{Deterministic, Elements, Footprint, Specification, show_debug};
pub use static_name::static_name;
pub use table::{ExtendError, Table};
pub use timed_rows::{TimedRow, TimedRows};
pub use undo::{StepInPlace, Undo};
pub use value::{Datum, Value, ValueError, Values, Written};
pub use verdict::{
    Allowed, DeadEnd, Explanation, FailurePoint, PartialLinearization, Rule, Verdict, VerdictKind, Violation,
    Why,
};
pub use verify::WitnessError;
pub use view::HistoryView;
pub use witness::Witness;
