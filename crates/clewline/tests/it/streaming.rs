//! What is judged as it comes gets the verdict that it gets as a whole, and is forgotten in between.

use clewline::{
    Check, Domain, Event, LineOrder, Plan, Recording, Report, Value, Verdict, Watch, formats,
    specs::{self, CATALOG},
};

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

fn plan(seed: u64) -> Plan {
    Plan {
        operations: 300 + seed as usize % 100,
        processes: [1, 2, 3, 4, 8][seed as usize % 5],
        overlap: [0.3, 0.6, 0.9][seed as usize % 3],
        values: if seed.is_multiple_of(3) { Domain::Below(4) } else { Domain::Distinct },
        pending: if seed.is_multiple_of(7) { 0.005 } else { 0.0 },
        seed,
        ..Plan::default()
    }
}

fn streamed(text: &str, spec: &str, window: usize) -> Report<'static> {
    let check = Check::new().with_window(window).with_configurations(200_000);
    check.stream("stream.jsonl", text.as_bytes(), spec, LineOrder::Promised).unwrap()
}

/// Where two answers of one method are exchanged, or one is lost.
fn broken(mut recording: Recording, seed: u64) -> Recording {
    let count = recording.history.len();
    let from = count / 3 + seed as usize % (count / 2);
    let history = recording.history.clone();
    let answered: Vec<_> =
        history.operations().filter(|it| it.ret.is_some_and(|it| !it.is_absent())).collect();
    let Some(one) = answered.iter().find(|it| from <= it.id.index()) else { return recording };
    let other =
        answered.iter().find(|it| one.id < it.id && it.call.method == one.call.method && it.ret != one.ret);
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
fn a_stream_gets_the_verdict_of_the_whole() {
    let (mut held, mut violated, mut forgetful, mut unknown) = (0, 0, 0, 0);
    for entry in CATALOG {
        let object = specs::find(entry.name).unwrap();
        for seed in 0..30 {
            let recording = object.generate(&plan(seed));
            let recording = if seed.is_multiple_of(2) { recording } else { broken(recording, seed) };
            let is_events = seed % 4 < 2;
            let text = lines(&recording, is_events);
            let check = Check::new().with_configurations(200_000);
            let whole = check.reader("whole.jsonl", text.as_bytes(), entry.name).unwrap();
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
        100 < held && 50 < violated && 300 < forgetful && unknown < 60,
        "{held} {violated} {forgetful} {unknown}"
    );
}

#[test]
fn a_violation_is_told_with_the_first_line_after_which_it_is_certain() {
    let object = specs::find("queue").unwrap();
    let mut checked = 0;
    for seed in (1..40).step_by(2) {
        let recording = broken(object.generate(&plan(seed)), seed);
        let text = lines(&recording, true);
        let report = streamed(&text, "queue", 30);
        let Verdict::Violated(_) = report.verdict() else { continue };
        let mut json = Vec::new();
        report.write_json(clewline::render::WitnessShown::Not, &mut json).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let Some(line) = json["explanation"]["line"].as_u64() else { continue };
        let prefix = |lines: u64| -> String {
            text.lines().take(lines as usize).map(|it| format!("{it}\n")).collect()
        };
        let verdict =
            |lines| Check::new().reader("p.jsonl", prefix(lines).as_bytes(), "queue").unwrap().holds();
        assert!(!verdict(line) && verdict(line - 1), "seed {seed}, line {line}");
        checked += 1;
    }
    assert!(5 < checked, "{checked}");
}

#[test]
fn lines_out_of_order_are_read_as_a_whole_while_that_is_possible() {
    let recording = specs::find("queue").unwrap().generate(&plan(1));
    let text = lines(&recording, false);
    let reversed: String = text.lines().rev().map(|it| format!("{it}\n")).collect();
    assert!(streamed(&reversed, "queue", 10).holds());
    // Once something is forgotten it is too late.
    let late =
        format!("{text}{}\n", r#"{"process": 99, "op": "deq", "ret": null, "call": -5, "return": -4}"#);
    let check = Check::new().with_window(10);
    let error = check.stream("s.jsonl", late.as_bytes(), "queue", LineOrder::Seen).unwrap_err();
    assert!(error.to_string().contains("sort the lines by `call`"), "{error}");
}

#[test]
fn a_violation_is_not_told_before_the_order_of_lines_is_known() {
    // The line of the enqueue comes last; in order of calls it comes first.
    let recording = specs::find("queue").unwrap().generate(&plan(1));
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
    let check = Check::new().with_window(10);
    let error = check.stream("s.jsonl", text.as_bytes(), "queue", LineOrder::Seen).unwrap_err();
    assert!(error.to_string().contains("sort the lines by `call`"), "{error}");
}

#[test]
fn what_is_held_does_not_grow() {
    use specs::queue::{Call, Queue};
    let mut watch = Watch::new(Queue::default());
    let mut most = 0;
    for round in 0..400_000_i64 {
        let value = Value::small(round).unwrap();
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
fn what_came_before_a_rest_is_forgotten_while_somebody_is_busy_again() {
    use specs::register::{Call, Register};
    let value = |it| Value::small(it).unwrap();
    let mut watch = Watch::new(Register);
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
    use specs::queue::{Call, Queue};
    let value = |it| Value::small(it).unwrap();
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
