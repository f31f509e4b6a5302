//! A failure of a test is replayed first on the next run.

use std::{
    env,
    process::{Command, Output},
    time::Duration,
};

use clewline_core::Value;
use clewline_methods::{line_up::LineUp, stress::Stress};
use clewline_specs::register::{Call, Register};
use clewline_threads::{
    Subject,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

use crate::run::Folder;

// What the inner tests do; without it, nothing.
const MODE: &str = "CLEWLINE_INNER_TEST";

/// Runs one of the inner tests in a process of its own.
fn run(folder: &Folder, test: &str, mode: &str) -> (bool, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([&format!("regressions::{test}"), "--exact"]).env(MODE, mode);
    command.env("CLEWLINE_REGRESSIONS", folder.path("kept")).env("RUST_BACKTRACE", "0");
    let Output { status, stdout, .. } = command.output().unwrap();
    (status.success(), String::from_utf8(stdout).unwrap())
}

/// The only file, if there is one.
fn kept(folder: &Folder) -> Option<String> {
    let mut files = std::fs::read_dir(folder.path("kept")).ok()?;
    let text = std::fs::read_to_string(files.next()?.unwrap().path()).unwrap();
    assert!(files.next().is_none());
    Some(text)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|it| !it.starts_with('#')).collect()
}

#[test]
fn a_schedule_is_replayed_until_it_does_not_fit() {
    let folder = Folder::new("regressions-line-up");
    let (holds, text) = run(&folder, "inner_line_up", "lossy");
    assert!(!holds && text.contains("violated: ") && !text.contains("phase 2:  1 execution "), "{text}");
    let first = kept(&folder).expect("a file");
    assert!(matches!(lines(&first)[..], [token] if token.contains('#') && token.contains("add")), "{first}");
    // Nothing else is explored, and nothing is kept twice.
    let (holds, text) = run(&folder, "inner_line_up", "lossy");
    assert!(!holds && text.contains("phase 2:  1 execution "), "{text}");
    assert_eq!(kept(&folder), Some(first.clone()));
    // The steps, or the calls, are others now: that is no error.
    for (dropped, mode) in (1..).zip(["mended", "renamed"]) {
        let (holds, text) = run(&folder, "inner_line_up", mode);
        assert!(holds, "{text}");
        let last = kept(&folder).unwrap();
        assert!(lines(&last).is_empty() && last.matches("# dropped: ").count() == dropped, "{last}");
        assert!(!run(&folder, "inner_line_up", "lossy").0);
        assert_eq!(lines(&kept(&folder).unwrap()), lines(&first));
    }
}

#[test]
fn the_calls_of_a_stress_test_are_tried_again() {
    let folder = Folder::new("regressions-stress");
    let (holds, text) = run(&folder, "inner_stress", "lossy");
    assert!(!holds && text.contains("violated: "), "{text}");
    let first = kept(&folder).expect("a file");
    assert_eq!(lines(&first), ["7 0"], "{first}");
    let (holds, _) = run(&folder, "inner_stress", "lossy");
    assert!(!holds);
    let (holds, text) = run(&folder, "inner_stress", "mended");
    assert!(holds, "{text}");
    assert_eq!(lines(&kept(&folder).unwrap()), ["7 0"]);
}

#[test]
fn inner_line_up() {
    let Ok(mode) = env::var(MODE) else { return };
    let is_lossy = mode == "lossy";
    let add = move |it: &AtomicU32| {
        if !is_lossy {
            return it.fetch_add(1, SeqCst);
        }
        let before = it.load(SeqCst);
        it.store(before + 1, SeqCst);
        before
    };
    let name = if mode == "renamed" { "plus" } else { "add" };
    let test = LineUp::new(|| AtomicU32::new(0)).call(name, add).call("get", |it| it.load(SeqCst));
    test.threads(2).operations(2).samples(20).seed(1).assert();
}

/// Reads what was never written, or nil.
struct Constant(bool);

impl Subject<Register> for Constant {
    fn call(&self, call: &Call) -> Value {
        match call {
            Call::Write(_) => Value::TRUE,
            Call::Read if self.0 => 77.into(),
            Call::Read => Value::NIL,
        }
    }
}

#[test]
fn inner_stress() {
    let Ok(mode) = env::var(MODE) else { return };
    let test = Stress::new(Register::new(), move || Constant(mode == "lossy"));
    let test = test.mix([("read", 1)]).threads(2).operations(8).executions(3).seed(7);
    test.shrink(Duration::ZERO).without_saving().assert();
}
