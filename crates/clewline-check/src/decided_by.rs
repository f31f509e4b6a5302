//! The names of the checkers that decided.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Which checkers decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecidedBy {
    /// The monitors that were used.
    pub monitors: BTreeSet<Cow<'static, str>>,
    /// The searches that decided what no monitor could, and on how many operations.
    pub searches: BTreeMap<Cow<'static, str>, usize>,
}

impl DecidedBy {
    pub(crate) fn search(name: impl Into<Cow<'static, str>>, operations: usize) -> DecidedBy {
        let mut deciders = DecidedBy::default();
        deciders.add_search(name, operations);
        deciders
    }

    pub(crate) fn add_search(&mut self, name: impl Into<Cow<'static, str>>, operations: usize) {
        *self.searches.entry(name.into()).or_insert(0) += operations;
    }

    /// Takes the checkers of other parts.
    pub fn absorb(&mut self, other: DecidedBy) {
        self.monitors.extend(other.monitors);
        other.searches.into_iter().for_each(|(name, operations)| self.add_search(name, operations));
    }

    /// The names alone: `queue monitor, jit-graph`.
    pub(crate) fn names(&self) -> String {
        let searches = self.searches.keys();
        self.monitors.iter().chain(searches).map(|it| &**it).collect::<Vec<_>>().join(", ")
    }

    /// Whether no checker was used.
    pub(crate) fn is_empty(&self) -> bool {
        self.monitors.is_empty() && self.searches.is_empty()
    }
}

/// `queue monitor, then jit-graph on 12 operations`.
impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let monitors: Vec<&str> = self.monitors.iter().map(|it| &**it).collect();
        if self.searches.is_empty() {
            return f.write_str(&monitors.join(", "));
        }
        if monitors.is_empty() {
            let names: Vec<&str> = self.searches.keys().map(|it| &**it).collect();
            return f.write_str(&names.join(", "));
        }
        let described = |(name, &operations): (&Cow<'_, str>, &usize)| match operations {
            1 => format!("{name} on 1 operation"),
            _ => format!("{name} on {operations} operations"),
        };
        let searches: Vec<String> = self.searches.iter().map(described).collect();
        write!(f, "{}, then {}", monitors.join(", "), searches.join(" and "))
    }
}
