//! The corpus: histories with known verdicts, one file each, under `testdata/histories`.
//!
//! The folder of a file names its specification, with `@` where a command line has a colon
//! (`queue@2` is `queue:2`), which not every file system allows in a name. The file's name is the
//! verdict, and then what is special about the history.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
};

use clewline_check::{Algorithm, Checker, JudgeOptions, checkers, judge};
use clewline_core::{Budget, ErasedHistory, Reason, Verdict, Witness};
use clewline_methods::Check;
use clewline_specs::{CATALOG, find};
use clewline_testing::pick;

/// Enough for every search with a cache of configurations, on every file.
const CONFIGURATIONS: u64 = 200_000;

/// Searches without a cache must decide histories of at most this number of operations. On longer
/// ones they may give up, in `./test` soon.
const SMALL_HISTORY_OPS_MAX: usize = 12;

/// One file of the corpus.
struct Sample {
    path: PathBuf,
    // As on the command line: `queue:2`.
    spec: String,
    // The word of the verdict.
    expected: &'static str,
}

impl Sample {
    fn new(spec: &str, path: PathBuf) -> Sample {
        let name = path.file_name().and_then(|it| it.to_str()).expect("a name");
        let names = |it: &&str| name.strip_prefix(it).is_some_and(|it| it.starts_with('-'));
        let expected = ["holds", "violated"].into_iter().find(names);
        let expected = expected.unwrap_or_else(|| panic!("{name} begins with neither verdict"));
        Sample { spec: spec.to_owned(), expected, path }
    }

    fn load(&self) -> Box<dyn ErasedHistory> {
        let name = self.path.display().to_string();
        let file = File::open(&self.path).expect("readable");
        let recording = Check::new().recording(&name, file).unwrap_or_else(|error| panic!("{error}"));
        let spec = find(&self.spec).unwrap_or_else(|error| panic!("{name}: {error}"));
        spec.load(recording).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// All files, by specification and name.
fn samples() -> Vec<Sample> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/histories");
    let mut samples = Vec::new();
    for folder in sorted(&corpus) {
        let spec = folder.file_name().and_then(|it| it.to_str()).expect("a name").replace('@', ":");
        samples.extend(sorted(&folder).into_iter().map(|path| Sample::new(&spec, path)));
    }
    samples
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("readable").path()).collect();
    paths.sort();
    paths
}

/// Whether `checker` decided; it must, unless it refuses or is a tree search on a history that is
/// not small.
fn decided(checker: &'static dyn Checker, sample: &Sample, case: &dyn ErasedHistory) -> bool {
    let may_give_up = checker.name().ends_with("-tree") && SMALL_HISTORY_OPS_MAX < case.spans().len();
    let configurations = if may_give_up { pick(5_000, CONFIGURATIONS) } else { CONFIGURATIONS };
    let options = JudgeOptions {
        algorithm: Algorithm::Named(vec![checker]),
        budget: Budget::unlimited().with_configurations(configurations),
        counterexample_configurations: 0,
        ..JudgeOptions::default()
    };
    let context = || format!("{} by {}", sample.path.display(), checker.name());
    match judge(case.problems(), &options).verdict {
        Verdict::Unknown(Reason::Refused(_)) => return false,
        Verdict::Unknown(Reason::Configurations(_)) if may_give_up => return false,
        Verdict::Holds(witness) => {
            assert_eq!(sample.expected, "holds", "{}", context());
            verify(case, &witness, &context);
        }
        verdict @ (Verdict::Violated(_) | Verdict::Unknown(_)) => {
            assert_eq!(verdict.word(), sample.expected, "{}: {verdict:?}", context());
        }
    }
    true
}

/// Linearizability is local: an order is a witness if it is one for each object.
fn verify(case: &dyn ErasedHistory, witness: &Witness, context: &dyn Fn() -> String) {
    let mut placed = 0;
    for problem in case.problems() {
        let own = witness.order.iter().copied().filter(|&it| problem.position(it).is_some());
        let own = Witness { order: own.collect() };
        assert_eq!(own.verify(&problem), Ok(()), "{}", context());
        placed += own.order.len();
    }
    assert_eq!(placed, witness.order.len(), "{}: every operation belongs to an object", context());
}

#[test]
fn every_checker_finds_the_verdict_in_the_name_of_each_file() {
    let samples = samples();
    let mut decisions: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in &samples {
        let case = sample.load();
        for checker in checkers() {
            *decisions.entry(checker.name()).or_default() += usize::from(decided(checker, sample, &*case));
        }
    }
    // A checker that hardly ever decides was not tested. Some do not support every specification.
    for (name, count) in decisions {
        let least = match name {
            "monitor" => samples.len() / 4,
            "empty-moments" | "grow-only-set" | "relaxed-pushdown" => 6,
            "late-pushes" => samples.len() / 40,
            "pushdown" | "queue-oriented" | "sat" | "two-frontiers" => samples.len() / 20,
            _ => samples.len() * 3 / 4,
        };
        assert!(least < count, "{name} decided {count} of {} files", samples.len());
    }
}

#[test]
fn every_specification_has_two_files_of_each_verdict() {
    let samples = samples();
    for entry in &CATALOG {
        for expected in ["holds", "violated"] {
            let is_one = |it: &&Sample| it.spec == entry.name && it.expected == expected;
            let count = samples.iter().filter(is_one).count();
            let owed = format!("write testdata/histories/{}/{expected}-….jsonl", entry.name);
            assert!(2 <= count, "{count} files say that a {} {expected}: {owed}", entry.name);
        }
    }
}

#[test]
fn every_capacity_has_a_file_of_each_verdict() {
    let samples = samples();
    for entry in CATALOG.iter().filter(|it| it.parameter.is_some()) {
        for expected in ["holds", "violated"] {
            let start = format!("{}:", entry.name);
            let is_one = |it: &Sample| it.spec.starts_with(&start) && it.expected == expected;
            assert!(samples.iter().any(is_one), "no file says that a {start}N {expected}");
        }
    }
}
