//! Online checking: a history is checked while it grows.

pub(crate) mod follow;
pub(crate) mod window;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    time::Instant,
};

use clewline_check::JudgeOptions;
use clewline_core::{
    BorrowedHistory, ErasedHistory, Event, Names, ObjectId, ProcessId, Specification, Value, Values, Verdict,
    name_of_type,
};
use clewline_report::render::{Source, Stream};

use self::window::{DEFAULT_WINDOW_OPS, Load, Place, Snapshot, StreamViolation, Window};
use super::outcome::Report;
use crate::error::{Error, ErrorKind};

/// Makes the names of processes, by their numbers, in that table. It is called for an alarm only.
pub(crate) type NameProcesses<'a> = &'a dyn Fn(&mut Values) -> Vec<Value>;

/// Checks a history while it grows, and holds only the operations that may still matter.
///
/// Events come in real-time order. When enough have come, they are checked, and operations that
/// cannot matter any more are forgotten; [`judge`](Self::judge) does so at once. How many are held
/// depends on the object: of queues, priority queues, bags and sets with distinct values, the
/// elements inside and the open operations; of stacks, the operations since the stack may have been
/// empty; of other objects, the operations since none was open. So there an operation that never
/// returns keeps all later ones.
///
/// ```
/// use clewline::{Event, Value, files::Watch, specs::register::{Call, Register}};
///
/// let mut watch = Watch::new(Register::new());
/// watch.push(Event::call(0, Call::Write(1.into())))?;
/// watch.push(Event::ret(0, Value::TRUE))?;
/// watch.push(Event::call(1, Call::Read))?;
/// assert!(watch.judge()?.is_none());
/// watch.push(Event::ret(1, 2.into()))?;
/// let alarm = watch.judge()?.expect("2 was never written");
/// assert_eq!(alarm.event(), 3);
/// # Ok::<(), clewline::Error>(())
/// ```
pub struct Watch<S: Specification> {
    specification: S,
    window: Window<S::Call, S::Return>,
    events: u64,
    objects: HashSet<ObjectId>,
    // The current id of each process: a new one after an operation was abandoned.
    current: HashMap<ProcessId, ProcessId>,
    // How many operations were given up.
    abandoned: u32,
    begun: Instant,
}

impl<S> Watch<S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(specification: S) -> Watch<S> {
        Watch {
            specification,
            window: Window::new(JudgeOptions::default(), DEFAULT_WINDOW_OPS),
            events: 0,
            objects: HashSet::new(),
            current: HashMap::new(),
            abandoned: 0,
            begun: Instant::now(),
        }
    }

    /// Takes the next event, and checks the stream when it is due.
    ///
    /// # Errors
    ///
    /// If a process calls while its operation is open, or an event ends an operation that is not.
    pub fn push(&mut self, event: Event<S::Call, S::Return>) -> Result<Option<Alarm>, Error> {
        self.push_named(event, &|_| Vec::new())
    }

    /// As [`push`](Self::push), for processes with names.
    pub(crate) fn push_named(
        &mut self,
        event: Event<S::Call, S::Return>,
        name_processes: NameProcesses<'_>,
    ) -> Result<Option<Alarm>, Error> {
        let at = self.events;
        let process = event.process();
        let process = self.current.get(&process).copied().unwrap_or(process);
        let is_open = self.window.is_open(process);
        let place = Place { line: at, id: Value::ABSENT, order: None };
        let malformed = |reason| Err(Error::from(ErrorKind::Event { at, reason }));
        match event {
            Event::Call(..) if is_open => {
                return malformed("a process calls while its previous operation is still open");
            }
            Event::Call(_, object, call) => {
                self.objects.insert(object);
                self.window.call(process, object, call, place);
            }
            Event::Return(..) | Event::Fail(_) | Event::Info(_) if !is_open => {
                return malformed("an operation ends that was not open: its process has not called");
            }
            Event::Return(_, ret) => self.window.ret(process, ret, place),
            Event::Fail(_) => self.window.fail(process, at),
            Event::Info(original) => {
                self.window.abandon(process);
                let fresh = ProcessId(u32::MAX - self.abandoned);
                self.abandoned += 1;
                self.current.insert(original, fresh);
            }
        }
        self.events += 1;
        if self.window.is_due() { self.judge_named(name_processes) } else { Ok(None) }
    }

    /// Checks the events so far, and forgets operations that cannot matter any more.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn judge(&mut self) -> Result<Option<Alarm>, Error> {
        self.judge_named(&|_| Vec::new())
    }

    /// As [`judge`](Self::judge), for processes with names.
    pub(crate) fn judge_named(&mut self, name_processes: NameProcesses<'_>) -> Result<Option<Alarm>, Error> {
        let load = Typed { specification: &self.specification };
        let now = self.window.now();
        let Some(StreamViolation { moment, judgement }) = self.window.advance(&load, now)? else {
            return Ok(None);
        };
        let event = self.window.last_line(moment);
        let verdict = judgement.verdict.clone();
        let facts = self.window.facts;
        let Snapshot { history, .. } = self.window.snapshot(moment)?;
        let line = matches!(verdict, Verdict::Violated(_)).then_some(event as usize + 1);
        let (operations, most_held) = (facts.operations, Some(facts.most));
        let mut values = Values::new();
        let names = Names { processes: name_processes(&mut values), ..Names::default() };
        let report = Report {
            name: "the history".to_owned(),
            source: Source::Program,
            spec: name_of_type::<S>().to_owned(),
            case: Box::new(BorrowedHistory::new(&self.specification, &history).named(names, values)),
            judgement,
            elapsed: self.begun.elapsed(),
            stream: Some(Stream { operations, objects: self.objects.len(), most_held, line }),
            quasi: None,
            next: Vec::new(),
        };
        Ok(Some(Alarm { verdict, event, text: report.to_string() }))
    }

    /// How many operations are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.window.held()
    }
}

impl<S: Specification> fmt::Debug for Watch<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("events", &self.events).finish_non_exhaustive()
    }
}

/// The alarm of a [`Watch`]: a violation, or an unknown verdict. `Display` writes the report.
#[must_use = "a violation is in it"]
#[derive(Clone, Debug)]
pub struct Alarm {
    verdict: Verdict,
    event: u64,
    text: String,
}

impl Alarm {
    /// The verdict. Operations are numbered within those that were held.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The index of the event, from 0, after which a violation was certain.
    #[must_use]
    pub fn event(&self) -> u64 {
        self.event
    }
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

struct Typed<'a, S> {
    specification: &'a S,
}

impl<S> Load for Typed<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    type Call = S::Call;
    type Return = S::Return;

    fn with<T>(
        &self,
        snapshot: Snapshot<S::Call, S::Return>,
        with: impl FnOnce(&dyn ErasedHistory) -> T,
    ) -> Result<T, Error> {
        Ok(with(&BorrowedHistory::new(self.specification, &snapshot.history)))
    }

    fn may_forget(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use clewline_specs::register::{Call, Register};

    use super::*;

    #[test]
    fn positions_of_events_have_64_bits() {
        let mut watch = Watch::new(Register::new());
        watch.events = 5_000_000_000;
        for event in [Event::call(0, Call::Read), Event::ret(0, Value::from(7))] {
            assert!(watch.push(event).expect("an event").is_none());
        }
        let alarm = watch.judge().expect("well-formed").expect("7 was never written");
        assert_eq!(alarm.event(), 5_000_000_001);
        let text = alarm.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("after event 5,000,000,002"), "{alarm}");
    }
}
