//! State graphs of actor systems: processor seconds and memory, against stateright's depth-first
//! search on the same systems.
//!
//! `actors` measures everything, each case in a process of its own. `actors ours SYSTEM SERVERS
//! CLIENTS JOBS` and `actors stateright SYSTEM CLIENTS` measure one. The systems are those of
//! stateright's examples; the numbers of states must be the same.

mod peer;

use std::sync::{Arc, Mutex};

use clewline_actors::{
    ActorSystem, Clients, Explored, Harness, HistoryEvent, HistorySummary, Ignored, IncrementalJudge,
    ModelTables, ReturnOf, Rules, Search, Stepwise, Verdicts, explore_states,
};
use clewline_bench::{ask_child, peak_bytes};
use clewline_core::{Codec, Specification, Verdict, VerdictKind};
use clewline_lab::systems::{ReadsAndWrites, Shape, SystemVisitor, find_system};
use clewline_systems::{FrontierId, Frontiers};
use cpu_time::ProcessTime;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(|it| &**it).collect::<Vec<_>>()[..] {
        ["ours", system, servers, clients, jobs] => {
            println!("{}", ours(system, number(servers), number(clients), number(jobs)));
        }
        ["stateright", system, clients] => println!("{}", peer::run(system, number(clients))),
        [] => table(),
        _ => {
            eprintln!("usage: actors");
            std::process::exit(2);
        }
    }
}

fn number(text: &str) -> u32 {
    text.parse().expect("a number")
}

fn table() {
    println!(
        "| system | clients | who | generated | unique | CPU s | peak, MiB |\n|---|---|---|---|---|---|---|"
    );
    let cases =
        [("paxos", "3", "2"), ("paxos", "3", "3"), ("single-copy", "1", "3"), ("single-copy", "1", "4")];
    for (system, servers, clients) in cases {
        measure(&["stateright", system, clients]);
        measure(&["ours", system, servers, clients, "1"]);
        measure(&["ours", system, servers, clients, "2"]);
    }
    measure(&["ours", "abd", "2", "2", "1"]);
    measure(&["ours", "abd", "3", "2", "1"]);
}

fn measure(arguments: &[&str]) {
    println!("{}", ask_child(arguments).unwrap_or_else(|| format!("| {} failed |", arguments.join(" "))));
}

fn row(system: &str, clients: u32, who: &str, generated: u64, unique: u64, cpu: f64) -> String {
    let peak = peak_bytes() / (1 << 20);
    format!("| {system} | {clients} | {who} | {generated} | {unique} | {cpu:.2} | {peak} |")
}

fn ours(system: &str, servers: u32, clients: u32, jobs: u32) -> String {
    let found = find_system(&format!("{system}:stateright")).expect("it is in the table");
    let start = ProcessTime::now();
    let shapes = found.system.shapes;
    let seen = found.visit(servers, Count { shapes, servers, clients, jobs });
    let cpu = start.elapsed().as_secs_f64();
    let who = format!(
        "clewline, {servers} servers, {jobs} threads, {} histories, {} violated",
        seen.histories, seen.violated
    );
    row(system, clients, &who, seen.generated, seen.unique, cpu)
}

struct Count {
    shapes: &'static [ReadsAndWrites],
    servers: u32,
    clients: u32,
    jobs: u32,
}

impl SystemVisitor for Count {
    type Output = Explored;

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Explored {
        let specification = harness.specification();
        let words = ReadsAndWrites::of(self.shapes, &specification).expect("the system is read and written");
        let scenario = Shape::Clients(self.clients)
            .scenario(&specification, words, self.servers, Clients::Waiting)
            .expect("the system is read and written");
        let calls = scenario.calls.iter().map(|it| it.call.clone()).collect();
        let rules = Rules { ignored: Ignored::Stays, ..Rules::default() };
        let system = ActorSystem::new(harness, scenario, rules).expect("the scenario fits");
        let by_frontier =
            ByFrontier { tables: system.shared_tables(), frontiers: Frontiers::new(specification, calls) };
        let mut verdicts = Verdicts::new(Box::new(Stepwise::new(by_frontier)));
        let search = Search { jobs: self.jobs as usize, ..Search::default() };
        explore_states(&system.engine(), &[], &mut verdicts, &search, &|_| ())
    }
}

struct ByFrontier<H: Harness> {
    tables: Arc<Mutex<ModelTables<H>>>,
    frontiers: Frontiers<H::Specification>,
}

impl<H: Harness> IncrementalJudge for ByFrontier<H>
where
    <H::Specification as Specification>::State: Send,
    ReturnOf<H>: Send,
{
    fn start(&mut self) -> u32 {
        Frontiers::<H::Specification>::START.0
    }

    fn extend(&mut self, knowledge: u32, before: HistorySummary, event: HistoryEvent) -> u32 {
        let HistoryEvent::Return(operation, ret) = event else { return knowledge };
        let tables = self.tables.lock().expect("no thread panicked");
        let ret = tables.returned(ret);
        self.frontiers.returned(FrontierId(knowledge), before.called, operation, ret).0
    }

    fn judgement(&mut self, knowledge: u32) -> VerdictKind {
        match self.frontiers.is_violated(FrontierId(knowledge)) {
            true => Verdict::Violated(()),
            false => Verdict::Holds(()),
        }
    }
}
