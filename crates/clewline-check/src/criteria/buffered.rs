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
    let found = search.solve();
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
    // Those that returned.
    complete: Bits,
    // An initial state is never lost.
    is_initial: bool,
}

/// The operations in an order: the last one, and those before it.
struct Link {
    last: usize,
    before: Order,
}

type Order = Option<Rc<Link>>;

/// One link after the other: there are as many as operations, and a stack may not suffice.
impl Drop for Link {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut link) = next.and_then(Rc::into_inner) {
            next = link.before.take();
        }
    }
}

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

// An era, where it begins, and the operations that are pending then.
type Beginning = (usize, Vec<(Vec<usize>, States)>, Vec<usize>);

/// An era that is tried: its cuts that are left, and the one that the next era follows.
struct Attempt {
    beginning: Beginning,
    order: Vec<usize>,
    cuts: std::vec::IntoIter<(Bits, Vec<Start>)>,
    kept: Bits,
}

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

    /// A view of each era, if there is one. Eras are tried one after the other; where one fails,
    /// the next cut of the era before it is tried.
    fn solve(&mut self) -> Result<Option<Vec<View>>, Reason> {
        let first = Start { used: Vec::new(), states: self.product.initial(), order: None };
        let mut path: Vec<Attempt> = Vec::new();
        // Where the next era begins: in one of these, with these operations pending.
        let mut begin = Some((vec![first], Vec::new()));
        loop {
            if let Some((starts, carried)) = begin.take() {
                let Some(attempt) = self.attempt(path.len(), starts, carried)? else { continue };
                path.push(attempt);
                if path.len() == self.eras.len() {
                    return Ok(Some(self.views(path)));
                }
            }
            let era = path.len().wrapping_sub(1);
            let Some(last) = path.last_mut() else { return Ok(None) };
            match last.cuts.next() {
                Some((kept, starts)) => {
                    let mut pending = last.beginning.2.clone();
                    pending.extend(self.pending(era, &kept));
                    last.kept = kept;
                    begin = Some((starts, pending));
                }
                None => self.failed.extend(path.pop().map(|it| it.beginning)),
            }
        }
    }

    /// The cuts of an era that begins in one of `starts`, while the `carried` operations are
    /// pending; `None` if there is no order of it, or it has failed before.
    fn attempt(
        &mut self,
        era: usize,
        starts: Vec<Start>,
        carried: Vec<usize>,
    ) -> Result<Option<Attempt>, Reason> {
        let mut key: Vec<(Vec<usize>, States)> =
            starts.iter().map(|it| (it.used.clone(), it.states.clone())).collect();
        key.sort_unstable();
        let beginning = (era, key, carried);
        if self.failed.contains(&beginning) {
            return Ok(None);
        }
        let Explored { by_kept, whole } = self.explore(era, starts, &beginning.2)?;
        let Some(whole) = whole else {
            self.failed.insert(beginning);
            return Ok(None);
        };
        let mut cuts: Vec<(Bits, Vec<Start>)> = by_kept.into_iter().collect();
        cuts.sort_by_key(|it| std::cmp::Reverse(it.0.iter().map(|it| it.count_ones()).sum::<u32>()));
        cuts.truncate(if self.eras[era].is_initial { 1 } else { usize::MAX });
        let (order, kept) = (listed(&whole.order), Bits::default());
        Ok(Some(Attempt { beginning, order, cuts: cuts.into_iter(), kept }))
    }

    fn views(&self, path: Vec<Attempt>) -> Vec<View> {
        let view = |(era, attempt): (usize, Attempt)| {
            let operations = self.eras[era].operations.iter().enumerate();
            let is_kept = |place: usize| !attempt.kept.is_empty() && contains(&attempt.kept, place);
            let kept = operations.filter(|it| is_kept(it.0)).map(|it| *it.1).collect();
            View { order: attempt.order, kept }
        };
        path.into_iter().enumerate().map(view).collect()
    }

    /// The operations of the era whose call survives and whose return does not.
    fn pending(&self, era: usize, kept: &Bits) -> Vec<usize> {
        let operations = &self.eras[era].operations;
        let first = self.first_left(era, kept);
        let is_pending = |&(place, &at): &(usize, &usize)| {
            let is_reached = self.product.operations[at].span.call() < first;
            !contains(kept, place) && is_reached && !self.product.is_read(at, Outcome::Any)
        };
        operations.iter().enumerate().filter(is_pending).map(|it| *it.1).collect()
    }

    /// The rank of the first return that is not kept. What is called before it may come next.
    fn first_left(&self, era: usize, kept: &Bits) -> u32 {
        let mut first = u32::MAX;
        for (_, at) in self.left(era, kept) {
            let span = self.product.operations[at].span;
            // Those that follow are called later, and return later.
            if first < span.call() {
                break;
            }
            first = first.min(span.end());
        }
        first
    }

    /// The operations of the era that are not kept, with their places, in the order of their calls.
    fn left(&self, era: usize, kept: &Bits) -> impl Iterator<Item = (usize, usize)> {
        let operations = &self.eras[era].operations;
        let words = kept.iter().enumerate().filter(|it| *it.1 != u64::MAX);
        let places = words.flat_map(|(word, &bits)| {
            (64 * word..64 * word + 64).filter(move |it| bits & 1 << (it % 64) == 0)
        });
        places.filter_map(|place| operations.get(place).map(|it| (place, *it)))
    }

    /// Visits the configurations of an era; of the last one, only until everything is kept.
    fn explore(&mut self, era: usize, starts: Vec<Start>, carried: &[usize]) -> Result<Explored, Reason> {
        let is_last = era + 1 == self.eras.len();
        let none: Bits = vec![0; self.eras[era].complete.len()].into();
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
            let complete = self.eras[era].complete.iter();
            let is_whole = complete.zip(&kept).all(|(complete, kept)| complete & !kept == 0);
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
        let first = self.first_left(era, kept);
        let may_be_next = |it: &(usize, usize)| self.product.operations[it.1].span.call() < first;
        let next: Vec<(usize, usize)> = self.left(era, kept).take_while(may_be_next).collect();
        for (place, at) in next {
            let span = self.product.operations[at].span;
            if start.used.binary_search(&at).is_ok() {
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
    let (numbers, count) = era_numbers(history);
    let mut operations: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, operation) in product.operations.iter().enumerate() {
        operations[numbers(operation.id)].push(at);
    }
    let era = |(number, operations): (usize, Vec<usize>)| {
        let mut complete: Bits = vec![0; operations.len().div_ceil(64)].into();
        for (place, &at) in operations.iter().enumerate() {
            let is_complete = !product.operations[at].span.is_pending();
            complete[place / 64] |= u64::from(is_complete) << (place % 64);
        }
        Era { operations, complete, is_initial: number == 0 }
    };
    operations.into_iter().enumerate().map(era).collect()
}

/// The number of the era of each operation, and how many eras there are. Era 0 is that of an
/// initial state.
pub(super) fn era_numbers(history: &dyn ErasedHistory) -> (impl Fn(OperationId) -> usize, usize) {
    let names = history.names();
    let mut crashes: Vec<&Crash> = names.crashes.iter().collect();
    crashes.sort_by_key(|it| names.notes.get(it.note).map(|it| it.from));
    let mut era_of: HashMap<ProcessId, usize> = HashMap::new();
    for (number, crash) in crashes.iter().enumerate() {
        for &process in &crash.ended {
            era_of.entry(process).or_insert(number + 1);
        }
    }
    let last = crashes.len() + 1;
    let number = move |id: OperationId| match is_initial(history, id) {
        true => 0,
        false => era_of.get(&history.process(id)).copied().unwrap_or(last),
    };
    (number, last + 1)
}
