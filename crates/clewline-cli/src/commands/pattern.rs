//! Names of files with wildcards, which the shell has left as they are: `'run/*.parquet'`.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

/// Whether `path` is a pattern: it has a wildcard (`*` or `?`), and no file has this name.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?']) && !path.exists()
}

/// The files whose names match, sorted.
///
/// # Errors
///
/// If there is none, or a folder cannot be read.
pub(super) fn matching(pattern: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    let components: Vec<Component<'_>> = pattern.components().collect();
    for (place, component) in components.iter().enumerate() {
        let name = component.as_os_str().to_string_lossy();
        let is_last = place + 1 == components.len();
        let mut next = Vec::new();
        for folder in found {
            if !name.contains(['*', '?']) {
                next.push(folder.join(component));
                continue;
            }
            let place = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            // A name that is no folder has no files in it.
            let Ok(entries) = fs::read_dir(place) else { continue };
            for entry in entries {
                let entry = entry?;
                let own = entry.file_name();
                // As in a shell, hidden files are not meant.
                let is_hidden = own.to_string_lossy().starts_with('.') && !name.starts_with('.');
                if !is_hidden && matches(&name, &own.to_string_lossy()) {
                    next.push(folder.join(own));
                }
            }
        }
        next.retain(|it| if is_last { it.is_file() } else { it.as_os_str().is_empty() || it.is_dir() });
        found = next;
    }
    found.sort();
    if found.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no file has a name like this"));
    }
    Ok(found)
}

/// Whether `name` matches `pattern`, in which `*` stands for any text and `?` for one character.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // Where to try again: behind the last `*`, and one character later than before.
    let (mut at, mut place, mut again) = (0, 0, None);
    while place < name.len() {
        match pattern.get(at) {
            Some('*') => {
                again = Some((at + 1, place));
                at += 1;
            }
            Some(it) if *it == '?' || *it == name[place] => (at, place) = (at + 1, place + 1),
            _ => match again {
                Some((behind, from)) => {
                    again = Some((behind, from + 1));
                    (at, place) = (behind, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|it| *it == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_texts_and_characters() {
        for (pattern, name) in [("*", "a"), ("*.x", "a.x"), ("a*b*c", "aXbYbc"), ("?b", "ab"), ("a**", "a")] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.x", "a.y"), ("?b", "b"), ("a*c", "ab"), ("", "a"), ("a", "ab")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn files_are_found_in_folders_by_their_order() {
        let root = std::env::temp_dir().join(format!("clewline-pattern-{}", std::process::id()));
        for name in ["b/2.x", "a/1.x", "a/2.x", "a/.3.x", "a/4.y"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        let found = matching(&root.join("*/*.x")).expect("files");
        let names: Vec<_> = found.iter().map(|it| it.strip_prefix(&root).expect("inside")).collect();
        assert_eq!(names, ["a/1.x", "a/2.x", "b/2.x"].map(Path::new));
        assert!(matching(&root.join("*.x")).is_err());
        assert!(is_pattern(&root.join("*.x")) && !is_pattern(&root.join("a/1.x")));
        fs::remove_dir_all(root).expect("removed");
    }
}
