//! Whether a library has doc tests. They are not among the executables that Cargo builds.

use std::{fs, path::Path};

/// Whether a documentation comment in a file of `folder`, or of a folder in it, has a block of code
/// that `cargo test` would run or compile.
pub(super) fn has_doc_tests(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut paths = entries.filter_map(Result::ok).map(|it| it.path());
    paths.any(|path| {
        if path.is_dir() {
            return has_doc_tests(&path);
        }
        let is_source = path.extension().is_some_and(|it| it == "rs");
        is_source && fs::read_to_string(&path).is_ok_and(|it| has_code(&it))
    })
}

fn has_code(source: &str) -> bool {
    let mut is_open = false;
    for line in source.lines().map(str::trim_start) {
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        let Some(words) = text.trim().strip_prefix("```") else { continue };
        if !is_open && is_run(words) {
            return true;
        }
        is_open = !is_open;
    }
    false
}

/// Whether code after "```" and these words is a test: it is Rust, and not ignored.
fn is_run(words: &str) -> bool {
    const OF_RUST: [&str; 5] = ["rust", "should_panic", "no_run", "compile_fail", "test_harness"];
    words
        .split([',', ' '])
        .filter(|it| !it.is_empty())
        .all(|it| OF_RUST.contains(&it) || it.starts_with("edition"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_documentation_is_a_test_unless_it_says_otherwise() {
        for (source, expected) in [
            ("//! ```\n//! one();\n//! ```\n", true),
            ("    /// ```rust,no_run\n    /// one();\n    /// ```\n", true),
            ("/// ```text\n/// a\n/// ```\n/// ```ignore\n/// b\n/// ```\n", false),
            ("/// ```text\n/// a\n/// ```\n/// ```edition2021\n/// b\n/// ```\n", true),
            ("// ```\n// no documentation\n// ```\nfn one() {}\n", false),
        ] {
            assert_eq!(has_code(source), expected, "{source}");
        }
    }
}
