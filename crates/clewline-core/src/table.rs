//! Tables of what can be named: what is built in, and what a program adds before it starts.

use std::{fmt, iter::Chain, slice, sync::OnceLock};

/// What can be named, the built-in entries first.
///
/// A crate has one file per entry and one list of them, which is a `static` of this type. A program of its own
/// may [add](Table::extend) entries once, at its start; whatever lists entries or finds one by name then knows them as well.
pub struct Table<T: 'static> {
    built_in: &'static [T],
    name: fn(&'static T) -> &'static str,
    added: OnceLock<&'static [T]>,
}

impl<T> Table<T> {
    /// A table of these entries, each of which has a name of its own.
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

    /// The entries that are built in, which a test can take for granted.
    #[must_use]
    pub const fn built_in(&self) -> &'static [T] {
        self.built_in
    }

    /// Adds `entries`, for the rest of the program. To be called before any other use of the table: whoever has listed it
    /// before has not seen them. Adding nothing is always possible.
    ///
    /// # Errors
    ///
    /// If entries were added before, or one has the name of another.
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

/// Entries cannot be added to a table.
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
    fn what_is_added_comes_last_and_is_found() {
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
    fn no_two_entries_have_one_name() {
        assert_eq!(letters().extend(&["c", "b"]), Err(ExtendError::Twice("b")));
        assert_eq!(letters().extend(&["c", "c"]), Err(ExtendError::Twice("c")));
    }
}
