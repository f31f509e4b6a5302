//! Functions of the C library for blocks and strings: what they read and write are accesses.

use clewline_testing::pick;

use super::program::build;

/// Functions that read, of which some show a torn text.
const READS: [&str; 19] = [
    "strlen",
    "strcmp",
    "memcmp",
    "memcmp_word",
    "strnlen",
    "strchr",
    "strrchr",
    "strspn",
    "strcspn",
    "memchr",
    "strdup",
    "strndup",
    "bcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strcat",
    "strstr",
    "strpbrk",
];
const TORN: usize = READS.len() - 2;

/// Functions that write.
const WRITES: [&str; 12] = [
    "strcpy",
    "strncpy",
    "literal",
    "strcat",
    "stpcpy",
    "stpncpy",
    "strncat",
    "mempcpy",
    "memccpy",
    "bcopy",
    "bzero",
    "explicit_bzero",
];

const JSON: [&str; 4] = ["--format", "json", "--shrink", "none"];

/// Each function with another one, which writes or reads the same text.
fn pairs() -> Vec<String> {
    let reads = READS[..TORN].iter().map(|it| format!("write_strcpy | read_{it}"));
    let writes = WRITES.iter().map(|it| format!("write_{it} | read_strlen"));
    reads.take(pick(4, TORN)).chain(writes.take(pick(3, WRITES.len()))).collect()
}

fn initial(matrix: &str) -> &'static [&'static str] {
    if matrix.contains("bzero") { &["--initial", "fill"] } else { &[] }
}

#[test]
fn a_text_is_torn_by_every_function_with_every_compiler_and_level() {
    for level in pick(vec!["-O2"], vec!["-O0", "-O1", "-O2", "-O3", "-Os"]) {
        let Some(program) = build("strings.c", &[level]) else { return };
        for matrix in pairs() {
            let given = [&["--matrix", &matrix, "--no-races"], &JSON[..], initial(&matrix)].concat();
            program.run(&given).violated("not-linearizable");
        }
    }
}

/// All functions are seen: what they access without a lock is a data race, and with one it holds.
#[test]
#[ignore = "long"]
fn what_functions_for_strings_access_races_unless_a_lock_orders_it() {
    let [Some(racing), Some(locked)] = [build("strings.c", &["-O2"]), build("strings.c", &["-O2", "LOCKED"])]
    else {
        return;
    };
    let reads = READS.iter().map(|it| format!("write_strcpy | read_{it}"));
    let writes = WRITES.iter().map(|it| format!("write_{it} | read_strlen"));
    for matrix in reads.chain(writes) {
        let given = [&["--matrix", &matrix], &JSON[..], initial(&matrix)].concat();
        racing.run(&given).violated("data-race");
        if !matrix.contains("zero") {
            locked.run(&given).holds();
        }
    }
}

/// Words after the byte that decides are not read, so nothing races with them.
#[test]
fn what_decides_nothing_is_not_read() {
    let Some(program) = build("strings.c", &["-O2"]) else { return };
    program.run(&[&["--matrix", "write_end | read_beginning"], &JSON[..]].concat()).holds();
}

/// At every alignment and length, in memory that is shared and in own memory, also where every word
/// is a scheduling point.
#[test]
fn results_are_those_of_the_standard() {
    let Some(program) = build("strings.c", &["-O2"]) else { return };
    program.run(&[&["--matrix", "check_all | step"], &JSON[..]].concat()).holds();
    program.run(&[&["--matrix", "check_all", "--points", "all"], &JSON[..]].concat());
}
