//! The labels of operations: those with equal calls and results have the same.

use super::{pair::SpecAndHistory, retain::Retained};
use crate::{
    id::{LabelId, OperationId},
    intern::Interner,
    specification::Specification,
};

/// The labels of a problem's operations.
pub(super) struct Labels<'p, S: Specification> {
    /// For each label, a call and a result that have it, and what is retained of them.
    pub(super) meanings: Vec<LabelMeaning<'p, S>>,
    /// The label of each operation.
    pub(super) of_operations: Vec<LabelId>,
    /// For each label, whether it leaves every state unchanged.
    pub(super) reads: Vec<bool>,
}

pub(super) type LabelMeaning<'p, S> =
    (&'p <S as Specification>::Call, Option<&'p <S as Specification>::Return>, Retained);

impl<'p, S: Specification> Labels<'p, S> {
    /// Those of `operations`, with what is retained of each.
    pub(super) fn new(
        pair: &'p SpecAndHistory<'_, S>,
        operations: impl ExactSizeIterator<Item = (OperationId, Retained)>,
    ) -> Self {
        let SpecAndHistory { specification, history, .. } = *pair;
        let mut meanings: Interner<LabelMeaning<'p, S>> = Interner::new();
        let mut of_operations = Vec::with_capacity(operations.len());
        for (id, retained) in operations {
            let ret = pair.ret(id).filter(|_| retained != Retained::CallOnly);
            let known = match (retained, ret) {
                (Retained::Optional, _) => Retained::Optional,
                // Without a return it does not matter why it is missing.
                (_, None) => Retained::CallOnly,
                (known, Some(_)) => known,
            };
            let meaning = (history.call(id), ret, known);
            of_operations.push(LabelId(meanings.intern(meaning)));
        }
        let meanings = meanings.into_values();
        let is_read = |&(call, ret, _): &LabelMeaning<'p, S>| specification.footprint(call, ret).is_read();
        let reads = meanings.iter().map(is_read).collect();
        Labels { meanings, of_operations, reads }
    }
}
