//! A headless browser, driven through a pipe.
//!
//! Chromium reads commands from file descriptor 3 and answers on 4 (`--remote-debugging-pipe`), one
//! JSON object each, ended by a zero byte; a shell ties both to a pipe of ours. So nothing else is
//! needed: no driver, no port.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value as Json, json};

/// Keys that are held down while another is pressed, or the mouse is moved.
pub(crate) const CTRL: u32 = 2;
pub(crate) const SHIFT: u32 = 8;

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    next: u64,
    // Events of the page: errors and requests.
    events: Vec<Json>,
    profile: PathBuf,
}

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The browser's program, if there is one: what `CLEWLINE_BROWSER` names, or one of the usual
/// names.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CLEWLINE_BROWSER") {
        return Some(PathBuf::from(named)).filter(|it| !it.as_os_str().is_empty());
    }
    let path = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&path).flat_map(|folder| NAMES.map(|it| folder.join(it)));
    all.into_iter().find(|it| it.is_file())
}

impl Browser {
    /// Starts a browser whose files are in `profile`; none, with a notice, where there is no
    /// browser.
    pub(crate) fn start(profile: &Path, width: u32, height: u32) -> Option<Browser> {
        let Some(program) = program() else {
            eprintln!("skipped: no browser; install chromium, or name one with CLEWLINE_BROWSER");
            return None;
        };
        let _not_there = fs::remove_dir_all(profile);
        fs::create_dir_all(profile).expect("a folder for the browser");
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null", "sh"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.display()))
            // It leaves folders there.
            .env("TMPDIR", profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let commands = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        let profile = profile.to_owned();
        let mut browser =
            Browser { child, commands, answers, session: None, next: 0, events: Vec::new(), profile };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser.ask("Page.setLifecycleEventsEnabled", json!({"enabled": true}));
        browser.resize(width, height);
        Some(browser)
    }

    /// Sends a command and waits for its response.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Json) -> Json {
        self.next += 1;
        let mut command = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).and_then(|()| self.commands.flush()).expect("the browser listens");
        loop {
            let message = self.message();
            if message["id"] == json!(self.next) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn message(&mut self) -> Json {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).expect("the browser answers");
        bytes.pop();
        serde_json::from_slice(&bytes).expect("the browser goes on, and answers in JSON")
    }

    /// Opens a file, and waits until it is loaded. Earlier events are dropped.
    pub(crate) fn open(&mut self, file: &Path, fragment: &str) {
        // Another fragment alone would not load the page again.
        self.go("about:blank");
        self.events.clear();
        self.go(&format!("file://{}{fragment}", file.display()));
        self.settle();
    }

    /// Each load has an id, so that the end of another one is not taken for the end of this one.
    fn go(&mut self, url: &str) {
        let loader = self.ask("Page.navigate", json!({"url": url}))["loaderId"].clone();
        let is_loaded = |it: &Json| {
            let printed = &it["params"];
            it["method"] == "Page.lifecycleEvent"
                && printed["name"] == "load"
                && printed["loaderId"] == loader
        };
        while !self.events.iter().any(is_loaded) {
            let message = self.message();
            self.events.push(message);
        }
    }

    /// Waits until the page is drawn.
    pub(crate) fn settle(&mut self) {
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
    }

    /// The value of an expression; promises are awaited.
    #[track_caller]
    pub(crate) fn js(&mut self, expression: &str) -> Json {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.ask("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The value of an expression in the frame of another origin that is opened last; null if there
    /// is none.
    #[allow(dead_code, reason = "the tests of the playground use it")]
    pub(crate) fn js_in_frame(&mut self, expression: &str) -> Json {
        let page = self.session.take();
        let targets = self.ask("Target.getTargets", json!({}))["targetInfos"].clone();
        let mut frames = targets.as_array().into_iter().flatten().filter(|it| it["type"] == "iframe");
        let value = frames.next_back().map(|frame| {
            let attach = json!({"targetId": frame["targetId"], "flatten": true});
            let session = self.ask("Target.attachToTarget", attach)["sessionId"].clone();
            self.session = session.as_str().map(str::to_owned);
            let value = self.js(expression);
            self.session = None;
            self.ask("Target.detachFromTarget", json!({"sessionId": session}));
            value
        });
        self.session = page;
        value.unwrap_or_default()
    }

    /// Requests and errors of the page since it was opened.
    pub(crate) fn troubles(&mut self) -> Vec<String> {
        self.settle();
        let trouble = |it: &Json| match it["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = it["params"]["request"]["url"].as_str().unwrap_or_default();
                let is_own = url.starts_with("data:") || it["params"]["type"] == "Document";
                (!is_own).then(|| format!("asked for {url}"))
            }
            Some("Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled") => {
                Some(it["params"].to_string())
            }
            _ => None,
        };
        self.events.iter().filter_map(trouble).collect()
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Prefers `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Presses and releases a key.
    pub(crate) fn press(&mut self, key: &str) {
        self.press_with(key, 0);
    }

    /// The same while others are held down: [`CTRL`], [`SHIFT`].
    pub(crate) fn press_with(&mut self, key: &str, held: u32) {
        let text = if key.chars().count() == 1 && held == 0 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "text": text, "modifiers": held});
            self.ask("Input.dispatchKeyEvent", event);
        }
        self.settle();
    }

    /// `mousePressed`, `mouseMoved`, `mouseReleased` or `mouseWheel` at a point.
    pub(crate) fn mouse(&mut self, kind: &str, x: f64, y: f64, more: Json) {
        let mut params = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.ask("Input.dispatchMouseEvent", params);
    }

    pub(crate) fn click(&mut self, x: f64, y: f64) {
        self.mouse("mousePressed", x, y, json!({"buttons": 1}));
        self.mouse("mouseReleased", x, y, json!({}));
        self.settle();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
        let _gone = fs::remove_dir_all(&self.profile);
    }
}
