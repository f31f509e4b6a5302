//! The quasi question of a stress test: how far out of order runs may be, and how they are judged.

use clewline_check::{JudgeOptions, Stuck, stuck};
use clewline_core::{ErasedHistory, Problem, Reason};
use clewline_matrix::well_formed::ElementCalls;
use clewline_report::render::text::shell_word;

use super::{
    drain::drained,
    judge::{JudgedRecording, judge_recording},
    quasi::{Plan, Quasi, QuasiReading},
};
use crate::error::Error;

/// The quasi question asked of every execution, instead of linearizability by the subject's
/// specification.
#[derive(Clone, Debug)]
pub(crate) struct QuasiRequest {
    quasi: Quasi,
    plan: Plan,
    // The specification without relaxation.
    plain: String,
}

impl QuasiRequest {
    pub(crate) fn new(quasi: Quasi, spec: &str) -> Result<QuasiRequest, Error> {
        let plain = ElementCalls::plain(spec).to_owned();
        let plan = quasi.plan(&plain)?;
        Ok(QuasiRequest { quasi, plan, plain })
    }

    /// The name of the specification in reports.
    pub(crate) fn spec(&self) -> String {
        match &self.plan {
            Plan::Relaxed(relaxed) => relaxed.clone(),
            Plan::LeastRelaxed(relaxed) => (*relaxed).to_owned(),
            Plan::Displacement => self.plain.clone(),
        }
    }

    /// The specification for `--quasi`.
    pub(crate) fn plain(&self) -> &str {
        &self.plain
    }

    /// As options of a command: `--quasi deq=2 --reading displacement`.
    pub(crate) fn as_flags(&self) -> String {
        let quasi = self.quasi.to_string();
        match self.quasi.chosen() {
            None => format!("--quasi {}", shell_word(&quasi)),
            Some(reading) => format!("--quasi {} --reading {}", shell_word(&quasi), reading.name()),
        }
    }

    pub(crate) fn quasi(&self) -> &Quasi {
        &self.quasi
    }

    pub(crate) fn reading(&self) -> QuasiReading {
        match self.plan {
            Plan::Relaxed(_) | Plan::LeastRelaxed(_) => QuasiReading::Relaxed,
            Plan::Displacement => QuasiReading::Displacement,
        }
    }

    /// Whether a factor is requested.
    pub(crate) fn is_question(&self) -> bool {
        self.quasi.factors().asked().is_some()
    }

    /// Judges the run `name`, and returns the specification used.
    pub(crate) fn judge(
        &self,
        name: &str,
        case: &dyn ErasedHistory,
        options: &JudgeOptions,
    ) -> Result<(String, JudgedRecording), Reason> {
        let QuasiRequest { quasi, plan, plain } = self;
        let mut recording = case
            .recording()
            .ok_or_else(|| Reason::Refused(format!("operations of `{plain}` have no written form")))?;
        if let (Plan::Displacement, Some(roles)) = (plan, ElementCalls::of(plain)) {
            // Runs end with elements inside.
            recording = drained(recording, &roles);
        }
        judge_recording(name, recording, plain, (quasi, plan), options)
            .map_err(|it| Reason::Refused(it.to_string()))
    }

    /// Whether the blocked operations of a run may block.
    pub(crate) fn stuck(&self, case: &dyn ErasedHistory, options: &JudgeOptions) -> Stuck {
        let may_wait =
            |it: &Problem<'_>| (0..it.len()).any(|at| it.spans()[at].is_pending() && it.may_block(at));
        if self.reading() == QuasiReading::Displacement && case.problems().iter().any(may_wait) {
            let why = "an operation blocks, and displacement is not defined for operations that block";
            return Stuck::Unknown(Reason::Refused(why.to_owned()));
        }
        stuck(case.problems(), options)
    }
}
