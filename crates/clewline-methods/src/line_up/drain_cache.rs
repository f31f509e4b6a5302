//! A golden implementation that is observed with more calls than a matrix has.
//!
//! In the displacement reading, a history that leaves elements inside can be judged only together
//! with calls that would have removed them. Their number depends on the history, so the golden
//! implementation is observed with them when they are first needed.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use clewline_matrix::{Matrix, ObservationSet};

use super::{
    options::{LineUpOptions, Reference},
    serial::{ResultTexts, observe},
};

/// See the [module documentation](self).
pub(super) struct DrainCache<'a> {
    pub(super) matrix: &'a Matrix,
    pub(super) options: &'a LineUpOptions,
    /// By how many calls there are more.
    pub(super) seen: RefCell<BTreeMap<usize, Rc<ObservationSet>>>,
}

impl DrainCache<'_> {
    /// The serial observations of the golden implementation with the calls of the matrix and
    /// `more`, in every order.
    ///
    /// # Errors
    ///
    /// If those are too many, or it is not known.
    pub(super) fn observe(
        &self,
        more: &[String],
        texts: &mut ResultTexts,
    ) -> Result<Rc<ObservationSet>, String> {
        if let Some(seen) = self.seen.borrow().get(&more.len()) {
            return Ok(Rc::clone(seen));
        }
        let Reference::Golden(golden) = &self.options.against else {
            return Err("elements are left inside, and no call is known that removes them".to_owned());
        };
        let calls = self.matrix.to_apart(more).map_err(|it| {
            format!("something is left inside, and {} more would take it out: {it}", more.len())
        })?;
        let mut program = golden.test_program(&calls, &self.options.limits).map_err(|it| it.to_string())?;
        let observed = observe(&mut *program, texts, &self.options.serial_extent());
        if observed.panicked.is_some() {
            return Err("what it is compared with fails".to_owned());
        }
        if let Some(reason) = observed.incomplete {
            return Err(reason);
        }
        let set = Rc::new(observed.set);
        self.seen.borrow_mut().insert(more.len(), Rc::clone(&set));
        Ok(set)
    }
}
