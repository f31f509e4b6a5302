//! Peeling: elements are removed from the stack's bottom one after the other, until none is left or
//! none can be.
//!
//! An element can lie at the bottom if each of its operations, its *jobs*, has a gap in which no
//! other element is certainly inside. Its add may take effect as long as none of its operations has
//! returned, its removal once all of them have been called. An element at the bottom is in no other
//! element's way, so it is removed, and the rest is judged by itself.
//!
//! * In a gap that no element covers any more, every job is done that contains it.
//! * In a gap that one element alone covers, its own observers are done. Others may follow when
//!   that element is peeled.
//! * An element all of whose jobs are done is peeled.
//! * An element whose operations all share a gap is added and removed in it, and conflicts with no
//!   other.
//!
//! Source: H. Lee and U. Mathur, "Efficient decrease-and-conquer linearizability monitoring", 2024,
//! algorithms 6 and 7, with a correction: a gap is visited again when the element that alone
//! covered it is peeled. Cost: O(n log n). Each gap leaves [`Cover`] once, each job [`Reach`] once.

use clewline_core::RoleKind;

use super::{
    bitmap::Bitmap,
    cover::{Cover, ThinGap},
    reach::Reach,
};
use crate::{
    columns::{Columns, Interval, NONE},
    lifetimes::{Lifetime, Lifetimes},
    verdict::Want,
};

/// Gaps that are taken from the cover in one batch: enough to process them in order, few enough to
/// take no memory.
const THIN_GAPS_PER_BATCH: usize = 4_096;

/// The order of peeling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Peeled {
    /// The elements, from the bottom; those that are added and removed in one gap are left out.
    pub(super) order: Vec<u32>,
    /// By position: the gap in which each operation on an element is done.
    pub(super) slots: Vec<u32>,
}

/// Whether all operations on the element can take place in one gap.
pub(super) fn is_easy(life: &Lifetime) -> bool {
    life.inside_before <= life.inside_after
}

/// Peels all elements, or returns those that are left: none of them can be below the others.
/// Returns the order only if a witness is wanted.
pub(super) fn peel(columns: &Columns, lifetimes: &Lifetimes, want: Want) -> Result<Option<Peeled>, Vec<u32>> {
    let mut peeling = Peeling::new(columns, lifetimes, want);
    peeling.run();
    // Drops what the order does not need.
    let Peeling { jobs, undone, order, cover, observers, opened, .. } = peeling;
    drop((cover, observers, opened));
    if undone.iter().any(|&it| it != 0) {
        return Err((0..).zip(undone).filter(|it| it.1 != 0).map(|it| it.0).collect());
    }
    Ok(order.map(|order| Peeled { order, slots: jobs.slots(columns, lifetimes) }))
}

struct Peeling<'c> {
    columns: &'c Columns,
    lifetimes: &'c Lifetimes,
    jobs: Jobs,
    cover: Cover,
    observers: Option<Observers>,
    // By element: how many of its jobs are not done.
    undone: Vec<u32>,
    // Elements whose jobs are all done, and which are still to be peeled, with the gaps between
    // which they are inside. These are looked up on insertion, so that peeling does not wait for
    // memory.
    done: Vec<(u32, u32, u32)>,
    // Elements that have been peeled, if a witness is wanted.
    order: Option<Vec<u32>>,
    // Gaps that were found free.
    opened: Bitmap,
    // Jobs that have just been found.
    found: Vec<u32>,
}

impl<'c> Peeling<'c> {
    fn new(columns: &'c Columns, lifetimes: &'c Lifetimes, want: Want) -> Peeling<'c> {
        let mut undone = vec![0_u32; lifetimes.all.len()];
        let mut has_observers = false;
        // How many jobs begin in each gap, shifted by one.
        let mut begin = vec![0_u32; columns.gaps() + 1];
        each_job(columns, lifetimes, |at, interval| {
            begin[interval.left as usize + 1] += 1;
            undone[columns.elements[at] as usize] += 1;
            has_observers |= columns.kinds[at] == RoleKind::Observe;
        });
        let hard = undone.iter().filter(|&&it| it != 0).count();
        let order = (want == Want::Witness).then(|| Vec::with_capacity(hard));
        let jobs = Jobs::new(columns, lifetimes, begin);
        let long = (0..).zip(&lifetimes.all).filter(|it| it.1.critical().is_some());
        let critical = long.map(|(element, life)| (element, life.inside_after, life.inside_before));
        Peeling {
            columns,
            lifetimes,
            cover: Cover::new(columns.last as usize, critical, has_observers),
            observers: has_observers.then(|| Observers::new(columns, lifetimes, &jobs)),
            jobs,
            undone,
            done: Vec::new(),
            order,
            opened: Bitmap::new(columns.gaps()),
            found: Vec::new(),
        }
    }

    fn run(&mut self) {
        let mut thin: Vec<ThinGap> = Vec::new();
        loop {
            thin.clear();
            self.cover.find_thin(THIN_GAPS_PER_BATCH, &mut thin);
            if thin.is_empty() {
                return;
            }
            for &ThinGap { gap, coverer } in &thin {
                match coverer {
                    None => self.open(gap),
                    Some(element) => self.observe(element, gap),
                }
            }
            self.peel();
        }
    }

    /// Does all jobs that contain a gap.
    fn open(&mut self, gap: u32) {
        let Jobs { reach, starts, .. } = &mut self.jobs;
        // A job that begins up to an earlier free gap, and contains this one, has been done there.
        let opened = self.opened.below(gap as usize);
        self.opened.insert(gap as usize);
        let from = opened.map_or(0, |it| starts[it + 1]);
        reach.take(from, starts[gap as usize + 1], gap, &mut self.found);
        self.finish();
    }

    /// Does the observers of an element that contain a gap which it alone covers.
    fn observe(&mut self, element: u32, gap: u32) {
        let observers = self.observers.as_mut().expect("only then are gaps named that one element covers");
        observers.take(element, gap, &mut self.jobs, &mut self.found);
        self.finish();
    }

    fn finish(&mut self) {
        for job in self.found.drain(..) {
            let at = self.jobs.positions[job as usize] as usize;
            let element = self.columns.elements[at];
            let undone = &mut self.undone[element as usize];
            *undone -= 1;
            if *undone == 0 {
                let life = &self.lifetimes.all[element as usize];
                self.done.push((element, life.inside_after, life.inside_before));
            }
        }
    }

    /// Peels the elements whose jobs are all done.
    fn peel(&mut self) {
        for (element, after, before) in self.done.drain(..) {
            if after + 1 < before {
                self.cover.remove(element, after, before);
            }
            if let Some(order) = &mut self.order {
                order.push(element);
            }
        }
    }
}

/// Calls `each` for every operation on an element, with the element's lifetime and with the gaps in
/// which it may take effect: an add before the element is found, a removal after everything else.
fn each(columns: &Columns, lifetimes: &Lifetimes, mut each: impl FnMut(usize, &Lifetime, Interval)) {
    for (at, &kind) in columns.kinds.iter().enumerate() {
        let is_about_one = match kind {
            RoleKind::Add | RoleKind::Remove | RoleKind::Observe => true,
            RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => false,
        };
        if !is_about_one {
            continue;
        }
        let life = &lifetimes.all[columns.elements[at] as usize];
        let interval = match kind {
            RoleKind::Add => Interval { left: life.added_from, right: life.inside_after },
            RoleKind::Remove => Interval { left: life.inside_before, right: life.removed_by },
            _ => columns.intervals[at],
        };
        each(at, life, interval);
    }
}

/// As [`each`], for operations that have to look for a gap. Easy elements need not, nor operations
/// that reach the last gap, which no element covers.
fn each_job(columns: &Columns, lifetimes: &Lifetimes, mut job: impl FnMut(usize, Interval)) {
    each(columns, lifetimes, |at, life, interval| {
        if !is_easy(life) && interval.right != columns.last {
            job(at, interval);
        }
    });
}

/// The jobs, in the order in which they may begin.
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
        each_job(columns, lifetimes, |at, interval| {
            // When all are sorted in, this is where those of the next gap begin.
            let place = &mut starts[interval.left as usize + 1];
            positions[*place as usize] = at as u32;
            reach.set(*place, interval.right);
            *place += 1;
        });
        reach.build();
        Jobs { positions, starts, reach }
    }

    /// The gap of every operation on an element, when all jobs are done.
    fn slots(self, columns: &Columns, lifetimes: &Lifetimes) -> Vec<u32> {
        let Jobs { positions, reach, starts } = self;
        drop(starts);
        let mut slots = vec![NONE; columns.len()];
        each(columns, lifetimes, |at, life, _| {
            slots[at] = if is_easy(life) { life.inside_before } else { columns.last };
        });
        for (job, at) in (0..).zip(positions) {
            slots[at as usize] = reach.taken_by(job).expect("all jobs are done");
        }
        slots
    }
}

/// The observers of each element, for gaps which that element alone covers.
struct Observers {
    // By element: where its observers begin in `jobs`.
    starts: Vec<u32>,
    // The observers by element, and by their beginnings.
    jobs: Vec<u32>,
    reach: Reach,
    found: Vec<u32>,
}

impl Observers {
    fn new(columns: &Columns, lifetimes: &Lifetimes, jobs: &Jobs) -> Observers {
        let elements = lifetimes.all.len();
        let observers =
            || (0_u32..).zip(&jobs.positions).filter(|it| columns.kinds[*it.1 as usize] == RoleKind::Observe);
        let element = |at: u32| columns.elements[at as usize] as usize;
        let mut starts = vec![0_u32; elements + 1];
        observers().for_each(|(_, &at)| starts[element(at) + 1] += 1);
        let mut count = 0;
        for start in &mut starts[1..] {
            count += std::mem::replace(start, count);
        }
        let mut sorted = vec![0_u32; count as usize];
        let mut reach = Reach::new(count as usize);
        for (job, &at) in observers() {
            let place = &mut starts[element(at) + 1];
            sorted[*place as usize] = job;
            reach.set(*place, columns.intervals[at as usize].right);
            *place += 1;
        }
        reach.build();
        Observers { starts, jobs: sorted, reach, found: Vec::new() }
    }

    /// Removes the observers of an element that contain a gap from both lists.
    fn take(&mut self, element: u32, gap: u32, jobs: &mut Jobs, into: &mut Vec<u32>) {
        let (from, to) = (self.starts[element as usize], self.starts[element as usize + 1]);
        let end = jobs.starts[gap as usize + 1];
        let begun = self.jobs[from as usize..to as usize].partition_point(|&job| job < end);
        self.reach.take(from, from + begun as u32, gap, &mut self.found);
        for observer in self.found.drain(..) {
            let job = self.jobs[observer as usize];
            if jobs.reach.taken_by(job).is_none() {
                jobs.reach.remove(job, gap);
                into.push(job);
            }
        }
    }
}
