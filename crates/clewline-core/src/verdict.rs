//! Verdicts, and the evidence that comes with them.

use crate::{budget::Reason, id::OperationId, may_fail::MayFail, shown::Shown, witness::Witness};

/// Whether a property holds. Every verdict carries its evidence, and a search that stops early
/// returns [`Verdict::Unknown`], never one of the others.
///
/// For a single history the evidence is a linearization (`W`), or a counterexample (`V`). Methods
/// that explore executions have their own types: the evidence that a property holds is what was
/// explored, the evidence of a violation is what was found.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<W = Witness, V = Violation, R = Reason> {
    /// The property holds; the value is the evidence.
    Holds(W),
    /// The property does not hold; the value says why.
    Violated(V),
    /// Not known: the search stopped early; the value is the reason.
    Unknown(R),
}

/// A verdict without its evidence, which is elsewhere in an outcome.
pub type VerdictKind = Verdict<(), (), ()>;

impl<W, V, R> Verdict<W, V, R> {
    /// The verdict in one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The verdict without its evidence.
    pub fn kind(&self) -> VerdictKind {
        match self {
            Verdict::Holds(_) => Verdict::Holds(()),
            Verdict::Violated(_) => Verdict::Violated(()),
            Verdict::Unknown(_) => Verdict::Unknown(()),
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
    /// witnesses are concatenated; use
    /// [`Problem::merge_witnesses`](crate::Problem::merge_witnesses) for an order that respects
    /// real time.
    pub fn merge(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Holds(mut first), Verdict::Holds(second)) => {
                first.order.extend(second.order);
                Verdict::Holds(first)
            }
            (first, second) => {
                if first.severity() < second.severity() {
                    second
                } else {
                    first
                }
            }
        }
    }
}

/// A proof that a history is not linearizable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The counterexample, in call order: a few operations such that the history up to the last
    /// return among them has no linearization, even if every other operation may be left out. Each
    /// of the others happened as recorded, or not at all; one that had not returned by then may
    /// have any result.
    pub counterexample: Vec<OperationId>,
    /// Whether the counterexample has been judged by itself, by a search that shares nothing with
    /// what found it. If false, that would have taken too long, or was not asked for.
    pub is_verified: bool,
    /// Whether the counterexample is minimal: if any one of its operations might be left out, too,
    /// there would be a linearization. If false, this is not known.
    pub is_minimal: bool,
    /// How the violation was found.
    pub explanation: Explanation,
    /// Why the counterexample has no linearization. `None` until it has been computed.
    pub why: Option<Box<Why>>,
    /// The history holds if these results may be returned with no effect. `None` if it does not, or
    /// this is not known.
    pub holds_if: Option<MayFail>,
}

impl Violation {
    /// A violation as a checker finds it: it is only known that `counterexample` has no
    /// linearization.
    #[must_use]
    pub fn found(counterexample: Vec<OperationId>, explanation: Explanation) -> Violation {
        Violation {
            counterexample,
            is_verified: false,
            is_minimal: false,
            explanation,
            why: None,
            holds_if: None,
        }
    }
}

/// Why the operations of a counterexample have no linearization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A rule is violated.
    Rule {
        /// The rule.
        rule: Rule,
        /// The operations that violate it, in the order that the rule specifies: all of the
        /// counterexample, and others that are named for comparison.
        operations: Vec<OperationId>,
        /// Where the longest partial linearization ends, if the rule does not explain enough.
        end: Option<DeadEnd>,
    },
    /// No partial linearization is longer than this one.
    End(DeadEnd),
}

/// The end of the longest partial linearization of a counterexample, with other operations that may
/// have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadEnd {
    /// That partial linearization.
    pub prefix: Vec<OperationId>,
    /// The operation that has to come next and cannot.
    pub next: OperationId,
    /// The operation with each result that it could have returned there. Empty if it would block.
    pub instead: Vec<Shown>,
}

/// A partial linearization that cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialLinearization {
    /// The order.
    pub prefix: Vec<OperationId>,
    /// The operation that returns before all remaining ones, and cannot come next.
    pub next: OperationId,
}

impl DeadEnd {
    /// After `prefix`, `next` could only have returned as one of `instead`.
    #[must_use]
    pub fn new(prefix: Vec<OperationId>, next: OperationId, instead: Vec<Shown>) -> DeadEnd {
        DeadEnd { prefix, next, instead }
    }
}

/// How a violation was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// Every order was tried, and none gets past `next`.
    Exhausted {
        /// The longest partial linearization found.
        prefix: Vec<OperationId>,
        /// The operation that returns first among those that are not in `prefix`: it has to come
        /// next, or after operations that overlap it, and cannot.
        next: OperationId,
    },
    /// A rule is violated that every linearizable history of such an object satisfies.
    Broken {
        /// The rule.
        rule: Rule,
        /// The operations that violate it, in the order that the rule specifies.
        operations: Vec<OperationId>,
    },
}

/// Where a history stops being linearizable: the first return after which no linearization of the
/// prefix exists.
///
/// Events are the calls and returns of the violated part (an object, or one key of it). A call
/// never makes a history violated, because a pending operation need not have taken effect; so the
/// failing event is a return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailurePoint {
    /// The number of events of the part before the failing one: the longest linearizable prefix.
    pub events: usize,
    /// The operation whose return is the failing event.
    pub operation: OperationId,
    /// The results that it could have returned instead.
    pub allowed: Allowed,
}

impl FailurePoint {
    /// After `events` events `operation` returns, and only the results in `allowed` are correct
    /// there.
    #[must_use]
    pub fn new(events: usize, operation: OperationId, allowed: Allowed) -> FailurePoint {
        FailurePoint { events, operation, allowed }
    }
}

/// The results that an operation could return at some point, given all events before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// The operation with exactly these results: `deq() → 3`.
    These(Vec<Shown>),
    /// None: the operation has to block.
    Blocked,
    /// Not known.
    Unknown(Reason),
}

/// A property of every linearizable history of some kind of object. Each variant says which
/// operations violate it, and in which order they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An element that is observed or removed has been added. Violated by an operation that found
    /// an element which no operation adds.
    Added,
    /// An element is added before it is found. Violated by an operation that found an element and
    /// returned, and the operation that added the element and was called later.
    AddedBefore,
    /// An element that is added once is removed once. Violated by two operations that removed the
    /// same element.
    TakenOnce,
    /// A removed element is absent. Violated by an operation that removed an element and returned,
    /// and another that was called later and found it.
    Gone,
    /// An operation returns *empty* only if no element is present. Violated by an operation that
    /// returned *empty*; then come pairs of operations. After the first of a pair and before the
    /// second, some element is certainly present; together the pairs cover the whole operation.
    Empty,
    /// First in, first out. Violated if one element was certainly added before another, but the
    /// other was found at the front before the first was removed. Operations: one that added or
    /// found the first, a later one that added the second; one that found the second, a later one
    /// that found the first. The last is missing if the first element is not known to have been
    /// removed.
    FirstInFirstOut,
    /// An element overtakes at most `allowed` others. Violated by an element that was certainly
    /// added after more than `allowed` others and certainly removed before them. Operations: those
    /// that added and removed it; then the same for each of the others, some of which may never be
    /// removed.
    OvertakesMany {
        /// How many elements it may overtake.
        allowed: u32,
    },
    /// An element is overtaken at most `allowed` times. Violated by an element that was certainly
    /// added before more than `allowed` others, which were certainly removed before it. Operations:
    /// those that added and removed it, the latter only if it was removed; then the same for each
    /// of the others.
    OvertakenOften {
        /// How many elements may overtake it.
        allowed: u32,
    },
    /// No element is too far out of order. Violated by operations on elements of which, in any
    /// order, one is.
    OutOfOrder {
        /// How many elements one may overtake, and how often it may be overtaken.
        allowed: u32,
    },
    /// Elements are at the front one after the other. Violated by two elements that were each at
    /// the front before the other was removed. Operations: one that found the first, a later one
    /// that found the second; one that found the second, a later one that found the first. The last
    /// is missing if the first element is not known to have been removed. If neither is, there are
    /// two operations: one that found the first, and one that found the second.
    OneInFront,
    /// First in, first out, through a third element: b was at the front before c was removed, c was
    /// added before a, a was at the front before b was removed. Operations come in pairs, the first
    /// of which returned before the second was called: on b and c, c and a, a and b. The last is
    /// missing if b is not known to have been removed.
    FrontInTurn,
    /// The greatest element is removed first. Violated by an operation that found an element; then
    /// come pairs of operations. After the first of a pair and before the second, a greater element
    /// is certainly present; together the pairs cover the whole operation.
    GreatestFirst,
    /// Last in, first out. Violated if one element was put on top of another, and the lower one was
    /// found while the upper one was still there. Operations come in pairs, the first of which
    /// returned before the second was called: one that added or found the lower, and the one that
    /// added the upper; one that added or found the upper, and one that found the lower; one that
    /// found the lower, and one that found the upper, unless that was never removed.
    LastInFirstOut,
    /// Last in, first out. Violated by operations on elements of which none can be below the
    /// others.
    NoneBelow,
    /// One element at a time. Violated by two elements that were each present before and after the
    /// other. Operations: one that wrote or found the first, a later one that wrote or found the
    /// second; one for the second, a later one for the first.
    OneAtATime,
    /// One element at a time. Violated by the operations on an element, all of which lie in
    /// intervals that are covered by other elements; these follow as pairs of operations as in
    /// [`Rule::Empty`].
    NoRoom,
    /// An element is replaced at most once. Violated by two operations that replaced it.
    ReplacedOnce,
    /// Replacements form a chain. Violated by two operations of the chain: one was called after the
    /// other had returned, but has to come before it.
    Chain,
    /// A value is put there by operations that replaced each other. Violated by an operation that
    /// found a value; then come operations each of which alone can have put there what the one
    /// before it found. What the last one found was not put there by then.
    Lineage,
    /// An absent element stays absent until it is added. Violated by an operation that found an
    /// element; one that had shown that it was absent and had returned before the first was called;
    /// then all operations that added it, which had returned before that one was called.
    AbsentSince,
    /// An element is present after it was added and until it is removed. Violated by an operation
    /// that fits nowhere among the operations on its element.
    ThereOrNot,
    /// A counter's value is the sum of what was added. Violated by an operation that returned a sum
    /// which could not have been reached yet, or had already been passed. Then may come all
    /// operations that added something before it returned, of which no choice has that sum.
    Sum,
    /// As [`Rule::Sum`]; and in every order, the sum was within these bounds when the operation
    /// took effect. Operations: the one that violates the rule and, if the bounds follow from an
    /// earlier result, the one that returned it.
    SumWithin {
        /// The least possible sum.
        least: i64,
        /// The greatest possible sum.
        greatest: i64,
    },
    /// An element is removed at most as often as it was added. Operations: those that removed it,
    /// possibly one that was called after all these had returned and found it; then those that
    /// added it, which are too few.
    Often {
        /// How many operations added it.
        added: u32,
    },
    /// As [`Rule::Often`], counted since an operation that returned *empty*, which is listed first.
    OftenSince {
        /// How many operations added it since, or may have.
        added: u32,
    },
    /// An element that is present cannot be added again. Operations: those that added an element
    /// which was absent; then those that removed it, which are too few to come between them.
    AddedAgain {
        /// How many operations removed it.
        removed: u32,
    },
    /// An element that is absent cannot be removed again. Operations: those that removed an element
    /// which was present; then those that added it, which are too few to come between them.
    RemovedAgain {
        /// How many operations added it.
        added: u32,
    },
    /// More elements were added than can have been removed. Operations: one that returned *empty*,
    /// or that comes after all of that; then those that had added or observed an element before it
    /// was called; then those that may have removed one, which are fewer.
    Left {
        /// How many operations had added an element.
        added: u32,
    },
    /// One element at a time. Violated by an operation that found an element; one that had returned
    /// before it was called, and wrote or found another element; then all operations that wrote the
    /// first element, which had returned before that one was called.
    Stale,
    /// An element of a set that is found has been added. Violated by an operation that found the
    /// element, though none that adds it had been called before it returned. Then may come the
    /// first one that was called later; and one that would have added the element, but found it.
    FoundUnadded {
        /// The element, as its specification names it.
        element: u64,
    },
    /// An element of a set stays there unless an operation removes it. Operations: one that added
    /// or found the element and returned, and a later one that did not find it.
    Lost {
        /// The element, as its specification names it.
        element: u64,
    },
    /// Of two reads of a set from which nothing is removed, one contains all elements of the other.
    /// Operations: two reads, each of which contains an element that the other does not.
    ReadsDisagree {
        /// The element that only the first contains, as its specification names it.
        only_first: u64,
        /// The element that only the second contains.
        only_second: u64,
    },
    /// A read of a set that contains an element contains what was there before that element, unless
    /// it was removed. Operations: one that added or found the missing element and returned; a
    /// later one that did not find the other element, or that is the first that adds it; and the
    /// read. Then may come one that would have added the other element, but found it.
    EarlierMissing {
        /// The element that the read contains, as its specification names it.
        found: u64,
        /// The element that it does not contain.
        missing: u64,
    },
    /// A rule of a monitor for an [object kind that was added](crate::ObjectKind::Other). The text
    /// appears in a report after the operations that violate it and a colon.
    Other(&'static str),
}
