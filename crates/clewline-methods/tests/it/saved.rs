//! Histories of specifications without a codec, in files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clewline::{
    Deterministic, Event, History, Recorder, Stress, Subject, Verdict, check, files, stress::Saved,
};
use clewline_core::{ObjectId, ProcessId, Random, Timed};
use clewline_testing::pick_of_three;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("clewline-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a new folder");
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _best_effort = fs::remove_dir_all(&self.0);
    }
}

/// Calls of every shape that serde knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Call {
    Plain,
    Number(i64),
    Large(u64),
    Text(String),
    Pair(u8, Option<bool>),
    Fields {
        key: String,
        list: Vec<Call>,
    },
    Table(BTreeMap<String, Vec<i32>>),
    Nothing(()),
    #[serde(rename = "call")]
    Reserved(u32),
    #[serde(rename = "call()")]
    Odd,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Return {
    Done,
    Value(Option<String>),
    Calls(Vec<Call>),
}

fn call(random: &mut Random, depth: u32) -> Call {
    let text = |random: &mut Random| {
        let letters = ['a', '"', '\\', '\n', '|', 'é', '\u{1F600}', ' ', '{'];
        (0..random.below(4)).map(|_| letters[random.below(letters.len())]).collect::<String>()
    };
    match random.below(10) {
        0 => Call::Plain,
        1 => Call::Number([0, -1, i64::MIN, i64::MAX, 1 << 40][random.below(5)]),
        2 => Call::Large([0, u64::MAX][random.below(2)]),
        3 => Call::Text(text(random)),
        4 => Call::Pair(random.below(256) as u8, [None, Some(true)][random.below(2)]),
        5 if depth < 3 => {
            let list = (0..random.below(3)).map(|_| call(random, depth + 1)).collect();
            Call::Fields { key: text(random), list }
        }
        6 => Call::Table((0..random.below(3)).map(|it| (text(random), vec![it as i32])).collect()),
        7 => Call::Nothing(()),
        8 => Call::Reserved(random.below(9) as u32),
        _ => Call::Odd,
    }
}

fn result(random: &mut Random) -> Return {
    match random.below(4) {
        0 => Return::Done,
        1 => Return::Value(None),
        2 => Return::Value(Some("null".to_owned())),
        _ => Return::Calls((0..random.below(3)).map(|_| call(random, 1)).collect()),
    }
}

/// A history of any calls and results: of events, or of times with ties.
fn history(random: &mut Random) -> History<Call, Return> {
    let (processes, objects) = (1 + random.below(4) as u32, 1 + random.below(2) as u32);
    if random.below(2) == 0 {
        let mut events = Vec::new();
        let mut is_open = vec![false; processes as usize];
        for _ in 0..1 + random.below(20) {
            let process = random.below(processes as usize);
            let id = ProcessId(process as u32);
            events.push(match (is_open[process], random.below(4)) {
                (false, _) => {
                    let object = ObjectId(random.below(objects as usize) as u32);
                    Event::Call(id, object, call(random, 0))
                }
                (true, 0) => Event::Info(id),
                (true, _) => Event::Return(id, result(random)),
            });
            is_open[process] = !is_open[process];
        }
        return History::from_events(events).expect("a process has one operation open");
    }
    let mut operations = Vec::new();
    for process in 0..processes {
        let mut time = random.below(3) as i64;
        for _ in 0..1 + random.below(3) {
            let called = time + random.below(2) as i64;
            time = called + random.below(3) as i64;
            operations.push(Timed {
                process: ProcessId(process),
                object: ObjectId(random.below(objects as usize) as u32),
                call: call(random, 0),
                called,
                returned: Some((result(random), time)),
            });
        }
    }
    History::from_operations(operations).expect("a process makes one call after the other")
}

fn read_again<C, R>(history: &History<C, R>, path: &Path) -> History<C, R>
where
    C: Serialize + DeserializeOwned + Clone + PartialEq + Debug,
    R: Serialize + DeserializeOwned + Clone + PartialEq + Debug,
{
    files::save_history(history, path).expect("it is saved");
    files::read_history(path).unwrap_or_else(|it| panic!("{it}\n{}", fs::read_to_string(path).unwrap()))
}

/// Everything that matters about operations: their order, but no rank that nothing has. In a file,
/// an operation that overlaps another one of its process has a process of its own: no number here.
type Operations<C, R> = Vec<(Option<ProcessId>, ObjectId, C, Option<R>, usize, Option<usize>)>;

fn operations<C: Clone, R: Clone>(history: &History<C, R>, processes: u32) -> Operations<C, R> {
    let ends = history.operations().flat_map(|it| [Some(it.span.call()), it.span.ret()]);
    let ranks: BTreeSet<u32> = ends.flatten().collect();
    let rank = |it: u32| ranks.range(..it).count();
    let mut busy_until = vec![0; processes as usize];
    let mut parts = Vec::new();
    for it in history.operations() {
        let busy = busy_until.get_mut(it.process.index()).filter(|busy| **busy <= it.span.call());
        let process = busy.map(|busy| {
            *busy = it.span.end();
            it.process
        });
        let span = (rank(it.span.call()), it.span.ret().map(rank));
        parts.push((process, it.object, it.call.clone(), it.ret.cloned(), span.0, span.1));
    }
    parts
}

#[test]
fn histories_are_read_as_they_were_saved() {
    let folder = Folder::new("typed-histories");
    let path = folder.path("run.jsonl");
    let (mut pending, mut complete) = (0, 0);
    for seed in 0..pick_of_three(150, 4_000, 20_000) as u64 {
        let history = history(&mut Random::new(seed));
        let again = read_again(&history, &path);
        let processes = history.operations().map(|it| it.process.0 + 1).max().unwrap_or(0);
        assert_eq!(operations(&again, processes), operations(&history, processes), "seed {seed}");
        pending += usize::from(!history.is_complete());
        complete += usize::from(history.is_complete());
    }
    assert!(0 < pending && 0 < complete, "{pending} with pending operations, {complete} without");
}

#[test]
fn lines_are_those_of_the_native_format() {
    let folder = Folder::new("typed-lines");
    let path = folder.path("run.jsonl");
    let history = History::from_events([
        Event::call(0, Call::Number(3)),
        Event::call(1, Call::Plain),
        Event::ret(0, Return::Value(None)),
        Event::call(0, Call::Pair(1, None)),
    ])
    .unwrap();
    files::save_history(&history, &path).unwrap();
    let lines = "\
        {\"process\": 0, \"op\": \"Number\", \"arg\": 3, \"ret\": {\"Value\":null}, \"call\": 0, \"return\": 2}\n\
        {\"process\": 1, \"op\": \"Plain\", \"call\": 1}\n\
        {\"process\": 0, \"op\": \"Pair\", \"arg\": [1, null], \"call\": 3}\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), lines);
}

#[test]
fn calls_and_results_of_any_type_are_saved() {
    let folder = Folder::new("typed-any");
    let path = folder.path("run.jsonl");
    let events = [Event::call(7, (1_u8, "a".to_owned())), Event::ret(7, ())];
    let history = History::from_events(events).unwrap();
    assert_eq!(operations(&read_again(&history, &path), 9), operations(&history, 9));
    let history = History::from_events([Event::call(0, ()), Event::ret(0, [1_u64, 2])]).unwrap();
    assert_eq!(operations(&read_again(&history, &path), 9), operations(&history, 9));
    // A file without operations is not taken for a history that holds.
    let empty: History<Call, Return> = History::from_events([]).unwrap();
    files::save_history(&empty, &path).unwrap();
    let error = files::read_history::<Call, Return>(&path).unwrap_err().to_string();
    assert!(error.ends_with("expected an operation, found none: there is nothing in it"), "{error}");
}

#[test]
fn what_serde_would_not_read_again_is_not_saved() {
    let folder = Folder::new("typed-lossy");
    let path = folder.path("run.jsonl");
    let events = [Event::call(0, Call::Plain), Event::ret(0, Some(()))];
    let error = files::save_history(&History::from_events(events).unwrap(), &path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: operation 0: Some(()) cannot be written: serde does not read it as it was",
            path.display()
        )
    );
    assert!(!path.exists(), "no file is left");
    let keys: BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into_iter().collect();
    let events: [Event<_, ()>; 1] = [Event::call(0, keys)];
    let error = files::save_history(&History::from_events(events).unwrap(), &path).unwrap_err();
    assert!(error.to_string().contains("key must be a string"), "{error}");
}

#[test]
fn errors_name_the_line_and_the_reason() {
    let folder = Folder::new("typed-errors");
    let path = folder.path("run.jsonl");
    let first = "{\"process\": 0, \"op\": \"Plain\", \"ret\": \"Done\", \"call\": 0, \"return\": 1}\n";
    for (line, expected) in [
        ("{\"process\": 0, \"op\": \"Plane\", \"call\": 2}", "line 3: the call: unknown variant `Plane`"),
        (
            "{\"process\": 0, \"op\": \"Number\", \"arg\": \"3\", \"call\": 2}",
            "line 3: the call: invalid type: string \"3\", expected i64",
        ),
        (
            "{\"process\": 0, \"op\": \"Plain\", \"ret\": 3, \"call\": 2, \"return\": 3}",
            "line 3: the result: ",
        ),
        ("{\"process\": 0, \"op\": \"Plain\", \"call\": }", "line 3, column "),
    ] {
        fs::write(&path, format!("{first}\n{line}\n")).unwrap();
        let error = files::read_history::<Call, Return>(&path).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{}: {expected}", path.display())), "{error}");
        assert_eq!(error.line(), Some(3), "{error}");
    }
    let error = files::read_history::<Call, Return>(folder.path("none.jsonl")).unwrap_err();
    assert!(error.to_string().contains("none.jsonl: "), "{error}");
}

/// Each ticket is one more than the last.
#[derive(Clone)]
struct Tickets;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Ticket {
    Draw { desk: u32 },
}

impl Deterministic for Tickets {
    type State = u64;
    type Call = Ticket;
    type Return = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, last: &mut u64, _: &Ticket) -> Option<u64> {
        *last += 1;
        Some(*last)
    }
}

/// Returns 1 each time.
struct Broken;

impl Subject<Tickets> for Broken {
    fn call(&self, _: &Ticket) -> u64 {
        1
    }
}

fn draw(_: &mut clewline::stress::CallSampler) -> Ticket {
    Ticket::Draw { desk: 3 }
}

fn small(stress: Stress) -> Stress {
    stress.seed(5).threads(1).operations(3).executions(1).without_environment()
}

#[test]
fn a_recorder_of_ones_own_specification_is_saved_and_judged_again() {
    let folder = Folder::new("typed-recorder");
    let path = folder.path("run.jsonl");
    let recorder = Recorder::new(Tickets);
    let cancelled = recorder.call(0, Ticket::Draw { desk: 1 });
    recorder.call(1, Ticket::Draw { desk: 2 }).returned(2);
    drop(cancelled);
    recorder.note("kill n2");
    files::save_history(&recorder.history().unwrap(), &path).unwrap();
    let again = files::read_history(&path).unwrap();
    assert!(check(&Tickets, &again).holds());
    // The recorder has notes and names of clients, the history has not.
    recorder.call(0, Ticket::Draw { desk: 3 }).returned(3);
    recorder.save_with_serde(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(r#""note": "kill n2""#) && text.contains(r#""process": "0 (2)""#), "{text}");
    let again = files::read_history::<Ticket, u64>(&path).unwrap();
    assert_eq!(again.len(), 3);
    assert!(check(&Tickets, &again).holds());
    let error = recorder.save_with_serde(folder.path("none/run.jsonl")).unwrap_err();
    assert!(error.to_string().contains("run.jsonl"), "{error}");
}

#[test]
fn a_failing_history_is_saved_by_serde_and_has_the_same_verdict() {
    let folder = Folder::new("typed-stress");
    let stress = small(Stress::drawing_with_serde(Tickets, || Broken, draw)).save(folder.path("runs"));
    let outcome = stress.run().unwrap();
    let Saved::File(path) = &outcome.saved else { panic!("{:?}", outcome.saved) };
    assert_eq!(*path, folder.path("runs").join("Broken-seed-5.jsonl"));
    let again = files::read_history(path).unwrap();
    assert!(matches!(check(&Tickets, &again).verdict(), Verdict::Violated(_)));
    assert_eq!(outcome.shown().unwrap().report.operations(), again.len());
}

#[test]
fn without_serde_a_failing_history_is_saved_for_people() {
    let folder = Folder::new("text-stress");
    let stress = small(Stress::drawing(Tickets, || Broken, draw)).save(folder.path("runs"));
    let outcome = stress.run().unwrap();
    let Saved::Text(path) = &outcome.saved else { panic!("{:?}", outcome.saved) };
    assert_eq!(*path, folder.path("runs").join("Broken-seed-5.txt"));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("This file is for people"), "{text}");
    assert!(text.contains("      0       0       1  Draw { desk: 3 } → 1\n"), "{text}");
    assert!(outcome.to_string().contains("Broken-seed-5.txt"), "{outcome}");
    assert!(!outcome.to_string().contains("clewline check"), "{outcome}");
}

const SAVES: &str = "CLEWLINE_TEST_SAVES";

/// `findings_are_saved_in_the_target_directory` runs this in a process of its own.
#[test]
fn a_broken_dispenser() {
    if std::env::var_os(SAVES).is_none() {
        return;
    }
    small(Stress::drawing_with_serde(Tickets, || Broken, draw).named("a/b: c")).assert();
}

#[test]
fn findings_are_saved_in_the_target_directory() {
    let folder = Folder::new("target-directory");
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "saved::a_broken_dispenser", "--nocapture"])
        .env(SAVES, "1")
        .env("CARGO_TARGET_DIR", folder.path("target"))
        .env("CARGO_MANIFEST_DIR", &folder.0)
        .output()
        .unwrap();
    let printed = [run.stdout, run.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    assert!(folder.path("target/clewline/failures/a-b--c-seed-5.jsonl").is_file(), "{printed}");
    assert!(printed.contains("\nsaved:    target/clewline/failures/a-b--c-seed-5.jsonl"), "{printed}");
}
