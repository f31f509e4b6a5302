//! Entries of the table of classes: components that are explored against their own serial
//! behaviour.

use std::fmt;

use clewline_matrix::Explorable;
use clewline_methods::line_up::Cause;

/// A class that the command line can name, with its variants.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline subjects`.
    pub about: &'static str,
    /// The class it follows, and its publication.
    pub source: &'static str,
    /// The plain variant, whose name is empty, and then the others.
    pub variants: &'static [ClassVariant],
}

/// The class as it should be, or with a root cause of failure.
#[derive(Clone, Copy)]
pub struct ClassVariant {
    /// The name after the class's name and a colon; empty for the plain variant.
    pub name: &'static str,
    /// Its flaw; `None` if it is correct.
    pub flaw: Option<Flaw>,
    /// Makes it, with what can be called on it.
    pub build: fn() -> Box<dyn Explorable>,
}

/// A root cause of failure.
#[derive(Clone, Copy, Debug)]
pub struct Flaw {
    /// The letter that the paper gave it.
    pub letter: char,
    /// The flaw, in a sentence.
    pub about: &'static str,
    /// The verdict of a check.
    pub cause: Cause,
    /// The smallest matrix that fails, as it is written on the command line.
    pub matrix: &'static str,
    /// Calls before it, if it needs any.
    pub initial: &'static str,
}

impl fmt::Debug for ClassVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassVariant")
            .field("name", &self.name)
            .field("flaw", &self.flaw)
            .finish_non_exhaustive()
    }
}
