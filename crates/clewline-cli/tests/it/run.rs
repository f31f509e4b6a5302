//! Running the binary.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value as Json;

/// The result of a run of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The JSON objects on standard output, one a line.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<Json> {
        self.stdout.lines().map(|it| serde_json::from_str(it).expect("a JSON object a line")).collect()
    }

    #[track_caller]
    pub(crate) fn first_line(&self) -> &str {
        self.stdout.lines().next().expect("something on standard output")
    }
}

/// Runs `clewline` with `args`, in a folder of the test's own.
#[track_caller]
pub(crate) fn clewline(folder: &Folder, args: &[&str], stdin: impl AsRef<[u8]>) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
    // Cargo leaves what it builds for tests in another folder than the binary's, where an older one
    // may be.
    if let Ok(runtime) = clewline_unmodified::Runtime::find() {
        command.env("CLEWLINE_RUNTIME", runtime.file());
    }
    let mut child = command
        .args(args)
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // A command that does not read its input has closed it; this is not an error.
    let _closed = child.stdin.take().expect("piped").write_all(stdin.as_ref());
    let output = child.wait_with_output().expect("the binary ends");
    Ran {
        code: output.status.code().expect("the binary is not killed"),
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

/// A fresh folder for the files of one test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// `name` is the test's, so that no two share a folder.
    pub(crate) fn new(name: &str) -> Folder {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _not_there = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    /// Writes a file, and returns the folder.
    pub(crate) fn with(self, name: &str, text: &str) -> Folder {
        std::fs::write(self.0.join(name), text).expect("a file for the test");
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("the file was written")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// A queue that is in order.
pub(crate) const GOOD: &str = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0, "return": 2}
{"process": 1, "op": "deq", "ret": 1, "call": 1, "return": 3}
"#;

/// 2 leaves the queue before 1, which was there first.
pub(crate) const BAD: &str = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0, "return": 1}
{"process": 0, "op": "enq", "arg": 2, "call": 2, "return": 3}
{"process": 1, "op": "deq", "ret": 2, "call": 4, "return": 5}
{"process": 1, "op": "deq", "ret": 1, "call": 6, "return": 7}
"#;

/// Hard to check: many concurrent operations, and a result that no order explains.
pub(crate) fn hard() -> String {
    let mut text = String::new();
    let mut line = |process: usize, call: &str, times: (usize, usize)| {
        let (from, to) = times;
        text.push_str(&format!("{{\"process\": {process}, {call}, \"call\": {from}, \"return\": {to}}}\n"));
    };
    for it in 0..13 {
        // All values occur twice: otherwise a monitor would decide it.
        line(it, &format!("\"op\": \"enq\", \"arg\": {}", it / 2), (it, 100 + it));
    }
    line(13, "\"op\": \"enq\", \"arg\": 6", (150, 151));
    line(13, "\"op\": \"enq\", \"arg\": 7", (160, 161));
    line(13, "\"op\": \"enq\", \"arg\": 7", (162, 163));
    // Both 7s are removed before the last 6, which is known only after all others were removed.
    for it in 0..13 {
        let value = if it < 11 { it / 2 } else { 7 };
        line(20 + it, &format!("\"op\": \"deq\", \"ret\": {value}"), (200 + it, 300 + it));
    }
    for it in 0..3 {
        let value = [5, 6, 6][it];
        line(40, &format!("\"op\": \"deq\", \"ret\": {value}"), (400 + 2 * it, 401 + 2 * it));
    }
    text
}
