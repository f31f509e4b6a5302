//! Programs: sources compiled, linked with the runtime, and run.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use clewline_remote::RunOptions;

use super::{
    assembly::{self, UnseenInstruction},
    blind_spots::{BlindSpot, BlindSpots, is_instrumented, is_shared, recorded},
    children,
    compiler::{Compiler, CompilerKind, Language, including},
    elf,
    error::Error,
    exclusion,
    runtime::{BUILTINS, CONTAINERS, CXX_CONFIGURATION, HEADER, Runtime},
    scratch::Scratch,
    session::{Session, StartOptions},
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
    blind_spots: BlindSpots,
    fingerprint: u64,
    _scratch: Option<Scratch>,
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
        scratch.write_within("bits", "c++config.h", CXX_CONFIGURATION)?;
        let mut blind_spots = Vec::new();
        let mut objects = Vec::new();
        let mut linked_as = Language::C;
        for (number, file) in sources.files.iter().enumerate() {
            let language = Language::of(file).ok_or_else(|| Error::UnknownLanguage(file.clone()))?;
            match language {
                Language::Object => {
                    // The runtime reports shared libraries.
                    let bytes = || fs::read(file).map_err(Error::io(file.display().to_string()));
                    if !is_shared(file) && !is_instrumented(&bytes()?) {
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
        if linked_as == Language::Cpp {
            objects.extend(containers(sources, compiler, &scratch)?);
        }
        objects.push(scratch.write("unseen.s", &recorded(&blind_spots))?);
        let name = first.file_stem().unwrap_or(first.as_os_str());
        // Reports show this name.
        let executable = scratch.path().join(name);
        let mut command = compiler.command(linked_as);
        command.args(&objects).arg("-o").arg(&executable).args(compiler.linking());
        command.args(sources.flags.iter().filter(|it| is_for_linking(it)));
        command.args(linked_with(runtime)).arg("-pthread");
        output(&mut command)?.map_err(|message| Error::Linking { message })?;
        let bytes = fs::read(&executable).map_err(Error::io(executable.display().to_string()))?;
        let blind_spots = BlindSpots::new(blind_spots, &bytes);
        let name = name.to_string_lossy().into_owned();
        let fingerprint = elf::fingerprint(&bytes);
        Ok(Program { executable, name, preloaded: None, blind_spots, fingerprint, _scratch: Some(scratch) })
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
        let blind_spots = BlindSpots::of_executable(&bytes);
        let fingerprint = elf::fingerprint(&bytes);
        Ok(Program { executable, name, preloaded, blind_spots, fingerprint, _scratch: None })
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

    /// The parts of it that are not observed.
    #[must_use]
    pub fn blind_spots(&self) -> &BlindSpots {
        &self.blind_spots
    }

    /// A hash of its code and data, without its libraries: of two programs that differ, it differs.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
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
    pub fn start(
        &self,
        own: &[OsString],
        wanted: &RunOptions,
        options: impl Into<StartOptions>,
    ) -> Result<Session, Error> {
        let mut command = Command::new(&self.executable);
        command.args(own);
        if let Some(library) = &self.preloaded {
            command.env("LD_PRELOAD", library);
        }
        let wanted = RunOptions { watched: self.blind_spots.watched(), ..wanted.clone() };
        Session::start(command, &wanted, options.into())
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
    let read = |file: &Path| {
        let bytes = fs::read(file).map_err(Error::io(file.display().to_string()))?;
        Ok::<_, Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let instrumenting = || {
        let mut command = compiler.command(language);
        command.args(compiler.flags()).arg(including(scratch.path()));
        if compiler.kind() == CompilerKind::Gcc {
            command.arg("-include").arg(builtins);
        }
        // The user's flags take precedence, except where code would not be instrumented.
        command.args(&sources.flags).args(compiler.last_flags()).args(LAST_FLAGS).arg(file);
        command
    };
    output(instrumenting().arg("-S").arg("-o").arg(&text))?.map_err(failed)?;
    let assembly::Assembly { mut unseen, silent } = assembly::read(&read(&text)?);
    if !silent.is_empty() {
        let list = scratch.path().join(format!("{number}.functions"));
        let flags = exclusion::flags(compiler.kind(), &list.display().to_string());
        output(instrumenting().args(flags))?.map_err(failed)?;
        // Without a file, no function is instrumented.
        let list = if list.exists() { read(&list)? } else { String::new() };
        let known = exclusion::instrumented(compiler.kind(), &list);
        // A part that gcc moves elsewhere belongs to its function.
        let whole = |it: &str| it.strip_suffix(".cold").unwrap_or(it).to_owned();
        unseen.extend(silent.into_iter().filter(|it| !known.contains(&*whole(&it.symbol))));
    }
    let mut command = compiler.command(language);
    command.args(sources.flags.iter().filter(|it| it.to_string_lossy().starts_with("-Wa,")));
    command.arg("-c").arg(&text).arg("-o").arg(&object);
    output(&mut command)?.map_err(failed)?;
    Ok((object, unseen))
}

/// A sentence for each operation that the compiler refuses because it need not return: not every
/// compiler names it.
fn missing_returns(message: &str) -> Vec<String> {
    const FUNCTION: &str = "clewline_operation_";
    let mut function = None;
    let mut names = Vec::new();
    for line in message.lines() {
        if line.contains("In function ") {
            let name = line.split_once(FUNCTION).map(|it| it.1);
            let is_other = |it: char| !it.is_alphanumeric() && it != '_';
            function = name.and_then(|it| it.split(is_other).next()).map(str::to_owned);
        } else if let Some((place, _)) =
            line.split_once(": error: ").filter(|it| it.1.contains("return-type]"))
        {
            names.extend(function.clone().or_else(|| operation_at(place)));
        }
    }
    let sentence = |name: &String| {
        format!(
            "the operation `{name}` does not return on every path; if it has no result, it ends with \
             `return CLEWLINE_NOTHING;`"
        )
    };
    names.iter().map(sentence).collect()
}

/// The name of the operation at a place: `stack.c:3:1`.
fn operation_at(place: &str) -> Option<String> {
    let mut place = place.splitn(3, ':');
    let (file, line) = (place.next()?, place.next()?.parse().ok()?);
    operation_above(&fs::read_to_string(file).ok()?, line).map(str::to_owned)
}

/// The name of the last operation that `text` declares up to a line.
fn operation_above(text: &str, line: usize) -> Option<&str> {
    const DECLARATION: &str = "CLEWLINE_OPERATION(";
    let above = text.lines().take(line).filter_map(|it| it.split_once(DECLARATION)).last()?.1;
    above.split([',', ')']).next().map(str::trim)
}

/// Compiles the containers of the C++ standard library that are not templates. `None` if this
/// compiler does not accept them: then they are those of the shared library.
fn containers(sources: &Sources, compiler: &Compiler, scratch: &Scratch) -> Result<Option<PathBuf>, Error> {
    // Reports recognize the standard library by this folder.
    let file = scratch.write_within("include/c++/clewline", "containers.cc", CONTAINERS)?;
    let object = scratch.path().join("containers.o");
    let mut command = compiler.command(Language::Cpp);
    command.args(compiler.flags()).arg("-std=c++17").arg(including(scratch.path()));
    let is_about_the_machine = |it: &&OsString| {
        let flag = it.to_string_lossy();
        flag.starts_with("-m") || flag.starts_with("-stdlib=") || flag.starts_with("-O")
    };
    command.args(sources.flags.iter().filter(is_about_the_machine)).arg("-fno-lto");
    command.arg("-c").arg(file).arg("-o").arg(&object);
    Ok(output(&mut command)?.is_ok().then_some(object))
}

/// Flags that the user's flags do not override: with link-time optimization, code would be made
/// after its assembly was searched, and without instrumentation.
const LAST_FLAGS: [&str; 2] = ["-fsanitize=thread", "-fno-lto"];

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

    #[test]
    fn an_operation_that_need_not_return_is_named() {
        let gcc =
            "a.c: In function ‘clewline_operation_put’:\nh.h:1:2: error: no return [-Werror=return-type]\n";
        let found = missing_returns(gcc);
        assert!(found.len() == 1 && found[0].starts_with("the operation `put` does not return"), "{found:?}");
        assert_eq!(missing_returns("a.c:1:2: error: expected `;`\n"), [""; 0]);
    }
}
