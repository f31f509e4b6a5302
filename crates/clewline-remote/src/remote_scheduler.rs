//! A scheduler in another process, which is asked at each point.

use std::io;

use clewline_explore::{
    Begin, Choice, Diverged, Ending, FastPath, Point, Scheduler, Step, TaskId, TaskSet, with_fast_path,
};

use crate::{line::Line, message::WireMessage};

// Requests.
const CHOOSE: u64 = 0;
const REPLAY_CHOICE: u64 = 1;
const CHOOSE_VALUE: u64 = 2;
const EXECUTED: u64 = 3;
const ABANDONED: u64 = 4;
const REFUSES: u64 = 5;
// Choices besides a step.
const REDUNDANT: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const DIVERGED: u64 = u64::MAX - 2;
const DIVERGED_FOREIGN: u64 = u64::MAX - 3;

/// The kinds of other messages begin here.
pub(crate) const FIRST_OTHER_KIND: u64 = 16;

/// A divergence from the expected step. Only the scheduler knows the details.
fn divergence(is_foreign: bool) -> Box<Diverged> {
    Box::new(Diverged { step: 0, expected: Vec::new(), found: Vec::new(), is_foreign })
}

/// Serves the scheduler requests of an execution in another process, until it has ended. Returns
/// its ending, and the rest of the final message, which begins with `done` and the ending.
///
/// # Errors
///
/// If the other process has ended.
pub fn serve_scheduler(
    line: &mut Line,
    scheduler: &mut dyn Scheduler,
    done: u64,
) -> io::Result<(Ending, WireMessage)> {
    with_fast_path(scheduler, |scheduler| serve(line, scheduler, done))
}

fn serve(line: &mut Line, scheduler: &mut dyn FastPath, done: u64) -> io::Result<(Ending, WireMessage)> {
    let mut diverged: Option<Box<Diverged>> = None;
    let mut refused: Option<&'static str> = None;
    loop {
        let mut message = line.receive()?;
        let mut reply = WireMessage::default();
        match message.take() {
            CHOOSE => {
                let running = message.take_maybe(WireMessage::take_usize);
                let enabled = message.take_all(WireMessage::take_step);
                let waiting = message.take_all(WireMessage::take_step);
                if !message.is_whole() || running.unwrap_or(0) >= enabled.len() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                match scheduler.choose(&Point { enabled: &enabled, running, waiting: &waiting }) {
                    Choice::Step(at) => reply.put(at as u64),
                    Choice::Redundant => reply.put(REDUNDANT),
                    Choice::Stop => reply.put(STOP),
                    Choice::Diverged(it) => {
                        reply.put(if it.is_foreign { DIVERGED_FOREIGN } else { DIVERGED });
                        diverged = Some(it);
                    }
                    Choice::Refused(reason) => {
                        reply.put(DIVERGED);
                        refused = Some(reason);
                    }
                }
            }
            REPLAY_CHOICE => {
                let enabled = TaskSet(message.take());
                let arrived = message.take_maybe(WireMessage::take_step);
                let found = scheduler.replay_choice(enabled, arrived.as_ref());
                reply.put_maybe(found, WireMessage::put_task);
            }
            REFUSES => reply.put(scheduler.refuses(&message.take_step()).into()),
            CHOOSE_VALUE => reply.put(scheduler.choose_value(message.take_u32().max(1)).into()),
            EXECUTED => {
                scheduler.on_step(&message.take_step());
                continue;
            }
            ABANDONED => {
                scheduler.abandoned(&message.take_step());
                continue;
            }
            kind if kind == done => {
                let ending = match message.take_ending() {
                    Ending::Diverged(it) => {
                        refused.map_or_else(|| Ending::Diverged(diverged.unwrap_or(it)), Ending::Refused)
                    }
                    ending => ending,
                };
                return Ok((ending, message));
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        line.send(&reply)?;
    }
}

/// A scheduler in another process, for an execution in this one.
#[derive(Debug)]
pub struct RemoteScheduler<'a> {
    line: &'a mut Line,
    lost: fn() -> !,
}

impl RemoteScheduler<'_> {
    /// The scheduler at the other end of `line`. An execution cannot continue without it: if the
    /// other process has ended, `lost` is called.
    pub fn new(line: &mut Line, lost: fn() -> !) -> RemoteScheduler<'_> {
        RemoteScheduler { line, lost }
    }

    fn send(&mut self, message: &WireMessage) {
        if self.line.send(message).is_err() {
            (self.lost)();
        }
    }

    fn request(&mut self, message: &WireMessage) -> WireMessage {
        self.send(message);
        self.line.receive().unwrap_or_else(|_| (self.lost)())
    }
}

impl Scheduler for RemoteScheduler<'_> {
    fn begin(&mut self, _begin: Begin) -> bool {
        true
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let mut message = WireMessage::new(CHOOSE);
        message.put_maybe(point.running, |to, it| to.put(it as u64));
        message.put_all(point.enabled.iter(), WireMessage::put_step);
        message.put_all(point.waiting.iter(), WireMessage::put_step);
        match self.request(&message).take() {
            REDUNDANT => Choice::Redundant,
            STOP => Choice::Stop,
            DIVERGED_FOREIGN => Choice::Diverged(divergence(true)),
            DIVERGED => Choice::Diverged(divergence(false)),
            at => Choice::Step((at as usize).min(point.enabled.len() - 1)),
        }
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        let mut message = WireMessage::new(CHOOSE_VALUE);
        message.put(n.into());
        self.request(&message).take_u32()
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for RemoteScheduler<'_> {
    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let mut message = WireMessage::new(REPLAY_CHOICE);
        message.put(enabled.0);
        message.put_maybe(arrived, WireMessage::put_step);
        self.request(&message).take_maybe(WireMessage::take_task)
    }

    fn on_step(&mut self, step: &Step) {
        let mut message = WireMessage::new(EXECUTED);
        message.put_step(step);
        self.send(&message);
    }

    fn abandoned(&mut self, step: &Step) {
        let mut message = WireMessage::new(ABANDONED);
        message.put_step(step);
        self.send(&message);
    }

    fn refuses(&mut self, step: &Step) -> bool {
        let mut message = WireMessage::new(REFUSES);
        message.put_step(step);
        self.request(&message).take() == 1
    }
}
