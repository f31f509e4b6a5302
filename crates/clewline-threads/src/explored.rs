//! Small programs with known outcomes, for tests.

use std::{
    cell::Cell,
    collections::BTreeSet,
    ops::ControlFlow,
    sync::atomic::{AtomicI64, Ordering},
};

use clewline_explore::{Coverage, Ending, Limit, Scheduler, explore, schedulers::exhaustive::Exhaustive};

use crate::{
    control::{Calls, Limits, ThreadProgram, explorer::explorer_local},
    sync::atomic::AtomicU32,
};

explorer_local! {
    static ALIVE: Cell<i64> = const { Cell::new(0) };
}

/// A value that must not exist after an execution.
pub(crate) struct Counted(pub(crate) i32);

impl Counted {
    pub(crate) fn new(value: i32) -> Counted {
        ALIVE.set(ALIVE.get() + 1);
        Counted(value)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

/// Every outcome of `tasks` tasks that make one call each: their results, `-` for a task without
/// one, and the panic message if a task panicked.
pub(crate) fn outcomes<T: 'static>(
    scheduler: &mut dyn Scheduler,
    limits: Limits,
    tasks: usize,
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, usize) -> i32 + 'static,
) -> BTreeSet<String> {
    let columns = (0..tasks).map(|it| vec![it]).collect();
    let call = move |it: &T, task: &usize| {
        let _on_the_stack = Counted::new(0);
        call(it, *task)
    };
    let mut program = ThreadProgram::new(Calls { columns, ..Calls::default() }, make, call, limits);
    let mut outcomes = BTreeSet::new();
    let (coverage, _) = explore(&mut program, scheduler, 200_000, |program, ending, _| {
        assert_eq!(ALIVE.get(), 0, "nothing leaks");
        let outcome = program.outcome();
        let results = outcome.operations.iter().map(|it| match &it.ret {
            Some((_, result)) => result.to_string(),
            None => "-".to_owned(),
        });
        let mut text = results.collect::<Vec<_>>().join(" ");
        let (panic, limit) = (outcome.panic.map(|it| it.1.message), program.limit());
        assert_eq!(panic.is_some(), *ending == Ending::Panicked);
        assert_eq!(limit.is_some(), *ending == Ending::Cut);
        text.extend(panic.map(|it| format!(": {it}")));
        text.extend(limit.map(|it| format!(" cut: {it:?}")));
        outcomes.insert(text);
        ControlFlow::Continue(())
    });
    assert!(matches!(coverage, Coverage::Exhausted | Coverage::Limited(Limit::Cut(_))), "{coverage:?}");
    outcomes
}

/// Checks that these are all outcomes.
#[track_caller]
pub(crate) fn check<T: 'static>(
    tasks: usize,
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, usize) -> i32 + 'static,
    expected: &[&str],
) {
    let found = outcomes(&mut Exhaustive::default(), Limits::default(), tasks, make, call);
    let expected: BTreeSet<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(found, expected);
}

/// The same; and real threads produce no other outcomes. No thread may block forever.
#[track_caller]
pub(crate) fn check_with_threads<T: Sync + 'static>(
    tasks: usize,
    make: impl Fn() -> T + Clone + 'static,
    call: impl Fn(&T, usize) -> i32 + Clone + Sync + 'static,
    expected: &[&str],
) {
    check(tasks, make.clone(), call.clone(), expected);
    for _ in 0..50 {
        let subject = make();
        let results: Vec<AtomicI64> = (0..tasks).map(|_| AtomicI64::new(i64::MAX)).collect();
        std::thread::scope(|scope| {
            for (task, result) in results.iter().enumerate() {
                let (subject, call) = (&subject, &call);
                scope.spawn(move || result.store(call(subject, task).into(), Ordering::Relaxed));
            }
        });
        let results: Vec<String> = results.iter().map(|it| it.load(Ordering::Relaxed).to_string()).collect();
        let found = results.join(" ");
        assert!(expected.contains(&&*found), "real threads have {found}");
    }
}

/// A number that tasks share.
pub(crate) struct Number(AtomicU32);

impl Number {
    pub(crate) fn new(value: i32) -> Number {
        Number(AtomicU32::new(value as u32))
    }

    #[track_caller]
    pub(crate) fn load(&self) -> i32 {
        self.0.load(Ordering::SeqCst) as i32
    }

    #[track_caller]
    pub(crate) fn store(&self, value: i32) {
        self.0.store(value as u32, Ordering::SeqCst);
    }

    /// Returns the previous value.
    #[track_caller]
    pub(crate) fn add(&self, value: i32) -> i32 {
        self.0.fetch_add(value as u32, Ordering::SeqCst) as i32
    }
}
