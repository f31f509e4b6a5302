//! What two processes of one program tell each other: words, steps and texts, as bytes.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::FromRawFd,
};

use clewline_explore::{Access, SharedId, Step, TaskId, TaskSet};

/// One end of a line between two processes.
#[derive(Debug)]
pub(super) struct End {
    from: File,
    to: File,
}

/// Both ends of a line.
///
/// # Errors
///
/// If the system has no more to give.
pub(super) fn line() -> io::Result<[End; 2]> {
    let pipe = || {
        let mut ends = [0; 2];
        // SAFETY: there is room for two.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: they were just opened, and nobody else has them.
        Ok(ends.map(|it| unsafe { File::from_raw_fd(it) }))
    };
    let ([one, other_to], [other, one_to]) = (pipe()?, pipe()?);
    Ok([End { from: one, to: one_to }, End { from: other, to: other_to }])
}

impl End {
    /// Sends a message.
    pub(super) fn send(&mut self, message: &Message) -> io::Result<()> {
        let length = (message.bytes.len() as u32).to_le_bytes();
        self.to.write_all(&[&length, &*message.bytes].concat())
    }

    /// The next message.
    pub(super) fn receive(&mut self) -> io::Result<Message> {
        let mut length = [0; 4];
        self.from.read_exact(&mut length)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        self.from.read_exact(&mut bytes)?;
        Ok(Message { bytes, at: 0 })
    }
}

/// A message. What was put in first is taken out first.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
    at: usize,
}

impl Message {
    pub(super) fn put(&mut self, word: u64) {
        self.bytes.extend(word.to_le_bytes());
    }

    pub(super) fn take(&mut self) -> u64 {
        let word = self.bytes.get(self.at..self.at + 8).and_then(|it| it.try_into().ok());
        self.at += 8;
        u64::from_le_bytes(word.expect("both ends agree"))
    }

    pub(super) fn put_text(&mut self, text: &str) {
        self.put(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    pub(super) fn take_text(&mut self) -> String {
        let length = self.take() as usize;
        let text = String::from_utf8_lossy(&self.bytes[self.at..self.at + length]).into_owned();
        self.at += length;
        text
    }

    /// 0 for nothing.
    pub(super) fn put_maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Message, T)) {
        self.put(u64::from(value.is_some()));
        if let Some(value) = value {
            put(self, value);
        }
    }

    pub(super) fn take_maybe<T>(&mut self, take: impl FnOnce(&mut Message) -> T) -> Option<T> {
        (self.take() != 0).then(|| take(self))
    }

    pub(super) fn put_all<T>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        put: impl Fn(&mut Message, T),
    ) {
        self.put(values.len() as u64);
        values.for_each(|it| put(self, it));
    }

    pub(super) fn take_all<T>(&mut self, take: impl Fn(&mut Message) -> T) -> Vec<T> {
        (0..self.take()).map(|_| take(self)).collect()
    }

    pub(super) fn put_access(&mut self, access: Access) {
        self.put(access as u64);
    }

    pub(super) fn take_access(&mut self) -> Access {
        Access::ALL[self.take() as usize]
    }

    pub(super) fn put_step(&mut self, step: &Step) {
        self.put(step.task.0.into());
        self.put_maybe(step.cause, |to, it| to.put(it.0.into()));
        self.put_access(step.access);
        for flag in [step.calls, step.returns, step.yields] {
            self.put(flag.into());
        }
        for word in [step.object.0, step.after.0.into(), step.wakes.0.into(), step.frees.0] {
            self.put(word.into());
        }
    }

    pub(super) fn take_step(&mut self) -> Step {
        let task = TaskId(self.take() as u8);
        let cause = self.take_maybe(|it| TaskId(it.take() as u8));
        let access = self.take_access();
        let [calls, returns, yields] = [(); 3].map(|()| self.take() != 0);
        let [object, after, wakes, frees] = [(); 4].map(|()| self.take() as u32);
        Step {
            cause,
            calls,
            returns,
            yields,
            after: TaskSet(after as u16),
            wakes: TaskSet(wakes as u16),
            frees: SharedId(frees),
            ..Step::new(task, access, SharedId(object))
        }
    }
}
