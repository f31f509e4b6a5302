//! Many matrices, on all cores.

use std::ops::ControlFlow;

use clewline_core::{CodecError, is_interrupted, parallel};
use clewline_matrix::{Explorable, Matrix};

use super::{check, finding::Checked, options::LineUpOptions};

/// Checks each matrix, on `jobs` threads, and passes the results to `visit` in the order of the
/// matrices, until it breaks or the process is interrupted. The results do not depend on the number
/// of threads.
///
/// # Errors
///
/// If a matrix has a call that the subject does not know.
pub fn check_all(
    subject: &dyn Explorable,
    matrices: &mut dyn Iterator<Item = Matrix>,
    options: &LineUpOptions,
    jobs: usize,
    visit: &mut dyn FnMut(Checked) -> ControlFlow<()>,
) -> Result<(), CodecError> {
    // No matrix is made before a thread is free for it: `matrices` may end when time is up. One job
    // stays on this thread, and checks one after the other: subjects that need a process of their
    // own rely on that.
    let flow = parallel::map_in_order(
        jobs,
        0,
        matrices.take_while(|_| !is_interrupted()),
        |matrix| check(subject, &matrix, options),
        |checked| match checked {
            Ok(checked) => visit(checked).map_break(Ok),
            Err(error) => ControlFlow::Break(Err(error)),
        },
    );
    flow.break_value().unwrap_or(Ok(()))
}
