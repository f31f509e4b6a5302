//! Sessions: a program that was started and can be explored from here.

use std::{
    ffi::OsStr,
    io::{self, Read},
    process::{ChildStderr, Command, ExitStatus, Stdio},
    sync::{Arc, mpsc::Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use clewline_remote::{DRIVEN_VARIABLE, Line, Remote, RunOptions};

use super::{
    children::{ChildGroup, Deadline},
    error::{GaveUp, ProgramError},
};

/// Where the output of a program goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMode {
    /// Captured for the error, if there is one.
    Captured,
    /// To the output of this process.
    Inherited,
}

/// How a program is started.
#[derive(Clone, Copy, Debug)]
pub struct StartOptions {
    /// Where its output goes.
    pub output: OutputMode,
    /// How long it may take until its `main` begins; then it is killed.
    pub limit: Option<Duration>,
}

impl From<OutputMode> for StartOptions {
    fn from(output: OutputMode) -> StartOptions {
        StartOptions { output, limit: None }
    }
}

/// A program that was started. It is killed when this is dropped.
#[derive(Debug)]
pub struct RunningProgram {
    remote: Arc<Remote>,
    running: Running,
}

#[derive(Debug)]
struct Running {
    /// Killed when dropped.
    child: ChildGroup,
    /// Reads the program's standard error, if captured.
    stderr_reader: Option<JoinHandle<String>>,
    /// Ends the program if this process is interrupted.
    _watched: Sender<()>,
}

impl RunningProgram {
    /// Starts `command`. The line replaces standard input, which the program opens again.
    pub(super) fn start(
        mut command: Command,
        wanted: &RunOptions,
        options: StartOptions,
    ) -> Result<RunningProgram, ProgramError> {
        let name = command.get_program().to_string_lossy().into_owned();
        let (line, there) = line().map_err(ProgramError::io(name.clone()))?;
        command.env(DRIVEN_VARIABLE, "1").stdin(there);
        if options.output == OutputMode::Captured {
            command.stdout(Stdio::null()).stderr(Stdio::piped());
        }
        let mut child = ChildGroup::spawn(&mut command).map_err(ProgramError::io(name))?;
        // While this process also has the program's end open, it does not notice that the program
        // has ended.
        drop(command);
        let complaints = child.take_stderr().map(|it| thread::spawn(|| read(it)));
        let _watched = child.end_when_interrupted();
        let starting = options.limit.map(|it| child.end_after(it));
        let running = Running { child, stderr_reader: complaints, _watched };
        let connected = Remote::connect(line, wanted);
        if starting.is_some_and(Deadline::was_missed) {
            return Err(ProgramError::Late);
        }
        match connected {
            Ok(remote) => Ok(RunningProgram { remote: Arc::new(remote), running }),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(running.end_protocol_violated()),
            Err(_) => Err(running.end_early(None)),
        }
    }

    /// The subject to explore.
    #[must_use]
    pub fn remote(&self) -> &Arc<Remote> {
        &self.remote
    }

    /// Ends the program.
    ///
    /// # Errors
    ///
    /// If it had ended before, so that the last exploration is meaningless.
    pub fn finish(mut self) -> Result<(), ProgramError> {
        if self.remote.is_protocol_violated() {
            return Err(self.running.end_protocol_violated());
        }
        if self.remote.is_lost() {
            return Err(self.running.end_early(self.remote.reason()));
        }
        self.remote.disconnect();
        self.running.wait().map(drop)
    }
}

fn read(mut from: ChildStderr) -> String {
    let mut bytes = Vec::new();
    // As far as it can be read.
    let _read = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Running {
    fn wait(&mut self) -> Result<ExitStatus, ProgramError> {
        self.child.wait().map_err(ProgramError::io("the program"))
    }

    /// The program sent an invalid message: its code may have overwritten the runtime.
    fn end_protocol_violated(self) -> ProgramError {
        ProgramError::Killed { how: "what it says of its executions makes no sense".to_owned() }
    }

    /// Why nothing can be explored: the program has ended, or is about to end. It may have sent the
    /// reason.
    fn end_early(mut self, reason: Option<String>) -> ProgramError {
        let status = match self.wait() {
            Ok(status) => status,
            Err(error) => return error,
        };
        let message = self.stderr_reader.take().and_then(|it| it.join().ok()).unwrap_or_default();
        let why = match status.code() {
            Some(2) => GaveUp::Failed,
            Some(3) => GaveUp::Unknown,
            Some(_) | None => {
                let mut how = status.to_string();
                if !message.is_empty() {
                    how = format!("{how}\n{}", message.trim_end());
                }
                return ProgramError::Killed { how };
            }
        };
        ProgramError::GaveUp { why, message: reason.unwrap_or(message) }
    }
}

#[cfg(unix)]
fn line() -> io::Result<(Line, Stdio)> {
    use std::os::{fd::OwnedFd, unix::net::UnixStream};
    let (here, there) = UnixStream::pair()?;
    Ok((Line::new(here.try_clone()?, here), OwnedFd::from(there).into()))
}

#[cfg(not(unix))]
fn line() -> io::Result<(Line, Stdio)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets the name that the program sees as its own.
#[cfg(unix)]
pub(super) fn set_argv0(command: &mut Command, name: &OsStr) {
    std::os::unix::process::CommandExt::arg0(command, name);
}

#[cfg(not(unix))]
pub(super) fn set_argv0(_: &mut Command, _: &OsStr) {}
