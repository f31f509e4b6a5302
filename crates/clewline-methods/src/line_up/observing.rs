//! The first phase alone, for observation files.

use clewline_core::CodecError;
use clewline_matrix::{Explorable, Matrix};

use super::{
    finding::ShownSerialHistory,
    observations::Observations,
    options::LineUpOptions,
    serial::{ResultTexts, observe as first_phase},
};

/// The number of serial histories of a matrix, and why it is incomplete, if it is.
///
/// # Errors
///
/// If the matrix has a call that `golden` does not know.
pub fn count_serial(
    golden: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
) -> Result<(usize, Option<String>), CodecError> {
    let mut program = golden.test_program(&matrix.to_calls(), &options.limits)?;
    let observed = first_phase(&mut *program, &mut ResultTexts::default(), &options.serial_extent());
    Ok((observed.set.full() + observed.set.stuck(), observed.incomplete))
}

/// Runs phase 1 alone.
///
/// # Errors
///
/// If the matrix has a call that the subject does not know, or phase 1 is incomplete.
pub fn observe(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
) -> Result<Observations, CodecError> {
    let mut program = subject.test_program(&matrix.to_calls(), &options.limits)?;
    let mut texts = ResultTexts::default();
    let observed = first_phase(&mut *program, &mut texts, &options.serial_extent());
    if observed.panicked.is_some() {
        return Err(CodecError("a call fails, one call at a time".to_owned()));
    }
    if let Some(why) = observed.incomplete {
        return Err(CodecError(why));
    }
    let serial = |it: clewline_matrix::SerialHistory| ShownSerialHistory {
        complete: it.complete.iter().map(|it| (it.0 as usize, texts[it.1.0].clone())).collect(),
        stuck: it.stuck.map(|it| it as usize),
        wrong_order: None,
    };
    let histories = observed.set.histories().into_iter().map(serial).collect();
    Ok(Observations::new(matrix.clone(), histories))
}
