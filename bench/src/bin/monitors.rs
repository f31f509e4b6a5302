//! Monitors: growth from 10^4 to 10^7 operations, beside a search; memory; and from a file to the
//! verdict.
//!
//! `monitors [MOST] [SPEC]` goes up to MOST operations (default 10^6), for one object or for all.
//! Histories are simulated with distinct values; in violated ones two results at three quarters of
//! the way are exchanged. Times are processor time of one thread, from a ranked history in memory
//! (or a file of JSON lines) to the verdict. The peer is `jit-graph` on the same history in the
//! same run; `-` gave up. Memory is what judging adds, at its peak, to the history: in a process of
//! its own, with an allocator that returns freed memory to the system.

use std::{fs, hint::black_box, sync::mpsc, thread, time::Duration};

use clewline_bench::{Shape, ask_child_with, checker, cpu, digits, peak_bytes, reset_peak, resident_bytes};
use clewline_check::check;
use clewline_core::{
    Budget, ErasedHistory, GeneratorConfig, OperationId, Problem, RawCall, Reason, Recording, Value,
    ValueDomain,
};
use clewline_formats::{ReadOptions, formats};
use clewline_monitor::{self as monitor, MonitorVerdict, Want};
use clewline_specs::find;
use cpu_time::ThreadTime;

const OBJECTS: [Object; 8] = [
    Object::new("set", &[("add", 2), ("remove", 1), ("contains", 1)], ValueDomain::Distinct, Some(0.05)),
    Object::new("queue", &[("enq", 1), ("deq", 1)], ValueDomain::Distinct, Some(0.1)),
    Object::new("priority-queue", &[("add", 1), ("poll", 1)], ValueDomain::Shuffled, Some(0.2)),
    Object::new("stack", &[("push", 1), ("pop", 1)], ValueDomain::Distinct, Some(0.35)),
    Object::new("register", &[("write", 1), ("read", 1)], ValueDomain::Distinct, Some(0.1)),
    Object::new("bag", &[("add", 1), ("take", 1)], ValueDomain::Distinct, None),
    Object::new("counter", &[("inc", 1), ("read", 1)], ValueDomain::Distinct, None),
    Object::new("multiset", &[("add", 2), ("remove", 1), ("contains", 1)], ValueDomain::Distinct, None),
];

const PROCESSES: [usize; 3] = [4, 32, 100];
const OPERATIONS_MIN: usize = 10_000;
const RUNS: usize = 5;

// Beyond these limits a search counts as not finishing, and is not tried on longer histories.
const PEER_CONFIGURATIONS: u64 = 2_000_000;
const PEER_BYTES: usize = 1 << 30;
const PEER_TIMEOUT: Duration = Duration::from_secs(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(|it| &**it).collect::<Vec<_>>()[..] {
        ["memory", spec, operations, processes, want] => {
            println!("{}", memory(object(spec), number(operations), number(processes), want));
        }
        [] => tables(1_000_000, &OBJECTS),
        [most] => tables(number(most), &OBJECTS),
        [most, spec] => tables(number(most), &[object(spec)]),
        _ => {
            eprintln!("usage: monitors [MOST] [SPEC]");
            std::process::exit(2);
        }
    }
}

fn number(text: &str) -> usize {
    text.parse().expect("a number")
}

fn object(spec: &str) -> Object {
    OBJECTS.into_iter().find(|it| it.shape.spec == spec).expect("one of the objects")
}

/// What is judged, and the target time.
#[derive(Clone, Copy)]
struct Object {
    shape: Shape,
    // Seconds for a million operations, without a witness.
    goal: Option<f64>,
}

impl Object {
    const fn new(
        spec: &'static str,
        mix: &'static [(&'static str, u32)],
        values: ValueDomain,
        goal: Option<f64>,
    ) -> Object {
        Object { shape: Shape { name: spec, spec, mix, values }, goal }
    }

    fn generate(&self, operations: usize, processes: usize) -> Recording {
        let plan = GeneratorConfig { operations, processes, overlap: 0.9, ..GeneratorConfig::default() };
        match self.shape.spec {
            // To sample from a large bag takes long. What is removed from a priority queue of
            // shuffled values might have been removed from a bag.
            "bag" => renamed(object("priority-queue").shape.generate_as(&plan), &[("poll", "take")]),
            _ => self.shape.generate_as(&plan),
        }
    }
}

/// The recording with some methods renamed.
fn renamed(mut recording: Recording, names: &[(&str, &str)]) -> Recording {
    let values = &mut recording.values;
    let names: Vec<(Value, Value)> = names.iter().map(|(a, b)| (values.text(a), values.text(b))).collect();
    let history = recording.history.try_map(|_, call, ret| {
        let name = names.iter().find(|it| it.0 == call.method).map_or(call.method, |it| it.1);
        Ok::<_, ()>((RawCall { method: name, ..call }, ret))
    });
    Recording { history: history.expect("renaming cannot fail"), ..recording }
}

fn tables(most: usize, objects: &[Object]) {
    println!(
        "| history | operations | processes | verdict, ms | ns/operation | growth | with witness, ms | witness / verdict \
         | goal, ms | jit-graph, ms | jit-graph / monitor |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for object in objects {
        for processes in PROCESSES {
            growth(object, processes, most);
        }
    }
    println!(
        "\n| judging adds at its peak, bytes/operation | operations | processes | verdict | with witness |"
    );
    println!("|---|---|---|---|---|");
    for object in objects {
        for operations in sizes(most).filter(|&it| 100_000 < it) {
            for processes in PROCESSES {
                let bytes = ["verdict", "witness"].map(|it| ask_memory(object, operations, processes, it));
                println!(
                    "| {} | {operations} | {processes} | {} | {} |",
                    object.shape.name, bytes[0], bytes[1]
                );
            }
        }
    }
    println!(
        "\n| from a file of JSON lines | operations | MB | to the verdict, s | operations/s | reading | loading | judging |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for object in objects {
        for operations in sizes(most) {
            from_file(object, operations);
        }
    }
}

fn sizes(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(OPERATIONS_MIN), |it| Some(it * 10)).take_while(move |&it| it <= most)
}

/// Rows of growing histories, linearizable and violated.
fn growth(object: &Object, processes: usize, most: usize) {
    let mut before: [Option<Duration>; 2] = [None; 2];
    let mut is_hopeless = [false; 2];
    for operations in sizes(most) {
        let good = object.generate(operations, processes);
        let bad = violated(object, &good);
        for (at, (word, recording)) in
            [("linearizable", Some(good)), ("violated", bad)].into_iter().enumerate()
        {
            let name = format!("{}, {word}", object.shape.name);
            let Some(recording) = recording else {
                println!("| {name} | {operations} | {processes} | not planted | | | | | | | |");
                continue;
            };
            let case = object.shape.load(recording);
            let Some(holds) = monitor_holds(&*case, Want::Verdict) else {
                println!("| {name} | {operations} | {processes} | no monitor | | | | | | | |");
                continue;
            };
            assert_eq!(holds, word == "linearizable", "{name} of {operations}: the monitor errs");
            let [verdict, witness] = [Want::Verdict, Want::Witness].map(|want| measure(&*case, want));
            let peer = if is_hopeless[at] { None } else { peer(&*case, holds) };
            is_hopeless[at] = peer.is_none();
            let goal = object.goal.filter(|_| operations == 1_000_000);
            println!(
                "| {name} | {operations} | {processes} | {} | {} | {} | {} | {} | {} | {} | {} |",
                ms(verdict),
                digits(verdict.as_secs_f64() * 1e9 / operations as f64),
                before[at].map_or_else(String::new, |it| times(verdict, it)),
                ms(witness),
                times(witness, verdict),
                goal.map_or_else(String::new, |it| digits(it * 1e3)),
                peer.map_or_else(|| "-".to_owned(), ms),
                peer.map_or_else(String::new, |it| times(it, verdict)),
            );
            before[at] = Some(verdict);
        }
    }
}

fn measure(case: &dyn ErasedHistory, want: Want) -> Duration {
    cpu(RUNS, || {
        black_box(monitor_holds(case, want));
    })
}

fn ms(time: Duration) -> String {
    digits(time.as_secs_f64() * 1e3)
}

fn times(one: Duration, other: Duration) -> String {
    digits(one.as_secs_f64() / other.as_secs_f64())
}

/// Whether the monitor's verdict is that the history holds; none if it cannot decide.
fn monitor_holds(case: &dyn ErasedHistory, want: Want) -> Option<bool> {
    let problems = case.problems();
    match monitor::judge(&problems[0], want, &Budget::unlimited()) {
        Ok(MonitorVerdict::Holds(_)) => Some(true),
        Ok(MonitorVerdict::Violated(_)) => Some(false),
        Err(_) => None,
    }
}

/// The time of the search, if it finishes. It judges keys apart, where there are keys.
fn peer(case: &dyn ErasedHistory, holds: bool) -> Option<Duration> {
    let budget = Budget::unlimited().with_configurations(PEER_CONFIGURATIONS).with_memory(PEER_BYTES);
    let (done, waiting) = mpsc::channel::<()>();
    let watched = budget.clone();
    let watch = thread::spawn(move || {
        if waiting.recv_timeout(PEER_TIMEOUT) == Err(mpsc::RecvTimeoutError::Timeout) {
            watched.stop(Reason::Time(PEER_TIMEOUT));
        }
    });
    let start = ThreadTime::now();
    let parts = case.problems().into_iter().flat_map(Problem::into_parts);
    let verdicts = parts.map(|it| check(checker("jit-graph"), &it, &budget));
    // Words in the order of the alphabet: what holds is outdone by what is unknown, and that by
    // what is violated.
    let verdict = verdicts.map(|it| it.word()).max().unwrap_or("holds");
    let elapsed = start.elapsed();
    drop(done);
    watch.join().expect("it only waits");
    if verdict == "unknown" {
        return None;
    }
    assert_eq!(verdict == "holds", holds, "the search and the monitor disagree");
    Some(elapsed)
}

/// `recording` with two results exchanged, three quarters of the way, so that it is violated.
///
/// None if none of some pairs does, or no monitor can decide.
fn violated(object: &Object, recording: &Recording) -> Option<Recording> {
    const ATTEMPTS: usize = 20;
    const DISTANCE_OPERATIONS: usize = 1_000;
    let history = &recording.history;
    let id = OperationId::from_index;
    let start = history.len() / 4 * 3;
    let mut attempts = 0;
    for a in (start..history.len() - DISTANCE_OPERATIONS).map(id) {
        // Exchanging nothing or false would not be a violation.
        if history.ret(a).is_none_or(|it| [Value::ABSENT, Value::NIL, Value::FALSE].contains(it)) {
            continue;
        }
        let exchanged = |it: &OperationId| {
            history.call(*it).method == history.call(a).method
                && history.ret(*it).is_some_and(|it| ![Value::ABSENT, Value::NIL].contains(it))
                && history.ret(*it) != history.ret(a)
        };
        let Some(b) = (a.index() + DISTANCE_OPERATIONS..history.len()).map(id).find(exchanged) else {
            continue;
        };
        let changed = history.clone().try_map(|it, call, ret| {
            let other = if it == a { Some(b) } else { (it == b).then_some(a) };
            Ok::<_, ()>((call, other.map_or(ret, |other| history.ret(other).copied())))
        });
        let changed = Recording { history: changed.ok()?, ..recording.clone() };
        match monitor_holds(&*object.shape.load(changed.clone()), Want::Verdict)? {
            false => return Some(changed),
            true if ATTEMPTS == attempts => return None,
            true => attempts += 1,
        }
    }
    None
}

fn ask_memory(object: &Object, operations: usize, processes: usize, want: &str) -> String {
    let [operations, processes] = [operations, processes].map(|it| it.to_string());
    // Blocks of this size and more are given back to the system when they are freed.
    let settings = [("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TOP_PAD_", "0")];
    let output = ask_child_with(&["memory", object.shape.spec, &operations, &processes, want], &settings);
    output.unwrap_or_else(|| "failed".to_owned())
}

fn memory(object: Object, operations: usize, processes: usize, want: &str) -> String {
    let want = if want == "witness" { Want::Witness } else { Want::Verdict };
    let case = object.shape.load(object.generate(operations, processes));
    reset_peak();
    let before = resident_bytes();
    match monitor_holds(&*case, want) {
        Some(_) => digits(peak_bytes().saturating_sub(before) as f64 / operations as f64),
        None => "no monitor".to_owned(),
    }
}

fn from_file(object: &Object, operations: usize) {
    let format = formats::find("jsonl").expect("it is registered");
    let path = std::env::temp_dir().join(format!("clewline-monitors-{}.jsonl", std::process::id()));
    let mut file = std::io::BufWriter::new(fs::File::create(&path).expect("a temporary file"));
    format.write(&object.generate(operations, 32), &mut file).expect("it can be written");
    drop(file);
    let bytes = fs::metadata(&path).map_or(0, |it| it.len());
    let specification = find(object.shape.spec).expect("it is in the catalogue");
    let mut stages = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        let mut lap = ThreadTime::now();
        let options = ReadOptions::default();
        let mut file = fs::File::open(&path).expect("it was written");
        let recording = format.read(&mut file, &options).expect("it is in its format");
        stages[0].push(lap.elapsed());
        lap = ThreadTime::now();
        let case = specification.load(recording).expect("it fits its specification");
        stages[1].push(lap.elapsed());
        lap = ThreadTime::now();
        black_box(monitor_holds(&*case, Want::Verdict));
        stages[2].push(lap.elapsed());
    }
    // It does not matter if the file remains.
    let _removed = fs::remove_file(&path);
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    };
    let [read, load, judge] = stages.map(median);
    let all = read + load + judge;
    let share = |it: f64| format!("{} %", digits(it / all * 100.0));
    println!(
        "| {} | {operations} | {} | {} | {} | {} | {} | {} |",
        object.shape.name,
        digits(bytes as f64 / 1e6),
        digits(all),
        digits(operations as f64 / all),
        share(read),
        share(load),
        share(judge)
    );
}
