//! Roles: what operations do to a collection, for monitors.
//!
//! A monitor decides histories of one kind of object in nearly linear time, because it uses
//! properties of the object that a specification does not express. It sees neither calls nor
//! results, only columns of small integers: what each operation did, and to which element.

use rustc_hash::FxHashMap;

/// The kind of object that a specification describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Each element is present or absent, independently of the others.
    Set,
    /// First in, first out.
    Queue,
    /// First in, first out, relaxed: each element overtakes at most `factor` elements that were
    /// added before it, and is overtaken by at most `factor` that were added after it.
    QuasiQueue {
        /// The bound k of quasi-linearizability.
        factor: u32,
    },
    /// First in, first out, until it is closed. [`Role::Add`] of [`ObjectKind::CLOSED`] closes it,
    /// if it is open; nothing can be added then: [`Role::Absent`] is an add that found it closed.
    /// [`Role::Observe`] of [`ObjectKind::CLOSED`] found it closed and without elements, and
    /// [`Role::Empty`] open and without elements.
    Channel,
    /// Elements are added and removed at both ends. The lowest bit of an element's word says at
    /// which end the operation works, and the others are the element: see [`ObjectKind::at_end`].
    Deque,
    /// Last in, first out.
    Stack,
    /// Last in, first out, relaxed: each element overtakes at most `factor` present elements that
    /// were added after it, and is overtaken by at most `factor` that were added before it.
    QuasiStack {
        /// The bound k of quasi-linearizability.
        factor: u32,
    },
    /// The greatest element is removed first. Elements are signed 64-bit integers.
    PriorityQueue,
    /// The greatest element is removed first, relaxed: each element overtakes at most `factor`
    /// present greater ones, and is overtaken by at most `factor` smaller ones.
    QuasiPriorityQueue {
        /// The bound k of quasi-linearizability.
        factor: u32,
    },
    /// Any element may be removed.
    Bag,
    /// Each element is present in a number of copies, independently of the others.
    Multiset,
    /// A sum: [`Role::Add`] adds its element to it, [`Role::Observe`] returns it. Elements are
    /// signed 64-bit integers.
    Counter,
    /// Exactly one element is present; adding another one replaces it.
    Register {
        /// The initial element.
        initial: u64,
    },
    /// An object known only to a monitor that [is added](crate::Table::extend). The specification
    /// and that monitor agree on the meaning of the roles. The monitor also handles pending
    /// operations itself.
    Other(&'static str),
}

impl ObjectKind {
    /// The word of what closes an [`ObjectKind::Channel`]. No [`Value`](crate::Value) has it.
    pub const CLOSED: u64 = u64::MAX;

    /// The word of an operation of an [`ObjectKind::Deque`] on an element: at the back, or at the
    /// front.
    #[must_use]
    pub const fn at_end(element: u64, is_back: bool) -> u64 {
        element << 1 | is_back as u64
    }

    /// Whether elements are added, and removed from a position that the object chooses.
    #[must_use]
    pub const fn is_container(self) -> bool {
        match self {
            ObjectKind::Queue
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::Stack
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::PriorityQueue
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Bag => true,
            ObjectKind::Set
            | ObjectKind::Multiset
            | ObjectKind::Counter
            | ObjectKind::Register { .. }
            | ObjectKind::Channel
            | ObjectKind::Deque
            | ObjectKind::Other(_) => false,
        }
    }

    /// Whether the state after an operation of that role does not depend on the state before it:
    /// see [`Specification::resets`](crate::Specification::resets).
    #[must_use]
    pub const fn resets(self, role: Role) -> bool {
        // In other objects an operation determines the state of one element, and not that of the
        // others.
        match role {
            Role::Add(_) => matches!(self, ObjectKind::Register { .. }),
            Role::Empty => self.is_container(),
            _ => false,
        }
    }
}

/// What an operation did. Elements are identified by words, which differ if the elements do.
///
/// A pending operation has the role that it has if it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Added the element: `enq`, `push`, `write`. In a set, the element was absent before.
    Add(u64),
    /// Removed the element.
    Remove(u64),
    /// Found the element, at the position where it looks, and changed nothing: `peek`, `read`,
    /// `contains`.
    Observe(u64),
    /// Found the element absent, and changed nothing. In a register, another element was present; a
    /// channel was closed, so that the element could not be added.
    Absent(u64),
    /// Found no element: returned *empty*.
    Empty,
    /// Removed an unknown element, or found none: a pending `deq`.
    RemoveUnknown,
    /// Found the first element and replaced it by the second: `cas` → true, `swap`.
    Replace(u64, u64),
    /// Changed nothing, and observed nothing that is known: a pending `peek`.
    NoEffect,
}

impl Role {
    /// What the operation did, without the element.
    #[must_use]
    pub const fn kind(self) -> RoleKind {
        match self {
            Role::Add(_) => RoleKind::Add,
            Role::Remove(_) => RoleKind::Remove,
            Role::Observe(_) => RoleKind::Observe,
            Role::Absent(_) => RoleKind::Absent,
            Role::Empty => RoleKind::Empty,
            Role::RemoveUnknown => RoleKind::RemoveUnknown,
            Role::Replace(..) => RoleKind::Replace,
            Role::NoEffect => RoleKind::NoEffect,
        }
    }

    /// The element, or the first of two; 0 if there is none.
    #[must_use]
    pub const fn element(self) -> u64 {
        match self {
            Role::Add(it)
            | Role::Remove(it)
            | Role::Observe(it)
            | Role::Absent(it)
            | Role::Replace(it, _) => it,
            Role::Empty | Role::RemoveUnknown | Role::NoEffect => 0,
        }
    }
}

/// What an operation did, without the element. See [`Role`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RoleKind {
    /// See [`Role::Add`].
    Add,
    /// See [`Role::Remove`].
    Remove,
    /// See [`Role::Observe`].
    Observe,
    /// See [`Role::Absent`].
    Absent,
    /// See [`Role::Empty`].
    Empty,
    /// See [`Role::RemoveUnknown`].
    RemoveUnknown,
    /// See [`Role::Replace`].
    Replace,
    /// See [`Role::NoEffect`].
    NoEffect,
}

impl RoleKind {
    /// The role of this kind with `element`, if it has one. A replacement replaces the element by
    /// itself.
    #[must_use]
    pub const fn on(self, element: u64) -> Role {
        match self {
            RoleKind::Add => Role::Add(element),
            RoleKind::Remove => Role::Remove(element),
            RoleKind::Observe => Role::Observe(element),
            RoleKind::Absent => Role::Absent(element),
            RoleKind::Empty => Role::Empty,
            RoleKind::RemoveUnknown => Role::RemoveUnknown,
            RoleKind::Replace => Role::Replace(element, element),
            RoleKind::NoEffect => Role::NoEffect,
        }
    }

    /// Whether roles of this kind have an element, or two.
    const fn has_element(self) -> bool {
        match self {
            RoleKind::Add | RoleKind::Remove | RoleKind::Observe | RoleKind::Absent | RoleKind::Replace => {
                true
            }
            RoleKind::Empty | RoleKind::RemoveUnknown | RoleKind::NoEffect => false,
        }
    }
}

/// The roles of a problem's operations, in columns by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    /// What each operation did.
    pub kinds: Vec<RoleKind>,
    /// The number of its element, below the length of `names`; 0 where the role has none. Numbers
    /// are assigned in the order of first occurrence, after a register's initial element, which is
    /// 0.
    pub elements: Vec<u32>,
    /// The second element of each [`RoleKind::Replace`]; empty if there are none.
    pub seconds: Vec<u32>,
    /// The word that identifies each element.
    pub names: Vec<u64>,
}

impl Roles {
    /// Columns of `roles`.
    ///
    /// # Errors
    ///
    /// The index of the first operation without a role.
    pub fn collect(
        kind: ObjectKind,
        roles: impl ExactSizeIterator<Item = Option<Role>>,
    ) -> Result<Roles, usize> {
        let count = roles.len();
        let mut words = UnnumberedRoles {
            kinds: Vec::with_capacity(count),
            words: Vec::with_capacity(count),
            seconds: Vec::new(),
            least: u64::MAX,
            greatest: 0,
        };
        for (at, role) in roles.enumerate() {
            words.push(at, role.ok_or(at)?);
        }
        Ok(words.number(kind))
    }
}

/// Roles whose elements have no numbers yet.
struct UnnumberedRoles {
    kinds: Vec<RoleKind>,
    words: Vec<u64>,
    seconds: Vec<(u32, u64)>,
    least: u64,
    greatest: u64,
}

impl UnnumberedRoles {
    #[inline]
    fn push(&mut self, at: usize, role: Role) {
        if let Role::Replace(_, second) = role {
            self.seconds.push((at as u32, second));
        }
        let (kind, element) = (role.kind(), role.element());
        // Without branches: the sequence of roles is not predictable.
        self.least = self.least.min(if kind.has_element() { element } else { u64::MAX });
        self.greatest = self.greatest.max(element);
        self.kinds.push(kind);
        self.words.push(element);
    }

    // Not generic, as `collect` is: it compiles once.
    fn number(self, kind: ObjectKind) -> Roles {
        let UnnumberedRoles { kinds, words, seconds, least, greatest } = self;
        let count = kinds.len();
        let mut numbers = ElementNumbers::new(least, greatest, count);
        if let ObjectKind::Register { initial } = kind {
            numbers.number(initial);
        }
        let mut elements: Vec<u32> = Vec::with_capacity(count);
        for (&kind, &word) in kinds.iter().zip(&words) {
            elements.push(if kind.has_element() { numbers.number(word) } else { 0 });
        }
        drop(words);
        let mut second_of: Vec<u32> = if seconds.is_empty() { Vec::new() } else { vec![0; count] };
        for (at, word) in seconds {
            second_of[at as usize] = numbers.number(word);
        }
        Roles { kinds, elements, seconds: second_of, names: numbers.names }
    }
}

const UNNUMBERED: u32 = u32::MAX;

/// Assigns numbers to words, in the order in which they are requested.
struct ElementNumbers {
    least: u64,
    // By distance from `least`.
    table: Vec<u32>,
    // Words that are outside the table.
    others: FxHashMap<u64, u32>,
    names: Vec<u64>,
}

impl ElementNumbers {
    /// Uses a table if the words lie close enough together, which makes a lookup several times
    /// faster.
    fn new(least: u64, greatest: u64, operations: usize) -> ElementNumbers {
        let room = 8 * operations as u64 + 1_024;
        let length = greatest.checked_sub(least).filter(|&it| it < room).map_or(0, |it| it as usize + 1);
        let names = Vec::with_capacity(operations / 4);
        ElementNumbers { least, table: vec![UNNUMBERED; length], others: FxHashMap::default(), names }
    }

    #[inline]
    fn number(&mut self, word: u64) -> u32 {
        let place = word.wrapping_sub(self.least);
        let number = match self.table.get_mut(place as usize) {
            Some(entry) => entry,
            None => self.others.entry(word).or_insert(UNNUMBERED),
        };
        if *number == UNNUMBERED {
            *number = self.names.len() as u32;
            self.names.push(word);
        }
        *number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_numbered_in_order_however_far_apart_they_are() {
        for factor in [1, 1 << 40] {
            let roles =
                [Role::Add(7 * factor), Role::Empty, Role::Observe(3 * factor), Role::Remove(7 * factor)];
            let roles = Roles::collect(ObjectKind::Queue, roles.into_iter().map(Some)).unwrap();
            assert_eq!(roles.kinds, [RoleKind::Add, RoleKind::Empty, RoleKind::Observe, RoleKind::Remove]);
            assert_eq!(roles.elements, [0, 0, 1, 0]);
            assert_eq!(roles.names, [7 * factor, 3 * factor]);
            assert!(roles.seconds.is_empty());
        }
    }

    #[test]
    fn the_initial_element_of_a_register_comes_first() {
        let roles = [Role::Add(4), Role::Replace(4, 9), Role::Observe(9), Role::Observe(1)];
        let roles = Roles::collect(ObjectKind::Register { initial: 1 }, roles.into_iter().map(Some)).unwrap();
        assert_eq!(roles.names, [1, 4, 9]);
        assert_eq!(roles.elements, [1, 1, 2, 0]);
        assert_eq!(roles.seconds, [0, 2, 0, 0]);
    }

    #[test]
    fn an_operation_without_a_role_is_named() {
        let roles = [Some(Role::Empty), None];
        assert_eq!(Roles::collect(ObjectKind::Bag, roles.into_iter()), Err(1));
    }
}
