//! Judging lines as they come.

use std::{
    io::{self, Read},
    time::{Duration, Instant},
};

use clewline_check::{JudgeOptions, Judgement};
use clewline_core::{
    EmptyHistory, ErasedHistory, ErasedSpec, Names, ObjectId, ProcessId, RawCall, Reason, Recording, Value,
    Values, Verdict, Witness,
};
use clewline_formats::{Follow, ReadError, Row, RowKind};
use clewline_report::render::Stream;

use super::window::{
    FirstViolation, Load, Moment, Place, Snapshot, StreamCounts, StreamViolation, Window, WindowOperation,
};
use crate::{check::progress::CheckProgress, error::Error};

/// How much is read at a time.
const READ_BYTES: usize = 1 << 18;

/// A live stream is checked at least this often, if it has new events.
const LIVE_JUDGE_INTERVAL: Duration = Duration::from_secs(1);

/// Up to this number of operations, and while none is forgotten, the lines themselves are kept.
const KEPT_LINES_OPS_MAX: u64 = 1 << 17;

/// How a stream ended.
pub(crate) enum StreamEnd {
    /// A verdict, and the case that shows it.
    Judged(Box<dyn ErasedHistory>, Box<Judgement>, Stream),
    /// It has to be read as a whole, and this is its beginning: it is short, or no operation of it
    /// can be forgotten.
    Whole(Vec<u8>),
    /// On this line, an operation comes after one that was called later.
    OutOfOrder(usize),
}

/// Whether operations written in one line are known to come in the order of their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineOrder {
    /// The caller promises it, so a violation is certain at once.
    Promised,
    /// It is verified at the end, and a violation is reported then. Events, which are ordered by
    /// definition, do not have to wait.
    Seen,
}

/// When reading ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// With the input.
    End,
    /// As soon as a violation is certain: a live stream may have no end.
    FirstViolation,
}

/// Reads `input` to its end, or to the first violation.
pub(crate) fn follow(
    object: &dyn ErasedSpec,
    (input, follower): (&mut dyn Read, Box<dyn Follow>),
    options: JudgeOptions,
    window: usize,
    (order, until): (LineOrder, Until),
    progress: &dyn Fn(CheckProgress<'_>),
) -> Result<StreamEnd, Error> {
    let mut follow = StreamReader::new((object, follower), Window::new(options, window), (order, until));
    let mut piece = vec![0; READ_BYTES];
    let mut bytes = 0;
    let mut judged = Instant::now();
    loop {
        // Monitors are too fast to check limits, and nothing else does while no input comes.
        if let Err(reason) = follow.window.options().budget.allow(0) {
            return follow.stopped(reason);
        }
        let read = match input.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // The stream pauses: check what has come.
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                follow.look(JudgeNow::Now)?;
                judged = Instant::now();
                if follow.is_over() {
                    break;
                }
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        bytes += read as u64;
        progress(CheckProgress::Reading(bytes));
        if follow.take(&piece[..read], read == 0)? == LineResult::Whole {
            return Ok(StreamEnd::Whole(follow.seen.take().unwrap_or_default()));
        }
        if read == 0 {
            break;
        }
        if LIVE_JUDGE_INTERVAL <= judged.elapsed() && follow.is_certain_at_once() {
            follow.look(JudgeNow::Now)?;
            judged = Instant::now();
        }
        if follow.is_over() {
            break;
        }
    }
    follow.finish()
}

struct StreamReader<'a> {
    object: &'a dyn ErasedSpec,
    follower: Box<dyn Follow>,
    window: Window<RawCall, Value>,
    processes: Processes,
    order: LineOrder,
    until: Until,
    lines: LineKind,
    // The bytes read so far, as long as they are few.
    seen: Option<Vec<u8>>,
    out_of_order: Option<usize>,
    stop: Option<StreamViolation>,
    trouble: Option<ReadError>,
}

/// The kind of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Nothing,
    Operations,
    Events,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JudgeNow {
    Now,
    WhenDue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineResult {
    Yes,
    /// The whole input has to be read in the ordinary way, which gives the best error messages.
    Whole,
}

impl<'a> StreamReader<'a> {
    fn new(
        (object, follower): (&'a dyn ErasedSpec, Box<dyn Follow>),
        window: Window<RawCall, Value>,
        (order, until): (LineOrder, Until),
    ) -> Self {
        StreamReader {
            object,
            follower,
            window,
            processes: Processes::default(),
            order,
            until,
            lines: LineKind::Nothing,
            seen: Some(Vec::new()),
            out_of_order: None,
            stop: None,
            trouble: None,
        }
    }

    /// Takes the next bytes, or the end.
    fn take(&mut self, bytes: &[u8], is_end: bool) -> Result<LineResult, Error> {
        if let Some(seen) = &mut self.seen {
            seen.extend_from_slice(bytes);
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut each = |row: &Row| rows.push(*row);
        let taken = match is_end {
            true => self.follower.finish(&mut each),
            false => self.follower.take(bytes, &mut each),
        };
        if let Some(line) = self.follower.crash() {
            let message = "a crash: longer input with crashes is read whole, as `--criterion durable` does";
            self.trouble = Some(ReadError::in_line(line, message.to_owned()));
        }
        for row in &rows {
            self.push(row);
            self.look(JudgeNow::WhenDue)?;
            if self.is_over() {
                return Ok(LineResult::Yes);
            }
            if self.window.facts.forgotten != 0 || KEPT_LINES_OPS_MAX < self.window.facts.operations {
                self.seen = None;
            }
        }
        self.trouble = self.trouble.take().or(taken.err());
        // An initial state comes first, so all bytes are still there.
        if self.follower.has_initial_state() {
            return Ok(LineResult::Whole);
        }
        if self.seen.is_some() && (self.trouble.is_some() || self.out_of_order.is_some() || is_end) {
            return Ok(LineResult::Whole);
        }
        match self.trouble.take() {
            Some(error) => Err(error.into()),
            None => Ok(LineResult::Yes),
        }
    }

    fn push(&mut self, row: &Row) {
        if self.trouble.is_some() || self.out_of_order.is_some() {
            return;
        }
        let lines = match row.kind {
            RowKind::Operation(..) => LineKind::Operations,
            RowKind::Call | RowKind::Return | RowKind::Fail | RowKind::Info => LineKind::Events,
        };
        if self.lines != LineKind::Nothing && self.lines != lines {
            return self.refuse(row, "one file holds one kind of line: operations, or events");
        }
        self.lines = lines;
        let call = RawCall { method: row.method, arg: row.arg };
        let object = ObjectId(row.object);
        let process = self.processes.get(row.process, &*self.follower);
        let line = row.line as u64;
        let place = Place { line, id: row.id, order: row.order };
        match row.kind {
            RowKind::Operation(called, returned) => {
                if returned.is_some_and(|it| it < called) {
                    return self.refuse(row, "an operation returns before it is called");
                }
                // The verdict is known, but a line that comes too late may still change it.
                if self.stop.is_some() {
                    if !self.window.pass(called) {
                        self.out_of_order = Some(row.line);
                    }
                    self.window.facts.operations += 1;
                    return;
                }
                let returned = returned.map(|time| (row.ret, time));
                let Place { id, order, .. } = place;
                let end_line = line;
                let live =
                    WindowOperation { process, object, call, called, returned, line, end_line, id, order };
                // A process may call again after the outcome of its operation became unknown.
                if live.returned.is_none() {
                    self.processes.replace(row.process);
                }
                if !self.window.operation(live) {
                    self.out_of_order = Some(row.line);
                }
            }
            RowKind::Call if self.window.is_open(process) => {
                self.refuse(row, "a process calls while its previous operation is still open");
            }
            RowKind::Call => self.window.call(process, object, call, place),
            _ if !self.window.is_open(process) => {
                self.refuse(row, "an operation ends that was not open: its process has not called");
            }
            RowKind::Return => self.window.ret(process, row.ret, place),
            RowKind::Fail => self.window.fail(process, line),
            RowKind::Info => {
                self.window.abandon(process);
                self.processes.replace(row.process);
            }
        }
    }

    fn refuse(&mut self, row: &Row, message: &str) {
        let mut error = ReadError::in_line(row.line, message.to_owned());
        error.read = self.window.facts.operations as usize;
        self.trouble = Some(error);
    }

    /// Whether a violation is certain, whatever follows.
    fn is_certain_at_once(&self) -> bool {
        self.lines == LineKind::Events || self.order == LineOrder::Promised
    }

    /// Checks the stream, if it is due.
    fn look(&mut self, look: JudgeNow) -> Result<(), Error> {
        let is_asked = match look {
            JudgeNow::Now => self.window.is_news(),
            JudgeNow::WhenDue => self.window.is_due(),
        };
        if !is_asked || self.stop.is_some() || self.out_of_order.is_some() {
            return Ok(());
        }
        let now = self.window.now();
        self.judge(now)
    }

    fn judge(&mut self, moment: Moment) -> Result<(), Error> {
        let load = RawLoad { object: self.object, follower: &*self.follower, processes: &self.processes };
        self.stop = self.window.advance(&load, moment)?;
        Ok(())
    }

    /// Whether there is no need to read on.
    fn is_over(&self) -> bool {
        let is_known = self.stop.as_ref().is_some_and(|stop| match stop.judgement.verdict {
            Verdict::Violated(_) => self.is_certain_at_once(),
            Verdict::Unknown(_) | Verdict::Holds(_) => true,
        });
        let is_first = self.until == Until::FirstViolation && self.window.is_violated();
        let is_known = is_known || (is_first && self.is_certain_at_once());
        is_known || (self.out_of_order.is_some() && self.seen.is_none())
    }

    fn finish(mut self) -> Result<StreamEnd, Error> {
        if let Some(line) = self.out_of_order {
            return Ok(StreamEnd::OutOfOrder(line));
        }
        if self.stop.is_none() {
            self.judge(Moment::MAX)?;
        }
        // If the rest was not read, lines that come too late might explain what looks like a
        // violation.
        if (self.stop.is_none() || self.is_certain_at_once())
            && let Some(first) = self.window.take_first()
        {
            return self.judge_set_aside(first);
        }
        let Some(StreamViolation { moment, judgement }) = &self.stop else {
            return Ok(self.judged(Verdict::Holds(Witness::default())));
        };
        let line = match judgement.verdict {
            Verdict::Violated(_) => Some(self.window.last_line(*moment) as usize).filter(|&it| it != 0),
            Verdict::Holds(_) | Verdict::Unknown(_) => None,
        };
        let load = RawLoad { object: self.object, follower: &*self.follower, processes: &self.processes };
        let case = load.load(self.window.snapshot(*moment)?)?;
        Ok(StreamEnd::Judged(case, Box::new(judgement.clone()), self.stream(line)))
    }

    /// A limit was hit. A violation that is certain is reported nevertheless.
    fn stopped(mut self, reason: Reason) -> Result<StreamEnd, Error> {
        match self.window.take_first().filter(|_| self.is_certain_at_once()) {
            Some(first) => self.judge_set_aside(first),
            None => Ok(self.judged(Verdict::Unknown(reason))),
        }
    }

    /// The verdict on violated parts, `first` of which was found first.
    fn judge_set_aside(
        mut self,
        FirstViolation { line, snapshot, judgement: first }: FirstViolation<RawCall, Value>,
    ) -> Result<StreamEnd, Error> {
        let stream = self.stream(Some(line as usize).filter(|&it| it != 0));
        let (all, renamed) = self.window.snapshot_set_aside(self.processes.names.len())?;
        let names = renamed.iter().map(|it| self.processes.names[it.0 as usize]).collect::<Vec<_>>();
        self.processes.names.extend(names);
        let load = RawLoad { object: self.object, follower: &*self.follower, processes: &self.processes };
        let case = load.load(all)?;
        let judgement = self.window.judge_set_aside(&*case);
        // If a limit was hit, only the first has been explained.
        let (case, judgement) = match judgement.verdict {
            Verdict::Violated(_) => (case, judgement),
            Verdict::Unknown(_) | Verdict::Holds(_) => (load.load(snapshot)?, first),
        };
        Ok(StreamEnd::Judged(case, Box::new(judgement), stream))
    }

    /// A verdict without operations.
    fn judged(&self, verdict: Verdict) -> StreamEnd {
        let options = self.window.options();
        let deciders = self.window.deciders();
        let algorithm = if deciders.is_empty() { format!("{:?}", options.algorithm) } else { deciders };
        let judgement = Judgement::new(verdict, 1, algorithm, options.budget.visited());
        StreamEnd::Judged(Box::new(EmptyHistory::default()), Box::new(judgement), self.stream(None))
    }

    fn stream(&self, line: Option<usize>) -> Stream {
        let StreamCounts { operations, most, .. } = self.window.facts;
        Stream { operations, objects: self.follower.objects().len(), most_held: Some(most), line }
    }
}

/// Processes by their names. A process whose operation was abandoned continues under a new id with
/// the same name.
#[derive(Debug, Default)]
struct Processes {
    names: Vec<Value>,
    // By the number that the lines give it.
    current: Vec<Option<u32>>,
}

impl Processes {
    fn get(&mut self, number: u32, follower: &dyn Follow) -> ProcessId {
        let at = number as usize;
        if self.current.len() <= at {
            self.current.resize(at + 1, None);
        }
        let fresh = self.names.len() as u32;
        let process = *self.current[at].get_or_insert(fresh);
        if process == fresh {
            self.names.push(follower.processes()[at]);
        }
        ProcessId(process)
    }

    fn replace(&mut self, number: u32) {
        self.current[number as usize] = None;
    }
}

/// Reads raw operations as those of an object.
struct RawLoad<'a> {
    object: &'a dyn ErasedSpec,
    follower: &'a dyn Follow,
    processes: &'a Processes,
}

impl RawLoad<'_> {
    fn load(&self, snapshot: Snapshot<RawCall, Value>) -> Result<Box<dyn ErasedHistory>, Error> {
        let Snapshot { history, lines, ids, orders, .. } = snapshot;
        let values: Values = self.follower.values().clone();
        let names = Names {
            processes: self.processes.names.clone(),
            objects: self.follower.objects().to_vec(),
            ids: Some(ids),
            lines: Some(lines),
            orders: orders.iter().any(Option::is_some).then_some(orders),
            ..Names::default()
        };
        Ok(self.object.load(Recording::new(history, values, names))?)
    }
}

impl Load for RawLoad<'_> {
    type Call = RawCall;
    type Return = Value;

    fn with<T>(
        &self,
        snapshot: Snapshot<RawCall, Value>,
        with: impl FnOnce(&dyn ErasedHistory) -> T,
    ) -> Result<T, Error> {
        Ok(with(&*self.load(snapshot)?))
    }

    fn may_forget(&self) -> bool {
        self.object.is_stable_under_new_values(self.follower.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at: i64, op: &str, member: &str, value: i64) -> String {
        format!(
            "{{\"process\": 0, \"op\": \"{op}\", \"{member}\": {value}, \"call\": {at}, \"return\": {at}}}\n"
        )
    }

    fn followed(text: &str) -> StreamEnd {
        let queue = clewline_specs::find("queue").unwrap();
        let follower = clewline_formats::formats::jsonl::ENTRY.follow().unwrap();
        follow(&*queue, (&mut text.as_bytes(), follower), JudgeOptions::default(), 10, SEEN, &|_| ()).unwrap()
    }

    const SEEN: (LineOrder, Until) = (LineOrder::Seen, Until::End);

    #[test]
    fn after_a_violation_lines_are_validated_but_not_held() {
        let mut text = String::new();
        for round in 0..3_000 {
            text.push_str(&line(2 * round, "enq", "arg", round));
            let result = if round == 100 { 7_777 } else { round };
            text.push_str(&line(2 * round + 1, "deq", "ret", result));
        }
        let StreamEnd::Judged(_, judgement, stream) = followed(&text) else { panic!("it is in order") };
        assert_eq!(judgement.verdict.word(), "violated");
        assert_eq!((stream.operations, stream.line), (6_000, Some(202)));
        assert!(stream.most_held.is_some_and(|it| it < 40), "{stream:?}");
        let late = format!("{text}{}", line(3, "enq", "arg", 7_777));
        assert!(matches!(followed(&late), StreamEnd::OutOfOrder(6_001)));
    }

    /// Lines, and then a limit that is hit.
    struct ThenStopped<'a>(&'a [u8], &'a clewline_core::Budget);

    impl Read for ThenStopped<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                self.1.stop(Reason::Interrupted);
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.0.read(buffer)
        }
    }

    /// Of events, it is certain; of operations that may be out of order, it is not yet.
    #[test]
    fn a_violation_is_not_lost_when_a_limit_is_hit_afterwards() {
        let event = |event: &str, more: &str| {
            format!("{{\"process\": 0, \"event\": \"{event}\", \"object\": \"a\"{more}}}\n")
        };
        let pair = |op: &str, arg: &str, ret: &str| {
            event("call", &format!(", \"op\": \"{op}\"{arg}")) + &event("return", ret)
        };
        let wrong = pair("deq", "", ", \"ret\": 7");
        let events = wrong + &pair("enq", ", \"arg\": 1", "").repeat(40);
        let mut operations = line(0, "deq", "ret", 7);
        (1..40).for_each(|at| operations.push_str(&line(at, "enq", "arg", at)));
        for (text, expected) in [(&events, "violated"), (&operations, "unknown")] {
            let options = JudgeOptions { violations_max: 20, ..JudgeOptions::default() };
            let budget = options.budget.clone();
            let queue = clewline_specs::find("queue").unwrap();
            let follower = clewline_formats::formats::jsonl::ENTRY.follow().unwrap();
            let mut input = ThenStopped(text.as_bytes(), &budget);
            let end = follow(&*queue, (&mut input, follower), options, 2, SEEN, &|_| ()).unwrap();
            let StreamEnd::Judged(case, judgement, stream) = end else { panic!("a verdict") };
            assert_eq!(judgement.verdict.word(), expected);
            if let Verdict::Violated(violation) = judgement.verdict {
                assert_eq!(case.object(violation.counterexample[0]), ObjectId(0));
                assert_eq!(stream.line, Some(2));
            }
        }
    }
}
