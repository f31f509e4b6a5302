//! A matrix that can be run, and what is expected of it.

use std::cell::RefCell;

use clewline_core::CodecError;
use clewline_explore::TaskId;
use clewline_matrix::{Explorable, Matrix, TestProgram};

use super::{
    concurrent::{ConcurrentQuery, Expected},
    drain_cache::DrainCache,
    options::{LineUpOptions, Reference},
    serial::SerialObservations,
    specified::Specified,
};

/// A matrix on a subject, ready to be run.
pub(super) fn program(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
) -> Result<Box<dyn TestProgram>, CodecError> {
    // Initial and final calls need a task each.
    let ends = [&matrix.initial, &matrix.last].into_iter().filter(|it| !it.is_empty()).count();
    if TaskId::MAX < matrix.columns.len() + ends {
        let most = TaskId::MAX - ends;
        return Err(CodecError(format!("expected at most {most} columns, found {}", matrix.columns.len())));
    }
    subject.test_program(&matrix.to_calls(), &options.limits)
}

/// The expected behaviour.
pub(super) enum ExpectedBehaviour {
    Observed(SerialObservations),
    Specified(Specified),
    Anything,
}

impl ExpectedBehaviour {
    pub(super) fn observed(&self) -> Option<&SerialObservations> {
        match self {
            ExpectedBehaviour::Observed(observed) => Some(observed),
            ExpectedBehaviour::Specified(_) | ExpectedBehaviour::Anything => None,
        }
    }

    pub(super) fn asked<'a>(&'a self, matrix: &'a Matrix, options: &'a LineUpOptions) -> ConcurrentQuery<'a> {
        let golden = match self {
            ExpectedBehaviour::Observed(observed) => Expected::Observed(&observed.set, &observed.without),
            ExpectedBehaviour::Specified(specified) => Expected::Specified(specified),
            ExpectedBehaviour::Anything => Expected::Anything,
        };
        let relaxed = match &options.against {
            Reference::Named(name) => name.split(':').next().filter(|it| it.starts_with("quasi-")),
            Reference::Serial
            | Reference::Golden(_)
            | Reference::Specification
            | Reference::Observed(_)
            | Reference::Anything => None,
        };
        let more = DrainCache { matrix, options, seen: RefCell::default() };
        let may_fail = &options.may_fail;
        let (judging, lists_histories) = (&options.judging, options.lists_histories);
        ConcurrentQuery { expected: golden, judging, relaxed, may_fail, more, lists_histories }
    }
}
