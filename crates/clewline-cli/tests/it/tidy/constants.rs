//! Names of constants that are numbers or times: they say what is counted, and end with the unit.

const NUMBERS: [&str; 15] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
    "Duration",
];

/// Words that say neither what a number counts nor its unit.
const WITHOUT_SUBJECT: [&str; 36] = [
    "ATTEMPTS", "BITS", "BOUND", "BYTES", "CAPACITY", "COUNT", "DELAY", "DEPTH", "ENTRIES", "FAR", "FEW",
    "HEIGHT", "INTERVAL", "LEN", "LENGTH", "LIMIT", "LONG", "MANY", "MAX", "MEMORY", "MIN", "MOST", "OPEN",
    "PAGE", "PATIENCE", "PRINTED", "ROUNDS", "RUNS", "SECONDS", "SHARE", "SHORT", "SHOWN", "SIZE", "TIME",
    "TIMEOUT", "WIDTH",
];

/// Constants whose subject is the type or the module that they belong to.
const BELONGING: [(&str, &str); 3] =
    [("explore/src/step.rs", "MAX"), ("jsonl/field.rs", "COUNT"), ("monitor/src/bag.rs", "COUNT")];

/// What is wrong with the name of the constant that a line of a file defines.
pub(super) fn complaint(path: &str, line: &str) -> Option<String> {
    let (before, definition) = line.split_once("const ")?;
    let (name, definition) = definition.split_once(": ")?;
    let (kind, value) = definition.split_once(" = ")?;
    let is_definition = before.trim().is_empty() || before.trim().starts_with("pub");
    // Constants without a bit, or with all of them, are marks rather than quantities.
    let is_mark = value == "0;" || value.ends_with("::MAX;");
    let belongs = BELONGING.iter().any(|it| path.ends_with(it.0) && name == it.1);
    if !is_definition || !NUMBERS.contains(&kind) || is_mark || belongs {
        return None;
    }
    let begins_with_bound = name.starts_with("MAX_") || name.starts_with("MIN_");
    let what = name.strip_suffix("_MAX").or(name.strip_suffix("_MIN")).unwrap_or(name);
    (WITHOUT_SUBJECT.contains(&what) || begins_with_bound)
        .then(|| format!("{path}: `{name}` lacks a subject or a unit at its end"))
}

#[test]
fn quantities_without_subject_are_found() {
    let is_rejected = |line: &str| complaint("a.rs", line).is_some();
    for line in [
        "const LIMIT: u64 = 5;",
        "    pub(crate) const SHOWN_MAX: usize = 3;",
        "const TIMEOUT: Duration = Duration::from_secs(1);",
        "pub const MAX_OPERATIONS: usize = 1 << 20;",
    ] {
        assert!(is_rejected(line), "{line}");
    }
    for line in [
        "const RECHECK_CONFIGS_MAX: u64 = 5;",
        "const OPEN: u32 = 0;",
        "const SIZE: &str = \"a\";",
        "/// A const LIMIT: u64 = 5;",
    ] {
        assert!(!is_rejected(line), "{line}");
    }
}
