//! The moves that are made, and those that can be made next.

use std::collections::HashSet;

use clewline_core::{Budget, Charge, Reason, RoleKind};
use clewline_monitor::{Columns, NONE};

use super::{
    backtracking::Backtracking,
    side::{Side, gaps_of},
};
use crate::{
    backtracking::Longest,
    links::{Links, positions_by_call, positions_by_return, random_bits},
    pace::{LOOK_WORK, Pace, STEP_WORK},
};

// A configuration with a single move is remembered only if the number of placed pops is a
// multiple of this: so at most as many steps are repeated.
const FORCED_STEPS_REPEATED_MAX: usize = 16;

// Of each configuration that is remembered: its hash and one more byte, in a table with some room.
const FAILED_BYTES: usize = (size_of::<u128>() + 1) * 8 / 7;

// An odd number with as many ones as zeros, about.
const HASH_MULTIPLIER: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// A pop to be placed, with what it finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) pop: u32,
    // The push, or `NONE` if it found nothing.
    pub(super) push: u32,
    // The gaps in which the two take effect.
    pub(super) pushed: u32,
    pub(super) found: u32,
    // Whether the push was made at the other end.
    pub(super) is_far: bool,
    // Whether the push is pending.
    pub(super) is_pending: bool,
    // How many pushes that are left lose gaps.
    pub(super) narrowed: u32,
}

impl Move {
    /// The pop finds nothing.
    pub(super) fn of(pop: u32, found: u32) -> Move {
        Move { pop, push: NONE, pushed: 0, found, is_far: false, is_pending: false, narrowed: 0 }
    }
}

/// A change, to be undone.
#[derive(Clone, Copy)]
enum Change {
    // A gap died, for pushes of one side.
    Died(usize, u32),
    // A push got its place.
    Placed(u32),
    // The last push of a list that has returned was another one; and how many of the list have.
    Recent(u32, u32, u32),
}

/// A place where a move was made: what was before it, and the moves that can be tried.
struct Frame {
    time: u32,
    log: usize,
    // Its moves are `moves[start..]`, up to the next frame's; this one comes next.
    start: usize,
    next: usize,
    // Its configuration, if that is remembered when all moves were tried.
    configuration: Option<u128>,
    // Whether moves of pending pops are among them, or need not be tried.
    is_extended: bool,
    // Whether something that comes after one of them was given up without pending pops.
    is_cut: bool,
}

pub(super) struct Search<'c> {
    pub(super) columns: &'c Columns,
    budget: &'c Budget,
    // The complete pops that are left; list 0.
    by_call: Links,
    by_return: Links,
    pub(super) sides: [Side; 2],
    // The value of each operation, and the side of the pushes at its end.
    values: Vec<u32>,
    // By value: whether it is pushed only once.
    is_distinct: Vec<bool>,
    pub(super) ends: Vec<u8>,
    // The complete pushes that are left, in a list for each value and side: by their returns, and
    // by their calls. Then the pending ones, by their calls.
    pushes: Links,
    far: Links,
    pending: Links,
    // The pending pops that are left, by their calls; a list for each end.
    pub(super) pending_pops: Links,
    // How many are used.
    spent: usize,
    // All complete pushes, left or not, in such lists by their returns: list n begins at
    // `list_starts[n]`.
    returned: Vec<u32>,
    list_starts: Vec<u32>,
    // Of each list, how many had returned when it was looked at last, and the last of these that
    // was left.
    returns: Vec<u32>,
    recent: Vec<u32>,
    // Whether a push is complete and left, and how many of its gaps are not dead.
    pub(super) is_left: Vec<bool>,
    pub(super) alive: Vec<u32>,
    // The gap of the last pop.
    pub(super) time: u32,
    log: Vec<Change>,
    // While candidates are looked for: the complete pushes that are open and left, with their
    // lists; how many gaps of each push would be dead, of which pushes some would be, and the first
    // gap with which one would have none left.
    open: Vec<(u32, u32)>,
    pub(super) hits: Vec<u32>,
    pub(super) hit: Vec<u32>,
    pub(super) first_loss: u32,
    trail: Vec<Move>,
    // The hash of the placed operations and dead gaps.
    hash: u128,
    frames: Vec<Frame>,
    pub(super) moves: Vec<Move>,
    // Hashes of configurations from which nothing leads to the end.
    failed: HashSet<u128>,
    backtracking: Backtracking,
    // Whether pending pops are tried everywhere.
    is_exhaustive: bool,
    longest: Longest<Move>,
    configurations: u64,
    reported: u64,
    pub(super) pace: Pace,
    charge: Charge,
}

impl<'c> Search<'c> {
    pub(super) fn new(columns: &'c Columns, budget: &'c Budget) -> Result<Self, Reason> {
        let count = columns.len();
        let (values, ends, number) = values_and_ends(columns);
        let by_call = positions_by_call(columns);
        let by_return = positions_by_return(columns, &by_call);
        let is_push = |it: u32| columns.kinds[it as usize] == RoleKind::Add;
        let is_complete = |it: u32| !columns.is_pending(it as usize);
        let mut pushes = vec![0_u32; number];
        let all = 0..count as u32;
        all.filter(|&it| is_push(it)).for_each(|it| pushes[values[it as usize] as usize] += 1);
        let side = |end: u8| {
            let is_here = |it: u32| is_push(it) && is_complete(it) && ends[it as usize] == end;
            Side::new(columns, &by_return, budget, is_here)
        };
        let mut search = Search {
            columns,
            budget,
            by_call: Links::new(count, 1),
            by_return: Links::new(count, 1),
            sides: [side(0)?, side(1)?],
            pushes: Links::new(count, 2 * number),
            far: Links::new(count, 2 * number),
            returned: Vec::new(),
            list_starts: vec![0; 2 * number + 1],
            returns: vec![0; 2 * number],
            recent: vec![NONE; 2 * number],
            pending: Links::new(count, 2 * number),
            pending_pops: Links::new(count, 2),
            spent: 0,
            is_left: (0..count as u32).map(|it| is_push(it) && is_complete(it)).collect(),
            alive: columns.intervals.iter().map(|it| it.right - it.left + 1).collect(),
            time: 0,
            log: Vec::new(),
            first_loss: NONE,
            open: Vec::new(),
            hits: vec![0; count],
            hit: Vec::new(),
            trail: Vec::new(),
            hash: 0,
            frames: Vec::new(),
            moves: Vec::new(),
            failed: HashSet::new(),
            backtracking: Backtracking::new(),
            is_exhaustive: false,
            longest: Longest::new(),
            configurations: 0,
            reported: 0,
            pace: Pace::default(),
            charge: budget.charge(),
            is_distinct: pushes.iter().map(|&it| it < 2).collect(),
            values,
            ends,
        };
        search.fill(&by_call, &by_return);
        search.is_exhaustive = search.first_pending_pop() == NONE;
        Ok(search)
    }

    /// Puts the operations into their lists.
    fn fill(&mut self, by_call: &[u32], by_return: &[u32]) {
        for &at in by_call {
            match (self.columns.kinds[at as usize], !self.columns.is_pending(at as usize)) {
                (RoleKind::NoEffect, _) => (),
                (RoleKind::RemoveUnknown, _) => self.pending_pops.push(u32::from(self.ends[at as usize]), at),
                (RoleKind::Add, true) => self.far.push(self.list(at), at),
                (RoleKind::Add, false) => self.pending.push(self.list(at), at),
                _ => self.by_call.push(0, at),
            }
        }
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); self.recent.len()];
        for &at in by_return.iter().filter(|&&it| !self.columns.is_pending(it as usize)) {
            if self.columns.kinds[at as usize] == RoleKind::Add {
                self.pushes.push(self.list(at), at);
                lists[self.list(at) as usize].push(at);
            } else {
                self.by_return.push(0, at);
            }
        }
        for (list, members) in lists.into_iter().enumerate() {
            self.returned.extend(members);
            self.list_starts[list + 1] = self.returned.len() as u32;
        }
    }

    /// Whether the pops can all be placed, and the moves: if not, the most that could be made.
    pub(super) fn found(mut self) -> Result<(bool, Vec<Move>), Reason> {
        let outcome = self.run();
        self.budget.visit(self.configurations - self.reported);
        Ok(if outcome? { (true, self.trail) } else { (false, self.longest.moves().to_vec()) })
    }

    fn run(&mut self) -> Result<bool, Reason> {
        self.check_budget()?;
        while let Some(first) = self.by_return.first(0) {
            self.configurations += 1;
            self.pace.add(STEP_WORK);
            if self.pace.is_due(0, self.growth()) || self.budget.configurations() < self.configurations {
                self.check_budget()?;
            }
            if !self.enter(self.right(first)) && !self.retreat() {
                if self.is_exhaustive {
                    return Ok(false);
                }
                // Without pending pops there is none, as far as that was tried.
                self.is_exhaustive = true;
            }
            if let Some(steps) =
                self.backtracking.steps_back(self.configurations, self.trail.len() - self.spent)
            {
                self.longest.note(&self.trail);
                (0..steps.min(self.frames.len())).for_each(|_| self.drop_frame());
            }
        }
        Ok(true)
    }

    /// Makes the first of the moves that can be made here, and remembers the others; false if there
    /// is none, or if they have all been tried.
    fn enter(&mut self, deadline: u32) -> bool {
        let start = self.moves.len();
        let is_forced = self.find_moves(start, deadline);
        let mut is_extended = is_forced || self.first_pending_pop() > deadline;
        if self.moves.len() == start && !is_extended && self.may_use_pending_pops() {
            is_extended = true;
            self.find_pending_pops(deadline);
        }
        let choices = self.moves.len() - start + usize::from(!is_extended);
        let is_remembered = 1 < choices || self.trail.len().is_multiple_of(FORCED_STEPS_REPEATED_MAX);
        let configuration = is_remembered.then(|| self.configuration());
        if self.moves.len() == start && !is_extended {
            self.cut();
        }
        if self.moves.len() == start || configuration.is_some_and(|it| self.failed.contains(&it)) {
            self.moves.truncate(start);
            return false;
        }
        if 1 < choices {
            let columns = self.columns;
            let right = |it: u32| columns.intervals[it as usize].right;
            let key = |it: &Move| {
                (it.is_pending, it.narrowed, right(it.pop), u32::MAX - it.pushed, it.pop, it.push)
            };
            self.moves[start..].sort_unstable_by_key(key);
            if self.backtracking.is_shaken() {
                let is_pending = self.moves[start].is_pending;
                let alike = self.moves[start..].iter().take_while(|it| it.is_pending == is_pending).count();
                let other = self.backtracking.other(alike);
                self.moves.swap(start, start + other);
            }
        }
        let (time, log) = (self.time, self.log.len());
        self.place(self.moves[start]);
        self.frames.push(Frame {
            time,
            log,
            start,
            next: start + 1,
            configuration,
            is_extended,
            is_cut: false,
        });
        true
    }

    /// Finds the moves that can be made, without pending pops; whether nothing else need be tried.
    fn find_moves(&mut self, start: usize, deadline: u32) -> bool {
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        for side in &self.sides {
            self.pace.add(LOOK_WORK / 8 * side.open(deadline).len() as u64);
            let left = side.open(deadline).iter().filter(|&&it| self.is_left[it as usize]);
            open.extend(left.map(|&it| (self.list(it), it)));
        }
        open.sort_unstable();
        let is_forced = self.find_moves_among(&open, start, deadline);
        self.open = open;
        is_forced
    }

    /// The moves that can be made, given the pushes that are open at the deadline, sorted by their
    /// lists.
    fn find_moves_among(&mut self, open: &[(u32, u32)], start: usize, deadline: u32) -> bool {
        let mut next = self.by_call.first(0);
        while let Some(pop) = next.filter(|&it| self.left(it) <= deadline) {
            next = self.by_call.after(pop);
            self.pace.add(LOOK_WORK);
            let it = Move::of(pop, self.time.max(self.left(pop)));
            if self.columns.kinds[pop as usize] != RoleKind::Empty {
                self.find_near(open, it, deadline);
                self.find_far(it, deadline);
            } else if self.is_empty_at(it.found) {
                let is_dead = |side: &Side| side.gaps.first(0).is_none_or(|gap| it.found <= gap);
                if it.found == self.time && self.sides.iter().all(is_dead) {
                    self.moves.truncate(start);
                    self.moves.push(it);
                    return true;
                }
                self.moves.push(it);
            }
        }
        self.spare_moves(start);
        let first = self.first_call();
        let free = self.moves[start..].iter().filter(|it| self.is_free(it, first)).min_by_key(|it| it.pop);
        let is_free = free.is_some();
        if let Some(&it) = free {
            self.moves.truncate(start);
            self.moves.push(it);
        }
        is_free
    }

    /// Whether it can do no harm: no push loses a gap, no pop has to come later, and no other pop
    /// can find this push. The first of the pops left was called in the gap `first`.
    fn is_free(&self, it: &Move, first: u32) -> bool {
        let is_near = it.push != NONE && !it.is_far && !it.is_pending && it.narrowed == 0;
        is_near && it.found <= self.time.max(first) && self.is_distinct[self.values[it.pop as usize] as usize]
    }

    /// Whether no element has to be inside in this gap.
    fn is_empty_at(&self, gap: u32) -> bool {
        self.sides.iter().all(|side| gap <= self.first_return(side, NONE))
    }

    /// The first return of the pushes of a side that are left, other than this one.
    pub(super) fn first_return(&self, side: &Side, push: u32) -> u32 {
        let first = side.by_return.first(0);
        let first = first.filter(|&it| it != push).or_else(|| side.by_return.after(first?));
        first.map_or(NONE, |it| self.right(it))
    }

    /// The moves in which the pop finds a push at its end.
    fn find_near(&mut self, open: &[(u32, u32)], it: Move, deadline: u32) {
        let start = self.moves.len();
        let list = self.list(it.pop);
        let end = self.ends[it.pop as usize] as usize;
        let near = |search: &Self, push: u32| {
            let found = it.found.max(search.left(push));
            Move { push, pushed: found, found, ..it }
        };
        // What has not returned before.
        let first = open.partition_point(|it| it.0 < list);
        let found = open[first..].iter().take_while(|it| it.0 == list);
        found.for_each(|&(_, push)| self.moves.push(near(self, push)));
        self.look_at(list, it.found);
        let last = self.list_starts[list as usize + 1];
        for place in self.list_starts[list as usize] + self.returns[list as usize]..last {
            let push = self.returned[place as usize];
            if deadline <= self.right(push) {
                break;
            }
            if self.is_left[push as usize] && it.found <= self.right(push) {
                self.moves.push(near(self, push));
            }
        }
        // What has.
        self.forget_losses();
        let mut scanned = it.found;
        let mut next = self.recent[list as usize];
        while next != NONE {
            let push = next;
            next = self.pushes.before(push).unwrap_or(NONE);
            self.pace.add(LOOK_WORK);
            if it.found <= self.right(push) {
                self.moves.push(near(self, push));
                continue;
            }
            let dead = &self.sides[end].is_dead;
            let mut gaps = (self.left(push)..=self.right(push)).rev();
            let pushed = gaps.find(|&gap| !dead[gap as usize]).expect("a push that is left has a gap");
            if self.is_any_lost(end, &mut scanned, self.right(push)) {
                break;
            }
            if !self.is_any_lost(end, &mut scanned, pushed) {
                let narrowed = self.hit.len() as u32;
                self.moves.push(Move { push, pushed, narrowed, ..it });
            }
        }
        self.spare_equals(start);
        // The last one that was called in time: a pop at the other end needs the first.
        let mut pending = self.pending.first(list).filter(|&it| self.left(it) <= deadline);
        while let Some(later) = pending.and_then(|push| self.pending.after(push))
            && self.left(later) <= it.found
        {
            pending = Some(later);
        }
        if let Some(push) = pending {
            self.moves.push(Move { is_pending: true, ..near(self, push) });
        }
    }

    /// The moves in which the pop finds a push at the other end: the first one that is left.
    fn find_far(&mut self, it: Move, deadline: u32) {
        let list = self.list(it.pop) ^ 1;
        let mut next = self.far.first(list);
        while let Some(push) = next.filter(|&it| self.left(it) <= deadline) {
            next = self.far.after(push);
            if !self.find_first(Move { push, ..it }, deadline) {
                break;
            }
        }
        if let Some(push) = self.pending.first(list).filter(|&it| self.left(it) <= deadline) {
            self.find_first(Move { push, is_pending: true, ..it }, deadline);
        }
    }

    /// The move in which the pop finds this push at the other end; false if those that are called
    /// later cannot be found either.
    pub(super) fn find_first(&mut self, it: Move, deadline: u32) -> bool {
        self.pace.add(LOOK_WORK);
        let end = self.ends[it.pop as usize] as usize;
        let (near, far) = (&self.sides[end], &self.sides[1 - end]);
        let pushed_by = self.first_return(far, it.push);
        if pushed_by < self.left(it.push) {
            return false;
        }
        let Some(pushed) = far.first_gap(self.left(it.push)) else { return true };
        let found = it.found.max(pushed);
        let found_by = deadline.min(self.first_return(near, NONE));
        if found <= found_by && pushed <= pushed_by.min(self.right(it.push)) {
            self.moves.push(Move { pushed, found, is_far: true, ..it });
        }
        true
    }

    pub(super) fn forget_losses(&mut self) {
        self.hit.drain(..).for_each(|push| self.hits[push as usize] = 0);
        self.first_loss = NONE;
    }

    /// Whether a push has no gap left if the gaps after `gap` die, up to that where the scan began.
    /// The scan has come down to `scanned`.
    fn is_any_lost(&mut self, end: usize, scanned: &mut u32, gap: u32) -> bool {
        let side = &self.sides[end];
        while self.first_loss == NONE
            && let Some(next) = side.gaps.before(*scanned).filter(|&it| gap < it)
        {
            *scanned = next;
            for &push in side.open(next) {
                if self.is_left[push as usize] {
                    self.pace.add(LOOK_WORK / 8);
                    let hits = &mut self.hits[push as usize];
                    *hits += 1;
                    if *hits == 1 {
                        self.hit.push(push);
                    }
                    if *hits == self.alive[push as usize] {
                        self.first_loss = next;
                    }
                }
            }
        }
        self.first_loss != NONE && gap < self.first_loss
    }

    /// Moves the end of a list to `time`: `recent` is the last push left that has returned before.
    fn look_at(&mut self, list: u32, time: u32) {
        let start = self.list_starts[list as usize] as usize;
        let members = &self.returned[start..self.list_starts[list as usize + 1] as usize];
        let (old_recent, old_returns) = (self.recent[list as usize], self.returns[list as usize]);
        let (mut recent, mut returns) = (old_recent, old_returns as usize);
        while let Some(&push) = members.get(returns)
            && self.columns.intervals[push as usize].right < time
        {
            if self.is_left[push as usize] {
                recent = push;
            }
            returns += 1;
        }
        while recent != NONE && !self.is_left[recent as usize] {
            recent = self.pushes.before(recent).unwrap_or(NONE);
        }
        if (recent, returns) != (old_recent, old_returns as usize) {
            self.log.push(Change::Recent(list, old_recent, old_returns));
            self.recent[list as usize] = recent;
            self.returns[list as usize] = returns as u32;
        }
    }

    /// Of the moves with the same push, those are left that no other one spares: a pop that may
    /// come first and has to. Each pop may find each push, so moves are sorted, and not compared
    /// one by one.
    fn spare_moves(&mut self, start: usize) {
        let columns = self.columns;
        let right = |it: &Move| columns.intervals[it.pop as usize].right;
        self.pace.add(LOOK_WORK * (self.moves.len() - start) as u64);
        self.moves[start..].sort_unstable_by_key(|it| (it.push, it.is_far, it.found, right(it), it.pop));
        let mut end = start;
        for place in start..self.moves.len() {
            let it = self.moves[place];
            // Of those before it with the same push, the last one has to come first.
            let before = self.moves[start..end].last();
            let alike = before.filter(|old| old.push == it.push && old.is_far == it.is_far);
            if alike.is_none_or(|old| right(&it) < right(old)) {
                self.moves[end] = it;
                end += 1;
            }
        }
        self.moves.truncate(end);
    }

    /// Backtracks to where another move can be made, and makes it; false if there is none.
    fn retreat(&mut self) -> bool {
        self.longest.note(&self.trail);
        while let Some(frame) = self.frames.last() {
            let Frame { next: place, configuration, mut is_extended, is_cut, .. } = *frame;
            self.take_back();
            if place == self.moves.len() && !is_extended && self.may_use_pending_pops() {
                is_extended = true;
                self.extend();
            }
            if let Some(&other) = self.moves.get(place) {
                self.frames.last_mut().expect("it was there").next += 1;
                self.place(other);
                return true;
            }
            let frame = self.frames.pop().expect("it was there");
            self.moves.truncate(frame.start);
            if is_extended && !is_cut {
                self.failed.extend(configuration);
            } else {
                self.cut();
            }
        }
        false
    }

    /// Something was given up that comes after the last move.
    fn cut(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_cut = true;
        }
    }

    /// Whether moves of pending pops are tried where all others have failed: not before another
    /// order of these was looked for, since each that is used in vain is missing later.
    fn may_use_pending_pops(&self) -> bool {
        self.is_exhaustive || self.backtracking.is_stalled(self.configurations)
    }

    /// Adds the moves of pending pops to those of the last frame, whose move was taken back.
    fn extend(&mut self) {
        if let (Some(frame), Some(first)) = (self.frames.last_mut(), self.by_return.first(0)) {
            frame.is_extended = true;
            self.find_pending_pops(self.right(first));
        }
    }

    fn drop_frame(&mut self) {
        self.take_back();
        let frame = self.frames.pop().expect("one for each move");
        self.moves.truncate(frame.start);
    }

    pub(super) fn place(&mut self, it: Move) {
        let end = self.ends[it.pop as usize] as usize;
        if it.push == NONE {
            (0..2).for_each(|side| self.kill_before(side, it.found));
        } else {
            self.settle(it.push);
            if it.is_far {
                self.kill_before(1 - end, it.pushed);
                self.kill_before(end, it.found);
            } else {
                while let Some(gap) = self.sides[end].gaps.before(it.found).filter(|&gap| it.pushed < gap) {
                    self.kill(end, gap);
                }
            }
        }
        if self.columns.is_pending(it.pop as usize) {
            self.pending_pops.unlink(it.pop);
            self.spent += 1;
        } else {
            self.by_call.unlink(it.pop);
            self.by_return.unlink(it.pop);
        }
        self.hash ^= random_bits(it.pop);
        self.time = it.found;
        self.trail.push(it);
    }

    fn kill_before(&mut self, side: usize, time: u32) {
        while let Some(gap) = self.sides[side].gaps.first(0).filter(|&it| it < time) {
            self.kill(side, gap);
        }
    }

    fn kill(&mut self, side: usize, gap: u32) {
        self.log.push(Change::Died(side, gap));
        self.sides[side].gaps.unlink(gap);
        self.sides[side].is_dead[gap as usize] = true;
        self.hash_gap(side, gap);
        for &push in self.sides[side].open(gap) {
            self.alive[push as usize] -= u32::from(self.is_left[push as usize]);
        }
    }

    fn revive(&mut self, side: usize, gap: u32) {
        for &push in self.sides[side].open(gap) {
            self.alive[push as usize] += u32::from(self.is_left[push as usize]);
        }
        self.hash_gap(side, gap);
        self.sides[side].is_dead[gap as usize] = false;
        self.sides[side].gaps.relink(gap);
    }

    /// Adds a dead gap to the hash, or takes it out, if it belongs to a push that is left.
    fn hash_gap(&mut self, side: usize, gap: u32) {
        let Side { is_dead, left, .. } = &self.sides[side];
        if is_dead[gap as usize] && 0 < left[gap as usize] {
            // Operations have the numbers below.
            let number = self.columns.len() + side * self.columns.gaps() + gap as usize;
            self.hash ^= random_bits(number as u32);
        }
    }

    /// A push gets its place, and is no longer left.
    fn settle(&mut self, push: u32) {
        self.log.push(Change::Placed(push));
        self.hash ^= random_bits(push);
        if self.columns.is_pending(push as usize) {
            self.pending.unlink(push);
            return;
        }
        self.is_left[push as usize] = false;
        self.pushes.unlink(push);
        self.far.unlink(push);
        let side = self.ends[push as usize] as usize;
        self.sides[side].by_return.unlink(push);
        for gap in gaps_of(self.columns, push) {
            self.hash_gap(side, gap as u32);
            self.sides[side].left[gap] -= 1;
            self.hash_gap(side, gap as u32);
        }
    }

    fn unsettle(&mut self, push: u32) {
        self.hash ^= random_bits(push);
        if self.columns.is_pending(push as usize) {
            self.pending.relink(push);
            return;
        }
        let side = self.ends[push as usize] as usize;
        for gap in gaps_of(self.columns, push) {
            self.hash_gap(side, gap as u32);
            self.sides[side].left[gap] += 1;
            self.hash_gap(side, gap as u32);
        }
        self.sides[side].by_return.relink(push);
        self.far.relink(push);
        self.pushes.relink(push);
        self.is_left[push as usize] = true;
    }

    /// Undoes the last move.
    fn take_back(&mut self) {
        let Frame { time, log, .. } = *self.frames.last().expect("one for each move");
        self.time = time;
        let it = self.trail.pop().expect("one for each frame");
        self.longest.take_back(self.trail.len());
        self.hash ^= random_bits(it.pop);
        if self.columns.is_pending(it.pop as usize) {
            self.pending_pops.relink(it.pop);
            self.spent -= 1;
        } else {
            self.by_return.relink(it.pop);
            self.by_call.relink(it.pop);
        }
        while log < self.log.len() {
            match self.log.pop().expect("it is longer") {
                Change::Died(side, gap) => self.revive(side, gap),
                Change::Placed(push) => self.unsettle(push),
                Change::Recent(list, recent, returns) => {
                    self.recent[list as usize] = recent;
                    self.returns[list as usize] = returns;
                }
            }
        }
    }

    /// When the first of the pops left was called.
    fn first_call(&self) -> u32 {
        self.by_call.first(0).map_or(0, |it| self.left(it)).min(self.first_pending_pop())
    }

    fn configuration(&self) -> u128 {
        let called = self.first_call();
        // The set is mixed first: its members have the same bits as the time.
        (self.hash.wrapping_mul(HASH_MULTIPLIER) ^ random_bits(self.time.max(called)))
            .wrapping_mul(HASH_MULTIPLIER)
    }

    fn list(&self, at: u32) -> u32 {
        2 * self.values[at as usize] + u32::from(self.ends[at as usize])
    }

    pub(super) fn left(&self, at: u32) -> u32 {
        self.columns.intervals[at as usize].left
    }

    pub(super) fn right(&self, at: u32) -> u32 {
        self.columns.intervals[at as usize].right
    }

    /// How many bytes more the next step may take while a table grows.
    fn growth(&self) -> usize {
        let is_full = self.failed.len() == self.failed.capacity();
        if is_full { 2 * self.failed.capacity() * FAILED_BYTES } else { 0 }
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        self.budget.visit(self.configurations - self.reported);
        self.reported = self.configurations;
        self.budget.reach(self.longest.moves().len(), self.columns.len());
        let sides: usize = self.sides.iter().map(Side::words).sum();
        let words = 22 * self.columns.len() + sides;
        let moves = self.trail.capacity() + self.moves.capacity() + self.longest.capacity();
        let frames = self.frames.capacity() * size_of::<Frame>();
        let changes = self.log.capacity() * size_of::<Change>();
        let entered = self.failed.capacity() * FAILED_BYTES;
        self.charge.set(words * size_of::<u32>() + moves * size_of::<Move>() + frames + changes + entered);
        let growth = self.growth();
        self.pace.check(self.budget, self.configurations, 0, growth)
    }
}

/// The value of each operation and the end at which it works; and how many values there are.
fn values_and_ends(columns: &Columns) -> (Vec<u32>, Vec<u8>, usize) {
    let elements = &columns.elements;
    let mut words: Vec<u64> = columns.names.iter().map(|it| it >> 1).collect();
    words.sort_unstable();
    words.dedup();
    let number = |word: u64| words.partition_point(|&it| it < word) as u32;
    let numbers: Vec<u32> = columns.names.iter().map(|it| number(it >> 1)).collect();
    let value = |&it: &u32| numbers.get(it as usize).copied().unwrap_or_default();
    let end = |&it: &u32| columns.names.get(it as usize).map_or(0, |it| (it & 1) as u8);
    (elements.iter().map(value).collect(), elements.iter().map(end).collect(), words.len().max(1))
}
