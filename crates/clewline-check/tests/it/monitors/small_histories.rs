//! Every small history, up to symmetry, in the form in which monitors see it.
//!
//! Operations are given in the order of their calls, and each returns after the call of some
//! operation, itself or a later one, and before the next call: of `n` operations there are `n!`
//! such structures. Histories that differ only in the names of values, or in the order of adjacent
//! calls, are generated once.

use clewline_core::{ObjectKind, Role, RoleKind, Roles};
use clewline_monitor::{Columns, Interval};
use clewline_testing::pick;

/// A history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Small<'h> {
    pub(crate) kind: ObjectKind,
    pub(crate) roles: &'h [Role],
    pub(crate) intervals: &'h [Interval],
    pub(crate) last: u32,
}

impl Small<'_> {
    pub(crate) fn columns(&self) -> Columns {
        let roles = Roles::collect(self.kind, self.roles.iter().copied().map(Some)).unwrap();
        Columns::with_intervals(self.kind, roles, self.intervals.to_vec(), self.last)
    }

    /// A line an operation.
    pub(crate) fn drawing(&self) -> String {
        let line = |(at, (role, it)): (usize, (&Role, &Interval))| {
            let right = if it.right == self.last { "pending".to_owned() } else { it.right.to_string() };
            format!("{at}: [{}, {right}] {role:?}\n", it.left)
        };
        format!(
            "{:?}\n{}",
            self.kind,
            self.roles.iter().zip(self.intervals).enumerate().map(line).collect::<String>()
        )
    }
}

/// What operations may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Menu {
    pub(crate) kind: ObjectKind,
    /// What complete operations do, and pending ones.
    pub(crate) acts: &'static [RoleKind],
    pub(crate) pending: &'static [RoleKind],
    /// How many values there are at most; the initial value of a register is not counted.
    pub(crate) values: u64,
    /// How many operations may observe something.
    pub(crate) sees: usize,
    /// Whether each value is added exactly once, and removed at most once.
    pub(crate) is_distinct: bool,
}

/// Calls `each` with every history of `n` operations from the menu; in `./test`, with some of those
/// of four operations and more, at equal distances.
pub(crate) fn enough(menu: &Menu, n: usize, each: &mut dyn FnMut(Small<'_>)) {
    // Primes, so that they do not keep step with the enumeration.
    let distance = pick([1, 1, 1, 1, 3, 13][n.min(5)], 1);
    let mut number = 0_usize;
    every(menu, n, &mut |small| {
        number += 1;
        if number.is_multiple_of(distance) {
            each(small);
        }
    });
}

/// Calls `each` with every history of `n` operations from the menu.
fn every(menu: &Menu, n: usize, each: &mut dyn FnMut(Small<'_>)) {
    // The call after which each operation returns; `n` if it never does.
    let mut returns: Vec<usize> = (0..n).collect();
    loop {
        if let Some((intervals, last)) = structure(&returns) {
            let mut labels = Labels { menu, intervals: &intervals, last, roles: Vec::with_capacity(n) };
            labels.extend(each);
        }
        // The next structure, as an odometer.
        let most = if menu.pending.is_empty() { n } else { n + 1 };
        let Some(at) = (0..n).find(|&at| returns[at] + 1 < most) else { return };
        returns[at] += 1;
        (0..at).for_each(|it| returns[it] = it);
    }
}

/// The gaps of operations that return so, unless exchanging two adjacent calls gives the same.
fn structure(returns: &[usize]) -> Option<(Vec<Interval>, u32)> {
    let n = returns.len();
    let mut gap_of = vec![0; n];
    for call in 1..n {
        gap_of[call] = gap_of[call - 1] + u32::from(returns.contains(&(call - 1)));
    }
    let last = gap_of.last().map_or(0, |it| it + 1);
    let interval =
        |at: usize| Interval { left: gap_of[at], right: *gap_of.get(returns[at]).unwrap_or(&last) };
    let intervals: Vec<Interval> = (0..n).map(interval).collect();
    let is_sorted = intervals.is_sorted_by_key(|it| (it.left, it.right));
    is_sorted.then_some((intervals, last))
}

/// Gives the operations of one structure their roles, one after the other.
struct Labels<'l> {
    menu: &'l Menu,
    intervals: &'l [Interval],
    last: u32,
    roles: Vec<Role>,
}

impl Labels<'_> {
    fn extend(&mut self, each: &mut dyn FnMut(Small<'_>)) {
        let at = self.roles.len();
        if at == self.intervals.len() {
            let Labels { menu, intervals, last, .. } = *self;
            if self.is_whole() {
                each(Small { kind: menu.kind, roles: &self.roles, intervals, last });
            }
            return;
        }
        let is_pending = self.intervals[at].right == self.last;
        for &act in if is_pending { self.menu.pending } else { self.menu.acts } {
            let sees = || self.roles.iter().filter(|it| matches!(it, Role::Observe(_))).count();
            if act == RoleKind::Observe && self.menu.sees <= sees() {
                continue;
            }
            // Of two operations with one interval, either may be called the first.
            if 0 < at
                && self.intervals[at - 1] == self.intervals[at]
                && (act as u8) < self.roles[at - 1].kind() as u8
            {
                continue;
            }
            for role in self.roles_of(act) {
                if self.menu.is_distinct && self.repeats(role) {
                    continue;
                }
                self.roles.push(role);
                if self.can_be_whole() {
                    self.extend(each);
                }
                self.roles.pop();
            }
        }
    }

    /// The roles with that act, up to renaming of values.
    fn roles_of(&self, act: RoleKind) -> Vec<Role> {
        let words = self.words();
        let of_each = |role: fn(u64) -> Role| words.iter().map(|&it| role(it)).collect();
        match act {
            RoleKind::Add => match self.menu.kind {
                ObjectKind::Counter if self.menu.is_distinct => vec![Role::Add(1)],
                ObjectKind::Counter => [1, -1, 2].map(|it: i64| Role::Add(it.cast_unsigned())).to_vec(),
                // The elements, and what closes it.
                ObjectKind::Channel => {
                    let closes = Role::Add(ObjectKind::CLOSED);
                    words.iter().map(|&it| Role::Add(it)).chain([closes]).collect()
                }
                _ => of_each(Role::Add),
            },
            RoleKind::Remove => of_each(Role::Remove),
            RoleKind::Observe if self.menu.kind == ObjectKind::Channel => {
                vec![Role::Observe(ObjectKind::CLOSED)]
            }
            RoleKind::Observe => of_each(Role::Observe),
            // Which element could not be added makes no difference.
            RoleKind::Absent if self.menu.kind == ObjectKind::Channel => vec![Role::Absent(0)],
            RoleKind::Absent => of_each(Role::Absent),
            RoleKind::Empty => vec![Role::Empty],
            RoleKind::RemoveUnknown => vec![Role::RemoveUnknown],
            RoleKind::Replace => {
                let fresh = words.last().copied().unwrap_or(0) + 1;
                let pair = |&old: &u64| {
                    // The second may be one that was not mentioned when the first was.
                    words.iter().copied().chain([fresh]).map(move |new| Role::Replace(old, new))
                };
                let is_known = |it: &Role| match *it {
                    Role::Replace(old, new) => {
                        new <= self.menu.values && (new < fresh || old + 1 == fresh) && old != new
                    }
                    _ => true,
                };
                words.iter().flat_map(pair).filter(is_known).collect()
            }
            RoleKind::NoEffect => vec![Role::NoEffect],
        }
    }

    /// The names an operation may use next: all that were used, and one more where names do not
    /// matter.
    fn words(&self) -> Vec<u64> {
        let count = self.menu.values;
        match self.menu.kind {
            // About zero, so that signs matter.
            ObjectKind::PriorityQueue | ObjectKind::QuasiPriorityQueue { .. } => {
                (0..count as i64).map(|it| (it - 1).cast_unsigned()).collect()
            }
            ObjectKind::Counter => (0..=count).collect(),
            ObjectKind::Deque => unknown("deque"),
            ObjectKind::Other(name) => unknown(name),
            ObjectKind::Register { .. } => {
                (0..=count.min(self.roles.iter().filter_map(greatest).max().unwrap_or(0) + 1)).collect()
            }
            ObjectKind::Set
            | ObjectKind::Queue
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::Channel
            | ObjectKind::Stack
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::Bag
            | ObjectKind::Multiset => {
                (0..count.min(self.roles.iter().filter_map(greatest).max().map_or(1, |it| it + 2))).collect()
            }
        }
    }

    /// Whether `role` adds or removes what was added or removed before.
    fn repeats(&self, role: Role) -> bool {
        match self.menu.kind {
            ObjectKind::Set | ObjectKind::Multiset | ObjectKind::Counter => false,
            ObjectKind::Deque => unknown("deque"),
            ObjectKind::Other(name) => unknown(name),
            ObjectKind::Register { initial } => {
                let written = written(role);
                written.is_some_and(|it| {
                    it == initial || self.roles.iter().any(|&role| self::written(role) == Some(it))
                })
            }
            ObjectKind::Queue
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::Channel
            | ObjectKind::Stack
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::PriorityQueue
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Bag => matches!(role, Role::Add(_) | Role::Remove(_)) && self.roles.contains(&role),
        }
    }

    /// How many values are found, where each has to be added, that are not added yet.
    fn missing(&self) -> usize {
        if !self.menu.is_distinct {
            return 0;
        }
        let is_missing = |word: u64| match self.menu.kind {
            ObjectKind::Set | ObjectKind::Multiset | ObjectKind::Counter => false,
            ObjectKind::Deque => unknown("deque"),
            ObjectKind::Other(name) => unknown(name),
            ObjectKind::Register { initial } => {
                word != initial && !self.roles.iter().any(|&it| written(it) == Some(word))
            }
            ObjectKind::Queue
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::Channel
            | ObjectKind::Stack
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::PriorityQueue
            | ObjectKind::QuasiPriorityQueue { .. }
            | ObjectKind::Bag => !self.roles.contains(&Role::Add(word)),
        };
        let found = |role: &Role| match *role {
            Role::Remove(word) | Role::Observe(word) | Role::Replace(word, _) => Some(word),
            Role::Add(_) | Role::Absent(_) | Role::Empty | Role::RemoveUnknown | Role::NoEffect => None,
        };
        let mut found: Vec<u64> = self.roles.iter().filter_map(found).filter(|&it| is_missing(it)).collect();
        found.sort_unstable();
        found.dedup();
        found.len()
    }

    /// Whether the operations to come can make this a wanted history, and one that no smaller menu
    /// has.
    fn can_be_whole(&self) -> bool {
        let left = self.intervals.len() - self.roles.len();
        let adds = self.roles.iter().filter(|it| matches!(it, Role::Add(_))).count();
        match self.menu.kind {
            // The same order among fewer values is found with fewer values.
            ObjectKind::PriorityQueue | ObjectKind::QuasiPriorityQueue { .. } if self.menu.is_distinct => {
                self.menu.values as usize <= adds + left
            }
            ObjectKind::PriorityQueue | ObjectKind::QuasiPriorityQueue { .. } => {
                let is_used = |it: &&u64| self.roles.iter().any(|role| word(*role) == Some(**it));
                self.menu.values as usize <= self.words().iter().filter(is_used).count() + left
            }
            ObjectKind::Counter => {
                // A sum beyond all additions is as good as any other.
                let is_far = |it: &Role| matches!(it, Role::Observe(sum) if adds + left + 1 < *sum as usize);
                !self.menu.is_distinct || !self.roles.last().is_some_and(is_far)
            }
            ObjectKind::Deque => unknown("deque"),
            ObjectKind::Other(name) => unknown(name),
            ObjectKind::Set
            | ObjectKind::Queue
            | ObjectKind::QuasiQueue { .. }
            | ObjectKind::Channel
            | ObjectKind::Stack
            | ObjectKind::QuasiStack { .. }
            | ObjectKind::Bag
            | ObjectKind::Multiset
            | ObjectKind::Register { .. } => self.missing() <= left,
        }
    }

    fn is_whole(&self) -> bool {
        let adds = self.roles.iter().filter(|it| matches!(it, Role::Add(_))).count();
        let is_far = |it: &Role| matches!(it, Role::Observe(sum) if adds + 1 < *sum as usize);
        self.menu.kind != ObjectKind::Counter || !self.menu.is_distinct || !self.roles.iter().any(is_far)
    }
}

/// A kind of object that only one monitor knows.
fn unknown(name: &str) -> ! {
    panic!(
        "give `{name}` a line of its own in `Kind`, and say here and in `State` of referee.rs what it does"
    )
}

fn word(role: Role) -> Option<u64> {
    match role {
        Role::Add(word) | Role::Remove(word) | Role::Observe(word) | Role::Absent(word) => Some(word),
        Role::Replace(word, _) => Some(word),
        Role::Empty | Role::RemoveUnknown | Role::NoEffect => None,
    }
}

fn greatest(role: &Role) -> Option<u64> {
    match *role {
        Role::Replace(old, new) => Some(old.max(new)),
        other => word(other).filter(|&it| it != ObjectKind::CLOSED),
    }
}

/// The value of a register afterwards.
fn written(role: Role) -> Option<u64> {
    match role {
        Role::Add(word) | Role::Replace(_, word) => Some(word),
        Role::Remove(_)
        | Role::Observe(_)
        | Role::Absent(_)
        | Role::Empty
        | Role::RemoveUnknown
        | Role::NoEffect => None,
    }
}

#[test]
fn there_are_as_many_structures_as_interval_orders() {
    let counts = [1, 1, 2, 5, 15, 53, 217, 1_014];
    for (n, expected) in counts.into_iter().enumerate() {
        let menu = Menu {
            kind: ObjectKind::Set,
            acts: &[RoleKind::Add],
            pending: &[],
            values: 1,
            sees: 0,
            is_distinct: false,
        };
        let mut count = 0;
        every(&menu, n, &mut |_| count += 1);
        assert_eq!(count, expected, "{n} operations");
    }
}
