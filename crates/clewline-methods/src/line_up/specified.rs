//! A specification in the place of the first phase.

use std::fmt;

use clewline_core::{
    CodecError, ErasedHistory, ErasedSpec, History, Names, ObjectId, OperationId, ProcessId, RawCall,
    Recording, ResultId, Timed, Values, read_label,
};
use clewline_matrix::{TestProgram, method, recording};
use clewline_threads::control::ExecutionOutcome;

use crate::relaxed::{ElementCalls, drained, elements_left};

/// Turns an outcome into a history that can be judged by itself.
pub enum Specified {
    /// The subject's own specification.
    Own,
    /// One from the catalog.
    Named(Box<dyn ErasedSpec>),
}

impl fmt::Debug for Specified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Specified::Own => "Own",
            Specified::Named(_) => "Named",
        })
    }
}

impl Specified {
    /// The specification of that name, if it knows the calls of `program`.
    ///
    /// # Errors
    ///
    /// If there is none, or it does not know a call.
    pub fn named(name: &str, program: &dyn TestProgram) -> Result<Specified, CodecError> {
        let specification = clewline_specs::find(name).map_err(|it| CodecError(it.to_string()))?;
        let mut values = Values::new();
        let mut calls = Vec::new();
        for (at, (_, label)) in program.operations().iter().enumerate() {
            let (method, arg) = read_label(label, &mut values)?;
            let call = RawCall { method: values.text(method), arg };
            // All operations overlap: each is called by its own process, and pending.
            let process = ProcessId::from_index(at);
            calls.push(Timed { process, object: ObjectId(0), call, called: 0, returned: None });
        }
        let history = History::from_operations(calls).expect("each process makes one call");
        let recording = Recording::new(history, values, Names::default());
        specification.load(recording).map_err(|it| it.error)?;
        Ok(Specified::Named(specification))
    }

    /// The history of `outcome`.
    ///
    /// # Errors
    ///
    /// If the specification does not know its calls or results.
    pub fn case(
        &self,
        program: &dyn TestProgram,
        outcome: &ExecutionOutcome<ResultId>,
    ) -> Result<Box<dyn ErasedHistory>, String> {
        match self {
            Specified::Own => program
                .erased_history(outcome)
                .ok_or_else(|| "the subject has no specification of its own".to_owned()),
            Specified::Named(specification) => {
                let recording = recording(program, outcome).map_err(|it| it.to_string())?;
                specification.load(recording).map_err(|it| it.error.to_string())
            }
        }
    }

    /// Whether operation `at` of `outcome`, with its result, has an effect.
    pub(super) fn has_effect(
        &self,
        program: &dyn TestProgram,
        outcome: &ExecutionOutcome<ResultId>,
        at: usize,
    ) -> bool {
        let Ok(case) = self.case(program, outcome) else { return true };
        let called = outcome.operations[..at].iter().filter(|it| it.call.is_some()).count();
        let ids = (0..case.spans().len()).map(OperationId::from_index);
        let id = ids.into_iter().find(|it| case.source(*it) == called);
        let problems = case.problems();
        id.is_none_or(|id| problems.iter().any(|it| clewline_check::has_effect(it, id)))
    }

    /// The same with additional calls that remove the elements left inside.
    ///
    /// # Errors
    ///
    /// As [`case`](Self::case).
    pub fn drained(
        &self,
        program: &dyn TestProgram,
        outcome: &ExecutionOutcome<ResultId>,
        roles: &ElementCalls,
    ) -> Result<Box<dyn ErasedHistory>, String> {
        match self {
            Specified::Own => self.case(program, outcome),
            Specified::Named(specification) => {
                let recording = recording(program, outcome).map_err(|it| it.to_string())?;
                specification.load(drained(recording, roles)).map_err(|it| it.error.to_string())
            }
        }
    }
}

/// Additional calls, each of which would remove an element left inside.
pub(super) fn left_inside(
    program: &dyn TestProgram,
    outcome: &ExecutionOutcome<ResultId>,
    roles: &ElementCalls,
) -> Result<Vec<String>, String> {
    let recording = recording(program, outcome).map_err(|it| it.to_string())?;
    let takes_out = |it: &&(usize, String)| roles.is_remove(method(&it.1));
    // By the name that is called here: there may be several.
    let call = program.operations().iter().find(takes_out).map_or(roles.remove(), |it| &it.1);
    Ok(vec![call.to_owned(); elements_left(&recording, roles)])
}
