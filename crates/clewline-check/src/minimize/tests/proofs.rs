//! Each rule of the search of a proof, and the search beside one without rules.

use clewline_core::{
    Budget, ErasedHistory, Event, GeneratorConfig, History, Names, ObjectId, Problem, ProcessId, Random,
    RawCall, RawHistory, Recording, Retain, Specification, Value, ValueDomain, Values,
};
use clewline_search::{Checker, jit_graph::JitGraph, prefix::until};
use clewline_specs::find;
use clewline_testing::share;

use crate::minimize::{proof, prover};

/// An event of a history in text: `0 lock` is a call of process 0, `0 = true` its return.
fn history_of(name: &str, events: &[&str]) -> Box<dyn ErasedHistory> {
    let mut values = Values::new();
    let mut raw = Vec::new();
    for event in events {
        let mut words = event.split(' ');
        let process = ProcessId(words.next().unwrap().parse().unwrap());
        let word = words.next().unwrap();
        let mut given: Vec<Value> = words
            .map(|it| match it {
                "true" => Value::TRUE,
                "null" => Value::NIL,
                it => values.int(it.parse().unwrap()),
            })
            .collect();
        if word == "=" {
            raw.push(Event::Return(process, given.remove(0)));
            continue;
        }
        let arg = match &given[..] {
            [] => Value::ABSENT,
            [one] => *one,
            several => values.list(several),
        };
        let call = RawCall { method: values.text(word), arg };
        raw.push(Event::Call(process, ObjectId(0), call));
    }
    let history = RawHistory::from_events(raw).unwrap();
    let recording = Recording::new(history, values, Names::default());
    find(name).unwrap().load(recording).unwrap()
}

#[track_caller]
fn check_possible(name: &str, events: &[&str], required: &[bool]) {
    let case = history_of(name, events);
    assert!(proof::is_possible(&case.problems()[0], required, &Budget::unlimited()));
}

/// An element that is found may have been added long before, and as often as it is found.
#[test]
fn copies_that_are_found_may_come_from_long_before() {
    for (name, add, remove) in [("queue", "enq", "deq"), ("stack", "push", "pop"), ("bag", "add", "take")] {
        for (added, found) in [(3, 3), (3, 4), (2, 2), (2, 3), (1, 1), (0, 1)] {
            let [other, add, remove] = [format!("0 {add} 2"), format!("0 {add} 1"), format!("0 {remove}")];
            let mut events = vec![&*other, "0 = true"];
            (0..added).for_each(|_| events.extend([&*add, "0 = true"]));
            // These are optional, and would remove it.
            let between = 2 * prover::NEAR_OPERATIONS;
            (0..between + found).for_each(|_| events.extend([&*remove, "0 = 1"]));
            let case = history_of(name, &events);
            let required: Vec<bool> = (0..events.len() / 2).map(|at| 1 + added + between <= at).collect();
            let is_possible = proof::is_possible(&case.problems()[0], &required, &Budget::unlimited());
            assert_eq!(is_possible, found <= added, "{name}, {found} of {added}");
        }
    }
}

#[test]
fn different_elements_may_come_from_long_before() {
    let mut events = vec!["0 enq 3", "0 = true", "0 enq 1", "0 = true", "0 enq 2", "0 = true"];
    let between = 2 * prover::NEAR_OPERATIONS;
    (0..between).for_each(|_| events.extend(["0 deq", "0 = 1"]));
    events.extend(["0 deq", "0 = 1", "0 deq", "0 = 2"]);
    let required: Vec<bool> = (0..between + 5).map(|at| between + 3 <= at).collect();
    check_possible("queue", &events, &required);
}

/// The lock that returns first need not wait for the other one.
#[test]
fn of_equal_operations_the_one_that_returns_first_takes_effect_first() {
    let events = ["0 lock", "1 lock", "0 = true", "0 unlock", "0 = true", "1 = true"];
    check_possible("mutex", &events, &[true; 3]);
}

/// The lock of process 1 is left out; those of 0, before the unlock, and of 3 are not.
#[test]
fn an_optional_operation_gives_way_to_an_equal_one_that_is_required() {
    let events = ["0 lock", "1 lock", "2 unlock", "2 = true", "1 = true", "0 = true", "3 lock", "3 = true"];
    check_possible("mutex", &events, &[true, false, true, true]);
}

/// What is read was written by an operation that needs another value, which only a third one wrote.
#[test]
fn values_that_operations_link_matter_together() {
    let events = ["0 get-or-insert 7 1", "0 = 1", "0 cas 7 1 2", "0 = true", "0 get 7", "0 = 2"];
    check_possible("map", &events, &[false, false, true]);
}

/// The write of 5 is called long before the operations that are required, and open until then.
#[test]
fn an_operation_from_long_before_may_take_effect_late() {
    let between = 2 * prover::NEAR_OPERATIONS;
    let mut events = vec!["1 write 1", "1 = true", "0 write 5"];
    (0..between).for_each(|_| events.extend(["1 write 1", "1 = true"]));
    events.extend(["1 read", "1 = 1", "1 read", "1 = 5", "0 = true"]);
    let required: Vec<bool> = (0..between + 4).map(|at| between + 2 <= at).collect();
    check_possible("register", &events, &required);
}

#[track_caller]
fn check_dead_end(name: &str, events: &[&str], core: &[usize], expected: &[u32]) {
    let case = history_of(name, events);
    let end = proof::dead_end(&case.problems()[0], core, &Budget::unlimited()).unwrap();
    let prefix: Vec<u32> = end.prefix.iter().map(|it| it.0).collect();
    assert_eq!((&prefix[..], end.next.index()), (expected, core[core.len() - 1]));
}

/// Both writes come before the read of another value, and the one that was called first is first.
#[test]
fn the_longest_order_is_shown() {
    let events = ["0 write 1", "1 write 2", "2 read", "2 = 3", "0 = true", "1 = true"];
    check_dead_end("register", &events, &[0, 1, 2], &[0, 1]);
}

/// Two optional operations exclude the required one.
#[test]
fn of_two_orders_the_one_with_more_required_operations_is_shown() {
    let events =
        ["0 cas null 1", "1 cas null 2", "2 cas 2 3", "3 read", "3 = 9", "0 = true", "1 = true", "2 = true"];
    check_dead_end("cas-register", &events, &[0, 3], &[0]);
}

/// The write of process 1 is superfluous.
#[test]
fn an_order_is_shown_without_what_makes_no_difference() {
    let events = ["1 write 2", "0 write 2", "0 = true", "0 read", "0 = 3", "1 = true"];
    check_dead_end("register", &events, &[1, 2], &[1]);
}

/// Without the increment, another result would have been right.
#[test]
fn an_order_is_shown_with_what_makes_a_difference() {
    check_dead_end("counter", &["0 inc", "0 = true", "0 read", "0 = 5"], &[1], &[0]);
}

/// Proves all operations of a history; `is_failing` as in [`proof::prove`].
fn proven(events: &[&str], is_failing: bool) -> (Vec<usize>, bool, bool) {
    let case = history_of("register", events);
    let problem = &case.problems()[0];
    let all = problem.operations().to_vec();
    let proven = proof::prove(problem, &[all], is_failing, &Budget::unlimited());
    (proven.core, proven.is_verified, proven.is_minimal)
}

#[test]
fn what_can_be_spared_is_spared() {
    let events = ["0 write 1", "0 = true", "0 write 2", "0 = true", "0 read", "0 = 3"];
    assert_eq!(proven(&events, true), (vec![2], true, true));
}

#[test]
fn nothing_is_proven_of_a_linearizable_history() {
    let (_, is_verified, is_minimal) = proven(&["0 write 1", "0 = true", "0 read", "0 = 1"], true);
    assert!(!is_verified && !is_minimal);
}

/// The last operation is kept, but that it matters is said only if it does.
#[test]
fn a_last_operation_that_can_be_spared_is_not_minimal() {
    let events = ["0 read", "0 = 3", "0 write 1", "0 = true"];
    assert_eq!(proven(&events, false), (vec![0, 1], true, false));
}

/// Objects of which each rule of the proof concerns some.
const PROVEN: [&str; 22] = [
    "mutex",
    "set",
    "register",
    "queue",
    "stack",
    "semaphore:2",
    "cas-register",
    "map",
    "priority-queue",
    "min-priority-queue",
    "bag",
    "queue:2",
    "stack:3",
    "multiset",
    "counter",
    "deque",
    "channel",
    "full-set",
    "bank",
    "quasi-queue:1",
    "quasi-stack:1",
    "quasi-priority-queue:1",
];

/// Of a map, operations each of which concerns two values. One that concerns all of them makes
/// every other operation matter.
const LINKING: [&str; 5] = ["get", "cas", "insert", "remove", "get-or-insert"];

/// Whether some order contains the required operations, and any of the others, is the same in a
/// window of the history and from its beginning, and the same as a search says that knows neither
/// windows nor equal labels.
#[test]
fn windows_and_equal_labels_make_no_difference() {
    let (mut possible, mut impossible, mut spared) = (0, 0, 0);
    for name in PROVEN {
        let specification = find(name).unwrap();
        for seed in 0..share(300) {
            let mut random = Random::new(seed);
            // A search through the orders of a relaxed object takes long.
            let operations = if name.starts_with("quasi") || name == "bank" { 8 } else { 60 };
            let plan = GeneratorConfig {
                operations: 10 + random.below(operations),
                processes: 2 + random.below(3),
                overlap: [0.2, 0.6, 0.9][random.below(3)],
                values: ValueDomain::Below(2 + (seed % 2) as u32 * 2),
                // An operation resets its own key.
                keys: 1 + (seed % 2) as usize,
                mix: match (name, seed % 3) {
                    ("map", 0) => LINKING.iter().map(|it| ((*it).to_owned(), 1)).collect(),
                    _ => Vec::new(),
                },
                pending: if seed % 4 == 0 { 0.0 } else { 0.05 },
                seed,
                ..GeneratorConfig::default()
            };
            let case = specification.load(specification.generate(&plan)).unwrap();
            let whole = &case.problems()[0];
            // Some are lost, and some of the last ones are required.
            let lost = random.below(8);
            let problem = whole.weaken(|_| if random.below(12) < lost { Retain::Drop } else { Retain::All });
            let first = problem.len().saturating_sub(2 + random.below(12));
            let required: Vec<bool> = (0..problem.len())
                .map(|at| first <= at && random.below(3) != 0 && !problem.spans()[at].is_pending())
                .collect();
            // One that is open when the last of them returns may have any result.
            let last = (0..problem.len()).filter(|&at| required[at]).map(|at| problem.spans()[at].end());
            let problem = until(&problem, last.max().unwrap_or(0));
            let required = &required[..problem.len()];
            let word = |required: &[bool]| {
                let keep = |at: usize| if required[at] { Retain::All } else { Retain::Optional };
                JitGraph.decide(&problem.weaken(keep), &Budget::unlimited()).word()
            };
            let budget = Budget::unlimited();
            let about = || format!("{name} {seed}: {required:?} of {problem:#?}");
            let expected = word(required) == "holds";
            assert_eq!(proof::is_possible(&problem, required, &budget), expected, "{}", about());
            possible += usize::from(expected);
            impossible += usize::from(!expected);
            if expected {
                continue;
            }
            let without = proof::possible_without(&problem, required, &budget);
            for (at, is_possible) in without {
                let mut fewer = required.to_vec();
                fewer[at] = false;
                assert!(!is_possible || word(&fewer) == "holds", "without {at}, {}", about());
                spared += usize::from(is_possible);
            }
        }
    }
    assert!(
        share(500) < possible && share(200) < impossible && share(100) < spared,
        "{possible}, {impossible}, {spared}"
    );
}

/// A register whose writes may be lost.
struct Lossy;

impl Specification for Lossy {
    type State = u8;
    type Call = Option<u8>;
    type Return = u8;

    fn initial(&self) -> u8 {
        0
    }

    fn step(&self, &state: &u8, call: &Option<u8>, ret: Option<&u8>, next: &mut Vec<u8>) {
        match call {
            Some(value) if *value != state => next.extend([state, *value]),
            Some(_) => next.push(state),
            None => next.extend((ret.is_none_or(|it| *it == state)).then_some(state)),
        }
    }
}

/// An operation that may have several effects is tried with each, near and long before.
#[test]
fn each_effect_of_an_operation_is_possible() {
    let (mut possible, mut impossible) = (0, 0);
    for seed in 0..share(3_000) {
        let mut random = Random::new(seed);
        let mut open: [Option<Option<u8>>; 3] = [None; 3];
        let mut events = Vec::new();
        // Some are longer than a window.
        for _ in 0..[8, 20, 4 * prover::NEAR_OPERATIONS][random.below(3)] {
            let process = random.below(3);
            events.push(match open[process].take() {
                Some(call) => {
                    let read = if call.is_some() { 9 } else { random.below(4) as u8 };
                    Event::ret(process as u32, read)
                }
                None => {
                    let call = (random.below(2) == 0).then(|| 1 + random.below(3) as u8);
                    open[process] = Some(call);
                    Event::call(process as u32, call)
                }
            });
        }
        let history = History::from_events(events).unwrap();
        let problem = &Problem::new(&Lossy, &history);
        let first = problem.len().saturating_sub(3 + random.below(4));
        let required: Vec<bool> =
            (0..problem.len()).map(|at| first <= at && !problem.spans()[at].is_pending()).collect();
        let keep = |at: usize| if required[at] { Retain::All } else { Retain::Optional };
        let expected = JitGraph.decide(&problem.weaken(keep), &Budget::unlimited()).word() == "holds";
        let found = proof::is_possible(problem, &required, &Budget::unlimited());
        assert_eq!(found, expected, "{seed}: {required:?} of {problem:#?}");
        possible += usize::from(expected);
        impossible += usize::from(!expected);
    }
    assert!(share(300) < possible && share(300) < impossible, "{possible}, {impossible}");
}

/// The only write that explains the last read came long before, and its first effect is none.
#[test]
fn each_effect_of_an_operation_from_long_before_is_possible() {
    let between = 2 * prover::NEAR_OPERATIONS;
    // What is called first may stand for an initial state, and is near.
    let mut events =
        vec![Event::call(0, Some(3)), Event::ret(0, 9), Event::call(0, Some(1)), Event::ret(0, 9)];
    (0..between).for_each(|_| events.extend([Event::call(0, Some(2)), Event::ret(0, 9)]));
    events.extend([Event::call(0, None), Event::ret(0, 1)]);
    let history = History::from_events(events).unwrap();
    let required: Vec<bool> = (0..between + 3).map(|at| at == between + 2).collect();
    assert!(proof::is_possible(&Problem::new(&Lossy, &history), &required, &Budget::unlimited()));
}

/// What a budget does not suffice to prove is neither verified nor minimal.
#[test]
fn a_proof_that_is_given_up_claims_nothing() {
    let (mut given_up, mut minimal, mut not_minimal) = (0, 0, 0);
    for name in ["register", "queue", "mutex", "set"] {
        let specification = find(name).unwrap();
        for seed in 0..share(60) {
            let plan = GeneratorConfig {
                operations: 14,
                processes: 4,
                overlap: 0.8,
                values: ValueDomain::Below(2),
                seed,
                ..GeneratorConfig::default()
            };
            let case = specification.load(specification.generate(&plan)).unwrap();
            let mut random = Random::new(seed);
            let lossy = |_| if random.below(6) == 0 { Retain::Drop } else { Retain::All };
            let problem = &case.problems()[0].weaken(lossy);
            if JitGraph.decide(problem, &Budget::unlimited()).word() == "holds" {
                continue;
            }
            let all = problem.operations().to_vec();
            for size in 0..14 {
                let budget = Budget::unlimited().with_configurations(1 << size);
                let proven = proof::prove(problem, std::slice::from_ref(&all), true, &budget);
                if !proven.is_verified {
                    assert!(!proven.is_minimal);
                    given_up += 1;
                    continue;
                }
                let word = |spared: Option<usize>| {
                    let keep = |at: usize| match () {
                        () if Some(at) == spared => Retain::Unconstrained,
                        () if proven.core.contains(&at) => Retain::All,
                        () => Retain::Optional,
                    };
                    JitGraph.decide(&proven.prefix.weaken(keep), &Budget::unlimited()).word()
                };
                assert_eq!(word(None), "violated", "{name} {seed}, 2^{size}: {proven:#?}");
                // The last one was not spared.
                let last = proven.core.iter().copied().max_by_key(|&at| proven.prefix.spans()[at].end());
                let is_needed = |at: usize| Some(at) == last || word(Some(at)) == "holds";
                let is_minimal = proven.core.iter().all(|&at| is_needed(at));
                assert!(is_minimal || !proven.is_minimal, "{name} {seed}, 2^{size}: {proven:#?}");
                minimal += usize::from(proven.is_minimal);
                not_minimal += usize::from(!is_minimal);
            }
        }
    }
    let least = given_up.min(minimal).min(not_minimal);
    assert!(share(20) < least, "{given_up}, {minimal}, {not_minimal}");
}
