//! The commands on a page.
//!
//! A block of `sh` holds commands, one a line unless a line ends with a backslash. In a block of
//! `text` a line that begins with `$ ` is a command, and what follows it is its output. A comment
//! right before a block says what its commands do, unless all exit with 0:
//!
//! * `<!-- exits: 0 1 - -->`: the exit code of each; `-` is for one that is not run, and then
//!   `; not run: REASON` follows.
//! * `<!-- not run: REASON -->`: none of them is run.
//!
//! What a sentence mentions (`` `clewline check --html FILE` ``) need not be complete, so it is not
//! run.

/// A command on a page.
#[derive(Debug)]
pub(crate) struct Command {
    /// Where it stands: `docs/how-to/actors.md:14`.
    pub(crate) place: String,
    /// The block in which it stands, counted over the page.
    pub(crate) block: usize,
    /// What is typed.
    pub(crate) text: String,
    /// What it exits with, or why it is not run.
    pub(crate) exit: Result<i32, String>,
    /// The output that the page shows.
    pub(crate) shown: Option<String>,
}

/// The relevant parts of a page.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// All commands, in order.
    pub(crate) commands: Vec<Command>,
    /// Files that the reader is asked to write: blocks of C that begin with their name in a
    /// comment.
    pub(crate) files: Vec<(String, String)>,
    /// Commands that a sentence mentions, with their places.
    pub(crate) mentioned: Vec<(String, String)>,
    /// What is wrong with the page.
    pub(crate) complaints: Vec<String>,
}

struct Block<'p> {
    line: usize,
    language: &'p str,
    body: Vec<&'p str>,
    comment: Option<&'p str>,
}

impl Page {
    /// Reads the text of the page of that name.
    pub(crate) fn read(name: &str, text: &str) -> Page {
        let mut page = Page { mentioned: mentioned(name, text), ..Page::default() };
        for (number, block) in blocks(name, text, &mut page.complaints).iter().enumerate() {
            page.take(name, number, block);
        }
        page
    }

    fn take(&mut self, name: &str, number: usize, block: &Block<'_>) {
        let place = format!("{name}:{}", block.line);
        let mut typed = match block.language {
            "sh" => lines(block),
            "c" => {
                let file = block.body.first().and_then(|it| it.strip_prefix("/* ")?.strip_suffix(" */"));
                self.files.extend(file.map(|it| (it.to_owned(), block.body.join("\n") + "\n")));
                Vec::new()
            }
            "text" | "" => {
                self.output_of_the_last(number, block);
                session(block)
            }
            _ => Vec::new(),
        };
        let is_command =
            |it: &&str| ["clewline ", "cargo ", "./test", "git "].iter().any(|go| it.starts_with(go));
        if block.language.is_empty() && block.body.iter().any(is_command) {
            self.complaints.push(format!("{place}: commands stand in a block of sh"));
        }
        match exits(block.comment, typed.len()) {
            Ok(exits) => {
                for (it, exit) in typed.iter_mut().zip(exits) {
                    it.exit = exit.unwrap_or_else(|| Ok(it.shown.as_deref().map_or(0, verdict)));
                    it.block = number;
                    it.place = format!("{name}:{}", it.place);
                }
            }
            Err(wrong) => self.complaints.push(format!("{place}: {wrong}")),
        }
        self.commands.append(&mut typed);
    }

    /// If `block` is what the one command of the block before it prints, keeps that.
    fn output_of_the_last(&mut self, number: usize, block: &Block<'_>) {
        let is_verdict =
            block.body.first().is_some_and(|it| it.starts_with("violated: ") || it.starts_with("holds"));
        let mut last = self.commands.iter_mut().rev().take_while(|it| it.block + 1 == number);
        if let (true, Some(command), None) = (is_verdict, last.next(), last.next()) {
            let shown = block.body.join("\n");
            if let Ok(exit) = &mut command.exit {
                *exit = verdict(&shown);
            }
            command.shown = Some(shown);
        }
    }
}

/// The exit code that goes with what is shown.
fn verdict(shown: &str) -> i32 {
    i32::from(shown.starts_with("violated"))
}

/// The fenced blocks of a page, each with the comment right before it.
fn blocks<'p>(name: &str, text: &'p str, complaints: &mut Vec<String>) -> Vec<Block<'p>> {
    let mut blocks: Vec<Block<'p>> = Vec::new();
    let mut comment = None;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body = lines.by_ref().map(|it| it.1).take_while(|it| *it != "```").collect();
            blocks.push(Block { line: at + 1, language, body, comment: comment.take() });
        } else if !line.is_empty() {
            if comment.is_some() {
                complaints.push(format!("{name}:{}: a block comes right after such a comment", at + 1));
            }
            let said = line.strip_prefix("<!-- ").and_then(|it| it.strip_suffix(" -->"));
            comment = said.filter(|it| it.starts_with("exits:") || it.starts_with("not run"));
        }
    }
    blocks
}

/// What stands between backticks outside of blocks and begins with the name of the program.
fn mentioned(name: &str, text: &str) -> Vec<(String, String)> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for (at, line) in (1..).zip(text.lines()) {
        is_inside ^= line.starts_with("```");
        let spans = line.split('`').skip(1).step_by(2).filter(|it| !is_inside && it.starts_with("clewline "));
        found.extend(spans.map(|it| (format!("{name}:{at}"), it.to_owned())));
    }
    found
}

fn command(line: usize, text: String) -> Command {
    Command { place: line.to_string(), block: 0, text, exit: Ok(0), shown: None }
}

/// The commands of a block of `sh`.
fn lines(block: &Block<'_>) -> Vec<Command> {
    let mut typed: Vec<Command> = Vec::new();
    for (at, line) in (block.line + 1..).zip(&block.body) {
        match typed.last_mut().filter(|it| it.text.ends_with('\\')) {
            Some(begun) => begun.text += &format!("\n{line}"),
            None if line.is_empty() || line.starts_with('#') => (),
            None => typed.push(command(at, (*line).to_owned())),
        }
    }
    typed
}

/// The commands of a block of `text`, each with its output.
fn session(block: &Block<'_>) -> Vec<Command> {
    let mut typed: Vec<Command> = Vec::new();
    for (at, line) in (block.line + 1..).zip(&block.body) {
        if let Some(text) = line.strip_prefix("$ ") {
            typed.push(command(at, text.to_owned()));
        } else if let Some(last) = typed.last_mut() {
            let shown = last.shown.get_or_insert_default();
            *shown += if shown.is_empty() { "" } else { "\n" };
            *shown += line;
        }
    }
    typed
}

/// What each of `count` commands exits with: `None` where the comment says nothing.
fn exits(comment: Option<&str>, count: usize) -> Result<Vec<Option<Result<i32, String>>>, String> {
    let Some(comment) = comment else { return Ok(vec![None; count]) };
    let (codes, reason) = match comment.split_once("not run") {
        Some((codes, reason)) => (codes, reason.trim_start_matches(':').trim()),
        None => (comment, ""),
    };
    let codes: Vec<&str> =
        codes.trim_start_matches("exits:").trim_end_matches([' ', ';']).split_whitespace().collect();
    if count == 0 {
        return Err("there is no command that the comment could be about".to_owned());
    }
    let is_skipped = codes.is_empty() || codes.contains(&"-");
    if is_skipped == reason.is_empty() {
        return Err(format!("a reason goes with what is not run, and only with that: `{comment}`"));
    }
    if codes.is_empty() {
        return Ok(vec![Some(Err(reason.to_owned())); count]);
    }
    if codes.len() != count {
        return Err(format!("{count} commands have {} exit codes", codes.len()));
    }
    let exit = |code: &&str| match *code {
        "-" => Ok(Some(Err(reason.to_owned()))),
        code => code.parse().map(|it| Some(Ok(it))).map_err(|_| format!("`{code}` is no exit code")),
    };
    codes.iter().map(exit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        Page::read("page", text).complaints
    }

    #[test]
    fn commands_have_places_exits_and_output() {
        let page = "<!-- exits: 1 -; not run: slow -->\n```sh\na \\\n  b\n# no\nc\n```\n\n\
                    ```sh\nd\n```\nsays\n```text\nviolated: x\n```\n```text\n$ e\nholds\nf\n```\n";
        let seen: Vec<String> = Page::read("p", page).commands.iter().map(|it| format!("{it:?}")).collect();
        let expected = [
            r#"Command { place: "p:3", block: 0, text: "a \\\n  b", exit: Ok(1), shown: None }"#,
            r#"Command { place: "p:6", block: 0, text: "c", exit: Err("slow"), shown: None }"#,
            r#"Command { place: "p:10", block: 1, text: "d", exit: Ok(1), shown: Some("violated: x") }"#,
            r#"Command { place: "p:17", block: 3, text: "e", exit: Ok(0), shown: Some("holds\nf") }"#,
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn sentences_mention_commands() {
        let page = Page::read("p", "a `b` `clewline c --d`\n```sh\n`clewline e`\n```\n");
        assert_eq!(page.mentioned, [("p:1".to_owned(), "clewline c --d".to_owned())]);
    }

    #[test]
    fn invalid_comments_are_rejected() {
        let block = "```sh\na\n```\n";
        assert!(complaints(&format!("<!-- not run: slow -->\n{block}")).is_empty());
        for wrong in ["not run:", "not run", "exits: -", "exits: 0; not run: slow", "exits: 0 0", "exits: x"]
        {
            assert_eq!(complaints(&format!("<!-- {wrong} -->\n{block}")).len(), 1, "{wrong}");
        }
        assert_eq!(complaints(&format!("<!-- exits: 0 -->\nWords.\n{block}")).len(), 1);
        assert_eq!(complaints("```\nclewline specs\n```\n").len(), 1);
    }
}
