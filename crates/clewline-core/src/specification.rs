//! Sequential specifications: what an object may do when it is used by one process at a time.
//!
//! Most objects are deterministic, and their authors implement [`Deterministic`]: a state, and a function
//! that applies a call to it. Objects that may answer in several ways (a bag's `take`) implement
//! [`Specification`] directly. Checkers only ever see the latter; every deterministic specification is one.

use std::{fmt::Debug, hash::Hash};

use crate::{
    role::{ObjectKind, Role},
    shown::Shown,
};

/// A sequential specification, possibly nondeterministic and possibly blocking.
///
/// # Contract
///
/// `step` is a pure function of its arguments. States compare equal only if no sequence of calls can tell
/// them apart later: checkers merge equal states. The other methods are hints: each has a default that is
/// always right, and a better answer makes checking faster or its report shorter.
pub trait Specification {
    /// The object's abstract state.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// A method and its arguments.
    type Call: Clone + Eq + Hash + Debug;
    /// What a method answers.
    type Return: Clone + Eq + Hash + Debug;

    /// The state of a fresh object.
    fn initial(&self) -> Self::State;

    /// Pushes onto `next` every state in which `call`, executed in `state`, may leave the object having
    /// returned `ret`. A pending call has `ret` `None`: every return is possible. Pushing nothing means that
    /// the object does not allow this here, or blocks.
    fn step(
        &self,
        state: &Self::State,
        call: &Self::Call,
        ret: Option<&Self::Return>,
        next: &mut Vec<Self::State>,
    );

    /// Replaces `states` by all states that `step` leads to from any of them.
    ///
    /// This replays long witnesses; an implementation that changes states in place makes that linear.
    fn advance(&self, states: &mut Vec<Self::State>, call: &Self::Call, ret: Option<&Self::Return>) {
        let mut next = Vec::new();
        states.iter().for_each(|it| self.step(it, call, ret, &mut next));
        if 1 < next.len() {
            let mut seen = std::collections::HashSet::new();
            next.retain(|it| seen.insert(it.clone()));
        }
        *states = next;
    }

    /// Every answer that `call` may get in `state`: what a report says could have happened instead.
    fn returns(&self, _state: &Self::State, _call: &Self::Call) -> Vec<Self::Return> {
        Vec::new()
    }

    /// Whether `ret` stands for several answers that are not told apart, because nobody gave any of them. A list of what
    /// could have been answered is not complete with it.
    fn is_opaque(&self, _ret: &Self::Return) -> bool {
        false
    }

    /// Lets `call` happen: changes `state` and gives one of the possible answers. `choose` is told among how many
    /// there is a choice, and picks one by its index: first of the answers, then of the states. If the call
    /// blocks there is no answer, and `state` is not to be used any more.
    ///
    /// This simulates objects; an implementation that changes the state in place makes that linear.
    fn execute_with(
        &self,
        state: &mut Self::State,
        call: &Self::Call,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Self::Return> {
        let mut returns = self.returns(state, call);
        if returns.is_empty() {
            return None;
        }
        let ret = returns.swap_remove(choose(returns.len()));
        let mut states = vec![state.clone()];
        self.advance(&mut states, call, Some(&ret));
        assert!(!states.is_empty(), "a specification allows what it says may be returned");
        *state = states.swap_remove(choose(states.len()));
        Some(ret)
    }

    /// Which independent part of the object `call` is about, such as the key of a map.
    ///
    /// Operations on different parts never influence each other's answers, so each part is judged by
    /// itself. `None` if `call` may concern every part; then the object is judged whole.
    fn part(&self, _call: &Self::Call) -> Option<u64> {
        None
    }

    /// What the operation does to the state and what its answer depends on, for searches that skip orders which
    /// cannot matter and for reports that leave out operations which do not.
    fn footprint(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Footprint {
        Footprint::Changes(Elements::Any)
    }

    /// Whether there may be a state in which `call` blocks. A promise of `false` tells at once that whoever waits
    /// for ever in such a call should not.
    fn may_block(&self, _call: &Self::Call) -> bool {
        true
    }

    /// Whether what was before does not matter after the operation: it may happen in the initial state, and it leads to the
    /// one state to which it leads from there, wherever it may happen. Reports leave out what came before such an operation.
    ///
    /// An object with independent [parts](Self::part) says so of the part.
    fn resets(&self, call: &Self::Call, ret: &Self::Return) -> bool {
        self.kind().zip(self.role(call, Some(ret))).is_some_and(|(kind, role)| kind.resets(role))
    }

    /// The one state to which the operation leads, wherever it may happen: a `read` of a counter tells what the sum is. `None` if
    /// it may lead to several, or nobody says. Reports leave out what came before such an operation, too.
    fn determines_state(&self, _call: &Self::Call, _ret: &Self::Return) -> Option<Self::State> {
        None
    }

    /// What kind of object this is, for checkers that know such objects: see [`Role`].
    ///
    /// An object with independent [parts](Self::part) says what kind each part is.
    fn kind(&self) -> Option<ObjectKind> {
        None
    }

    /// What the operation does, given that the object is of that [`kind`](Self::kind). `None` if it is something
    /// that no role describes; then the history is left to searches.
    fn role(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Option<Role> {
        None
    }

    /// About how many bytes `state` takes, on the heap as well, so that a memory budget can be kept.
    fn state_bytes(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }
}

/// A specification with exactly one outcome for each call, or none where the call blocks.
///
/// ```
/// use clewline_core::Deterministic;
///
/// /// A counter that only goes up, and says how far it got.
/// struct Ticket;
///
/// impl Deterministic for Ticket {
///     type State = u64;
///     type Call = ();
///     type Return = u64;
///
///     fn initial(&self) -> u64 {
///         0
///     }
///
///     fn apply(&self, state: &mut u64, (): &()) -> Option<u64> {
///         *state += 1;
///         Some(*state)
///     }
/// }
/// ```
pub trait Deterministic {
    /// See [`Specification::State`].
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// See [`Specification::Call`].
    type Call: Clone + Eq + Hash + Debug;
    /// See [`Specification::Return`].
    type Return: Clone + Eq + Hash + Debug;

    /// The state of a fresh object.
    fn initial(&self) -> Self::State;

    /// Applies `call`, or answers `None` if it blocks in `state`. A blocked call's changes are discarded.
    fn apply(&self, state: &mut Self::State, call: &Self::Call) -> Option<Self::Return>;

    /// See [`Specification::is_opaque`].
    fn is_opaque(&self, _ret: &Self::Return) -> bool {
        false
    }

    /// See [`Specification::part`].
    fn part(&self, _call: &Self::Call) -> Option<u64> {
        None
    }

    /// See [`Specification::footprint`].
    fn footprint(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Footprint {
        Footprint::Changes(Elements::Any)
    }

    /// See [`Specification::may_block`].
    fn may_block(&self, _call: &Self::Call) -> bool {
        true
    }

    /// See [`Specification::resets`].
    fn resets(&self, call: &Self::Call, ret: &Self::Return) -> bool {
        self.kind().zip(self.role(call, Some(ret))).is_some_and(|(kind, role)| kind.resets(role))
    }

    /// See [`Specification::determines_state`].
    fn determines_state(&self, _call: &Self::Call, _ret: &Self::Return) -> Option<Self::State> {
        None
    }

    /// See [`Specification::kind`].
    fn kind(&self) -> Option<ObjectKind> {
        None
    }

    /// See [`Specification::role`].
    fn role(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Option<Role> {
        None
    }

    /// See [`Specification::state_bytes`].
    fn state_bytes(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }
}

impl<D: Deterministic> Specification for D {
    type State = D::State;
    type Call = D::Call;
    type Return = D::Return;

    fn initial(&self) -> D::State {
        Deterministic::initial(self)
    }

    fn step(&self, state: &D::State, call: &D::Call, ret: Option<&D::Return>, next: &mut Vec<D::State>) {
        let mut state = state.clone();
        if let Some(actual) = self.apply(&mut state, call)
            && ret.is_none_or(|ret| *ret == actual)
        {
            next.push(state);
        }
    }

    fn advance(&self, states: &mut Vec<D::State>, call: &D::Call, ret: Option<&D::Return>) {
        states.retain_mut(|state| {
            self.apply(state, call).is_some_and(|actual| ret.is_none_or(|ret| *ret == actual))
        });
    }

    fn returns(&self, state: &D::State, call: &D::Call) -> Vec<D::Return> {
        self.apply(&mut state.clone(), call).into_iter().collect()
    }

    fn execute_with(
        &self,
        state: &mut D::State,
        call: &D::Call,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<D::Return> {
        let ret = self.apply(state, call)?;
        // One answer and one state to choose from: a history does not depend on how its object was written.
        choose(1);
        choose(1);
        Some(ret)
    }

    fn is_opaque(&self, ret: &D::Return) -> bool {
        Deterministic::is_opaque(self, ret)
    }

    fn part(&self, call: &D::Call) -> Option<u64> {
        Deterministic::part(self, call)
    }

    fn footprint(&self, call: &D::Call, ret: Option<&D::Return>) -> Footprint {
        Deterministic::footprint(self, call, ret)
    }

    fn may_block(&self, call: &D::Call) -> bool {
        Deterministic::may_block(self, call)
    }

    fn resets(&self, call: &D::Call, ret: &D::Return) -> bool {
        Deterministic::resets(self, call, ret)
    }

    fn determines_state(&self, call: &D::Call, ret: &D::Return) -> Option<D::State> {
        Deterministic::determines_state(self, call, ret)
    }

    fn kind(&self) -> Option<ObjectKind> {
        Deterministic::kind(self)
    }

    fn role(&self, call: &D::Call, ret: Option<&D::Return>) -> Option<Role> {
        Deterministic::role(self, call, ret)
    }

    fn state_bytes(&self, state: &D::State) -> usize {
        Deterministic::state_bytes(self, state)
    }
}

/// What an operation touches: a promise about the specification, which the conformance suite tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footprint {
    /// It changes nothing: in every state that allows this call with this return, the state stays as it is. A
    /// pending call is of this kind if no return of it would change the state. It can be left out alone.
    Reads(Elements),
    /// It may change the state. It can only be left out with its elements.
    Changes(Elements),
}

impl Footprint {
    /// Whether the operation leaves every state as it is.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Footprint::Reads(_))
    }

    /// What the operation goes with.
    #[must_use]
    pub fn elements(self) -> Elements {
        let (Footprint::Reads(elements) | Footprint::Changes(elements)) = self;
        elements
    }
}

/// The elements of an object that an operation changes or depends on, such as the value that is enqueued.
///
/// Leaving out of a linearizable history *every* operation with some element leaves it linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// None: it stays possible whatever is left out. A queue that was empty stays so with less in it.
    None,
    /// This one.
    One(u64),
    /// Both, as a compare-and-swap depends on the value it expects and changes to the one it writes. Elements
    /// linked by an operation can only be left out together.
    Two(u64, u64),
    /// Who knows: while this operation is there, no element can be left out.
    Any,
}

/// `Pop → Some(3)`; `Push(1)` if it returns nothing; `Pop → ?` while it is pending.
pub fn show_debug<S: Specification>(call: &S::Call, ret: Option<&S::Return>) -> Shown {
    let ret = ret.map_or_else(|| "?".to_owned(), |it| format!("{it:?}"));
    let mut method = format!("{call:?}");
    let arguments = method.split_off(method.find(['(', ' ']).unwrap_or(method.len()));
    Shown { method, arguments, ret: (ret != "()").then_some(ret) }
}
