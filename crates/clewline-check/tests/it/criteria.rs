//! Criteria, compared with their definitions: on every small history, and on random ones.

mod definitions;

use std::collections::BTreeMap;

use clewline_check::{JudgeOptions, Judgement, judge_by};
use clewline_core::{
    Crash, Criterion, ErasedHistory, Event, EventLog, Names, Note, ObjectId, ProcessId, Random, RawCall,
    Recording, Value, Values, Verdict,
};
use clewline_specs::find;
use clewline_testing::{pick, pick_of_three};

use definitions::{Kind, NULL, Operation, Sketch, Step};

/// The history of a sketch. Its operations have the numbers that they have there.
fn loaded(sketch: &Sketch) -> Box<dyn ErasedHistory> {
    let mut values = Values::new();
    let mut log: EventLog<RawCall, Value> = EventLog::new();
    let mut names = Names::default();
    let mut current: BTreeMap<u32, u32> = BTreeMap::new();
    let mut events = 0;
    for step in &sketch.steps {
        match step {
            Step::Crash(crashed) => {
                let is_it = |it: u32| crashed.as_ref().is_none_or(|all| all.contains(&it));
                let mut ended: Vec<ProcessId> =
                    current.iter().filter(|it| is_it(*it.0)).map(|it| ProcessId(*it.1)).collect();
                ended.sort_unstable();
                current.retain(|process, _| !is_it(*process));
                let note = names.notes.len();
                names.notes.push(Note { text: "crash".to_owned(), from: events, until: Some(events) });
                let named =
                    crashed.as_ref().map(|all| all.iter().map(|&it| Value::from(i64::from(it))).collect());
                names.crashes.push(Crash { note, named, node: None, ended });
            }
            Step::Call(at) | Step::Return(at) => {
                let operation = sketch.operations[*at];
                let process = *current.entry(operation.process).or_insert_with(|| {
                    names.processes.push(values.int(i64::from(operation.process)));
                    names.processes.len() as u32 - 1
                });
                log.push(event(&mut values, operation, ProcessId(process), matches!(step, Step::Call(_))))
                    .unwrap();
                events += 1;
            }
        }
    }
    find(sketch.spec).unwrap().load(Recording::new(log.finish(), values, names)).unwrap()
}

fn event(
    values: &mut Values,
    operation: Operation,
    process: ProcessId,
    is_call: bool,
) -> Event<RawCall, Value> {
    let (method, arg) = match operation.kind {
        Kind::Write(value) => ("write", Some(value)),
        Kind::Enq(value) => ("enq", Some(value)),
        Kind::Read => ("read", None),
        Kind::Deq => ("deq", None),
    };
    if is_call {
        let call =
            RawCall { method: values.text(method), arg: arg.map_or(Value::ABSENT, |it| values.int(it)) };
        return Event::Call(process, ObjectId(operation.object), call);
    }
    let ret = match (operation.kind, operation.ret) {
        (Kind::Write(_) | Kind::Enq(_), _) => Value::ABSENT,
        (_, Some(NULL) | None) => Value::NIL,
        (_, Some(value)) => values.int(value),
    };
    Event::Return(process, ret)
}

fn judged(sketch: &Sketch, criterion: Criterion) -> Judgement {
    judge_by(loaded(sketch), criterion, &JudgeOptions::default()).1
}

/// What a criterion requires, by its definition; `None` if it makes no sense for the history.
fn expected(sketch: &Sketch, criterion: Criterion) -> Option<bool> {
    let is_partial = |it: &Step| matches!(it, Step::Crash(Some(_)));
    Some(match criterion {
        Criterion::Strict => sketch.is_strict(None),
        Criterion::BufferedDurable if sketch.steps.iter().any(is_partial) => return None,
        Criterion::BufferedDurable => sketch.is_buffered(),
        Criterion::Sequential => sketch.is_sequential(None),
        Criterion::Regular if sketch.spec != "register" => return None,
        Criterion::Regular => sketch.is_regular(),
        _ => sketch.is_linearizable(),
    })
}

/// How often each criterion held, and how often it was violated.
#[derive(Debug, Default)]
struct Counts(BTreeMap<&'static str, [usize; 2]>);

impl Counts {
    /// Compares the verdict by each criterion with its definition.
    #[track_caller]
    fn compare(&mut self, sketch: &Sketch) {
        for (criterion, name) in Criterion::ALL {
            if criterion == Criterion::Strongest {
                strongest(sketch);
                continue;
            }
            let verdict = judged(sketch, criterion).verdict;
            let Some(holds) = expected(sketch, criterion) else {
                assert_eq!(verdict.word(), "unknown", "{name}: {sketch:?}");
                continue;
            };
            let word = if holds { "holds" } else { "violated" };
            assert_eq!(verdict.word(), word, "{name}: {verdict:?}\n{sketch:#?}");
            if let Verdict::Violated(violation) = verdict {
                let core: Vec<usize> = violation.counterexample.iter().map(|it| it.index()).collect();
                assert!(violation.is_verified, "{name}: {sketch:?}");
                minimal(sketch, criterion, &core);
            }
            self.0.entry(name).or_default()[usize::from(!holds)] += 1;
        }
    }

    fn least(&self) -> usize {
        self.0.values().flatten().copied().min().unwrap_or(0)
    }
}

/// Checks that the operations contradict each other, and that none can be spared.
#[track_caller]
fn minimal(sketch: &Sketch, criterion: Criterion, core: &[usize]) {
    let holds: &dyn Fn(&[usize]) -> bool = match criterion {
        Criterion::Sequential => &|core| sketch.is_sequential(Some(core)),
        Criterion::Strict => &|core| sketch.is_strict(Some(core)),
        _ => return,
    };
    assert!(!holds(core), "{criterion}: {core:?} {sketch:?}");
    // Of a prefix less is known, so that linearizability has another definition.
    for spared in core.iter().filter(|_| criterion == Criterion::Sequential) {
        let fewer: Vec<usize> = core.iter().copied().filter(|it| it != spared).collect();
        assert!(holds(&fewer), "{criterion}: {spared} of {core:?} is not needed: {sketch:?}");
    }
}

/// Checks that the strongest criterion holds, and none that is stronger.
#[track_caller]
fn strongest(sketch: &Sketch) {
    let (case, judgement) = judge_by(loaded(sketch), Criterion::Strongest, &JudgeOptions::default());
    let (found, tried) = case.criterion();
    for &(criterion, word) in tried {
        let holds = expected(sketch, criterion).unwrap();
        assert_eq!(word, if holds { "holds" } else { "violated" }, "{criterion}: {sketch:?}");
    }
    let first = tried.iter().find(|it| it.1 == "holds");
    assert_eq!(judgement.verdict.word(), if first.is_some() { "holds" } else { "violated" });
    assert!(first.is_none_or(|it| it.0 == found), "{tried:?}");
    let any = Criterion::ALL.iter().any(|it| expected(sketch, it.0) == Some(true));
    assert_eq!(any, first.is_some(), "{tried:?} {sketch:?}");
    // Without a crash strict and buffered ones are linearizability.
    let has_crash = sketch.steps.iter().any(|it| matches!(it, Step::Crash(_)));
    let rank = |it: Criterion| match it {
        Criterion::Strict => 0,
        Criterion::Durable | Criterion::Linearizable => 1,
        _ => 2,
    };
    let found = first.map_or(2, |it| rank(it.0));
    for (criterion, name) in Criterion::ALL {
        let is_own = has_crash || !matches!(criterion, Criterion::Strict | Criterion::BufferedDurable);
        if criterion == Criterion::Strongest || !is_own {
            continue;
        }
        let holds = expected(sketch, criterion);
        assert!(found <= rank(criterion) || holds != Some(true), "{name} is stronger: {tried:?} {sketch:?}");
        // None of the weakest implies another: all are tried.
        let is_tried = tried.iter().any(|it| it.0 == criterion);
        assert!(found + rank(criterion) < 4 || holds.is_none() || is_tried, "{name}: {tried:?} {sketch:?}");
    }
}

/// Every history of a number of operations by two processes, with a number of crashes of all.
struct EveryHistory<'f> {
    operations: usize,
    crashes: usize,
    each: &'f mut dyn FnMut(&Sketch),
}

impl EveryHistory<'_> {
    fn go(&mut self, sketch: &mut Sketch, open: [Option<usize>; 2], crashes: usize) {
        // Those that have not returned are pending.
        if sketch.operations.len() == self.operations {
            (self.each)(sketch);
        }
        if crashes < self.crashes && sketch.steps.last().is_some_and(|it| !matches!(it, Step::Crash(_))) {
            sketch.steps.push(Step::Crash(None));
            self.go(sketch, [None; 2], crashes + 1);
            sketch.steps.pop();
        }
        for process in 0..2 {
            match open[process] {
                Some(at) => self.returns(sketch, open, crashes, (process, at)),
                None if sketch.operations.len() < self.operations => {
                    self.calls(sketch, open, crashes, process)
                }
                None => (),
            }
        }
    }

    fn returns(
        &mut self,
        sketch: &mut Sketch,
        open: [Option<usize>; 2],
        crashes: usize,
        (process, at): (usize, usize),
    ) {
        let observes = matches!(sketch.operations[at].kind, Kind::Read | Kind::Deq);
        let last = if observes { sketch.operations.len() as i64 } else { 0 };
        for ret in 0..=last {
            let is_written =
                |it: &Operation| matches!(it.kind, Kind::Write(value) | Kind::Enq(value) if value == ret);
            if ret != 0 && !sketch.operations.iter().any(is_written) {
                continue;
            }
            sketch.operations[at].ret = Some(if ret == 0 { NULL } else { ret });
            sketch.steps.push(Step::Return(at));
            let mut open = open;
            open[process] = None;
            self.go(sketch, open, crashes);
            sketch.steps.pop();
        }
        sketch.operations[at].ret = None;
    }

    fn calls(&mut self, sketch: &mut Sketch, open: [Option<usize>; 2], crashes: usize, process: usize) {
        // Processes are alike: the first one begins.
        if sketch.operations.is_empty() && process == 1 {
            return;
        }
        let at = sketch.operations.len();
        let value = at as i64 + 1;
        let kinds = match sketch.spec {
            "register" => [Kind::Write(value), Kind::Read],
            _ => [Kind::Enq(value), Kind::Deq],
        };
        for kind in kinds {
            sketch.operations.push(Operation { process: process as u32, object: 0, kind, ret: None });
            sketch.steps.push(Step::Call(at));
            let mut open = open;
            open[process] = Some(at);
            self.go(sketch, open, crashes);
            sketch.steps.pop();
            sketch.operations.pop();
        }
    }
}

#[test]
fn small_histories_are_judged_by_the_definitions() {
    for spec in ["register", "queue"] {
        let mut counts = Counts::default();
        let mut number = 0;
        // Every one of the smallest, and a part of the others.
        let sizes = [
            (2, 2, pick_of_three(3, 1, 1)),
            (3, 2, pick_of_three(41, 7, 1)),
            (4, 1, pick_of_three(801, 101, 1)),
            (4, 2, pick_of_three(4_001, 503, 7)),
        ];
        for (operations, crashes, one_in) in sizes {
            let mut each = |sketch: &Sketch| {
                number += 1;
                if number % one_in == 0 {
                    counts.compare(sketch);
                }
            };
            EveryHistory { operations, crashes, each: &mut each }.go(
                &mut Sketch { spec, ..Sketch::default() },
                [None; 2],
                0,
            );
        }
        println!("{spec}: {number} {counts:?}");
        assert!(pick(4, 100) < counts.least(), "{spec}: {counts:?}");
    }
}

/// The result of an operation, and its effect on the contents of an object.
fn take_effect(contents: &mut Vec<i64>, kind: Kind) -> i64 {
    match kind {
        Kind::Write(value) => *contents = vec![value],
        Kind::Enq(value) => contents.push(value),
        Kind::Read => return contents.first().copied().unwrap_or(NULL),
        Kind::Deq if contents.is_empty() => (),
        Kind::Deq => return contents.remove(0),
    }
    NULL
}

/// A random history of an object whose operations take effect at some time, of which the last may
/// be lost in a crash. Now and then a result is wrong.
fn random(random: &mut Random, spec: &'static str) -> Sketch {
    let mut sketch = Sketch { spec, ..Sketch::default() };
    let objects = 1 + random.below(2);
    let mut open: Vec<Option<usize>> = vec![None; 3];
    let mut state: Vec<Vec<i64>> = vec![Vec::new(); 2];
    let mut older = state.clone();
    let mut crashes = 0;
    while sketch.operations.len() < 6 || open.iter().any(Option::is_some) {
        let choice = random.below(16);
        if choice == 0 && crashes < 2 {
            let partial = (random.below(3) == 0).then(|| vec![random.below(3) as u32]);
            crashes += 1;
            (0..3)
                .filter(|it| partial.as_ref().is_none_or(|all| all.contains(&(*it as u32))))
                .for_each(|it| open[it] = None);
            if partial.is_none() && random.below(2) == 0 {
                state.clone_from(&older);
            }
            sketch.steps.push(Step::Crash(partial));
            continue;
        }
        if choice == 1 {
            older.clone_from(&state);
        }
        let process = random.below(3);
        match open[process] {
            None if sketch.operations.len() < 6 => {
                let at = sketch.operations.len();
                let value = at as i64 + 1;
                let kind = match (spec, random.below(2)) {
                    ("register", 0) => Kind::Write(value),
                    ("register", _) => Kind::Read,
                    (_, 0) => Kind::Enq(value),
                    _ => Kind::Deq,
                };
                let object = random.below(objects) as u32;
                sketch.operations.push(Operation { process: process as u32, object, kind, ret: None });
                sketch.steps.push(Step::Call(at));
                open[process] = Some(at);
            }
            None => (),
            Some(_) if random.below(8) == 0 && sketch.operations.len() == 6 => {
                // It stays pending.
                open[process] = None;
            }
            Some(at) => {
                let operation = sketch.operations[at];
                let right = take_effect(&mut state[operation.object as usize], operation.kind);
                let observes = matches!(operation.kind, Kind::Read | Kind::Deq);
                let is_wrong = observes && random.below(5) == 0;
                let wrong = random.below(sketch.operations.len()) as i64;
                let ret = if is_wrong { wrong.max(1) } else { right };
                sketch.operations[at].ret = Some(ret);
                sketch.steps.push(Step::Return(at));
                open[process] = None;
            }
        }
    }
    sketch
}

#[test]
fn random_histories_are_judged_by_the_definitions() {
    let mut all = Counts::default();
    for seed in 0..pick_of_three(50, 1_000, 20_000) {
        for spec in ["register", "queue"] {
            let sketch = random(&mut Random::new(seed), spec);
            println!("seed {seed}, {spec}");
            all.compare(&sketch);
        }
    }
    println!("{all:?}");
    assert!(pick(2, 100) < all.least(), "{all:?}");
}

/// A register in eras, each of which begins with a read. The last write before the first crash is
/// lost, and nothing else.
fn with_eras(eras: usize, writes: usize) -> Sketch {
    let mut sketch = Sketch { spec: "register", ..Sketch::default() };
    let mut value = NULL;
    for era in 0..eras {
        let mut kinds = vec![Kind::Read];
        kinds.extend((0..writes).map(|it| Kind::Write((era * writes + it + 1) as i64)));
        for kind in kinds {
            let at = sketch.operations.len();
            let ret = Some(if matches!(kind, Kind::Read) { value } else { NULL });
            sketch.operations.push(Operation { process: 0, object: 0, kind, ret });
            sketch.steps.extend([Step::Call(at), Step::Return(at)]);
        }
        sketch.steps.push(Step::Crash(None));
        let last = ((era + 1) * writes) as i64;
        value = if era == 0 { last - 1 } else { last };
    }
    sketch
}

/// How deep the search goes is no matter of the stack, and how long an era is not one of its cube.
#[test]
fn many_crashes_and_long_eras_are_judged() {
    let judge = || {
        for (eras, writes) in [(pick_of_three(300, 3_000, 5_000), 2), (3, pick_of_three(150, 2_000, 3_000))] {
            let judgement = judged(&with_eras(eras, writes), Criterion::BufferedDurable);
            assert_eq!((judgement.verdict.word(), &*judgement.algorithm), ("holds", "buffered-durable"));
        }
    };
    let small = std::thread::Builder::new().stack_size(512 << 10);
    small.spawn(judge).unwrap().join().unwrap();
}

/// To judge a long counterexample without the search that found it would take too long.
#[test]
#[ignore = "long"]
fn a_counterexample_that_was_not_judged_by_itself_is_not_verified() {
    let sketch = |operations: usize| {
        let mut sketch = Sketch { spec: "register", ..Sketch::default() };
        for at in 0..operations {
            let (kind, ret) =
                if at + 1 == operations { (Kind::Read, 1) } else { (Kind::Write(at as i64 + 1), NULL) };
            sketch.operations.push(Operation { process: 0, object: 0, kind, ret: Some(ret) });
            sketch.steps.extend([Step::Call(at), Step::Return(at)]);
        }
        sketch
    };
    for (operations, expected) in [(4, true), (2_100, false)] {
        let Verdict::Violated(violation) = judged(&sketch(operations), Criterion::Sequential).verdict else {
            panic!("1 was overwritten");
        };
        assert_eq!(violation.is_verified, expected);
    }
}
