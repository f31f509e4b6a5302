//! Calls on maps, for structures that look up and change the values of keys.

use clewline_core::Value;
use clewline_specs::map::{Call, Content};

/// The calls that matrices on maps are made of.
pub(crate) const INVOCATIONS: &[&str] =
    &["get(1)", "put(1,10)", "insert(1,20)", "remove(1)", "contains(1)", "put(2,10)", "remove(2)"];

/// A structure that holds at most one value for each key.
pub(crate) trait Keyed {
    /// What `key` holds.
    fn get(&self, key: Value) -> Option<Value>;

    /// Changes the value of `key` atomically, by `decide`; returns the previous value. `decide`
    /// gets the previous value, and is called once.
    fn change(&self, key: Value, decide: impl FnOnce(Option<Value>) -> Change) -> Option<Value>;

    /// Makes `key` absent; returns the previous value.
    fn remove(&self, key: Value) -> Option<Value>;
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It stays as it is.
    Keep,
    /// It holds this value.
    Write(Value),
    /// It is absent.
    Remove,
}

impl Change {
    /// A key that holds null is absent.
    fn to(value: Value) -> Change {
        if value == Value::NIL { Change::Remove } else { Change::Write(value) }
    }
}

/// Makes `call` on `map`.
pub(crate) fn make(map: &impl Keyed, call: &Call) -> Content {
    let found = |held: Option<Value>| held.unwrap_or(Value::NIL);
    let result = match *call {
        Call::Get(key) => found(map.get(key)),
        Call::Put(key, value) => {
            map.change(key, |_| Change::to(value));
            Value::TRUE
        }
        Call::Insert(key, value) => found(map.change(key, |_| Change::to(value))),
        Call::Remove(key) => found(map.remove(key)),
        Call::Erase(key) => {
            map.remove(key);
            Value::TRUE
        }
        Call::Contains(key) => Value::bool(map.get(key).is_some()),
        Call::Cas(key, old, new) => {
            let swap = |held| if found(held) == old { Change::to(new) } else { Change::Keep };
            Value::bool(found(map.change(key, swap)) == old)
        }
        Call::GetOrInsert(key, value) => {
            let insert = |held: Option<Value>| held.map_or(Change::to(value), |_| Change::Keep);
            // An operation that finds a value is done: it was a `get`.
            map.get(key).or_else(|| map.change(key, insert)).unwrap_or(value)
        }
        Call::Append(..) => unreachable!("appends are not drawn"),
    };
    Content::Is(result)
}

/// The first position to probe for `key`: all bits depend on all of its bits, the upper ones more
/// so.
pub(crate) fn hash(key: Value) -> u64 {
    key.word().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use clewline_core::{CallSampler, Codec, Deterministic, GeneratorConfig, ValueDomain};
    use clewline_specs::map::Map;

    use super::*;

    /// Makes random calls one after another, and compares every result with that of the
    /// specification, and the final contents with a tree of the standard library.
    #[track_caller]
    pub(crate) fn check_serial(map: &impl Keyed, keys: usize, seed: u64) {
        let plan =
            GeneratorConfig { keys, values: ValueDomain::Below(4), seed, ..GeneratorConfig::default() };
        let mut sampler = CallSampler::new(&plan);
        let specification = Map::default();
        let mut state = specification.initial();
        let mut tree: BTreeMap<Value, Value> = BTreeMap::new();
        for number in 0..40 * keys + 400 {
            let call = specification.sample(&mut sampler);
            let expected = specification.apply(&mut state, &call);
            assert_eq!(Some(make(map, &call)), expected, "{call:?}, call {number}, seed {seed}");
            mirror(&mut tree, &call);
        }
        for key in (0..=keys).map(Value::from) {
            assert_eq!(map.get(key), tree.get(&key).copied(), "{key:?}, seed {seed}");
        }
    }

    fn mirror(tree: &mut BTreeMap<Value, Value>, call: &Call) {
        match *call {
            Call::Put(key, value) | Call::Insert(key, value) => drop(tree.insert(key, value)),
            Call::Remove(key) | Call::Erase(key) => drop(tree.remove(&key)),
            Call::Cas(key, old, new) => {
                if tree.get(&key) == Some(&old) {
                    tree.insert(key, new);
                }
            }
            Call::GetOrInsert(key, value) => {
                tree.entry(key).or_insert(value);
            }
            Call::Get(_) | Call::Contains(_) | Call::Append(..) => (),
        }
    }
}
