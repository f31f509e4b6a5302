//! The kind of values changes no verdict: large integers, texts and lists that a program makes are
//! judged like small integers, and like the same values of a recording.

use std::collections::BTreeMap;

use clewline_check::{JudgeOptions, check, judge, search::SEARCHES};
use clewline_core::{
    Budget, Codec, Datum, ErasedHistory, ErasedSpec, Event, History, Problem, RawCall, Recording, Value,
    Values, erase_with_codec,
};
use clewline_specs::{
    Visitor,
    map::{self, Content, Map},
    queue::{self, Queue},
    register::{self, Register},
};
use clewline_testing::share;

use crate::histories::random_history;

/// What stands for the integer `int`, which is not 0.
type Substitute = fn(i64) -> Value;

/// Order is kept, since priority queues depend on it.
const SUBSTITUTES: [(&str, Substitute); 5] = [
    ("large integers", |int| Value::from((1_i64 << 40) + int)),
    ("integers beyond 64 bits", |int| Value::from((1_u128 << 90) + int as u128)),
    ("texts", |int| Value::from(format!("text {int}"))),
    ("lists", |int| Value::from(vec![Value::from(int), Value::from("x")])),
    ("values of several kinds", |int| {
        [int.into(), "one".into(), "two".into(), [7, 8].into()][int as usize & 3]
    }),
];

/// `value` with every integer but 0 replaced: 0 may be an initial value.
fn replaced(values: &Values, value: Value, substitute: Substitute) -> Value {
    match values.get(value) {
        Datum::Int(0) => value,
        Datum::Int(int) => substitute(int),
        Datum::List(items) => {
            items.iter().map(|it| replaced(values, *it, substitute)).collect::<Vec<Value>>().into()
        }
        _ => values.share(value),
    }
}

/// The same history with other values, as a program makes it; `None` if the object takes integers
/// alone.
fn typed<S: Codec>(
    specification: &S,
    recording: &Recording,
    substitute: Substitute,
) -> Option<History<S::Call, S::Return>> {
    let Recording { history, values, .. } = recording;
    let history = history.clone().try_map(|_, raw: RawCall, ret| {
        let Datum::Text(method) = values.get(raw.method) else { panic!("a method is a text") };
        let arg = replaced(values, raw.arg, substitute);
        let call = specification.read_call(&Values::new(), method, arg)?;
        let read = |ret| specification.read_return(&Values::new(), &call, replaced(values, ret, substitute));
        let ret = ret.map(read).transpose()?;
        Ok::<_, clewline_core::CodecError>((call, ret))
    });
    history.ok()
}

/// The verdict of the usual checkers, monitors included.
fn verdict(case: &dyn ErasedHistory) -> &'static str {
    judge(case.problems(), &JudgeOptions::default()).verdict.word()
}

/// Whether all values are in the table of the recording, or need no table.
fn has_own_values(recording: &Recording) -> bool {
    let is_own = |it: Value| !it.is_shared() && recording.values.has(it);
    let mut operations = recording.history.operations();
    operations.all(|it| is_own(it.call.method) && is_own(it.call.arg) && it.ret.is_none_or(|it| is_own(*it)))
}

/// The words of a label, sorted: the elements of a set are written in no particular order.
fn in_any_order(label: String) -> Vec<String> {
    let mut words: Vec<String> = label.split(['[', ']', ',', ' ']).map(str::to_owned).collect();
    words.sort_unstable();
    words
}

#[derive(Default)]
struct Compare {
    // By object and kind of values: how many histories hold, and how many are violated.
    counts: BTreeMap<(&'static str, &'static str), [usize; 2]>,
}

impl Visitor for Compare {
    fn visit<S>(&mut self, name: &'static str, specification: S)
    where
        S: Codec + Clone + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync,
    {
        for seed in 0..share(800) {
            let case = random_history(name, seed);
            let expected = verdict(&*case);
            let recording = case.recording().unwrap();
            for (kind, substitute) in SUBSTITUTES {
                // The sum of other integers is another one.
                if name.starts_with("counter") || name.starts_with("bank") {
                    continue;
                }
                let Some(history) = typed(&specification, &recording, substitute) else { continue };
                let case = erase_with_codec(specification.clone(), history);
                let about = || format!("{name} with {kind}, seed {seed}: {:#?}", case.problems());
                assert_eq!(verdict(&*case), expected, "{}", about());
                for checker in &SEARCHES {
                    let is_violated =
                        |it: &Problem<'_>| check(*checker, it, &Budget::unlimited()).word() == "violated";
                    let violated = case.problems().iter().any(is_violated);
                    assert_eq!(violated, expected == "violated", "{} on {}", checker.name(), about());
                }
                // As it is when it was saved and read again.
                let saved = case.recording().unwrap();
                assert!(has_own_values(&saved), "{}", about());
                let again = specification.load(saved).unwrap();
                assert_eq!(verdict(&*again), expected, "saved: {}", about());
                for problem in case.problems() {
                    for &id in problem.operations() {
                        let labels = [again.label(id), case.label(id)].map(in_any_order);
                        assert_eq!(labels[0], labels[1], "{}", about());
                    }
                }
                self.counts.entry((name, kind)).or_default()[usize::from(expected == "violated")] += 1;
            }
        }
    }
}

#[test]
fn every_kind_of_value_is_judged_like_small_integers() {
    let mut compare = Compare::default();
    clewline_specs::visit(&mut compare);
    let both = compare.counts.iter().filter(|(_, [holds, violated])| 0 < *holds && 0 < *violated).count();
    // All kinds of objects but those of integers, with all kinds of values.
    assert!(70 <= both, "{:#?}", compare.counts);
}

/// A recording that holds values of both tables, with equal contents: they are equal when it is
/// loaded.
#[test]
fn a_recording_may_be_given_values_that_programs_made() {
    let mut values = Values::new();
    let [enq, deq, x] = ["enq", "deq", "x"].map(|it| values.text(it));
    let list = values.list(&[x, Value::from(1)]);
    let call = |method, arg| Event::call(0, RawCall { method, arg });
    for (arg, ret, expected) in [
        (x, Value::from("x"), "holds"),
        (Value::from("x"), x, "holds"),
        (Value::from(("x", 1)), list, "holds"),
        (list, Value::from(("x", 2)), "violated"),
    ] {
        let events = [
            call(enq, arg),
            Event::ret(0, Value::ABSENT),
            call("deq".into(), Value::ABSENT),
            Event::ret(0, ret),
        ];
        let history = History::from_events(events).unwrap();
        let recording = Recording::new(history, values.clone(), clewline_core::Names::default());
        assert_eq!(verdict(&*Queue::new().load(recording).unwrap()), expected, "{arg:?} and {ret:?}");
    }
    assert!(values.has(deq));
}

/// The initial value of a specification is compared with values of a recording, too.
#[test]
fn an_initial_value_is_equal_to_that_of_a_recording() {
    for initial in [Value::from("x"), Value::from(1_i64 << 40), Value::from(["x", "y"]), Value::from(3)] {
        for (read, expected) in [(initial, "holds"), (Value::from("z"), "violated"), (Value::NIL, "violated")]
        {
            let events = [Event::call(0, register::Call::Read), Event::ret(0, read)];
            let register = Register::starting_at(initial);
            let case = erase_with_codec(register, History::from_events(events).unwrap());
            assert_eq!(verdict(&*case), expected, "{initial:?} is read as {read:?}");
            let recording = case.recording().unwrap();
            assert_eq!(verdict(&*register.load(recording.clone()).unwrap()), expected, "{initial:?}");
            // Before the text is known, states may not be carried over.
            assert_eq!(Codec::is_stable_under_new_values(&register, &Values::new()), !initial.is_shared());
            if let Some(name) = Codec::name(&register) {
                let named = clewline_specs::find(&name).unwrap();
                assert_eq!(verdict(&*named.load(recording).unwrap()), expected, "{name}");
            }
        }
    }
    let names = ["x", "3", "true", "null"].map(|it| Codec::name(&Register::starting_at(it)));
    // Text that reads as something else has no name.
    assert_eq!(names, [Some("register:x".to_owned()), None, None, None]);
    assert_eq!(Codec::name(&Register::starting_at(["x"])), None);
}

/// An operation that returns nothing may return nothing, null or true, and never false; and no
/// other operation gains a result.
#[test]
fn nothing_is_a_result_where_nothing_is_returned() {
    let one = Value::from(1);
    let queue = |spec: Queue, enq: Value, deq: Value| {
        let events = [
            Event::call(0, queue::Call::Enq(one)),
            Event::ret(0, enq),
            Event::call(0, queue::Call::Deq),
            Event::ret(0, deq),
        ];
        let case = erase_with_codec(spec, History::from_events(events).unwrap());
        let monitored = verdict(&*case);
        for checker in &SEARCHES {
            assert_eq!(check(*checker, &case.problems()[0], &Budget::unlimited()).word(), monitored);
        }
        monitored
    };
    for nothing in [Value::from(()), Value::TRUE, Value::NIL, Value::ABSENT] {
        assert_eq!(queue(Queue::new(), nothing, one), "holds", "{nothing:?}");
        assert_eq!(queue(Queue::new(), nothing, Value::NIL), "violated", "{nothing:?}");
        // It took effect.
        assert_eq!(queue(Queue::new(), one, one), "violated");
        assert_eq!(queue(Queue::new(), Value::FALSE, Value::NIL), "violated");
        let is_known = nothing == Value::TRUE;
        assert_eq!(queue(Queue::bounded(4), nothing, one) == "holds", is_known, "{nothing:?} says no room");
        assert_eq!(queue(Queue::new(), Value::TRUE, nothing), "violated", "{nothing:?} is no element");
    }
    let map = |put: Content, get: Content| {
        let events = [
            Event::call(0, map::Call::Put("k".into(), one)),
            Event::ret(0, put),
            Event::call(0, map::Call::Get("k".into())),
            Event::ret(0, get),
        ];
        verdict(&*erase_with_codec(Map::new(), History::from_events(events).unwrap()))
    };
    assert_eq!(map(().into(), 1.into()), "holds");
    assert_eq!(map(true.into(), Some(1).into()), "holds");
    assert_eq!(map(().into(), ().into()), "violated");
    assert_eq!(map(().into(), None::<u64>.into()), "violated");
    assert_eq!(map(false.into(), 1.into()), "violated");
}
