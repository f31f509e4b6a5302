//! The values of one task, by key.

use std::{any::Any, rc::Rc};

/// The values of one task, by key.
#[derive(Default)]
pub(super) struct Locals(pub(super) Vec<(usize, Local)>);

pub(super) enum Local {
    Value(Rc<dyn Any>),
    Destroyed,
}

/// The task has dropped the value already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destroyed;

impl Locals {
    pub(super) fn find<T: 'static>(&self, key: usize) -> Option<Result<Rc<T>, Destroyed>> {
        let (_, local) = self.0.iter().find(|it| it.0 == key)?;
        match local {
            Local::Value(value) => {
                Some(Ok(Rc::clone(value).downcast().expect("a key has values of one type")))
            }
            Local::Destroyed => Some(Err(Destroyed)),
        }
    }

    /// Removes the last remaining value. From now on it counts as destroyed.
    pub(super) fn pop(&mut self) -> Option<Rc<dyn Any>> {
        let last = self.0.iter_mut().rev().find(|it| matches!(it.1, Local::Value(_)))?;
        match std::mem::replace(&mut last.1, Local::Destroyed) {
            Local::Value(value) => Some(value),
            Local::Destroyed => None,
        }
    }
}
