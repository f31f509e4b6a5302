//! Quasi linearizability by places: how a whole recording is judged so, and the report on it.

use std::{
    fmt::Write as _,
    io::{self, Read},
    time::Instant,
};

use clewline_check::relaxed::QuasiWitness;
use clewline_core::{Case, Explanation, OperationId, Verdict};
use clewline_report::render::{
    WitnessShown,
    text::{Paint, Style, painted},
};
use serde_json::{Value as Json, json};

use super::{Check, Patient, Reading, Report};
use crate::{
    error::Error,
    limits::Timer,
    relaxed::{self, Plan, Quasi, Told, judge_recording},
};

impl Check {
    /// Reads all, and judges it as `quasi` says.
    pub(crate) fn judge_quasi(
        &self,
        name: &str,
        input: impl Read,
        specification: &str,
        (quasi, plan): (&Quasi, &Plan),
    ) -> Result<Report<'static>, Error> {
        let begun = Instant::now();
        let options = self.options();
        let _timer = Timer::start(self.timeout(), &options.budget)?;
        let recording = match self.read(name, Patient { input, budget: &options.budget }, &options.budget)? {
            Reading::Whole(recording) => *recording,
            Reading::Stopped(reason) => {
                let told = Some(Told::new(quasi, quasi.reading(specification)?));
                let report = self.report(name, specification, begun, self.not_judged(reason));
                return Ok(Report { quasi: told, ..report });
            }
        };
        let (spec, relaxed::Judged { case, judgement, told }) =
            judge_recording(name, recording, specification, (quasi, plan), &options)?;
        Ok(Report { quasi: Some(told), ..self.report(name, &spec, begun, (case, judgement)) })
    }
}

/// The first line of a report in the displacement reading.
pub(crate) fn headline(report: &Report<'_>, told: &Told, paint: Paint) -> String {
    let factors = told.quasi.factors();
    let quasi = told.least.map_or_else(|| factors.clone(), |it| factors.answered(it));
    let (name, spec) = (&report.name, &report.spec);
    let word = painted(report.verdict().word(), paint);
    match report.verdict() {
        Verdict::Holds(_) => format!("{word}: {name} is quasi linearizable as a {spec} with {quasi}"),
        Verdict::Violated(_) => format!("{word}: {name} is not quasi linearizable as a {spec} with {quasi}"),
        Verdict::Unknown(reason) => {
            format!("{word}: whether {name} is quasi linearizable as a {spec} with {quasi}: {reason}")
        }
    }
}

/// The whole report in the displacement reading.
pub(crate) fn text(report: &Report<'_>, told: &Told, style: &Style<'_>) -> String {
    let mut text = headline(report, told, style.paint);
    text.push('\n');
    for line in told.why.iter().cloned().chain(told.about_least(report.verdict())) {
        let _infallible = write!(text, "\n  {line}\n");
    }
    if style.witness == WitnessShown::Whole {
        told.witnesses.iter().for_each(|it| text.push_str(&orders(report.case(), it)));
    }
    let operations = report.operations();
    let _infallible = write!(text, "\nchecked by {} ({operations} operations)\n", report.algorithm());
    for command in style.next {
        let _infallible = writeln!(text, "next: {command}");
    }
    text
}

/// Both orders of a witness, and who is out of place.
fn orders(case: &dyn Case, witness: &QuasiWitness) -> String {
    let labels = |order: &[OperationId]| -> String {
        order.iter().map(|&it| case.label(it)).collect::<Vec<_>>().join(", ")
    };
    let displaced = witness.displacement.iter().filter(|it| it.1 != 0);
    let displaced: Vec<String> = displaced.map(|&(it, by)| format!("{} by {by:+}", case.label(it))).collect();
    let displaced = if displaced.is_empty() { "nobody".to_owned() } else { displaced.join(", ") };
    format!(
        "\n  Real time allows: {}\n  The specification allows: {}\n  Out of place: {displaced}\n",
        labels(&witness.sequentialization),
        labels(&witness.legal),
    )
}

/// Writes the report for programs in the displacement reading. The fields come in the order of other reports.
pub(crate) fn write_json(
    report: &Report<'_>,
    told: &Told,
    witness: WitnessShown,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let ids = |order: &[OperationId]| -> Json { order.iter().map(|it| it.index()).collect() };
    let all = |order: fn(&QuasiWitness) -> &[OperationId]| -> Json {
        told.witnesses.iter().flat_map(order).map(|it| it.index()).collect()
    };
    write!(out, "{{\"file\":{}", Json::from(report.name.as_str()))?;
    write!(out, ",\"verdict\":{}", Json::from(report.verdict().word()))?;
    write!(out, ",\"operations\":{},\"objects\":{}", report.operations(), report.objects())?;
    write!(out, ",\"algorithm\":{}", Json::from(report.algorithm()))?;
    write!(out, ",\"elapsed_ms\":{}", report.elapsed().as_millis())?;
    match report.verdict() {
        Verdict::Holds(_) if witness == WitnessShown::Whole => {
            write!(out, ",\"witness\":{}", all(|it| &it.sequentialization))?;
            write!(out, ",\"legal\":{}", all(|it| &it.legal))?;
            let displacement: Vec<Json> = told
                .witnesses
                .iter()
                .flat_map(|it| &it.displacement)
                .map(|(id, by)| json!([id.index(), by]))
                .collect();
            write!(out, ",\"displacement\":{}", Json::from(displacement))?;
        }
        Verdict::Holds(_) => (),
        Verdict::Violated(violation) => {
            let why = told.why.clone().or_else(|| told.about_least(report.verdict()));
            let mut explanation = json!({ "core": ids(&violation.core), "minimal": false, "text": why });
            if let Explanation::Exhausted { next, .. } = &violation.explanation {
                explanation["operation"] = next.index().into();
            }
            write!(out, ",\"explanation\":{explanation}")?;
        }
        Verdict::Unknown(reason) => write!(out, ",\"reason\":{}", Json::from(reason.to_string()))?,
    }
    writeln!(out, ",\"quasi\":{}}}", told.json())
}
