//! `clewline header`: the header with which tests in C and C++ are declared.

use clewline_unmodified::{CMAKE_MODULE, CXX_HEADER, HEADER};

use super::{
    output::Stdout,
    status::{Failure, Status},
};

/// Print clewline.h, the header for tests in C and C++
///
/// `clewline cc` includes it automatically; an editor may need a copy.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print Clewline.cmake instead, the module of CMake with `clewline_add_test`
    #[arg(long)]
    cmake: bool,
    /// Print clewline.hpp instead, the header for tests in C++ with lambdas
    #[arg(long, conflicts_with = "cmake")]
    cpp: bool,
}

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let text = match (args.cmake, args.cpp) {
        (true, _) => CMAKE_MODULE,
        (false, true) => CXX_HEADER,
        (false, false) => HEADER,
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}
