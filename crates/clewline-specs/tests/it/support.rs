//! Scripts, random histories, and the simplest possible search.

use std::sync::{Arc, LazyLock};

use clewline_core::{
    CallSampler, Codec, ErasedHistory, Event, GeneratorConfig, History, LoadError, Names, Problem, Random,
    RawCall, Recording, Shown, Value, ValueDomain, Values,
};
use clewline_specs::{
    find,
    map::{Call, Map},
};

/// Calls `$law` with the name of every specification, the specification, and a function that draws
/// calls.
macro_rules! for_every_specification {
    ($law:ident) => {{
        struct Lawful;

        impl clewline_specs::Visitor for Lawful {
            fn visit<S: clewline_core::Codec>(&mut self, name: &'static str, specification: S) {
                $law(name, &specification, &|sampler| specification.sample(sampler));
            }
        }

        clewline_specs::visit(&mut Lawful);
        // Texts are not drawn by default, and the meaning of null depends on the recording.
        $law("map", &crate::support::with_texts("append", ""), &crate::support::sample_texts);
        $law("map", &crate::support::with_texts("put", ""), &crate::support::sample_nulls);
    }};
}
pub(crate) use for_every_specification;

static TEXTS: LazyLock<(Arc<Values>, Vec<Value>)> = LazyLock::new(|| {
    let mut values = Values::new();
    // "ba" is missing here on purpose: appends make it.
    let texts = ["a", "b", "ab", ""].map(|it| values.text(it)).to_vec();
    (Arc::new(values), texts)
});

/// A map of texts of a recording in which `method` occurs; absent keys read as `missing`.
pub(crate) fn with_texts(method: &str, missing: &str) -> Map {
    let mut values = (*TEXTS.0).clone();
    let missing = values.text(missing);
    values.text(method);
    let mut map = Map::default();
    map.bind(&Arc::new(values), missing);
    map
}

/// Calls on a map of texts, appends among them.
pub(crate) fn sample_texts(sampler: &mut CallSampler) -> Call {
    let texts = &TEXTS.1;
    let (key, text) = (sampler.key(), texts[sampler.below(2)]);
    match sampler.below(6) {
        0 => Call::Get(key),
        1 => Call::Put(key, texts[sampler.below(4)]),
        2 => Call::Insert(key, text),
        3 => Call::Cas(key, texts[sampler.below(4)], text),
        _ => Call::Append(key, text),
    }
}

/// Calls on a map that treat null and the missing value as values like any other.
pub(crate) fn sample_nulls(sampler: &mut CallSampler) -> Call {
    let mut value = || [Value::NIL, TEXTS.1[0], TEXTS.1[1], TEXTS.1[3]][sampler.below(4)];
    let (one, other) = (value(), value());
    let key = sampler.key();
    match sampler.below(8) {
        0 => Call::Get(key),
        1 => Call::Contains(key),
        2 => Call::Remove(key),
        3 => Call::Put(key, one),
        4 => Call::Insert(key, one),
        5 => Call::GetOrInsert(key, one),
        _ => Call::Cas(key, one, other),
    }
}

/// A sampler with few values and keys, so that operations interact.
pub(crate) fn small_sampler(seed: u64) -> CallSampler {
    let values = if seed.is_multiple_of(3) { ValueDomain::Distinct } else { ValueDomain::Below(3) };
    CallSampler::new(&GeneratorConfig { values, keys: 2, seed, ..GeneratorConfig::default() })
}

/// An operation of a small history; `until` is `u32::MAX` while it is pending.
#[derive(Clone, Debug)]
pub(crate) struct Op<C, R> {
    pub(crate) call: C,
    pub(crate) ret: Option<R>,
    pub(crate) from: u32,
    pub(crate) until: u32,
}

pub(crate) type Ops<S> =
    Vec<Op<<S as clewline_core::Specification>::Call, <S as clewline_core::Specification>::Return>>;

/// A small history that is linearizable by construction; about one operation in six is pending.
pub(crate) fn random_ops<S: Codec>(
    specification: &S,
    sample: &dyn Fn(&mut CallSampler) -> S::Call,
    seed: u64,
) -> Ops<S> {
    let (mut random, mut sampler) = (Random::new(seed), small_sampler(seed));
    let mut state = specification.initial();
    let mut ops: Ops<S> = Vec::new();
    // From nearly sequential to nearly all concurrent.
    let farthest = [2, 10, 30][random.below(3)];
    for point in 1..=3 + random.below(5) as u32 {
        let call = sample(&mut sampler);
        let mut returns = specification.returns(&state, &call);
        if returns.is_empty() {
            continue;
        }
        let ret = returns.swap_remove(random.below(returns.len()));
        let mut next = Vec::new();
        specification.step(&state, &call, Some(&ret), &mut next);
        state = next.swap_remove(0);
        let mut reach = || random.below(farthest) as u32;
        let (from, until) = (100 + 10 * point - reach(), 101 + 10 * point + reach());
        let is_pending = random.below(6) == 0;
        let (ret, until) = if is_pending { (None, u32::MAX) } else { (Some(ret), until) };
        ops.push(Op { call, ret, from, until });
    }
    ops
}

/// Exchanges results or times of two operations, or drops one: probably, but not certainly, a
/// violation.
pub(crate) fn perturb<S: Codec>(specification: &S, ops: &mut Ops<S>, random: &mut Random) {
    let complete: Vec<usize> = (0..ops.len()).filter(|&at| ops[at].ret.is_some()).collect();
    if complete.is_empty() {
        return;
    }
    let mut draw = || complete[random.below(complete.len())];
    let (one, other) = (draw(), draw());
    let method = |at: usize| specification.write_call(&ops[at].call).0;
    if random.chance(0.4) {
        ops.remove(one);
    } else if method(one) == method(other) {
        let ret = ops[one].ret.clone();
        ops[one].ret = std::mem::replace(&mut ops[other].ret, ret);
    } else {
        let (from, until) = (ops[one].from, ops[one].until);
        (ops[one].from, ops[one].until) = (ops[other].from, ops[other].until);
        (ops[other].from, ops[other].until) = (from, until);
    }
}

/// Whether the operations have a linearization: tries every order that real time allows. For at
/// most a dozen operations.
pub(crate) fn is_linearizable<S: Codec>(specification: &S, ops: &Ops<S>) -> bool {
    fn go<S: Codec>(specification: &S, ops: &Ops<S>, done: u32, state: &S::State) -> bool {
        let left = || (0..ops.len()).filter(|at| done & (1 << at) == 0);
        if left().all(|at| ops[at].ret.is_none()) {
            return true;
        }
        let first_end = left().map(|at| ops[at].until).min().unwrap_or(u32::MAX);
        left().filter(|&at| ops[at].from < first_end).any(|at| {
            let mut next = Vec::new();
            specification.step(state, &ops[at].call, ops[at].ret.as_ref(), &mut next);
            next.iter().any(|it| go(specification, ops, done | 1 << at, it))
        })
    }
    go(specification, ops, 0, &specification.initial())
}

/// States that random calls reach.
pub(crate) fn reachable_states<S: Codec>(
    specification: &S,
    sample: &dyn Fn(&mut CallSampler) -> S::Call,
    seed: u64,
) -> Vec<S::State> {
    let (mut random, mut sampler) = (Random::new(seed), small_sampler(seed));
    let mut states = vec![specification.initial()];
    for _ in 0..12 {
        let mut next = Vec::new();
        specification.step(states.last().unwrap(), &sample(&mut sampler), None, &mut next);
        if !next.is_empty() {
            states.push(next.swap_remove(random.below(next.len())));
        }
    }
    states
}

/// A sequential recording of `operations`, one per line or between semicolons: `put [1, "x"]`, `get
/// 1 = "x"`.
///
/// The result follows the equals sign; a question mark leaves the operation pending.
pub(crate) fn record(operations: &str, missing: Option<&str>) -> Recording {
    let mut values = Values::new();
    let mut events = Vec::new();
    for (process, line) in operations.split([';', '\n']).filter(|it| !it.trim().is_empty()).enumerate() {
        let (call, ret) = line.split_once(" = ").unwrap_or((line, ""));
        let (method, arg) = call.trim().split_once(' ').unwrap_or((call.trim(), ""));
        let (method, arg) = (values.text(method), read_value(&mut values, arg));
        events.push(Event::call(process as u32, RawCall { method, arg }));
        if ret.trim() != "?" {
            events.push(Event::ret(process as u32, read_value(&mut values, ret)));
        }
    }
    let missing = missing.map_or(Value::NIL, |it| values.text(it));
    Recording { missing, ..Recording::new(History::from_events(events).unwrap(), values, Names::default()) }
}

/// As in JSON, but without escapes and without nested lists.
pub(crate) fn read_value(values: &mut Values, written: &str) -> Value {
    match written.trim() {
        "" => Value::ABSENT,
        "null" => Value::NIL,
        "true" => Value::TRUE,
        "false" => Value::FALSE,
        it if it.starts_with('[') => {
            let items: Vec<Value> = it[1..it.len() - 1].split(',').map(|it| read_value(values, it)).collect();
            values.list(&items)
        }
        it if it.starts_with('{') => values.other(it),
        it if it.starts_with('"') => values.text(it.trim_matches('"')),
        it => values.int(it.parse().unwrap()),
    }
}

pub(crate) fn load(specification: &str, recording: Recording) -> Result<Box<dyn ErasedHistory>, LoadError> {
    find(specification).unwrap_or_else(|error| panic!("{error}")).load(recording)
}

/// Executes a sequential history: `holds`, or the first operation that is not allowed and what
/// would be.
pub(crate) fn run(specification: &str, recording: Recording) -> String {
    let case = load(specification, recording).unwrap_or_else(|error| panic!("{error}"));
    let problems = case.problems();
    let problem: &Problem<'_> = &problems[0];
    let mut replay = problem.replay();
    for (at, id) in problem.operations().iter().enumerate() {
        let instead: Vec<String> = replay.could_return(at).iter().map(Shown::to_string).collect();
        if !replay.advance(at) {
            let instead = if instead.is_empty() { "nothing".to_owned() } else { instead.join(" or ") };
            return format!("{}: expected {instead}", problem.label(*id));
        }
    }
    "holds".to_owned()
}

/// The table of the texts that `sample_texts` draws.
pub(crate) fn text_values() -> Values {
    (*TEXTS.0).clone()
}
