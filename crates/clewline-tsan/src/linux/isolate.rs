//! Executions in separate processes.
//!
//! State that an execution leaves in the C library, in the system or in code that is not restored
//! disappears with its process. This costs a `fork` per execution, some hundred times as much as
//! restoring the known state. The scheduler stays here, and is asked over a line.

use std::{fs::File, io, os::fd::FromRawFd};

use clewline_core::{ErasedHistory, Interner, ResultId};
use clewline_explore::{Ending, Schedule, Scheduler, System, TaskId};
use clewline_matrix::{Extent, Strategy, Survey, TestProgram, Visit, survey};
use clewline_remote::{
    Line, ReceivedState, RemoteScheduler, StateDecoder, StateEncoder, WireMessage, put_state, serve_scheduler,
};
use clewline_threads::control::{
    ExecutionOutcome, ExtraPoints, FailureKind, Memory, MemoryModel, Moment, Panic, Pending, Place, Unended,
};

use super::{current_task::RuntimeCell, driver, exit, races, try_locks, unseen, watchdog};

/// A test program that runs each execution in its own process.
pub(super) struct Isolated {
    inner: Box<dyn TestProgram>,
    kept: ReceivedState,
    results: Results,
    is_shown: bool,
    guess: Option<Place>,
    unended: Option<Unended>,
    is_cut_short: bool,
    is_weak: bool,
}

const ISOLATED: &str = "the scheduler `graph` does not explore executions in processes of their own (`--isolate`) under a \
                        weak memory model; use `bounded-dpor`";

/// The texts of results: each child numbers its own.
#[derive(Default)]
struct Results(Interner<String>);

/// The codec for a process that is the same program at the same addresses.
struct SameAddressSpace;

impl StateEncoder for SameAddressSpace {
    fn put_place(&mut self, to: &mut WireMessage, place: Place) {
        to.put(place.word() as u64);
    }

    fn put_result(
        &mut self,
        to: &mut WireMessage,
        program: &dyn TestProgram,
        operation: usize,
        result: ResultId,
    ) {
        to.put_text(&program.show_result(operation, result));
    }
}

impl StateDecoder for Results {
    fn take_place(&mut self, from: &mut WireMessage) -> Place {
        // SAFETY: places of the child are valid here: it is the same program at the same addresses.
        unsafe { Place::from_word(from.take_usize()) }
    }

    fn take_result(&mut self, from: &mut WireMessage) -> ResultId {
        ResultId(self.0.intern(from.take_text()))
    }
}

// The first word of the message that ends an execution.
const DONE: u64 = u64::MAX;

/// Both ends of a line.
fn line() -> io::Result<[Line; 2]> {
    let pipe = || {
        let mut ends = [0; 2];
        // SAFETY: the array has room for two.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: they were just opened, and nothing else owns them.
        Ok(ends.map(|it| unsafe { File::from_raw_fd(it) }))
    };
    let ([one, other_to], [other, one_to]) = (pipe()?, pipe()?);
    Ok([Line::new(one, one_to), Line::new(other, other_to)])
}

/// The same test program, with a process for each execution if requested.
pub(super) fn wrap(program: Box<dyn TestProgram>) -> Box<dyn TestProgram> {
    if IS_REQUESTED.get() { Box::new(Isolated::new(program)) } else { program }
}

static IS_REQUESTED: RuntimeCell<bool> = RuntimeCell::new(false);

/// Requests a process for each execution.
pub(super) fn request() {
    IS_REQUESTED.set(true);
    exit::share_reason();
}

impl Isolated {
    fn new(inner: Box<dyn TestProgram>) -> Isolated {
        Isolated {
            inner,
            kept: ReceivedState::default(),
            results: Results::default(),
            is_shown: false,
            guess: None,
            unended: None,
            is_cut_short: false,
            is_weak: false,
        }
    }

    /// Runs an execution in its own process. Returns how it ended.
    fn fork(&mut self, scheduler: &mut dyn Scheduler) -> io::Result<Ending> {
        let [mut here, there] = line()?;
        // SAFETY: only this thread continues in the child, and all other threads of the process
        // sleep.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(here);
                self.child(there)
            }
            child => {
                drop(there);
                // The child may end at any time. It has the handler of the code, if there is one.
                // SAFETY: the handler is put back below.
                let handler = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
                let ending = serve_scheduler(&mut here, scheduler, DONE)
                    .and_then(|(ending, mut rest)| self.receive(&mut rest).map(|()| ending));
                let mut status = 0;
                // What it has not read is written again when the line is dropped.
                drop(here);
                // SAFETY: it is a child of this process, and `status` is writable.
                unsafe {
                    libc::waitpid(child, &mut status, 0);
                    libc::signal(libc::SIGPIPE, handler);
                }
                Ok(ending.unwrap_or_else(|_| self.child_died(status)))
            }
        }
    }

    /// The child ended without a message.
    fn child_died(&mut self, status: i32) -> Ending {
        if libc::WIFEXITED(status) {
            exit::give_up_as_child(libc::WEXITSTATUS(status));
        }
        let message = match libc::WIFSIGNALED(status) {
            true => format!("the process was killed by signal {}", libc::WTERMSIG(status)),
            false => format!("the process ended with code {}", libc::WEXITSTATUS(status)),
        };
        let panic = Panic { kind: FailureKind::Crash, message, ..Panic::default() };
        // What is kept is of the execution before.
        self.kept = ReceivedState::default();
        self.kept.outcome.panic = Some((TaskId(0), panic));
        Ending::Panicked
    }

    fn child(&mut self, mut line: Line) -> ! {
        exit::note_child();
        watchdog::start();
        let ending = self.inner.run(&mut RemoteScheduler::new(&mut line, driver::lost));
        let mut message = WireMessage::new(DONE);
        message.put_ending(&ending);
        self.send(&mut message);
        let sent = line.send(&message).and_then(|()| line.flush());
        // SAFETY: the call has no preconditions. Buffered output of the code is lost, as it is
        // without a separate process.
        unsafe { libc::_exit(if sent.is_ok() { 0 } else { 2 }) }
    }

    fn send(&mut self, to: &mut WireMessage) {
        to.put_flag(try_locks::has_try_lock());
        to.put_all(races::all_racing().iter(), |to, it| to.put(*it as u64));
        to.put_all(races::all_shared().iter(), |to, it| to.put(*it as u64));
        to.put_maybe(self.inner.guess(), |to, it| to.put(it.word() as u64));
        to.put(watchdog::late_code() as u64);
        to.put_maybe(self.inner.unended(), |to, it| {
            to.put(it.place.word() as u64);
            to.put_excess(it.why);
        });
        to.put_flag(self.inner.is_cut_short());
        unseen::send(to);
        put_state(to, &mut *self.inner, true, &mut SameAddressSpace);
    }

    fn receive(&mut self, from: &mut WireMessage) -> io::Result<()> {
        if from.take_flag() {
            self.inner.set_points(ExtraPoints { releases: true, ..ExtraPoints::default() });
        }
        races::set_racing(from.take_all(WireMessage::take_usize));
        races::set_shared(from.take_all(WireMessage::take_usize));
        let guess = from.take_maybe(|from| self.results.take_place(from));
        self.guess = self.guess.or(guess);
        watchdog::set_late_code(from.take_usize());
        let unended =
            from.take_maybe(|from| Unended { place: self.results.take_place(from), why: from.take_excess() });
        self.unended = self.unended.or(unended);
        self.is_cut_short |= from.take_flag();
        unseen::receive(from);
        self.kept.receive(from, &mut self.results);
        if from.is_whole() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

impl System for Isolated {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        // A scheduler of graphs is asked more than a line transmits.
        if self.is_weak && scheduler.fast_path().is_some_and(|it| it.graph().is_some()) {
            return Ending::Refused(ISOLATED);
        }
        if self.is_shown {
            races::show();
        }
        self.fork(scheduler).unwrap_or_else(|error| {
            let message = format!("no process could be made: {error}");
            super::signals::die(&format!("error: {message}\n"))
        })
    }
}

impl TestProgram for Isolated {
    fn explore(&mut self, strategy: Strategy<'_>, extent: &Extent, visit: &mut Visit<'_>) -> Survey {
        survey(self, &mut *strategy.scheduler(), extent, visit)
    }

    fn operations(&self) -> &[(usize, String)] {
        self.inner.operations()
    }

    fn outcome(&self) -> ExecutionOutcome<ResultId> {
        self.kept.outcome.clone()
    }

    fn show_result(&self, _operation: usize, result: ResultId) -> String {
        self.results.0[result.0].clone()
    }

    fn set_memory(&mut self, memory: Memory) {
        self.is_weak = memory.model != MemoryModel::SequentiallyConsistent;
        self.inner.set_memory(memory);
    }

    fn keep(&mut self, schedule: bool, moments: bool) {
        self.is_shown = moments;
        self.inner.keep(schedule, moments);
    }

    fn set_points(&mut self, points: ExtraPoints) {
        self.inner.set_points(points);
    }

    fn points(&self) -> ExtraPoints {
        self.inner.points()
    }

    fn guess(&self) -> Option<Place> {
        self.guess
    }

    fn unended(&self) -> Option<Unended> {
        self.unended
    }

    fn is_cut_short(&self) -> bool {
        self.is_cut_short
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
