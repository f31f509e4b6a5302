//! Executables: the addresses of their functions, and their sections.

use std::{collections::BTreeMap, ops::Range};

const SYMBOLS: u32 = 2;
const FUNCTION: u8 = 2;

/// A section.
#[derive(Clone, Copy, Debug)]
struct Section {
    name: u32,
    kind: u32,
    offset: usize,
    size: usize,
    link: usize,
}

fn word(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let mut word = [0; 8];
    word[..size].copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    Some(u64::from_le_bytes(word))
}

fn place(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(word(bytes, at, 8)?).ok()
}

/// The sections of a file for 64 bits, little-endian. `None` if it is no such file.
fn sections(bytes: &[u8]) -> Option<Vec<Section>> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (start, size) = (place(bytes, 0x28)?, word(bytes, 0x3a, 2)? as usize);
    let count = word(bytes, 0x3c, 2)? as usize;
    let of = |number: usize| {
        let at = start.checked_add(number.checked_mul(size)?)?;
        Some(Section {
            name: word(bytes, at, 4)? as u32,
            kind: word(bytes, at + 4, 4)? as u32,
            offset: place(bytes, at + 0x18)?,
            size: place(bytes, at + 0x20)?,
            link: word(bytes, at + 0x28, 4)? as usize,
        })
    };
    (0..count).map(of).collect()
}

fn contents<'a>(bytes: &'a [u8], section: &Section) -> Option<&'a [u8]> {
    bytes.get(section.offset..section.offset.checked_add(section.size)?)
}

fn text(bytes: &[u8], at: usize) -> Option<&str> {
    let text = bytes.get(at..)?;
    std::str::from_utf8(text.split(|it| *it == 0).next()?).ok()
}

/// The contents of the section called `name`.
pub(super) fn section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let all = sections(bytes)?;
    let names = contents(bytes, all.get(word(bytes, 0x3e, 2)? as usize)?)?;
    let found = all.iter().find(|it| text(names, it.name as usize) == Some(name))?;
    contents(bytes, found)
}

/// A hash of the code and the data of a program. Debug information is left out: it names folders.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    // FNV-1a, 64 bits.
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let parts = [".text", ".rodata", ".data", ".data.rel.ro"];
    let known = parts.iter().filter_map(|it| section(bytes, it));
    known.flat_map(|it| it.iter()).fold(0xcbf2_9ce4_8422_2325, hash)
}

/// The addresses of all functions by their symbols. Functions of several files may have one name.
pub(super) fn functions(bytes: &[u8]) -> BTreeMap<&str, Vec<usize>> {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (name, code) in functions_with_sizes(bytes) {
        found.entry(name).or_default().push(code.start);
    }
    found
}

/// All functions, and where their code is.
pub(super) fn functions_with_sizes(bytes: &[u8]) -> Vec<(&str, Range<usize>)> {
    let mut found = Vec::new();
    let all = sections(bytes).unwrap_or_default();
    for table in all.iter().filter(|it| it.kind == SYMBOLS) {
        let names = all.get(table.link).and_then(|it| contents(bytes, it)).unwrap_or_default();
        for symbol in contents(bytes, table).unwrap_or_default().chunks_exact(24) {
            let name = word(symbol, 0, 4).and_then(|it| text(names, it as usize));
            // In an object file, the first has the address 0.
            let is_defined = symbol[6..8] != [0, 0];
            let is_function = symbol[4] & 0xf == FUNCTION && is_defined;
            let code = || place(symbol, 8).zip(place(symbol, 16)).filter(|_| is_function);
            if let (Some(name), Some((start, size))) = (name, code()) {
                found.push((name, start..start.saturating_add(size)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn functions_and_sections_of_this_program_are_found() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        assert!(functions(&bytes).contains_key("main"));
        assert!(section(&bytes, ".text").is_some_and(|it| !it.is_empty()));
        assert!(section(&bytes, ".clewline.none").is_none());
        // Another byte of code is another program.
        let at = section(&bytes, ".text").unwrap().as_ptr() as usize - bytes.as_ptr() as usize;
        let mut other = bytes.clone();
        other[at] ^= 1;
        assert_ne!(fingerprint(&other), fingerprint(&bytes));
        assert_eq!(fingerprint(&bytes.clone()), fingerprint(&bytes));
    }

    #[test]
    fn damaged_files_have_no_functions() {
        let header = b"\x7fELF\x02\x01".to_vec();
        for bytes in [Vec::new(), header.clone(), [header, vec![0xff; 200]].concat()] {
            assert!(functions(&bytes).is_empty() && section(&bytes, ".text").is_none());
        }
    }
}
