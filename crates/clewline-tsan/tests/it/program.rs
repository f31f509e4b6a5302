//! Programs to be explored: how they are built and run.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

/// A program that was built.
pub(crate) struct Program(PathBuf);

/// What a run left.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

// What a compiler is told. It must not put copies into the code that nobody sees.
const COMPILING: [&str; 11] = [
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-mcx16",
    "-fsanitize=thread",
    "-fno-builtin-memcpy",
    "-fno-builtin-memset",
    "-fno-builtin-memmove",
    "--param",
    "tsan-distinguish-volatile=1",
    "-Wno-tsan",
];
const LINKING: [&str; 3] =
    ["-lclewline_tsan", "-Wl,-z,now", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"];

/// The folder of the library: that of the tests, where Cargo puts what they depend on, or the one above.
fn library() -> PathBuf {
    let own = env::current_exe().expect("this program");
    let mut folders = own.ancestors().skip(1).take(2);
    let found = folders.find(|it| it.join("libclewline_tsan.so").exists());
    found.expect("Cargo has built the library").to_owned()
}

/// The program in `file` with `defines`; `None`, with a notice, if there is no compiler.
pub(crate) fn build(file: &str, defines: &[&str]) -> Option<Program> {
    let compiler = if file.ends_with(".cc") { "g++" } else { "gcc" };
    if Command::new(compiler).arg("--version").output().is_err() {
        eprintln!("skipped: there is no {compiler}");
        return None;
    }
    let name: String = [&[file], defines].concat().join("_").replace(['=', '.', '/'], "_");
    // Tests run at the same time, and some want the same program.
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    fs::create_dir_all(&folder).expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(file);
    let (object, program) = (folder.join("test.o"), folder.join("test"));
    if built.contains(&name) {
        return Some(Program(program));
    }
    let defines = defines.iter().map(|it| format!("-D{it}"));
    let step = |command: &mut Command| {
        let done = command.output().expect("a compiler");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut compile = Command::new(compiler);
    compile.args(COMPILING).args(defines).arg("-I").arg(header);
    step(compile.arg("-c").arg(source).arg("-o").arg(&object));
    let library = library();
    // Cargo tells the loader where to look first, and an older one may be there.
    let path = format!("-Wl,-rpath,{},--disable-new-dtags", library.display());
    step(
        Command::new(compiler)
            .arg(&object)
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(&library)
            .arg(path)
            .args(LINKING),
    );
    built.insert(name);
    Some(Program(program))
}

impl Program {
    /// Runs it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Program::done(Command::new(&self.0).args(arguments))
    }

    /// Explores its `main`.
    pub(crate) fn explore_main(&self, arguments: &[&str]) -> Ran {
        Program::done(Command::new(&self.0).env("CLEWLINE_BODY", arguments.join("\u{1f}")))
    }

    fn done(command: &mut Command) -> Ran {
        let done = command.output().expect("the program runs");
        let text = |it: Vec<u8>| String::from_utf8_lossy(&it).into_owned();
        Ran { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) }
    }

    /// What is found in one matrix, as JSON has it.
    pub(crate) fn check(&self, matrix: &str, arguments: &[&str]) -> Ran {
        let given = [&["--matrix", matrix, "--format", "json", "--shrink", "none"], arguments].concat();
        self.run(&given)
    }
}

impl Ran {
    /// What was written for people, without line breaks.
    pub(crate) fn text(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A field of the object that was written.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        let start = format!("\"{name}\":");
        let Some(at) = self.out.find(&start) else { panic!("no {name} in {}{}", self.out, self.err) };
        let rest = &self.out[at + start.len()..];
        match rest.strip_prefix('"') {
            Some(text) => text.split('"').next().unwrap_or_default().to_owned(),
            None => rest.split([',', '}']).next().unwrap_or_default().to_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.field(name).parse().expect("a number")
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
