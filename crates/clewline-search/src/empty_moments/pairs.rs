//! Pairs of an add and a take, made and undone while time passes.

use std::collections::BTreeSet;

use clewline_core::RoleKind;
use clewline_monitor::{Columns, NONE};

/// A change, to be undone.
#[derive(Clone, Copy)]
enum Change {
    // A gap was passed.
    Passed,
    Called(u32),
    // An add got a partner, which may be a pending take.
    Paired(u32, u32),
}

/// What has begun and has no partner, in sets by last gap and position.
type Open = BTreeSet<(u32, u32)>;

/// The pairs that are made.
pub(super) struct Pairs<'c> {
    columns: &'c Columns,
    // Of each gap, what is called there, and which takes of an element return there: those of gap g
    // begin at `starts[g]`.
    calls: Lists,
    returns: Lists,
    next_gap: u32,
    adds: Open,
    takes: Open,
    // By element: adds, and takes of it.
    adds_of: Vec<Open>,
    takes_of: Vec<Open>,
    // The pending takes.
    unknown: Open,
    partner: Vec<u32>,
    log: Vec<Change>,
}

impl<'c> Pairs<'c> {
    /// No pairs, before all time.
    pub(super) fn new(columns: &'c Columns) -> Self {
        let kinds = |it: u32| columns.kinds[it as usize];
        let is_relevant =
            |it| matches!(kinds(it), RoleKind::Add | RoleKind::Remove | RoleKind::RemoveUnknown);
        let interval = |it: u32| columns.intervals[it as usize];
        Pairs {
            columns,
            calls: Lists::new(columns, is_relevant, |it| interval(it).left),
            returns: Lists::new(columns, |it| kinds(it) == RoleKind::Remove, |it| interval(it).right),
            next_gap: 0,
            adds: Open::new(),
            takes: Open::new(),
            adds_of: vec![Open::new(); columns.names.len()],
            takes_of: vec![Open::new(); columns.names.len()],
            unknown: Open::new(),
            partner: vec![NONE; columns.len()],
            log: Vec::new(),
        }
    }

    /// The gap that is passed next.
    pub(super) fn next_gap(&self) -> u32 {
        self.next_gap
    }

    /// How many changes were made.
    pub(super) fn log_len(&self) -> usize {
        self.log.len()
    }

    /// How many open operations a configuration has, apart from pending takes.
    pub(super) fn open(&self) -> usize {
        self.adds.len() + self.takes.len()
    }

    /// What matters from the last gap that was passed on: that gap, how many pending takes are
    /// open, and how many adds, and takes, of each element and with each end.
    pub(super) fn configuration(&self) -> Box<[u32]> {
        let mut open: Vec<[u32; 3]> = Vec::with_capacity(self.open());
        for (kind, set) in [(0, &self.adds), (1, &self.takes)] {
            open.extend(set.iter().map(|&(end, at)| [kind, end, self.element(at) as u32]));
        }
        open.sort_unstable();
        let mut configuration = vec![self.next_gap, self.unknown.len() as u32];
        for alike in open.chunk_by(PartialEq::eq) {
            configuration.extend(alike[0]);
            configuration.push(alike.len() as u32);
        }
        configuration.into_boxed_slice()
    }

    /// Passes one gap; false if a take that returns there has no partner.
    pub(super) fn pass_gap(&mut self) -> bool {
        let gap = self.next_gap as usize;
        self.next_gap += 1;
        self.log.push(Change::Passed);
        for place in self.calls.of(gap) {
            self.call(self.calls.all[place]);
        }
        for place in self.returns.of(gap) {
            let take = self.returns.all[place];
            if self.partner[take as usize] != NONE {
                continue;
            }
            let Some(&(_, add)) = self.adds_of[self.element(take)].first() else { return false };
            self.pair(add, take);
        }
        true
    }

    /// Makes a moment in this gap, the last one that was passed, at which nothing is inside; false
    /// if an add that returned before has no partner.
    pub(super) fn empty_at(&mut self, gap: u32) -> bool {
        while let Some(&(_, add)) = self.adds.first().filter(|it| it.0 < gap) {
            let take = self.takes_of[self.element(add)].first().or(self.unknown.first());
            let Some(&(_, take)) = take else { return false };
            self.pair(add, take);
        }
        true
    }

    /// Undoes what was done since the log had this length.
    pub(super) fn undo_to(&mut self, len: usize) {
        while len < self.log.len() {
            self.undo();
        }
    }

    /// Undoes what was done since the last gap began.
    pub(super) fn step_back(&mut self) {
        while !matches!(self.undo(), None | Some(Change::Passed)) {}
    }

    fn undo(&mut self) -> Option<Change> {
        let change = self.log.pop()?;
        match change {
            Change::Passed => self.next_gap -= 1,
            Change::Called(at) => self.remove(at),
            Change::Paired(add, take) => {
                self.partner[add as usize] = NONE;
                self.partner[take as usize] = NONE;
                self.insert(add);
                self.insert(take);
            }
        }
        Some(change)
    }

    fn call(&mut self, at: u32) {
        self.insert(at);
        self.log.push(Change::Called(at));
    }

    fn pair(&mut self, add: u32, take: u32) {
        self.partner[add as usize] = take;
        self.partner[take as usize] = add;
        self.remove(add);
        self.remove(take);
        self.log.push(Change::Paired(add, take));
    }

    fn insert(&mut self, at: u32) {
        self.change(at, |open, entry| {
            open.insert(entry);
        });
    }

    fn remove(&mut self, at: u32) {
        self.change(at, |open, entry| {
            open.remove(&entry);
        });
    }

    /// Changes the sets that an operation can be in.
    fn change(&mut self, at: u32, change: fn(&mut Open, (u32, u32))) {
        let (kind, entry) = (self.columns.kinds[at as usize], self.entry(at));
        if kind == RoleKind::RemoveUnknown {
            change(&mut self.unknown, entry);
            return;
        }
        let element = self.element(at);
        if kind == RoleKind::Add {
            change(&mut self.adds, entry);
            change(&mut self.adds_of[element], entry);
        } else {
            change(&mut self.takes, entry);
            change(&mut self.takes_of[element], entry);
        }
    }

    fn entry(&self, at: u32) -> (u32, u32) {
        (self.columns.intervals[at as usize].right, at)
    }

    fn element(&self, at: u32) -> usize {
        self.columns.elements[at as usize] as usize
    }

    /// What has a partner or has returned, in order, with the operations that returned *empty* at
    /// these moments.
    pub(super) fn order(&self, moments: &[u32]) -> Vec<u32> {
        let mut places: Vec<(u32, Phase, u32)> = Vec::new();
        for at in 0..self.columns.len() as u32 {
            if let Some((gap, phase)) = self.place(at, moments) {
                places.push((gap, phase, at));
            }
        }
        places.sort_unstable();
        places.into_iter().map(|it| it.2).collect()
    }

    /// The place of an operation: its gap, and when in the gap it takes effect.
    fn place(&self, at: u32, moments: &[u32]) -> Option<(u32, Phase)> {
        let interval = self.columns.intervals[at as usize];
        let partner = self.partner[at as usize];
        let other = self.columns.intervals.get(partner as usize);
        match (self.columns.kinds[at as usize], other) {
            (RoleKind::Empty, _) => {
                let later = moments.partition_point(|&it| it < interval.left);
                let moment = moments.get(later).filter(|&&it| it <= interval.right)?;
                Some((*moment, Phase::Empty))
            }
            (RoleKind::Add, Some(_)) if self.columns.kinds[partner as usize] == RoleKind::RemoveUnknown => {
                Some((interval.right, Phase::Add))
            }
            // Right before the moment, when only what such takes remove is inside: so there is
            // hardly a choice for a replay of the order.
            (RoleKind::RemoveUnknown, Some(add)) => {
                let moment = moments.get(moments.partition_point(|&it| it <= add.right))?;
                Some((*moment, Phase::RemoveUnknown))
            }
            (RoleKind::Add, Some(take)) if interval.right < take.left => Some((interval.right, Phase::Add)),
            (RoleKind::Add, Some(take)) => Some((interval.left.max(take.left), Phase::Add)),
            (RoleKind::Add, None) => {
                let has_returned = interval.right < self.next_gap && interval.right != self.columns.last;
                has_returned.then_some((interval.right, Phase::Add))
            }
            (_, Some(add)) if add.right < interval.left => Some((interval.left, Phase::Remove)),
            (_, Some(add)) => Some((interval.left.max(add.left), Phase::RemoveAdded)),
            (_, None) => None,
        }
    }
}

/// When in its gap an operation takes effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Remove,
    RemoveUnknown,
    Empty,
    Add,
    RemoveAdded,
}

/// Operations by gaps.
struct Lists {
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Lists {
    fn new(columns: &Columns, is_in: impl Fn(u32) -> bool, gap: impl Fn(u32) -> u32) -> Lists {
        let mut all: Vec<u32> = (0..columns.len() as u32).filter(|&it| is_in(it)).collect();
        all.sort_by_key(|&it| gap(it));
        let mut starts = vec![0; columns.gaps() + 1];
        all.iter().for_each(|&it| starts[gap(it) as usize + 1] += 1);
        (1..starts.len()).for_each(|it| starts[it] += starts[it - 1]);
        Lists { starts, all }
    }

    fn of(&self, gap: usize) -> std::ops::Range<usize> {
        self.starts[gap] as usize..self.starts[gap + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use clewline_core::{GeneratorConfig, Random, ValueDomain};
    use clewline_testing::pick;

    use super::*;

    /// All that a configuration stands for, of one operation that is open.
    fn what(columns: &Columns, at: usize) -> Option<(u8, u32, u32)> {
        match columns.kinds[at] {
            kind @ (RoleKind::Add | RoleKind::Remove) => {
                Some((kind as u8, columns.intervals[at].right, columns.elements[at]))
            }
            RoleKind::RemoveUnknown => Some((RoleKind::RemoveUnknown as u8, 0, 0)),
            _ => None,
        }
    }

    #[test]
    fn configurations_are_equal_exactly_if_what_is_open_is_alike() {
        let specification = clewline_specs::find("bag").expect("it is built in");
        let mut random = Random::new(7);
        let (mut different, mut alike) = (0, 0);
        for seed in 1..=10 {
            let plan = GeneratorConfig {
                operations: 16,
                processes: 8,
                overlap: 1.0,
                values: ValueDomain::Below(2),
                pending: 0.3,
                seed,
                ..GeneratorConfig::default()
            };
            let case = specification.load(specification.generate(&plan)).expect("its own history");
            let columns = Columns::with_copies(&case.problems()[0]).expect("a bag");
            let (mut by_open, mut by_configuration) = (HashMap::new(), HashMap::new());
            for _ in 0..pick(1_000, 20_000) {
                let mut pairs = Pairs::new(&columns);
                pairs.next_gap = random.below(2) as u32;
                let mut open = Vec::new();
                for at in (0..columns.len()).filter(|_| random.below(4) == 0).collect::<Vec<_>>() {
                    if let Some(what) = what(&columns, at) {
                        pairs.call(at as u32);
                        open.push(what);
                    }
                }
                open.sort_unstable();
                let is_known =
                    |it: &[(u8, u32, u32)]| it[0] == it[1] && it[0] != (RoleKind::RemoveUnknown as u8, 0, 0);
                alike += usize::from(open.windows(2).any(is_known));
                let (open, key) = ((pairs.next_gap, open), pairs.configuration());
                assert_eq!(*by_open.entry(open.clone()).or_insert_with(|| key.clone()), key);
                assert_eq!(*by_configuration.entry(key).or_insert_with(|| open.clone()), open);
            }
            different += by_open.len();
        }
        assert!(500 < different && different < pick(7_500, 150_000), "{different}");
        assert!(100 < alike, "{alike}");
    }
}
