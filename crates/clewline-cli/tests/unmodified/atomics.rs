//! Atomic operations of every size, and accesses that are larger than a word.

use super::program::build;

#[test]
fn operations_of_every_size_do_what_they_should() {
    let Some(program) = build("atomics.c", &[]) else { return };
    program.check("all", &[]).holds();
    program.check("all", &["--points", "all"]).holds();
}

/// A copy of two words conflicts with a store to the second one.
#[test]
fn a_reduction_knows_that_large_accesses_meet_small_ones() {
    let Some(program) = build("atomics.c", &[]) else { return };
    let histories = ["exhaustive", "dpor"].map(|scheduler| {
        let arguments = ["--points", "all", "--scheduler", scheduler, "--preemptions", "none", "--no-races"];
        let found = program.check("half(1) | whole", &arguments);
        found.holds();
        found.number("histories")
    });
    // One before the other, or both concurrently with either result.
    assert_eq!(histories, [4, 4]);
}
