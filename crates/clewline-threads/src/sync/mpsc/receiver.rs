//! Receivers.

use std::{
    cell::Cell,
    fmt,
    marker::PhantomData,
    sync::{Arc, mpsc},
    time::Duration,
};

use super::channel::Channel;
use crate::control::{WakeCondition, control, here};
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};

/// See `std`.
pub struct Receiver<T> {
    end: End<T>,
    // There is one receiver, so one thread receives at a time.
    _not_sync: PhantomData<Cell<()>>,
}

enum End<T> {
    Thread(mpsc::Receiver<T>),
    Task(Arc<Channel<T>>),
}

impl<T> Receiver<T> {
    pub(super) fn thread(receiver: mpsc::Receiver<T>) -> Self {
        Receiver { end: End::Thread(receiver), _not_sync: PhantomData }
    }

    pub(super) fn task(channel: Arc<Channel<T>>) -> Self {
        Receiver { end: End::Task(channel), _not_sync: PhantomData }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If there is no message, and all senders were dropped.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let receiver = match &self.end {
            End::Task(channel) => return channel.receive(WakeCondition::Met).map_err(|_| RecvError),
            End::Thread(receiver) => receiver,
        };
        let Some(control) = control() else { return receiver.recv() };
        loop {
            control.access_unaddressed();
            match receiver.try_recv() {
                Ok(value) => {
                    control.changed_unaddressed();
                    return Ok(value);
                }
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => control.hint(),
            }
        }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If there is no message.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let receiver = match &self.end {
            End::Task(channel) => return channel.try_receive(),
            End::Thread(receiver) => receiver,
        };
        let control = control();
        control.inspect(|it| it.access_unaddressed());
        let result = receiver.try_recv();
        if result.is_ok() {
            control.inspect(|it| it.changed_unaddressed());
        }
        result
    }

    /// See `std`. In an exploration, the timeout may occur whenever there is no message.
    ///
    /// # Errors
    ///
    /// On a timeout, or if there will never be a message.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let receiver = match &self.end {
            End::Task(channel) => return channel.receive(WakeCondition::MetOrTimeout),
            End::Thread(receiver) => receiver,
        };
        if control().is_none() {
            return receiver.recv_timeout(timeout);
        }
        self.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// See `std`.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// See `std`.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        match &self.end {
            End::Task(channel) => channel.drop_receiver(),
            End::Thread(_) => {
                if let Some(control) = here() {
                    control.access_unaddressed();
                    control.changed_unaddressed();
                }
            }
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// See `std`.
#[derive(Debug)]
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// See `std`.
#[derive(Debug)]
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// See `std`.
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}
