//! Quasi linearizability by displacement: Round-Up's enumeration beside the search, and how the
//! search grows.
//!
//! Histories are those of a queue that removes any of its first k + 1 elements, none of them
//! overtaken more than k times, by a few processes with overlapping operations. In half of them a
//! `deq` near the end and an earlier one then exchange their results.

use std::time::{Duration, Instant};

use clewline_bench::{
    digits, ms,
    relaxed::{self, KFifo, LockedStack},
};
use clewline_check::relaxed::{QuasiVerdict, Relaxation, displaced};
use clewline_core::{
    Budget, ErasedHistory, Event, EventLog, History, Names, ObjectId, Problem, ProcessId, Random, RawCall,
    RawHistory, Recording, Specification, Value, Values,
};
use clewline_lab::enumeration::{Enumeration, EnumerationPlan};
use clewline_methods::Check;
use clewline_specs::{
    find,
    queue::{self, Queue},
    relaxed::{Ordered, Relaxed},
    stack::{self, Stack},
};

const SEEDS: u64 = 10;
const ORDERS: u64 = 300_000;
const CONFIGURATIONS: u64 = 1_500_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(|it| &**it).collect::<Vec<_>>()[..] {
        ["beside"] => beside_each_other(),
        ["growth"] => growth(),
        ["recorded"] => recorded(),
        _ => {
            eprintln!("usage: quasi beside|growth|recorded");
            std::process::exit(2);
        }
    }
}

fn beside_each_other() {
    println!(
        "enumeration ({ORDERS} orders) beside search ({CONFIGURATIONS} configurations), k = 2, means over {SEEDS};"
    );
    println!("what is violated is also explained\n");
    println!(
        "| operations | processes | factors | enumeration, ms | orders | gave up | search, ms | configurations \
         | gave up | hold |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (operations, processes) in [(8, 3), (12, 3), (16, 3), (24, 4), (48, 4), (96, 4), (120, 6)] {
        for classes in [Classes::All, Classes::ByMethod] {
            beside(operations, processes, classes);
        }
    }
}

fn growth() {
    println!("search on histories of a relaxed queue, 4 processes, means over 3\n");
    println!("| operations | k | factors | search, ms | configurations | gave up | hold |");
    println!("|---|---|---|---|---|---|---|");
    for k in [1, 2, 4, 8] {
        for classes in [Classes::All, Classes::ByMethod] {
            for operations in [100, 1_000, 10_000] {
                grow(operations, k, classes);
            }
        }
    }
}

/// What real threads record of relaxed containers, in the relaxed reading.
fn recorded() {
    const THREADS: usize = 4;
    const K: u32 = 8;
    println!("recorded on {THREADS} threads, judged as what it is and with a factor too small\n");
    println!("| container | operations | factor | verdict | by | s | µs an operation |");
    println!("|---|---|---|---|---|---|---|");
    for operations in [10_000, 100_000, 1_000_000] {
        let size = (THREADS, operations);
        let enq = queue::Call::Enq;
        let history = relaxed::recorded(KFifo::new(K, operations), size, 1, enq, || queue::Call::Deq);
        for factor in [K, K / 2] {
            judge("k-FIFO queue", &Relaxed { plain: Queue::default(), factor }, &history);
        }
        let push = stack::Call::Push;
        let history = relaxed::recorded(LockedStack::new(K, 1), size, 1, push, || stack::Call::Pop);
        for factor in [K, K / 2] {
            judge("stack behind a lock", &Relaxed { plain: Stack::default(), factor }, &history);
        }
    }
}

fn judge<P: Ordered>(name: &str, spec: &Relaxed<P>, history: &History<P::Call, P::Return>)
where
    Relaxed<P>: Specification<Call = P::Call, Return = P::Return>,
    P: Sync,
    P::Call: Sync,
    P::Return: Sync,
{
    let start = Instant::now();
    let check = Check::new().timeout(Duration::from_secs(120));
    let report = check.history(spec, history).run().expect("a thread");
    let (time, count) = (start.elapsed().as_secs_f64(), history.len());
    let (verdict, by) = (report.verdict().word(), report.algorithm());
    let (seconds, each) = (digits(time), digits(time * 1e6 / count as f64));
    println!("| {name} | {count} | {} | {verdict} | {by} | {seconds} | {each} |", spec.factor);
}

#[derive(Clone, Copy)]
enum Classes {
    All,
    ByMethod,
}

impl Classes {
    fn relaxation(self, problem: &Problem<'_>, k: u32) -> Relaxation {
        match self {
            Classes::All => Relaxation::all(problem, k),
            Classes::ByMethod => {
                let class = |text: String| Some(usize::from(text.starts_with("deq")));
                let class_of = problem.operations().iter().map(|&id| class(problem.label(id))).collect();
                Relaxation { class_of, factors: vec![0, k] }
            }
        }
    }

    fn name(self, k: u32) -> String {
        match self {
            Classes::All => format!("all={k}"),
            Classes::ByMethod => format!("enq=0,deq={k}"),
        }
    }
}

/// The cost of runs, and how often they gave up.
#[derive(Default)]
struct Sums {
    time: Duration,
    work: u64,
    gave_up: u64,
}

impl Sums {
    fn add(&mut self, since: Instant, work: u64, gave_up: bool) {
        self.time += since.elapsed();
        self.work += work;
        self.gave_up += u64::from(gave_up);
    }

    fn cells(&self, runs: u64) -> String {
        let work = digits(self.work as f64 / runs as f64);
        format!("{} | {work} | {}/{runs}", ms(self.time / runs as u32), self.gave_up)
    }
}

fn beside(operations: usize, processes: usize, classes: Classes) {
    let (mut enumerated, mut searched) = (Sums::default(), Sums::default());
    let mut hold = 0;
    for seed in 0..SEEDS {
        let case = load(simulated(operations, processes, 2, seed), seed % 2 == 1);
        let problem = &case.problems()[0];
        let relaxation = classes.relaxation(problem, 2);
        let mut enumeration = Enumeration::new(EnumerationPlan::ORACLE);
        let start = Instant::now();
        let by_enumeration =
            enumeration.judge(problem, &relaxation, &Budget::unlimited().with_configurations(ORDERS));
        let counts = enumeration.counts();
        enumerated.add(start, counts.permutations + counts.permutations_skipped, by_enumeration.is_err());
        let quasi = search(problem, &relaxation, &mut searched);
        hold += u32::from(quasi.word() == "holds");
        if let (Ok(holds), true) = (by_enumeration, quasi.word() != "unknown") {
            assert_eq!(holds, quasi.word() == "holds", "they agree from seed {seed}");
        }
    }
    let name = classes.name(2);
    let (enumerated, searched) = (enumerated.cells(SEEDS), searched.cells(SEEDS));
    println!("| {operations} | {processes} | {name} | {enumerated} | {searched} | {hold}/{SEEDS} |");
}

fn grow(operations: usize, k: u32, classes: Classes) {
    const RUNS: u64 = 3;
    let mut sums = Sums::default();
    let mut hold = 0;
    for seed in 0..RUNS {
        let case = load(simulated(operations, 4, k as usize, seed), false);
        let problem = &case.problems()[0];
        let quasi = search(problem, &classes.relaxation(problem, k), &mut sums);
        hold += u32::from(quasi.word() == "holds");
        if let Classes::ByMethod = classes {
            assert_ne!(quasi.word(), "violated", "a relaxed queue whose elements leave is in bounds");
        }
    }
    println!("| {operations} | {k} | {} | {} | {hold}/{RUNS} |", classes.name(k), sums.cells(RUNS));
}

fn search(problem: &Problem<'_>, relaxation: &Relaxation, sums: &mut Sums) -> QuasiVerdict {
    let budget = Budget::unlimited().with_configurations(CONFIGURATIONS);
    let start = Instant::now();
    let quasi = displaced(problem, relaxation, &budget);
    sums.add(start, budget.visited(), quasi.word() == "unknown");
    quasi
}

fn load(history: (RawHistory, Values), spoiled: bool) -> Box<dyn ErasedHistory> {
    let (mut history, values) = history;
    if spoiled {
        history = spoil(history);
    }
    let recording = Recording::new(history, values, Names::default());
    find("queue").expect("it is in the catalog").load(recording).expect("its operations are a queue's")
}

/// The last `deq` and the one five before it exchange their results.
fn spoil(history: RawHistory) -> RawHistory {
    let takes: Vec<_> = history.operations().filter(|it| it.ret.is_some_and(|it| !it.is_absent())).collect();
    let Some(last) = takes.last() else { return history };
    let other = takes[takes.len().saturating_sub(6)];
    let exchanged = [(last.id, *other.ret.expect("filtered")), (other.id, *last.ret.expect("filtered"))];
    let ret_of = |id, ret| exchanged.iter().find(|it| it.0 == id).map_or(ret, |it| it.1);
    let spoiled = history.clone().try_map(|id, call, ret| Ok::<_, ()>((call, ret.map(|it| ret_of(id, it)))));
    spoiled.expect("nothing fails")
}

enum Doing {
    Nothing,
    Enqueuing(i64),
    Dequeuing,
    Returning(Option<i64>),
}

/// A history of a relaxed queue, drained in the end. At most ten elements are inside.
fn simulated(operations: usize, processes: usize, k: usize, seed: u64) -> (RawHistory, Values) {
    let mut random = Random::new(seed);
    let mut values = Values::new();
    let [enq, deq] = ["enq", "deq"].map(|it| values.text(it));
    let mut log: EventLog<RawCall, Value> = EventLog::new();
    let mut doing: Vec<Doing> = (0..processes).map(|_| Doing::Nothing).collect();
    // Each element with how often it was overtaken; calls that will add or remove one count at
    // once.
    let mut inside: Vec<(i64, usize)> = Vec::new();
    let (mut called, mut added, mut to_take, mut open) = (0, 0, 0, 0);
    while called < operations || 0 < open {
        let process = random.below(processes);
        let id = ProcessId(process as u32);
        match doing[process] {
            Doing::Nothing if called < operations => {
                let left = operations - called;
                let may_add = to_take + 1 < left && to_take < 10;
                let call = if to_take == 0 || (may_add && random.chance(0.5)) {
                    added += 1;
                    to_take += 1;
                    doing[process] = Doing::Enqueuing(added);
                    RawCall { method: enq, arg: values.int(added) }
                } else {
                    to_take -= 1;
                    doing[process] = Doing::Dequeuing;
                    RawCall { method: deq, arg: Value::ABSENT }
                };
                log.push(Event::Call(id, ObjectId(0), call)).expect("it is idle");
                called += 1;
                open += 1;
            }
            Doing::Nothing => (),
            Doing::Enqueuing(value) => {
                inside.push((value, 0));
                doing[process] = Doing::Returning(None);
            }
            // Waits while the queue is empty.
            Doing::Dequeuing if inside.is_empty() => (),
            Doing::Dequeuing => {
                let worn = inside.iter().position(|it| k <= it.1).unwrap_or(k).min(inside.len() - 1);
                let place = random.below(worn.min(k) + 1);
                inside[..place].iter_mut().for_each(|it| it.1 += 1);
                doing[process] = Doing::Returning(Some(inside.remove(place).0));
            }
            Doing::Returning(value) => {
                let ret = value.map_or(Value::ABSENT, |it| values.int(it));
                log.push(Event::Return(id, ret)).expect("it called");
                doing[process] = Doing::Nothing;
                open -= 1;
            }
        }
    }
    (log.finish(), values)
}
