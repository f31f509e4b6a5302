//! Senders.

use std::{
    fmt,
    sync::{Arc, mpsc},
};

use super::channel::Channel;
use crate::control::{control, here};
use std::sync::mpsc::{SendError, TrySendError};

/// See `std`.
pub struct Sender<T>(End<mpsc::Sender<T>, T>);

/// See `std`.
pub struct SyncSender<T>(End<mpsc::SyncSender<T>, T>);

enum End<S, T> {
    Thread(S),
    Task(Arc<Channel<T>>),
}

impl<S: Clone, T> Clone for End<S, T> {
    fn clone(&self) -> Self {
        match self {
            End::Thread(sender) => End::Thread(sender.clone()),
            End::Task(channel) => {
                channel.add_sender();
                End::Task(Arc::clone(channel))
            }
        }
    }
}

impl<S, T> Drop for End<S, T> {
    #[track_caller]
    fn drop(&mut self) {
        match self {
            End::Task(channel) => channel.drop_sender(),
            // It may be the last one.
            End::Thread(_) => {
                if let Some(control) = here() {
                    control.access_unaddressed();
                    control.changed_unaddressed();
                }
            }
        }
    }
}

impl<T> Sender<T> {
    pub(super) fn thread(sender: mpsc::Sender<T>) -> Self {
        Sender(End::Thread(sender))
    }

    pub(super) fn task(channel: Arc<Channel<T>>) -> Self {
        Sender(End::Task(channel))
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value, if the receiver was dropped.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.0 {
            End::Task(channel) => channel.send(value),
            End::Thread(sender) => {
                let control = control();
                control.inspect(|it| it.access_unaddressed());
                let result = sender.send(value);
                control.inspect(|it| it.changed_unaddressed());
                result
            }
        }
    }
}

impl<T> SyncSender<T> {
    pub(super) fn thread(sender: mpsc::SyncSender<T>) -> Self {
        SyncSender(End::Thread(sender))
    }

    pub(super) fn task(channel: Arc<Channel<T>>) -> Self {
        SyncSender(End::Task(channel))
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value, if the receiver was dropped.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let sender = match &self.0 {
            End::Task(channel) => return channel.send(value),
            End::Thread(sender) => sender,
        };
        let Some(control) = control() else { return sender.send(value) };
        let mut value = value;
        loop {
            control.access_unaddressed();
            match sender.try_send(value) {
                Ok(()) => break,
                Err(TrySendError::Disconnected(value)) => return Err(SendError(value)),
                Err(TrySendError::Full(again)) => value = again,
            }
            control.hint();
        }
        control.changed_unaddressed();
        Ok(())
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value, if there is no room or the receiver was dropped.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            End::Task(channel) => channel.try_send(value),
            End::Thread(sender) => {
                let control = control();
                control.inspect(|it| it.access_unaddressed());
                let result = sender.try_send(value);
                control.inspect(|it| it.changed_unaddressed());
                result
            }
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender(self.0.clone())
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        SyncSender(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
