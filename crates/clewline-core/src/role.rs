//! Roles: what operations do to a collection, for monitors.
//!
//! A monitor decides histories of one kind of object in nearly linear time, because it knows more about the
//! object than a specification can say. It sees neither calls nor returns, only columns of small integers: what
//! each operation did, and to which element.

use rustc_hash::FxHashMap;

/// What kind of object a specification describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Elements are there or not, each by itself.
    Set,
    /// Elements leave in the order in which they came.
    Queue,
    /// Elements leave nearly in the order in which they came: each passes at most so many that came before it, and is passed
    /// by at most so many that came after it.
    QuasiQueue {
        /// How many.
        factor: u32,
    },
    /// The element that came last leaves first.
    Stack,
    /// The element that came last leaves first, or nearly so: each passes at most so many that came after it and are inside, and
    /// is passed by at most so many that came before it.
    QuasiStack {
        /// How many.
        factor: u32,
    },
    /// The greatest element leaves first; elements are integers, as 64 bits with a sign.
    PriorityQueue,
    /// The same, or nearly so: each element passes at most so many greater ones that are inside, and is passed by at most so many
    /// smaller ones.
    QuasiPriorityQueue {
        /// How many.
        factor: u32,
    },
    /// Any element may leave.
    Bag,
    /// Elements are there in a number of copies, each element by itself.
    Multiset,
    /// Only a sum is there: [`Role::Add`] adds its element to it, [`Role::Observe`] answers it. Elements are
    /// integers, as 64 bits with a sign.
    Counter,
    /// Exactly one element is there, and adding one replaces it.
    Register {
        /// The element that is there at first.
        initial: u64,
    },
    /// Another object, of which only a monitor that [is added](crate::Table::extend) knows more than its specification says:
    /// what the roles mean is between the two. Pending operations are that monitor's business as well.
    Other(&'static str),
}

impl ObjectKind {
    /// Whether elements are added, and taken from a place that the object chooses.
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
            | ObjectKind::Other(_) => false,
        }
    }

    /// Whether what was before does not matter after an operation of that role: see
    /// [`Specification::resets`](crate::Specification::resets).
    #[must_use]
    pub const fn resets(self, role: Role) -> bool {
        // Of other objects something is known of one element after an operation, and nothing of the others.
        match role {
            Role::Add(_) => matches!(self, ObjectKind::Register { .. }),
            Role::Empty => self.is_container(),
            _ => false,
        }
    }
}

/// What an operation did. Elements are named by words that differ if the elements do.
///
/// A pending operation has the role it would have had, had it taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Put the element there: `enq`, `push`, `write`; for a set, only if it was not there before.
    Add(u64),
    /// Took the element away.
    Remove(u64),
    /// Found the element there, where it would look for one, and changed nothing: `peek`, `read`, `contains`.
    Observe(u64),
    /// Found the element absent, and changed nothing. In a register, another one was there.
    Absent(u64),
    /// Found no element at all.
    Empty,
    /// Took away whatever was to be taken, or found nothing: a pending `deq`.
    RemoveUnknown,
    /// Found the first element and put the second in its place: `cas` → true, `swap`.
    Replace(u64, u64),
    /// Changed nothing, and saw nothing that is known: a pending `peek`.
    NoEffect,
}

impl Role {
    /// What it did, without saying to which element.
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

    /// The element it is about, the first of two; 0 if it has none.
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

/// What an operation did, without saying to which element. See [`Role`].
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
    /// The role of doing this to `element`, if it has one. A replacement puts the element in its own place.
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

    /// Whether it is about one element, or two.
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
    /// To which element: a number below the length of `names`; 0 where the act has none. Numbers are given in
    /// the order of first mention, after that of a register's initial element, which is 0.
    pub elements: Vec<u32>,
    /// The second element of each [`RoleKind::Replace`]; empty if there are none.
    pub seconds: Vec<u32>,
    /// The word that names each element.
    pub names: Vec<u64>,
}

impl Roles {
    /// Columns of `roles`.
    ///
    /// # Errors
    ///
    /// The index of the first that is not known.
    pub fn collect(
        kind: ObjectKind,
        roles: impl ExactSizeIterator<Item = Option<Role>>,
    ) -> Result<Roles, usize> {
        let count = roles.len();
        let mut words = Words {
            acts: Vec::with_capacity(count),
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
struct Words {
    acts: Vec<RoleKind>,
    words: Vec<u64>,
    seconds: Vec<(u32, u64)>,
    least: u64,
    greatest: u64,
}

impl Words {
    #[inline]
    fn push(&mut self, at: usize, role: Role) {
        if let Role::Replace(_, second) = role {
            self.seconds.push((at as u32, second));
        }
        let (act, element) = (role.kind(), role.element());
        // Without branches: who does what is not predictable.
        self.least = self.least.min(if act.has_element() { element } else { u64::MAX });
        self.greatest = self.greatest.max(element);
        self.acts.push(act);
        self.words.push(element);
    }

    // Not generic, as `collect` is: it compiles once.
    fn number(self, kind: ObjectKind) -> Roles {
        let Words { acts, words, seconds, least, greatest } = self;
        let count = acts.len();
        let mut numbers = Numbers::new(least, greatest, count);
        if let ObjectKind::Register { initial } = kind {
            numbers.number(initial);
        }
        let mut elements: Vec<u32> = Vec::with_capacity(count);
        for (&act, &word) in acts.iter().zip(&words) {
            elements.push(if act.has_element() { numbers.number(word) } else { 0 });
        }
        drop(words);
        let mut second_of: Vec<u32> = if seconds.is_empty() { Vec::new() } else { vec![0; count] };
        for (at, word) in seconds {
            second_of[at as usize] = numbers.number(word);
        }
        Roles { kinds: acts, elements, seconds: second_of, names: numbers.names }
    }
}

const NONE: u32 = u32::MAX;

/// Numbers for words, in the order in which they are asked for.
struct Numbers {
    least: u64,
    // By distance from `least`.
    table: Vec<u32>,
    // Words that are outside the table.
    others: FxHashMap<u64, u32>,
    names: Vec<u64>,
}

impl Numbers {
    /// With a table if the words lie close enough together, which makes a look-up several times faster.
    fn new(least: u64, greatest: u64, operations: usize) -> Numbers {
        let room = 8 * operations as u64 + 1_024;
        let length = greatest.checked_sub(least).filter(|&it| it < room).map_or(0, |it| it as usize + 1);
        let names = Vec::with_capacity(operations / 4);
        Numbers { least, table: vec![NONE; length], others: FxHashMap::default(), names }
    }

    #[inline]
    fn number(&mut self, word: u64) -> u32 {
        let place = word.wrapping_sub(self.least);
        let number = match self.table.get_mut(place as usize) {
            Some(entry) => entry,
            None => self.others.entry(word).or_insert(NONE),
        };
        if *number == NONE {
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
