//! Conformance suites iterate over tables. What they require of an entry depends on what it can do,
//! never on its name: else a new entry is not one file and its line.

use super::{expect_none, root};

/// The suites, one for each table that ARCHITECTURE.md lists.
const SUITES: [&str; 13] = [
    "clewline-actors/src/schedulers/tests.rs",
    "clewline-check/tests/it/agreement.rs",
    "clewline-check/tests/it/budgets.rs",
    "clewline-check/tests/it/monitors/exhaustive.rs",
    "clewline-check/tests/it/monitors/random.rs",
    "clewline-explore/src/schedulers/tests/parts.rs",
    "clewline-formats/tests/it/conformance.rs",
    "clewline-lab/src/classes/tests.rs",
    "clewline-lab/src/systems/tests.rs",
    "clewline-specs/tests/it/codec.rs",
    "clewline-specs/tests/it/laws.rs",
    "clewline-specs/tests/it/roles.rs",
    "clewline-threads/src/control/tests/conformance.rs",
];

/// Whether a line compares the name of an entry with a name, other than to look that entry up.
fn asks_for_a_name(line: &str) -> bool {
    let compares = ["name", "name()"]
        .iter()
        .any(|it| ["==", "!="].iter().any(|operator| line.contains(&format!("{it} {operator} \""))));
    let is_in_list =
        line.contains(".contains(") && [".name)", ".name())", "(&name)"].iter().any(|it| line.contains(it));
    (compares || is_in_list) && !line.contains(".find(") && !line.trim_start().starts_with("assert")
}

#[test]
fn suites_ask_for_capabilities_and_never_for_names() {
    let mut complaints = Vec::new();
    for suite in SUITES {
        let text = std::fs::read_to_string(root().join("crates").join(suite)).unwrap();
        let lines = text.lines().enumerate().filter(|(_, line)| asks_for_a_name(line));
        complaints.extend(lines.map(|(at, line)| format!("crates/{suite}:{}: {}", at + 1, line.trim())));
    }
    expect_none(complaints);
}

#[test]
fn questions_for_names_are_found() {
    for line in [
        "if format.name() == \"jepsen\" {",
        "if entry.name != \"exhaustive\" {",
        ".filter(|it| names.contains(&it.name))",
        "if !MAY_NOT_RETURN.contains(&name) {",
    ] {
        assert!(asks_for_a_name(line), "{line}");
    }
    for line in [
        "let entry = TABLE.iter().find(|it| it.name == \"oracle\").unwrap();",
        "assert!(all.contains(&bound), \"{} of {}\", bound.name, entry.name);",
        "if entry.carries().pending {",
    ] {
        assert!(!asks_for_a_name(line), "{line}");
    }
}

/// Few methods have to be written: what only some schedulers can do is in optional traits.
#[test]
fn a_scheduler_has_at_most_five_methods() {
    for (path, name) in [
        ("clewline-explore/src/scheduler.rs", "Scheduler"),
        ("clewline-actors/src/schedulers/entry.rs", "MessageScheduler"),
    ] {
        let text = std::fs::read_to_string(root().join("crates").join(path)).unwrap();
        let (_, code) = text.split_once(&format!("\npub trait {name}")).expect("the trait");
        let code = code.split_once("\n}\n").expect("its end").0;
        let methods = code.lines().filter(|it| it.starts_with("    fn ")).count();
        assert!((1..=5).contains(&methods), "{path}: `{name}` has {methods} methods, at most 5");
    }
}
