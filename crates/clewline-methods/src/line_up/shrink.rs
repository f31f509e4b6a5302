//! Smaller matrices that fail as well.

use std::time::Instant;

use clewline_core::{CodecError, is_interrupted};
use clewline_explore::schedulers::bounded;
use clewline_matrix::{Explorable, Matrix};
use clewline_report::render::Cause;

use super::{check, finding::Checked, options::LineUpOptions};
use crate::relaxed::{Judging, WellFormed};

/// Shrinks a failing matrix: columns and calls are removed while it still fails, and then
/// preemptions, until [`LineUpOptions::shrinking`] is over. `checked` is the result for the whole
/// matrix.
///
/// # Errors
///
/// If the matrix has a call that the subject does not know.
pub fn shrink(
    subject: &dyn Explorable,
    mut checked: Checked,
    options: &LineUpOptions,
) -> Result<Checked, CodecError> {
    let options = &LineUpOptions { lists_histories: false, ..options.clone() };
    let cause = checked.finding().map(|it| it.cause);
    let until = options.shrinking.and_then(|it| Instant::now().checked_add(it));
    while let Some(smaller) = first_that_fails(subject, &checked.matrix, options, until, cause)? {
        checked = smaller;
    }
    // With as few preemptions as possible, whichever scheduler found it.
    let most = checked.finding().filter(|it| !it.is_serial).map_or(0, |it| it.preemptions as u32);
    let mut fewer = LineUpOptions { scheduler: &bounded::ENTRY, ..options.clone() };
    if !options.scheduler.is_exhaustive {
        // There may be too many schedules to try them all, which is why they were drawn.
        fewer.executions_max = fewer.executions_max.min(FEWER_PREEMPTIONS_EXECUTIONS_MAX);
    }
    for preemptions in 0..most {
        if is_late(until) {
            break;
        }
        fewer.settings.bounds.set(&bounded::PREEMPTIONS, Some(preemptions));
        let again = check(subject, &checked.matrix, &fewer)?;
        if again.finding().map(|it| it.cause) == cause {
            return Ok(again);
        }
    }
    Ok(checked)
}

// The maximum number of executions per number of preemptions when a random execution is replaced.
const FEWER_PREEMPTIONS_EXECUTIONS_MAX: u64 = 100_000;

/// The next smaller matrices. Where removes and adds have to balance, two calls are removed at a
/// time.
fn smaller(matrix: &Matrix, options: &LineUpOptions) -> Vec<Matrix> {
    let less = |it: &Matrix| it.smaller(&options.sequences);
    let smaller = less(matrix);
    match &options.judging {
        Judging::Displaced(_, WellFormed::Required(roles)) => {
            let pairs = smaller.iter().flat_map(less);
            let mut all: Vec<Matrix> = smaller.iter().cloned().chain(pairs).collect();
            all.retain(|it| roles.check(it).is_ok());
            all
        }
        Judging::Displaced(_, WellFormed::Whatever) | Judging::Linearizable | Judging::LeastRelaxed(_) => {
            smaller
        }
    }
}

fn is_late(until: Option<Instant>) -> bool {
    is_interrupted() || until.is_some_and(|it| it <= Instant::now())
}

fn first_that_fails(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
    until: Option<Instant>,
    cause: Option<Cause>,
) -> Result<Option<Checked>, CodecError> {
    for matrix in smaller(matrix, options) {
        if is_late(until) {
            break;
        }
        let mut limited = options.clone();
        let left = until.map(|it| it.saturating_duration_since(Instant::now()));
        limited.time = [options.time, left].into_iter().flatten().min();
        let checked = check(subject, &matrix, &limited)?;
        // Another fault is another story.
        if cause.is_some() && checked.finding().map(|it| it.cause) == cause {
            return Ok(Some(checked));
        }
    }
    Ok(None)
}
