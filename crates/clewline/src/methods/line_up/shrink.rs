//! Smaller matrices that fail as well.

use clewline_core::{Cause, Misfit};
use clewline_threads::Explorable;

use super::{Checked, Judging, Matrix, Options, check};
use crate::methods::round_up::WellFormed;

/// See [`shrink`](super::shrink).
pub(super) fn shrink(
    subject: &dyn Explorable,
    mut checked: Checked,
    options: &Options,
) -> Result<Checked, Misfit> {
    let cause = checked.finding().map(|it| it.cause);
    while let Some(smaller) = first_that_fails(subject, smaller(&checked.matrix, options), options, cause)? {
        checked = smaller;
    }
    // With as few preemptions as will do.
    if let Some(most) = options.settings.preemptions {
        for preemptions in 0..most {
            let mut fewer = options.clone();
            fewer.settings.preemptions = Some(preemptions);
            let again = check(subject, &checked.matrix, &fewer)?;
            if again.finding().map(|it| it.cause) == cause {
                return Ok(again);
            }
        }
    }
    Ok(checked)
}

/// The next smaller matrices. Where as much must be taken out as is put in, two calls go at a time.
fn smaller(matrix: &Matrix, options: &Options) -> Vec<Matrix> {
    let smaller = matrix.smaller();
    match &options.judging {
        Judging::Displaced(_, WellFormed::Required(roles)) => {
            let pairs = smaller.iter().flat_map(Matrix::smaller);
            let mut all: Vec<Matrix> = smaller.iter().cloned().chain(pairs).collect();
            all.retain(|it| roles.check(it).is_ok());
            all
        }
        Judging::Displaced(_, WellFormed::Whatever) | Judging::Linearizable | Judging::LeastRelaxed(_) => {
            smaller
        }
    }
}

fn first_that_fails(
    subject: &dyn Explorable,
    matrices: Vec<Matrix>,
    options: &Options,
    cause: Option<Cause>,
) -> Result<Option<Checked>, Misfit> {
    for matrix in matrices {
        let checked = check(subject, &matrix, options)?;
        // Another fault is another story.
        if cause.is_some() && checked.finding().map(|it| it.cause) == cause {
            return Ok(Some(checked));
        }
    }
    Ok(None)
}
