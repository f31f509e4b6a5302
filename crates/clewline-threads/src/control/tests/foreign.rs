//! Tasks that run foreign code, and the other front end.

use std::{
    cell::Cell,
    ops::{ControlFlow, Range},
    rc::Rc,
};

use clewline_explore::{Access, Coverage, Ending, TaskId, explore, schedulers::exhaustive::Exhaustive};

use crate::{
    control::{Calls, Limits, Panic, ThreadProgram, control},
    instrument::{Control, Foreign, Need, Place, WakeCondition},
};

thread_local! {
    // Counts: executions begun, tasks entered, tasks left with none continuing, executions ended.
    static NOTIFICATIONS: Cell<[usize; 4]> = const { Cell::new([0; 4]) };
    // The running task.
    static INSIDE: Cell<Option<TaskId>> = const { Cell::new(None) };
}

fn count(at: usize) {
    let mut counts = NOTIFICATIONS.get();
    counts[at] += 1;
    NOTIFICATIONS.set(counts);
}

/// Counts its notifications.
struct CountingForeign;

impl Foreign for CountingForeign {
    fn stack(&self, _task: TaskId, stack: Range<usize>) {
        assert!(stack.start < stack.end);
    }

    fn begin(&self, _is_shown: bool) {
        assert_eq!(INSIDE.get(), None);
        count(0);
    }

    fn enter(&self, task: TaskId, _control: Control) {
        INSIDE.set(Some(task));
        count(1);
    }

    fn as_runtime(&self, code: &mut dyn FnMut()) {
        code();
    }

    fn write_count(&self) -> u64 {
        0
    }

    fn own_memory(&self, to: &mut Vec<Range<usize>>) {
        let counts = NOTIFICATIONS.with(|it| std::ptr::from_ref(it).addr());
        to.push(counts..counts + size_of::<[usize; 4]>());
    }

    fn leave(&self, task: TaskId) {
        assert_eq!(INSIDE.replace(None), Some(task));
        count(2);
    }

    fn end(&self, _ending: &Ending) -> Option<Panic> {
        assert_eq!(INSIDE.get(), None);
        count(3);
        None
    }
}

// Objects are identified by their addresses, whatever is there.
const WORD: usize = 0x1000;
const LOCK: usize = 0x2001;

/// Runs `call` in each of `columns` columns, under every schedule. Returns each ending with its
/// count, and the last panic message.
fn explore_all(columns: usize, call: impl Fn(Control, usize) -> i64 + 'static) -> (Vec<(String, u64)>, u64) {
    NOTIFICATIONS.set([0; 4]);
    let calls = Calls { columns: (0..columns).map(|it| vec![it]).collect(), ..Calls::default() };
    let call = move |(): &(), column: &usize| call(control().unwrap(), *column);
    let mut program = ThreadProgram::new(calls, || (), call, Limits::default()).foreign(&CountingForeign);
    let mut endings: Vec<(String, u64)> = Vec::new();
    let mut scheduler = Exhaustive::default();
    let (coverage, executions) = explore(&mut program, &mut scheduler, 100_000, |program, ending, _| {
        let panic = program.outcome().panic.map_or_else(String::new, |it| format!(" {}", it.1.message));
        let ending = format!("{ending:?}{panic}");
        match endings.iter_mut().find(|it| it.0 == ending) {
            Some(it) => it.1 += 1,
            None => endings.push((ending, 1)),
        }
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    let [begun, entered, left, ended] = NOTIFICATIONS.get();
    assert_eq!((begun, ended), (executions as usize, executions as usize));
    assert!(left <= entered);
    endings.sort();
    (endings, executions)
}

fn place() -> Place {
    Place::code(0x40)
}

#[test]
fn accesses_are_interleaved_in_every_order() {
    let (endings, _) = explore_all(2, |control, column| {
        for it in 0..3 {
            control.access_point(WORD, Access::Write, place());
            control.mark_changed(WORD + 8 * column + it);
        }
        0
    });
    assert_eq!(endings, [("Full".to_owned(), 20)]);
}

#[test]
fn tasks_that_block_forever_are_abandoned_where_they_are() {
    let owned = Rc::new(());
    let other = Rc::clone(&owned);
    let (endings, executions) = explore_all(2, move |control, _| {
        let _kept = &other;
        control.wait_for(LOCK, Access::Acquire, Need::AtMost(0), WakeCondition::Met, place());
        control.set_level_at(LOCK, 1);
        0
    });
    assert_eq!(endings, [("Stuck".to_owned(), executions)]);
    assert_eq!(Rc::strong_count(&owned), 1, "what they owned is given back");
}

#[test]
fn a_failure_ends_the_execution() {
    let (endings, _) = explore_all(2, |control, column| {
        control.access_point(WORD, Access::Write, place());
        if column == 1 {
            control.fail(Panic { message: "no".to_owned(), ..Panic::default() }, place());
        }
        control.access_point(WORD, Access::Write, place());
        0
    });
    // Before the first, between the two, and after the second access of the other task.
    assert_eq!(endings, [("Panicked no".to_owned(), 3)]);
}

#[test]
fn a_program_can_end_while_others_wait() {
    let (endings, _) = explore_all(2, |control, column| {
        if column == 1 {
            control.wait_for(LOCK, Access::Acquire, Need::AtLeast(1), WakeCondition::Met, place());
        }
        control.access_point(WORD, Access::Write, place());
        control.end_execution(place())
    });
    assert_eq!(endings, [("Full".to_owned(), 1)]);
}

#[test]
fn tasks_start_others_and_wait_for_them() {
    let (endings, executions) = explore_all(1, |control, _| {
        let body = || {
            let control = control_here();
            control.access_point(WORD, Access::Write, place());
        };
        let [one, other] = [control.start(body, place()), control.start(body, place())];
        control.join(one, place());
        control.join(other, place());
        0
    });
    assert_eq!(endings, [("Full".to_owned(), executions)]);
    assert!(2 <= executions, "either may be first");
}

fn control_here() -> Control {
    control().unwrap()
}

#[test]
fn a_task_that_exits_has_ended() {
    let (endings, _) = explore_all(1, |control, _| {
        let body = || control_here().end_task();
        let task = control.start(body, place());
        control.join(task, place());
        0
    });
    assert_eq!(endings, [("Full".to_owned(), 1)]);
}
