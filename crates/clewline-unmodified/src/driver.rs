//! The compiler driver: one command of a build that calls `clewline cc` in place of a compiler.
//!
//! A build compiles each file (`-c`), asks for dependencies (`-MD`, `-M`), preprocesses (`-E`),
//! asks for a version, and links (`-o`, `-shared`). Each of these commands does what the compiler
//! does, with the instrumentation and the runtime.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    children,
    compiler::{Compiler, Language},
    error::ProgramError,
    headers::Headers,
    program::{Sources, for_linking, linked_with},
    runtime::Runtime,
    scratch::Scratch,
    unit::{Unit, output},
};

/// What a command of a build makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// What the compiler prints: preprocessed text, dependencies, its version.
    Printed,
    /// Assembly: `-S`.
    Assembly,
    /// Object files: `-c`.
    Objects,
    /// A shared library: `-shared`.
    Library,
    /// A program.
    Program,
}

impl Stage {
    /// By the flags.
    #[must_use]
    pub fn of(flags: &[OsString]) -> Stage {
        let has = |names: &[&str]| flags.iter().any(|it| names.iter().any(|name| it == name));
        let prints = |it: &OsString| {
            let text = it.to_string_lossy();
            text.starts_with("-print-") || text.starts_with("--print-") || text.starts_with("-dump")
        };
        if has(&["-E", "-M", "-MM", "-fsyntax-only", "-###", "--version", "-v"]) || flags.iter().any(prints) {
            Stage::Printed
        } else if has(&["-S"]) {
            Stage::Assembly
        } else if has(&["-c"]) {
            Stage::Objects
        } else if has(&["-shared"]) {
            Stage::Library
        } else {
            Stage::Program
        }
    }
}

/// Runs one command of a build: everything but linking a program.
///
/// # Errors
///
/// If the compiler refuses it. Then its message is printed by the caller.
pub fn drive(
    stage: Stage,
    sources: &Sources,
    to: Option<&Path>,
    compiler: &Compiler,
    runtime: &Runtime,
) -> Result<(), ProgramError> {
    let scratch = Scratch::new()?;
    let headers = Headers::kept(&scratch)?;
    match stage {
        Stage::Printed => printed(sources, to, compiler, &headers),
        Stage::Library => library(sources, to, compiler, runtime, &scratch, &headers),
        Stage::Assembly | Stage::Objects | Stage::Program => {
            let is_object = stage == Stage::Objects;
            for (number, file) in sources.files.iter().enumerate() {
                let Some(language @ (Language::C | Language::Cpp)) = Language::of(file) else { continue };
                let extension = if is_object { "o" } else { "s" };
                let beside = || PathBuf::from(file.file_name().unwrap_or_default()).with_extension(extension);
                let to = to.map_or_else(beside, Path::to_owned);
                let flags = with_dependencies(&sources.flags, &to);
                let unit = Unit { file, number, language, flags: &flags };
                if is_object {
                    unit.compile(compiler, &headers, &scratch, &to)?;
                } else {
                    let mut command = unit.instrumenting(compiler, &headers);
                    let file = file.clone();
                    output(command.arg("-o").arg(&to))?
                        .map_err(|message| ProgramError::Compiling { file, message })?;
                }
            }
            Ok(())
        }
    }
}

/// What the compiler prints, on the standard output of this process.
fn printed(
    sources: &Sources,
    to: Option<&Path>,
    compiler: &Compiler,
    headers: &Headers,
) -> Result<(), ProgramError> {
    let language = sources.files.iter().filter_map(|it| Language::of(it)).find(|it| *it != Language::Object);
    let file = Path::new("");
    let unit = Unit { file, number: 0, language: language.unwrap_or(Language::C), flags: &sources.flags };
    let instrumenting = unit.instrumenting(compiler, headers);
    let mut command = Command::new(instrumenting.get_program());
    command.args(instrumenting.get_args().filter(|it| !it.is_empty())).args(&sources.files);
    if let Some(to) = to {
        command.arg("-o").arg(to);
    }
    let name = compiler.name().to_owned();
    let status = children::status(&mut command).map_err(ProgramError::io(name))?;
    if status.success() { Ok(()) } else { Err(ProgramError::Refused) }
}

/// A shared library, which is instrumented as a program is.
fn library(
    sources: &Sources,
    to: Option<&Path>,
    compiler: &Compiler,
    runtime: &Runtime,
    scratch: &Scratch,
    headers: &Headers,
) -> Result<(), ProgramError> {
    let mut objects = Vec::new();
    let mut language = if compiler.is_cpp() { Language::Cpp } else { Language::C };
    for (number, file) in sources.files.iter().enumerate() {
        match Language::of(file) {
            Some(kind @ (Language::C | Language::Cpp)) => {
                if kind == Language::Cpp {
                    language = kind;
                }
                let object = scratch.path().join(format!("{number}.o"));
                let flags = with_dependencies(&sources.flags, &object);
                let unit = Unit { file, number, language: kind, flags: &flags };
                unit.compile(compiler, headers, scratch, &object)?;
                objects.push(object);
            }
            Some(Language::Object) | None => objects.push(file.clone()),
        }
    }
    let mut command = compiler.command(language);
    command.arg("-shared").args(&objects).arg("-o").arg(to.unwrap_or(Path::new("a.out")));
    command.args(compiler.linking()).args(for_linking(&sources.flags)).args(linked_with(runtime));
    output(&mut command)?.map_err(|message| ProgramError::Linking { message })
}

/// The flags without the stage; dependencies are those of the file that is made, and not of a
/// temporary one.
fn with_dependencies(flags: &[OsString], to: &Path) -> Vec<OsString> {
    let is_stage = |it: &&OsString| !["-c", "-shared"].iter().any(|stage| it == stage);
    let mut flags: Vec<OsString> = flags.iter().filter(is_stage).cloned().collect();
    let starts =
        |flags: &[OsString], with: &str| flags.iter().any(|it| it.to_string_lossy().starts_with(with));
    if flags.iter().any(|it| it == "-MD" || it == "-MMD") {
        if !starts(&flags, "-MF") {
            flags.extend(["-MF".into(), to.with_extension("d").into_os_string()]);
        }
        if !starts(&flags, "-MT") && !starts(&flags, "-MQ") {
            flags.extend(["-MT".into(), to.as_os_str().to_owned()]);
        }
    }
    flags
}

/// The words of the command line, those of response files (`@file`) in their place.
///
/// # Errors
///
/// If a response file cannot be read. A word that names no file is an ordinary one.
pub fn with_response_files(words: &[OsString]) -> Result<Vec<OsString>, ProgramError> {
    let mut all = Vec::new();
    for word in words {
        let text = word.to_string_lossy();
        match text.strip_prefix('@').filter(|it| Path::new(it).is_file()) {
            Some(file) => {
                let text = fs::read_to_string(file).map_err(ProgramError::io(file))?;
                all.extend(with_response_files(&quoted_words(&text))?);
            }
            None => all.push(word.clone()),
        }
    }
    Ok(all)
}

/// Words between blanks; quotes and backslashes protect them, as in gcc.
fn quoted_words(text: &str) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = text.chars();
    while let Some(it) = characters.next() {
        match (it, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            ('"' | '\'', None) => (quote, word) = (Some(it), Some(word.unwrap_or_default())),
            (it, Some(end)) if it == end => quote = None,
            (it, None) if it.is_whitespace() => words.extend(word.take().map(OsString::from)),
            (it, _) => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

/// A flag that cannot be used with the instrumentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsupportedFlag {
    /// It is left out, and this says why.
    Dropped(&'static str),
    /// The command fails, and this says why.
    Refused(&'static str),
}

/// Whether a flag of the user fits; `None` if it does.
#[must_use]
pub fn unsupported_flag(flag: &OsStr) -> Option<UnsupportedFlag> {
    let flag = flag.to_string_lossy();
    let coverage = ["--coverage", "-coverage", "-fprofile-arcs", "-ftest-coverage", "-fcoverage-mapping"];
    let profile = ["-fprofile-generate", "-fprofile-instr-generate"];
    if coverage.contains(&&*flag) || profile.iter().any(|it| flag.starts_with(it)) {
        return Some(UnsupportedFlag::Dropped(
            "its counters would be accesses of the program, which race; measure coverage in another build",
        ));
    }
    if ["-flto", "-fwhole-program"].iter().any(|it| flag.starts_with(it)) {
        return Some(UnsupportedFlag::Dropped("code would be made after the instrumentation"));
    }
    if flag == "-static" || flag == "-static-pie" {
        return Some(UnsupportedFlag::Refused("the runtime is a shared library: link dynamically"));
    }
    if flag == "-m32" || flag == "-mx32" {
        return Some(UnsupportedFlag::Refused("code for 32 bits is not instrumented"));
    }
    let sanitizers = flag.strip_prefix("-fsanitize=")?;
    let excluded = ["address", "hwaddress", "memory", "leak", "kernel-address", "dataflow", "fuzzer"];
    sanitizers.split(',').any(|it| excluded.contains(&it)).then_some(UnsupportedFlag::Refused(
        "it excludes the instrumentation of threads; uses after free and double frees are found without it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_flags_say_what_a_command_makes() {
        for (flags, stage) in [
            ("-c -O2", Stage::Objects),
            ("-S", Stage::Assembly),
            ("-E -dD", Stage::Printed),
            ("-MM", Stage::Printed),
            ("-c -MD -MF x.d", Stage::Objects),
            ("-dumpmachine", Stage::Printed),
            ("-print-search-dirs", Stage::Printed),
            ("-shared -fPIC", Stage::Library),
            ("-O2 -lm", Stage::Program),
        ] {
            assert_eq!(Stage::of(&words(flags)), stage, "{flags}");
        }
    }

    #[test]
    fn dependencies_are_those_of_the_object_file() {
        let with = |flags: &str| {
            let flags = with_dependencies(&words(flags), Path::new("out/a.o"));
            flags.iter().map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(with("-c -O2"), "-O2");
        assert_eq!(with("-c -MMD"), "-MMD -MF out/a.d -MT out/a.o");
        assert_eq!(with("-MD -MF x.d -MT y"), "-MD -MF x.d -MT y");
    }

    #[test]
    fn response_files_are_split_as_by_gcc() {
        let words = quoted_words("-DX=\"a b\" 'c d'\n e\\ f \"\"");
        assert_eq!(words, ["-DX=a b", "c d", "e f", ""]);
        assert_eq!(with_response_files(&["@nowhere".into()]).unwrap(), ["@nowhere"]);
    }

    #[test]
    fn flags_that_do_not_fit_are_dropped_or_refused() {
        let of = |flag: &str| unsupported_flag(OsStr::new(flag));
        assert!(matches!(of("--coverage"), Some(UnsupportedFlag::Dropped(_))));
        assert!(matches!(of("-fprofile-generate=x"), Some(UnsupportedFlag::Dropped(_))));
        assert!(matches!(of("-fsanitize=undefined,address"), Some(UnsupportedFlag::Refused(_))));
        assert!(matches!(of("-static"), Some(UnsupportedFlag::Refused(_))));
        let fine = ["-fsanitize=undefined", "-fsanitize=thread", "-O2", "-static-libgcc", "-no-pie"];
        assert_eq!(fine.map(of), [None; 5]);
    }
}
