//! Relaxations: which operations may be out of place, and how far.

use clewline_core::Problem;

/// Which operations may be out of place, and how far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    /// The class of each operation, by position in the problem; `None` may be anywhere.
    pub class_of: Vec<Option<usize>>,
    /// The quasi factor of each class: by how many places at most an operation is too early or too
    /// late.
    pub factors: Vec<u32>,
}

impl Relaxation {
    /// One class of all operations.
    #[must_use]
    pub fn all(problem: &Problem<'_>, factor: u32) -> Relaxation {
        Relaxation { class_of: vec![Some(0); problem.len()], factors: vec![factor] }
    }

    /// The same with another factor for one class.
    #[must_use]
    pub fn with_factor(&self, class: usize, factor: u32) -> Relaxation {
        let mut changed = self.clone();
        changed.factors[class] = factor;
        changed
    }

    /// Why this relaxation does not fit `problem`, if it does not.
    #[must_use]
    pub fn mismatch(&self, problem: &Problem<'_>) -> Option<String> {
        if self.class_of.len() != problem.len() {
            let (classes, operations) = (self.class_of.len(), problem.len());
            return Some(format!("{classes} operations have a class or none, but there are {operations}"));
        }
        let unknown = self.class_of.iter().flatten().find(|&&it| self.factors.len() <= it)?;
        Some(format!("class {unknown} has no quasi factor"))
    }
}
