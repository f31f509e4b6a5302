//! Searches: checkers that decide every problem, given time.
//!
//! All of them look for a witness by linearizing one operation after the other. A *configuration*
//! is what has been linearized so far and the state this led to. An operation may come next if no
//! operation that is left returned before it was called.
//!
//! | name | order of attempts | remembers configurations | when to pick it |
//! |---|---|---|---|
//! | [`jit_graph`] | the operation that returns first | yes | always a good choice; `auto` uses it where no monitor decides |
//! | [`jit_tree`] | the operation that returns first | no | long histories with little memory; in competition |
//! | [`wg_graph`] | the operation that was called first | yes | in competition: it is slow on other histories |
//! | [`wg_tree`] | the operation that was called first | no | as a reference: Wing and Gong's own algorithm |
//! | [`oracle`] | any | yes, naively | small histories, as the reference for the other checkers |
//!
//! Others are for some objects only, refuse everything else, and are therefore not in the list:
//!
//! | name | order of attempts | remembers configurations | when to pick it |
//! |---|---|---|---|
//! | [`empty_moments`] | the moments at which nothing is inside | yes, without contents | bags whose values are not distinct; `auto` uses it |
//! | [`grow_only_set`] | when each element appeared | there are none | sets that are read as a whole, without effective `remove`; `auto` uses it |
//! | [`late_pushes`] | a push when a pop is to find it | yes, without contents | deques; `auto` uses it |
//! | [`pushdown`] | the operation that returns first | yes, with the top only | stacks whose values are not distinct; `auto` uses it |
//! | [`queue_oriented`] | an `enq` and its `deq` at a time | where it had a choice | as a reference: Lowe's own algorithm |
//! | [`relaxed_pushdown`] | the operation that returns first | yes, with what may be removed next only | relaxed stacks; `auto` uses it |
//! | [`two_frontiers`] | an `enq` when an operation is to find it | yes, without contents | queues, also relaxed, and channels whose values are not distinct; `auto` uses it |
//!
//! And `breadth_first` decides nothing: it processes all orders at once, to find what could have
//! happened.
//!
//! To add one: write its file, implement [`Checker`], export an `ENTRY`, add its name to the list.
//! The conformance suite takes it from there.

mod backtracking;
pub mod breadth_first;
mod checker;
mod configurations;
pub mod counts;
pub mod empty_moments;
mod engine;
pub mod few_states;
pub mod found;
pub mod grow_only_set;
pub mod jit_graph;
pub mod jit_tree;
pub mod late_pushes;
pub mod links;
pub mod oracle;
pub mod pace;
pub mod prefix;
mod present;
pub mod pushdown;
pub mod queue_oriented;
pub mod relaxed_pushdown;
mod room;
#[cfg(feature = "sat")]
pub mod sat;
pub mod segments;
pub mod two_frontiers;
pub mod uses;
pub mod wg_graph;
pub mod wg_tree;
mod window;
pub mod without_capacity;

use clewline_core::{Budget, Problem, Reason, Table, Verdict, Witness};
use clewline_monitor::grow_only_set as grow_only;

pub use checker::{Checker, check};

/// The checkers that decide every problem, in alphabetical order.
pub static SEARCHES: Table<&dyn Checker> =
    Table::new(&[jit_graph::ENTRY, jit_tree::ENTRY, oracle::ENTRY, wg_graph::ENTRY, wg_tree::ENTRY], |it| {
        it.name()
    });

/// Decides `problem` by a search for its kind of object, and returns the name of that search;
/// `None` if there is none.
pub fn decide_by_kind(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    let by_frontiers = || Some((two_frontiers::NAME, two_frontiers::decide(problem, budget)?));
    let by_frames = || decide_stack(problem, budget);
    let by_gaps = || decide_deque(problem, budget);
    let by_bounds = || Some((grow_only::NAME, grow_only::decide(problem, budget)?));
    let by_moments = || Some((empty_moments::NAME, empty_moments::decide(problem, budget)?));
    let by_windows = || Some((relaxed_pushdown::NAME, relaxed_pushdown::decide(problem, budget)?));
    by_frontiers()
        .or_else(by_frames)
        .or_else(by_windows)
        .or_else(by_gaps)
        .or_else(by_moments)
        .or_else(by_bounds)
}

// A formula of more operations is too large, or larger than the search that it is instead of.
#[cfg(feature = "sat")]
const FORMULA_OPERATIONS_MAX: usize = 2_000;
// About half a second.
#[cfg(feature = "sat")]
const CONFIGURATIONS_BEFORE_FORMULA: u64 = 200_000;

/// Decides a stack: by a formula if too many operations are open for the search.
fn decide_stack(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    #[cfg(feature = "sat")]
    if problem.len() <= FORMULA_OPERATIONS_MAX && CONFIGURATIONS_BEFORE_FORMULA < budget.configurations() {
        let short = budget.child().with_configurations(CONFIGURATIONS_BEFORE_FORMULA);
        match pushdown::decide(problem, &short)? {
            Verdict::Unknown(Reason::Configurations(CONFIGURATIONS_BEFORE_FORMULA)) => (),
            verdict => return Some((pushdown::NAME, verdict)),
        }
        match sat::decide(problem, budget)? {
            Verdict::Unknown(Reason::Refused(_)) => (),
            verdict => return Some((sat::NAME, verdict)),
        }
    }
    Some((pushdown::NAME, pushdown::decide(problem, budget)?))
}

// The configurations that either search of a deque visits before the other one is tried: some, and
// some for each operation.
const DEQUE_CONFIGURATIONS_MIN: u64 = 10_000;
const DEQUE_CONFIGURATIONS_PER_OPERATION: u64 = 32;

/// Decides a deque. Where pops are pending, `late-pushes` tries each of them on many elements
/// before it gives up, and `jit-graph`, which knows the contents, may refute the history sooner.
fn decide_deque(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    let most = DEQUE_CONFIGURATIONS_MIN + DEQUE_CONFIGURATIONS_PER_OPERATION * problem.len() as u64;
    if late_pushes::has_pending_pops(problem) && most < budget.configurations() {
        let short = budget.child().with_configurations(most);
        match late_pushes::decide(problem, &short)? {
            Verdict::Unknown(Reason::Configurations(it)) if it == most => (),
            verdict => return Some((late_pushes::NAME, verdict)),
        }
        match jit_graph::JitGraph.decide(problem, &short) {
            Verdict::Unknown(Reason::Configurations(it)) if it == most => (),
            verdict => return Some((jit_graph::NAME, verdict)),
        }
    }
    Some((late_pushes::NAME, late_pushes::decide(problem, budget)?))
}

/// A history is not continued from more states than this.
pub const FINAL_STATES_MAX: usize = 64;

/// One witness for each state in which `problem`, which has no pending operations, may end.
///
/// What comes after can then be judged from each of these states, and what came before dropped.
///
/// # Errors
///
/// The verdict if there is none: it is violated, or unknown, for example because there are more
/// than [`FINAL_STATES_MAX`].
pub fn final_state_witnesses(problem: &Problem<'_>, budget: &Budget) -> Result<Vec<Witness>, Verdict> {
    let strategy = engine::Strategy { order: engine::Order::Return, memory: engine::Memory::Entered };
    engine::final_state_witnesses(problem, budget, strategy, FINAL_STATES_MAX)
}
