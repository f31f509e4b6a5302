//! The manual: its table of contents, its links, its code blocks, and what is generated in it.
//!
//! Commands of `sh` blocks are run by the test `commands`, blocks of Rust by the doctests of
//! `clewline`. A block in another language is checked here, or a comment right before it says why
//! it is not: `<!-- unchecked: REASON -->`.

mod generated;
mod markdown;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use clewline_testing::pick;
use markdown::{Block, Page};

use crate::run::{BAD, Folder, GOOD, clewline};

/// The pages outside of the book.
const AROUND: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
const SUMMARY: &str = "docs/SUMMARY.md";

#[track_caller]
fn expect_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// The pages of the book, without its table of contents.
fn book() -> Vec<Page> {
    let mut pages = markdown::below("docs");
    pages.retain(|it| it.name != SUMMARY);
    assert!(20 < pages.len(), "the pages were found: {}", pages.len());
    pages
}

/// The pages of the book, and those around it.
fn all() -> Vec<Page> {
    let around = AROUND.iter().map(|it| Page::read(it));
    around.chain([Page::read(SUMMARY)]).chain(book()).collect()
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = Page::read(SUMMARY);
    let listed: BTreeSet<String> =
        summary.links().into_iter().filter_map(|it| markdown::target(SUMMARY, &it)).collect();
    let pages: BTreeSet<String> = book().into_iter().map(|it| it.name).collect();
    let missing: Vec<String> = pages.difference(&listed).map(|it| format!("{SUMMARY} lacks {it}")).collect();
    expect_none(&missing);
    assert_eq!(summary.links().len(), pages.len(), "no page is listed twice");
}

/// A link from the book leads to another page of the book: nothing else is deployed.
#[test]
fn links_lead_to_pages_and_headings() {
    let pages = all();
    let (mut complaints, mut seen) = (Vec::new(), 0);
    for page in &pages {
        for link in page.links() {
            let Some(target) = markdown::target(&page.name, &link) else { continue };
            seen += 1;
            if page.name.starts_with("docs/") && !target.starts_with("docs/") {
                complaints.push(format!("{}: {link} leads out of the book: name the file", page.name));
            }
            // The playground is built beside the book.
            if target == "docs/playground.html" {
                continue;
            }
            let Some((_, heading)) = link.split_once('#') else {
                if !markdown::root().join(&target).exists() {
                    complaints.push(format!("{}: {link}", page.name));
                }
                continue;
            };
            let found = pages.iter().find(|it| it.name == target);
            if !found.is_some_and(|it| it.anchors().iter().any(|it| it == heading)) {
                complaints.push(format!("{}: {link}: there is no such heading", page.name));
            }
        }
    }
    assert!(100 < seen, "{seen} links");
    expect_none(&complaints);
}

/// From every page of the book a reader gets on to another one.
#[test]
fn pages_are_linked_with_each_other() {
    let is_alone = |it: &Page| it.links().iter().all(|link| markdown::target(&it.name, link).is_none());
    expect_none(&book().into_iter().filter(is_alone).map(|it| it.name).collect::<Vec<_>>());
}

#[test]
fn every_block_of_code_is_checked() {
    let doctests = fs::read_to_string(markdown::root().join("crates/clewline/src/lib.rs")).unwrap();
    let examples = ["crates/clewline/examples", "crates/clewline-lab/cases"];
    let tutorials =
        ["crates/clewline-methods/tests/it/tutorial.rs", "crates/clewline-testing/tests/service.rs"];
    let tutorials = tutorials.iter().map(|it| fs::read_to_string(markdown::root().join(it)).unwrap());
    let examples = examples.iter().flat_map(|it| markdown::files(it, "rs")).chain(tutorials);
    let examples: Vec<String> = examples.map(|it| without_layout(&it)).collect();
    let scripts = markdown::files("examples/specifications", "star");
    let programs: Vec<String> = all().iter().flat_map(named_programs).collect();
    let mut complaints = Vec::new();
    let mut count = 0;
    for page in all() {
        let is_tested = doctests.contains(&format!("include_str!(\"../../../{}\")", page.name));
        for block in page.blocks() {
            count += 1;
            let body = block.body.join("\n");
            let result = match block.language {
                _ if block.is_unchecked() => Ok(()),
                "sh" | "text" => Ok(()),
                "rust,ignore" => is_in(&examples, &without_layout(&body), "no example"),
                rust if rust.split(',').next() == Some("rust") => {
                    is_tested.then_some(()).ok_or("include the page in crates/clewline/src/lib.rs".to_owned())
                }
                "c" if file_name(&block).is_some() => Ok(()),
                "c" => is_in(&programs, &body, "no block of C that begins with the name of its file"),
                "json" => json(&body),
                "toml" => manifest(&body),
                "conf" => harness(&body),
                "python" => starlark(&body, &scripts),
                "" if page.name == "ARCHITECTURE.md" => Ok(()),
                "" => Err("say `text`, or the language".to_owned()),
                other => Err(format!("{other} is checked by no test: say why in <!-- unchecked: … -->")),
            };
            if let Err(reason) = result {
                complaints.push(format!("{}:{}: {reason}", page.name, block.line));
            }
        }
    }
    assert!(90 < count, "{count} blocks");
    expect_none(&complaints);
}

/// A part of a worked example, or what can be added to a specification.
fn starlark(body: &str, scripts: &[String]) -> Result<(), String> {
    const REST: &str =
        "def initial():\n    return {\"last\": 0}\ndef step(state, op, args, ret):\n    return []\n";
    let is_added = || clewline_script::Script::load("block", &format!("{REST}{body}\n")).map(|_| ());
    is_in(scripts, body, "no example").or_else(|_| is_added().map_err(|it| it.to_string()))
}

fn is_in(texts: &[String], body: &str, what: &str) -> Result<(), String> {
    texts.iter().any(|it| it.contains(body)).then_some(()).ok_or_else(|| format!("{what} has these lines"))
}

/// The lines without indentation, imports and what differs between a page and an example.
fn without_layout(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && *it != "#[test]");
    let lines = lines.filter(|it| !it.starts_with("use ") && !it.starts_with("#!"));
    lines.map(|it| it.trim_start_matches("pub(crate) ")).collect::<Vec<_>>().join("\n")
}

/// The file that a block of C is, for the commands of the page.
fn file_name<'p>(block: &Block<'p>) -> Option<&'p str> {
    block.body.first()?.strip_prefix("/* ")?.strip_suffix(" */")
}

fn named_programs(page: &Page) -> Vec<String> {
    let blocks = page.blocks().into_iter().filter(|it| it.language == "c" && file_name(it).is_some());
    blocks.map(|it| it.body.join("\n")).collect()
}

/// One value, or one a line.
fn json(body: &str) -> Result<(), String> {
    let parse = |it: &str| serde_json::from_str::<serde_json::Value>(it).map(|_| ());
    parse(body).or_else(|_| body.lines().try_for_each(parse)).map_err(|it| it.to_string())
}

/// Whether Cargo takes these lines for a part of a manifest, and knows every key.
fn manifest(body: &str) -> Result<(), String> {
    let package = "[package]\nname = \"tried\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let body = body
        .replace("../clewline/crates/clewline", &markdown::root().join("crates/clewline").to_string_lossy());
    let text = if body.contains("[package]") { body } else { format!("{package}{body}\n") };
    let folder = Folder::new("manual-manifest").with("Cargo.toml", &text);
    fs::create_dir_all(folder.path("src")).unwrap();
    let folder = folder.with("src/lib.rs", "");
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(folder.path("Cargo.toml"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&cargo.stderr);
    if cargo.status.success() && !said.contains("unused manifest key") {
        Ok(())
    } else {
        Err(said.into_owned())
    }
}

/// Whether the lines are calls on a system of actors.
fn harness(body: &str) -> Result<(), String> {
    let folder = Folder::new("manual-harness").with("calls.txt", body);
    let output = clewline(&folder, &["actors", "edr", "--harness", "calls.txt", "--states", "10"], "");
    if output.code == 2 { Err(output.stderr) } else { Ok(()) }
}

/// A flag that a page mentions belongs to its command.
#[test]
fn commands_and_flags_exist() {
    let definition = clewline_cli::definition();
    let flags_of = |name: &str| -> Option<Vec<String>> {
        let own = |it: &str| {
            let arguments = definition.find_subcommand(it)?.get_arguments();
            Some(arguments.filter_map(|it| it.get_long()).map(|it| format!("--{it}")).collect::<Vec<_>>())
        };
        let mut flags = own(name)?;
        // They take options of `explore`, too, and those of the compiler or of Cargo.
        if ["cc", "run", "cargo"].contains(&name) {
            flags.extend(own("explore")?.into_iter().chain(own("run")?));
        }
        flags.extend(["--help".to_owned(), "--argument".to_owned()]);
        Some(flags)
    };
    let (mut complaints, mut count) = (Vec::new(), 0);
    for page in all().iter().filter(|it| it.name != "CHANGELOG.md") {
        for (line, text) in page.commands() {
            let mut words = text.split_whitespace().take_while(|it| !["|", "--", "&&", "#"].contains(it));
            let Some(name) = words.nth(1).filter(|it| it.chars().all(|it| it.is_ascii_lowercase())) else {
                continue;
            };
            count += 1;
            let Some(known) = flags_of(name) else {
                if name != "help" {
                    complaints.push(format!("{}:{line}: there is no command `{name}`", page.name));
                }
                continue;
            };
            let flags = words.filter(|it| it.starts_with("--")).map(|it| it.split('=').next().unwrap_or(it));
            for flag in flags.filter(|it| !known.iter().any(|known| known == it)) {
                complaints.push(format!("{}:{line}: `{name}` has no {flag}", page.name));
            }
        }
    }
    assert!(100 < count, "{count} commands");
    expect_none(&complaints);
}

/// Every field that the commands print is in the reference, and has one type wherever it is.
#[test]
fn the_reference_has_every_json_field() {
    use serde_json::Value;
    fn kind(value: &Value) -> Option<&'static str> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(_) => "truth value",
            Value::Number(_) => "number",
            Value::String(_) => "text",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        })
    }
    fn collect(value: &Value, names: &mut BTreeMap<String, BTreeSet<&'static str>>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                // Factors and methods are data.
                if name.chars().all(|it| it.is_ascii_lowercase() || it == '_') {
                    names.entry(name.clone()).or_default().extend(kind(value));
                }
                if name != "factors" {
                    collect(value, names);
                }
            }),
            Value::Array(values) => values.iter().for_each(|it| collect(it, names)),
            _ => (),
        }
    }
    let folder =
        Folder::new("manual-json").with("bad.jsonl", BAD).with("good.jsonl", GOOD).with("no.jsonl", "no");
    let commands: [&[&str]; 8] = [
        &["check", "bad.jsonl", "good.jsonl", "no.jsonl", "--spec", "queue", "--witness"],
        &["check", "bad.jsonl", "--spec", "queue", "--quasi", "deq=?"],
        &["check", "good.jsonl", "--spec", "queue", "--quasi", "all=1"],
        &[
            "stress",
            "register:unsynchronized",
            "--timeout",
            "2s",
            "--shrink",
            pick("500ms", "5s"),
            "--save",
            ".",
        ],
        &["explore", "manual-reset-event:pre", "--matrix", "wait | set reset set", "--serializability"],
        &["explore", "treiber-stack", "--matrix", "push(1) | pop"],
        &["explore", "quasi-queue", "--matrix", "enq(1) enq(2) deq | deq", "--quasi", "deq=0"],
        &["actors", "edr", "--scheduler", "dpor"],
    ];
    let mut names = BTreeMap::new();
    for command in commands {
        let printed = clewline(&folder, &[command, &["--format", "json"]].concat(), "");
        assert!(!printed.json().is_empty(), "{command:?}: {}", printed.stderr);
        printed.json().iter().for_each(|it| collect(it, &mut names));
    }
    assert!(40 < names.len(), "{names:?}");
    let page = fs::read_to_string(markdown::root().join("docs/reference/json.md")).unwrap();
    let is_missing = |it: &&String| !page.contains(&format!("`{it}`"));
    expect_none(&names.keys().filter(is_missing).cloned().collect::<Vec<_>>());
    let differs = names.iter().filter(|it| 1 < it.1.len());
    expect_none(&differs.map(|(name, kinds)| format!("{name}: {kinds:?}")).collect::<Vec<_>>());
}

/// Every variable that the product reads is in the reference.
#[test]
fn the_reference_has_every_environment_variable() {
    let page = fs::read_to_string(markdown::root().join("docs/reference/environment.md")).unwrap();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for folder in fs::read_dir(markdown::root().join("crates")).unwrap() {
        let folder = folder.unwrap().path().join("src");
        let folder = folder.strip_prefix(markdown::root()).unwrap();
        for text in markdown::files(&folder.to_string_lossy(), "rs") {
            let literals = text.split("\"CLEWLINE_").skip(1).filter_map(|it| it.split('"').next());
            let is_name = |it: &&str| it.chars().all(|it| it.is_ascii_uppercase() || it == '_');
            names.extend(literals.filter(is_name).map(|it| format!("CLEWLINE_{it}")));
        }
    }
    assert!(10 < names.len(), "{names:?}");
    let is_missing = |it: &&String| !page.contains(&format!("`{it}"));
    expect_none(&names.iter().filter(is_missing).cloned().collect::<Vec<_>>());
}

/// Every argument of the attribute is in the reference.
#[test]
fn the_reference_has_every_argument_of_the_attribute() {
    let source =
        fs::read_to_string(markdown::root().join("crates/clewline-macros/src/arguments.rs")).unwrap();
    let list =
        source.split("ARGUMENT_NAMES: &str = \"").nth(1).and_then(|it| it.split("\";").next()).unwrap();
    let page = fs::read_to_string(markdown::root().join("docs/reference/attribute.md")).unwrap();
    let is_word = |it: char| !it.is_ascii_lowercase() && it != '_';
    let names: Vec<&str> = list.split(is_word).filter(|it| !it.is_empty() && *it != "and").collect();
    assert!(15 < names.len(), "{names:?}");
    let is_missing = |it: &&&str| !page.contains(&format!("`{it}`")) && !page.contains(&format!("`{it} ="));
    expect_none(&names.iter().filter(is_missing).map(|it| (*it).to_owned()).collect::<Vec<_>>());
}

/// A file that the architecture names exists.
#[test]
fn the_architecture_names_files_that_exist() {
    let page = Page::read("ARCHITECTURE.md");
    let sources = markdown::sources();
    let (mut complaints, mut count) = (Vec::new(), 0);
    for name in page.text.split('`').filter(|it| it.ends_with(".rs") && !it.contains(['\n', 'N', 'x'])) {
        count += 1;
        if !sources.iter().any(|(path, _)| path.ends_with(&format!("/{name}"))) {
            complaints.push(format!("ARCHITECTURE.md: {name}"));
        }
    }
    assert!(40 < count, "{count} files");
    expect_none(&complaints);
}

/// Every page that a program prints or a source file names is there.
#[test]
fn sources_name_pages_that_exist() {
    let mut complaints = Vec::new();
    for (path, text) in markdown::sources() {
        for name in text.split("docs/").skip(1) {
            let end = name.find(|it: char| !(it.is_ascii_alphanumeric() || "-/.".contains(it)));
            let name = name[..end.unwrap_or(name.len())].trim_end_matches('.');
            let is_page =
                !path.contains("/it/manual/") && Path::new(name).extension().is_some_and(|it| it == "md");
            if is_page && !markdown::root().join("docs").join(name).exists() {
                complaints.push(format!("{path}: docs/{name}"));
            }
        }
    }
    expect_none(&complaints);
}
