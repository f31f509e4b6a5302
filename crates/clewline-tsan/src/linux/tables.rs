//! Tables of virtual functions: how code calls the functions of objects of the C++ library.
//!
//! Such a table is two words, followed by the addresses of its functions: the offset of the object
//! in the whole one, and the description of its class, which is itself an object of one of three
//! classes. So tables are recognized without symbols, which those of hidden classes lack.

use std::{ffi::CStr, ops::Range, slice};

use super::modules::{self, Import, Module};

/// The classes that describe classes: without bases, with one, and with others.
const DESCRIPTIONS: [&CStr; 3] = [
    c"_ZTVN10__cxxabiv117__class_type_infoE",
    c"_ZTVN10__cxxabiv120__si_class_type_infoE",
    c"_ZTVN10__cxxabiv121__vmi_class_type_infoE",
];
const WORD_BYTES: usize = size_of::<usize>();
const OFFSET_MAX: usize = 1 << 20;

/// The virtual functions of the C++ standard library, wherever a table of it or a copy of such a
/// table has them.
pub(super) fn virtual_functions() -> Vec<Import> {
    // SAFETY: the names are C strings.
    let tables = DESCRIPTIONS.map(|it| unsafe { libc::dlsym(libc::RTLD_DEFAULT, it.as_ptr()) } as usize);
    // The functions follow two words, and an object points to them.
    let descriptions: Vec<usize> =
        tables.into_iter().filter(|it| *it != 0).map(|it| it + 2 * WORD_BYTES).collect();
    if descriptions.is_empty() {
        return Vec::new();
    }
    let modules = modules::all();
    let search = Search { modules: &modules, descriptions };
    let (standard, others): (Vec<&Module>, Vec<&Module>) = modules.iter().partition(|it| it.is_standard());
    let tables = standard.iter().filter_map(|it| it.constant.clone());
    // The linker has moved some tables into the program.
    let copies = others.iter().filter(|it| it.is_restored()).flat_map(|it| it.copied_objects());
    tables.chain(copies).flat_map(|it| search.within(&it)).collect()
}

struct Search<'a> {
    modules: &'a [Module],
    descriptions: Vec<usize>,
}

impl Search<'_> {
    fn within(&self, range: &Range<usize>) -> Vec<Import> {
        let start = range.start.next_multiple_of(WORD_BYTES);
        let count = range.end.saturating_sub(start) / WORD_BYTES;
        // SAFETY: it is constant data of a loaded module, or an object that was copied there, and
        // nothing runs that changes it.
        let words = unsafe { slice::from_raw_parts(start as *const usize, count) };
        let mut found = Vec::new();
        let mut class = None;
        for (at, word) in words.iter().enumerate().skip(1) {
            let address = start + at * WORD_BYTES;
            if let Some((name, module)) = class.as_ref().zip(self.module_of(*word)) {
                // Some functions of a copy are those of the program.
                found.extend(module.is_standard().then(|| Import {
                    name: String::clone(name),
                    is_virtual: true,
                    library: module.name.rsplit('/').next().unwrap_or_default().to_owned(),
                    target: *word,
                    slot: address,
                }));
                continue;
            }
            // The tables of descriptions themselves are used by the library alone.
            let is_start = words[at - 1].wrapping_neg() < OFFSET_MAX
                && !self.descriptions.contains(&(address + WORD_BYTES));
            class = is_start.then(|| self.class_of(*word)).flatten();
        }
        found
    }

    /// The symbol of the class whose description is at this address, if there is one.
    fn class_of(&self, address: usize) -> Option<String> {
        let is_in = |it: &Module| {
            it.constant
                .iter()
                .chain(&it.data)
                .any(|it| it.start <= address && address.saturating_add(2 * WORD_BYTES) <= it.end)
        };
        if !address.is_multiple_of(WORD_BYTES) || !self.modules.iter().any(is_in) {
            return None;
        }
        // SAFETY: it is data of a loaded module. If it is a description, its second word is the
        // address of a C string.
        unsafe {
            let [table, name] = *(address as *const [usize; 2]);
            let is_description = self.descriptions.contains(&table);
            let name = is_description.then(|| CStr::from_ptr(name as *const _).to_string_lossy())?;
            // A star is before names that are not unique.
            Some(name.trim_start_matches('*').to_owned())
        }
    }

    /// The module that has this code.
    fn module_of(&self, address: usize) -> Option<&Module> {
        self.modules.iter().find(|it| it.text.iter().any(|it| it.contains(&address)))
    }
}
