//! The outcome of a check as a page, as a picture, for programs, and as an entry of a summary.

use clewline_check::relaxed::QuasiWitness;
use clewline_core::{Explanation, OperationId, Verdict};
use clewline_report::render::{
    Present, Publish, WitnessShown,
    block::words,
    html::{Page, PageCounterexample},
    json::{self, Object, start},
    summary::SummaryEntry,
    svg::{self, Ground},
};
use serde_json::{Value as Json, json};

use super::outcome::Report;
use crate::{
    page::page_of,
    relaxed::{Factor, QuasiEvidence},
};

impl Publish for Report<'_> {
    fn page(&self) -> Page {
        let mut page = page_of(&self.judged());
        page.headline = self.headline();
        if self.displaced().is_some() {
            // Then there is neither a small counterexample nor a single witness.
            (page.words, page.counterexample, page.paths) =
                (Vec::new(), PageCounterexample::default(), Vec::new());
        }
        page.words.extend(words(&self.about_factors().collect::<Vec<_>>()));
        page
    }

    fn json(&self, witness: WitnessShown) -> Object {
        let Some(evidence) = &self.quasi else { return json::report(&self.judged(), witness) };
        let mut report = match self.displaced() {
            Some(evidence) => placed(self, evidence, witness),
            None => json::report(&self.judged(), witness),
        };
        report.add("quasi", factors(evidence));
        report
    }

    fn row(&self) -> SummaryEntry {
        SummaryEntry { headline: self.headline(), ..self.judged().row() }
    }
}

impl Report<'_> {
    /// The counterexample, as a standalone picture.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::counterexample(&self.judged(), Ground::Paper).svg
    }
}

/// The report for programs in the displacement reading. The fields have the order of other reports.
fn placed(report: &Report<'_>, evidence: &QuasiEvidence, witness: WitnessShown) -> Object {
    let ids = |order: &[OperationId]| -> Json { order.iter().map(|it| it.index()).collect() };
    let all = |order: fn(&QuasiWitness) -> &[OperationId]| -> Json {
        evidence.witnesses.iter().flat_map(order).map(|it| it.index()).collect()
    };
    let mut object = start(&report.judged());
    match report.verdict() {
        Verdict::Holds(_) if witness == WitnessShown::Whole => {
            object.add("witness", all(|it| &it.sequentialization));
            object.add("legal", all(|it| &it.legal));
            let displaced = evidence.witnesses.iter().flat_map(|it| &it.displacement);
            object.add("displacement", displaced.map(|(id, by)| json!([id.index(), by])).collect::<Json>());
        }
        Verdict::Holds(_) => (),
        Verdict::Violated(violation) => {
            let why = evidence.why.clone().or_else(|| evidence.about_least(report.verdict()));
            let mut explanation = json!({
                "counterexample": ids(&violation.counterexample),
                "minimal": false,
                "text": why,
            });
            if let Explanation::Exhausted { next, .. } = &violation.explanation {
                explanation["operation"] = next.index().into();
            }
            object.add("explanation", explanation);
        }
        Verdict::Unknown(reason) => object.add("reason", reason.to_string()),
    }
    object
}

/// The fields of a report for programs.
fn factors(evidence: &QuasiEvidence) -> Json {
    let factor = |(class, factor): &(String, Factor)| match factor {
        Factor::AtMost(most) => (class.clone(), Json::from(*most)),
        Factor::Asked => (class.clone(), Json::from("?")),
    };
    let factors: serde_json::Map<String, Json> =
        evidence.quasi.factors().classes().iter().map(factor).collect();
    let mut object = json!({ "reading": evidence.reading.name(), "factors": factors });
    if evidence.asked().is_some() {
        object["least"] = evidence.least.map_or(Json::Null, Into::into);
        object["at_least"] = evidence.least.unwrap_or(evidence.at_least).into();
    }
    object
}
