//! The referee: tries every order of a small history, on an object in its simplest form.

use clewline_core::{ObjectKind, Role};

use super::small_histories::Small;

/// The elements inside, in the order in which they were added, or sorted where that does not
/// matter; or a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    items: [i8; MOST],
    len: u8,
    // How often each was overtaken, where that matters.
    overtaken: [u8; MOST],
}

/// Words are small, or small and negative.
fn item(word: u64) -> i8 {
    word.cast_signed() as i8
}

/// How many operations a small history has at most.
const MOST: usize = 8;

impl State {
    fn initial(kind: ObjectKind) -> State {
        match kind {
            ObjectKind::Counter => State::default().with(0),
            ObjectKind::Deque => panic!("say in `State` what a deque does"),
            ObjectKind::Other(name) => panic!("say in `State` what `{name}` does"),
            ObjectKind::Register { initial } => State::default().with(item(initial)),
            ObjectKind::Set
            | ObjectKind::Queue
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::Channel
            | ObjectKind::Stack
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::PriorityQueue
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Bag
            | ObjectKind::Multiset => State::default(),
        }
    }

    /// Whether this is a channel that is closed.
    fn is_closed(&self) -> bool {
        self.inside().last() == Some(&item(ObjectKind::CLOSED))
    }

    fn inside(&self) -> &[i8] {
        &self.items[..self.len as usize]
    }

    fn with(mut self, item: i8) -> State {
        self.items[self.len as usize] = item;
        self.len += 1;
        self
    }

    fn sorted(mut self) -> State {
        self.items[..self.len as usize].sort_unstable();
        self
    }

    fn without(mut self, at: usize) -> State {
        self.items.copy_within(at + 1..self.len as usize, at);
        self.len -= 1;
        self.items[self.len as usize] = 0;
        self
    }

    fn place(&self, item: i8) -> Option<usize> {
        self.inside().iter().position(|&it| it == item)
    }

    /// With one more in its place by size; how often others were overtaken stays with them.
    fn with_sorted(mut self, item: i8) -> State {
        let place = self.inside().iter().filter(|&&it| it < item).count();
        self.items.copy_within(place..MOST - 1, place + 1);
        self.overtaken.copy_within(place..MOST - 1, place + 1);
        (self.items[place], self.overtaken[place]) = (item, 0);
        self.len += 1;
        self
    }

    /// Which of the elements inside is removed next, if only one may be.
    fn next(&self, kind: ObjectKind) -> Option<usize> {
        match kind {
            ObjectKind::Queue | ObjectKind::Channel => Some(0),
            // The newest, or the greatest.
            ObjectKind::Stack | ObjectKind::PriorityQueue => self.inside().len().checked_sub(1),
            ObjectKind::QuasiQueue { .. }
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Set
            | ObjectKind::Bag
            | ObjectKind::Multiset
            | ObjectKind::Counter
            | ObjectKind::Register { .. }
            | ObjectKind::Deque
            | ObjectKind::Other(_) => None,
        }
    }

    /// A relaxed container after the element at `place` was removed, if it may be.
    fn overtaking(mut self, place: usize, kind: ObjectKind) -> Option<State> {
        let (factor, before) = match kind {
            ObjectKind::QuasiQueue { factor } => (factor, 0..place),
            ObjectKind::QuasiStack { factor } | ObjectKind::QuasiPriorityQueue { factor } => {
                (factor, place + 1..self.inside().len())
            }
            _ => panic!("{kind:?} is in order"),
        };
        let overtaken = &mut self.overtaken[before];
        let may = overtaken.len() <= factor as usize && overtaken.iter().all(|&it| u32::from(it) < factor);
        overtaken.iter_mut().for_each(|it| *it += 1);
        self.overtaken.copy_within(place + 1.., place);
        self.overtaken[MOST - 1] = 0;
        may.then(|| self.without(place))
    }

    /// Calls `each` with the states in which `role` may leave the object.
    fn step(self, kind: ObjectKind, role: Role, each: &mut dyn FnMut(State)) {
        let next = self.next(kind);
        let mut allow = |is_allowed: bool, state: State| {
            if is_allowed {
                each(state);
            }
        };
        match (kind, role) {
            (_, Role::NoEffect) => each(self),
            (ObjectKind::Deque, _) => panic!("say in `State` what a deque does"),
            (ObjectKind::Other(name), _) => panic!("say in `State` what `{name}` does"),
            (ObjectKind::Channel, Role::Add(ObjectKind::CLOSED)) if self.is_closed() => each(self),
            (ObjectKind::Channel, Role::Add(word)) => allow(!self.is_closed(), self.with(item(word))),
            (ObjectKind::Channel, Role::Absent(_)) => allow(self.is_closed(), self),
            (ObjectKind::Channel, Role::RemoveUnknown) if self.is_closed() && self.len == 1 => each(self),
            (ObjectKind::Counter, Role::Add(word)) => each(State::default().with(self.items[0] + item(word))),
            (ObjectKind::Register { .. }, Role::Add(word)) => each(State::default().with(item(word))),
            (ObjectKind::Register { .. }, Role::Replace(old, new)) => {
                allow(self.items[0] == item(old), State::default().with(item(new)));
            }
            (
                ObjectKind::QuasiQueue { .. }
                | ObjectKind::QuasiStack { .. }
                | ObjectKind::QuasiPriorityQueue { .. },
                Role::Remove(_) | Role::Observe(_) | Role::RemoveUnknown,
            ) if role != Role::RemoveUnknown || self.len != 0 => self.step_relaxed(kind, role, each),
            (
                ObjectKind::Queue
                | ObjectKind::QuasiQueue { .. }
                | ObjectKind::Stack
                | ObjectKind::QuasiStack { .. },
                Role::Add(word),
            ) => each(self.with(item(word))),
            (ObjectKind::QuasiPriorityQueue { .. }, Role::Add(word)) => each(self.with_sorted(item(word))),
            (ObjectKind::PriorityQueue | ObjectKind::Bag | ObjectKind::Multiset, Role::Add(word)) => {
                each(self.with(item(word)).sorted());
            }
            (ObjectKind::Set, Role::Add(word)) => {
                if self.place(item(word)).is_none() {
                    each(self.with(item(word)).sorted());
                }
            }
            (
                ObjectKind::Queue | ObjectKind::Channel | ObjectKind::Stack | ObjectKind::PriorityQueue,
                Role::Remove(word) | Role::Observe(word),
            ) => {
                let Some(next) = next.filter(|&it| self.inside().get(it) == Some(&item(word))) else {
                    return;
                };
                each(if matches!(role, Role::Remove(_)) { self.without(next) } else { self });
            }
            (_, Role::Remove(word)) => {
                if let Some(place) = self.place(item(word)) {
                    each(self.without(place));
                }
            }
            (_, Role::Observe(word)) => allow(self.place(item(word)).is_some(), self),
            (_, Role::Absent(word)) => allow(self.place(item(word)).is_none(), self),
            (_, Role::Empty) => allow(self.len == 0, self),
            (_, Role::RemoveUnknown) if self.len == 0 => each(self),
            (_, Role::RemoveUnknown) => match next {
                Some(next) => each(self.without(next)),
                None => (0..self.inside().len()).for_each(|it| each(self.without(it))),
            },
            (_, Role::Replace(..)) => panic!("{kind:?} replaces nothing"),
        }
    }

    /// As [`step`](State::step), for a removal from a relaxed container, or an observer of it.
    fn step_relaxed(self, kind: ObjectKind, role: Role, each: &mut dyn FnMut(State)) {
        let inside = (0..self.inside().len()).filter(|&it| match role {
            Role::Remove(word) | Role::Observe(word) => self.inside()[it] == item(word),
            _ => true,
        });
        let after = inside.filter_map(|it| self.overtaking(it, kind));
        after.map(|it| if matches!(role, Role::Observe(_)) { self } else { it }).for_each(each);
    }
}

/// Dead configurations: states, by the set of operations done. Kept, so that memory is reused.
#[derive(Default)]
pub(crate) struct DeadConfigurations {
    states: Vec<Vec<State>>,
}

/// See the [module](self).
pub(crate) struct Referee<'h> {
    small: Small<'h>,
    // For each operation, the set of those that precede it.
    before: [u32; MOST],
    // The set of those that returned.
    complete: u32,
}

impl<'h> Referee<'h> {
    pub(crate) fn new(small: Small<'h>) -> Referee<'h> {
        let mut referee = Referee { small, before: [0; MOST], complete: 0 };
        for (at, one) in small.intervals.iter().enumerate() {
            if one.right != small.last {
                referee.complete |= 1 << at;
            }
            for (other, it) in small.intervals.iter().enumerate() {
                referee.before[at] |= u32::from(it.precedes(*one)) << other;
            }
        }
        referee
    }

    /// Whether the operations in the set `among` can be ordered, as if there were no others.
    pub(crate) fn holds(&self, among: u32, seen: &mut DeadConfigurations) -> bool {
        seen.states.resize_with(1 << MOST, Vec::new);
        seen.states.iter_mut().for_each(Vec::clear);
        self.can_end(among, 0, State::initial(self.small.kind), seen)
    }

    /// Whether those of `among` that are not `done` can follow.
    fn can_end(&self, among: u32, done: u32, state: State, seen: &mut DeadConfigurations) -> bool {
        let left = among & !done;
        if left & self.complete == 0 {
            return true;
        }
        if seen.states[done as usize].contains(&state) {
            return false;
        }
        seen.states[done as usize].push(state);
        for (at, &role) in self.small.roles.iter().enumerate() {
            if left & 1 << at == 0 || self.before[at] & left != 0 {
                continue;
            }
            let mut can_end = false;
            state.step(self.small.kind, role, &mut |next| {
                can_end = can_end || self.can_end(among, done | 1 << at, next, seen);
            });
            if can_end {
                return true;
            }
        }
        false
    }

    /// What is wrong with `order` as a witness.
    pub(crate) fn fault(&self, order: &[u32]) -> Option<String> {
        let mut done = 0_u32;
        let mut states = vec![State::initial(self.small.kind)];
        for &at in order {
            if done & 1 << at != 0 {
                return Some(format!("{at} occurs twice"));
            }
            if order.iter().any(|&it| done & 1 << it == 0 && self.before[at as usize] & 1 << it != 0) {
                return Some(format!("{at} comes too early"));
            }
            done |= 1 << at;
            let mut next: Vec<State> = Vec::new();
            for state in states {
                state.step(self.small.kind, self.small.roles[at as usize], &mut |it| next.push(it));
            }
            if next.is_empty() {
                return Some(format!("{at} is not allowed at its place"));
            }
            states = next;
        }
        (self.complete & !done != 0).then(|| "a complete operation is missing".to_owned())
    }
}
