//! `clewline cc`, `clewline run`, `clewline cargo test` and `clewline header`: unmodified code.
//!
//! Without a compiler or the runtime, tests print a notice and are skipped.

use std::process::Command;

use clewline_lab::reproduce::names_in_c;
use clewline_testing::pick;
use clewline_unmodified::{Compiler, HEADER, Runtime, Toolchain, check_platform};

use crate::run::{Folder, clewline};

/// Whether programs can be built and run; a notice if not.
pub(crate) fn is_possible() -> bool {
    let missing = Runtime::find().err().or(Compiler::find(None).err());
    if let Some(error) = &missing {
        eprintln!("notice: skipped: {error}");
    }
    missing.is_none()
}

const STACK: &str = "\
#include <stdlib.h>
#include \"stack.h\"
struct node { long value; struct node *next; };
struct stack { struct node *head; };
struct stack *stack_new(void) { return calloc(1, sizeof(struct stack)); }
void stack_push(struct stack *s, long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    do {
        node->next = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);
    } while (!__sync_bool_compare_and_swap(&s->head, node->next, node));
}
int stack_pop(struct stack *s, long *value) {
    struct node *head = __atomic_load_n(&s->head, __ATOMIC_ACQUIRE);
    if (!head)
        return 0;
    __atomic_store_n(&s->head, head->next, __ATOMIC_RELEASE);
    *value = head->value;
    return 1;
}
";

const STACK_H: &str = "\
struct stack;
struct stack *stack_new(void);
void stack_push(struct stack *s, long value);
int stack_pop(struct stack *s, long *value);
";

const STACK_TEST: &str = "\
#include <clewline.h>
#include \"stack.h\"
static struct stack *s;
CLEWLINE_INIT { s = stack_new(); }
CLEWLINE_OPERATION(push, value) { stack_push(s, value); return CLEWLINE_NOTHING; }
CLEWLINE_OPERATION(pop) { long value; return stack_pop(s, &value) ? value : CLEWLINE_EMPTY; }
";

fn stack(name: &str) -> Folder {
    Folder::new(name).with("stack.c", STACK).with("stack.h", STACK_H).with("stack_test.c", STACK_TEST)
}

#[test]
fn the_header_is_printed() {
    let ran = clewline(&Folder::new("header"), &["header"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, HEADER));
}

#[test]
fn a_bug_in_c_is_found_and_shown_with_its_lines() {
    if !is_possible() {
        return;
    }
    let folder = stack("cc");
    let args = ["cc", "stack_test.c", "stack.c", "--matrix", "pop | pop", "--initial", "push(1)"];
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.first_line().starts_with("violated: stack_test is not linearizable"), "{}", ran.stdout);
    assert!(ran.stdout.contains("stack.c:17"), "{}", ran.stdout);
    assert!(ran.stdout.contains("clewline cc stack_test.c stack.c"), "{}", ran.stdout);
}

#[test]
fn the_command_of_a_report_replays_the_violation() {
    if !is_possible() {
        return;
    }
    let folder = stack("cc-again");
    let args = ["cc", "stack_test.c", "stack.c", "-O2", "--threads", "2", "--operations", "2", "--seed", "1"];
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let typed = ran.stdout.lines().find_map(|it| it.strip_prefix("next: ")).expect("what to type");
    assert!(typed.starts_with("clewline cc stack_test.c stack.c -O2"), "{typed}");
    let words = words(typed);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let again = clewline(&folder, &words, "");
    assert_eq!(again.code, 1, "{typed}\n{}{}", again.stdout, again.stderr);
    assert_eq!(results(&again.stdout), results(&ran.stdout));
}

const MANY: &str = "\
#include <clewline.h>
static long a, b, c, d, e, f;
CLEWLINE_OPERATION(add) {
    a++; b++; c++; d++; e++; f++;
    return a + b + c + d + e + f;
}
CLEWLINE_MATRIX(\"add | add\")
";

/// Places in a function are the same in a build in which it is elsewhere.
#[test]
fn a_replay_names_racing_accesses_by_their_functions() {
    if !is_possible() {
        return;
    }
    let text = "#include <clewline.h>\nstatic long a;\nCLEWLINE_OPERATION(add) { return ++a; }\n\
                CLEWLINE_MATRIX(\"add | add\")\n";
    let folder = Folder::new("cc-racing").with("racing.c", text);
    let ran = clewline(&folder, &["cc", "racing.c"], "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let typed = ran.stdout.lines().find_map(|it| it.strip_prefix("next: ")).expect("what to type");
    let (_, racing) = typed.split_once(" --racing ").expect("it needs them");
    assert!(
        racing.split(' ').next().is_some_and(|it| it.split(',').all(|it| it.contains("add+0x"))),
        "{typed}"
    );
    let words = words(typed);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let other = text.replacen('\n', "\nlong sum(long *of) { return of[0] + of[1] * of[2] - of[3]; }\n", 1);
    let folder = folder.with("racing.c", &other);
    let again = clewline(&folder, &words, "");
    assert_eq!(again.code, 1, "{typed}\n{}{}", again.stdout, again.stderr);
    assert_eq!(results(&again.stdout), results(&ran.stdout));
    let folder = folder.with("racing.c", &text.replace("add", "bump"));
    let ran = clewline(&folder, &words, "");
    let expected = "is not in the program: was it changed since the report?";
    assert!(ran.code == 2 && ran.stderr.contains(expected), "{ran:?}");
}

/// Many addresses are in a file, and the command can still be pasted.
#[test]
fn a_long_list_of_racing_accesses_is_a_file() {
    if !is_possible() {
        return;
    }
    let folder = Folder::new("cc-many").with("many.c", MANY);
    let ran = clewline(&folder, &["cc", "many.c"], "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let typed = ran.stdout.lines().find_map(|it| it.strip_prefix("next: ")).expect("what to type");
    assert!(typed.contains(" --racing target/clewline/racing-"), "{typed}");
    let words = words(typed);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let again = clewline(&folder, &words, "");
    assert_eq!(again.code, 1, "{typed}\n{}{}", again.stdout, again.stderr);
    assert_eq!(results(&again.stdout), results(&ran.stdout));
    // Without the file there is nothing to replay.
    std::fs::remove_dir_all(folder.path("target")).unwrap();
    let ran = clewline(&folder, &words, "");
    assert!(ran.code == 2 && ran.stderr.contains("is neither a place in a function nor a file"), "{ran:?}");
}

/// Words as a shell reads them that knows double quotes and single ones.
fn words(typed: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for it in typed.chars() {
        match quote {
            Some(end) if it == end => quote = None,
            Some(_) => word.push(it),
            None if it == '"' || it == '\'' => quote = Some(it),
            None if it == ' ' => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            None => word.push(it),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// The results of the calls, in a report.
fn results(report: &str) -> String {
    let (_, from) = report.split_once("What the calls returned").expect("the results are shown");
    from.split("How it came about").next().unwrap_or_default().to_owned()
}

#[test]
fn code_that_does_not_compile_is_an_error_with_the_compilers_words() {
    if !is_possible() {
        return;
    }
    let folder = Folder::new("cc-bad").with("bad.c", "int main(void) { return oops; }\n");
    let ran = clewline(&folder, &["cc", "bad.c"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("bad.c does not compile") && ran.stderr.contains("oops"), "{}", ran.stderr);
}

#[test]
fn impossible_requests_get_one_message() {
    let folder = Folder::new("cc-nothing").with("a.c", "");
    let ran = clewline(&folder, &["cc", "--operations", "2"], "");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let ran = clewline(&folder, &["cc", "a.c", "--compiler", "no-such-compiler"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    if check_platform().is_ok() && Runtime::find().is_ok() {
        assert!(ran.stderr.contains("found none of no-such-compiler"), "{}", ran.stderr);
    } else {
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
    let ran = clewline(&folder, &["run", "./no-such-program"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

/// The compilers that there are.
fn compilers() -> impl Iterator<Item = &'static str> {
    ["gcc", "clang"].into_iter().filter(|it| Compiler::find(Some(it)).is_ok())
}

const ARGUMENTS: &str = "\
#include <clewline.h>
static long values[3];
CLEWLINE_OPERATION(get, key) { return __atomic_load_n(&values[key], __ATOMIC_SEQ_CST); }
CLEWLINE_OPERATION(put, key, value) {
    __atomic_store_n(&values[key], value, __ATOMIC_SEQ_CST);
    return CLEWLINE_NOTHING;
}
CLEWLINE_OPERATION(three, a, b, c) { return a * 100 + b * 10 + c; }
CLEWLINE_OPERATION(four, a, b, c, d) {
    if (a != 1 || b != -2 || c != 3 || d != 4)
        clewline_fail(\"the arguments\");
    return d;
}
";

#[test]
#[ignore = "long"]
fn operations_have_up_to_four_arguments() {
    if !is_possible() {
        return;
    }
    let folder = Folder::new("cc-arguments").with("it.c", ARGUMENTS).with("it.cpp", ARGUMENTS);
    // In `./test`, each compiler compiles one of the two languages.
    let all = compilers().enumerate().flat_map(|(at, it)| [(at, it, "it.c"), (at + 1, it, "it.cpp")]);
    for (at, compiler, file) in all.filter(|it| pick(it.0 % 2 == 0, true)) {
        let run =
            |more: &[&str]| clewline(&folder, &[&["cc", "--compiler", compiler, file], more].concat(), "");
        let ran = run(&["--matrix", "put(1, 2) four(1,-2,3,4) | three(1, 2, 1) get(1)"]);
        assert_eq!(ran.code, 0, "{compiler} {file}: {}{}", ran.stdout, ran.stderr);
        let ran = run(&["--matrix", "four(1, 2, 3, 4)"]);
        assert!(ran.code == 1 && ran.stdout.contains("the arguments"), "{}{}", ran.stdout, ran.stderr);
        for (matrix, message) in [
            ("put(1)", "`put(1)`: expected 2 numbers, as in `put(1, 2)`"),
            ("put(1, x)", "`put(1, x)`: expected a number or a \"string\", found `x`"),
            ("get", "`get`: expected a number, as in `get(1)`"),
        ]
        .into_iter()
        .filter(|_| pick(at == 0, true))
        {
            let ran = run(&["--matrix", matrix]);
            assert!(ran.code == 2 && ran.stderr.contains(message), "{matrix}: {}{}", ran.stdout, ran.stderr);
        }
    }
    // Without a matrix, each argument is 1 or 2.
    let ran = clewline(&folder, &["cc", "it.c", "--samples", "9", "--seed", "1", "--format", "json"], "");
    let has_two = |it| ran.stdout.contains(it);
    assert!(has_two("(1, ") || has_two("(2, "), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_operation_that_cannot_be_called_does_not_compile() {
    if !is_possible() {
        return;
    }
    for (text, message) in [
        (
            "CLEWLINE_OPERATION(put, a, b, c, d, e) { return a; }",
            "the operation `put` has more than four arguments",
        ),
        ("CLEWLINE_OPERATION() { return 1; }", "CLEWLINE_OPERATION needs a name"),
        (
            "CLEWLINE_OPERATION(put, a)\n{\n  if (a)\n    return 1;\n}",
            "the operation `put` does not return on every path",
        ),
        ("CLEWLINE_OPERATION(put) { }", "the operation `put` does not return on every path"),
    ] {
        let text = format!("#include <clewline.h>\n{text}\n");
        let folder = Folder::new("cc-misdeclared").with("it.c", &text).with("it.cpp", &text);
        for (compiler, file) in compilers().flat_map(|it| [(it, "it.c"), (it, "it.cpp")]) {
            let ran = clewline(&folder, &["cc", "--compiler", compiler, file], "");
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{compiler} {text}");
            assert!(ran.stderr.contains(message), "{compiler} {file}: {}", ran.stderr);
        }
    }
}

/// Of two declarations one would be dropped, and a test without operations has none to make.
#[test]
fn what_is_declared_twice_or_not_at_all_is_an_error() {
    if !is_possible() {
        return;
    }
    let operation = "CLEWLINE_OPERATION(get) { return 1; }\n";
    for (one, other, message) in [
        (operation, operation, "the operation `get` is declared twice"),
        (
            "CLEWLINE_INIT {}\n",
            "CLEWLINE_INIT {}\nCLEWLINE_OPERATION(get) { return 1; }\n",
            "`CLEWLINE_INIT` is declared twice",
        ),
        ("CLEWLINE_INIT {}\n", "", "nothing was registered that could be called"),
    ] {
        let [one, other] = [one, other].map(|it| format!("#include <clewline.h>\n{it}"));
        let folder = Folder::new("cc-twice").with("one.c", &one).with("other.c", &other);
        let ran = clewline(&folder, &["cc", "one.c", "other.c"], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{one}{other}: {ran:?}");
        assert!(ran.stderr.contains(message), "{message}: {ran:?}");
    }
}

#[test]
fn only_tables_with_programs_in_c_take_them() {
    let folder = Folder::new("lang");
    let ran = clewline(&folder, &["reproduce", "monitoring-fig1", "--quick", "--lang", "c"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(names_in_c().all(|it| ran.stderr.contains(it)), "{}", ran.stderr);
}

#[test]
#[ignore = "long"]
fn tables_are_run_with_programs_in_c() {
    if !is_possible() {
        return;
    }
    for name in names_in_c() {
        let folder = Folder::new(&format!("lang-{name}"));
        let args = ["reproduce", name, "--lang", "c", "--quick", "--format", "json"];
        let ran = clewline(&folder, &args, "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name}");
        assert!(ran.json().len() >= 18, "{name}");
        // In few executions not every bug is found, but there is no false alarm.
        for row in ran.json() {
            let subject = row["subject"].as_str().unwrap().to_owned();
            let is_right = !subject.contains(':') && subject != "iqueue" && subject != "sl-queue";
            let is_quasi =
                name != "round-up-table-2" || ["herlihy-wing-queue", "quasi-stack"].contains(&&*subject);
            if is_right && is_quasi {
                assert_ne!(row["ours_violation"], "yes", "{name}: {row}");
            }
        }
    }
}

#[test]
fn this_toolchain_instruments() {
    match Toolchain::find() {
        Ok(toolchain) => {
            let runtime = Runtime::find();
            if let Ok(runtime) = runtime {
                let flags = toolchain.flags(&runtime);
                assert!(flags.iter().any(|it| it == "-ldylib=clewline_tsan"), "{flags:?}");
            }
        }
        Err(error) => eprintln!("notice: skipped: {error}"),
    }
}

pub(crate) const CRATE: &str =
    "[package]\nname = \"lost\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";

const LIB: &str = "\
#[cfg(test)]
mod tests {
    use std::{sync::atomic::{AtomicU32, Ordering::SeqCst}, thread};

    fn twice(add: fn(&AtomicU32)) -> u32 {
        let count = AtomicU32::new(0);
        thread::scope(|it| {
            it.spawn(|| add(&count));
            it.spawn(|| add(&count));
        });
        count.into_inner()
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(twice(|it| { it.fetch_add(1, SeqCst); }), 2);
    }

    #[test]
    fn something_is_lost() {
        assert_eq!(twice(|it| it.store(it.load(SeqCst) + 1, SeqCst)), 2);
    }

    #[test]
    fn what_is_in_assembly() {
        twice(|it| unsafe { std::arch::asm!(\"lock inc dword ptr [{}]\", in(reg) it.as_ptr()) });
    }

    #[test]
    fn panics_in_a_thread() {
        static FLAG: AtomicU32 = AtomicU32::new(0);
        let thread = thread::spawn(|| assert!(FLAG.load(SeqCst) == 0, \"the flag is set\"));
        FLAG.store(1, SeqCst);
        thread.join().unwrap();
    }

    #[test]
    #[should_panic]
    fn should_panic_and_need_not() {
        assert_eq!(twice(|it| it.store(it.load(SeqCst) + 1, SeqCst)), 1);
    }

    #[test]
    fn returns_an_error() -> Result<(), String> {
        let n = twice(|it| it.store(it.load(SeqCst) + 1, SeqCst));
        if n == 2 { Ok(()) } else { Err(format!(\"there are {n}\")) }
    }
}
";

#[test]
#[ignore = "long"]
fn tests_of_a_crate_are_explored_one_by_one() {
    if !is_possible() {
        return;
    }
    if let Err(error) = Toolchain::find() {
        eprintln!("notice: skipped: {error}");
        return;
    }
    let folder = Folder::new("cargo").with("Cargo.toml", CRATE);
    std::fs::create_dir(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", LIB);
    let ran = clewline(&folder, &["cargo", "test", "nothing", "--", "--format", "json"], "");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()[0]["verdict"], "holds", "{}", ran.stdout);
    let ran = clewline(&folder, &["cargo", "test"], "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("holds: ") && ran.stdout.contains("violated: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("something_is_lost"), "{}", ran.stdout);
    assert!(ran.stdout.contains("lib.rs:21"), "{}", ran.stdout);
    // The message and the location of a panic are reported.
    let printed = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        printed.contains("assertion `left == right` failed left: 1 right: 2 (src/lib.rs:21)"),
        "{printed}"
    );
    assert!(
        printed.contains("the flag is set (src/lib.rs:32); after that: called `Result::unwrap()`"),
        "{printed}"
    );
    assert!(printed.contains("the test did not panic, though it should"), "{printed}");
    assert!(printed.contains("the test returned an error: \"there are 1\""), "{printed}");
    assert!(ran.stderr.contains("src/lib.rs:26: ") && ran.stderr.contains("`lock incl`"), "{}", ran.stderr);
    // Only the test that runs it is affected, and the user may vouch for it.
    let ran = clewline(&folder, &["cargo", "test", "assembly", "--", "--format", "json"], "");
    assert_eq!((ran.code, ran.json()[0]["verdict"].as_str()), (3, Some("unknown")), "{}", ran.stdout);
    assert!(ran.json()[0]["notes"].to_string().contains("src/lib.rs:26"), "{}", ran.stdout);
    let ran = clewline(&folder, &["cargo", "test", "assembly", "--", "--trust", "lib.rs"], "");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = clewline(&folder, &["cargo", "test", "no_such_test"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("no test name contains `no_such_test`"), "{}", ran.stderr);
}

const BANK: &str = "\
use std::sync::{Arc, Mutex};
pub fn transfer(from: &Mutex<u32>, to: &Mutex<u32>) {
    let mut one = from.lock().unwrap();
    let mut other = to.lock().unwrap();
    *one += 1;
    *other += 1;
}
#[test]
fn two_transfers() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (c, d) = (a.clone(), b.clone());
    let other = std::thread::spawn(move || transfer(&c, &d));
    transfer(&b, &a);
    other.join().unwrap();
}
";

const BANK_TEST: &str = "\
use std::sync::Mutex;
#[test]
fn one_transfer() {
    bank::transfer(&Mutex::new(0), &Mutex::new(0));
}
";

#[test]
fn a_deadlock_of_std_names_the_lines_of_the_user_and_all_tests_are_summarized() {
    if !is_possible() || Toolchain::find().is_err() {
        return;
    }
    let folder = Folder::new("cargo-bank").with("Cargo.toml", &CRATE.replace("lost", "bank"));
    for name in ["src", "tests"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    let folder = folder.with("src/lib.rs", BANK).with("tests/one.rs", BANK_TEST);
    let ran = clewline(&folder, &["cargo", "test", "--", "--junit", "all.xml"], "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let printed = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // The locks of `std` are words that threads wait for.
    for part in [
        "violated: two_transfers has a deadlock in main",
        "Thread b is blocked (src/lib.rs:4), waiting to be woken on x",
        "changed last (src/lib.rs:3). Thread c is blocked (src/lib.rs:4)",
    ] {
        assert!(printed.contains(part), "{part} in {}", ran.stdout);
    }
    let summary = &ran.stdout[ran.stdout.find("\nholds     one").unwrap()..];
    let lines: Vec<&str> = summary.trim().lines().collect();
    assert!(lines[0].starts_with("holds     one_transfer (-p bank --test one)"), "{summary}");
    assert!(lines[1].starts_with("violated  two_transfers (-p bank --lib)"), "{summary}");
    assert_eq!(lines[2], "    two_transfers has a deadlock in main, under sequential consistency");
    assert!(lines[3].starts_with("    clewline cargo test two_transfers -p bank --lib -- "), "{summary}");
    assert_eq!(lines[4..], ["2 tests: 1 violated, 1 holds"]);
    let junit = folder.read("all.xml");
    assert!(junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("type=\"deadlock\""), "{junit}");
    let built = clewline(&folder, &["cargo", "test", "--no-run"], "");
    assert_eq!((built.code, built.stdout.as_str()), (0, ""), "{}", built.stderr);
}

/// A program that kills itself has no verdict; the summaries say so.
#[test]
fn a_program_that_is_killed_is_in_the_summary() {
    if !is_possible() {
        return;
    }
    let program = "#include <signal.h>\nint main(void) { raise(SIGKILL); return 0; }\n";
    let folder = Folder::new("cc-killed").with("killed.c", program);
    assert_eq!(clewline(&folder, &["cc", "-o", "killed", "killed.c"], "").code, 0);
    let files = ["--junit", "junit.xml", "--markdown", "all.md", "--html", "page.html"];
    for command in [["cc", "killed.c"], ["run", "./killed"]] {
        for file in ["junit.xml", "all.md", "page.html"] {
            std::fs::write(folder.path(file), "of yesterday").unwrap();
        }
        let ran = clewline(&folder, &[&command[..], &files[..]].concat(), "");
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        assert!(folder.read("junit.xml").contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{ran:?}");
        for file in ["junit.xml", "all.md", "page.html"] {
            let text = folder.read(file);
            assert!(text.contains("ended without a verdict"), "{command:?}, {file}: {text}");
        }
    }
}

const KILLED: &str = "\
#[test]
fn it_is_killed() {
    unsafe extern \"C\" {
        fn raise(signal: i32) -> i32;
    }
    unsafe { raise(9) };
}
";

#[test]
fn a_test_that_is_killed_is_in_the_summary() {
    if !is_possible() || Toolchain::find().is_err() {
        return;
    }
    let folder = Folder::new("cargo-killed").with("Cargo.toml", &CRATE.replace("lost", "killed"));
    std::fs::create_dir(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", KILLED);
    let files = ["junit.xml", "all.md", "page.html"];
    for file in files {
        std::fs::write(folder.path(file), "of yesterday").unwrap();
    }
    let args = ["cargo", "test", "it_is_killed", "--", "--junit", files[0], "--markdown", files[1]];
    let ran = clewline(&folder, &[&args[..], &["--html", files[2]]].concat(), "");
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(folder.read("junit.xml").contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{ran:?}");
    for file in files {
        let text = folder.read(file);
        assert!(text.contains("it_is_killed") && text.contains("ended without a verdict"), "{file}: {text}");
    }
}

const IGNORED: &str = "\
use std::{sync::atomic::{AtomicU32, Ordering::SeqCst}, thread};
#[test]
#[\x69gnore = \"slow\"]
fn something_is_lost() {
    let count = AtomicU32::new(0);
    thread::scope(|it| {
        it.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
        it.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
    });
    assert_eq!(count.into_inner(), 2);
}
#[test]
fn nothing_is_lost() {}
";

/// A test that was not run has not passed, and neither has one that is not known.
#[test]
fn a_test_that_is_not_run_has_no_verdict() {
    if !is_possible() || Toolchain::find().is_err() {
        return;
    }
    let manifest =
        format!("{}\n[[test]]\nname = \"own\"\nharness = false\n", CRATE.replace("lost", "ignored"));
    let folder = Folder::new("cargo-ignored").with("Cargo.toml", &manifest);
    for name in ["src", "tests"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    let folder = folder.with("src/lib.rs", IGNORED).with("tests/own.rs", "fn main() {}\n");
    let ran = clewline(&folder, &["cargo", "test", "--lib", "--", "--junit", "all.xml"], "");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("\nignored  something_is_lost"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("2 tests: 1 holds, 1 ignored\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("note: ignored tests were not run: `-- --ignored`"), "{}", ran.stderr);
    let junit = folder.read("all.xml");
    assert!(junit.contains("errors=\"0\" skipped=\"1\"") && junit.contains("<skipped message="), "{junit}");
    // If no test is left, nothing is known.
    let ran = clewline(&folder, &["cargo", "test", "something", "--", "--format", "json"], "");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!((&ran.json()[0]["verdict"], ran.json().len()), (&"ignored".into(), 1), "{}", ran.stdout);
    let ran = clewline(&folder, &["cargo", "test", "--lib", "--", "--ignored"], "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("1 test: 1 violated\n"), "{}", ran.stdout);
    let typed = ran.stdout.lines().find_map(|it| it.strip_prefix("next: ")).expect("what to type");
    assert!(typed.contains(" -- --include-ignored "), "{typed}");
    let words = words(typed);
    let again = clewline(&folder, &words.iter().skip(1).map(String::as_str).collect::<Vec<_>>(), "");
    assert_eq!(again.code, 1, "{typed}\n{}{}", again.stdout, again.stderr);
    // The executable with a harness of its own.
    let ran = clewline(&folder, &["cargo", "test"], "");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("\nunknown  own-"), "{}", ran.stdout);
    assert!(ran.stdout.contains("it has a harness of its own that lists no tests"), "{}", ran.stdout);
}

const TWO: &str = "\
#[test]
fn one() {}
#[test]
fn two() {}
";

/// What an earlier process has explored is printed and counted again, and not explored.
#[test]
fn tests_that_are_finished_are_not_explored_again() {
    if !is_possible() || Toolchain::find().is_err() {
        return;
    }
    let folder = Folder::new("cargo-journal").with("Cargo.toml", &CRATE.replace("lost", "kept"));
    std::fs::create_dir(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", TWO);
    let args = ["cargo", "test", "--", "--journal", "it.journal", "--format", "json", "--junit", "it.xml"];
    let timeless = |ran: &crate::run::Ran| {
        let mut lines = ran.json();
        lines.iter_mut().for_each(|it| it.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_ms")));
        (ran.code, lines, folder.read("it.xml"))
    };
    let whole = timeless(&clewline(&folder, &args, ""));
    // Two tests, each under two memory models.
    assert_eq!((whole.0, whole.1.len()), (0, 4), "{whole:?}");
    let journal = folder.read("it.journal");
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 3, "{journal}");
    for kept in [3, 2, 1] {
        std::fs::write(folder.path("it.journal"), lines[..kept].concat()).unwrap();
        let ran = clewline(&folder, &args, "");
        assert_eq!(timeless(&ran), whole, "{kept}: {ran:?}");
        let again = folder.read("it.journal");
        assert!(again.starts_with(&lines[..kept].concat()) && again.lines().count() == 3, "{kept}: {again}");
    }
}

#[test]
fn several_tests_do_not_share_a_file() {
    if !is_possible() || Toolchain::find().is_err() {
        return;
    }
    let folder = Folder::new("cargo-two").with("Cargo.toml", &CRATE.replace("lost", "two"));
    std::fs::create_dir(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", TWO);
    for option in ["--svg", "--violation", "--observations"] {
        let ran = clewline(&folder, &["cargo", "test", "--", "--matrix", "main", option, "it"], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{option}: {}", ran.stderr);
        let expected = format!("error: {option} needs exactly one test; found 2 tests");
        assert!(ran.stderr.contains(&expected), "{option}: {}", ran.stderr);
        assert!(!folder.path("it").exists(), "{option}");
    }
}

const ASSEMBLY: &str = "\
#include <clewline.h>
long shared, add_elsewhere(long *, long);
static long add(long *at, long by) {
    __asm__ volatile(\"lock; xaddq %0, %1\" : \"+r\"(by), \"+m\"(*at) : : \"memory\");
    return by;
}
CLEWLINE_OPERATION(here, by) { return add(&shared, by); }
CLEWLINE_OPERATION(there, by) { return add_elsewhere(&shared, by); }
CLEWLINE_MATRIX(\"here(1) | there(1)\")
";

/// With either compiler; of libraries that were compiled otherwise, only that fact is reported.
/// What is not trusted makes the verdict unknown.
#[test]
fn code_without_instrumentation_is_reported() {
    if !is_possible() {
        return;
    }
    let elsewhere = "long add_elsewhere(long *at, long by) { return __atomic_fetch_add(at, by, 5); }\n";
    let folder = Folder::new("unseen").with("it.c", ASSEMBLY).with("elsewhere.c", elsewhere);
    for compiler in ["gcc", "clang"] {
        if Compiler::find(Some(compiler)).is_err() {
            eprintln!("notice: {compiler} is left out");
            continue;
        }
        let ran = clewline(&folder, &["cc", "--compiler", compiler, "it.c", "elsewhere.c"], "");
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("note: it.c:4: clewline_operation_here has `lock xaddq`"),
            "{}",
            ran.stderr
        );
        assert!(ran.stdout.contains("unknown: \"here(1) | there(1)\""), "{}", ran.stdout);
        let here = ["--trust", "clewline_operation_here"];
        let ran = clewline(
            &folder,
            &[&["cc", "--compiler", compiler, "it.c", "elsewhere.c"], &here[..]].concat(),
            "",
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        for (kind, flag) in [("o", "-c"), ("so", "-shared")] {
            let file = format!("./elsewhere.{kind}");
            let made = Command::new(compiler)
                .args([flag, "-fPIC", "elsewhere.c", "-o", &file])
                .current_dir(folder.path("."))
                .status();
            assert!(made.unwrap().success());
            let command = ["cc", "--compiler", compiler, "it.c", &file, "--format", "json"];
            let ran = clewline(&folder, &[&command, &here[..]].concat(), "");
            assert_eq!(ran.code, 3, "{}", ran.stderr);
            let printed = format!("elsewhere.{kind} was not compiled for this");
            assert!(ran.stderr.contains(&printed) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
            let json = &ran.json()[0];
            assert_eq!(json["verdict"], "unknown", "{json}");
            assert!(json["notes"][0].as_str().is_some_and(|it| it.contains(&printed)), "{json}");
            let ran = clewline(&folder, &[&command, &here[..], &["--trust", "elsewhere"]].concat(), "");
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
            assert_eq!(ran.json()[0].get("notes"), None, "{}", ran.stdout);
        }
    }
}

#[test]
fn a_program_that_was_built_is_run_later() {
    if !is_possible() {
        return;
    }
    let program = "\
#include <assert.h>
#include <pthread.h>
#include <string.h>
static int count;
static void *add(void *unused) { (void)unused; count++; return 0; }
int main(int argc, char **argv) {
    pthread_t threads[2];
    assert(argc == 2 && strcmp(argv[1], \"-x\") == 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(count == 2);
    return 0;
}
";
    let folder = Folder::new("run").with("count.c", program);
    let ran = clewline(&folder, &["cc", "-o", "count", "count.c"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    for (more, cause) in [(&[][..], "has a data race"), (&["--no-races"], "count == 2")] {
        let ran = clewline(&folder, &[&["run", "./count"], more, &["--", "-x"]].concat(), "");
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(cause) && ran.stdout.contains("count.c:5"), "{}", ran.stdout);
        assert!(ran.stdout.contains("clewline run ./count --argument=-x"), "{}", ran.stdout);
    }
    let ran = clewline(&folder, &["run", "./count"], "");
    assert!(ran.code == 1 && ran.stdout.contains("argc == 2"), "{}{}", ran.stdout, ran.stderr);
}
