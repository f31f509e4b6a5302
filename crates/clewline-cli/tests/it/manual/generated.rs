//! What is generated in the manual: between `<!-- generated: NAME -->` and `<!-- end -->` stands
//! what the tables and definitions in the code say.
//!
//! With `CLEWLINE_BLESS=1` the test writes the pages anew.

use std::{collections::BTreeSet, fmt::Write as _, fs};

use clap::{Arg, Command};

use serde_json::Value as Json;

use super::{book, expect_none, markdown};
use crate::run::{Folder, clewline};

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

#[test]
fn generated_parts_are_up_to_date() {
    let is_blessing = std::env::var_os("CLEWLINE_BLESS").is_some();
    let (mut stale, mut names) = (Vec::new(), BTreeSet::new());
    for page in book() {
        let (text, found) = regenerate(&page.text).unwrap_or_else(|it| panic!("{}: {it}", page.name));
        names.extend(found);
        if text != page.text {
            if is_blessing {
                fs::write(markdown::root().join(&page.name), text).unwrap();
            } else {
                stale.push(format!(
                    "{} is stale: CLEWLINE_BLESS=1 cargo test -p clewline-cli --test it manual::generated",
                    page.name
                ));
            }
        }
    }
    expect_none(&stale);
    let specifications =
        clewline_specs::CATALOG.built_in().iter().map(|it| format!("specification {}", it.name));
    let owed = ["commands", "formats", "algorithms", "schedulers", "message-schedulers", "bounds"];
    let owed = owed.iter().chain(&["structures", "classes", "systems"]);
    let builders = BUILDERS.iter().map(|it| format!("builder {}", it.name));
    let owed = owed.map(|it| (*it).to_owned()).chain(specifications).chain(builders);
    let missing = owed.filter(|it| !names.contains(it)).map(|it| format!("no page has {BEGIN}{it} -->"));
    expect_none(&missing.collect::<Vec<_>>());
}

/// The page with its generated parts made anew, and the names of these.
fn regenerate(page: &str) -> Result<(String, Vec<String>), String> {
    let (mut text, mut names) = (String::new(), Vec::new());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").ok_or("a comment does not end")?;
        let (_, after) = after.split_once(END).ok_or_else(|| format!("{name}: {END} is missing"))?;
        let _ = write!(text, "{before}{BEGIN}{name} -->\n{}\n\n{END}", generate(name)?.trim_end());
        names.push(name.to_owned());
        rest = after;
    }
    Ok((text + rest, names))
}

fn generate(name: &str) -> Result<String, String> {
    Ok(match name.split_once(' ') {
        Some(("specification", name)) => specification(name)?,
        Some(("builder", name)) => builder(name)?,
        _ => match name {
            "commands" => commands(),
            "formats" => formats(),
            "algorithms" => algorithms(),
            "schedulers" => schedulers(),
            "message-schedulers" => message_schedulers(),
            "bounds" => bounds(),
            "structures" => structures(),
            "classes" => classes(),
            "systems" => systems(),
            _ => return Err(format!("nothing generates `{name}`")),
        },
    })
}

/// A table; its cells are Markdown.
fn table(titles: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|it| it.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn codes<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(code).collect::<Vec<_>>().join(", ")
}

/// Words of the help, in which `<` begins no HTML.
fn words(text: &str) -> String {
    let escape = |(at, it): (usize, &str)| if at % 2 == 0 { it.replace('<', "&lt;") } else { it.to_owned() };
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.split('`').enumerate().map(escape).collect::<Vec<_>>().join("`")
}

/// The same as a cell of a table: paragraphs, and items of lists, which are indented, begin on a
/// new line.
fn cell(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        match lines.last_mut() {
            _ if line.trim().is_empty() => (),
            Some(last) if !is_new && !line.starts_with("  ") => *last += &format!(" {line}"),
            _ => lines.push(item(line)),
        }
        is_new = line.trim().is_empty();
    }
    lines.iter().map(|it| words(it)).collect::<Vec<_>>().join("<br>")
}

/// The name that begins an item of a list, `  name: about`, is code.
fn item(line: &str) -> String {
    let Some(item) = line.strip_prefix("  ") else { return line.to_owned() };
    let item = item.split_once(": ").filter(|it| !it.0.contains(char::is_whitespace));
    let (name, about) = item.unwrap_or_else(|| panic!("an item of a help is not `name: about`: {line}"));
    format!("`{name}`: {about}")
}

#[test]
fn names_of_lists_in_helps_are_code() {
    let text = reference(clewline_cli::definition().find_subcommand("explore").unwrap().clone(), "clewline");
    for entry in clewline_explore::schedulers::SCHEDULERS.built_in() {
        let item = format!("<br>`{}`: {}", entry.name, words(entry.about));
        assert!(text.contains(&item), "no {item} in {text}");
    }
}

/// The same, one paragraph after the other.
fn paragraphs(text: &str) -> String {
    text.split("\n\n").map(words).collect::<Vec<_>>().join("\n\n")
}

fn commands() -> String {
    let mut definition = clewline_cli::definition();
    definition.build();
    let is_shown = |it: &&Command| !it.is_hide_set() && it.get_name() != "help";
    let names: Vec<Command> = definition.get_subcommands().filter(is_shown).cloned().collect();
    let row = |it: &Command| {
        let about = it.get_about().map(ToString::to_string).unwrap_or_default();
        vec![format!("[`{0}`](#clewline-{0})", it.get_name()), words(&about)]
    };
    let mut text = table(&["command", "what it does"], names.iter().map(row));
    for command in names {
        text += &reference(command, "clewline");
    }
    text
}

fn reference(mut command: Command, above: &str) -> String {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text =
        format!("\n## `{name}`\n\n{}\n\n```text\n{usage}\n```\n", paragraphs(&about.unwrap_or_default()));
    let is_shown = |it: &&Arg| !it.is_hide_set() && !["help", "version"].contains(&it.get_id().as_str());
    let (own, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(is_shown).partition(|it| it.is_positional());
    let rows: Vec<Vec<String>> =
        own.into_iter().chain(options).map(|it| vec![code(&usage_of(it)), meaning(it)]).collect();
    if !rows.is_empty() {
        let _ = write!(text, "\n{}", table(&["argument", "meaning"], rows));
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        let _ = write!(text, "\n```text\n{}\n```\n", after.to_string().trim());
    }
    let is_help = |it: &&Command| it.get_name() == "help";
    for below in command.get_subcommands().filter(|it| !is_help(it)).cloned() {
        text += &reference(below, &name).replace("\n## ", "\n### ");
    }
    text
}

/// `-o, --output FILE`.
fn usage_of(argument: &Arg) -> String {
    let takes_value = argument.get_action().takes_values();
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = names.iter().filter(|_| takes_value).map(ToString::to_string).collect();
    let many = argument.get_num_args().is_some_and(|it| 1 < it.max_values());
    let mut values = values.join(" ") + if many { "…" } else { "" };
    let Some(long) = argument.get_long() else { return values };
    if !values.is_empty() {
        values.insert(0, ' ');
    }
    let short = argument.get_short().map(|it| format!("-{it}, ")).unwrap_or_default();
    format!("{short}--{long}{values}")
}

/// What it means, what it may be, and what it is by default.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = cell(&help);
    let takes_value = argument.get_action().takes_values();
    let possible = argument.get_possible_values();
    let shown: Vec<_> = possible.iter().filter(|it| takes_value && !it.is_hide_set()).collect();
    if !shown.is_empty() {
        let named = |it: &&clap::builder::PossibleValue| match it.get_help() {
            Some(help) => format!("`{}` ({})", it.get_name(), words(&help.to_string())),
            None => format!("`{}`", it.get_name()),
        };
        let _ = write!(text, ". One of {}", shown.iter().map(named).collect::<Vec<_>>().join(", "));
    }
    let defaults: Vec<_> = argument.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    if takes_value && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        let end = if text.contains("<br>") { "<br>" } else { ". " };
        let _ = write!(text, "{end}Default: {}", codes(defaults.iter().map(|it| &**it)));
    }
    text
}

fn specification(name: &str) -> Result<String, String> {
    let entry = clewline_specs::CATALOG.find(name).ok_or_else(|| format!("no specification `{name}`"))?;
    let rows = entry
        .operations
        .iter()
        .map(|it| vec![code(&it.usage()), words(it.about), codes(it.aliases.iter().copied())]);
    Ok(table(&["operation", "what it does", "also called"], rows))
}

fn formats() -> String {
    let rows = clewline_formats::formats::FORMATS.built_in().iter().map(|it| {
        let carries = it.carries();
        let is = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        let extensions = codes(it.extensions().iter().copied());
        vec![
            code(it.name()),
            words(it.about()),
            extensions,
            is(carries.is_written),
            is(carries.pending),
            is(carries.times),
        ]
    });
    table(&["name", "what it is", "extensions", "written", "pending operations", "times"], rows)
}

fn algorithms() -> String {
    let checkers = clewline_check::checkers().map(|it| vec![code(it.name()), words(it.about())]);
    table(&["name", "what it does"], checkers)
}

fn bounds_of(bounds: &[clewline_explore::Bound]) -> String {
    bounds.iter().map(|it| format!("`--{}`", it.name)).collect::<Vec<_>>().join(", ")
}

fn schedulers() -> String {
    let is = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let rows = clewline_explore::schedulers::SCHEDULERS.built_in().iter();
    let rows =
        rows.map(|it| vec![code(it.name), words(it.about), is(it.is_exhaustive), bounds_of(it.bounds)]);
    table(&["name", "what it explores", "exhaustive within its bounds", "bounds"], rows)
}

fn message_schedulers() -> String {
    use clewline_actors::schedulers::Soundness;
    let rows = clewline_actors::schedulers::SCHEDULERS.built_in().iter().map(|it| {
        let is_complete = match (it.is_exhaustive, it.soundness) {
            (true, Soundness::Always) => "yes",
            (true, Soundness::IfKeysHold) => "if handlers of messages with different keys commute",
            (false, _) if !it.is_random => "up to its bound",
            _ => "no",
        };
        vec![code(it.name), words(it.about), is_complete.to_owned(), bounds_of(it.bounds)]
    });
    table(&["name", "what it explores", "complete", "bounds"], rows)
}

fn bounds() -> String {
    let threads = clewline_explore::schedulers::bounds();
    let messages = clewline_actors::schedulers::bounds();
    let only = messages.into_iter().filter(|it| !threads.iter().any(|known| known.name == it.name));
    let row = |it: &clewline_explore::Bound| {
        vec![code(&it.variable()), words(it.help), it.expected().to_owned(), it.default.to_string()]
    };
    let rows: Vec<_> = threads.iter().copied().chain(only).map(row).collect();
    table(&["variable", "meaning", "value", "default"], rows)
}

/// What a command lists, one object an entry.
fn listed(command: &str) -> Vec<Json> {
    clewline(&Folder::new("manual-listed"), &[command, "--format", "json"], "").json()
}

/// The text of a field, or nothing.
fn text<'j>(entry: &'j Json, field: &str) -> &'j str {
    entry[field].as_str().unwrap_or("")
}

/// What it is, for the first of several variants; then the variant, and its bug.
fn description(entries: &[Json], at: usize) -> String {
    let entry = &entries[at];
    let is_first = at == 0 || entries[at - 1]["about"] != entry["about"];
    let about = if is_first { text(entry, "about") } else { "" };
    let bug = match (text(entry, "flaw"), text(entry, "cause")) {
        ("", _) => String::new(),
        (flaw, "") => format!("**bug**: {}", words(flaw)),
        (flaw, cause) => format!("**bug** ({cause}): {}", words(flaw)),
    };
    let parts = [words(about), words(text(entry, "variant")), bug];
    let text = parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; ");
    if text.is_empty() { "no known bug".to_owned() } else { text }
}

fn names_and_descriptions(entries: &[Json]) -> String {
    let row = |(at, it): (usize, &Json)| {
        let has_calls = !it["calls"].as_array().is_some_and(Vec::is_empty);
        let spec = if has_calls { text(it, "spec") } else { "" };
        vec![code(text(it, "name")), description(entries, at), code(spec)]
    };
    table(&["name", "description", "specification"], entries.iter().enumerate().map(row))
}

/// Structures: not published crates, which are there with a feature only.
fn structures() -> String {
    let mut entries = listed("subjects");
    let names: Vec<&str> = clewline_lab::structures::STRUCTURES.names().collect();
    entries.retain(|it| names.contains(&text(it, "name").split(':').next().unwrap_or("")));
    names_and_descriptions(&entries)
}

fn classes() -> String {
    let mut entries = listed("subjects");
    entries.retain(|it| it["spec"].is_null());
    let row = |at: usize| vec![code(text(&entries[at], "name")), description(&entries, at)];
    table(&["name", "description"], (0..entries.len()).map(row))
}

fn systems() -> String {
    names_and_descriptions(&listed("systems"))
}

/// A builder, and the files with its methods.
struct Builder {
    name: &'static str,
    files: &'static [&'static str],
}

const BUILDERS: [Builder; 4] = [
    Builder {
        name: "Check",
        files: &["crates/clewline-methods/src/check/builder.rs", "crates/clewline-methods/src/check/mod.rs"],
    },
    Builder { name: "Explore", files: &["crates/clewline-systems/src/builder.rs"] },
    Builder { name: "LineUp", files: &["crates/clewline-methods/src/line_up/builder.rs"] },
    Builder { name: "Stress", files: &["crates/clewline-methods/src/stress/mod.rs"] },
];

/// The public methods of a builder, each with the first sentence of its documentation.
fn builder(name: &str) -> Result<String, String> {
    let builder = BUILDERS.iter().find(|it| it.name == name).ok_or_else(|| format!("no builder `{name}`"))?;
    let mut rows = Vec::new();
    for file in builder.files {
        let text = fs::read_to_string(markdown::root().join(file)).unwrap();
        rows.extend(methods(&text));
    }
    for method in ["`new`", "`run`", "`assert`"] {
        if !rows.iter().any(|it| it[0] == method) {
            return Err(format!("`{name}` has no {method}"));
        }
    }
    Ok(table(&["method", "meaning"], rows))
}

fn methods(source: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut documentation: Vec<&str> = Vec::new();
    for line in source.lines() {
        let is_indented = line.starts_with("    ") && !line.starts_with("     ");
        let line = line.trim_start();
        if let Some(words) = line.strip_prefix("///") {
            documentation.push(words.trim());
        } else if let Some(method) = line.strip_prefix("pub fn ").filter(|_| is_indented) {
            let name = method.split(['(', '<']).next().unwrap_or(method);
            let summary: Vec<&str> = documentation.drain(..).take_while(|it| !it.is_empty()).collect();
            rows.push(vec![code(name), words(&without_links(&summary.join(" ")))]);
        } else if !line.starts_with("#[") {
            documentation.clear();
        }
    }
    rows
}

/// The text without the targets of links, which only rustdoc knows.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let (label, after) = after.split_once(']').unwrap_or((after, ""));
        let target = after.strip_prefix('(').and_then(|it| it.split_once(')'));
        plain += &format!("{before}{label}");
        rest = target.map_or(after, |it| it.1);
    }
    plain + rest
}

#[test]
fn parts_are_replaced_and_the_rest_is_kept() {
    let page = "a\n<!-- generated: bounds -->\nold\n<!-- end -->\nb\n";
    let (text, names) = regenerate(page).unwrap();
    assert_eq!(names, ["bounds"]);
    assert!(text.starts_with("a\n<!-- generated: bounds -->\n| variable |"), "{text}");
    assert!(text.ends_with("|\n\n<!-- end -->\nb\n") && !text.contains("old"), "{text}");
    assert_eq!(regenerate(&text).unwrap().0, text);
    assert!(regenerate("<!-- generated: fate -->\n<!-- end -->").is_err());
    assert!(regenerate("<!-- generated: bounds -->\n").is_err());
    let source =
        "    /// Says [it](x) once.\n    ///\n    /// More.\n    #[must_use]\n    pub fn say<T>(self) {}\n";
    assert_eq!(methods(source), [["`say`", "Says it once."]]);
}
