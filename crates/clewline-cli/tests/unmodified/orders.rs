//! Orderings that are weakened one by one: each that matters is found under `rc11`, and no other is
//! accused.

use clewline_testing::pick;

use super::program::build;

/// A structure with numbered orderings.
struct Structure {
    file: &'static str,
    matrices: &'static [&'static str],
    /// Of each number: whether it matters.
    matters: &'static [bool],
}

const STRUCTURES: [Structure; 9] = [
    Structure {
        file: "spsc_ring.c",
        matrices: &["push(1) push(2) | pop pop"],
        matters: &[true, true, true, true, false, false],
    },
    Structure {
        file: "vyukov_ring.c",
        matrices: &["push(1) push(2) push(3) | pop pop"],
        matters: &[true, true, true, true, false, false],
    },
    Structure {
        file: "treiber_stack.c",
        matrices: &["push(1) pop | push(2) pop"],
        matters: &[true, true, true, false, false],
    },
    Structure {
        file: "ms_queue.c",
        matrices: &["enq(1) deq | enq(2) deq", "enq(1) | deq | enq(2)", "enq(1) | enq(2) | enq(3)"],
        matters: &[true, true, true, true, true, true, true, true, false, true],
    },
    Structure {
        file: "chase_lev_deque.c",
        matrices: &["push(1) push(2) take | steal steal"],
        matters: &[true, true, true, false, true, false, false, false],
    },
    Structure {
        file: "seqlock.c",
        matrices: &["write(1) write(2) | read"],
        matters: &[true, true, true, true, false],
    },
    Structure { file: "ticket_lock.c", matrices: &["add add | add"], matters: &[true, true, false] },
    Structure {
        file: "rcu_pointer.c",
        matrices: &["update(1) update(2) | read"],
        matters: &[true, true, false],
    },
    Structure { file: "dekker_lock.c", matrices: &["first | second"], matters: &[true, true, false, false] },
];

impl Structure {
    /// Whether it is violated with this ordering weakened, and after how many executions.
    fn is_violated(&self, number: usize, model: &str) -> Option<(bool, u64)> {
        let program = build(&format!("orders/{}", self.file), &["-O2", &format!("WEAKENED={number}")])?;
        let program = pick(program.by_first(), program);
        let mut executions = 0;
        for matrix in self.matrices {
            let more = ["--memory-model", model, "--scheduler", "bounded-dpor", "--shrink", "none"];
            let found = program.run(&[&["--matrix", matrix, "--format", "json"], &more[..]].concat());
            assert!(matches!(found.code, Some(0 | 1)), "{} {number}: {}{}", self.file, found.out, found.err);
            executions += found.number("executions");
            if found.code == Some(1) {
                return Some((true, executions));
            }
        }
        Some((false, executions))
    }
}

#[test]
fn each_ordering_that_matters_is_found_and_no_other_is_accused() {
    for (at, structure) in STRUCTURES.iter().enumerate() {
        // The lock has few executions, and so has the pointer.
        if pick(![7, 8].contains(&at), false) {
            continue;
        }
        let last = structure.matters.len();
        for number in (pick(1, 0)..=last).step_by(pick(last - 1, 1)) {
            let Some((is_violated, executions)) = structure.is_violated(number, "rc11") else { return };
            let matters = number != 0 && structure.matters[number - 1];
            eprintln!("{} {number}: {is_violated}, {executions}", structure.file);
            assert_eq!(is_violated, matters, "{} {number}", structure.file);
        }
    }
}
