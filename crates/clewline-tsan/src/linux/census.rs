//! All histories of a matrix, counted for whoever asks: the tables of papers.

use std::io::Write;

use clewline::{
    Explorable,
    methods::unmodified::{CENSUS_VARIABLE, answer},
};

/// Answers on standard output what the environment asks, if it does. How that went, as an exit code.
pub(super) fn asked(subject: &dyn Explorable) -> Option<i32> {
    let question = std::env::var(CENSUS_VARIABLE).ok()?;
    let answered = answer(subject, &question).map_err(|it| it.to_string());
    let written = answered.and_then(|it| writeln!(std::io::stdout(), "{it}").map_err(|it| it.to_string()));
    let Err(told) = written else { return Some(0) };
    let _nobody_listens = writeln!(std::io::stderr(), "error: {told}");
    Some(2)
}
