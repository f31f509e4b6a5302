//! Type-erased systems: those of a table, with their calls.

use std::fmt;

use clewline_actors::{CallOf, Harness, SampledSchedules, Scenario, Token};
use clewline_core::Codec;
use clewline_explore::Coverage;

use crate::{
    options::{ExploreOptions, ExploreProgress},
    outcome::{ExploreError, ExploreOutcome, Metrics},
    run,
    staged::{DynHarness, OperationFormat, StagedScenario},
};

/// A type-erased actor system with its calls.
pub struct ErasedHarness(Box<dyn DynHarness>);

impl fmt::Debug for ErasedHarness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ErasedHarness").field(&self.0.program()).finish()
    }
}

impl ErasedHarness {
    /// `harness` with these calls.
    #[must_use]
    pub fn new<H>(harness: H, scenario: Scenario<CallOf<H>>) -> ErasedHarness
    where
        H: Harness<Specification: Codec> + 'static,
    {
        ErasedHarness(StagedScenario::boxed(harness, scenario, OperationFormat::noted()))
    }
}

/// Explores a system.
///
/// # Errors
///
/// If the calls do not fit it.
pub fn explore(
    harness: &ErasedHarness,
    options: &ExploreOptions,
    progress: &ExploreProgress,
) -> Result<ExploreOutcome, ExploreError> {
    run::run(&*harness.0, options, progress)
}

/// Counts states and histories of a system, without inspecting them.
///
/// # Errors
///
/// If the calls do not fit it.
pub fn count(harness: &ErasedHarness, options: &ExploreOptions) -> Result<(Metrics, Coverage), ExploreError> {
    let seen = run::count(&*harness.0, options)?;
    Ok((seen.metrics, seen.coverage))
}

/// What the [part](ExploreOptions::part) of the schedules shows that a random scheduler draws, with
/// all faults allowed; `None` if the scheduler does not number its schedules.
///
/// # Errors
///
/// If the calls do not fit the system, or a handler is at fault.
pub fn sample(
    harness: &ErasedHarness,
    options: &ExploreOptions,
    progress: &ExploreProgress,
) -> Result<Option<SampledSchedules>, ExploreError> {
    run::sample(&*harness.0, options, progress)
}

/// Goes along one schedule of a system.
///
/// # Errors
///
/// If the calls, or the schedule, do not fit it.
pub fn replay(
    harness: &ErasedHarness,
    options: &ExploreOptions,
    token: &Token,
) -> Result<ExploreOutcome, ExploreError> {
    run::replay(&*harness.0, options, token)
}
