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

use rules::SharedName;
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

const SPECIFICATION: &str = "each specification has one, in the module of its name: `channel::State`";
const STANDARD_NAME: &str = "code under test imports it instead of the one of `std` or `tokio`";
const OBJECT: &str = "a stand-in for the one of `std` or `tokio`, and the specification of that object";

/// Names of conventions, which are written with their modules.
const SHARED_NAMES: [SharedName; 9] = [
    SharedName { name: "Return", crates: &["clewline-specs"], reason: SPECIFICATION },
    SharedName { name: "State", crates: &["clewline-specs"], reason: SPECIFICATION },
    SharedName { name: "JoinHandle", crates: STAND_INS, reason: STANDARD_NAME },
    SharedName { name: "MutexGuard", crates: STAND_INS, reason: STANDARD_NAME },
    SharedName { name: "Receiver", crates: STAND_INS, reason: STANDARD_NAME },
    SharedName { name: "Sender", crates: STAND_INS, reason: STANDARD_NAME },
    SharedName { name: "TryRecvError", crates: STAND_INS, reason: STANDARD_NAME },
    SharedName { name: "Mutex", crates: STAND_INS_AND_SPECIFICATIONS, reason: OBJECT },
    SharedName { name: "Semaphore", crates: STAND_INS_AND_SPECIFICATIONS, reason: OBJECT },
];
const STAND_INS: &[&str] = &["clewline-async", "clewline-threads"];
const STAND_INS_AND_SPECIFICATIONS: &[&str] = &["clewline-async", "clewline-specs", "clewline-threads"];

/// Not of the product: each system of the lab has messages and entries of its own.
const NOT_PUBLISHED_NAMES: [&str; 2] = ["clewline-lab", "clewline-testing"];

/// A reader who meets a name knows which type it is, whichever crate it comes from.
#[test]
fn a_public_name_means_one_type() {
    let is_product = |name: &str| !NOT_PUBLISHED_NAMES.contains(&name);
    let product: Vec<_> = crates().iter().filter(|it| is_product(&it.0)).collect();
    let types: usize = product.iter().map(|it| it.1.public_types().len()).sum();
    assert!(500 < types, "public types were found: {types}");
    expect_none(&rules::ambiguous_names(&product, &SHARED_NAMES));
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
