//! Collections that are out of order by at most a bound: a relaxed form of quasi-linearizability.
//!
//! Elements are kept in the order in which the plain collection removes them. With factor k, a
//! removal may take one of the first k + 1 elements, provided that no element before it has been
//! *overtaken* k times already; each element before it is then overtaken once more. An operation
//! returns *empty* only if there are no elements. With factor 0 this is the plain collection.
//!
//! So no element is removed more than k places early, and none is overtaken by more than k later
//! ones. In a queue, the two conditions together mean that for each element its places in the order
//! of insertion and in the order of removal differ by at most k.
//!
//! Source: L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up: runtime checking quasi
//! linearizability of concurrent data structures", 2013, section V (strict out-of-order semantics).
//! Where the paper says that an element is among the first k, this reads k + 1: as printed, k = 1
//! would be the plain order.

use std::{collections::VecDeque, fmt::Debug, hash::Hash};

use clewline_core::{
    CallSampler, Codec, CodecError, Encoded, Footprint, ObjectKind, RawCall, Role, Specification, Value,
    Values,
};

pub use crate::collection_op::CollectionOp;
use crate::{copies::array_bytes, parameter};

/// A collection that removes its elements in some order, with what is needed to relax that order.
pub trait Ordered: Codec {
    /// The type of its elements.
    type Element: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// The name of the relaxed collection in the catalog.
    fn relaxed_name(&self) -> &'static str;

    /// What `call` does.
    fn collection_op(&self, call: &Self::Call) -> CollectionOp<Self::Element>;

    /// The result of an operation that adds an element.
    fn add_result(&self) -> Self::Return;

    /// The result of an operation that finds this element, or none.
    fn remove_result(&self, element: Option<Self::Element>) -> Self::Return;

    /// The position at which a new element is inserted into the order of removal.
    fn insert_position(&self, elements: &OrderedElements<Self::Element>, element: Self::Element) -> usize;

    /// How equal elements are treated.
    fn equal_elements(&self) -> EqualElements;

    /// The kind of object with this `factor`, which is not 0, for monitors.
    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind>;
}

/// How equal elements of a collection are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EqualElements {
    /// They are not ordered among each other, so none overtakes another. The one that was overtaken
    /// most often is removed: every continuation that is possible after removing another one is
    /// possible after removing it.
    Interchangeable,
    /// The first one that may be removed is. In a queue, every continuation that is possible after
    /// removing a later one is possible after removing the first: exchange the two removals, and no
    /// element is further out of order than before.
    FirstLeaves,
    /// Any one that may be removed is. In a stack the choice matters, because other elements may
    /// lie between. Of two neighbours it is the first one, unless the other was overtaken so often
    /// that it had better leave: what is left has the same values, overtaken no more often.
    AnyLeaves,
}

/// Elements in the order of removal, each with the number of times it was overtaken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderedElements<E>(VecDeque<(E, u32)>);

impl<E: Copy + Eq> OrderedElements<E> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of elements at the front that have a property which no later element has.
    pub fn partition_point(&self, mut has: impl FnMut(E) -> bool) -> usize {
        self.0.partition_point(|it| has(it.0))
    }

    /// Removes the element at a position; it overtakes all elements before it.
    fn remove_overtaking(&mut self, place: usize) {
        self.0.iter_mut().take(place).for_each(|it| it.1 += 1);
        self.0.remove(place);
    }
}

/// A relaxed collection: see the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Relaxed<P> {
    /// The collection without relaxation.
    pub plain: P,
    /// The bound k: how many elements one may overtake, and how often it may be overtaken.
    pub factor: u32,
}

impl<P: Ordered> Relaxed<P> {
    /// The collection `plain`, out of order by at most `factor`: `Relaxed::new(Queue::new(), 2)`.
    #[must_use]
    pub fn new(plain: P, factor: u32) -> Relaxed<P> {
        Relaxed { plain, factor }
    }

    /// The collection with the factor that `parameter` specifies: 1 by default.
    pub(crate) fn parse(plain: P, parameter: Option<&str>) -> Result<Relaxed<P>, String> {
        let factor = parameter.map_or(Ok(1), |it| parameter::parse_number(it, "a quasi factor", 0))?;
        let factor = u32::try_from(factor).map_err(|_| format!("a quasi factor of {factor} is too much"))?;
        Ok(Relaxed { plain, factor })
    }

    /// The positions of the elements that may be removed, in ascending order.
    fn removable_positions(&self, elements: &OrderedElements<P::Element>) -> Vec<usize> {
        let mut places = Vec::new();
        let mut place = 0;
        while let Some(&(element, overtaken)) = elements.0.get(place) {
            if (self.factor as usize) < place {
                break;
            }
            places.push(place);
            if overtaken == self.factor {
                break;
            }
            let equals = elements.0.range(place + 1..).take_while(|it| it.0 == element).count();
            place +=
                1 + if self.plain.equal_elements() == EqualElements::Interchangeable { equals } else { 0 };
        }
        if self.plain.equal_elements() == EqualElements::AnyLeaves {
            let is_better =
                |one: (P::Element, u32), next: (P::Element, u32)| one.0 == next.0 && next.1 <= one.1 + 1;
            let spared =
                |it: usize| it.checked_sub(1).is_some_and(|one| is_better(elements.0[one], elements.0[it]));
            places.retain(|&it| !spared(it));
        }
        if self.plain.equal_elements() == EqualElements::FirstLeaves {
            let element = |place: usize| elements.0[place].0;
            let all = places.clone();
            places.retain(|&it| {
                all.iter().take_while(|&&before| before < it).all(|&before| element(before) != element(it))
            });
        }
        places
    }

    /// The positions of the elements that an operation with this result may have found.
    fn matching_positions(
        &self,
        elements: &OrderedElements<P::Element>,
        ret: Option<&P::Return>,
    ) -> Vec<usize> {
        let mut places = self.removable_positions(elements);
        places.retain(|&it| ret.is_none_or(|ret| self.plain.remove_result(Some(elements.0[it].0)) == *ret));
        places
    }

    /// Applies an operation that finds the element at `place`.
    fn apply_at(
        &self,
        elements: &mut OrderedElements<P::Element>,
        collection_op: CollectionOp<P::Element>,
        place: usize,
    ) {
        match collection_op {
            CollectionOp::Add(element) => {
                elements.0.insert(self.plain.insert_position(elements, element), (element, 0))
            }
            CollectionOp::Remove => elements.remove_overtaking(place),
            CollectionOp::Peek => (),
        }
    }
}

impl<P: Ordered> Specification for Relaxed<P> {
    type State = OrderedElements<P::Element>;
    type Call = P::Call;
    type Return = P::Return;

    fn initial(&self) -> Self::State {
        OrderedElements(VecDeque::new())
    }

    fn step(
        &self,
        state: &Self::State,
        call: &P::Call,
        ret: Option<&P::Return>,
        next: &mut Vec<Self::State>,
    ) {
        let collection_op = self.plain.collection_op(call);
        let first = next.len();
        let mut outcome = |place: usize| {
            let mut state = state.clone();
            self.apply_at(&mut state, collection_op, place);
            if !next[first..].contains(&state) {
                next.push(state);
            }
        };
        match collection_op {
            CollectionOp::Add(_) if ret.is_none_or(|it| *it == self.plain.add_result()) => outcome(0),
            CollectionOp::Add(_) => (),
            CollectionOp::Remove | CollectionOp::Peek if state.is_empty() => {
                if ret.is_none_or(|it| *it == self.plain.remove_result(None)) {
                    next.push(state.clone());
                }
            }
            CollectionOp::Remove | CollectionOp::Peek => {
                self.matching_positions(state, ret).into_iter().for_each(outcome)
            }
        }
    }

    fn advance(&self, states: &mut Vec<Self::State>, call: &P::Call, ret: Option<&P::Return>) {
        // One state and one outcome, the common case, is changed in place.
        if let [state] = &mut states[..] {
            let collection_op = self.plain.collection_op(call);
            let place = match (collection_op, ret) {
                (CollectionOp::Add(_), Some(ret)) if *ret == self.plain.add_result() => Some(0),
                (CollectionOp::Remove | CollectionOp::Peek, Some(_)) => {
                    match self.matching_positions(state, ret)[..] {
                        [place] => Some(place),
                        _ => None,
                    }
                }
                (CollectionOp::Add(_) | CollectionOp::Remove | CollectionOp::Peek, _) => None,
            };
            if let Some(place) = place {
                self.apply_at(state, collection_op, place);
                return;
            }
        }
        let mut next = Vec::new();
        states.iter().for_each(|it| self.step(it, call, ret, &mut next));
        let mut seen = std::collections::HashSet::new();
        next.retain(|it| seen.insert(it.clone()));
        *states = next;
    }

    fn returns(&self, state: &Self::State, call: &P::Call) -> Vec<P::Return> {
        match self.plain.collection_op(call) {
            CollectionOp::Add(_) => vec![self.plain.add_result()],
            CollectionOp::Remove | CollectionOp::Peek if state.is_empty() => {
                vec![self.plain.remove_result(None)]
            }
            CollectionOp::Remove | CollectionOp::Peek => {
                let mut found: Vec<P::Return> = Vec::new();
                for place in self.removable_positions(state) {
                    let ret = self.plain.remove_result(Some(state.0[place].0));
                    if !found.contains(&ret) {
                        found.push(ret);
                    }
                }
                found
            }
        }
    }

    fn execute_with(
        &self,
        state: &mut Self::State,
        call: &P::Call,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<P::Return> {
        let collection_op = self.plain.collection_op(call);
        let mut returns = self.returns(state, call);
        let ret = returns.swap_remove(choose(returns.len()));
        // A result is chosen, then a state, even if there is only one.
        let places = match collection_op {
            CollectionOp::Remove if !state.is_empty() => self.matching_positions(state, Some(&ret)),
            CollectionOp::Remove | CollectionOp::Add(_) | CollectionOp::Peek => vec![0],
        };
        let place = places[choose(places.len())];
        if collection_op != CollectionOp::Remove || !state.is_empty() {
            self.apply_at(state, collection_op, place);
        }
        Some(ret)
    }

    fn canonical_return<'r>(&self, call: &P::Call, ret: &'r P::Return) -> &'r P::Return {
        self.plain.canonical_return(call, ret)
    }

    fn may_block(&self, _call: &P::Call) -> bool {
        false
    }

    // Leaving out an element neither moves another one back nor overtakes it.
    fn footprint(&self, call: &P::Call, ret: Option<&P::Return>) -> Footprint {
        self.plain.footprint(call, ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        if self.factor == 0 { self.plain.kind() } else { self.plain.relaxed_kind(self.factor) }
    }

    fn role(&self, call: &P::Call, ret: Option<&P::Return>) -> Option<Role> {
        self.plain.role(call, ret)
    }

    fn state_bytes(&self, state: &Self::State) -> usize {
        let entries = size_of::<(P::Element, u32)>().div_ceil(size_of::<Value>()) * state.len();
        size_of_val(state) + array_bytes(entries)
    }
}

impl<P: Ordered> Codec for Relaxed<P> {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<P::Call, CodecError> {
        self.plain.read_call(values, method, arg)
    }

    fn read_return(&self, values: &Values, call: &P::Call, ret: Value) -> Result<P::Return, CodecError> {
        self.plain.read_return(values, call, ret)
    }

    fn write_call(&self, call: &P::Call) -> (&'static str, Encoded) {
        self.plain.write_call(call)
    }

    fn initial_calls(&self, values: &mut Values, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        self.plain.initial_calls(values, initial)
    }

    fn write_return(&self, call: &P::Call, ret: &P::Return) -> Encoded {
        self.plain.write_return(call, ret)
    }

    fn sample(&self, sampler: &mut CallSampler) -> P::Call {
        self.plain.sample(sampler)
    }

    fn name(&self) -> Option<String> {
        Some(format!("{}:{}", self.plain.relaxed_name(), self.factor))
    }
}
