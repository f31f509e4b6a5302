//! Lines of a crate: what is counted.

use crate::arrows::tokens::Product;

/// The number of lines, and of those that are neither blank nor a comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub all: usize,
    pub code: usize,
}

impl Lines {
    /// Those of a file without the items that only tests compile, wherever they are.
    pub(super) fn of_product(text: &str, product: &Product) -> Lines {
        let is_product = |it: &(usize, &str)| !product.test_lines.contains(&it.0);
        let product: Vec<&str> =
            (1..).zip(text.lines()).filter(is_product).map(|it| it.1.trim_start()).collect();
        let code = product.iter().filter(|it| !it.is_empty() && !it.starts_with("//")).count();
        Lines { all: product.len(), code }
    }

    pub(super) fn and(self, other: Lines) -> Lines {
        Lines { all: self.all + other.all, code: self.code + other.code }
    }
}

/// The files and folders of the modules that are declared in the file `path` for tests.
pub(super) fn test_modules(path: &str, product: &Product) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder,
        _ => path.trim_end_matches(".rs"),
    };
    product
        .test_modules
        .iter()
        .flat_map(|it| [format!("{folder}/{it}.rs"), format!("{folder}/{it}/")])
        .collect()
}

#[test]
fn only_what_tests_compile_is_not_counted() {
    use crate::arrows::tokens::{tokens, without_tests};
    let product = |text: &str| without_tests(&tokens(text));
    let lines = |text: &str| Lines::of_product(text, &product(text));
    let text = "\
//! A file.

#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = \"more.rs\"]
mod samples;

/// Counts.
fn count() -> &'static str {
    \"#[cfg(test)]\" // A text.
}

#[cfg(all(test, unix))]
fn check() {
    count();
}
fn last() {}

#[cfg(test)]
mod inside {
    use super::*;
}
struct After;
";
    assert_eq!(lines(text), Lines { all: 11, code: 5 });
    let quoted = "fn test() {\n    quote! {\n        #[cfg(test)]\n        fn a() {}\n    }\n}\n";
    assert_eq!(lines(quoted), Lines { all: 6, code: 6 });
    let found = test_modules("a/src/lib.rs", &product(text));
    assert_eq!(found[..4], ["a/src/tests.rs", "a/src/tests/", "a/src/samples.rs", "a/src/samples/"]);
    let found = test_modules("a/src/b/c.rs", &product("#[cfg(test)]\nmod d;"));
    assert_eq!(found, ["a/src/b/c/d.rs", "a/src/b/c/d/"]);
}
