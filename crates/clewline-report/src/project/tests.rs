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

#[test]
fn failures_are_kept_until_they_are_dropped() {
    let folder = Folder::new("regressions");
    let path = folder.0.join("new").join("it.txt");
    let kept = Regressions::in_file(path.clone());
    assert_eq!(kept.replay(|it| Ok(Some(it.to_owned()))), None);
    for failure in ["a | b#AB", "a | c#BA", "a | b#AB"] {
        kept.keep(Some(failure.to_owned()));
    }
    assert_eq!(kept.failures(), ["a | c#BA", "a | b#AB"]);
    let replay = |it: &str| if it.contains('c') { Err("it has\nchanged".to_owned()) } else { Ok(Some(7)) };
    assert_eq!(kept.replay(replay), Some(7));
    assert_eq!(kept.failures(), ["a | b#AB"]);
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with("a | b#AB\n# dropped: a | c#BA\n#   it has changed\n"), "{text}");
    // One that passes stays.
    assert_eq!(kept.replay(|_| Ok(None::<u8>)), None);
    (0..REGRESSIONS_MAX).for_each(|it| kept.keep(Some(it.to_string())));
    assert_eq!((kept.failures().len(), kept.failures()[0].as_str()), (REGRESSIONS_MAX, "15"));
    assert!(!kept.failures().contains(&"a | b#AB".to_owned()));
}

#[test]
fn without_a_name_nothing_is_kept() {
    let folder = Path::new("none/regressions");
    let kept = Regressions::of_test_in(folder, None, "it");
    kept.keep(Some("a#b".to_owned()));
    assert_eq!(kept.failures(), Vec::<String>::new());
    let path = Regressions::of_test_in(folder, Some("a::b"), "c<d>").path.unwrap();
    assert_eq!(path, folder.join("clewline_report-a-b-c-d-.txt"));
}

#[test]
fn failures_that_are_kept_at_the_same_time_are_all_kept() {
    let folder = Folder::new("kept-together");
    let path = folder.0.join("test.txt");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let kept = Regressions::in_file(path.clone());
            scope.spawn(move || (0..3).for_each(|n| kept.keep(Some(format!("failure {thread} {n}")))));
        }
    });
    assert_eq!(Regressions::in_file(path).failures().len(), 12);
}
