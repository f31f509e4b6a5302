//! `clewline cc`: compiles a test in C or C++, links it with the runtime, and explores it.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use clewline_report::{OutputFile, render::text::shell_word};
use clewline_unmodified::{
    Compiler, Language, Program, ProgramError, RunOptions, Runtime, Sources, Stage, UnsupportedFlag, drive,
    unsupported_flag, with_response_files,
};

use super::{
    explore_program::{StartedProgram, explore_only, parse, print_blind_spots},
    output::check_outputs,
    status::{Failure, Status, print_note},
};

/// Compile a test in C or C++, and explore every interleaving of its calls
///
/// The code under test is not modified; a few lines with `clewline.h` declare the operations. The
/// reference is the set of serial histories, unless the test names a specification. The calls are
/// then executed concurrently under every schedule within the bound, as by `clewline explore`,
/// whose options follow the files. Crashes, deadlocks and accesses to freed memory are reported,
/// too.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "clewline cc [--compiler NAME] FILE… [-COMPILER_FLAG]… [EXPLORE_OPTION]… [-- COMPILER_FLAG…]")]
pub(super) struct Args {
    /// Compiler: gcc, clang, or another name of one of them [default: the environment variable CC,
    /// or cc]
    #[arg(long, value_name = "NAME")]
    compiler: Option<String>,

    /// C and C++ source files; compiler flags (one dash); options of `clewline explore` (two
    /// dashes); after `--`: further compiler flags
    #[arg(value_name = "FILE", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  clewline cc stack_test.c stack.c
  clewline cc stack_test.c stack.c --matrix \"push(1) pop | push(2) pop\"
  clewline cc queue_test.cpp -std=c++20 -DNDEBUG --compiler clang --preemptions 3
  clewline cc quasi_queue.c --quasi deq=?
  clewline cc -o server-test server_test.c server.c           only build, for `clewline run`
  make CC=\"clewline cc\"                                       a compiler in a build

`clewline explore --help` describes its options; `clewline header` prints clewline.h.
Exit codes: 0 no violation found, 1 violated, 2 invalid arguments or compile error, 3 unknown.";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let mut words = Words::of(&with_response_files(&args.words)?, args.compiler.clone())?;
    words.take_unsupported_flags()?;
    check_outputs(words.files.iter().map(PathBuf::as_path), words.output.as_deref())?;
    let runtime = Runtime::find()?;
    let compiler = words.find_compiler()?;
    let sources = Sources { files: words.files.clone(), flags: words.flags.clone() };
    // Without a file, a build asks something: the version of the linker, say.
    let asks = sources.files.is_empty() && !sources.flags.is_empty() && words.arguments.is_empty();
    let stage = if asks { Stage::Printed } else { Stage::of(&sources.flags) };
    if stage != Stage::Program {
        return match drive(stage, &sources, words.output.as_deref(), &compiler, &runtime) {
            Ok(()) => Ok(Status::Done),
            // The compiler has printed why.
            Err(ProgramError::Refused) => Ok(Status::Failed),
            Err(error) => Err(error.into()),
        };
    }
    // Invalid options are reported before anything is built.
    let wanted = match parse("clewline cc", &words.arguments)? {
        Ok(parsed) => parsed.wanted,
        Err(status) => return Ok(status),
    };
    let program = Program::build(&sources, &compiler, &runtime)?;
    print_blind_spots(program.blind_spots().all(), &wanted);
    match &words.output {
        Some(file) => {
            let failed = |it| Failure::at(&file.display().to_string(), it);
            let mut out = OutputFile::create(file).map_err(failed)?;
            let permissions = program.copy_to(&mut out)?;
            out.commit().and_then(|()| fs::set_permissions(file, permissions)).map_err(failed)?;
            Ok(Status::Done)
        }
        None => {
            let started = StartedProgram {
                name: program.name(),
                typed: words.command(),
                number: None,
                inputs: &words.files,
                executable: program.executable(),
                blind_spots: program.blind_spots(),
                needs_threads: true,
                fingerprint: Some(program.fingerprint()),
            };
            let start = |wanted: &RunOptions, options| program.start(&[], wanted, options);
            explore_only("clewline cc", started, &words.arguments, start)
        }
    }
}

impl Args {
    /// The options of `clewline explore` among the words.
    pub(super) fn explore_options(&self) -> Result<Vec<OsString>, Failure> {
        Words::of(&self.words, None).map(|it| it.arguments)
    }
}

/// The compiler that the environment names; `None` if the value has several words, since it is not
/// known which of them is the compiler.
fn usual(named: &str) -> Option<String> {
    let mut words = named.split_whitespace();
    let name = words.next().filter(|_| words.next().is_none())?;
    // A build that calls this command names it there.
    let is_own = Path::new(name).file_name().is_some_and(|it| it == "clewline");
    (!is_own).then(|| name.to_owned())
}

/// Flags of the compiler whose value is the next word.
const TAKES_VALUE: [&str; 21] = [
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-x",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xclang",
    "-mllvm",
    "-z",
    "-T",
    "-u",
    "--param",
];

/// Whether a word is a flag of the compiler. Those with two dashes are few.
fn is_of_compiler(word: &str) -> bool {
    const LONG: [&str; 3] = ["--coverage", "--param", "--version"];
    const LONG_PREFIXES: [&str; 3] = ["--sysroot=", "--print-", "--param="];
    let is_long = || LONG.contains(&word) || LONG_PREFIXES.iter().any(|it| word.starts_with(it));
    word.starts_with('-') && (!word.starts_with("--") || is_long())
}

/// The words of the command line, by kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Words {
    compiler: Option<String>,
    files: Vec<PathBuf>,
    /// Where to write the program, instead of exploring it.
    output: Option<PathBuf>,
    /// For the exploration.
    arguments: Vec<OsString>,
    /// For the compiler.
    flags: Vec<OsString>,
}

impl Words {
    fn of(words: &[OsString], compiler: Option<String>) -> Result<Words, Failure> {
        let mut sorted = Words { compiler, ..Words::default() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if text == "--" {
                sorted.flags.extend(words.cloned());
                break;
            }
            if let Some(file) =
                text.strip_prefix("-o").filter(|it| !it.is_empty() && !text.starts_with("-ob"))
            {
                sorted.output = Some(file.into());
                continue;
            }
            if text == "-o" {
                let file = words.next().ok_or_else(|| Failure::Message("-o: expected a file".to_owned()))?;
                sorted.output = Some(file.into());
                continue;
            }
            if text == "--compiler" {
                let name =
                    words.next().ok_or_else(|| Failure::Message("--compiler: expected a name".to_owned()))?;
                sorted.compiler = Some(name.to_string_lossy().into_owned());
            } else if let Some(name) = text.strip_prefix("--compiler=") {
                sorted.compiler = Some(name.to_owned());
            } else if let Some(flag) = text.strip_prefix("--flag=") {
                sorted.flags.push(flag.into());
            } else if text == "--trust" {
                // The name may be that of a file, which is not another source.
                sorted.arguments.push(word.clone());
                sorted.arguments.extend(words.next().cloned());
            } else if is_of_compiler(&text) {
                sorted.flags.push(word.clone());
                if TAKES_VALUE.contains(&&*text) {
                    sorted.flags.extend(words.next().cloned());
                }
            } else if !text.starts_with('-') && Language::of(word.as_ref()).is_some() {
                sorted.files.push(word.into());
            } else {
                sorted.arguments.push(word.clone());
            }
        }
        Ok(sorted)
    }

    /// Takes out the flags that do not fit the instrumentation, and says so.
    fn take_unsupported_flags(&mut self) -> Result<(), Failure> {
        for flag in std::mem::take(&mut self.flags) {
            match unsupported_flag(&flag) {
                None => self.flags.push(flag),
                Some(UnsupportedFlag::Dropped(why)) => {
                    print_note(format!("{} is left out: {why}", flag.to_string_lossy()));
                }
                Some(UnsupportedFlag::Refused(why)) => return Err(Failure::at(&flag.to_string_lossy(), why)),
            }
        }
        Ok(())
    }

    /// The compiler that is named, or that the environment names: `CC`, and `CXX` for C++.
    fn find_compiler(&mut self) -> Result<Compiler, Failure> {
        let named = |variable: &str| usual(&std::env::var(variable).unwrap_or_default());
        if let Some(name) = &self.compiler {
            return Ok(Compiler::find(Some(name))?);
        }
        let has_cpp = self.files.iter().any(|it| Language::of(it) == Some(Language::Cpp));
        let (c, cpp) = (named("CC"), named("CXX").filter(|_| has_cpp));
        self.compiler = c.clone().or_else(|| cpp.clone());
        let compiler = Compiler::find(self.compiler.as_deref())?;
        match cpp.filter(|_| c.is_some()) {
            Some(cpp) => Ok(compiler.with_cpp(&cpp)?),
            None => Ok(compiler),
        }
    }

    /// The prefix of the commands in a report.
    fn command(&self) -> String {
        let mut command = "clewline cc".to_owned();
        let mut add = |word: &str| command.push_str(&format!(" {}", shell_word(word)));
        if let Some(name) = &self.compiler {
            add("--compiler");
            add(name);
        }
        self.files.iter().for_each(|it| add(&it.display().to_string()));
        // Options are appended, so nothing may come after `--`.
        let mut is_value = false;
        for flag in self.flags.iter().map(|it| it.to_string_lossy()) {
            let is_plain = is_value || is_of_compiler(&flag);
            is_value = !is_value && TAKES_VALUE.contains(&&*flag);
            add(&if is_plain { flag.into_owned() } else { format!("--flag={flag}") });
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(words: &[&str]) -> Words {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Words::of(&words, None).unwrap()
    }

    #[test]
    fn files_options_and_flags_are_separated() {
        let words = sorted(&[
            "a_test.c",
            "-O2",
            "--matrix",
            "push(1) | pop",
            "b.cpp",
            "--compiler",
            "clang",
            "--",
            "-DX",
            "--param",
            "n=1",
        ]);
        assert_eq!(words.files, [PathBuf::from("a_test.c"), PathBuf::from("b.cpp")]);
        assert_eq!(words.arguments, ["--matrix", "push(1) | pop"]);
        assert_eq!(words.flags, ["-O2", "-DX", "--param", "n=1"]);
        let trusting = sorted(&["a.c", "--trust", "b.o"]);
        assert_eq!((trusting.files, trusting.arguments.len()), (vec![PathBuf::from("a.c")], 2));
        assert_eq!(words.compiler.as_deref(), Some("clang"));
        let command = "clewline cc --compiler clang a_test.c b.cpp -O2 -DX --param n=1";
        assert_eq!(words.command(), command);
        // The command of a report parses to the same words.
        let again = sorted(&command.split(' ').skip(2).collect::<Vec<_>>());
        assert_eq!(again, Words { arguments: Vec::new(), ..words });
    }

    #[test]
    fn values_of_flags_are_no_files_and_no_options() {
        let words =
            sorted(&["-I", "include", "-include", "a.c", "--coverage", "-MF", "a.d", "-oprog", "b.c"]);
        assert_eq!(words.flags, ["-I", "include", "-include", "a.c", "--coverage", "-MF", "a.d"]);
        assert_eq!((words.files, words.output), (vec!["b.c".into()], Some("prog".into())));
        assert!(words.arguments.is_empty());
    }

    #[test]
    fn the_environment_may_name_a_compiler() {
        assert_eq!(usual(" clang-14 ").as_deref(), Some("clang-14"));
        assert_eq!([usual(""), usual("ccache gcc"), usual("/bin/clewline")], [None, None, None]);
    }

    #[test]
    fn a_compiler_needs_a_name() {
        assert!(Words::of(&["a.c".into(), "--compiler".into()], None).is_err());
        assert_eq!(sorted(&["--compiler=gcc-12", "a.c"]).compiler.as_deref(), Some("gcc-12"));
    }
}
