use std::{
    fs,
    sync::{
        Mutex,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
    thread,
};

use clewline_core::{OperationId, Value, Verdict};
use clewline_specs::register::{Call, Register};

use super::*;
use crate::{check, check_file};

fn value(it: i64) -> Value {
    Value::from(it)
}

#[test]
fn an_operation_spans_its_call_and_its_return() {
    let recorder = Recorder::new(Register::new());
    let write = recorder.call(7, Call::Write(value(1)));
    let read = recorder.call(8, Call::Read);
    write.returned(Value::TRUE);
    read.returned(value(1));
    recorder.call(7, Call::Read).returned(value(1));
    let history = recorder.history().unwrap();
    let spans = history.spans();
    assert_eq!(history.len(), 3);
    assert!(!spans[0].precedes(spans[1]) && !spans[1].precedes(spans[0]));
    assert!(spans[0].precedes(spans[2]) && spans[1].precedes(spans[2]));
    let process = |it| history.process(OperationId(it));
    assert_eq!(process(0), process(2));
    assert_ne!(process(0), process(1));
}

#[test]
fn an_operation_without_a_result_is_pending_and_its_client_may_call_again() {
    let recorder = Recorder::new(Register::new());
    drop(recorder.call(0, Call::Write(value(1))));
    recorder.call(0, Call::Read).returned(value(1));
    recorder.call(0, Call::Read).returned(value(1));
    let history = recorder.history().unwrap();
    assert!(history.spans()[0].is_pending());
    assert_ne!(history.process(OperationId(0)), history.process(OperationId(1)));
    assert_eq!(history.process(OperationId(1)), history.process(OperationId(2)));
    assert!(check(&Register::new(), &history).holds());
}

#[test]
fn two_operations_of_one_client_may_overlap() {
    let recorder = Recorder::new(Register::new());
    let (first, second) = (recorder.call(0, Call::Write(value(1))), recorder.call(0, Call::Read));
    first.returned(Value::TRUE);
    second.returned(value(1));
    assert!(check(&Register::new(), &recorder.history().unwrap()).holds());
}

#[test]
fn an_operation_that_failed_had_no_effect() {
    let recorder = Recorder::new(Register::new());
    recorder.call(0, Call::Write(value(1))).fail();
    recorder.call(0, Call::Read).returned(value(1));
    let history = recorder.history().unwrap();
    assert_eq!(history.len(), 1);
    assert!(matches!(check(&Register::new(), &history).verdict(), Verdict::Violated(_)));
}

#[test]
fn a_history_that_is_saved_is_judged_alike() {
    let folder = std::env::temp_dir().join(format!("clewline-recorder-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for (read, holds) in [(1, true), (2, false)] {
        let recorder = Recorder::new(Register::new());
        recorder.call(0, Call::Write(value(1))).returned(Value::TRUE);
        drop(recorder.call(1, Call::Write(value(3))));
        recorder.call(0, Call::Read).returned(value(read));
        let path = folder.join("run.jsonl");
        recorder.save(&path).unwrap();
        assert_eq!(check_file(&path, "register").unwrap().holds(), holds);
    }
    let error = Recorder::new(Register::new()).save(folder.join("none/run.jsonl")).unwrap_err();
    assert!(error.to_string().contains("run.jsonl"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

/// What a register does that reads `stale` in the end, recorded by four threads.
fn run(recorder: &Recorder<Register>, operations: usize, stale: bool) {
    let register = AtomicI64::new(0);
    thread::scope(|scope| {
        for client in 0..4 {
            let register = &register;
            scope.spawn(move || {
                for at in 0..operations {
                    if (client + at) % 3 == 0 {
                        let new = (client * operations + at + 1) as i64;
                        let write = recorder.call(client, Call::Write(value(new)));
                        register.store(new, SeqCst);
                        write.returned(Value::TRUE);
                    } else {
                        let read = recorder.call(client, Call::Read);
                        match register.load(SeqCst) {
                            0 => read.fail(),
                            it => read.returned(value(it)),
                        }
                    }
                }
            });
        }
    });
    if stale {
        recorder.call(9, Call::Write(value(-1))).returned(Value::TRUE);
        recorder.call(9, Call::Read).returned(value(register.into_inner()));
    }
}

#[test]
fn threads_are_judged_while_they_run() {
    for make in [Recorder::new, Recorder::live] {
        for stale in [false, true] {
            let recorder = make(Register::new());
            let alarms: Mutex<Vec<Alarm>> = Mutex::default();
            thread::scope(|scope| {
                let running = scope.spawn(|| run(&recorder, 2_000, stale));
                loop {
                    let is_over = running.is_finished();
                    alarms.lock().unwrap().extend(recorder.watch().unwrap());
                    if is_over {
                        break;
                    }
                }
            });
            // A violation stays one: if it was seen before the end, it is seen again.
            assert_eq!(alarms.into_inner().unwrap().is_empty(), !stale);
            assert_eq!(recorder.history().is_ok(), !recorder.is_live);
        }
    }
}

#[test]
fn what_was_watched_can_be_judged_as_a_whole() {
    let recorder = Recorder::new(Register::new());
    run(&recorder, 300, true);
    assert!(recorder.watch().unwrap().is_some());
    let report = check(&Register::new(), &recorder.history().unwrap()).verdict().clone();
    assert!(matches!(report, Verdict::Violated(_)));
}

#[test]
fn recording_goes_on_after_an_alarm() {
    let recorder = Recorder::live(Register::new());
    recorder.call(0, Call::Write(value(1))).returned(Value::TRUE);
    let open = recorder.call(1, Call::Read);
    recorder.call(0, Call::Read).returned(value(2));
    run(&recorder, 3_000, false);
    assert!(recorder.watch().unwrap().is_some());
    open.returned(value(1));
    run(&recorder, 3_000, false);
    drop(recorder.watch().unwrap());
}

#[test]
fn notes_are_saved_with_the_history() {
    let recorder = Recorder::new(Register::new());
    let partition = recorder.interval("partition");
    let write = recorder.call(0, Call::Write(value(1)));
    recorder.note("kill n2");
    write.returned(Value::TRUE);
    drop(partition);
    recorder.call(1, Call::Read).returned(value(1));
    let _rest = recorder.interval("skew");
    let path = std::env::temp_dir().join(format!("clewline-notes-{}.jsonl", std::process::id()));
    recorder.save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let recording =
        clewline_formats::formats::find("jsonl").unwrap().read(&mut text.as_bytes(), &Default::default());
    fs::remove_file(&path).unwrap();
    let note = |text: &str, from, until| Note { text: text.to_owned(), from, until };
    let expected = [note("partition", 0, Some(2)), note("kill n2", 1, Some(1)), note("skew", 4, None)];
    assert_eq!(recording.unwrap().names.notes, expected, "{text}");
}

/// Client 7 abandons a write and reads it; client `other` reads it, too.
fn of_clients(other: usize) -> Recorder<Register> {
    let recorder = Recorder::new(Register::new());
    drop(recorder.call(7, Call::Write(value(1))));
    recorder.call(other, Call::Read).returned(value(1));
    recorder.call(7, Call::Read).returned(value(1));
    recorder
}

#[test]
fn processes_are_named_by_their_clients() {
    let path = std::env::temp_dir().join(format!("clewline-clients-{}.jsonl", std::process::id()));
    let saved = |recorder: &Recorder<Register>| {
        recorder.save(&path).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let numbers = |recorder: &Recorder<Register>| {
        let history = recorder.history().unwrap();
        history.operations().map(|it| it.process.0).collect::<Vec<_>>()
    };
    let names = |text: &str| -> Vec<String> {
        let name = |line: &str| line.split("\"process\": ").nth(1)?.split(", \"").next().map(str::to_owned);
        text.lines().filter_map(name).collect()
    };
    let recorder = of_clients(9);
    assert_eq!(names(&saved(&recorder)), ["7", "9", "\"7 (2)\""]);
    assert_eq!(numbers(&recorder), [7, 9, 10]);
    // Numbers that a table cannot be indexed by.
    for other in [1 << 40, usize::MAX] {
        let recorder = of_clients(other);
        let text = saved(&recorder);
        assert_eq!(names(&text)[1].trim_matches('"'), other.to_string(), "{text}");
        assert_eq!(numbers(&recorder), [0, 1, 2]);
        assert!(check_file(&path, "register").unwrap().holds());
    }
    fs::remove_file(&path).unwrap();
}

#[test]
fn an_alarm_names_clients() {
    for (make, client) in [(Recorder::new as fn(_) -> _, 70), (Recorder::live, 1 << 40)] {
        let recorder = make(Register::new());
        recorder.call(9, Call::Write(value(1))).returned(Value::TRUE);
        drop(recorder.call(client, Call::Read));
        recorder.call(client, Call::Read).returned(value(2));
        let alarm = recorder.watch().unwrap().expect("2 was never written").to_string();
        assert!(alarm.contains(&format!("  {client} (2): |--Read → 2--|")), "{alarm}");
    }
}

#[test]
fn histories_are_taken_while_clients_record() {
    let recorder = Recorder::new(Register::new());
    let partition = recorder.interval("partition");
    thread::scope(|scope| {
        let running = scope.spawn(|| run(&recorder, 4_000, false));
        let mut before = 0;
        while !running.is_finished() {
            recorder.note("look");
            let Snapshot { events, notes, .. } = recorder.snapshot().unwrap();
            assert!(notes.iter().all(|it| it.from as usize <= events.len()));
            // Not the operations: a call that fails is no longer one of them.
            assert!(before <= events.len());
            before = events.len();
            history(events);
        }
    });
    drop(partition);
    assert!(COPY_EVENTS_MAX < recorder.lock().events.len());
    assert!(check(&Register::new(), &recorder.history().unwrap()).holds());
}
