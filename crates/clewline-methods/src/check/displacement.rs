//! Quasi linearizability by displacement: how a whole recording is checked, and its report.

use std::{io::Read, time::Instant};

use clewline_check::{limits::Timer, relaxed::QuasiWitness};
use clewline_core::{ErasedHistory, OperationId, Verdict};
use clewline_report::render::block::Block;

use super::{ReadResult, WaitingReader, builder::Check, outcome::Report};
use crate::{
    error::Error,
    relaxed::{self, Plan, Quasi, QuasiEvidence, judge_recording},
};

impl Check {
    /// Reads all, and checks it with `quasi`.
    pub(crate) fn judge_quasi(
        &self,
        name: &str,
        input: impl Read,
        specification: &str,
        (quasi, plan): (&Quasi, &Plan),
    ) -> Result<Report<'static>, Error> {
        let begun = Instant::now();
        let options = self.options();
        let _timer = Timer::start(self.settings.timeout, &options.budget)?;
        let recording =
            match self.read(name, WaitingReader { input, budget: &options.budget }, &options.budget)? {
                ReadResult::Whole(recording) => *recording,
                ReadResult::Stopped(reason) => {
                    let evidence = Some(QuasiEvidence::new(quasi, quasi.reading(specification)?));
                    let report = self.report(name, specification, begun, self.not_judged(reason));
                    return Ok(Report { quasi: evidence, ..report });
                }
            };
        let (spec, relaxed::Judged { case, judgement, evidence }) =
            judge_recording(name, recording, specification, (quasi, plan), &options)?;
        Ok(Report { quasi: Some(evidence), ..self.report(name, &spec, begun, (case, judgement)) })
    }
}

/// The text after the verdict's word in the displacement reading.
pub(crate) fn headline(report: &Report<'_>, evidence: &QuasiEvidence) -> String {
    let factors = evidence.quasi.factors();
    let quasi = evidence.least.map_or_else(|| factors.clone(), |it| factors.with_factor(it));
    let (name, spec) = (&report.name, &report.spec);
    match report.verdict() {
        Verdict::Holds(_) => format!("{name} is quasi linearizable as a {spec} with {quasi}"),
        Verdict::Violated(_) => format!("{name} is not quasi linearizable as a {spec} with {quasi}"),
        Verdict::Unknown(reason) => {
            format!("whether {name} is quasi linearizable as a {spec} with {quasi}: {reason}")
        }
    }
}

/// Both orders of each witness, and the displaced operations.
pub(crate) fn orders(report: &Report<'_>, evidence: &QuasiEvidence) -> Vec<Block> {
    evidence.witnesses.iter().map(|it| Block::List(both_orders(report.case(), it).to_vec())).collect()
}

fn both_orders(case: &dyn ErasedHistory, witness: &QuasiWitness) -> [String; 3] {
    let labels = |order: &[OperationId]| -> String {
        order.iter().map(|&it| case.label(it)).collect::<Vec<_>>().join(", ")
    };
    let displaced = witness.displacement.iter().filter(|it| it.1 != 0);
    let displaced: Vec<String> = displaced.map(|&(it, by)| format!("{} by {by:+}", case.label(it))).collect();
    let displaced = if displaced.is_empty() { "nothing".to_owned() } else { displaced.join(", ") };
    [
        format!("Real time allows: {}", labels(&witness.sequentialization)),
        format!("The specification allows: {}", labels(&witness.legal)),
        format!("Out of place: {displaced}"),
    ]
}
