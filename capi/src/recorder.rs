//! A recorder: `clewline::Recorder`, for operations that are texts.
//!
//! Events are kept as the lines of the file that they will be. A test compares the histories of
//! both recorders.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use clewline_report::OutputFile;
use serde_json::Value as Json;

use crate::{
    Call, Failure, Spec, Status,
    history::{History, process_name},
    json,
};

/// Records calls and returns as they happen.
pub(crate) struct Recorder {
    spec: Spec,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    lines: Vec<u8>,
    // How many operations were called.
    calls: u64,
    open: HashMap<u64, Open>,
    // The latest process of each client.
    latest: HashMap<u64, Process>,
}

/// An operation that was called and has not ended.
struct Open {
    call: Call,
    client: u64,
    process: Process,
}

/// A process of a client: one operation at a time.
#[derive(Clone, Copy)]
struct Process {
    // From 1, among the processes of its client.
    number: u32,
    // Whether its operation is open, or was dropped, and must stay its last one.
    is_open: bool,
}

impl Process {
    fn name(self, client: u64) -> String {
        match self.number {
            1 => process_name(client),
            number => format!("\"{client} ({number})\""),
        }
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It had no effect.
    Failed,
    /// Whether it had an effect will not be known.
    Dropped,
}

impl Recorder {
    pub(crate) fn new(spec: Spec) -> Recorder {
        Recorder { spec, log: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        // Each change is made at once, after everything that can fail.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call; returns the number of the operation.
    pub(crate) fn call(&self, client: u64, call: Call) -> Result<u64, Failure> {
        self.spec.accept(&call, None)?;
        let members = call.members();
        let mut log = self.lock();
        let process = log.process(client);
        let number = log.calls;
        let name = process.name(client);
        log.write(&format!("{{\"event\":\"call\",\"process\":{name},{members},\"id\":{number}}}\n"));
        log.calls += 1;
        log.open.insert(number, Open { call, client, process });
        Ok(number)
    }

    /// Records a return.
    pub(crate) fn returned(&self, operation: u64, ret: Option<&str>) -> Result<(), Failure> {
        let ret = ret.map(|it| json("the result", it)).transpose()?;
        let call = self.lock().open.get(&operation).map(|it| it.call.clone());
        let call = call.ok_or_else(|| not_open(operation))?;
        // Without the lock: others record meanwhile.
        self.spec.accept(&call, Some(&ret))?;
        let ret = ret.map_or_else(String::new, |it| format!(",\"ret\":{it}"));
        self.lock().end(operation, "return", &ret, false)
    }

    /// Records another end.
    pub(crate) fn ended(&self, operation: u64, end: End) -> Result<(), Failure> {
        match end {
            End::Failed => self.lock().end(operation, "fail", "", false),
            End::Dropped => self.lock().end(operation, "info", "", true),
        }
    }

    pub(crate) fn note(&self, text: &str) {
        self.lock().write(&format!("{{\"event\":\"note\",\"note\":{}}}\n", Json::from(text)));
    }

    /// The history so far.
    pub(crate) fn history(&self) -> Result<History, Failure> {
        let (lines, calls) = {
            let log = self.lock();
            (log.lines.clone(), log.calls)
        };
        History::of_lines(self.spec.clone(), lines, usize::try_from(calls).unwrap_or(usize::MAX))
    }

    /// Saves the history so far.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Failure> {
        let lines = self.lock().lines.clone();
        let save = || {
            let mut out = OutputFile::create(path)?;
            std::io::Write::write_all(&mut out, &lines)?;
            out.commit()
        };
        save().map_err(|it| Failure { status: Status::Io, message: format!("{}: {it}", path.display()) })
    }
}

impl Log {
    fn write(&mut self, line: &str) {
        self.lines.extend_from_slice(line.as_bytes());
    }

    /// A process of `client` that has no operation open; it is open now.
    fn process(&mut self, client: u64) -> Process {
        let latest = self.latest.entry(client).or_insert(Process { number: 1, is_open: false });
        if latest.is_open {
            latest.number += 1;
        }
        latest.is_open = true;
        *latest
    }

    fn end(&mut self, operation: u64, event: &str, ret: &str, stays_open: bool) -> Result<(), Failure> {
        let Open { client, process, .. } = self.open.remove(&operation).ok_or_else(|| not_open(operation))?;
        let name = process.name(client);
        self.write(&format!("{{\"event\":\"{event}\",\"process\":{name}{ret}}}\n"));
        if let Some(latest) = self.latest.get_mut(&client)
            && latest.number == process.number
        {
            latest.is_open = stays_open;
        }
        Ok(())
    }
}

fn not_open(operation: u64) -> Failure {
    Failure::argument(format!(
        "expected an operation that is open, found {operation}, which has ended or was not called"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clewline_core::{OperationId, Value};
    use clewline_methods::{Check, OpenOperation, Recorder as TypedRecorder};
    use clewline_specs::register::{self, Register};

    use super::*;

    /// What a file says: each event in its order, by process and operation, and the notes between.
    fn events(contents: &[u8]) -> Vec<String> {
        let recording = Check::new().recording("", contents).expect("JSON lines");
        let case = Spec::find("register").expect("it exists").object.load(recording).expect("a register");
        let mut events = Vec::new();
        for (at, span) in case.spans().iter().enumerate() {
            let operation = OperationId::from_index(at);
            let process = case.names().processes[case.process(operation).index()];
            let process = case.values().show(process).to_string();
            events.push((span.call(), format!("{process} calls {}", case.label(operation))));
            events.extend(span.ret().map(|it| (it, format!("{process} returns"))));
        }
        events.extend(case.names().notes.iter().map(|it| (it.from, it.text.clone())));
        events.sort();
        events.into_iter().map(|(_, it)| it).collect()
    }

    /// The same random calls and ends in both recorders.
    #[test]
    fn it_records_as_the_recorder_of_rust_does() {
        let folder = std::env::temp_dir().join(format!("clewline-capi-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (mut seed, mut ends) = (1_u64, [0; 3]);
        for round in 0..200 {
            let typed = TypedRecorder::new(Register::new());
            let texts = Recorder::new(Spec::find("register").expect("it exists"));
            let mut open: Vec<(OpenOperation<'_, Register>, u64)> = Vec::new();
            for _ in 0..30 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (choice, place) = (seed >> 33, (seed >> 40) as usize);
                if open.is_empty() || choice % 3 == 0 {
                    let client = choice / 3 % 3;
                    let call = Call::new(None, "write", Some(&client.to_string())).expect("JSON");
                    let typed = typed.call(client as usize, register::Call::Write(Value::from(client)));
                    open.push((typed, texts.call(client, call).expect("an operation")));
                    continue;
                }
                let (operation, number) = open.swap_remove(place % open.len());
                let end = (choice / 3 % 3) as usize;
                ends[end] += 1;
                match end {
                    0 => {
                        operation.returned(().into());
                        texts.returned(number, Some("true")).expect("it is open");
                    }
                    1 => {
                        operation.fail();
                        texts.ended(number, End::Failed).expect("it is open");
                    }
                    _ => {
                        drop(operation);
                        texts.ended(number, End::Dropped).expect("it is open");
                    }
                }
            }
            if round % 2 == 0 {
                typed.note("half");
                texts.note("half");
            }
            let [one, other] = ["typed", "texts"].map(|it| folder.join(it));
            typed.save(&one).expect("saved");
            texts.save(&other).expect("saved");
            let [one, other] = [one, other].map(|it| events(&fs::read(it).expect("a file")));
            assert_eq!(one, other, "round {round}");
        }
        assert!(ends.iter().all(|it| 100 < *it), "{ends:?}");
        fs::remove_dir_all(&folder).expect("ours");
    }
}
