//! Statistics of the explored schedules, and the decision when to stop.
//!
//! A scheduler reports every execution that ended. Histories are distinguished in two ways:
//! *chronologically*, by the order of their calls and returns, and *canonically*, by operations,
//! results and real-time order. Only the latter matters to a checker. Each canonical history is
//! judged once, including its pending operations.

use std::{
    collections::hash_map::Entry,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clewline_core::{Budget, Verdict, VerdictKind};
use clewline_explore::{Coverage, Limit};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    engine::lock,
    execution::Execution,
    histories::{HistoryEvent, HistoryId},
    interned::BadHandler,
    judge::Verdicts,
    schedule::MessageSchedule,
    settings::{MessageSchedulerSettings, SampledSchedules},
};

// Executions between two checks of the memory limit and reports to the budget.
const BUDGET_CHECK_INTERVAL_EXECUTIONS: u64 = 64;

/// The result of a scheduler: it continues, or breaks because a limit was reached.
pub type Flow = ControlFlow<Coverage>;

/// Statistics of the explored schedules.
#[derive(Debug)]
pub struct Statistics<'a> {
    // `None` if another thread judges the histories.
    verdicts: Option<&'a mut Verdicts>,
    budget: Budget,
    schedules_max: u64,
    violations_max: u64,
    steps_max: usize,
    /// Executions that were explored to their end.
    pub schedules: u64,
    /// Those with an operation that did not return.
    pub incomplete: u64,
    /// Executions that were abandoned because they are redundant.
    pub redundant: u64,
    /// Executions that exceeded the step limit. Their histories are judged as far as they went.
    pub cut: u64,
    /// Steps of all executions together: the cost of executing each from the beginning.
    pub steps: u64,
    /// Steps executed: steps of a common prefix count once.
    pub executed: u64,
    /// Time spent judging histories.
    pub judging: Duration,
    /// Number of chronologically different complete histories before the first violated one.
    pub before_violated: Option<u64>,
    /// Steps of the longest execution.
    pub depth: usize,
    /// The first schedule that showed a violation.
    pub first_violation: Option<FirstViolation>,
    /// Whether a bound excluded something.
    pub is_bounded: bool,
    /// The impure or panicking handler because of which the exploration ended.
    pub bad_handler: Option<BadHandler>,
    /// What others need to know about schedules with [some of the
    /// numbers](crate::SampledPart::Numbers).
    pub sampled: Option<SampledSchedules>,
    chronological: FxHashMap<Vec<HistoryEvent>, HistoryId>,
    canonical: FxHashMap<HistoryId, VerdictKind>,
    complete: FxHashSet<HistoryId>,
    complete_unique: u64,
    begun: Instant,
    // The calls and returns of the last execution, kept to reuse the memory.
    events_buffer: Vec<HistoryEvent>,
    // Executions not yet reported to the budget.
    unreported: u64,
    // The number of results of other threads that were added.
    pub(crate) added: u64,
    // Published during exploration: the steps of the longest execution.
    pub(crate) deepest: Arc<AtomicU64>,
}

/// The first schedule that showed a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstViolation {
    /// The ordinal of the schedule, from 1.
    pub nth: u64,
    /// The schedule.
    pub schedule: MessageSchedule,
    /// Its canonical history.
    pub history: HistoryId,
    /// The time until it was found.
    pub after: Duration,
}

impl<'a> Statistics<'a> {
    /// Empty statistics.
    pub fn new(settings: &MessageSchedulerSettings, verdicts: &'a mut Verdicts, budget: &Budget) -> Self {
        Statistics { verdicts: Some(verdicts), ..Statistics::unjudged(settings, budget) }
    }

    /// Empty statistics. Histories are judged only when they are [added](Self::add) to others.
    pub(crate) fn unjudged(settings: &MessageSchedulerSettings, budget: &Budget) -> Self {
        Statistics {
            verdicts: None,
            budget: budget.clone(),
            schedules_max: settings.schedules,
            violations_max: settings.violations,
            steps_max: settings.steps,
            schedules: 0,
            incomplete: 0,
            redundant: 0,
            cut: 0,
            steps: 0,
            executed: 0,
            judging: Duration::ZERO,
            before_violated: None,
            depth: 0,
            first_violation: None,
            is_bounded: false,
            bad_handler: None,
            sampled: None,
            chronological: FxHashMap::default(),
            canonical: FxHashMap::default(),
            complete: FxHashSet::default(),
            complete_unique: 0,
            begun: Instant::now(),
            events_buffer: Vec::new(),
            unreported: 0,
            added: 0,
            deepest: Arc::default(),
        }
    }

    /// Whether `execution` ends here: because no step is enabled, or because of the step limit. If
    /// so, it is counted.
    ///
    /// # Errors
    ///
    /// Breaks if the exploration is to end.
    pub fn is_end(&mut self, execution: &Execution) -> ControlFlow<Coverage, bool> {
        let is_over = execution.enabled().is_empty();
        if !is_over && execution.events().len() < self.steps_max {
            return ControlFlow::Continue(false);
        }
        self.check_limits(execution)?;
        if is_over {
            self.schedules += 1;
            self.incomplete += u64::from(!execution.summary().is_complete());
        } else {
            self.cut += 1;
        }
        self.record_depth(execution.events().len());
        let mut history_events = std::mem::take(&mut self.events_buffer);
        execution.history_events_into(&mut history_events);
        let flow = self.count_history(execution, execution.history(), &history_events);
        self.events_buffer = history_events;
        flow.map_continue(|()| true)
    }

    /// Counts an execution that ended with these calls and returns.
    ///
    /// # Errors
    ///
    /// Breaks if the exploration is to end.
    pub fn count_execution(&mut self, execution: &mut Execution, history_events: Vec<HistoryEvent>) -> Flow {
        self.check_limits(execution)?;
        let history = execution.canonical(&history_events);
        self.schedules += 1;
        self.incomplete += u64::from(!execution.engine().summary(history).is_complete());
        self.record_depth(execution.events().len());
        self.count_history(execution, history, &history_events)
    }

    /// Counts an execution that is abandoned because it is redundant.
    ///
    /// # Errors
    ///
    /// Breaks if the exploration is to end.
    pub fn count_redundant(&mut self, execution: &Execution) -> Flow {
        self.check_limits(execution)?;
        self.redundant += 1;
        ControlFlow::Continue(())
    }

    /// Adds the statistics of another thread, as if its executions had been explored here one by
    /// one. Returns false, and adds nothing, if the result depends on their order: where a limit is
    /// reached, or at the first violation.
    pub(crate) fn add(&mut self, execution: &Execution, seen: Statistics<'_>) -> bool {
        if self.schedules_left() <= seen.schedules + seen.cut || self.budget.allow(self.schedules).is_err() {
            return false;
        }
        let new: Vec<HistoryId> =
            seen.canonical.keys().copied().filter(|it| !self.canonical.contains_key(it)).collect();
        let judged: Vec<(HistoryId, VerdictKind)> =
            new.into_iter().map(|id| (id, self.judge(execution, id))).collect();
        let mut violated = judged.iter().filter(|it| it.1 == Verdict::Violated(()));
        let is_first = self.first_violation.is_none()
            || self.before_violated.is_none() && violated.clone().any(|it| seen.complete.contains(&it.0));
        if violated.clone().count() as u64 >= self.violations_max.saturating_sub(self.violated() as u64)
            || violated.next().is_some() && is_first
        {
            return false;
        }
        self.canonical.extend(judged);
        self.complete.extend(&seen.complete);
        for (history_events, id) in seen.chronological {
            if let Entry::Vacant(free) = self.chronological.entry(history_events) {
                free.insert(id);
                self.complete_unique += u64::from(seen.complete.contains(&id));
            }
        }
        self.schedules += seen.schedules;
        self.incomplete += seen.incomplete;
        self.redundant += seen.redundant;
        self.cut += seen.cut;
        self.steps += seen.steps;
        self.executed += seen.executed;
        self.record_depth(seen.depth);
        self.is_bounded |= seen.is_bounded;
        self.added += 1;
        true
    }

    /// The number of schedules left until the limit is reached.
    pub(crate) fn schedules_left(&self) -> u64 {
        self.schedules_max - (self.schedules + self.cut)
    }

    /// Lowers the maximum number of schedules.
    pub(crate) fn limit_schedules(&mut self, most: u64) {
        self.schedules_max = self.schedules_max.min(most);
    }

    /// The number of executions of any kind.
    pub(crate) fn executions(&self) -> u64 {
        self.schedules + self.cut + self.redundant
    }

    /// The budget.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Reports new executions to the budget.
    pub(crate) fn report_to_budget(&mut self) {
        self.budget.visit(std::mem::take(&mut self.unreported));
    }

    /// The time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The number of chronologically different histories.
    #[must_use]
    pub fn unique(&self) -> usize {
        self.chronological.len()
    }

    /// The number of canonical histories.
    #[must_use]
    pub fn canonical(&self) -> usize {
        self.canonical.len()
    }

    /// The canonical histories and their verdicts, in the order of their ids.
    #[must_use]
    pub fn histories(&self) -> Vec<(HistoryId, VerdictKind)> {
        let mut all: Vec<_> = self.canonical.iter().map(|(id, it)| (*id, *it)).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// The number of violated canonical histories.
    #[must_use]
    pub fn violated(&self) -> usize {
        self.count(Verdict::Violated(()))
    }

    /// The number of canonical histories without a verdict.
    #[must_use]
    pub fn unknown(&self) -> usize {
        self.count(Verdict::Unknown(()))
    }

    /// The number of chronologically different histories that are complete and violated. DS2 counts
    /// these only.
    #[must_use]
    pub fn unique_complete_violated(&self) -> usize {
        let violated =
            |id: &&HistoryId| self.complete.contains(id) && self.canonical[id] == Verdict::Violated(());
        self.chronological.values().filter(violated).count()
    }

    /// The share of histories that are violated.
    #[must_use]
    pub fn quality(&self) -> f64 {
        ratio(self.violated() as u64, self.canonical() as u64)
    }

    /// The share of schedules that showed a history for the first time.
    #[must_use]
    pub fn progression(&self) -> f64 {
        ratio(self.canonical() as u64, self.schedules)
    }

    /// The share of schedules that showed a violated history for the first time.
    #[must_use]
    pub fn precision(&self) -> f64 {
        ratio(self.violated() as u64, self.schedules)
    }

    /// The coverage, if the exploration was not stopped.
    #[must_use]
    pub fn coverage(&mut self, execution: &Execution) -> Coverage {
        match execution.bad_handler() {
            Some(bad_handler) => self.record_bad_handler(bad_handler),
            None if self.cut != 0 => Coverage::Limited(Limit::Cut(self.cut)),
            None if self.is_bounded => Coverage::Limited(Limit::Bound),
            None => Coverage::Exhausted,
        }
    }

    /// Records an impure or panicking handler: the results are then unreliable.
    pub(crate) fn record_bad_handler(&mut self, bad_handler: &BadHandler) -> Coverage {
        self.bad_handler = Some(bad_handler.clone());
        Coverage::Limited(Limit::Other(bad_handler.to_string()))
    }

    fn count(&self, judgement: VerdictKind) -> usize {
        self.canonical.values().filter(|it| **it == judgement).count()
    }

    fn check_limits(&mut self, execution: &Execution) -> Flow {
        if let Some(bad_handler) = execution.bad_handler() {
            return ControlFlow::Break(self.record_bad_handler(bad_handler));
        }
        if self.schedules + self.cut == self.schedules_max {
            return ControlFlow::Break(Coverage::Limited(Limit::Executions(self.schedules_max)));
        }
        self.steps += execution.events().len() as u64;
        self.unreported += 1;
        // Querying the memory use takes about as long as an execution, and so does updating shared
        // counters.
        let limit = match self.executions() % BUDGET_CHECK_INTERVAL_EXECUTIONS {
            0 => {
                self.report_to_budget();
                self.budget.allow(self.schedules).err()
            }
            _ => self.budget.stopped(),
        };
        limit.map_or(ControlFlow::Continue(()), |it| ControlFlow::Break(Coverage::Limited(Limit::Budget(it))))
    }

    fn count_history(
        &mut self,
        execution: &Execution,
        id: HistoryId,
        history_events: &[HistoryEvent],
    ) -> Flow {
        let is_complete = execution.engine().summary(id).is_complete();
        // Most chronological histories are repetitions.
        if !self.chronological.contains_key(history_events) {
            self.chronological.insert(history_events.to_vec(), id);
            self.complete_unique += u64::from(is_complete);
        }
        if self.canonical.contains_key(&id) {
            return ControlFlow::Continue(());
        }
        let judgement = self.judge(execution, id);
        self.canonical.insert(id, judgement);
        if is_complete {
            self.complete.insert(id);
            if judgement == Verdict::Violated(()) {
                self.before_violated.get_or_insert(self.complete_unique - 1);
            }
        }
        if judgement != Verdict::Violated(()) {
            return ControlFlow::Continue(());
        }
        let nth = self.schedules + self.cut;
        self.first_violation.get_or_insert_with(|| FirstViolation {
            nth,
            schedule: execution.schedule(),
            history: id,
            after: self.begun.elapsed(),
        });
        if self.violated() as u64 == self.violations_max {
            return ControlFlow::Break(Coverage::Limited(Limit::Violations(self.violations_max)));
        }
        ControlFlow::Continue(())
    }

    fn record_depth(&mut self, steps: usize) {
        if self.depth < steps {
            self.depth = steps;
            self.deepest.fetch_max(steps as u64, Ordering::Relaxed);
        }
    }

    fn judge(&mut self, execution: &Execution, id: HistoryId) -> VerdictKind {
        let Some(verdicts) = &mut self.verdicts else { return Verdict::Unknown(()) };
        let begun = Instant::now();
        let judgement = verdicts.of(&lock(&execution.engine().shared.histories), id);
        self.judging += begun.elapsed();
        judgement
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
