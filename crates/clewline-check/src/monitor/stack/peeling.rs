//! Peeling: elements are taken off the stack's bottom one after the other, until none is left or none can be.
//!
//! An element can lie at the bottom if each of its operations, its *jobs*, has a gap in which no other element is
//! certainly inside. Its add may happen as long as none of its operations has returned, its removal once all of them have
//! been called. An element at the bottom is in nobody's way, so it is taken off, and the rest is judged by itself.
//!
//! * In a gap that nothing covers any more, every job is done that goes through it.
//! * In a gap that one element alone covers, its own sees are done. Others may follow when that element is peeled.
//! * An element all of whose jobs are done is peeled.
//! * An element whose operations all share a gap comes and goes in it: it is in nobody's way and nobody in its.
//!
//! Source: H. Lee and U. Mathur, "Efficient decrease-and-conquer linearizability monitoring", 2024, algorithms 6 and 7, with what
//! is printed wrong there put right: a gap is visited again when the element that alone covered it is peeled.
//! Cost: O(n log n). Each gap leaves [`Cover`] once, each job [`Reach`] once.

use clewline_core::Act;

use super::super::{Columns, Interval, Lifetime, Lifetimes, NONE};
use super::{
    cover::{Cover, Thin},
    reach::Reach,
};

/// Gaps that are taken from the cover at a time: enough to go through them in order, few enough to forget about.
const AT_A_TIME: usize = 4_096;

/// How everything was peeled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Peeled {
    /// The elements, from the bottom; those that come and go in one gap are left out. Only kept with `slots`.
    pub(super) order: Vec<u32>,
    /// By position: the gap in which each operation is done. If they were wanted.
    pub(super) slots: Option<Vec<u32>>,
}

/// Whether all operations on the element can take place in one gap.
pub(super) fn is_easy(life: &Lifetime) -> bool {
    life.inside_before <= life.inside_after
}

/// Peels all elements, or answers those that are left: none of them can be below the others.
///
/// `slots` are filled for operations on elements, if they are wanted.
pub(super) fn peel(
    columns: &Columns,
    lifetimes: &Lifetimes,
    slots: Option<Vec<u32>>,
) -> Result<Peeled, Vec<u32>> {
    let mut peeling = Peeling::new(columns, lifetimes, slots);
    peeling.run();
    let left = peeling.undone;
    if left.iter().all(|&it| it == 0) {
        return Ok(Peeled { order: peeling.order, slots: peeling.slots });
    }
    Err((0..).zip(left).filter(|it| it.1 != 0).map(|it| it.0).collect())
}

struct Peeling<'c> {
    columns: &'c Columns,
    lifetimes: &'c Lifetimes,
    jobs: Jobs,
    cover: Cover,
    sees: Option<Sees>,
    // By element: how many of its jobs are not done.
    undone: Vec<u32>,
    // Elements whose jobs are all done, and which are still to be peeled.
    done: Vec<u32>,
    // Gaps that nothing covers, and whose jobs are still to be done.
    free: Vec<u32>,
    order: Vec<u32>,
    slots: Option<Vec<u32>>,
    // Jobs that have just been found.
    found: Vec<u32>,
}

impl<'c> Peeling<'c> {
    fn new(columns: &'c Columns, lifetimes: &'c Lifetimes, mut slots: Option<Vec<u32>>) -> Peeling<'c> {
        let mut undone = vec![0_u32; lifetimes.all.len()];
        let mut has_sees = false;
        // How many jobs begin in each gap, shifted by one.
        let mut begin = vec![0_u32; columns.gaps() + 1];
        each(columns, lifetimes, |at, life, interval| {
            let slot = if is_easy(life) {
                life.inside_before
            } else if interval.right == columns.last {
                // Nothing covers the last gap: whatever reaches it is done there.
                columns.last
            } else {
                begin[interval.left as usize + 1] += 1;
                undone[columns.elements[at] as usize] += 1;
                has_sees |= columns.acts[at] == Act::See;
                NONE
            };
            if let Some(slots) = &mut slots {
                slots[at] = slot;
            }
        });
        let jobs = Jobs::new(columns, lifetimes, begin);
        let hard = (0..).zip(&lifetimes.all).filter(|it| it.1.critical().is_some());
        let critical = hard.map(|(element, life)| (element, life.inside_after, life.inside_before));
        Peeling {
            columns,
            lifetimes,
            cover: Cover::new(columns.last as usize, critical, has_sees),
            sees: has_sees.then(|| Sees::new(columns, lifetimes, &jobs)),
            jobs,
            undone,
            done: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
            slots,
            found: Vec::new(),
        }
    }

    fn run(&mut self) {
        let mut thin: Vec<Thin> = Vec::new();
        loop {
            thin.clear();
            self.cover.take_thin(AT_A_TIME, &mut thin);
            if thin.is_empty() {
                return;
            }
            // Nobody is peeled before all of these are entered where they are waited for.
            for &Thin { gap, coverer } in &thin {
                match coverer {
                    None => self.free.push(gap),
                    Some(element) => self.see(element, gap),
                }
            }
            loop {
                while let Some(element) = self.done.pop() {
                    self.peel(element);
                }
                match self.free.pop() {
                    Some(gap) => self.open(gap),
                    None => break,
                }
            }
        }
    }

    /// Does all jobs that go through a gap.
    fn open(&mut self, gap: u32) {
        let Jobs { reach, starts, .. } = &mut self.jobs;
        reach.take(0, starts[gap as usize + 1], gap, &mut self.found);
        self.finish(gap);
    }

    /// Does the sees of an element that go through a gap which it alone covers.
    fn see(&mut self, element: u32, gap: u32) {
        let sees = self.sees.as_mut().expect("only then are gaps named that one element covers");
        sees.wait(element, gap);
        sees.take(element, gap, &mut self.jobs, &mut self.found);
        self.finish(gap);
    }

    fn finish(&mut self, gap: u32) {
        for job in self.found.drain(..) {
            let at = self.jobs.positions[job as usize] as usize;
            let element = self.columns.elements[at];
            if let Some(slots) = &mut self.slots {
                slots[at] = gap;
            }
            let undone = &mut self.undone[element as usize];
            *undone -= 1;
            if *undone == 0 {
                self.done.push(element);
            }
        }
    }

    fn peel(&mut self, element: u32) {
        let life = &self.lifetimes.all[element as usize];
        if life.critical().is_some() {
            self.cover.remove(element, life.inside_after, life.inside_before);
        }
        if let Some(sees) = &mut self.sees {
            sees.release(element, &mut self.free);
        }
        if self.slots.is_some() {
            self.order.push(element);
        }
    }
}

/// Calls `each` for every operation on an element, with the element's lifetime and with the gaps in which it may
/// be done: an add before the element is found, a removal after everything else.
fn each(columns: &Columns, lifetimes: &Lifetimes, mut each: impl FnMut(usize, &Lifetime, Interval)) {
    for (at, &act) in columns.acts.iter().enumerate() {
        let is_about_one = match act {
            Act::Add | Act::Remove | Act::See => true,
            Act::Miss | Act::Empty | Act::Take | Act::Replace | Act::Nothing => false,
        };
        if !is_about_one {
            continue;
        }
        let life = &lifetimes.all[columns.elements[at] as usize];
        let interval = match act {
            Act::Add => Interval { left: life.added_from, right: life.inside_after },
            Act::Remove => Interval { left: life.inside_before, right: life.removed_by },
            _ => columns.intervals[at],
        };
        each(at, life, interval);
    }
}

/// What is to be done, in the order in which it may begin.
struct Jobs {
    // The operation of each.
    positions: Vec<u32>,
    // By gap: the first job that does not begin before it.
    starts: Vec<u32>,
    reach: Reach,
}

impl Jobs {
    /// Sorts by counting, given how many `begin` in the gap before each.
    fn new(columns: &Columns, lifetimes: &Lifetimes, begin: Vec<u32>) -> Jobs {
        let mut starts = begin;
        let mut jobs = 0;
        for start in &mut starts[1..] {
            jobs += std::mem::replace(start, jobs);
        }
        let mut positions = vec![0_u32; jobs as usize];
        let mut reach = Reach::new(jobs as usize);
        each(columns, lifetimes, |at, life, interval| {
            if !is_easy(life) && interval.right != columns.last {
                // When all are sorted in, this is where those of the next gap begin.
                let place = &mut starts[interval.left as usize + 1];
                positions[*place as usize] = at as u32;
                reach.set(*place, interval.right);
                *place += 1;
            }
        });
        reach.build();
        Jobs { positions, starts, reach }
    }
}

/// The sees of each element, for gaps which that element alone covers.
struct Sees {
    // By element: where its sees begin in `jobs`.
    starts: Vec<u32>,
    // The sees by element, and by their beginnings.
    jobs: Vec<u32>,
    reach: Reach,
    // By element: a gap that it alone covers; by gap: the next one.
    first: Vec<u32>,
    next: Vec<u32>,
    found: Vec<u32>,
}

impl Sees {
    fn new(columns: &Columns, lifetimes: &Lifetimes, jobs: &Jobs) -> Sees {
        let elements = lifetimes.all.len();
        let sees = || (0_u32..).zip(&jobs.positions).filter(|it| columns.acts[*it.1 as usize] == Act::See);
        let element = |at: u32| columns.elements[at as usize] as usize;
        let mut starts = vec![0_u32; elements + 1];
        sees().for_each(|(_, &at)| starts[element(at) + 1] += 1);
        let mut count = 0;
        for start in &mut starts[1..] {
            count += std::mem::replace(start, count);
        }
        let mut sorted = vec![0_u32; count as usize];
        let mut reach = Reach::new(count as usize);
        for (job, &at) in sees() {
            let place = &mut starts[element(at) + 1];
            sorted[*place as usize] = job;
            reach.set(*place, columns.intervals[at as usize].right);
            *place += 1;
        }
        reach.build();
        let (first, next) = (vec![NONE; elements], vec![NONE; columns.gaps()]);
        Sees { starts, jobs: sorted, reach, first, next, found: Vec::new() }
    }

    /// Remembers a gap until the element that covers it is peeled.
    fn wait(&mut self, element: u32, gap: u32) {
        self.next[gap as usize] = std::mem::replace(&mut self.first[element as usize], gap);
    }

    /// Hands over the gaps that waited for the element.
    fn release(&mut self, element: u32, free: &mut Vec<u32>) {
        let mut gap = self.first[element as usize];
        while gap != NONE {
            free.push(gap);
            gap = self.next[gap as usize];
        }
    }

    /// Takes the sees of an element that go through a gap out of both lists.
    fn take(&mut self, element: u32, gap: u32, jobs: &mut Jobs, into: &mut Vec<u32>) {
        let (from, to) = (self.starts[element as usize], self.starts[element as usize + 1]);
        let end = jobs.starts[gap as usize + 1];
        let begun = self.jobs[from as usize..to as usize].partition_point(|&job| job < end);
        self.reach.take(from, from + begun as u32, gap, &mut self.found);
        for see in self.found.drain(..) {
            let job = self.jobs[see as usize];
            if jobs.reach.has(job) {
                jobs.reach.remove(job);
                into.push(job);
            }
        }
    }
}
