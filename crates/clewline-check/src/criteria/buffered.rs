//! Buffered durable linearizability: at each crash the end of an era may be lost.
//!
//! Crashes of the whole system divide a history into eras. Of each era but the last, a *cut*
//! survives: some of its events, and with an event all that happened before it. So with a call
//! every return before it survives, and with a return its call. For each era, what survives of the
//! eras before it, followed by the era, is linearizable. The cuts are the same for all eras, the
//! linearizations need not be.
//!
//! Of an operation whose return is lost, only the call survives: it is pending. To lose the call as
//! well allows nothing more, so each call survives that may. A cut is then known by the operations
//! of which the return survives, the *kept* ones.
//!
//! For each era, the search visits every configuration: the kept operations so far, the pending
//! ones that have taken effect, and the states of all objects. Configurations with the same kept
//! operations are those of one cut, and the next era is tried from all of them at once, for the
//! larger cuts first. A beginning that failed is not tried again.
//!
//! Source: J. Izraelevitz, H. Mendes and M. L. Scott, Linearizability of persistent memory objects
//! under a full-system-crash failure model, 2016. Requires: every crash is one of all processes.
//! Cost: exponential in the number of operations that overlap, times the number of cuts of each
//! era.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    rc::Rc,
};

use clewline_core::{
    Budget, Charge, Crash, ErasedHistory, OperationId, Problem, ProcessId, Reason, Retain, Verdict, Witness,
};

use super::{
    procedure::violation,
    product::{Outcome, Product, States},
    sequential::is_initial,
};

/// The name of this search in reports.
pub(super) const NAME: &str = "buffered-durable";

/// Decides whether the objects together are buffered durably linearizable.
pub(super) fn decide(history: &dyn ErasedHistory, problems: &[Problem<'_>], budget: &Budget) -> Verdict {
    let doubled: Vec<Problem<'_>> = problems.iter().map(Problem::with_and_without_results).collect();
    let mut search = Search::new(history, Product::new(&doubled), budget);
    let start = Start { used: Vec::new(), states: search.product.initial(), order: None };
    let found = search.solve(0, vec![start], Vec::new());
    budget.visit(search.visited);
    match found {
        Err(reason) => Verdict::Unknown(reason),
        Ok(None) => {
            let all = search.product.operations.iter().filter(|it| !it.span.is_pending());
            Verdict::Violated(violation(all.map(|it| it.id).collect()))
        }
        Ok(Some(views)) => search.verified(problems, &views),
    }
}

/// Whether every crash is one of all processes.
pub(super) fn is_supported(history: &dyn ErasedHistory) -> bool {
    history.names().crashes.iter().all(Crash::is_of_all)
}

/// A set of operations of an era, a bit each.
type Bits = Box<[u64]>;

fn contains(bits: &Bits, place: usize) -> bool {
    bits[place / 64] & 1 << (place % 64) != 0
}

/// The operations of an era, by their indices.
struct Era {
    operations: Vec<usize>,
    // An initial state is never lost.
    is_initial: bool,
}

/// The operations in an order: the last one, and those before it.
struct Link {
    last: usize,
    before: Order,
}

type Order = Option<Rc<Link>>;

fn listed(order: &Order) -> Vec<usize> {
    let mut all: Vec<usize> =
        std::iter::successors(order.as_ref(), |it| it.before.as_ref()).map(|it| it.last).collect();
    all.reverse();
    all
}

/// Where an era may begin.
#[derive(Clone)]
struct Start {
    // The pending operations that have taken effect, in ascending order.
    used: Vec<usize>,
    states: States,
    order: Order,
}

/// An era and what survived before it, in an order; and what is kept of the era itself.
struct View {
    order: Vec<usize>,
    kept: Vec<usize>,
}

struct Search<'p> {
    product: Product<'p>,
    eras: Vec<Era>,
    budget: &'p Budget,
    charge: Charge,
    bytes: usize,
    visited: u64,
    // Beginnings of eras from which there is no way to the end.
    failed: HashSet<Beginning>,
}

type Beginning = (usize, Vec<(Vec<usize>, States)>, Vec<usize>);

/// The configurations of an era, by the kept operations.
struct Explored {
    by_kept: BTreeMap<Bits, Vec<Start>>,
    // An order in which everything is kept.
    whole: Option<Start>,
}

impl<'p> Search<'p> {
    fn new(history: &dyn ErasedHistory, product: Product<'p>, budget: &'p Budget) -> Search<'p> {
        let eras = eras(history, &product);
        Search {
            product,
            eras,
            budget,
            charge: budget.charge(),
            bytes: 0,
            visited: 0,
            failed: HashSet::new(),
        }
    }

    /// A view of this era and of each that follows, if there is one. The era begins in one of
    /// `starts`; the `carried` operations are pending.
    fn solve(
        &mut self,
        era: usize,
        starts: Vec<Start>,
        carried: Vec<usize>,
    ) -> Result<Option<Vec<View>>, Reason> {
        let mut key: Vec<(Vec<usize>, States)> =
            starts.iter().map(|it| (it.used.clone(), it.states.clone())).collect();
        key.sort_unstable();
        let key = (era, key, carried);
        if self.failed.contains(&key) {
            return Ok(None);
        }
        let carried = &key.2;
        let Explored { by_kept, whole } = self.explore(era, starts, carried)?;
        if let Some(whole) = whole {
            let order = listed(&whole.order);
            if era + 1 == self.eras.len() {
                return Ok(Some(vec![View { order, kept: Vec::new() }]));
            }
            let mut cuts: Vec<(Bits, Vec<Start>)> = by_kept.into_iter().collect();
            cuts.sort_by_key(|it| std::cmp::Reverse(it.0.iter().map(|it| it.count_ones()).sum::<u32>()));
            cuts.truncate(if self.eras[era].is_initial { 1 } else { usize::MAX });
            for (kept, starts) in cuts {
                let mut pending = carried.clone();
                pending.extend(self.pending(era, &kept));
                if let Some(mut views) = self.solve(era + 1, starts, pending)? {
                    let operations = self.eras[era].operations.iter().enumerate();
                    let kept = operations.filter(|it| contains(&kept, it.0)).map(|it| *it.1).collect();
                    views.insert(0, View { order, kept });
                    return Ok(Some(views));
                }
            }
        }
        self.failed.insert(key);
        Ok(None)
    }

    /// The operations of the era whose call survives and whose return does not.
    fn pending(&self, era: usize, kept: &Bits) -> Vec<usize> {
        let operations = &self.eras[era].operations;
        let first = self.first_left(era, kept, None);
        let is_pending = |&(place, &at): &(usize, &usize)| {
            let is_reached = self.product.operations[at].span.call() < first;
            !contains(kept, place) && is_reached && !self.product.is_read(at, Outcome::Any)
        };
        operations.iter().enumerate().filter(is_pending).map(|it| *it.1).collect()
    }

    /// The first return that is not kept, but for that of the operation at one place.
    fn first_left(&self, era: usize, kept: &Bits, but: Option<usize>) -> u32 {
        let left = self.eras[era].operations.iter().enumerate();
        let left = left.filter(|it| !contains(kept, it.0) && Some(it.0) != but);
        left.map(|it| self.product.operations[*it.1].span.end()).min().unwrap_or(u32::MAX)
    }

    /// Visits the configurations of an era; of the last one, only until everything is kept.
    fn explore(&mut self, era: usize, starts: Vec<Start>, carried: &[usize]) -> Result<Explored, Reason> {
        let operations = self.eras[era].operations.clone();
        let is_last = era + 1 == self.eras.len();
        let none: Bits = vec![0; operations.len().div_ceil(64)].into();
        let mut seen: HashSet<(Bits, Vec<usize>, States)> = HashSet::new();
        let mut left: Vec<(Bits, Start)> = starts.into_iter().map(|it| (none.clone(), it)).collect();
        let mut explored = Explored { by_kept: BTreeMap::new(), whole: None };
        while let Some((kept, start)) = left.pop() {
            if !seen.insert((kept.clone(), start.used.clone(), start.states.clone())) {
                continue;
            }
            self.visited += 1;
            self.bytes +=
                2 * (size_of_val(&*kept) + size_of_val(&*start.used) + size_of_val(&*start.states)) + 128;
            self.charge.set(self.bytes + self.product.bytes());
            self.budget.allow(self.visited)?;
            let is_complete = |at: usize| !self.product.operations[at].span.is_pending();
            let is_whole =
                (0..operations.len()).all(|it| contains(&kept, it) || !is_complete(operations[it]));
            if is_whole && explored.whole.is_none() {
                explored.whole = Some(start.clone());
                if is_last {
                    return Ok(explored);
                }
            }
            self.follow(era, &kept, &start, carried, &mut left);
            explored.by_kept.entry(kept).or_default().push(start);
        }
        Ok(explored)
    }

    /// Adds the configurations that follow one of an era.
    fn follow(
        &mut self,
        era: usize,
        kept: &Bits,
        start: &Start,
        carried: &[usize],
        left: &mut Vec<(Bits, Start)>,
    ) {
        let is_last = era + 1 == self.eras.len();
        let mut take = |search: &mut Self, at: usize, place: Option<usize>| {
            let outcome = if place.is_some() { Outcome::Recorded } else { Outcome::Any };
            for states in search.product.step(&start.states, at, outcome) {
                let (mut kept, mut used) = (kept.clone(), start.used.clone());
                match place {
                    Some(place) => kept[place / 64] |= 1 << (place % 64),
                    None => used.insert(used.partition_point(|&it| it < at), at),
                }
                let order = Some(Rc::new(Link { last: at, before: start.order.clone() }));
                left.push((kept, Start { used, states, order }));
            }
        };
        for &at in carried.iter().filter(|it| start.used.binary_search(it).is_err()) {
            take(self, at, None);
        }
        for place in 0..self.eras[era].operations.len() {
            let at = self.eras[era].operations[place];
            let span = self.product.operations[at].span;
            let is_used = start.used.binary_search(&at).is_ok();
            if contains(kept, place) || is_used || self.first_left(era, kept, Some(place)) < span.call() {
                continue;
            }
            // In the last era nothing is lost.
            let may_be_lost = span.is_pending() || !is_last;
            if may_be_lost && !self.product.is_read(at, Outcome::Any) {
                take(self, at, None);
            }
            if !span.is_pending() {
                take(self, at, Some(place));
            }
        }
    }

    /// The verdict, after each view has been verified: by itself, as a history of its own.
    fn verified(&self, problems: &[Problem<'_>], views: &[View]) -> Verdict {
        let id = |at: &usize| self.product.operations[*at].id;
        let mut kept: HashSet<OperationId> = HashSet::new();
        let mut witness = Witness::default();
        for (era, view) in views.iter().enumerate() {
            let own: HashSet<OperationId> = self.eras[era].operations.iter().map(id).collect();
            let order: Vec<OperationId> = view.order.iter().map(id).collect();
            let taken: HashSet<OperationId> = order.iter().copied().collect();
            for problem in problems {
                let view = problem.weaken(|at| match problem.operations()[at] {
                    it if own.contains(&it) || kept.contains(&it) => Retain::All,
                    it if taken.contains(&it) => Retain::CallOnly,
                    _ => Retain::Drop,
                });
                let own = order.iter().copied().filter(|it| view.position(*it).is_some()).collect();
                if let Err(wrong) = (Witness { order: own }).verify(&view) {
                    let why = format!("the order found for era {era} is wrong ({wrong})");
                    return Verdict::Unknown(Reason::Internal(why));
                }
            }
            kept.extend(view.kept.iter().map(id));
            witness = Witness { order };
        }
        Verdict::Holds(witness)
    }
}

/// The operations of each era, in the order of their calls.
fn eras(history: &dyn ErasedHistory, product: &Product<'_>) -> Vec<Era> {
    let names = history.names();
    let mut crashes: Vec<&Crash> = names.crashes.iter().collect();
    crashes.sort_by_key(|it| names.notes.get(it.note).map(|it| it.from));
    // Era 0 is that of an initial state.
    let mut era_of: HashMap<ProcessId, usize> = HashMap::new();
    for (number, crash) in crashes.iter().enumerate() {
        for &process in &crash.ended {
            era_of.entry(process).or_insert(number + 1);
        }
    }
    let era = |is_initial: bool| Era { operations: Vec::new(), is_initial };
    let mut eras: Vec<Era> = (0..crashes.len() + 2).map(|it| era(it == 0)).collect();
    for (at, operation) in product.operations.iter().enumerate() {
        let number = match is_initial(history, operation.id) {
            true => 0,
            false => era_of.get(&history.process(operation.id)).copied().unwrap_or(crashes.len() + 1),
        };
        eras[number].operations.push(at);
    }
    eras
}
