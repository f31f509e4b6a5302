//! Copies of more than a word: other threads run between any two words.

use clewline_testing::pick;

use super::program::{Program, build};

/// What is violated, with every compiler and every level of optimization.
const TORN: [&str; 15] = [
    "write_struct(1) | read_struct",
    "write_memcpy(1) | read_memcpy",
    "write_memmove(1) | read_memmove",
    "write_builtin(1) | read_builtin",
    "write_loop(1) | read_loop",
    "write_volatile(1) | read_volatile",
    "write_memset(1) | read_struct",
    "write_memcpy(1) | read_sum",
    "write_struct(1) | read_returned",
    "write_pair(1) | read_pair",
    "write_odd(1) | read_odd",
    "write_struct(1) | half_written",
    "write_both | half_read_struct",
    "write_both | half_read_memcpy",
    "write_struct(1) move_struct | read_moved",
];

#[test]
fn a_torn_copy_is_found_with_every_compiler_and_level() {
    for level in pick(vec!["-O0", "-O2"], vec!["-O0", "-O1", "-O2", "-O3"]) {
        let Some(program) = build("torn.c", &[level]) else { return };
        for matrix in TORN {
            let given = ["--matrix", matrix, "--format", "json", "--shrink", "none", "--no-races"];
            program.run(&given).violated("not-linearizable");
        }
        let zeros = ["--matrix", "write_zeros | read_struct", "--initial", "write_memset(1)"];
        let found =
            program.run(&[&zeros[..], &["--format", "json", "--shrink", "none", "--no-races"]].concat());
        found.violated("not-linearizable");
    }
}

/// gcc announces the write of a copy before its read, and a small block may be in one word here and
/// in two there.
#[test]
fn a_small_copy_from_one_word_to_two_is_seen() {
    for level in pick(vec!["-O1"], vec!["-O0", "-O1", "-O2", "-O3"]) {
        let Some(program) = build("crossing.c", &[level]) else { return };
        for size in [2, 3, 4, 5, 7, 8] {
            let matrix = format!("write_{size}(1) | read_{size}");
            program.run(&["--matrix", &matrix, "--format", "json"]).violated("data-race");
            let given = ["--matrix", &matrix, "--format", "json", "--shrink", "none", "--no-races"];
            program.run(&given).violated("not-linearizable");
        }
    }
}

/// In a process for each execution it is the same, and each word is a step with its value.
#[test]
fn the_words_of_a_torn_copy_are_steps() {
    let Some(program) = build("torn.c", &["-O2"]) else { return };
    for matrix in ["write_pair(1) | read_pair", "write_both | half_read_struct"] {
        program.check(matrix, &["--no-races"]).violated("not-linearizable");
    }
    let found = program.run(&["--matrix", "write_both | half_read_struct", "--no-races"]);
    assert!(found.text().contains("load x1: 0, plain"), "{}", found.out);
    assert!(found.text().contains("load x2: 1, plain"), "{}", found.out);
}

/// What `find_…` may read while two threads write.
fn results(program: &Program, kind: &str) -> Vec<u32> {
    let is_found = |it: &u32| {
        let matrix = format!("set_{kind}(1) | set_{kind}(2) | find_{kind}({it})");
        let bounds =
            ["--matrix", &matrix, "--format", "json", "--preemptions", "none", "--scheduler", "dpor"];
        program.run(&[&bounds[..], &["--shrink", "none", "--no-races"]].concat()).code == Some(1)
    };
    (0..27).filter(is_found).collect()
}

/// A block has the same results as accesses to its words, and no others.
#[test]
#[ignore = "long"]
fn blocks_are_read_and_written_as_their_words_are() {
    let Some(program) = build("torn.c", &["-O1"]) else { return };
    let program = pick(program.by_first(), program);
    let expected = results(&program, "words");
    assert_eq!(expected.len(), 27);
    for kind in ["struct", "memcpy"] {
        assert_eq!(results(&program, kind), expected, "{kind}");
    }
}

/// No other thread accesses the blocks, or a lock orders the accesses: that adds no execution.
#[test]
#[ignore = "long"]
fn blocks_that_do_not_race_cost_nothing() {
    for level in ["-O0", "-O2"] {
        let Some(program) = build("torn.c", &[level]) else { return };
        let [racing, atomics] = ["racing", "atomics"].map(|points| {
            let found = program.check("write_locked(1) read_locked | write_locked(2)", &["--points", points]);
            found.holds();
            found.number("executions")
        });
        assert_eq!(racing, atomics, "{level}");
    }
}
