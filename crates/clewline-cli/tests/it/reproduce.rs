//! `clewline reproduce` and `clewline tables`.

use std::collections::BTreeMap;

use clewline_lab::reproduce::{Entry, FETCHED, Form, TABLES};
use clewline_testing::pick_of_three;
use serde_json::Value as Json;

use crate::run::{Folder, clewline};

#[test]
fn every_table_is_listed_with_its_paper() {
    let folder = Folder::new("tables");
    let text = clewline(&folder, &["tables"], "").stdout;
    let objects = clewline(&folder, &["tables", "--format", "json"], "").json();
    assert_eq!(objects.len(), TABLES.len() + FETCHED.len());
    for (entry, object) in FETCHED.iter().zip(&objects[TABLES.len()..]) {
        assert!(text.contains(&format!("{}: {}\n", entry.name, entry.about)), "{text}");
        assert_eq!(object["name"], entry.name);
    }
    for (entry, object) in TABLES.iter().zip(objects) {
        assert!(text.contains(&format!("{}: {}\n  {}\n", entry.name, entry.about, entry.paper)), "{text}");
        assert_eq!(
            object,
            serde_json::json!({"name": entry.name, "about": entry.about, "paper": entry.paper})
        );
    }
    assert!(TABLES.is_sorted_by_key(|it| it.name), "in alphabetical order");
}

/// The others take longer. What they compute is tested where it is computed.
#[test]
fn small_tables_run_and_are_written_in_every_way() {
    let small = ["ds2-a4", "line-up-table-2", "lowe-fig5-map", "lowe-tree-searches"];
    for entry in TABLES.iter().filter(|it| small.contains(&it.name)) {
        check_table(entry, "small");
    }
}

/// With those above, one of each paper but that on monitors, whose histories take longer.
#[test]
fn a_small_table_of_round_up_runs_and_is_written_in_every_way() {
    for entry in TABLES.iter().filter(|it| it.name == "round-up-table-5") {
        check_table(entry, "other");
    }
}

#[test]
#[ignore = "long"]
fn every_table_runs_and_is_written_in_every_way() {
    TABLES.iter().for_each(|it| check_table(it, "every"));
}

#[track_caller]
fn check_table(entry: &Entry, test: &str) {
    let folder = Folder::new(&format!("reproduce-{test}-{}", entry.name));
    let mut args = vec!["reproduce", entry.name, "--quick", "--format", "json", "--csv", "out.csv"];
    if entry.form == Form::Plot {
        args.extend(["--svg", "out.svg"]);
    }
    let ran = clewline(&folder, &args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    let rows = ran.json();
    assert!(!rows.is_empty() && rows.iter().all(|it| it["table"] == entry.name), "{}", ran.stdout);
    check_csv(&folder.read("out.csv"), &rows);
    if entry.form == Form::Plot {
        check_svg(&folder.read("out.svg"));
    }
}

/// Where the libraries are installed, no verdict contradicts the one that was judged right. A limit
/// may be reached on a busy machine, but not by most.
#[test]
#[ignore = "long"]
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
fn structures_of_libraries_have_the_verdicts_that_were_judged_right() {
    let folder = Folder::new("unmodified-c");
    let ran = clewline(&folder, &["reproduce", "unmodified-c", "--quick", "--format", "json"], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (mut decided, mut undecided) = (0, 0);
    for row in ran.json() {
        match (row["verdict"].as_str(), row["expected"].as_str()) {
            (Some("skipped"), _) => eprintln!("notice: {}: {}", row["structure"], row["why"]),
            (Some("unknown"), Some("unknown")) => (),
            (Some("unknown"), _) => undecided += 1,
            (verdict, expected) => {
                assert_eq!(verdict, expected, "{row}");
                decided += 1;
            }
        }
    }
    assert!(undecided <= decided, "{decided} are decided, {undecided} are not");
}

/// One field per key in every line; one line per row, and the header.
#[track_caller]
fn check_csv(text: &str, rows: &[Json]) {
    let mut lines = text.lines();
    let keys: Vec<&str> = lines.next().unwrap().split(',').collect();
    for (line, row) in lines.by_ref().zip(rows) {
        // What has commas is in quotes.
        let mut is_quoted = false;
        let fields = line.split(|it: char| {
            is_quoted ^= it == '"';
            it == ',' && !is_quoted
        });
        let fields: Vec<&str> = fields.map(|it| it.trim_matches('"')).collect();
        assert_eq!(fields.len(), keys.len(), "{line}");
        for (key, field) in keys.iter().zip(fields) {
            let expected = match &row[key] {
                Json::Null => String::new(),
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(field.parse::<f64>().ok(), expected.parse::<f64>().ok(), "{key} in {line}");
            assert_eq!(field.is_empty(), expected.is_empty(), "{key} in {line}");
        }
    }
    assert_eq!((text.lines().count(), lines.next()), (rows.len() + 1, None));
}

/// Every element is closed, and no number is NaN.
#[track_caller]
fn check_svg(text: &str) {
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(1).map(|it| it.split('>').next().unwrap()) {
        let name = tag.split([' ', '\n']).next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    assert!(text.contains("class=\"line\"") && !text.contains("NaN") && !text.contains("inf"), "{text}");
}

#[test]
#[ignore = "long"]
fn text_has_aligned_columns_and_the_published_values() {
    let ran = clewline(&Folder::new("reproduce-text"), &["reproduce", "monitoring-fig2", "--quick"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let words: String = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "(Lee and Mathur 2024, Figure 2)",
        "The paper: \"Number of threads has limited effect on runtime\"",
        "The paper shows a plot and no figures",
        "set simulated 5,000 100",
        "Quick run",
    ] {
        assert!(words.contains(expected), "expected `{expected}` in:\n{}", ran.stdout);
    }
    let is_row = |it: &&str| it.starts_with("  set ") && it.contains("5,000");
    let ends: Vec<usize> = ran.stdout.lines().filter(is_row).map(|it| it.chars().count()).collect();
    assert!(ends.len() == 20 && ends.windows(2).all(|it| it[0] == it[1]), "{}", ran.stdout);
}

/// The page says where the counts of unique histories differ from DS2's, and ours are as it says;
/// everywhere else all counts are the same, but for the history before the first violation.
#[test]
#[ignore = "long"]
fn differences_from_ds2_are_those_on_the_page() {
    let page = include_str!("../../../../docs/research/reproduce.md");
    let head = "| table | scheduler | #UH, paper | ours | why |";
    let rows = page.split_once(head).expect("there is such a table").1.lines().skip(2);
    let mut written = BTreeMap::new();
    for row in rows.take_while(|it| it.starts_with('|')) {
        let cells: Vec<Vec<&str>> = row.split('|').map(|it| it.trim().split(", ").collect()).collect();
        let [_, tables, schedulers, paper, ours, ..] = &cells[..] else { panic!("{row}") };
        let places = tables.iter().flat_map(|table| schedulers.iter().map(move |it| (*table, *it)));
        assert_eq!(places.clone().count(), ours.len(), "{row}");
        written.extend(places.zip(paper.iter().copied().zip(ours.iter().copied())));
    }
    let folder = Folder::new("differences");
    let all: Vec<String> = (2..=11).map(|it| format!("A{it}")).collect();
    for table in pick_of_three(&all[2..3], &all[2..3], &all) {
        let name = format!("ds2-{}", table.to_lowercase());
        clewline(&folder, &["reproduce", &name, "--csv", "table.csv"], "");
        let text = folder.read("table.csv");
        // Those of the sound schedulers come later.
        let row = |at: &str| text.lines().find(|it| it.starts_with(at)).unwrap().split(',').skip(1);
        let cells = |figure: &str| -> Vec<(String, String)> {
            row("figure").zip(row(figure)).map(|(at, it)| (at.to_owned(), it.to_owned())).collect()
        };
        let rows = ["#UH", "#S", "#IH", "#NL"].map(cells);
        // The paper's figure and ours, for each scheduler.
        for (at, pair) in rows[0].chunks(2).enumerate() {
            let scheduler = pair[0].0.trim_end_matches("_paper").to_uppercase();
            let figures = (pair[0].1.clone(), pair[1].1.clone());
            match written.get(&(table.as_str(), scheduler.as_str())) {
                Some((paper, ours)) => {
                    assert_eq!(
                        figures,
                        (paper.replace(',', ""), ours.replace(',', "")),
                        "{table} {scheduler}"
                    );
                }
                None => {
                    for pair in rows.iter().map(|it| &it[2 * at..2 * at + 2]) {
                        assert_eq!(pair[0].1, pair[1].1, "{table} {scheduler}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_unknown_table_is_an_error_that_helps() {
    let folder = Folder::new("reproduce-unknown");
    let ran = clewline(&folder, &["reproduce", "monitor-fig1"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("no table is called `monitor-fig1`; did you mean `monitoring-fig1`?"),
        "{ran:?}"
    );
    let ran = clewline(&folder, &["reproduce", "xyz"], "");
    assert!(ran.code == 2 && ran.stderr.contains(", line-up-table-2, lowe-backtracking, "), "{ran:?}");
}

#[test]
fn an_unwritable_file_is_reported_first() {
    let folder = Folder::new("reproduce-unwritable");
    // Without --quick, the whole table would take far longer than a test may.
    let ran = clewline(&folder, &["reproduce", "monitoring-fig1", "--csv", "missing/out.csv"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: missing/out.csv: "), "{}", ran.stderr);
}
