//! Tables of named entries: built-in ones, and those that a program adds at its start.

use std::{fmt, iter::Chain, slice, sync::OnceLock};

/// Named entries, the built-in ones first.
///
/// A crate has one file per entry and one list of them, which is a `static` of this type. A custom
/// program may [add](Table::extend) entries once, at its start; every list and every lookup by name
/// then includes them.
pub struct Table<T: 'static> {
    built_in: &'static [T],
    name: fn(&'static T) -> &'static str,
    added: OnceLock<&'static [T]>,
}

impl<T> Table<T> {
    /// A table of these entries, each with a distinct name.
    #[must_use]
    pub const fn new(built_in: &'static [T], name: fn(&'static T) -> &'static str) -> Table<T> {
        Table { built_in, name, added: OnceLock::new() }
    }

    /// Every entry: those that are built in, and then those that were added.
    pub fn iter(&self) -> Chain<slice::Iter<'static, T>, slice::Iter<'static, T>> {
        let added: &'static [T] = self.added.get().copied().unwrap_or(&[]);
        self.built_in.iter().chain(added)
    }

    /// The name of every entry, in the same order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.iter().map(self.name)
    }

    /// The entry called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static T> {
        self.iter().find(|&it| (self.name)(it) == name)
    }

    /// The built-in entries, on which tests can rely.
    #[must_use]
    pub const fn built_in(&self) -> &'static [T] {
        self.built_in
    }

    /// Adds `entries` for the rest of the program. Call this before any other use of the table: a
    /// list that was read earlier does not contain them. Adding no entries always succeeds.
    ///
    /// # Errors
    ///
    /// If entries were added before, or two entries have the same name.
    pub fn extend(&self, entries: &'static [T]) -> Result<(), ExtendError> {
        if entries.is_empty() {
            return Ok(());
        }
        let names: Vec<&'static str> = self.built_in.iter().chain(entries).map(self.name).collect();
        for (at, &name) in names.iter().enumerate() {
            if names[..at].contains(&name) {
                return Err(ExtendError::Twice(name));
            }
        }
        self.added.set(entries).map_err(|_| ExtendError::Extended)
    }
}

impl<T> IntoIterator for &Table<T> {
    type Item = &'static T;
    type IntoIter = Chain<slice::Iter<'static, T>, slice::Iter<'static, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Why entries cannot be added to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtendError {
    /// Entries were added before.
    Extended,
    /// Two entries have this name.
    Twice(&'static str),
}

impl fmt::Display for ExtendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExtendError::Extended => {
                f.write_str("the table was extended before; it can be extended only once")
            }
            ExtendError::Twice(name) => write!(f, "two entries are called `{name}`"),
        }
    }
}

impl std::error::Error for ExtendError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters() -> Table<&'static str> {
        Table::new(&["a", "b"], |it| it)
    }

    #[test]
    fn added_entries_come_last_and_are_found() {
        let table = letters();
        assert_eq!(table.find("c"), None);
        assert_eq!(table.extend(&["c"]), Ok(()));
        assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(table.find("c"), Some(&"c"));
        assert_eq!(table.built_in(), ["a", "b"]);
    }

    #[test]
    fn a_table_is_extended_once() {
        let table = letters();
        assert_eq!(table.extend(&[]), Ok(()));
        assert_eq!(table.extend(&["c"]), Ok(()));
        assert_eq!(table.extend(&["d"]), Err(ExtendError::Extended));
        assert_eq!(table.names().collect::<String>(), "abc");
    }

    #[test]
    fn duplicate_names_are_rejected() {
        assert_eq!(letters().extend(&["c", "b"]), Err(ExtendError::Twice("b")));
        assert_eq!(letters().extend(&["c", "c"]), Err(ExtendError::Twice("c")));
    }
}
