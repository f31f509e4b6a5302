//! Empty moments: for bags, whatever values and pending operations there are.
//!
//! # Idea
//!
//! Only operations that returned *empty* make the order in a bag matter: there must be a moment in
//! the interval of each at which nothing is inside. Suppose these moments are given, each in a gap.
//! Then a history is linearizable if and only if each `take` of v has an `add` of v of its own,
//! such that no element must be inside at one of the moments:
//!
//! * The add is called before the take returns.
//! * No moment lies in a gap after the last one of the add and before the first one of the take.
//!   For if it does, the element is inside then. Otherwise each of the two fits between the
//!   moments around it: if they overlap, both take effect at once, in the first gap they share; if
//!   not, the add in its last gap, after a moment there, and the take in its first, before one.
//! * An add without a take has no moment after its last gap.
//!
//! So let the *window* of an add begin with its call, and end with the first moment after its last
//! gap; if there is none, it has no end. An add and a take of one value may be a pair if and only
//! if the window of the one and the interval of the other have a gap in common. Every take that
//! returned an element needs a partner, and so does every add whose window has an end. A pending
//! take may be the partner of any add; it has no end. A pending add has none either.
//!
//! # Which partner
//!
//! Time is passed through, and whatever ends next, add or take, gets a partner: of those that have
//! begun, the one that ends first. That one has begun, so what can still be its partner depends on
//! its end only, and whatever could be a partner of it could be one of those that end later. If
//! some assignment gives it to something else, the two can be exchanged. So if nothing is left
//! that could be the partner, there is no assignment at all. A window ends with the first moment
//! after the add's last gap; so the order of the ends of windows is that of the last gaps, and need
//! not be known in advance. This takes time O(n log n), whatever is pending.
//!
//! # Which moments
//!
//! More moments make more demands. So let the first be one for the operation that returns *empty*
//! first, in one of its gaps; the next one for the first operation that the moments so far are not
//! for, and so on: moments before it would serve no other operation. All gaps of its interval are
//! tried, the last one first. What was chosen before only matters as far as it concerns what is
//! open, so few choices are wrong, and a configuration that failed is remembered.
//!
//! A configuration is a moment, with the operations that are open then: called, and without a
//! partner. Open adds of one element that end in one gap are alike, as are such takes, and all open
//! pending takes; so they are counted. All others were called later, or have a partner. The counts
//! are compared, not a hash of them, so nothing can collide.
//!
//! Source: ours. With distinct values each pair is known, and this is the monitor for bags.
//!
//! Requires: a bag, in which every operation has a role.
//!
//! Cost: a choice takes time in the gaps of its interval and the operations open then; with no
//! wrong choice all takes O(n log n).
//!
//! Invariants, between any two steps of `run`:
//!
//! * All calls in gaps before `next_gap` are noted, all takes that return before it have a partner,
//!   and all adds that return before the last moment have one.
//! * `log` has all changes since the beginning; undoing those from a frame's start on restores what
//!   was before it.

mod pairs;

use std::collections::HashSet;

use clewline_core::{Budget, Charge, ObjectKind, Problem, Reason, RoleKind, Verdict};
use clewline_monitor::Columns;

use self::pairs::Pairs;
use super::found::{Found, Scope, as_far_as_allowed};
use crate::{
    checker::Checker,
    pace::{LOOK_WORK, Pace, STEP_WORK},
};

/// See the [module documentation](self).
#[derive(Debug)]
pub struct EmptyMoments;

impl Checker for EmptyMoments {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "for bags: chooses moments at which nothing is inside; equal values, pending operations"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        SCOPE.columns(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        decide(problem, budget)
            .unwrap_or_else(|| Verdict::Unknown(Reason::Refused(self.refuses(problem).unwrap_or_default())))
    }
}

/// Its name.
pub(super) const NAME: &str = "empty-moments";

const SCOPE: Scope = Scope { name: NAME, objects: "bags", knows: |it| it == ObjectKind::Bag };

// Of each operation: its change in the log, its entries in two ordered sets, its partner, and its
// places in the lists of calls and returns.
const BYTES_PER_OPERATION: usize = 96;

// Of each configuration that failed, in a table with some room.
const FAILED_BYTES: usize = (size_of::<Box<[u32]>>() + 1) * 8 / 7;

/// Decides `problem`; `None` if it is refused.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    let columns = SCOPE.columns(problem).ok()?;
    let found = budget
        .allow_memory(columns.len() * BYTES_PER_OPERATION)
        .and_then(|()| Search::new(&columns, budget).found());
    Some(found.map_or_else(Verdict::Unknown, |it| it.verdict(problem)))
}

/// An operation that returned *empty* and that no earlier moment is for.
struct Frame {
    // Its first gap; its place in the order of returns.
    first: u32,
    place: usize,
    // How long the log was before it, and before its moment.
    start: usize,
    moment: usize,
    // The gap of its moment.
    gap: u32,
}

struct Search<'c> {
    columns: &'c Columns,
    budget: &'c Budget,
    pairs: Pairs<'c>,
    // The operations that returned *empty*, by their returns.
    empties: Vec<u32>,
    frames: Vec<Frame>,
    // Configurations from which nothing leads to the end.
    failed: HashSet<Box<[u32]>>,
    // How much they have, apart from the table.
    failed_bytes: usize,
    // The order that was found when most time had passed, and how much.
    longest: (u32, Vec<u32>),
    configurations: u64,
    reported: u64,
    pace: Pace,
    charge: Charge,
}

impl<'c> Search<'c> {
    fn new(columns: &'c Columns, budget: &'c Budget) -> Self {
        let is_empty = |&it: &u32| columns.kinds[it as usize] == RoleKind::Empty;
        let mut empties: Vec<u32> = (0..columns.len() as u32).filter(is_empty).collect();
        empties.sort_by_key(|&it| columns.intervals[it as usize].right);
        Search {
            columns,
            budget,
            pairs: Pairs::new(columns),
            empties,
            frames: Vec::new(),
            failed: HashSet::new(),
            failed_bytes: 0,
            longest: (0, Vec::new()),
            configurations: 0,
            reported: 0,
            pace: Pace::default(),
            charge: budget.charge(),
        }
    }

    fn found(mut self) -> Result<Found, Reason> {
        let is_found = self.run();
        self.budget.visit(self.configurations - self.reported);
        Ok(if is_found? {
            Found::Linearization(self.order())
        } else {
            Found::Longest(as_far_as_allowed(self.columns, self.longest.1))
        })
    }

    /// Whether there are moments and partners.
    fn run(&mut self) -> Result<bool, Reason> {
        self.check_budget()?;
        let mut goes_on = true;
        loop {
            if !goes_on {
                let Some(frame) = self.frames.last() else { return Ok(false) };
                let (moment, gap) = (frame.moment, frame.gap);
                self.pairs.undo_to(moment);
                self.remember(gap)?;
                self.pairs.undo_to(moment);
                self.pairs.step_back();
                goes_on = self.choose()?;
                continue;
            }
            let start = self.pairs.log_len();
            let Some(place) = self.next_empty() else {
                if self.pass_through(self.columns.last)? {
                    return Ok(true);
                }
                self.pairs.undo_to(start);
                goes_on = false;
                continue;
            };
            let interval = self.columns.intervals[self.empties[place] as usize];
            goes_on = self.pass_through(interval.right)?;
            if goes_on {
                self.frames.push(Frame { first: interval.left, place, start, moment: 0, gap: 0 });
                goes_on = self.choose()?;
            } else {
                self.pairs.undo_to(start);
            }
        }
    }

    /// The first operation that returned *empty* and that no moment is for.
    fn next_empty(&self) -> Option<usize> {
        let Some(last) = self.frames.last() else { return (!self.empties.is_empty()).then_some(0) };
        let is_later = |&it: &usize| last.gap < self.columns.intervals[self.empties[it] as usize].left;
        (last.place + 1..self.empties.len()).find(is_later)
    }

    /// Passes through time, up to and with this gap; false if an operation has no partner.
    fn pass_through(&mut self, gap: u32) -> Result<bool, Reason> {
        while self.pairs.next_gap() <= gap {
            self.look()?;
            if !self.pairs.pass_gap() {
                self.note_longest();
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Chooses a moment for the last frame, in the last gap that was passed or before it; removes
    /// the frame if there is none.
    fn choose(&mut self) -> Result<bool, Reason> {
        let frame = self.frames.last().expect("a moment is chosen for a frame");
        let (first, start) = (frame.first, frame.start);
        while first < self.pairs.next_gap() {
            self.look()?;
            let (gap, moment) = (self.pairs.next_gap() - 1, self.pairs.log_len());
            if self.pairs.empty_at(gap) && !self.has_failed() {
                self.configurations += 1;
                if let Some(frame) = self.frames.last_mut() {
                    (frame.moment, frame.gap) = (moment, gap);
                }
                return Ok(true);
            }
            self.pairs.undo_to(moment);
            self.pairs.step_back();
        }
        self.frames.pop();
        self.note_longest();
        self.pairs.undo_to(start);
        Ok(false)
    }

    /// Whether nothing led to the end from this configuration, by another way.
    fn has_failed(&mut self) -> bool {
        !self.failed.is_empty() && {
            let configuration = self.configuration();
            self.failed.contains(&configuration)
        }
    }

    /// Remembers that the moment in this gap, which was just taken back, leads nowhere.
    fn remember(&mut self, gap: u32) -> Result<(), Reason> {
        let is_possible = self.pairs.empty_at(gap);
        debug_assert!(is_possible, "the moment was chosen before");
        let configuration = self.configuration();
        self.failed_bytes += size_of_val(&*configuration);
        self.failed.insert(configuration);
        self.look()
    }

    fn configuration(&mut self) -> Box<[u32]> {
        self.pace.add(LOOK_WORK * self.pairs.open() as u64);
        self.pairs.configuration()
    }

    fn note_longest(&mut self) {
        // Copied only if much more time has passed, so that all copies take time O(n).
        let passed = self.pairs.next_gap();
        if self.longest.0 == 0 || self.longest.0 + self.longest.0 / 8 < passed {
            self.longest = (passed, self.order());
        }
    }

    /// What has its place, in order.
    fn order(&self) -> Vec<u32> {
        let moments: Vec<u32> = self.frames.iter().map(|it| it.gap).collect();
        self.pairs.order(&moments)
    }

    fn look(&mut self) -> Result<(), Reason> {
        self.pace.add(STEP_WORK / 4 + LOOK_WORK);
        let growth = if self.failed.len() == self.failed.capacity() {
            2 * self.failed.capacity() * FAILED_BYTES
        } else {
            0
        };
        if self.pace.is_due(0, growth) || self.budget.configurations() < self.configurations {
            self.check_budget()?;
        }
        Ok(())
    }

    fn check_budget(&mut self) -> Result<(), Reason> {
        self.budget.visit(self.configurations - self.reported);
        self.reported = self.configurations;
        let failed = self.failed.capacity() * FAILED_BYTES + self.failed_bytes;
        self.charge.set(self.columns.len() * BYTES_PER_OPERATION + failed);
        self.pace.check(self.budget, self.configurations, 0, 0)
    }
}
