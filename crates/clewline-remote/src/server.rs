//! The server: the side that makes the calls.

use std::{
    collections::HashMap,
    io,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use clewline_core::ResultId;
use clewline_explore::{Coverage, Ending, Limit, Part};
use clewline_matrix::{Explorable, Learned, Strategy, TestProgram, TimeCheck, Visits};
use clewline_threads::control::Place;

use crate::{
    history_filter::HistoryFilter,
    line::Line,
    message::WireMessage,
    offer::{Offer, Unseen},
    places::SentPlaces,
    remote_scheduler::RemoteScheduler,
    request::{
        CONTINUE, COPY, DONE, DROP, EXPLORE, LEARN, LEAVE, NEW_PROGRAM, NO_SCHEDULER, RACING, RUN, SPLIT,
        UNSEEN, VISIT,
    },
    results::{ResultIdMap, Results},
    state::{StateEncoder, put_state},
};

/// A served subject.
#[derive(Clone, Copy)]
pub struct ServedSubject<'a> {
    /// The subject.
    pub subject: &'a dyn Explorable,
    /// Its declarations.
    pub offer: &'a Offer,
    /// Places in the code that race, as far as known; those of the program relative to where it is
    /// loaded.
    pub racing: fn() -> Vec<usize>,
    /// What else is learned of the code.
    pub knowledge: Knowledge,
    /// Makes a copy of this process, which is connected to the other side by what is returned
    /// there; in this one, nothing is. An error if there is no copy.
    pub copy: fn(&CopyEnds) -> io::Result<Option<Line>>,
    /// How explorations are limited in time.
    pub limited: TimeLimit,
    /// What was not seen so far.
    pub unseen: fn() -> Unseen,
    /// Called if the other process ends during an execution.
    pub lost: fn() -> !,
}

/// Where the ends of a line are that a copy of a process is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyEnds {
    /// The process that has them.
    pub process: u32,
    /// The number of the file to read from.
    pub from: u32,
    /// The number of the file to write to.
    pub to: u32,
}

/// What is learned of foreign code besides [`ExtraPoints`](clewline_threads::control::ExtraPoints):
/// places that race, and words that are shared, sorted.
#[derive(Clone, Copy, Debug)]
pub struct Knowledge {
    /// All of it.
    pub known: fn() -> (Vec<usize>, Vec<usize>),
    /// Adds to it.
    pub add: fn(&[usize], &[usize]),
}

impl Knowledge {
    /// Nothing is learned.
    pub const NONE: Knowledge = Knowledge { known: || (Vec::new(), Vec::new()), add: |_, _| () };

    fn learned(self, program: &dyn TestProgram) -> Learned {
        let (places, words) = (self.known)();
        Learned { points: program.points(), places, words }
    }
}

/// How explorations are limited in time, beyond the end of each execution.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    /// Sets when time is up, and that it is not limited any more.
    pub set: fn(Option<Instant>),
    /// Where an execution was cut at that time, if one was.
    pub reason: fn() -> Option<String>,
}

impl TimeLimit {
    /// Executions end by themselves.
    pub const NONE: TimeLimit = TimeLimit { set: |_| (), reason: || None };
}

impl std::fmt::Debug for ServedSubject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedSubject").field("offer", self.offer).finish_non_exhaustive()
    }
}

/// Serves the requests of the other side, until it disconnects or ends.
///
/// # Errors
///
/// If a request is invalid, or the other process ends during one.
pub fn serve(line: &mut Line, served: &ServedSubject<'_>) -> io::Result<()> {
    line.send(&served.offer.to_message())?;
    let mut server = Server {
        served,
        programs: HashMap::new(),
        places: SentPlaces::default(),
        results: Results::default(),
    };
    loop {
        let mut request = match line.receive() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        };
        match request.take() {
            LEAVE => return Ok(()),
            kind => server.serve(kind, &mut request, line)?,
        }
    }
}

struct Server<'a> {
    served: &'a ServedSubject<'a>,
    programs: HashMap<u64, (Box<dyn TestProgram>, ResultIdMap)>,
    places: SentPlaces,
    results: Results,
}

impl Server<'_> {
    fn serve(&mut self, kind: u64, request: &mut WireMessage, line: &mut Line) -> io::Result<()> {
        match kind {
            NEW_PROGRAM => {
                let number = request.take();
                let (calls, limits) = (request.take_calls(), request.take_limits());
                let mut reply = WireMessage::default();
                match self.served.subject.test_program(&calls, &limits) {
                    Ok(program) => {
                        self.programs.insert(number, (program, ResultIdMap::default()));
                        reply.put_maybe(None, WireMessage::put_text);
                    }
                    Err(error) => reply.put_maybe(Some(&*error.to_string()), WireMessage::put_text),
                }
                line.send(&reply)
            }
            DROP => {
                self.programs.remove(&request.take());
                Ok(())
            }
            RACING => {
                let mut reply = WireMessage::default();
                reply.put_all((self.served.racing)().into_iter(), |to, it| to.put(it as u64));
                line.send(&reply)
            }
            UNSEEN => line.send(&(self.served.unseen)().to_message()),
            COPY => self.copy(request, line),
            EXPLORE | RUN | SPLIT | LEARN => self.use_program(kind, request, line),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Makes a copy of this process.
    fn copy(&mut self, request: &mut WireMessage, line: &mut Line) -> io::Result<()> {
        let ends = CopyEnds { process: request.take_u32(), from: request.take_u32(), to: request.take_u32() };
        match (self.served.copy)(&ends) {
            // This is the copy. Its other end knows nothing of what was sent to that of this one.
            Ok(Some(own)) => {
                *line = own;
                self.programs.clear();
                (self.places, self.results) = (SentPlaces::default(), Results::default());
                Ok(())
            }
            Ok(None) => line.send(&WireMessage::new(DONE)),
            Err(_) => line.send(&WireMessage::new(DROP)),
        }
    }

    /// Sets up a test program, and does what the other side wants of it.
    fn use_program(&mut self, kind: u64, request: &mut WireMessage, line: &mut Line) -> io::Result<()> {
        let (lost, knowledge) = (self.served.lost, self.served.knowledge);
        let (program, renamed) = self.programs.get_mut(&request.take()).ok_or(io::ErrorKind::InvalidData)?;
        let setup = request.take_setup();
        program.keep(setup.keeps_schedule, setup.keeps_moments);
        if let Some(memory) = setup.memory {
            program.set_memory(memory);
        }
        if let Some(points) = setup.points {
            program.set_points(points);
        }
        if let Some(Learned { points, places, words }) = setup.learned {
            program.set_points(points);
            (knowledge.add)(&places, &words);
        }
        if kind == LEARN {
            return Ok(());
        }
        let names = SentNames { message: &mut self.places, results: &mut self.results, renamed };
        let limited = self.served.limited;
        let explored =
            ProgramExploration { program, names, is_shown: setup.keeps_moments, limited, knowledge, lost };
        match kind {
            RUN => explored.run(line),
            SPLIT => explored.split(request, line),
            _ => explored.explore(request, line),
        }
    }
}

/// The places and results that the other side knows.
struct SentNames<'a> {
    message: &'a mut SentPlaces,
    results: &'a mut Results,
    renamed: &'a mut ResultIdMap,
}

impl StateEncoder for SentNames<'_> {
    fn put_place(&mut self, to: &mut WireMessage, place: Place) {
        self.message.put(to, place);
    }

    fn put_result(
        &mut self,
        to: &mut WireMessage,
        program: &dyn TestProgram,
        operation: usize,
        result: ResultId,
    ) {
        let result = self.renamed.id(self.results, program, operation, result);
        self.results.put(to, result);
    }
}

struct ProgramExploration<'a> {
    program: &'a mut Box<dyn TestProgram>,
    names: SentNames<'a>,
    is_shown: bool,
    limited: TimeLimit,
    knowledge: Knowledge,
    lost: fn() -> !,
}

// How often the other side can stop a part.
const VISIT_INTERVAL: Duration = Duration::from_millis(100);

impl ProgramExploration<'_> {
    /// Runs one execution with the scheduler of the other side.
    fn run(self, line: &mut Line) -> io::Result<()> {
        let ending = self.program.run(&mut RemoteScheduler::new(line, self.lost));
        let mut message = WireMessage::new(DONE);
        message.put_ending(&ending);
        self.end(message, true, line)
    }

    /// Divides executions, some of which it runs.
    fn split(self, request: &mut WireMessage, line: &mut Line) -> io::Result<()> {
        let split = request.take_strategy(|request, strategy| match strategy {
            Strategy::Scheduler(entry, settings) => {
                Some(self.program.split(entry, settings, request.take_usize()))
            }
            Strategy::Serial => None,
        });
        let Some(Some((parts, is_complete))) = split else {
            return line.send(&WireMessage::new(NO_SCHEDULER));
        };
        let mut message = WireMessage::new(DONE);
        message.put_all(parts.iter(), WireMessage::put_part);
        message.put_flag(is_complete);
        message.put_learned(&self.knowledge.learned(&**self.program));
        line.send(&message)
    }

    /// Runs many executions with a scheduler of this side.
    fn explore(mut self, request: &mut WireMessage, line: &mut Line) -> io::Result<()> {
        let ProgramExploration { program, names, is_shown, limited, lost, .. } = &mut self;
        let survey = request.take_strategy(|request, strategy| {
            let extent = request.take_extent();
            let mut seen = match request.take_maybe(WireMessage::take_explanation) {
                Some(it) => HistoryFilter::explained_by(it, program.operations().len(), names.results)?,
                None => HistoryFilter::default(),
            };
            let mut message = WireMessage::default();
            let is_part = matches!(strategy, Strategy::Scheduler(_, it) if it.part != Part::Whole);
            let mut visits = TimeCheck::new(is_part.then(|| Instant::now() + VISIT_INTERVAL));
            let visit = &mut |program: &mut dyn TestProgram, ending: &Ending, executions: u64| {
                let is_due = visits.is_late(ending, executions);
                if !seen.is_visited(extent.visits, program, ending, names.renamed, names.results) && !is_due {
                    return ControlFlow::Continue(());
                }
                if is_due {
                    visits = TimeCheck::new(Some(Instant::now() + VISIT_INTERVAL));
                }
                message.begin(VISIT);
                message.put_ending(ending);
                message.put(executions);
                put_state(&mut message, program, *is_shown, names);
                let waits = extent.visits != Visits::Ahead || *ending == Ending::Panicked;
                message.put_flag(waits);
                let reply = line.send(&message).and_then(|()| waits.then(|| line.receive()).transpose());
                match reply.map(|it| it.map(|mut it| it.take())) {
                    Ok(None | Some(CONTINUE)) => ControlFlow::Continue(()),
                    Ok(Some(_)) => ControlFlow::Break(()),
                    Err(_) => lost(),
                }
            };
            (limited.set)(extent.until);
            let mut survey = program.explore(strategy, &extent, visit);
            survey.explained = seen.explained;
            if let Some(reason) = (limited.reason)() {
                survey.coverage = Coverage::Limited(Limit::Other(reason));
            }
            (limited.set)(None);
            Some(survey)
        });
        let Some(survey) = survey else { return line.send(&WireMessage::new(NO_SCHEDULER)) };
        let survey = survey.ok_or(io::ErrorKind::InvalidData)?;
        let mut message = WireMessage::new(DONE);
        message.put_survey(&survey);
        // The place of a divergence is sent with the waiting tasks.
        let is_diverged = matches!(survey.coverage, Coverage::Limited(Limit::Diverged(_)));
        self.end(message, is_diverged, line)
    }

    fn end(mut self, mut message: WireMessage, is_shown: bool, line: &mut Line) -> io::Result<()> {
        let guess = self.program.guess();
        message.put_maybe(guess, |to, it| self.names.put_place(to, it));
        message.put_maybe(self.program.unended(), |to, it| {
            self.names.put_place(to, it.place);
            to.put_excess(it.why);
        });
        message.put_learned(&self.knowledge.learned(&**self.program));
        put_state(&mut message, &mut **self.program, is_shown || self.is_shown, &mut self.names);
        line.send(&message)
    }
}
