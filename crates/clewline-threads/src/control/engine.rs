//! The engine: which tasks are enabled, which task runs next, and when an execution ends.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    ptr::{self, NonNull},
    sync::atomic::Ordering,
};

use clewline_explore::{
    Access, Ending, FastPath, Pick, Schedule, Scheduler, SharedId, Step, TaskId, TaskSet, with_fast_path,
};

use super::{
    fair::Fairness,
    fiber::{Fiber, Root, Seat},
    objects::Objects,
    panics::{self, Panic},
    place::Place,
    repeat::Repetition,
    spin::{SpinDetector, SpinLoop},
    view::HappensBefore,
};
use crate::real::noise::NoiseHook;
use buffers::WeakMemory;
use values::Locals;

mod buffers;
mod decide;
mod fast_path;
mod foreign;
mod foreign_atomics;
mod graph;
mod handle;
mod hook;
mod locals;
mod repeat;
mod replay;
mod state;
mod types;
mod unwind;
mod values;
mod waiting;
mod weak;

pub use foreign_atomics::{ForeignAccess, Stored, Updated};
pub(crate) use handle::{control, here, is_controlled, is_ending};
pub(crate) use locals::with_local;
pub use state::{Control, Foreign};
use state::{ENGINE, Next, Task};
pub(super) use state::{Engine, Times};
pub(crate) use types::Attempt;
pub use types::{
    Excess, ExecutionLimit, ExtraPoints, Holder, Limits, Moment, Need, OldRead, Pending, Unended,
    WakeCondition,
};
pub(crate) use unwind::{ending_control, give_way, is_abandoned, wait_until_unwound};
pub(crate) use values::Destroyed;

// A task that timed out this often in one operation lets other tasks run first from then on.
// Before that, loops that change something are not looked for.
const LONG_EXECUTION_STEPS: u32 = 64;
const TIMEOUTS_BEFORE_YIELD: u32 = 3;
// How many times one operation, or a task that was started, is interrupted although it could go on.
const INTERRUPTIONS_MAX: u32 = 3;

impl Task {
    /// A task that has done nothing yet.
    #[track_caller]
    fn new(id: TaskId) -> Task {
        Task {
            pending: Step::new(id, Access::Local, SharedId::NONE),
            place: Place::caller(),
            need: Need::Nothing,
            until: WakeCondition::Met,
            is_woken: false,
            calls: false,
            operation: u32::MAX,
            yields: false,
            timeouts: 0,
            interruptions: 0,
            is_idle: false,
            spins: None,
            rounds: SpinDetector::default(),
            after: TaskSet::EMPTY,
            seat: Seat::NONE,
            is_panicking: false,
            has_panicked: false,
            spurious: 0,
            locals: Locals::default(),
            task_data: None,
        }
    }

    /// Drops the task's contents so that the allocation can be reused for another task.
    fn clear(&mut self) {
        self.rounds.clear();
        self.spins = None;
        self.locals = Locals::default();
        self.task_data = None;
    }

    /// Same as [`Task::new`] for a cleared task. Writes in place: moving the task would cost more
    /// than everything else here.
    #[track_caller]
    fn renew(&mut self, id: TaskId) {
        let Task {
            pending,
            place,
            need,
            until,
            is_woken,
            calls,
            operation,
            yields,
            timeouts: late,
            interruptions,
            is_idle,
            ..
        } = self;
        (*pending, *place) = (Step::new(id, Access::Local, SharedId::NONE), Place::caller());
        (*need, *until, *is_woken) = (Need::Nothing, WakeCondition::Met, false);
        (*calls, *operation, *yields, *late, *is_idle) = (false, u32::MAX, false, 0, false);
        *interruptions = 0;
        let Task { spins: _, rounds: _, after, seat, is_panicking, has_panicked, spurious, .. } = self;
        (*after, *seat, *spurious) = (TaskSet::EMPTY, Seat::NONE, 0);
        (*is_panicking, *has_panicked) = (false, false);
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

impl Engine {
    pub(super) fn new(limits: Limits) -> Engine {
        hook::install_panic_hook();
        Engine {
            scheduler: None,
            limits,
            tasks: Vec::new(),
            fibers: Vec::with_capacity(TaskId::MAX),
            root: Root::new(),
            started: TaskSet::EMPTY,
            ended: TaskSet::EMPTY,
            waiting: TaskSet::EMPTY,
            current: TaskId(0),
            next: Next::None,
            step: None,
            steps: 0,
            fast_path_until_step: 0,
            is_free: false,
            is_stopped: false,
            ending: None,
            objects: Objects::new(),
            fairness: Fairness::default(),
            held_back: TaskSet::EMPTY,
            spinning: TaskSet::EMPTY,
            idle_rounds: 0,
            changes: 0,
            newly_arrived: TaskSet::EMPTY,
            newly_blocked: TaskSet::EMPTY,
            blocked: Vec::new(),
            enabled: Vec::new(),
            listed_tasks: TaskSet::EMPTY,
            stale_tasks: TaskSet::EMPTY,
            enabled_index: [0; TaskId::MAX],
            times: Vec::new(),
            panic: None,
            unjoined: Vec::new(),
            has_release_points: false,
            schedule: Vec::new(),
            keeps_schedule: false,
            repetition: Repetition::default(),
            replay: None,
            is_driving: false,
            unended: None,
            moments: None,
            shown_places: Vec::new(),
            holds: Vec::new(),
            spare: Vec::new(),
            _noise_hook: NoiseHook::new(),
            limit: None,
            possible_counter_loop: None,
            execution: 0,
            is_ending: false,
            is_unwinding: false,
            accesses_since_yield: 0,
            catches: 0,
            memory: None,
            weak: WeakMemory::default(),
            is_graph: false,
            foreign: None,
        }
    }

    /// Records the schedule of every execution from now on, and every step if `moments`.
    pub(super) fn keep(&mut self, schedule: bool, moments: bool) {
        self.keeps_schedule = schedule;
        self.moments = moments.then(Vec::new);
    }

    /// Sets the additional scheduling points from now on.
    pub(super) fn set_points(&mut self, points: ExtraPoints) {
        self.has_release_points = points.releases || self.has_buffers();
        self.set_points_of_memory(points);
    }

    /// The additional scheduling points.
    pub(super) fn points(&self) -> ExtraPoints {
        let (counts, races) = (self.weak.counts_matter, self.weak.settings.races);
        ExtraPoints { releases: self.has_release_points, counts, races }
    }

    pub(super) fn schedule(&self) -> Option<Schedule> {
        self.keeps_schedule.then(|| Schedule(self.schedule.clone()))
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

    pub(super) fn guess(&self) -> Option<Place> {
        self.possible_counter_loop
    }

    pub(super) fn unended(&self) -> Option<Unended> {
        self.unended
    }

    pub(super) fn limit(&self) -> Option<ExecutionLimit> {
        self.limit
    }

    pub(super) fn panic(&self) -> Option<&(TaskId, Panic)> {
        self.panic.as_ref()
    }

    /// The pending accesses of all tasks that have not ended.
    pub(super) fn pending(&self) -> Vec<Pending> {
        let waiting = self.started.without(self.ended);
        let repeating = self.repetition.round.map_or(TaskSet::EMPTY, |it| it.1);
        waiting
            .iter()
            .map(|it| &self.tasks[it.index()])
            .map(|it| Pending {
                task: it.pending.task,
                access: it.pending.access,
                object: it.pending.object,
                place: self.shown_place(it.pending.task),
                operation: (it.pending.calls && !self.is_stopped).then_some(it.operation as usize),
                spins: it.spins.is_some() || repeating.contains(it.pending.task),
                after: it.pending.after.without(self.ended),
                holders: self.holders(it.pending.object),
            })
            .collect()
    }

    /// The place of the task's access that reports show.
    fn shown_place(&self, task: TaskId) -> Place {
        self.shown_places.get(task.index()).copied().unwrap_or(self.tasks[task.index()].place)
    }

    #[cold]
    fn note_shown_place(&mut self, me: TaskId, place: Place) {
        let shown = self.foreign.map_or(place, |it| it.shown_place(place));
        self.shown_places.resize(self.tasks.len().max(self.shown_places.len()), place);
        self.shown_places[me.index()] = shown;
    }

    /// The tasks that hold a lock, as far as steps are recorded.
    fn holders(&self, lock: SharedId) -> Vec<Holder> {
        self.holds.iter().filter(|it| it.0 == lock && lock != SharedId::NONE).map(|it| it.1).collect()
    }

    /// The running task has acquired or released an object, if the object is a lock.
    #[cold]
    fn note_holder(&mut self, object: SharedId, is_more: bool) {
        let task = self.current;
        if is_more {
            // Other levels count messages.
            let is_lock = |it: &Step| it.object == object && it.access.is_acquire();
            if self.step.as_ref().is_some_and(is_lock) {
                let place = self.shown_place(task);
                self.holds.push((object, Holder { task, place }));
            }
            return;
        }
        // A lock may be released by another task than the one that acquired it.
        let of = |it: &(SharedId, Holder)| it.0 == object;
        let own = self.holds.iter().rposition(|it| of(it) && it.1.task == task);
        if let Some(at) = own.or_else(|| self.holds.iter().rposition(of)) {
            self.holds.remove(at);
        }
    }

    /// Prepares an execution with this number of operations.
    pub(super) fn prepare(&mut self, operations: usize) {
        for mut task in self.tasks.drain(..) {
            task.clear();
            self.spare.push(task);
        }
        self.fibers.clear();
        (self.newly_arrived, self.newly_blocked) = (TaskSet::EMPTY, TaskSet::EMPTY);
        (self.next, self.step, self.steps, self.fast_path_until_step) = (Next::Start, None, 0, 0);
        (self.started, self.ended, self.waiting) = (TaskSet::EMPTY, TaskSet::EMPTY, TaskSet::EMPTY);
        (self.is_free, self.is_stopped, self.ending, self.panic) = (false, false, None, None);
        self.unjoined.clear();
        (self.limit, self.execution, self.is_ending) = (None, unwind::next_execution(), false);
        (self.spinning, self.idle_rounds, self.held_back) = (TaskSet::EMPTY, 0, TaskSet::EMPTY);
        self.objects.clear();
        self.holds.clear();
        self.shown_places.clear();
        self.fairness.clear();
        self.prepare_memory();
        self.times.clear();
        self.times.resize(operations, Times::default());
        if self.weak.settings.orders_by_synchronization() {
            self.weak.orders.resize(operations, HappensBefore::default());
        }
        self.schedule.clear();
        self.repetition.clear();
        if let Some(moments) = &mut self.moments {
            moments.clear();
        }
    }

    /// Adds a task that begins when all tasks in `after` have ended.
    pub(super) fn add(&mut self, body: impl FnOnce() + 'static, after: TaskSet) -> TaskId {
        let id = TaskId(u8::try_from(self.tasks.len()).expect("few tasks"));
        assert!(id.index() < TaskId::MAX, "at most {} tasks in one execution", TaskId::MAX);
        let stack = self.take_stack(id).expect("memory for a stack");
        let fiber = Fiber::new(stack, move |seat| {
            if let Some(control) = control() {
                let engine = control.engine();
                let me = engine.current;
                engine.tasks[me.index()].seat = seat;
                let run = panic::catch_unwind(AssertUnwindSafe(|| {
                    let _locals = locals::DropLocals;
                    body();
                }));
                match (run, here()) {
                    (Err(payload), Some(control)) => control.engine().panicked(&*payload),
                    // The task was abandoned. That is expected.
                    (Err(_), None) | (Ok(()), _) => (),
                }
            }
        });
        let mut task = self.spare.pop().unwrap_or_else(|| Box::new(Task::new(id)));
        task.renew(id);
        (task.after, task.spurious) = (after, self.limits.spurious);
        self.tasks.push(task);
        self.fibers.push(Some(fiber));
        self.use_slow_path();
        id
    }

    fn spawn(&mut self, body: impl FnOnce() + 'static) -> TaskId {
        let parent = self.current;
        let root = self.tasks[parent.index()].pending.cause.unwrap_or(parent);
        let id = self.add(body, TaskSet::EMPTY);
        self.tasks[id.index()].pending.cause = Some(root);
        self.add_buffer_if_none(id);
        if let Some(memory) = &mut self.memory {
            memory.begin_after(id, parent);
        }
        if self.is_graph {
            self.graph_spawn(parent, id);
        }
        self.note_wake(id);
        id
    }

    /// Runs the added tasks until the execution ends.
    pub(super) fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        with_fast_path(scheduler, |scheduler| self.run_with(scheduler))
    }

    fn run_with(&mut self, scheduler: &mut dyn FastPath) -> Ending {
        self.add_buffers();
        // SAFETY: only the lifetime changes. Only this engine uses the pointer, and only until
        // `self.scheduler` is cleared below, while `scheduler` is borrowed.
        let scheduler: NonNull<dyn FastPath> = unsafe { std::mem::transmute(NonNull::from(scheduler)) };
        self.scheduler = Some(scheduler);
        let engine: *mut Engine = self;
        let outer = ENGINE.replace(engine);
        // SAFETY: as in `Control::engine`: this function and the tasks run alternately, and no
        // borrow is kept across a switch.
        let ending = unsafe { Engine::drive(engine) };
        ENGINE.set(ptr::null_mut());
        // SAFETY: as above.
        unsafe { Engine::unwind_all(engine) };
        ENGINE.set(outer);
        self.scheduler = None;
        ending
    }

    /// # Safety
    ///
    /// `engine` is valid, and only the tasks resumed here use it.
    unsafe fn drive(engine: *mut Engine) -> Ending {
        loop {
            // SAFETY: the borrow ends before a task is resumed.
            let this = unsafe { &mut *engine };
            let task = match this.next {
                Next::Task(task) => task,
                Next::Start => match this.unstarted() {
                    Some(task) => task,
                    None => {
                        this.decide_while_driving();
                        continue;
                    }
                },
                Next::None => return this.ending.take().unwrap_or(Ending::Full),
            };
            let is_started = this.started.contains(task);
            this.current = task;
            if !is_started && this.memory.is_some() {
                this.memory_start(task);
                this.graph_start(task);
            }
            let foreign = this.foreign;
            if let Some(foreign) = foreign {
                // SAFETY: `engine` is valid.
                unsafe { foreign::enter(foreign, task, engine, is_started) };
            }
            // SAFETY: `engine` is valid. New fibers are appended within the reserved capacity, so
            // this fiber does not move, and nothing else uses it meanwhile. The chosen task has not
            // ended and is suspended.
            unsafe {
                let this = &mut *engine;
                match &mut *this.fibers.as_mut_ptr().add(task.index()) {
                    Some(fiber) => fiber.resume(&raw mut this.root),
                    None => unreachable!("a task that is chosen has not ended"),
                }
            }
            // SAFETY: the task that ran last has suspended itself. It need not be the task that was
            // resumed.
            let this = unsafe { &mut *engine };
            let task = this.current;
            let fiber = &mut this.fibers[task.index()];
            let ended = if fiber.as_ref().is_some_and(Fiber::is_done) { fiber.take() } else { None };
            if let Some(foreign) = foreign {
                let is_followed = matches!(this.next, Next::Task(next) if this.started.contains(next));
                if !is_followed || ended.is_some() {
                    foreign.leave(task);
                }
            }
            if let Some(fiber) = ended {
                let was_started = this.started.contains(task);
                this.ended(task);
                this.give_back(task, fiber);
                if was_started {
                    this.decide_while_driving();
                }
            }
        }
    }

    /// Same as [`Engine::decide`], outside of every task.
    fn decide_while_driving(&mut self) {
        self.is_driving = true;
        self.decide();
        self.is_driving = false;
    }

    /// The first task that could reach its first point and has not reached it.
    fn unstarted(&self) -> Option<TaskId> {
        let mut unstarted = TaskSet::all(self.tasks.len()).without(self.started).iter();
        unstarted.find(|it| self.have_ended(self.tasks[it.index()].after))
    }

    fn ended(&mut self, task: TaskId) {
        if self.started != TaskSet::all(self.tasks.len()) {
            // A task may have waited for this task to start.
            self.use_slow_path();
        }
        self.started.insert(task);
        self.ended.insert(task);
        self.spinning.remove(task);
    }

    /// Constructing or dropping the subject panicked, outside every task.
    pub(super) fn panicked_outside(&mut self, payload: &(dyn Any + Send)) -> Ending {
        self.failed_outside(panics::caught(payload))
    }

    pub(super) fn failed_outside(&mut self, panic: Panic) -> Ending {
        self.panic = Some((TaskId(u8::MAX), panic));
        Ending::Panicked
    }

    fn panicked(&mut self, payload: &(dyn Any + Send)) {
        self.failed((self.current, panics::caught(payload)));
    }

    /// A panic that is in the outcome, if one of a task has not been joined in the end.
    pub(super) fn unjoined_panic(&mut self) -> Option<Ending> {
        let at = self.unjoined.iter().position(|it| it.1.load(Ordering::Relaxed))?;
        self.panic = Some(self.unjoined.swap_remove(at).0);
        Some(Ending::Panicked)
    }

    fn failed(&mut self, panic: (TaskId, Panic)) {
        if self.is_graph && !self.is_free {
            return self.fail_in_graph(panic);
        }
        self.panic = Some(panic);
        self.end_with(if self.is_free { Ending::Redundant } else { Ending::Panicked });
        // No other task moves after this step, so its order relative to every step matters.
        if let Some(step) = &mut self.step {
            step.yields = true;
        }
    }

    /// The execution ends with `ending` at the next point.
    fn end_with(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.use_slow_path();
    }

    #[inline(always)]
    fn arrive(&mut self, me: TaskId, object: SharedId, attempt: Attempt, place: Place) -> bool {
        let is_started = self.started.contains(me);
        self.started.insert(me);
        let task = &mut self.tasks[me.index()];
        let step = &mut task.pending;
        (step.access, step.object, step.calls, step.after) =
            (attempt.access, object, task.calls, attempt.after);
        if !is_started {
            step.after = step.after.union(task.after);
        }
        if self.memory.is_some() {
            step.after = self.weak.with_buffers(me, step);
        }
        let waits =
            attempt.need != Need::Nothing || attempt.until != WakeCondition::Met || !step.after.is_empty();
        (task.place, task.calls, task.is_idle) = (place, false, false);
        self.newly_arrived.insert(me);
        self.waiting.remove(me);
        if waits {
            self.waiting.insert(me);
            (task.need, task.until) = (attempt.need, attempt.until);
            // A task that times out repeatedly runs in a loop and lets other tasks run first. Not
            // earlier: otherwise it could never time out twice while another task is delayed.
            task.yields |= task.until.has_timeout() && TIMEOUTS_BEFORE_YIELD <= task.timeouts;
        }
        if self.moments.is_some() {
            self.note_shown_place(me, place);
        }
        is_started
    }

    /// `me` begins its access now. Returns whether the condition it waited for holds.
    fn begin(&mut self, me: TaskId) -> bool {
        self.current = me;
        self.steps += 1;
        let task = &mut self.tasks[me.index()];
        let (step, place) = (task.pending, task.place);
        self.step = Some(task.pending);
        if step.calls {
            self.times[task.operation as usize].call = self.steps;
        }
        let is_met = !self.waiting.contains(me) || self.begin_after_wait(me, &step);
        if self.memory.is_some() {
            let is_woken = is_met && self.waiting.contains(me) && self.tasks[me.index()].until.is_woken();
            self.memory_begin(me, &step, is_woken);
        }
        if step.object != SharedId::NONE {
            self.spin(me, place, step.object);
        }
        if self.moments.is_some() {
            self.keep_moment(me);
        }
        is_met
    }

    /// `me` has waited. Returns whether the condition it waited for holds; if not, it timed out.
    fn begin_after_wait(&mut self, me: TaskId, step: &Step) -> bool {
        let task = &mut self.tasks[me.index()];
        let is_met = match task.until {
            WakeCondition::Met => true,
            WakeCondition::Woken | WakeCondition::WokenOrTimeout => task.is_woken,
            WakeCondition::MetOrTimeout => task.need.is_met(self.objects.level(step.object)),
        };
        if !is_met {
            // A loop that times out repeatedly is a waiting loop.
            task.timeouts += 1;
            let place = task.place;
            self.spin(me, place, SharedId::NONE);
        }
        is_met
    }

    #[inline(always)]
    fn spin(&mut self, me: TaskId, place: Place, object: SharedId) {
        if self.is_replica() {
            return;
        }
        let access = self.tasks[me.index()].pending.access;
        let version = match (self.is_graph, access) {
            (false, _) => self.objects.observed_version(object),
            (true, Access::Read | Access::Write | Access::Update) => self.value_read_before(me, object),
            // How many times another object than an atomic has changed follows from the graph.
            (true, _) if object == SharedId::NONE => 0,
            (true, _) => self.objects.state(object).version,
        };
        let task = &mut self.tasks[me.index()];
        if task.rounds.note(place, object, version) {
            self.check_spin(me, place);
        }
    }

    /// Checks whether the running task `me` is in a waiting loop.
    #[cold]
    fn check_spin(&mut self, me: TaskId, place: Place) {
        if self.is_replica() {
            return;
        }
        let foreign = self.foreign;
        let task = &mut self.tasks[me.index()];
        let end = task.seat.address();
        let writes = || foreign.map_or(0, Foreign::write_count);
        let look = || repeat::local_state_hash(foreign, place, end).map(|it| it.wrapping_add(writes()));
        if let Some(round) = task.rounds.spin_loop(look) {
            self.spins(me, round, place);
        }
    }

    /// `me` waits in this loop, until an object of it changes.
    #[cold]
    fn spins(&mut self, me: TaskId, round: SpinLoop, place: Place) {
        self.tasks[me.index()].spins = Some(round.objects);
        self.weak.round_accesses[me.index()] = round.accesses as u32;
        if round.is_guess {
            self.possible_counter_loop.get_or_insert(place);
        }
        self.spinning.insert(me);
        self.use_slow_path();
    }

    /// The number of an object. Usually it is the object that this step accesses.
    #[inline]
    fn id_of<T: ?Sized>(&mut self, object: &T) -> SharedId {
        let likely = self.step.as_ref().map_or(SharedId::NONE, |it| it.object);
        self.objects.id_like(likely, ptr::from_ref(object).cast::<()>() as usize)
    }

    #[inline]
    fn changed(&mut self, object: SharedId) {
        self.objects.state(object).version += 1;
        self.idle_rounds = 0;
        let me = self.current;
        let is_long = LONG_EXECUTION_STEPS < self.steps && !self.is_graph && !self.is_replica();
        let task = &mut self.tasks[me.index()];
        let (place, mut waits) = (task.place, None);
        self.changes += 1;
        if is_long {
            waits = task.rounds.keep(self.changes)
        } else {
            task.rounds.clear()
        }
        if !self.spinning.is_empty() {
            self.end_spins(me, object);
        }
        waits.into_iter().for_each(|it| self.spins(me, it, place));
    }

    #[cold]
    fn end_spins(&mut self, me: TaskId, object: SharedId) {
        for spinner in self.spinning {
            let task = &mut self.tasks[spinner.index()];
            let sees = |it: &Vec<SharedId>| it.is_empty() || it.contains(&object);
            if spinner == me || !self.is_graph && task.spins.as_ref().is_some_and(sees) {
                task.spins = None;
                task.rounds.clear();
                self.spinning.remove(spinner);
                if spinner != me {
                    self.note_wake(spinner);
                }
            }
        }
    }

    fn note_wake(&mut self, task: TaskId) {
        if let Some(step) = &mut self.step {
            step.wakes.insert(task);
        }
    }

    fn returned(&mut self) {
        self.give_up_replica();
        let task = &mut self.tasks[self.current.index()];
        let operation = std::mem::replace(&mut task.operation, u32::MAX);
        self.times[operation as usize].ret = self.steps;
        if !self.weak.orders.is_empty() {
            self.note_return(operation);
        }
        if let Some(step) = &mut self.step {
            step.returns = true;
        }
    }

    fn enable_release_points(&mut self) {
        if !self.has_release_points {
            self.has_release_points = true;
            self.end_with(Ending::Restart);
        }
    }

    fn value(&mut self, n: u32) -> u32 {
        let (me, is_graph) = (self.current, self.is_graph);
        self.drawn(|it| match it.graph().filter(|_| is_graph) {
            Some(graph) => graph.choose_value_of(me, n),
            None => it.choose_value(n),
        })
    }

    fn interruption(&mut self, n: u32) -> u32 {
        let task = &self.tasks[self.current.index()];
        if task.interruptions == INTERRUPTIONS_MAX {
            // A loop that begins anew when it is interrupted could be interrupted forever.
            self.possible_counter_loop.get_or_insert(task.place);
            return 0;
        }
        let value = self.drawn(|it| it.choose_interruption(n));
        self.tasks[self.current.index()].interruptions += u32::from(value != 0);
        value
    }

    /// The value that the scheduler draws.
    fn drawn(&mut self, draw: impl FnOnce(&mut dyn FastPath) -> u32) -> u32 {
        self.give_up_replica();
        let value = match self.scheduler {
            // SAFETY: `run` is on the stack, and its scheduler is borrowed.
            Some(scheduler) if !self.is_free => draw(unsafe { &mut *scheduler.as_ptr() }),
            _ => 0,
        };
        self.schedule.push(Pick::Value(value));
        value
    }
}
