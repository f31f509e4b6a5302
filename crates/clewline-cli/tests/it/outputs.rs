//! Files that commands write: whole or not at all, and never over what they read.

use std::{fs, process::Command};

use clewline_testing::pick;

use crate::run::{BAD, Folder, GOOD, clewline};

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path("")).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|it| it.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_output_that_is_read_is_refused() {
    let folder = Folder::new("outputs-read").with("h.jsonl", BAD);
    fs::hard_link(folder.path("h.jsonl"), folder.path("hard.html")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("h.jsonl", folder.path("soft.html")).unwrap();
    let outputs = ["h.jsonl", "./h.jsonl", "hard.html", "soft.html"];
    for flag in ["--html", "--svg", "--junit", "--markdown"] {
        for output in outputs {
            let ran = clewline(&folder, &["check", "h.jsonl", "--spec", "queue", flag, output], "");
            assert_eq!((ran.code, &*ran.stdout), (2, ""), "{flag} {output}: {ran:?}");
            let input = if output == "h.jsonl" { "" } else { " (h.jsonl)" };
            let why = format!("this file is an input{input}, so it is not overwritten");
            assert!(ran.stderr.contains(&why), "{ran:?}");
        }
    }
    for output in outputs {
        let args = ["convert", "h.jsonl", output, "--output-format", "jsonl"];
        assert_eq!(clewline(&folder, &args, "").code, 2, "{output}");
    }
    assert_eq!(folder.read("h.jsonl"), BAD);
    // Standard input may be a file, too.
    #[cfg(unix)]
    {
        let input = fs::File::open(folder.path("h.jsonl")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
        command.current_dir(folder.path("")).args(["convert", "-", "soft.html", "--output-format", "jsonl"]);
        assert_eq!(command.stdin(input).output().unwrap().status.code(), Some(2));
        assert_eq!(folder.read("h.jsonl"), BAD);
    }
    let args = ["check", "h.jsonl", "--spec", "queue", "--html", "x.out", "--junit", "x.out"];
    let ran = clewline(&folder, &args, "");
    assert_eq!((ran.code, &*ran.stderr), (2, "error: x.out: this file would be written twice\n"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let many: String = (0..400)
        .map(|it| {
            format!(
                "{{\"process\": 0, \"op\": \"enq\", \"arg\": {it}, \"call\": {}, \"return\": {}}}\n",
                2 * it,
                2 * it + 1
            )
        })
        .collect();
    let folder = Folder::new("outputs-full").with("h.jsonl", &many).with("bad.jsonl", BAD);
    for (args, output) in [
        (&["check", "h.jsonl", "--spec", "queue", "--html", "old"][..], "old"),
        (&["check", "h.jsonl", "bad.jsonl", "--spec", "queue", "--html", "old"], "old"),
        (&["convert", "h.jsonl", "old", "--output-format", "jsonl"], "old"),
        (
            &["generate", "--spec", "queue", "--operations", "400", "-o", "old", "--output-format", "jsonl"],
            "old",
        ),
        (&["reproduce", "monitoring-fig1", "--quick", "--svg", "old"], "old"),
    ]
    .into_iter()
    // A table takes long to make.
    .take(pick(4, 5))
    {
        fs::write(folder.path(output), "as it was").unwrap();
        let is_file = |it: &String| it != "old.pages";
        let before: Vec<String> = names(&folder).into_iter().filter(is_file).collect();
        // No file may be longer than one block of 1,024 or 512 bytes.
        let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", limited, env!("CARGO_BIN_EXE_clewline")]).args(args).current_dir(folder.path(""));
        let ran = command.output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {ran:?}");
        assert_eq!(folder.read(output), "as it was", "{args:?}: {ran:?}");
        let after: Vec<String> = names(&folder).into_iter().filter(is_file).collect();
        assert_eq!(after, before, "{args:?}: {ran:?}");
    }
}

#[test]
fn outputs_replace_what_was_there() {
    let folder = Folder::new("outputs-replaced").with("h.jsonl", GOOD).with("page.html", "as it was");
    let args = ["check", "h.jsonl", "--spec", "queue", "--html", "page.html", "--junit", "j.xml"];
    assert_eq!(clewline(&folder, &args, "").code, 0);
    assert!(folder.read("page.html").contains("<html"));
    assert_eq!(names(&folder), ["h.jsonl", "j.xml", "page.html"]);
    // What cannot be written leaves what was there.
    let folder = folder.with("keyword.edn", "{:process 0 :type :invoke :f :write :value :x}");
    let ran = clewline(&folder, &["convert", "keyword.edn", "j.xml", "--output-format", "jsonl"], "");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(folder.read("j.xml").contains("testsuite"));
}

#[test]
fn a_page_of_many_does_not_replace_an_input() {
    let folder = Folder::new("outputs-pages").with("a.jsonl", GOOD);
    fs::create_dir(folder.path("report")).unwrap();
    let folder = folder.with("report/001-a.html", BAD);
    let args = ["check", "a.jsonl", "report/001-a.html", "--spec", "queue", "--html", "report.html"];
    let ran = clewline(&folder, &[&args[..], &["--input-format", "jsonl"]].concat(), "");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("report/001-a.html: this file is an input"), "{ran:?}");
    assert_eq!(folder.read("report/001-a.html"), BAD);
}

/// Both reports are in the file to which standard output is redirected, one after the other.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_its_name_loses_nothing() {
    let folder = Folder::new("outputs-stdout").with("h.jsonl", GOOD);
    std::os::unix::fs::symlink("/dev/stdout", folder.path("link")).unwrap();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"] {
        let out = fs::File::create(folder.path("out.txt")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_clewline"));
        command.current_dir(folder.path("")).args(["check", "h.jsonl", "--spec", "queue", "--html", name]);
        let ran = command.stdout(out).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{name}: {ran:?}");
        let printed = folder.read("out.txt");
        assert!(
            printed.starts_with("holds: ") && printed.trim_end().ends_with("</html>"),
            "{name}: {printed}"
        );
        assert_eq!(names(&folder), ["h.jsonl", "link", "out.txt"], "{name}");
    }
}

#[test]
fn files_that_are_one_are_seen_before_they_exist() {
    let folder = Folder::new("outputs-one").with("h.jsonl", GOOD);
    fs::create_dir(folder.path("sub")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.html", folder.path("link")).unwrap();
    for other in ["./a.html", "sub/../a.html", "link"].into_iter().take(if cfg!(unix) { 3 } else { 2 }) {
        let args = ["check", "h.jsonl", "--spec", "queue", "--html", "a.html", "--svg", other];
        let ran = clewline(&folder, &args, "");
        let expected = format!("error: {other}: this file would be written twice\n");
        assert_eq!((ran.code, &*ran.stderr), (2, &*expected), "{ran:?}");
    }
    let args = ["check", "h.jsonl", "--spec", "queue", "--html", "a.html", "--svg", "sub/a.html"];
    assert_eq!(clewline(&folder, &args, "").code, 0);
    // What is no file can be written to as often as one likes.
    #[cfg(unix)]
    {
        let args = ["check", "h.jsonl", "--spec", "queue", "--html", "/dev/null", "--svg", "/dev/null"];
        let ran = clewline(&folder, &args, "");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}
