//! Many matrices, on all cores.

use std::ops::ControlFlow;

use clewline_core::{CodecError, is_interrupted, parallel};
use clewline_matrix::{Explorable, Matrix};

use super::{check, check_on, finding::Checked, options::LineUpOptions};

/// Checks each matrix, on `jobs` threads, and passes the results to `visit` in the order of the
/// matrices, until it breaks or the process is interrupted. A single matrix is divided, and so is
/// each one on a subject in another process. The results do not depend on the number of threads.
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
    let mut matrices = matrices.take_while(|_| !is_interrupted());
    if subject.is_far() {
        for matrix in matrices {
            if visit(check_on(subject, &matrix, options, jobs)?).is_break() {
                break;
            }
        }
        return Ok(());
    }
    let Some(first) = matrices.next() else { return Ok(()) };
    let Some(second) = (if jobs == 1 { None } else { matrices.next() }) else {
        if visit(check_on(subject, &first, options, jobs)?).is_break() {
            return Ok(());
        }
        for matrix in matrices {
            if visit(check(subject, &matrix, options)?).is_break() {
                return Ok(());
            }
        }
        return Ok(());
    };
    // No matrix is made before a thread is free for it: `matrices` may end when time is up. One job
    // stays on this thread, and checks one after the other: subjects that need a process of their
    // own rely on that.
    let flow = parallel::map_in_order(
        jobs,
        0,
        [first, second].into_iter().chain(matrices),
        |matrix| check(subject, &matrix, options),
        |checked| match checked {
            Ok(checked) => visit(checked).map_break(Ok),
            Err(error) => ControlFlow::Break(Err(error)),
        },
    );
    flow.break_value().unwrap_or(Ok(()))
}
