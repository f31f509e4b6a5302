//! Blind spots: parts of a program that are not seen during an exploration.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use clewline_remote::{IS_SEEN, Trust, Unseen, source_path};

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
                    UnseenCause::Fence => "fence",
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
            "fence" => UnseenCause::Fence,
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
    /// The functions that order tasks, and how.
    orders: Vec<(usize, &'static TaskOrder)>,
}

/// An order of tasks that code chooses, and not the scheduler.
#[derive(Debug, PartialEq, Eq)]
struct TaskOrder {
    /// The module.
    module: &'static str,
    /// What the symbols of the functions that choose contain, whichever scheme encodes them.
    symbols: &'static [&'static [&'static str]],
    sentence: &'static str,
}

static ORDERS: [TaskOrder; 3] = [
    TaskOrder {
        module: "tokio::runtime::scheduler::current_thread",
        symbols: &[&["14current_thread", "6Handle5spawn"], &["14current_thread", "8schedule"]],
        sentence: "a current-thread runtime of tokio polls ready tasks in the order of its queue, and no other order was tried: \
                   set `flavor = \"multi_thread\"`",
    },
    TaskOrder {
        module: "tokio::task::local",
        symbols: &[&["5tokio4task5local", "7Context5spawn"], &["5tokio4task5local", "8schedule"]],
        sentence: "a `LocalSet` of tokio polls ready tasks in the order of its queue, and no other order was tried",
    },
    TaskOrder {
        module: "tokio::macros::select",
        symbols: &[&["5tokio", "12thread_rng_n"]],
        sentence: "`tokio::select!` chose the branch that it polls first by a random number, and no other one was tried: write \
                   `biased;`, or `clewline::future::select!`",
    },
];

impl TaskOrder {
    fn has(&self, symbol: &str) -> bool {
        self.symbols.iter().any(|all| all.iter().all(|it| symbol.contains(it)))
    }
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
        let is_seen =
            |it: &&BlindSpot| !matches!(it, BlindSpot::Instruction(it) if it.cause == UnseenCause::Fence);
        let spots = self.that_matter(unseen, trust).into_iter().filter(is_seen).map(ToString::to_string);
        let spots = spots.chain(unseen.sentences.iter().map(|it| with_source_path(it)));
        let ran = |at: usize| unseen.watched.contains(&(self.watched.len() + at));
        let orders = ORDERS.iter().filter(|order| {
            let mut of_it = self.orders.iter().enumerate().filter(|it| it.1.1 == *order);
            of_it.any(|it| ran(it.0)) && !trust.covers_function(order.module)
        });
        spots.chain(orders.map(|it| it.sentence.to_owned())).collect()
    }

    /// What may have ordered accesses of threads unseen, and is not trusted: one sentence each. It
    /// may rule out what a weak memory model allows.
    #[must_use]
    pub fn orders(&self, unseen: &Unseen, trust: &Trust) -> Vec<String> {
        let may_order = |it: &&BlindSpot| match it {
            BlindSpot::Object(_) => true,
            BlindSpot::Instruction(it) => match it.cause {
                UnseenCause::Inline
                | UnseenCause::NotInstrumented
                | UnseenCause::Library
                | UnseenCause::Fence => true,
                UnseenCause::Argument | UnseenCause::Result | UnseenCause::Size => false,
            },
        };
        let spots = self.that_matter(unseen, trust).into_iter();
        spots.filter(may_order).map(ToString::to_string).collect()
    }

    /// The given ones, of this executable.
    pub(super) fn new(all: Vec<BlindSpot>, executable: &[u8]) -> BlindSpots {
        let mut watched: BTreeMap<usize, String> = BTreeMap::new();
        let functions = elf::functions(executable);
        if all.iter().any(|it| matches!(it, BlindSpot::Instruction(_))) {
            for spot in &all {
                let BlindSpot::Instruction(it) = spot else { continue };
                let addresses = functions.get(&*it.symbol).into_iter().flatten();
                watched.extend(addresses.map(|address| (*address, it.symbol.clone())));
            }
        }
        let order = |it: &(&str, Vec<usize>)| ORDERS.iter().find(|order| order.has(it.0));
        let found = functions.into_iter().filter_map(|it| Some((order(&it)?, it.1)));
        let orders = found.flat_map(|(order, all)| all.into_iter().map(move |it| (it, order)));
        // A function has one breakpoint.
        let mut orders: Vec<_> = orders.filter(|it| !watched.contains_key(&it.0)).collect();
        orders.sort_unstable_by_key(|it| it.0);
        orders.dedup_by_key(|it| it.0);
        BlindSpots { all, watched: watched.into_iter().collect(), orders }
    }

    /// Those that the executable lists.
    pub(super) fn of_executable(executable: &[u8]) -> BlindSpots {
        let text = String::from_utf8_lossy(elf::section(executable, SECTION).unwrap_or_default());
        BlindSpots::new(text.lines().filter_map(BlindSpot::of_line).collect(), executable)
    }

    /// The addresses of functions whose execution matters.
    pub(super) fn watched(&self) -> Vec<usize> {
        let orders = self.orders.iter().map(|it| it.0 | IS_SEEN);
        self.watched.iter().map(|it| it.0).chain(orders).collect()
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

    #[test]
    fn orders_of_tasks_are_known_by_symbols_of_both_schemes() {
        let of = |symbol: &str| ORDERS.iter().position(|it| it.has(symbol));
        for (symbol, order) in [
            ("_ZN5tokio7runtime9scheduler14current_thread6Handle5spawn17h0123456789abcdefE", Some(0)),
            (
                "_RINvMs7_NtNtNtCs1_5tokio7runtime9scheduler14current_threadNtB6_6Handle5spawnNCNvC1a4main0EB1a_",
                Some(0),
            ),
            ("_ZN5tokio7runtime9scheduler12multi_thread6handle6Handle5spawn17h0123456789abcdefE", None),
            ("_ZN5tokio7runtime9scheduler14current_thread13CurrentThread8block_on17h0123456789abcdefE", None),
            ("_ZN5tokio4task5local7Context5spawn17h0123456789abcdefE", Some(1)),
            ("_ZN5tokio7runtime7context12thread_rng_n17h0123456789abcdefE", Some(2)),
        ] {
            assert_eq!(of(symbol), order, "{symbol}");
        }
    }

    #[test]
    fn an_order_of_tasks_matters_where_it_was_chosen() {
        let orders = vec![(16, &ORDERS[0]), (32, &ORDERS[2])];
        let spots = BlindSpots { all: Vec::new(), watched: vec![(8, "f".to_owned())], orders };
        assert_eq!(spots.watched(), [8, 16 | IS_SEEN, 32 | IS_SEEN]);
        let of = |watched: &[usize], trust: &str| {
            let unseen = Unseen { watched: watched.to_vec(), ..Unseen::default() };
            spots.sentences(&unseen, &Trust(vec![trust.to_owned()]))
        };
        assert_eq!(of(&[0], ""), [""; 0]);
        assert_eq!(of(&[1], ""), [ORDERS[0].sentence]);
        assert_eq!(of(&[1, 2], "tokio"), [""; 0]);
        assert_eq!(of(&[1, 2], "tokio::runtime"), [ORDERS[2].sentence]);
    }

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
        let spots = BlindSpots { all, watched, orders: Vec::new() };
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
