//! The callbacks around tasks and executions.

use std::ops::Range;

use clewline_explore::{Ending, TaskId, TaskSet};
use clewline_threads::{
    control::{FailureKind, Panic, Place},
    instrument::{Control, Foreign},
};

use super::{
    calls_out,
    current_task::{self, RuntimeCell},
    entry, exit, heap, interpose, output, park, places, races, register, snapshot, unseen, watchdog,
};

/// The code under test, as the engine sees it.
#[derive(Debug)]
pub(super) struct ForeignCode;

/// Tasks whose thread-local data is in the initial state.
static FRESH_TASKS: RuntimeCell<TaskSet> = RuntimeCell::new(TaskSet::EMPTY);

impl Foreign for ForeignCode {
    fn stack(&self, task: TaskId, stack: Range<usize>) {
        current_task::set_stack(task, &stack);
    }

    fn begin(&self, is_shown: bool) {
        park::begin();
        snapshot::restore();
        heap::reset();
        interpose::begin_keys();
        interpose::begin_threads();
        interpose::begin_time();
        watchdog::note_execution();
        entry::begin_blocks();
        entry::begin_annotations();
        races::begin(is_shown);
        calls_out::begin();
        register::begin();
        exit::begin();
        current_task::reset_idle();
        current_task::begin_locks();
        FRESH_TASKS.set(TaskSet::EMPTY);
        output::silence();
    }

    fn enter(&self, task: TaskId, control: Control) {
        let fresh = FRESH_TASKS.get();
        if !fresh.contains(task) {
            park::refresh(task);
            races::note_task(task);
            unseen::note_task(fresh == TaskSet::EMPTY);
            control.predecessors().iter().for_each(|it| races::order_after(task, it));
            FRESH_TASKS.set(fresh.union(TaskSet::only(task)));
        }
        calls_out::resume(task);
        current_task::enter(task, control, park::pointer_of(task));
        park::become_task(task);
    }

    fn leave(&self, task: TaskId) {
        calls_out::suspend(task);
        park::become_itself();
        current_task::leave();
    }

    fn shown_place(&self, place: Place) -> Place {
        let address = place.address().map(|it| current_task::as_runtime(|| places::own_caller(it)));
        address.map_or(place, Place::code)
    }

    fn as_runtime(&self, code: &mut dyn FnMut()) {
        current_task::as_runtime(code);
    }

    fn write_count(&self) -> u64 {
        current_task::write_count()
    }

    fn own_memory(&self, to: &mut Vec<Range<usize>>) {
        current_task::own_memory(to);
        races::own_memory(to);
        interpose::own_time_memory(to);
    }

    fn end(&self, ending: &Ending) -> Option<Panic> {
        output::unsilence();
        unseen::end_execution();
        match ending {
            Ending::Full => register::finish(),
            Ending::Stuck
            | Ending::Panicked
            | Ending::Cut
            | Ending::Redundant
            | Ending::Restart
            | Ending::Diverged(_)
            | Ending::Refused(_) => (),
        }
        // A failure while the subject was constructed counts as well, unless the ending is worse.
        let is_wrong = matches!(ending, Ending::Full | Ending::Stuck | Ending::Cut);
        register::failure().filter(|_| is_wrong).map(|message| Panic {
            kind: FailureKind::Failure,
            message,
            ..Panic::default()
        })
    }
}
