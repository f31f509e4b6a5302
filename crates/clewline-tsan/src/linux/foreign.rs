//! What is done around tasks and executions.

use std::ops::Range;

use clewline_explore::{Ending, TaskId, TaskSet};
use clewline_threads::{
    control::Panic,
    instrument::{Control, Foreign},
};

use super::{
    heap,
    here::{self, Own},
    interpose, output, park, races, register, snapshot,
};

/// The code under test, as the engine knows it.
#[derive(Debug)]
pub(super) struct Code;

/// Tasks that have what a thread has when it starts.
static FRESH: Own<TaskSet> = Own::new(TaskSet::EMPTY);

impl Foreign for Code {
    fn stack(&self, task: TaskId, stack: Range<usize>) {
        here::set_stack(task, &stack);
    }

    fn begin(&self, is_shown: bool) {
        park::begin();
        snapshot::restore();
        heap::reset();
        interpose::begin_keys();
        interpose::begin_threads();
        interpose::begin_time();
        races::begin(is_shown);
        register::begin();
        here::reset_idle();
        here::begin_locks();
        FRESH.set(TaskSet::EMPTY);
        output::hush();
    }

    fn enter(&self, task: TaskId, control: Control) {
        let fresh = FRESH.get();
        if !fresh.contains(task) {
            park::refresh(task);
            races::comes(task);
            control.begins_after().iter().for_each(|it| races::follows(task, it));
            FRESH.set(fresh.union(TaskSet::only(task)));
        }
        here::enter(task, control, park::pointer_of(task));
        park::become_task(task);
    }

    fn leave(&self, _task: TaskId) {
        park::become_itself();
        here::leave();
    }

    fn mind(&self, look: &dyn Fn() -> Option<u64>) -> Option<u64> {
        here::aside(look).map(|it| it.wrapping_add(here::written()))
    }

    fn end(&self, ending: &Ending) -> Option<Panic> {
        output::speak();
        match ending {
            Ending::Full => register::finish(),
            Ending::Stuck
            | Ending::Panicked
            | Ending::Cut
            | Ending::Redundant
            | Ending::Restart
            | Ending::Diverged(_) => (),
        }
        // What failed while the subject was made counts as well, unless there is worse.
        let is_wrong = matches!(ending, Ending::Full | Ending::Stuck | Ending::Cut);
        register::failure().filter(|_| is_wrong).map(|message| Panic { message, ..Panic::default() })
    }
}
