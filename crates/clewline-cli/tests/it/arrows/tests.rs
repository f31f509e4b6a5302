//! What the reader of imports and the finder of cycles do with small trees.

use super::{
    rules::{Layers, SharedName, ambiguous_names, cycles, detours, read_layers, upward},
    tree::Tree,
};

fn tree(files: &[(&str, &str)]) -> Tree {
    let files: Vec<_> = files.iter().map(|it| (format!("src/{}", it.0), it.1.to_owned())).collect();
    Tree::new("src", &files)
}

/// The arrows, as `from -> to`.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let mut arrows: Vec<String> =
        tree(files).arrows().iter().map(|it| format!("{} -> {}", it.from, it.to)).collect();
    arrows.dedup();
    arrows
}

#[test]
fn imports_are_read_in_every_form() {
    let lib = ("lib.rs", "mod a; mod b; mod c; mod d; mod e;");
    let used = [
        ("b.rs", "pub struct B; pub fn b() {}"),
        ("c.rs", "pub(crate) const C: u32 = 1;"),
        ("d/mod.rs", "mod inner; pub use inner::{Inner as Outer, other::*};"),
        ("d/inner.rs", "pub struct Inner; pub(super) mod other { pub enum Glob { A } }"),
        ("e.rs", "pub trait E {}"),
    ];
    let expect = |text: &str, expected: &[&str]| {
        let files: Vec<_> = [lib, ("a.rs", text)].into_iter().chain(used).collect();
        let found = arrows(&files);
        let found: Vec<&str> = found.iter().filter_map(|it| it.strip_prefix("a -> ")).collect();
        assert_eq!(found, expected, "{text}");
    };
    expect("use crate::b::B;", &["b"]);
    expect("use crate::{\n    b::{self, B as Renamed},\n    c::C,\n};", &["b", "c"]);
    expect("use super::c;\nfn a() -> u32 { c::C }", &["c"]);
    // An import of a module alone uses nothing that is in it.
    expect("use super::c;", &[]);
    expect("fn a() { crate::b::b(); super::c::C; }", &["b", "c"]);
    expect("fn a<T: crate::e::E>(it: Option<<T as super::e::E>::X>) {}", &["e"]);
    // Names are followed through re-exports to their definitions.
    expect("pub(crate) use crate::d::Outer; fn a(_: Outer) {}", &["d::inner"]);
    expect("use crate::d::Glob;", &["d::inner"]);
    expect("pub use crate::b::B;", &[]);
    expect("use std::fmt; use clewline_core::b::B; impl fmt::Debug for X {}", &[]);
    // Text that is not code, and code for tests, is skipped.
    expect("//! [`B`](crate::b::B)\n/// use crate::b::B;\n/* use crate::c::C; */", &[]);
    expect("const A: &str = \"use crate::b::B;\"; const B: &str = r#\"\"use crate::c::C;\"#;", &[]);
    expect("#[cfg(test)]\nmod tests { use crate::b::B; }\nuse crate::c::C;", &["c"]);
    expect("#[cfg(test)]\nuse crate::b::{B, b};\n#[cfg(test)]\nmod tests;\nuse crate::c::C;", &["c"]);
    expect("fn a(it: &'static u32) -> char { 'u' }\nuse crate::c::C;", &["c"]);
}

#[test]
fn files_of_tests_are_no_part_of_the_tree() {
    let files = [
        ("lib.rs", "mod a; #[cfg(test)] mod samples; #[cfg(test)] mod tests;"),
        ("a.rs", "pub struct A; #[cfg(test)] mod tests;"),
        ("a/tests.rs", "use super::A;"),
        ("samples.rs", "use crate::a::A;"),
        ("tests.rs", "use crate::a::A;"),
        ("main.rs", "use crate::a::A;"),
    ];
    assert_eq!(arrows(&files), Vec::<String>::new());
}

#[test]
fn a_table_uses_its_entries() {
    let list = "table![round, square];";
    let with = |text: &str| format!("{list}\n{text}");
    let (inside, apart) = (with("pub trait Shape {}"), with("mod shape; pub use shape::Shape;"));
    let cycle = [("lib.rs", inside.as_str()), ("round.rs", "use crate::Shape;"), ("square.rs", "")];
    assert_eq!(cycles(&tree(&cycle)).len(), 1);
    let written = "mod round; pub trait Shape {} static ALL: &[&dyn Shape] = &[round::ENTRY];";
    let cycle = [("lib.rs", written), ("round.rs", "use crate::Shape;")];
    assert_eq!(cycles(&tree(&cycle)).len(), 1);
    let none = [
        ("lib.rs", apart.as_str()),
        ("round.rs", "use crate::shape::Shape;"),
        ("shape.rs", "pub trait Shape {}"),
        ("square.rs", ""),
    ];
    assert_eq!(cycles(&tree(&none)), Vec::<String>::new());
}

#[test]
fn paths_in_macros_are_seen() {
    let lib = ("lib.rs", "mod a; mod b; mod c;");
    let (b, c) = (("b.rs", "pub struct B; pub fn b() {}"), ("c.rs", "pub struct C;"));
    let expect = |text: &str, expected: &[&str]| {
        assert_eq!(arrows(&[lib, ("a.rs", text), b, c]), expected, "{text}");
    };
    // What an item is made of.
    expect("thread_local! { static A: Option<crate::b::B> = const { None }; }", &["a -> b"]);
    expect("items! { use crate::{b::B, c::C}; fn a(_: B) {} }", &["a -> b", "a -> c"]);
    expect("fn a() { assert!(super::b::b() == $x); }", &["a -> b"]);
    // What a definition names from the root, wherever it is called.
    expect("macro_rules! m { ($x:ident) => { $crate::b::b($x) }; }", &["a -> b"]);
    expect("macro_rules! m { () => { use $crate::{b::B as X, c::*}; }; }", &["a -> b", "a -> c"]);
    expect("macro_rules! m { ($x:ident) => { crate::c::C::$x() }; }", &["a -> c"]);
    expect("macro_rules! m { ($x:ident) => { $x::b::B; super::b::b(); b::B }; }", &[]);
}

#[test]
fn an_exported_macro_is_where_it_is_written() {
    let macros = "#[macro_export]\nmacro_rules! list { ($($a:ident),*) => { $($a::ENTRY),* }; }";
    let files =
        [("lib.rs", "mod a; mod b; use b::B;"), ("a.rs", macros), ("b.rs", "use crate::list; struct B;")];
    assert_eq!(arrows(&files), [" -> b", "b -> a"]);
}

#[test]
fn cycles_of_two_and_of_three_files_are_found() {
    let chain = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "use crate::c::C;\npub struct B;"),
        ("c.rs", "pub struct C;"),
    ];
    assert_eq!(cycles(&tree(&chain)), Vec::<String>::new());

    let mut two = chain;
    two[2].1 = "\nuse crate::a::A;\npub struct B;";
    let found = cycles(&tree(&two)).join("\n");
    assert!(found.contains("src/a.rs:1: a -> b: crate::b::B"), "{found}");
    assert!(found.contains("src/b.rs:2: b -> a: crate::a::A"), "{found}");

    let mut three = chain;
    three[3].1 = "pub struct C;\nfn c() { super::a::A; }";
    let found = cycles(&tree(&three));
    assert_eq!(found.len(), 1, "the same cycle is not reported twice: {found:?}");
    for arrow in ["a.rs:1: a -> b", "b.rs:1: b -> c", "c.rs:2: c -> a: super::a::A"] {
        assert!(found[0].contains(arrow), "{arrow}: {}", found[0]);
    }
}

#[test]
fn a_cycle_of_folders_need_not_be_one_of_files() {
    let files = [
        ("lib.rs", "mod left; mod right;"),
        ("left/mod.rs", "pub mod low; pub mod high;"),
        ("left/low.rs", "pub struct Low;"),
        ("left/high.rs", "use crate::right::Right;"),
        ("right.rs", "use crate::left::low::Low;\npub struct Right;"),
    ];
    let found = cycles(&tree(&files));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("a cycle of rooms"), "{}", found[0]);
    assert!(found[0].contains("src/left/high.rs:1: left::high -> right"), "{}", found[0]);
}

#[test]
fn a_file_and_its_folder_may_form_a_cycle() {
    let parent = "mod child;\nuse child::Child;\npub struct Parent(Child);";
    let files = [("lib.rs", "mod a;"), ("a.rs", parent), ("a/child.rs", "pub struct Child;")];
    assert_eq!(cycles(&tree(&files)), Vec::<String>::new());
    let mut both = files;
    both[2].1 = "use super::Parent;\npub struct Child;";
    assert_eq!(cycles(&tree(&both)).len(), 1);
    // More of what the folder's file defines, which does not need it.
    let more =
        [("lib.rs", "mod a;"), ("a.rs", "mod more;\npub struct A;"), ("a/more.rs", "impl super::A {}")];
    assert_eq!(arrows(&more), ["a::more -> a"]);
    assert_eq!(cycles(&tree(&more)), Vec::<String>::new());
}

#[test]
fn arrows_upward_and_modules_without_a_layer_are_found() {
    let page =
        "# A\n\n## Layers\n\nText.\n\n```\none:\n  high\n  low also\none/low/deep:\n  x\n```\n\n## B\n";
    let layers = read_layers(page);
    let named = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let expected = vec![named(&["high"]), named(&["low", "also"])];
    assert_eq!(layers[0], Layers { krate: "one".into(), folder: String::new(), layers: expected });
    assert_eq!(
        layers[1],
        Layers { krate: "one".into(), folder: "low::deep".into(), layers: vec![named(&["x"])] }
    );

    let mut files = vec![
        ("lib.rs", "mod high; mod low; mod also;"),
        ("high.rs", "use crate::low::Low;\npub struct High;"),
        ("low/mod.rs", "mod inner;\npub struct Low;"),
        ("low/inner.rs", "use crate::also::Also;"),
        ("also.rs", "pub struct Also;"),
    ];
    assert_eq!(upward(&tree(&files), &layers[0]), Vec::<String>::new());
    files[3].1 = "use crate::high::High;";
    let found = upward(&tree(&files), &layers[0]).join("\n");
    assert!(found.contains("an arrow upward"), "{found}");
    assert!(found.contains("src/low/inner.rs:1: low::inner -> high: crate::high::High"), "{found}");
    files[3].1 = "";
    files[4].0 = "new.rs";
    let found = upward(&tree(&files), &layers[0]);
    assert_eq!(
        found,
        [
            "one: `new` has no layer; write it into one in ARCHITECTURE.md",
            "one: `also` has a layer in ARCHITECTURE.md, but no file",
        ]
    );
}

#[test]
fn names_that_modules_around_pass_on_are_found() {
    let files = [
        ("lib.rs", "mod a; mod room; pub use a::A; pub use room::Inside; pub use clewline_core::Verdict;"),
        ("a.rs", "pub struct A;\nuse crate::{A as Same, Inside, Verdict};\nuse crate::room::Inside as Fine;"),
        ("room/mod.rs", "mod inside; mod other; pub use inside::Inside;"),
        ("room/inside.rs", "pub struct Inside;\nmacro_rules! m { () => { $crate::Inside }; }"),
        ("room/other.rs", "use super::Inside;\nuse super::inside::Inside as Fine;"),
    ];
    let found = detours(&tree(&files));
    let says = |at: &str, what: &str, instead: &str| {
        let start = format!("src/{at}: `{what}`");
        let end = format!("import `{instead}`");
        assert!(found.iter().any(|it| it.starts_with(&start) && it.ends_with(&end)), "{start}: {found:?}");
    };
    says("a.rs:2", "crate::A", "crate::a::A");
    says("a.rs:2", "crate::Inside", "crate::room::Inside");
    says("a.rs:2", "crate::Verdict", "clewline_core::Verdict");
    says("room/other.rs:1", "super::Inside", "crate::room::inside::Inside");
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn public_types_are_those_that_other_crates_can_name() {
    let files = [
        (
            "lib.rs",
            "pub mod open; mod closed; pub use closed::{Passed, inner as deep}; pub use other::Foreign;",
        ),
        ("open.rs", "pub struct Open; pub(crate) struct Ours; struct Mine; pub fn open() { struct Local; }"),
        ("closed.rs", "pub struct Passed; pub struct Kept; pub mod inner; pub use inner::Deep as Alias;"),
        (
            "closed/inner.rs",
            "pub unsafe trait Deep {} pub use super::Kept as Shown; pub mod more { pub type A = u8; }",
        ),
    ];
    let found: Vec<String> =
        tree(&files).public_types().into_iter().map(|(name, path)| format!("{name} = {path}")).collect();
    let expected = [
        "A = closed::inner::more::A",
        "Deep = closed::inner::Deep",
        "Open = open::Open",
        "Passed = closed::Passed",
        "Shown = closed::Kept",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_public_name_of_two_types_is_found() {
    let one = ("one".to_owned(), tree(&[("lib.rs", "pub struct Outcome; pub struct One;")]));
    let two = (
        "two".to_owned(),
        tree(&[
            ("lib.rs", "pub mod a; pub mod b;"),
            ("a.rs", "pub enum Outcome {}"),
            ("b.rs", "pub trait B {}"),
        ]),
    );
    let found = ambiguous_names(&[&one, &two], &[]);
    assert_eq!(
        found,
        ["the public name `Outcome` means several types:\n    one: Outcome\n    two: a::Outcome"]
    );
    let allow = |name, crates| SharedName { name, crates, reason: "each has one" };
    assert_eq!(ambiguous_names(&[&one, &two], &[allow("Outcome", &["one", "two"])]), Vec::<String>::new());
    assert_eq!(ambiguous_names(&[&one, &two], &[allow("Outcome", &["two"])]).len(), 1);
    let stale = ambiguous_names(&[&one], &[allow("One", &["one"])]);
    assert_eq!(stale, ["`One` is one type: delete its exception (each has one)"]);
    let twice = (
        "twice".to_owned(),
        tree(&[("lib.rs", "pub mod a; pub mod b;"), ("a.rs", "pub struct A;"), ("b.rs", "pub struct A;")]),
    );
    assert_eq!(ambiguous_names(&[&twice], &[]).len(), 1);
}
