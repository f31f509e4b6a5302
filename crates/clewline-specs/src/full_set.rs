//! A set that can be read as a whole, so it is judged as a whole, unlike [`set`](crate::set).
//!
//! The results of `add` and `remove` may be left out, as in Jepsen's `set` workload: then either is
//! possible. A result of `read` is a list of all elements in any order, or a set in EDN.

use std::{collections::BTreeSet, sync::Arc};

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Elements, Encoded, Footprint, RawCall, SetOperation,
    Specification, Value, Values,
};

use crate::{
    copies::tree_bytes,
    entry::{SpecificationEntry, Visitor},
    operation::{RawValue, ResultKind, initial},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "full-set",
    about: "a set, judged as a whole: add, remove, contains, read (all elements)",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: true,
    build: |parameter| parameter::without_parameter(FullSet, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("full-set", FullSet);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullSet;

impl FullSet {
    /// A set, initially empty.
    #[must_use]
    pub fn new() -> FullSet {
        FullSet
    }
}

operations! {
    /// A call on a set that is read as a whole.
    enum Call;
    Add(value: element "value") = "add" | "insert" => Truth, "returns whether the value was not there before, or nothing";
    Remove(old_value: element "value") = "remove" | "delete" => Truth, "returns whether the value was there, or nothing";
    Contains(old_value: element "value") = "contains" => Truth, "returns whether the value is there";
    Read = "read" | "elements" => Value, "returns the list of all elements, in any order";
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// Whether the value was or is there.
    Is(bool),
    /// Not said.
    Untold,
    /// All elements.
    All(Arc<BTreeSet<Value>>),
}

impl From<bool> for Return {
    fn from(is: bool) -> Return {
        Return::Is(is)
    }
}

impl FullSet {
    /// Executes `call`, and returns its result.
    fn apply(state: &mut BTreeSet<Value>, call: &Call) -> Return {
        match call {
            Call::Add(value) => Return::Is(state.insert(*value)),
            Call::Remove(value) => Return::Is(state.remove(value)),
            Call::Contains(value) => Return::Is(state.contains(value)),
            Call::Read => Return::All(Arc::new(state.clone())),
        }
    }

    /// Executes `call`; returns whether it may return `ret`.
    fn allows(state: &mut BTreeSet<Value>, call: &Call, ret: Option<&Return>) -> bool {
        match (call, ret) {
            (Call::Read, Some(Return::All(all))) => **all == *state,
            (Call::Read, None) => true,
            (_, Some(Return::Untold) | None) => {
                FullSet::apply(state, call);
                true
            }
            (_, Some(ret)) => FullSet::apply(state, call) == *ret,
        }
    }
}

impl Specification for FullSet {
    type State = BTreeSet<Value>;
    type Call = Call;
    type Return = Return;

    fn initial(&self) -> BTreeSet<Value> {
        BTreeSet::new()
    }

    fn step(
        &self,
        state: &BTreeSet<Value>,
        call: &Call,
        ret: Option<&Return>,
        next: &mut Vec<BTreeSet<Value>>,
    ) {
        let mut state = state.clone();
        if FullSet::allows(&mut state, call, ret) {
            next.push(state);
        }
    }

    fn advance(&self, states: &mut Vec<BTreeSet<Value>>, call: &Call, ret: Option<&Return>) {
        states.retain_mut(|it| FullSet::allows(it, call, ret));
        if 1 < states.len() {
            let mut seen = std::collections::HashSet::new();
            states.retain(|it| seen.insert(it.clone()));
        }
    }

    fn returns(&self, state: &BTreeSet<Value>, call: &Call) -> Vec<Return> {
        vec![FullSet::apply(&mut state.clone(), call)]
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Return>) -> Footprint {
        match (call, ret) {
            (Call::Read, None) => Footprint::Reads(Elements::None),
            (Call::Read, Some(_)) => Footprint::Reads(Elements::Any),
            (Call::Contains(value), _) => Footprint::Reads(Elements::One(value.word())),
            (Call::Add(value) | Call::Remove(value), Some(Return::Is(false))) => {
                Footprint::Reads(Elements::One(value.word()))
            }
            (Call::Remove(_), None) => Footprint::Changes(Elements::Any),
            (Call::Add(value) | Call::Remove(value), _) => Footprint::Changes(Elements::One(value.word())),
        }
    }

    fn set_operation(&self, call: &Call, ret: Option<&Return>) -> Option<SetOperation> {
        let is = match ret {
            Some(Return::Is(is)) => Some(*is),
            Some(Return::Untold | Return::All(_)) | None => None,
        };
        Some(match call {
            Call::Add(value) => SetOperation::Add { element: value.word(), is_new: is },
            Call::Remove(value) => SetOperation::Remove { element: value.word(), was_there: is },
            Call::Contains(value) => SetOperation::Contains { element: value.word(), is_there: is },
            Call::Read => SetOperation::Read {
                elements: match ret {
                    Some(Return::All(all)) => Some(all.iter().map(|it| it.word()).collect()),
                    Some(Return::Is(_) | Return::Untold) | None => None,
                },
            },
        })
    }

    fn restricted_return(&self, _call: &Call, ret: &Return, elements: &[u64]) -> Option<Return> {
        Some(match ret {
            Return::Is(_) | Return::Untold => ret.clone(),
            Return::All(all) => {
                let rest = elements.iter().filter_map(|&it| Value::from_word(it));
                Return::All(Arc::new(rest.filter(|it| all.contains(it)).collect()))
            }
        })
    }

    fn state_bytes(&self, state: &BTreeSet<Value>) -> usize {
        size_of_val(state) + tree_bytes::<Value>(state.len())
    }
}

impl Codec for FullSet {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        Call::read(values, method, arg)
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Return, CodecError> {
        match (call, ret) {
            (Call::Read, _) => elements(values, ret)
                .map(|it| Return::All(Arc::new(it)))
                .ok_or(())
                .or_else(|()| RawValue::result(values, call.name(), ret).error("the list of all elements")),
            (Call::Add(_) | Call::Remove(_), Value::ABSENT | Value::NIL) => Ok(Return::Untold),
            _ => ResultKind::Truth.read(values, call.name(), ret).map(|it| Return::Is(it == Value::TRUE)),
        }
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        call.write()
    }

    fn write_return(&self, _call: &Call, ret: &Return) -> Encoded {
        match ret {
            Return::Is(is) => Encoded::Value(Value::bool(*is)),
            Return::Untold => Encoded::NOTHING,
            Return::All(all) => Encoded::List(all.iter().map(|it| Encoded::Value(*it)).collect()),
        }
    }

    fn sample(&self, sampler: &mut CallSampler) -> Call {
        Call::sample(sampler)
    }

    fn name(&self) -> Option<String> {
        Some(ENTRY.name.to_owned())
    }

    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        initial::elements(values, "add", initial)
    }
}

/// The elements of a list, or of a set as EDN writes it: `#{1 2}`. An element that occurs nowhere
/// else in the history is null, which no set contains.
fn elements(values: &Values, all: Value) -> Option<BTreeSet<Value>> {
    match values.get(all) {
        Datum::List(items) => Some(items.iter().copied().collect()),
        Datum::Other(text) => {
            let inside = text.strip_prefix("#{")?.strip_suffix('}')?;
            // Elements with brackets or escapes are not cut at spaces alone.
            if inside.contains(['{', '[', '(', '\\']) {
                return None;
            }
            words(inside).map(|it| element(values, it)).collect()
        }
        _ => None,
    }
}

/// The words of a text, of which those in quotes may have spaces.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let end = match rest.strip_prefix('"') {
            Some(inside) => inside.find('"').map_or(rest.len(), |it| it + 2),
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(end);
        rest = behind.trim_start();
        (!word.is_empty()).then_some(word)
    })
}

fn element(values: &Values, text: &str) -> Option<Value> {
    Some(match text {
        "true" => Value::TRUE,
        "false" => Value::FALSE,
        "nil" => Value::NIL,
        _ => match (text.parse::<i64>(), text.strip_prefix(':')) {
            (Ok(int), _) => values.find(Value::from(int)).unwrap_or(Value::NIL),
            (_, Some(name)) => values.find_symbol(name).unwrap_or(Value::NIL),
            _ => {
                let text = text.strip_prefix('"')?.strip_suffix('"')?;
                values.find_text(text).unwrap_or(Value::NIL)
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_edn_is_read_as_a_list_is() {
        let mut values = Values::new();
        let large = values.int(1 << 40);
        let (text, name) = (values.text("a b"), values.symbol("k"));
        let list = values.list(&[large, text, name, Value::TRUE]);
        let set = values.other("#{true :k \"a b\" 1099511627776}");
        assert_eq!(elements(&values, set), elements(&values, list));
        let empty = values.other("#{}");
        assert_eq!(elements(&values, empty), Some(BTreeSet::new()));
        // What occurs nowhere else is no element of any state.
        let other = values.other("#{\"b\" 7}");
        let expected = [Value::NIL, values.int(7)].into_iter().collect();
        assert_eq!(elements(&values, other), Some(expected));
        for wrong in ["#{[1]}", "{1 2}", "#{1/2}"] {
            let wrong = values.other(wrong);
            assert_eq!(elements(&values, wrong), None);
        }
    }

    fn every_call() -> Vec<Call> {
        let values = [1, 2, 3].map(|it: i64| Value::from(it));
        let of = |make: fn(Value) -> Call| values.map(make).to_vec();
        [of(Call::Add), of(Call::Remove), of(Call::Contains), vec![Call::Read]].concat()
    }

    fn every_state() -> Vec<BTreeSet<Value>> {
        let has = |state: u32, it: i64| state & 1 << it != 0;
        let state = |state| (0..3).filter(|&it| has(state, it)).map(|it| Value::from(1 + it)).collect();
        (0..8).map(state).collect()
    }

    /// What the operation does to a mathematical set; `None` if it does not allow the result.
    fn as_mathematics(state: &BTreeSet<u64>, operation: &SetOperation) -> Option<BTreeSet<u64>> {
        let mut next = state.clone();
        let is_right = match operation {
            SetOperation::Add { element, is_new } => {
                let is = next.insert(*element);
                is_new.is_none_or(|it| it == is)
            }
            SetOperation::Remove { element, was_there } => {
                let was = next.remove(element);
                was_there.is_none_or(|it| it == was)
            }
            SetOperation::Contains { element, is_there } => {
                is_there.is_none_or(|it| it == state.contains(element))
            }
            SetOperation::Read { elements } => {
                elements.as_ref().is_none_or(|all| all.iter().copied().collect::<BTreeSet<_>>() == *state)
            }
        };
        is_right.then_some(next)
    }

    #[test]
    fn operations_are_those_of_a_mathematical_set() {
        let words = |it: &BTreeSet<Value>| it.iter().map(|it| it.word()).collect::<BTreeSet<u64>>();
        for state in every_state() {
            for call in every_call() {
                let lists = every_state().into_iter().map(|it| Return::All(Arc::new(it)));
                let truths = [Return::Is(true), Return::Is(false)];
                let is_read = matches!(call, Call::Read);
                let is_change = matches!(call, Call::Add(_) | Call::Remove(_));
                let rets: Vec<Return> = if is_read { lists.collect() } else { truths.to_vec() };
                let untold = is_change.then_some(Some(Return::Untold));
                for ret in rets.into_iter().map(Some).chain([None]).chain(untold) {
                    let operation = FullSet.set_operation(&call, ret.as_ref()).unwrap();
                    let mut next = Vec::new();
                    FullSet.step(&state, &call, ret.as_ref(), &mut next);
                    let expected: Vec<_> = as_mathematics(&words(&state), &operation).into_iter().collect();
                    assert_eq!(next.iter().map(words).collect::<Vec<_>>(), expected, "{call:?} → {ret:?}");
                }
            }
        }
    }

    /// What happens to a set happens to each part of it: the results are restricted as the states.
    #[test]
    fn a_restricted_result_is_that_of_a_restricted_set() {
        for kept in every_state() {
            let kept_words: Vec<u64> = kept.iter().map(|it| it.word()).collect();
            let restricted = |it: &BTreeSet<Value>| it.intersection(&kept).copied().collect::<BTreeSet<_>>();
            for state in every_state() {
                for call in every_call() {
                    if let Footprint::Reads(Elements::One(word)) | Footprint::Changes(Elements::One(word)) =
                        FullSet.footprint(&call, Some(&Return::Is(true)))
                        && !kept_words.contains(&word)
                    {
                        continue;
                    }
                    let mut next = state.clone();
                    let ret = FullSet::apply(&mut next, &call);
                    let few = FullSet.restricted_return(&call, &ret, &kept_words).unwrap();
                    let mut few_next = restricted(&state);
                    assert!(FullSet::allows(&mut few_next, &call, Some(&few)), "{call:?} → {few:?}");
                    assert_eq!(few_next, restricted(&next), "{call:?}");
                }
            }
        }
    }
}
