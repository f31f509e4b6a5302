//! Helpers of a scheduler: threads that explore branches ahead of it.
//!
//! Where executions are gone through one after the other, their order decides which violation is the first, and what was counted
//! when a limit is hit. So one thread, the *leader*, goes through them as if it were alone. It hands out branches that it will come
//! to later. When it comes to one that was explored, what was seen there is added at once; while someone is still at it, the leader
//! helps with another. What must be seen execution by execution, the leader explores once more: where a limit is hit,
//! and where the first violation is.
//!
//! So what is counted is the same for any number of threads, and so is the first violation.
//!
//! Where it is known which branches there will be, they are handed out [in line](in_line), each soon before the leader comes to
//! it: what was explored ahead when a limit is hit was explored for nothing.
//!
//! Requires: what a branch has to show depends on the errand alone, and not on who runs it or when.

use std::{
    cell::RefCell,
    collections::VecDeque,
    ops::ControlFlow,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use clewline_core::{Budget, Reason, parallel};
use clewline_explore::Coverage;
use rustc_hash::FxHashMap;

use crate::{
    execution::{Execution, Snapshots},
    numbers::BadHandler,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// Branches are worth handing out if the one beside them had so many executions. Tests have small systems.
pub(super) const WORTH: u64 = if cfg!(test) { 1 } else { 256 };

/// Whether the leader waits even for branches that nobody has begun. In tests it does, so that helpers have their share.
const IS_PATIENT: bool = cfg!(test);

/// A branch to be explored by whoever has time.
pub(super) trait Errand: Send {
    /// What the leader is told, beside what was counted.
    type Answer: Send;

    /// Explores the branch. Where `walk` is at first means nothing.
    fn run(self, walk: &mut Execution, tally: &mut Statistics<'_>) -> ControlFlow<Coverage, Self::Answer>;
}

/// Names a branch that was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Ticket(u64);

/// Branches of one node that were handed out, in order.
#[derive(Debug, Default)]
pub(super) struct Given(VecDeque<(usize, Ticket)>);

impl Given {
    /// The place of the last of them.
    pub(super) fn last(&self) -> Option<usize> {
        self.0.back().map(|it| it.0)
    }

    /// The branch at this place was handed out.
    pub(super) fn add(&mut self, at: usize, ticket: Option<Ticket>) {
        self.0.extend(ticket.map(|it| (at, it)));
    }

    /// The ticket of the branch at this place, if it was handed out. Those before it were asked for.
    pub(super) fn take(&mut self, at: usize) -> Option<Ticket> {
        if self.0.front()?.0 == at { self.0.pop_front().map(|it| it.1) } else { None }
    }
}

/// The helpers, as their leader sees them. There may be none.
pub(super) struct Workers<'b, E: Errand>(Option<Lead<'b, E>>);

struct Lead<'b, E: Errand> {
    board: &'b Board<E>,
    // The leader, when it helps.
    helper: RefCell<Helper<'b>>,
}

/// Branches in the order in which the leader comes to them.
pub(super) trait Line<E> {
    /// The next one. `ahead` were told of to which the leader has not come, beyond what is in `tally`. `None` if there is no other, or if
    /// the next one depends on what comes of those.
    fn next(&mut self, ahead: usize, tally: &Statistics<'_>) -> Option<E>;

    /// The leader has gone through one of them, which had so many executions.
    fn went_through(&mut self, errand: &E, executions: u64);
}

/// What was counted in a branch, and what else there is to tell.
type Seen<E> = (Statistics<'static>, <E as Errand>::Answer);

struct Board<E: Errand> {
    state: Mutex<State<E>>,
    // Helpers wait for the one, the leader for the other.
    given: Condvar,
    done: Condvar,
    // How many branches nobody has begun.
    waiting: AtomicUsize,
    waiting_max: usize,
    // Stopped when nobody needs an answer any more.
    budget: Budget,
}

struct State<E: Errand> {
    waiting: VecDeque<(Ticket, E)>,
    // `None` for a branch that was not explored to its end.
    done: FxHashMap<Ticket, Option<Seen<E>>>,
    given: u64,
    is_closed: bool,
    // Outweighs everything.
    bad_handler: Option<BadHandler>,
}

/// Calls `lead` with a walk, a tally, and a crew for as many threads as `settings` say, the leader among them.
pub(super) fn lead<'v, E: Errand>(
    walk: &mut Execution,
    settings: &Settings,
    tally: &mut Statistics<'v>,
    lead: impl FnOnce(&mut Execution, &mut Statistics<'v>, &Workers<'_, E>) -> Flow,
) -> Flow {
    if settings.jobs <= 1 {
        return lead(walk, tally, &Workers::nobody());
    }
    let state = State {
        waiting: VecDeque::new(),
        done: FxHashMap::default(),
        given: 0,
        is_closed: false,
        bad_handler: None,
    };
    let board = Board {
        state: Mutex::new(state),
        given: Condvar::new(),
        done: Condvar::new(),
        waiting: AtomicUsize::new(0),
        waiting_max: 2 * settings.jobs,
        budget: tally.budget().child(),
    };
    let helpers: Vec<Helper<'_>> = (1..settings.jobs).map(|_| Helper::new(walk, settings)).collect();
    let here = || {
        let _close = CloseAtEnd(&board);
        let helper = RefCell::new(Helper::new(walk, settings));
        lead(walk, tally, &Workers(Some(Lead { board: &board, helper })))
    };
    let (flow, _) = parallel::run_alongside(helpers, |it| help(&board, it), here);
    match board.lock().bad_handler.take() {
        Some(bad_handler) => ControlFlow::Break(tally.blame(&bad_handler)),
        None => flow,
    }
}

/// Goes through all branches of a line.
pub(super) fn in_line<E: Errand<Answer = ()> + Clone>(
    walk: &mut Execution,
    tally: &mut Statistics<'_>,
    crew: &Workers<'_, E>,
    line: &mut dyn Line<E>,
) -> Flow {
    let mut ahead = VecDeque::new();
    loop {
        while ahead.len() < crew.ahead_max()
            && let Some(errand) = line.next(ahead.len(), tally)
        {
            let ticket = crew.give(errand.clone());
            ahead.push_back((errand, ticket));
        }
        let Some((errand, ticket)) = ahead.pop_front() else { return ControlFlow::Continue(()) };
        let before = tally.executions();
        let seen = ticket.and_then(|it| crew.collect(it));
        if !seen.is_some_and(|(seen, ())| tally.add(walk, seen)) {
            errand.clone().run(walk, tally)?;
        }
        line.went_through(&errand, tally.executions() - before);
    }
}

struct Helper<'s> {
    walk: Execution,
    settings: &'s Settings,
}

impl<'s> Helper<'s> {
    fn new(walk: &Execution, settings: &'s Settings) -> Self {
        Helper { walk: Execution::new(walk.engine().another(), Snapshots::Sound), settings }
    }

    fn run<E: Errand>(&mut self, board: &Board<E>, ticket: Ticket, errand: E) {
        let walk = &mut self.walk;
        let mut tally = Statistics::unjudged(self.settings, &board.budget);
        let taken = walk.taken();
        let flow = errand.run(walk, &mut tally);
        tally.executed = walk.taken() - taken;
        tally.tell();
        if let Some(bad_handler) = walk.bad_handler() {
            board.lock().bad_handler = Some(bad_handler.clone());
        }
        board.finish(ticket, flow.continue_value().map(|answer| (tally, answer)));
    }
}

fn help<E: Errand>(board: &Board<E>, mut helper: Helper<'_>) {
    // Nobody would ever be told that a branch was explored whose helper panicked.
    let _close = CloseAtEnd(board);
    while let Some((ticket, errand)) = board.next() {
        helper.run(board, ticket, errand);
    }
}

impl<E: Errand> Workers<'_, E> {
    /// No helpers.
    pub(super) fn nobody() -> Self {
        Workers(None)
    }

    /// Whether branches are wanted.
    pub(super) fn is_hungry(&self) -> bool {
        let board = self.0.as_ref().map(|it| it.board);
        board.is_some_and(|it| it.waiting.load(Ordering::Relaxed) < it.waiting_max)
    }

    // How far to be ahead of the leader.
    fn ahead_max(&self) -> usize {
        self.0.as_ref().map_or(1, |it| 2 * it.board.waiting_max)
    }

    /// Hands out a branch; `None` if there is nobody to take it.
    pub(super) fn give(&self, errand: E) -> Option<Ticket> {
        let board = self.0.as_ref()?.board;
        let mut state = board.lock();
        let ticket = Ticket(state.given);
        state.given += 1;
        state.waiting.push_back((ticket, errand));
        board.waiting.store(state.waiting.len(), Ordering::Relaxed);
        drop(state);
        board.given.notify_one();
        Some(ticket)
    }

    /// What came of a branch; `None` if the leader has to go there.
    pub(super) fn collect(&self, ticket: Ticket) -> Option<Seen<E>> {
        let Lead { board, helper } = self.0.as_ref()?;
        let mut state = board.lock();
        let waiting = state.waiting.iter().position(|it| it.0 == ticket);
        if let Some(at) = waiting.filter(|_| !IS_PATIENT) {
            state.waiting.remove(at);
            board.waiting.store(state.waiting.len(), Ordering::Relaxed);
            return None;
        }
        loop {
            if let Some(done) = state.done.remove(&ticket) {
                return done;
            }
            if state.is_closed {
                return None;
            }
            state = match board.take(&mut state) {
                Some((other, errand)) => {
                    drop(state);
                    helper.borrow_mut().run(board, other, errand);
                    board.lock()
                }
                None => board.done.wait(state).expect("nothing panics while this is locked"),
            };
        }
    }
}

impl<E: Errand> Board<E> {
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().expect("nothing panics while this is locked")
    }

    fn take(&self, state: &mut State<E>) -> Option<(Ticket, E)> {
        let next = state.waiting.pop_front();
        self.waiting.store(state.waiting.len(), Ordering::Relaxed);
        next
    }

    fn next(&self) -> Option<(Ticket, E)> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(next) = self.take(&mut state) {
                return Some(next);
            }
            state = self.given.wait(state).expect("nothing panics while this is locked");
        }
    }

    fn finish(&self, ticket: Ticket, seen: Option<Seen<E>>) {
        self.lock().done.insert(ticket, seen);
        self.done.notify_one();
    }
}

struct CloseAtEnd<'b, E: Errand>(&'b Board<E>);

impl<E: Errand> Drop for CloseAtEnd<'_, E> {
    fn drop(&mut self) {
        self.0.budget.stop(Reason::Cancelled);
        self.0.lock().is_closed = true;
        self.0.given.notify_all();
        self.0.done.notify_all();
    }
}
