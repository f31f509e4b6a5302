//! How far out of order runs may be.

use clewline_report::render::text::shell_word;

use crate::{
    error::Error,
    relaxed::{Plan, Quasi, QuasiReading, Roles},
};

/// What is asked of every run, if not whether it is linearizable as the subject's specification says.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) quasi: Quasi,
    pub(super) plan: Plan,
    // The specification without relaxation.
    pub(super) plain: String,
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
