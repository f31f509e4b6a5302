//! Entries of the table: subjects with their variants, and how to stress them.

use clewline_core::ValueDomain;
use clewline_matrix::ErasedSubject;
use clewline_threads::Noise;

/// A structure that the command line can name, with its variants.
#[derive(Clone, Copy, Debug)]
pub struct SubjectEntry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline subjects`.
    pub about: &'static str,
    /// Source: authors, title, year.
    pub source: &'static str,
    /// The name of its specification, with its parameter. A variant that [may be out of
    /// order](Variant::quasi) should satisfy the relaxed one of that name: [`FoundSubject::spec`].
    pub spec: &'static str,
    /// Methods of the specification that it does not offer, and that are not to be called.
    pub lacks: &'static [&'static str],
    /// The calls of which a matrix is made, as they are written, when it is explored.
    pub invocations: &'static [&'static str],
    /// The plain variant, whose name is empty, and then the others. There is no plain one if none
    /// is correct, unless there is only one at all.
    pub variants: &'static [Variant],
}

/// A bug, or a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name after the structure's name and a colon; empty for the plain variant.
    pub name: &'static str,
    /// Its flaw; `None` if it is correct.
    pub flaw: Option<&'static str>,
    /// How far out of order its results may be: a method that removes, and the quasi factor k of
    /// the relaxed specification that it should satisfy. `None` if its results should be in order.
    pub quasi: Option<(&'static str, u32)>,
    /// The default settings of its stress test.
    pub recipe: Recipe,
    /// Makes it.
    pub build: fn() -> Box<dyn ErasedSubject>,
}

/// Settings of a stress test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Number of threads.
    pub threads: usize,
    /// Operations of each thread in a run.
    pub operations: usize,
    /// Which methods are drawn how often.
    pub mix: &'static [(&'static str, u32)],
    /// Number of keys, for maps.
    pub keys: usize,
    /// Domain of values; for sets, of elements.
    pub values: ValueDomain,
    /// Noise.
    pub noise: Noise,
}

impl Recipe {
    /// Suits most structures: a run takes a few time slices.
    pub const PLAIN: Recipe = Recipe {
        threads: 4,
        operations: 2_048,
        mix: &[],
        keys: 8,
        values: ValueDomain::Distinct,
        noise: Noise::NONE,
    };
}

/// A variant of a structure.
#[derive(Clone, Copy, Debug)]
pub struct FoundSubject {
    /// The structure.
    pub entry: &'static SubjectEntry,
    /// The variant.
    pub variant: &'static Variant,
}

impl FoundSubject {
    /// The name used on the command line: `NAME` or `NAME:VARIANT`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.variant.name {
            "" => self.entry.name.to_owned(),
            variant => format!("{}:{variant}", self.entry.name),
        }
    }

    /// The name of the specification that it should satisfy: that of its entry, relaxed if it may
    /// be out of order.
    #[must_use]
    pub fn spec(&self) -> String {
        match self.variant.quasi {
            None => self.entry.spec.to_owned(),
            Some((_, factor)) => format!("quasi-{}:{factor}", self.entry.spec),
        }
    }
}
