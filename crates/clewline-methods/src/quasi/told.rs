//! What a report tells about quasi linearizability besides the verdict.

use std::{fmt::Write as _, io};

use clewline_check::quasi::QuasiWitness;
use clewline_core::{Case, Explanation, OperationId, Verdict};
use clewline_report::render::{
    WitnessShown,
    text::{Paint, Style, painted},
};
use serde_json::{Value as Json, json};

use super::{Factor, Quasi, QuasiReading};
use crate::Report;

/// How a history was judged, and what was found out besides the verdict.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) quasi: Quasi,
    pub(crate) reading: QuasiReading,
    // The least factor, if it was asked for and there is one.
    pub(crate) least: Option<u32>,
    // All factors below are violated.
    pub(crate) at_least: u32,
    // In the displacement reading: what is out of place at best.
    pub(crate) why: Option<String>,
    // In the displacement reading: two orders for each object.
    pub(crate) witnesses: Vec<QuasiWitness>,
}

impl Told {
    pub(crate) fn new(quasi: &Quasi, reading: QuasiReading) -> Told {
        Told { quasi: quasi.clone(), reading, least: None, at_least: 0, why: None, witnesses: Vec::new() }
    }

    /// The class whose factor was asked for.
    fn asked(&self) -> Option<&str> {
        self.quasi.factors().asked().map(|it| it.1)
    }

    /// What was found out about the factor that was asked for: `The least quasi factor is deq=3: deq=2 is violated.`
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

    /// The fields of a report for programs.
    pub(crate) fn json(&self) -> Json {
        let factor = |(class, factor): &(String, Factor)| match factor {
            Factor::AtMost(most) => (class.clone(), Json::from(*most)),
            Factor::Asked => (class.clone(), Json::from("?")),
        };
        let factors: serde_json::Map<String, Json> =
            self.quasi.factors().classes().iter().map(factor).collect();
        let mut told = json!({ "reading": self.reading.name(), "factors": factors });
        if self.asked().is_some() {
            told["least"] = self.least.map_or(Json::Null, Into::into);
            told["at_least"] = self.least.unwrap_or(self.at_least).into();
        }
        told
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
