//! Observation sets: what a component was seen to do one call at a time, as a specification.
//!
//! The calls are those of one matrix, so an operation is a number, and what it answered is one. Serial histories share their
//! beginnings and are kept as a tree: a state of the object is the serial history that led to it. An operation that has no
//! answer in a state blocks there, so that [`judge`](crate::judge) and [`stuck`](crate::stuck()) need to know nothing more.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic linearizability checker",
//! 2010, sections 2 and 3.

use clewline_core::{AnswerId, Specification};

/// Serial histories of one matrix.
#[derive(Clone, Debug)]
pub struct ObservationSet {
    // The first is the root.
    nodes: Vec<Node>,
    n_full: usize,
    n_stuck: usize,
}

#[derive(Clone, Debug, Default)]
struct Node {
    // In the order in which they were seen.
    children: Vec<Child>,
    // Operations that were seen to block here.
    stuck: Vec<u32>,
    // A serial history ends here in which every operation returned.
    is_full: bool,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    operation: u32,
    answer: AnswerId,
    node: u32,
}

/// A serial history: one operation after the other, the last of which may block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SerialHistory {
    /// The operations that returned, with their answers, in order.
    pub complete: Vec<(u32, AnswerId)>,
    /// The operation that was called after them and blocked.
    pub stuck: Option<u32>,
}

/// Two serial histories that are the same up to a call, and differ in what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nondeterminism {
    /// One of them, up to what became of that call.
    pub one: SerialHistory,
    /// The other.
    pub other: SerialHistory,
}

impl Default for ObservationSet {
    fn default() -> Self {
        ObservationSet { nodes: vec![Node::default()], n_full: 0, n_stuck: 0 }
    }
}

impl ObservationSet {
    /// Nothing was seen yet.
    #[must_use]
    pub fn new() -> Self {
        ObservationSet::default()
    }

    /// Adds a serial history; `false` if it is there already.
    pub fn insert(&mut self, history: &SerialHistory) -> bool {
        let mut at = 0;
        for &(operation, answer) in &history.complete {
            let is_same = |it: &&Child| it.operation == operation && it.answer == answer;
            at = match self.nodes[at].children.iter().find(is_same) {
                Some(child) => child.node as usize,
                None => {
                    let node = u32::try_from(self.nodes.len()).expect("fewer than 2^32 states");
                    self.nodes.push(Node::default());
                    self.nodes[at].children.push(Child { operation, answer, node });
                    node as usize
                }
            };
        }
        let node = &mut self.nodes[at];
        match history.stuck {
            Some(operation) => {
                let is_new = !node.stuck.contains(&operation);
                if is_new {
                    node.stuck.push(operation);
                    self.n_stuck += 1;
                }
                is_new
            }
            None => {
                let is_new = !std::mem::replace(&mut node.is_full, true);
                self.n_full += usize::from(is_new);
                is_new
            }
        }
    }

    /// How many serial histories there are in which every operation returned.
    #[must_use]
    pub fn full(&self) -> usize {
        self.n_full
    }

    /// How many there are whose last operation blocked.
    #[must_use]
    pub fn stuck(&self) -> usize {
        self.n_stuck
    }

    /// Every serial history, those that begin alike together.
    #[must_use]
    pub fn histories(&self) -> Vec<SerialHistory> {
        let mut histories = Vec::new();
        self.collect(0, &mut Vec::new(), &mut histories);
        histories
    }

    fn collect(&self, at: usize, prefix: &mut Vec<(u32, AnswerId)>, histories: &mut Vec<SerialHistory>) {
        let node = &self.nodes[at];
        if node.is_full {
            histories.push(SerialHistory { complete: prefix.clone(), stuck: None });
        }
        let stuck = node.stuck.iter();
        histories.extend(stuck.map(|&it| SerialHistory { complete: prefix.clone(), stuck: Some(it) }));
        for child in &node.children {
            prefix.push((child.operation, child.answer));
            self.collect(child.node as usize, prefix, histories);
            prefix.pop();
        }
    }

    /// Two histories that are the same up to a call and differ in what becomes of it, if there are such.
    #[must_use]
    pub fn nondeterminism(&self) -> Option<Nondeterminism> {
        self.differing(0, &mut Vec::new())
    }

    fn differing(&self, at: usize, prefix: &mut Vec<(u32, AnswerId)>) -> Option<Nondeterminism> {
        let node = &self.nodes[at];
        let answered = |child: &Child| {
            let mut complete = prefix.clone();
            complete.push((child.operation, child.answer));
            SerialHistory { complete, stuck: None }
        };
        for (position, child) in node.children.iter().enumerate() {
            let later = node.children[position + 1..].iter().find(|it| it.operation == child.operation);
            if let Some(other) = later {
                return Some(Nondeterminism { one: answered(child), other: answered(other) });
            }
            if node.stuck.contains(&child.operation) {
                let other = SerialHistory { complete: prefix.clone(), stuck: Some(child.operation) };
                return Some(Nondeterminism { one: answered(child), other });
            }
        }
        node.children.iter().find_map(|child| {
            prefix.push((child.operation, child.answer));
            let found = self.differing(child.node as usize, prefix);
            prefix.pop();
            found
        })
    }
}

impl Specification for ObservationSet {
    type State = u32;
    type Call = u32;
    type Return = AnswerId;

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, state: &u32, call: &u32, ret: Option<&AnswerId>, next: &mut Vec<u32>) {
        let children = self.nodes[*state as usize].children.iter();
        let fits = |it: &&Child| it.operation == *call && ret.is_none_or(|ret| *ret == it.answer);
        next.extend(children.filter(fits).map(|it| it.node));
    }

    fn returns(&self, state: &u32, call: &u32) -> Vec<AnswerId> {
        let children = self.nodes[*state as usize].children.iter();
        children.filter(|it| it.operation == *call).map(|it| it.answer).collect()
    }
}

#[cfg(test)]
mod tests {
    use clewline_core::{Budget, Event, History, Problem, Verdict};

    use super::*;
    use crate::{Options, Stuck, judge, stuck};

    fn serial(complete: &[(u32, u32)], stuck: Option<u32>) -> SerialHistory {
        SerialHistory { complete: complete.iter().map(|&(at, it)| (at, AnswerId(it))).collect(), stuck }
    }

    /// A queue with `add` twice, then `take` by another process, which blocks while the queue is empty.
    fn observations() -> ObservationSet {
        let mut set = ObservationSet::new();
        for (complete, stuck) in
            [(&[(0, 0), (1, 0), (2, 7)][..], None), (&[(0, 0), (2, 7), (1, 0)], None), (&[], Some(2))]
        {
            assert!(set.insert(&serial(complete, stuck)));
            assert!(!set.insert(&serial(complete, stuck)));
        }
        set
    }

    #[test]
    fn what_was_seen_is_kept() {
        let set = observations();
        assert_eq!((set.full(), set.stuck(), set.histories().len()), (2, 1, 3));
        assert_eq!(set.nondeterminism(), None);
        assert!(set.histories().contains(&serial(&[], Some(2))));
    }

    #[test]
    fn two_ends_of_one_call_are_told() {
        let mut set = observations();
        set.insert(&serial(&[(0, 0), (2, 8), (1, 0)], None));
        let found = set.nondeterminism().expect("`take` answered 7 and 8");
        assert_eq!(
            (found.one, found.other),
            (serial(&[(0, 0), (2, 7)], None), serial(&[(0, 0), (2, 8)], None))
        );
        let mut set = observations();
        set.insert(&serial(&[(0, 0)], Some(2)));
        let found = set.nondeterminism().expect("`take` answered and blocked");
        assert_eq!(found.other, serial(&[(0, 0)], Some(2)));
    }

    #[test]
    fn histories_are_judged_against_them() {
        let set = observations();
        let options = Options { budget: Budget::unlimited(), ..Options::default() };
        let overlapping = |answer: u32| {
            let events = [
                Event::call(0, 0),
                Event::call(1, 2),
                Event::ret(0, AnswerId(0)),
                Event::call(0, 1),
                Event::ret(0, AnswerId(0)),
                Event::ret(1, AnswerId(answer)),
            ];
            History::from_events(events).expect("well-formed")
        };
        let holds = |history: &History<u32, AnswerId>| {
            let judgement = judge(Problem::of_objects(&set, history), &options);
            matches!(judgement.verdict, Verdict::Holds(_))
        };
        assert!(holds(&overlapping(7)));
        assert!(!holds(&overlapping(9)));
        // `take` alone blocks rightly; after an `add` has returned it does not.
        let alone = History::from_events([Event::call(1, 2)]).expect("well-formed");
        assert_eq!(stuck(Problem::of_objects(&set, &alone), &options), Stuck::Allowed);
        let late = [Event::call(0, 0), Event::ret(0, AnswerId(0)), Event::call(1, 2)];
        let late = History::from_events(late).expect("well-formed");
        assert!(matches!(stuck(Problem::of_objects(&set, &late), &options), Stuck::Forbidden(_)));
    }
}
