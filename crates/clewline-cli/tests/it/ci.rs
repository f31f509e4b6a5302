//! The GitHub Action and the recipe for GitLab, without their servers: the scripts are taken out of
//! the files and run as a runner does, with its files and variables.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output},
};

use super::run::{BAD, Folder, GOOD, hard};

/// A step of the action: its fields, and its `env`.
#[derive(Debug, Default)]
struct Step {
    fields: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
}

/// The text of a file of the repository.
fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines of a block (`key: |`), which are indented more than `depth`, and what follows.
fn block<'t, 'l>(lines: &'l [&'t str], depth: usize) -> (String, &'l [&'t str]) {
    let end = lines.iter().position(|it| !it.trim().is_empty() && indent(it) <= depth);
    let (own, rest) = lines.split_at(end.unwrap_or(lines.len()));
    let least = own.iter().filter(|it| !it.trim().is_empty()).map(|it| indent(it)).min().unwrap_or(0);
    let text = own.iter().map(|it| format!("{}\n", it.get(least..).unwrap_or("")));
    (text.collect(), rest)
}

/// The steps of the action. Only the notation of that file is read.
fn steps() -> Vec<Step> {
    let text = file("action.yml");
    let (_, text) = text.split_once("\n  steps:\n").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut rest = lines.as_slice();
    let mut steps: Vec<Step> = Vec::new();
    let mut is_env = false;
    while let Some((line, more)) = rest.split_first() {
        rest = more;
        let key = line.trim_start().trim_start_matches("- ");
        if line.trim_start().starts_with("- ") {
            steps.push(Step::default());
        }
        let (key, value) = key.split_once(':').unwrap();
        let step = steps.last_mut().unwrap();
        let (key, mut value) = (key.to_owned(), value.trim().to_owned());
        if indent(line) <= 6 {
            is_env = key == "env";
        }
        if value == "|" {
            (value, rest) = block(more, indent(line));
        }
        if is_env && indent(line) == 8 {
            step.env.insert(key, value);
        } else {
            step.fields.insert(key, value);
        }
    }
    steps
}

/// A runner: a folder with the files that it gives to steps, and what the workflow knows.
struct Runner {
    folder: Folder,
    // `inputs.files`, `github.action_path`, `steps.run.outputs.code`.
    known: BTreeMap<String, String>,
}

/// What a run of the action left behind.
struct ActionRun {
    code: i32,
    outputs: BTreeMap<String, String>,
    summary: String,
    stderr: String,
}

impl Runner {
    fn new(name: &str, inputs: &[(&str, &str)]) -> Runner {
        let folder =
            Folder::new(name).with("good.jsonl", GOOD).with("bad one.jsonl", BAD).with("summary", "");
        fs::create_dir(folder.path("temp")).unwrap();
        fs::create_dir(folder.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_clewline"), folder.path("bin/clewline")).unwrap();
        let mut known = BTreeMap::new();
        known.insert("github.action_path".to_owned(), "/the/action".to_owned());
        let defaults =
            [("command", "check"), ("files", ""), ("spec", ""), ("args", ""), ("artifact", "clewline")];
        for (name, value) in defaults.iter().chain([&("working-directory", ".")]).chain(inputs) {
            known.insert(format!("inputs.{name}"), (*value).to_owned());
        }
        Runner { folder, known }
    }

    /// A value with its expressions.
    fn value(&self, text: &str) -> String {
        match text.strip_prefix("${{").and_then(|it| it.strip_suffix("}}")) {
            Some(name) => self.known.get(name.trim()).cloned().unwrap_or_default(),
            None => text.to_owned(),
        }
    }

    /// Runs a script as GitHub's runner does for `shell: bash`.
    fn bash(&self, script: &str, env: &BTreeMap<String, String>, path: &str) -> Output {
        fs::write(self.folder.path("step.sh"), script).unwrap();
        Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail"])
            .arg(self.folder.path("step.sh"))
            .current_dir(self.folder.path(""))
            .env("PATH", format!("{}:{path}", self.folder.path("bin").display()))
            .env("RUNNER_TEMP", self.folder.path("temp"))
            .env("CI_PROJECT_DIR", self.folder.path(""))
            .env("GITHUB_OUTPUT", self.folder.path("output"))
            .env("GITHUB_PATH", self.folder.path("path"))
            .env("GITHUB_STEP_SUMMARY", self.folder.path("summary"))
            .envs(env.iter().map(|(name, value)| (name, self.value(value))))
            .output()
            .unwrap()
    }

    /// Runs all steps that are scripts.
    fn run(mut self) -> ActionRun {
        let path = std::env::var("PATH").unwrap();
        let mut run =
            ActionRun { code: 0, outputs: BTreeMap::new(), summary: String::new(), stderr: String::new() };
        for step in steps() {
            // One that failed ends the others, unless they run always: none does that here.
            assert_eq!(run.code, 0);
            let Some(script) = step.fields.get("run") else { continue };
            fs::write(self.folder.path("output"), "").unwrap();
            let output = self.bash(script, &step.env, &path);
            run.code = output.status.code().unwrap();
            run.stderr.push_str(&String::from_utf8(output.stderr).unwrap());
            for line in self.folder.read("output").lines() {
                let (name, value) = line.split_once('=').unwrap();
                self.known.insert(format!("steps.{}.outputs.{name}", step.fields["id"]), value.to_owned());
                run.outputs.insert(name.to_owned(), value.to_owned());
            }
        }
        run.summary = self.folder.read("summary");
        run
    }
}

#[track_caller]
fn check_action(name: &str, inputs: &[(&str, &str)], code: i32, verdict: &str) -> ActionRun {
    let run = Runner::new(name, inputs).run();
    assert_eq!((run.code, run.outputs["verdict"].as_str()), (code, verdict), "{}", run.stderr);
    assert_eq!(run.outputs["code"], code.to_string());
    run
}

#[test]
fn the_action_reports_a_verdict() {
    let run = check_action("ci-good", &[("files", "good*.jsonl"), ("spec", "queue")], 0, "holds");
    assert!(run.summary.contains("holds"), "{}", run.summary);
    assert_eq!(run.stderr, "");

    // All files, by a pattern; the name of one has a space.
    let run = check_action("ci-bad", &[("files", "*.jsonl"), ("spec", "queue")], 1, "violated");
    assert!(run.summary.contains("bad one.jsonl") && run.summary.contains("good.jsonl"), "{}", run.summary);
    assert!(run.stderr.contains("::error file=bad one.jsonl"), "{}", run.stderr);
    let folder = Path::new(&run.outputs["folder"]);
    assert!(fs::read_to_string(folder.join("clewline.xml")).unwrap().contains("<failure"));
    assert!(fs::read_to_string(folder.join("clewline.html")).unwrap().starts_with("<!DOCTYPE html>"));

    let args = "--command-that-is 'none'";
    let run =
        check_action("ci-usage", &[("files", "good.jsonl"), ("spec", "queue"), ("args", args)], 2, "failed");
    assert!(run.summary.contains("exit code 2"), "{}", run.summary);
    check_action("ci-missing", &[("files", "none*.jsonl"), ("spec", "queue")], 2, "failed");
    check_action("ci-quote", &[("files", "good.jsonl"), ("spec", "queue"), ("args", "'half")], 2, "failed");
}

#[test]
fn arguments_of_the_action_are_words_and_are_not_evaluated() {
    let initial = "--initial '[7, 1]' --input-format \"jsonl\"\n--timeout 1h";
    let run = check_action(
        "ci-words",
        &[("files", "good.jsonl"), ("spec", "queue"), ("args", initial)],
        1,
        "violated",
    );
    assert!(run.summary.contains('7'), "{}", run.summary);
    let marked = std::env::temp_dir().join(format!("clewline-ci-{}", std::process::id()));
    let evil = format!("--initial $(touch${{IFS}}{0}) ; `touch {0}`", marked.display());
    let inputs = [("files", evil.as_str()), ("spec", evil.as_str()), ("args", evil.as_str())];
    check_action("ci-evil", &inputs, 2, "failed");
    assert!(!marked.exists());
    let inputs = [("command", "explore"), ("args", "treiber-stack --matrix 'push(1) | pop'")];
    check_action("ci-explore", &inputs, 0, "holds");
}

#[test]
fn a_limit_fails_the_action_with_its_own_code() {
    let mut runner =
        Runner::new("ci-limit", &[("files", "hard.jsonl"), ("spec", "queue"), ("args", "--memory 1KiB")]);
    runner.folder = runner.folder.with("hard.jsonl", &hard());
    let run = runner.run();
    assert_eq!((run.code, run.outputs["verdict"].as_str()), (3, "unknown"), "{}", run.stderr);
}

/// A `cargo` that notes its arguments, and installs what is in `bin`.
fn fake_cargo(folder: &Folder) {
    fs::remove_file(folder.path("bin/clewline")).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$@\" >\"$RUNNER_TEMP/cargo\"\nfor root; do :; done\nmkdir -p \"$root/bin\"\n\
         ln -s '{}' \"$root/bin/clewline\"\n",
        env!("CARGO_BIN_EXE_clewline")
    );
    fs::write(folder.path("bin/cargo"), script).unwrap();
    fs::set_permissions(folder.path("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn clewline_is_built_where_it_is_not_installed() {
    let runner = Runner::new("ci-install", &[]);
    fake_cargo(&runner.folder);
    let step = &steps()[0];
    let output = runner.bash(&step.fields["run"], &step.env, "/usr/bin:/bin");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let root = runner.folder.path("temp/clewline");
    let expected =
        format!("install --locked --path /the/action/crates/clewline-cli --root {}\n", root.display());
    assert_eq!(runner.folder.read("temp/cargo"), expected);
    assert_eq!(runner.folder.read("path"), format!("{}\n", root.join("bin").display()));
}

#[test]
fn the_recipe_for_gitlab_has_the_exit_code_of_the_command() {
    let text = file("deploy/gitlab-ci.yml");
    let (_, script) = text.split_once("\n  script:\n").unwrap();
    let (script, _) = script.split_once("\n  artifacts:\n").unwrap();
    // GitLab joins the entries, and stops at the first that fails.
    let script: String =
        script.split("    - |\n").map(|it| block(&it.lines().collect::<Vec<_>>(), 4).0).collect();
    let run_with = |name: &str, files: &str, is_installed: bool, args: &str| {
        let runner = Runner::new(name, &[]);
        if !is_installed {
            fake_cargo(&runner.folder);
        }
        let names = ["COMMAND", "FILES", "SPEC", "ARGS", "SOURCE"].map(|it| format!("CLEWLINE_{it}"));
        let values = ["check", files, "queue", args, "clewline"].map(str::to_owned);
        let output = runner.bash(&script, &names.into_iter().zip(values).collect(), "/usr/bin:/bin");
        (output.status.code().unwrap(), runner)
    };
    let run =
        |name: &str, files: &str, is_installed: bool| run_with(name, files, is_installed, "--timeout 1h");
    let (code, runner) = run("ci-gitlab-good", "good*.jsonl", true);
    assert_eq!(code, 0);
    assert!(runner.folder.read("clewline.xml").contains("<testsuite"));
    let (code, runner) = run("ci-gitlab-bad", "*.jsonl", false);
    assert_eq!(code, 1);
    assert!(runner.folder.read("clewline.xml").contains("<failure"));
    assert!(
        runner.folder.read("temp/cargo").starts_with("install --locked --path clewline/crates/clewline-cli")
    );
    // What is an artifact is written.
    for name in text.lines().filter_map(|it| it.trim().strip_prefix("- clewline.")) {
        assert!(!runner.folder.read(&format!("clewline.{name}")).is_empty());
    }
    assert_eq!(run("ci-gitlab-missing", "none*.jsonl", true).0, 2);
    // Arguments are quoted, and not evaluated.
    let with = |name: &str, args: &str| run_with(name, "good*.jsonl", true, args).0;
    assert_eq!(with("ci-gitlab-quoted", "--initial '[ ]'  --timeout 1h"), 0);
    assert_eq!(with("ci-gitlab-none", ""), 0);
    assert_eq!(with("ci-gitlab-open", "--initial '[ ]"), 2);
    assert_eq!(with("ci-gitlab-evaluated", "'--timeout=$(echo 1h)'"), 2);
}
