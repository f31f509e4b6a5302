//! Verdicts, and the evidence that comes with them.

use crate::{budget::Reason, id::OperationId, witness::Witness};

/// Whether a property holds. There is no way to say yes or no without evidence, nor to stop early in silence.
///
/// On one history the evidence is an order or the operations that contradict each other. A method that explores
/// executions brings its own: that a property holds is shown by what was explored, that it does not by what was
/// found.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<W = Witness, V = Violation, R = Reason> {
    /// The property holds, and here is what shows it.
    Holds(W),
    /// The property does not hold, and here is why.
    Violated(V),
    /// It is not known: the search stopped before.
    Unknown(R),
}

impl<W, V, R> Verdict<W, V, R> {
    /// The verdict's one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// How bad it is: violated is worse than unknown, unknown worse than holds.
    #[must_use]
    pub fn severity(&self) -> u8 {
        match self {
            Verdict::Holds(_) => 0,
            Verdict::Unknown(_) => 1,
            Verdict::Violated(_) => 2,
        }
    }
}

impl Verdict {
    /// The worse of two verdicts on parts of one history; the first if they are equally bad. Two
    /// witnesses are put one after the other;
    /// [`Problem::merge_witnesses`](crate::Problem::merge_witnesses) knows how to bring them into order.
    pub fn merge(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Holds(mut ours), Verdict::Holds(theirs)) => {
                ours.order.extend(theirs.order);
                Verdict::Holds(ours)
            }
            (ours, theirs) => {
                if ours.severity() < theirs.severity() {
                    theirs
                } else {
                    ours
                }
            }
        }
    }
}

/// A refutation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// A few operations that cannot be ordered, in call order. The others do not help: they come too late, are
    /// about other elements, or would not make a difference had they happened at any time, with any answer.
    pub counterexample: Vec<OperationId>,
    /// Those of the core of which only the call matters: they count as pending, as they returned after all the others of the core.
    pub pending: Box<[OperationId]>,
    /// Whether nothing more can be spared: if any one of the core had happened at any time, with any answer,
    /// or not at all, the rest could be ordered. If false, nobody knows.
    pub is_minimal: bool,
    /// Operations besides the core, of which it only matters that they may have happened: at any time, with any answer,
    /// or not at all. Every other operation can be left out altogether. Empty as long as nobody has looked for a small core.
    pub unconstrained: Box<[OperationId]>,
    /// How it was found.
    pub explanation: Explanation,
    /// What is wrong with the core, given those chances and nothing else. Unknown as long as nobody has looked.
    pub why: Option<Box<Why>>,
}

impl Violation {
    /// A violation as a checker finds it: of `core` it is only known that it cannot be ordered.
    #[must_use]
    pub fn found(core: Vec<OperationId>, explanation: Explanation) -> Violation {
        Violation {
            counterexample: core,
            pending: Box::default(),
            is_minimal: false,
            unconstrained: Box::default(),
            explanation,
            why: None,
        }
    }
}

/// Why the operations of a core cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A rule is broken.
    Rule {
        /// The rule.
        rule: Rule,
        /// The operations that break it, in the order which the rule gives. Some may be among the chances, or come too late
        /// to be among either.
        operations: Vec<OperationId>,
        /// Where the longest order ends, if the rule by itself does not tell enough.
        end: Option<DeadEnd>,
    },
    /// No order gets further than this.
    End(DeadEnd),
}

/// The end of the longest order of a core and its chances that works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadEnd {
    /// That order.
    pub prefix: Vec<OperationId>,
    /// The operation that has to come next, and cannot.
    pub next: OperationId,
    /// What it could have been there, each as a report writes the whole operation. If nothing, it has to wait.
    pub instead: Vec<String>,
}

impl DeadEnd {
    /// After `prefix` comes `next`, which could only have been one of `instead`.
    #[must_use]
    pub fn new(prefix: Vec<OperationId>, next: OperationId, instead: Vec<String>) -> DeadEnd {
        DeadEnd { prefix, next, instead }
    }
}

/// What a violation consists in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// Every order was tried, and none gets past `next`.
    Exhausted {
        /// The longest allowed order found.
        prefix: Vec<OperationId>,
        /// The first operation to return among those that are not in `prefix`: it has to come next, or after
        /// operations that overlap it, and cannot.
        next: OperationId,
    },
    /// A rule is broken that every history of such an object keeps.
    Broken {
        /// The rule.
        rule: Rule,
        /// The operations that break it, in the order which the rule gives.
        operations: Vec<OperationId>,
    },
}

/// Where a history breaks: the events before are allowed, and with the next one no longer.
///
/// Events are the calls and returns of the part (object, or key of it) that is violated. A call breaks nothing, as it
/// need not have had any effect yet; so the next event is a return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailurePoint {
    /// How many events of the part come before: the longest prefix that is linearizable.
    pub events: usize,
    /// The operation whose return comes next.
    pub operation: OperationId,
    /// What it could have answered instead.
    pub allowed: Allowed,
}

impl FailurePoint {
    /// After `events` events `operation` returns, and only what is `allowed` is possible there.
    #[must_use]
    pub fn new(events: usize, operation: OperationId, allowed: Allowed) -> FailurePoint {
        FailurePoint { events, operation, allowed }
    }
}

/// What an operation could have answered at a moment, given everything up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// These answers, all of them, and no other: each as a report writes the whole operation, `deq() → 3`.
    These(Vec<String>),
    /// None: it should still be waiting.
    Blocked,
    /// Nobody knows.
    Unknown(Reason),
}

/// What every history of some kind of object keeps. Each says which operations break it, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// What was found had been added: an operation found an element that nobody adds.
    Added,
    /// What was found had been added before: an operation found an element and returned; the element was added by
    /// one that was called later.
    AddedBefore,
    /// What was added once leaves once: two operations took the same element.
    TakenOnce,
    /// What has left is gone: an operation took an element and returned; another that was called later found it.
    Gone,
    /// Nothing is found only if nothing is there: an operation found nothing; then, in pairs, operations after
    /// whose first, and before whose second, an element is certainly there: one or the other, all the time.
    Empty,
    /// First in, first out: one element was certainly added before another, but the other was found in front before
    /// it left. One that added or found the first, a later one that added the second; one that found the second, a
    /// later one that found the first. The last is missing if the first element is not known to have left.
    FirstInFirstOut,
    /// Nobody passes too many: one element was certainly added after more others than are allowed, and certainly removed before
    /// them. Those who added and removed it; then the same for each of the others, of which some may never be removed.
    OvertakesMany {
        /// How many it may pass.
        allowed: u32,
    },
    /// Nobody is passed too often: one element was certainly added before more others than are allowed, which were certainly
    /// removed before it. Those who added and removed it, if somebody did; then the same for each of the others.
    OvertakenOften {
        /// How many may pass it.
        allowed: u32,
    },
    /// Nobody is too far out of order: operations on elements, of which one is, however they are ordered.
    OutOfOrder {
        /// How many may be passed, and how often one may be.
        allowed: u32,
    },
    /// Elements are at the front one after the other: two were each at the front before the other left. One that
    /// found the first, a later one that found the second; one that found the second, a later one that found the
    /// first. The last is missing if the first element is not known to have left. If neither is, there are
    /// two operations: one that found the first, and one that found the second.
    OneInFront,
    /// First in, first out, by way of a third element: b was in front before c left, c was added before a, a was in front
    /// before b left. Pairs of operations, the first of which returned before the second was called: on b and c, c
    /// and a, a and b. The last is missing if b is not known to have left.
    FrontInTurn,
    /// The greatest leaves first: an operation found an element; then, in pairs, operations after whose first, and
    /// before whose second, a greater one is certainly there: one or the other, all the time.
    GreatestFirst,
    /// Last in, first out: one element came to lie on another, which was found while the first still lay there. In pairs,
    /// the first of which had returned before the second was called: one that put or found the lower, and the one
    /// that added the upper; one that put or found the upper, and one that found the lower; one that found the lower,
    /// and one that found the upper, unless that was never removed.
    LastInFirstOut,
    /// Last in, first out: operations on elements of which none can be below the others.
    NoneBelow,
    /// One element at a time: two elements were each there before and after the other. One that put or found the
    /// first, a later one that put or found the second; one for the second, a later one for the first.
    OneAtATime,
    /// One element at a time: the operations on an element, all of which lie where others were there all the
    /// time: pairs of operations as in [`Rule::Empty`].
    NoRoom,
    /// An element that is replaced is replaced once: two operations did so.
    ReplacedOnce,
    /// Replacements follow each other: in a chain of them one operation was called after another had returned that
    /// has to come later.
    Chain,
    /// An element is there after it was added, until it is removed: the operation that has no place among those on
    /// its element.
    ThereOrNot,
    /// A sum is what was added: an operation answered one that could not have been reached, or had been passed.
    Sum,
    /// The same, and in whichever order, the sum was within bounds when the operation happened: the operation and, if the
    /// bounds follow from an earlier answer, the one that gave it.
    SumWithin {
        /// The least that it can have been.
        least: i64,
        /// The greatest.
        greatest: i64,
    },
    /// What was added so often is found no more often: operations that took an element, and maybe one that was called after
    /// all these had returned and found it; then those that added it, too few.
    Often {
        /// How many added it.
        added: u32,
    },
    /// The same since an operation found nothing, which comes before these.
    OftenSince {
        /// How many added it since, or may have.
        added: u32,
    },
    /// What is there cannot be added: operations that added an element which was not there; then those that removed it, too
    /// few to come between them.
    AddedAgain {
        /// How many removed it.
        removed: u32,
    },
    /// More was added than can have been removed: an operation that found nothing, or what goes after all that; then those that had added, or seen,
    /// something before that was called; then those that may have removed something, which are fewer.
    Left {
        /// How many had added something.
        added: u32,
    },
    /// One element at a time: an operation found an element; one that had returned before it was called put or found
    /// another one; then all that put the first element there, which had returned before that one was called.
    Stale,
    /// A rule that only a monitor of a [kind of its own](crate::ObjectKind::Other) knows, as it stands in a report after the
    /// operations that break it and a colon.
    Other(&'static str),
}
