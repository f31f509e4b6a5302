//! Code in C and other languages that build scripts of Rust crates compile: it is not instrumented.
//!
//! A build script names its static libraries to Cargo, which repeats them in its messages. Each
//! function of such a library is a blind spot; it counts if it runs.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value as Json;

use super::{
    assembly::{UnseenCause, UnseenInstruction, readable},
    blind_spots::is_instrumented,
    elf,
};

/// The functions of the static libraries that build scripts have named in the messages of `cargo`.
pub(super) fn functions(messages: &str) -> BTreeSet<UnseenInstruction> {
    let mut found = BTreeSet::new();
    for library in messages.lines().flat_map(libraries) {
        // What is not a static library is linked at run time.
        let Ok(bytes) = fs::read(&library) else { continue };
        if is_instrumented(&bytes) {
            continue;
        }
        let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for symbol in members(&bytes).flat_map(|it| elf::functions(it).into_keys()) {
            found.insert(UnseenInstruction {
                place: None,
                function: Some(readable(symbol)),
                instruction: name.clone(),
                cause: UnseenCause::Library,
                symbol: symbol.to_owned(),
            });
        }
    }
    found
}

/// Where the libraries may be that a message names: `"linked_libs":["static=z"]`.
fn libraries(message: &str) -> Vec<PathBuf> {
    let message: Json = serde_json::from_str(message).unwrap_or_default();
    let all = |key: &str| {
        let all = message[key].as_array().into_iter().flatten().filter_map(Json::as_str);
        all.map(|it| it.split_once('=').unwrap_or(("", it))).map(|it| (it.0.to_owned(), it.1.to_owned()))
    };
    if message["reason"] != "build-script-executed" {
        return Vec::new();
    }
    let names = all("linked_libs").filter(|it| it.0.is_empty() || it.0.starts_with("static"));
    // `it:renamed` has another name in the crate.
    let files = names.map(|it| format!("lib{}.a", it.1.split(':').next().unwrap_or_default()));
    let files: Vec<String> = files.collect();
    let folders = all("linked_paths").filter(|it| ["", "native", "all"].contains(&&*it.0));
    folders.flat_map(|it| files.iter().map(move |file| PathBuf::from(&it.1).join(file))).collect()
}

/// The files in an archive.
fn members(archive: &[u8]) -> impl Iterator<Item = &[u8]> {
    const HEADER_BYTES: usize = 60;
    let mut rest = archive.strip_prefix(b"!<arch>\n").unwrap_or_default();
    std::iter::from_fn(move || {
        let (header, after) = rest.split_at_checked(HEADER_BYTES)?;
        let size: usize = std::str::from_utf8(&header[48..58]).ok()?.trim().parse().ok()?;
        let member = after.get(..size)?;
        rest = after.get(size.next_multiple_of(2)..).unwrap_or_default();
        Some(member)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_that_build_scripts_name() {
        let message = concat!(
            r#"{"reason":"build-script-executed","linked_libs":["static=z","dylib=m","c:d"],"#,
            r#""linked_paths":["native=/o","/p"]}"#
        );
        let expected = ["/o/libz.a", "/o/libc.a", "/p/libz.a", "/p/libc.a"].map(PathBuf::from);
        assert_eq!(libraries(message), expected);
        assert_eq!(
            libraries(&message.replace("build-script-executed", "compiler-artifact")),
            [""; 0].map(PathBuf::from)
        );
        assert_eq!(libraries("not JSON"), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn members_of_an_archive_are_read() {
        let member = |text: &str| format!("{:<48}{:<10}`\n{text}", "it.o/", text.len());
        let archive = format!("!<arch>\n{}\n{}", member("odd"), member("even"));
        assert_eq!(members(archive.as_bytes()).collect::<Vec<_>>(), [&b"odd"[..], b"even"]);
        for damaged in ["", "!<arch>\n", "!<arch>\nshort", &archive[..archive.len() - 1], "\x7fELF"] {
            assert!(members(damaged.as_bytes()).count() < 2, "{damaged}");
        }
    }
}
