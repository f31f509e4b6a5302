//! Requests to a program that is explored.

use std::time::{Duration, Instant};

use clewline_explore::{
    Part,
    schedulers::{self, SchedulerSettings},
};
use clewline_matrix::{EncodedSerialHistories, Explained, Extent, Learned, Strategy, Survey, Visits};
use clewline_threads::control::{Calls, ExtraPoints, Limits, Memory, MemoryModel};

use crate::{message::WireMessage, remote_scheduler::FIRST_OTHER_KIND};

// Requests.
pub(crate) const NEW_PROGRAM: u64 = FIRST_OTHER_KIND;
pub(crate) const DROP: u64 = FIRST_OTHER_KIND + 1;
pub(crate) const EXPLORE: u64 = FIRST_OTHER_KIND + 2;
pub(crate) const RUN: u64 = FIRST_OTHER_KIND + 3;
pub(crate) const RACING: u64 = FIRST_OTHER_KIND + 4;
pub(crate) const LEAVE: u64 = FIRST_OTHER_KIND + 8;
pub(crate) const UNSEEN: u64 = FIRST_OTHER_KIND + 9;
pub(crate) const COPY: u64 = FIRST_OTHER_KIND + 10;
pub(crate) const SPLIT: u64 = FIRST_OTHER_KIND + 11;
pub(crate) const LEARN: u64 = FIRST_OTHER_KIND + 12;
// Messages during executions.
pub(crate) const VISIT: u64 = FIRST_OTHER_KIND + 5;
pub(crate) const DONE: u64 = FIRST_OTHER_KIND + 6;
pub(crate) const NO_SCHEDULER: u64 = FIRST_OTHER_KIND + 7;
// Replies to a visit.
pub(crate) const CONTINUE: u64 = 0;
pub(crate) const BREAK: u64 = 1;

/// The settings of a test program for its next run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    pub(crate) memory: Option<Memory>,
    pub(crate) points: Option<ExtraPoints>,
    /// What another process has learned.
    pub(crate) learned: Option<Learned>,
    pub(crate) keeps_schedule: bool,
    pub(crate) keeps_moments: bool,
}

impl WireMessage {
    pub(crate) fn put_calls(&mut self, calls: &Calls<String>) {
        let mut put = |list: &[String]| self.put_all(list.iter(), |to, it| to.put_text(it));
        put(&calls.initial);
        put(&calls.last);
        self.put_all(calls.columns.iter(), |to, it| to.put_all(it.iter(), |to, it| to.put_text(it)));
    }

    pub(crate) fn take_calls(&mut self) -> Calls<String> {
        Calls {
            initial: self.take_all(WireMessage::take_text),
            last: self.take_all(WireMessage::take_text),
            columns: self.take_all(|from| from.take_all(WireMessage::take_text)),
        }
    }

    pub(crate) fn put_limits(&mut self, limits: &Limits) {
        for word in [limits.steps, limits.spurious] {
            self.put(word.into());
        }
    }

    pub(crate) fn take_limits(&mut self) -> Limits {
        Limits { steps: self.take_u32(), spurious: self.take_u32() }
    }

    pub(crate) fn put_setup(&mut self, setup: &Setup) {
        self.put_maybe(setup.memory, |to, it| {
            to.put(MemoryModel::ALL.iter().position(|model| *model == it.model).unwrap_or(0) as u64);
            to.put_flag(it.races);
            to.put_flag(it.spurious_failures);
            to.put_flag(it.real_time);
            to.put_maybe(it.stale_max, |to, it| to.put(it.into()));
        });
        self.put_maybe(setup.points, WireMessage::put_points);
        self.put_maybe(setup.learned.as_ref(), WireMessage::put_learned);
        self.put_flag(setup.keeps_schedule);
        self.put_flag(setup.keeps_moments);
    }

    pub(crate) fn take_setup(&mut self) -> Setup {
        Setup {
            memory: self.take_maybe(|from| Memory {
                model: MemoryModel::ALL[from.take_index(MemoryModel::ALL.len())],
                races: from.take_flag(),
                spurious_failures: from.take_flag(),
                real_time: from.take_flag(),
                stale_max: from.take_maybe(WireMessage::take_u32),
            }),
            points: self.take_maybe(WireMessage::take_points),
            learned: self.take_maybe(WireMessage::take_learned),
            keeps_schedule: self.take_flag(),
            keeps_moments: self.take_flag(),
        }
    }

    fn put_points(&mut self, points: ExtraPoints) {
        [points.releases, points.counts, points.races].into_iter().for_each(|it| self.put_flag(it));
    }

    fn take_points(&mut self) -> ExtraPoints {
        ExtraPoints { releases: self.take_flag(), counts: self.take_flag(), races: self.take_flag() }
    }

    pub(crate) fn put_learned(&mut self, learned: &Learned) {
        self.put_points(learned.points);
        for words in [&learned.places, &learned.words] {
            self.put_all(words.iter(), |to, it| to.put(*it as u64));
        }
    }

    pub(crate) fn take_learned(&mut self) -> Learned {
        Learned {
            points: self.take_points(),
            places: self.take_all(WireMessage::take_usize),
            words: self.take_all(WireMessage::take_usize),
        }
    }

    fn put_choices(&mut self, choices: &[u32]) {
        self.put_all(choices.iter(), |to, it| to.put((*it).into()));
    }

    fn take_choices(&mut self) -> Box<[u32]> {
        self.take_all(WireMessage::take_u32).into()
    }

    pub(crate) fn put_part(&mut self, part: &Part) {
        match part {
            Part::Whole => self.put(WHOLE),
            Part::Below(prefixes) => {
                self.put(BELOW);
                self.put_all(prefixes.iter(), |to, it| to.put_choices(it));
            }
            Part::Numbers(numbers) => {
                self.put(NUMBERS);
                self.put(numbers.start);
                self.put(numbers.end);
            }
            Part::Children(node) => {
                self.put(CHILDREN);
                self.put_choices(node);
            }
        }
    }

    pub(crate) fn take_part(&mut self) -> Part {
        match self.take() {
            BELOW => Part::Below(self.take_all(WireMessage::take_choices)),
            NUMBERS => Part::Numbers(self.take()..self.take()),
            CHILDREN => Part::Children(self.take_choices()),
            _ => Part::Whole,
        }
    }

    /// Bounds are sent by name: each process has its own table.
    pub(crate) fn put_strategy(&mut self, strategy: Strategy<'_>) {
        let Strategy::Scheduler(entry, settings) = strategy else { return self.put_flag(false) };
        self.put_flag(true);
        self.put_text(entry.name);
        self.put(settings.seed);
        self.put(settings.executions);
        self.put_part(&settings.part);
        let set: Vec<_> = entry.bounds.iter().filter(|it| settings.bounds.is_set(it)).collect();
        self.put_all(set.into_iter(), |to, it| {
            to.put_text(it.name);
            to.put_maybe(settings.bounds.get(it), |to, it| to.put(it.into()));
        });
    }

    /// Calls `then` with the strategy; `None` if this process has no such scheduler.
    pub(crate) fn take_strategy<R>(
        &mut self,
        then: impl FnOnce(&mut WireMessage, Strategy<'_>) -> R,
    ) -> Option<R> {
        if !self.take_flag() {
            return Some(then(self, Strategy::Serial));
        }
        let name = self.take_text();
        let (seed, executions, part) = (self.take(), self.take(), self.take_part());
        let mut settings = SchedulerSettings { seed, executions, part, ..SchedulerSettings::default() };
        let set = self.take_all(|it| (it.take_text(), it.take_maybe(WireMessage::take_u32)));
        let entry = schedulers::find(&name)?;
        for (name, value) in set {
            let bound = entry.bounds.iter().find(|it| it.name == name)?;
            settings.bounds.set(bound, value);
        }
        Some(then(self, Strategy::Scheduler(entry, &settings)))
    }

    pub(crate) fn put_extent(&mut self, extent: &Extent) {
        self.put(extent.executions_max);
        self.put_maybe(extent.until, |to, it| {
            let left = it.saturating_duration_since(Instant::now()).as_micros();
            to.put(u64::try_from(left).unwrap_or(u64::MAX));
        });
        self.put(VISITS.iter().position(|it| *it == extent.visits).unwrap_or(0) as u64);
    }

    pub(crate) fn take_extent(&mut self) -> Extent {
        let executions_max = self.take();
        let left = self.take_maybe(WireMessage::take);
        let visits = VISITS[self.take_index(VISITS.len())];
        Extent::all(executions_max, visits).within(left.map(Duration::from_micros))
    }

    pub(crate) fn put_explanation(&mut self, explanation: &EncodedSerialHistories) {
        self.put_all(explanation.results.iter(), |to, it| to.put_text(it));
        self.put_all(explanation.words.iter(), |to, it| to.put((*it).into()));
    }

    pub(crate) fn take_explanation(&mut self) -> EncodedSerialHistories {
        let results = self.take_all(WireMessage::take_text);
        EncodedSerialHistories { words: self.take_all(WireMessage::take_u32), results }
    }

    pub(crate) fn put_survey(&mut self, survey: &Survey) {
        self.put_coverage(&survey.coverage);
        self.put(survey.executions);
        self.put(survey.broken);
        self.put_flag(survey.is_bounded);
        self.put(survey.explained.histories as u64);
        self.put(survey.explained.stuck as u64);
    }

    pub(crate) fn take_survey(&mut self) -> Survey {
        Survey {
            coverage: self.take_coverage(),
            executions: self.take(),
            broken: self.take(),
            is_bounded: self.take_flag(),
            explained: Explained { histories: self.take_usize(), stuck: self.take_usize() },
        }
    }
}

// The kinds of parts.
const WHOLE: u64 = 0;
const BELOW: u64 = 1;
const NUMBERS: u64 = 2;
const CHILDREN: u64 = 3;

const VISITS: [Visits; 4] = [Visits::Every, Visits::Ahead, Visits::Histories, Visits::Unexplained];
