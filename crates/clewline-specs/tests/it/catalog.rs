//! The table as a whole, and lookups in it.

use clewline_core::{
    CallSampler, Codec, Elements, Encoded, Footprint, GeneratorConfig, Role, Value, ValueDomain,
};
use clewline_specs::{CATALOG, OperationInfo, Visitor, find};

use crate::support::{load, record, run};

#[test]
fn names_are_in_kebab_case_and_ascend() {
    for entry in &CATALOG {
        assert!(entry.name.split('-').all(|it| !it.is_empty()), "{}", entry.name);
        assert!(entry.name.chars().all(|it| it == '-' || it.is_ascii_lowercase()), "{}", entry.name);
    }
    assert!(CATALOG.iter().is_sorted_by(|a, b| a.name < b.name), "alphabetical, and none twice");
}

/// An operation with an argument in place: `put [1, 1]` for `put [key, value]`.
fn example(name: &str, operation: &OperationInfo) -> String {
    let items = operation.argument.split_inclusive([',', ']']);
    let item = |it: &str| match it.trim_matches([' ', ',', '[', ']']) {
        "text" => it.replace("text", "\"x\""),
        "" => it.to_owned(),
        name => it.replace(name, "1"),
    };
    format!("{name} {}", items.map(item).collect::<String>())
}

#[test]
fn every_documented_operation_is_read_under_each_of_its_names() {
    for entry in &CATALOG {
        for operation in entry.operations {
            let label = |name: &str| {
                let written = example(name, operation);
                let case = load(entry.name, record(&format!("{written} = ?"), None));
                let case = case.unwrap_or_else(|error| panic!("{}: {written}: {error}", entry.name));
                case.problems()[0].label(clewline_core::OperationId(0))
            };
            let expected = label(operation.name);
            assert!(expected.starts_with(&format!("{}(", operation.name)), "{expected} is not canonical");
            for alias in operation.aliases {
                assert_eq!(label(alias), expected, "{}: {alias}", entry.name);
            }
        }
    }
}

#[test]
fn errors_name_every_documented_operation() {
    for entry in &CATALOG {
        let error = load(entry.name, record("levitate", None)).err().unwrap().to_string();
        let names: Vec<&str> = entry.methods().collect();
        assert!(error.contains(&format!("(there are {})", names.join(", "))), "{}: {error}", entry.name);
    }
}

#[test]
fn generated_histories_are_read_back() {
    for entry in &CATALOG {
        for (seed, values) in [(1, ValueDomain::Below(4)), (2, ValueDomain::Distinct)] {
            let plan = GeneratorConfig {
                operations: 300,
                values,
                keys: 3,
                pending: 0.1,
                seed,
                ..GeneratorConfig::default()
            };
            let recording = find(entry.name).ok().unwrap().generate(&plan);
            let returned = recording.history.operations().filter(|it| it.ret.is_some()).count();
            assert!(200 < returned, "{}: {returned} returned", entry.name);
            load(entry.name, recording).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        }
    }
}

#[test]
fn generated_serial_histories_hold_when_executed_in_order() {
    for entry in &CATALOG {
        let plan = GeneratorConfig {
            operations: 300,
            processes: 1,
            overlap: 0.0,
            seed: 3,
            ..GeneratorConfig::default()
        };
        let recording = find(entry.name).ok().unwrap().generate(&plan);
        assert_eq!(run(entry.name, recording), "holds", "{}", entry.name);
    }
}

/// The element that a drawn call adds, as far as its role or its footprint determines it. Absence,
/// which a map adds, does not count.
fn added<S: Codec>(specification: &S, call: &S::Call) -> Option<u64> {
    let element = match (specification.kind(), specification.footprint(call, None)) {
        (None, Footprint::Changes(Elements::One(element))) => element,
        (None, _) => return None,
        (Some(_), _) => match specification.role(call, None)? {
            Role::Add(element) => element,
            _ => return None,
        },
    };
    let has_argument = specification.write_call(call).1 != Encoded::NOTHING;
    (has_argument && element != Value::NIL.word()).then_some(element)
}

#[test]
fn distinct_values_are_added_at_most_once() {
    struct Distinct;

    impl Visitor for Distinct {
        fn visit<S: Codec>(&mut self, name: &'static str, specification: S) {
            let mut sampler = CallSampler::new(&GeneratorConfig {
                values: ValueDomain::Distinct,
                seed: 4,
                ..GeneratorConfig::default()
            });
            let calls = (0..300).map(|_| specification.sample(&mut sampler));
            let mut elements: Vec<u64> = calls.filter_map(|it| added(&specification, &it)).collect();
            let count = elements.len();
            elements.sort_unstable();
            elements.dedup();
            assert_eq!(elements.len(), count, "{name}: draw what is added by `value` or `int`");
        }
    }

    clewline_specs::visit(&mut Distinct);
}

#[track_caller]
fn check_not_found(name: &str, expected: &str) {
    let error = find(name).err().expect("no such specification").to_string();
    let names: Vec<&str> = CATALOG.iter().map(|it| it.name).collect();
    assert_eq!(error.replace(&names.join(", "), "…"), expected);
}

#[test]
fn unknown_names_list_what_there_is_and_guess_what_was_meant() {
    check_not_found("quue", "no specification is called `quue`; did you mean `queue`? (there are …)");
    check_not_found("Queue:8", "no specification is called `Queue`; did you mean `queue`? (there are …)");
    check_not_found(
        "priority_queue",
        "no specification is called `priority_queue`; did you mean `priority-queue`? (there are …)",
    );
    check_not_found("teapot", "no specification is called `teapot` (there are …)");
    check_not_found("", "no specification is called `` (there are …)");
}

#[test]
fn parameters_are_checked() {
    check_not_found("mutex:3", "`mutex` takes no parameter, found `3`");
    check_not_found("map:", "`map` takes no parameter, found ``");
    check_not_found(
        "queue:many",
        "`queue` expected a capacity after the colon, a whole number from 1, found `many`",
    );
    check_not_found(
        "stack:0",
        "`stack` expected a capacity after the colon, a whole number from 1, found `0`",
    );
    check_not_found(
        "deque:-1",
        "`deque` expected a capacity after the colon, a whole number from 1, found `-1`",
    );
    check_not_found(
        "semaphore:x",
        "`semaphore` expected a number of permits after the colon, a whole number from 0, found `x`",
    );
    for entry in &CATALOG {
        let takes = entry.parameter.is_some();
        assert_eq!(find(&format!("{}:3", entry.name)).is_ok(), takes, "{}", entry.name);
    }
}

#[test]
fn a_specification_returns_its_name() {
    for entry in &CATALOG {
        let name = find(entry.name).unwrap().name().unwrap();
        // A specification that always has a parameter includes it in its name.
        assert_eq!(name.split(':').next(), Some(entry.name));
        assert_eq!(find(&name).unwrap().name(), Some(name));
    }
    assert_eq!(find("queue:8").unwrap().name().as_deref(), Some("queue:8"));
    assert_eq!(find("queue").unwrap().name().as_deref(), Some("queue"));
}
