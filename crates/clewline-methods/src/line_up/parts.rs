//! The second phase of one matrix in parts, on several threads or in several processes.
//!
//! A [part](Part) is a run of consecutive executions. Each is explored up to its first wrong
//! execution, and the results are joined in the order of the executions, up to the first wrong one
//! of all. So counts and violation are those of one exploration, however many parts there are and
//! whichever process explores them.
//!
//! An execution may show that more scheduling points are needed. Then everything is explored again
//! with these points, as in one exploration: the parts before that execution count only if one of
//! them is wrong.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashSet},
    ops::ControlFlow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use clewline_core::{CodecError, Reason, is_interrupted, parallel};
use clewline_explore::{
    Begin, Choice, Coverage, Division, Ending, FastPath, Limit, Part, Point, Scheduler, explore, round_of,
    schedulers::SchedulerSettings,
};
use clewline_matrix::{Explorable, Extent, Learned, Matrix, Strategy, TestProgram, TimeCheck, Visits};
use clewline_threads::control::ExtraPoints;
use rustc_hash::FxBuildHasher;

pub use super::concurrent::{SeenHistory, WrongExecution};
use super::{
    concurrent::{ConcurrentQuery, ConcurrentResult, DistinctHistories, ExecutionJudge, cut_sentence},
    expected::{ExpectedBehaviour, program},
    options::LineUpOptions,
    serial::{ResultNumbering, ResultTexts, divergence},
};

/// How many parts there are at least for each thread or process.
pub const PARTS_PER_JOB_MIN: usize = 16;

/// A part: the scheduling points that it has, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartId {
    /// A bit for each kind of [`ExtraPoints`].
    pub points: u8,
    /// Its number among the parts with these points.
    pub number: usize,
}

/// What the executions of a part have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartResult {
    /// One for each round of the scheduler.
    pub segments: Vec<Segment>,
    /// How it ended.
    pub end: PartEnd,
}

/// What the executions of a part have shown in one round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The number of the round.
    pub round: u32,
    /// How many executions there were.
    pub executions: u64,
    /// How many were cut.
    pub cut: u64,
    /// The histories that the same thread has not seen before.
    pub histories: Vec<SeenHistory>,
    /// The last execution, if it is wrong.
    pub wrong: Option<WrongExecution>,
    /// Whether a larger bound would allow more executions.
    pub is_bounded: bool,
    /// The place of a loop that may count.
    pub guess: Option<String>,
    /// What is said of executions that were cut.
    pub cut_sentence: Option<String>,
}

/// How a part ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartEnd {
    /// Nothing is left of it.
    Done,
    /// Its last execution is wrong.
    Wrong,
    /// What comes next is after a wrong execution of another part.
    Needless,
    /// Time was up.
    Late,
    /// The maximum number of executions.
    Executions,
    /// The process was interrupted.
    Interrupted,
    /// More scheduling points are needed.
    Restart(Learned),
    /// It cannot be explored: the limit as text, and the reason.
    Failed(Coverage, Option<String>),
}

/// How one matrix is divided.
pub struct Share<'a> {
    /// The number of threads.
    pub jobs: usize,
    /// The least number of parts.
    pub parts_min: usize,
    /// Only the parts whose number is the first modulo the second, which are not joined.
    pub only: Option<(u64, u64)>,
    /// Parts that were explored before.
    pub known: BTreeMap<PartId, PartResult>,
    /// Called after each part.
    pub finished: &'a mut (dyn FnMut(PartId, &PartResult) + Send),
}

impl std::fmt::Debug for Share<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Share").field("jobs", &self.jobs).field("only", &self.only).finish_non_exhaustive()
    }
}

/// Why the executions of one matrix cannot be divided, if so.
#[must_use]
pub fn not_divided(options: &LineUpOptions) -> Option<String> {
    let name = options.scheduler.name;
    if options.scheduler.division == Division::None {
        return Some(format!(
            "the schedules of one matrix are not divided with --scheduler {name}: what one schedule shows \
             decides which others are needed"
        ));
    }
    let asked =
        [("--serializability", options.counts_unserializable), ("--histories", options.lists_histories)];
    let asked = asked.into_iter().find(|it| it.1)?.0;
    Some(format!("the schedules of one matrix are not divided with {asked}"))
}

/// What a journal names by these bits.
#[must_use]
pub fn points_of(bits: u8) -> ExtraPoints {
    ExtraPoints { releases: bits & 1 != 0, counts: bits & 2 != 0, races: bits & 4 != 0 }
}

/// The bits of a [`PartId`] with these points.
#[must_use]
pub fn bits_of(points: ExtraPoints) -> u8 {
    u8::from(points.releases) | u8::from(points.counts) << 1 | u8::from(points.races) << 2
}

/// The place of a part's round among all.
fn order(round: u32, number: usize) -> u64 {
    u64::from(round) << 32 | number as u64
}

/// A matrix whose second phase is explored in parts.
pub(super) struct Parted<'a> {
    pub(super) subject: &'a dyn Explorable,
    pub(super) matrix: &'a Matrix,
    pub(super) options: &'a LineUpOptions,
    pub(super) right: &'a ExpectedBehaviour,
    pub(super) texts: &'a ResultTexts,
    pub(super) until: Option<Instant>,
}

/// What follows from the parts with the same points.
enum Joined {
    Restart(Learned),
    Result(Box<ConcurrentResult>),
}

impl Parted<'_> {
    /// Explores a share. Returns the result of the whole, and what was known when it was reached,
    /// unless other shares are needed.
    ///
    /// # Errors
    ///
    /// If a part is missing that should be known.
    pub(super) fn explore(
        &self,
        mut known: Learned,
        share: &mut Share<'_>,
    ) -> Result<Option<(ConcurrentResult, Learned)>, CodecError> {
        let mut histories = DistinctHistories::new(&self.right.asked(self.matrix, self.options));
        loop {
            let copy = self.subject.copied()?;
            let mut program = self.program(copy.as_deref(), &known)?;
            let LineUpOptions { scheduler, settings, .. } = self.options;
            let (parts, is_complete) = program.split(scheduler, settings, share.parts_min);
            let learned = program.learned();
            drop((program, copy));
            let results = self.run(&parts, &known, share)?;
            if share.only.is_some() {
                if is_complete || learned == known {
                    return Ok(None);
                }
                known = learned;
                continue;
            }
            match self.join(&parts, &known, &results, &mut histories)? {
                Joined::Restart(more) => known = more,
                Joined::Result(result) => return Ok(Some((*result, known))),
            }
        }
    }

    /// A test program of `copy`, or of the subject.
    fn program(
        &self,
        copy: Option<&dyn Explorable>,
        known: &Learned,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        let mut program = program(copy.unwrap_or(self.subject), self.matrix, self.options)?;
        program.set_memory(self.options.memory);
        program.keep(true, false);
        program.learn(known);
        Ok(program)
    }

    fn first_round(&self, part: &Part) -> u32 {
        let is_later = matches!(part, Part::Below(prefixes) if !prefixes.is_empty());
        u32::from(self.options.scheduler.division == Division::Rounds && is_later)
    }

    /// Explores those parts of the share that are not known. A part that comes after a wrong
    /// execution has no result.
    fn run(
        &self,
        parts: &[Part],
        learned: &Learned,
        share: &mut Share<'_>,
    ) -> Result<Vec<Option<PartResult>>, CodecError> {
        let points = bits_of(learned.points);
        let known = |number: usize| share.known.get(&PartId { points, number }).cloned();
        let results: Vec<Option<PartResult>> = (0..parts.len()).map(known).collect();
        let last_needed = AtomicU64::new(u64::MAX);
        for (number, result) in results.iter().enumerate() {
            last_needed
                .fetch_min(result.as_ref().map_or(u64::MAX, |it| it.stops_at(number)), Ordering::Relaxed);
        }
        let is_own = |it: &usize| share.only.is_none_or(|(index, count)| *it as u64 % count == index);
        // Those of other processes are complete.
        let is_merged = share.known.keys().any(|it| it.points == points) && share.only.is_none();
        let own = (0..parts.len()).filter(|it| is_own(it) && results[*it].is_none() && !is_merged);
        let todo: Vec<usize> = own.collect();
        let (next, results) = (AtomicUsize::new(0), Mutex::new(results));
        let finished = Mutex::new(&mut share.finished);
        let work = || -> Result<(), CodecError> {
            let mut job: Option<Job<'_>> = None;
            while let Some(&number) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                let part = &parts[number];
                if last_needed.load(Ordering::Relaxed) < order(self.first_round(part), number) {
                    continue;
                }
                if job.as_ref().is_none_or(Job::is_used_up) {
                    job = Some(Job::new(self, learned)?);
                }
                let Some(job) = &mut job else { continue };
                let result = job.run(part, number, self.options.executions_max, &last_needed);
                last_needed.fetch_min(result.stops_at(number), Ordering::Relaxed);
                (finished.lock().unwrap_or_else(PoisonError::into_inner))(PartId { points, number }, &result);
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                results[number] = Some(result);
                last_needed.fetch_min(self.limit_at(&results), Ordering::Relaxed);
            }
            Ok(())
        };
        let jobs = share.jobs.clamp(1, todo.len().max(1));
        let (here, others) = parallel::run_alongside(1..jobs, |_| work(), work);
        others.into_iter().fold(here, Result::and)?;
        Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The place where the maximum number of executions is reached, as far as it is known.
    fn limit_at(&self, results: &[Option<PartResult>]) -> u64 {
        if self.options.scheduler.division == Division::Rounds {
            return u64::MAX;
        }
        let mut executions = 0;
        for (number, result) in results.iter().enumerate() {
            let Some(result) = result else { return u64::MAX };
            executions += result.segments.iter().map(|it| it.executions).sum::<u64>();
            if self.options.executions_max <= executions {
                return order(0, number);
            }
        }
        u64::MAX
    }

    /// Joins the parts in the order of the executions.
    fn join(
        &self,
        parts: &[Part],
        known: &Learned,
        results: &[Option<PartResult>],
        histories: &mut DistinctHistories,
    ) -> Result<Joined, CodecError> {
        let executions_max = self.options.executions_max;
        let mut places: Vec<(u32, usize, usize)> = Vec::new();
        for (number, result) in results.iter().enumerate() {
            match result {
                Some(result) => {
                    let rounds = result.segments.iter().enumerate();
                    places.extend(rounds.map(|(at, it)| (it.round, number, at)));
                }
                None => places.push((self.first_round(&parts[number]), number, 0)),
            }
        }
        places.sort_unstable();
        let mut all = Totals::default();
        for (_, number, at) in places {
            let missing =
                || CodecError(format!("part {number} of the schedules was not explored to its end"));
            let left = executions_max - all.executions;
            if left == 0 {
                all.limit = Some(Coverage::Limited(Limit::Executions(executions_max)));
                break;
            }
            let Some(result) = &results[number] else { return Err(missing()) };
            let segment = &result.segments[at];
            if left < segment.executions {
                let before: u64 = result.segments[..at].iter().map(|it| it.executions).sum();
                let mut job = Job::new(self, known)?;
                let again = job.run(&parts[number], number, before + left, &AtomicU64::new(u64::MAX));
                all.add(again.segments.last().ok_or_else(missing)?, histories);
                continue;
            }
            all.add(segment, histories);
            if all.violation.is_some() {
                all.limit = Some(Coverage::Limited(Limit::Stopped));
                break;
            }
            if at + 1 < result.segments.len() {
                continue;
            }
            match &result.end {
                PartEnd::Done => continue,
                // A violation counts wherever it was found.
                PartEnd::Late => {
                    all.stopped.get_or_insert(Limit::Stopped);
                    continue;
                }
                PartEnd::Interrupted => {
                    all.stopped = Some(Limit::Budget(Reason::Interrupted));
                    continue;
                }
                PartEnd::Restart(known) => return Ok(Joined::Restart(known.clone())),
                PartEnd::Wrong | PartEnd::Needless => return Err(missing()),
                PartEnd::Executions => {
                    all.limit = Some(Coverage::Limited(Limit::Executions(executions_max)));
                }
                PartEnd::Failed(coverage, reason) => {
                    (all.limit, all.divergence) = (Some(coverage.clone()), reason.clone());
                }
            }
            break;
        }
        Ok(Joined::Result(Box::new(all.result(std::mem::take(histories)))))
    }
}

impl PartResult {
    /// The place after which nothing is needed, if there is one.
    fn stops_at(&self, number: usize) -> u64 {
        let round = self.segments.last().map_or(0, |it| it.round);
        match &self.end {
            PartEnd::Wrong | PartEnd::Restart(_) | PartEnd::Failed(..) => order(round, number),
            PartEnd::Done | PartEnd::Needless | PartEnd::Late => u64::MAX,
            PartEnd::Executions | PartEnd::Interrupted => u64::MAX,
        }
    }
}

/// The sum of segments.
#[derive(Default)]
struct Totals {
    executions: u64,
    cut: u64,
    is_bounded: bool,
    guess: Option<String>,
    cut_sentence: Option<String>,
    violation: Option<WrongExecution>,
    divergence: Option<String>,
    /// Why not all parts were explored to their end.
    stopped: Option<Limit>,
    limit: Option<Coverage>,
}

impl Totals {
    fn add(&mut self, segment: &Segment, histories: &mut DistinctHistories) {
        self.executions += segment.executions;
        self.cut += segment.cut;
        self.is_bounded |= segment.is_bounded;
        self.guess = self.guess.take().or_else(|| segment.guess.clone());
        self.cut_sentence = self.cut_sentence.take().or_else(|| segment.cut_sentence.clone());
        segment.histories.iter().for_each(|it| histories.add(it.clone()));
        self.violation = segment.wrong.clone();
    }

    fn result(self, histories: DistinctHistories) -> ConcurrentResult {
        let coverage = match self.limit {
            Some(coverage) => coverage,
            None if self.stopped.is_some() => self.stopped.map_or(Coverage::Exhausted, Coverage::Limited),
            None if self.cut != 0 => Coverage::Limited(Limit::Cut(self.cut)),
            None => Coverage::Exhausted,
        };
        ConcurrentResult {
            is_bounded: self.is_bounded,
            violation: self.violation,
            guess: self.guess,
            cut: self.cut_sentence,
            divergence: self.divergence,
            ..histories.result(coverage, self.executions)
        }
    }
}

/// What a thread uses for all parts that it explores.
struct Job<'a> {
    parted: &'a Parted<'a>,
    known: &'a Learned,
    program: Box<dyn TestProgram>,
    /// The process of the program, if it has one of its own.
    _copy: Option<Box<dyn Explorable>>,
    asked: ConcurrentQuery<'a>,
    texts: ResultTexts,
    renamed: ResultNumbering,
    /// The histories of this part and of those before it.
    reported: HashSet<Vec<u32>, FxBuildHasher>,
    runs: usize,
}

impl<'a> Job<'a> {
    fn new(parted: &'a Parted<'a>, known: &'a Learned) -> Result<Job<'a>, CodecError> {
        let copy = parted.subject.copied()?;
        Ok(Job {
            parted,
            known,
            program: parted.program(copy.as_deref(), known)?,
            _copy: copy,
            asked: parted.right.asked(parted.matrix, parted.options),
            texts: parted.texts.clone(),
            renamed: ResultNumbering::default(),
            reported: HashSet::default(),
            runs: 0,
        })
    }

    /// Whether another part needs another program: this one has more points than it began with, or
    /// remembers the first of something, and with rounds the next part may have an earlier one.
    fn is_used_up(&self) -> bool {
        let has_rounds = self.parted.options.scheduler.division == Division::Rounds;
        has_rounds && self.runs != 0 || self.has_learned()
    }

    fn has_learned(&self) -> bool {
        self.runs != 0 && self.program.learned() != *self.known
    }

    /// The same, of a program in another process, which has its scheduler there.
    fn run_far(
        &mut self,
        part: &Part,
        number: usize,
        executions_max: u64,
        last_needed: &AtomicU64,
    ) -> PartResult {
        let Job { parted, program, asked, texts, renamed, reported, .. } = self;
        let options = parted.options;
        let settings = SchedulerSettings { part: part.clone(), ..options.settings.clone() };
        let mut judge = ExecutionJudge { asked, texts, renamed: std::mem::take(renamed), key: Vec::new() };
        let (mut segment, mut end) = (Segment::default(), None);
        let place = order(0, number);
        let extent = Extent { executions_max, until: parted.until, visits: Visits::Histories };
        let strategy = Strategy::Scheduler(options.scheduler, &settings);
        let survey = program.explore(strategy, &extent, &mut |program, ending, _| {
            let is_new = |key: &Vec<u32>| !reported.contains(key) && reported.insert(key.clone());
            let (wrong, history) = judge.judge(program, ending, is_new);
            segment.histories.extend(history);
            segment.wrong = wrong;
            end = match segment.wrong {
                Some(_) => Some(PartEnd::Wrong),
                None if last_needed.load(Ordering::Relaxed) < place => Some(PartEnd::Needless),
                None => is_interrupted().then_some(PartEnd::Interrupted),
            };
            if end.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        *renamed = judge.renamed;
        segment.executions = survey.executions;
        if let Coverage::Limited(Limit::Cut(cut)) = survey.coverage {
            segment.cut = cut;
        }
        segment.is_bounded = survey.is_bounded;
        segment.guess = program.guess().map(|it| it.to_string());
        segment.cut_sentence = program.unended().map(|it| cut_sentence(Some(it), options));
        if self.has_learned() {
            end = Some(PartEnd::Restart(self.program.learned()));
        }
        let end = end.unwrap_or_else(|| match survey.coverage {
            Coverage::Limited(Limit::Stopped) => PartEnd::Late,
            coverage => PartEnd::of(coverage, &*self.program),
        });
        PartResult { segments: vec![segment], end }
    }

    /// Explores a part, until its first wrong execution, or until it comes after `last_needed`.
    fn run(
        &mut self,
        part: &Part,
        number: usize,
        executions_max: u64,
        last_needed: &AtomicU64,
    ) -> PartResult {
        self.runs += 1;
        if self.parted.subject.is_far() {
            return self.run_far(part, number, executions_max, last_needed);
        }
        let options = self.parted.options;
        let settings = SchedulerSettings { part: part.clone(), ..options.settings.clone() };
        let mut inner = (options.scheduler.make)(&settings);
        let (round, is_bounded) = (Cell::new(self.parted.first_round(part)), Cell::new(false));
        let mut scheduler = WatchedScheduler { inner: &mut *inner, round: &round, is_bounded: &is_bounded };
        let Job { known, program, asked, texts, renamed, reported, .. } = self;
        let points = known.points;
        let mut judge = ExecutionJudge { asked, texts, renamed: std::mem::take(renamed), key: Vec::new() };
        let mut clock = TimeCheck::new(self.parted.until);
        let mut segments = vec![Segment { round: round.get(), ..Segment::default() }];
        let mut end = None;
        let (coverage, _) =
            explore(&mut **program, &mut scheduler, executions_max, |program, ending, executions| {
                if program.points() != points {
                    end = Some(PartEnd::Restart(program.learned()));
                    return ControlFlow::Break(());
                }
                if let Some(last) = segments.last_mut().filter(|it| it.round != round.get()) {
                    last.is_bounded |= is_bounded.get();
                    segments.push(Segment { round: round.get(), ..Segment::default() });
                }
                let place = order(round.get(), number);
                let Some(segment) = segments.last_mut() else { return ControlFlow::Break(()) };
                if last_needed.load(Ordering::Relaxed) < place {
                    end = Some(PartEnd::Needless);
                    return ControlFlow::Break(());
                }
                segment.note(&*program, ending, options);
                let is_new = |key: &Vec<u32>| !reported.contains(key) && reported.insert(key.clone());
                let (wrong, history) = judge.judge(&*program, ending, is_new);
                segment.histories.extend(history);
                segment.wrong = wrong;
                end = match segment.wrong {
                    Some(_) => Some(PartEnd::Wrong),
                    None => clock.is_late(ending, executions).then_some(PartEnd::Late),
                };
                if end.is_some() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
        *renamed = judge.renamed;
        if let Some(last) = segments.last_mut() {
            last.is_bounded |= inner.is_bounded() || program.is_cut_short();
        }
        if program.points() != points {
            end = Some(PartEnd::Restart(program.learned()));
        }
        let end = end.unwrap_or_else(|| PartEnd::of(coverage, &**program));
        PartResult { segments, end }
    }
}

impl PartEnd {
    /// The end of a part of `program` that nothing else has ended.
    fn of(coverage: Coverage, program: &dyn TestProgram) -> PartEnd {
        match coverage {
            Coverage::Exhausted | Coverage::Limited(Limit::Cut(_)) => PartEnd::Done,
            Coverage::Limited(Limit::Executions(_)) => PartEnd::Executions,
            Coverage::Limited(limit) if limit.is_interruption() => PartEnd::Interrupted,
            Coverage::Limited(Limit::Diverged(diverged)) => {
                let reason = divergence(&diverged, program);
                PartEnd::Failed(Coverage::Limited(Limit::Diverged(diverged)), Some(reason))
            }
            coverage => PartEnd::Failed(coverage, None),
        }
    }
}

impl Segment {
    /// Notes the last execution of `program`.
    fn note(&mut self, program: &dyn TestProgram, ending: &Ending, options: &LineUpOptions) {
        self.executions += 1;
        self.is_bounded |= program.is_cut_short();
        if self.guess.is_none() {
            self.guess = program.guess().map(|it| it.to_string());
        }
        if *ending == Ending::Cut {
            self.cut += 1;
            self.cut_sentence.get_or_insert_with(|| cut_sentence(program.unended(), options));
        }
    }
}

/// A scheduler whose round, and whether it was bounded before, can be seen at each execution.
struct WatchedScheduler<'a> {
    inner: &'a mut dyn Scheduler,
    round: &'a Cell<u32>,
    is_bounded: &'a Cell<bool>,
}

impl Scheduler for WatchedScheduler<'_> {
    fn begin(&mut self, begin: Begin) -> bool {
        self.is_bounded.set(self.inner.is_bounded());
        let begins = self.inner.begin(begin);
        self.round.set(round_of(self.inner));
        begins
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.inner.choose(point)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.inner.choose_value(n)
    }

    fn is_bounded(&self) -> bool {
        self.inner.is_bounded()
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        self.inner.fast_path()
    }
}

#[cfg(test)]
mod tests;
