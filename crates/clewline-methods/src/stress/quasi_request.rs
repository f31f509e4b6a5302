//! How far out of order executions may be.

use clewline_report::render::text::shell_word;

use crate::{
    error::Error,
    relaxed::{Plan, Quasi, QuasiReading, Roles},
};

/// The quasi question asked of every execution, instead of linearizability by the subject's
/// specification.
#[derive(Clone, Debug)]
pub(super) struct QuasiRequest {
    pub(super) quasi: Quasi,
    pub(super) plan: Plan,
    // The specification without relaxation.
    pub(super) plain: String,
}

impl QuasiRequest {
    pub(super) fn new(quasi: Quasi, spec: &str) -> Result<QuasiRequest, Error> {
        let plain = Roles::plain(spec).to_owned();
        let plan = quasi.plan(&plain)?;
        Ok(QuasiRequest { quasi, plan, plain })
    }

    /// The name of the specification in reports.
    pub(super) fn spec(&self) -> String {
        match &self.plan {
            Plan::Relaxed(relaxed) => relaxed.clone(),
            Plan::LeastRelaxed(relaxed) => (*relaxed).to_owned(),
            Plan::Displacement => self.plain.clone(),
        }
    }

    /// The specification for `--quasi`.
    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// As options of a command: `--quasi deq=2 --reading displacement`.
    pub(super) fn as_flags(&self) -> String {
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

    /// Whether a factor is requested.
    pub(super) fn is_question(&self) -> bool {
        self.quasi.factors().asked().is_some()
    }
}
