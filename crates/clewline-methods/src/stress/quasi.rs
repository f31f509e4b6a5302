//! Runs that may be out of order, and how they are judged.

use clewline_check::{Judgement, Options, Stuck, judge_history, stuck};
use clewline_core::{ErasedHistory, Reason};

use super::{plan::Stress, quasi_request::QuasiRequest};
use crate::relaxed::{self, Plan, QuasiEvidence, QuasiReading, Roles, drained, judge_recording};

/// A run, its verdict, and further evidence.
pub(super) struct JudgedRun {
    pub(super) case: Box<dyn ErasedHistory>,
    pub(super) judgement: Judgement,
    pub(super) evidence: Option<QuasiEvidence>,
}

impl Stress {
    /// Judges a run, and returns the specification used.
    pub(super) fn judge(
        &self,
        case: Box<dyn ErasedHistory>,
        options: &Options,
    ) -> Result<(String, JudgedRun), Reason> {
        let Some(QuasiRequest { quasi, plan, plain }) = &self.quasi else {
            let judgement = judge_history(&*case, options);
            return Ok((self.spec.clone(), JudgedRun { case, judgement, evidence: None }));
        };
        let refused = |why: String| Reason::Refused(why);
        let mut recording = case
            .recording()
            .ok_or_else(|| refused(format!("operations of `{plain}` have no written form")))?;
        if let (Plan::Displacement, Some(roles)) = (plan, Roles::of(plain)) {
            // Runs end with elements inside.
            recording = drained(recording, &roles);
        }
        let (spec, relaxed::Judged { case, judgement, evidence }) =
            judge_recording(&self.name, recording, plain, (quasi, plan), options)
                .map_err(|it| refused(it.to_string()))?;
        Ok((spec, JudgedRun { case, judgement, evidence: Some(evidence) }))
    }

    /// Whether the blocked operations of a run may block.
    pub(super) fn stuck(&self, case: &dyn ErasedHistory, options: &Options) -> Stuck {
        let is_displaced = self.quasi.as_ref().is_some_and(|it| it.reading() == QuasiReading::Displacement);
        let may_wait = |it: &clewline_core::Problem<'_>| {
            (0..it.len()).any(|at| it.spans()[at].is_pending() && it.may_block(at))
        };
        if is_displaced && case.problems().iter().any(may_wait) {
            let why = "an operation blocks, and displacement is not defined for operations that block";
            return Stuck::Unknown(Reason::Refused(why.to_owned()));
        }
        stuck(case.problems(), options)
    }
}
