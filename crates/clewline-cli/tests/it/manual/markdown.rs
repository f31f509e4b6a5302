//! Pages in Markdown, as far as the manual uses it.

use std::{
    fs,
    path::{Path, PathBuf},
};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page: its path from the root, and its text.
pub(super) struct Page {
    pub(super) name: String,
    pub(super) text: String,
}

/// A fenced block.
pub(super) struct Block<'p> {
    /// The line of its fence, from 1.
    pub(super) line: usize,
    /// What follows the fence.
    pub(super) language: &'p str,
    pub(super) body: Vec<&'p str>,
    /// The comment right before it.
    comment: Option<&'p str>,
}

impl Block<'_> {
    /// Whether a comment says why it is not checked.
    pub(super) fn is_unchecked(&self) -> bool {
        self.comment.and_then(|it| it.strip_prefix("unchecked: ")).is_some_and(|it| !it.is_empty())
    }
}

impl Page {
    pub(super) fn read(name: &str) -> Page {
        Page { name: name.to_owned(), text: fs::read_to_string(root().join(name)).unwrap() }
    }

    /// Its fenced blocks.
    pub(super) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut comment = None;
        let mut lines = (1..).zip(self.text.lines());
        while let Some((line, text)) = lines.next() {
            if let Some(language) = text.strip_prefix("```") {
                let body = lines.by_ref().map(|it| it.1).take_while(|it| *it != "```").collect();
                blocks.push(Block { line, language, body, comment: comment.take() });
            } else if !text.is_empty() {
                comment = text.strip_prefix("<!-- ").and_then(|it| it.strip_suffix(" -->"));
            }
        }
        blocks
    }

    /// Its lines outside of fenced blocks, with their numbers.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut is_inside = false;
        (1..).zip(self.text.lines()).filter(move |(_, line)| {
            let is_fence = line.starts_with("```");
            is_inside ^= is_fence;
            !is_inside && !is_fence
        })
    }

    /// Where its links and images lead.
    pub(super) fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for (_, line) in self.prose() {
            // What is between backticks is no link, unless it is the text of one.
            let plain: Vec<&str> = line.split('`').step_by(2).collect();
            let found = plain.join("_");
            let targets = found.split("](").skip(1).filter_map(|it| it.split(')').next());
            links.extend(targets.map(str::to_owned));
        }
        links
    }

    /// The anchors of its headings, as forges and mdBook make them.
    pub(super) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        let headings = self.prose().filter(|it| it.1.starts_with('#'));
        for (_, line) in headings {
            let title = line.trim_start_matches('#').trim();
            let is_kept = |it: &char| it.is_alphanumeric() || matches!(it, '-' | '_' | ' ');
            let slug: String = title.chars().filter(is_kept).collect();
            let slug = slug.replace(' ', "-").to_lowercase();
            let again = (0..).map(|it| if it == 0 { slug.clone() } else { format!("{slug}-{it}") });
            let anchor = again.into_iter().find(|it| !anchors.contains(it));
            anchors.extend(anchor);
        }
        anchors
    }

    /// Commands of ours, in blocks and in sentences, with their lines.
    pub(super) fn commands(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for block in self.blocks().into_iter().filter(|it| ["sh", "yaml"].contains(&it.language)) {
            for (line, text) in (block.line + 1..).zip(block.body) {
                let text = text.trim_start_matches([' ', '-']).trim_start_matches("run: ");
                if text.starts_with("clewline ") {
                    found.push((line, text.to_owned()));
                }
            }
        }
        for (line, text) in self.prose() {
            let spans = text.split('`').skip(1).step_by(2).filter(|it| it.starts_with("clewline "));
            found.extend(spans.map(|it| (line, it.to_owned())));
        }
        found
    }
}

/// The path from the root to which a link of the page `from` leads; none if it leads elsewhere.
pub(super) fn target(from: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let path = link.split('#').next().unwrap_or("");
    if path.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => (),
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The pages in a folder of the root and in the folders within it, sorted by their names.
pub(super) fn below(folder: &str) -> Vec<Page> {
    let names = names(folder).into_iter().filter(|it| it.ends_with(".md"));
    names.map(|it| Page::read(&it)).collect()
}

/// The texts of all files with that extension in a folder of the root, but for tests.
pub(super) fn files(folder: &str, extension: &str) -> Vec<String> {
    let names = names(folder).into_iter().filter(|it| it.ends_with(&format!(".{extension}")));
    let names = names.filter(|it| !it.contains("/tests/") && !it.ends_with("/tests.rs"));
    names.map(|it| fs::read_to_string(root().join(it)).unwrap()).collect()
}

/// The source files of all crates: paths from the root, and texts.
pub(super) fn sources() -> Vec<(String, String)> {
    let names = names("crates").into_iter().filter(|it| it.ends_with(".rs"));
    names.map(|it| (it.clone(), fs::read_to_string(root().join(it)).unwrap())).collect()
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| format!("{folder}/{}", it.unwrap().file_name().display())).collect();
    names.retain(|it| !it.ends_with("/target"));
    names.sort();
    let below = |it: String| if root().join(&it).is_dir() { self::names(&it) } else { vec![it] };
    names.into_iter().flat_map(below).collect()
}

#[test]
fn pages_are_read() {
    let text = "# A `b`: c\n<!-- unchecked: why -->\n```x\n](no)\n```\n[`d`](e.md#f) `](no)`\n## A b c\n\
                ```sh\nclewline check x\n```\n`clewline specs`\n";
    let page = Page { name: "docs/p/q.md".to_owned(), text: text.to_owned() };
    assert_eq!(page.anchors(), ["a-b-c", "a-b-c-1"]);
    assert_eq!(page.links(), ["e.md#f"]);
    assert_eq!(page.commands(), [(9, "clewline check x".to_owned()), (11, "clewline specs".to_owned())]);
    assert!(page.blocks()[0].is_unchecked() && !page.blocks()[1].is_unchecked());
    assert_eq!(target(&page.name, "../r.md#s").as_deref(), Some("docs/r.md"));
    assert_eq!(target(&page.name, "#s").as_deref(), Some("docs/p/q.md"));
    assert_eq!(target(&page.name, "https://example.org"), None);
}
