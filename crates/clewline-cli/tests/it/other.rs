//! Help, completions, and the list of specifications.

use clewline_specs::CATALOG;

use crate::run::{Folder, clewline};

#[test]
fn every_subcommand_has_examples_in_its_help() {
    let folder = Folder::new("help");
    for command in ["check", "specs", "generate", "convert", "reproduce", "tables", "completions"] {
        let ran = clewline(&folder, &[command, "--help"], "");
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("\nExamples:\n  clewline "), "{}", ran.stdout);
    }
    assert!(clewline(&folder, &["--help"], "").stdout.contains("\nExamples:\n  clewline check"));
}

#[test]
fn the_help_of_check_lists_formats_and_algorithms() {
    let folder = Folder::new("help-check");
    let help = clewline(&folder, &["check", "--help"], "").stdout;
    for name in ["auto:", "jsonl:", "jit-graph:", "wg-tree:", "Exit codes:"] {
        assert!(help.contains(name), "expected `{name}` in:\n{help}");
    }
}

#[test]
fn without_a_command_usage_is_shown() {
    let ran = clewline(&Folder::new("no-command"), &[], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("Usage: clewline <COMMAND>"), "{}", ran.stderr);
}

#[test]
fn shells_get_their_completions() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = clewline(&folder, &["completions", shell], "");
        assert!(ran.code == 0 && ran.stdout.contains("generate"), "{shell}");
    }
    assert_eq!(clewline(&folder, &["completions", "cmd"], "").code, 2);
}

#[test]
fn every_specification_is_listed_with_its_operations() {
    let folder = Folder::new("specs");
    let text = clewline(&folder, &["specs"], "").stdout;
    let objects = clewline(&folder, &["specs", "--format", "json"], "").json();
    assert_eq!(objects.len(), CATALOG.iter().count());
    for (entry, object) in CATALOG.iter().zip(objects) {
        assert!(text.contains(&format!("{}: {}\n", entry.name, entry.about)), "{text}");
        assert_eq!(object["name"], entry.name);
        assert_eq!(object["operations"].as_array().unwrap().len(), entry.operations.len());
    }
}

#[test]
fn one_specification_is_listed_by_name() {
    let folder = Folder::new("specs-one");
    let ran = clewline(&folder, &["specs", "queue:8"], "");
    assert!(ran.stdout.starts_with("queue: ") && ran.stdout.contains("\n  deq "), "{}", ran.stdout);
    let ran = clewline(&folder, &["specs", "stak"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean `stack`?"), "{}", ran.stderr);
}
