//! Litmus tests as unmodified code in Rust: stable atomics and threads of the standard library
//! return exactly what the axioms allow.

use std::{collections::BTreeSet, fmt::Write, fs};

use clewline_testing::{
    litmus::{Candidates, LITMUS, Op, Program},
    pick,
};

use crate::{run::clewline, rust_races::made_crate};

const FIRST: &str = r#"#![cfg(test)]
#![allow(unused)]

use std::{
    fs::OpenOptions,
    io::Write,
    sync::atomic::{AtomicUsize, Ordering::*, fence},
    thread::{self, JoinHandle},
};

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
static Z: AtomicUsize = AtomicUsize::new(0);

fn digits(values: &[usize]) -> String {
    values.iter().map(ToString::to_string).collect()
}

/// Appends the outcome to a file.
fn end(file: &str, threads: Vec<JoinHandle<Vec<usize>>>) {
    let read: Vec<String> = threads.into_iter().map(|it| digits(&it.join().unwrap())).collect();
    let held = digits(&[X.load(Relaxed), Y.load(Relaxed), Z.load(Relaxed)]);
    let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
    file.write_all(format!("{};{held}\n", read.join("|")).as_bytes()).unwrap();
}
"#;

/// What a thread does, and the values that it returns.
fn body(thread: &[Op]) -> String {
    let mut body = String::new();
    let mut read = Vec::new();
    for (at, op) in thread.iter().enumerate() {
        let of = |at: usize| ["X", "Y", "Z"][at];
        let _infallible = match *op {
            Op::Load(from, order) => write!(body, "let r{at} = {}.load({order:?}); ", of(from)),
            Op::Store(to, value, order) => write!(body, "{}.store({value}, {order:?}); ", of(to)),
            Op::Swap(to, value, order) => write!(body, "let r{at} = {}.swap({value}, {order:?}); ", of(to)),
            Op::Fence(order) => write!(body, "fence({order:?}); "),
        };
        if matches!(op, Op::Load(..) | Op::Swap(..)) {
            read.push(format!("r{at}"));
        }
    }
    format!("{body}vec![{}]", read.join(", "))
}

#[test]
#[ignore = "long"]
fn litmus_tests_in_rust_return_exactly_what_the_axioms_allow() {
    let parsed = LITMUS.iter().map(|it| Program::parse(it.program));
    let two = parsed.filter(|it| it.0.len() == 2);
    let programs: Vec<Program> = two.step_by(pick(8, 2)).collect();
    let Some(folder) = made_crate("litmus", "") else { return };
    let file = |number: usize| folder.path(&format!("outcomes-{number}"));
    let mut source = FIRST.to_owned();
    for (number, program) in programs.iter().enumerate() {
        let threads = program.0.iter().map(|it| format!("        thread::spawn(|| {{ {} }}),\n", body(it)));
        let (threads, file): (String, _) = (threads.collect(), file(number));
        let _infallible =
            write!(source, "\n#[test]\nfn t{number}() {{\n    end({file:?}, vec![\n{threads}    ]);\n}}\n");
    }
    fs::write(folder.path("src/lib.rs"), source).unwrap();
    for model in pick(&["rc11"][..], &["sc", "rc11"]).iter().copied() {
        let more = ["--memory-model", model, "--stale-reads", "none", "--scheduler", "dpor"];
        let ran = clewline(&folder, &[&["cargo", "test", "--", "--format", "json"][..], &more].concat(), "");
        assert_eq!(ran.code, 0, "{model}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.json().len(), programs.len());
        for (number, program) in programs.iter().enumerate() {
            let found = fs::read_to_string(file(number)).unwrap();
            fs::remove_file(file(number)).unwrap();
            let found: BTreeSet<&str> = found.lines().collect();
            let allowed = match model {
                "sc" => program.sequential(),
                _ => program.relaxed(Candidates::Executable),
            };
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            assert_eq!(found, allowed.iter().map(String::as_str).collect(), "{program} {model}");
        }
    }
    assert!(pick(4, 20) <= programs.len());
}
