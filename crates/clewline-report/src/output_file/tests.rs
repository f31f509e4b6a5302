use std::ops::Deref;

use super::*;

/// A folder for one test, empty at first, and removed when it is dropped.
struct Folder(PathBuf);

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _was_removed = fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str) -> Folder {
    let folder = std::env::temp_dir().join(format!("clewline-output-{}-{name}", process::id()));
    let _not_there = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    Folder(folder)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|it| it.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = folder("complete");
    let path = folder.join("a.txt");
    fs::write(&path, "old").unwrap();
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    file.commit().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    replace_file(folder.join("b.txt"), "other").unwrap();
    assert_eq!(names(&folder), ["a.txt", "b.txt"]);
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"newer").unwrap();
    file.commit_unsynced().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
    assert_eq!(names(&folder), ["a.txt", "b.txt"]);
}

#[test]
fn what_is_not_completed_leaves_nothing() {
    let folder = folder("dropped");
    let path = folder.join("a.txt");
    fs::write(&path, "old").unwrap();
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    drop(file);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(&folder), ["a.txt"]);
    assert!(OutputFile::create(folder.join("no/such/folder")).is_err());
    assert!(OutputFile::create(&*folder).is_err(), "a folder is no file");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = folder("links");
    let (target, link) = (folder.join("target"), folder.join("link"));
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("target", &link).unwrap();
    symlink("later", folder.join("dangling")).unwrap();
    replace_file(&link, "new").unwrap();
    replace_file(folder.join("dangling"), "made").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    assert_eq!(fs::read_to_string(folder.join("later")).unwrap(), "made");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    let metadata = |path: &Path| fs::metadata(path).unwrap();
    assert!(is_same_file(&metadata(&target), &metadata(&link)));
    assert!(!is_same_file(&metadata(&target), &metadata(&folder.join("later"))));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_to() {
    replace_file("/dev/null", "gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    assert!(replace_file("/dev/full", "text").is_err());
}

#[test]
fn nothing_is_written_below_a_file() {
    let folder = folder("below");
    let path = folder.join("a.txt");
    fs::write(&path, "old").unwrap();
    assert!(replace_file(path.join("b.txt"), "new").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(&folder), ["a.txt"]);
}

/// The super-user may write to every folder, and so runs this as another user.
#[cfg(unix)]
#[test]
fn a_file_is_written_where_its_folder_must_not_be() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};

    let folder = folder("closed");
    let path = folder.join("a.txt");
    fs::write(&path, "a long old text").unwrap();
    fs::set_permissions(&*folder, fs::Permissions::from_mode(0o555)).unwrap();
    let is_super_user = File::create_new(folder.join("c.txt")).is_ok();
    let outcome = (!is_super_user).then(|| {
        let made = replace_file(folder.join("b.txt"), "new").unwrap_err();
        (made.kind(), replace_file(&path, "new").is_ok(), names(&folder))
    });
    fs::set_permissions(&*folder, fs::Permissions::from_mode(0o755)).unwrap();
    if let Some(outcome) = outcome {
        assert_eq!(outcome, (io::ErrorKind::PermissionDenied, true, vec!["a.txt".to_owned()]));
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        return;
    }
    const OTHER_USER: u32 = 65_534;
    // A copy, since the folder of this program may not be open to that user.
    let program = folder.join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let this = "output_file::tests::a_file_is_written_where_its_folder_must_not_be";
    let ran = process::Command::new(&program)
        .args(["--exact", this])
        .current_dir(&*folder)
        .uid(OTHER_USER)
        .gid(OTHER_USER)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && printed.contains("1 passed"), "{ran:?}");
    fs::remove_file(&program).unwrap();
}

#[test]
fn a_file_that_cannot_be_replaced_is_overwritten() {
    let folder = folder("busy");
    let (path, aside) = (folder.join("a.txt"), folder.join("aside"));
    fs::write(&path, "a long old text").unwrap();
    fs::write(&aside, "new").unwrap();
    let busy = || io::Error::from(io::ErrorKind::ResourceBusy);
    assert!(is_refusal(&busy()));
    overwrite(&path, &aside, busy()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    // The first error is the one that says why.
    let error = overwrite(&folder.join("none"), &aside, busy()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
}

/// Other writers of an open file do not see a new one of the same name.
#[cfg(target_os = "linux")]
#[test]
fn an_open_file_is_appended_to() {
    use std::os::{fd::AsRawFd, unix::fs::symlink};

    let folder = folder("open");
    let path = folder.join("a.txt");
    let mut open = File::options().append(true).create_new(true).open(&path).unwrap();
    let name = format!("/proc/self/fd/{}", open.as_raw_fd());
    symlink(&name, folder.join("link")).unwrap();
    open.write_all(b"1").unwrap();
    replace_file(&name, "2").unwrap();
    open.write_all(b"3").unwrap();
    replace_file(folder.join("link"), "4").unwrap();
    open.write_all(b"5").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "12345");
    assert_eq!(names(&folder), ["a.txt", "link"]);
}

#[test]
fn a_file_has_one_place_before_it_exists() {
    let folder = folder("place");
    fs::create_dir(folder.join("sub")).unwrap();
    let place = place_of(folder.join("a.txt")).unwrap();
    assert_eq!(place_of(folder.join("sub/.././a.txt")).unwrap(), place);
    assert_ne!(place_of(folder.join("sub/a.txt")).unwrap(), place);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../a.txt", folder.join("sub/link")).unwrap();
        assert_eq!(place_of(folder.join("sub/link")).unwrap(), place);
    }
    assert_eq!(place_of("a.txt").unwrap(), place_of("./a.txt").unwrap());
    assert!(place_of(folder.join("none/a.txt")).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_process_has_left_is_removed() {
    let folder = folder("stale");
    // No process has this number: the greatest possible one is less.
    for name in [".a.txt.4194305-0.part", ".b.txt.4194305-0.part", ".a.txt.x-0.part"] {
        fs::write(folder.join(name), "half").unwrap();
    }
    let used = File::create(folder.join(".a.txt.4194306-0.part")).unwrap();
    used.lock().unwrap();
    replace_file(folder.join("a.txt"), "whole").unwrap();
    let expected = [".a.txt.4194306-0.part", ".a.txt.x-0.part", ".b.txt.4194305-0.part", "a.txt"];
    assert_eq!(names(&folder), expected);
}
