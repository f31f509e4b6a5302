//! `clewline header`: the header with which tests in C and C++ are declared.

use clewline_unmodified::HEADER;

use super::{
    output::Stdout,
    status::{Failure, Status},
};

/// Print clewline.h, the header with which tests in C and C++ are declared
///
/// `clewline cc` finds it by itself; your editor may want it, too.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Result<Status, Failure> {
    Stdout::new().print(HEADER.as_bytes())?;
    Ok(Status::Done)
}
