//! Programs: sources compiled, linked with the runtime, and run.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use clewline_remote::RunOptions;

use super::{
    blind_spots::{BlindSpot, BlindSpots, is_instrumented, is_shared, recorded},
    compiler::{Compiler, Language, including},
    elf,
    error::ProgramError,
    headers::Headers,
    runtime::{CONTAINERS, Runtime},
    scratch::Scratch,
    session::{RunningProgram, StartOptions},
    unit::{Unit, output},
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
    pub fn build(sources: &Sources, compiler: &Compiler, runtime: &Runtime) -> Result<Program, ProgramError> {
        let Some(first) = sources.files.first() else { return Err(ProgramError::NoSources) };
        let scratch = Scratch::new()?;
        let headers = Headers::within(&scratch)?;
        let mut blind_spots = Vec::new();
        let mut objects = Vec::new();
        let mut linked_as = if compiler.is_cpp() { Language::Cpp } else { Language::C };
        for (number, file) in sources.files.iter().enumerate() {
            let language = Language::of(file).ok_or_else(|| ProgramError::UnknownLanguage(file.clone()))?;
            match language {
                Language::Object => {
                    // The runtime reports shared libraries.
                    let bytes = archived(file)?;
                    if !is_shared(file) && !is_instrumented(&bytes) {
                        blind_spots.push(BlindSpot::Object(file.clone()));
                    }
                    if !is_shared(file) && is_cpp(&bytes) {
                        linked_as = Language::Cpp;
                    }
                    objects.push(file.clone());
                    continue;
                }
                Language::C => (),
                Language::Cpp => linked_as = Language::Cpp,
            }
            let object = scratch.path().join(format!("{number}.o"));
            let unit = Unit { file, number, language, flags: &sources.flags };
            unit.compile(compiler, &headers, &scratch, &object)?;
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
        command.args(for_linking(&sources.flags));
        command.args(linked_with(runtime)).arg("-pthread");
        output(&mut command)?.map_err(|message| ProgramError::Linking { message })?;
        let bytes = fs::read(&executable).map_err(ProgramError::io(executable.display().to_string()))?;
        let blind_spots = BlindSpots::of_executable(&bytes);
        let name = name.to_string_lossy().into_owned();
        let fingerprint = elf::fingerprint(&bytes);
        Ok(Program { executable, name, preloaded: None, blind_spots, fingerprint, _scratch: Some(scratch) })
    }

    /// A program of one file with this name and text, in C or C++, and other files.
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
    ) -> Result<Program, ProgramError> {
        let scratch = Scratch::new()?;
        let mut files = vec![scratch.write(name, text)?];
        files.extend(others.files.iter().cloned());
        Program::build(&Sources { files, flags: others.flags.clone() }, compiler, runtime)
    }

    /// An existing program. If it was not linked with the runtime, that is preloaded.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or was linked with TSan's own runtime.
    pub fn existing(executable: &Path, runtime: &Runtime) -> Result<Program, ProgramError> {
        let shown = executable.display().to_string();
        let bytes = fs::read(executable).map_err(ProgramError::io(shown.clone()))?;
        if !is_linked(&bytes) && has_tsan(&bytes) {
            return Err(ProgramError::OtherRuntime(executable.to_owned()));
        }
        let preloaded = (!is_linked(&bytes)).then(|| runtime.file().to_owned());
        let executable = executable.canonicalize().map_err(ProgramError::io(shown))?;
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
    pub fn copy_to(&self, out: &mut dyn io::Write) -> Result<fs::Permissions, ProgramError> {
        let mut copy = || {
            let mut file = fs::File::open(&self.executable)?;
            io::copy(&mut file, out)?;
            Ok(file.metadata()?.permissions())
        };
        copy().map_err(ProgramError::io(self.name.clone()))
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
    ) -> Result<RunningProgram, ProgramError> {
        let mut command = Command::new(&self.executable);
        command.args(own);
        if let Some(library) = &self.preloaded {
            command.env("LD_PRELOAD", library);
        }
        let wanted = RunOptions { watched: self.blind_spots.watched(), ..wanted.clone() };
        RunningProgram::start(command, &wanted, options.into())
    }
}

/// Compiles the containers of the C++ standard library that are not templates. `None` if this
/// compiler does not accept them: then they are those of the shared library.
fn containers(
    sources: &Sources,
    compiler: &Compiler,
    scratch: &Scratch,
) -> Result<Option<PathBuf>, ProgramError> {
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

/// The bytes of an object file or an archive. A thin archive has only the names of its members,
/// which are read.
fn archived(file: &Path) -> Result<Vec<u8>, ProgramError> {
    let read = |file: &Path| fs::read(file).map_err(ProgramError::io(file.display().to_string()));
    let bytes = read(file)?;
    if !bytes.starts_with(b"!<thin>\n") {
        return Ok(bytes);
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let text = String::from_utf8_lossy(&bytes);
    // The table of names: `src/a.o/`, each on a line.
    let names = text.split('\n').filter_map(|it| it.strip_suffix('/'));
    let members = names.map(|it| folder.join(it.rsplit('\0').next().unwrap_or(it))).filter(|it| it.is_file());
    members.map(|it| read(&it)).collect::<Result<Vec<_>, _>>().map(|it| it.concat())
}

/// Whether an object file is of C++: its exceptions have that personality, or it was linked so.
fn is_cpp(bytes: &[u8]) -> bool {
    let has = |name: &[u8]| bytes.windows(name.len()).any(|it| it == name);
    has(b"__gxx_personality_v0") || has(b"_ZSt") || has(b"_ZNSt") || has(b"_Znwm")
}

/// The flags that are for linking, too: libraries, library paths, kinds of executables.
pub(super) fn for_linking(flags: &[OsString]) -> Vec<OsString> {
    const WITH_VALUE: [&str; 6] = ["-L", "-l", "-Xlinker", "-z", "-T", "-u"];
    const PREFIXES: [&str; 11] = [
        "-l",
        "-L",
        "-Wl,",
        "-stdlib=",
        "-fuse-ld=",
        "-no-pie",
        "-nopie",
        "-pie",
        "-rdynamic",
        "-fopenmp",
        "-B",
    ];
    let mut linking = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let text = flag.to_string_lossy();
        if WITH_VALUE.contains(&&*text) {
            linking.push(flag.clone());
            linking.extend(flags.next().cloned());
        } else if PREFIXES.iter().any(|it| text.starts_with(it)) {
            linking.push(flag.clone());
        }
    }
    // What is not seen is listed in a section that nothing refers to.
    if linking.iter().any(|it| it.to_string_lossy().contains("--gc-sections")) {
        linking.push("-Wl,--no-gc-sections".into());
    }
    linking
}

pub(super) fn linked_with(runtime: &Runtime) -> [OsString; 2] {
    let mut path = OsString::from("-Wl,-rpath,");
    path.push(runtime.folder());
    // Takes precedence over the environment: under Cargo that may lead to an older runtime.
    path.push(",--disable-new-dtags");
    [runtime.file().as_os_str().to_owned(), path]
}

/// Whether a program contains TSan's own runtime (clang), or needs its library (gcc).
fn has_tsan(bytes: &[u8]) -> bool {
    let library = b"libtsan.so";
    bytes.windows(library.len()).any(|it| it == library) || elf::functions(bytes).contains_key("__tsan_init")
}

/// Whether a program names the runtime among the libraries that it needs.
fn is_linked(bytes: &[u8]) -> bool {
    let name = super::error::RUNTIME_FILE.as_bytes();
    bytes.windows(name.len()).any(|it| it == name)
}
