//! A bag: `take` removes any of the elements.
//!
//! `take` has as many outcomes as there are distinct elements, so this implements [`Specification`]
//! itself. Given the result there is one outcome, which is applied in place. Which element a `take`
//! removed that never returned is left open.

use std::{collections::BTreeMap, fmt};

use clewline_core::{Footprint, ObjectKind, Role, Specification, Value};

use crate::{
    codec,
    copies::{array_bytes, tree_bytes},
    entry::{SpecificationEntry, Visitor},
    operations,
    parameter::{self, Capacity},
    relaxed::CollectionOp,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "bag",
    about: "an unordered collection: add, take (any element)",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: false,
    build: |parameter| parameter::without_parameter(Bag, parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("bag", Bag);
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bag;

impl Bag {
    /// A bag, initially empty.
    #[must_use]
    pub fn new() -> Bag {
        Bag
    }
}

operations! {
    /// A call on a bag.
    enum Call;
    Add(value: element "value") = "add" | "insert" | "enqueue" => Nothing, "adds one copy of the value";
    Take = "take" | "remove" | "dequeue" => Value, "removes and returns any value, null only if there is none";
}

impl Call {
    #[inline]
    fn collection_op(&self) -> CollectionOp<Value> {
        match *self {
            Call::Add(value) => CollectionOp::Add(value),
            Call::Take => CollectionOp::Remove,
        }
    }
}

/// What is inside, where operations whose results are not known may have removed any element that
/// was there: call these *guesses*.
///
/// A `take` that returned v gets the copy of v that was added last, since fewer guesses could have
/// removed that one than any other. So it remains to see that the guesses can have different copies
/// each: up to each of them, there are at least as many copies as guesses. Where there are just as
/// many, all of them are gone.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Contents {
    // Of each value, in the order of their adds: how many guesses came before, and how many copies.
    copies: BTreeMap<Value, Vec<(u32, u32)>>,
    // Of each guess: how many copies more than guesses there are up to it; never 0.
    room: Vec<u32>,
    // Copies without guesses.
    len: u32,
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |copies: &[(u32, u32)]| copies.iter().map(|it| it.1 as usize).sum();
        let copies = self.copies.iter().flat_map(|(value, it)| std::iter::repeat_n(value, number(it)));
        f.debug_list().entries(copies).finish()?;
        if self.room.is_empty() { Ok(()) } else { write!(f, " without {}", self.room.len()) }
    }
}

impl Contents {
    /// Applies an operation, whose result may not be known. Returns false if it is not allowed.
    fn apply(&mut self, call: &Call, ret: Option<Value>) -> bool {
        match (call, ret) {
            (Call::Add(value), None | Some(Value::TRUE)) => self.add(*value),
            (Call::Add(_), Some(_)) => return false,
            (Call::Take, Some(Value::NIL)) => return self.len == 0,
            (Call::Take, Some(value)) => return self.take(value),
            (Call::Take, None) => self.guess(),
        }
        true
    }

    fn add(&mut self, value: Value) {
        let guesses = self.room.len() as u32;
        let copies = self.copies.entry(value).or_default();
        match copies.last_mut() {
            Some(last) if last.0 == guesses => last.1 += 1,
            _ => copies.push((guesses, 1)),
        }
        self.len += 1;
    }

    /// Removes the copy that was added last. Returns whether there is one.
    fn take(&mut self, value: Value) -> bool {
        let Some(copies) = self.copies.get_mut(&value) else { return false };
        let last = copies.last_mut().expect("there is a copy of each value");
        let guesses = last.0 as usize;
        last.1 -= 1;
        if last.1 == 0 {
            copies.pop();
        }
        if copies.is_empty() {
            self.copies.remove(&value);
        }
        self.len -= 1;
        self.room[guesses..].iter_mut().for_each(|it| *it -= 1);
        if let Some(last) = self.room.iter().rposition(|&it| it == 0) {
            self.forget(last + 1);
        }
        true
    }

    fn guess(&mut self) {
        if self.len == 0 {
            return;
        }
        self.len -= 1;
        self.room.push(self.len);
        if self.len == 0 {
            *self = Contents::default();
        }
    }

    /// Forgets the first guesses, which removed all copies that were there.
    fn forget(&mut self, guesses: usize) {
        self.room.drain(..guesses);
        self.copies.retain(|_, copies| {
            copies.retain(|it| guesses <= it.0 as usize);
            copies.iter_mut().for_each(|it| it.0 -= guesses as u32);
            !copies.is_empty()
        });
    }
}

impl Specification for Bag {
    type State = Contents;
    type Call = Call;
    type Return = Value;

    fn initial(&self) -> Contents {
        Contents::default()
    }

    fn step(&self, state: &Contents, call: &Call, ret: Option<&Value>, next: &mut Vec<Contents>) {
        let possible = match ret {
            Some(ret) => vec![*ret],
            None => self.returns(state, call),
        };
        for ret in possible {
            let mut state = state.clone();
            if state.apply(call, Some(ret)) {
                next.push(state);
            }
        }
    }

    // One state stands for all in which some element is gone: an order of many takes that never
    // returned is verified in linear time.
    fn advance(&self, states: &mut Vec<Contents>, call: &Call, ret: Option<&Value>) {
        states.retain_mut(|state| state.apply(call, ret.copied()));
        if ret.is_none() && 1 < states.len() {
            let mut seen = std::collections::HashSet::new();
            states.retain(|it| seen.insert(it.clone()));
        }
    }

    fn returns(&self, state: &Contents, call: &Call) -> Vec<Value> {
        match call {
            Call::Add(_) => vec![Value::TRUE],
            Call::Take if state.len == 0 => vec![Value::NIL],
            Call::Take => state.copies.keys().copied().collect(),
        }
    }

    fn canonical_return<'r>(&self, call: &Call, ret: &'r Value) -> &'r Value {
        self.result_kind_of(call).canonical(ret)
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Value>) -> Footprint {
        call.collection_op().footprint(Capacity::UNBOUNDED, ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Bag)
    }

    fn role(&self, call: &Call, ret: Option<&Value>) -> Option<Role> {
        call.collection_op().role(ret)
    }

    fn state_bytes(&self, state: &Contents) -> usize {
        let runs = state.copies.values().map(|it| array_bytes(it.len()));
        size_of_val(state)
            + tree_bytes::<(Value, Vec<u32>)>(state.copies.len())
            + runs.sum::<usize>()
            + array_bytes(state.room.len())
    }
}

codec!(Bag, name: |_| ENTRY.name.to_owned(), result: |_, call| call.result_kind(), sample: Call::sample, state: |_, values, initial| crate::operation::initial::elements(values, "add", initial));

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clewline_core::Random;

    use super::*;

    /// What is left open stands for every multiset that may be left.
    #[test]
    fn it_stands_for_all_that_may_be_inside() {
        let mut random = Random::new(4);
        for _ in 0..5_000 {
            let mut state = Contents::default();
            let mut all: BTreeSet<Vec<u64>> = BTreeSet::from([Vec::new()]);
            for _ in 0..14 {
                let value = random.below(3) as u64;
                let word = Value::from(value as i64);
                let (call, ret) = match random.below(4) {
                    0 | 1 => (Call::Add(word), None),
                    2 => (Call::Take, None),
                    _ => (Call::Take, Some([word, Value::NIL][random.below(2)])),
                };
                let mut next = BTreeSet::new();
                for inside in &all {
                    let without = |at: usize| [&inside[..at], &inside[at + 1..]].concat();
                    match (call, ret) {
                        (Call::Add(_), _) => {
                            let mut more = [&inside[..], &[value]].concat();
                            more.sort_unstable();
                            next.insert(more);
                        }
                        (Call::Take, None) if inside.is_empty() => drop(next.insert(Vec::new())),
                        (Call::Take, None) => next.extend((0..inside.len()).map(without)),
                        (Call::Take, Some(Value::NIL)) if inside.is_empty() => drop(next.insert(Vec::new())),
                        (Call::Take, Some(Value::NIL)) => (),
                        (Call::Take, Some(_)) => {
                            next.extend(inside.iter().position(|&it| it == value).map(without));
                        }
                    }
                }
                let before = format!("{state:?}");
                let is_allowed = state.apply(&call, ret);
                assert_eq!(is_allowed, !next.is_empty(), "{before}: {call:?} {ret:?}");
                if !is_allowed {
                    break;
                }
                let results: BTreeSet<Value> = match next.first().is_some_and(|it| it.is_empty()) {
                    true => BTreeSet::from([Value::NIL]),
                    false => next.iter().flatten().map(|&it| Value::from(it as i64)).collect(),
                };
                assert_eq!(BTreeSet::from_iter(Bag.returns(&state, &Call::Take)), results, "{state:?}");
                all = next;
            }
        }
    }
}
