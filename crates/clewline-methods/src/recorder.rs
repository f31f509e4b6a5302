//! A recorder for systems that run by themselves: a service, a client library, a cluster under
//! test.
//!
//! Threads or async tasks report their calls and returns as they happen; nothing schedules them.

use std::{
    fmt, mem,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use clewline_core::{
    Codec, Event, History, Note, ObjectId, ProcessId, Recording, Specification, Value, Values,
    erase_with_codec,
};
use rustc_hash::FxHashMap;

use crate::{
    check::{Alarm, Watch},
    error::{Error, ErrorKind},
    saving::save_recording,
};

/// Records the operations of a running system, to be judged later or while it runs.
///
/// Call [`call`](Self::call) before an operation is invoked and [`OpenOperation::returned`] after
/// its response is there. An operation that is dropped without a result, such as that of a
/// cancelled future, is recorded as pending: it may have taken effect or not.
///
/// ```
/// use clewline::{Recorder, check, specs::register::{Call, Register}};
///
/// let recorder = Recorder::new(Register::new());
/// let write = recorder.call(0, Call::Write(3.into()));
/// let read = recorder.call(1, Call::Read);
/// read.returned(3.into());
/// drop(write); // The connection was lost.
///
/// let history = recorder.history()?;
/// assert!(check(&Register::new(), &history).holds());
/// # Ok::<(), clewline::Error>(())
/// ```
///
/// Clients are numbers of your own, and reports name processes by them. A client whose operation is
/// still open, or was dropped, may call again: that operation counts as one of another process, as
/// in the logs of Jepsen. The second process of client 7 is named `7 (2)`.
///
/// # Cost
///
/// An event takes a lock and appends to a list. The lock also orders the memory accesses of clients
/// that share memory: to test a data structure with atomics, use `Stress`, which records without a
/// lock.
pub struct Recorder<S: Specification> {
    specification: S,
    log: Mutex<Log<S>>,
    // Locked before `log` where both are.
    watch: Mutex<Watch<S>>,
    is_live: bool,
}

struct Log<S: Specification> {
    events: Vec<Event<S::Call, S::Return>>,
    // How many of `events` the watch has seen.
    watched: usize,
    // The latest process of each client.
    latest: FxHashMap<usize, ProcessId>,
    processes: Vec<Process>,
    notes: Vec<Note>,
}

/// A process of a client: one operation at a time.
#[derive(Clone, Copy)]
struct Process {
    client: usize,
    // From 1, among the processes of its client.
    number: u32,
    // Whether its operation is open, or was dropped, and must stay its last one.
    is_open: bool,
}

impl Process {
    fn name(self, values: &mut Values) -> Value {
        match (self.number, i64::try_from(self.client)) {
            (1, Ok(client)) => values.int(client),
            (1, Err(_)) => values.text(&self.client.to_string()),
            (number, _) => values.text(&format!("{} ({number})", self.client)),
        }
    }
}

fn names(processes: &[Process], values: &mut Values) -> Vec<Value> {
    processes.iter().map(|it| it.name(values)).collect()
}

impl<S> Recorder<S>
where
    S: Specification + Clone + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    /// A recorder that keeps every event.
    #[must_use]
    pub fn new(specification: S) -> Recorder<S> {
        Recorder::start(specification, false)
    }

    /// A recorder for a system that runs on and on: events are dropped once [`watch`](Self::watch)
    /// has judged them, so there is no [`history`](Self::history) of all of them.
    ///
    /// Calls and results of types of your own are dropped with the events. A `Value`, which the
    /// built-in specifications use, stays until the process ends if it is a text, a list, or an
    /// integer of more than 31 bits: each *distinct* one takes 50 to 100 bytes, and its text.
    /// Values that repeat take nothing, so draw texts from a limited set, or use small integers.
    #[must_use]
    pub fn live(specification: S) -> Recorder<S> {
        Recorder::start(specification, true)
    }

    fn start(specification: S, is_live: bool) -> Recorder<S> {
        let log = Log {
            events: Vec::new(),
            watched: 0,
            latest: FxHashMap::default(),
            processes: Vec::new(),
            notes: Vec::new(),
        };
        let watch = Mutex::new(Watch::new(specification.clone()));
        Recorder { specification, log: Mutex::new(log), watch, is_live }
    }

    /// Judges what was recorded since the last time, together with what came before it.
    ///
    /// Returns an alarm if there is a violation, or if it can no longer be known whether there is.
    /// Call it from a thread or a task of its own, as often as you like. Recording goes on
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn watch(&self) -> Result<Option<Alarm>, Error> {
        let mut watch = lock(&self.watch);
        let events = {
            let mut log = self.lock();
            if self.is_live {
                mem::take(&mut log.events)
            } else {
                let Log { events, watched, .. } = &mut *log;
                events[mem::replace(watched, events.len())..].to_vec()
            }
        };
        let names = |values: &mut Values| names(&self.lock().processes, values);
        let mut first = None;
        for event in events {
            let alarm = watch.push_named(event, &names)?;
            first = first.or(alarm);
        }
        if first.is_some() { Ok(first) } else { watch.judge_named(&names) }
    }
}

impl<S: Specification> Recorder<S> {
    /// Records that `client` invokes `call`. To be called before the operation begins.
    pub fn call(&self, client: usize, call: S::Call) -> OpenOperation<'_, S> {
        let mut log = self.lock();
        let process = log.process(client);
        log.events.push(Event::Call(process, ObjectId(0), call));
        OpenOperation { recorder: self, process }
    }

    /// Notes that something happened at this moment, such as the crash of a server. Reports show it
    /// beside the operations of a [saved](Self::save) history.
    pub fn note(&self, text: impl Into<String>) {
        let mut log = self.lock();
        let at = log.events.len() as u32;
        log.notes.push(Note { text: text.into(), from: at, until: Some(at) });
    }

    /// Notes that something begins now, such as a network partition. It ends when the value that is
    /// returned is dropped.
    pub fn interval(&self, text: impl Into<String>) -> OpenNote<'_, S> {
        let mut log = self.lock();
        let from = log.events.len() as u32;
        log.notes.push(Note { text: text.into(), from, until: None });
        OpenNote { recorder: self, note: log.notes.len() - 1 }
    }

    /// The history so far. Operations that are open are pending. Recording goes on meanwhile.
    ///
    /// Processes have the numbers of their clients, and the further processes of a client have
    /// numbers after the highest client. With clients from 65,536 on, all are numbered from 0.
    ///
    /// # Errors
    ///
    /// If the recorder is [live](Self::live): events that were judged are gone.
    pub fn history(&self) -> Result<History<S::Call, S::Return>, Error> {
        let Snapshot { events, processes, .. } = self.snapshot()?;
        let numbers = client_numbers(&processes);
        let number = |it: ProcessId| numbers.get(it.index()).copied().unwrap_or(it);
        Ok(history(events.into_iter().map(|it| {
            let process = number(it.process());
            it.of(process)
        })))
    }

    /// Saves the history so far, with its notes, as JSON lines, for `clewline check FILE --spec
    /// NAME`. A file that is already there is replaced.
    ///
    /// A specification without a [`Codec`] has no such name; with the feature `serde`,
    /// `save_with_serde` saves its history.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or the recorder is [live](Self::live).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error>
    where
        S: Codec + Clone + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync,
    {
        self.write(path.as_ref(), |history| {
            let erased = erase_with_codec(self.specification.clone(), history);
            Ok(erased.recording().expect("a specification with a codec can be written"))
        })
    }

    /// Saves the history so far, with its notes, as JSON lines: calls and results are written by
    /// serde, as by `files::save_history`, and `files::read_history` reads them. A file that is
    /// already there is replaced.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, serde cannot write a call or a result so that it reads it
    /// again, or the recorder is [live](Self::live).
    #[cfg(feature = "serde")]
    pub fn save_with_serde(&self, path: impl AsRef<Path>) -> Result<(), Error>
    where
        S::Call: serde::Serialize + serde::de::DeserializeOwned,
        S::Return: serde::Serialize + serde::de::DeserializeOwned,
    {
        self.write(path.as_ref(), |history| Ok(clewline_formats::typed::to_recording(&history)?))
    }

    fn write(
        &self,
        path: &Path,
        to_recording: impl FnOnce(History<S::Call, S::Return>) -> Result<Recording, Error>,
    ) -> Result<(), Error> {
        save_recording(path, || {
            let Snapshot { events, processes, notes } = self.snapshot()?;
            let mut recording = to_recording(history(events))?;
            recording.names.processes = names(&processes, &mut recording.values);
            recording.names.notes = notes;
            Ok(recording)
        })
    }

    /// What is recorded at this moment. Clients wait for a part of the copy at most.
    fn snapshot(&self) -> Result<Snapshot<S>, Error> {
        if self.is_live {
            return Err(ErrorKind::LiveRecorder.into());
        }
        let (len, processes, notes) = {
            let log = self.lock();
            (log.events.len(), log.processes.clone(), log.notes.clone())
        };
        let mut events = Vec::with_capacity(len);
        while events.len() < len {
            let until = len.min(events.len() + COPY_EVENTS_MAX);
            events.extend_from_slice(&self.lock().events[events.len()..until]);
        }
        Ok(Snapshot { events, processes, notes })
    }

    fn lock(&self) -> MutexGuard<'_, Log<S>> {
        lock(&self.log)
    }

    fn end(&self, process: ProcessId, event: Event<S::Call, S::Return>) {
        let mut log = self.lock();
        log.processes[process.index()].is_open = matches!(event, Event::Info(_));
        log.events.push(event);
    }
}

impl<S: Specification> Log<S> {
    /// A process of `client` that has no operation open.
    fn process(&mut self, client: usize) -> ProcessId {
        let fresh = ProcessId(u32::try_from(self.processes.len()).expect("at most 2^32 processes"));
        let latest = self.latest.entry(client).or_insert(fresh);
        let number = match self.processes.get_mut(latest.index()) {
            Some(process) if !process.is_open => {
                process.is_open = true;
                return *latest;
            }
            process => process.map_or(1, |it| it.number + 1),
        };
        *latest = fresh;
        self.processes.push(Process { client, number, is_open: true });
        fresh
    }
}

// How many events are copied while clients wait.
const COPY_EVENTS_MAX: usize = 1 << 12;

struct Snapshot<S: Specification> {
    events: Vec<Event<S::Call, S::Return>>,
    processes: Vec<Process>,
    notes: Vec<Note>,
}

fn history<C, R>(events: impl IntoIterator<Item = Event<C, R>>) -> History<C, R> {
    History::from_events(events).expect("a process has one operation open at a time")
}

// Tables are indexed by the numbers of processes.
const CLIENT_NUMBERS_MAX: usize = 1 << 16;

/// The number of each process in a history without names; empty if they stay as they are.
fn client_numbers(processes: &[Process]) -> Vec<ProcessId> {
    let after_clients = processes.iter().map(|it| it.client.saturating_add(1)).max().unwrap_or(0);
    if CLIENT_NUMBERS_MAX < after_clients {
        return Vec::new();
    }
    let mut further = after_clients..;
    let mut number = |it: &Process| match it.number {
        1 => it.client,
        _ => further.next().unwrap_or_default(),
    };
    processes.iter().map(|it| ProcessId(number(it) as u32)).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic of another client leaves a list to which an event was appended or not.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Specification> fmt::Debug for Recorder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("events", &self.lock().events.len()).finish_non_exhaustive()
    }
}

/// An operation that was called and has not returned. If it is dropped, it stays pending.
#[must_use = "an operation that is dropped at once is recorded as pending"]
pub struct OpenOperation<'a, S: Specification> {
    recorder: &'a Recorder<S>,
    process: ProcessId,
}

impl<S: Specification> OpenOperation<'_, S> {
    /// Records that the operation returned `ret`. To be called after the response is there.
    pub fn returned(self, ret: S::Return) {
        self.end(|process| Event::Return(process, ret));
    }

    /// Records that the operation certainly had no effect, and never will have: it was refused, or
    /// never sent. After a timeout or a lost connection this is not certain; drop the operation.
    pub fn fail(self) {
        self.end(Event::Fail);
    }

    fn end(self, event: impl FnOnce(ProcessId) -> Event<S::Call, S::Return>) {
        self.recorder.end(self.process, event(self.process));
        mem::forget(self);
    }
}

impl<S: Specification> Drop for OpenOperation<'_, S> {
    fn drop(&mut self) {
        self.recorder.end(self.process, Event::Info(self.process));
    }
}

/// An interval that has not ended. It ends when this is dropped.
#[must_use = "an interval that is dropped at once is a moment"]
pub struct OpenNote<'a, S: Specification> {
    recorder: &'a Recorder<S>,
    note: usize,
}

impl<S: Specification> Drop for OpenNote<'_, S> {
    fn drop(&mut self) {
        let mut log = self.recorder.lock();
        log.notes[self.note].until = Some(log.events.len() as u32);
    }
}

impl<S: Specification> fmt::Debug for OpenNote<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenNote").field("note", &self.note).finish_non_exhaustive()
    }
}

impl<S: Specification> fmt::Debug for OpenOperation<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOperation").field("process", &self.process).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
