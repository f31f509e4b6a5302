//! Functions of libraries that read memory, or write a result to it: what is seen of them.

use clewline_testing::pick;

use super::program::build;

/// Functions of which it is known what they read.
const READS: [&str; 15] = [
    "snprintf",
    "atoi",
    "write",
    "writev",
    "access",
    "rename",
    "poll",
    "select",
    "vsnprintf",
    "qsort",
    "strtol",
    "strtod",
    "sscanf",
    "fwrite",
    "wcslen",
];
/// Functions that may read less than the whole text.
const PARTS: [&str; 5] = ["strcoll", "memmem", "wcscmp", "fnmatch", "strftime"];
/// Functions of the runtime with a result in memory.
const OUT: [&str; 9] = [
    "pthread_create",
    "clock_gettime",
    "pthread_join",
    "posix_memalign",
    "gettimeofday",
    "time",
    "getrandom",
    "poll",
    "select",
];

const JSON: [&str; 4] = ["--format", "json", "--shrink", "none"];

fn matrices() -> Vec<String> {
    let reads = READS.iter().take(pick(4, READS.len())).map(|it| format!("write | read_{it}"));
    let out = OUT.iter().take(pick(2, OUT.len())).map(|it| format!("out_{it} | see_{it}"));
    reads.chain(out).collect()
}

#[test]
fn what_libraries_read_and_return_races_unless_a_lock_orders_it() {
    for level in pick(vec!["-O2"], vec!["-O0", "-O2"]) {
        let [Some(racing), Some(locked)] =
            [build("libraries.c", &[level]), build("libraries.c", &[level, "LOCKED"])]
        else {
            return;
        };
        for matrix in matrices() {
            let given = [&["--matrix", &matrix], &JSON[..]].concat();
            racing.run(&given).violated("data-race");
            locked.run(&given).holds();
        }
        for name in PARTS {
            let matrix = format!("write | read_{name}");
            let given = [&["--matrix", &matrix], &JSON[..]].concat();
            let ran = racing.by_first().run(&given);
            ran.unknown(&format!("{name} (libc.so.6) reads memory that other threads write"));
            racing.by_first().run(&[&given[..], &["--trust", name]].concat()).holds();
            locked.run(&given).holds();
        }
    }
}

/// Without the detection of races, a torn input is unknown at least.
#[test]
fn a_torn_input_does_not_hold_without_the_detection_of_races() {
    let Some(program) = build("libraries.c", &["-O2"]) else { return };
    for name in ["qsort", "fwrite"].into_iter().take(pick(1, 2)) {
        let matrix = format!("write | read_{name}");
        let ran = program.run(&[&["--matrix", &matrix, "--no-races"], &JSON[..]].concat());
        ran.unknown(&format!("{name} (libc.so.6) reads memory that other threads write"));
    }
}

#[test]
fn what_follows_a_number_or_the_part_of_a_text_is_not_read() {
    let Some(program) = build("libraries.c", &["-O2"]) else { return };
    program.run(&[&["--matrix", "write_ends | read_beginnings"], &JSON[..]].concat()).holds();
}
