//! How source places are written: as short as is unambiguous.

use clewline_threads::{control::Place, source_path, source_place};

/// All source files of an interleaving, relative to their common folder.
pub(super) struct Files {
    folder: String,
}

impl Files {
    /// Of places as reports name them.
    pub(super) fn of<'a>(places: impl Iterator<Item = &'a str>) -> Files {
        Files { folder: common_folder(places) }
    }

    /// The place, below the common folder.
    pub(super) fn show(&self, place: Place) -> String {
        // That line is not in the source: a guard goes out of scope.
        if source_path(&place.site().file) == "core/src/ptr/mod.rs" {
            return "when dropped".to_owned();
        }
        self.show_text(&place.to_string())
    }

    /// The same for a place that is a text.
    pub(super) fn show_text(&self, place: &str) -> String {
        let place = source_place(place);
        place.strip_prefix(&self.folder).map_or(place.clone(), str::to_owned)
    }

    /// Their common folder, if any.
    pub(super) fn legend(&self) -> Option<String> {
        (!self.folder.is_empty()).then(|| format!("Files are in {}", self.folder))
    }
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
    fn a_place_given_as_text_is_shown_as_any_other() {
        let files = Files { folder: "a/".to_owned() };
        assert_eq!(files.show_text("a/b.rs:3:5"), "b.rs:3");
        assert_eq!(files.show_text("a/b.rs:3"), "b.rs:3");
        assert_eq!(files.show_text("somewhere"), "somewhere");
        assert_eq!(files.show_text("/rustc/59807616/library/core/src/cell.rs:3:5"), "core/src/cell.rs:3");
    }
}
