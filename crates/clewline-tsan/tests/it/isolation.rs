//! Executions in processes of their own, which are those that there are without.

use super::program::{Program, build};

#[track_caller]
fn agree(program: &Program, matrix: &str, arguments: &[&str]) {
    let [alone, isolated] = [vec![], vec!["--isolate"]].map(|more| {
        let found = program.check(matrix, &[arguments, &more].concat());
        let fields = ["verdict", "executions", "histories", "stuck"].map(|it| found.field(it));
        let cause = (fields[0] == "violated").then(|| [found.field("cause"), found.field("replay")]);
        (fields, cause)
    });
    assert_eq!(alone, isolated, "{matrix} {arguments:?}");
}

#[test]
fn processes_make_no_difference() {
    let (Some(stack), Some(wrong)) = (build("treiber.c", &["BUG=0"]), build("wrong.c", &[])) else { return };
    for points in ["racing", "all"] {
        agree(&stack, "push(1) pop | push(2) pop", &["--points", points]);
        agree(&wrong, "add get | add get", &["--points", points]);
    }
    agree(&wrong, "forth | back", &[]);
    agree(&wrong, "hide | look", &[]);
    agree(&wrong, "drop | drop", &[]);
    agree(&wrong, "count try_count | try_count", &[]);
}
