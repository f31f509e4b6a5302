//! What would have ordered two accesses: a search in the events of an execution.
//!
//! Only executions whose steps are recorded are logged. A path leads from the first access to the
//! second one, from task to task: by a store that the next task reads, or by a lock. Where a store
//! on the path does not release, or a load does not acquire, that is what is missing.

use std::{ops::Range, sync::atomic::Ordering};

use clewline_explore::TaskId;
use clewline_threads::{
    control::{Remedy, RemedyKind, acquires, releases},
    instrument::Place,
};

use super::word::{Atomic, AtomicAccess, PastAccess};
use crate::linux::{
    current_task::{self, RuntimeCell, RuntimeOwned, place},
    places,
};

/// An event of a task.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// An access that may race.
    Access { task: TaskId, time: u32, pc: usize, site: usize },
    /// An atomic access.
    Atomic { task: TaskId, access: AtomicAccess },
    /// It acquires what was released at an object.
    Acquire { task: TaskId, object: usize, is_lock: bool, site: usize },
    /// It releases at an object.
    Release { task: TaskId, object: usize },
    /// It starts a task, or joins one.
    Order { later: TaskId, earlier: TaskId },
    /// A fence.
    Fence { task: TaskId, order: Ordering },
}

static IS_ON: RuntimeCell<bool> = RuntimeCell::new(false);
static EVENTS: RuntimeOwned<Vec<(Event, Option<Place>)>> = RuntimeOwned::new(Vec::new());

// Later events are not logged. The log does not grow: memory that moves looks like progress of the
// code.
const LOGGED_EVENTS_MAX: usize = 1 << 15;

/// Another execution begins, which is logged or not.
pub(super) fn begin(is_on: bool) {
    IS_ON.set(is_on);
    EVENTS.get().clear();
    if is_on {
        EVENTS.get().reserve(LOGGED_EVENTS_MAX);
    }
}

/// Adds the memory that is written here while tasks run.
pub(super) fn own_memory(to: &mut Vec<Range<usize>>) {
    let start = EVENTS.get().as_ptr().addr();
    let bytes = EVENTS.get().capacity() * size_of::<(Event, Option<Place>)>();
    to.extend([current_task::range_of(&EVENTS), start..start + bytes]);
}

/// Logs an event.
#[inline(always)]
pub(super) fn note(event: Event) {
    if IS_ON.get() && EVENTS.get().len() < LOGGED_EVENTS_MAX {
        add(event);
    }
}

#[cold]
fn add(event: Event) {
    let code = match event {
        Event::Atomic { access, .. } => Some(access.pc),
        Event::Acquire { site, .. } => Some(site).filter(|it| *it != 0),
        _ => None,
    };
    let site = code.map(|it| place(current_task::as_runtime(|| places::own_caller(it))));
    EVENTS.get().push((event, site));
}

/// Logs an access.
#[inline(always)]
pub(super) fn note_access(task: TaskId, time: u32, pc: usize) {
    if IS_ON.get() && EVENTS.get().len() < LOGGED_EVENTS_MAX {
        let code = clewline_remote::code_of(pc);
        let site = current_task::as_runtime(|| places::own_caller(code));
        EVENTS.get().push((Event::Access { task, time, pc, site }, None));
    }
}

/// The position of an access in the log.
fn find(access: &PastAccess) -> Option<usize> {
    let is_it = |(event, _): &(Event, Option<Place>)| match event {
        Event::Access { task, time, pc, .. } => (task.0, *time, *pc) == (access.task, access.time, access.pc),
        Event::Atomic { task, access: it } => (task.0, it.pc) == (access.task, access.pc),
        _ => false,
    };
    EVENTS.get().iter().rposition(is_it)
}

/// The code to show for an access: the caller of a library function.
pub(super) fn site_of(access: &PastAccess) -> Option<usize> {
    let (event, site) = EVENTS.get().get(find(access)?)?;
    match event {
        Event::Access { site, .. } => Some(*site),
        _ => site.and_then(Place::address),
    }
}

/// Where the path came to a task: at which event, and from which store.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: usize,
    /// The store, or the task, from which it came.
    from: From,
}

#[derive(Clone, Copy, Debug)]
enum From {
    Start,
    /// A store in the log.
    Store(usize),
    /// An order that holds in the language.
    Ordered(TaskId),
}

/// What would have ordered the two accesses; empty if no change of an ordering would.
pub(super) fn remedies(first: &PastAccess, second: &PastAccess) -> Vec<Remedy> {
    if !IS_ON.get() {
        return Vec::new();
    }
    let Some(start) = find(first) else { return Vec::new() };
    let arrivals = arrivals(start, first.task);
    let mut remedies = Vec::new();
    let (mut task, mut end) = (TaskId(second.task), EVENTS.get().len());
    while let Some(Arrival { at, from }) = arrivals[task.index()] {
        match from {
            From::Start => {
                remedies.reverse();
                return remedies;
            }
            From::Ordered(earlier) => (task, end) = (earlier, at),
            From::Store(store) => {
                let events = EVENTS.get();
                let (Event::Atomic { task: writer, access: stored }, writes) = events[store] else { break };
                let (Event::Atomic { access: loaded, .. }, reads) = events[at] else { break };
                let begin = arrivals[writer.index()].map_or(start, |it| it.at);
                if !acquires(loaded.order) && !is_fenced(at..end, task, acquires) {
                    remedies.extend(reads.map(|place| Remedy { kind: RemedyKind::Acquire, place }));
                }
                if !releases(stored.order) && !is_fenced(begin..store, writer, releases) {
                    remedies.extend(writes.map(|place| Remedy { kind: RemedyKind::Release, place }));
                }
                (task, end) = (writer, store);
            }
        }
        if usize::from(u8::MAX) < remedies.len() {
            break;
        }
    }
    locks(start, first, second)
}

/// Whether `task` makes a fence among these events with an ordering that `is` enough.
fn is_fenced(events: Range<usize>, task: TaskId, is: fn(Ordering) -> bool) -> bool {
    let fences = |it: &(Event, Option<Place>)| match it.0 {
        Event::Fence { task: by, order } => by == task && is(order),
        _ => false,
    };
    EVENTS.get()[events].iter().any(fences)
}

/// Which tasks a path from the event `start` of task `first` reaches.
fn arrivals(start: usize, first: u8) -> [Option<Arrival>; TaskId::MAX] {
    let mut arrivals = [None; TaskId::MAX];
    arrivals[usize::from(first)] = Some(Arrival { at: start, from: From::Start });
    // Stores after which a path continues, by their bytes, and released objects.
    let mut stores: Vec<(Range<usize>, usize)> = Vec::new();
    let mut released: Vec<(usize, TaskId)> = Vec::new();
    for (at, (event, _)) in EVENTS.get().iter().enumerate().skip(start) {
        match *event {
            Event::Atomic { task, access } => {
                let bytes = access.address..access.address + access.size;
                let overlaps = |it: &Range<usize>| it.start < bytes.end && bytes.start < it.end;
                let read = stores.iter().rfind(|it| overlaps(&it.0)).map(|it| it.1);
                if access.what != Atomic::Store
                    && let Some(store) = read
                    && arrivals[task.index()].is_none()
                {
                    arrivals[task.index()] = Some(Arrival { at, from: From::Store(store) });
                }
                let is_reached = arrivals[task.index()].is_some();
                match access.what {
                    Atomic::Store => stores.retain(|it| !overlaps(&it.0)),
                    Atomic::Load | Atomic::Update => (),
                }
                if access.what != Atomic::Load && is_reached {
                    stores.push((bytes, at));
                }
            }
            Event::Release { task, object } if arrivals[task.index()].is_some() => {
                released.push((object, task))
            }
            Event::Acquire { task, object, .. } if arrivals[task.index()].is_none() => {
                let from = released.iter().find(|it| it.0 == object).map(|it| From::Ordered(it.1));
                arrivals[task.index()] = from.map(|from| Arrival { at, from });
            }
            Event::Order { later, earlier }
                if arrivals[later.index()].is_none() && arrivals[earlier.index()].is_some() =>
            {
                arrivals[later.index()] = Some(Arrival { at, from: From::Ordered(earlier) });
            }
            _ => (),
        }
    }
    arrivals
}

/// A lock that one of the accesses was made under, and the other was not.
fn locks(start: usize, first: &PastAccess, second: &PastAccess) -> Vec<Remedy> {
    let end = EVENTS.get().len();
    let held = |task: u8, end: usize| {
        let mut held: Vec<(usize, Place)> = Vec::new();
        for (event, site) in &EVENTS.get()[..end] {
            match (event, site) {
                (Event::Acquire { task: by, object, is_lock: true, .. }, Some(site)) if by.0 == task => {
                    held.push((*object, *site));
                }
                (Event::Release { task: by, object }, _) if by.0 == task => {
                    held.retain(|it| it.0 | 2 != *object | 2)
                }
                _ => (),
            }
        }
        held
    };
    let (of_first, of_second) = (held(first.task, start), held(second.task, end));
    let others = |all: &[(usize, Place)], object: usize| all.iter().any(|it| it.0 == object);
    let lacking = |mine: &[(usize, Place)], theirs: &[(usize, Place)], kind| {
        let lock = mine.iter().find(|it| !others(theirs, it.0));
        lock.map(|it| Remedy { kind, place: it.1 })
    };
    let found = lacking(&of_first, &of_second, RemedyKind::LockForSecond)
        .or_else(|| lacking(&of_second, &of_first, RemedyKind::LockForFirst));
    found.into_iter().collect()
}
