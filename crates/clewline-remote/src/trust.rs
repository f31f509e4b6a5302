//! Code that need not be seen: the user vouches for it.

/// Names of functions, modules, files and libraries that are trusted.
///
/// A name stands for a function (`ck_pr_load_64`, `std::_Rb_tree_increment`), for everything in a
/// module or a namespace (`portable_atomic`), or for a file: a library, an object file, a source
/// file or a program, with or without its folders and what follows the first dot (`libz`,
/// `libz.so.1`, `/usr/lib/libz.so.1`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust(pub Vec<String>);

impl Trust {
    /// Whether a function is trusted: by its name, or by the name of a module that contains it.
    #[must_use]
    pub fn covers_function(&self, function: &str) -> bool {
        // Parameters of a C++ function are not part of its name.
        let function = function.split('(').next().unwrap_or_default();
        // `<module::Type as Trait>::function` of Rust.
        let function = function.trim_start_matches(['<', '&']);
        self.0.iter().any(|it| {
            let rest = function.strip_prefix(it.as_str());
            rest.is_some_and(|it| it.is_empty() || it.starts_with("::"))
        })
    }

    /// Whether a file is trusted.
    #[must_use]
    pub fn covers_file(&self, path: &str) -> bool {
        let name = |it: &'_ str| it.rsplit('/').next().unwrap_or_default().to_owned();
        let file = name(path);
        let stem = file.split('.').next().unwrap_or_default();
        // A library may have a version in its name: `libglib-2.0.so.0`.
        let library = file.split_once(".so").map_or(stem, |it| it.0);
        self.0.iter().any(|it| {
            let wanted = name(it);
            let is_there = !it.contains('/') || path.ends_with(it.trim_start_matches("./"));
            is_there && [file.as_str(), stem, library].contains(&&*wanted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_modules_and_files_are_trusted() {
        let of = |name: &str| Trust(vec![name.to_owned()]);
        for (name, function, covers) in [
            ("push", "push", true),
            ("push", "push_back", false),
            ("std", "std::_Rb_tree_increment(std::_Rb_tree_node_base*)", true),
            ("std::_Rb_tree_increment", "std::_Rb_tree_increment(std::_Rb_tree_node_base*)", true),
            ("st", "std::move", false),
            ("", "push", false),
            ("ring", "<ring::Ring as core::ops::Drop>::drop", true),
            ("core", "<ring::Ring as core::ops::Drop>::drop", false),
        ] {
            assert_eq!(of(name).covers_function(function), covers, "{name} {function}");
        }
        for (name, file, covers) in [
            ("libz", "/usr/lib/libz.so.1", true),
            ("libz.so.1", "/usr/lib/libz.so.1", true),
            ("/usr/lib/libz.so.1", "/usr/lib/libz.so.1", true),
            ("libglib-2.0", "/usr/lib/libglib-2.0.so.0", true),
            ("libglib", "/usr/lib/libglib-2.0.so.0", false),
            ("./prog", "/home/me/prog", true),
            ("/opt/libz.so.1", "/usr/lib/libz.so.1", false),
            ("lib", "/usr/lib/libz.so.1", false),
            ("ck_pr.h", "include/ck_pr.h", true),
        ] {
            assert_eq!(of(name).covers_file(file), covers, "{name} {file}");
        }
    }
}
