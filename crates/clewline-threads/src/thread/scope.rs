//! Scoped threads.
//!
//! Tasks of a scope use values on the stack of the task that opened it. So a scope waits for its
//! tasks on every exit path, also when the execution is abandoned.

use std::{
    cell::RefCell,
    fmt, io,
    panic::{self, AssertUnwindSafe},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::Result,
};

use clewline_explore::{Access, TaskId, TaskSet};

use super::{
    park::Thread,
    spawn::{Builder, JoinPacket, TaskJoinHandle},
};
use crate::control::{Attempt, Place, control, here, wait_until_unwound};

/// See `std`.
#[repr(transparent)]
pub struct Scope<'scope, 'env: 'scope>(std::thread::Scope<'scope, 'env>);

/// See `std`.
pub struct ScopedJoinHandle<'scope, T>(Kind<'scope, T>);

enum Kind<'scope, T> {
    Thread(std::thread::ScopedJoinHandle<'scope, T>, Thread),
    Task(TaskJoinHandle<T>),
}

/// The tasks of one scope, and whether each has panicked without being joined.
type Tasks = Vec<(TaskId, Arc<AtomicBool>)>;

thread_local! {
    // The open scopes of this thread, by their addresses.
    static SCOPES: RefCell<Vec<(usize, Tasks)>> = const { RefCell::new(Vec::new()) };
}

/// See `std`.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let thread_control = control();
    // That of the closures would be this file.
    let place = Place::caller();
    std::thread::scope(|scope| {
        let scope = Scope::of_std(scope);
        if thread_control.is_none() {
            return f(scope);
        }
        SCOPES.with_borrow_mut(|it| it.push((scope.key(), Vec::new())));
        let result = panic::catch_unwind(AssertUnwindSafe(|| f(scope)));
        let waited = panic::catch_unwind(AssertUnwindSafe(|| scope.wait(place)));
        // If the execution was abandoned meanwhile, the tasks of the scope are unwound before what
        // they borrow.
        let tasks = scope.close();
        tasks.iter().for_each(|it| wait_until_unwound(it.0));
        // The scope answers for the panics of its tasks, and reports them once.
        let panicked = tasks.iter().filter(|it| it.1.swap(false, Ordering::Relaxed)).count();
        match (result, waited) {
            (Err(payload), _) | (_, Err(payload)) => panic::resume_unwind(payload),
            (Ok(_), Ok(())) if panicked != 0 => panic!("a scoped thread panicked"),
            (Ok(result), Ok(())) => result,
        }
    })
}

impl<'scope, 'env> Scope<'scope, 'env> {
    fn of_std(scope: &'scope std::thread::Scope<'scope, 'env>) -> &'scope Scope<'scope, 'env> {
        // SAFETY: one is a transparent wrapper of the other.
        unsafe { &*ptr::from_ref(scope).cast() }
    }

    fn key(&self) -> usize {
        ptr::from_ref(self) as usize
    }

    /// See `std`.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("failed to spawn thread")
    }

    /// Waits until all tasks have ended, including those started meanwhile.
    fn wait(&self, place: Place) {
        let mut waited = TaskSet::EMPTY;
        loop {
            let key = self.key();
            let tasks = SCOPES.with_borrow(|it| {
                let tasks = it.iter().find(|it| it.0 == key);
                tasks.map_or(TaskSet::EMPTY, |it| it.1.iter().map(|it| it.0).collect())
            });
            match here() {
                Some(control) if tasks != waited => {
                    let attempt = Attempt { after: tasks, ..Attempt::new(Access::Join) };
                    control.attempt_at(self.key(), attempt, place);
                    waited = tasks;
                }
                Some(_) | None => return,
            }
        }
    }

    fn close(&self) -> Tasks {
        if let Some(control) = here() {
            control.forget(self);
        }
        let key = self.key();
        let scope = SCOPES.with_borrow_mut(|it| {
            let at = it.iter().position(|it| it.0 == key)?;
            Some(it.swap_remove(at))
        });
        scope.map(|it| it.1).unwrap_or_default()
    }
}

impl Builder {
    /// See `std`.
    ///
    /// # Errors
    ///
    /// If the system cannot create a thread. An execution with too many tasks is cut.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let Some(control) = control() else {
            let handle = self.threads().spawn_scoped(&scope.0, f)?;
            let thread = Thread::of_std(handle.thread().clone());
            return Ok(ScopedJoinHandle(Kind::Thread(handle, thread)));
        };
        let packet = JoinPacket::new();
        let body: Box<dyn FnOnce() + 'scope> = packet.body(f);
        // SAFETY: only the lifetime changes. `scope` does not return before the task has ended or
        // has been unwound, and if neither ever happens, the task that opened the scope is never
        // resumed.
        let body: Box<dyn FnOnce()> = unsafe { std::mem::transmute(body) };
        let joint = TaskJoinHandle::new(control, self.into_name(), &packet, body);
        let entry = (joint.task_data().task, Arc::clone(&packet.has_panicked));
        SCOPES.with_borrow_mut(|it| {
            let scope = it.iter_mut().find(|it| it.0 == scope.key());
            scope.expect("a scope is open while it spawns").1.push(entry);
        });
        Ok(ScopedJoinHandle(Kind::Task(joint)))
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// See `std`.
    ///
    /// # Errors
    ///
    /// The panic payload of the thread.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let thread_control = control();
        match self.0 {
            Kind::Thread(handle, _) => handle.join(),
            Kind::Task(joint) => joint.join(thread_control),
        }
    }

    /// See `std`.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        let thread_control = control();
        match &self.0 {
            Kind::Thread(handle, _) => handle.is_finished(),
            Kind::Task(joint) => joint.is_finished(thread_control),
        }
    }

    /// See `std`.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Kind::Thread(_, thread) => thread,
            Kind::Task(joint) => &joint.thread,
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
