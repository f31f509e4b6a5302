//! Execution graphs: events, which store each read reads, and the order of the stores of each
//! location.

use std::sync::atomic::Ordering;

use crate::{
    order::VectorClock,
    step::{Access, PerTask, TaskId, TaskSet},
};

/// The number of an event: its position in the order in which events were added.
pub(super) type EventId = u32;

/// The initial value of a location, which counts as its first store.
pub(super) const INITIAL: EventId = EventId::MAX;

/// No location.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A set of events that contains the events of a task up to some point, for each task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix(PerTask<u32>);

impl Prefix {
    pub(super) fn contains(&self, event: &Event) -> bool {
        event.index < self.0[event.task.index()]
    }

    /// How many events of `task` it contains.
    pub(super) fn count(&self, task: TaskId) -> u32 {
        self.0[task.index()]
    }

    /// Removes the event, which is the last of its task.
    pub(super) fn exclude(&mut self, event: &Event) {
        self.0[event.task.index()] = event.index;
    }

    /// Adds the event with this index of `task`, and those before it.
    pub(super) fn include(&mut self, task: TaskId, index: u32) {
        let known = &mut self.0[task.index()];
        *known = (*known).max(index + 1);
    }
}

impl VectorClock for Prefix {
    fn join(&mut self, other: &Prefix) {
        for (mine, theirs) in self.0.iter_mut().zip(&*other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    fn assign(&mut self, other: &Prefix) {
        *self = *other;
    }

    /// Each event has an interval of its own.
    fn tick(&mut self, _task: TaskId) {}
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A step without an access.
    Local,
    /// The end of a wait for these tasks, which have ended.
    Join(TaskSet),
    Fence,
    /// A number below `n` that a task draws.
    Value {
        n: u32,
    },
    Read,
    /// The read of an update. A write follows if the update writes.
    UpdateRead {
        /// The ordering if it writes, and if it does not.
        success: Ordering,
        failure: Ordering,
    },
    /// The read of an access to another object than an atomic. A write follows.
    Object(Role),
    Write,
    /// The write of an update, or of an access to another object; the event before it is the read.
    UpdateWrite,
    /// The release of a lock. Its `source` is the index of the write of the acquisition.
    Release,
}

/// What an access to another object than an atomic does. The accesses of an object are ordered like
/// updates of an atomic: each reads the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Acquires a lock, exclusively or shared.
    Exclusive,
    Shared,
    /// Acquires what was released: a task begins to wait for a notification, or takes its park
    /// token.
    Wait,
    Park,
    /// Releases: a notification, or a park token.
    Tell,
}

impl Role {
    pub(super) fn of(access: Access) -> Option<Role> {
        match access {
            Access::Acquire => Some(Role::Exclusive),
            Access::AcquireShared => Some(Role::Shared),
            Access::Wait => Some(Role::Wait),
            Access::Park => Some(Role::Park),
            Access::Notify | Access::Unpark => Some(Role::Tell),
            _ => None,
        }
    }

    pub(super) fn holds(self) -> bool {
        matches!(self, Role::Exclusive | Role::Shared)
    }
}

impl Kind {
    pub(super) fn reads(self) -> bool {
        matches!(self, Kind::Read | Kind::UpdateRead { .. } | Kind::Object(_))
    }

    /// Whether it acquires a lock.
    pub(super) fn holds(self) -> bool {
        matches!(self, Kind::Object(role) if role.holds())
    }

    /// The ordering of a read: an update that does not write has another.
    pub(super) fn ordering(self, order: Ordering, writes: bool) -> Ordering {
        match self {
            Kind::UpdateRead { success, .. } if writes => success,
            Kind::UpdateRead { failure, .. } => failure,
            _ => order,
        }
    }
}

/// Another way to continue where an event was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alternative {
    /// The task draws this value.
    Value(u32),
    /// The read reads this store; `writes`: it belongs to an update, which then writes.
    Source { store: EventId, writes: bool },
    /// The write comes directly after this store.
    After(EventId),
    /// The write comes directly after this store, and `read`, which was added earlier, reads it. If
    /// that is an update, `writes` says whether it is supposed to write.
    Revisit { read: EventId, after: EventId, writes: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) task: TaskId,
    /// Its position among the events of its task.
    pub(super) index: u32,
    pub(super) kind: Kind,
    /// It is the first event of a step.
    pub(super) begins_step: bool,
    pub(super) order: Ordering,
    pub(super) location: u32,
    /// Of a read: the store that it reads. Of a value: the value.
    pub(super) source: u32,
    /// The event that woke its task, as its task and index, if it had to wait for one.
    pub(super) woken: Option<(TaskId, u32)>,
    /// The events that happen before it, and itself.
    pub(super) happened: Prefix,
    /// The events before it by program order and reads-from. Of a read, without what it reads; of a
    /// write, with itself.
    pub(super) causes: Prefix,
    /// Of a read: what happened before it, without what it reads. Of a write: what an acquiring
    /// read of it learns.
    pub(super) view: Prefix,
    /// What else is to be explored.
    pub(super) alternatives: Vec<Alternative>,
}

impl Event {
    /// An event that has not been executed.
    pub(super) fn new(
        task: TaskId,
        index: u32,
        kind: Kind,
        order: Ordering,
        location: u32,
        source: u32,
    ) -> Event {
        Event {
            task,
            index,
            kind,
            begins_step: false,
            order,
            location,
            source,
            woken: None,
            happened: Prefix::default(),
            causes: Prefix::default(),
            view: Prefix::default(),
            alternatives: Vec::new(),
        }
    }

    fn without_alternatives(&self) -> Event {
        let Event { task, index, kind, begins_step, order, location, source, .. } = *self;
        let Event { woken, happened, causes, view, .. } = *self;
        let event = Event::new(task, index, kind, order, location, source);
        Event { begins_step, woken, happened, causes, view, ..event }
    }

    /// Whether it is in the total order of sequentially consistent events.
    pub(super) fn is_total(&self) -> bool {
        self.order == Ordering::SeqCst
    }
}

/// The accesses of an atomic.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    /// Its stores in modification order, without the initial one.
    pub(super) stores: Vec<EventId>,
    pub(super) reads: Vec<EventId>,
}

impl Location {
    /// The number of a store in modification order; that of the initial one is 0.
    pub(super) fn number(&self, store: EventId) -> usize {
        // Most often it is one of the last.
        self.stores.iter().rposition(|it| *it == store).map_or(0, |it| it + 1)
    }

    /// The store with that number.
    pub(super) fn store(&self, number: usize) -> EventId {
        if number == 0 { INITIAL } else { self.stores[number - 1] }
    }
}

/// Events and their relations. Program order is in `tasks`, reads-from in the events, modification
/// order in `locations`.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    pub(super) all: Vec<Event>,
    /// The events of each task.
    pub(super) tasks: Vec<Vec<EventId>>,
    /// The tasks that end before each task begins.
    pub(super) after: Vec<TaskSet>,
    /// The task that starts each task, and the number of its events before that.
    pub(super) starts: Vec<Option<(TaskId, u32)>>,
    pub(super) locations: Vec<Location>,
}

impl Events {
    pub(super) fn at(&self, event: EventId) -> &Event {
        &self.all[event as usize]
    }

    pub(super) fn at_mut(&mut self, event: EventId) -> &mut Event {
        &mut self.all[event as usize]
    }

    pub(super) fn location(&self, event: &Event) -> &Location {
        &self.locations[event.location as usize]
    }

    /// Makes room for the events of `task`.
    pub(super) fn know(&mut self, task: TaskId) {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Vec::new);
            self.after.resize(task.index() + 1, TaskSet::EMPTY);
            self.starts.resize(task.index() + 1, None);
        }
    }

    /// The event of `task` with this index.
    pub(super) fn of_task(&self, task: TaskId, index: u32) -> Option<EventId> {
        self.tasks.get(task.index())?.get(index as usize).copied()
    }

    /// Adds an event. A write comes last in modification order.
    pub(super) fn push(&mut self, event: Event) -> EventId {
        let id = self.all.len() as EventId;
        self.know(event.task);
        self.tasks[event.task.index()].push(id);
        if event.location != NOWHERE {
            let at = event.location as usize;
            if self.locations.len() <= at {
                self.locations.resize_with(at + 1, Location::default);
            }
            let location = &mut self.locations[at];
            if event.kind.reads() {
                location.reads.push(id);
            } else {
                location.stores.push(id);
            }
        }
        self.all.push(event);
        id
    }

    /// Removes the event that was added last.
    pub(super) fn pop(&mut self) {
        let Some(event) = self.all.pop() else { return };
        let id = self.all.len() as EventId;
        self.tasks[event.task.index()].pop();
        if event.location != NOWHERE {
            let location = &mut self.locations[event.location as usize];
            location.reads.retain(|it| *it != id);
            location.stores.retain(|it| *it != id);
        }
        // The location of an object that is used for the first time was added last.
        while self.locations.last().is_some_and(|it| it.stores.is_empty() && it.reads.is_empty()) {
            self.locations.pop();
        }
    }

    /// Moves a write directly after another store.
    pub(super) fn place(&mut self, write: EventId, after: EventId) {
        let at = self.at(write).location as usize;
        let location = &mut self.locations[at];
        location.stores.retain(|it| *it != write);
        let number = location.number(after);
        location.stores.insert(number, write);
    }

    /// `read` reads `store`, with this ordering. What it learns from that is known when it is
    /// executed again: nothing comes after it until then, and the store itself is between what it
    /// learns and the stores that it has not seen.
    pub(super) fn set_source(&mut self, read: EventId, store: EventId, order: Ordering) {
        let event = self.at_mut(read);
        (event.source, event.order, event.happened) = (store, order, event.view);
        event.happened.include(event.task, event.index);
    }

    /// Adds the write of an update, which was the last event, directly after the store it reads.
    pub(super) fn push_update_write(&mut self, read: EventId) -> EventId {
        let Event { task, index, order, location, source, happened, causes, .. } = *self.at(read);
        let mut event = Event::new(task, index + 1, Kind::UpdateWrite, order, location, INITIAL);
        (event.happened, event.causes) = (happened, causes);
        event.happened.include(task, event.index);
        if source != INITIAL {
            event.causes.join(&self.at(source).causes);
        }
        for release in self.awaited(read).into_iter().flatten() {
            event.causes.join(&self.at(release).causes);
        }
        event.causes.include(task, event.index);
        let write = self.push(event);
        self.place(write, source);
        write
    }

    /// The update that reads `store` and writes, if its write is in `kept`.
    pub(super) fn follower(
        &self,
        location: &Location,
        store: EventId,
        mut kept: impl FnMut(EventId) -> bool,
    ) -> Option<EventId> {
        let next = location.stores[location.number(store)..].iter().copied().find(|it| kept(*it))?;
        (self.at(next).kind == Kind::UpdateWrite && self.source_of_update(next) == store).then_some(next)
    }

    /// The store that an update reads, given its write.
    pub(super) fn source_of_update(&self, write: EventId) -> EventId {
        self.read_of_update(write).source
    }

    /// The read of an update, given its write.
    pub(super) fn read_of_update(&self, write: EventId) -> &Event {
        let event = self.at(write);
        self.at(self.of_task(event.task, event.index - 1).expect("its read comes before it"))
    }

    /// The release of a lock, given the write of its acquisition.
    fn release_of(&self, write: EventId) -> Option<EventId> {
        let event = self.at(write);
        let later = self.tasks[event.task.index()][event.index as usize..].iter().copied();
        let mut releases = later.filter(|it| self.at(*it).kind == Kind::Release);
        releases.find(|it| self.at(*it).source == event.index)
    }

    /// The releases that the acquisition of a lock has to wait for; `None` for one that is not
    /// there. These are the release of the last exclusive acquisition before it, and, if it is
    /// exclusive itself, those of the shared ones in between.
    pub(super) fn awaited(&self, read: EventId) -> Vec<Option<EventId>> {
        let Event { kind, source, .. } = *self.at(read);
        let (mut releases, mut store) = (Vec::new(), source);
        while kind.holds() && store != INITIAL {
            let before = self.read_of_update(store);
            let is_shared = before.kind == Kind::Object(Role::Shared);
            if !is_shared || kind == Kind::Object(Role::Exclusive) {
                releases.push(self.release_of(store));
            }
            store = if is_shared { before.source } else { INITIAL };
        }
        releases
    }

    /// Where else an access to another object than an atomic can come, which comes after all
    /// `known` ones.
    pub(super) fn earlier(&self, read: EventId, known: usize) -> Vec<Alternative> {
        let event = self.at(read);
        let location = self.location(event);
        // A task parks until it has a token.
        let is_token =
            |it: &EventId| *it != INITIAL && self.read_of_update(*it).kind == Kind::Object(Role::Tell);
        let others = (self.oldest_readable(location, &event.view)..known).map(|it| location.store(it));
        let others = others.filter(|it| event.kind != Kind::Object(Role::Park) || is_token(it));
        others.map(|store| Alternative::Source { store, writes: true }).collect()
    }

    /// Whether all that an event depends on is in `done`, besides program order.
    pub(super) fn is_unblocked(&self, event: EventId, done: impl Fn(EventId) -> bool) -> bool {
        let Event { kind, source, woken, .. } = *self.at(event);
        let waker = woken.map(|(task, index)| self.of_task(task, index));
        let joined = if let Kind::Join(tasks) = kind { tasks } else { TaskSet::EMPTY };
        let mut joined = joined.iter().flat_map(|it| self.tasks[it.index()].iter());
        (!kind.reads() || source == INITIAL || done(source))
            && joined.all(|it| done(*it))
            && waker.is_none_or(|it| it.is_some_and(&done))
            && (!kind.holds() || self.awaited(event).into_iter().all(|it| it.is_some_and(&done)))
    }

    /// The number of the oldest store that a task that knows `known` can read: it has seen no newer
    /// one, and its own stores come after it.
    pub(super) fn oldest_readable(&self, location: &Location, known: &Prefix) -> usize {
        let own = location.stores.iter().rposition(|it| known.contains(self.at(*it))).map_or(0, |it| it + 1);
        let seen = location.reads.iter().map(|it| self.at(*it)).filter(|it| known.contains(it));
        seen.map(|it| location.number(it.source)).fold(own, usize::max)
    }

    /// See [`Graph::canonical`](super::Graph::canonical).
    pub(super) fn canonical(&self, keeps: impl Fn(EventId) -> bool) -> Vec<u32> {
        let name = |it: EventId| match self.all.get(it as usize) {
            Some(event) => u32::from(event.task.0) << 24 | event.index,
            None => INITIAL,
        };
        let mut words = Vec::new();
        let mut locations = Vec::new();
        for events in &self.tasks {
            words.push(events.iter().filter(|it| keeps(**it)).count() as u32);
            for event in events.iter().filter(|it| keeps(**it)).map(|it| self.at(*it)) {
                let source = if event.kind.reads() { name(event.source) } else { event.source };
                if event.location != NOWHERE && !locations.contains(&event.location) {
                    locations.push(event.location);
                }
                let location = locations.iter().position(|it| *it == event.location);
                words.extend([source, location.map_or(NOWHERE, |it| it as u32)]);
            }
        }
        for location in locations {
            words.extend(self.locations[location as usize].stores.iter().map(|it| name(*it)));
            words.push(INITIAL);
        }
        words
    }

    /// The graph without the events that `keeps` rejects. Alternatives are left out.
    pub(super) fn restricted(&self, mut keeps: impl FnMut(EventId) -> bool) -> (Events, Vec<EventId>) {
        let (after, starts) = (self.after.clone(), self.starts.clone());
        let mut kept = Events { after, starts, ..Events::default() };
        kept.tasks.resize_with(self.tasks.len(), Vec::new);
        let mut renamed = vec![INITIAL; self.all.len()];
        let mut places = vec![NOWHERE; self.locations.len()];
        for (at, event) in self.all.iter().enumerate() {
            if !keeps(at as EventId) {
                continue;
            }
            let id = kept.all.len() as EventId;
            renamed[at] = id;
            let mut copy = event.without_alternatives();
            if event.location != NOWHERE {
                let place = &mut places[event.location as usize];
                if *place == NOWHERE {
                    *place = kept.locations.len() as u32;
                    kept.locations.push(Location::default());
                }
                copy.location = *place;
                if event.kind.reads() {
                    kept.locations[*place as usize].reads.push(id);
                }
            }
            kept.tasks[event.task.index()].push(id);
            kept.all.push(copy);
        }
        for event in &mut kept.all {
            if event.kind.reads() && event.source != INITIAL {
                event.source = renamed[event.source as usize];
            }
        }
        for (location, place) in self.locations.iter().zip(places) {
            if place != NOWHERE {
                let stores = location.stores.iter().map(|it| renamed[*it as usize]);
                kept.locations[place as usize].stores = stores.filter(|it| *it != INITIAL).collect();
            }
        }
        (kept, renamed)
    }
}
