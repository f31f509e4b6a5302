//! Reports on violations, word for word: each history of the corpus that is written by hand and violated, and what a
//! person reads about it.
//!
//! The reports lie under `testdata/reports`, in folders like those of the histories. `CLEWLINE_BLESS=1` writes them anew; read
//! them aloud then.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clewline_check::{Judgement, Options, judge};
use clewline_core::{Case, Explanation, Rule, Verdict, Violation, Why};
use clewline_report::{
    ReadOptions, formats,
    render::{
        Judged, Source, WitnessShown, json,
        text::{self, Style},
    },
};
use clewline_specs::{CATALOG, find};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A history of the corpus that is violated.
struct Sample {
    // As on the command line: `queue:2`.
    spec: String,
    // As in the corpus: `queue@2/violated-third-fits`.
    name: String,
}

impl Sample {
    fn load(&self) -> Box<dyn Case> {
        let path = testdata().join("histories").join(format!("{}.jsonl", self.name));
        let text = fs::read(path).unwrap();
        let options = ReadOptions { keyed: false, jobs: 1, progress: &|_| () };
        let recording = formats::find("jsonl").unwrap().read(&mut text.as_slice(), &options).unwrap();
        find(&self.spec).unwrap().load(recording).unwrap()
    }

    fn report(&self, case: &dyn Case, judgement: &Judgement, style: &Style<'_>) -> String {
        text::report(&self.judged(case, judgement), style)
    }

    fn judged<'a>(&'a self, case: &'a dyn Case, judgement: &'a Judgement) -> Judged<'a> {
        Judged {
            name: self.name.split('/').next_back().unwrap(),
            source: Source::File,
            spec: &self.spec,
            case,
            verdict: &judgement.verdict,
            algorithm: &judgement.algorithm,
            parts: judgement.parts,
            configurations: 0,
            elapsed: Duration::ZERO,
            stream: None,
        }
    }
}

/// Those written by hand: the others are long, and their violations like these.
fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for folder in sorted(&testdata().join("histories")) {
        let spec = folder.file_name().and_then(|it| it.to_str()).unwrap();
        for file in sorted(&folder) {
            let name = file.file_stem().and_then(|it| it.to_str()).unwrap();
            if name.starts_with("violated-") && !name.starts_with("violated-generated") {
                samples.push(Sample { spec: spec.replace('@', ":"), name: format!("{spec}/{name}") });
            }
        }
    }
    samples
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths
}

fn judged(case: &dyn Case) -> (Judgement, Violation) {
    let judgement = judge(case.problems(), &Options::default());
    let Verdict::Violated(violation) = judgement.verdict.clone() else { panic!("violated, says its name") };
    (judgement, violation)
}

#[test]
fn every_violation_of_the_corpus_is_reported_word_for_word() {
    let is_blessing = std::env::var_os("CLEWLINE_BLESS").is_some();
    let mut differing = Vec::new();
    for sample in samples() {
        let case = sample.load();
        let (judgement, _) = judged(&*case);
        let next =
            [format!("clewline check {}.jsonl --spec {} --html report.html", sample.name, sample.spec)];
        let report = sample.report(&*case, &judgement, &Style { next: &next, ..Style::default() });
        let path = testdata().join("reports").join(format!("{}.txt", sample.name));
        if is_blessing {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &report).unwrap();
        }
        // A checkout may have changed line ends.
        let expected = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        if report != expected {
            differing.push(format!("{}: expected\n{expected}\nfound\n{report}", sample.name));
        }
    }
    assert!(differing.is_empty(), "{}\nCLEWLINE_BLESS=1 writes reports anew", differing.join("\n"));
}

#[test]
fn every_report_belongs_to_a_history() {
    let names: BTreeSet<String> = samples().into_iter().map(|it| it.name).collect();
    for folder in sorted(&testdata().join("reports")) {
        let spec = folder.file_name().and_then(|it| it.to_str()).unwrap();
        for file in sorted(&folder) {
            let name = format!("{spec}/{}", file.file_stem().and_then(|it| it.to_str()).unwrap());
            assert!(names.contains(&name), "{name}");
        }
    }
}

/// What kind of reason a report gives: the name of its rule, or `End` if no order gets further.
fn reason(violation: &Violation) -> String {
    let name = |rule: &Rule| format!("{rule:?}").split([' ', '{']).next().unwrap().to_owned();
    match (&violation.why, &violation.explanation) {
        (Some(Why::Rule { rule, .. }), _) | (None, Explanation::Broken { rule, .. }) => name(rule),
        (Some(Why::End(_)), _) => "End".to_owned(),
        (None, Explanation::Exhausted { .. }) => panic!("a small core is explained"),
    }
}
