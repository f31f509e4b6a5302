//! C and C++ compilers: which are available, and the flags with which they instrument accesses.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
    process::Command,
};

use super::{
    children::output,
    error::{ProgramError, check_platform},
    scratch::Scratch,
};

/// A compiler that instruments.
#[derive(Clone, Debug)]
pub struct Compiler {
    name: String,
    /// The compiler of C++, if it is named.
    cpp: Option<String>,
    kind: CompilerKind,
    /// The wanted flags that it accepts.
    flags: Vec<&'static str>,
    /// Those that come after the flags of the user.
    last_flags: Vec<&'static str>,
    /// The flags for linking.
    linking: Vec<&'static str>,
}

/// Which compiler it is; they differ in what they do not instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompilerKind {
    /// The GNU compiler.
    Gcc,
    /// LLVM's.
    Clang,
}

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// None: an object file or a library, which is linked as it is.
    Object,
}

impl Language {
    /// By the file name.
    #[must_use]
    pub fn of(file: &Path) -> Option<Language> {
        match file.extension()?.to_str()? {
            "c" => Some(Language::C),
            "cc" | "cpp" | "cxx" | "C" | "c++" => Some(Language::Cpp),
            "o" | "lo" | "obj" | "a" | "so" => Some(Language::Object),
            _ => None,
        }
    }
}

/// Without these nothing is instrumented.
const REQUIRED_FLAGS: [&str; 3] = ["-g", "-fno-omit-frame-pointer", "-fsanitize=thread"];

/// Little optimization, so that lines in reports are those of the source. 16 bytes are one access.
const OPTIONAL_FLAGS: [&[&str]; 2] = [&["-O1"], &["-mcx16"]];

/// gcc inlines small copies and comparisons without a call, and treats volatile as plain. What it
/// inlines for builtin functions is replaced in [`BUILTINS`](super::runtime::BUILTINS). `strlen`
/// stays a builtin function, since constants are computed with it in C++.
const OPTIONAL_GCC_FLAGS: [&[&str]; 3] = [
    &[
        "-fno-builtin-memcpy",
        "-fno-builtin-memset",
        "-fno-builtin-memmove",
        "-fno-builtin-memcmp",
        "-fno-builtin-memchr",
        "-fno-builtin-mempcpy",
        "-fno-builtin-bcmp",
        "-fno-builtin-bcopy",
        "-fno-builtin-bzero",
        "-fno-builtin-strcmp",
        "-fno-builtin-strncmp",
        "-fno-builtin-strchr",
        "-fno-builtin-strcpy",
        "-fno-builtin-stpcpy",
        "-fno-builtin-strncpy",
        "-fno-builtin-stpncpy",
        "-fno-builtin-strcat",
        "-fno-builtin-strncat",
        "-fno-builtin-sprintf",
        "-fno-builtin-snprintf",
    ],
    &["--param", "tsan-distinguish-volatile=1"],
    &["-Wno-tsan"],
];

/// clang reports only the write of `x += 1`, and treats volatile as plain.
const OPTIONAL_CLANG_FLAGS: [&[&str]; 2] =
    [&["-mllvm", "-tsan-instrument-read-before-write"], &["-mllvm", "-tsan-distinguish-volatile"]];

/// clang does not instrument vectors of more than 16 bytes. Code with the checks of the C library
/// is inlined whatever the other flags are.
const LAST_FLAGS: [&str; 1] = ["-U_FORTIFY_SOURCE"];
const LAST_CLANG_FLAGS: [&[&str]; 2] = [&["-fno-vectorize"], &["-fno-slp-vectorize"]];

/// Symbols are bound at startup, since data is restored between executions; functions that access
/// blocks and strings go through the runtime.
const LINKER_FLAGS: [&str; 5] = [
    "-Wl,-z,now",
    "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=memcmp,--wrap=memchr,--wrap=mempcpy,--wrap=memccpy",
    "-Wl,--wrap=bcmp,--wrap=bcopy,--wrap=bzero,--wrap=explicit_bzero,--wrap=strcmp,--wrap=strncmp,--wrap=strcasecmp",
    "-Wl,--wrap=strncasecmp,--wrap=strlen,--wrap=strnlen,--wrap=strchr,--wrap=strrchr,--wrap=strstr,--wrap=strspn",
    "-Wl,--wrap=strcspn,--wrap=strpbrk,--wrap=strcpy,--wrap=stpcpy,--wrap=strncpy,--wrap=stpncpy,--wrap=strcat,\
     --wrap=strncat,--wrap=strdup,--wrap=strndup",
];

/// Tried in this order.
const DEFAULT_COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

impl Compiler {
    /// The compiler called `name`, or a default one. It is tested with a file of one line.
    pub fn find(name: Option<&str>) -> Result<Compiler, ProgramError> {
        check_platform()?;
        let names: Vec<&str> = name.map_or_else(|| DEFAULT_COMPILERS.to_vec(), |it| vec![it]);
        let mut unfit = None;
        for name in &names {
            match Compiler::named(name) {
                Ok(Some(compiler)) => return Ok(compiler),
                Ok(None) => (),
                Err(error) => unfit = unfit.or(Some(error)),
            }
        }
        Err(unfit.unwrap_or_else(|| ProgramError::NoCompiler {
            tried: names.iter().map(|it| (*it).to_owned()).collect(),
        }))
    }

    /// `None` if there is no such compiler.
    fn named(name: &str) -> Result<Option<Compiler>, ProgramError> {
        let message = match output(Command::new(name).arg("--version")) {
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ProgramError::io(name)(error)),
        };
        let unfit = |message: String| ProgramError::UnfitCompiler { name: name.to_owned(), message };
        let kind = kind_of(&message).ok_or_else(|| unfit(message))?;
        let probe = Probe::new(name)?;
        let (wanted, last): (Vec<_>, &[&[&str]]) = match kind {
            CompilerKind::Gcc => (OPTIONAL_FLAGS.into_iter().chain(OPTIONAL_GCC_FLAGS).collect(), &[]),
            CompilerKind::Clang => {
                (OPTIONAL_FLAGS.into_iter().chain(OPTIONAL_CLANG_FLAGS).collect(), &LAST_CLANG_FLAGS)
            }
        };
        let mut flags = REQUIRED_FLAGS.to_vec();
        let mut last_flags = LAST_FLAGS.to_vec();
        // Most accept all, and starting a compiler takes time: one attempt instead of one for each.
        let everything = [&flags[..], &wanted.concat(), &last_flags, &last.concat()].concat();
        let accepts_all = probe.accepts(&everything).is_ok();
        if !accepts_all {
            probe.accepts(&REQUIRED_FLAGS).map_err(unfit)?;
        }
        // Flags that a version does not support are omitted: they are only improvements.
        let is_accepted = |it: &&&[&'static str]| accepts_all || probe.accepts(it).is_ok();
        flags.extend(wanted.iter().filter(is_accepted).copied().flatten());
        last_flags.extend(last.iter().filter(is_accepted).copied().flatten());
        let linking = LINKER_FLAGS.to_vec();
        Ok(Some(Compiler { name: name.to_owned(), cpp: None, kind, flags, last_flags, linking }))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same, with another compiler of C++. It has to be of the same kind.
    ///
    /// # Errors
    ///
    /// If there is no such compiler, or it is of another kind.
    pub fn with_cpp(self, name: &str) -> Result<Compiler, ProgramError> {
        let cpp = Compiler::find(Some(name))?;
        if cpp.kind != self.kind {
            let message = format!("it is not of the same kind as {}", self.name);
            return Err(ProgramError::UnfitCompiler { name: name.to_owned(), message });
        }
        Ok(Compiler { cpp: Some(name.to_owned()), ..self })
    }

    /// Whether it is a compiler of C++, by its name.
    #[must_use]
    pub fn is_cpp(&self) -> bool {
        self.name.contains("++")
    }

    /// The kind of compiler.
    #[must_use]
    pub fn kind(&self) -> CompilerKind {
        self.kind
    }

    /// The flags for instrumentation.
    #[must_use]
    pub fn flags(&self) -> &[&'static str] {
        &self.flags
    }

    /// The flags for instrumentation that take precedence over those of the user.
    #[must_use]
    pub fn last_flags(&self) -> &[&'static str] {
        &self.last_flags
    }

    /// The flags for linking.
    #[must_use]
    pub fn linking(&self) -> &[&'static str] {
        &self.linking
    }

    /// The command that compiles or links a language.
    #[must_use]
    pub fn command(&self, language: Language) -> Command {
        Command::new(match language {
            Language::C | Language::Object => self.name.clone(),
            Language::Cpp => self.cpp.clone().unwrap_or_else(|| cpp_name(&self.name)),
        })
    }
}

/// The compiler kind from its version text. gcc prints the name under which it was started, so its
/// copyright holder identifies it.
fn kind_of(version: &str) -> Option<CompilerKind> {
    if version.contains("clang") {
        Some(CompilerKind::Clang)
    } else if version.contains("Free Software Foundation") {
        Some(CompilerKind::Gcc)
    } else {
        None
    }
}

/// The name of the C++ compiler that belongs to a C compiler: `g++-12` for `gcc-12`.
fn cpp_name(name: &str) -> String {
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |it| (&name[..=it.0.len()], it.1));
    let file = if file.contains("++") {
        file.to_owned()
    } else if file.contains("clang") {
        file.replacen("clang", "clang++", 1)
    } else if file.contains("gcc") {
        file.replacen("gcc", "g++", 1)
    } else {
        file.replacen("cc", "c++", 1)
    };
    format!("{folder}{file}")
}

/// A file of one line, to test which flags a compiler accepts.
struct Probe<'a> {
    name: &'a str,
    scratch: Scratch,
}

impl Probe<'_> {
    fn new(name: &str) -> Result<Probe<'_>, ProgramError> {
        let scratch = Scratch::new()?;
        scratch.write("probe.c", "int probe(int *at) { return __atomic_load_n(at, 0); }\n")?;
        Ok(Probe { name, scratch })
    }

    /// The error is the compiler's message.
    fn accepts<S: AsRef<OsStr>>(&self, flags: &[S]) -> Result<(), String> {
        let mut command = Command::new(self.name);
        // A compiler of C++ warns of a file in C.
        command.arg("-Werror").args(flags).args(["-x", "c", "-c", "probe.c", "-o", "probe.o"]);
        match output(command.current_dir(self.scratch.path())) {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The flag that adds a folder to the header search path.
pub(super) fn including(folder: &Path) -> OsString {
    let mut flag = OsString::from("-I");
    flag.push(folder);
    flag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_recognized_by_their_version_text() {
        let gcc = "cc (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n";
        assert_eq!(kind_of(gcc), Some(CompilerKind::Gcc));
        assert_eq!(kind_of("Debian clang version 14.0.6\n"), Some(CompilerKind::Clang));
        assert_eq!(kind_of("tcc version 0.9.27\n"), None);
    }

    #[test]
    fn the_compiler_of_cpp_has_the_same_version() {
        for (c, cpp) in [
            ("gcc", "g++"),
            ("gcc-12", "g++-12"),
            ("clang-19", "clang++-19"),
            ("cc", "c++"),
            ("/opt/gcc/bin/gcc", "/opt/gcc/bin/g++"),
            ("/opt/cc/bin/clang", "/opt/cc/bin/clang++"),
            ("clang++-14", "clang++-14"),
        ] {
            assert_eq!(cpp_name(c), cpp);
        }
    }

    #[test]
    fn languages_are_determined_by_file_names() {
        let of = |name: &str| Language::of(Path::new(name));
        assert_eq!([of("a/stack.c"), of("stack.cpp")], [Some(Language::C), Some(Language::Cpp)]);
        assert_eq!([of("stack.o"), of("stack.h"), of("stack")], [Some(Language::Object), None, None]);
    }
}
