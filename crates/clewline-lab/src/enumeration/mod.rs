//! Round-Up's enumeration: sequentializations, and the quasi permutations of each.
//!
//! Source: Zhang, Chattopadhyay and Wang, Algorithms 1 and 2 and the optimizations of section VI-C.
//! It is the reference for the search in tests, with [`PermutationChoice::Definition`], and counts
//! what the paper's tables count, with [`PermutationChoice::ClassByClass`].
//!
//! The printed algorithms need corrections; `permutations.rs` and `sequentializations.rs` say
//! which. Tables and tests use the corrected ones, so all sequentializations
//! ([`SequentializationChoice::Complete`]); the programs of the tables have two calls at a time at
//! most, where those of the paper's algorithm ([`SequentializationChoice::Pairwise`]) are all.
//!
//! Cost: for n operations that all overlap, n! sequentializations; for each, about `(k + 1)!^(n /
//! (k + 1))` permutations and more, and as many interleavings of the classes.

mod permutations;
mod sequentializations;

use std::{
    collections::{HashMap, HashSet},
    ops::ControlFlow,
};

use clewline_check::relaxed::Relaxation;
use clewline_core::{Budget, Interner, Problem, Reason};

pub use permutations::QuasiPermutations;
pub use sequentializations::SequentializationChoice;

/// What else is enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Each sequentialization of each distinct history, and each permutation of it.
    Distinct,
    /// Only that, with the paper's optimizations: orders that were visited before, in any history,
    /// are skipped.
    Optimized,
    /// Only each sequentialization of every execution, and each permutation of it.
    Everything,
}

/// How much was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Histories that were judged.
    pub histories: u64,
    /// Histories that were skipped.
    pub histories_skipped: u64,
    /// Sequentializations whose orders were tried.
    pub sequentializations: u64,
    /// Sequentializations that were skipped.
    pub sequentializations_skipped: u64,
    /// Orders that were judged.
    pub permutations: u64,
    /// Orders that were skipped.
    pub permutations_skipped: u64,
}

/// Which permutations of a sequentialization are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermutationChoice {
    /// All that the definition allows: each class permuted, classes interleaved in any way,
    /// operations without a class anywhere.
    Definition,
    /// One class permuted at a time, in the places where it is, and all else left as it is. For two
    /// classes of m operations these are 2 T(m, k) orders, as in the paper's tables.
    ClassByClass,
}

/// When the enumeration of a history stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAt {
    /// A legal order was found.
    Legal,
    /// Everything was tried.
    Exhausted,
}

/// How duplicates are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// They are judged again.
    Repeat,
    /// They are skipped: the verdict is known.
    Skip,
}

/// How to enumerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumerationPlan {
    /// Which sequentializations.
    pub sequentialization_choice: SequentializationChoice,
    /// Which permutations of each.
    pub permutation_choice: PermutationChoice,
    /// When to stop.
    pub until: StopAt,
    /// Concurrent histories with equal operations and equal order of events: the paper's second
    /// optimization. Its first is in [`SerialHistories`].
    pub histories: Duplicates,
    /// Sequentializations and permutations that are equal to some of this or an earlier history:
    /// the third.
    pub orders: Duplicates,
}

impl EnumerationPlan {
    /// The plan for the tables of the paper.
    #[must_use]
    pub fn counting(counting: Counting) -> EnumerationPlan {
        let duplicates = match counting {
            Counting::Distinct | Counting::Everything => Duplicates::Repeat,
            Counting::Optimized => Duplicates::Skip,
        };
        EnumerationPlan {
            sequentialization_choice: SequentializationChoice::Complete,
            permutation_choice: PermutationChoice::ClassByClass,
            until: StopAt::Exhausted,
            histories: duplicates,
            orders: duplicates,
        }
    }

    /// The plan of the paper's own decision: each class permuted by itself, until an order is found
    /// that is legal, with its optimizations.
    pub const PAPER: EnumerationPlan = EnumerationPlan {
        sequentialization_choice: SequentializationChoice::Complete,
        permutation_choice: PermutationChoice::ClassByClass,
        until: StopAt::Legal,
        histories: Duplicates::Skip,
        orders: Duplicates::Skip,
    };

    /// The plan that decides the definition. Orders are not judged twice, which changes no verdict.
    pub const ORACLE: EnumerationPlan = EnumerationPlan {
        sequentialization_choice: SequentializationChoice::Complete,
        permutation_choice: PermutationChoice::Definition,
        until: StopAt::Legal,
        histories: Duplicates::Repeat,
        orders: Duplicates::Skip,
    };
}

/// Serial histories of a golden model, with operations in the form of a report.
#[derive(Clone, Debug)]
pub struct SerialHistories {
    duplicates: Duplicates,
    histories: Vec<Vec<String>>,
}

impl SerialHistories {
    /// An empty list. Identical histories are kept once or, with [`Duplicates::Repeat`], every
    /// time.
    #[must_use]
    pub fn new(duplicates: Duplicates) -> SerialHistories {
        SerialHistories { duplicates, histories: Vec::new() }
    }

    /// Adds one.
    pub fn add(&mut self, history: Vec<String>) {
        match self.duplicates {
            Duplicates::Skip if self.histories.contains(&history) => (),
            Duplicates::Skip | Duplicates::Repeat => self.histories.push(history),
        }
    }

    /// How many are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.histories.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.histories.is_empty()
    }
}

/// The serial histories of a test program: the orders of calls that it can make one at a time. With
/// the results of a deterministic golden model they are what the paper records in its first phase.
#[derive(Clone, Debug)]
pub struct SerialCalls(HashSet<Vec<String>>);

impl SerialCalls {
    /// Every interleaving of `columns`, between `initial` and `last`.
    #[must_use]
    pub fn of(initial: &[String], columns: &[Vec<String>], last: &[String]) -> SerialCalls {
        let call = |it: &String| if it.contains('(') { it.clone() } else { format!("{it}()") };
        let [initial, last] = [initial, last].map(|it| it.iter().map(call).collect::<Vec<_>>());
        let columns: Vec<Vec<String>> = columns.iter().map(|it| it.iter().map(call).collect()).collect();
        let mut serial = HashSet::new();
        interleavings(&mut columns.iter().map(Vec::as_slice).collect(), &mut initial.clone(), &mut |order| {
            serial.insert(order.iter().chain(&last).cloned().collect());
        });
        SerialCalls(serial)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Extends `order` by what is left of each column, in every way. The depth of recursion is the
/// number of calls.
fn interleavings(left: &mut Vec<&[String]>, order: &mut Vec<String>, each: &mut dyn FnMut(&[String])) {
    if left.iter().all(|it| it.is_empty()) {
        return each(order);
    }
    for index in 0..left.len() {
        let whole = left[index];
        let Some((next, rest)) = whole.split_first() else { continue };
        left[index] = rest;
        order.push(next.clone());
        interleavings(left, order, each);
        order.pop();
        left[index] = whole;
    }
}

/// Which orders are legal.
#[derive(Clone, Debug)]
enum Golden {
    /// Those that the specification allows.
    Specification,
    /// These.
    Histories(SerialHistories),
    /// Those that the specification allows, of these calls.
    Calls(SerialCalls),
}

/// Judges histories one after the other by enumeration, and counts.
#[derive(Debug)]
pub struct Enumeration {
    plan: EnumerationPlan,
    golden: Golden,
    counts: Counts,
    // Operations in the form of a report, numbered.
    names: Interner<String>,
    // Whether each history holds, a sequentialization has a legal order, an order is legal.
    histories: HashMap<Vec<u32>, bool>,
    sequentializations: HashMap<Vec<u32>, bool>,
    orders: HashMap<Vec<u32>, bool>,
}

/// Why an enumeration stopped.
enum Stop {
    Legal,
    Spent(Reason),
}

impl Enumeration {
    /// An enumeration in which the specification decides which orders are legal.
    #[must_use]
    pub fn new(plan: EnumerationPlan) -> Enumeration {
        Enumeration {
            plan,
            golden: Golden::Specification,
            counts: Counts::default(),
            names: Interner::new(),
            histories: HashMap::new(),
            sequentializations: HashMap::new(),
            orders: HashMap::new(),
        }
    }

    /// An enumeration in which only these serial histories are legal. Pending operations occur in
    /// none of them.
    #[must_use]
    pub fn with_golden_model(plan: EnumerationPlan, golden: SerialHistories) -> Enumeration {
        Enumeration { golden: Golden::Histories(golden), ..Enumeration::new(plan) }
    }

    /// An enumeration in which only orders that the test program can make one call at a time are
    /// legal, with the results of the specification, which must be deterministic.
    #[must_use]
    pub fn among(plan: EnumerationPlan, calls: SerialCalls) -> Enumeration {
        Enumeration { golden: Golden::Calls(calls), ..Enumeration::new(plan) }
    }

    /// The number of each operation; equal operations have equal numbers.
    fn names(&mut self, problem: &Problem<'_>) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(problem.len());
        for (&id, span) in problem.operations().iter().zip(problem.spans()) {
            // The texts of some complete operations equal those of pending ones.
            let state = if span.is_pending() { "pending" } else { "complete" };
            numbers.push(self.names.intern(format!("{state} {}", problem.label(id))));
        }
        numbers
    }

    /// Every choice of pending operations that take effect, none of them first.
    fn subsets(&mut self, history: &mut JudgedHistory<'_>) -> ControlFlow<Stop> {
        let spans = history.problem.spans();
        let pending: Vec<usize> = (0..spans.len()).filter(|&at| spans[at].is_pending()).collect();
        let Some(choices) = 1_u64.checked_shl(pending.len() as u32) else {
            let why = "the enumeration takes at most 63 pending operations";
            return ControlFlow::Break(Stop::Spent(Reason::Refused(why.to_owned())));
        };
        for choice in 0..choices {
            let is_in = |at: usize| {
                pending.iter().position(|&it| it == at).is_none_or(|index| choice & 1 << index != 0)
            };
            let mut operations: Vec<usize> = (0..spans.len()).filter(|&at| is_in(at)).collect();
            operations.sort_by_key(|&at| spans[at].call());
            self.plan
                .sequentialization_choice
                .each(spans, &operations, &mut |it| self.sequentialization(history, it))?;
        }
        ControlFlow::Continue(())
    }

    fn sequentialization(&mut self, history: &mut JudgedHistory<'_>, order: &[usize]) -> ControlFlow<Stop> {
        let mut key = history.factors_key();
        key.extend(order.iter().flat_map(|&at| [history.names[at], history.class(at)]));
        if self.plan.orders == Duplicates::Skip
            && let Some(&has_legal) = self.sequentializations.get(&key)
        {
            self.counts.sequentializations_skipped += 1;
            return self.note(history, has_legal);
        }
        self.counts.sequentializations += 1;
        let before = std::mem::take(&mut history.is_legal);
        let flow = match self.plan.permutation_choice {
            PermutationChoice::ClassByClass => self.class_by_class(history, order),
            PermutationChoice::Definition => {
                let free = order.iter().copied().filter(|&at| history.relaxation.class_of[at].is_none());
                let mut sequences: Vec<Vec<usize>> = free.map(|at| vec![at]).collect();
                self.permute_classes(history, order, 0, &mut sequences)
            }
        };
        if !matches!(flow, ControlFlow::Break(Stop::Spent(_))) {
            self.sequentializations.insert(key, history.is_legal);
        }
        history.is_legal |= before;
        flow
    }

    fn class_by_class(&mut self, history: &mut JudgedHistory<'_>, order: &[usize]) -> ControlFlow<Stop> {
        for (class, &factor) in history.relaxation.factors.iter().enumerate() {
            let is_in = |&place: &usize| history.relaxation.class_of[order[place]] == Some(class);
            let places: Vec<usize> = (0..order.len()).filter(is_in).collect();
            for permutation in QuasiPermutations::new(places.len(), factor) {
                let mut permuted = order.to_vec();
                places.iter().zip(permutation).for_each(|(&to, from)| permuted[to] = order[places[from]]);
                self.permutation(history, &permuted)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds a permutation of each class from `class` on to `sequences`, then interleaves them. The
    /// depth of recursion is the number of classes.
    fn permute_classes(
        &mut self,
        history: &mut JudgedHistory<'_>,
        order: &[usize],
        class: usize,
        sequences: &mut Vec<Vec<usize>>,
    ) -> ControlFlow<Stop> {
        let Some(&factor) = history.relaxation.factors.get(class) else {
            let mut left: Vec<&[usize]> = sequences.iter().map(Vec::as_slice).collect();
            return self.interleave(history, &mut left, &mut Vec::new());
        };
        let is_in = |&at: &usize| history.relaxation.class_of[at] == Some(class);
        let members: Vec<usize> = order.iter().copied().filter(is_in).collect();
        for permutation in QuasiPermutations::new(members.len(), factor) {
            sequences.push(permutation.into_iter().map(|it| members[it]).collect());
            self.permute_classes(history, order, class + 1, sequences)?;
            sequences.pop();
        }
        ControlFlow::Continue(())
    }

    /// Extends `order` by what is left of each sequence, in every way. The depth of recursion is
    /// the number of operations.
    fn interleave(
        &mut self,
        history: &mut JudgedHistory<'_>,
        left: &mut Vec<&[usize]>,
        order: &mut Vec<usize>,
    ) -> ControlFlow<Stop> {
        if left.iter().all(|it| it.is_empty()) {
            return self.permutation(history, order);
        }
        for index in 0..left.len() {
            let whole = left[index];
            let Some((&next, rest)) = whole.split_first() else { continue };
            left[index] = rest;
            order.push(next);
            self.interleave(history, left, order)?;
            order.pop();
            left[index] = whole;
        }
        ControlFlow::Continue(())
    }

    fn permutation(&mut self, history: &mut JudgedHistory<'_>, order: &[usize]) -> ControlFlow<Stop> {
        history.tried += 1;
        if let Err(reason) = history.budget.allow(history.tried) {
            return ControlFlow::Break(Stop::Spent(reason));
        }
        let key: Vec<u32> = order.iter().map(|&at| history.names[at]).collect();
        if self.plan.orders == Duplicates::Skip
            && let Some(&is_legal) = self.orders.get(&key)
        {
            self.counts.permutations_skipped += 1;
            return self.note(history, is_legal);
        }
        self.counts.permutations += 1;
        let label = |&at: &usize| history.problem.label(history.problem.operations()[at]);
        let is_allowed = || {
            let mut replay = history.problem.replay();
            order.iter().all(|&at| replay.advance(at))
        };
        let is_legal = match &self.golden {
            Golden::Histories(golden) => {
                golden.histories.contains(&order.iter().map(label).collect::<Vec<String>>())
            }
            Golden::Calls(SerialCalls(golden)) => {
                let call = |at: &usize| label(at).split(" → ").next().unwrap_or_default().to_owned();
                is_allowed() && golden.contains(&order.iter().map(call).collect::<Vec<String>>())
            }
            Golden::Specification => is_allowed(),
        };
        if self.plan.orders == Duplicates::Skip {
            self.orders.insert(key, is_legal);
        }
        self.note(history, is_legal)
    }

    fn note(&self, history: &mut JudgedHistory<'_>, is_legal: bool) -> ControlFlow<Stop> {
        history.is_legal |= is_legal;
        match self.plan.until {
            StopAt::Legal if is_legal => ControlFlow::Break(Stop::Legal),
            StopAt::Legal | StopAt::Exhausted => ControlFlow::Continue(()),
        }
    }
}

impl Enumeration {
    /// Whether `problem` is quasi linearizable by displacement, as far as the plan goes.
    ///
    /// All problems given to one enumeration must be about one specification, from its initial
    /// state.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice: its configurations are orders here, those of one history.
    pub fn judge(
        &mut self,
        problem: &Problem<'_>,
        relaxation: &Relaxation,
        budget: &Budget,
    ) -> Result<bool, Reason> {
        if let Some(why) = relaxation.mismatch(problem) {
            return Err(Reason::Refused(why));
        }
        let names = self.names(problem);
        let mut history = JudgedHistory { problem, relaxation, budget, names, tried: 0, is_legal: false };
        let key = history.key();
        if self.plan.histories == Duplicates::Skip
            && let Some(&holds) = self.histories.get(&key)
        {
            self.counts.histories_skipped += 1;
            return Ok(holds);
        }
        self.counts.histories += 1;
        let holds = match self.subsets(&mut history) {
            ControlFlow::Break(Stop::Spent(reason)) => return Err(reason),
            ControlFlow::Break(Stop::Legal) => true,
            ControlFlow::Continue(()) => history.is_legal,
        };
        self.histories.insert(key, holds);
        Ok(holds)
    }

    /// How much was tried so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

/// A history that is being judged.
struct JudgedHistory<'a> {
    problem: &'a Problem<'a>,
    relaxation: &'a Relaxation,
    budget: &'a Budget,
    names: Vec<u32>,
    tried: u64,
    // Whether some order of the current sequentialization, and afterwards of any, is legal.
    is_legal: bool,
}

impl JudgedHistory<'_> {
    fn class(&self, at: usize) -> u32 {
        self.relaxation.class_of[at].map_or(u32::MAX, |it| it as u32)
    }

    /// The factors, preceded by their number, so that a key is unambiguous.
    fn factors_key(&self) -> Vec<u32> {
        let factors = &self.relaxation.factors;
        [factors.len() as u32].into_iter().chain(factors.iter().copied()).collect()
    }

    /// Equal for histories with equal operations, equal order of events, and equal factors.
    fn key(&self) -> Vec<u32> {
        let spans = self.problem.spans();
        let mut events: Vec<(u32, [u32; 3])> = Vec::new();
        for (at, span) in spans.iter().enumerate() {
            events.push((span.call(), [0, self.names[at], self.class(at)]));
            events.extend(span.ret().map(|ret| (ret, [1, at as u32, 0])));
        }
        events.sort_unstable();
        let mut key = self.factors_key();
        key.extend(events.into_iter().flat_map(|(_, event)| event));
        key
    }
}
