//! Child processes: compilers, and programs under test.
//!
//! Each has a process group of its own. A signal of the terminal then reaches only this process,
//! which decides when its children end; and what a child has started, such as the compilers of
//! `cargo`, ends with it. None is left behind when this process is interrupted, or killed.

use std::{
    io::{self, Read},
    process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use clewline_core::is_interrupted;

/// The children that were not waited for: their numbers are theirs for as long as they are in here.
static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());

#[derive(Clone, Copy)]
struct Running {
    id: u32,
    /// Its own number, or that of its guard.
    group: u32,
}

// After an interruption a child has this long to end by itself.
const EXIT_TIME_MAX: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const POLL_INTERVAL_MIN: Duration = Duration::from_micros(200);

fn running() -> MutexGuard<'static, Vec<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A signal to a child.
#[derive(Clone, Copy)]
enum Signal {
    /// Requests it to report and to end.
    End,
    /// The same, of all its group.
    EndGroup,
    /// Ends all its group at once.
    KillGroup,
}

/// Sends a signal, if the child was not waited for.
fn send(id: u32, signal: Signal, running: &[Running]) {
    let Some(child) = running.iter().find(|it| it.id == id) else { return };
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal as System, kill_process, kill_process_group};
        let [id, group] = [child.id, child.group].map(|it| Pid::from_raw(it.cast_signed()));
        let (Some(id), Some(group)) = (id, group) else { return };
        // An error means that it has ended.
        let _ended = match signal {
            Signal::End => kill_process(id, System::TERM),
            Signal::EndGroup => kill_process_group(group, System::TERM),
            Signal::KillGroup => kill_process_group(group, System::KILL),
        };
    }
    #[cfg(not(unix))]
    let _not_here = (child, signal);
}

/// Ends all children of this crate at once, with everything that they have started: for a process
/// that is about to exit.
pub fn end_children() {
    let running = running();
    running.iter().for_each(|it| send(it.id, Signal::KillGroup, &running));
}

/// A child process and its group. It is killed when dropped.
#[derive(Debug)]
pub(super) struct ChildGroup {
    child: Child,
    /// It keeps the number of the group until the child was waited for.
    guard: Option<Guard>,
}

impl ChildGroup {
    /// For a program that ends by itself when this process is killed.
    pub(super) fn spawn(command: &mut Command) -> io::Result<ChildGroup> {
        ChildGroup::spawn_into(None, command)
    }

    /// For any program: its group ends when this process is killed.
    fn spawn_guarded(command: &mut Command) -> io::Result<ChildGroup> {
        ChildGroup::spawn_into(Guard::spawn(), command)
    }

    fn spawn_into(guard: Option<Guard>, command: &mut Command) -> io::Result<ChildGroup> {
        let group = guard.as_ref().map(|it| it.0.id());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, group.unwrap_or(0).cast_signed());
        let mut running = running();
        let child = command.spawn()?;
        running.push(Running { id: child.id(), group: group.unwrap_or(child.id()) });
        Ok(ChildGroup { child, guard })
    }

    pub(super) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Its exit status, if it has ended.
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut running = running();
        let status = self.child.try_wait()?;
        if status.is_some() {
            running.retain(|it| it.id != self.child.id());
        }
        Ok(status)
    }

    /// Waits for its end. If this process is interrupted, the child has to end, too.
    pub(super) fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut pause = POLL_INTERVAL_MIN;
        let mut interrupted_at: Option<Instant> = None;
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(status);
            }
            match interrupted_at {
                None if is_interrupted() => {
                    interrupted_at = Some(Instant::now());
                    send(self.child.id(), Signal::EndGroup, &running());
                }
                Some(at) if EXIT_TIME_MAX <= at.elapsed() => {
                    send(self.child.id(), Signal::KillGroup, &running())
                }
                Some(_) | None => (),
            }
            thread::sleep(pause);
            pause = (pause * 2).min(POLL_INTERVAL);
        }
    }

    /// Until the result is dropped: if this process is interrupted, the child is requested to
    /// report what it has, and is killed if it does not.
    pub(super) fn end_when_interrupted(&self) -> Sender<()> {
        let (done, waiting) = mpsc::channel::<()>();
        let id = self.child.id();
        // Nothing is ever sent.
        let is_done = move |time| waiting.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
        thread::spawn(move || {
            while !is_interrupted() {
                if is_done(POLL_INTERVAL) {
                    return;
                }
            }
            send(id, Signal::End, &running());
            if !is_done(EXIT_TIME_MAX) {
                send(id, Signal::KillGroup, &running());
            }
        });
        done
    }
}

impl ChildGroup {
    /// The child is killed after that time, unless the result says that it has done what it had to.
    pub(super) fn end_after(&self, limit: Duration) -> Deadline {
        let (state, id) = (Arc::new(Mutex::new(DeadlineState::Running)), self.child.id());
        let (met, waiting) = mpsc::channel::<()>();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            if waiting.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if *state == DeadlineState::Running {
                *state = DeadlineState::Missed;
                send(id, Signal::KillGroup, &running());
            }
        });
        Deadline { state, _met: met }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeadlineState {
    Running,
    Met,
    Missed,
}

/// A time at which a child is killed.
#[derive(Debug)]
pub(super) struct Deadline {
    state: Arc<Mutex<DeadlineState>>,
    /// Wakes the thread that waits for the time.
    _met: Sender<()>,
}

impl Deadline {
    /// Whether the child was killed; if not, it will not be.
    pub(super) fn was_missed(self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == DeadlineState::Running {
            *state = DeadlineState::Met;
        }
        *state == DeadlineState::Missed
    }
}

/// The leader of a group, which it ends when this process has ended, however that came about: only
/// this one can write to the pipe from which it reads. It is there before the rest of the group, so
/// that there is no moment at which nothing would end it.
#[derive(Debug)]
struct Guard(Child);

impl Guard {
    /// Without a shell there is none, and a group survives if this process is killed.
    fn spawn() -> Option<Guard> {
        let mut command = Command::new("sh");
        // What asks the group to end is not for the guard, from the moment on that it says so.
        command.args(["-c", "trap '' TERM; echo; read -r _; kill -s KILL 0"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut guard = if cfg!(unix) { command.spawn().ok().map(Guard)? } else { return None };
        let is_ready = guard.0.stdout.take()?.read_exact(&mut [0]).is_ok();
        is_ready.then_some(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        if let Ok(None) = self.try_wait() {
            send(self.child.id(), Signal::KillGroup, &running());
            let _killed = self.child.kill();
            while let Ok(None) = self.try_wait() {
                thread::sleep(POLL_INTERVAL_MIN);
            }
        }
        drop(self.guard.take());
    }
}

/// Runs a command to its end, and captures what it prints; as [`Command::output`] does. Its input
/// is empty.
///
/// # Errors
///
/// If it cannot be started, or this process is interrupted.
pub(super) fn output(command: &mut Command) -> io::Result<Output> {
    output_of(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// The same, with the output that `command` says: only pipes are read.
pub(super) fn output_of(command: &mut Command) -> io::Result<Output> {
    if is_interrupted() {
        return Err(interrupted());
    }
    let mut group = ChildGroup::spawn_guarded(command.stdin(Stdio::null()))?;
    let (stdout, stderr) = (group.child.stdout.take(), group.child.stderr.take());
    let [stdout, stderr] = [stdout.map(reader), stderr.map(reader)];
    let status = group.wait()?;
    let [stdout, stderr] =
        [stdout, stderr].map(|it| it.and_then(|it| it.join().ok()).unwrap_or_else(|| Ok(Vec::new())));
    if is_interrupted() {
        Err(interrupted())
    } else {
        Ok(Output { status, stdout: stdout?, stderr: stderr? })
    }
}

/// Runs `command`, which prints where this process does.
///
/// # Errors
///
/// As [`output`].
pub(super) fn status(command: &mut Command) -> io::Result<ExitStatus> {
    output_of(command).map(|it| it.status)
}

fn interrupted() -> io::Error {
    io::Error::other("interrupted")
}

fn reader(mut from: impl Read + Send + 'static) -> thread::JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map(|_| bytes)
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_is_captured_with_the_exit_code() {
        let output = output(&mut shell("echo out; echo err >&2; read line || exit 7")).unwrap();
        assert_eq!((&*output.stdout, &*output.stderr), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(7));
    }

    /// It waits as long as this process holds the pipe.
    #[test]
    fn a_guard_ends_a_group_when_its_pipe_is_closed() {
        let mut group = ChildGroup::spawn_guarded(&mut shell("sleep 1000")).unwrap();
        assert!(group.try_wait().unwrap().is_none());
        drop(group.guard.as_mut().unwrap().0.stdin.take());
        assert_eq!(group.wait().unwrap().code(), None);
        // A guard that is no longer needed ends nothing.
        let mut command = shell("read line; exit 7");
        let mut group = ChildGroup::spawn_guarded(command.stdin(Stdio::piped())).unwrap();
        drop(group.guard.take());
        drop(group.child.stdin.take());
        assert_eq!(group.wait().unwrap().code(), Some(7));
    }

    /// The guard outlives the request, and the group is killed by its number.
    #[test]
    fn a_guarded_group_is_asked_to_end_and_then_killed() {
        let script = "trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done";
        let mut command = shell(script);
        let mut group = ChildGroup::spawn_guarded(command.stdout(Stdio::piped())).unwrap();
        let mut stdout = group.child.stdout.take().unwrap();
        let mut line = [0; 6];
        stdout.read_exact(&mut line).unwrap();
        send(group.child.id(), Signal::EndGroup, &running());
        stdout.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"asked\n");
        assert!(group.guard.as_mut().unwrap().0.try_wait().unwrap().is_none());
        send(group.child.id(), Signal::KillGroup, &running());
        assert_eq!(group.wait().unwrap().code(), None);
    }

    #[test]
    fn a_child_that_is_late_is_killed() {
        let mut group = ChildGroup::spawn(&mut shell("sleep 1000")).unwrap();
        let deadline = group.end_after(Duration::from_millis(1));
        assert_eq!(group.wait().unwrap().code(), None);
        assert!(deadline.was_missed());
        let mut group = ChildGroup::spawn(&mut shell("exit 7")).unwrap();
        assert!(!group.end_after(Duration::from_secs(1_000)).was_missed());
        assert_eq!(group.wait().unwrap().code(), Some(7));
    }

    /// What a child has started is in its group.
    #[test]
    fn a_group_ends_with_its_leader() {
        let mut command = shell("sleep 1000 & echo $!; wait");
        let mut group = ChildGroup::spawn(command.stdout(Stdio::piped())).unwrap();
        let mut started = String::new();
        let mut stdout = group.child.stdout.take().unwrap();
        while !started.ends_with('\n') {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            started.push(char::from(byte[0]));
        }
        drop(group);
        // Both ends of the pipe are closed only if both processes have ended.
        assert_eq!(stdout.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
}
