//! The client: the side that decides what is explored.

use std::{
    fmt, io,
    ops::ControlFlow,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use clewline_core::{CodecError, ErasedHistory, ResultId};
use clewline_explore::{
    Coverage, Ending, Limit, Part, Schedule, Scheduler, System,
    schedulers::{SchedulerEntry, SchedulerSettings},
    split,
};
use clewline_matrix::{
    EncodedSerialHistories, Explained, Explorable, Extent, Learned, Strategy, Survey, TestProgram, Visit,
    Visits, survey,
};
use clewline_threads::control::{
    Calls, ExecutionOutcome, ExtraPoints, Limits, Memory, Moment, Pending, Place, Unended,
};

use crate::{
    line::{GAVE_UP, Line},
    message::WireMessage,
    offer::{Offer, RunOptions, Unseen},
    places::ReceivedPlaces,
    remote_scheduler::serve_scheduler,
    request::{
        BREAK, CONTINUE, COPY, DONE, DROP, EXPLORE, LEARN, LEAVE, NEW_PROGRAM, NO_SCHEDULER, RACING, RUN,
        SPLIT, Setup, UNSEEN, VISIT,
    },
    results::ReceivedResults,
    state::{ReceivedState, StateDecoder},
};

/// Why an exploration stopped: the program has ended.
pub(crate) const LOST: &str = "the program has ended";

/// A subject in another process.
#[derive(Debug)]
pub struct Remote {
    offer: Offer,
    shared: Arc<Shared>,
    next_program: AtomicU64,
    /// Those that this one is a copy of, which learn what was not seen of it.
    original: Option<Arc<Shared>>,
}

/// The state shared by all test programs of a process.
struct Shared {
    line: Mutex<(Line, ReceivedNames)>,
    is_lost: AtomicBool,
    is_protocol_violated: AtomicBool,
    /// Why the program has ended, as far as it sent it.
    reason: Mutex<Option<String>>,
    /// What was not seen of its copies.
    unseen: Mutex<Unseen>,
}

/// The places and results that the program has sent.
#[derive(Debug, Default)]
struct ReceivedNames {
    places: ReceivedPlaces,
    results: ReceivedResults,
}

impl StateDecoder for ReceivedNames {
    fn take_place(&mut self, from: &mut WireMessage) -> Place {
        self.places.take(from)
    }

    fn take_result(&mut self, from: &mut WireMessage) -> ResultId {
        self.results.take(from)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("is_lost", &self.is_lost).finish_non_exhaustive()
    }
}

impl Shared {
    fn new(line: Line) -> Arc<Shared> {
        Arc::new(Shared {
            line: Mutex::new((line, ReceivedNames::default())),
            is_lost: AtomicBool::new(false),
            is_protocol_violated: AtomicBool::new(false),
            reason: Mutex::new(None),
            unseen: Mutex::new(Unseen { is_everything: true, is_sequential: true, ..Unseen::default() }),
        })
    }

    fn line(&self) -> MutexGuard<'_, (Line, ReceivedNames)> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the program has ended, if so.
    fn note_loss<T>(&self, result: io::Result<T>) -> Option<T> {
        if let Err(error) = &result {
            self.is_lost.store(true, Ordering::Relaxed);
            self.is_protocol_violated.fetch_or(error.kind() == io::ErrorKind::InvalidData, Ordering::Relaxed);
        }
        result.ok()
    }

    fn ask(&self, request: &WireMessage) -> Option<WireMessage> {
        let (line, _) = &mut *self.line();
        self.note_loss(line.send(request).and_then(|()| line.receive()))
    }
}

/// Checks that a message was read to its end.
fn fully_read<T>(value: T, message: &WireMessage) -> io::Result<T> {
    if message.is_whole() { Ok(value) } else { Err(io::ErrorKind::InvalidData.into()) }
}

impl Remote {
    /// Connects to the program at the other end of `line`, with these run options.
    ///
    /// # Errors
    ///
    /// If the program has ended.
    pub fn connect(mut line: Line, wanted: &RunOptions) -> io::Result<Remote> {
        line.send(&wanted.to_message())?;
        let offer = Offer::from_message(line.receive()?).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Remote { offer, shared: Shared::new(line), next_program: AtomicU64::new(0), original: None })
    }

    /// What the program declares.
    #[must_use]
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Whether the program has ended, so that the last exploration is meaningless.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.shared.is_lost.load(Ordering::Relaxed)
    }

    /// Why the program has ended, if it is lost and sent a reason.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        self.shared.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is lost because it sent an invalid message. Then it may still run.
    #[must_use]
    pub fn is_protocol_violated(&self) -> bool {
        self.shared.is_protocol_violated.load(Ordering::Relaxed)
    }

    /// Ends the program's session. Nothing can be explored any more.
    pub fn disconnect(&self) {
        let (line, _) = &mut *self.shared.line();
        let left = line.send(&WireMessage::new(LEAVE)).and_then(|()| line.flush());
        self.shared.note_loss(left);
    }

    /// Places in the code that race, as far as known.
    #[must_use]
    pub fn racing(&self) -> Vec<usize> {
        let reply = self.shared.ask(&WireMessage::new(RACING));
        reply.map_or_else(Vec::new, |mut it| it.take_all(WireMessage::take_usize))
    }
}

impl Remote {
    /// What the program did so far that was not seen.
    #[must_use]
    pub fn unseen(&self) -> Unseen {
        let reply = self.shared.ask(&WireMessage::new(UNSEEN));
        let read = reply.map(|it| Unseen::from_message(it).ok_or_else(|| io::ErrorKind::InvalidData.into()));
        let mut unseen = read.and_then(|it| self.shared.note_loss(it)).unwrap_or_default();
        unseen.add(&self.shared.unseen.lock().unwrap_or_else(PoisonError::into_inner));
        unseen
    }

    /// A copy of the program. It ends when the result is dropped.
    fn copy(&self) -> io::Result<Remote> {
        let ((from, to_copy), (from_copy, to)) = (io::pipe()?, io::pipe()?);
        let mut request = WireMessage::new(COPY);
        request.put(std::process::id().into());
        [file_number(&from), file_number(&to)].into_iter().for_each(|it| request.put(it));
        let reply = self.shared.ask(&request);
        if reply.map(|mut it| it.take()) != Some(DONE) {
            return Err(io::ErrorKind::Other.into());
        }
        Ok(Remote {
            offer: self.offer.clone(),
            shared: Shared::new(Line::new(from_copy, to_copy)),
            // Those of the original are numbered from the start.
            next_program: AtomicU64::new(1 << 32),
            original: Some(Arc::clone(&self.shared)),
        })
    }
}

#[cfg(unix)]
fn file_number(file: &impl std::os::fd::AsRawFd) -> u64 {
    u64::try_from(file.as_raw_fd()).unwrap_or_default()
}

#[cfg(not(unix))]
fn file_number<T>(_: &T) -> u64 {
    0
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Some(original) = &self.original {
            let unseen = self.unseen();
            if !self.is_lost() {
                original.unseen.lock().unwrap_or_else(PoisonError::into_inner).add(&unseen);
                self.disconnect();
            }
        }
    }
}

impl Explorable for Remote {
    fn invocations(&self) -> Vec<String> {
        self.offer.invocations.clone()
    }

    fn test_program(
        &self,
        calls: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        let number = self.next_program.fetch_add(1, Ordering::Relaxed);
        let mut request = WireMessage::new(NEW_PROGRAM);
        request.put(number);
        request.put_calls(calls);
        request.put_limits(limits);
        let mut reply = self.shared.ask(&request).ok_or_else(|| CodecError(LOST.to_owned()))?;
        if let Some(message) = reply.take_maybe(WireMessage::take_text) {
            return Err(CodecError(message));
        }
        Ok(Box::new(RemoteProgram {
            shared: Arc::clone(&self.shared),
            number,
            operations: calls.operations().map(|(process, it)| (process, it.clone())).collect(),
            setup: Setup::default(),
            kept: ReceivedState::default(),
            learned: Learned::default(),
            guess: None,
            unended: None,
            explanation: None,
            message: WireMessage::default(),
        }))
    }

    fn is_far(&self) -> bool {
        true
    }

    fn copied(&self) -> Result<Option<Box<dyn Explorable>>, CodecError> {
        let copy = self.copy().map_err(|it| CodecError(format!("the program was not copied: {it}")))?;
        Ok(Some(Box::new(copy)))
    }
}

/// A matrix on a subject in another process.
struct RemoteProgram {
    shared: Arc<Shared>,
    number: u64,
    operations: Vec<(usize, String)>,
    setup: Setup,
    kept: ReceivedState,
    learned: Learned,
    guess: Option<Place>,
    unended: Option<Unended>,
    explanation: Option<EncodedSerialHistories>,
    // Its memory is reused.
    message: WireMessage,
}

/// A message during executions.
enum ServerMessage {
    Visit { ending: Ending, executions: u64, waits: bool },
    Done(Survey),
    NoScheduler,
}

impl RemoteProgram {
    fn request(&mut self, kind: u64) -> WireMessage {
        let mut request = WireMessage::new(kind);
        request.put(self.number);
        request.put_setup(&self.setup);
        // Sent once, not repeated.
        (self.setup.memory, self.setup.points, self.setup.learned) = (None, None, None);
        request
    }

    /// Reads the state that follows the survey or the ending.
    fn end(&mut self, from: &mut WireMessage, names: &mut ReceivedNames) -> io::Result<()> {
        self.guess = from.take_maybe(|it| names.take_place(it));
        self.unended = from.take_maybe(|it| Unended { place: names.take_place(it), why: it.take_excess() });
        self.learned = from.take_learned();
        self.kept.receive(from, names);
        fully_read((), from)
    }

    fn receive(&mut self) -> io::Result<ServerMessage> {
        let shared = Arc::clone(&self.shared);
        let (line, names) = &mut *shared.line();
        let mut message = std::mem::take(&mut self.message);
        line.receive_again(&mut message)?;
        let said = match message.take() {
            VISIT => {
                let (ending, executions) = (message.take_ending(), message.take());
                self.kept.receive(&mut message, names);
                let waits = message.take_flag();
                fully_read(ServerMessage::Visit { ending, executions, waits }, &message)
            }
            DONE => {
                let survey = message.take_survey();
                self.end(&mut message, names)?;
                Ok(ServerMessage::Done(survey))
            }
            NO_SCHEDULER => Ok(ServerMessage::NoScheduler),
            GAVE_UP => {
                *shared.reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.take_text());
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        };
        self.message = message;
        said
    }

    /// `None` if the other side has no such scheduler.
    fn follow(&mut self, request: &WireMessage, visit: &mut Visit<'_>) -> io::Result<Option<Survey>> {
        self.shared.line().0.send(request)?;
        loop {
            match self.receive()? {
                ServerMessage::Visit { ending, executions, waits } => {
                    let flow = visit(self, &ending, executions);
                    if waits {
                        let reply = if flow == ControlFlow::Continue(()) { CONTINUE } else { BREAK };
                        self.shared.line().0.send(&WireMessage::new(reply))?;
                    }
                }
                ServerMessage::Done(survey) => return Ok(Some(survey)),
                ServerMessage::NoScheduler => return Ok(None),
            }
        }
    }

    fn run_there(&mut self, request: &WireMessage, scheduler: &mut dyn Scheduler) -> io::Result<Ending> {
        let shared = Arc::clone(&self.shared);
        let (line, names) = &mut *shared.line();
        line.send(request)?;
        let (ending, mut rest) = serve_scheduler(line, scheduler, DONE)?;
        self.end(&mut rest, names)?;
        Ok(ending)
    }

    fn split_there(&mut self, request: &WireMessage) -> io::Result<Option<(Vec<Part>, bool)>> {
        let shared = Arc::clone(&self.shared);
        let (line, _) = &mut *shared.line();
        line.send(request)?;
        let mut reply = line.receive()?;
        if reply.take() != DONE {
            return Ok(None);
        }
        let split = (reply.take_all(WireMessage::take_part), reply.take_flag());
        self.learned = reply.take_learned();
        fully_read(Some(split), &reply)
    }
}

impl System for RemoteProgram {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let request = self.request(RUN);
        let ran = self.run_there(&request, scheduler);
        // The rest of this execution is unknown.
        self.shared.note_loss(ran).unwrap_or(Ending::Cut)
    }
}

impl TestProgram for RemoteProgram {
    fn explore(&mut self, strategy: Strategy<'_>, extent: &Extent, visit: &mut Visit<'_>) -> Survey {
        let mut request = self.request(EXPLORE);
        request.put_strategy(strategy);
        request.put_extent(extent);
        let explanation = self.explanation.take().filter(|_| extent.visits == Visits::Unexplained);
        request.put_maybe(explanation.as_ref(), WireMessage::put_explanation);
        let followed = self.follow(&request, visit);
        match self.shared.note_loss(followed) {
            Some(Some(survey)) => survey,
            // A scheduler that only this process has is asked from there.
            Some(None) => survey(self, &mut *strategy.scheduler(), extent, visit),
            None => {
                let coverage = Coverage::Limited(Limit::Other(LOST.to_owned()));
                let explained = Explained::default();
                Survey { coverage, executions: 0, broken: 0, is_bounded: true, explained }
            }
        }
    }

    fn explain(&mut self, explanation: &dyn Fn() -> EncodedSerialHistories) {
        self.explanation = Some(explanation());
    }

    fn operations(&self) -> &[(usize, String)] {
        &self.operations
    }

    fn outcome(&self) -> ExecutionOutcome<ResultId> {
        self.kept.outcome.clone()
    }

    fn show_result(&self, _operation: usize, result: ResultId) -> String {
        self.shared.line().1.results.text(result)
    }

    fn set_memory(&mut self, memory: Memory) {
        self.setup.memory = Some(memory);
    }

    fn keep(&mut self, schedule: bool, moments: bool) {
        (self.setup.keeps_schedule, self.setup.keeps_moments) = (schedule, moments);
    }

    fn set_points(&mut self, points: ExtraPoints) {
        self.setup.points = Some(points);
    }

    fn learned(&self) -> Learned {
        self.learned.clone()
    }

    fn learn(&mut self, learned: &Learned) {
        self.setup.learned = Some(learned.clone());
        self.learned.clone_from(learned);
        let request = self.request(LEARN);
        let sent = self.shared.line().0.send(&request);
        self.shared.note_loss(sent);
    }

    fn split(
        &mut self,
        entry: &'static SchedulerEntry,
        settings: &SchedulerSettings,
        parts_min: usize,
    ) -> (Vec<Part>, bool) {
        let mut request = self.request(SPLIT);
        request.put_strategy(Strategy::Scheduler(entry, settings));
        request.put(parts_min as u64);
        let parted = self.split_there(&request);
        match self.shared.note_loss(parted) {
            Some(Some(parted)) => parted,
            // A scheduler that only this process has is asked from there.
            Some(None) => split(self, entry, settings, parts_min),
            None => (vec![Part::Whole], false),
        }
    }

    fn guess(&self) -> Option<Place> {
        self.guess
    }

    fn unended(&self) -> Option<Unended> {
        self.unended
    }

    fn schedule(&self) -> Option<Schedule> {
        self.kept.schedule()
    }

    fn moments(&mut self) -> Vec<Moment> {
        std::mem::take(&mut self.kept.moments)
    }

    fn pending(&self) -> &[Pending] {
        &self.kept.pending
    }

    fn erased_history(&self, _outcome: &ExecutionOutcome<ResultId>) -> Option<Box<dyn ErasedHistory>> {
        None
    }
}

impl Drop for RemoteProgram {
    fn drop(&mut self) {
        let mut request = WireMessage::new(DROP);
        request.put(self.number);
        // If the program has ended, its test program no longer exists.
        let _gone = self.shared.line().0.send(&request);
    }
}
