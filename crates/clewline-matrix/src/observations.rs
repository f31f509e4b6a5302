//! Observation sets: the serial behaviour of a component, as a specification.
//!
//! The calls are those of one matrix, so an operation is a number, and so is its result. Serial
//! histories share prefixes and are kept as a tree: a state of the object is the serial history
//! that led to it. An operation without a result in a state blocks there, so that
//! `judge` and `stuck` of the checkers need nothing more.
//!
//! An exploration checks thousands of small histories, and a general checker would spend most of
//! its time on setup. So the set also decides by itself, by walking its tree:
//! [`explains`](ObservationSet::explains).
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic
//! linearizability checker", 2010, sections 2 and 3.

use clewline_core::{ResultId, Specification};

/// Serial histories of one matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservationSet {
    // The first is the root. Each comes after its parent, and after its siblings that were seen
    // before it.
    nodes: Vec<Node>,
    n_full: usize,
    n_stuck: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Node {
    operation: u32,
    // `None` if the operation blocked here.
    result: Option<ResultId>,
    // The first child, and the next sibling; the root is neither, so 0 is none.
    first: u32,
    next: u32,
    // A serial history in which every operation returned ends here.
    is_full: bool,
}

/// A serial history: one operation after the other, the last of which may block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SerialHistory {
    /// The operations that returned, with their results, in order.
    pub complete: Vec<(u32, ResultId)>,
    /// The operation that was called after them and blocked.
    pub stuck: Option<u32>,
}

/// Two serial histories with equal prefixes up to a call that differ in its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nondeterminism {
    /// One of them, up to the outcome of that call.
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
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        ObservationSet::default()
    }

    /// Adds a serial history; `false` if it is there already.
    pub fn insert(&mut self, history: &SerialHistory) -> bool {
        let n = self.nodes.len();
        let mut at = 0;
        for &(operation, result) in &history.complete {
            at = self.step_to(at, operation, Some(result));
        }
        if let Some(operation) = history.stuck {
            at = self.step_to(at, operation, None);
            self.n_stuck += usize::from(n <= at);
            return n <= at;
        }
        let is_new = !std::mem::replace(&mut self.nodes[at].is_full, true);
        self.n_full += usize::from(is_new);
        is_new
    }

    /// The child of `at` in which the operation returns that, or blocks. It is created if it does
    /// not exist.
    fn step_to(&mut self, at: usize, operation: u32, result: Option<ResultId>) -> usize {
        let (mut last, mut below) = (None, self.nodes[at].first as usize);
        while below != 0 {
            let node = &self.nodes[below];
            if node.operation == operation && node.result == result {
                return below;
            }
            (last, below) = (Some(below), node.next as usize);
        }
        let new = u32::try_from(self.nodes.len()).expect("fewer than 2^32 states");
        self.nodes.push(Node { operation, result, ..Node::default() });
        match last {
            Some(last) => self.nodes[last].next = new,
            None => self.nodes[at].first = new,
        }
        new as usize
    }

    fn below(&self, at: usize) -> impl Iterator<Item = (usize, &Node)> {
        let link = |it: u32| (it != 0).then(|| (it as usize, &self.nodes[it as usize]));
        std::iter::successors(link(self.nodes[at].first), move |it| link(it.1.next))
    }

    /// The results at `at`, in the order in which they were seen.
    fn results_at(&self, at: usize) -> impl Iterator<Item = (usize, u32, ResultId)> {
        self.below(at).filter_map(|(below, it)| it.result.map(|result| (below, it.operation, result)))
    }

    /// The operations that blocked at `at`.
    fn blocked(&self, at: usize) -> impl Iterator<Item = u32> {
        self.below(at).filter(|it| it.1.result.is_none()).map(|it| it.1.operation)
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

    /// The same histories of operations with other numbers: `numbers` has them by the present ones.
    #[must_use]
    pub fn renumbered(mut self, numbers: &[u32]) -> ObservationSet {
        // The root is no operation.
        for node in self.nodes.iter_mut().skip(1) {
            node.operation = numbers[node.operation as usize];
        }
        self
    }

    /// Every serial history, those with equal prefixes together.
    #[must_use]
    pub fn histories(&self) -> Vec<SerialHistory> {
        let mut histories = Vec::new();
        self.collect(0, &mut Vec::new(), &mut histories);
        histories
    }

    fn collect(&self, at: usize, prefix: &mut Vec<(u32, ResultId)>, histories: &mut Vec<SerialHistory>) {
        if self.nodes[at].is_full {
            histories.push(SerialHistory { complete: prefix.clone(), stuck: None });
        }
        let stuck = self.blocked(at);
        histories.extend(stuck.map(|it| SerialHistory { complete: prefix.clone(), stuck: Some(it) }));
        for (below, operation, result) in self.results_at(at) {
            prefix.push((operation, result));
            self.collect(below, prefix, histories);
            prefix.pop();
        }
    }

    /// Two histories that agree up to a call and differ in its outcome, if there are any.
    #[must_use]
    pub fn nondeterminism(&self) -> Option<Nondeterminism> {
        self.differing(0, &mut Vec::new())
    }

    fn differing(&self, at: usize, prefix: &mut Vec<(u32, ResultId)>) -> Option<Nondeterminism> {
        let with_result = |operation: u32, result: ResultId| {
            let mut complete = prefix.clone();
            complete.push((operation, result));
            SerialHistory { complete, stuck: None }
        };
        for (position, (_, operation, result)) in self.results_at(at).enumerate() {
            if let Some(other) = self.results_at(at).skip(position + 1).find(|it| it.1 == operation) {
                let (one, other) = (with_result(operation, result), with_result(operation, other.2));
                return Some(Nondeterminism { one, other });
            }
            if self.blocked(at).any(|it| it == operation) {
                let other = SerialHistory { complete: prefix.clone(), stuck: Some(operation) };
                return Some(Nondeterminism { one: with_result(operation, result), other });
            }
        }
        self.results_at(at).find_map(|(below, operation, result)| {
            prefix.push((operation, result));
            let found = self.differing(below, prefix);
            prefix.pop();
            found
        })
    }
}

/// A history of a matrix with at most 64 operations, in compact form.
#[derive(Clone, Copy, Debug)]
struct SmallHistory<'a> {
    /// The result of each operation, if it returned.
    results: &'a [Option<ResultId>],
    /// For each operation, those that returned before it was called: a bit each.
    before: &'a [u64],
}

impl ObservationSet {
    /// Whether the serial histories explain a history with these results, if the operations
    /// returned. If it is stuck, they have to explain each operation that was called and blocks
    /// forever. `false` if it is too large to decide.
    #[must_use]
    pub fn explains(
        &self,
        results: &[Option<ResultId>],
        is_stuck: bool,
        is_called: impl Fn(usize) -> bool,
        precedes: impl Fn(usize, usize) -> bool,
    ) -> bool {
        if 64 < results.len() {
            return false;
        }
        let mut before = [0_u64; 64];
        for (at, before) in before[..results.len()].iter_mut().enumerate() {
            for other in 0..results.len() {
                *before |= u64::from(precedes(other, at)) << other;
            }
        }
        let small = SmallHistory { results, before: &before[..results.len()] };
        let waits = |it: &usize| is_stuck && results[*it].is_none() && is_called(*it);
        let mut waiting = (0..results.len()).filter(waits).peekable();
        if waiting.peek().is_some() {
            return waiting.all(|it| self.has_witness(small, Some(it as u32)));
        }
        // If only threads that operations started block forever, the results need a witness all the
        // same.
        self.has_witness(small, None)
    }

    /// Whether there is a serial history in which exactly the complete operations returned these
    /// results, and that respects the real-time order. After it, `stuck` blocked, if there is one.
    ///
    /// With `stuck` this is the serial witness for an operation that blocks forever; each of them
    /// needs its own.
    fn has_witness(&self, history: SmallHistory<'_>, stuck: Option<u32>) -> bool {
        let complete = history.results.iter().enumerate().filter(|it| it.1.is_some());
        let complete = complete.fold(0_u64, |bits, (at, _)| bits | 1 << at);
        self.has_serial_order(0, 0, complete, history, stuck)
    }

    fn has_serial_order(
        &self,
        at: usize,
        done: u64,
        complete: u64,
        history: SmallHistory<'_>,
        stuck: Option<u32>,
    ) -> bool {
        if done == complete {
            return stuck.is_none_or(|stuck| self.blocked(at).any(|it| it == stuck));
        }
        self.results_at(at).any(|(below, operation, result)| {
            let operation = operation as usize;
            history.results[operation] == Some(result)
                && history.before[operation] & !done == 0
                && self.has_serial_order(below, done | 1 << operation, complete, history, stuck)
        })
    }
}

/// Sets as words, for another process.
impl ObservationSet {
    /// Four words for each state.
    #[must_use]
    pub fn to_words(&self) -> Vec<u32> {
        let words = |(at, it): (usize, &Node)| {
            // Most links are short.
            let link = |to: u32| to.saturating_sub(at as u32);
            let result = it.result.map_or(0, |it| it.0 + 1);
            [it.operation << 1 | u32::from(it.is_full), result, link(it.first), link(it.next)]
        };
        self.nodes.iter().enumerate().flat_map(words).collect()
    }

    /// Reads what [`to_words`](ObservationSet::to_words) wrote for a matrix of `operations`
    /// operations, with the results renamed; `None` if the words are malformed, or a result has no
    /// name.
    #[must_use]
    pub fn from_words(
        words: &[u32],
        operations: usize,
        rename: impl Fn(ResultId) -> Option<ResultId>,
    ) -> Option<ObservationSet> {
        let (quads, rest) = words.as_chunks::<4>();
        let mut set = ObservationSet { nodes: Vec::with_capacity(quads.len()), n_full: 0, n_stuck: 0 };
        for (at, &[operation, result, first, next]) in quads.iter().enumerate() {
            let link = |it: u32| match it as usize {
                0 => Some(0),
                far => u32::try_from(at + far).ok().filter(|it| (*it as usize) < quads.len()),
            };
            let node = Node {
                operation: operation >> 1,
                result: match result.checked_sub(1) {
                    Some(result) => Some(rename(ResultId(result))?),
                    None => None,
                },
                first: link(first)?,
                next: link(next)?,
                is_full: operation & 1 == 1,
            };
            if operations <= node.operation as usize && at != 0 {
                return None;
            }
            set.n_full += usize::from(node.is_full);
            set.n_stuck += usize::from(node.result.is_none() && at != 0);
            set.nodes.push(node);
        }
        (rest.is_empty() && !set.nodes.is_empty()).then_some(set)
    }
}

impl Specification for ObservationSet {
    type State = u32;
    type Call = u32;
    type Return = ResultId;

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, state: &u32, call: &u32, ret: Option<&ResultId>, next: &mut Vec<u32>) {
        let fits = |it: &(usize, u32, ResultId)| it.1 == *call && ret.is_none_or(|ret| *ret == it.2);
        next.extend(self.results_at(*state as usize).filter(fits).map(|it| it.0 as u32));
    }

    fn returns(&self, state: &u32, call: &u32) -> Vec<ResultId> {
        self.results_at(*state as usize).filter(|it| it.1 == *call).map(|it| it.2).collect()
    }
}

#[cfg(test)]
mod tests {
    use clewline_check::{JudgeOptions, Stuck, judge, stuck};
    use clewline_core::{Budget, Event, History, Problem, Random, Verdict};
    use clewline_testing::pick;

    use super::*;

    fn serial(complete: &[(u32, u32)], stuck: Option<u32>) -> SerialHistory {
        SerialHistory { complete: complete.iter().map(|&(at, it)| (at, ResultId(it))).collect(), stuck }
    }

    /// A queue with `add` twice, then `take` by another process, which blocks while the queue is
    /// empty.
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
    fn serial_histories_are_kept() {
        let set = observations();
        assert_eq!((set.full(), set.stuck(), set.histories().len()), (2, 1, 3));
        assert_eq!(set.nondeterminism(), None);
        assert!(set.histories().contains(&serial(&[], Some(2))));
    }

    #[test]
    fn a_set_is_read_as_written_and_malformed_words_are_refused() {
        let mut random = Random::new(3);
        for _ in 0..20 {
            let set = random_set(&mut random);
            let words = set.to_words();
            assert_eq!(ObservationSet::from_words(&words, 5, Some), Some(set));
            // The last operation occurs in it, and does not exist in a smaller matrix.
            assert_eq!(ObservationSet::from_words(&words, 4, Some), None);
            assert_eq!(ObservationSet::from_words(&words, 5, |_| None), None);
            for _ in 0..50 {
                let mut other = words.clone();
                other[random.below(words.len())] = random.below(12) as u32;
                // Whatever was read, queries terminate.
                if let Some(set) = ObservationSet::from_words(&other, 5, Some) {
                    let (results, before) = ([Some(ResultId(0)); 5], [0; 5]);
                    set.has_witness(SmallHistory { results: &results, before: &before }, None);
                }
            }
            assert_eq!(ObservationSet::from_words(&words[1..], 5, Some), None);
        }
        assert_eq!(ObservationSet::from_words(&[], 5, Some), None);
        assert_eq!(ObservationSet::from_words(&[0, 0, 1, 0], 5, Some), None, "nothing follows");
    }

    #[test]
    fn two_outcomes_of_one_call_are_reported() {
        let mut set = observations();
        set.insert(&serial(&[(0, 0), (2, 8), (1, 0)], None));
        let found = set.nondeterminism().expect("`take` returned 7 and 8");
        assert_eq!(
            (found.one, found.other),
            (serial(&[(0, 0), (2, 7)], None), serial(&[(0, 0), (2, 8)], None))
        );
        let mut set = observations();
        set.insert(&serial(&[(0, 0)], Some(2)));
        let found = set.nondeterminism().expect("`take` returned and blocked");
        assert_eq!(found.other, serial(&[(0, 0)], Some(2)));
    }

    #[test]
    fn histories_are_judged_against_observations() {
        let set = observations();
        let options = JudgeOptions { budget: Budget::unlimited(), ..JudgeOptions::default() };
        let overlapping = |result: u32| {
            let events = [
                Event::call(0, 0),
                Event::call(1, 2),
                Event::ret(0, ResultId(0)),
                Event::call(0, 1),
                Event::ret(0, ResultId(0)),
                Event::ret(1, ResultId(result)),
            ];
            History::from_events(events).expect("well-formed")
        };
        let holds = |history: &History<u32, ResultId>| {
            let judgement = judge(Problem::of_objects(&set, history), &options);
            matches!(judgement.verdict, Verdict::Holds(_))
        };
        assert!(holds(&overlapping(7)));
        assert!(!holds(&overlapping(9)));
        // `take` alone may block; after an `add` has returned it may not.
        let alone = History::from_events([Event::call(1, 2)]).expect("well-formed");
        assert_eq!(stuck(Problem::of_objects(&set, &alone), &options), Stuck::Allowed);
        let late = [Event::call(0, 0), Event::ret(0, ResultId(0)), Event::call(1, 2)];
        let late = History::from_events(late).expect("well-formed");
        assert!(matches!(stuck(Problem::of_objects(&set, &late), &options), Stuck::Forbidden(_)));
    }

    /// Random serial histories of two processes with two operations each, and of a third with one.
    fn random_set(random: &mut Random) -> ObservationSet {
        let mut set = ObservationSet::new();
        // The result of an operation depends, more or less, on how many came before it.
        let blocks = random.below(5) as u32;
        let twist = random.below(3);
        for _ in 0..1_500 {
            let mut left = [vec![0, 1], vec![2, 3], vec![4]];
            let mut history = SerialHistory::default();
            while left.iter().any(|it| !it.is_empty()) {
                let at = random.below(3);
                if left[at].is_empty() {
                    continue;
                }
                let operation = left[at].remove(0);
                let place = history.complete.len();
                if operation == blocks && place < 2 {
                    history.stuck = Some(operation);
                    break;
                }
                let earlier = history.complete.last().map_or(0, |it| it.0);
                let result = (place * twist + earlier as usize) % 2;
                history.complete.push((operation, ResultId(result as u32)));
            }
            set.insert(&history);
        }
        set
    }

    /// A random history of the same operations: the last ones may be pending.
    fn random_history(random: &mut Random) -> (Vec<Event<u32, ResultId>>, bool) {
        let mut left = [vec![0, 1], vec![2, 3], vec![4]];
        let mut open = [false; 3];
        let mut events = Vec::new();
        let length = if random.below(2) == 0 { 10 } else { 1 + random.below(7) };
        while events.len() < length {
            let at = random.below(3);
            if open[at] {
                events.push(Event::ret(at as u32, ResultId(random.below(2) as u32)));
                open[at] = false;
            } else if !left[at].is_empty() {
                events.push(Event::call(at as u32, left[at].remove(0)));
                open[at] = true;
            }
        }
        let is_full = length == 10;
        (events, is_full)
    }

    #[test]
    fn explains_agrees_with_the_checkers() {
        let options = JudgeOptions { budget: Budget::unlimited(), ..JudgeOptions::default() };
        let mut random = Random::new(11);
        let mut counts = [0; 4];
        for _ in 0..pick(25, 100) {
            let set = random_set(&mut random);
            for _ in 0..80 {
                let (events, is_full) = random_history(&mut random);
                let history = History::from_events(events).expect("well-formed");
                let (mut results, mut before) = (vec![None; 5], vec![0_u64; 5]);
                for one in history.operations() {
                    results[*one.call as usize] = one.ret.copied();
                    for other in history.operations().filter(|other| other.span.precedes(one.span)) {
                        before[*one.call as usize] |= 1 << *other.call;
                    }
                }
                let small = SmallHistory { results: &results, before: &before };
                let pending: Vec<u32> =
                    history.operations().filter(|it| it.ret.is_none()).map(|it| *it.call).collect();
                let problems = || Problem::of_objects(&set, &history);
                if is_full {
                    let holds = matches!(judge(problems(), &options).verdict, Verdict::Holds(_));
                    assert_eq!(set.has_witness(small, None), holds);
                    counts[usize::from(holds)] += 1;
                } else if !pending.is_empty() {
                    let all_wait = pending.iter().all(|&it| set.has_witness(small, Some(it)));
                    let judged = matches!(judge(problems(), &options).verdict, Verdict::Holds(_))
                        && stuck(problems(), &options) == Stuck::Allowed;
                    // The set has every order, so an operation without a result in a state blocks
                    // there.
                    assert_eq!(all_wait, judged, "{history:?}");
                    counts[2 + usize::from(all_wait)] += 1;
                }
            }
        }
        assert!(counts.iter().all(|it| pick(12, 50) < *it), "{counts:?}");
    }
}
