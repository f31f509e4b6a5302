//! A subject at the other end of a line, compared with the same subject in this process.

#![cfg(unix)]

use std::{
    io,
    ops::ControlFlow,
    os::unix::net::UnixStream,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use clewline_core::{Interner, ResultId};
use clewline_explore::{
    Coverage, Ending, Limit, TaskId,
    schedulers::{self, SchedulerEntry, SchedulerSettings, bounded, replay::Replay},
};
use clewline_matrix::{
    Component, EncodedSerialHistories, Explained, Explorable, Extent, ObservationSet, SerialHistory,
    Strategy, Survey, TestProgram, Visits,
};
use clewline_threads::{
    control::{CallOutcome, Calls, Limits, Panic},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use crate::{
    CopyEnds, Knowledge, Line, Offer, Points, Remote, RunOptions, ServedSubject, TimeLimit, Unseen,
    WireMessage, serve,
};

struct Two {
    count: Arc<AtomicU32>,
    locks: [Mutex<()>; 2],
}

/// Calls that lose updates, that may get stuck, and that may panic.
fn component() -> Component<Two> {
    let two = || Two { count: Arc::new(AtomicU32::new(0)), locks: [Mutex::new(()), Mutex::new(())] };
    Component::new(two)
        .call("add", |it: &Two| {
            let found = it.count.load(SeqCst);
            it.count.store(found + 1, SeqCst);
        })
        .call("get", |it| it.count.load(SeqCst))
        .call("forth", |it| drop((it.locks[0].lock(), it.locks[1].lock())))
        .call("back", |it| drop((it.locks[1].lock(), it.locks[0].lock())))
        .call("leave", |it| {
            let count = Arc::clone(&it.count);
            clewline_threads::thread::spawn(move || {
                if count.load(SeqCst) == 0 {
                    clewline_threads::thread::park();
                }
            });
        })
        .call("assert", |it| assert!(it.count.load(SeqCst) != 1, "there is one"))
}

fn lost() -> ! {
    panic!("the other end is gone")
}

fn copy(_: &CopyEnds) -> io::Result<Option<Line>> {
    Err(io::ErrorKind::Unsupported.into())
}

fn unseen() -> Unseen {
    Unseen { watched: vec![2], ..Unseen::default() }
}

fn meet() -> (Remote, JoinHandle<()>) {
    meet_limited(TimeLimit::NONE)
}

fn meet_limited(limited: TimeLimit) -> (Remote, JoinHandle<()>) {
    let (here, there) = UnixStream::pair().unwrap();
    let line = |it: UnixStream| Line::new(it.try_clone().unwrap(), it);
    let served = thread::spawn(move || {
        let mut line = line(there);
        let wanted = RunOptions::from_message(line.receive().unwrap()).unwrap();
        assert_eq!(wanted.points, Points::Atomics);
        let subject = component();
        let offer = Offer { invocations: subject.invocations(), ..Offer::default() };
        let racing = || vec![3];
        let (knowledge, copy) = (Knowledge::NONE, copy);
        let served = ServedSubject {
            subject: &subject,
            offer: &offer,
            racing,
            knowledge,
            copy,
            limited,
            unseen,
            lost,
        };
        serve(&mut line, &served).unwrap();
    });
    let wanted = RunOptions { points: Points::Atomics, ..RunOptions::default() };
    (Remote::connect(line(here), &wanted).unwrap(), served)
}

fn calls(columns: &[&[&str]]) -> Calls<String> {
    let column = |it: &&[&str]| it.iter().map(|&it| it.to_owned()).collect();
    Calls { initial: Vec::new(), columns: columns.iter().map(column).collect(), last: vec!["get".to_owned()] }
}

/// An operation: its call, the step of the call, the step of the return and the result.
type OperationRecord = (String, Option<u32>, Option<(u32, String)>);

/// A visit: how the execution ended, its operations, its panic, its schedule.
type Visited = (Ending, Vec<OperationRecord>, Option<(TaskId, Panic)>, String);

fn visited(program: &mut dyn TestProgram, ending: &Ending) -> Visited {
    let outcome = program.outcome();
    let made = |(at, it): (usize, &CallOutcome<_>)| {
        let ret = it.ret.map(|(step, result)| (step, program.show_result(at, result)));
        (program.operations()[at].1.clone(), it.call, ret)
    };
    let operations = outcome.operations.iter().enumerate().map(made).collect();
    (ending.clone(), operations, outcome.panic, program.schedule().unwrap_or_default().to_string())
}

/// Identifies its history: the ending, the results, and the real-time order.
fn history(visited: &Visited) -> (Ending, Vec<Option<String>>, Vec<bool>) {
    let results = visited.1.iter().map(|it| it.2.clone().map(|it| it.1)).collect();
    let precedes = |one: &OperationRecord, other: &OperationRecord| matches!((&one.2, other.1), (Some(it), Some(call)) if it.0 < call);
    let pairs = visited.1.iter().flat_map(|one| visited.1.iter().map(move |other| precedes(one, other)));
    (visited.0.clone(), results, pairs.collect())
}

fn explore(
    subject: &dyn Explorable,
    calls: &Calls<String>,
    strategy: Strategy<'_>,
    visits: Visits,
) -> (Survey, Vec<Visited>) {
    let mut program = subject.test_program(calls, &Limits::default()).unwrap();
    program.keep(true, false);
    let mut all = Vec::new();
    let survey = program.explore(strategy, &Extent::all(10_000, visits), &mut |program, ending, n| {
        all.push(visited(program, ending));
        assert!(n as usize >= all.len());
        if *ending == Ending::Panicked { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    (survey, all)
}

const COLUMNS: [&[&[&str]]; 5] = [
    &[&["add", "get"], &["add", "get"]],
    &[&["forth", "get"], &["back"]],
    // All calls return, and a started thread may wait forever.
    &[&["leave"], &["add"]],
    &[&["add", "add"], &["assert"]],
    &[&["add", "assert"]],
];

fn settings() -> SchedulerSettings {
    let mut settings = SchedulerSettings { seed: 7, executions: 50, ..SchedulerSettings::default() };
    settings.bounds.set(&bounded::PREEMPTIONS, Some(1));
    settings
}

#[test]
fn a_remote_exploration_equals_a_local_one() {
    let (remote, served) = meet();
    let (here, settings) = (component(), settings());
    let scheduler = |name| Strategy::Scheduler(schedulers::find(name).unwrap(), &settings);
    let strategies = [Strategy::Serial, scheduler("bounded"), scheduler("dpor"), scheduler("random")];
    let (mut stuck, mut panicked) = (0, 0);
    for columns in COLUMNS {
        let calls = calls(columns);
        for strategy in strategies {
            for visits in [Visits::Every, Visits::Ahead] {
                let expected = explore(&here, &calls, strategy, visits);
                assert_eq!(explore(&remote, &calls, strategy, visits), expected, "{columns:?}");
                stuck += expected.1.iter().filter(|it| it.0 == Ending::Stuck).count();
                panicked += expected.1.iter().filter(|it| it.0 == Ending::Panicked).count();
            }
        }
    }
    assert!(0 < stuck && 0 < panicked && !remote.is_lost(), "{stuck} {panicked}");
    assert_eq!((remote.racing(), remote.invocations()), (vec![3], here.invocations()));
    assert_eq!(remote.unseen(), unseen());
    remote.disconnect();
    served.join().unwrap();
}

#[test]
fn parts_are_the_same_there_as_here() {
    let (remote, served) = meet();
    let (here, settings) = (component(), settings());
    for name in ["bounded", "random"] {
        let entry = schedulers::find(name).unwrap();
        let calls = calls(COLUMNS[0]);
        let split = |it: &dyn Explorable| {
            it.test_program(&calls, &Limits::default()).unwrap().split(entry, &settings, 5)
        };
        let (parts, is_complete) = split(&here);
        assert_eq!(split(&remote), (parts.clone(), is_complete));
        let mut executions = 0;
        for part in parts {
            let settings = SchedulerSettings { part, ..settings.clone() };
            let strategy = Strategy::Scheduler(entry, &settings);
            let expected = explore(&here, &calls, strategy, Visits::Every);
            assert_eq!(explore(&remote, &calls, strategy, Visits::Every), expected, "{name}");
            executions += expected.0.executions;
        }
        let whole = explore(&here, &calls, Strategy::Scheduler(entry, &settings), Visits::Every);
        assert_eq!(executions, whole.0.executions, "{name}");
    }
    assert!(!remote.is_lost());
    remote.disconnect();
    served.join().unwrap();
}

#[test]
fn each_history_is_visited_exactly_once() {
    let (remote, _served) = meet();
    let (here, settings) = (component(), settings());
    let strategy = Strategy::Scheduler(schedulers::find("exhaustive").unwrap(), &settings);
    for columns in &COLUMNS[..3] {
        let calls = calls(columns);
        let (expected, all) = explore(&here, &calls, strategy, Visits::Every);
        let (survey, visited) = explore(&remote, &calls, strategy, Visits::Histories);
        assert_eq!(survey, expected, "{columns:?}");
        assert!(visited.len() < all.len(), "{} of {}", visited.len(), all.len());
        let mut histories = Vec::new();
        for it in all.iter().map(history) {
            if !histories.contains(&it) {
                histories.push(it);
            }
        }
        // In the order in which they were first observed.
        assert_eq!(visited.iter().map(history).collect::<Vec<_>>(), histories);
        assert!(1 < histories.len());
    }
}

/// Serial executions lose no update. Overlapping calls do, and these histories are visited.
#[test]
fn explained_histories_are_counted_and_the_others_visited() {
    let (remote, _served) = meet();
    let settings = settings();
    let strategy = Strategy::Scheduler(schedulers::find("exhaustive").unwrap(), &settings);
    let mut texts = Interner::<String>::new();
    let (mut n_explained, mut n_found, mut n_twins) = (0, 0, 0);
    for columns in &COLUMNS[..3] {
        let calls = calls(columns);
        let (_, all) = explore(&remote, &calls, strategy, Visits::Histories);
        let (_, serial) = explore(&remote, &calls, Strategy::Serial, Visits::Every);
        let mut set = ObservationSet::new();
        for (_, made, ..) in &serial {
            let mut order: Vec<_> = (0..made.len()).filter(|&at| made[at].1.is_some()).collect();
            order.sort_by_key(|&at| made[at].1);
            let result = |at: usize| made[at].2.as_ref().map(|it| it.1.clone());
            let mut complete = |&at: &usize| result(at).map(|it| (at as u32, ResultId(texts.intern(it))));
            let complete: Vec<_> = order.iter().filter_map(&mut complete).collect();
            let stuck = order.iter().find(|&&at| made[at].2.is_none()).map(|&at| at as u32);
            set.insert(&SerialHistory { complete, stuck });
        }
        // The same check on this side, for what was visited there.
        let is_explained = |(ending, made, ..): &Visited| {
            let id = |it: &OperationRecord| {
                it.2.as_ref().map(|it| ResultId(texts.find(&it.1).unwrap_or(u32::MAX)))
            };
            let precedes = |one: usize, other: usize| match (&made[one].2, made[other].1) {
                (Some(it), Some(call)) => it.0 < call,
                _ => false,
            };
            let results: Vec<_> = made.iter().map(id).collect();
            set.explains(&results, *ending == Ending::Stuck, |at| made[at].1.is_some(), precedes)
        };
        let (explained, rest): (Vec<_>, Vec<_>) = all.iter().cloned().partition(is_explained);
        let mut program = remote.test_program(&calls, &Limits::default()).unwrap();
        program.keep(true, false);
        program
            .explain(&|| EncodedSerialHistories { words: set.to_words(), results: texts.values().to_vec() });
        let (extent, mut found) = (Extent::all(10_000, Visits::Unexplained), Vec::new());
        let survey = program.explore(strategy, &extent, &mut |program, ending, _| {
            found.push(visited(program, ending));
            ControlFlow::Continue(())
        });
        // Two histories may differ only in their ending: a thread left behind waits, or not.
        let twins = |it: &Visited, other: &Visited| {
            history(it) != history(other)
                && (history(it).1, history(it).2) == (history(other).1, history(other).2)
        };
        n_twins += all.iter().filter(|it| all.iter().any(|other| twins(it, other))).count();
        assert_eq!(found, rest, "{columns:?}");
        let stuck = explained.iter().filter(|it| it.0 == Ending::Stuck).count();
        assert_eq!(survey.explained, Explained { histories: explained.len(), stuck }, "{columns:?}");
        (n_explained, n_found) = (n_explained + explained.len(), n_found + found.len());
    }
    assert!(0 < n_explained && 0 < n_found && 0 < n_twins, "{n_explained} {n_found} {n_twins}");
}

#[test]
fn a_visit_stops_an_exploration_where_it_is() {
    let (remote, _served) = meet();
    let (calls, settings) = (calls(COLUMNS[0]), settings());
    let strategy = Strategy::Scheduler(&bounded::ENTRY, &settings);
    for visits in [Visits::Every, Visits::Histories] {
        let mut program = remote.test_program(&calls, &Limits::default()).unwrap();
        program.keep(true, false);
        let (mut seen, mut last) = (0, None);
        let survey = program.explore(strategy, &Extent::all(10_000, visits), &mut |program, ending, n| {
            (seen, last) = (seen + 1, Some((n, visited(program, ending))));
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let (executions, last) = last.unwrap();
        assert_eq!((seen, survey.executions), (3, executions));
        assert_eq!(survey.coverage, Coverage::Limited(Limit::Stopped));
        assert_eq!(visited(&mut *program, &last.0.clone()), last, "nothing was run after it");
    }
}

/// A replay has its scheduler here, and each choice crosses the line. Places are sent as text.
#[test]
fn a_schedule_is_replayed_with_every_step() {
    let (remote, _served) = meet();
    let (here, calls) = (component(), calls(COLUMNS[1]));
    let settings = settings();
    let strategy = Strategy::Scheduler(&bounded::ENTRY, &settings);
    let (_, all) = explore(&here, &calls, strategy, Visits::Every);
    let stuck = all.iter().find(|it| it.0 == Ending::Stuck).unwrap();
    let [local, there] = [&here as &dyn Explorable, &remote].map(|subject| {
        let mut program = subject.test_program(&calls, &Limits::default()).unwrap();
        program.keep(true, true);
        let mut replay = Replay::new(stuck.3.parse().unwrap());
        let ending = program.run(&mut replay);
        assert!(replay.is_faithful());
        let moments = program.moments();
        let steps: Vec<_> = moments.iter().map(|it| (it.step, it.detail.clone())).collect();
        let waiting: Vec<_> = program.pending().iter().map(|it| (it.task, it.access, it.object)).collect();
        let places = moments.iter().map(|it| it.place).chain(program.pending().iter().map(|it| it.place));
        let places: Vec<String> = places.map(|it| it.site().to_string()).collect();
        (visited(&mut *program, &ending), steps, waiting, places)
    });
    assert_eq!(there, local);
    assert!(!there.1.is_empty() && !there.2.is_empty());
    assert!(there.3.iter().all(|it| it.contains("tests.rs:")), "{:?}", there.3);
}

/// The scheduler is asked from there, at each point.
#[test]
fn a_scheduler_known_only_to_the_client_explores_as_well() {
    static OURS: SchedulerEntry = SchedulerEntry { name: "ours", ..bounded::ENTRY };
    let (remote, _served) = meet();
    let (calls, settings) = (calls(COLUMNS[0]), settings());
    let [known, ours] = [&bounded::ENTRY, &OURS]
        .map(|it| explore(&remote, &calls, Strategy::Scheduler(it, &settings), Visits::Every));
    assert_eq!(known, ours);
    assert!(known.1.len() > 5 && !remote.is_lost());
}

#[test]
fn an_unknown_call_is_rejected_with_the_message_of_the_other_side() {
    let (remote, _served) = meet();
    let program =
        |it: &dyn Explorable| it.test_program(&calls(&[&["jump"]]), &Limits::default()).err().unwrap();
    assert_eq!(program(&remote).to_string(), program(&component()).to_string());
    assert!(!remote.is_lost());
}

#[test]
fn time_that_is_up_ends_an_exploration_after_the_first_execution() {
    let (remote, _served) = meet();
    let settings = settings();
    let strategy = Strategy::Scheduler(&bounded::ENTRY, &settings);
    let extent = Extent::all(10_000, Visits::Every).within(Some(Duration::ZERO));
    for subject in [&remote as &dyn Explorable, &component()] {
        let mut program = subject.test_program(&calls(COLUMNS[0]), &Limits::default()).unwrap();
        let survey = program.explore(strategy, &extent, &mut |_, _, _| ControlFlow::Continue(()));
        assert_eq!(survey.executions, 1);
        assert_eq!(survey.coverage, Coverage::Limited(Limit::Stopped));
    }
}

#[test]
fn the_reason_why_an_execution_was_cut_is_received() {
    let (remote, _served) =
        meet_limited(TimeLimit { reason: || Some("late, at here.c:1".to_owned()), ..TimeLimit::NONE });
    let (survey, _) = explore(&remote, &calls(COLUMNS[0]), Strategy::Serial, Visits::Every);
    assert_eq!(survey.coverage, Coverage::Limited(Limit::Other("late, at here.c:1".to_owned())));
}

#[test]
fn the_reason_of_a_program_that_gives_up_is_received() {
    let (here, there) = UnixStream::pair().unwrap();
    let line = |it: UnixStream| Line::new(it.try_clone().unwrap(), it);
    let served = thread::spawn(move || {
        let mut line = line(there);
        line.receive().unwrap();
        line.send(&Offer::default().to_message()).unwrap();
        // The request for a test program.
        line.receive().unwrap();
        let mut accepted = WireMessage::default();
        accepted.put_maybe(None, WireMessage::put_text);
        line.send(&accepted).unwrap();
        // The request for an exploration.
        line.receive().unwrap();
        line.send_reason("the code waits");
    });
    let remote = Remote::connect(line(here), &RunOptions::default()).unwrap();
    let (survey, _) = explore(&remote, &calls(COLUMNS[0]), Strategy::Serial, Visits::Every);
    assert!(matches!(survey.coverage, Coverage::Limited(Limit::Other(_))), "{survey:?}");
    assert!(remote.is_lost() && !remote.is_protocol_violated());
    assert_eq!(remote.reason().as_deref(), Some("the code waits"));
    served.join().unwrap();
}

#[test]
fn the_end_of_a_program_is_detected_without_a_panic() {
    let (here, there) = UnixStream::pair().unwrap();
    let line = |it: UnixStream| Line::new(it.try_clone().unwrap(), it);
    let calls = calls(COLUMNS[0]);
    let served = thread::spawn(move || {
        let mut line = line(there);
        line.receive().unwrap();
        let subject = component();
        let offer = Offer::default();
        // It ends after the first visit.
        let subject = DyingSubject(subject, Arc::default());
        let served = ServedSubject {
            subject: &subject,
            offer: &offer,
            racing: Vec::new,
            knowledge: Knowledge::NONE,
            copy,
            limited: TimeLimit::NONE,
            unseen: Unseen::default,
            lost,
        };
        let _gone = serve(&mut line, &served);
    });
    let remote = Remote::connect(line(here), &RunOptions::default()).unwrap();
    let mut program = remote.test_program(&calls, &Limits::default()).unwrap();
    let settings = settings();
    let strategy = Strategy::Scheduler(&bounded::ENTRY, &settings);
    let extent = Extent::all(100, Visits::Every);
    assert!(remote.test_program(&calls, &Limits::default()).is_err() && remote.is_lost());
    let survey = program.explore(strategy, &extent, &mut |_, _, _| ControlFlow::Continue(()));
    assert!(matches!(survey.coverage, Coverage::Limited(Limit::Other(_))), "{survey:?}");
    assert_eq!(program.run(&mut *strategy.scheduler()), Ending::Cut);
    assert!(remote.racing().is_empty());
    assert_eq!(remote.unseen(), Unseen::default());
    assert!(served.join().is_err());
}

/// Dies when the second test program is created.
struct DyingSubject(Component<Two>, Arc<std::sync::atomic::AtomicBool>);

impl Explorable for DyingSubject {
    fn invocations(&self) -> Vec<String> {
        self.0.invocations()
    }

    fn test_program(
        &self,
        calls: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, clewline_core::CodecError> {
        assert!(!self.1.swap(true, std::sync::atomic::Ordering::SeqCst), "it dies");
        self.0.test_program(calls, limits)
    }
}
