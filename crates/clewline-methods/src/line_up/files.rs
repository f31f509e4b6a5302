//! How source places are written: as short as is unambiguous.

use clewline_threads::control::{Place, Site};

/// All source files, relative to their common folder.
pub(super) struct Files {
    folder: String,
}

impl Files {
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a str>) -> Files {
        Files { folder: common_folder(files.filter(|it| library(it).is_none())) }
    }

    pub(super) fn show(&self, place: Place) -> String {
        self.show_site(place.site())
    }

    /// The same for a place that is a text.
    pub(super) fn show_text(&self, place: &str) -> String {
        match split_place(place) {
            Some((file, line)) => self.show_site(Site { file: file.to_owned().into(), line, function: None }),
            None => place.to_owned(),
        }
    }

    fn show_site(&self, mut site: Site) -> String {
        match library(&site.file) {
            // That line is not in the source: a guard goes out of scope.
            Some("core/src/ptr/mod.rs") => return "when dropped".to_owned(),
            Some(file) => site.file = file.to_owned().into(),
            None => {
                let file = site.file.strip_prefix(&self.folder).unwrap_or(&site.file);
                site.file = file.to_owned().into();
            }
        }
        site.to_string()
    }

    /// Their common folder, if any.
    pub(super) fn legend(&self) -> Option<String> {
        (!self.folder.is_empty()).then(|| format!("Files are in {}", self.folder))
    }
}

/// File and line of `src/lib.rs:3:5`, or of `src/lib.rs:3`.
pub(super) fn split_place(place: &str) -> Option<(&str, u32)> {
    let (before, last) = place.rsplit_once(':')?;
    let last = last.parse().ok()?;
    let with_column = before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    Some(with_column.unwrap_or((before, last)))
}

/// A file of the standard library, without its folder on the machine that compiled it.
fn library(file: &str) -> Option<&str> {
    const FOLDER: &str = "/library/";
    let inside = &file[file.find(FOLDER)? + FOLDER.len()..];
    let is_standard = ["core/src/", "alloc/src/", "std/src/"].iter().any(|it| inside.starts_with(it));
    let is_compiled = file.starts_with("/rustc/") || file.contains("/rustlib/");
    (is_standard && is_compiled).then_some(inside)
}

/// The common folder of all files, with a slash at its end; empty if there is none.
fn common_folder<'a>(files: impl Iterator<Item = &'a str>) -> String {
    let folder = |it: &'a str| it.rfind('/').map_or("", |end| &it[..=end]);
    let common = |one: &'a str, other: &'a str| {
        let mut end = one.bytes().zip(other.bytes()).take_while(|it| it.0 == it.1).count();
        while !one.is_char_boundary(end) {
            end -= 1;
        }
        folder(&one[..end])
    };
    files.map(folder).reduce(common).unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_folder_is_shown_once() {
        assert_eq!(common_folder(["a/b/c.rs", "a/b/d.rs"].into_iter()), "a/b/");
        assert_eq!(common_folder(["a/b/c.rs", "a/bx/d.rs"].into_iter()), "a/");
        assert_eq!(common_folder(["c.rs", "a/bx/d.rs"].into_iter()), "");
        assert_eq!(common_folder(["/é/c.rs", "/è/d.rs"].into_iter()), "/");
    }

    #[test]
    fn files_of_the_standard_library_are_shown_without_their_folder() {
        assert_eq!(library("/rustc/59807616/library/core/src/ptr/mod.rs"), Some("core/src/ptr/mod.rs"));
        let installed = "/home/me/lib/rustlib/src/rust/library/std/src/sync/once.rs";
        assert_eq!(library(installed), Some("std/src/sync/once.rs"));
        assert_eq!(library("my/library/core/src/ptr/mod.rs"), None);
        assert_eq!(library("src/lib.rs"), None);
    }

    #[test]
    fn a_place_given_as_text_is_shown_as_any_other() {
        let files = Files { folder: "a/".to_owned() };
        assert_eq!(files.show_text("a/b.rs:3:5"), "b.rs:3");
        assert_eq!(files.show_text("a/b.rs:3"), "b.rs:3");
        assert_eq!(files.show_text("C:/b.rs:3:5"), "C:/b.rs:3");
        assert_eq!(files.show_text("somewhere"), "somewhere");
        assert_eq!(files.show_text("/rustc/59807616/library/core/src/cell.rs:3:5"), "core/src/cell.rs:3");
    }
}
