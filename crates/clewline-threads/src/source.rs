//! Source files as reports name them: the same on every machine, and never absolute.

use std::{
    borrow::Cow,
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// A source file as a report names it:
///
/// * `flume-0.10.14/src/lib.rs` for a crate of a registry, and `flume/src/lib.rs` for one of git,
/// * `std/src/sync/once.rs` for the standard library, and `c++/12/mutex` for a system header,
/// * the path relative to the current folder, or to the project around it, for other files.
///
/// What is in none of these folders is named by its last components: `…/tests/queue.c`.
#[must_use]
pub fn source_path(file: &str) -> Cow<'_, str> {
    static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    named_within(file, FOLDERS.get_or_init(own_folders))
}

/// A place as a report names it: `src/lib.rs:3` of `/home/me/project/src/lib.rs:3:5`.
#[must_use]
pub fn source_place(place: &str) -> String {
    match split_place(place) {
        Some((file, line)) => format!("{}:{line}", source_path(file)),
        None => place.to_owned(),
    }
}

/// File and line of `src/lib.rs:3:5`, or of `src/lib.rs:3`.
fn split_place(place: &str) -> Option<(&str, u32)> {
    let (before, last) = place.rsplit_once(':')?;
    let last = last.parse().ok()?;
    let with_column = before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    Some(with_column.unwrap_or((before, last)))
}

/// Whether the file is part of the standard library of Rust or C++, or a header of the system.
#[must_use]
pub fn is_standard(file: &str) -> bool {
    standard(file).is_some()
}

/// The current folder, and the project around it.
fn own_folders() -> Vec<PathBuf> {
    let Ok(here) = env::current_dir() else { return Vec::new() };
    let is_project = |it: &&Path| [".git", "Cargo.lock"].iter().any(|name| it.join(name).exists());
    let project = here.ancestors().find(is_project).map(Path::to_owned);
    [Some(here), project].into_iter().flatten().collect()
}

fn named_within<'a>(file: &'a str, folders: &[PathBuf]) -> Cow<'a, str> {
    if let Some(found) = standard(file).or_else(|| of_registry(file)) {
        return found.into();
    }
    if let Some(found) = of_git(file) {
        return found.into();
    }
    let path = Path::new(file);
    if !path.is_absolute() {
        return file.strip_prefix("./").unwrap_or(file).into();
    }
    let within = folders.iter().find_map(|it| path.strip_prefix(it).ok()?.to_str());
    within.map_or_else(|| last_components(file).into(), Cow::from)
}

/// A file of a standard library, without its folder on the machine that compiled it.
fn standard(file: &str) -> Option<&str> {
    let after = |folder: &str| Some(&file[file.find(folder)? + folder.len()..]);
    let is_compiled = file.starts_with("/rustc/") || file.contains("/rustlib/");
    if let Some(inside) = after("/library/").filter(|_| is_compiled) {
        return Some(inside);
    }
    // Crates that the standard library is built from.
    if let Some(inside) = file.strip_prefix("/rust/deps/") {
        return Some(inside);
    }
    let cpp = after("/include/").filter(|it| it.starts_with("c++/"));
    let system = file.starts_with("/usr/").then(|| after("/include/")).flatten();
    cpp.or(system)
}

/// A file of a crate of a registry: the folder of the index comes before that of the crate.
fn of_registry(file: &str) -> Option<&str> {
    const FOLDER: &str = "/registry/src/";
    let index = &file[file.find(FOLDER)? + FOLDER.len()..];
    index.split_once('/').map(|it| it.1)
}

/// A file of a crate of git: its folder has a hash at its end, and then that of the revision.
fn of_git(file: &str) -> Option<String> {
    const FOLDER: &str = "/git/checkouts/";
    let inside = &file[file.find(FOLDER)? + FOLDER.len()..];
    let (name, rest) = inside.split_once('/')?;
    let name = name.rsplit_once('-').map_or(name, |it| it.0);
    rest.split_once('/').map(|(_revision, file)| format!("{name}/{file}"))
}

/// The file and its folder. The folders around it differ between machines.
fn last_components(file: &str) -> String {
    let end: Vec<&str> = file.rsplit('/').filter(|it| !it.is_empty()).take(2).collect();
    match end[..] {
        [file, folder] => format!("…/{folder}/{file}"),
        _ => file.trim_start_matches('/').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(file: &str) -> String {
        let folders = ["/home/me/bank/tests", "/home/me/bank"].map(PathBuf::from);
        named_within(file, &folders).into_owned()
    }

    #[test]
    fn files_of_other_crates_begin_with_the_crate() {
        let registry = "/home/me/.cargo/registry/src/index-1949cf8c6b5b557f/flume-0.10.14/src/async.rs";
        assert_eq!(named(registry), "flume-0.10.14/src/async.rs");
        let git = "/home/me/.cargo/git/checkouts/my-queue-0123abcd/89ef/core/src/lib.rs";
        assert_eq!(named(git), "my-queue/core/src/lib.rs");
    }

    #[test]
    fn files_of_standard_libraries_begin_with_the_library() {
        assert_eq!(named("/rustc/59807616/library/core/src/ptr/mod.rs"), "core/src/ptr/mod.rs");
        let installed = "/home/me/lib/rustlib/src/rust/library/std/src/sync/once.rs";
        assert_eq!(named(installed), "std/src/sync/once.rs");
        assert_eq!(named("/rust/deps/hashbrown-0.15.2/src/raw.rs"), "hashbrown-0.15.2/src/raw.rs");
        assert_eq!(named("/usr/include/c++/12/bits/std_mutex.h"), "c++/12/bits/std_mutex.h");
        assert_eq!(named("/usr/lib/gcc/x86_64-linux-gnu/12/include/stdatomic.h"), "stdatomic.h");
        assert!(is_standard("/usr/include/c++/12/mutex") && !is_standard("/home/me/bank/include/mutex.h"));
        assert!(!is_standard("my/library/core/src/ptr/mod.rs"));
    }

    #[test]
    fn own_files_are_relative_to_the_folder_or_to_the_project() {
        for (file, expected) in [
            ("src/lib.rs", "src/lib.rs"),
            ("./src/lib.rs", "src/lib.rs"),
            ("/home/me/bank/tests/two.c", "two.c"),
            ("/home/me/bank/src/lib.rs", "src/lib.rs"),
            ("/tmp/clewline-12-0/first.c", "…/clewline-12-0/first.c"),
            ("/lib.rs", "lib.rs"),
            ("my/library/core/src/ptr/mod.rs", "my/library/core/src/ptr/mod.rs"),
        ] {
            assert_eq!(named(file), expected);
        }
    }

    #[test]
    fn no_path_is_absolute() {
        for file in
            ["/", "//", "/a", "/a/b", "/a/b/c/d.rs", "/registry/src/x", "/git/checkouts/x", "/usr/include/"]
        {
            assert!(!named(file).starts_with('/'), "{file}: {}", named(file));
        }
    }

    #[test]
    fn a_place_is_a_file_and_a_line() {
        assert_eq!(source_place("a/b.rs:3:5"), "a/b.rs:3");
        assert_eq!(source_place("a/b.rs:3"), "a/b.rs:3");
        assert_eq!(source_place("somewhere"), "somewhere");
        assert_eq!(source_place("/rustc/59807616/library/core/src/cell.rs:3:5"), "core/src/cell.rs:3");
    }
}
