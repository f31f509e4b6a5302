//! What an execution left, as a message.

use clewline_core::{AnswerId, Interner};
use clewline_explore::{Schedule, SharedId};
use clewline_threads::{
    Trial,
    control::{Leak, Moment, Operation, Outcome, Panic, Pending, Place, Race, Touch, Toucher},
};

use crate::message::Message;

/// Puts what the last execution of `trial` left; steps and waiting tasks only if `is_shown`. How
/// places are written depends on which process reads them.
pub fn put_state(
    to: &mut Message,
    trial: &mut dyn Trial,
    is_shown: bool,
    place: &mut dyn FnMut(&mut Message, Place),
) {
    let outcome = trial.outcome();
    to.put(outcome.steps.into());
    to.put_maybe(outcome.panic, |to, (task, panic)| {
        to.put_task(task);
        to.put_text(&panic.message);
        to.put_maybe(panic.place, |to, it| to.put_text(&it));
        to.put_maybe(panic.step, |to, it| to.put(it.into()));
    });
    to.put_all(outcome.operations.iter().enumerate(), |to, (at, it)| {
        to.put_maybe(it.call, |to, it| to.put(it.into()));
        to.put_maybe(it.ret, |to, (step, answer)| {
            to.put(step.into());
            to.put_text(&trial.answer(at, answer));
        });
    });
    to.put_maybe(outcome.race, |to, race| {
        for Toucher { task, place: at, touch } in [race.first, race.second] {
            to.put_task(task);
            place(to, at);
            to.put(TOUCHES.iter().position(|it| *it == touch).unwrap_or(0) as u64);
        }
    });
    to.put_all(outcome.leaks.iter(), |to, it| place(to, it.place));
    to.put_maybe(trial.schedule(), |to, it| to.put_text(&it.to_string()));
    let (moments, pending) =
        if is_shown { (trial.moments(), trial.pending()) } else { (Vec::new(), &[][..]) };
    to.put_all(moments.iter(), |to, it| {
        to.put_step(&it.step);
        place(to, it.place);
        to.put_text(&it.detail);
    });
    to.put_all(pending.iter(), |to, it| {
        to.put_task(it.task);
        to.put_access(it.access);
        to.put(it.object.0.into());
        place(to, it.place);
        to.put_maybe(it.operation, |to, it| to.put(it as u64));
        to.put_flag(it.spins);
    });
}

const TOUCHES: [Touch; 4] = [Touch::Read, Touch::Write, Touch::Pointer, Touch::Drop];

/// What an execution in another process left.
#[derive(Debug)]
pub struct Kept {
    answers: Interner<String>,
    /// Its operations, and what else came of it.
    pub outcome: Outcome<AnswerId>,
    /// What was chosen, if that was kept.
    pub schedule: Option<Schedule>,
    /// Its steps, if they were kept.
    pub moments: Vec<Moment>,
    /// What the tasks waited for that could not go on.
    pub pending: Vec<Pending>,
}

impl Default for Kept {
    fn default() -> Kept {
        let outcome =
            Outcome { operations: Vec::new(), steps: 0, panic: None, race: None, leaks: Vec::new() };
        let (moments, pending) = (Vec::new(), Vec::new());
        Kept { answers: Interner::new(), outcome, schedule: None, moments, pending }
    }
}

impl Kept {
    /// Takes what [`put_state`] has put.
    pub fn learn(&mut self, from: &mut Message, place: &mut dyn FnMut(&mut Message) -> Place) {
        self.outcome.steps = from.take_u32();
        self.outcome.panic = from.take_maybe(|from| {
            let (task, message) = (from.take_task(), from.take_text());
            let place = from.take_maybe(Message::take_text);
            (task, Panic { message, place, step: from.take_maybe(Message::take_u32) })
        });
        self.outcome.operations = from.take_all(|from| {
            let call = from.take_maybe(Message::take_u32);
            let ret = from.take_maybe(|it| (it.take_u32(), AnswerId(self.answers.intern(it.take_text()))));
            Operation { call, ret }
        });
        self.outcome.race = from.take_maybe(|from| {
            let [first, second] = [(); 2].map(|()| Toucher {
                task: from.take_task(),
                place: place(from),
                touch: TOUCHES[from.take_index(TOUCHES.len())],
            });
            Race { first, second }
        });
        self.outcome.leaks = from.take_all(|from| Leak { place: place(from) });
        self.schedule = from.take_maybe(Message::take_text).and_then(|it| it.parse().ok());
        self.moments = from.take_all(|from| Moment {
            step: from.take_step(),
            place: place(from),
            detail: from.take_text(),
        });
        self.pending = from.take_all(|from| Pending {
            task: from.take_task(),
            access: from.take_access(),
            object: SharedId(from.take_u32()),
            place: place(from),
            operation: from.take_maybe(Message::take_usize),
            spins: from.take_flag(),
        });
    }

    /// A result as it is written.
    #[must_use]
    pub fn answer(&self, answer: AnswerId) -> String {
        self.answers[answer.0].clone()
    }
}
