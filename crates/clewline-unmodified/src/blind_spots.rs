//! Blind spots: parts of a program that are not seen during an exploration.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use clewline_remote::{Trust, Unseen, source_path};

use super::{
    assembly::{UnseenCause, UnseenInstruction},
    elf,
};

/// A part of a program that is not observed during an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlindSpot {
    /// An instruction that accesses memory and is not instrumented.
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

impl BlindSpot {
    /// Whether the user vouches for it.
    #[must_use]
    pub fn is_trusted(&self, trust: &Trust) -> bool {
        match self {
            BlindSpot::Instruction(it) => {
                trust.covers_function(&it.symbol)
                    || it.function.as_ref().is_some_and(|it| trust.covers_function(it))
                    || it.place.as_ref().is_some_and(|it| trust.covers_file(&it.0))
                    || it.cause == UnseenCause::Library && trust.covers_file(&it.instruction)
            }
            BlindSpot::Object(file) => trust.covers_file(&file.display().to_string()),
        }
    }

    /// One line of a program's record.
    fn to_line(&self) -> String {
        let fields = match self {
            BlindSpot::Instruction(it) => {
                let (file, line) =
                    it.place.as_ref().map_or(("", String::new()), |it| (&it.0, it.1.to_string()));
                let cause = match it.cause {
                    UnseenCause::Inline => "inline",
                    UnseenCause::NotInstrumented => "excluded",
                    UnseenCause::Argument => "argument",
                    UnseenCause::Result => "result",
                    UnseenCause::Size => "size",
                    UnseenCause::Library => "library",
                };
                let function = it.function.as_deref().unwrap_or_default();
                [cause, &it.symbol, function, &it.instruction, file, &line].join("\t")
            }
            BlindSpot::Object(file) => format!("object\t{}", file.display()),
        };
        fields.replace('\n', " ") + "\n"
    }

    fn of_line(line: &str) -> Option<BlindSpot> {
        let mut fields = line.split('\t').map(str::to_owned);
        let cause = match &*fields.next()? {
            "object" => return Some(BlindSpot::Object(fields.next()?.into())),
            "inline" => UnseenCause::Inline,
            "argument" => UnseenCause::Argument,
            "result" => UnseenCause::Result,
            "size" => UnseenCause::Size,
            "library" => UnseenCause::Library,
            _ => UnseenCause::NotInstrumented,
        };
        let (symbol, function, instruction) = (fields.next()?, fields.next()?, fields.next()?);
        let place = fields.next().zip(fields.next().and_then(|it| it.parse().ok()));
        let function = Some(function).filter(|it| !it.is_empty());
        Some(BlindSpot::Instruction(UnseenInstruction { place, function, instruction, cause, symbol }))
    }
}

/// The same sentence, with the place at its beginning as reports name it.
fn with_source_path(sentence: &str) -> String {
    let named = || {
        let (place, rest) = sentence.split_once(": ")?;
        let (file, line) = place.rsplit_once(':')?;
        line.parse::<u32>().ok().map(|line| format!("{}:{line}: {rest}", source_path(file)))
    };
    named().unwrap_or_else(|| sentence.to_owned())
}

/// The section of a program that lists its blind spots.
const SECTION: &str = ".clewline.unseen";

/// Assembly of that section.
pub(super) fn recorded(all: &[BlindSpot]) -> String {
    let text: String = all.iter().map(BlindSpot::to_line).collect();
    let bytes = |it: &[u8]| it.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    let lines: String = text.as_bytes().chunks(64).map(|it| format!("\t.byte {}\n", bytes(it))).collect();
    format!(
        "\t.section {SECTION},\"a\",@progbits\n{lines}\t.byte 10\n\t.section .note.GNU-stack,\"\",@progbits\n"
    )
}

/// The blind spots of a program.
#[derive(Clone, Debug, Default)]
pub struct BlindSpots {
    all: Vec<BlindSpot>,
    /// The functions with blind spots: their addresses, and their symbols.
    watched: Vec<(usize, String)>,
}

impl BlindSpots {
    /// Each of them, as far as compiler and linker report.
    #[must_use]
    pub fn all(&self) -> &[BlindSpot] {
        &self.all
    }

    /// What was not seen in an exploration and is not trusted: one sentence each, without a final
    /// dot.
    #[must_use]
    pub fn sentences(&self, unseen: &Unseen, trust: &Trust) -> Vec<String> {
        let spots = self.that_matter(unseen, trust).into_iter().map(ToString::to_string);
        spots.chain(unseen.sentences.iter().map(|it| with_source_path(it))).collect()
    }

    /// The given ones, of this executable.
    pub(super) fn new(all: Vec<BlindSpot>, executable: &[u8]) -> BlindSpots {
        let mut watched: BTreeMap<usize, String> = BTreeMap::new();
        if all.iter().any(|it| matches!(it, BlindSpot::Instruction(_))) {
            let functions = elf::functions(executable);
            for spot in &all {
                let BlindSpot::Instruction(it) = spot else { continue };
                let addresses = functions.get(&*it.symbol).into_iter().flatten();
                watched.extend(addresses.map(|address| (*address, it.symbol.clone())));
            }
        }
        BlindSpots { all, watched: watched.into_iter().collect() }
    }

    /// Those that the executable lists.
    pub(super) fn of_executable(executable: &[u8]) -> BlindSpots {
        let text = String::from_utf8_lossy(elf::section(executable, SECTION).unwrap_or_default());
        BlindSpots::new(text.lines().filter_map(BlindSpot::of_line).collect(), executable)
    }

    /// The addresses of functions whose execution matters.
    pub(super) fn watched(&self) -> Vec<usize> {
        self.watched.iter().map(|it| it.0).collect()
    }

    /// Those that matter: they are not trusted, and their function ran, as far as that is known.
    fn that_matter(&self, unseen: &Unseen, trust: &Trust) -> Vec<&BlindSpot> {
        let ran = |symbol: &str| {
            let mut addresses = self.watched.iter().enumerate().filter(|it| it.1.1 == symbol).peekable();
            addresses.peek().is_none() || addresses.any(|it| unseen.watched.contains(&it.0))
        };
        let matters = |it: &&BlindSpot| match it {
            BlindSpot::Instruction(it) => ran(&it.symbol),
            BlindSpot::Object(_) => true,
        };
        self.all.iter().filter(|it| !it.is_trusted(trust)).filter(matters).collect()
    }
}

/// Whether an object file or a library calls the runtime anywhere.
pub(super) fn is_instrumented(bytes: &[u8]) -> bool {
    bytes.windows(INSTRUMENTATION_SYMBOL.len()).any(|it| it == INSTRUMENTATION_SYMBOL)
}

/// What every instrumented module calls when it is loaded.
const INSTRUMENTATION_SYMBOL: &[u8] = b"__tsan_init";

/// Whether a file is a shared library, which the loader reports.
pub(super) fn is_shared(file: &Path) -> bool {
    file.file_name().is_some_and(|it| it.to_string_lossy().split('.').any(|it| it == "so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instruction(symbol: &str, place: Option<(String, u32)>) -> BlindSpot {
        BlindSpot::Instruction(UnseenInstruction {
            place,
            function: Some("ring::push".to_owned()),
            instruction: "lock xaddq".to_owned(),
            cause: UnseenCause::Inline,
            symbol: symbol.to_owned(),
        })
    }

    #[test]
    fn blind_spots_are_written_into_programs_and_read_again() {
        for spot in [
            instruction("_ZN4ring4pushEv", Some(("a b/ring.h".to_owned(), 12))),
            instruction("", None),
            BlindSpot::Object("lib/a.o".into()),
        ] {
            assert_eq!(BlindSpot::of_line(spot.to_line().trim_end_matches('\n')), Some(spot));
        }
    }

    #[test]
    fn places_are_named_as_in_reports() {
        let named = with_source_path("/usr/include/c++/12/mutex:7: f writes");
        assert_eq!(named, "c++/12/mutex:7: f writes");
        let other = "libz.so was not compiled for this: it is not seen";
        assert_eq!(with_source_path(other), other);
    }

    #[test]
    fn functions_that_did_not_run_do_not_matter() {
        let all = vec![instruction("ran", None), instruction("did_not", None), instruction("gone", None)];
        let watched = vec![(16, "did_not".to_owned()), (32, "ran".to_owned())];
        let spots = BlindSpots { all, watched };
        let unseen = Unseen { watched: vec![1], ..Unseen::default() };
        let of = |trust: &[&str]| {
            let trust = Trust(trust.iter().map(|it| (*it).to_owned()).collect());
            let found = spots.that_matter(&unseen, &trust);
            found
                .into_iter()
                .filter_map(|it| spots.all.iter().position(|other| other == it))
                .collect::<Vec<_>>()
        };
        assert_eq!((of(&[]), of(&["ran"]), of(&["ring"])), (vec![0, 2], vec![2], Vec::new()));
    }
}
