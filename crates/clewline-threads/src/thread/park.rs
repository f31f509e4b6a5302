//! Thread handles, and the park tokens.

use std::{fmt, sync::Arc, time::Duration};

use clewline_explore::{Access, TaskId};

use crate::{
    control::{Attempt, Control, Need, WakeCondition, control, ending_control, give_way, here, is_ending},
    sync::Identity,
};

/// See `std`.
#[derive(Clone)]
pub struct Thread(Kind);

#[derive(Clone)]
enum Kind {
    Thread(std::thread::Thread),
    Task(Arc<TaskData>),
}

/// The data of a task. Its level is 1 if the park token is available.
#[repr(C)]
pub(super) struct TaskData {
    id: Identity,
    pub(super) task: TaskId,
    execution: u64,
    name: Option<String>,
}

impl TaskData {
    /// The data of `task`. `name` is its name if the data is created now.
    pub(super) fn of(control: Control, task: TaskId, name: Option<String>) -> Arc<TaskData> {
        let execution = control.execution();
        let task_data =
            control.task_data(task, || Arc::new(TaskData { id: Identity, task, execution, name }));
        task_data.downcast().expect("all task data is created here")
    }

    /// The execution that the task belongs to, if that is the current one.
    pub(super) fn control(&self) -> Option<Control> {
        here().filter(|it| it.execution() == self.execution)
    }

    pub(super) fn thread(self: &Arc<Self>) -> Thread {
        Thread(Kind::Task(Arc::clone(self)))
    }
}

/// See `std`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Thread(std::thread::ThreadId),
    Task(TaskId, u64),
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Thread(id) => id.fmt(f),
            // The same in every execution.
            Id::Task(task, _) => f.debug_tuple("ThreadId").field(&(u64::from(task.0) + 1)).finish(),
        }
    }
}

/// See `std`.
#[must_use]
pub fn current() -> Thread {
    match here().or_else(ending_control) {
        Some(control) => TaskData::of(control, control.me(), None).thread(),
        None => Thread::of_std(std::thread::current()),
    }
}

impl Thread {
    /// A handle of `std`.
    pub(super) fn of_std(thread: std::thread::Thread) -> Thread {
        Thread(Kind::Thread(thread))
    }

    /// See `std`.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.0 {
            Kind::Thread(thread) => ThreadId(Id::Thread(thread.id())),
            Kind::Task(task_data) => ThreadId(Id::Task(task_data.task, task_data.execution)),
        }
    }

    /// See `std`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Thread(thread) => thread.name(),
            Kind::Task(task_data) => task_data.name.as_deref(),
        }
    }

    /// See `std`.
    #[track_caller]
    pub fn unpark(&self) {
        let thread_control = control();
        match &self.0 {
            Kind::Thread(thread) => thread.unpark(),
            // A task of an execution that has ended needs no token.
            Kind::Task(task_data) => {
                if let Some(control) = thread_control.and(task_data.control()) {
                    control.access(&task_data.id, Access::Unpark);
                    // Also if there is a token: each `unpark` happens before the next `park`.
                    control.release_at(std::ptr::from_ref(&task_data.id).addr());
                    control.set_level(&task_data.id, 1);
                }
            }
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// See `std`.
#[track_caller]
pub fn park() {
    match control() {
        Some(control) => {
            let is_early = control.can_wake_spuriously();
            let is_met =
                take_token(control, if is_early { WakeCondition::MetOrTimeout } else { WakeCondition::Met });
            if !is_met {
                control.woke_spuriously();
            }
        }
        None if is_ending() && give_way() => (),
        None => std::thread::park(),
    }
}

/// See `std`. In an exploration, the timeout may occur at any moment.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    match control() {
        Some(control) => {
            take_token(control, WakeCondition::MetOrTimeout);
        }
        None if is_ending() && give_way() => (),
        None => std::thread::park_timeout(duration),
    }
}

#[track_caller]
fn take_token(control: Control, until: WakeCondition) -> bool {
    let task_data = TaskData::of(control, control.me(), None);
    let attempt = Attempt::new(Access::Park).needing(Need::AtLeast(1)).until(until);
    let is_met = control.attempt(&task_data.id, attempt);
    control.set_level(&task_data.id, 0);
    is_met
}
