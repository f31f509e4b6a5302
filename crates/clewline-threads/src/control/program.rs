//! Programs: the calls of a matrix, made on a subject by one task a column.

use std::{
    cell::RefCell,
    fmt,
    panic::{self, AssertUnwindSafe},
    rc::Rc,
};

use clewline_core::ResultId;
use clewline_explore::{Ending, Schedule, Scheduler, System, TaskId, TaskSet};

use super::{
    engine::{Engine, Foreign, Limit, Limits, Moment, Pending, Points, control},
    leaks::{self, Leak},
    construction::construct,
    memory::Memory,
    panics::Panic,
    place::Place,
    races::Race,
};

/// Which calls are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls<C> {
    /// Before all others, one after the other.
    pub initial: Vec<C>,
    /// At the same time: one column a task.
    pub columns: Vec<Vec<C>>,
    /// After all others, one after the other.
    pub last: Vec<C>,
}

impl<C> Calls<C> {
    /// Every call with its operation's number and the number of its process: the initial ones, column by column, the last ones.
    /// Those before and after
    /// are made by processes of their own, whose numbers come after those of the columns.
    pub fn operations(&self) -> impl Iterator<Item = (usize, &C)> {
        let n = self.columns.len();
        let last = n + usize::from(!self.initial.is_empty());
        let initial = self.initial.iter().map(move |it| (n, it));
        let columns =
            self.columns.iter().enumerate().flat_map(|(at, calls)| calls.iter().map(move |it| (at, it)));
        initial.chain(columns).chain(self.last.iter().map(move |it| (last, it)))
    }

    /// The same calls, each as `map` has it.
    ///
    /// # Errors
    ///
    /// The first that `map` answers.
    pub fn try_map<D, E>(&self, mut map: impl FnMut(&C) -> Result<D, E>) -> Result<Calls<D>, E> {
        let mut all = |calls: &[C]| calls.iter().map(&mut map).collect::<Result<Vec<D>, E>>();
        let initial = all(&self.initial)?;
        let columns = self.columns.iter().map(|it| all(it)).collect::<Result<Vec<Vec<D>>, E>>()?;
        Ok(Calls { initial, columns, last: all(&self.last)? })
    }

    /// As many calls in each part, without what is called.
    fn shape(&self) -> Calls<()> {
        let all = |calls: &[C]| vec![(); calls.len()];
        let columns = self.columns.iter().map(|it| all(it)).collect();
        Calls { initial: all(&self.initial), columns, last: all(&self.last) }
    }

    /// How many calls there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.initial.len() + self.columns.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What became of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<R> {
    /// The step before which it was called, from 1; `None` if it was not.
    pub call: Option<u32>,
    /// The step after which it returned, and the answer.
    pub ret: Option<(u32, R)>,
}

impl<R> Operation<R> {
    /// Whether it returned before `other` was called.
    #[must_use]
    pub fn precedes(&self, other: &Operation<R>) -> bool {
        matches!((&self.ret, other.call), (Some((ret, _)), Some(call)) if *ret < call)
    }
}

/// What an execution left, besides how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<R> {
    /// In the order of [`Calls::operations`]. An operation that was about to be called when nothing could move any more counts as
    /// called, after everything else.
    pub operations: Vec<Operation<R>>,
    /// How many steps were made.
    pub steps: u32,
    /// Who panicked, and how.
    pub panic: Option<(TaskId, Panic)>,
    /// Two accesses to a cell that nothing orders, if there were any; a [certain](Race::is_certain) race if there is one.
    pub race: Option<Race>,
    /// What was made in a full execution, or with the subject, and is still there though the subject is gone.
    pub leaks: Vec<Leak>,
}

impl Outcome<ResultId> {
    /// What tells its history from others: the results, and what precedes what.
    pub fn canonical(&self, key: &mut Vec<u32>) {
        key.clear();
        for operation in &self.operations {
            // If it has not returned, the operations before it say whether it was called.
            key.push(operation.ret.map_or(0, |(_, result)| result.0 + 1));
            let (mut before, mut bits) = (0_u32, 0);
            for other in &self.operations {
                before = before << 1 | u32::from(other.precedes(operation));
                bits += 1;
                if bits == u32::BITS {
                    key.push(before);
                    (before, bits) = (0, 0);
                }
            }
            key.push(before);
        }
    }
}

type Make<T> = Box<dyn Fn() -> T>;
type Call<T, C, R> = Box<dyn Fn(&T, &C) -> R>;

/// Calls on a subject, as something to explore.
pub struct Program<T, C, R> {
    typed: Rc<Typed<T, C, R>>,
    execution: Execution,
}

/// All of a program that knows its types.
struct Typed<T, C, R> {
    make: Make<T>,
    call: Call<T, C, R>,
    calls: Calls<C>,
    results: RefCell<Vec<Option<R>>>,
}

/// A subject and the calls on it, their types forgotten: what runs them compiles once.
trait Callable {
    /// Makes the call at that place of a part, which is that operation, and keeps what it returns.
    fn call(&self, part: Part, at: usize, operation: usize);
}

struct TypedSubject<T, C, R> {
    subject: T,
    typed: Rc<Typed<T, C, R>>,
}

impl<T, C, R> Callable for TypedSubject<T, C, R> {
    fn call(&self, part: Part, at: usize, operation: usize) {
        let result = (self.typed.call)(&self.subject, &part.of(&self.typed.calls)[at]);
        if let Some(control) = control() {
            control.ret();
            self.typed.results.borrow_mut()[operation] = Some(result);
        }
    }
}

/// All of a program that does not know its types.
struct Execution {
    // How many calls there are in each part.
    shape: Calls<()>,
    engine: Engine,
    pending: Vec<Pending>,
    is_stuck: bool,
    leaks: Vec<Leak>,
}

impl<T, C, R> fmt::Debug for Program<T, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("engine", &self.execution.engine).finish_non_exhaustive()
    }
}

impl<T: 'static, C: 'static, R: Clone + 'static> Program<T, C, R> {
    /// `make` makes a fresh subject for each execution, and `call` makes a call on it.
    pub fn new(
        calls: Calls<C>,
        make: impl Fn() -> T + 'static,
        call: impl Fn(&T, &C) -> R + 'static,
        limits: Limits,
    ) -> Self {
        let results = RefCell::new(vec![None; calls.len()]);
        let execution = Execution::new(calls.shape(), limits);
        let typed = Rc::new(Typed { make: Box::new(make), call: Box::new(call), calls, results });
        Program { typed, execution }
    }

    /// The same, in another model of memory.
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.set_memory(memory);
        self
    }

    /// The same, with calls that run foreign code. `foreign` is told what happens.
    #[must_use]
    pub fn foreign(mut self, foreign: &'static dyn Foreign) -> Self {
        self.execution.engine.set_foreign(foreign);
        self
    }

    /// Has executions from the next one on in another model of memory.
    pub fn set_memory(&mut self, memory: Memory) {
        self.execution.engine.set_memory(memory);
    }

    /// Keeps schedules from the next execution on, and every step if `moments`.
    pub fn keep(&mut self, schedule: bool, moments: bool) {
        self.execution.engine.keep(schedule, moments);
    }

    /// Asks at these points as well, from the next execution on.
    pub fn set_points(&mut self, points: Points) {
        self.execution.engine.set_points(points);
    }

    /// What the last execution left.
    #[must_use]
    pub fn outcome(&self) -> Outcome<R> {
        let results = self.typed.results.borrow();
        let operations = results.iter().enumerate().map(|(at, result)| {
            let (call, ret) = self.execution.times(at);
            Operation { call, ret: result.clone().map(|it| (ret, it)) }
        });
        Outcome {
            operations: operations.collect(),
            steps: self.execution.engine.steps(),
            panic: self.execution.engine.panic().cloned(),
            race: self.execution.engine.race(),
            leaks: self.execution.leaks.clone(),
        }
    }

    /// How many steps the last execution made.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.execution.engine.steps()
    }

    /// Which limit cut the last execution, if one did.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        self.execution.engine.limit()
    }

    /// Where a loop is that was taken for one that waits and may as well count, if there was one in any execution. Then it is not known
    /// what happens if it ends while others could move.
    #[must_use]
    pub fn guess(&self) -> Option<Place> {
        self.execution.engine.guess()
    }

    /// What was chosen in the last execution, if that was [kept](Self::keep).
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        self.execution.engine.schedule()
    }

    /// Its steps, if they were kept.
    pub fn moments(&mut self) -> Vec<Moment> {
        self.execution.engine.moments()
    }

    /// What those were about to do who could not go on, or who did not do what they did before.
    #[must_use]
    pub fn pending(&self) -> &[Pending] {
        &self.execution.pending
    }

    /// The calls.
    #[must_use]
    pub fn calls(&self) -> &Calls<C> {
        &self.typed.calls
    }
}

/// Whose calls a task makes.
#[derive(Clone, Copy)]
enum Part {
    Initial,
    Column(usize),
    Last,
}

impl Part {
    fn of<C>(self, calls: &Calls<C>) -> &[C] {
        match self {
            Part::Initial => &calls.initial,
            Part::Column(at) => &calls.columns[at],
            Part::Last => &calls.last,
        }
    }
}

impl<T: 'static, C: 'static, R: Clone + 'static> System for Program<T, C, R> {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let typed = &self.typed;
        typed.results.borrow_mut().fill(None);
        let make = || -> Rc<dyn Callable> {
            let subject = (typed.make)();
            Rc::new(TypedSubject { subject, typed: Rc::clone(typed) })
        };
        self.execution.run(&make, scheduler)
    }
}

impl Execution {
    fn new(shape: Calls<()>, limits: Limits) -> Execution {
        let engine = Engine::new(limits);
        Execution { shape, engine, pending: Vec::new(), is_stuck: false, leaks: Vec::new() }
    }

    /// The step before which an operation was called, and the one after which it returned if it did.
    fn times(&self, operation: usize) -> (Option<u32>, u32) {
        let times = self.engine.times()[operation];
        // Of each task that waits before the first access of an operation, that operation.
        let is_about = || self.pending.iter().any(|it| it.operation == Some(operation));
        let late = (self.is_stuck && is_about()).then_some(self.engine.steps() + 1);
        ((times.call != 0).then_some(times.call).or(late), times.ret)
    }

    /// Adds the task that makes the calls of `part`, the first of which is operation `first`.
    fn add(&mut self, subject: &Rc<dyn Callable>, part: Part, first: usize, after: TaskSet) -> TaskId {
        let (subject, len) = (Rc::clone(subject), part.of(&self.shape).len());
        let body = move || {
            for at in 0..len {
                let operation = first + at;
                if let Some(control) = control() {
                    control.call(operation as u32);
                }
                subject.call(part, at, operation);
            }
        };
        self.engine.add(body, after)
    }

    fn run(&mut self, make: &dyn Fn() -> Rc<dyn Callable>, scheduler: &mut dyn Scheduler) -> Ending {
        self.engine.prepare(self.shape.len());
        let foreign = self.engine.foreign();
        let is_shown = self.engine.is_shown();
        foreign.iter().for_each(|it| it.begin(is_shown));
        let watch = leaks::LeakDetector::begin();
        let subject = match panic::catch_unwind(AssertUnwindSafe(|| construct(make))) {
            Ok(subject) => subject,
            Err(payload) => {
                drop(watch);
                return self.engine.panicked_outside(&*payload);
            }
        };
        let mut first = 0;
        // Columns come first, so that the first column is the first task, whoever comes before it.
        let columns = self.shape.columns.len();
        let has_initial = !self.shape.initial.is_empty();
        let opener = TaskId(columns as u8);
        let after_initial = if has_initial { TaskSet::only(opener) } else { TaskSet::EMPTY };
        first += self.shape.initial.len();
        let mut all = after_initial;
        for column in 0..columns {
            all.insert(self.add(&subject, Part::Column(column), first, after_initial));
            first += self.shape.columns[column].len();
        }
        if has_initial {
            self.add(&subject, Part::Initial, 0, TaskSet::EMPTY);
        }
        if !self.shape.last.is_empty() {
            self.add(&subject, Part::Last, first, all);
        }
        let ending = self.engine.run(scheduler);
        if foreign.is_some() {
            reclaim(&subject);
        }
        self.is_stuck = ending == Ending::Stuck;
        let is_asked = self.is_stuck || matches!(ending, Ending::Diverged(_));
        self.pending = if is_asked { self.engine.pending() } else { Vec::new() };
        let dropped = panic::catch_unwind(AssertUnwindSafe(|| construct(|| drop(subject))));
        self.leaks = watch.end();
        let ending = match (dropped, ending) {
            (Err(payload), Ending::Full | Ending::Stuck | Ending::Cut) => {
                self.engine.panicked_outside(&*payload)
            }
            (_, ending) => ending,
        };
        let ending = match foreign.and_then(|it| it.end(&ending)) {
            Some(panic) => self.engine.failed_outside(panic),
            None => ending,
        };
        if ending != Ending::Full {
            self.leaks.clear();
        }
        ending
    }
}

/// Takes back what tasks of foreign code own that were given up where they stood.
fn reclaim(subject: &Rc<dyn Callable>) {
    while 1 < Rc::strong_count(subject) {
        // SAFETY: only the program and tasks that were given up own it, and the frames of those never run again; each of
        // them owns it once.
        unsafe { Rc::decrement_strong_count(Rc::as_ptr(subject)) };
    }
}
