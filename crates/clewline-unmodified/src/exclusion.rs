//! Functions that are excluded from instrumentation, as the compiler reports.
//!
//! An attribute (`no_sanitize`) or a list of the compiler excludes a function. Its assembly alone
//! does not prove that: reads of constants are never instrumented. gcc writes the functions that
//! its pass has visited into a dump, and clang marks them in its intermediate language.

use std::collections::BTreeSet;

use super::compiler::CompilerKind;

/// The flags with which gcc writes the dump into `file`, beside its result: with the symbols of
/// functions, and the places of statements. The pass has another name without optimization.
pub(super) fn dump_flags(file: &str) -> [String; 2] {
    ["tsan", "tsan0"].map(|it| format!("-fdump-tree-{it}-asmname-lineno={file}"))
}

/// The flags with which clang writes its intermediate language into `file`, instead of anything
/// else.
pub(super) fn language_flags(file: &str) -> [&str; 4] {
    ["-S", "-emit-llvm", "-o", file]
}

/// The symbols of the functions that are instrumented, in such a file.
pub(super) fn instrumented(kind: CompilerKind, text: &str) -> BTreeSet<&str> {
    match kind {
        CompilerKind::Gcc => text.lines().filter_map(visited).collect(),
        CompilerKind::Clang => marked(text),
    }
}

/// The symbol in `;; Function name (symbol, funcdef_no=2, …)`.
pub(super) fn visited(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(";; Function ")?;
    let end = rest.rfind(", funcdef_no=")?;
    rest[..end].rfind('(').map(|start| &rest[start + 1..end])
}

/// The functions with the attribute, which is in a group: `define i64 @add() #2 {`.
fn marked(text: &str) -> BTreeSet<&str> {
    let is_marked =
        |it: &str| it.contains(" sanitize_thread ") && !it.contains(" disable_sanitizer_instrumentation ");
    let groups: BTreeSet<&str> = text
        .lines()
        .filter_map(|it| it.strip_prefix("attributes ")?.split_once(" = "))
        .filter(|it| is_marked(it.1))
        .map(|it| it.0)
        .collect();
    text.lines()
        .filter_map(definition)
        .filter(|it| it.1.split_whitespace().any(|it| groups.contains(it)))
        .map(|it| it.0)
        .collect()
}

/// The name of a defined function, and the rest of its line.
pub(super) fn definition(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("define ")?.split_once('@')?.1;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"'),
        None => rest.split_once('('),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instrumented_functions_are_those_that_compilers_name() {
        let gcc = "\n;; Function push(long) (_Z4pushl, funcdef_no=2, decl_uid=24, cgraph_uid=3)\nbody\n";
        assert_eq!(instrumented(CompilerKind::Gcc, gcc), BTreeSet::from(["_Z4pushl"]));
        let clang = "define internal i64 @add(i64 %0) unnamed_addr #0 {\n}\n\
                     define i64 @\"a b\"() #0 {\n}\ndefine i64 @excluded() #1 {\n}\ndefine void @off() #2 {\n\
                     attributes #0 = { nounwind sanitize_thread uwtable }\nattributes #1 = { nounwind }\n\
                     attributes #2 = { disable_sanitizer_instrumentation sanitize_thread }\n";
        assert_eq!(instrumented(CompilerKind::Clang, clang), BTreeSet::from(["add", "a b"]));
    }
}
