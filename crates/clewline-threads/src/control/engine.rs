//! The engine: what is enabled, who is next, and when an execution is over.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe, Location},
    ptr::{self, NonNull},
};

use clewline_explore::{
    Access, Choice, Diverged, Ending, Pick, Point, Schedule, Scheduler, SharedId, Step, TaskId, TaskSet,
};
use corosensei::{Coroutine, CoroutineResult, Yielder, stack::DefaultStack};

use super::{Panic, fair::Fairness, objects::Objects, panics, spin::Rounds, stacks};
use crate::noise::Attention;

/// How long an execution may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After so many steps an execution is cut.
    pub steps: u32,
    /// After so many rounds in which those who spin saw nothing new, and nobody else could move, they are stuck.
    pub rounds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 20_000, rounds: 1_000 }
    }
}

/// What must hold of an object's level before a task can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    AtLeast(i32),
    AtMost(i32),
}

impl Need {
    #[inline]
    fn is_met(self, level: i32) -> bool {
        match self {
            Need::Nothing => true,
            Need::AtLeast(least) => least <= level,
            Need::AtMost(most) => level <= most,
        }
    }
}

/// What a task waits for besides its [`Need`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Nothing else.
    Met,
    /// Somebody must have [woken](Control::wake) it.
    Woken,
    /// The same, or its time is up.
    WokenOrLate,
    /// Its need need not be met: its time may be up.
    MetOrLate,
}

/// A visible access that a task is about to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) access: Access,
    pub(crate) need: Need,
    pub(crate) until: Until,
    /// Tasks that must have ended.
    pub(crate) after: TaskSet,
}

impl Attempt {
    /// One that is never kept waiting.
    pub(crate) const fn new(access: Access) -> Attempt {
        Attempt { access, need: Need::Nothing, until: Until::Met, after: TaskSet::EMPTY }
    }

    pub(crate) const fn needing(self, need: Need) -> Attempt {
        Attempt { need, ..self }
    }

    pub(crate) const fn until(self, until: Until) -> Attempt {
        Attempt { until, ..self }
    }

    pub(crate) const fn after(self, task: TaskId) -> Attempt {
        Attempt { after: TaskSet::only(task), ..self }
    }
}

/// What a task is about to do, or waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Who.
    pub task: TaskId,
    /// What.
    pub access: Access,
    /// On which object.
    pub object: SharedId,
    /// Where in the source.
    pub place: &'static Location<'static>,
    /// The operation that it was about to call, if it had not begun yet.
    pub operation: Option<usize>,
    /// Whether it runs round a loop that waits.
    pub spins: bool,
}

/// A step of an execution that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What was done.
    pub step: Step,
    /// Where in the source.
    pub place: &'static Location<'static>,
    /// What was read and written, in words: `3`, `3 -> 4`.
    pub detail: String,
}

type Fiber = Coroutine<(), (), (), DefaultStack>;
pub(super) type Body = Box<dyn FnOnce()>;

struct Task {
    pending: Step,
    place: &'static Location<'static>,
    need: Need,
    until: Until,
    is_woken: bool,
    is_ended: bool,
    /// Has come to its first point.
    is_started: bool,
    /// The next access is the first of an operation.
    calls: bool,
    operation: u32,
    /// It said that it lets others run.
    yields: bool,
    /// Its last hint was not followed by an access.
    is_idle: bool,
    /// The objects of the loop that it runs round, if it waits for one of them to change.
    spins: Option<Vec<SharedId>>,
    rounds: Rounds,
    /// Tasks that must end before it begins.
    after: TaskSet,
    fiber: Option<Fiber>,
    yielder: *const Yielder<(), ()>,
}

/// When operations were called and returned, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// The step it was called with: from 1. 0 if it was not.
    pub(super) call: u32,
    /// The step it returned with. 0 if it has not.
    pub(super) ret: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Nobody: the execution is over.
    Nobody,
    Task(TaskId),
    /// Tasks were started that have not come to a point yet.
    Start,
}

pub(crate) struct Engine {
    // The life is that of the call to `run`, in which alone it is used.
    scheduler: Option<NonNull<dyn Scheduler>>,
    limits: Limits,
    tasks: Vec<Task>,
    current: TaskId,
    next: Next,
    /// The step that is being made; its task is whoever runs.
    step: Option<Step>,
    steps: u32,
    is_free: bool,
    /// The scheduler ended the execution.
    is_stopped: bool,
    ending: Option<Ending>,
    objects: Objects,
    fairness: Fairness,
    /// Those who could move, but let others go first.
    held_back: TaskSet,
    spinning: TaskSet,
    idle_rounds: u32,
    enabled: Vec<Step>,
    times: Vec<Times>,
    panic: Option<(TaskId, Panic)>,
    /// Releases of locks are points as well: someone tries locks without waiting.
    has_release_points: bool,
    schedule: Option<Vec<Pick>>,
    moments: Option<Vec<Moment>>,
    unwinding: Vec<Fiber>,
}

thread_local! {
    // Of the execution whose tasks run on this thread.
    static ENGINE: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
    // Of the execution whose tasks are being unwound on this thread.
    static ENDING: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
}

/// What the primitives of [`sync`](crate::sync) know of the execution they are in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control(NonNull<Engine>);

/// The execution that this code is a task of, if it is one. On a thread of a crew, this is a [point](crate::point).
#[inline(always)]
#[track_caller]
pub(crate) fn control() -> Option<Control> {
    if !crate::noise::is_attention_wanted() {
        return None;
    }
    let engine = ENGINE.try_with(Cell::get).ok().and_then(NonNull::new);
    if engine.is_none() {
        crate::noise::attend();
    }
    engine.map(Control)
}

/// The same, and never a point: for what is done when something is dropped.
#[inline(always)]
pub(crate) fn here() -> Option<Control> {
    if !crate::noise::is_attention_wanted() {
        return None;
    }
    ENGINE.try_with(Cell::get).ok().and_then(NonNull::new).map(Control)
}

/// Whether this code is a task.
pub(crate) fn is_controlled() -> bool {
    ENGINE.try_with(|it| !it.get().is_null()).unwrap_or(false)
}

/// Whether this code is what remains of a task that has been given up.
pub(crate) fn is_ending() -> bool {
    ENDING.try_with(|it| !it.get().is_null()).unwrap_or(false)
}

impl Control {
    #[allow(clippy::mut_from_ref, reason = "the handle is not the engine")]
    fn engine(&self) -> &mut Engine {
        // SAFETY: the pointer was taken from `ENGINE`, which is set only while `Engine::run` is on the stack of this very thread
        // with the engine borrowed for as long. Only one task runs at a time, and no borrow made here is kept across
        // a switch or a call of code that is not ours: callers use it for one expression or within one method.
        unsafe { &mut *self.0.as_ptr() }
    }

    /// Who runs.
    pub(crate) fn me(self) -> TaskId {
        self.engine().current
    }

    /// Comes to a point: returns when the task has been chosen to make this access to the object at `address`. Answers
    /// whether what it needed and waited for is there; if not, its time is up.
    #[inline]
    #[track_caller]
    pub(crate) fn attempt<T: ?Sized>(self, object: &T, attempt: Attempt) -> bool {
        let place = Location::caller();
        let engine = self.engine();
        let id = engine.objects.id(ptr::from_ref(object).cast::<()>() as usize);
        self.arrive(id, attempt, place)
    }

    /// Comes to a point before an access that is never kept waiting.
    #[inline]
    #[track_caller]
    pub(crate) fn access<T: ?Sized>(self, object: &T, access: Access) {
        let place = Location::caller();
        let engine = self.engine();
        let id = engine.objects.id(ptr::from_ref(object).cast::<()>() as usize);
        self.arrive(id, Attempt::new(access), place);
    }

    #[inline]
    fn arrive(self, object: SharedId, attempt: Attempt, place: &'static Location<'static>) -> bool {
        let engine = self.engine();
        let me = engine.current;
        let is_started = engine.arrive(me, object, attempt, place);
        // The first time, the task has only come from its beginning, and nobody decides yet.
        let goes_on = is_started && engine.decide() && engine.next == Next::Task(me);
        if !goes_on {
            let yielder = engine.tasks[me.index()].yielder;
            // SAFETY: a task's yielder lives on its own stack as long as its body runs, which it does here.
            unsafe { (*yielder).suspend(()) };
        }
        self.engine().begin(me)
    }

    /// The object has changed: whoever waits for that goes on, and this task is not running idle.
    #[inline]
    pub(crate) fn changed<T: ?Sized>(self, object: &T) {
        let engine = self.engine();
        let id = engine.objects.id(ptr::from_ref(object).cast::<()>() as usize);
        engine.changed(id);
    }

    /// Whatever the kind of the object makes of it.
    pub(crate) fn level<T: ?Sized>(self, object: &T) -> i32 {
        let engine = self.engine();
        let id = engine.objects.id(ptr::from_ref(object).cast::<()>() as usize);
        engine.objects.level(id)
    }

    /// Sets it. Whoever [needed](Need) that can go on.
    pub(crate) fn set_level<T: ?Sized>(self, object: &T, level: i32) {
        let engine = self.engine();
        let id = engine.objects.id(ptr::from_ref(object).cast::<()>() as usize);
        if engine.objects.level(id) != level {
            engine.objects.state(id).level = level;
            engine.changed(id);
        }
    }

    /// The object is dropped: what comes to its address next is another one.
    pub(crate) fn forget<T: ?Sized>(self, object: &T) {
        self.engine().objects.forget(ptr::from_ref(object).cast::<()>() as usize);
    }

    /// Lets `task` go on, if it waits to be woken.
    pub(crate) fn wake(self, task: TaskId) {
        let engine = self.engine();
        engine.tasks[task.index()].is_woken = true;
        engine.wakes(task);
    }

    /// A number below `n`.
    pub(crate) fn value(self, n: u32) -> u32 {
        self.engine().value(n)
    }

    /// Starts a task.
    pub(crate) fn spawn(self, body: Body) -> TaskId {
        self.engine().spawn(body)
    }

    /// Whether `task` has ended.
    pub(crate) fn is_ended(self, task: TaskId) -> bool {
        self.engine().tasks[task.index()].is_ended
    }

    /// Says that the task waits for someone else.
    #[track_caller]
    pub(crate) fn hint(self) {
        let place = Location::caller();
        let engine = self.engine();
        let me = engine.current;
        let task = &mut engine.tasks[me.index()];
        task.yields = true;
        // Whoever only ever says so would never come to a point.
        if std::mem::replace(&mut task.is_idle, true) {
            self.arrive(SharedId::NONE, Attempt::new(Access::Local), place);
        } else {
            engine.spin(me, place, SharedId::NONE);
        }
    }

    /// Somebody tries a lock without waiting for it. Then it matters when a lock is released, and releases are points as
    /// well; if they were not so far, the exploration begins again.
    pub(crate) fn tries_locks(self) {
        self.engine().want_release_points();
    }

    /// Whether the release of a lock is a point.
    pub(crate) fn has_release_points(self) -> bool {
        self.engine().has_release_points
    }

    /// Says what was read or written, if anyone is going to look at it.
    #[inline]
    pub(crate) fn detail(self, detail: impl FnOnce() -> String) {
        let engine = self.engine();
        if let Some(moment) = engine.moments.as_mut().and_then(|it| it.last_mut()) {
            moment.detail = detail();
        }
    }

    pub(super) fn call(self, operation: u32) {
        let engine = self.engine();
        let task = &mut engine.tasks[engine.current.index()];
        (task.calls, task.operation) = (true, operation);
        task.rounds.clear();
        if task.spins.take().is_some() {
            engine.spinning.remove(engine.current);
        }
    }

    #[track_caller]
    pub(super) fn ret(self) {
        let engine = self.engine();
        if engine.tasks[engine.current.index()].calls {
            // An operation without a visible access has its place in the order all the same.
            self.arrive(SharedId::NONE, Attempt::new(Access::Local), Location::caller());
        }
        self.engine().returned();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

impl Engine {
    pub(super) fn new(limits: Limits) -> Engine {
        panics::keep();
        Engine {
            scheduler: None,
            limits,
            tasks: Vec::new(),
            current: TaskId(0),
            next: Next::Nobody,
            step: None,
            steps: 0,
            is_free: false,
            is_stopped: false,
            ending: None,
            objects: Objects::new(),
            fairness: Fairness::default(),
            held_back: TaskSet::EMPTY,
            spinning: TaskSet::EMPTY,
            idle_rounds: 0,
            enabled: Vec::new(),
            times: Vec::new(),
            panic: None,
            has_release_points: false,
            schedule: None,
            moments: None,
            unwinding: Vec::new(),
        }
    }

    /// Keeps the schedules of executions from now on, and every step if `moments`.
    pub(super) fn keep(&mut self, schedule: bool, moments: bool) {
        self.schedule = schedule.then(Vec::new);
        self.moments = moments.then(Vec::new);
    }

    pub(super) fn schedule(&self) -> Option<Schedule> {
        self.schedule.clone().map(Schedule)
    }

    pub(super) fn moments(&mut self) -> Vec<Moment> {
        self.moments.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn times(&self) -> &[Times] {
        &self.times
    }

    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    pub(super) fn panic(&self) -> Option<&(TaskId, Panic)> {
        self.panic.as_ref()
    }

    /// What those wait for who have not ended.
    pub(super) fn pending(&self) -> Vec<Pending> {
        let waiting = self.tasks.iter().filter(|it| !it.is_ended && it.is_started);
        waiting
            .map(|it| Pending {
                task: it.pending.task,
                access: it.pending.access,
                object: it.pending.object,
                place: it.place,
                operation: (it.pending.calls && !self.is_stopped).then_some(it.operation as usize),
                spins: it.spins.is_some(),
            })
            .collect()
    }

    /// Prepares an execution with so many operations.
    pub(super) fn prepare(&mut self, operations: usize) {
        self.tasks.clear();
        (self.next, self.step, self.steps) = (Next::Start, None, 0);
        (self.is_free, self.is_stopped, self.ending, self.panic) = (false, false, None, None);
        (self.spinning, self.idle_rounds) = (TaskSet::EMPTY, 0);
        self.objects.clear();
        self.fairness.clear();
        self.times.clear();
        self.times.resize(operations, Times::default());
        if let Some(schedule) = &mut self.schedule {
            schedule.clear();
        }
        if let Some(moments) = &mut self.moments {
            moments.clear();
        }
    }

    /// Adds a task that begins when those in `after` have ended.
    pub(super) fn add(&mut self, body: Body, after: TaskSet) -> TaskId {
        let id = TaskId(u8::try_from(self.tasks.len()).expect("few tasks"));
        assert!(id.index() < TaskId::MAX, "at most {} tasks in one execution", TaskId::MAX);
        let stack = stacks::take().expect("memory for a stack");
        let fiber = Fiber::with_stack(stack, move |yielder, ()| {
            if let Some(control) = control() {
                let engine = control.engine();
                let me = engine.current;
                engine.tasks[me.index()].yielder = yielder;
                let run = panic::catch_unwind(AssertUnwindSafe(body));
                match (run, self::control()) {
                    (Err(payload), Some(control)) => control.engine().panicked(&*payload),
                    // It was unwound: the payload is not ours to keep.
                    (Err(payload), None) => panic::resume_unwind(payload),
                    (Ok(()), _) => (),
                }
            }
        });
        self.tasks.push(Task {
            pending: Step::new(id, Access::Local, SharedId::NONE),
            place: Location::caller(),
            need: Need::Nothing,
            until: Until::Met,
            is_woken: false,
            is_ended: false,
            is_started: false,
            calls: false,
            operation: u32::MAX,
            yields: false,
            is_idle: false,
            spins: None,
            rounds: Rounds::default(),
            after,
            fiber: Some(fiber),
            yielder: ptr::null(),
        });
        id
    }

    fn spawn(&mut self, body: Body) -> TaskId {
        let parent = self.current;
        let root = self.tasks[parent.index()].pending.cause.unwrap_or(parent);
        let id = self.add(body, TaskSet::EMPTY);
        self.tasks[id.index()].pending.cause = Some(root);
        self.wakes(id);
        id
    }

    /// Runs the tasks that were added to an end.
    pub(super) fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let _attention = Attention::new();
        // SAFETY: only the lifetime changes. The pointer is used by this engine alone, and only until `self.scheduler` is
        // cleared below, while `scheduler` is borrowed.
        let scheduler: NonNull<dyn Scheduler> = unsafe { std::mem::transmute(NonNull::from(scheduler)) };
        self.scheduler = Some(scheduler);
        let engine: *mut Engine = self;
        let outer = ENGINE.replace(engine);
        // SAFETY: as in `Control::engine`: this function and the tasks take turns, and no borrow is kept across a switch.
        let ending = unsafe { Engine::drive(engine) };
        ENGINE.set(ptr::null_mut());
        self.unwind_all();
        ENGINE.set(outer);
        self.scheduler = None;
        ending
    }

    /// # Safety
    ///
    /// `engine` is valid, and nobody else uses it but the tasks that are resumed here.
    unsafe fn drive(engine: *mut Engine) -> Ending {
        loop {
            // SAFETY: the borrow ends before a task is resumed.
            let this = unsafe { &mut *engine };
            let task = match this.next {
                Next::Task(task) => task,
                Next::Start => match this.unstarted() {
                    Some(task) => task,
                    None => {
                        this.decide();
                        continue;
                    }
                },
                Next::Nobody => return this.ending.take().unwrap_or(Ending::Full),
            };
            let is_started = this.tasks[task.index()].is_started;
            this.current = task;
            let Some(mut fiber) = this.tasks[task.index()].fiber.take() else {
                unreachable!("a task that is chosen has not ended")
            };
            let result = fiber.resume(());
            // SAFETY: the task has given up its turn.
            let this = unsafe { &mut *engine };
            match result {
                CoroutineResult::Yield(()) => this.tasks[task.index()].fiber = Some(fiber),
                CoroutineResult::Return(()) => {
                    stacks::give_back(fiber.into_stack());
                    this.ended(task);
                    if is_started {
                        this.decide();
                    }
                }
            }
        }
    }

    /// The first task that could come to its first point and has not.
    fn unstarted(&self) -> Option<TaskId> {
        let is_waiting = |it: &&Task| {
            !it.is_started && !it.is_ended && it.after.iter().all(|other| self.tasks[other.index()].is_ended)
        };
        self.tasks.iter().find(is_waiting).map(|it| it.pending.task)
    }

    fn ended(&mut self, task: TaskId) {
        let it = &mut self.tasks[task.index()];
        (it.is_ended, it.is_started) = (true, true);
        self.spinning.remove(task);
    }

    fn panicked(&mut self, payload: &(dyn Any + Send)) {
        self.panic = Some((self.current, panics::caught(payload)));
        self.ending = Some(Ending::Panicked);
    }

    /// Unwinds every task that has not ended, so that nothing leaks.
    fn unwind_all(&mut self) {
        self.unwinding.extend(self.tasks.iter_mut().filter_map(|it| it.fiber.take()));
        if self.unwinding.is_empty() {
            return;
        }
        let engine: *mut Engine = self;
        let outer = ENDING.replace(engine);
        loop {
            // SAFETY: the borrow ends before anything is unwound, which may come here again: see `unwind_one`.
            let fiber = unsafe { (*engine).unwinding.pop() };
            let Some(mut fiber) = fiber else { break };
            fiber.force_unwind();
            stacks::give_back(fiber.into_stack());
        }
        ENDING.set(outer);
    }

    #[inline]
    fn arrive(
        &mut self,
        me: TaskId,
        object: SharedId,
        attempt: Attempt,
        place: &'static Location<'static>,
    ) -> bool {
        let task = &mut self.tasks[me.index()];
        let is_started = std::mem::replace(&mut task.is_started, true);
        task.pending = Step {
            access: attempt.access,
            object,
            calls: task.calls,
            after: if is_started { attempt.after } else { attempt.after.union(task.after) },
            ..task.pending
        };
        (task.place, task.need, task.until) = (place, attempt.need, attempt.until);
        (task.calls, task.is_idle) = (false, false);
        if matches!(attempt.until, Until::Woken | Until::WokenOrLate) {
            task.is_woken = false;
        }
        is_started
    }

    /// `me` makes its access now. Answers whether what it waited for is there.
    #[inline]
    fn begin(&mut self, me: TaskId) -> bool {
        self.current = me;
        self.steps += 1;
        let task = &mut self.tasks[me.index()];
        let step = task.pending;
        self.step = Some(step);
        task.pending.wakes = TaskSet::EMPTY;
        if step.calls {
            self.times[task.operation as usize].call = self.steps;
        }
        let (place, need, until) = (task.place, task.need, task.until);
        let is_met = match until {
            Until::Met => true,
            Until::Woken | Until::WokenOrLate => task.is_woken,
            Until::MetOrLate => need.is_met(self.objects.level(step.object)),
        };
        if step.object != SharedId::NONE {
            self.spin(me, place, step.object);
        }
        if let Some(moments) = &mut self.moments {
            moments.push(Moment { step, place, detail: String::new() });
        }
        is_met
    }

    fn spin(&mut self, me: TaskId, place: &'static Location<'static>, object: SharedId) {
        let version = self.objects.version(object);
        let task = &mut self.tasks[me.index()];
        if let Some(objects) = task.rounds.note(place, object, version) {
            task.spins = Some(objects);
            self.spinning.insert(me);
        }
    }

    #[inline]
    fn changed(&mut self, object: SharedId) {
        self.objects.state(object).version += 1;
        self.idle_rounds = 0;
        let me = self.current;
        let task = &mut self.tasks[me.index()];
        task.rounds.clear();
        if !self.spinning.is_empty() {
            self.end_spins(me, object);
        }
    }

    #[cold]
    fn end_spins(&mut self, me: TaskId, object: SharedId) {
        for spinner in self.spinning {
            let task = &mut self.tasks[spinner.index()];
            let sees = |it: &Vec<SharedId>| it.is_empty() || it.contains(&object);
            if spinner == me || task.spins.as_ref().is_some_and(sees) {
                task.spins = None;
                task.rounds.clear();
                self.spinning.remove(spinner);
                if spinner != me {
                    self.wakes(spinner);
                }
            }
        }
    }

    fn wakes(&mut self, task: TaskId) {
        if let Some(step) = &mut self.step {
            step.wakes.insert(task);
        }
    }

    fn returned(&mut self) {
        let task = &mut self.tasks[self.current.index()];
        self.times[task.operation as usize].ret = self.steps;
        task.operation = u32::MAX;
        if let Some(step) = &mut self.step {
            step.returns = true;
        }
        if let Some(moment) = self.moments.as_mut().and_then(|it| it.last_mut()) {
            moment.step.returns = true;
        }
    }

    fn want_release_points(&mut self) {
        if !self.has_release_points {
            self.has_release_points = true;
            self.ending = Some(Ending::Restart);
        }
    }

    fn value(&mut self, n: u32) -> u32 {
        let value = match self.scheduler {
            // SAFETY: `run` is on the stack, and its scheduler borrowed.
            Some(scheduler) if !self.is_free => unsafe { (*scheduler.as_ptr()).value(n) },
            _ => 0,
        };
        if let Some(schedule) = &mut self.schedule {
            schedule.push(Pick::Value(value));
        }
        value
    }

    /// Who could move, whatever fairness says.
    #[inline]
    fn movable(&self) -> TaskSet {
        let mut movable = TaskSet::EMPTY;
        for task in &self.tasks {
            let is_ready = match task.until {
                Until::Met => task.need == Need::Nothing || self.is_met(task),
                Until::Woken => task.is_woken && self.is_met(task),
                Until::WokenOrLate => self.is_met(task),
                Until::MetOrLate => true,
            };
            if is_ready && !task.is_ended && task.is_started && self.have_ended(task.pending.after) {
                movable.insert(task.pending.task);
            }
        }
        movable.without(self.spinning)
    }

    #[inline]
    fn is_met(&self, task: &Task) -> bool {
        task.need.is_met(self.objects.level(task.pending.object))
    }

    #[inline]
    fn have_ended(&self, tasks: TaskSet) -> bool {
        tasks.is_empty() || tasks.iter().all(|it| self.tasks[it.index()].is_ended)
    }

    /// Ends the step that is being made and picks who is next. Answers whether anybody is.
    fn decide(&mut self) -> bool {
        if self.unstarted_exists() {
            self.next = Next::Start;
            return false;
        }
        let mover = self.step.map(|it| it.task);
        let mut movable = self.movable();
        let yields = mover.is_some_and(|it| std::mem::take(&mut self.tasks[it.index()].yields));
        self.keep_fair(mover, yields, movable);
        if let Some(step) = self.step.take()
            && !self.is_free
        {
            self.scheduler().executed(&step);
        }
        if self.ending.is_some() {
            self.next = Next::Nobody;
            return false;
        }
        if movable.is_empty() && !self.spinning.is_empty() {
            movable = self.let_spinners_go();
        }
        if movable.is_empty() {
            let is_full = self.tasks.iter().all(|it| it.is_ended);
            return self.finish(if is_full { Ending::Full } else { Ending::Stuck });
        }
        if self.limits.steps <= self.steps {
            return self.finish(Ending::Cut);
        }
        let all = movable;
        if !self.fairness.is_idle() {
            movable = self.fairness.filter(movable);
        }
        self.held_back = all.without(movable);
        self.pick(movable, if yields { None } else { mover })
    }

    fn unstarted_exists(&self) -> bool {
        self.tasks.iter().any(|it| !it.is_started) && self.unstarted().is_some()
    }

    fn keep_fair(&mut self, mover: Option<TaskId>, yields: bool, movable: TaskSet) {
        if let Some(mover) = mover {
            if !self.fairness.is_idle() {
                let freed = self.fairness.moved(mover, movable);
                freed.iter().for_each(|it| self.wakes(it));
            }
            if yields {
                self.fairness.yields(mover, movable);
            }
        }
    }

    fn finish(&mut self, ending: Ending) -> bool {
        let ending = if self.is_free { Ending::Redundant } else { ending };
        self.ending = Some(ending);
        self.next = Next::Nobody;
        false
    }

    /// Nobody else can move: whoever spins makes another round, and perhaps gives up. Not for ever.
    fn let_spinners_go(&mut self) -> TaskSet {
        self.idle_rounds += 1;
        if self.limits.rounds < self.idle_rounds {
            return TaskSet::EMPTY;
        }
        for spinner in self.spinning {
            self.tasks[spinner.index()].spins = None;
        }
        self.spinning = TaskSet::EMPTY;
        self.movable()
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        let scheduler = self.scheduler.expect("tasks run inside `run`");
        // SAFETY: as in `value`.
        unsafe { &mut *scheduler.as_ptr() }
    }

    #[inline]
    fn pick(&mut self, movable: TaskSet, mover: Option<TaskId>) -> bool {
        if self.is_free {
            let goes_on = mover.filter(|it| movable.contains(*it));
            self.next = goes_on.or(movable.first()).map_or(Next::Nobody, Next::Task);
            return true;
        }
        let mut enabled = std::mem::take(&mut self.enabled);
        enabled.clear();
        enabled.extend(movable.iter().map(|it| self.tasks[it.index()].pending));
        let running = mover.and_then(|mover| enabled.iter().position(|it| it.task == mover));
        let choice = self.scheduler().choose(&Point { enabled: &enabled, running });
        let goes_on = match choice {
            Choice::Step(index) => {
                let task = enabled[index].task;
                self.next = Next::Task(task);
                if let Some(schedule) = &mut self.schedule {
                    schedule.push(Pick::Task(task));
                }
                true
            }
            Choice::Redundant => {
                self.is_free = true;
                self.pick(movable, mover)
            }
            Choice::Stop => self.stop(movable, mover),
            Choice::Diverged(diverged) => self.diverged(diverged),
        };
        self.enabled = enabled;
        goes_on
    }

    /// The scheduler wants none of those who can move. Perhaps whoever spins gives up some time.
    fn stop(&mut self, movable: TaskSet, mover: Option<TaskId>) -> bool {
        if !self.held_back.is_empty() {
            // Whoever is wanted lets others go first, which are not.
            self.fairness.clear();
            let all = movable.union(std::mem::take(&mut self.held_back));
            return self.pick(all, mover);
        }
        if !self.spinning.is_empty() {
            let movable = self.let_spinners_go();
            if !movable.is_empty() {
                return self.pick(movable, mover);
            }
        }
        self.is_stopped = true;
        self.finish(Ending::Stuck)
    }

    #[cold]
    fn diverged(&mut self, diverged: Box<Diverged>) -> bool {
        self.ending = Some(Ending::Diverged(diverged));
        self.next = Next::Nobody;
        false
    }
}

/// Lets another task that is to be given up end now, so that what it holds is released. `false` if there is none.
///
/// What a task drops while it is unwound may need a lock that another such task holds.
pub(crate) fn unwind_one() -> bool {
    let engine = ENDING.get();
    if engine.is_null() {
        return false;
    }
    // SAFETY: `ENDING` is set only while `unwind_all` is on the stack with the engine borrowed, and it keeps no borrow while
    // anything is unwound.
    let fiber = unsafe { (*engine).unwinding.pop() };
    let Some(mut fiber) = fiber else { return false };
    fiber.force_unwind();
    stacks::give_back(fiber.into_stack());
    true
}
