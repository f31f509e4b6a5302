//! Requirements on every format in the table.

use std::{collections::BTreeMap, fs, path::PathBuf};

use clewline_core::{
    Event, EventLog, Names, ObjectId, ProcessId, Random, RawCall, Recording, Timed, TimedColumns, Value,
    Values,
};
use clewline_formats::{
    Format, Objects, ReadOptions, Row, RowKind, WriteError,
    formats::{self, FORMATS},
};
use clewline_testing::pick;

use crate::support::{canonical, format, options};

/// Writes `recording`, if the format can hold it, and checks that it reads as the same again.
fn round_trip(format: &dyn Format, recording: &Recording) -> bool {
    let mut written = Vec::new();
    match format.write(recording, &mut written) {
        Err(WriteError::CannotHold(_)) => return false,
        Err(error) => panic!("memory cannot fail: {error}"),
        Ok(()) => (),
    }
    let keyed = format.carries().objects == Objects::Keys
        && recording.names.objects.iter().any(|it| !it.is_absent())
        && !recording.history.is_empty();
    let again = format.read(&mut &written[..], &options(keyed, 1));
    let text = String::from_utf8_lossy(&written);
    let again = again.unwrap_or_else(|error| panic!("{}: {error}:\n{text}", format.name()));
    assert_eq!(canonical(&again), canonical(recording), "{}:\n{text}", format.name());
    let mut rewritten = Vec::new();
    format.write(&again, &mut rewritten).expect("held before");
    assert_eq!(String::from_utf8_lossy(&rewritten), text, "{}: written again", format.name());
    true
}

/// A value of any kind, from small domains so that values repeat.
fn random_value(random: &mut Random, values: &mut Values, depth: usize) -> Value {
    match random.below(if depth == 0 { 9 } else { 11 }) {
        0 => Value::NIL,
        1 => Value::bool(random.chance(0.5)),
        2..=4 => values.int(random.below(4) as i64),
        5 => values.int(random.next().cast_signed()),
        6 => {
            let texts = ["", "a", "é😀", "\"\\\n\t\u{1}", "timed-out", "12"];
            values.text(texts[random.below(texts.len())])
        }
        7 => values.symbol(["x", "timed-out", "a/b"][random.below(3)]),
        8 => {
            let others =
                ["1.5", "1e100", "99999999999999999999", "{\"a\":[1]}", "#{1 2}", "{:a 1}", "1/2", "##Inf"];
            values.other(others[random.below(others.len())])
        }
        _ => {
            let items: Vec<Value> =
                (0..random.below(4)).map(|_| random_value(random, values, depth - 1)).collect();
            values.list(&items)
        }
    }
}

/// The values and methods of one kind of recordings.
#[derive(Clone, Copy, Debug)]
struct Sort {
    methods: &'static [&'static str],
    named_processes: bool,
    objects: usize,
}

const SORTS: &[Sort] = &[
    Sort { methods: &["read", "write", "cas"], named_processes: false, objects: 1 },
    Sort { methods: &["get", "put", "append"], named_processes: false, objects: 1 },
    Sort { methods: &["deq", "add", "lock", "two words", ""], named_processes: false, objects: 3 },
    Sort { methods: &["a", "b"], named_processes: true, objects: 2 },
];

fn random_call(random: &mut Random, values: &mut Values, sort: &Sort) -> (RawCall, Value) {
    let method = sort.methods[random.below(sort.methods.len())];
    let mut value = || random_value(random, values, 2);
    // Half of the time as the formats require it, or else they could hold almost none.
    let (mut arg, mut ret) = match method {
        "read" | "deq" => (Value::ABSENT, value()),
        "write" | "add" => (value(), Value::ABSENT),
        "cas" | "put" | "append" => {
            let pair = [value(), value()];
            let ret = if method == "cas" { Value::bool(pair[0] < pair[1]) } else { Value::ABSENT };
            (values.list(&pair), ret)
        }
        "get" => (value(), value()),
        _ => (Value::ABSENT, Value::ABSENT),
    };
    if random.chance(0.05) {
        (arg, ret) = (random_value(random, values, 1), random_value(random, values, 1));
    }
    (RawCall { method: values.text(method), arg }, ret)
}

fn random_names(random: &mut Random, values: &mut Values, sort: &Sort, sources: usize) -> Names {
    let name = |values: &mut Values, it: usize| match sort.named_processes {
        true if it.is_multiple_of(2) => values.text(&format!("p{it}")),
        _ => values.int(it as i64 - 1),
    };
    let processes = (0..4).map(|it| name(values, it)).collect();
    let objects = match sort.objects {
        1 => vec![Value::ABSENT],
        _ => (0..sort.objects).map(|it| values.text(&format!("o{it}"))).collect(),
    };
    let ids = random.chance(0.3).then(|| {
        // Not all have one; the others are identified by their lines.
        (0..sources)
            .map(|it| if random.chance(0.8) { values.text(&format!("id {it}")) } else { Value::ABSENT })
            .collect()
    });
    Names { processes, objects, ids, ..Names::default() }
}

/// A history from events: processes continue after operations of unknown outcome, and some fail.
fn from_events(random: &mut Random, sort: &Sort) -> Recording {
    let mut values = Values::new();
    let mut log = EventLog::new();
    let mut open: [Option<Value>; 4] = [None; 4];
    let events = random.below(16);
    for _ in 0..events {
        let at = random.below(4);
        let process = ProcessId(at as u32);
        let event = match open[at].take() {
            None => {
                let (call, ret) = random_call(random, &mut values, sort);
                open[at] = Some(ret);
                Event::Call(process, ObjectId(random.below(sort.objects) as u32), call)
            }
            Some(_) if random.chance(0.1) => Event::Info(process),
            Some(_) if random.chance(0.1) => Event::Fail(process),
            Some(ret) => Event::Return(process, ret),
        };
        log.push(event).unwrap();
    }
    let names = random_names(random, &mut values, sort, events);
    let history = log.finish();
    Recording::new(history, values, names)
}

/// A history from times: processes call at the time at which they return.
fn from_times(random: &mut Random, sort: &Sort) -> Recording {
    const GONE: i64 = 1 << 40;
    let mut values = Values::new();
    let mut columns = TimedColumns::with_capacity(0);
    let mut free = [0_i64; 4];
    for _ in 0..random.below(12) {
        let at = random.below(4);
        let called = free[at] + random.below(3) as i64;
        let (call, ret) = random_call(random, &mut values, sort);
        let end = called + random.below(4) as i64;
        free[at] = if random.chance(0.1) { GONE } else { end };
        if called < GONE {
            let returned = (free[at] == end).then_some((ret, end));
            let (process, object) = (ProcessId(at as u32), ObjectId(random.below(sort.objects) as u32));
            columns.push(Timed { process, object, call, called, returned });
        }
    }
    let names = random_names(random, &mut values, sort, columns.len());
    Recording::new(columns.finish().unwrap(), values, names)
}

#[test]
fn what_is_written_reads_as_the_same() {
    let mut random = Random::new(21);
    let mut held: BTreeMap<&str, Held> = BTreeMap::new();
    for round in 0..pick(2_000, 12_000) {
        let sort = &SORTS[round % SORTS.len()];
        let mut recording =
            if random.chance(0.5) { from_events(&mut random, sort) } else { from_times(&mut random, sort) };
        if sort.methods.contains(&"put") && random.chance(0.8) {
            recording.missing = recording.values.text("");
        }
        for &format in &FORMATS {
            let mut recording = recording.clone();
            if !format.carries().ids {
                recording.names.ids = None;
            }
            if !recording.history.is_empty() && round_trip(format, &recording) {
                held.entry(format.name()).or_default().count(&recording);
            }
        }
    }
    println!("{held:?}");
    for format in &FORMATS {
        let (name, carries) = (format.name(), format.carries());
        let held = held.get(name).copied().unwrap_or_default();
        let is_as_said = [
            (carries.is_written, held.all, "is_written"),
            (carries.is_written && carries.pending, held.pending, "pending"),
            (carries.is_written && carries.objects != Objects::One, held.objects, "objects"),
            (carries.is_written && carries.ids, held.ids, "ids"),
        ];
        for (says, count, what) in is_as_said {
            assert_eq!(
                says,
                count != 0,
                "{name}: `carries` says {what}: {says}, of {count} histories written"
            );
        }
        assert!(
            !carries.is_written || pick(33, 200) < held.all,
            "{name}: `write` refused nearly all histories: {held:?}"
        );
    }
}

#[test]
fn an_initial_state_is_read_as_it_was_written() {
    let mut random = Random::new(22);
    for &format in &FORMATS {
        let mut written = 0;
        for round in 0..400 {
            let sort = &SORTS[round % SORTS.len()];
            let mut recording = from_events(&mut random, sort);
            if sort.methods.contains(&"put") {
                recording.missing = recording.values.text("");
            }
            recording.initial = Some(recording.values.int(7));
            if !format.carries().ids {
                recording.names.ids = None;
            }
            let is_plain = recording.names.objects.iter().all(|it| it.is_absent());
            let mut text = Vec::new();
            if !is_plain || recording.history.is_empty() || format.write(&recording, &mut text).is_err() {
                continue;
            }
            written += 1;
            let again = format.read(&mut &text[..], &options(false, 1)).unwrap();
            let expected = format.has_initial_state().then(|| "7".to_owned());
            assert_eq!(
                again.initial.map(|it| again.values.show(it).to_string()),
                expected,
                "{}",
                format.name()
            );
        }
        assert_eq!(written != 0, format.carries().is_written, "{}", format.name());
    }
}

/// How many histories a format held, and their features.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    all: usize,
    pending: usize,
    objects: usize,
    ids: usize,
}

impl Held {
    fn count(&mut self, recording: &Recording) {
        let Recording { history, names, .. } = recording;
        let object = |it: &ObjectId| names.objects[it.0 as usize];
        self.all += 1;
        self.pending += usize::from(!history.is_complete());
        self.objects += usize::from(history.objects().iter().any(|it| !object(it).is_absent()));
        self.ids += usize::from(names.ids.is_some());
    }
}

fn seeds(format: &dyn Format) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(format.name());
    let owed = "write ten or more small files into fuzz/corpus, those that are to be refused called bad-…";
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}: {owed}", folder.display()));
    let mut files: Vec<PathBuf> = files.map(|it| it.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|it| (it.clone(), fs::read(it).unwrap())).collect()
}

/// Reads any input: it may be refused, but with a position.
fn digest(format: &dyn Format, input: &[u8]) -> Result<(), String> {
    for keyed in [false, true] {
        match format.read(&mut &*input, &options(keyed, 1)) {
            Err(error) => {
                assert!(1 <= error.line, "{error}");
                assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error}");
                if !keyed {
                    return Err(error.to_string());
                }
            }
            Ok(recording) => {
                // A format that has no ids writes none.
                for it in FORMATS.iter().filter(|it| recording.names.ids.is_none() || it.carries().ids) {
                    round_trip(*it, &recording);
                }
            }
        }
    }
    Ok(())
}

/// Where a format can be followed, that gives the calls that are read.
#[test]
fn what_is_followed_is_what_is_read() {
    let mut followed = 0;
    for &format in &FORMATS {
        for (file, input) in seeds(format) {
            let Some(mut follower) = format.follow() else { continue };
            let Ok(recording) = format.read(&mut &*input, &options(false, 1)) else { continue };
            let mut rows = Vec::new();
            let taken = input.chunks(7).try_for_each(|it| follower.take(it, &mut |row| rows.push(*row)));
            let finished = taken.and_then(|()| follower.finish(&mut |row| rows.push(*row)));
            assert!(finished.is_ok(), "{}: {finished:?}", file.display());
            if follower.crash().is_some() || follower.has_initial_state() {
                continue;
            }
            let show = |values: &Values, all: [Value; 3]| all.map(|it| values.show(it).to_string()).join(" ");
            let is_call = |it: &&Row| matches!(it.kind, RowKind::Operation(..) | RowKind::Call);
            let mut found: Vec<String> = (rows.iter().filter(is_call))
                .map(|it| {
                    show(follower.values(), [follower.processes()[it.process as usize], it.method, it.arg])
                })
                .collect();
            let Recording { history, values, names, .. } = &recording;
            let mut read: Vec<String> = (history.operations())
                .map(|it| show(values, [names.processes[it.process.index()], it.call.method, it.call.arg]))
                .collect();
            let failed = rows.iter().filter(|it| it.kind == RowKind::Fail).count();
            found.sort();
            read.sort();
            assert_eq!(found.len() - failed, read.len(), "{}", file.display());
            assert!(failed != 0 || found == read, "{}: {found:?}, read {read:?}", file.display());
            followed += 1;
        }
    }
    assert!(10 < followed, "{followed} seeds were followed");
}

#[test]
fn seeds_are_read_or_refused_as_their_names_say() {
    for &format in &FORMATS {
        let seeds = seeds(format);
        assert!(10 <= seeds.len(), "write ten or more files into fuzz/corpus/{}", format.name());
        let with_times = ReadOptions { times: true, ..options(false, 1) };
        let has_times = |input: &[u8]| {
            let read = format.read(&mut &*input, &with_times).ok();
            read.and_then(|it| it.names.times).is_some_and(|it| !it.is_empty())
        };
        let timed = seeds.iter().filter(|it| has_times(&it.1)).count();
        assert_eq!(timed != 0, format.carries().times, "{}: {timed} seeds have times", format.name());
        for (file, input) in seeds {
            let outcome = digest(format, &input);
            let refused = file.file_name().unwrap().to_string_lossy().starts_with("bad-");
            assert_eq!(outcome.is_err(), refused, "{}: {outcome:?}", file.display());
        }
    }
}

fn mutate(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    const SPICE: &[&str] = &[
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\n",
        "\t",
        ":",
        ",",
        "#",
        "#_",
        ";",
        "<",
        ">",
        "&",
        "-",
        "0",
        "1e9",
        "9223372036854775808",
        "null",
        "nil",
        "\\ud800",
        "\u{0}",
        "é",
        "😀",
        ":timed-out",
        "]1",
        "1[",
        ":info",
    ];
    let at = random.below(input.len() + 1);
    let end = (at + 1 + random.below(8)).min(input.len());
    match random.below(7) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = random.next() as u8,
        2 => drop(input.splice(at..at, SPICE[random.below(SPICE.len())].bytes())),
        3 => drop(input.drain(at..end)),
        4 => input.truncate(at),
        5 => {
            let from = random.below(other.len() + 1);
            let to = (from + random.below(80)).min(other.len());
            input.splice(at..at, other[from..to].iter().copied());
        }
        _ => {
            let repeated = input[at..end].repeat(3);
            input.splice(at..at, repeated);
        }
    }
}

#[test]
fn no_input_makes_a_format_panic() {
    let mut random = Random::new(31);
    for &format in &FORMATS {
        let seeds = seeds(format);
        let (mut read, mut refused) = (0, 0);
        for _ in 0..pick(750, 4_000) {
            let mut input = seeds[random.below(seeds.len())].1.clone();
            for _ in 0..1 + random.below(4) {
                let other = &seeds[random.below(seeds.len())].1;
                mutate(&mut random, &mut input, other);
            }
            match digest(format, &input) {
                Ok(()) => read += 1,
                Err(_) => refused += 1,
            }
        }
        println!("{}: {read} read, {refused} refused", format.name());
        let enough = pick(10, 100);
        assert!(enough < read && enough < refused, "{}: {read} read, {refused} refused", format.name());
    }
}

/// Text that is no history in any format.
const NO_HISTORIES: &[&str] = &[
    "",
    "\n\n  \n",
    "2026-11-01 06:12:33 startup archives unpack\n2026-11-01 06:12:34 install libfoo:amd64 <none> 1.2-3\n",
    "\u{0}\u{1}\u{7f}ELF\u{2}\n",
];

#[test]
fn an_input_without_an_operation_is_refused_in_every_format() {
    for &format in &FORMATS {
        for text in NO_HISTORIES {
            let read = formats::read(format, &mut text.as_bytes(), &options(false, 1));
            let error = read.expect_err("there is no operation").to_string();
            println!("{}: {error}", format.name());
            assert!(error.starts_with("line ") && !error.contains(|it: char| it.is_control()), "{error}");
        }
        let garbage = [0xff, 0xfe, b'\n', 0x80];
        assert!(formats::read(format, &mut &garbage[..], &options(false, 1)).is_err(), "{}", format.name());
    }
    let error = |name: &str, text: &str| {
        let read = formats::read(format(name), &mut text.as_bytes(), &options(false, 1));
        read.expect_err("there is no operation").to_string()
    };
    assert_eq!(
        error("jepsen-log", NO_HISTORIES[2]),
        "line 1: expected an operation, found none: all 2 lines were skipped, and this one, the first, is \
         `2026-11-01 06:12:33 startup archives unpack`"
    );
    assert_eq!(error("jsonl", ""), "line 1: expected an operation, found none: there is nothing in it");
    assert_eq!(
        error("jepsen", "[]\n;\n"),
        "line 1: expected an operation, found none: there is nothing in it"
    );
    assert_eq!(
        error("jepsen", "[\n{:process :nemesis, :type :info, :f :start}]"),
        "line 1: expected an operation, found only notes"
    );
    assert!(error("observations", "it\nwas\nfine").contains("all 3 lines were skipped"));
}

#[test]
fn operations_that_had_no_effect_are_operations() {
    let text = "{\"event\":\"call\",\"process\":1,\"op\":\"a\"}\n{\"event\":\"fail\",\"process\":1}\n";
    let read = formats::read(format("jsonl"), &mut text.as_bytes(), &options(false, 1)).unwrap();
    assert!(read.history.is_empty());
}
