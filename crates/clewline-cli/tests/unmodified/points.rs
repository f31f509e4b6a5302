//! Scheduling points: racing accesses suffice to find all violations.

use std::{fmt::Write, fs, path::Path};

use super::program::build;

/// Random numbers that are always the same.
struct Generator(u64);

impl Generator {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

// Two of them share a word.
const VARIABLES: [&str; 4] = ["half", "other", "word", "last"];
const OPERATIONS: u64 = 32;

/// An access to a variable, plain or atomic. The value read becomes part of the result.
fn access(random: &mut Generator) -> String {
    let variable = VARIABLES[random.below(4) as usize];
    let value = 1 + random.below(3);
    match random.below(7) {
        0..=2 => format!("seen = 4 * seen + {variable};"),
        3 => format!("{variable} = {value};"),
        4 => format!("seen = 4 * seen + __atomic_load_n(&{variable}, __ATOMIC_SEQ_CST);"),
        5 => format!("__atomic_store_n(&{variable}, {value}, __ATOMIC_SEQ_CST);"),
        _ => format!("seen = 4 * seen + __atomic_exchange_n(&{variable}, {value}, __ATOMIC_SEQ_CST);"),
    }
}

/// Operations of a few accesses, some of them below a lock.
fn program(random: &mut Generator) -> String {
    let mut text = String::from(
        "#include <clewline.h>\n#include <pthread.h>\nstatic struct { int half, other; long word, last; } s;\n\
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
         #define half s.half\n#define other s.other\n#define word s.word\n#define last s.last\n\
         CLEWLINE_INIT { half = other = 0; word = last = 0; }\n",
    );
    for at in 0..OPERATIONS {
        let is_locked = random.below(4) == 0;
        let accesses: Vec<String> = (0..2 + random.below(2)).map(|_| access(random)).collect();
        // The compiler must not make one of two.
        let body = accesses.join(" __asm__ volatile(\"\" ::: \"memory\"); ");
        let (take, give) = match is_locked {
            true => ("pthread_mutex_lock(&lock);", "pthread_mutex_unlock(&lock);"),
            false => ("", ""),
        };
        let written = writeln!(
            text,
            "CLEWLINE_OPERATION(op{at}) {{ long seen = 1; {take} {body} {give} return seen; }}"
        );
        written.expect("a string takes all");
    }
    text
}

#[test]
#[ignore = "long"]
fn points_at_accesses_that_race_find_what_points_everywhere_do() {
    let mut random = Generator(1);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mixed.c");
    fs::write(&file, program(&mut random)).expect("a file");
    let Some(program) = build(&file.to_string_lossy(), &[]) else { return };
    // Other tests check that compilers agree.
    let program = program.by_first();
    let mut by_verdict = [0, 0];
    let mut missed = 0;
    for is_wide in [true, false].repeat(75) {
        let mut some = |n: u64| {
            let names: Vec<String> = (0..n).map(|_| format!("op{}", random.below(OPERATIONS))).collect();
            names.join(" ")
        };
        let initial = some(1);
        let matrix = match is_wide {
            true => [some(1), some(1), some(1)].join(" | "),
            false => [some(2), some(1)].join(" | "),
        };
        let holds = |(scheduler, points): (&str, &str)| {
            let bounds = ["--initial", &initial, "--preemptions", "none", "--scheduler", scheduler];
            program
                .check(&matrix, &[&bounds[..], &["--points", points, "--no-races"]].concat())
                .field("verdict")
                == "holds"
        };
        let all = holds(("exhaustive", "all"));
        for way in [("exhaustive", "racing"), ("dpor", "all"), ("dpor", "racing")] {
            assert_eq!(holds(way), all, "{way:?}, {initial}, {matrix} in {}", file.display());
        }
        by_verdict[usize::from(all)] += 1;
        missed += u32::from(holds(("exhaustive", "atomics")) && !all);
    }
    assert!(by_verdict.iter().all(|it| 20 < *it), "{by_verdict:?}");
    // They are needed.
    assert!(20 < missed, "{missed}");
}
