//! The published stateright crate's `LinearizabilityTester` beside our checkers, on the same
//! histories.
//!
//! Four processes; registers and stacks (stateright's own specifications), queues and maps (written
//! here), of growing size, linearizable and with two results exchanged near the end. Both sides
//! start from one recording in memory: theirs turns it into calls and returns of its types,
//! receives the events in order and decides; ours loads it and decides. Processor time. Stateright
//! is started in a process of its own, which gives up after ten seconds of it; a table ends where
//! that happens to the median of its histories.

use std::{
    collections::{BTreeMap, VecDeque},
    thread,
    time::Duration,
};

use clewline_bench::{MAP, QUEUE, REGISTER, STACK, Shape, ask_child, checker, cpu, ms, ratio};
use clewline_check::{JudgeOptions, check, judge};
use clewline_core::{Budget, Datum, End, RawCall, Recording, Value, Values, Verdict};
use cpu_time::ProcessTime;
use stateright::semantics::{
    ConsistencyTester, LinearizabilityTester, SequentialSpec,
    register::{Register, RegisterOp, RegisterRet},
    vec::{VecOp, VecRet},
};

const SHAPES: [Shape; 4] = [REGISTER, STACK, QUEUE, MAP];
const SIZES: [usize; 12] = [2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512];
const SEEDS: u64 = 5;
const STATERIGHT_TIMEOUT: Duration = Duration::from_secs(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [shape, kind, operations, seed] = &arguments[..] {
        let number = |it: &str| it.parse().expect("a number");
        return run_stateright(SHAPES[number(shape)], kind, number(operations), number(seed) as u64);
    }
    println!(
        "medians of {SEEDS} histories of 4 processes; \
         in brackets how many of them stateright gave up after {STATERIGHT_TIMEOUT:?}\n"
    );
    for (number, shape) in SHAPES.iter().enumerate() {
        for kind in ["linearizable", "violated"] {
            println!(
                "| {}, {kind}: operations | stateright, ms | jit-graph, ms | auto, ms | stateright / auto |",
                shape.name
            );
            println!("|---|---|---|---|---|");
            SIZES.iter().map(|it| 4 * it).find(|&it| !compare(number, kind, it));
            println!();
        }
    }
}

/// Prints a row; false if stateright gives up.
fn compare(shape: usize, kind: &str, operations: usize) -> bool {
    let mut theirs: Vec<Duration> = Vec::new();
    let (mut graph, mut auto) = (Vec::new(), Vec::new());
    let mut gave_up = 0;
    for seed in 1..=SEEDS {
        let Some(recording) = history(SHAPES[shape], kind, operations, seed) else { continue };
        let ours = |judging: bool| {
            let mut holds = false;
            let time = cpu(9, || holds = decide(SHAPES[shape], recording.clone(), judging));
            assert_eq!(holds, kind == "linearizable", "seed {seed}, {operations} operations");
            time
        };
        graph.push(ours(false));
        auto.push(ours(true));
        // Once the median is certain the rest need not be run.
        let arguments = [shape.to_string(), kind.to_owned(), operations.to_string(), seed.to_string()];
        let output =
            (gave_up <= SEEDS / 2).then(|| ask_child(&arguments.each_ref().map(|it| &**it))).flatten();
        let Some((verdict, time)) = output.as_deref().and_then(|it| it.split_once(' ')) else {
            gave_up += 1;
            theirs.push(Duration::MAX);
            continue;
        };
        assert_eq!(verdict, kind, "stateright agrees: seed {seed}, {operations} operations");
        theirs.push(Duration::from_nanos(time.parse().expect("nanoseconds")));
    }
    if theirs.is_empty() {
        return true;
    }
    let [theirs, graph, auto] = [theirs, graph, auto].map(|mut it| {
        it.sort_unstable();
        it[it.len() / 2]
    });
    let note = match gave_up {
        0 => String::new(),
        _ => format!(" ({gave_up})"),
    };
    let (time, times) = match theirs {
        Duration::MAX => {
            (format!("> {}", ms(STATERIGHT_TIMEOUT)), format!("> {}", ratio(STATERIGHT_TIMEOUT, auto)))
        }
        time => (ms(time) + &note, ratio(time, auto)),
    };
    println!("| 4 x {} | {time} | {} | {} | {times} |", operations / 4, ms(graph), ms(auto));
    theirs != Duration::MAX
}

fn history(shape: Shape, kind: &str, operations: usize, seed: u64) -> Option<Recording> {
    let recording = shape.generate(operations, seed);
    if kind == "linearizable" { Some(recording) } else { shape.violate(&recording) }
}

/// Our verdict: of `auto`, or of `jit-graph` on the whole object.
fn decide(shape: Shape, recording: Recording, judging: bool) -> bool {
    let case = shape.load(recording);
    let verdict = if judging {
        judge(case.problems(), &JudgeOptions { counterexample_configurations: 0, ..JudgeOptions::default() })
            .verdict
    } else {
        check(checker("jit-graph"), &case.problems()[0], &Budget::unlimited())
    };
    matches!(verdict, Verdict::Holds(_))
}

/// In a process of its own: prints stateright's verdict and how many nanoseconds it took.
fn run_stateright(shape: Shape, kind: &str, operations: usize, seed: u64) {
    thread::spawn(|| {
        while ProcessTime::now().as_duration() < STATERIGHT_TIMEOUT {
            thread::sleep(Duration::from_millis(20));
        }
        std::process::exit(1);
    });
    let recording = history(shape, kind, operations, seed).expect("asked only about histories there are");
    let mut holds = false;
    let time = cpu(3, || {
        holds = match shape.spec {
            "register" => check_with_stateright(Register(Value::NIL), &recording, register),
            "stack" => check_with_stateright(Vec::new(), &recording, stack),
            "queue" => check_with_stateright(Queue::default(), &recording, |_, call, ret| (call, ret)),
            _ => check_with_stateright(Map::default(), &recording, map),
        }
    });
    println!("{} {}", if holds { "linearizable" } else { "violated" }, time.as_nanos());
}

/// Passes the events to stateright, one after the other, and returns its verdict.
fn check_with_stateright<S>(
    initial: S,
    recording: &Recording,
    read: impl Fn(&Values, RawCall, Value) -> (S::Op, S::Ret),
) -> bool
where
    S: SequentialSpec + Clone,
    S::Op: Clone + std::fmt::Debug,
    S::Ret: Clone + std::fmt::Debug,
{
    let history = &recording.history;
    let mut tester = LinearizabilityTester::new(initial);
    for (id, end) in history.events() {
        let ret = *history.ret(id).expect("no operation is pending");
        let (op, ret) = read(&recording.values, *history.call(id), ret);
        let process = history.process(id).0;
        let recorded = match end {
            End::Call => tester.on_invoke(process, op),
            End::Return => tester.on_return(process, ret),
        };
        recorded.expect("a history is well formed");
    }
    tester.is_consistent()
}

fn name(values: &Values, call: RawCall) -> &str {
    match values.get(call.method) {
        Datum::Text(name) => name,
        _ => panic!("methods are texts"),
    }
}

fn register(values: &Values, call: RawCall, ret: Value) -> (RegisterOp<Value>, RegisterRet<Value>) {
    match name(values, call) {
        "write" => (RegisterOp::Write(call.arg), RegisterRet::WriteOk),
        _ => (RegisterOp::Read, RegisterRet::ReadOk(ret)),
    }
}

fn stack(values: &Values, call: RawCall, ret: Value) -> (VecOp<Value>, VecRet<Value>) {
    match name(values, call) {
        "push" => (VecOp::Push(call.arg), VecRet::PushOk),
        _ => (VecOp::Pop, VecRet::PopOk((ret != Value::NIL).then_some(ret))),
    }
}

/// A queue. An `enq` has an argument and returns nothing.
#[derive(Clone, Default)]
struct Queue(VecDeque<Value>);

impl SequentialSpec for Queue {
    type Op = RawCall;
    type Ret = Value;

    fn invoke(&mut self, call: &RawCall) -> Value {
        if call.arg.is_absent() {
            return self.0.pop_front().unwrap_or(Value::NIL);
        }
        self.0.push_back(call.arg);
        Value::ABSENT
    }
}

/// A map.
#[derive(Clone, Default)]
struct Map(BTreeMap<Value, Value>);

#[derive(Clone, Debug)]
enum MapOp {
    Get(Value),
    Put(Value, Value),
    Remove(Value),
    GetOrInsert(Value, Value),
}

fn map(values: &Values, call: RawCall, ret: Value) -> (MapOp, Value) {
    let op = match (name(values, call), values.get(call.arg)) {
        ("put", Datum::List(&[key, value])) => MapOp::Put(key, value),
        ("get-or-insert", Datum::List(&[key, value])) => MapOp::GetOrInsert(key, value),
        ("remove", _) => MapOp::Remove(call.arg),
        _ => MapOp::Get(call.arg),
    };
    (op, ret)
}

impl SequentialSpec for Map {
    type Op = MapOp;
    type Ret = Value;

    fn invoke(&mut self, op: &MapOp) -> Value {
        match *op {
            MapOp::Get(key) => self.0.get(&key).copied().unwrap_or(Value::NIL),
            MapOp::Put(key, value) => {
                self.0.insert(key, value);
                Value::ABSENT
            }
            MapOp::Remove(key) => self.0.remove(&key).unwrap_or(Value::NIL),
            MapOp::GetOrInsert(key, value) => *self.0.entry(key).or_insert(value),
        }
    }
}
