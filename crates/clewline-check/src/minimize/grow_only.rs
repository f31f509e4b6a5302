//! Counterexamples of sets that are read as a whole, and from which nothing is removed.
//!
//! What judges such a set ([`grow_only_set`]) names the operations of a counterexample, and the one
//! or two elements that they are about. A search among all elements is hopeless: each subset of
//! them is a state. But a history is linearizable only if it is so without all other elements,
//! whose operations are left out and which no read contains. So the counterexample is proven on
//! these few elements, by the usual [`proof`](super::proof); and the sentence about it is compared
//! with the history, claim by claim. Neither relies on what found it.
//!
//! That each operation matters is proven on these elements, too: had one of them happened at
//! another time, or not at all, there would be an order. There might still be none of all elements;
//! but [`grow_only_set`] looks for counterexamples with fewer operations first, in the shortest
//! prefix that has any.
//!
//! [`grow_only_set`]: clewline_monitor::grow_only_set

use clewline_core::{
    Elements, Explanation, OperationId, Problem, Rule, SetOperation, SetOperations, Verdict, Violation, Why,
};
use clewline_monitor::grow_only_set;

use super::proof::prove;
use crate::options::JudgeOptions;

/// The proof, which is about two elements, may visit this many configurations and hold this many
/// bytes.
const PROOF_CONFIGS: u64 = 1 << 15;
const PROOF_BYTES_MAX: usize = 64 << 20;

/// The counterexample, proven and explained. `None` if the problem is not that of such a set.
pub(super) fn shrink(
    problem: &Problem<'_>,
    violation: &Violation,
    options: &JudgeOptions,
) -> Option<Violation> {
    let found = match &violation.explanation {
        Explanation::Broken { rule, .. } if !elements_of(*rule).is_empty() => violation.clone(),
        Explanation::Broken { .. } | Explanation::Exhausted { .. } => {
            match grow_only_set::decide(problem, &options.budget.child())? {
                Verdict::Violated(found) => found,
                Verdict::Holds(_) | Verdict::Unknown(_) => return None,
            }
        }
    };
    let Explanation::Broken { rule, operations } = found.explanation else { return None };
    let mut elements = elements_of(rule);
    for at in operations.iter().filter_map(|&it| problem.position(it)) {
        if let Elements::One(element) = problem.footprint(at).elements()
            && !elements.contains(&element)
        {
            elements.push(element);
        }
    }
    let configurations = options.counterexample_configurations.min(PROOF_CONFIGS);
    let budget = options.budget.child().with_quota(PROOF_BYTES_MAX).with_configurations(configurations);
    problem.restricted(&elements, |few| {
        let proven = prove(few, std::slice::from_ref(&found.counterexample), false, &budget);
        let core: Vec<OperationId> = proven.core.iter().map(|&at| proven.prefix.operations()[at]).collect();
        let is_said = core.iter().all(|it| operations.contains(it));
        let is_true = is_said && History::new(few, &core).is_some_and(|it| it.is_true(rule, &operations));
        let mut shrunk = Violation::found(core, violation.explanation.clone());
        shrunk.is_verified = proven.is_verified || is_true;
        shrunk.is_minimal = proven.is_minimal || shrunk.is_verified && shrunk.counterexample.len() == 1;
        shrunk.why = is_true.then(|| Box::new(Why::Rule { rule, operations, end: None }));
        shrunk
    })
}

/// The elements that the rule is about.
fn elements_of(rule: Rule) -> Vec<u64> {
    match rule {
        Rule::FoundUnadded { element } | Rule::Lost { element } => vec![element],
        Rule::ReadsDisagree { only_first, only_second } => vec![only_first, only_second],
        Rule::EarlierMissing { found, missing } => vec![found, missing],
        _ => Vec::new(),
    }
}

/// A statement about operations, by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// The first had returned before the second was called.
    Before(usize, usize),
    /// The two are not the same.
    Distinct(usize, usize),
    /// It had returned when the counterexample ended, and the element was there after it took
    /// effect, unless it removed it.
    Present(usize, u64),
    /// It had returned when the counterexample ended, and the element was there before it took
    /// effect.
    Found(usize, u64),
    /// It had returned when the counterexample ended, and the element was not there before it took
    /// effect.
    Absent(usize, u64),
    /// It adds the element, and each other operation that may have added it was called later.
    FirstToAdd(usize, u64),
    /// Each operation that may have added the element was called only after this one had returned.
    UnaddedUntil(usize, u64),
    /// It would have added the element, but had returned that it found it when the counterexample
    /// ended.
    AddedNothing(usize, u64),
    /// No operation may have removed the element.
    NeverRemoved(u64),
}

/// A history of a set, and the moment at which a counterexample ends.
struct History<'h> {
    whole: &'h Problem<'h>,
    all: SetOperations,
    // The rank of the last return of the counterexample.
    ends: u32,
}

impl<'h> History<'h> {
    fn new(whole: &'h Problem<'_>, core: &[OperationId]) -> Option<History<'h>> {
        let ret = |it: &OperationId| whole.spans()[whole.position(*it)?].ret();
        let ends = core.iter().filter_map(ret).max()?;
        Some(History { whole, all: whole.set_operations()?, ends })
    }

    /// Whether everything is true that a sentence about `rule` and its `operations` says. Then
    /// these have no order.
    fn is_true(&self, rule: Rule, operations: &[OperationId]) -> bool {
        let positions: Option<Vec<usize>> = operations.iter().map(|&it| self.whole.position(it)).collect();
        let claims = positions.and_then(|it| self.claims(rule, &it));
        claims.is_some_and(|all| all.iter().all(|&it| self.holds(it)))
    }

    /// What a sentence about `rule` and its operations says. `None` if it cannot be said of them.
    fn claims(&self, rule: Rule, operations: &[usize]) -> Option<Vec<Claim>> {
        Some(match (rule, operations) {
            (Rule::FoundUnadded { element }, &[finder]) => {
                vec![Claim::Present(finder, element), Claim::UnaddedUntil(finder, element)]
            }
            (Rule::FoundUnadded { element }, &[finder, later, ref vain @ ..]) if vain.len() <= 1 => {
                let says = [
                    Claim::Present(finder, element),
                    Claim::UnaddedUntil(finder, element),
                    Claim::Before(finder, later),
                    Claim::FirstToAdd(later, element),
                ];
                says.into_iter().chain(vain.iter().map(|&it| Claim::AddedNothing(it, element))).collect()
            }
            (Rule::Lost { element }, &[earlier, late]) => vec![
                Claim::Present(earlier, element),
                Claim::Before(earlier, late),
                Claim::Absent(late, element),
                Claim::NeverRemoved(element),
            ],
            (Rule::AddedAgain { removed: 0 }, &[one, other]) => {
                let Elements::One(element) = self.whole.footprint(one).elements() else { return None };
                let both = [one, other];
                let says = both.map(|at| [Claim::Present(at, element), Claim::Absent(at, element)]);
                let rest = [Claim::Distinct(one, other), Claim::NeverRemoved(element)];
                says.into_iter().flatten().chain(rest).collect()
            }
            (Rule::ReadsDisagree { only_first, only_second }, &[first, second]) => vec![
                Claim::Found(first, only_first),
                Claim::Absent(first, only_second),
                Claim::Found(second, only_second),
                Claim::Absent(second, only_first),
                Claim::NeverRemoved(only_first),
                Claim::NeverRemoved(only_second),
            ],
            (Rule::EarlierMissing { found, missing }, &[earlier, late, read, ref vain @ ..])
                if vain.len() <= 1 =>
            {
                let is_returned = self.whole.spans()[late].end() <= self.ends;
                let is_absent = is_returned && self.shows(late, found) == Some(false);
                let says = [
                    Claim::Present(earlier, missing),
                    Claim::Before(earlier, late),
                    if is_absent { Claim::Absent(late, found) } else { Claim::FirstToAdd(late, found) },
                    Claim::Found(read, found),
                    Claim::Absent(read, missing),
                    Claim::NeverRemoved(found),
                    Claim::NeverRemoved(missing),
                ];
                says.into_iter().chain(vain.iter().map(|&it| Claim::AddedNothing(it, found))).collect()
            }
            _ => return None,
        })
    }

    fn holds(&self, claim: Claim) -> bool {
        let spans = self.whole.spans();
        match claim {
            Claim::Before(one, other) => spans[one].precedes(spans[other]),
            Claim::Distinct(one, other) => one != other,
            Claim::Present(at, element) => {
                let adds = self.has_returned(at) && self.adds(at, element);
                adds || self.holds(Claim::Found(at, element))
            }
            Claim::AddedNothing(at, element) => {
                self.adds(at, element) && self.holds(Claim::Found(at, element))
            }
            Claim::Found(at, element) => self.has_returned(at) && self.shows(at, element) == Some(true),
            Claim::Absent(at, element) => self.has_returned(at) && self.shows(at, element) == Some(false),
            Claim::FirstToAdd(at, element) => {
                let is_later = |it: usize| it == at || spans[at].call() < spans[it].call();
                self.adders(element).any(|it| it == at) && self.adders(element).all(is_later)
            }
            Claim::UnaddedUntil(at, element) => {
                self.adders(element).all(|it| it != at && spans[at].precedes(spans[it]))
            }
            Claim::NeverRemoved(element) => !self.positions().any(|at| match self.operation(at) {
                &SetOperation::Remove { element: it, was_there } if self.is(it, element) => {
                    let is_vain = was_there == Some(false) && self.has_returned(at);
                    !is_vain && spans[at].call() <= self.ends
                }
                SetOperation::Remove { .. }
                | SetOperation::Add { .. }
                | SetOperation::Contains { .. }
                | SetOperation::Read { .. } => false,
            }),
        }
    }

    fn positions(&self) -> std::ops::Range<usize> {
        0..self.whole.len()
    }

    fn operation(&self, at: usize) -> &SetOperation<u32> {
        &self.all.operations[at]
    }

    fn is(&self, number: u32, element: u64) -> bool {
        self.all.names[number as usize] == element
    }

    fn has_returned(&self, at: usize) -> bool {
        self.whole.spans()[at].end() <= self.ends
    }

    /// Whether the operation adds the element, unless it is there.
    fn adds(&self, at: usize, element: u64) -> bool {
        match *self.operation(at) {
            SetOperation::Add { element: it, .. } => self.is(it, element),
            SetOperation::Remove { .. } | SetOperation::Contains { .. } | SetOperation::Read { .. } => false,
        }
    }

    /// The operations that may have added the element: all but those that found it.
    fn adders(&self, element: u64) -> impl Iterator<Item = usize> {
        let is_vain = move |at: usize| self.has_returned(at) && self.shows(at, element) == Some(true);
        self.positions().filter(move |&at| self.adds(at, element) && !is_vain(at))
    }

    /// Whether the element was there before the operation took effect, if its result says so.
    fn shows(&self, at: usize, element: u64) -> Option<bool> {
        match self.operation(at) {
            &SetOperation::Add { element: it, is_new } if self.is(it, element) => is_new.map(|it| !it),
            &SetOperation::Remove { element: it, was_there } if self.is(it, element) => was_there,
            &SetOperation::Contains { element: it, is_there } if self.is(it, element) => is_there,
            SetOperation::Read { elements } => {
                elements.as_ref().map(|all| all.iter().any(|&it| self.is(it, element)))
            }
            SetOperation::Add { .. } | SetOperation::Remove { .. } | SetOperation::Contains { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
