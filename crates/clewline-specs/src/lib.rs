//! Sequential specifications, one file each.

use clewline_core::Catalogued;

/// A specification the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline specs` and `--help`.
    pub about: &'static str,
    /// The operations: how each is written in a file, and what it does and answers.
    pub operations: &'static [(&'static str, &'static str)],
    /// What may follow the name after a colon, if anything may: `queue:8`.
    pub parameter: Option<&'static str>,
    /// The specification with that parameter, or what is wrong with the parameter.
    pub build: fn(Option<&str>) -> Result<Box<dyn Catalogued>, String>,
}
