//! Values of all kinds through the methods: what a subject returns is judged, saved and read again.

use std::{collections::HashMap, time::Duration};

use clewline_core::{OperationId, Value, Values};
use clewline_methods::{
    Recorder, check, check_file,
    line_up::LineUp,
    stress::{RunFailure, Stress},
};
use clewline_specs::{
    map::{self, Content, Map},
    queue::{self, Queue},
    register::{Call, Register},
};
use clewline_threads::{
    Noise, Subject, point,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use crate::run::Folder;

/// A register of two halves, of which one is marked while the other is written.
#[derive(Default)]
struct Halves {
    high: AtomicU32,
    low: AtomicU32,
}

const TORN: u64 = 0xdead_beef_0000_0001;

impl Halves {
    fn write(&self, value: u32) {
        self.high.store((TORN >> 32) as u32, SeqCst);
        self.low.store(value, SeqCst);
        point();
        self.high.store(0, SeqCst);
    }

    fn read(&self) -> u64 {
        u64::from(self.high.load(SeqCst)) << 32 | u64::from(self.low.load(SeqCst))
    }
}

impl Subject<Register> for Halves {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Read => self.read().into(),
            Call::Write(value) => {
                self.write(value.get());
                ().into()
            }
        }
    }
}

#[test]
fn a_torn_result_of_a_stress_test_is_a_wrong_result() {
    let stress = Stress::new(Register::starting_at(0), Halves::default)
        .timeout(Duration::from_secs(300))
        .noise(Noise { between: 0.0, inside: 0.05 })
        .shrink(Duration::ZERO)
        .without_environment()
        .without_saving();
    let outcome = stress.run().unwrap();
    let report = outcome.to_string();
    assert!(matches!(outcome.finding.unwrap().failure, RunFailure::NotLinearizable(_)), "{report}");
    assert!(report.contains("read() → 1604569098"), "{report}");
}

#[test]
fn a_torn_result_under_every_interleaving_is_a_wrong_result() {
    for against in [|it| it, LineUp::against_specification, |it: LineUp<_>| it.against_named("register:0")] {
        let line_up = LineUp::specified(Register::starting_at(0), Halves::default).without_environment();
        let outcome = against(line_up.matrix("write(1) | read")).run().unwrap();
        assert_eq!(outcome.verdict().word(), "violated", "{outcome}");
        assert!(outcome.to_string().contains(&TORN.to_string()[..10]), "{outcome}");
        assert!(!outcome.to_string().contains("panic"), "{outcome}");
    }
}

/// A map of texts to integers that do not fit a word.
#[derive(Default)]
struct Texts(Mutex<HashMap<String, u64>>);

impl Subject<Map> for Texts {
    fn call(&self, call: &map::Call) -> Content {
        let mut entries = self.0.lock().unwrap();
        match *call {
            map::Call::Put(key, value) => {
                entries.insert(key.get(), value.get());
                ().into()
            }
            map::Call::Get(key) => entries.get(key.get::<&str>()).copied().into(),
            map::Call::Remove(key) => entries.remove(key.get::<&str>()).into(),
            _ => panic!("not in the matrix"),
        }
    }
}

/// The arguments of calls, which are written in the matrix, meet the results of the subject.
#[test]
fn texts_and_large_integers_of_a_matrix_are_equal_to_those_of_a_subject() {
    for against in [|it| it, LineUp::against_specification, |it: LineUp<_>| it.against_named("map")] {
        let line_up = LineUp::specified(Map::new(), Texts::default).without_environment();
        let matrix = r#"put("x", 5000000000) | get("x") remove("x")"#;
        let outcome = against(line_up.matrix(matrix)).run().unwrap();
        assert_eq!(outcome.verdict().word(), "holds", "{outcome}");
    }
}

/// What a recorder saves is read as what was recorded, with the same verdict.
#[test]
fn recorded_values_of_every_kind_are_judged_alike_when_they_are_read_again() {
    let folder = Folder::new("recorded_values_of_every_kind");
    let all = [
        Value::from(7),
        Value::from(i64::MAX),
        Value::from(u64::MAX),
        Value::from(-1_i128 << 100),
        Value::from("text \"quoted\" #7"),
        Value::from(vec!["x", "y"]),
        Value::from((1, vec![Value::from("z"), Value::from(1_u64 << 50)])),
        Value::from(true),
    ];
    for (at, value) in all.into_iter().enumerate() {
        for (returned, holds) in [(value, true), (all[(at + 1) % all.len()], false), (Value::NIL, false)] {
            let recorder = Recorder::new(Queue::new());
            recorder.call(0, queue::Call::Enq(value)).returned(().into());
            recorder.call(1, queue::Call::Enq("other".into())).returned(Value::TRUE);
            recorder.call(0, queue::Call::Deq).returned(returned);
            assert_eq!(recorder.watch().unwrap().is_none(), holds, "{value:?}");
            let report = check(&Queue::new(), &recorder.history().unwrap()).to_string();
            assert_eq!(report.starts_with("holds"), holds, "{report}");
            recorder.save(folder.path("run.jsonl")).unwrap();
            let report = check_file(folder.path("run.jsonl"), "queue").unwrap();
            assert_eq!(report.holds(), holds, "{report}");
            let shown = Values::new().show(value).to_string();
            assert_eq!(report.case().label(OperationId(0)), format!("enq({shown})"));
        }
    }
}

/// A register that is right.
struct Locked(clewline::sync::Mutex<Value>);

impl Subject<Register> for Locked {
    fn call(&self, call: &Call) -> Value {
        let mut value = self.0.lock().unwrap();
        match *call {
            Call::Read => *value,
            Call::Write(new) => {
                *value = new;
                ().into()
            }
        }
    }
}

#[test]
fn lists_are_equal_to_themselves_in_a_named_specification() {
    for list in [Value::from([1, 2]), [5].into(), Value::from(vec!["a, b", "c"])] {
        let make = || Locked(clewline::sync::Mutex::new(Value::NIL));
        let calls = [Call::Write(list), Call::Read];
        let outcome = LineUp::specified(Register::new(), make)
            .calls(calls)
            .threads(2)
            .operations(2)
            .against_named("register")
            .without_environment()
            .run();
        let outcome = outcome.unwrap();
        assert!(outcome.holds(), "{outcome}");
    }
}
