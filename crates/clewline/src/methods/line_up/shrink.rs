//! Smaller matrices that fail as well.

use clewline_core::{Cause, Misfit};
use clewline_threads::Explorable;

use super::{Checked, Matrix, Options, check};

/// See [`shrink`](super::shrink).
pub(super) fn shrink(
    subject: &dyn Explorable,
    mut checked: Checked,
    options: &Options,
) -> Result<Checked, Misfit> {
    let cause = checked.finding().map(|it| it.cause);
    while let Some(smaller) = first_that_fails(subject, checked.matrix.smaller(), options, cause)? {
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
