//! The paper's enumeration: sequentializations, and the quasi permutations of each.
//!
//! Source: Zhang, Chattopadhyay and Wang, Algorithms 1 and 2 and the optimizations of section VI-C.
//! It is the judge of the search in tests, with [`Sequentializing::Complete`] and
//! [`Arranging::Definition`], and counts what the paper's tables count, with
//! [`Sequentializing::Pairwise`] and [`Arranging::ClassByClass`].
//!
//! The printed algorithms need corrections; `permutations.rs` and `sequentializations.rs` say
//! which.
//!
//! Cost: for n operations that all overlap, n! sequentializations; for each, about (k + 1)!^(n / (k
//! + 1)) permutations and more, and as many interleavings of the classes.

mod permutations;
mod sequentializations;

use std::{collections::HashMap, ops::ControlFlow};

use clewline_check::relaxed::Relaxation;
use clewline_core::{Budget, Interner, Problem, Reason};
use clewline_methods::census::{Counting, Counts, Enumerate};

pub use permutations::QuasiPermutations;
pub use sequentializations::Sequentializing;

/// Which orders are tried for a sequentialization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arranging {
    /// All that the definition has: each class permuted, classes interleaved in any way, operations
    /// without a class anywhere.
    Definition,
    /// One class permuted at a time, in the places where it is, and all else left as it is. For two
    /// classes of m operations these are 2 T(m, k) orders, as in the paper's tables.
    ClassByClass,
}

/// When a history has been tried enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// A legal order was found.
    Legal,
    /// Everything was tried.
    Exhausted,
}

/// What is done about things that are met again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The same once more.
    Repeat,
    /// They are skipped: the answer is known.
    Skip,
}

/// How to enumerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which sequentializations.
    pub sequentializing: Sequentializing,
    /// Which orders for each.
    pub arranging: Arranging,
    /// How long.
    pub until: Until,
    /// Concurrent histories with equal operations whose events come in the same order: the paper's
    /// second optimization. Its first is in [`SerialHistories`].
    pub histories: Again,
    /// Sequentializations and permutations that are equal to some of this or an earlier history:
    /// the third.
    pub orders: Again,
}

impl Plan {
    /// What is counted for the tables of the paper.
    #[must_use]
    pub fn counting(counting: Counting) -> Plan {
        let again = match counting {
            Counting::Distinct | Counting::Everything => Again::Repeat,
            Counting::Optimized => Again::Skip,
        };
        Plan {
            sequentializing: Sequentializing::Complete,
            arranging: Arranging::ClassByClass,
            until: Until::Exhausted,
            histories: again,
            orders: again,
        }
    }

    /// What decides the definition. Orders are not judged twice, which changes no answer.
    pub const ORACLE: Plan = Plan {
        sequentializing: Sequentializing::Complete,
        arranging: Arranging::Definition,
        until: Until::Legal,
        histories: Again::Repeat,
        orders: Again::Skip,
    };
}

/// Serial histories of a golden model, as a report writes their operations.
#[derive(Clone, Debug)]
pub struct SerialHistories {
    again: Again,
    histories: Vec<Vec<String>>,
}

impl SerialHistories {
    /// None so far. Identical ones are kept once or, [`Again::Repeat`], as often as they come.
    #[must_use]
    pub fn new(again: Again) -> SerialHistories {
        SerialHistories { again, histories: Vec::new() }
    }

    /// Adds one.
    pub fn add(&mut self, history: Vec<String>) {
        match self.again {
            Again::Skip if self.histories.contains(&history) => (),
            Again::Skip | Again::Repeat => self.histories.push(history),
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

/// Judges one history after the other by enumeration, and counts.
#[derive(Debug)]
pub struct Enumeration {
    plan: Plan,
    // What is legal, if not what the specification says.
    golden: Option<SerialHistories>,
    counts: Counts,
    // Operations as reports write them, numbered.
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
    /// One that takes a specification at its word.
    #[must_use]
    pub fn new(plan: Plan) -> Enumeration {
        Enumeration {
            plan,
            golden: None,
            counts: Counts::default(),
            names: Interner::new(),
            histories: HashMap::new(),
            sequentializations: HashMap::new(),
            orders: HashMap::new(),
        }
    }

    /// One to which nothing is legal but these serial histories. Pending operations occur in none
    /// of them.
    #[must_use]
    pub fn with_golden_model(plan: Plan, golden: SerialHistories) -> Enumeration {
        Enumeration { golden: Some(golden), ..Enumeration::new(plan) }
    }

    /// The number of each operation, the same for those that did the same.
    fn names(&mut self, problem: &Problem<'_>) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(problem.len());
        for (&id, span) in problem.operations().iter().zip(problem.spans()) {
            // Some operations that return are written as those that do not.
            let state = if span.is_pending() { "pending" } else { "complete" };
            numbers.push(self.names.intern(format!("{state} {}", problem.label(id))));
        }
        numbers
    }

    /// Every choice of pending operations that take effect, none of them first.
    fn subsets(&mut self, case: &mut Case<'_>) -> ControlFlow<Stop> {
        let spans = case.problem.spans();
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
            self.plan.sequentializing.each(spans, &operations, &mut |it| self.sequentialization(case, it))?;
        }
        ControlFlow::Continue(())
    }

    fn sequentialization(&mut self, case: &mut Case<'_>, order: &[usize]) -> ControlFlow<Stop> {
        let mut key = case.factors_key();
        key.extend(order.iter().flat_map(|&at| [case.names[at], case.class(at)]));
        if self.plan.orders == Again::Skip
            && let Some(&has_legal) = self.sequentializations.get(&key)
        {
            self.counts.sequentializations_skipped += 1;
            return self.note(case, has_legal);
        }
        self.counts.sequentializations += 1;
        let before = std::mem::take(&mut case.is_legal);
        let flow = match self.plan.arranging {
            Arranging::ClassByClass => self.class_by_class(case, order),
            Arranging::Definition => {
                let free = order.iter().copied().filter(|&at| case.relaxation.class_of[at].is_none());
                let mut sequences: Vec<Vec<usize>> = free.map(|at| vec![at]).collect();
                self.permute_classes(case, order, 0, &mut sequences)
            }
        };
        if !matches!(flow, ControlFlow::Break(Stop::Spent(_))) {
            self.sequentializations.insert(key, case.is_legal);
        }
        case.is_legal |= before;
        flow
    }

    fn class_by_class(&mut self, case: &mut Case<'_>, order: &[usize]) -> ControlFlow<Stop> {
        for (class, &factor) in case.relaxation.factors.iter().enumerate() {
            let is_in = |&place: &usize| case.relaxation.class_of[order[place]] == Some(class);
            let places: Vec<usize> = (0..order.len()).filter(is_in).collect();
            for permutation in QuasiPermutations::new(places.len(), factor) {
                let mut permuted = order.to_vec();
                places.iter().zip(permutation).for_each(|(&to, from)| permuted[to] = order[places[from]]);
                self.permutation(case, &permuted)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds a permutation of each class from `class` on to `sequences`, then interleaves them. As
    /// deep as there are classes.
    fn permute_classes(
        &mut self,
        case: &mut Case<'_>,
        order: &[usize],
        class: usize,
        sequences: &mut Vec<Vec<usize>>,
    ) -> ControlFlow<Stop> {
        let Some(&factor) = case.relaxation.factors.get(class) else {
            let mut left: Vec<&[usize]> = sequences.iter().map(Vec::as_slice).collect();
            return self.interleave(case, &mut left, &mut Vec::new());
        };
        let is_in = |&at: &usize| case.relaxation.class_of[at] == Some(class);
        let members: Vec<usize> = order.iter().copied().filter(is_in).collect();
        for permutation in QuasiPermutations::new(members.len(), factor) {
            sequences.push(permutation.into_iter().map(|it| members[it]).collect());
            self.permute_classes(case, order, class + 1, sequences)?;
            sequences.pop();
        }
        ControlFlow::Continue(())
    }

    /// Extends `order` by what is left of each sequence, in every way. As deep as there are
    /// operations.
    fn interleave(
        &mut self,
        case: &mut Case<'_>,
        left: &mut Vec<&[usize]>,
        order: &mut Vec<usize>,
    ) -> ControlFlow<Stop> {
        if left.iter().all(|it| it.is_empty()) {
            return self.permutation(case, order);
        }
        for index in 0..left.len() {
            let whole = left[index];
            let Some((&next, rest)) = whole.split_first() else { continue };
            left[index] = rest;
            order.push(next);
            self.interleave(case, left, order)?;
            order.pop();
            left[index] = whole;
        }
        ControlFlow::Continue(())
    }

    fn permutation(&mut self, case: &mut Case<'_>, order: &[usize]) -> ControlFlow<Stop> {
        case.tried += 1;
        if let Err(reason) = case.budget.allow(case.tried) {
            return ControlFlow::Break(Stop::Spent(reason));
        }
        let key: Vec<u32> = order.iter().map(|&at| case.names[at]).collect();
        if self.plan.orders == Again::Skip
            && let Some(&is_legal) = self.orders.get(&key)
        {
            self.counts.permutations_skipped += 1;
            return self.note(case, is_legal);
        }
        self.counts.permutations += 1;
        let is_legal = match &self.golden {
            Some(golden) => {
                let texts = order.iter().map(|&at| case.problem.label(case.problem.operations()[at]));
                let texts: Vec<String> = texts.collect();
                golden.histories.contains(&texts)
            }
            None => {
                let mut replay = case.problem.replay();
                order.iter().all(|&at| replay.advance(at))
            }
        };
        if self.plan.orders == Again::Skip {
            self.orders.insert(key, is_legal);
        }
        self.note(case, is_legal)
    }

    fn note(&self, case: &mut Case<'_>, is_legal: bool) -> ControlFlow<Stop> {
        case.is_legal |= is_legal;
        match self.plan.until {
            Until::Legal if is_legal => ControlFlow::Break(Stop::Legal),
            Until::Legal | Until::Exhausted => ControlFlow::Continue(()),
        }
    }
}

impl Enumerate for Enumeration {
    /// Whether `problem` is quasi linearizable by displacement, as far as the plan goes.
    ///
    /// All problems given to one enumeration must be about one specification, from its initial
    /// state.
    ///
    /// # Errors
    ///
    /// If it may not go on: a budget's configurations are orders here, those of one history.
    fn judge(
        &mut self,
        problem: &Problem<'_>,
        relaxation: &Relaxation,
        budget: &Budget,
    ) -> Result<bool, Reason> {
        if let Some(why) = relaxation.mismatch(problem) {
            return Err(Reason::Refused(why));
        }
        let names = self.names(problem);
        let mut case = Case { problem, relaxation, budget, names, tried: 0, is_legal: false };
        let key = case.key();
        if self.plan.histories == Again::Skip
            && let Some(&holds) = self.histories.get(&key)
        {
            self.counts.histories_skipped += 1;
            return Ok(holds);
        }
        self.counts.histories += 1;
        let holds = match self.subsets(&mut case) {
            ControlFlow::Break(Stop::Spent(reason)) => return Err(reason),
            ControlFlow::Break(Stop::Legal) => true,
            ControlFlow::Continue(()) => case.is_legal,
        };
        self.histories.insert(key, holds);
        Ok(holds)
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

/// A history that is being judged.
struct Case<'a> {
    problem: &'a Problem<'a>,
    relaxation: &'a Relaxation,
    budget: &'a Budget,
    names: Vec<u32>,
    tried: u64,
    // Whether some order of the sequentialization at hand, and afterwards of any, is.
    is_legal: bool,
}

impl Case<'_> {
    fn class(&self, at: usize) -> u32 {
        self.relaxation.class_of[at].map_or(u32::MAX, |it| it as u32)
    }

    /// The factors, and how many, so that what follows in a key is not taken for one.
    fn factors_key(&self) -> Vec<u32> {
        let factors = &self.relaxation.factors;
        [factors.len() as u32].into_iter().chain(factors.iter().copied()).collect()
    }

    /// The same for histories whose events come in the same order and say the same, with the same
    /// factors.
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
