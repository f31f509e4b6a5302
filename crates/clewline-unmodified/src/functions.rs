//! The functions of a program: places in its code by their names, which another build has, too.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs,
    path::Path,
};

use clewline_remote::{show_address, show_in_function};

use super::elf;

/// The functions of a program. Of a name that several have, there is none.
#[derive(Debug, Default)]
pub struct Functions {
    /// By their addresses: how long they are.
    by_address: BTreeMap<usize, (usize, String)>,
    by_name: BTreeMap<String, Option<usize>>,
}

impl Functions {
    /// Those of an executable; none if it cannot be read.
    #[must_use]
    pub fn of(executable: &Path) -> Functions {
        Functions::in_bytes(&fs::read(executable).unwrap_or_default())
    }

    fn in_bytes(bytes: &[u8]) -> Functions {
        let mut found = Functions::default();
        for (name, code) in elf::functions_with_sizes(bytes) {
            match found.by_name.entry(name.to_owned()) {
                Entry::Vacant(it) => drop(it.insert(Some(code.start))),
                // A symbol may be listed twice.
                Entry::Occupied(mut it) if *it.get() != Some(code.start) => drop(it.insert(None)),
                Entry::Occupied(_) => (),
            }
            found.by_address.entry(code.start).or_insert((code.len(), name.to_owned()));
        }
        found
    }

    /// Where the function of this name begins.
    #[must_use]
    pub fn begin(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied().flatten()
    }

    /// The code before `address`, at the end of a call: `push+0x1f`, or a number if it is in no
    /// function, or in one that is not known by its name.
    #[must_use]
    pub fn show(&self, address: usize) -> String {
        let is_in = |(start, (size, name)): (usize, &(usize, String))| {
            address - start <= *size && self.begin(name) == Some(start)
        };
        let last = self.by_address.range(..address).next_back().map(|it| (*it.0, it.1));
        last.filter(|it| is_in(*it)).map_or_else(
            || show_address(address),
            |(start, (_, name))| show_in_function(name, address - start),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_shown_by_its_function() {
        let by_address = [(16, (8, "push")), (24, (4, "pop")), (40, (4, "twice")), (48, (4, "twice"))];
        let by_name = [("push", Some(16)), ("pop", Some(24)), ("twice", None)];
        let functions = Functions {
            by_address: by_address.map(|it| (it.0, (it.1.0, it.1.1.to_owned()))).into(),
            by_name: by_name.map(|it| (it.0.to_owned(), it.1)).into(),
        };
        // A call may be the last instruction of a function.
        for (address, shown) in
            [(16, "10"), (17, "push+0x1"), (24, "push+0x8"), (28, "pop+0x4"), (29, "1d"), (44, "2c")]
        {
            assert_eq!(functions.show(address), shown);
        }
        assert_eq!((functions.begin("pop"), functions.begin("twice")), (Some(24), None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn functions_of_this_program_are_found() {
        let functions = Functions::of(Path::new("/proc/self/exe"));
        let start = functions.begin("main").unwrap();
        assert_eq!(functions.show(start + 3), "main+0x3");
        assert!(functions.by_name.values().any(Option::is_some));
    }
}
