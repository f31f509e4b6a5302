//! Texts that are appended to: `map` merges states that no result can distinguish, and that changes
//! no verdict.

use clewline_check::{JudgeOptions, check, judge, search::SEARCHES};
use clewline_core::{
    Budget, Deterministic, ErasedHistory, Event, History, Names, Random, RawCall, Recording, Retain, Value,
    Values, Verdict, erase_with_codec,
};
use clewline_specs::{
    find,
    map::{Call, Content, Map},
};

use clewline_testing::{pick, share};

use crate::definition::is_linearizable;

/// A text that several processes append to: the `map` of one key, without anything clever.
struct Text;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TextCall {
    Append(&'static str),
    Put(&'static str),
    Get,
}

impl Deterministic for Text {
    type State = String;
    type Call = TextCall;
    type Return = String;

    fn initial(&self) -> String {
        String::new()
    }

    fn apply(&self, state: &mut String, call: &TextCall) -> Option<String> {
        match *call {
            TextCall::Append(text) => state.push_str(text),
            TextCall::Put(text) => *state = text.to_owned(),
            TextCall::Get => return Some(state.clone()),
        }
        Some(String::new())
    }
}

fn random_history(random: &mut Random) -> History<TextCall, String> {
    let mut pending: [Option<TextCall>; 3] = [None; 3];
    let mut events = Vec::new();
    let mut content = String::new();
    for _ in 0..4 + random.below(11) {
        let process = random.below(3);
        events.push(match pending[process].take() {
            Some(TextCall::Get) => {
                // Mostly the current content, or the content without the last piece.
                let cut = if random.below(2) == 0 { content.len().saturating_sub(1) } else { content.len() };
                Event::ret(process as u32, content[..cut].to_owned())
            }
            Some(_) => Event::ret(process as u32, String::new()),
            None => {
                let text = ["a", "b", "c"][random.below(3)];
                let call = [TextCall::Append(text), TextCall::Put(text), TextCall::Get, TextCall::Get]
                    [[0, 0, 0, 1, 2, 3][random.below(6)]];
                match call {
                    TextCall::Append(text) => content.push_str(text),
                    TextCall::Put(text) => text.clone_into(&mut content),
                    TextCall::Get => (),
                }
                pending[process] = Some(call);
                Event::call(process as u32, call)
            }
        });
    }
    History::from_events(events).unwrap()
}

/// The same, as a program makes it: an absent key has no text.
fn typed(history: &History<TextCall, String>) -> Box<dyn ErasedHistory> {
    let typed = history.clone().try_map(|_, call, ret| {
        let (call, is_get) = match call {
            TextCall::Append(text) => (Call::Append("k".into(), text.into()), false),
            TextCall::Put(text) => (Call::Put("k".into(), text.into()), false),
            TextCall::Get => (Call::Get("k".into()), true),
        };
        let text = |it: String| Content::from(Some(it).filter(|it| !it.is_empty()));
        Ok::<_, ()>((call, ret.map(|it| if is_get { text(it) } else { ().into() })))
    });
    erase_with_codec(Map::new(), typed.unwrap())
}

/// A put that only a pending append makes use of is not left out: up to the last return that is
/// shown, the other operations happened as recorded or not at all, and may explain what is shown.
#[test]
fn a_counterexample_of_appended_texts_is_sufficient() {
    let oracle = SEARCHES.iter().find(|it| it.name() == "oracle").unwrap();
    let mut violated = 0;
    for seed in 0..share(10_000) {
        let history = random_history(&mut Random::new(seed));
        let case = typed(&history);
        let Verdict::Violated(violation) = judge(case.problems(), &JudgeOptions::default()).verdict else {
            continue;
        };
        let problem = &case.problems()[0];
        let is_shown = |at: usize| violation.counterexample.contains(&problem.operations()[at]);
        let shown = (0..problem.len()).filter(|&at| is_shown(at));
        let end = shown.map(|at| problem.spans()[at].end()).max().unwrap();
        let core = problem.weaken(|at| match problem.spans()[at] {
            _ if is_shown(at) => Retain::All,
            span if end < span.call() => Retain::Drop,
            span if end < span.end() => Retain::CallOnly,
            _ => Retain::Optional,
        });
        let word = check(*oracle, &core, &Budget::unlimited()).word();
        assert_eq!(word, "violated", "seed {seed}: {violation:?} {problem:#?}");
        violated += 1;
    }
    assert!(share(1_000) < violated, "{violated} are violated");
}

#[test]
fn appended_texts_are_judged_as_if_each_were_a_state() {
    let map = find("map").unwrap();
    let (mut holds, mut violated) = (0, 0);
    for seed in 0..pick(600, 20_000) {
        let history = random_history(&mut Random::new(seed));
        let expected = is_linearizable(&Text, &history, &mut Vec::new(), &String::new());
        *if expected { &mut holds } else { &mut violated } += 1;
        let mut values = Values::new();
        let key = values.text("k");
        let raw = history.clone().try_map(|_, call, ret| {
            let (method, text) = match call {
                TextCall::Append(text) => ("append", Some(text)),
                TextCall::Put(text) => ("put", Some(text)),
                TextCall::Get => ("get", None),
            };
            let arg = text.map(|it| values.text(it)).map_or(key, |text| values.list(&[key, text]));
            let ret = ret.map(|ret| if text.is_none() { values.text(&ret) } else { Value::ABSENT });
            Ok::<_, ()>((RawCall { method: values.text(method), arg }, ret))
        });
        let missing = values.text("");
        let recording = Recording { missing, ..Recording::new(raw.unwrap(), values, Names::default()) };
        let case = map.load(recording).unwrap();
        let word = judge(case.problems(), &JudgeOptions::default()).verdict.word();
        assert_eq!(word, if expected { "holds" } else { "violated" }, "seed {seed}: {history:#?}");
        let case = typed(&history);
        assert_eq!(
            judge(case.problems(), &JudgeOptions::default()).verdict.word(),
            word,
            "seed {seed}: {case:?}"
        );
    }
    let expected = pick(50, 2_000);
    assert!(expected < holds && expected < violated, "{holds} hold, {violated} are violated");
}
