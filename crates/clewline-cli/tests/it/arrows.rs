//! The arrows between our files: which one uses what another defines, and that none closes a cycle
//! or leads upward.

mod rules;
mod tests;
pub(crate) mod tokens;
mod tree;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use tree::Tree;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each crate's name and its modules. To read them takes a while, so it is done once.
fn crates() -> &'static [(String, Tree)] {
    static CRATES: OnceLock<Vec<(String, Tree)>> = OnceLock::new();
    CRATES.get_or_init(read_crates)
}

fn read_crates() -> Vec<(String, Tree)> {
    fn visit(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, files);
            } else if path.extension().is_some_and(|it| it == "rs") {
                files.push(path);
            }
        }
    }
    let mut crates = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let src = format!("crates/{name}/src");
        let mut files = Vec::new();
        visit(&root().join(&src), &mut files);
        files.sort();
        let relative = |it: &Path| it.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let files: Vec<_> = files.iter().map(|it| (relative(it), fs::read_to_string(it).unwrap())).collect();
        crates.push((name, Tree::new(&src, &files)));
    }
    crates.sort_by(|one, other| one.0.cmp(&other.0));
    let arrows: usize = crates.iter().map(|it| it.1.arrows().len()).sum();
    assert!(500 < arrows, "arrows were found: {arrows}");
    crates
}

#[track_caller]
fn expect_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn no_dependency_closes_a_cycle() {
    let complaints: Vec<String> = crates().iter().flat_map(|(_, tree)| rules::cycles(tree)).collect();
    expect_none(&complaints);
}

#[test]
fn no_file_takes_a_name_from_a_module_around_it() {
    let complaints: Vec<String> = crates().iter().flat_map(|(_, tree)| rules::detours(tree)).collect();
    expect_none(&complaints);
}

/// The layers are drawn in ARCHITECTURE.md, for every crate of more than a file.
#[test]
fn no_arrow_leads_upward() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let drawn = rules::read_layers(&page);
    let mut complaints = Vec::new();
    for (name, tree) in crates() {
        let of_it: Vec<_> = drawn.iter().filter(|it| it.krate == *name).collect();
        if 1 < tree.files() && !of_it.iter().any(|it| it.folder.is_empty()) {
            complaints.push(format!("{name}: no layers in ARCHITECTURE.md"));
        }
        complaints.extend(of_it.iter().flat_map(|it| rules::upward(tree, it)));
    }
    expect_none(&complaints);
}
