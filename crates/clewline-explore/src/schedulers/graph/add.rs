//! Events are executed: those of the graph again, and then those that are added to it.

use std::sync::atomic::Ordering;

use super::{
    events::{Alternative, Event, EventId, INITIAL, Kind, NOWHERE, Role},
    run::TaskState,
    state::Graph,
};
use crate::{
    order::VectorClock,
    scheduler::{AtomicStep, Choice},
    step::{Access, SharedId, Step, TaskId, TaskSet},
};

/// What is known of an event before it is executed.
#[derive(Clone, Copy)]
struct Label {
    task: TaskId,
    kind: Kind,
    order: Ordering,
    location: u32,
    source: u32,
}

impl Graph {
    /// The next event of `task`, if it was executed before.
    pub(super) fn next(&self, task: TaskId) -> Option<EventId> {
        self.events.of_task(task, self.run.made(task))
    }

    /// Executes an event of the graph, and brings what is known of it up to date.
    fn execute(&mut self, id: EventId) {
        let event = self.events.at(id);
        let Event { task, index, kind, order, source, woken, .. } = *event;
        let from = if kind == Kind::UpdateWrite { self.events.source_of_update(id) } else { source };
        let role = self.role_of_write(id);
        self.learn(task, woken.and_then(|(task, index)| self.events.of_task(task, index)));
        if let Kind::Join(others) = kind {
            self.run.start(task, others);
        }
        let is_read = (kind.reads() || kind == Kind::UpdateWrite) && from != INITIAL;
        let store = is_read.then(|| self.events.at(from));
        let (message, cause) = store.map(|it| (it.view, it.causes)).unwrap_or_default();
        let TaskState { made, clocks, causes, .. } = self.run.of(task);
        *made += 1;
        let event = self.events.at_mut(id);
        match kind {
            Kind::Local | Kind::Join(_) | Kind::Value { .. } | Kind::Release => (),
            Kind::Fence => {
                clocks.now.include(task, index);
                clocks.acquire_fence(order);
                clocks.release_fence(task, order);
            }
            Kind::Read | Kind::UpdateRead { .. } => {
                (event.view, event.causes) = (clocks.now, *causes);
                clocks.now.include(task, index);
                clocks.read(order, &message);
                causes.join(&cause);
            }
            Kind::Object(role) => {
                (event.view, event.causes) = (clocks.now, *causes);
                if matches!(role, Role::Wait | Role::Park) {
                    clocks.now.join(&message);
                }
                causes.join(&cause);
            }
            Kind::Write => {
                clocks.now.include(task, index);
                clocks.store(task, order, &mut event.view);
            }
            Kind::UpdateWrite if role.is_some() => {
                // The holder of a lock releases what it did with the release of the lock.
                event.view = message;
                if role == Some(Role::Tell) {
                    clocks.now.include(task, index);
                    event.view.join(&clocks.now);
                }
            }
            Kind::UpdateWrite => {
                clocks.now.include(task, index);
                event.view = message;
                clocks.update(task, order, &mut event.view);
            }
        }
        if kind.holds() {
            let releases = self.events.awaited(id);
            releases.into_iter().for_each(|it| self.learn(task, it));
        }
        let TaskState { clocks, causes, .. } = self.run.of(task);
        clocks.now.include(task, index);
        causes.include(task, index);
        let event = self.events.at_mut(id);
        event.happened = clocks.now;
        if !kind.reads() {
            event.causes = *causes;
        }
        self.run.executed(id, task);
    }

    /// The role of an access to another object than an atomic, given its write.
    fn role_of_write(&self, event: EventId) -> Option<Role> {
        if self.events.at(event).kind != Kind::UpdateWrite {
            return None;
        }
        match self.events.read_of_update(event).kind {
            Kind::Object(role) => Some(role),
            _ => None,
        }
    }

    /// `event`, if there is one, happens before what `task` does next, which depends on it.
    fn learn(&mut self, task: TaskId, event: Option<EventId>) {
        let Some(event) = event else { return };
        let Event { happened, causes, .. } = *self.events.at(event);
        let state = self.run.of(task);
        state.clocks.now.join(&happened);
        state.causes.join(&causes);
    }

    /// Adds an event, and executes it.
    fn add(&mut self, label: Label) -> EventId {
        let Label { task, kind, order, location, source } = label;
        let index = self.run.made(task);
        let begins_step = self.run.task == Some(task) && !self.run.is_step_begun;
        let event = Event::new(task, index, kind, order, location, source);
        let woken = if kind.holds() { self.run.of(task).woken.take() } else { None };
        let id = self.events.push(Event { begins_step, woken, ..event });
        self.execute(id);
        id
    }

    /// An event without an access: executes it again, or adds it. Returns whether it is new.
    fn add_or_execute(&mut self, label: Label) -> Option<(EventId, bool)> {
        let Some(id) = self.next(label.task) else { return Some((self.add(label), true)) };
        let event = self.events.at(id);
        let is_same = (event.kind, event.order) == (label.kind, label.order);
        if !is_same {
            self.diverged();
            return None;
        }
        self.execute(id);
        Some((id, false))
    }

    pub(super) fn local(&mut self, task: TaskId) {
        let (order, location, source) = (Ordering::Relaxed, NOWHERE, INITIAL);
        self.add_or_execute(Label { task, kind: Kind::Local, order, location, source });
    }

    /// `task` goes on after `others`, which have ended.
    pub(super) fn join(&mut self, task: TaskId, others: TaskSet) {
        let (kind, order, location, source) = (Kind::Join(others), Ordering::Relaxed, NOWHERE, INITIAL);
        self.add_or_execute(Label { task, kind, order, location, source });
    }

    /// `by` starts `task`.
    pub(super) fn spawn(&mut self, by: TaskId, task: TaskId) {
        if self.run.task() == Some(by) && self.run.is_step_empty() {
            // The present step comes before it.
            self.local(by);
        }
        self.events.know(task);
        self.events.starts[task.index()] = Some((by, self.run.made(by)));
        self.run.start(task, TaskSet::only(by));
    }

    pub(super) fn fence(&mut self, task: TaskId, order: Ordering) {
        self.add_or_execute(Label { task, kind: Kind::Fence, order, location: NOWHERE, source: INITIAL });
    }

    pub(super) fn draw(&mut self, task: TaskId, n: u32) -> u32 {
        let (kind, order, location, source) = (Kind::Value { n }, Ordering::Relaxed, NOWHERE, 0);
        let Some((id, is_new)) = self.add_or_execute(Label { task, kind, order, location, source }) else {
            return 0;
        };
        let event = self.events.at_mut(id);
        if is_new {
            event.alternatives = (1..n).map(Alternative::Value).collect();
        }
        event.source
    }

    /// An atomic access: chooses the store that it reads, or after which it comes.
    pub(super) fn access(&mut self, access: AtomicStep<'_>) -> Choice {
        if let Some(id) = self.next(access.task) {
            return self.access_again(id, access);
        }
        let location = match self.run.location(access.object) {
            Some(location) => location,
            None => self.events.locations.len() as u32,
        };
        self.run.locate(access.object, location);
        if let Some(role) = Role::of(access.access) {
            self.add_object(access.task, role, access.object, location);
            return Choice::Step(0);
        }
        let known = self.events.locations.get(location as usize).map_or(0, |it| it.stores.len());
        if access.stores != known + 1 {
            return self.divergence();
        }
        match access.access {
            Access::Write => self.add_write(&access, location),
            _ => self.add_read(access, location),
        }
        Choice::Step(known)
    }

    /// The same access was made before.
    fn access_again(&mut self, id: EventId, access: AtomicStep<'_>) -> Choice {
        let Event { kind, location, source, order, .. } = *self.events.at(id);
        let is_same = match kind {
            Kind::Read => access.access == Access::Read && order == access.order,
            Kind::Write => access.access == Access::Write && order == access.order,
            Kind::UpdateRead { success, failure } => {
                access.access == Access::Update && (success, failure) == (access.order, access.failure)
            }
            Kind::Object(role) => Role::of(access.access) == Some(role),
            Kind::Local
            | Kind::Join(_)
            | Kind::Fence
            | Kind::Value { .. }
            | Kind::UpdateWrite
            | Kind::Release => false,
        };
        if !is_same || self.run.location(access.object).is_some_and(|it| it != location) {
            return self.divergence();
        }
        self.run.locate(access.object, location);
        if matches!(kind, Kind::Object(_)) {
            return self.object_again(id, access.object);
        }
        let store = if kind == Kind::Write { id } else { source };
        let number = self.run.number(&self.events.locations[location as usize], store);
        if access.stores <= number {
            return self.divergence();
        }
        if let Kind::UpdateRead { success, failure } = kind {
            let writes = (access.writes)(number);
            let actual = if writes { success } else { failure };
            if self.is_supposed_otherwise(id, writes) {
                return Choice::Redundant;
            }
            self.events.at_mut(id).order = actual;
            self.execute(id);
            match self.next(access.task) {
                Some(write) if self.events.at(write).kind == Kind::UpdateWrite => {
                    if !writes {
                        return self.divergence();
                    }
                    self.execute(write);
                }
                Some(_) if writes => return self.divergence(),
                Some(_) => (),
                // The read was revisited, and its write is new.
                None if writes => self.add_update_write(id),
                None => (),
            }
        } else {
            self.execute(id);
        }
        Choice::Step(number)
    }

    /// An access to another object than an atomic: it comes after the accesses so far.
    fn add_object(&mut self, task: TaskId, role: Role, object: SharedId, location: u32) {
        let stores = self.events.locations.get(location as usize).map_or(&[][..], |it| &it.stores);
        let (known, source) = (stores.len(), stores.last().copied().unwrap_or(INITIAL));
        let (kind, order) = (Kind::Object(role), Ordering::Relaxed);
        let read = self.add(Label { task, kind, order, location, source });
        self.events.at_mut(read).alternatives = self.events.earlier(read, known);
        self.add_update_write(read);
        self.hold(read, object);
    }

    /// The execution has ended, and the task of `step` waits for a lock. It might have been first:
    /// so its acquisition is added, without being executed.
    pub(super) fn add_blocked(&mut self, step: &Step) {
        let Step { task, access, object, .. } = *step;
        let (Some(role), Some(location)) = (Role::of(access), self.run.location(object)) else { return };
        if self.next(task).is_some() {
            return;
        }
        let stores = &self.events.locations[location as usize].stores;
        let (known, source) = (stores.len(), stores.last().copied().unwrap_or(INITIAL));
        let woken = self.run.of(task).woken;
        self.learn(task, woken.and_then(|(task, index)| self.events.of_task(task, index)));
        let TaskState { made, clocks, causes, .. } = *self.run.of(task);
        let event = Event::new(task, made, Kind::Object(role), Ordering::Relaxed, location, source);
        let view = clocks.now;
        let read = self.events.push(Event { begins_step: true, woken, view, causes, ..event });
        self.events.set_source(read, source, Ordering::Relaxed);
        self.events.at_mut(read).alternatives = self.events.earlier(read, known);
    }

    /// The same access was made before, or is made now that a lock is free.
    fn object_again(&mut self, read: EventId, object: SharedId) -> Choice {
        let task = self.events.at(read).task;
        if !self.events.is_unblocked(read, |it| self.run.is_done(it)) {
            return self.divergence();
        }
        if self.events.at(read).kind.holds() {
            self.events.at_mut(read).woken = self.run.of(task).woken.take();
        }
        self.execute(read);
        match self.next(task) {
            Some(write) if self.events.at(write).kind == Kind::UpdateWrite => self.execute(write),
            Some(_) => return self.divergence(),
            None => self.add_update_write(read),
        }
        self.hold(read, object);
        Choice::Step(0)
    }

    /// The task of `read` holds the lock `object`, if it is one.
    fn hold(&mut self, read: EventId, object: SharedId) {
        let Event { task, kind, index, .. } = *self.events.at(read);
        if kind.holds() {
            self.run.held.push((task, object, index + 1));
        }
    }

    /// `task` releases `object`, if that is a lock and it holds it.
    pub(super) fn release(&mut self, task: TaskId, object: SharedId) {
        let held = self.run.held.iter().rposition(|it| (it.0, it.1) == (task, object));
        let Some(held) = held else { return };
        let (.., source) = self.run.held.remove(held);
        let (kind, order, location) = (Kind::Release, Ordering::Relaxed, NOWHERE);
        self.add_or_execute(Label { task, kind, order, location, source });
    }

    fn add_read(&mut self, access: AtomicStep<'_>, location: u32) {
        let AtomicStep { task, order, failure, stores, .. } = access;
        let is_update = access.access == Access::Update;
        let mut writes = |number: usize| is_update && (access.writes)(number);
        let newest = self.events.locations.get(location as usize).and_then(|it| it.stores.last().copied());
        let is_written = writes(stores - 1);
        let kind = if is_update { Kind::UpdateRead { success: order, failure } } else { Kind::Read };
        let read_order = if is_update && !is_written { failure } else { order };
        let source = newest.unwrap_or(INITIAL);
        let read = self.add(Label { task, kind, order: read_order, location, source });
        let place = &self.events.locations[location as usize];
        let oldest = self.events.oldest_readable(place, &self.events.at(read).view);
        let others = (oldest..stores - 1).map(|it| (place.store(it), it));
        let others = others.map(|(store, it)| Alternative::Source { store, writes: writes(it) });
        self.events.at_mut(read).alternatives = others.collect();
        if is_written {
            self.add_update_write(read);
        }
    }

    fn add_update_write(&mut self, read: EventId) {
        let Event { task, order, location, source, .. } = *self.events.at(read);
        let write = self.add(Label { task, kind: Kind::UpdateWrite, order, location, source: INITIAL });
        self.events.place(write, source);
        self.events.at_mut(write).alternatives = self.events.revisits(write);
    }

    fn add_write(&mut self, access: &AtomicStep<'_>, location: u32) {
        let AtomicStep { task, order, .. } = *access;
        let known = self.run.known(task);
        let write = self.add(Label { task, kind: Kind::Write, order, location, source: INITIAL });
        let place = &self.events.locations[location as usize];
        let oldest = self.events.oldest_readable(place, &known);
        let is_free = |it: &EventId| self.events.follower(place, *it, |it| it != write).is_none();
        let stores = (oldest..place.stores.len() - 1).map(|it| place.store(it)).filter(is_free);
        let mut alternatives: Vec<Alternative> = stores.map(Alternative::After).collect();
        alternatives.extend(self.events.revisits(write));
        self.events.at_mut(write).alternatives = alternatives;
    }
}
