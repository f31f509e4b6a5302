//! Runs that may be out of order: what is asked of them, and how they are judged.

use clewline_check::{Judgement, Options, Stuck, judge, stuck};
use clewline_core::{Case, Reason};
use clewline_report::render::text::shell_word;

use super::Stress;
use crate::{
    Error, Quasi, QuasiReading,
    relaxed::{self, Plan, Told, judge_recording},
    relaxed::{Roles, drained},
};

/// What is asked of every run, if not whether it is linearizable as the subject's specification says.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    quasi: Quasi,
    plan: Plan,
    // The specification without relaxation.
    plain: String,
}

impl Asked {
    pub(super) fn new(quasi: Quasi, spec: &str) -> Result<Asked, Error> {
        let plain = Roles::plain(spec).to_owned();
        let plan = quasi.plan(&plain)?;
        Ok(Asked { quasi, plan, plain })
    }

    /// What reports call the specification.
    pub(super) fn spec(&self) -> String {
        match &self.plan {
            Plan::Relaxed(relaxed) => relaxed.clone(),
            Plan::LeastRelaxed(relaxed) => (*relaxed).to_owned(),
            Plan::Displacement => self.plain.clone(),
        }
    }

    /// The specification that `--quasi` is said of.
    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// As options of a command: `--quasi deq=2 --reading displacement`.
    pub(super) fn typed(&self) -> String {
        let quasi = self.quasi.to_string();
        match self.quasi.chosen() {
            None => format!("--quasi {}", shell_word(&quasi)),
            Some(reading) => format!("--quasi {} --reading {}", shell_word(&quasi), reading.name()),
        }
    }

    pub(super) fn quasi(&self) -> &Quasi {
        &self.quasi
    }

    pub(super) fn reading(&self) -> QuasiReading {
        match self.plan {
            Plan::Relaxed(_) | Plan::LeastRelaxed(_) => QuasiReading::Relaxed,
            Plan::Displacement => QuasiReading::Displacement,
        }
    }

    /// Whether a factor is asked for.
    pub(super) fn is_question(&self) -> bool {
        self.quasi.factors().asked().is_some()
    }
}

/// A run, how it was judged, and what else was found out.
pub(super) struct Judged {
    pub(super) case: Box<dyn Case>,
    pub(super) judgement: Judgement,
    pub(super) told: Option<Told>,
}

impl Stress {
    /// Judges a run, and answers by which specification.
    pub(super) fn judge(&self, case: Box<dyn Case>, options: &Options) -> Result<(String, Judged), Reason> {
        let Some(Asked { quasi, plan, plain }) = &self.quasi else {
            let judgement = judge(case.problems(), options);
            return Ok((self.spec.clone(), Judged { case, judgement, told: None }));
        };
        let refused = |why: String| Reason::Refused(why);
        let mut recording =
            case.recording().ok_or_else(|| refused(format!("nobody says how `{plain}` is written")))?;
        if let (Plan::Displacement, Some(roles)) = (plan, Roles::of(plain)) {
            // Runs end with something inside.
            recording = drained(recording, &roles);
        }
        let (spec, relaxed::Judged { case, judgement, told }) =
            judge_recording(&self.name, recording, plain, (quasi, plan), options)
                .map_err(|it| refused(it.to_string()))?;
        Ok((spec, Judged { case, judgement, told: Some(told) }))
    }

    /// Whether those may wait that wait for ever in a run.
    pub(super) fn stuck(&self, case: &dyn Case, options: &Options) -> Stuck {
        let is_displaced = self.quasi.as_ref().is_some_and(|it| it.reading() == QuasiReading::Displacement);
        let may_wait = |it: &clewline_core::Problem<'_>| {
            (0..it.len()).any(|at| it.spans()[at].is_pending() && it.may_block(at))
        };
        if is_displaced && case.problems().iter().any(may_wait) {
            let why = "an operation waits for ever, and nobody has said how far out of place that may be";
            return Stuck::Unknown(Reason::Refused(why.to_owned()));
        }
        stuck(case.problems(), options)
    }
}
