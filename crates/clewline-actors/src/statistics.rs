//! Tallies: what the schedules that were explored had to show, and when to stop.
//!
//! A scheduler tells its tally about every execution that ended. Histories are told apart in two ways: *chronologically*, by the
//! order of their calls and returns, and *canonically*, by operations, results and which had returned before which was called.
//! Only the latter matters to a checker, and each is judged once, pending operations and all.

use std::{
    collections::hash_map::Entry,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clewline_core::Budget;
use clewline_explore::{Coverage, Limit};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    engine::lock,
    execution::Execution,
    histories::{HistoryEvent, HistoryId},
    interned::BadHandler,
    judge::{Judgement, Verdicts},
    schedule::Schedule,
    settings::Settings,
};

// After so many executions it is looked how much memory is used, and told how many there were.
const BUDGET_CHECK_INTERVAL_EXECUTIONS: u64 = 64;

/// What a scheduler answers: it goes on, or breaks because the tally said so.
pub type Flow = ControlFlow<Coverage>;

/// What schedules had to show.
#[derive(Debug)]
pub struct Statistics<'a> {
    // `None` if others will ask them.
    verdicts: Option<&'a mut Verdicts>,
    budget: Budget,
    schedules_max: u64,
    violations_max: u64,
    steps_max: usize,
    /// Executions that were seen to their end.
    pub schedules: u64,
    /// Those of them with an operation that did not return.
    pub incomplete: u64,
    /// Executions that were given up because nothing new could come of them.
    pub redundant: u64,
    /// Executions that were longer than allowed. Their histories are judged as far as they went.
    pub cut: u64,
    /// Steps of all of them together: what it would take to execute each from its beginning.
    pub steps: u64,
    /// Steps that were made: where schedules begin alike, those are made once.
    pub executed: u64,
    /// How long it took to judge histories.
    pub judging: Duration,
    /// How many complete histories, told apart by the order of their calls and returns, were seen before the first that is
    /// violated.
    pub before_violated: Option<u64>,
    /// Steps of the longest.
    pub depth: usize,
    /// The first schedule that showed a violation.
    pub first_violation: Option<FirstViolation>,
    /// Whether something was left out because of a bound.
    pub is_bounded: bool,
    /// The handler because of which the exploration ended, if one is not pure.
    pub bad_handler: Option<BadHandler>,
    chronological: FxHashMap<Vec<HistoryEvent>, HistoryId>,
    canonical: FxHashMap<HistoryId, Judgement>,
    complete: FxHashSet<HistoryId>,
    complete_unique: u64,
    begun: Instant,
    // What clients saw of the execution that ended last: memory to be used again.
    events_buffer: Vec<HistoryEvent>,
    // How many executions the budget has not been told of.
    unreported: u64,
    // How often something was added that was seen elsewhere.
    pub(crate) added: u64,
    // Whoever wants to know meanwhile how many steps the longest has.
    pub(crate) deepest: Arc<AtomicU64>,
}

/// The first schedule that showed a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstViolation {
    /// The how manieth schedule it was, from 1.
    pub nth: u64,
    /// What shows it.
    pub schedule: Schedule,
    /// What clients saw.
    pub history: HistoryId,
    /// How long it took to find it.
    pub after: Duration,
}

impl<'a> Statistics<'a> {
    /// Nothing was seen yet.
    pub fn new(settings: &Settings, verdicts: &'a mut Verdicts, budget: &Budget) -> Self {
        Statistics { verdicts: Some(verdicts), ..Statistics::unjudged(settings, budget) }
    }

    /// Nothing was seen yet, and nothing will be judged before it is [added](Self::add) elsewhere.
    pub(crate) fn unjudged(settings: &Settings, budget: &Budget) -> Self {
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

    /// Whether the execution ends where `walk` is: because nothing can happen any more, or because it must not become longer.
    /// If so, it is counted.
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
        let mut chronicle = std::mem::take(&mut self.events_buffer);
        execution.history_events_into(&mut chronicle);
        let flow = self.count_history(execution, execution.history(), &chronicle);
        self.events_buffer = chronicle;
        flow.map_continue(|()| true)
    }

    /// Counts an execution that ended, of which clients saw this.
    ///
    /// # Errors
    ///
    /// Breaks if the exploration is to end.
    pub fn count_execution(&mut self, execution: &mut Execution, chronicle: Vec<HistoryEvent>) -> Flow {
        self.check_limits(execution)?;
        let history = execution.canonical(&chronicle);
        self.schedules += 1;
        self.incomplete += u64::from(!execution.engine().summary(history).is_complete());
        self.record_depth(execution.events().len());
        self.count_history(execution, history, &chronicle)
    }

    /// Counts an execution that is given up because nothing new can come of it.
    ///
    /// # Errors
    ///
    /// Breaks if the exploration is to end.
    pub fn count_redundant(&mut self, execution: &Execution) -> Flow {
        self.check_limits(execution)?;
        self.redundant += 1;
        ControlFlow::Continue(())
    }

    /// Adds what was seen elsewhere, as if it had been seen here, execution by execution. Adds nothing, and answers false, if what
    /// comes of that depends on their order: where a limit is hit, or where the first violation is.
    pub(crate) fn add(&mut self, execution: &Execution, seen: Statistics<'_>) -> bool {
        if self.schedules_left() <= seen.schedules + seen.cut || self.budget.allow(self.schedules).is_err() {
            return false;
        }
        let new: Vec<HistoryId> =
            seen.canonical.keys().copied().filter(|it| !self.canonical.contains_key(it)).collect();
        let judged: Vec<(HistoryId, Judgement)> =
            new.into_iter().map(|id| (id, self.judge(execution, id))).collect();
        let mut violated = judged.iter().filter(|it| it.1 == Judgement::Violated);
        let is_first = self.first_violation.is_none()
            || self.before_violated.is_none() && violated.clone().any(|it| seen.complete.contains(&it.0));
        if violated.clone().count() as u64 >= self.violations_max.saturating_sub(self.violated() as u64)
            || violated.next().is_some() && is_first
        {
            return false;
        }
        self.canonical.extend(judged);
        self.complete.extend(&seen.complete);
        for (chronicle, id) in seen.chronological {
            if let Entry::Vacant(free) = self.chronological.entry(chronicle) {
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

    /// How many schedules there may be until the limit is hit.
    pub(crate) fn schedules_left(&self) -> u64 {
        self.schedules_max - (self.schedules + self.cut)
    }

    /// Allows no more than so many schedules.
    pub(crate) fn limit_schedules(&mut self, most: u64) {
        self.schedules_max = self.schedules_max.min(most);
    }

    /// How many executions there were, of any kind.
    pub(crate) fn executions(&self) -> u64 {
        self.schedules + self.cut + self.redundant
    }

    /// What may be spent.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Tells the budget about executions that it does not know of.
    pub(crate) fn report_to_budget(&mut self) {
        self.budget.visit(std::mem::take(&mut self.unreported));
    }

    /// How long ago it began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Different histories, by the order of their calls and returns.
    #[must_use]
    pub fn unique(&self) -> usize {
        self.chronological.len()
    }

    /// Different canonical histories.
    #[must_use]
    pub fn canonical(&self) -> usize {
        self.canonical.len()
    }

    /// The canonical histories and what was said about them, in the order of their numbers.
    #[must_use]
    pub fn histories(&self) -> Vec<(HistoryId, Judgement)> {
        let mut all: Vec<_> = self.canonical.iter().map(|(id, it)| (*id, *it)).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// Canonical histories that are violated.
    #[must_use]
    pub fn violated(&self) -> usize {
        self.count(Judgement::Violated)
    }

    /// Canonical histories about which nobody found out.
    #[must_use]
    pub fn unknown(&self) -> usize {
        self.count(Judgement::Unknown)
    }

    /// Different histories, by the order of their calls and returns, that are complete and violated. This is what DS2 counts, who
    /// does not look at others.
    #[must_use]
    pub fn unique_complete_violated(&self) -> usize {
        let violated =
            |id: &&HistoryId| self.complete.contains(id) && self.canonical[id] == Judgement::Violated;
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

    /// How much was seen, if nothing broke off.
    #[must_use]
    pub fn coverage(&mut self, execution: &Execution) -> Coverage {
        match execution.bad_handler() {
            Some(bad_handler) => self.record_bad_handler(bad_handler),
            None if self.cut != 0 => Coverage::Limited(Limit::Cut(self.cut)),
            None if self.is_bounded => Coverage::Limited(Limit::Bound),
            None => Coverage::Exhausted,
        }
    }

    /// A handler is not pure: what was seen says little.
    pub(crate) fn record_bad_handler(&mut self, bad_handler: &BadHandler) -> Coverage {
        self.bad_handler = Some(bad_handler.clone());
        Coverage::Limited(Limit::Other(bad_handler.to_string()))
    }

    fn count(&self, judgement: Judgement) -> usize {
        self.canonical.values().filter(|it| **it == judgement).count()
    }

    fn check_limits(&mut self, execution: &Execution) -> Flow {
        if let Some(bad_handler) = execution.bad_handler() {
            return ControlFlow::Break(self.record_bad_handler(bad_handler));
        }
        if self.schedules + self.cut == self.schedules_max {
            return ControlFlow::Break(Coverage::Limited(Limit::Schedules(self.schedules_max)));
        }
        self.steps += execution.events().len() as u64;
        self.unreported += 1;
        // To ask the system how much memory there is takes about as long as an execution; and so does it to count where others do.
        let limit = match self.executions() % BUDGET_CHECK_INTERVAL_EXECUTIONS {
            0 => {
                self.report_to_budget();
                self.budget.allow(self.schedules).err()
            }
            _ => self.budget.stopped(),
        };
        limit.map_or(ControlFlow::Continue(()), |it| ControlFlow::Break(Coverage::Limited(Limit::Budget(it))))
    }

    fn count_history(&mut self, execution: &Execution, id: HistoryId, chronicle: &[HistoryEvent]) -> Flow {
        let is_complete = execution.engine().summary(id).is_complete();
        // Most were seen before.
        if !self.chronological.contains_key(chronicle) {
            self.chronological.insert(chronicle.to_vec(), id);
            self.complete_unique += u64::from(is_complete);
        }
        if self.canonical.contains_key(&id) {
            return ControlFlow::Continue(());
        }
        let judgement = self.judge(execution, id);
        self.canonical.insert(id, judgement);
        if is_complete {
            self.complete.insert(id);
            if judgement == Judgement::Violated {
                self.before_violated.get_or_insert(self.complete_unique - 1);
            }
        }
        if judgement != Judgement::Violated {
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

    fn judge(&mut self, execution: &Execution, id: HistoryId) -> Judgement {
        let Some(verdicts) = &mut self.verdicts else { return Judgement::Unknown };
        let begun = Instant::now();
        let judgement = verdicts.of(&lock(&execution.engine().shared.histories), id);
        self.judging += begun.elapsed();
        judgement
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
