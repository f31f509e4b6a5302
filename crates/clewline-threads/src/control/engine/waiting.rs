//! The interface of the primitives for waiting, besides the accesses themselves.

use std::{
    any::Any,
    sync::{Arc, atomic::AtomicBool},
};

use clewline_explore::{Access, SharedId, TaskId, TaskSet};

use super::{state::Control, types::Attempt};
use crate::control::{panics, place::Place};

impl Control {
    /// The number of the execution, unique in this process.
    pub(crate) fn execution(self) -> u64 {
        self.engine().execution
    }

    /// Which interruption comes to a task that could go on: a number below `n`, 0 for none.
    pub(crate) fn interruption(self, n: u32) -> u32 {
        self.engine().interruption(n)
    }

    /// The place of the last point at which this task arrived.
    pub(crate) fn last_place(self) -> Place {
        let engine = self.engine();
        engine.tasks[engine.current.index()].place
    }

    /// The number of steps made.
    pub(crate) fn steps(self) -> u32 {
        self.engine().steps
    }

    /// Sets the level of a lock that is acquired or released while the guarded data is unchanged: a
    /// loop that takes the lock only to look is a waiting loop.
    pub(crate) fn set_level_only<T: ?Sized>(self, object: &T, level: i32) {
        let engine = self.engine();
        let id = engine.id_of(object);
        let before = std::mem::replace(&mut engine.objects.state(id).level, level);
        if before == level {
            return;
        }
        if engine.moments.is_some() {
            engine.note_holder(id, before < level);
        }
        if engine.memory.is_some() {
            engine.memory_changed(id);
        }
        if let Some(step) = &mut engine.step
            && step.object != id
        {
            // Tasks that wait for the lock can continue after this step, although the step accesses
            // another object. If there are several such locks, the step is treated as dependent
            // with every step.
            step.yields |= step.frees != SharedId::NONE && step.frees != id;
            step.frees = id;
        }
        if engine.has_release_points && !engine.spinning.is_empty() {
            // Some task tries locks and may observe this.
            let me = engine.current;
            let was_spinning = engine.spinning.contains(me);
            let spins = engine.tasks[me.index()].spins.take();
            engine.spinning.remove(me);
            engine.end_spins(me, id);
            if was_spinning {
                engine.tasks[me.index()].spins = spins;
                engine.spinning.insert(me);
            }
        }
    }

    /// Sets the level of a lock that is held shared, and is released.
    pub(crate) fn release_shared<T: ?Sized>(self, object: &T, level: i32) {
        self.engine().weak.is_shared_release = true;
        self.set_level_only(object, level);
        self.engine().weak.is_shared_release = false;
    }

    /// This task waits at the object until a task [wakes](Self::wake_at) it.
    pub(crate) fn wait_at<T: ?Sized>(self, object: &T) {
        let engine = self.engine();
        let (id, me) = (engine.id_of(object), engine.current);
        engine.objects.state(id).waiters.insert(me);
        engine.tasks[me.index()].is_woken = false;
    }

    /// The task stops waiting although no task woke it.
    pub(crate) fn leave<T: ?Sized>(self, object: &T) {
        let engine = self.engine();
        let (id, me) = (engine.id_of(object), engine.current);
        engine.objects.state(id).waiters.remove(me);
    }

    /// The tasks that wait at the object.
    pub(crate) fn waiters<T: ?Sized>(self, object: &T) -> TaskSet {
        let engine = self.engine();
        let id = engine.id_of(object);
        engine.objects.state(id).waiters
    }

    /// Wakes `task`, which waits at the object.
    pub(crate) fn wake_at<T: ?Sized>(self, object: &T, task: TaskId) {
        let engine = self.engine();
        let id = engine.id_of(object);
        engine.objects.state(id).waiters.remove(task);
        self.wake(task);
    }

    /// Whether this task may wake spuriously now.
    pub(crate) fn can_wake_spuriously(self) -> bool {
        let engine = self.engine();
        0 < engine.tasks[engine.current.index()].spurious
    }

    /// The task woke spuriously.
    pub(crate) fn woke_spuriously(self) {
        let engine = self.engine();
        let left = &mut engine.tasks[engine.current.index()].spurious;
        *left = left.saturating_sub(1);
    }

    /// A point before an access to something without an address: its order relative to every step
    /// matters.
    #[track_caller]
    pub(crate) fn access_unaddressed(self) {
        self.arrive(SharedId::NONE, Attempt::new(Access::Yield), Place::caller());
    }

    /// Something without an address has changed.
    pub(crate) fn changed_unaddressed(self) {
        let engine = self.engine();
        let me = engine.current;
        engine.idle_rounds = 0;
        engine.tasks[me.index()].rounds.clear();
        engine.end_spins(me, SharedId::NONE);
    }

    /// The data attached to `task`, created by `make` if there is none.
    pub(crate) fn task_data(
        self,
        task: TaskId,
        make: impl FnOnce() -> Arc<dyn Any + Send + Sync>,
    ) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(self.engine().tasks[task.index()].task_data.get_or_insert_with(make))
    }

    /// Whether this task unwinds. Tasks share a thread, so `std::thread::panicking` may be true
    /// because of another task.
    pub(crate) fn is_panicking(self) -> bool {
        let engine = self.engine();
        engine.is_panicking(engine.current)
    }

    /// This task begins to panic.
    pub(in crate::control) fn panics(self) {
        let engine = self.engine();
        engine.tasks[engine.current.index()].has_panicked = true;
    }

    /// This task has panicked, and has not been joined as long as `is_unjoined`.
    pub(crate) fn note_panic(self, payload: &(dyn Any + Send), is_unjoined: &Arc<AtomicBool>) {
        let engine = self.engine();
        let panic = (engine.current, panics::caught(payload));
        engine.unjoined.push((panic, Arc::clone(is_unjoined)));
    }

    /// No task can join the one whose panic was [noted](Self::note_panic): the execution ends.
    pub(crate) fn report_panic(self, is_unjoined: &Arc<AtomicBool>) {
        let engine = self.engine();
        if let Some(at) = engine.unjoined.iter().position(|it| Arc::ptr_eq(&it.1, is_unjoined)) {
            let (panic, _) = engine.unjoined.remove(at);
            engine.failed(panic);
        }
    }
}
