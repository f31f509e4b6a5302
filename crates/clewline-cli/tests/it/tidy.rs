//! House rules that a test can check.

mod constants;
mod lines;
mod suites;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use lines::{Lines, test_modules};

use crate::arrows::tokens::{Product, tokens, without_tests};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every source file of the workspace's crates: its path from the root, and its text.
fn sources() -> Vec<(String, String)> {
    sources_in(&["crates"])
}

/// The source files in folders of the root: path from the root, and text.
fn sources_in(folders: &[&str]) -> Vec<(String, String)> {
    let sources = files_in(folders, "rs");
    assert!(30 < sources.len(), "the sources were found");
    sources
}

/// The sources in other languages: path from the root, and text.
fn other_sources() -> Vec<(String, String)> {
    let folders = ["crates", "capi", "python", "playground", "deploy"];
    let extensions = ["c", "h", "hpp", "cpp", "py", "js", "css", "sh"];
    let sources: Vec<_> = extensions.iter().flat_map(|it| files_in(&folders, it)).collect();
    assert!(50 < sources.len(), "the sources were found");
    sources
}

/// The pages for those who change Clewline: path from the root, and text.
fn own_pages() -> Vec<(String, String)> {
    let read = |it: &str| (it.to_owned(), fs::read_to_string(root().join(it)).unwrap());
    ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(read).to_vec()
}

/// README and the pages of the manual: path from the root, and text.
fn pages() -> Vec<(String, String)> {
    let mut pages = files_in(&["docs"], "md");
    assert!(10 < pages.len(), "the pages were found");
    pages.push(("README.md".to_owned(), fs::read_to_string(root().join("README.md")).unwrap()));
    pages
}

/// The files with an extension in folders of the root: path from the root, and text.
fn files_in(folders: &[&str], extension: &str) -> Vec<(String, String)> {
    fn visit(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_source = |it: &OsStr| it != "target" && !it.to_string_lossy().starts_with('.');
            if path.is_dir() {
                if path.file_name().is_some_and(is_source) {
                    visit(&path, extension, files);
                }
            } else if path.extension().is_some_and(|it| it == extension) {
                files.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    folders.iter().for_each(|it| visit(&root().join(it), extension, &mut paths));
    paths.sort();
    let name = |it: &Path| it.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    paths.iter().map(|it| (name(it), fs::read_to_string(it).unwrap())).collect()
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[track_caller]
fn expect_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_module_says_what_it_is() {
    let is_silent =
        |(path, text): &(String, String)| !path.ends_with("/tests.rs") && !text.starts_with("//! ");
    expect_none(sources().into_iter().filter(is_silent).map(|(path, _)| path).collect());
}

/// What a crate includes is packaged with it only if it is in its own folder.
#[test]
fn crates_include_only_their_own_files() {
    let mut complaints = Vec::new();
    let mut included = 0;
    for (path, text) in sources().into_iter().filter(|(path, _)| path.contains("/src/")) {
        // Below the folder of the crate: `crates/NAME/`.
        let depth = Path::new(&path).components().count() - 3;
        for (at, line) in text.lines().enumerate() {
            // Pages of the manual are included only by documentation tests.
            let code = ["include_str!(", "include_bytes!("].iter().find_map(|it| line.split_once(it));
            let code = code.filter(|it| !it.0.contains("doc = "));
            let Some(file) = code.and_then(|it| it.1.split('"').nth(1)) else { continue };
            included += 1;
            if depth < file.matches("../").count() {
                complaints.push(format!("{path}:{}: {file} is in another crate", at + 1));
            }
        }
    }
    assert!(10 < included, "includes were found: {included}");
    expect_none(complaints);
}

#[test]
fn files_hold_one_idea() {
    let long = |(path, text): (String, String)| {
        let lines = text.lines().count();
        (800 < lines).then(|| format!("{path}: {lines} lines, at most 800"))
    };
    expect_none(sources().into_iter().filter_map(long).collect());
}

/// A function runs from the line of its `fn` to the closing brace at the same indentation.
#[test]
fn functions_fit_a_screen() {
    const FUNCTION_LINES_MAX: usize = 70;
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let starts =
                ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn "].iter().any(|it| code.starts_with(it));
            if !starts || code.ends_with(';') {
                continue;
            }
            let indent = &line[..line.len() - code.len()];
            let head = lines[at..].iter().find(|it| it.starts_with(&format!("{indent})")));
            if code.ends_with('(') && head.is_some_and(|it| it.ends_with(';')) {
                continue;
            }
            let end = format!("{indent}}}");
            let length = lines[at..].iter().position(|it| **it == end).map_or(1, |it| it + 1);
            if FUNCTION_LINES_MAX < length {
                complaints.push(format!(
                    "{path}:{}: a function of {length} lines, at most {FUNCTION_LINES_MAX}",
                    at + 1
                ));
            }
        }
    }
    expect_none(complaints);
}

#[test]
fn constants_name_their_subject_and_unit() {
    let files = sources();
    let product = files.iter().filter(|it| !is_test(&it.0));
    expect_none(
        product
            .flat_map(|(path, text)| text.lines().filter_map(|it| constants::complaint(path, it)))
            .collect(),
    );
}

/// Where banned words and long comments are rejected, as in [`other_sources`] and [`own_pages`].
/// Banned words are rejected on [`pages`], too.
const IN_PLAIN_LANGUAGE: [&str; 4] = ["bench", "crates", "examples", "fuzz"];

/// Words that hide whether a thread, a process, an operation or a user is meant. Spelled in halves,
/// so that this file does not contain them.
const BANNED_WORDS: [(&str, &str); 10] = [
    ("some", "body"),
    ("no", "body"),
    ("some", "one"),
    ("who", "ever"),
    ("whom", "ever"),
    ("any", "body"),
    ("any", "one"),
    ("every", "body"),
    ("every", "one"),
    ("so ", "many"),
];

/// Phrases that are banned in sources and in the sentences of pages, but not in code and in reports
/// that a page shows.
const BANNED_PHRASES: [(&str, &str); 5] =
    [("for ", "ever"), ("answ", "ered"), ("is ", "told"), ("was ", "told"), ("were ", "told")];

/// Names of our own for a scenario, a test program and an execution, and where they are banned:
/// elsewhere they may mean what they say.
const OLD_NAMES: [(&str, &str); 3] = [("sce", "ne"), ("tri", "al"), ("wa", "lk")];
const WITHOUT_OLD_NAMES: [&str; 3] = ["crates/clewline-methods", "crates/clewline-lab", "examples"];

/// The first banned word of a line, also as a part of a name in snake case.
fn banned_word(line: &str) -> Option<String> {
    word_in(line, &BANNED_WORDS)
}

/// The first of these words that a line contains, also as a part of a name in snake case.
fn word_in(line: &str, words: &[(&str, &str)]) -> Option<String> {
    let line = line.to_lowercase();
    let is_word_at = |at: usize, length: usize| {
        let is_letter = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
        !is_letter(line[..at].chars().next_back()) && !is_letter(line[at + length..].chars().next())
    };
    words.iter().map(|(head, tail)| format!("{head}{tail}")).find(|word| {
        [word.clone(), word.replace(' ', "_")]
            .iter()
            .any(|word| line.match_indices(word.as_str()).any(|(at, _)| is_word_at(at, word.len())))
    })
}

/// Names of our own for a sampler and for what does not fit.
const OLD_NAMES_EVERYWHERE: [(&str, &str); 2] = [("di", "ce"), ("mis", "fit")];

#[test]
fn samplers_and_errors_are_named_as_such() {
    let mut complaints = Vec::new();
    for (path, text) in sources_in(&IN_PLAIN_LANGUAGE) {
        for (number, line) in (1..).zip(text.lines()) {
            let found = word_in(line, &OLD_NAMES_EVERYWHERE);
            complaints.extend(found.map(|it| format!("{path}:{number}: \"{it}\"")));
        }
    }
    expect_none(complaints);
}

#[test]
fn executions_and_test_programs_are_named_as_such() {
    let mut complaints = Vec::new();
    for (path, text) in sources_in(&WITHOUT_OLD_NAMES) {
        for (number, line) in (1..).zip(text.lines()) {
            complaints.extend(word_in(line, &OLD_NAMES).map(|it| format!("{path}:{number}: \"{it}\"")));
        }
    }
    expect_none(complaints);
}

#[test]
fn threads_and_users_are_named_as_such() {
    let mut complaints = Vec::new();
    let sources = sources_in(&IN_PLAIN_LANGUAGE).into_iter().chain(other_sources());
    for (path, text) in sources.chain(pages()).chain(own_pages()) {
        for (number, line) in (1..).zip(text.lines()) {
            complaints.extend(banned_word(line).map(|it| format!("{path}:{number}: \"{it}\"")));
        }
    }
    expect_none(complaints);
}

/// A method returns a result, and a call waits forever.
#[test]
fn sources_and_pages_use_the_words_of_the_field() {
    let mut complaints = Vec::new();
    let sources = sources_in(&IN_PLAIN_LANGUAGE).into_iter().chain(other_sources());
    for (path, text) in sources.chain(pages()).chain(own_pages()) {
        let mut is_block = false;
        for (number, line) in (1..).zip(text.lines()) {
            is_block ^= line.starts_with("```");
            let found = word_in(line, &BANNED_PHRASES).filter(|_| !is_block);
            complaints.extend(found.map(|it| format!("{path}:{number}: \"{it}\"")));
        }
    }
    expect_none(complaints);
}

/// Terms that a reader searches for. The manual uses each at least once.
const STANDARD_TERMS: [&str; 13] = [
    "linearization point",
    "linearization",
    "counterexample",
    "invocation and response",
    "sequential history",
    "pending operation",
    "deadlock",
    "livelock",
    "fairness",
    "partial-order reduction",
    "happens-before",
    "preemption bound",
    "bug depth",
];

#[test]
fn the_manual_has_the_standard_terms() {
    // The glossary has them all, so it does not count.
    let pages = pages().into_iter().filter(|it| !it.0.ends_with("glossary.md"));
    let manual: Vec<String> = pages.map(|it| it.1.to_lowercase().replace('\n', " ")).collect();
    let is_missing = |term: &&str| !manual.iter().any(|page| page.contains(*term));
    let missing = STANDARD_TERMS.iter().filter(|it| is_missing(it));
    expect_none(missing.map(|it| format!("no page says \"{it}\"")).collect());
}

#[test]
fn banned_words_are_found_as_words_and_in_names() {
    let (head, tail) = BANNED_WORDS[1];
    assert!(banned_word(&format!("// {}{tail} waits", head.to_uppercase())).is_some());
    assert!(banned_word(&format!("fn {head}{tail}_waits() {{")).is_some());
    assert_eq!(banned_word(&format!("{head}{tail}x, and also manyfold")), None);
    let (head, tail) = BANNED_WORDS[9];
    assert!(banned_word(&format!("{head}{tail} runs")).is_some());
}

#[test]
fn comments_have_at_most_100_columns() {
    const COLUMNS_MAX: usize = 100;
    let mut complaints = Vec::new();
    for (path, text) in sources_in(&IN_PLAIN_LANGUAGE).into_iter().chain(other_sources()) {
        let signs: &[&str] =
            if [".py", ".sh"].iter().any(|it| path.ends_with(it)) { &["#"] } else { &["//", "/*", "* "] };
        let mut is_example = false;
        for (number, line) in (1..).zip(text.lines()) {
            let columns = line.chars().count();
            let text = line.trim_start().trim_start_matches(['/', '!', '*', '#']).trim_start();
            is_example ^= text.starts_with("```");
            let is_comment = signs.iter().any(|it| line.trim_start().starts_with(it));
            // A row of a table cannot be wrapped, and an example is as wide as code.
            if is_comment && !text.starts_with('|') && !is_example && COLUMNS_MAX < columns {
                complaints.push(format!("{path}:{number}: a comment of {columns} columns"));
            }
        }
    }
    expect_none(complaints);
}

/// A change, an invariant or a rule is said in two lines of 100 columns at most.
#[test]
fn bullets_have_at_most_two_lines() {
    let (mut complaints, mut bullets) = (Vec::new(), 0);
    for (path, text) in own_pages() {
        let (mut is_block, mut bullet) = (false, None);
        for (number, line) in (1..).zip(text.lines().chain([""])) {
            is_block ^= line.trim_start().starts_with("```");
            let sentence = line.trim_start();
            let starts = !is_block && ["- ", "* "].iter().any(|it| sentence.starts_with(it));
            let continues = !is_block && line.starts_with("  ") && !sentence.is_empty() && !starts;
            if let (Some((_, lines)), true) = (bullet.as_mut(), continues) {
                *lines += 1;
            } else if let Some((at, lines)) = bullet.take()
                && 2 < lines
            {
                complaints.push(format!("{path}:{at}: a bullet of {lines} lines"));
            }
            if starts {
                bullets += 1;
                bullet = Some((number, 1));
            }
            let is_wide = 100 < line.chars().count() && !is_block && !sentence.starts_with('|');
            complaints.extend(is_wide.then(|| format!("{path}:{number}: a line of more than 100 columns")));
        }
    }
    assert!(150 < bullets, "{bullets}");
    expect_none(complaints);
}

#[test]
fn nothing_is_left_undone_or_switched_off() {
    // Spelled in halves, so that this file does not complain about itself.
    let banned = [
        ("todo", "!("),
        ("unimplemented", "!("),
        ("dbg", "!("),
        ("FIX", "ME"),
        ("XX", "X"),
        ("#[ign", "ore"),
    ];
    // These are run by `./test all`.
    let is_postponed = |line: &str| ["\"long\"]", "\"needs a browser\"]"].iter().any(|it| line.ends_with(it));
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        for (number, line) in (1..).zip(text.lines()) {
            for (head, tail) in banned {
                if line.contains(&format!("{head}{tail}")) && !is_postponed(line) {
                    complaints.push(format!("{path}:{number}: {head}{tail}"));
                }
            }
        }
    }
    expect_none(complaints);
}

#[test]
fn libraries_do_not_print() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let may_print =
            is_test(&path) || path.starts_with("crates/clewline-cli/src/") || path.contains("/examples/");
        for (number, line) in (1..).zip(text.lines()) {
            let prints = ["println!(", "print!("].iter().any(|it| line.contains(it));
            if prints && !may_print && !line.trim_start().starts_with("//") {
                complaints.push(format!("{path}:{number}: a library prints"));
            }
        }
    }
    expect_none(complaints);
}

/// The dependencies of each crate, one crate a line, without those of tests.
///
/// `tsan` is loaded into the programs of users, so it has neither reports nor checkers.
const DEPENDENCIES: &str = "
clewline: clewline-actors clewline-async clewline-check clewline-core clewline-formats clewline-macros \
clewline-matrix clewline-methods clewline-report clewline-specs clewline-systems clewline-threads
clewline-actors: clewline-core clewline-explore hashbrown rustc-hash serde serde_json
clewline-async: clewline-explore clewline-threads
clewline-check: clewline-core clewline-monitor clewline-search
clewline-cli: bzip2 clap clap_complete clewline-actors clewline-check clewline-columns clewline-core \
clewline-explore clewline-formats clewline-lab clewline-matrix clewline-methods clewline-monitor clewline-report \
clewline-script clewline-specs clewline-systems clewline-threads clewline-unmodified flate2 indicatif ruzstd serde_json signal-hook
clewline-columns: arrow-array arrow-ipc arrow-schema bytes clewline-core clewline-formats parquet \
serde_json
clewline-core: hashbrown rustc-hash serde strsim
clewline-explore: clewline-core hashbrown rustc-hash
clewline-formats: clewline-core memchr quick-xml serde serde_json
clewline-lab: clewline-actors clewline-check clewline-core clewline-explore clewline-formats clewline-matrix \
clewline-methods clewline-monitor clewline-report clewline-specs clewline-systems clewline-threads clewline-unmodified \
concurrent-queue crossbeam-queue crossbeam-skiplist crossfire crossfire-3 dashmap flume flume-010 heapless kanal papaya scc serde thingbuf
clewline-macros: proc-macro2 quote syn
clewline-matrix: clewline-core clewline-explore clewline-threads
clewline-methods: clewline-check clewline-core clewline-explore clewline-formats clewline-matrix \
clewline-report clewline-specs clewline-threads rustc-hash serde serde_json
clewline-monitor: clewline-core
clewline-remote: clewline-core clewline-explore clewline-matrix clewline-threads rustc-hash
clewline-report: clewline-core serde_json unicode-width
clewline-script: clewline-core
clewline-search: batsat clewline-core clewline-monitor
clewline-specs: clewline-core
clewline-systems: clewline-actors clewline-check clewline-core clewline-explore clewline-formats clewline-methods \
clewline-report clewline-specs serde_json
clewline-testing:
clewline-threads: clewline-core clewline-explore corosensei libc
clewline-tsan: backtrace clewline-core clewline-explore clewline-matrix clewline-remote clewline-threads libc \
rustc-hash
clewline-unmodified: clewline-core clewline-remote rustix serde_json
";

/// What a manifest depends on, also on some systems only, but not for tests alone.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut is_list = false;
    for line in manifest.lines().map(str::trim).filter(|it| !it.starts_with('#')) {
        if let Some(heading) = line.strip_prefix('[') {
            let heading = heading.trim_end_matches(']');
            let kind =
                if heading.starts_with("target.") { heading.rsplit("'.").next() } else { Some(heading) };
            let (kind, name) = kind.and_then(|it| it.split_once('.')).unwrap_or((kind.unwrap_or(""), ""));
            let is_kind = ["dependencies", "build-dependencies"].contains(&kind);
            is_list = is_kind && name.is_empty();
            names.extend(Some(name).filter(|it| is_kind && !it.is_empty()));
        } else if is_list && !line.is_empty() {
            names.extend(line.split(['.', ' ', '=']).next());
        }
    }
    names
}

#[test]
fn dependencies_are_read_from_every_table() {
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\n# Why.\nb.workspace = true\nc = { version = \"1\" }\n\n\
                    [target.'cfg(all(unix, target_env = \"gnu\"))'.dependencies]\nd = \"1\"\n\n\
                    [dependencies.e]\nversion = \"1\"\n\n[dev-dependencies]\nf = \"1\"\n\n\
                    [target.'cfg(unix)'.dev-dependencies]\ng = \"1\"\n\n[build-dependencies]\nh = \"1\"\n";
    assert_eq!(dependencies(manifest).into_iter().collect::<String>(), "bcdeh");
}

#[test]
fn crates_depend_only_on_allowed_crates() {
    let listed: BTreeMap<&str, BTreeSet<&str>> = (DEPENDENCIES.lines().filter_map(|it| it.split_once(':')))
        .map(|(name, list)| (name, list.split_whitespace().collect()))
        .collect();
    let manifests = files_in(&["crates"], "toml");
    let manifests =
        manifests.iter().filter_map(|(path, text)| Some((path.strip_suffix("/Cargo.toml")?, text)));
    let (mut complaints, mut found) = (Vec::new(), BTreeSet::new());
    for (path, manifest) in manifests.filter(|it| it.0.matches('/').count() == 1) {
        let name = path.trim_start_matches("crates/");
        found.insert(name);
        let Some(allowed) = listed.get(name) else {
            complaints.push(format!("{name}: list what this crate may depend on, in `DEPENDENCIES`"));
            continue;
        };
        let has = dependencies(manifest);
        complaints.extend(has.difference(allowed).map(|it| format!("{name} may not depend on {it}")));
        complaints.extend(allowed.difference(&has).map(|it| format!("{name} does not depend on {it}")));
    }
    complaints.extend(listed.keys().filter(|it| !found.contains(**it)).map(|it| format!("{it} is no crate")));
    expect_none(complaints);
}

/// The number of lines of each crate, without tests. To count them takes a while, so it is done
/// once.
fn lines_of_crates() -> BTreeMap<String, Lines> {
    static LINES: OnceLock<BTreeMap<String, Lines>> = OnceLock::new();
    LINES.get_or_init(count_lines_of_crates).clone()
}

fn count_lines_of_crates() -> BTreeMap<String, Lines> {
    let sources: Vec<_> = sources().into_iter().filter(|(path, _)| path.contains("/src/")).collect();
    let products: Vec<Product> = sources.iter().map(|(_, text)| without_tests(&tokens(text))).collect();
    let files = || sources.iter().zip(&products);
    let tests: Vec<String> = files().flat_map(|((path, _), product)| test_modules(path, product)).collect();
    let is_product = |path: &str| !is_test(path) && !tests.iter().any(|it| path.starts_with(it));
    let mut lines: BTreeMap<String, Lines> = BTreeMap::new();
    for ((path, text), product) in files().filter(|it| is_product(&it.0.0)) {
        let name = path.split('/').nth(1).unwrap();
        let of_crate = lines.entry(name.to_owned()).or_default();
        *of_crate = of_crate.and(Lines::of_product(text, product));
    }
    lines
}

#[test]
fn crates_are_small_and_the_facade_is_smallest() {
    let lines = lines_of_crates();
    let most = |name: &str| match name {
        "clewline" => 1_500,
        // Not part of the product.
        "clewline-lab" => usize::MAX,
        _ => 15_000,
    };
    let long = lines.iter().filter(|(name, lines)| most(name) < lines.all);
    let complaint =
        |name: &str, lines: &Lines| format!("{name}: {} lines, at most {}", lines.all, most(name));
    expect_none(long.map(|(name, lines)| complaint(name, lines)).collect());
}

/// The crates that depend on a crate, as the table of ARCHITECTURE.md writes them.
fn dependents(name: &str) -> Vec<String> {
    let manifests = files_in(&["crates"], "toml");
    let depends = manifests.iter().filter(|(_, text)| dependencies(text).contains(name));
    let short = |path: &str| match path.split('/').nth(1).unwrap() {
        "clewline" => "facade".to_owned(),
        name => name.trim_start_matches("clewline-").to_owned(),
    };
    depends.map(|(path, _)| short(path)).collect()
}

/// ARCHITECTURE.md has a table of the crates with their lines, to within a twentieth, and their
/// dependents.
#[test]
fn the_table_of_lines_and_dependents_is_up_to_date() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, table) = text.split_once("\n| crate | before | now | dependents |\n").expect("the table");
    let (mut complaints, mut lines) = (Vec::new(), lines_of_crates());
    lines.remove("clewline-testing");
    let is_near = |said: &str, counted: usize| {
        let said: usize = said.replace(',', "").parse().expect("a number");
        said.abs_diff(counted) <= 100.max(counted / 20)
    };
    let product = lines.iter().filter(|it| it.0 != "clewline-lab").map(|it| *it.1);
    let sum = product.reduce(Lines::and).expect("there are crates");
    let sums = [("Without the lab there are ", sum.all), ("without comments and blank lines, ", sum.code)];
    let flat = text.replace('\n', " ");
    for (what, counted) in sums {
        let said = flat.split_once(what).expect("the sum").1.split(' ').next().unwrap();
        if !is_near(said, counted) {
            complaints.push(format!("{what}{counted} lines, not {said}"));
        }
    }
    for row in table.lines().skip(1).take_while(|it| it.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        let Some(counted) = lines.remove(name) else {
            complaints.push(format!("{name} is no crate, or is there twice"));
            continue;
        };
        if !is_near(cells[3], counted.all) {
            complaints.push(format!("{name} has {} lines, not {}", counted.all, cells[3]));
        }
        let mut said: Vec<&str> =
            cells[4].split(", ").filter(|it| !it.is_empty() && !it.starts_with('–')).collect();
        said.sort_unstable();
        let mut depends = dependents(name);
        depends.sort_unstable();
        if said != depends {
            complaints.push(format!("dependents of {name}: {}", depends.join(", ")));
        }
    }
    complaints.extend(lines.keys().map(|it| format!("{it} is not in the table")));
    expect_none(complaints);
}

/// The tables that follow an operation and a choice through the crates name files and functions.
#[test]
fn what_the_birds_eye_view_names_exists() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let view = page.split("\n## Code map\n").next().unwrap();
    let sources = sources();
    let (mut complaints, mut rows) = (Vec::new(), 0);
    for row in view.lines().filter_map(|it| it.strip_prefix("| `")) {
        let (name, rest) = row.split_once('`').unwrap();
        let src = format!("crates/{name}/src/");
        let inside: Vec<&str> =
            sources.iter().filter(|it| it.0.starts_with(&src)).map(|it| it.1.as_str()).collect();
        rows += 1;
        for named in rest.split('`').skip(1).step_by(2) {
            let last = named.rsplit("::").next().unwrap();
            let is_there = match named.contains(['/', '.']) {
                true => root().join(&src).join(named).exists(),
                false => ["fn", "struct", "trait", "enum"].iter().any(|kind| {
                    let is_declared = |text: &&str| {
                        let found = text.split(&format!("{kind} {last}")).nth(1);
                        found.is_some_and(|it| it.starts_with(['(', '<', ' ', ':', ';']))
                    };
                    sources.iter().any(|it| is_declared(&it.1.as_str()) && !is_test(&it.0))
                        && (named == last && !last.starts_with(char::is_lowercase)
                            || inside.iter().any(is_declared))
                }),
            };
            if !is_there {
                complaints.push(format!("{name}: there is no `{named}`"));
            }
        }
    }
    assert!(15 < rows, "{rows} rows");
    expect_none(complaints);
}

/// The root of the library has the items that a user needs first, and few others.
#[test]
fn the_root_of_the_library_fits_a_page() {
    let facade = fs::read_to_string(root().join("crates/clewline/src/lib.rs")).unwrap();
    let code: String =
        facade.lines().filter(|it| !it.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    // At the beginning of a line: what is in a module is indented.
    let uses = code.split("\npub use ").skip(1).filter_map(|it| it.split(';').next());
    let names = uses.map(|it| match it.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}').split(',').filter(|it| !it.trim().is_empty()).count(),
        None => 1,
    });
    let items = names.sum::<usize>() + code.matches("\npub mod ").count();
    assert!((20..=30).contains(&items), "{items} items at the root of `clewline`, at most 30");
}

#[test]
fn the_manual_lists_every_feature() {
    let manifest = fs::read_to_string(root().join("crates/clewline/Cargo.toml")).unwrap();
    let page = fs::read_to_string(root().join("docs/how-to/install.md")).unwrap();
    let features = manifest.split("\n[features]\n").nth(1).unwrap().split("\n[").next().unwrap();
    let names: Vec<&str> = features.lines().filter_map(|it| Some(it.split_once(" = ")?.0)).collect();
    assert!(5 < names.len(), "{names:?}");
    let missing = names.iter().filter(|it| **it != "default" && !page.contains(&format!("| `{it}` |")));
    expect_none(missing.map(|it| format!("docs/how-to/install.md lacks the feature `{it}`")).collect());
}

/// A new error variant must not break code that matches on the others.
#[test]
fn public_errors_may_grow() {
    let (mut complaints, mut found) = (Vec::new(), 0);
    for (path, text) in sources() {
        if is_test(&path) || !path.contains("/src/") || path.starts_with("crates/clewline-lab") {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        let impls = lines.iter().filter_map(|it| it.split_once("Error for ")?.1.strip_suffix(" {}"));
        for name in impls {
            let Some(at) = lines.iter().position(|it| *it == format!("pub enum {name} {{")) else { continue };
            found += 1;
            if lines[at - 1] != "#[non_exhaustive]" {
                complaints.push(format!("{path}:{}: `{name}` is an error: mark it non_exhaustive", at + 1));
            }
        }
    }
    assert!(7 < found, "{found} enums that are errors");
    expect_none(complaints);
}

/// Who writes such a struct as a literal takes the fields that are not named from its default, so
/// that a new field breaks nothing.
#[test]
fn options_have_defaults() {
    let (mut complaints, mut found) = (Vec::new(), 0);
    let is_published = |path: &str| {
        let name = path.split('/').nth(1).unwrap();
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        path.contains("/src/") && !is_test(path) && !manifest.contains("\npublish = false\n")
    };
    for (path, text) in sources().iter().filter(|it| is_published(&it.0)) {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(rest) = line.strip_prefix("pub struct ") else { continue };
            let name = rest.split(['<', ' ']).next().unwrap();
            if !["Options", "Settings", "Limits"].iter().any(|it| name.ends_with(it)) {
                continue;
            }
            found += 1;
            let above = lines[..at].iter().rev().take_while(|it| it.starts_with("#["));
            let is_derived = above.into_iter().any(|it| it.contains("Default"));
            let is_written =
                ["", "<'_>"].iter().any(|it| text.contains(&format!("Default for {name}{it} {{")));
            if !is_derived && !is_written {
                complaints.push(format!("{path}:{}: `{name}` has no default", at + 1));
            }
        }
    }
    assert!(7 < found, "{found} structs of options");
    expect_none(complaints);
}

#[test]
fn unsafe_code_is_in_two_crates() {
    let mut complaints = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let path = folder.unwrap().path();
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let takes_lints = manifest.contains("[lints]\nworkspace = true");
        let may = ["clewline-threads", "clewline-tsan"].iter().any(|it| path.ends_with(it));
        if takes_lints == may {
            complaints.push(format!("{}: the workspace's lints forbid unsafe code", path.display()));
        }
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(workspace.contains("unsafe_code = \"forbid\""));
    expect_none(complaints);
}

#[test]
fn every_dependency_has_a_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let reasons = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let dependencies = manifest.split("[workspace.dependencies]").nth(1).unwrap();
    let names =
        dependencies.lines().take_while(|it| !it.starts_with('[')).filter_map(|it| it.split_once(" = "));
    let is_unexplained =
        |name: &str| !name.starts_with("clewline") && !reasons.contains(&format!("`{name}`"));
    expect_none(names.map(|(name, _)| name.to_owned()).filter(|it| is_unexplained(it)).collect());
}

#[test]
fn the_manual_covers_every_table() {
    let tables = fs::read_to_string(root().join("docs/research/reproduce.md")).unwrap();
    let named = clewline_lab::reproduce::TABLES.iter().map(|it| it.name);
    let named = named.chain(clewline_lab::reproduce::FETCHED.iter().map(|it| it.name));
    let missing = named.filter(|it| !tables.contains(&format!("`{it}`")));
    expect_none(missing.map(|it| format!("docs/research/reproduce.md lacks {it}")).collect());
}

/// The items of the lists in brackets of a file: names of modules, among others.
fn listed(text: &str) -> Vec<&str> {
    let lists = text.split(['&', '!']).filter_map(|it| it.strip_prefix('[')?.split(']').next());
    lists.flat_map(|it| it.split([',', ' ', '\n', ':'])).filter(|it| !it.is_empty()).collect()
}

/// Of a folder of modules with entries, every file is declared, and every entry is in the list.
#[test]
fn every_entry_is_in_its_table() {
    let sources = sources();
    let (mut complaints, mut tables) = (Vec::new(), Vec::new());
    for (index, text) in &sources {
        let Some(folder) = ["/mod.rs", "/lib.rs"].iter().find_map(|it| index.strip_suffix(it)) else {
            continue;
        };
        let inside = |path: &str| {
            let name = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?.to_owned();
            (!name.contains('/') && !["mod", "lib", "main"].contains(&name.as_str())).then_some(name)
        };
        let files: Vec<_> = sources.iter().filter_map(|(path, text)| Some((inside(path)?, text))).collect();
        let has_entry =
            |text: &str| text.contains("\npub const ENTRY: ") || text.contains("\npub static ENTRY: ");
        if !files.iter().any(|it| has_entry(it.1)) {
            continue;
        }
        tables.push(folder);
        let listed = listed(text);
        for (name, file) in files {
            if !text.contains(&format!("mod {name};")) {
                complaints.push(format!("{index}: write `pub mod {name};`, or nothing compiles that file"));
            }
            if has_entry(file) && !listed.contains(&name.as_str()) {
                complaints.push(format!("{index}: add {name} to the list, or no name leads to its entry"));
            }
        }
    }
    assert!(8 < tables.len(), "{tables:?}");
    expect_none(complaints);
}
