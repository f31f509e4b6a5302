//! What a method has to show, as data, and the one place where that becomes the text of a terminal.
//!
//! A method says what its outcome means in a headline, in [`Block`]s and in [`Fact`]s. Everything else is made from these: the [text](text()), the words
//! of a page, an entry of a summary (`Publish`). No text is read back to make another one.
//!
//! Invariants: the first line of the text is `WORD: HEADLINE`; page and entry have the same headline; every paragraph of the page stands in the text.

use super::{
    block::{Block, Fact, hanging, line, wrap},
    text::{Paint, Style, painted},
};

/// What was judged, and what came of it.
pub trait Present {
    /// What was judged: a file, a subject, a system.
    fn name(&self) -> &str;

    /// The verdict's one word: `holds`, `violated`, `unknown`.
    fn word(&self) -> &'static str;

    /// What qualifies the word, before the colon: `with factor 2 and no smaller one`. Usually nothing does.
    fn qualifier(&self) -> Option<String> {
        None
    }

    /// What comes after the word in the first line: `lost.jsonl is not linearizable as a queue`.
    fn headline(&self) -> String;

    /// What the verdict means and what it rests on. Drawings are as wide as `style` says.
    fn sentences(&self, style: &Style) -> Vec<Block>;

    /// What else is to be known: how it was found, who judged, how long that took.
    fn facts(&self) -> Vec<Fact>;

    /// Commands to type next, best first.
    fn next(&self) -> Vec<String>;
}

/// Where facts begin, after their names.
const COLUMN: usize = 10;

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
            Fact::Named(name, told) => {
                let name = format!("{:COLUMN$}", format!("{name}:"));
                hanging(&name, &told, style.width).iter().for_each(|it| line(&mut text, it));
            }
            Fact::Line(told) => line(&mut text, &told),
        }
    }
    for (place, command) in shown.next().iter().enumerate() {
        let word = if place == 0 { "next" } else { "  or" };
        line(&mut text, &format!("{word}: {command}"));
    }
    text
}

/// The first line of the report, which is the verdict: `violated: lost.jsonl is not linearizable as a queue`.
#[must_use]
pub fn first_line(shown: &(impl Present + ?Sized), paint: Paint) -> String {
    let qualifier = shown.qualifier().map_or_else(String::new, |it| format!(" {it}"));
    format!("{}{qualifier}: {}", painted(shown.word(), paint), shown.headline())
}
