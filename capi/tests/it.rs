//! The library as programs in C use it: linked both ways, and with what finds wrong accesses.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::PathBuf,
    process::Command,
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the libraries that cargo has built for this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("a program");
    test.parent().expect("target/PROFILE/deps").to_owned()
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Whether a program can be started; says so if not.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg(if program == "go" { "version" } else { "--version" }).output();
    let found = found.is_ok_and(|it| it.status.success());
    if !found {
        eprintln!("skipped: no {program}");
    }
    found
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|it| panic!("{command:?}: {it}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Compiles the program, and returns its path.
fn compiled(compiler: &str, name: &str, flags: &[&str]) -> PathBuf {
    let program = scratch(name).join("check");
    let is_cpp = compiler.ends_with("++");
    let standard: &[&str] =
        if is_cpp { &["-x", "c++", "-std=c++17"] } else { &["-std=c11", "-D_XOPEN_SOURCE=700"] };
    run(Command::new(compiler)
        .args(standard)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-pthread", "-I"])
        .arg(root().join("include"))
        .arg(root().join("tests/check.c"))
        .args(["-x", "none", "-o"])
        .arg(&program)
        .arg("-L")
        .arg(libraries())
        .args(flags));
    program
}

const SHARED: &[&str] = &["-lclewline_check"];
const STATIC: &[&str] =
    &["-l:libclewline_check.a", "-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

fn passes(command: &mut Command) {
    command.env("LD_LIBRARY_PATH", libraries());
    assert_eq!(run(command).lines().last(), Some("0 failures"));
}

#[test]
fn a_program_in_c_passes_with_the_shared_library() {
    if !has("gcc") {
        return;
    }
    let program = compiled("gcc", "shared", SHARED);
    let file = scratch("shared").join("recorded.jsonl");
    passes(Command::new(&program).arg(&file));
    // Its saved recording is one of the native format.
    let saved = fs::read_to_string(file).expect("a file");
    let lines: Vec<serde_json::Value> =
        saved.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    assert_eq!(
        lines[0],
        serde_json::json!({"event": "call", "process": 0, "op": "write", "arg": 1, "id": 0})
    );
    assert_eq!(lines.last(), Some(&serde_json::json!({"event": "return", "process": "0 (2)", "ret": 2})));
}

#[test]
fn it_is_a_header_of_c_plus_plus_as_well() {
    if has("g++") {
        passes(Command::new(compiled("g++", "cpp", SHARED)).arg(scratch("cpp").join("recorded.jsonl")));
    }
}

#[test]
fn the_static_library_does_not_read_or_write_out_of_bounds() {
    if has("gcc") {
        let flags: Vec<&str> = [&["-fsanitize=address,undefined"], STATIC].concat();
        passes(Command::new(compiled("gcc", "static", &flags)).arg(scratch("static").join("recorded.jsonl")));
    }
}

#[test]
fn nothing_is_leaked_or_used_after_it_was_freed() {
    if has("gcc") && has("valgrind") {
        let program = compiled("gcc", "valgrind", SHARED);
        let mut command = Command::new("valgrind");
        command.args([
            "--quiet",
            "--error-exitcode=9",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
        ]);
        passes(command.arg(program).arg(scratch("valgrind").join("recorded.jsonl")));
    }
}

/// The functions that a header declares, or that a text names.
fn functions(text: &str, is_declared: impl Fn(&str, &str) -> bool) -> BTreeSet<String> {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let starts = text.match_indices("clewline_");
    let names = starts.filter_map(|(at, _)| {
        let name = text[at..].split(|it| !is_letter(it)).next()?;
        is_declared(&text[..at], &text[at + name.len()..]).then(|| name.to_owned())
    });
    names.collect()
}

#[test]
fn the_header_declares_what_the_library_exports() {
    if !has("nm") {
        return;
    }
    let header = fs::read_to_string(root().join("include/clewline_check.h")).expect("a header");
    let declared = functions(&header, |before, after| after.starts_with('(') && !before.ends_with('`'));
    let exported = run(Command::new("nm")
        .args(["--dynamic", "--defined-only"])
        .arg(libraries().join("libclewline_check.so")));
    let exported = functions(&exported, |before, after| before.ends_with(" T ") && after.starts_with('\n'));
    assert!(30 < declared.len(), "{declared:?}");
    assert_eq!(declared, exported);
    let tested = fs::read_to_string(root().join("tests/check.c")).expect("a program");
    let called = functions(&tested, |_, after| after.starts_with('('));
    assert_eq!(declared.difference(&called).collect::<Vec<_>>(), Vec::<&String>::new(), "not tested");
}

/// The functions of `text`, which begin with a type and their name: the types of their parameters
/// and of their result.
fn signatures(
    text: &str,
    result: impl Fn(&str, &str) -> String,
    parameter: impl Fn(&str) -> String,
) -> Signatures {
    let mut all = BTreeMap::new();
    for (at, _) in text.match_indices("clewline_") {
        let (before, rest) = text.split_at(at);
        let Some((name, rest)) = rest.split_once('(') else { continue };
        let is_name = name.chars().all(|it| it.is_ascii_lowercase() || it == '_');
        let Some((inside, after)) = rest.split_once(')').filter(|_| is_name) else { continue };
        let line = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split(['{', ';', '\n']).next().unwrap_or_default();
        let result = result(line, after);
        if result.is_empty() {
            continue;
        }
        let words = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
        let parameters = inside.split(',').map(words).filter(|it| !it.is_empty() && it != "void");
        all.insert(name.to_owned(), (parameters.map(|it| parameter(&it)).collect(), result));
    }
    all
}

type Signatures = BTreeMap<String, (Vec<String>, String)>;

/// The type in C of a type in Rust.
fn c_type(rust: &str) -> String {
    let names = [
        ("c_char", "char"),
        ("c_void", "void"),
        ("History", "clewline_history"),
        ("Recorder", "clewline_recorder"),
        ("Report", "clewline_report"),
        ("ClewlineOperation", "clewline_operation"),
        ("usize", "size_t"),
        ("u64", "uint64_t"),
        ("i64", "int64_t"),
        ("u32", "uint32_t"),
        ("i32", "int32_t"),
    ];
    let stars = rust.matches('*').count();
    let is_const = rust.starts_with("*const ");
    let base = rust.replace("*const ", "").replace("*mut ", "");
    let base = names.iter().find(|it| it.0 == base).map_or(base.as_str(), |it| it.1);
    format!("{}{base}{}", if is_const { "const " } else { "" }, "*".repeat(stars))
}

#[test]
fn the_header_has_the_types_of_the_library() {
    let header = fs::read_to_string(root().join("include/clewline_check.h")).expect("a header");
    // A type and a name, of which the star is the name's.
    let parameter = |it: &str| {
        let (of, name) = it.rsplit_once(' ').unwrap_or(("", it));
        format!("{of}{}", "*".repeat(name.matches('*').count()))
    };
    let result = |line: &str, _: &str| match line.trim_end_matches('*').trim_end() {
        "clewline_status" | "clewline_verdict" => "int32_t".to_owned(),
        of if of.contains("  ") || of.starts_with(['/', ' ']) => String::new(),
        of => format!("{of}{}", "*".repeat(line.matches('*').count())),
    };
    let declared = signatures(&header, result, parameter);
    let source = fs::read_to_string(root().join("src/interface.rs")).expect("a module");
    let parameter = |it: &str| c_type(it.split_once(": ").map_or("", |it| it.1));
    let result = |line: &str, after: &str| match line.ends_with("extern \"C\" fn ") {
        true => after.trim().strip_prefix("-> ").map_or("void".to_owned(), |it| c_type(it.trim())),
        false => String::new(),
    };
    let defined = signatures(&source, result, parameter);
    assert!(30 < defined.len(), "{defined:?}");
    assert_eq!(declared, defined);
}

/// The first block of that language in docs/how-to/c-and-go.md.
fn block(language: &str) -> String {
    let page = fs::read_to_string(root().join("../docs/how-to/c-and-go.md")).expect("a page");
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a block");
    rest.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn the_program_of_the_manual_prints_what_it_says() {
    if !has("gcc") {
        return;
    }
    let folder = scratch("manual");
    fs::write(folder.join("recorded.c"), block("c")).expect("a file");
    run(Command::new("gcc")
        .current_dir(&folder)
        .args(["-Wall", "-Werror", "recorded.c", "-I"])
        .arg(root().join("include"))
        .arg("-L")
        .arg(libraries())
        .args(SHARED));
    let output = Command::new(folder.join("a.out")).env("LD_LIBRARY_PATH", libraries()).output();
    let output = output.expect("a program");
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()),
        (Some(1), &*block("text"))
    );
}

#[test]
fn a_program_in_go_passes() {
    if !has("go") || !has("gcc") {
        return;
    }
    let folder = scratch("go");
    fs::write(folder.join("main.go"), block("go")).expect("a file");
    fs::write(folder.join("go.mod"), "module recorded\n\ngo 1.18\n").expect("a file");
    let printed = run(Command::new("go")
        .current_dir(&folder)
        .args(["run", "."])
        .env("CGO_CFLAGS", format!("-I{}", root().join("include").display()))
        .env("CGO_LDFLAGS", format!("-L{}", libraries().display()))
        .env("LD_LIBRARY_PATH", libraries())
        .env("GOCACHE", folder.join("cache"))
        .env("GOFLAGS", "-mod=mod"));
    assert!(printed.starts_with("violated: the history is not linearizable as a register\n"), "{printed}");
}
