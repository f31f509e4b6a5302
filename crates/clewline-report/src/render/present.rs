//! Outcomes as data, and the one place where they become the text of a terminal.
//!
//! A method describes its outcome by a headline, by [`Block`]s and by [`Fact`]s. Everything else is
//! made from these: the [text](text()), the words of a page, an entry of a summary (`Publish`). No
//! text is ever parsed back.
//!
//! Invariants: the first line of the text is `WORD: HEADLINE`; page and entry have the same
//! headline; every paragraph of the page stands in the text.

use clewline_core::{VerdictKind, visible};

use super::{
    block::{Block, Fact, hanging, line, wrap},
    cause::Cause,
    text::{Paint, Style, painted},
};

/// An outcome of a method.
pub trait Present {
    /// What was checked: a file, a subject, a system.
    fn name(&self) -> &str;

    /// The verdict.
    fn kind(&self) -> VerdictKind;

    /// The verdict's one word: `holds`, `violated`, `unknown`.
    fn word(&self) -> &'static str {
        self.kind().word()
    }

    /// The cause of a violation; none if nothing is violated.
    fn cause(&self) -> Option<Cause>;

    /// A qualifier of the word, before the colon: `with factor 2 and no smaller one`. Usually none.
    fn qualifier(&self) -> Option<String> {
        None
    }

    /// The text after the word in the first line: `lost.jsonl is not linearizable as a queue`.
    fn headline(&self) -> String;

    /// The meaning of the verdict and its evidence. Drawings are as wide as `style` says.
    fn sentences(&self, style: &Style) -> Vec<Block>;

    /// Further facts: how it was found, the checker, the duration.
    fn facts(&self) -> Vec<Fact>;

    /// Commands to type next, best first.
    fn next(&self) -> Vec<String>;
}

/// A command to type next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The command.
    pub command: String,
    /// Whether it draws a page of what is reported. Where there is one, it is not proposed.
    pub draws_page: bool,
}

impl Proposal {
    /// A command that draws a page of what is reported.
    #[must_use]
    pub fn page(command: String) -> Proposal {
        Proposal { command, draws_page: true }
    }

    /// The commands of all of these, as [`Present::next`] lists them.
    #[must_use]
    pub fn commands(all: &[Proposal]) -> Vec<String> {
        all.iter().map(|it| it.command.clone()).collect()
    }

    /// Those that are left where a page is drawn.
    #[must_use]
    pub fn beside_page(mut all: Vec<Proposal>) -> Vec<Proposal> {
        all.retain(|it| !it.draws_page);
        all
    }
}

impl From<String> for Proposal {
    fn from(command: String) -> Proposal {
        Proposal { command, draws_page: false }
    }
}

/// Where facts begin, after their names.
const FACT_NAME_COLUMNS: usize = 10;

/// The whole report, for people.
#[must_use]
pub fn text(shown: &(impl Present + ?Sized), style: &Style) -> String {
    let mut text = first_line(shown, style.paint);
    text.push('\n');
    let sentences = wrap(&shown.sentences(style), style.width);
    if !sentences.is_empty() {
        text.push('\n');
        text.push_str(&sentences);
    }
    text.push('\n');
    for fact in shown.facts() {
        match fact {
            Fact::Named(name, value) => {
                let name = format!("{:FACT_NAME_COLUMNS$}", format!("{name}:"));
                hanging(&name, &value, style.width).iter().for_each(|it| line(&mut text, it));
            }
            Fact::Line(value) => line(&mut text, &value),
        }
    }
    for (place, command) in shown.next().iter().enumerate() {
        let word = if place == 0 { "next" } else { "  or" };
        line(&mut text, &format!("{word}: {command}"));
    }
    text
}

/// The first line of the report, which is the verdict: `violated: lost.jsonl is not linearizable as
/// a queue`.
#[must_use]
pub fn first_line(shown: &(impl Present + ?Sized), paint: Paint) -> String {
    let qualifier = shown.qualifier().map_or_else(String::new, |it| format!(" {}", visible(&it)));
    format!("{}{qualifier}: {}", painted(shown.word(), paint), visible(&shown.headline()))
}
