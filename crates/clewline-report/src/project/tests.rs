use std::fs;

use super::*;

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = env::temp_dir().join(format!("clewline-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a new folder");
        Folder(folder)
    }

    fn with(self, file: &str) -> Folder {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a new folder");
        fs::write(path, "").expect("a new file");
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _best_effort = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_target_directory_is_found() {
    let folder = Folder::new("target").with("work/Cargo.lock").with("build/CACHEDIR.TAG");
    let folder = folder.with("build/clewline/build/CACHEDIR.TAG");
    let at = |path: &str| folder.0.join(path);
    let plain = || Surroundings {
        target: None,
        manifest: Some(at("work/crates/mine").into()),
        program: Some(at("elsewhere/program")),
        current: at("work/crates/mine"),
    };
    // By Cargo's own variable.
    let named = Surroundings { target: Some(at("named").into()), ..plain() };
    assert_eq!(named.target(), at("named"));
    // By the place of the program.
    let program = Some(at("build/debug/deps/mine-0123"));
    let built = Surroundings { program: program.clone(), ..plain() };
    assert_eq!(built.target(), at("build"));
    let nested = at("build/clewline/build/debug/deps/mine-0123");
    let explored = Surroundings { program: Some(nested), ..plain() };
    assert_eq!(explored.target(), at("build"));
    let relative = Surroundings { target: Some("build".into()), program, ..plain() };
    assert_eq!(relative.target(), at("build"));
    // By the place of the workspace.
    assert_eq!(plain().target(), at("work/target"));
    let relative = Surroundings { target: Some("out".into()), ..plain() };
    assert_eq!(relative.target(), at("work/out"));
    // A package of its own, and no package.
    let alone = Surroundings { manifest: Some(at("alone").into()), ..plain() };
    assert_eq!(alone.target(), at("alone/target"));
    let nothing = Surroundings { manifest: None, current: at("here"), ..plain() };
    assert_eq!(nothing.target(), at("here/target"));
}

#[test]
fn files_of_the_project_are_shown_without_its_folder() {
    let project = Surroundings::of_process().project().to_owned();
    assert!(project.join("Cargo.lock").is_file(), "{}", project.display());
    let inside = Path::new("target").join("clewline").join("x.jsonl");
    assert_eq!(relative_to_project(&project.join(&inside)), inside);
    assert_eq!(relative_to_project(Path::new("/elsewhere/x.jsonl")), Path::new("/elsewhere/x.jsonl"));
}
