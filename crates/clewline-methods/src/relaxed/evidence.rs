//! The evidence about quasi linearizability in a report.

use super::quasi::{Quasi, QuasiReading};
use clewline_check::relaxed::QuasiWitness;
use clewline_core::Verdict;

/// How a history was judged, and the evidence besides the verdict.
#[derive(Clone, Debug)]
pub(crate) struct QuasiEvidence {
    pub(crate) quasi: Quasi,
    pub(crate) reading: QuasiReading,
    // The least factor, if it was requested and exists.
    pub(crate) least: Option<u32>,
    // All factors below are violated.
    pub(crate) at_least: u32,
    // In the displacement reading: the operations displaced in the best order.
    pub(crate) why: Option<String>,
    // In the displacement reading: two orders for each object.
    pub(crate) witnesses: Vec<QuasiWitness>,
}

impl QuasiEvidence {
    pub(crate) fn new(quasi: &Quasi, reading: QuasiReading) -> QuasiEvidence {
        QuasiEvidence {
            quasi: quasi.clone(),
            reading,
            least: None,
            at_least: 0,
            why: None,
            witnesses: Vec::new(),
        }
    }

    /// The class whose factor was requested.
    pub(crate) fn asked(&self) -> Option<&str> {
        self.quasi.factors().asked().map(|it| it.1)
    }

    /// The sentence about the requested factor: `The least quasi factor is deq=3: deq=2 is
    /// violated.`
    pub(crate) fn about_least(&self, verdict: &Verdict) -> Option<String> {
        let class = self.asked()?;
        Some(match (self.least, verdict) {
            (Some(0), _) => format!("The least quasi factor is {class}=0: nothing is out of order."),
            (Some(least), _) => {
                format!("The least quasi factor is {class}={least}: {class}={} is violated.", least - 1)
            }
            (None, Verdict::Violated(_)) => format!("No quasi factor of {class} is enough."),
            (None, Verdict::Unknown(_) | Verdict::Holds(_)) if 0 < self.at_least => {
                format!("The least quasi factor of {class} is not known; it is at least {}.", self.at_least)
            }
            (None, Verdict::Unknown(_) | Verdict::Holds(_)) => {
                format!("The least quasi factor of {class} is not known.")
            }
        })
    }
}
