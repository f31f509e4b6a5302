//! Starting threads, and waiting for them.

use std::{
    fmt, io,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::Result,
};

use clewline_explore::Access;

use super::park::{TaskData, Thread};
use crate::{
    control::{Attempt, Control, control, here, is_abandoned, is_ending, require_task, wait_until_unwound},
    sync::Identity,
};

/// See `std`.
#[derive(Debug, Default)]
#[must_use = "must be told to spawn"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A builder without settings.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// See `std`.
    pub fn name(self, name: String) -> Builder {
        Builder { name: Some(name), ..self }
    }

    /// See `std`. All tasks have stacks of the same size.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder { stack_size: Some(size), ..self }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If the system cannot create a thread. An execution with too many tasks is cut.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match control() {
            Some(control) => {
                let packet = JoinPacket::new();
                let joint = TaskJoinHandle::new(control, self.name, &packet, packet.body(f));
                Ok(JoinHandle(Some(Kind::Task(joint))))
            }
            None => {
                require_task();
                let handle = self.threads().spawn(f)?;
                let thread = Thread::of_std(handle.thread().clone());
                Ok(JoinHandle(Some(Kind::Thread(handle, thread))))
            }
        }
    }

    /// The name, for a task.
    pub(super) fn into_name(self) -> Option<String> {
        self.name
    }

    /// The corresponding builder of `std`.
    pub(super) fn threads(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}

/// See `std`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// See `std`. If a task panics and can no longer be joined, its execution ends; if its handle is
/// kept and not joined, the execution fails in the end.
pub struct JoinHandle<T>(Option<Kind<T>>);

enum Kind<T> {
    Thread(std::thread::JoinHandle<T>, Thread),
    Task(TaskJoinHandle<T>),
}

impl<T> JoinHandle<T> {
    /// See `std`.
    ///
    /// # Errors
    ///
    /// The panic payload of the thread.
    #[track_caller]
    pub fn join(mut self) -> Result<T> {
        let thread_control = control();
        match self.0.take().expect("joined once") {
            Kind::Thread(handle, _) => handle.join(),
            Kind::Task(joint) => joint.join(thread_control),
        }
    }

    /// See `std`.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        let thread_control = control();
        match self.kind() {
            Kind::Thread(handle, _) => handle.is_finished(),
            Kind::Task(joint) => joint.is_finished(thread_control),
        }
    }

    /// See `std`.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match self.kind() {
            Kind::Thread(_, thread) => thread,
            Kind::Task(joint) => &joint.thread,
        }
    }

    fn kind(&self) -> &Kind<T> {
        self.0.as_ref().expect("not joined yet")
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(Kind::Task(joint)) = &self.0 {
            joint.detach();
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// The result that a task leaves for the task that joins it.
#[repr(C)]
pub(super) struct JoinPacket<T> {
    id: Identity,
    result: Mutex<Option<Result<T>>>,
    is_finished: AtomicBool,
    /// The task can still be joined.
    is_awaited: AtomicBool,
    /// The task has panicked and has not been joined.
    pub(super) has_panicked: Arc<AtomicBool>,
}

impl<T> JoinPacket<T> {
    pub(super) fn new() -> Arc<JoinPacket<T>> {
        Arc::new(JoinPacket {
            id: Identity,
            result: Mutex::new(None),
            is_finished: AtomicBool::new(false),
            is_awaited: AtomicBool::new(true),
            has_panicked: Arc::default(),
        })
    }

    /// Runs `f`, and stores its result.
    pub(super) fn body<'a>(self: &Arc<Self>, f: impl FnOnce() -> T + 'a) -> Box<dyn FnOnce() + 'a>
    where
        T: 'a,
    {
        let packet = Arc::clone(self);
        Box::new(move || match panic::catch_unwind(AssertUnwindSafe(f)) {
            Err(payload) if is_abandoned(&*payload) => panic::resume_unwind(payload),
            result => packet.finish(result),
        })
    }

    fn finish(&self, result: Result<T>) {
        if let Some(control) = here()
            && control.has_release_points()
        {
            // Another task may observe whether it has finished.
            control.access(&self.id, Access::Release);
        }
        if let Err(payload) = &result {
            self.has_panicked.store(true, Ordering::Relaxed);
            if let Some(control) = here() {
                control.note_panic(&**payload, &self.has_panicked);
            }
            if !self.is_awaited.load(Ordering::Relaxed) {
                self.report();
            }
        }
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.is_finished.store(true, Ordering::Relaxed);
        if let Some(control) = here() {
            control.changed(&self.id);
        }
    }

    fn take(&self) -> Option<Result<T>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// No task will join the one that has panicked: the execution fails.
    fn report(&self) {
        match here() {
            Some(control) => control.report_panic(&self.has_panicked),
            // The handle of a blocked task, which might have joined it.
            None if is_ending() => self.has_panicked.store(false, Ordering::Relaxed),
            // Dropped with the subject: it is reported when the subject was dropped.
            None => (),
        }
    }
}

/// A task and its result.
pub(super) struct TaskJoinHandle<T> {
    packet: Arc<JoinPacket<T>>,
    task_data: Arc<TaskData>,
    pub(super) thread: Thread,
}

impl<T> TaskJoinHandle<T> {
    /// Starts a task.
    #[track_caller]
    pub(super) fn new(
        control: Control,
        name: Option<String>,
        packet: &Arc<JoinPacket<T>>,
        body: Box<dyn FnOnce()>,
    ) -> TaskJoinHandle<T> {
        let task = control.spawn(body);
        let task_data = TaskData::of(control, task, name);
        TaskJoinHandle { packet: Arc::clone(packet), thread: task_data.thread(), task_data }
    }

    pub(super) fn task_data(&self) -> &TaskData {
        &self.task_data
    }

    #[track_caller]
    pub(super) fn join(self, thread_control: Option<Control>) -> Result<T> {
        match thread_control.and(self.task_data.control()) {
            Some(control) => {
                control.attempt(&self.packet.id, Attempt::new(Access::Join).after(self.task_data.task));
            }
            None => wait_until_unwound(self.task_data.task),
        }
        self.packet.has_panicked.store(false, Ordering::Relaxed);
        // An abandoned task leaves no result.
        self.packet.take().unwrap_or_else(|| Err(Box::new("the execution ended before the task did")))
    }

    #[track_caller]
    pub(super) fn is_finished(&self, thread_control: Option<Control>) -> bool {
        if let Some(control) = thread_control.and(self.task_data.control()) {
            control.note_try_lock_use();
            control.access(&self.packet.id, Access::Read);
        }
        self.packet.is_finished.load(Ordering::Relaxed)
    }

    /// The task will not be joined.
    fn detach(&self) {
        self.packet.is_awaited.store(false, Ordering::Relaxed);
        if self.packet.is_finished.load(Ordering::Relaxed) && matches!(self.packet.take(), Some(Err(_))) {
            self.packet.report();
        }
    }
}
