//! Encoding of steps and endings.

use clewline_core::Reason;
use clewline_explore::{Access, Coverage, Diverged, Ending, Limit, SharedId, Step, TaskId, TaskSet};
use clewline_threads::control::Excess;

use crate::message::WireMessage;

// How executions end, except with a divergence.
const ENDINGS: [Ending; 6] =
    [Ending::Full, Ending::Stuck, Ending::Panicked, Ending::Cut, Ending::Redundant, Ending::Restart];

impl WireMessage {
    /// Puts an access.
    pub fn put_access(&mut self, access: Access) {
        self.put(access as u64);
    }

    /// Takes an access.
    pub fn take_access(&mut self) -> Access {
        Access::ALL[self.take_index(Access::ALL.len())]
    }

    pub(crate) fn put_task(&mut self, task: TaskId) {
        self.put(task.0.into());
    }

    pub(crate) fn take_task(&mut self) -> TaskId {
        // A failure after all tasks have ended is attributed to a task number that does not exist.
        TaskId(self.take_index(usize::from(u8::MAX) + 1) as u8)
    }

    /// Puts why an execution was cut.
    pub fn put_excess(&mut self, why: Excess) {
        self.put(why as u64);
    }

    /// Takes why an execution was cut.
    pub fn take_excess(&mut self) -> Excess {
        Excess::ALL[self.take_index(Excess::ALL.len())]
    }

    /// Puts a step.
    pub fn put_step(&mut self, step: &Step) {
        self.put_task(step.task);
        self.put_maybe(step.cause, WireMessage::put_task);
        self.put_access(step.access);
        for flag in [step.calls, step.returns, step.yields] {
            self.put_flag(flag);
        }
        for word in [step.object.0.into(), step.after.0, step.wakes.0, step.frees.0.into()] {
            self.put(word);
        }
    }

    /// Takes a step.
    pub fn take_step(&mut self) -> Step {
        let task = self.take_task();
        let cause = self.take_maybe(WireMessage::take_task);
        let access = self.take_access();
        let [calls, returns, yields] = [(); 3].map(|()| self.take_flag());
        let (object, after, wakes, frees) = (self.take_u32(), self.take(), self.take(), self.take_u32());
        Step {
            cause,
            calls,
            returns,
            yields,
            after: TaskSet(after),
            wakes: TaskSet(wakes),
            frees: SharedId(frees),
            ..Step::new(task, access, SharedId(object))
        }
    }

    fn put_diverged(&mut self, diverged: &Diverged) {
        self.put(diverged.step as u64);
        self.put_all(diverged.expected.iter(), WireMessage::put_step);
        self.put_all(diverged.found.iter(), WireMessage::put_step);
        self.put_flag(diverged.is_foreign);
    }

    fn take_diverged(&mut self) -> Box<Diverged> {
        Box::new(Diverged {
            step: self.take_usize(),
            expected: self.take_all(WireMessage::take_step),
            found: self.take_all(WireMessage::take_step),
            is_foreign: self.take_flag(),
        })
    }

    /// Puts how an execution ended.
    pub fn put_ending(&mut self, ending: &Ending) {
        self.put(ENDINGS.iter().position(|it| it == ending).unwrap_or(ENDINGS.len()) as u64);
        match ending {
            Ending::Diverged(diverged) => self.put_diverged(diverged),
            // The driver knows why, if its scheduler has refused. Otherwise the coverage says it.
            Ending::Refused(_) => self.put_diverged(&Diverged {
                step: 0,
                expected: Vec::new(),
                found: Vec::new(),
                is_foreign: false,
            }),
            Ending::Full
            | Ending::Stuck
            | Ending::Panicked
            | Ending::Cut
            | Ending::Redundant
            | Ending::Restart => (),
        }
    }

    /// Takes how an execution ended.
    pub fn take_ending(&mut self) -> Ending {
        match ENDINGS.get(self.take_index(ENDINGS.len() + 1)) {
            Some(ending) => ending.clone(),
            None => Ending::Diverged(self.take_diverged()),
        }
    }

    pub(crate) fn put_coverage(&mut self, coverage: &Coverage) {
        match coverage {
            Coverage::Exhausted => self.put(EXHAUSTED),
            Coverage::Limited(Limit::Cut(n)) => {
                self.put(CUT);
                self.put(*n);
            }
            Coverage::Limited(Limit::Executions(n)) => {
                self.put(SCHEDULES);
                self.put(*n);
            }
            Coverage::Limited(Limit::Stopped) => self.put(STOPPED),
            Coverage::Limited(Limit::Diverged(diverged)) => {
                self.put(DIVERGED);
                self.put_diverged(diverged);
            }
            Coverage::Limited(Limit::Budget(Reason::Interrupted)) => self.put(INTERRUPTED),
            // An exploration of threads has no other limits.
            Coverage::Limited(other) => {
                self.put(OTHER);
                self.put_text(&other.to_string());
            }
        }
    }

    pub(crate) fn take_coverage(&mut self) -> Coverage {
        Coverage::Limited(match self.take_index(OTHER as usize + 1) as u64 {
            EXHAUSTED => return Coverage::Exhausted,
            CUT => Limit::Cut(self.take()),
            SCHEDULES => Limit::Executions(self.take()),
            STOPPED => Limit::Stopped,
            INTERRUPTED => Limit::Budget(Reason::Interrupted),
            DIVERGED => Limit::Diverged(self.take_diverged()),
            _ => Limit::Other(self.take_text()),
        })
    }
}

const EXHAUSTED: u64 = 0;
const CUT: u64 = 1;
const SCHEDULES: u64 = 2;
const STOPPED: u64 = 3;
const DIVERGED: u64 = 4;
const INTERRUPTED: u64 = 5;
const OTHER: u64 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> Step {
        Step {
            cause: Some(TaskId(2)),
            calls: true,
            yields: true,
            after: TaskSet(5 | 1 << 63),
            wakes: TaskSet(6 | 1 << 32),
            frees: SharedId(7),
            ..Step::new(TaskId(1), Access::Update, SharedId::NONE)
        }
    }

    fn diverged() -> Box<Diverged> {
        let other = Step { returns: true, ..Step::new(TaskId(3), Access::Read, SharedId(4)) };
        Box::new(Diverged { step: 9, expected: vec![step()], found: vec![other], is_foreign: true })
    }

    #[test]
    fn endings_and_limits_survive_encoding() {
        let endings = ENDINGS.into_iter().chain([Ending::Diverged(diverged())]);
        for ending in endings {
            let mut message = WireMessage::default();
            message.put_ending(&ending);
            assert_eq!((message.take_ending(), message.is_whole()), (ending, true));
        }
        let limits = [
            Limit::Cut(3),
            Limit::Executions(4),
            Limit::Stopped,
            Limit::Budget(Reason::Interrupted),
            Limit::Diverged(diverged()),
            Limit::Other("it rains".to_owned()),
        ];
        let all = limits.map(Coverage::Limited).into_iter().chain([Coverage::Exhausted]);
        for coverage in all {
            let mut message = WireMessage::default();
            message.put_coverage(&coverage);
            assert_eq!((message.take_coverage(), message.is_whole()), (coverage, true));
        }
    }
}
