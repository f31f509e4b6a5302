//! Histories for tests: drawn by hand, all small ones, and random ones.

use clewline_core::{
    ErasedHistory, Event, EventLog, GeneratorConfig, Names, ObjectId, ProcessId, Random, RawCall, RawHistory,
    Recording, Value, Values,
};
use clewline_specs::find;
use clewline_testing::pick_of_three;

/// What an operation does: a method, an argument and, if it returns, a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action {
    pub(crate) call: RawCall,
    pub(crate) ret: Option<Value>,
}

/// Reads `enq 1`, `deq → 1`, `deq → nil`, `cas [1 2] → true`, and `deq → ?` for a pending one.
pub(crate) fn action(values: &mut Values, text: &str) -> Action {
    let (call, ret) = match text.split_once('→') {
        Some((call, ret)) => (call.trim(), Some(ret.trim())),
        None => (text.trim(), None),
    };
    let (method, arg) = call.split_once(' ').unwrap_or((call, ""));
    let call = RawCall { method: values.text(method), arg: value(values, arg.trim()) };
    let ret = match ret {
        Some("?") => None,
        Some(ret) => Some(value(values, ret)),
        None => Some(Value::ABSENT),
    };
    Action { call, ret }
}

fn value(values: &mut Values, text: &str) -> Value {
    match text {
        "" => Value::ABSENT,
        "nil" => Value::NIL,
        "true" => Value::TRUE,
        "false" => Value::FALSE,
        _ => match text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(items) => {
                let items = items.split(' ').filter(|it| !it.is_empty());
                let items: Vec<Value> = items.map(|it| value(values, it)).collect();
                values.list(&items)
            }
            None => match text.parse() {
                Ok(int) => values.int(int),
                Err(_) => values.text(text),
            },
        },
    }
}

/// Loads a raw history as one of `spec`'s.
pub(crate) fn load(spec: &str, history: RawHistory, values: Values) -> Box<dyn ErasedHistory> {
    let spec = find(spec).unwrap();
    spec.load(Recording::new(history, values, Names::default())).unwrap()
}

/// Reads a drawing, a line a process. The columns of the bars are the moments of the events; a
/// missing right bar is a pending operation.
///
/// ```text
/// A: |--enq 1--|
/// B:     |--deq → 1--|
/// ```
#[track_caller]
pub(crate) fn drawn(spec: &str, drawing: &str) -> Box<dyn ErasedHistory> {
    let mut values = Values::new();
    let mut events: Vec<(usize, bool, Event<RawCall, Value>)> = Vec::new();
    for (process, line) in (0..).map(ProcessId).zip(drawing.lines().filter(|it| it.contains(':'))) {
        let line: Vec<char> = line.chars().collect();
        let mut bars = (0..line.len()).filter(|&it| line[it] == '|');
        while let Some(start) = bars.next() {
            let end = bars.next();
            let text: String = line[start + 1..end.unwrap_or(line.len())].iter().collect();
            let mut text = text.trim_matches(['-', ' ']).to_owned();
            if end.is_none() && !text.contains('→') {
                text += " → ?";
            }
            let Action { call, ret } = action(&mut values, &text);
            events.push((start, false, Event::Call(process, ObjectId(0), call)));
            match (end, ret) {
                (Some(end), Some(ret)) => events.push((end, true, Event::Return(process, ret))),
                (None, None) => (),
                (Some(_), None) | (None, Some(_)) => {
                    panic!("`{text}`: a bar ends it if and only if it returns")
                }
            }
        }
    }
    // At one column calls come before returns: touching operations overlap.
    events.sort_by_key(|&(column, is_return, _)| (column, is_return));
    let history = RawHistory::from_events(events.into_iter().map(|(.., event)| event)).unwrap();
    load(spec, history, values)
}

/// Calls `each` with every history of `n` operations, each doing one of `actions`, up to
/// equivalence.
///
/// In call order, each operation returns after the call of some operation (itself or a later one)
/// and before the next call; the order of neighbouring returns does not matter. A pending one has
/// no return.
///
/// In `./test` only some of those of three operations and more are taken, at equal distances; in
/// `./test all`, of those of five and more.
pub(crate) fn every_history(
    spec: &str,
    n: usize,
    actions: &[&str],
    mut each: impl FnMut(&dyn ErasedHistory),
) {
    let mut values = Values::new();
    let actions: Vec<Action> = actions.iter().map(|it| action(&mut values, it)).collect();
    // For operation i: which action, and after how many further calls it returns.
    let mut choice: Vec<(usize, usize)> = vec![(0, 0); n];
    // Distances are primes, so that they do not keep step with the choices.
    let distance = pick_of_three([1, 1, 1, 3, 29, 401][n.min(5)], [1, 1, 1, 1, 1, 11][n.min(5)], 1);
    for number in 0_usize.. {
        if number % distance == 0 {
            each(&*load(spec, history_of(&choice, &actions), values.clone()));
        }
        // The next choice, as an odometer.
        let mut at = 0;
        loop {
            if at == n {
                return;
            }
            let (action, delay) = &mut choice[at];
            let delays = if actions[*action].ret.is_some() { n - at } else { 1 };
            if *delay + 1 < delays {
                *delay += 1;
                break;
            }
            *delay = 0;
            if *action + 1 < actions.len() {
                *action += 1;
                break;
            }
            *action = 0;
            at += 1;
        }
    }
}

/// The history in which operation i does action `choice[i].0` and returns after `choice[i].1`
/// further calls.
pub(crate) fn history_of(choice: &[(usize, usize)], actions: &[Action]) -> RawHistory {
    let mut log = EventLog::new();
    for now in 0..choice.len() {
        let process = |it: usize| ProcessId(it as u32);
        log.push(Event::Call(process(now), ObjectId(0), actions[choice[now].0].call)).unwrap();
        for (at, &(action, delay)) in choice[..=now].iter().enumerate() {
            if let Some(ret) = actions[action].ret
                && at + delay == now
            {
                log.push(Event::Return(process(at), ret)).unwrap();
            }
        }
    }
    log.finish()
}

/// A random history of `spec`: linearizable, or with some results changed, which often makes it
/// violated.
pub(crate) fn random_history(spec: &str, seed: u64) -> Box<dyn ErasedHistory> {
    let mut random = Random::new(seed);
    let plan = GeneratorConfig {
        operations: 2 + random.below(13),
        processes: 2 + random.below(4),
        overlap: [0.3, 0.6, 1.0][random.below(3)],
        values: clewline_core::ValueDomain::Below(1 + random.below(4) as u32),
        keys: 1 + random.below(2),
        pending: [0.0, 0.1, 0.3][random.below(3)],
        seed: random.next(),
        ..GeneratorConfig::default()
    };
    let catalogued = find(spec).unwrap();
    let mut recording = catalogued.generate(&plan);
    for _ in 0..random.below(6) {
        let changed = change_an_operation(recording.clone(), &mut random);
        // Not every result fits every call.
        if catalogued.load(changed.clone()).is_ok() {
            recording = changed;
        }
    }
    catalogued.load(recording).unwrap()
}

/// Gives one operation another result, or makes it do what another operation did.
fn change_an_operation(recording: Recording, random: &mut Random) -> Recording {
    let Recording { history, values, names, missing, initial } = recording;
    let actions: Vec<(RawCall, Value)> =
        history.operations().filter_map(|it| Some((*it.call, *it.ret?))).collect();
    if actions.is_empty() {
        return Recording { history, values, names, missing, initial };
    }
    let extra = [Value::NIL, Value::TRUE, Value::FALSE, Value::from(0), Value::from(1)];
    let (other_call, other_ret) = actions[random.below(actions.len())];
    let kind = random.below(3);
    let extra = extra[random.below(extra.len())];
    let chosen = random.below(history.len());
    let history = history.try_map(|id, call, ret| {
        Ok::<_, ()>(match (ret, kind) {
            (Some(ret), 0) if id.index() == chosen && !ret.is_absent() => (call, Some(extra)),
            (Some(ret), 1) if id.index() == chosen && !ret.is_absent() => (call, Some(other_ret)),
            (Some(_), 2) if id.index() == chosen => (other_call, Some(other_ret)),
            (ret, _) => (call, ret),
        })
    });
    Recording { history: history.unwrap(), values, names, missing, initial }
}

/// A history of these actions, called in this order, that return at random times. A pending one has
/// no return.
pub(crate) fn random_times(spec: &str, actions: &[&str], random: &mut Random) -> Box<dyn ErasedHistory> {
    let mut values = Values::new();
    let actions: Vec<Action> = actions.iter().map(|it| action(&mut values, it)).collect();
    let longest = 1 + random.below(4);
    let delay = |at: usize, random: &mut Random| random.below(longest).min(actions.len() - 1 - at);
    let choice: Vec<(usize, usize)> = (0..actions.len()).map(|it| (it, delay(it, random))).collect();
    load(spec, history_of(&choice, &actions), values)
}
