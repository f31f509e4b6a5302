//! Reports on violations, word for word: each handwritten violated history of the corpus, and its
//! report.
//!
//! The reports are under `testdata/reports`, in folders like those of the histories.
//! `CLEWLINE_BLESS=1` writes them again; review them then.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    mem::{Discriminant, discriminant},
    path::{Path, PathBuf},
    time::Duration,
};

use clewline_check::{JudgeOptions, Judgement, judge};
use clewline_core::{ErasedHistory, Explanation, ObjectKind, Rule, Verdict, Violation, Why};
use clewline_formats::{ReadOptions, formats};
use clewline_report::render::{
    CheckedHistory, Source, WitnessShown, json, present,
    svg::{self, Ground},
    text::Style,
};
use clewline_specs::find;

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
    fn load(&self) -> Box<dyn ErasedHistory> {
        let path = testdata().join("histories").join(format!("{}.jsonl", self.name));
        let text = fs::read(path).unwrap();
        let options = ReadOptions::default();
        let recording = formats::find("jsonl").unwrap().read(&mut text.as_slice(), &options).unwrap();
        find(&self.spec).unwrap().load(recording).unwrap()
    }

    fn report(&self, case: &dyn ErasedHistory, judgement: &Judgement, style: &Style) -> String {
        present::text(&self.judged(case, judgement), style)
    }

    fn judged<'a>(&'a self, case: &'a dyn ErasedHistory, judgement: &'a Judgement) -> CheckedHistory<'a> {
        CheckedHistory {
            name: self.name.split('/').next_back().unwrap(),
            source: Source::File,
            spec: &self.spec,
            case,
            verdict: &judgement.verdict,
            others: &[],
            violated: 0,
            algorithm: &judgement.algorithm,
            parts: judgement.parts,
            configurations: 0,
            elapsed: Duration::ZERO,
            stream: None,
            next: &[],
        }
    }
}

/// The handwritten ones: the others are long, and their violations similar.
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

fn judged(case: &dyn ErasedHistory) -> (Judgement, Violation) {
    let judgement = judge(case.problems(), &JudgeOptions::default());
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
        let judged = CheckedHistory { next: &next, ..sample.judged(&*case, &judgement) };
        let report = present::text(&judged, &Style::default());
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

/// Bands and moments are behind the operations, and their labels above.
#[test]
fn the_picture_of_a_history_with_notes_is_drawn_word_for_word() {
    let name = "register/violated-during-a-partition";
    let sample = Sample { spec: "register".to_owned(), name: name.to_owned() };
    let case = sample.load();
    let (judgement, _) = judged(&*case);
    let picture = svg::counterexample(&sample.judged(&*case, &judgement), Ground::Paper).svg;
    let path = testdata().join("reports").join(format!("{name}.svg"));
    if std::env::var_os("CLEWLINE_BLESS").is_some() {
        fs::write(&path, &picture).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert_eq!(picture, expected, "CLEWLINE_BLESS=1 writes the picture anew");
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

/// The kind of reason of a report: the name of its rule, or `End` if no order gets further.
fn reason(violation: &Violation) -> String {
    let name = |rule: &Rule| format!("{rule:?}").split([' ', '{']).next().unwrap().to_owned();
    match (violation.why.as_deref(), &violation.explanation) {
        (Some(Why::Rule { rule, .. }), _) | (None, Explanation::Broken { rule, .. }) => name(rule),
        (Some(Why::End(_)), _) => "End".to_owned(),
        (None, Explanation::Exhausted { .. }) => panic!("a small counterexample is explained"),
    }
}

/// For each kind of object, the reasons that its violations may have. A new rule belongs here
/// together with a history in the corpus that shows it.
fn reasons(kind: Option<ObjectKind>) -> &'static [&'static str] {
    match kind {
        // The others are of sets that are read as a whole.
        None => &["End", "FoundUnadded", "Lost", "ReadsDisagree", "EarlierMissing", "AddedAgain"],
        Some(ObjectKind::Set) => {
            &["Added", "AddedBefore", "AddedAgain", "RemovedAgain", "AbsentSince", "Often", "Left"]
        }
        Some(ObjectKind::Queue) => &[
            "Added",
            "AddedBefore",
            "Often",
            "OftenSince",
            "Left",
            "Empty",
            "End",
            "FirstInFirstOut",
            "FrontInTurn",
            "OneInFront",
        ],
        Some(ObjectKind::QuasiQueue { .. }) => {
            &["Added", "AddedBefore", "Often", "OftenSince", "Left", "OvertakesMany", "OvertakenOften"]
        }
        Some(ObjectKind::Stack) => {
            &["Added", "AddedBefore", "Often", "OftenSince", "Left", "LastInFirstOut", "NoneBelow"]
        }
        Some(ObjectKind::QuasiStack { .. }) => &[
            "Added",
            "AddedBefore",
            "Often",
            "OftenSince",
            "Left",
            "Empty",
            "OvertakesMany",
            "OvertakenOften",
        ],
        Some(ObjectKind::PriorityQueue) => {
            &["Added", "AddedBefore", "Often", "OftenSince", "Left", "Empty", "GreatestFirst"]
        }
        Some(ObjectKind::QuasiPriorityQueue { .. }) => &[
            "Added",
            "AddedBefore",
            "Often",
            "OftenSince",
            "Left",
            "Empty",
            "OvertakesMany",
            "OvertakenOften",
        ],
        Some(ObjectKind::Bag) => &["Added", "AddedBefore", "Often", "OftenSince", "Left", "Empty"],
        Some(ObjectKind::Multiset) => &["Added", "AddedBefore", "Often", "Left", "End"],
        Some(ObjectKind::Counter) => &["SumWithin", "Sum", "End"],
        Some(ObjectKind::Register { .. }) => {
            &["Added", "AddedBefore", "Stale", "NoRoom", "End", "ReplacedOnce", "Lineage"]
        }
        Some(ObjectKind::Channel | ObjectKind::Deque) => &["End"],
        // Explanations of such an object are in the words of its own monitor.
        Some(ObjectKind::Other(_)) => &[],
    }
}

/// An object of some kind, and the reasons of violations that were shown.
type Shown = (Option<ObjectKind>, BTreeSet<String>);

#[test]
fn every_kind_of_object_shows_each_kind_of_violation() {
    let mut seen: HashMap<Option<Discriminant<ObjectKind>>, Shown> = HashMap::new();
    for sample in samples() {
        let case = sample.load();
        let kind = case.problems()[0].kind();
        let shown = seen.entry(kind.as_ref().map(discriminant)).or_insert_with(|| (kind, BTreeSet::new()));
        shown.1.insert(reason(&judged(&*case).1));
    }
    let mut missing: Vec<String> = Vec::new();
    for (kind, shown) in seen.values() {
        let not_shown = reasons(*kind).iter().filter(|it| !shown.contains(**it));
        missing.extend(not_shown.map(|reason| format!("{reason} of {kind:?}")));
    }
    missing.sort_unstable();
    assert!(missing.is_empty(), "no history of the corpus shows {}", missing.join(", "));
    assert!(11 < seen.len(), "{} kinds of objects", seen.len());
}

/// The same history gives the same bytes, for any number of threads and requests.
#[test]
fn reports_do_not_depend_on_when_and_where_they_are_made() {
    for sample in samples() {
        let report = |jobs: usize| {
            let case = sample.load();
            let judgement = judge(case.problems(), &JudgeOptions { jobs, ..JudgeOptions::default() });
            let judged = sample.judged(&*case, &judgement);
            let line = json::report(&judged, WitnessShown::Whole).to_string();
            (present::text(&judged, &Style::default()), line)
        };
        let first = report(1);
        assert_eq!(first, report(1), "{}", sample.name);
        assert_eq!(first, report(4), "{}", sample.name);
    }
}

/// Lines wider than the terminal are broken, except for labels, names of files and commands that
/// cannot be.
#[test]
fn reports_keep_to_the_width() {
    for columns in [40, 60, 80, 120] {
        for sample in samples() {
            let case = sample.load();
            let (judgement, _) = judged(&*case);
            let report = sample.report(&*case, &judgement, &Style { width: columns, ..Style::default() });
            let evidence = report.lines().skip(1).filter(|it| !it.starts_with("checked by"));
            for line in evidence {
                let is_one_word = line.trim().split(' ').count() == 1;
                let is_labels = line.contains('(') && columns < 80;
                assert!(
                    line.chars().count() <= columns || is_one_word || is_labels,
                    "{}: {line}",
                    sample.name
                );
            }
            assert!(!report.contains('\u{a0}') && !report.contains('\u{1b}'), "{report}");
        }
    }
}

/// With next to no budget the counterexample is violated, and the report says that it may be
/// smaller.
#[test]
fn a_counterexample_that_is_not_minimal_says_so() {
    let mut not_minimal = 0;
    for sample in samples() {
        let case = sample.load();
        let options = JudgeOptions { counterexample_configurations: 1, ..JudgeOptions::default() };
        let judgement = judge(case.problems(), &options);
        let Verdict::Violated(violation) = &judgement.verdict else { panic!("violated, says its name") };
        let report = sample.report(&*case, &judgement, &Style::default()).replace("\n  ", " ");
        assert_eq!(report.contains("not minimal"), !violation.is_minimal, "{report}");
        not_minimal += usize::from(!violation.is_minimal);
    }
    assert!(15 < not_minimal, "{not_minimal}");
}
