//! Code that is not instrumented: what was not seen does not hold.

use std::{path::Path, process::Command};

use clewline_testing::pick;

use super::program::{Ran, build, build_by_all, clewline, compile_and_run};

impl Ran {
    /// The verdict is unknown, and the reason contains these words.
    #[track_caller]
    pub(crate) fn unknown(&self, words: &str) {
        assert_eq!((self.code, &*self.field("verdict")), (Some(3), "unknown"), "{}{}", self.out, self.err);
        assert!(self.field("reason").contains(words), "{}", self.out);
    }
}

const JSON: [&str; 2] = ["--format", "json"];

/// Link-time optimization and flags against the instrumentation have no effect.
#[test]
fn flags_do_not_turn_the_instrumentation_off() {
    for flags in
        ["-flto", "-fno-sanitize=thread", "-fno-sanitize=all", "-flto=2 -O2"].into_iter().take(pick(2, 4))
    {
        let flags: Vec<&str> = flags.split(' ').collect();
        let Some(ran) = compile_and_run("unseen.c", &[&flags, &JSON[..], &["--no-races"]].concat()) else {
            return;
        };
        ran.violated("not-linearizable");
    }
}

/// Functions that an attribute excludes, and plain accesses in inline assembly.
#[test]
fn what_ran_unseen_makes_the_verdict_unknown() {
    for (matrix, function, words) in [
        ("excluded | excluded", "bump_excluded", "bump_excluded has `movq` in code that is not instrumented"),
        ("assembly | assembly", "bump_assembly", "bump_assembly has `movq` in inline assembly"),
    ] {
        let command = [&["--matrix", matrix], &JSON[..]].concat();
        let Some(ran) = compile_and_run("unseen.c", &command) else { return };
        ran.unknown(words);
        assert!(ran.out.contains("\"notes\":["), "{}", ran.out);
        let trusting = [&command[..], &["--trust", function]].concat();
        compile_and_run("unseen.c", &trusting).unwrap().holds();
        compile_and_run("unseen.c", &[&command[..], &["--trust=unseen.c"]].concat()).unwrap().holds();
    }
}

/// Structs that are passed or returned by value; what a function copies from its own variables does
/// not matter. clang announces that it stores a result.
#[test]
fn structs_that_are_copied_unseen_make_the_verdict_unknown() {
    for level in pick(vec!["-O1"], vec!["-O0", "-O1", "-O2", "-O3"]) {
        let Some(program) = build("torn.c", &["BY_VALUE", level]) else { return };
        for (program, matrix, words) in [
            (&program, "write_struct(1) | read_argument", "passes a struct by value to `first_or_none`"),
            (&program, "write_struct(1) | read_pointed", "passes a struct by value to `first_or_none`"),
            (&program.by_first(), "write_result(1) | read_struct", "stores a struct that `made` returns"),
        ] {
            let ran = program.run(&[&["--matrix", matrix], &JSON[..]].concat());
            ran.unknown(words);
            assert!(ran.field("reason").contains("torn.c:"), "{}", ran.out);
            assert!(ran.field("reason").contains(": how it is copied is not seen"), "{}", ran.out);
        }
        program.run(&[&["--matrix", "own_argument(1) | own_argument(1)"], &JSON[..]].concat()).holds();
    }
}

/// gcc instruments every size: it finds the race.
#[test]
fn accesses_of_sizes_that_are_not_instrumented_make_the_verdict_unknown() {
    for level in pick(vec!["-O1"], vec!["-O0", "-O1", "-O2", "-O3"]) {
        let Some(program) = build_by_all("sizes.c", &[level]) else { return };
        for (kind, words) in [
            ("vector", "get_vector reads 32 bytes at once"),
            ("extended", "get_extended reads 10 bytes at once"),
            ("odd", "get_odd reads 3 bytes at once"),
        ] {
            let matrix = format!("write_{kind}(2) | read_{kind}");
            let given = [&["--matrix", &matrix], &JSON[..]].concat();
            program.by_first().run(&given).violated("data-race");
            let Some(other) = program.by_second() else { return };
            let ran = other.run(&given);
            ran.unknown(words);
            assert!(ran.field("reason").contains("sizes.c:"), "{}", ran.out);
            let trusting = [&given[..], &["--trust", words.split(' ').next().unwrap()]].concat();
            other.run(&trusting).unknown(&words.replace("get", "set").replace("reads", "writes"));
        }
        program.run(&[&["--matrix", "own(1) | own(2)"], &JSON[..]].concat()).holds();
    }
}

/// Instructions that code names: gcc instruments none.
#[test]
fn instructions_that_are_not_instrumented_make_the_verdict_unknown() {
    for level in pick(vec!["-O1"], vec!["-O0", "-O1", "-O2", "-O3"]) {
        let Some(program) = build_by_all("instructions.c", &[level]) else { return };
        // Whether clang instruments it, and finds the race.
        for (matrix, function, name, is_seen) in [
            ("word(1) | get", "put_word", "movnti64", true),
            ("both(1) | get", "put_both", "movntdq", true),
            ("bytes(1) | get", "put_bytes", "maskmovdqu", false),
            ("set(1) | get_both", "get_both", "lddqu", false),
        ] {
            let given = [&["--matrix", matrix], &JSON[..]].concat();
            let words = format!("{function} accesses memory by `__builtin_ia32_{name}`");
            let ran = program.by_first().run(&given);
            ran.unknown(&words);
            // Of a pointer there is only the line in the header.
            let is_named = function == "put_word" || level == "-O0";
            assert!(is_named || ran.field("reason").contains("instructions.c:"), "{}", ran.out);
            let trusting = [&given[..], &["--trust", function]].concat();
            program.by_first().run(&trusting).holds();
            let Some(other) = program.by_second() else { return };
            let ran = other.run(&given);
            match is_seen {
                true => ran.violated("data-race"),
                false => ran.unknown("accesses memory by `llvm.x86."),
            }
        }
        // Without optimization gcc passes the address on.
        if level != "-O0" {
            program.run(&[&["--matrix", "own(1) | own(2)"], &JSON[..]].concat()).holds();
        }
    }
}

/// The same functions are in the program, and constants are read without instrumentation.
#[test]
fn what_did_not_run_does_not_matter() {
    let Some(program) = build("unseen.c", &["RIGHT"]) else { return };
    let ran = program.check("add | table(1)", &[]);
    ran.holds();
    assert!(ran.err.contains("bump_excluded") && !ran.err.contains("read_table"), "{}", ran.err);
    // A program that was built remembers what was not seen, also in a process for each execution.
    let matrix = ["--matrix", "excluded | excluded"];
    program.run(&[&matrix[..], &JSON].concat()).unknown("bump_excluded");
    program.by_first().run(&[&matrix[..], &JSON, &["--isolate"]].concat()).unknown("bump_excluded");
}

/// Of an order of tasks that code chose, nothing is said; a race that is seen is one.
#[test]
fn an_order_of_tasks_that_was_not_explored_makes_the_verdict_unknown() {
    let Some(program) = build("task_orders.c", &[]) else { return };
    let of = |matrix: &'static str| [&["--matrix", matrix], &JSON[..]].concat();
    let queue = "a current-thread runtime of tokio polls ready tasks in the order of its queue";
    program.check("count | count", &[]).holds();
    program.run(&of("spawn | count")).unknown(queue);
    program.run(&of("count | select_any")).unknown("`tokio::select!` chose the branch");
    program.run(&of("race | race")).violated("data-race");
    let program = program.by_first();
    program.run(&[&of("spawn | spawn")[..], &["--isolate"]].concat()).unknown(queue);
    program.run(&[&of("spawn | spawn")[..], &["--trust", "tokio"]].concat()).holds();
    program.run(&[&of("spawn | spawn")[..], &["--trust", "tokio::macros"]].concat()).unknown(queue);
}

/// Two threads that share nothing show nothing.
#[test]
fn threads_without_an_access_show_nothing() {
    let Some(program) = build("unseen.c", &["RIGHT"]) else { return };
    program.run(&[&["--matrix", "table(1) | table(2)"], &JSON[..]].concat()).unknown("made no access");
}

/// A violation is one, whatever was not seen.
#[test]
fn a_program_without_instrumentation_is_explored_as_far_as_it_is_seen() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plain");
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unmodified/programs/plain.c");
    let program = folder.join("plain");
    let made = Command::new("cc").arg("-pthread").arg(&source).arg("-o").arg(&program).status();
    if !made.is_ok_and(|it| it.success()) {
        return eprintln!("notice: skipped: there is no compiler");
    }
    let ran = clewline(&program, &JSON, &[]);
    ran.unknown("plain is not instrumented: only its calls of pthread and malloc are scheduling points");
    clewline(&program, &[&JSON[..], &["--trust", "plain"]].concat(), &[]).holds();
    clewline(&program, &JSON, &["deadlock"]).violated("deadlock");
}

/// The parts of the C++ standard library that are not templates are seen as well.
#[test]
#[ignore = "long"]
fn containers_of_the_standard_library_are_seen() {
    for kind in ["MAP", "STRING", "LIST", "HASH_MAP"].into_iter().take(pick(1, 4)) {
        let Some(program) = build("standard.cc", &[kind]) else { return };
        let ran = program.by_first().run(&JSON);
        assert_eq!(
            (ran.code, &*ran.field("verdict")),
            (Some(1), "violated"),
            "{kind}: {}{}",
            ran.out,
            ran.err
        );
        let Some(program) = build("standard.cc", &[kind, "LOCKED"]) else { return };
        let ran = program.run(&JSON);
        ran.holds();
        assert!(ran.err.is_empty() && !ran.out.contains("notes"), "{kind}: {}{}", ran.out, ran.err);
    }
}

/// A crash is a violation with its line, and can be replayed; the runtime itself never crashes.
#[test]
#[ignore = "long"]
fn a_crash_inside_the_standard_library_is_a_violation_of_the_program() {
    let programs = [("MAP", "put(1) | put(2)"), ("HASH_MAP", "put(1) take(1) | put(1) take(1)")];
    for (kind, matrix) in programs.into_iter().take(pick(1, 2)) {
        let Some(program) = build("standard.cc", &[kind]) else { return };
        let ran = program.by_first().run(&["--matrix", matrix, "--shrink", "none", "--no-races"]);
        let text = ran.text();
        assert_eq!(ran.code, Some(1), "{text}{}", ran.err);
        assert!(!text.contains("runtime crashed") && ran.err.is_empty(), "{text}{}", ran.err);
        if kind == "MAP" {
            assert!(text.contains("crashes in put") && text.contains("standard.cc:2"), "{text}");
        }
    }
}

/// A function of a library writes to memory that another thread reads.
#[test]
fn what_libraries_write_is_found_out() {
    let Some(program) = build("calls_out.c", &[]) else { return };
    program
        .run(&JSON)
        .unknown("calls_out.c:28: snprintf (libc.so.6) writes to memory that other threads access");
    program.by_first().run(&[&JSON[..], &["--isolate"]].concat()).unknown("snprintf");
    for trusted in ["snprintf", "libc"] {
        program.by_first().run(&[&JSON[..], &["--trust", trusted]].concat()).holds();
    }
    // Through pointers, without a table of calls, and where every access is a point.
    let Some(program) = build("calls_out.c", &["POINTER", "-fno-plt"]) else { return };
    program.run(&JSON).unknown("snprintf (libc.so.6) writes to memory");
    for given in [&["--points", "all"][..], &["--points", "all", "--no-races"]] {
        program.by_first().run(&[&JSON[..], given].concat()).unknown("snprintf");
    }
    // Alone, or with a lock, it may do so.
    let Some(program) = build("calls_out.c", &[]) else { return };
    program.check("own | own | put(1)", &[]).holds();
    let Some(program) = build("calls_out.c", &["LOCKED"]) else { return };
    program.check("put(1) | put(2) get", &[]).holds();
}

/// The same of functions of the C++ library that objects have in their tables.
#[test]
fn what_virtual_functions_of_libraries_write_is_found_out() {
    let Some(program) = build("tables.cc", &[]) else { return };
    let of = |matrix: &'static str| [&["--matrix", matrix], &JSON[..]].concat();
    let resource = "a virtual function of std::pmr::monotonic_buffer_resource (libstdc++";
    program.run(&of("take | take")).unknown(resource);
    program.by_first().run(&of("write(1) | write(2)")).unknown("::xsputn (libstdc++");
    program.by_first().run(&[&of("take | take")[..], &["--isolate"]].concat()).unknown(resource);
    for trusted in ["std::pmr::monotonic_buffer_resource", "libstdc++"] {
        let trusting = [&of("take | take")[..], &["--trust", trusted]].concat();
        program.by_first().run(&trusting).holds();
    }
    program.check("format(1) | format(2)", &[]).holds();
    let Some(program) = build("tables.cc", &["LOCKED"]) else { return };
    program.check("take write(1) | take write(2)", &[]).holds();
}

/// A program in which no second thread runs was not explored, whatever the reason.
#[test]
fn a_program_that_starts_no_thread_shows_nothing() {
    let Some(program) = build("outside.c", &[]) else { return };
    program.explore_main_with(&["alone"], &JSON).unknown("main started no thread that ran");
    program.explore_main_with(&[], &JSON).holds();
}

/// Functions that are called when the program exits are a part of it.
#[test]
fn exit_handlers_are_explored() {
    let Some(program) = build("outside.c", &[]) else { return };
    for kind in ["exit-handler", "exit"] {
        let given = [&JSON[..], &["--no-races"]].concat();
        program.explore_main_with(&[kind], &given).violated("failure");
        let found = program.by_first().explore_main_with(&[kind], &["--no-races"]);
        assert!(found.text().contains("assertion failed: count == 2"), "{kind}: {}", found.out);
    }
    program.explore_main_with(&["right-exit-handler"], &JSON).holds();
}

/// Nothing is seen of another process.
#[test]
fn a_program_that_starts_a_process_is_unknown() {
    let Some(program) = build("outside.c", &[]) else { return };
    for kind in ["fork", "vfork", "clone", "posix_spawn", "system", "popen"].into_iter().take(pick(4, 6)) {
        let function = if kind == "posix_spawn" { "posix_spawnp" } else { kind };
        let found = program.explore_main_with(&[kind], &JSON);
        found.unknown(&format!("the code calls {function}, which is not under control, at "));
        assert!(found.out.contains("outside.c:"), "{kind}: {}", found.out);
        let trusting = [&JSON[..], &["--trust", function]].concat();
        program.explore_main_with(&[kind], &trusting).holds();
    }
    // Its end is not that of an execution.
    program.explore_main_with(&["fork-and-return"], &[&JSON[..], &["--trust", "fork"]].concat()).holds();
}

/// Threads that run before `main` are not under control.
#[test]
fn a_thread_that_starts_before_main_is_not_seen() {
    let Some(program) = build("outside.c", &["EARLY"]) else { return };
    program.explore_main(&JSON).unknown("begin starts a thread before main");
    program.explore_main(&[&JSON[..], &["--trust", "begin"]].concat()).holds();
}

/// A library that is loaded later is looked at as others are.
#[test]
fn a_library_that_the_program_loads_is_not_seen() {
    let Some(program) = build("outside.c", &[]) else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loaded");
    std::fs::create_dir_all(&folder).unwrap();
    let [source, object, library] = ["loaded.c", "loaded.o", "loaded.so"].map(|it| folder.join(it));
    std::fs::write(&source, "int used;\nvoid use(void) { used++; }\n").unwrap();
    for (flags, words) in [
        ("-O1", "loaded.so was not compiled for this"),
        ("-fsanitize=thread", "loaded.so is loaded while the program runs"),
    ] {
        let (mut compile, mut link) = (Command::new("cc"), Command::new("cc"));
        compile.args(["-c", "-fPIC", flags]).arg(&source).arg("-o").arg(&object);
        // Without the library of the sanitizer.
        link.arg("-shared").arg(&object).arg("-o").arg(&library);
        if [&mut compile, &mut link].into_iter().any(|it| !it.status().is_ok_and(|it| it.success())) {
            return eprintln!("notice: skipped: cc does not compile with {flags}");
        }
        let own = ["dlopen", library.to_str().unwrap()];
        let program = program.by_first();
        program.explore_main_with(&own, &JSON).unknown(words);
        program.explore_main_with(&own, &[&JSON[..], &["--isolate"]].concat()).unknown(words);
        program.explore_main_with(&own, &[&JSON[..], &["--trust", "loaded"]].concat()).holds();
    }
}

/// A thread of a library without symbols: its steps are in that library, not at a bare address.
#[test]
fn code_without_symbols_is_named_by_its_library() {
    let Some(program) = build("outside.c", &[]) else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stripped");
    std::fs::create_dir_all(&folder).unwrap();
    let [source, library] = ["stripped.c", "stripped.so"].map(|it| folder.join(it));
    let text = "#include <pthread.h>\n\
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *twice(void *p) { pthread_mutex_lock(&lock); pthread_mutex_lock(&lock); return p; }\n\
        void use(void) { pthread_t it; pthread_create(&it, 0, twice, 0); pthread_join(it, 0); }\n";
    std::fs::write(&source, text).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-s"]).arg(&source).arg("-o").arg(&library);
    if !compile.status().is_ok_and(|it| it.success()) {
        return eprintln!("notice: skipped: cc does not compile");
    }
    let own = ["dlopen", library.to_str().unwrap()];
    let found = program.by_first().explore_main_with(&own, &["--trust", "stripped"]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    assert!(found.out.contains("stripped.so (no symbols)"), "{}", found.out);
}

/// A loaded library is not restored: what fails because it keeps its state is no violation.
#[test]
fn a_violation_beside_a_library_that_keeps_its_state_is_made_again_in_its_own_process() {
    let Some(program) = build("outside.c", &[]) else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crashing");
    std::fs::create_dir_all(&folder).unwrap();
    let crash = "*(volatile int *)0 = 1;";
    let keeps =
        |what: &str| format!("static int calls;\nvoid use(void) {{ if (1 <= calls++) {{ {what} }} }}\n");
    for (name, text, is_wrong) in [
        ("crashing", format!("void use(void) {{ {crash} }}\n"), true),
        ("keeping", keeps(crash), false),
        ("aborting", format!("#include <stdlib.h>\n{}", keeps("abort();")), false),
    ] {
        let [source, library] = ["c", "so"].map(|it| folder.join(name).with_extension(it));
        std::fs::write(&source, text).unwrap();
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1"]).arg(&source).arg("-o").arg(&library);
        if !compile.status().is_ok_and(|it| it.success()) {
            return eprintln!("notice: skipped: cc does not compile");
        }
        let own = ["dlopen", library.to_str().unwrap()];
        let program = program.by_first();
        for trusted in [&[][..], &["--trust", name]] {
            let found = program.explore_main_with(&own, &[&JSON[..], trusted].concat());
            if is_wrong {
                found.violated("crash");
            } else {
                found.unknown("nothing failed there. A library that was not compiled for this keeps");
            }
        }
        let text = program.explore_main_with(&own, &[]).out;
        let isolates = text.lines().any(|it| it.starts_with("next: ") && it.ends_with(" --isolate"));
        assert_eq!(isolates, !is_wrong, "{name}: {text}");
        let isolated =
            program.explore_main_with(&own, &[&JSON[..], &["--isolate", "--trust", name]].concat());
        if is_wrong {
            isolated.violated("crash")
        } else {
            isolated.holds()
        };
    }
}
