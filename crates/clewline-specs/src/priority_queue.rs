//! A priority queue of integers: the greatest or the least is removed first.

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Deterministic, Elements, Encoded, Footprint, ObjectKind, RawCall,
    Role, Undo, Value, Values,
};

use crate::{
    copies::Copies,
    entry::{SpecificationEntry, Visitor},
    operations, parameter,
};

/// The catalog entry.
pub const ENTRY: SpecificationEntry = SpecificationEntry {
    name: "priority-queue",
    about: "a priority queue of integers, greatest first: add, poll, peek",
    operations: &Call::OPERATIONS,
    parameter: None,
    is_keyed: false,
    build: |parameter| parameter::without_parameter(PriorityQueue::new(), parameter),
};

/// Passes the specification to `visitor`, with each parameter that makes a difference.
pub(crate) fn visit<V: Visitor>(visitor: &mut V) {
    visitor.visit("priority-queue", PriorityQueue::new());
}

/// The specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorityQueue {
    /// Which integer is removed first.
    pub first: First,
}

impl PriorityQueue {
    /// A priority queue, initially empty, that removes the greatest integer first.
    #[must_use]
    pub fn new() -> PriorityQueue {
        PriorityQueue::default()
    }

    /// A priority queue, initially empty, that removes the least integer first.
    #[must_use]
    pub fn least_first() -> PriorityQueue {
        PriorityQueue { first: First::Least }
    }
}

/// Which integer is removed first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum First {
    /// The greatest integer.
    #[default]
    Greatest,
    /// The least integer.
    Least,
}

operations! {
    /// A call on a priority queue.
    enum Call;
    Add(int: integer "n") = "add" | "insert" | "offer" => Nothing, "adds an integer of 64 bits";
    Poll = "poll" => IntegerOrNull, "removes and returns the greatest integer, null if there is none";
    Peek = "peek" => IntegerOrNull, "returns the greatest integer, null if there is none";
}

/// The result of a call on a priority queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// An integer was added; false (refused) is never allowed.
    Done(bool),
    /// The first integer in the order, if there is one.
    First(Option<i64>),
}

impl From<()> for Return {
    /// An integer was added.
    fn from((): ()) -> Return {
        Return::Done(true)
    }
}

impl From<Option<i64>> for Return {
    /// The first integer, if there is one.
    fn from(first: Option<i64>) -> Return {
        Return::First(first)
    }
}

impl Deterministic for PriorityQueue {
    type State = Copies<i64>;
    type Call = Call;
    type Return = Return;

    fn initial(&self) -> Copies<i64> {
        Copies::new()
    }

    fn apply(&self, state: &mut Copies<i64>, call: &Call) -> Option<Return> {
        let first = match self.first {
            First::Greatest => state.elements().next_back().copied(),
            First::Least => state.elements().next().copied(),
        };
        match *call {
            Call::Add(int) => {
                state.add(int);
                Some(Return::Done(true))
            }
            Call::Poll => {
                first.map(|it| state.remove(&it));
                Some(Return::First(first))
            }
            Call::Peek => Some(Return::First(first)),
        }
    }

    fn apply_undoable(&self, state: &mut Copies<i64>, call: &Call) -> (Option<Return>, Undo<Copies<i64>>) {
        let ret = self.apply(state, call);
        let undo = match (*call, &ret) {
            (Call::Add(int), _) => Undo::change(move |state: &mut Copies<i64>| {
                state.remove(&int);
            }),
            (Call::Poll, &Some(Return::First(Some(int)))) => {
                Undo::change(move |state: &mut Copies<i64>| state.add(int))
            }
            (Call::Poll | Call::Peek, _) => Undo::Nothing,
        };
        (ret, undo)
    }

    fn may_block(&self, _call: &Call) -> bool {
        false
    }

    fn footprint(&self, call: &Call, ret: Option<&Return>) -> Footprint {
        match (call, ret) {
            // An empty queue is also empty with fewer elements.
            (Call::Poll, Some(Return::First(None))) => Footprint::Reads(Elements::None),
            (Call::Peek, Some(Return::First(Some(int)))) => {
                Footprint::Reads(Elements::One(int.cast_unsigned()))
            }
            (Call::Peek, _) => Footprint::Reads(Elements::None),
            (Call::Add(int), _) | (Call::Poll, Some(Return::First(Some(int)))) => {
                Footprint::Changes(Elements::One(int.cast_unsigned()))
            }
            (Call::Poll, None | Some(Return::Done(_))) => Footprint::Changes(Elements::Any),
        }
    }

    fn kind(&self) -> Option<ObjectKind> {
        Some(ObjectKind::PriorityQueue)
    }

    fn role(&self, call: &Call, ret: Option<&Return>) -> Option<Role> {
        // In the reverse order, the least is the greatest.
        let element = |int: i64| match self.first {
            First::Greatest => int.cast_unsigned(),
            First::Least => (!int).cast_unsigned(),
        };
        Some(match (call, ret) {
            (Call::Add(int), Some(Return::Done(true)) | None) => Role::Add(element(*int)),
            (Call::Poll, Some(Return::First(Some(int)))) => Role::Remove(element(*int)),
            (Call::Peek, Some(Return::First(Some(int)))) => Role::Observe(element(*int)),
            (Call::Poll | Call::Peek, Some(Return::First(None))) => Role::Empty,
            (Call::Poll, None) => Role::RemoveUnknown,
            (Call::Peek, None) => Role::NoEffect,
            (Call::Add(_) | Call::Poll | Call::Peek, Some(Return::Done(_) | Return::First(_))) => {
                return None;
            }
        })
    }

    fn state_bytes(&self, state: &Copies<i64>) -> usize {
        state.bytes()
    }
}

impl Codec for PriorityQueue {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<Call, CodecError> {
        Call::read(values, method, arg)
    }

    fn read_return(&self, values: &Values, call: &Call, ret: Value) -> Result<Return, CodecError> {
        let ret = call.result_kind().read(values, call.name(), ret)?;
        Ok(match values.get(ret) {
            Datum::Int(first) => Return::First(Some(first)),
            Datum::Nil => Return::First(None),
            _ => Return::Done(ret == Value::TRUE),
        })
    }

    fn write_call(&self, call: &Call) -> (&'static str, Encoded) {
        call.write()
    }

    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        crate::operation::initial::elements(values, "add", initial)
    }

    fn write_return(&self, call: &Call, ret: &Return) -> Encoded {
        match *ret {
            Return::Done(done) => call.result_kind().write(Value::bool(done)),
            Return::First(first) => first.map_or(Encoded::Value(Value::NIL), Encoded::Int),
        }
    }

    fn name(&self) -> Option<String> {
        let name = match self.first {
            First::Greatest => ENTRY.name,
            First::Least => "min-priority-queue",
        };
        Some(name.to_owned())
    }

    fn sample(&self, sampler: &mut CallSampler) -> Call {
        Call::sample(sampler)
    }
}
