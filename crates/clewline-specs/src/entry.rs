//! The catalog entry of a specification.

use clewline_core::{Codec, ErasedSpec};

use crate::operation::OperationInfo;

/// A specification that the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct SpecificationEntry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline specs` and `--help`.
    pub about: &'static str,
    /// The operations: usually those of [`operations!`](crate::operations).
    pub operations: &'static [OperationInfo],
    /// What may follow the name after a colon, if anything may: `queue:8`.
    pub parameter: Option<&'static str>,
    /// Whether operations begin with a key or an element: then a column of keys does not only name
    /// objects, and the operations on different keys are independent where no operation is on all.
    pub is_keyed: bool,
    /// Builds the specification with that parameter, or returns what is wrong with the parameter.
    pub build: Build,
}

impl SpecificationEntry {
    /// The names of the operations.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> {
        self.operations.iter().map(|it| it.name)
    }
}

/// Builds a specification, given what follows its name after a colon.
pub type Build = fn(Option<&str>) -> Result<Box<dyn ErasedSpec>, String>;

/// A function that is generic over specifications.
pub trait Visitor {
    /// Receives the specification called `name`, which includes its parameter.
    fn visit<S>(&mut self, name: &'static str, specification: S)
    where
        S: Codec + Clone + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync;
}
