//! Many matrices, on all cores.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use clewline_core::Misfit;
use clewline_threads::Explorable;

use super::{Checked, Matrix, Options, check};

/// Checks each matrix, on `jobs` threads, and hands what was found to `visit` in the order of the matrices, until it breaks.
/// What it sees does not depend on the number of threads.
///
/// # Errors
///
/// If a matrix has a call that the subject does not know.
pub fn check_all(
    subject: &dyn Explorable,
    matrices: impl Iterator<Item = Matrix> + Send,
    options: &Options,
    jobs: usize,
    mut visit: impl FnMut(Checked) -> ControlFlow<()>,
) -> Result<(), Misfit> {
    if jobs <= 1 {
        // On this thread, and one after the other: subjects that are alone in their process need that.
        for matrix in matrices {
            if visit(check(subject, &matrix, options)?).is_break() {
                break;
            }
        }
        return Ok(());
    }
    let (matrices, is_over) = (Mutex::new(matrices.enumerate()), AtomicBool::new(false));
    // A matrix that takes long must not let the others run too far ahead.
    let (found, results) = mpsc::sync_channel(4 * jobs.max(1));
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let (matrices, is_over, found) = (&matrices, &is_over, found.clone());
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let next = matrices.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((number, matrix)) = next else { break };
                    // Nobody listens any more once enough was seen.
                    if found.send((number, check(subject, &matrix, options))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(found);
        let seen = in_order(&results, &mut visit);
        is_over.store(true, Ordering::Relaxed);
        drop(results);
        seen
    })
}

fn in_order(
    results: &mpsc::Receiver<(usize, Result<Checked, Misfit>)>,
    visit: &mut impl FnMut(Checked) -> ControlFlow<()>,
) -> Result<(), Misfit> {
    let (mut early, mut next) = (BTreeMap::new(), 0);
    for (number, checked) in results {
        early.insert(number, checked);
        while let Some(checked) = early.remove(&next) {
            next += 1;
            if visit(checked?).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
