//! Sequential specifications: the behavior of an object that one process uses at a time.
//!
//! Most objects are deterministic. Their specifications implement [`Deterministic`]: a state, and a
//! function that applies a call to it. Nondeterministic objects, where a call has several possible
//! results (`take` of a bag), implement [`Specification`] directly. Every [`Deterministic`]
//! specification is also a [`Specification`], and checkers use only that trait.

use std::{fmt::Debug, hash::Hash};

use crate::{
    role::{ObjectKind, Role},
    set_operation::SetOperation,
    shown::Shown,
    undo::{StepInPlace, Undo},
};

/// A sequential specification, possibly nondeterministic and possibly blocking.
///
/// A concurrent history is linearizable if some sequential history that this specification allows
/// has the same operations, with the same results, in an order that respects real time.
///
/// # Contract
///
/// `step` is a pure function of its arguments. Two states compare equal only if no sequence of
/// later calls can distinguish them: checkers merge equal states. All methods except `initial` and
/// `step` are hints. Their defaults are always correct; a more precise implementation makes
/// checking faster or reports shorter.
pub trait Specification {
    /// The object's abstract state.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// An invocation: a method and its arguments.
    type Call: Clone + Eq + Hash + Debug;
    /// The result of a call: the value in its response.
    type Return: Clone + Eq + Hash + Debug;

    /// The state of a fresh object.
    fn initial(&self) -> Self::State;

    /// Pushes onto `next` every state in which `call`, executed in `state`, can leave the object
    /// when it returns `ret`. If the operation is pending, `ret` is `None` and any result is
    /// possible. Pushes nothing if `state` does not allow `call` to return `ret`, or if `call`
    /// blocks in `state`.
    fn step(
        &self,
        state: &Self::State,
        call: &Self::Call,
        ret: Option<&Self::Return>,
        next: &mut Vec<Self::State>,
    );

    /// Replaces `states` by all states that `step` reaches from any of them.
    ///
    /// Used to replay long witnesses. An implementation that changes the states in place makes the
    /// replay linear. One state may stand for several if no later call can tell.
    fn advance(&self, states: &mut Vec<Self::State>, call: &Self::Call, ret: Option<&Self::Return>) {
        let mut next = Vec::new();
        states.iter().for_each(|it| self.step(it, call, ret, &mut next));
        if 1 < next.len() {
            let mut seen = std::collections::HashSet::new();
            next.retain(|it| seen.insert(it.clone()));
        }
        *states = next;
    }

    /// Changes `state` to the `nth` state, from 0, that `step` pushes. Returns `None`, and leaves
    /// `state` as it is, if `step` pushes fewer.
    ///
    /// Used by searches that remember no states. The default copies the state; an implementation
    /// that changes it in place and [back](Undo) makes a step as cheap in a large state as in a
    /// small one.
    fn step_in_place(
        &self,
        state: &mut Self::State,
        call: &Self::Call,
        ret: Option<&Self::Return>,
        nth: usize,
    ) -> Option<StepInPlace<Self::State>> {
        let mut next = Vec::new();
        self.step(state, call, ret, &mut next);
        let has_more = nth + 1 < next.len();
        let before = std::mem::replace(state, next.into_iter().nth(nth)?);
        Some(StepInPlace { undo: Undo::State(before), has_more })
    }

    /// Every result that `call` can return in `state`. Reports show them as the results that would
    /// have been correct.
    fn returns(&self, _state: &Self::State, _call: &Self::Call) -> Vec<Self::Return> {
        Vec::new()
    }

    /// The form of `ret` that `step` and the hints know, if a result of `call` may have several
    /// forms: the specifications of Clewline accept nothing and null for true where an operation
    /// returns nothing. Every result of a history passes this before it is judged.
    fn canonical_return<'r>(&self, _call: &Self::Call, ret: &'r Self::Return) -> &'r Self::Return {
        ret
    }

    /// Whether `ret` stands for several results that are not distinguished, because none of them
    /// occurs in the history. A list of possible results that contains such a `ret` is not
    /// complete.
    fn is_opaque(&self, _ret: &Self::Return) -> bool {
        false
    }

    /// Executes `call`: changes `state` and returns one of the possible results. `choose` receives
    /// the number of alternatives and returns the index of one; it is called first for the result,
    /// then for the state. Returns `None` if the call blocks; `state` is then unspecified.
    ///
    /// Used to simulate objects. An implementation that changes the state in place makes the
    /// simulation linear.
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

    /// The independent part of the object that `call` accesses, such as the key of a map.
    ///
    /// Operations on different parts never affect each other's results, so each part is checked
    /// separately. `None` if `call` may access every part; then the object is checked as a whole.
    fn part(&self, _call: &Self::Call) -> Option<u64> {
        None
    }

    /// What the operation changes and what its result depends on. Searches use it to skip orders
    /// that make no difference, and reports use it to leave out irrelevant operations.
    fn footprint(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Footprint {
        Footprint::Changes(Elements::Any)
    }

    /// Whether `call` can block in some state. If this returns `false`, a call that blocks forever
    /// is known to be wrong without a search.
    fn may_block(&self, _call: &Self::Call) -> bool {
        true
    }

    /// Whether the state after the operation does not depend on the state before it: the operation
    /// is allowed in the initial state, and wherever it is allowed it leads to the one state to
    /// which it leads from there. Reports leave out the operations before it.
    ///
    /// For an object with independent [parts](Self::part), this concerns the part.
    fn resets(&self, call: &Self::Call, ret: &Self::Return) -> bool {
        self.kind().zip(self.role(call, Some(ret))).is_some_and(|(kind, role)| kind.resets(role))
    }

    /// The one state to which the operation leads wherever it is allowed: the result of a counter's
    /// `read` is the sum. `None` if several states are possible or the state is not known. Reports
    /// leave out the operations before such an operation, too.
    fn determines_state(&self, _call: &Self::Call, _ret: &Self::Return) -> Option<Self::State> {
        None
    }

    /// The kind of object, for the monitors that decide histories of this kind in nearly linear
    /// time: see [`Role`].
    ///
    /// For an object with independent [parts](Self::part), this is the kind of each part.
    fn kind(&self) -> Option<ObjectKind> {
        None
    }

    /// The kind of the same object without its capacity, if that is all that distinguishes it: what
    /// this object allows, that one allows as well, if operations that only found no room are
    /// left out. Those have no [role](Self::role), and change no state. A search then has a hint in
    /// which order to try operations.
    fn kind_without_capacity(&self) -> Option<ObjectKind> {
        None
    }

    /// How many elements an object with a [kind without capacity](Self::kind_without_capacity)
    /// holds at most, if that is known: what adds an element finds room if there are fewer.
    fn capacity(&self) -> Option<usize> {
        None
    }

    /// What the operation does, given the [`kind`](Self::kind) of the object. `None` if no role
    /// describes the operation; then the history is checked by search.
    fn role(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Option<Role> {
        None
    }

    /// What the operation does if the object is a set that can be read as a whole, which no
    /// [`Role`] says. A history in which nothing is removed is then judged in linear time.
    fn set_operation(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Option<SetOperation> {
        None
    }

    /// The result of the operation on the same object without all elements but these, in the sense
    /// of [`Elements`]: that of `read` has no other elements. Whatever is linearizable must stay so
    /// if all results become these, and operations on other elements are left out. Reports prove a
    /// counterexample on the few elements that it is about. `None` if that is not known.
    fn restricted_return(
        &self,
        _call: &Self::Call,
        _ret: &Self::Return,
        _elements: &[u64],
    ) -> Option<Self::Return> {
        None
    }

    /// Approximate size of `state` in bytes, including the heap. Used to enforce the memory budget.
    fn state_bytes(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }

    /// Why the specification could not be evaluated, if that has happened: it is a script, and the
    /// script has failed. Then nothing that was derived from it counts.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// A specification in which each call has exactly one outcome in each state, or blocks there.
/// ```
/// use clewline_core::Deterministic;
///
/// /// A counter that is only incremented; returns its new value.
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

    /// Applies `call` and returns its result, or returns `None` if `call` blocks in `state`.
    /// Changes that a blocked call makes to `state` are discarded.
    fn apply(&self, state: &mut Self::State, call: &Self::Call) -> Option<Self::Return>;

    /// Applies `call` as [`apply`](Self::apply) does, and returns how to undo that, too: also if
    /// `call` blocks. The default copies the state: see [`Specification::step_in_place`].
    fn apply_undoable(
        &self,
        state: &mut Self::State,
        call: &Self::Call,
    ) -> (Option<Self::Return>, Undo<Self::State>) {
        let before = state.clone();
        (self.apply(state, call), Undo::State(before))
    }

    /// See [`Specification::canonical_return`].
    fn canonical_return<'r>(&self, _call: &Self::Call, ret: &'r Self::Return) -> &'r Self::Return {
        ret
    }

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

    /// See [`Specification::kind_without_capacity`].
    fn kind_without_capacity(&self) -> Option<ObjectKind> {
        None
    }

    /// See [`Specification::capacity`].
    fn capacity(&self) -> Option<usize> {
        None
    }

    /// See [`Specification::role`].
    fn role(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Option<Role> {
        None
    }

    /// See [`Specification::set_operation`].
    fn set_operation(&self, _call: &Self::Call, _ret: Option<&Self::Return>) -> Option<SetOperation> {
        None
    }

    /// See [`Specification::restricted_return`].
    fn restricted_return(
        &self,
        _call: &Self::Call,
        _ret: &Self::Return,
        _elements: &[u64],
    ) -> Option<Self::Return> {
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
        let is_allowed = |state: &mut D::State| {
            self.apply(state, call).is_some_and(|actual| ret.is_none_or(|ret| *ret == actual))
        };
        // Mostly there is one state, and it is allowed.
        if let [state] = &mut states[..] {
            if !is_allowed(state) {
                states.clear();
            }
            return;
        }
        states.retain_mut(is_allowed);
    }

    fn step_in_place(
        &self,
        state: &mut D::State,
        call: &D::Call,
        ret: Option<&D::Return>,
        nth: usize,
    ) -> Option<StepInPlace<D::State>> {
        if nth != 0 {
            return None;
        }
        match self.apply_undoable(state, call) {
            (Some(actual), undo) if ret.is_none_or(|ret| *ret == actual) => {
                Some(StepInPlace { undo, has_more: false })
            }
            (Some(_) | None, undo) => {
                undo.apply(state);
                None
            }
        }
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
        // One result and one state: `choose` is called as often as by the default implementation,
        // so that a generated history does not depend on which trait the specification implements.
        choose(1);
        choose(1);
        Some(ret)
    }

    fn canonical_return<'r>(&self, call: &D::Call, ret: &'r D::Return) -> &'r D::Return {
        Deterministic::canonical_return(self, call, ret)
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

    fn kind_without_capacity(&self) -> Option<ObjectKind> {
        Deterministic::kind_without_capacity(self)
    }

    fn capacity(&self) -> Option<usize> {
        Deterministic::capacity(self)
    }

    fn role(&self, call: &D::Call, ret: Option<&D::Return>) -> Option<Role> {
        Deterministic::role(self, call, ret)
    }

    fn set_operation(&self, call: &D::Call, ret: Option<&D::Return>) -> Option<SetOperation> {
        Deterministic::set_operation(self, call, ret)
    }

    fn restricted_return(&self, call: &D::Call, ret: &D::Return, elements: &[u64]) -> Option<D::Return> {
        Deterministic::restricted_return(self, call, ret, elements)
    }

    fn state_bytes(&self, state: &D::State) -> usize {
        Deterministic::state_bytes(self, state)
    }
}

/// What an operation reads and changes. This is a promise about the specification; the conformance
/// suite tests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footprint {
    /// The operation changes nothing: every state that allows this call with this result stays as
    /// it is. A pending call is a read if no result of it would change the state. A read can be
    /// left out by itself.
    Reads(Elements),
    /// The operation may change the state. It can be left out only together with its elements.
    Changes(Elements),
}

impl Footprint {
    /// Whether the operation leaves every state as it is.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Footprint::Reads(_))
    }

    /// The elements that the operation changes or depends on.
    #[must_use]
    pub fn elements(self) -> Elements {
        let (Footprint::Reads(elements) | Footprint::Changes(elements)) = self;
        elements
    }
}

/// The elements of an object that an operation changes or depends on, such as the value that is
/// enqueued.
///
/// If *every* operation on some element is removed from a linearizable history, the history stays
/// linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// None: the operation stays allowed whatever is left out. A queue that was empty is also empty
    /// with fewer elements.
    None,
    /// This one.
    One(u64),
    /// Both, as a compare-and-swap depends on the value it expects and changes to the one it
    /// writes. Elements linked by an operation can only be left out together.
    Two(u64, u64),
    /// Not known: while this operation is present, no element can be left out. If it is pending, it
    /// counts as one that did not take effect.
    Any,
    /// All, also while it is pending: what the operation makes of an element is found as another
    /// one, as a text that was appended to.
    Every,
}

/// `Pop → Some(3)`; `Push(1)` if it returns `()` or an absent value; `Pop → ?` while it is pending.
pub fn show_debug<S: Specification>(call: &S::Call, ret: Option<&S::Return>) -> Shown {
    let ret = ret.map(|it| format!("{it:?}"));
    let ret = ret.as_deref().map(|it| if it == "()" || it == "absent" { "" } else { it });
    Shown::of_texts(&format!("{call:?}"), ret)
}
