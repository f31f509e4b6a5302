//! Abandoned executions: every task is unwound, so that nothing leaks.
//!
//! An abandoned task panics where it waits, with a payload of our own. Its destructors may need
//! something that another abandoned task holds; then it yields, and the other task is unwound
//! first. Only if all remaining tasks wait for one another, or run forever, are they left as they
//! are: their stacks leak, and nothing hangs.

use std::{
    any::Any,
    mem, panic,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use clewline_explore::{Access, Ending, SharedId, TaskId};

use super::{
    state::{Control, ENDING, Engine, Next},
    types::{Attempt, Excess, ExecutionLimit},
};
use crate::control::{fiber::Seat, place::Place, stacks};

/// The panic payload of an abandoned task.
struct Abandoned;

// The maximum number of times that the remaining tasks yield to one another.
const UNWIND_ROUNDS_MAX: u32 = 200;
// A task that catches the payload this often runs forever.
const CAUGHT_PAYLOADS_MAX: u32 = 100;
// A destructor that makes this many accesses may wait for another task.
const ACCESSES_BEFORE_YIELD: u32 = 1_000;

/// A unique number for each execution.
pub(super) fn next_execution() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Whether a panic payload marks an abandoned task. Code that catches it must resume the unwinding.
pub(crate) fn is_abandoned(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Abandoned>()
}

/// The engine whose tasks are unwound on this thread, if a task is being unwound right now.
fn ending() -> Option<*mut Engine> {
    let engine = ENDING.try_with(std::cell::Cell::get).unwrap_or(std::ptr::null_mut());
    // SAFETY: `ENDING` is set only while `unwind_all` is on the stack of this thread with the
    // engine borrowed, and `unwind_all` keeps no borrow while a task is resumed. The same holds for
    // every use of the pointer below.
    (!engine.is_null() && unsafe { (*engine).is_unwinding }).then_some(engine)
}

/// A task that is being unwound makes an access.
#[cold]
pub(super) fn note_access_while_unwinding() {
    let Some(engine) = ending() else { return };
    if !thread::panicking() {
        abandon_again(engine);
    }
    // SAFETY: see `ending`.
    let accesses = unsafe { &mut (*engine).accesses_since_yield };
    *accesses += 1;
    if ACCESSES_BEFORE_YIELD <= *accesses {
        give_way();
    }
}

/// Lets other abandoned tasks unwind first. Returns `false` if this task is not abandoned.
pub(crate) fn give_way() -> bool {
    let Some(engine) = ending() else { return false };
    if !thread::panicking() {
        abandon_again(engine);
    }
    wait(engine);
    true
}

/// The task caught the payload and continues as if nothing had happened.
fn abandon_again(engine: *mut Engine) -> ! {
    // SAFETY: see `ending`.
    let caught = unsafe { &mut (*engine).catches };
    *caught += 1;
    if *caught <= CAUGHT_PAYLOADS_MAX {
        panic::resume_unwind(Box::new(Abandoned));
    }
    loop {
        // The task is left where it is.
        wait(engine);
    }
}

fn wait(engine: *mut Engine) {
    // SAFETY: see `ending`; the seat is that of the running task.
    unsafe {
        let this = &mut *engine;
        this.accesses_since_yield = 0;
        let seat = this.tasks[this.current.index()].seat;
        seat.suspend();
    }
}

/// The execution whose tasks are unwound here: the state of its objects can still be read.
pub(crate) fn ending_control() -> Option<Control> {
    ending().and_then(std::ptr::NonNull::new).map(Control)
}

/// While tasks are unwound, waits until `task` is completely unwound: what it borrows must outlive
/// it.
pub(crate) fn wait_until_unwound(task: TaskId) {
    let Some(engine) = ending() else { return };
    // SAFETY: see `ending`.
    while unsafe { (&(*engine).fibers)[task.index()].is_some() } {
        wait(engine);
    }
}

impl Control {
    /// Suspends the running task `me`. Returns whether the execution was abandoned meanwhile.
    pub(super) fn suspend(self, me: TaskId) -> bool {
        let engine = self.engine();
        if engine.is_panicking(me) {
            let task = &mut engine.tasks[me.index()];
            task.is_panicking = true;
            self.switch(task.seat);
            let engine = self.engine();
            engine.tasks[me.index()].is_panicking = false;
            // A second panic during unwinding would abort the process.
            return engine.is_ending;
        }
        self.suspend_not_unwinding(me)
    }

    /// The same for a task that is not unwinding.
    #[inline(always)]
    pub(super) fn suspend_not_unwinding(self, me: TaskId) -> bool {
        let task = &mut self.engine().tasks[me.index()];
        task.has_panicked = false;
        self.switch(task.seat);
        if self.engine().is_ending {
            panic::resume_unwind(Box::new(Abandoned));
        }
        false
    }

    /// Switches to the next task. Returns when the running task, which has this seat, is resumed.
    #[inline(always)]
    fn switch(self, seat: Seat) {
        let engine = self.engine();
        match engine.next {
            Next::Task(next) if Seat::IS_DIRECT && engine.started.contains(next) => {
                engine.current = next;
                let other = engine.tasks[next.index()].seat;
                if let Some(foreign) = engine.foreign {
                    foreign.enter(next, self);
                }
                // SAFETY: the first is running, and the other is suspended at a point.
                unsafe { seat.hand_to(other) };
            }
            // SAFETY: this is the seat of the running task.
            Next::Task(_) | Next::Start | Next::None => unsafe { seat.suspend() },
        }
    }

    /// Ends the execution at `place`, because there are as many tasks as possible.
    #[track_caller]
    pub(super) fn cut_for_tasks(self, place: Place) -> ! {
        let engine = self.engine();
        engine.note_unended(place, Excess::Tasks);
        engine.limit = Some(ExecutionLimit::Tasks);
        engine.end_with(if engine.is_free { Ending::Redundant } else { Ending::Cut });
        let place = Place::caller();
        loop {
            self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
        }
    }
}

impl Engine {
    /// Whether the running task `task` unwinds. If another task was suspended while unwinding, the
    /// thread is panicking in any case, and what counts is whether this task has panicked since.
    #[inline]
    pub(super) fn is_panicking(&self, task: TaskId) -> bool {
        thread::panicking() && self.is_panic_of(task)
    }

    #[cold]
    fn is_panic_of(&self, task: TaskId) -> bool {
        let mut others = self.tasks.iter().filter(|it| it.pending.task != task);
        let has_panicked = self.tasks[task.index()].has_panicked;
        has_panicked || !others.any(|it| it.is_panicking && !self.ended.contains(it.pending.task))
    }

    /// Unwinds every unfinished task.
    ///
    /// # Safety
    ///
    /// `engine` is valid, and only the tasks resumed here use it.
    pub(super) unsafe fn unwind_all(engine: *mut Engine) {
        // SAFETY: the borrow ends before a task is resumed.
        let this = unsafe { &mut *engine };
        if this.fibers.iter().all(Option::is_none) {
            return;
        }
        this.is_ending = true;
        this.use_slow_path();
        if this.foreign.is_some() {
            return this.abandon_all();
        }
        let outer = ENDING.replace(engine);
        // SAFETY: guaranteed by the caller.
        let is_left = (0..UNWIND_ROUNDS_MAX).all(|_| unsafe { Engine::unwind_once(engine) });
        ENDING.set(outer);
        if is_left {
            // SAFETY: no task will be resumed.
            let this = unsafe { &mut *engine };
            this.fibers.iter_mut().filter_map(Option::take).for_each(mem::forget);
        }
    }

    /// Unwinds each remaining task as far as possible. Returns whether any remains.
    ///
    /// # Safety
    ///
    /// `engine` is valid, and only the tasks resumed here use it.
    unsafe fn unwind_once(engine: *mut Engine) -> bool {
        // SAFETY: no borrow is kept while a task is resumed.
        let this = unsafe { &mut *engine };
        let tasks = this.tasks.len();
        let mut is_left = false;
        // Started tasks borrow from the tasks that started them.
        for at in (0..tasks).rev() {
            // SAFETY: as above.
            let this = unsafe { &mut *engine };
            let Some(mut fiber) = this.fibers[at].take() else { continue };
            if !fiber.has_begun() {
                // SAFETY: only its body is on its stack, and this drops the body.
                unsafe { fiber.give_up() };
                stacks::give_back(fiber.into_stack());
                continue;
            }
            (this.current, this.is_unwinding, this.catches) = (TaskId(at as u8), true, 0);
            // SAFETY: the fiber is suspended and not done.
            unsafe { fiber.resume(&raw mut this.root) };
            // SAFETY: the task is suspended.
            let this = unsafe { &mut *engine };
            this.is_unwinding = false;
            if fiber.is_done() {
                stacks::give_back(fiber.into_stack());
            } else {
                this.fibers[at] = Some(fiber);
                is_left = true;
            }
        }
        is_left
    }
}
