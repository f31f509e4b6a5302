//! Programs to be explored: how they are built and run.
//!
//! Every program is built by each compiler that there is, and every exploration is made with each
//! of them, and once more with a process for each execution. They must agree. In `./test` only some
//! programs are built by more than one compiler.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, OnceLock, PoisonError},
};

use clewline_testing::pick;
use clewline_unmodified::{Compiler, Program as Built, Runtime, Sources};

/// A program that was built, by one compiler after the other.
#[derive(Clone)]
pub(crate) struct Program(Vec<PathBuf>);

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The compilers that there are, and the runtime. To try compilers takes a while, so it is done
/// once.
fn tools() -> Option<(Vec<Compiler>, Runtime)> {
    static TOOLS: OnceLock<Option<(Vec<Compiler>, Runtime)>> = OnceLock::new();
    TOOLS.get_or_init(look_for_tools).clone()
}

fn look_for_tools() -> Option<(Vec<Compiler>, Runtime)> {
    let runtime = Runtime::find().expect("Cargo has built the library");
    let mut compilers = Vec::new();
    for name in ["gcc", "clang"] {
        match Compiler::find(Some(name)) {
            Ok(compiler) => compilers.push(compiler),
            Err(error) => eprintln!("notice: {name} is left out: {error}"),
        }
    }
    (!compilers.is_empty()).then_some((compilers, runtime))
}

/// Whether a program of that name is built by all compilers: in `./test` one in three is. What
/// compilers do differently has tests of its own.
pub(crate) fn is_for_all_compilers(name: &str) -> bool {
    pick(name.bytes().map(u32::from).sum::<u32>().is_multiple_of(3), true)
}

/// The program in `file` with `defines`, or flags; `None`, with a notice, if there is no compiler.
pub(crate) fn build(file: &str, defines: &[&str]) -> Option<Program> {
    build_if(file, defines, is_for_all_compilers)
}

/// The same, built by each compiler.
pub(crate) fn build_by_all(file: &str, defines: &[&str]) -> Option<Program> {
    build_if(file, defines, |_| true)
}

fn build_if(file: &str, defines: &[&str], is_for_all: impl Fn(&str) -> bool) -> Option<Program> {
    let name: String = [&[file], defines].concat().join("_").replace(['=', '.', '/'], "_");
    // Tests run at the same time, and some want the same program.
    static BUILT: Mutex<BTreeMap<String, Program>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let (compilers, runtime) = tools()?;
    let wanted = if is_for_all(&name) { compilers.len() } else { 1 };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unmodified/programs").join(file);
    let mut flags: Vec<OsString> = defines.iter().map(|it| flag(it)).collect();
    // Some compilers are content with an older one.
    flags.extend(file.ends_with(".cc").then(|| "-std=c++17".into()));
    let sources = Sources { files: vec![source], flags };
    let one = |compiler: &Compiler| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_{}", compiler.name()));
        fs::create_dir_all(&folder).expect("a folder");
        let program = Built::build(&sources, compiler, &runtime).unwrap_or_else(|it| panic!("{it}"));
        let kept = folder.join("test");
        let mut copy = clewline_report::OutputFile::create(&kept).expect("a file");
        let permissions = program.copy_to(&mut copy).expect("a copy");
        copy.commit().and_then(|()| std::fs::set_permissions(&kept, permissions)).expect("a copy");
        kept
    };
    let program = built.entry(name.clone()).or_insert_with(|| Program(Vec::new()));
    let missing = compilers.iter().take(wanted).skip(program.0.len());
    let new: Vec<PathBuf> = missing.map(one).collect();
    program.0.extend(new);
    Some(Program(program.0[..wanted].to_vec()))
}

fn flag(define: &str) -> OsString {
    if define.starts_with('-') { define.into() } else { format!("-D{define}").into() }
}

/// `clewline cc FILE ARGUMENTS`, with each compiler. Returns what was found with the first one; the
/// others end the same way. `None`, with a notice, if there is no compiler.
#[track_caller]
pub(crate) fn compile_and_run(file: &str, arguments: &[&str]) -> Option<Ran> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unmodified/programs").join(file);
    let mut found: Option<Ran> = None;
    for compiler in tools()?.0 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
        command.args(["cc", "--compiler", compiler.name()]).arg(&source).args(arguments);
        command.args(model_unless_given(arguments));
        let ran = run(&mut command);
        if let Some(first) = &found {
            let printed = format!("{}{}\nand\n{}{}", first.out, first.err, ran.out, ran.err);
            assert_eq!(first.code, ran.code, "compilers differ: {printed}");
        }
        found = found.or(Some(ran));
    }
    found
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Ran {
    let done = command.output().expect("the program runs");
    let text = |it: Vec<u8>| String::from_utf8_lossy(&it).into_owned();
    Ran { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) }
}

/// One memory model is enough where it does not matter which: two take longer.
fn model_unless_given(arguments: &[&str]) -> &'static [&'static str] {
    if arguments.contains(&"--memory-model") { &[] } else { &["--memory-model", "sc"] }
}

/// `clewline run PROGRAM ARGUMENTS -- OWN`, under sequential consistency unless `arguments` have
/// another model.
pub(crate) fn clewline(program: &Path, arguments: &[&str], own: &[&str]) -> Ran {
    run_program(program, &[arguments, model_unless_given(arguments)].concat(), own)
}

fn run_program(program: &Path, arguments: &[&str], own: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
    command.arg("run").arg(program).args(arguments);
    if !own.is_empty() {
        command.arg("--").args(own);
    }
    run(&mut command)
}

// Processes are slow: with more executions than this, other tests check that they agree.
const ISOLATED_MAX: u64 = 2_000;

impl Program {
    /// What the first compiler has made, alone.
    pub(crate) fn by_first(&self) -> Program {
        Program(vec![self.0[0].clone()])
    }

    /// What the second compiler has made, alone.
    pub(crate) fn by_second(&self) -> Option<Program> {
        Some(Program(vec![self.0.get(1)?.clone()]))
    }

    /// Explores it. Returns what was found with the first compiler; the others end the same way.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.agreed(|it| clewline(it, arguments, &[]))
    }

    /// Explores what the first compiler has made, under the memory models that are the default.
    #[track_caller]
    pub(crate) fn run_under_default_models(&self, arguments: &[&str]) -> Ran {
        run_program(&self.0[0], arguments, &[])
    }

    /// Starts it without Clewline.
    #[track_caller]
    pub(crate) fn run_by_hand(&self, arguments: &[&str]) -> Ran {
        self.agreed(|it| run(Command::new(it).args(arguments)))
    }

    /// Explores its `main`.
    #[track_caller]
    pub(crate) fn explore_main(&self, arguments: &[&str]) -> Ran {
        self.explore_main_with(&[], arguments)
    }

    /// Explores its `main`, which has arguments of its own.
    #[track_caller]
    pub(crate) fn explore_main_with(&self, own: &[&str], arguments: &[&str]) -> Ran {
        self.agreed(|it| clewline(it, arguments, own))
    }

    #[track_caller]
    fn agreed(&self, run: impl Fn(&Path) -> Ran) -> Ran {
        let mut all: Vec<Ran> = self.0.iter().map(|it| run(it)).collect();
        let first = all.remove(0);
        for other in &all {
            let printed = format!("{}{}\nand\n{}{}", first.out, first.err, other.out, other.err);
            assert_eq!(first.code, other.code, "compilers differ: {printed}");
            assert_eq!(first.found(), other.found(), "compilers differ: {printed}");
        }
        first
    }

    /// What is found in one matrix, as JSON has it. With a process for each execution it is the
    /// same.
    #[track_caller]
    pub(crate) fn check(&self, matrix: &str, arguments: &[&str]) -> Ran {
        let given = [&["--matrix", matrix, "--format", "json", "--shrink", "none"], arguments].concat();
        let found = self.run(&given);
        if matches!(found.code, Some(0 | 1)) && found.number("executions") <= ISOLATED_MAX {
            let isolated = self.by_first().run(&[&given[..], &["--isolate"]].concat());
            assert_eq!(found.everything(), isolated.everything(), "{matrix} {arguments:?}");
        }
        found
    }
}

impl Ran {
    /// The text of the report, without line breaks.
    pub(crate) fn text(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A field of the object that was written.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        self.maybe(name).unwrap_or_else(|| panic!("no {name} in {}{}", self.out, self.err))
    }

    fn maybe(&self, name: &str) -> Option<String> {
        let start = format!("\"{name}\":");
        let rest = &self.out[self.out.find(&start)? + start.len()..];
        let value = match rest.strip_prefix('"') {
            Some(text) => text.split('"').next(),
            None => rest.split([',', '}']).next(),
        };
        value.map(str::to_owned)
    }

    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.field(name).parse().expect("a number")
    }

    /// What must not depend on the compiler: the verdict and its cause, and where everything was
    /// explored all histories.
    fn found(&self) -> Vec<String> {
        let Some(verdict) = self.maybe("verdict") else { return Vec::new() };
        let more = if verdict == "holds" { "histories" } else { "cause" };
        vec![self.maybe(more).unwrap_or_default(), verdict]
    }

    /// What must not depend on how executions are run.
    fn everything(&self) -> Vec<Option<String>> {
        ["verdict", "cause", "replay", "executions", "histories", "stuck"].map(|it| self.maybe(it)).to_vec()
    }

    /// Everything holds.
    #[track_caller]
    pub(crate) fn holds(&self) {
        assert_eq!((self.code, &*self.field("verdict")), (Some(0), "holds"), "{}{}", self.out, self.err);
    }

    /// It is violated, for that cause.
    #[track_caller]
    pub(crate) fn violated(&self, cause: &str) {
        assert_eq!((self.code, &*self.field("cause")), (Some(1), cause), "{}{}", self.out, self.err);
    }
}
