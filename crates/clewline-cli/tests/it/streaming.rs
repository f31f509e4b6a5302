//! A stream has the verdict of the whole history, and operations are dropped as soon as possible.

use std::collections::VecDeque;

use clewline_core::{
    Event, GeneratorConfig, ObjectId, ProcessId, Random, Recording, Value, ValueDomain, Verdict,
};
use clewline_formats::formats;
use clewline_methods::{Check, LineOrder, Report, Watch};
use clewline_report::render::{Publish, WitnessShown};
use clewline_specs::{self, CATALOG};
use clewline_testing::{pick, pick_of_three, share};

/// A history as lines, each of which is an operation or an event.
fn lines(recording: &Recording, as_events: bool) -> String {
    let mut text = Vec::new();
    formats::find("jsonl").unwrap().write(recording, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    if !as_events {
        return text;
    }
    let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let mut events: Vec<(i64, bool, serde_json::Value)> = Vec::new();
    for operation in text.lines().map(parse) {
        let member = |name: &str| operation.get(name).cloned().unwrap_or(serde_json::Value::Null);
        let mut call = serde_json::json!({"event": "call", "process": member("process"), "op": member("op")});
        for name in ["arg", "object"] {
            if let Some(value) = operation.get(name) {
                call[name] = value.clone();
            }
        }
        events.push((member("call").as_i64().unwrap(), false, call));
        if let Some(at) = member("return").as_i64() {
            let mut end = serde_json::json!({"event": "return", "process": member("process")});
            if let Some(ret) = operation.get("ret") {
                end["ret"] = ret.clone();
            }
            events.push((at, true, end));
        }
    }
    events.sort_by_key(|it| (it.0, it.1));
    events.iter().map(|it| format!("{}\n", it.2)).collect()
}

fn plan(seed: u64) -> GeneratorConfig {
    GeneratorConfig {
        operations: 300 + seed as usize % 100,
        processes: [1, 2, 3, 4, 8][seed as usize % 5],
        overlap: [0.3, 0.6, 0.9][seed as usize % 3],
        values: if seed.is_multiple_of(3) { ValueDomain::Below(4) } else { ValueDomain::Distinct },
        pending: if seed.is_multiple_of(7) { 0.005 } else { 0.0 },
        seed,
        ..GeneratorConfig::default()
    }
}

fn streamed(text: &str, spec: &str, window: usize) -> Report<'static> {
    let check = Check::new().window(window).configurations(200_000);
    check.stream("stream.jsonl", text.as_bytes(), spec, LineOrder::Promised).run().unwrap()
}

/// Where two results of one method are exchanged, or one is lost.
fn broken(mut recording: Recording, seed: u64) -> Recording {
    let count = recording.history.len();
    let from = count / 3 + seed as usize % (count / 2);
    let history = recording.history.clone();
    let returned: Vec<_> =
        history.operations().filter(|it| it.ret.is_some_and(|it| !it.is_absent())).collect();
    let Some(one) = returned.iter().find(|it| from <= it.id.index()) else { return recording };
    let other =
        returned.iter().find(|it| one.id < it.id && it.call.method == one.call.method && it.ret != one.ret);
    let Some(other) = other else { return recording };
    let (a, b) = (one.id, other.id);
    recording.history = history
        .clone()
        .try_map(|id, call, ret| {
            let source = if id == a {
                b
            } else if id == b {
                a
            } else {
                id
            };
            Ok::<_, ()>((call, ret.and(history.ret(source).copied())))
        })
        .unwrap();
    recording
}

#[test]
fn a_stream_has_the_verdict_of_the_whole_history() {
    let (mut held, mut violated, mut forgetful, mut unknown) = (0, 0, 0, 0);
    // In `./test` one of seven objects.
    for (place, entry) in CATALOG.iter().enumerate().step_by(pick(7, 1)) {
        let object = clewline_specs::find(entry.name).unwrap();
        // One that holds and one that is broken: of one object as events, of the next as rows.
        let few = 2 * (place as u64 % 2);
        for seed in pick_of_three(few..few + 2, 0..4, 0..30) {
            let recording = object.generate(&plan(seed));
            let recording = if seed.is_multiple_of(2) { recording } else { broken(recording, seed) };
            let is_events = seed % 4 < 2;
            let text = lines(&recording, is_events);
            let check = Check::new().configurations(pick(2_000, 200_000));
            let whole = check.reader("whole.jsonl", text.as_bytes(), entry.name).run().unwrap();
            if matches!(whole.verdict(), Verdict::Unknown(_)) {
                continue;
            }
            for window in [5, 40] {
                let report = streamed(&text, entry.name, window);
                let word = report.verdict().word();
                if word == "unknown" {
                    unknown += 1;
                    continue;
                }
                assert_eq!(word, whole.verdict().word(), "{} {seed} {window}\n{text}", entry.name);
                forgetful += usize::from(report.to_string().contains("held at a time"));
            }
            held += usize::from(whole.holds());
            violated += usize::from(!whole.holds());
        }
    }
    assert!(
        pick_of_three(1, 8, 100) < held
            && pick_of_three(0, 4, 50) < violated
            && pick_of_three(1, 25, 300) < forgetful
            && unknown < 60,
        "{held} {violated} {forgetful} {unknown}"
    );
}

#[test]
fn a_violation_is_reported_at_the_first_line_after_which_it_is_certain() {
    let object = clewline_specs::find("queue").unwrap();
    let mut checked = 0;
    for seed in (1..40).step_by(pick(6, 2)) {
        let recording = broken(object.generate(&plan(seed)), seed);
        let text = lines(&recording, true);
        let report = streamed(&text, "queue", 30);
        let Verdict::Violated(_) = report.verdict() else { continue };
        let Some(line) = line_of(&report) else { continue };
        let prefix = |lines: u64| -> String {
            text.lines().take(lines as usize).map(|it| format!("{it}\n")).collect()
        };
        let verdict =
            |lines| Check::new().reader("p.jsonl", prefix(lines).as_bytes(), "queue").run().unwrap().holds();
        assert!(!verdict(line) && verdict(line - 1), "seed {seed}, line {line}");
        checked += 1;
    }
    assert!(pick(1, 5) < checked, "{checked}");
}

#[test]
fn lines_out_of_order_are_sorted_while_that_is_possible() {
    let recording = clewline_specs::find("queue").unwrap().generate(&plan(1));
    let text = lines(&recording, false);
    let reversed: String = text.lines().rev().map(|it| format!("{it}\n")).collect();
    assert!(streamed(&reversed, "queue", 10).holds());
    // After an operation was dropped it is too late.
    let late =
        format!("{text}{}\n", r#"{"process": 99, "op": "deq", "ret": null, "call": -5, "return": -4}"#);
    let check = Check::new().window(10);
    let error = check.stream("s.jsonl", late.as_bytes(), "queue", LineOrder::Seen).run().unwrap_err();
    assert!(error.to_string().contains("sort the lines by `call`"), "{error}");
}

#[test]
fn a_violation_is_not_reported_before_the_order_of_lines_is_known() {
    // The line of the enqueue comes last; in order of calls it comes first.
    let recording = clewline_specs::find("queue").unwrap().generate(&plan(1));
    let text = lines(&recording, false);
    let extra = concat!(
        r#"{"process": 90, "op": "deq", "ret": 777, "call": 100000, "return": 100009}"#,
        "\n",
        r#"{"process": 91, "op": "deq", "ret": null, "call": 100010, "return": 100011}"#,
        "\n",
        r#"{"process": 92, "op": "enq", "arg": 777, "call": 99999, "return": 100008}"#,
        "\n",
    );
    let text = format!("{text}{extra}");
    let check = Check::new().window(10);
    let error = check.stream("s.jsonl", text.as_bytes(), "queue", LineOrder::Seen).run().unwrap_err();
    assert!(error.to_string().contains("sort the lines by `call`"), "{error}");
}

/// The lines of several objects, some of which are violated, in the order of calls.
fn of_objects(spec: &str, seed: u64) -> String {
    let object = clewline_specs::find(spec).unwrap();
    let mut all: Vec<(i64, String)> = Vec::new();
    for number in 0..6 {
        let config = GeneratorConfig { operations: 60, ..plan(10 * seed + number) };
        let recording = object.generate(&config);
        let is_broken = number.is_multiple_of(2) == seed.is_multiple_of(2);
        let recording = if is_broken { broken(recording, seed) } else { recording };
        for line in lines(&recording, false).lines() {
            let mut operation: serde_json::Value = serde_json::from_str(line).unwrap();
            operation["object"] = format!("o{number}").into();
            // One process at each object.
            operation["process"] = format!("{number}-{}", operation["process"]).into();
            all.push((operation["call"].as_i64().unwrap(), format!("{operation}\n")));
        }
    }
    all.sort_by_key(|it| it.0);
    all.into_iter().map(|it| it.1).collect()
}

/// The objects that a report shows to be violated, and the sentence that counts them.
fn violated_objects(report: &Report<'_>) -> (std::collections::BTreeSet<String>, String) {
    let text = report.to_string();
    let words = text.split(|it: char| !it.is_alphanumeric());
    let objects = words.filter(|it| it.len() == 2 && it.starts_with('o')).map(str::to_owned);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let counted = flat.find(" are violated").map_or(String::new(), |end| {
        flat[..end].rsplit(' ').take(4).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" ")
    });
    (objects.filter(|it| it[1..].parse::<u32>().is_ok()).collect(), counted)
}

/// Not only the first: a file is read to its end.
#[test]
fn each_violated_object_of_a_long_file_is_reported() {
    let path = std::env::temp_dir().join(format!("clewline-objects-{}.jsonl", std::process::id()));
    let mut several = 0;
    for spec in ["register", "queue", "stack", "set", "map", "cas-register"] {
        for seed in 0..pick_of_three(2, 12, 40) {
            std::fs::write(&path, of_objects(spec, seed)).unwrap();
            let check = || Check::new().window(16).parts(clewline_check::Selection::All, 100);
            let whole = check().file(&path, spec).run().unwrap();
            let read = check().stream_files_from(0).file(&path, spec).run().unwrap();
            assert_eq!(read.verdict().word(), whole.verdict().word(), "{spec} {seed}");
            let [(expected, count), (found, counted)] = [&whole, &read].map(violated_objects);
            assert_eq!(found, expected, "{spec} {seed}\n{whole}\n{read}");
            assert_eq!(counted, count, "{spec} {seed}\n{whole}\n{read}");
            assert!(read.holds() || read.to_string().contains("certain after line"), "{read}");
            several += usize::from(1 < found.len());
            // With one wanted, there is one.
            let first = Check::new().window(16).stream_files_from(0).file(&path, spec).run().unwrap();
            assert_eq!(first.verdict().word(), whole.verdict().word());
            assert_eq!(violated_objects(&first).1, "");
        }
    }
    std::fs::remove_file(&path).unwrap();
    assert!(pick_of_three(3, 24, 80) < several, "{several}");
}

#[test]
fn memory_of_a_stream_does_not_grow() {
    use clewline_specs::queue::{Call, Queue};
    let mut watch = Watch::new(Queue::default());
    let mut most = 0;
    for round in 0..pick(200_000_i64, 400_000) {
        let value = Value::from(round);
        let process = (round % 3) as u32;
        for event in [
            Event::call(process, Call::Enq(value)),
            Event::ret(process, Value::TRUE),
            Event::call(process, Call::Deq),
            Event::ret(process, value),
        ] {
            assert!(watch.push(event).unwrap().is_none());
        }
        most = most.max(watch.held());
    }
    assert!(most < 140_000, "{most}");
}

#[test]
fn operations_before_a_quiescent_point_are_dropped_while_others_are_open() {
    use clewline_specs::register::{Call, Register};
    let value = |it| Value::from(it);
    let mut watch = Watch::new(Register::new());
    let events = [
        Event::call(0, Call::Write(value(1))),
        Event::call(1, Call::Write(value(2))),
        Event::ret(0, Value::TRUE),
        Event::ret(1, Value::TRUE),
        Event::call(0, Call::Read),
        Event::call(1, Call::Read),
        Event::ret(0, value(2)),
    ];
    for event in events {
        assert!(watch.push(event).unwrap().is_none());
    }
    assert!(watch.judge().unwrap().is_none());
    // Both reads; the other one is open.
    assert_eq!(watch.held(), 2);
    watch.push(Event::ret(1, value(1))).unwrap();
    assert_eq!(watch.judge().unwrap().unwrap().event(), 7);
}

#[test]
fn a_watch_names_the_event_and_shows_the_operations() {
    use clewline_specs::queue::{Call, Queue};
    let value = |it| Value::from(it);
    let mut watch = Watch::new(Queue::default());
    let events = [
        Event::call(0, Call::Enq(value(1))),
        Event::ret(0, Value::TRUE),
        Event::call(0, Call::Deq),
        Event::ret(0, Value::NIL),
        Event::call(0, Call::Deq),
    ];
    for event in events {
        assert!(watch.push(event).unwrap().is_none());
    }
    let alarm = watch.judge().unwrap().unwrap();
    assert_eq!(alarm.event(), 3);
    assert!(alarm.to_string().starts_with("violated: the history is not linearizable"), "{alarm}");
    assert!(watch.push(Event::call(0, Call::Deq)).is_err());
}

#[test]
fn a_stream_counts_objects_and_separates_them() {
    use clewline_specs::queue::{Call, Queue};
    let mut watch = Watch::new(Queue::default());
    let value = Value::from(1);
    // 1 goes into one queue and comes out of another.
    for (object, call, ret) in [(0, Call::Enq(value), Value::TRUE), (5, Call::Deq, value)] {
        watch.push(Event::Call(ProcessId(0), ObjectId(object), call)).unwrap();
        watch.push(Event::ret(0, ret)).unwrap();
    }
    let alarm = watch.judge().unwrap().unwrap();
    assert!(alarm.to_string().contains("2 operations, 2 objects"), "{alarm}");
}

/// Small stacks of many shapes: what may be dropped of a stack is the most difficult case.
#[test]
fn operations_that_a_stack_drops_do_not_matter() {
    let object = clewline_specs::find("stack").unwrap();
    let (mut held, mut violated, mut forgetful) = (0, 0, 0);
    for seed in 0..share(6_000_u64) {
        let recording = object.generate(&GeneratorConfig {
            operations: 12 + seed as usize % 30,
            processes: 2 + seed as usize % 5,
            overlap: [0.3, 0.6, 0.9][seed as usize % 3],
            values: ValueDomain::Distinct,
            pending: if seed.is_multiple_of(11) { 0.05 } else { 0.0 },
            seed,
            ..GeneratorConfig::default()
        });
        let recording = if seed.is_multiple_of(3) { recording } else { broken(recording, seed) };
        let text = lines(&recording, seed.is_multiple_of(2));
        let whole = Check::new().reader("whole.jsonl", text.as_bytes(), "stack").run().unwrap();
        let report = streamed(&text, "stack", 1 + seed as usize % 6);
        assert_eq!(report.verdict().word(), whole.verdict().word(), "{seed}\n{text}");
        forgetful += usize::from(report.to_string().contains("held at a time"));
        held += usize::from(whole.holds());
        violated += usize::from(!whole.holds());
    }
    assert!(
        share(1_000) < held && share(1_000) < violated && share(1_000) < forgetful,
        "{held} {violated} {forgetful}"
    );
}

/// Lines of events: `0 enq 5` calls, `0 -> 5` returns, `0 fail` and `0 info` end without a result.
fn events(script: &[&str]) -> String {
    let line = |it: &&str| {
        let words: Vec<&str> = it.split(' ').collect();
        match words[..] {
            [process, "fail" | "info"] => {
                format!("{{\"event\": \"{}\", \"process\": {process}}}\n", words[1])
            }
            [process, "->"] => format!("{{\"event\": \"return\", \"process\": {process}}}\n"),
            [process, "->", ret] => {
                format!("{{\"event\": \"return\", \"process\": {process}, \"ret\": {ret}}}\n")
            }
            [process, op] => {
                format!("{{\"event\": \"call\", \"process\": {process}, \"op\": \"{op}\"}}\n")
            }
            [process, op, arg] => {
                format!("{{\"event\": \"call\", \"process\": {process}, \"op\": \"{op}\", \"arg\": {arg}}}\n")
            }
            _ => panic!("{it}"),
        }
    };
    script.iter().map(line).collect()
}

fn line_of(report: &Report<'_>) -> Option<u64> {
    report.json(WitnessShown::Not).get("explanation")?["line"].as_u64()
}

#[test]
fn a_failure_may_be_what_makes_a_violation_certain() {
    // Until then the enqueue of 7 may have taken effect.
    let script = [
        "0 enq 1",
        "0 ->",
        "0 deq",
        "0 -> 1",
        "0 enq 7",
        "1 deq",
        "1 -> 7",
        "0 fail",
        "2 deq",
        "2 -> null",
        "3 deq",
    ];
    for window in 1..4 {
        let report = streamed(&events(&script), "queue", window);
        assert_eq!((report.verdict().word(), line_of(&report)), ("violated", Some(8)), "window {window}");
    }
}

#[test]
fn a_process_may_have_any_number_of_pending_operations() {
    use clewline_specs::register::{Call, Register};
    let value = |it| Value::from(it);
    let mut watch = Watch::new(Register::new());
    for round in 0..5 {
        assert!(watch.push(Event::call(0, Call::Write(value(round)))).unwrap().is_none());
        assert!(watch.push(Event::Info(clewline_core::ProcessId(0))).unwrap().is_none());
    }
    assert!(watch.judge().unwrap().is_none());
    assert_eq!(watch.held(), 5);
}

#[test]
fn the_largest_times_are_valid() {
    let holding =
        clewline_specs::find("queue").unwrap().generate(&GeneratorConfig { operations: 60, ..plan(1) });
    let times = [("call", i64::MAX - 1), ("call", i64::MAX)];
    for (member, call) in times {
        let last = format!(
            "{{\"process\": 99, \"op\": \"deq\", \"ret\": 777, \"{member}\": {call}, \"return\": {}}}\n",
            i64::MAX
        );
        let text = format!("{}{last}", lines(&holding, false));
        assert_eq!(streamed(&text, "queue", 10).verdict().word(), "violated", "{last}");
    }
}

/// Repeats the same text up to a number of bytes, and then times out.
struct Endless {
    line: Vec<u8>,
    at: usize,
    left: usize,
}

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let from = self.at % self.line.len();
        let said = (&self.line[from..]).read(buffer)?.min(self.left);
        self.at += said;
        self.left -= said;
        Ok(said)
    }
}

#[test]
fn a_stream_without_end_keeps_to_its_limits() {
    let line = events(&["0 enq 1", "0 ->", "0 deq", "0 -> 1"]).into_bytes();
    // It never ends, pauses, or has no data at all.
    for said in [usize::MAX, 10 * line.len(), 0] {
        for algorithm in ["auto", "jit-graph"] {
            let check = Check::new().window(10).algorithm(algorithm.parse().unwrap());
            let check = check.timeout(std::time::Duration::from_millis(300));
            let input = Endless { line: line.clone(), at: 0, left: said };
            let report = check.stream("s.jsonl", input, "queue", LineOrder::Seen).run().unwrap();
            assert_eq!(report.verdict().word(), "unknown", "{said} {algorithm}");
            assert!(report.to_string().contains("time limit of 300ms was hit"), "{report}");
        }
    }
}

/// A map with an operation that concerns all of its keys.
struct CountedMap;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum MapCall {
    Put(u64),
    Has(u64),
    Size,
}

impl clewline_core::Deterministic for CountedMap {
    type State = std::collections::BTreeSet<u64>;
    type Call = MapCall;
    type Return = u64;

    fn initial(&self) -> Self::State {
        Self::State::new()
    }

    fn apply(&self, state: &mut Self::State, call: &MapCall) -> Option<u64> {
        Some(match call {
            MapCall::Put(key) => u64::from(state.insert(*key)),
            MapCall::Has(key) => u64::from(state.contains(key)),
            MapCall::Size => state.len() as u64,
        })
    }

    fn part(&self, call: &MapCall) -> Option<u64> {
        match call {
            MapCall::Put(key) | MapCall::Has(key) => Some(*key),
            MapCall::Size => None,
        }
    }
}

#[test]
fn objects_and_their_parts_are_distinguished() {
    use MapCall::{Has, Put, Size};
    let round = |watch: &mut Watch<CountedMap>, operations: &[(MapCall, u64)]| {
        for (call, ret) in operations {
            assert!(watch.push(Event::call(0, call.clone())).unwrap().is_none());
            assert!(watch.push(Event::ret(0, *ret)).unwrap().is_none());
        }
        watch.judge().unwrap().map(|it| it.verdict().word())
    };
    // Compacted as a whole, it continues as a whole.
    let mut watch = Watch::new(CountedMap);
    assert_eq!(round(&mut watch, &[(Put(1), 1), (Size, 1), (Put(2), 1)]), None);
    assert_eq!((round(&mut watch, &[(Has(1), 1), (Has(2), 1), (Put(1), 0)]), watch.held()), (None, 0));
    assert_eq!(round(&mut watch, &[(Size, 2)]), None);
    assert_eq!(round(&mut watch, &[(Has(2), 0)]), Some("violated"));
    // Compacted part by part, its whole state is no longer known: the verdict is unknown, not
    // violated.
    let mut watch = Watch::new(CountedMap);
    assert_eq!(round(&mut watch, &[(Put(1), 1), (Put(2), 1)]), None);
    assert_eq!(round(&mut watch, &[(Has(1), 1)]), None);
    assert_eq!(round(&mut watch, &[(Size, 2)]), Some("unknown"));
}

/// An operation that overlaps an open one may still need all operations that it overlaps.
#[test]
fn operations_that_overlap_an_open_one_are_kept() {
    use clewline_specs::priority_queue::{Call, First, PriorityQueue, Return};
    let mut watch = Watch::new(PriorityQueue { first: First::Greatest });
    let (done, found) = (Return::Done(true), |it| Return::First(Some(it)));
    let events = [
        Event::call(0, Call::Add(9)),
        Event::ret(0, done),
        Event::call(0, Call::Add(5)),
        Event::ret(0, done),
        Event::call(1, Call::Poll),
        // 8 is there before 9 leaves, so something greater than 5 is there all the time...
        Event::call(2, Call::Add(8)),
        Event::ret(2, done),
        Event::call(3, Call::Poll),
        Event::ret(3, found(9)),
        // ...unless this one takes 8.
        Event::call(4, Call::Poll),
        Event::ret(1, found(5)),
    ];
    for event in events {
        assert!(watch.push(event).unwrap().is_none());
    }
    assert!(watch.judge().unwrap().is_none());
    for event in [Event::call(0, Call::Add(10)), Event::ret(0, done), Event::ret(4, found(10))] {
        assert!(watch.push(event).unwrap().is_none());
    }
    let alarm = watch.judge().unwrap().expect("it did not");
    assert!(alarm.to_string().contains("Poll"), "{alarm}");
}

/// A removed element may still matter to two elements of the stack.
#[test]
fn a_removed_element_of_a_stack_is_kept_while_it_matters_to_two_others() {
    use clewline_specs::stack::{Call, Stack};
    let value = |it| Value::from(it);
    let mut watch = Watch::new(Stack::default());
    let events = [
        Event::call(0, Call::Push(value(5))),
        Event::call(1, Call::Push(value(6))),
        Event::ret(1, Value::TRUE),
        Event::call(1, Call::Push(value(7))),
        Event::ret(0, Value::TRUE),
        Event::call(0, Call::Pop),
        Event::ret(0, value(6)),
        Event::ret(1, Value::TRUE),
    ];
    for event in events {
        assert!(watch.push(event).unwrap().is_none());
    }
    assert!(watch.judge().unwrap().is_none());
    for event in [Event::call(0, Call::Pop), Event::ret(0, value(5))] {
        assert!(watch.push(event).unwrap().is_none());
    }
    let _alarm = watch.judge().unwrap().expect("7 is above 5, since 6 was above 5 and below nothing");
}

/// A queue of few values with many operations open at a time, as lines in the order of the calls,
/// and as events. Its hints are what `order` makes of the place of an operation in the order of
/// effects; the last result is wrong if `is_wrong`.
fn overlapping(seed: u64, is_wrong: bool, order: impl Fn(i64) -> Option<i64>) -> [String; 2] {
    const COUNT: i64 = 200;
    const WIDTH: usize = 6_000;
    let mut random = Random::new(seed);
    let (mut inside, mut free) = (VecDeque::new(), Vec::<i64>::new());
    let (mut operations, mut events) = (Vec::new(), Vec::new());
    for at in 0..COUNT {
        let call = 1_000 * at - random.below(WIDTH) as i64;
        let end = 1_000 * at + 1 + random.below(WIDTH) as i64;
        let process = free.iter().position(|it| *it < call).unwrap_or(free.len());
        free.resize(free.len().max(process + 1), i64::MIN);
        free[process] = end;
        let value = random.below(8);
        let (what, ret) = if is_wrong && at == COUNT - 1 {
            (r#""op": "deq""#.to_owned(), r#", "ret": 99"#.to_owned())
        } else if random.below(2) == 1 {
            inside.push_back(value);
            (format!(r#""op": "enq", "arg": {value}"#), r#", "ret": true"#.to_owned())
        } else {
            let taken = inside.pop_front().map_or("null".to_owned(), |it| it.to_string());
            (r#""op": "deq""#.to_owned(), format!(r#", "ret": {taken}"#))
        };
        let hint = order(at).map_or(String::new(), |it| format!(r#", "order": {it}"#));
        let line = format!(r#"{{"process": {process}, {what}{ret}, "call": {call}, "return": {end}{hint}}}"#);
        operations.push((call, line));
        events.push((call, format!(r#"{{"event": "call", "process": {process}, {what}}}"#)));
        events.push((end, format!(r#"{{"event": "return", "process": {process}{ret}{hint}}}"#)));
    }
    [operations, events].map(|mut all| {
        all.sort_by_key(|it| it.0);
        all.iter().map(|it| format!("{}\n", it.1)).collect()
    })
}

#[test]
fn right_hints_shorten_the_search_of_a_stream_and_wrong_ones_change_no_verdict() {
    let verdict = |text: &str| {
        // The others find the order by themselves.
        let check = Check::new().algorithm("jit-graph".parse().unwrap()).window(20).configurations(4_000);
        let report = check.stream("-", text.as_bytes(), "queue:1000", LineOrder::Promised).run().unwrap();
        report.verdict().word()
    };
    let (mut given_up, mut all) = (0, 0);
    for seed in 0..pick_of_three(4, 12, 40) {
        for text in overlapping(seed, false, Some) {
            assert_eq!(verdict(&text), "holds", "seed {seed}");
        }
        for text in overlapping(seed, false, |_| None) {
            given_up += usize::from(verdict(&text) == "unknown");
            all += 1;
        }
        // None of these hints is believed.
        for text in overlapping(seed, true, Some) {
            assert_ne!(verdict(&text), "holds", "seed {seed}");
        }
        for text in overlapping(seed, false, |it| Some(-it)) {
            assert_ne!(verdict(&text), "violated", "seed {seed}");
        }
    }
    assert!(all / 4 < given_up, "without hints, {given_up} of {all} take too long");
}
