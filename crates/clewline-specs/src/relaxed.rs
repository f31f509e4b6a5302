//! Collections that may answer out of order by a bound: the relaxed reading of quasi linearizability.
//!
//! Elements stand in a line, as the plain collection has it: who leaves first there stands first. With factor k
//! a removal may take one of the first k + 1, if nobody before it has been *overtaken* k times already; each of those is
//! then overtaken once more. Whoever finds nothing finds the line empty. With factor 0 this is the plain collection.
//!
//! So no element leaves more than k places early, and none waits for more than k who came behind it. In a queue these
//! two together say that the orders of coming and of leaving differ by at most k places for each element.
//!
//! Source: L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up: runtime checking quasi linearizability of concurrent data
//! structures", 2013, section V (strict out-of-order semantics). Where the paper says that an element is one of the first k to
//! leave, this reads k + 1: as printed, k = 1 would be the plain order.

use std::{collections::VecDeque, fmt::Debug, hash::Hash};

use clewline_core::{
    CallSampler, Codec, CodecError, Encoded, Footprint, ObjectKind, Role, Specification, Value, Values,
};

pub use crate::deed::Deed;
use crate::{copies::array_bytes, parameter};

/// A collection of which elements leave in an order, and what it takes to relax that order.
pub trait Ordered: Codec {
    /// What it holds.
    type Element: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// The name of the relaxed collection in the catalog.
    fn relaxed_name(&self) -> &'static str;

    /// What `call` does.
    fn deed(&self, call: &Self::Call) -> Deed<Self::Element>;

    /// What an operation answers that adds an element.
    fn added(&self) -> Self::Return;

    /// What an operation answers that finds this element, or none.
    fn found(&self, element: Option<Self::Element>) -> Self::Return;

    /// Where a new element stands in a line of those that leave before and after it.
    fn place(&self, line: &Line<Self::Element>, element: Self::Element) -> usize;

    /// What equal elements are to each other.
    fn equals(&self) -> Equals;

    /// What kind of object it is with factor `factor`, which is not 0, for checkers that know such objects.
    fn relaxed_kind(&self, factor: u32) -> Option<ObjectKind>;
}

/// What equal elements of a collection are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equals {
    /// None is before another, so none is overtaken by another. The one that was overtaken most often leaves: whatever
    /// can happen after another one has left can happen after it has.
    Alike,
    /// The first that may leave does. In a queue, whatever can happen after a later one has left can happen after
    /// the first has: let the two change places where they leave, and nobody is further out of order than before.
    FirstLeaves,
    /// Any that may leave does. In a stack it makes a difference, as others may come to lie between.
    AnyLeaves,
}

/// Elements in the order in which they should leave, each with how often it was overtaken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line<E>(VecDeque<(E, u32)>);

impl<E: Copy + Eq> Line<E> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many elements at the head have a property, given that nobody behind them has.
    pub fn partition_point(&self, mut has: impl FnMut(E) -> bool) -> usize {
        self.0.partition_point(|it| has(it.0))
    }

    /// The element at a place, which has passed all before it and is gone.
    fn leave(&mut self, place: usize) {
        self.0.iter_mut().take(place).for_each(|it| it.1 += 1);
        self.0.remove(place);
    }
}

/// A collection that may answer out of order: see the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Relaxed<P> {
    /// The collection that answers in order.
    pub plain: P,
    /// How many may be passed, and how often one may be.
    pub factor: u32,
}

impl<P: Ordered> Relaxed<P> {
    /// The collection of the catalog with the factor that `parameter` asks for: 1, unless it says.
    pub(crate) fn parse(plain: P, parameter: Option<&str>) -> Result<Relaxed<P>, String> {
        let factor = parameter.map_or(Ok(1), |it| parameter::number(it, "a quasi factor", 0))?;
        let factor = u32::try_from(factor).map_err(|_| format!("a quasi factor of {factor} is too much"))?;
        Ok(Relaxed { plain, factor })
    }

    /// The places of those who may leave, in ascending order.
    fn may_leave(&self, line: &Line<P::Element>) -> Vec<usize> {
        let mut places = Vec::new();
        let mut place = 0;
        while let Some(&(element, overtaken)) = line.0.get(place) {
            if (self.factor as usize) < place {
                break;
            }
            places.push(place);
            if overtaken == self.factor {
                break;
            }
            let equals = line.0.range(place + 1..).take_while(|it| it.0 == element).count();
            place += 1 + if self.plain.equals() == Equals::Alike { equals } else { 0 };
        }
        if self.plain.equals() == Equals::FirstLeaves {
            let element = |place: usize| line.0[place].0;
            let all = places.clone();
            places.retain(|&it| {
                all.iter().take_while(|&&before| before < it).all(|&before| element(before) != element(it))
            });
        }
        places
    }

    /// The places from which an operation may have got its answer.
    fn places(&self, line: &Line<P::Element>, ret: Option<&P::Return>) -> Vec<usize> {
        let mut places = self.may_leave(line);
        places.retain(|&it| ret.is_none_or(|ret| self.plain.found(Some(line.0[it].0)) == *ret));
        places
    }

    /// Changes `line` as a deed does that finds the element at `place`.
    fn change(&self, line: &mut Line<P::Element>, deed: Deed<P::Element>, place: usize) {
        match deed {
            Deed::Add(element) => line.0.insert(self.plain.place(line, element), (element, 0)),
            Deed::Remove => line.leave(place),
            Deed::Look => (),
        }
    }
}

impl<P: Ordered> Specification for Relaxed<P> {
    type State = Line<P::Element>;
    type Call = P::Call;
    type Return = P::Return;

    fn initial(&self) -> Self::State {
        Line(VecDeque::new())
    }

    fn step(
        &self,
        state: &Self::State,
        call: &P::Call,
        ret: Option<&P::Return>,
        next: &mut Vec<Self::State>,
    ) {
        let deed = self.plain.deed(call);
        let mut outcome = |place: usize| {
            let mut state = state.clone();
            self.change(&mut state, deed, place);
            if !next.contains(&state) {
                next.push(state);
            }
        };
        match deed {
            Deed::Add(_) if ret.is_none_or(|it| *it == self.plain.added()) => outcome(0),
            Deed::Add(_) => (),
            Deed::Remove | Deed::Look if state.is_empty() => {
                if ret.is_none_or(|it| *it == self.plain.found(None)) {
                    next.push(state.clone());
                }
            }
            Deed::Remove | Deed::Look => self.places(state, ret).into_iter().for_each(outcome),
        }
    }

    fn advance(&self, states: &mut Vec<Self::State>, call: &P::Call, ret: Option<&P::Return>) {
        // One state and one outcome, the common case, is changed in place.
        if let [state] = &mut states[..] {
            let deed = self.plain.deed(call);
            let place = match (deed, ret) {
                (Deed::Add(_), Some(ret)) if *ret == self.plain.added() => Some(0),
                (Deed::Remove | Deed::Look, Some(_)) => match self.places(state, ret)[..] {
                    [place] => Some(place),
                    _ => None,
                },
                (Deed::Add(_) | Deed::Remove | Deed::Look, _) => None,
            };
            if let Some(place) = place {
                self.change(state, deed, place);
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
        match self.plain.deed(call) {
            Deed::Add(_) => vec![self.plain.added()],
            Deed::Remove | Deed::Look if state.is_empty() => vec![self.plain.found(None)],
            Deed::Remove | Deed::Look => {
                let mut found: Vec<P::Return> = Vec::new();
                for place in self.may_leave(state) {
                    let ret = self.plain.found(Some(state.0[place].0));
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
        let deed = self.plain.deed(call);
        let mut returns = self.returns(state, call);
        let ret = returns.swap_remove(choose(returns.len()));
        // An answer is chosen, then a state, even where there is one.
        let places = match deed {
            Deed::Remove if !state.is_empty() => self.places(state, Some(&ret)),
            Deed::Remove | Deed::Add(_) | Deed::Look => vec![0],
        };
        let place = places[choose(places.len())];
        if deed != Deed::Remove || !state.is_empty() {
            self.change(state, deed, place);
        }
        Some(ret)
    }

    fn may_block(&self, _call: &P::Call) -> bool {
        false
    }

    // To be without an element puts nobody further back, and overtakes nobody.
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

    fn write_return(&self, call: &P::Call, ret: &P::Return) -> Encoded {
        self.plain.write_return(call, ret)
    }

    fn sample(&self, dice: &mut CallSampler) -> P::Call {
        self.plain.sample(dice)
    }

    fn name(&self) -> Option<String> {
        Some(format!("{}:{}", self.plain.relaxed_name(), self.factor))
    }
}
