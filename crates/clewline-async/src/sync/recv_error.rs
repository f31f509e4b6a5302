//! The error of a channel that nothing sends to.

use std::{error::Error, fmt};

/// The sender is gone, and sent nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed")
    }
}

impl Error for RecvError {}
