//! Programs: sources compiled, linked with the runtime, and run.

use std::{
    ffi::{OsStr, OsString},
    fmt, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use clewline_remote::RunOptions;

use super::{
    assembly::{UnseenInstruction, unseen_instructions},
    children,
    compiler::{Compiler, CompilerKind, Language, including},
    error::Error,
    runtime::{BUILTINS, HEADER, Runtime},
    scratch::Scratch,
    session::{OutputMode, Session},
};

/// The sources of a program.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files in C and C++; object files and libraries are linked as they are.
    pub files: Vec<PathBuf>,
    /// Additional compiler flags, for each file and for linking.
    pub flags: Vec<OsString>,
}

/// A program that can be explored. Its temporary files are removed when it is dropped.
#[derive(Debug)]
pub struct Program {
    executable: PathBuf,
    /// The name of the program.
    name: String,
    /// A library that is loaded before the program.
    preloaded: Option<PathBuf>,
    blind_spots: Vec<BlindSpot>,
    _scratch: Option<Scratch>,
}

/// A part of a program that is not observed during an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlindSpot {
    /// An atomic instruction that is not instrumented.
    Instruction(UnseenInstruction),
    /// An object file or a library that was compiled without the instrumentation.
    Object(PathBuf),
}

impl fmt::Display for BlindSpot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlindSpot::Instruction(unseen) => unseen.fmt(f),
            BlindSpot::Object(file) => write!(
                f,
                "{} was not compiled for this: its calls of pthread and malloc are seen, and not its accesses to memory",
                file.display()
            ),
        }
    }
}

impl Program {
    /// Compiles each file, and links all of them with the runtime.
    ///
    /// # Errors
    ///
    /// If there is nothing to compile, or something does not compile.
    pub fn build(sources: &Sources, compiler: &Compiler, runtime: &Runtime) -> Result<Program, Error> {
        let Some(first) = sources.files.first() else { return Err(Error::NoSources) };
        let scratch = Scratch::new()?;
        scratch.write("clewline.h", HEADER)?;
        let builtins = scratch.write("clewline-builtins.h", BUILTINS)?;
        let mut blind_spots = Vec::new();
        let mut objects = Vec::new();
        let mut linked_as = Language::C;
        for (number, file) in sources.files.iter().enumerate() {
            let language = Language::of(file).ok_or_else(|| Error::UnknownLanguage(file.clone()))?;
            match language {
                Language::Object => {
                    // The loader reports shared libraries.
                    if file.extension() != Some(OsStr::new("so")) && !is_instrumented(file)? {
                        blind_spots.push(BlindSpot::Object(file.clone()));
                    }
                    objects.push(file.clone());
                    continue;
                }
                Language::C => (),
                Language::Cpp => linked_as = Language::Cpp,
            }
            let unit = Unit { file, number, language, builtins: &builtins };
            let (object, unseen) = compile(&unit, sources, compiler, &scratch)?;
            blind_spots.extend(unseen.into_iter().map(BlindSpot::Instruction));
            objects.push(object);
        }
        let name = first.file_stem().unwrap_or(first.as_os_str());
        // Reports show this name.
        let executable = scratch.path().join(name);
        let mut command = compiler.command(linked_as);
        command.args(&objects).arg("-o").arg(&executable).args(compiler.linking());
        command.args(sources.flags.iter().filter(|it| is_for_linking(it)));
        command.args(linked_with(runtime)).arg("-pthread");
        output(&mut command)?.map_err(|message| Error::Linking { message })?;
        let name = name.to_string_lossy().into_owned();
        Ok(Program { executable, name, preloaded: None, blind_spots, _scratch: Some(scratch) })
    }

    /// A program of one C file with this text, and other files.
    ///
    /// # Errors
    ///
    /// As [`Program::build`].
    pub fn of_text(
        name: &str,
        text: &str,
        others: &Sources,
        compiler: &Compiler,
        runtime: &Runtime,
    ) -> Result<Program, Error> {
        let scratch = Scratch::new()?;
        let mut files = vec![scratch.write(&format!("{name}.c"), text)?];
        files.extend(others.files.iter().cloned());
        Program::build(&Sources { files, flags: others.flags.clone() }, compiler, runtime)
    }

    /// An existing program. If it was not linked with the runtime, that is preloaded.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn existing(executable: &Path, runtime: &Runtime) -> Result<Program, Error> {
        let shown = executable.display().to_string();
        let bytes = fs::read(executable).map_err(Error::io(shown.clone()))?;
        let preloaded = (!is_linked(&bytes)).then(|| runtime.file().to_owned());
        let executable = executable.canonicalize().map_err(Error::io(shown))?;
        let name = executable.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Program { executable, name, preloaded, blind_spots: Vec::new(), _scratch: None })
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes a copy of it, and returns the permissions that this is to have.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn copy_to(&self, out: &mut dyn io::Write) -> Result<fs::Permissions, Error> {
        let mut copy = || {
            let mut file = fs::File::open(&self.executable)?;
            io::copy(&mut file, out)?;
            Ok(file.metadata()?.permissions())
        };
        copy().map_err(Error::io(self.name.clone()))
    }

    /// Whether memory accesses are observed, and not only calls of libraries.
    #[must_use]
    pub fn is_instrumented(&self) -> bool {
        self.preloaded.is_none()
    }

    /// The parts of it that are not observed, as far as its compiler and its linker report.
    #[must_use]
    pub fn blind_spots(&self) -> &[BlindSpot] {
        &self.blind_spots
    }

    /// Where it is.
    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Starts it with these run options: the test that it declares, or its `main`, which gets the
    /// arguments `own`.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or ends immediately.
    pub fn start(&self, own: &[OsString], wanted: &RunOptions, talk: OutputMode) -> Result<Session, Error> {
        let mut command = Command::new(&self.executable);
        command.args(own);
        if let Some(library) = &self.preloaded {
            command.env("LD_PRELOAD", library);
        }
        Session::start(command, wanted, talk)
    }
}

/// Runs a compiler; the inner error is its message.
fn output(command: &mut Command) -> Result<Result<(), String>, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = children::output(command).map_err(Error::io(name))?;
    let message = || String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(if output.status.success() { Ok(()) } else { Err(message()) })
}

/// A file to compile.
struct Unit<'a> {
    file: &'a Path,
    number: usize,
    language: Language,
    /// The header that replaces builtin functions.
    builtins: &'a Path,
}

/// Compiles one file to assembly, which is searched, and then to an object file.
fn compile(
    &Unit { file, number, language, builtins }: &Unit<'_>,
    sources: &Sources,
    compiler: &Compiler,
    scratch: &Scratch,
) -> Result<(PathBuf, Vec<UnseenInstruction>), Error> {
    let [text, object] = ["s", "o"].map(|it| scratch.path().join(format!("{number}.{it}")));
    let failed = |message: String| {
        let message = missing_returns(&message).into_iter().chain([message]).collect::<Vec<_>>().join("\n");
        Error::Compiling { file: file.to_owned(), message }
    };
    let mut command = compiler.command(language);
    command.args(compiler.flags()).arg(including(scratch.path()));
    if compiler.kind() == CompilerKind::Gcc {
        command.arg("-include").arg(builtins);
    }
    // The user's flags take precedence, except where code would not be instrumented.
    command.args(&sources.flags).args(compiler.last_flags());
    command.arg("-S").arg(file).arg("-o").arg(&text);
    output(&mut command)?.map_err(failed)?;
    let bytes = fs::read(&text).map_err(Error::io(text.display().to_string()))?;
    let mut command = compiler.command(language);
    command.args(sources.flags.iter().filter(|it| it.to_string_lossy().starts_with("-Wa,")));
    command.arg("-c").arg(&text).arg("-o").arg(&object);
    output(&mut command)?.map_err(failed)?;
    Ok((object, unseen_instructions(&String::from_utf8_lossy(&bytes))))
}

/// A sentence for each operation that the compiler refuses because it need not return: not every
/// compiler names it.
fn missing_returns(message: &str) -> Vec<String> {
    let of = |line: &str| {
        let (place, _) = line.split_once(": error: ").filter(|it| it.1.contains("return-type]"))?;
        let mut place = place.splitn(3, ':');
        let (file, line) = (place.next()?, place.next()?.parse().ok()?);
        let text = fs::read_to_string(file).ok()?;
        let name = operation_above(&text, line)?;
        Some(format!(
            "the operation `{name}` does not return on every path; if it has no result, it ends with \
             `return CLEWLINE_NOTHING;`"
        ))
    };
    message.lines().filter_map(of).collect()
}

/// The name of the last operation that `text` declares up to a line.
fn operation_above(text: &str, line: usize) -> Option<&str> {
    const DECLARATION: &str = "CLEWLINE_OPERATION(";
    let above = text.lines().take(line).filter_map(|it| it.split_once(DECLARATION)).last()?.1;
    above.split([',', ')']).next().map(str::trim)
}

/// Whether an object file or a library calls the runtime anywhere.
fn is_instrumented(file: &Path) -> Result<bool, Error> {
    let bytes = fs::read(file).map_err(Error::io(file.display().to_string()))?;
    Ok(bytes.windows(INSTRUMENTATION_SYMBOL.len()).any(|it| it == INSTRUMENTATION_SYMBOL))
}

/// What every instrumented module calls when it is loaded.
const INSTRUMENTATION_SYMBOL: &[u8] = b"__tsan_init";

/// Libraries and library paths; other flags are for compiling.
fn is_for_linking(flag: &OsString) -> bool {
    let flag = flag.to_string_lossy();
    ["-l", "-L", "-Wl,", "-stdlib="].iter().any(|it| flag.starts_with(it))
}

fn linked_with(runtime: &Runtime) -> [OsString; 2] {
    let mut path = OsString::from("-Wl,-rpath,");
    path.push(runtime.folder());
    // Takes precedence over the environment: under Cargo that may lead to an older runtime.
    path.push(",--disable-new-dtags");
    [runtime.file().as_os_str().to_owned(), path]
}

/// Whether a program names the runtime among the libraries that it needs.
fn is_linked(bytes: &[u8]) -> bool {
    let name = super::error::RUNTIME_FILE.as_bytes();
    bytes.windows(name.len()).any(|it| it == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_of_a_line_is_the_last_one_above() {
        let text = "CLEWLINE_OPERATION(pop)\n{\n}\nCLEWLINE_OPERATION( put , k, v) { }\n";
        let at = |line| operation_above(text, line);
        assert_eq!([at(0), at(1), at(3), at(4)], [None, Some("pop"), Some("pop"), Some("put")]);
    }
}
