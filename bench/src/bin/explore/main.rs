//! Exploring: the published loom and shuttle beside our engine, on the same programs.
//!
//! The programs are written once and compiled over the atomics and locks of each engine. For loom
//! and shuttle a main thread makes the structure, starts one thread a column and waits for them, as
//! their users do; our engine runs the matrix directly. Results are not judged. Each
//! exploration is given so much processor time, and is repeated if it needs much less; what does
//! not end in time says so, and its rate is that of the executions it made. Each row is measured in
//! a process of its own: shuttle hears of every panic of the process, and loom panics to end a
//! coroutine.
//!
//! * `explore [SECONDS]`: all engines, so long for each exploration that does not end, a second
//!   unless said otherwise; the best of three.
//! * `explore ours [SECONDS]`: our engine alone.
//! * `explore costs`: what an execution costs before its first step, and what each step costs.
//! * `explore count MATRIX WAY EXECUTIONS`: our engine makes that number of executions, or all,
//!   and prints the number of steps: for counting instructions, which is exact on a busy machine as
//!   well.
//! * `explore memory`: what is resident after each of ten million executions.

mod looms;
mod ours;
mod shuttles;

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use clewline_bench::{digits, ms, resident_bytes};
use clewline_explore::schedulers::SchedulerSettings;
use cpu_time::ProcessTime;

/// A call on any of the structures.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Brings the node, or the number, that it may use.
    Put(usize),
    Take,
}

/// A structure over the atomics of some engine.
pub trait Subject: Sized + 'static {
    fn make() -> Self;
    fn call(&self, call: Call) -> usize;
}

/// The calls of one task.
pub type Column = &'static [Call];

/// Which structure.
#[derive(Clone, Copy, Debug)]
pub enum ObjectKind {
    Counter,
    Locked,
    Treiber,
    MichaelScott,
    /// Counts one call up in as many accesses as its number says.
    Steps,
}

/// Calls on a structure.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    name: &'static str,
    kind: ObjectKind,
    columns: &'static [Column],
    /// Whether there are too many schedules to try them without a bound.
    is_large: bool,
}

/// How an engine goes through the schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Exhaustive,
    Reduced,
    Bounded,
    BoundedReduced,
    Random,
    Pct,
    /// Everything under a weak memory model, with a reduction.
    Weak,
}

const PREEMPTIONS_MAX: u32 = 2;
const PCT_DEPTH: u32 = 3;
const ROUNDS: u32 = 3;

/// What became of one exploration.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    executions: u64,
    is_done: bool,
}

/// A limit on processor time.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    start: ProcessTime,
    patience: Duration,
}

impl Deadline {
    fn new(patience: Duration) -> Deadline {
        Deadline { start: ProcessTime::now(), patience }
    }

    pub fn is_over(&self) -> bool {
        self.patience < self.start.elapsed()
    }
}

use Call::{Put, Take};

const THREE: Column = &[Put(1), Put(1), Put(1)];
const MIXED: &[Column] = &[&[Put(1), Take, Put(3)], &[Take, Put(5), Take], &[Put(7), Take, Put(9)]];
const PAIRS: &[Column] = &[&[Put(1), Take], &[Put(2), Take]];

const MATRICES: &[Matrix] = ALL.split_at(6).0;

// Those of the tables, and those that [`costs`] needs.
const ALL: &[Matrix] = &[
    Matrix {
        name: "(a) counter, 3 fetch_add x 2",
        kind: ObjectKind::Counter,
        columns: &[THREE, THREE],
        is_large: false,
    },
    Matrix { name: "(b) Treiber, push pop x 2", kind: ObjectKind::Treiber, columns: PAIRS, is_large: false },
    Matrix {
        name: "(c) Michael-Scott, enq deq x 2",
        kind: ObjectKind::MichaelScott,
        columns: PAIRS,
        is_large: false,
    },
    Matrix {
        name: "(d) counter below a lock, 3 x 3",
        kind: ObjectKind::Locked,
        columns: &[THREE, THREE, THREE],
        is_large: false,
    },
    Matrix { name: "(e) Treiber, 3 x 3", kind: ObjectKind::Treiber, columns: MIXED, is_large: true },
    Matrix {
        name: "(f) Michael-Scott, 3 x 3",
        kind: ObjectKind::MichaelScott,
        columns: MIXED,
        is_large: true,
    },
    steps(&[&[Put(5)], &[Put(5)]]),
    steps(&[&[Put(50)], &[Put(50)]]),
    steps(&[&[Put(100)], &[Put(100)]]),
    Matrix { kind: ObjectKind::Counter, ..steps(&[&[Put(1); 50], &[Put(1); 50]]) },
];

const fn steps(columns: &'static [Column]) -> Matrix {
    Matrix { name: "steps", kind: ObjectKind::Steps, columns, is_large: true }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("row") => answer(&arguments[1..]),
        Some("memory") => memory(),
        Some("costs") => costs(),
        Some("count") => count(&arguments[1..]),
        first => {
            let is_alone = first == Some("ours");
            let seconds = arguments.get(usize::from(is_alone));
            let seconds = seconds.map_or(1.0, |it| it.parse().expect("a number of seconds"));
            compare(Duration::from_secs_f64(seconds), is_alone);
        }
    }
}

/// An engine; `None` if it cannot go through the schedules in this way.
type Run = fn(&Matrix, Way, Duration) -> Option<Statistics>;

const WAYS: [Way; 7] =
    [Way::Exhaustive, Way::Reduced, Way::Bounded, Way::BoundedReduced, Way::Random, Way::Pct, Way::Weak];
const ENGINES: [(&str, Run); 3] = [("clewline", ours::run), ("loom", looms::run), ("shuttle", shuttles::run)];

impl Way {
    fn is_large(self) -> bool {
        matches!(self, Way::Exhaustive | Way::Reduced | Way::Weak)
    }

    fn is_endless(self) -> bool {
        matches!(self, Way::Random | Way::Pct)
    }

    fn name(self) -> String {
        match self {
            Way::Exhaustive => "exhaustive".to_owned(),
            Way::Reduced => "reduced".to_owned(),
            Way::Bounded => format!("bound {PREEMPTIONS_MAX}"),
            Way::BoundedReduced => format!("bound {PREEMPTIONS_MAX}, reduced"),
            Way::Random => "random".to_owned(),
            Way::Pct => format!("pct {PCT_DEPTH}"),
            Way::Weak => "weak memory, reduced".to_owned(),
        }
    }
}

/// One row of a table.
#[derive(Clone, Copy, Debug)]
struct Row {
    tally: Statistics,
    each: Duration,
    rate: f64,
}

/// Explores again and again until it took long enough to be measured.
fn measure(run: Run, matrix: &Matrix, way: Way, patience: Duration) -> Option<Row> {
    // Once for stacks, tables and caches.
    run(matrix, way, Duration::from_millis(1))?;
    let start = ProcessTime::now();
    let (mut executions, mut times) = (0, 0);
    loop {
        let tally = run(matrix, way, patience)?;
        executions += tally.executions;
        times += 1;
        let cpu = start.elapsed();
        if !tally.is_done || patience.min(Duration::from_millis(400)) < cpu {
            return Some(Row { tally, each: cpu / times, rate: executions as f64 / cpu.as_secs_f64() });
        }
    }
}

/// The best of several rounds, in each of which every engine explores the matrix in every way:
/// whatever else the machine does meanwhile makes no engine faster.
fn measure_all(matrix: usize, engines: usize, patience: Duration) -> Vec<(usize, Way, Row)> {
    let mut best: Vec<(usize, Way, Row)> = Vec::new();
    for _ in 0..ROUNDS {
        for engine in 0..engines {
            for way in WAYS.into_iter().filter(|it| !(ALL[matrix].is_large && it.is_large())) {
                let Some(row) = ask(engine, matrix, way, patience) else { continue };
                match best.iter_mut().find(|it| (it.0, it.1) == (engine, way)) {
                    Some(it) if it.2.rate < row.rate => it.2 = row,
                    Some(_) => (),
                    None => best.push((engine, way, row)),
                }
            }
        }
    }
    best
}

/// What [`measure`] says in a process of its own.
fn ask(engine: usize, matrix: usize, way: Way, patience: Duration) -> Option<Row> {
    let way = WAYS.iter().position(|it| *it == way).expect("it is one of them");
    let program = std::env::current_exe().expect("a program knows where it is");
    let arguments = [engine, matrix, way, patience.as_millis() as usize].map(|it| it.to_string());
    // Shuttle calls every seed a failing one, at length.
    let output = Command::new(program).arg("row").args(arguments).stderr(Stdio::null()).output();
    let output = String::from_utf8(output.expect("a program can be started again").stdout).ok()?;
    let mut numbers = output.split_whitespace().map(|it| it.parse::<f64>().expect("a number"));
    let mut number = || numbers.next();
    let tally = Statistics { executions: number()? as u64, is_done: number()? == 1.0 };
    Some(Row { tally, each: Duration::from_nanos(number()? as u64), rate: number()? })
}

/// The other end of [`ask`].
fn answer(arguments: &[String]) {
    let numbers: Vec<usize> = arguments.iter().map(|it| it.parse().expect("a number")).collect();
    let &[engine, matrix, way, patience] = &numbers[..] else { panic!("four numbers") };
    let patience = Duration::from_millis(patience as u64);
    if let Some(row) = measure(ENGINES[engine].1, &ALL[matrix], WAYS[way], patience) {
        let is_done = u8::from(row.tally.is_done);
        println!("{} {is_done} {} {}", row.tally.executions, row.each.as_nanos(), row.rate);
    }
}

/// Makes a number of executions of a matrix, from `a`, in one of the ways, from 0.
fn count(arguments: &[String]) {
    let [matrix, way, executions] = arguments else { panic!("a matrix, a way and a number of executions") };
    let matrix = usize::from(matrix.as_bytes()[0] - b'a');
    let (way, executions) = (way.parse::<usize>(), executions.parse());
    let (way, executions) = (WAYS[way.expect("a number")], executions.expect("a number"));
    let (executions, steps) = ours::count(&ALL[matrix], way, executions);
    println!("{executions} executions, {steps} steps");
}

fn compare(patience: Duration, is_alone: bool) {
    println!("processor time; each exploration was given {patience:?} of it, the best of {ROUNDS}\n");
    for (at, matrix) in MATRICES.iter().enumerate() {
        println!(
            "| {} | executions | 1,000 a second | ms in all | rate: ours is | in all: ours is |",
            matrix.name
        );
        println!("|---|---|---|---|---|---|");
        let rows = measure_all(at, if is_alone { 1 } else { ENGINES.len() }, patience);
        let ours: Vec<(Way, Row)> = rows.iter().filter(|it| it.0 == 0).map(|it| (it.1, it.2)).collect();
        for (engine, way, row) in rows {
            let counterpart = if engine == 0 { None } else { counterpart(&ours, way) };
            print_row(ENGINES[engine].0, way, &row, counterpart);
        }
        println!();
    }
}

/// Ours that does the same, or the next best.
fn counterpart(ours: &[(Way, Row)], way: Way) -> Option<&Row> {
    let instead = match way {
        Way::Reduced => Way::Exhaustive,
        Way::BoundedReduced => Way::Bounded,
        Way::Pct => Way::Random,
        Way::Exhaustive | Way::Bounded | Way::Random | Way::Weak => way,
    };
    let find = |way: Way| ours.iter().find(|it| it.0 == way).map(|it| &it.1);
    find(way).or_else(|| find(instead))
}

fn print_row(name: &str, way: Way, row: &Row, ours: Option<&Row>) {
    let (executions, time) = match (way.is_endless(), row.tally.is_done) {
        (true, _) => ("-".to_owned(), "-".to_owned()),
        (false, true) => (row.tally.executions.to_string(), ms(row.each)),
        (false, false) => (format!("> {}", row.tally.executions), format!("> {}", ms(row.each))),
    };
    let times = |it: f64| format!("{} x", digits(it));
    let rate = ours.map_or_else(String::new, |it| times(it.rate / row.rate));
    let total = ours.filter(|it| !way.is_endless() && it.tally.is_done);
    let total = total.map_or_else(String::new, |it| {
        let least = if row.tally.is_done { "" } else { "> " };
        format!("{least}{}", times(row.each.as_secs_f64() / it.each.as_secs_f64()))
    });
    println!(
        "| {name}, {} | {executions} | {} | {time} | {rate} | {total} |",
        way.name(),
        digits(row.rate / 1e3)
    );
}

/// Two tasks of one call with few accesses and with many: a straight line through the times has a
/// slope and a height.
fn costs() {
    println!("| two tasks | us an execution | ns a step | ns a step, each a call |");
    println!("|---|---|---|---|");
    for (engine, (name, _)) in ENGINES.iter().enumerate() {
        for way in [Way::Exhaustive, Way::Reduced, Way::Random] {
            let each = |matrix: usize| {
                let rates = (0..5).map(|_| Some(ask(engine, matrix, way, Duration::from_millis(200))?.rate));
                rates.collect::<Option<Vec<f64>>>().map(|it| 1e9 / it.into_iter().fold(0.0, f64::max))
            };
            let rows = (each(6), each(7), each(8), each(9));
            let (Some(one), Some(few), Some(many), Some(calls)) = rows else { continue };
            let step = (many - few) / 100.0;
            let (fixed, call) = (one - 10.0 * step, (calls - few) / 100.0 + step);
            println!(
                "| {name}, {} | {} | {} | {} |",
                way.name(),
                digits(fixed / 1e3),
                digits(step),
                digits(call)
            );
        }
    }
}

/// Nothing is kept of an execution, so the ten millionth needs no more than the first.
fn memory() {
    const MILLION: u64 = 1_000_000;
    println!("| executions of {} | resident, KiB |", MATRICES[0].name);
    println!("|---|---|");
    let settings = SchedulerSettings { executions: 10 * MILLION, ..SchedulerSettings::default() };
    ours::random(&MATRICES[0], &settings, |executions| {
        if executions == 1_000 || executions % MILLION == 0 {
            println!("| {executions} | {} |", resident_bytes() >> 10);
        }
    });
}
