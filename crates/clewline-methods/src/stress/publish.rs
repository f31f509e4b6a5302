//! The outcome of a stress test as a page, as a picture, for programs, and as an entry of a
//! summary.

use clewline_report::render::{
    Present, Publish, WitnessShown,
    block::words,
    html::{Page, PageCounterexample},
    json::Object,
    publish::{plain_page, plain_row},
    summary::SummaryEntry,
};
use serde_json::{Map, Value as Json, json};

use super::{
    outcome::{RunFailure, Saved, Shrinking, StressFinding, StressOutcome},
    role::ThreadRole,
    text,
};

impl Publish for StressOutcome {
    /// The page shows the execution of the finding; others are not kept.
    fn page(&self) -> Page {
        let Some(finding) = self.shown() else { return plain_page(self) };
        let mut page = finding.report.page();
        page.title = format!("violated: {}", self.subject);
        page.verdict = "violated";
        page.headline = self.headline();
        let ended = words(&text::failure_blocks(self, finding));
        match &finding.failure {
            RunFailure::NotLinearizable(_) => page.words.extend(ended),
            RunFailure::Stuck(..) | RunFailure::Panicked(_) => {
                (page.words, page.counterexample, page.picture) = (ended, pending(finding), None);
            }
        }
        page.add_facts(self.facts());
        page.next = self.next();
        page
    }

    /// The names of the first seven fields are stable: scripts depend on them.
    fn json(&self, _: WitnessShown) -> Object {
        let mut object = Map::new();
        let mut add = |name: &str, value: Json| object.insert(name.to_owned(), value);
        add("subject", self.subject.as_str().into());
        add("verdict", self.verdict().word().into());
        add("executions", self.executions.into());
        add("operations", self.operations.into());
        add("elapsed_ms", (self.elapsed.as_millis() as u64).into());
        add("seed", self.seed.into());
        add("spec", self.spec.as_str().into());
        add("threads", self.workload.threads.into());
        add("operations_per_thread", self.workload.operations.into());
        if !self.workload.roles.is_empty() {
            let role = |it: &ThreadRole| json!({"name": it.name, "threads": it.threads});
            add("roles", self.workload.roles.iter().map(role).collect());
        }
        add("clock", self.clock.name().into());
        add("unknown_executions", self.unknown.into());
        if let Some(reason) = &self.reason {
            add("reason", reason.to_string().into());
        }
        if let Some(needed) = &self.needed {
            // None if some execution needs more than any factor, or the factor is unknown.
            add("least_factor", self.holds().then(|| needed.factor()).into());
            let runs = needed.histories.iter().map(|(factor, n)| (factor.to_string(), (*n).into()));
            add("executions_by_factor", Json::Object(runs.collect()));
        }
        if !self.may_fail.is_empty() {
            add("may_fail", self.may_fail.to_string().into());
        }
        match &self.saved {
            Saved::File(path) => drop(add("file", path.display().to_string().into())),
            Saved::Failed(_, why) => drop(add("save_error", why.as_str().into())),
            Saved::Text(path) => drop(add("text_file", path.display().to_string().into())),
            Saved::Off => (),
        }
        if let Some(finding) = self.shown() {
            add("cause", finding.failure.cause().name().into());
            // As `check` would report it.
            if let Some(explanation) = finding.report.json(WitnessShown::Not).get("explanation") {
                add("explanation", explanation);
            }
        }
        if let Shrinking::Tried { smallest: Some(smallest), .. } = &self.shrinking {
            add(
                "smallest",
                json!({"threads": smallest.threads, "operations_per_thread": smallest.operations}),
            );
        }
        object.into()
    }

    fn row(&self) -> SummaryEntry {
        let place = match &self.saved {
            Saved::File(path) | Saved::Text(path) => {
                Some((clewline_report::relative_to_project(path).display().to_string(), None))
            }
            Saved::Off | Saved::Failed(..) => None,
        };
        SummaryEntry {
            work: Some(self.operations),
            algorithm: self.shown().map_or_else(String::new, |it| it.report.algorithm().to_owned()),
            elapsed: self.elapsed,
            place,
            ..plain_row(self)
        }
    }
}

impl StressOutcome {
    /// The counterexample as a standalone picture, if an execution has one.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        self.shown().map(|it| it.report.svg())
    }
}

/// The operations that did not return.
fn pending(finding: &StressFinding) -> PageCounterexample {
    let case = finding.report.case();
    let ids = (0..case.spans().len()).map(clewline_core::OperationId::from_index);
    let operations: Vec<_> = ids.filter(|it| case.spans()[it.index()].is_pending()).collect();
    let (title, each) = match &finding.failure {
        RunFailure::Panicked(_) => {
            ("The operations that panicked, or never returned", "it panicked, or never returned")
        }
        RunFailure::Stuck(..) | RunFailure::NotLinearizable(_) => {
            ("The operations that never return", "it never returns")
        }
    };
    PageCounterexample { operations, title: title.to_owned(), each: each.to_owned() }
}
