//! What the binary and the library promise, end to end.

mod check;
mod convert;
mod generate;
mod library;
mod other;
mod run;
