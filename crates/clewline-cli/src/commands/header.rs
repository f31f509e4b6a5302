//! `clewline header`: the header with which tests in C and C++ are declared.

use clewline_unmodified::HEADER;

use super::{
    output::Stdout,
    status::{Failure, Status},
};

/// Print clewline.h, the header for tests in C and C++
///
/// `clewline cc` includes it automatically; an editor may need a copy.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Result<Status, Failure> {
    Stdout::new().print(HEADER.as_bytes())?;
    Ok(Status::Done)
}
