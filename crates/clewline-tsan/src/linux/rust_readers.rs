//! Functions of Rust's standard library, which is not instrumented, that read what they are given.

use std::collections::BTreeMap;

use backtrace::SymbolName;

use super::{
    inputs,
    modules::{self, Import},
    rust_std::{FUNCTION, symbols},
};

/// The functions of which it is known what they read, and where the program has their addresses.
pub(super) fn find() -> Vec<Import> {
    // To find names takes a while: parts of those that are in the tables of `inputs`.
    const PARTS: [&str; 7] = ["clone", "fmt", "from_utf8", "case", "count", "memchr", "memrchr"];
    let Ok(file) = std::fs::read("/proc/self/exe") else { return Vec::new() };
    let base = modules::program_base();
    let mut found = BTreeMap::new();
    for symbol in symbols(&file).into_iter().flatten() {
        let is_candidate = symbol.kind == FUNCTION && symbol.address != 0;
        if is_candidate && PARTS.iter().any(|it| symbol.name.contains(it)) {
            let name = format!("{:#}", SymbolName::new(symbol.name.as_bytes()));
            if !inputs::of(&name).is_empty() {
                found.insert(base + symbol.address, name);
            }
        }
    }
    modules::pointers_to(&found)
}
