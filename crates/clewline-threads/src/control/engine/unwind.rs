//! Executions that are given up: every task is unwound, so that nothing leaks.
//!
//! A task that is given up panics where it waits, with a payload of our own. What it drops meanwhile may need something that
//! another task has, which is being given up as well; then it gives way, and that one is unwound first. Only if all that are
//! left wait for one another, or run for ever, are they left where they are: their stacks leak, and nothing hangs.

use std::{
    any::Any,
    mem, panic,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use clewline_explore::{Access, Ending, SharedId, TaskId};

use super::{
    state::{Control, ENDING, Engine, Next},
    types::{Attempt, Limit},
};
use crate::control::{fiber::Seat, place::Place, stacks};

/// What a task panics with when it is given up.
struct Abandoned;

// So often may those that are left give way to one another.
const UNWIND_ROUNDS_MAX: u32 = 200;
// Whoever catches so often what it is given up with runs for ever.
const CATCHES_MAX: u32 = 100;
// A destructor that makes so many accesses may wait for another task.
const ACCESSES_BEFORE_YIELD: u32 = 1_000;

/// Another number for each execution.
pub(super) fn next_execution() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Whether a payload says that the task was given up. Whoever catches it lets it go on.
pub(crate) fn is_abandoned(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Abandoned>()
}

/// The engine whose tasks are unwound on this thread, if one of them is right now.
fn ending() -> Option<*mut Engine> {
    let engine = ENDING.try_with(std::cell::Cell::get).unwrap_or(std::ptr::null_mut());
    // SAFETY: `ENDING` is set only while `unwind_all` is on the stack of this thread with the engine borrowed, and it keeps
    // no borrow while a task is resumed. The same holds wherever the pointer is used below.
    (!engine.is_null() && unsafe { (*engine).is_unwinding }).then_some(engine)
}

/// What remains of a task comes to an access.
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

/// Lets other tasks that are given up be unwound first, if this is one. `false` if it is not.
pub(crate) fn give_way() -> bool {
    let Some(engine) = ending() else { return false };
    if !thread::panicking() {
        abandon_again(engine);
    }
    wait(engine);
    true
}

/// Somebody caught it, and goes on as if nothing had happened.
fn abandon_again(engine: *mut Engine) -> ! {
    // SAFETY: see `ending`.
    let caught = unsafe { &mut (*engine).catches };
    *caught += 1;
    if *caught <= CATCHES_MAX {
        panic::resume_unwind(Box::new(Abandoned));
    }
    loop {
        // It is left where it is.
        wait(engine);
    }
}

fn wait(engine: *mut Engine) {
    // SAFETY: see `ending`; and the seat is that of the task that runs.
    unsafe {
        let this = &mut *engine;
        this.accesses_since_yield = 0;
        let seat = this.tasks[this.current.index()].seat;
        seat.suspend();
    }
}

/// The execution whose tasks are unwound here: what was known of its objects can still be read.
pub(crate) fn ending_control() -> Option<Control> {
    ending().and_then(std::ptr::NonNull::new).map(Control)
}

/// Waits until nothing is left of `task`, if tasks are being unwound: what it borrows must live as long.
pub(crate) fn wait_until_unwound(task: TaskId) {
    let Some(engine) = ending() else { return };
    // SAFETY: see `ending`.
    while unsafe { (&(*engine).fibers)[task.index()].is_some() } {
        wait(engine);
    }
}

impl Control {
    /// Gives up the turn of `me`, who runs. Answers whether the execution was given up in the meantime.
    pub(super) fn suspend(self, me: TaskId) -> bool {
        let engine = self.engine();
        if engine.is_panicking(me) {
            let task = &mut engine.tasks[me.index()];
            task.is_panicking = true;
            self.switch(task.seat);
            let engine = self.engine();
            engine.tasks[me.index()].is_panicking = false;
            // A second panic while the first one unwinds would be the end of the process.
            return engine.is_ending;
        }
        self.suspend_not_unwinding(me)
    }

    /// The same, if `me` does not unwind.
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

    /// Lets whoever is next go on, and returns when it is the turn of the task again that runs, which has this seat.
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
                // SAFETY: the one runs, and the other has come to a point and can go on from there.
                unsafe { seat.hand_to(other) };
            }
            // SAFETY: it is the seat of the task that runs.
            Next::Task(_) | Next::Start | Next::None => unsafe { seat.suspend() },
        }
    }

    /// Ends the execution here, since a limit is reached.
    #[track_caller]
    pub(super) fn cut_execution(self, limit: Limit) -> ! {
        let engine = self.engine();
        engine.limit = Some(limit);
        engine.end_with(if engine.is_free { Ending::Redundant } else { Ending::Cut });
        let place = Place::caller();
        loop {
            self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
        }
    }
}

impl Engine {
    /// Whether `task`, which runs, unwinds. If one of the others has given up its turn while it was unwinding, this thread panics in any
    /// case, and what counts is whether this one has panicked since.
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

    /// Unwinds every task that has not ended.
    ///
    /// # Safety
    ///
    /// `engine` is valid, and nobody else uses it but the tasks that are resumed here.
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
        // SAFETY: as the caller says.
        let is_left = (0..UNWIND_ROUNDS_MAX).all(|_| unsafe { Engine::unwind_once(engine) });
        ENDING.set(outer);
        if is_left {
            // SAFETY: no task will be resumed.
            let this = unsafe { &mut *engine };
            this.fibers.iter_mut().filter_map(Option::take).for_each(mem::forget);
        }
    }

    /// Lets each task that is left unwind as far as it comes. Answers whether any is left.
    ///
    /// # Safety
    ///
    /// `engine` is valid, and nobody else uses it but the tasks that are resumed here.
    unsafe fn unwind_once(engine: *mut Engine) -> bool {
        // SAFETY: no borrow is kept while a task is resumed.
        let this = unsafe { &mut *engine };
        let tasks = this.tasks.len();
        let mut is_left = false;
        // Those who were started borrow from those who started them.
        for at in (0..tasks).rev() {
            // SAFETY: as above.
            let this = unsafe { &mut *engine };
            let Some(mut fiber) = this.fibers[at].take() else { continue };
            if !fiber.has_begun() {
                // SAFETY: nothing is on its stack but its body, which this drops.
                unsafe { fiber.give_up() };
                stacks::give_back(fiber.into_stack());
                continue;
            }
            (this.current, this.is_unwinding, this.catches) = (TaskId(at as u8), true, 0);
            // SAFETY: it has given up its turn, and is not done.
            unsafe { fiber.resume(&raw mut this.root) };
            // SAFETY: the task has given up its turn.
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
