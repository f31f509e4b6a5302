//! Requests to a program that is explored.

use std::time::{Duration, Instant};

use clewline_explore::schedulers::{self, SchedulerSettings};
use clewline_matrix::{EncodedSerialHistories, Explained, Extent, Strategy, Survey, Visits};
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
// Messages during executions.
pub(crate) const VISIT: u64 = FIRST_OTHER_KIND + 5;
pub(crate) const DONE: u64 = FIRST_OTHER_KIND + 6;
pub(crate) const NO_SCHEDULER: u64 = FIRST_OTHER_KIND + 7;
// Replies to a visit.
pub(crate) const CONTINUE: u64 = 0;
pub(crate) const BREAK: u64 = 1;

/// The settings of a test program for its next run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setup {
    pub(crate) memory: Option<Memory>,
    pub(crate) points: Option<ExtraPoints>,
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
        self.put_maybe(setup.points, |to, it| {
            to.put_flag(it.releases);
            to.put_flag(it.counts);
            to.put_flag(it.races);
        });
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
            points: self.take_maybe(|from| ExtraPoints {
                releases: from.take_flag(),
                counts: from.take_flag(),
                races: from.take_flag(),
            }),
            keeps_schedule: self.take_flag(),
            keeps_moments: self.take_flag(),
        }
    }

    /// Bounds are sent by name: each process has its own table.
    pub(crate) fn put_strategy(&mut self, strategy: Strategy<'_>) {
        let Strategy::Scheduler(entry, settings) = strategy else { return self.put_flag(false) };
        self.put_flag(true);
        self.put_text(entry.name);
        self.put(settings.seed);
        self.put(settings.executions);
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
        let mut settings =
            SchedulerSettings { seed: self.take(), executions: self.take(), ..SchedulerSettings::default() };
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

const VISITS: [Visits; 4] = [Visits::Every, Visits::Ahead, Visits::Histories, Visits::Unexplained];
