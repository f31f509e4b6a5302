//! What can be explored: structures and classes, found by their names.

use clewline_core::CodecError;
use clewline_matrix::{ErasedSubject, Explorable, TestProgram};
use clewline_threads::control::{Calls, Limits};

use crate::{
    class::{Class, ClassVariant},
    classes::CLASSES,
    entry::FoundSubject,
    structures::STRUCTURES,
};

/// A variant of a structure or of a class.
#[derive(Clone, Copy, Debug)]
pub enum FoundExplorable {
    /// A structure, which has a specification.
    Structure(FoundSubject),
    /// A class, which has none.
    Class(&'static Class, &'static ClassVariant),
}

impl FoundExplorable {
    /// The name used on the command line: `NAME` or `NAME:VARIANT`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            FoundExplorable::Structure(found) => found.name(),
            FoundExplorable::Class(class, variant) => match variant.name {
                "" => class.name.to_owned(),
                variant => format!("{}:{variant}", class.name),
            },
        }
    }

    /// One line for `clewline subjects`.
    #[must_use]
    pub fn about(&self) -> &'static str {
        match self {
            FoundExplorable::Structure(found) => found.entry.about,
            FoundExplorable::Class(class, _) => class.about,
        }
    }

    /// Its flaw; `None` if it is correct.
    #[must_use]
    pub fn flaw(&self) -> Option<&'static str> {
        match self {
            FoundExplorable::Structure(found) => found.variant.flaw,
            FoundExplorable::Class(_, variant) => variant.flaw.map(|it| it.about),
        }
    }

    /// The calls of which a matrix is made, as they are written.
    #[must_use]
    pub fn invocations(&self) -> Vec<String> {
        self.build().invocations()
    }

    /// Makes it.
    #[must_use]
    pub fn build(&self) -> Box<dyn Explorable> {
        match self {
            FoundExplorable::Structure(found) => Box::new(Structure {
                testable: (found.variant.build)(),
                invocations: found.entry.invocations,
            }),
            FoundExplorable::Class(_, variant) => (variant.build)(),
        }
    }
}

/// Every variant of every structure, and then of every class, in the order of the tables.
///
/// Published crates are not among them. They are not written with the primitives of
/// [`clewline_threads::sync`], so that each of their operations would be one step.
pub fn explorables() -> impl Iterator<Item = FoundExplorable> {
    let structures = STRUCTURES
        .iter()
        .flat_map(|entry| entry.variants.iter().map(move |variant| FoundSubject { entry, variant }));
    let classes = CLASSES.iter().flat_map(|class| class.variants.iter().map(move |it| (class, it)));
    structures
        .map(FoundExplorable::Structure)
        .chain(classes.map(|(class, variant)| FoundExplorable::Class(class, variant)))
}

/// A structure, with the calls of its table.
struct Structure {
    testable: Box<dyn ErasedSubject>,
    invocations: &'static [&'static str],
}

impl Explorable for Structure {
    fn invocations(&self) -> Vec<String> {
        self.invocations.iter().map(|it| (*it).to_owned()).collect()
    }

    fn test_program(
        &self,
        calls: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        self.testable.explorable().test_program(calls, limits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::find_explorable;

    #[test]
    fn every_name_is_unique_and_found_and_every_call_is_known() {
        let mut names = BTreeSet::new();
        for it in explorables() {
            assert!(names.insert(it.name()), "{}", it.name());
            assert_eq!(find_explorable(&it.name()).unwrap().name(), it.name());
            let columns = vec![it.invocations()];
            assert!(1 < columns[0].len(), "{}", it.name());
            let calls = Calls { columns, ..Calls::default() };
            let program = it.build().test_program(&calls, &Limits::default());
            assert!(program.is_ok(), "{}: {:?}", it.name(), program.err());
        }
    }

    #[test]
    fn no_class_has_the_name_of_a_structure_or_a_crate() {
        let classes = explorables().filter(|it| matches!(it, FoundExplorable::Class(..)));
        let mut names: BTreeSet<String> = crate::subjects().map(|it| it.name()).collect();
        for name in classes.map(|it| it.name()) {
            assert!(names.insert(name.clone()), "{name}");
        }
    }

    #[test]
    fn a_name_that_is_nearly_right_is_corrected() {
        let message = find_explorable("manual-reset-evnt").unwrap_err().to_string();
        assert!(message.contains("did you mean `manual-reset-event`?"), "{message}");
        let message = crate::find("barrier").unwrap_err().to_string();
        assert_eq!(message, "`barrier` can only be explored: it has no specification");
    }
}
