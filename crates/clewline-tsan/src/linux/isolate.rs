//! Executions in processes of their own.
//!
//! What an execution leaves in the C library, in the system or in code that is not restored is gone with its process. It costs a `fork`
//! each time, which is some hundred times as much as to restore what is known. The scheduler stays here, and is asked over a line.

use std::io;

use clewline_core::{AnswerId, Case, Interner};
use clewline_explore::{
    Begin, Choice, Diverged, Ending, FastPath, Point, Schedule, Scheduler, Step, System, TaskId, TaskSet,
    with_fast_path,
};
use clewline_threads::{
    Trial,
    control::{Memory, Moment, Operation, Outcome, Panic, Pending, Place, Points},
};

use super::{
    here::Own,
    races, tried, watchdog,
    wire::{End, Message, line},
};

/// A trial each of whose executions has a process of its own.
pub(super) struct Isolated {
    inner: Box<dyn Trial>,
    answers: Interner<String>,
    outcome: Outcome<AnswerId>,
    schedule: Option<Schedule>,
    moments: Vec<Moment>,
    pending: Vec<Pending>,
    is_shown: bool,
    guess: Option<Place>,
}

/// The same trial, with a process for each execution if that was asked for.
pub(super) fn wrap(trial: Box<dyn Trial>) -> Box<dyn Trial> {
    if IS_ASKED.get() { Box::new(Isolated::new(trial)) } else { trial }
}

static IS_ASKED: Own<bool> = Own::new(false);

/// Asks for a process for each execution.
pub(super) fn ask() {
    IS_ASKED.set(true);
}

/// Whether that was asked for.
pub(super) fn is_asked() -> bool {
    IS_ASKED.get()
}

impl Isolated {
    fn new(inner: Box<dyn Trial>) -> Isolated {
        let outcome =
            Outcome { operations: Vec::new(), steps: 0, panic: None, race: None, leaks: Vec::new() };
        let (answers, moments, pending) = (Interner::new(), Vec::new(), Vec::new());
        Isolated { inner, answers, outcome, schedule: None, moments, pending, is_shown: false, guess: None }
    }

    fn id(&mut self, answer: String) -> AnswerId {
        AnswerId(self.answers.intern(answer))
    }

    /// Runs an execution in a process of its own. Answers how it ended.
    fn fork(&mut self, scheduler: &mut dyn Scheduler) -> io::Result<Ending> {
        let [mut here, there] = line()?;
        // SAFETY: this thread alone goes on in the child, and all others of the process sleep.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(here);
                self.child(there)
            }
            child => {
                drop(there);
                let ending = with_fast_path(scheduler, |scheduler| self.serve(&mut here, scheduler));
                let mut status = 0;
                // SAFETY: it is a child of this process, and there is room.
                unsafe { libc::waitpid(child, &mut status, 0) };
                Ok(ending.unwrap_or_else(|_| self.died(status)))
            }
        }
    }

    /// The child ended without a word.
    fn died(&mut self, status: i32) -> Ending {
        let told = match libc::WIFSIGNALED(status) {
            true => format!("the process was killed by signal {}", libc::WTERMSIG(status)),
            false => format!("the process ended with code {}", libc::WEXITSTATUS(status)),
        };
        self.outcome.panic = Some((TaskId(0), Panic { message: told, ..Panic::default() }));
        Ending::Panicked
    }

    fn child(&mut self, end: End) -> ! {
        watchdog::start();
        let mut remote = Remote { end };
        let ending = self.inner.run(&mut remote);
        let mut message = Message::default();
        message.put(DONE);
        self.tell(&ending, &mut message);
        let sent = remote.end.send(&message);
        // SAFETY: it asks for nothing. What the code has written and not sent is lost, as it is without a process of its own.
        unsafe { libc::_exit(if sent.is_ok() { 0 } else { 2 }) }
    }

    fn tell(&mut self, ending: &Ending, to: &mut Message) {
        to.put(ENDINGS.iter().position(|it| it == ending).unwrap_or(ENDINGS.len()) as u64);
        to.put(tried::has_tried().into());
        to.put_all(races::all_racing().iter(), |to, it| to.put(*it as u64));
        to.put_all(races::all_shared().iter(), |to, it| to.put(*it as u64));
        to.put_maybe(self.inner.guess(), |to, it| to.put(it.word() as u64));
        let outcome = self.inner.outcome();
        to.put(outcome.steps.into());
        to.put_maybe(outcome.panic, |to, (task, panic)| {
            to.put(task.0.into());
            to.put_text(&panic.message);
            to.put_maybe(panic.place, |to, it| to.put_text(&it));
            to.put_maybe(panic.step, |to, it| to.put(it.into()));
        });
        to.put_all(outcome.operations.iter().enumerate(), |to, (at, it)| {
            to.put_maybe(it.call, |to, it| to.put(it.into()));
            to.put_maybe(it.ret, |to, (step, answer)| {
                to.put(step.into());
                to.put_text(&self.inner.answer(at, answer));
            });
        });
        to.put_maybe(self.inner.schedule(), |to, it| to.put_text(&it.to_string()));
        to.put_all(self.inner.moments().iter(), |to, it| {
            to.put_step(&it.step);
            to.put(it.place.word() as u64);
            to.put_text(&it.detail);
        });
        to.put_all(self.inner.pending().iter(), |to, it| {
            to.put(it.task.0.into());
            to.put_access(it.access);
            to.put(it.object.0.into());
            to.put(it.place.word() as u64);
            to.put_maybe(it.operation, |to, it| to.put(it as u64));
            to.put(it.spins.into());
        });
    }

    fn learn(&mut self, from: &mut Message) -> Option<Ending> {
        let ending = ENDINGS.get(from.take() as usize).cloned();
        if from.take() != 0 {
            self.inner.set_points(Points { releases: true, counts: false });
        }
        races::set_racing(from.take_all(|it| it.take() as usize));
        races::set_shared(from.take_all(|it| it.take() as usize));
        // SAFETY: places of the child are places here: it is the same program, at the same addresses.
        let place = |from: &mut Message| unsafe { Place::from_word(from.take() as usize) };
        self.guess = self.guess.or(from.take_maybe(place));
        self.outcome.steps = from.take() as u32;
        self.outcome.panic = from.take_maybe(|from| {
            let task = TaskId(from.take() as u8);
            let message = from.take_text();
            let place = from.take_maybe(Message::take_text);
            (task, Panic { message, place, step: from.take_maybe(|it| it.take() as u32) })
        });
        let operations = from.take_all(|from| {
            let call = from.take_maybe(|it| it.take() as u32);
            (call, from.take_maybe(|it| (it.take() as u32, it.take_text())))
        });
        self.outcome.operations = operations
            .into_iter()
            .map(|(call, ret)| Operation { call, ret: ret.map(|(step, answer)| (step, self.id(answer))) })
            .collect();
        self.schedule = from.take_maybe(Message::take_text).and_then(|it| it.parse().ok());
        self.moments = from.take_all(|from| Moment {
            step: from.take_step(),
            place: place(from),
            detail: from.take_text(),
        });
        self.pending = from.take_all(|from| Pending {
            task: TaskId(from.take() as u8),
            access: from.take_access(),
            object: clewline_explore::SharedId(from.take() as u32),
            place: place(from),
            operation: from.take_maybe(|it| it.take() as usize),
            spins: from.take() != 0,
        });
        ending
    }

    /// Answers what the child asks, until it is done.
    fn serve(&mut self, end: &mut End, scheduler: &mut dyn FastPath) -> io::Result<Ending> {
        let mut diverged: Option<Box<Diverged>> = None;
        loop {
            let mut message = end.receive()?;
            let mut answer = Message::default();
            match message.take() {
                CHOOSE => {
                    let running = message.take_maybe(|it| it.take() as usize);
                    let enabled = message.take_all(Message::take_step);
                    let waiting = message.take_all(Message::take_step);
                    match scheduler.choose(&Point { enabled: &enabled, running, waiting: &waiting }) {
                        Choice::Step(at) => answer.put(at as u64),
                        Choice::Redundant => answer.put(REDUNDANT),
                        Choice::Stop => answer.put(STOP),
                        Choice::Diverged(it) => {
                            answer.put(if it.is_foreign { DIVERGED_FOREIGN } else { DIVERGED });
                            diverged = Some(it);
                        }
                    }
                }
                AGAIN => {
                    let enabled = TaskSet(message.take() as u16);
                    let arrived = message.take_maybe(Message::take_step);
                    let found = scheduler.replay_choice(enabled, arrived.as_ref());
                    answer.put_maybe(found, |to, it| to.put(it.0.into()));
                }
                VALUE => answer.put(scheduler.choose_value(message.take() as u32).into()),
                EXECUTED => {
                    scheduler.on_step(&message.take_step());
                    continue;
                }
                ABANDONED => {
                    scheduler.abandoned(&message.take_step());
                    continue;
                }
                _ => {
                    let ending = self.learn(&mut message);
                    return Ok(ending
                        .unwrap_or_else(|| Ending::Diverged(diverged.unwrap_or_else(|| divergence(false)))));
                }
            }
            end.send(&answer)?;
        }
    }
}

// What is asked.
const CHOOSE: u64 = 0;
const AGAIN: u64 = 1;
const VALUE: u64 = 2;
const EXECUTED: u64 = 3;
const ABANDONED: u64 = 4;
const DONE: u64 = 5;
// What may be answered to `CHOOSE` besides a step.
const REDUNDANT: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const DIVERGED: u64 = u64::MAX - 2;
const DIVERGED_FOREIGN: u64 = u64::MAX - 3;
// How executions end, but for one that does something else than before.
const ENDINGS: [Ending; 6] =
    [Ending::Full, Ending::Stuck, Ending::Panicked, Ending::Cut, Ending::Redundant, Ending::Restart];

/// Something else than what was expected; nobody looks what it was.
fn divergence(is_foreign: bool) -> Box<Diverged> {
    Box::new(Diverged { step: 0, expected: Vec::new(), found: Vec::new(), is_foreign })
}

/// The scheduler, as the child knows it.
struct Remote {
    end: End,
}

impl Remote {
    /// Without a scheduler there is nothing to go on with.
    fn tell(&mut self, message: &Message) {
        if self.end.send(message).is_err() {
            // SAFETY: it asks for nothing.
            unsafe { libc::_exit(2) };
        }
    }

    fn ask(&mut self, message: &Message) -> Message {
        self.tell(message);
        match self.end.receive() {
            Ok(answer) => answer,
            // SAFETY: it asks for nothing.
            Err(_) => unsafe { libc::_exit(2) },
        }
    }
}

impl Scheduler for Remote {
    fn begin(&mut self, _begin: Begin) -> bool {
        true
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let mut message = Message::default();
        message.put(CHOOSE);
        message.put_maybe(point.running, |to, it| to.put(it as u64));
        message.put_all(point.enabled.iter(), Message::put_step);
        message.put_all(point.waiting.iter(), Message::put_step);
        match self.ask(&message).take() {
            REDUNDANT => Choice::Redundant,
            STOP => Choice::Stop,
            DIVERGED_FOREIGN => Choice::Diverged(divergence(true)),
            DIVERGED => Choice::Diverged(divergence(false)),
            at => Choice::Step(at as usize),
        }
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        let mut message = Message::default();
        message.put(VALUE);
        message.put(n.into());
        self.ask(&message).take() as u32
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Remote {
    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let mut message = Message::default();
        message.put(AGAIN);
        message.put(enabled.0.into());
        message.put_maybe(arrived, Message::put_step);
        self.ask(&message).take_maybe(|it| TaskId(it.take() as u8))
    }

    fn on_step(&mut self, step: &Step) {
        let mut message = Message::default();
        message.put(EXECUTED);
        message.put_step(step);
        self.tell(&message);
    }

    fn abandoned(&mut self, step: &Step) {
        let mut message = Message::default();
        message.put(ABANDONED);
        message.put_step(step);
        self.tell(&message);
    }
}

impl System for Isolated {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        if self.is_shown {
            races::show();
        }
        self.fork(scheduler).unwrap_or_else(|error| {
            let message = format!("no process could be made: {error}");
            super::signals::die(&format!("error: {message}\n"))
        })
    }
}

impl Trial for Isolated {
    fn operations(&self) -> &[(usize, String)] {
        self.inner.operations()
    }

    fn outcome(&self) -> Outcome<AnswerId> {
        self.outcome.clone()
    }

    fn answer(&self, _operation: usize, answer: AnswerId) -> String {
        self.answers[answer.0].clone()
    }

    fn set_memory(&mut self, memory: Memory) {
        self.inner.set_memory(memory);
    }

    fn keep(&mut self, schedule: bool, moments: bool) {
        self.is_shown = moments;
        self.inner.keep(schedule, moments);
    }

    fn set_points(&mut self, points: Points) {
        self.inner.set_points(points);
    }

    fn guess(&self) -> Option<Place> {
        self.guess
    }

    fn schedule(&self) -> Option<Schedule> {
        self.schedule.clone()
    }

    fn moments(&mut self) -> Vec<Moment> {
        std::mem::take(&mut self.moments)
    }

    fn pending(&self) -> &[Pending] {
        &self.pending
    }

    fn case(&self, _outcome: &Outcome<AnswerId>) -> Option<Box<dyn Case>> {
        None
    }
}
