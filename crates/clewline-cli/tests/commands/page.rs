//! The commands on a page.
//!
//! A block of `sh` holds commands, one a line unless a line ends with a backslash. In a block of
//! `text` a line that begins with `$ ` is a command, and what follows it is its output. A comment
//! right before a block says what its commands do, unless all exit with 0. It has one or more of
//! these parts, with `; ` between them:
//!
//! * `exits: 0 1 -`: the exit code of each; `-` is for one that is not run, and then `not run:
//!   REASON` follows.
//! * `not run: REASON`: none of them is run. This is the last part.
//! * `needs: cmake ninja`: they are not run where one of these programs is not installed.
//! * `in: FOLDER`: they are typed in that folder of the clone.
//! * `first: SCRIPT`: that script of `files` is run before.
//! * `one shell`: the block is one script.
//!
//! A block of `text` is the output of the one command of the block before it, if it begins with a
//! verdict. Otherwise a comment says what it is:
//!
//! * `printed by: COMMAND`: a part of what the command prints (after `exits: 1; ` unless it is 0).
//! * `compared by: FILE`: a test in that file reads the page.
//! * `unchecked: REASON`.
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
    /// What is shown may begin anywhere in what is printed.
    pub(crate) is_excerpt: bool,
    /// Where and after what it is run.
    pub(crate) setting: Setting,
}

/// Where commands are run, and what is needed for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The programs that must be installed.
    pub(crate) needs: Vec<String>,
    /// The folder, from that of the clone.
    pub(crate) folder: String,
    /// A script that is run before.
    pub(crate) first: Option<String>,
}

/// What a comment says about the commands of a block.
#[derive(Debug, Default)]
struct Said<'p> {
    codes: Option<Vec<&'p str>>,
    reason: Option<&'p str>,
    is_one: bool,
    setting: Setting,
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
    is_generated: bool,
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
        let said = match Said::read(block.comment.unwrap_or_default()) {
            Ok(said) => said,
            Err(wrong) => return self.complaints.push(format!("{place}: {wrong}")),
        };
        let mut typed = match block.language {
            "sh" if said.is_one => {
                vec![command(block.line + 1, format!("set -e\n{}", block.body.join("\n")))]
            }
            "sh" => lines(block),
            "c" => {
                let file = block.body.first().and_then(|it| it.strip_prefix("/* ")?.strip_suffix(" */"));
                self.files.extend(file.map(|it| (it.to_owned(), block.body.join("\n") + "\n")));
                Vec::new()
            }
            "text" | "" => match self.outputs(name, number, block) {
                Ok(typed) => typed,
                Err(wrong) => return self.complaints.push(format!("{place}: {wrong}")),
            },
            _ => return,
        };
        let is_command =
            |it: &&str| ["clewline ", "cargo ", "./test", "git "].iter().any(|go| it.starts_with(go));
        if block.language.is_empty() && block.body.iter().any(is_command) {
            self.complaints.push(format!("{place}: commands stand in a block of sh"));
        }
        match said.exits(typed.len()) {
            Ok(exits) => {
                for (it, exit) in typed.iter_mut().zip(exits) {
                    it.exit = exit.unwrap_or_else(|| Ok(it.shown.as_deref().map_or(0, verdict)));
                    (it.block, it.setting) = (number, said.setting.clone());
                    it.place = format!("{name}:{}", it.place);
                }
            }
            Err(wrong) => self.complaints.push(format!("{place}: {wrong}")),
        }
        self.commands.append(&mut typed);
    }

    /// The commands of a block of text with their outputs. If it is what the one command of the
    /// block before it prints, that is kept there.
    fn outputs(&mut self, name: &str, number: usize, block: &Block<'_>) -> Result<Vec<Command>, String> {
        let shown = block.body.join("\n");
        let comment = block.comment.unwrap_or_default();
        if let Some((_, text)) = comment.split_once("printed by: ") {
            let printed = command(block.line, text.to_owned());
            return Ok(vec![Command { shown: Some(shown), is_excerpt: true, ..printed }]);
        }
        if let Some(file) = comment.strip_prefix("compared by: ") {
            let source = std::fs::read_to_string(crate::root().join(file)).unwrap_or_default();
            return match source.contains(&format!("{name}\"")) {
                true => Ok(Vec::new()),
                false => Err(format!("{file} does not read this page")),
            };
        }
        let typed = session(block);
        if !typed.is_empty() || comment.starts_with("unchecked: ") || block.is_generated {
            return Ok(typed);
        }
        let is_verdict =
            block.body.first().is_some_and(|it| it.starts_with("violated: ") || it.starts_with("holds"));
        let mut last = self.commands.iter_mut().rev().take_while(|it| it.block + 1 == number);
        let (true, Some(command), None) = (is_verdict, last.next(), last.next()) else {
            return Err("say what this text is: `printed by: COMMAND`, `unchecked: REASON`".to_owned());
        };
        if let Ok(exit) = &mut command.exit {
            *exit = verdict(&shown);
        }
        command.shown = Some(shown);
        Ok(typed)
    }
}

impl<'p> Said<'p> {
    fn read(comment: &'p str) -> Result<Said<'p>, String> {
        let mut said = Said::default();
        let mut rest = comment;
        while !rest.is_empty() {
            if let Some(reason) = rest.strip_prefix("not run") {
                said.reason = Some(reason.trim_start_matches(':').trim());
                break;
            }
            if ["printed by: ", "compared by: ", "unchecked: "].iter().any(|it| rest.starts_with(it)) {
                break;
            }
            let (part, others) = rest.split_once("; ").unwrap_or((rest, ""));
            let (key, value) = part.split_once(": ").unwrap_or((part, ""));
            match key {
                "exits" => said.codes = Some(value.split_whitespace().collect()),
                "needs" => said.setting.needs = value.split_whitespace().map(str::to_owned).collect(),
                "in" => value.clone_into(&mut said.setting.folder),
                "first" => said.setting.first = Some(value.to_owned()),
                "one shell" => said.is_one = true,
                _ => return Err(format!("`{part}` is no part of such a comment")),
            }
            rest = others;
        }
        Ok(said)
    }

    /// What each of `count` commands exits with: `None` where the comment says nothing.
    fn exits(&self, count: usize) -> Result<Vec<Option<Result<i32, String>>>, String> {
        if count == 0 {
            let is_about_commands = self.codes.is_some() || self.reason.is_some();
            let wrong = "there is no command that the comment could be about";
            return if is_about_commands { Err(wrong.to_owned()) } else { Ok(Vec::new()) };
        }
        let is_skipped = self.codes.as_ref().map_or(self.reason.is_some(), |it| it.contains(&"-"));
        if is_skipped != self.reason.is_some_and(|it| !it.is_empty()) {
            return Err("a reason goes with what is not run, and only with that".to_owned());
        }
        let reason = || Err(self.reason.unwrap_or_default().to_owned());
        let Some(codes) = &self.codes else { return Ok(vec![is_skipped.then(reason); count]) };
        if codes.len() != count {
            return Err(format!("{count} commands have {} exit codes", codes.len()));
        }
        let exit = |code: &&str| match *code {
            "-" => Ok(Some(reason())),
            code => code.parse().map(|it| Some(Ok(it))).map_err(|_| format!("`{code}` is no exit code")),
        };
        codes.iter().map(exit).collect()
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
    let mut is_generated = false;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body = lines.by_ref().map(|it| it.1).take_while(|it| *it != "```").collect();
            blocks.push(Block { line: at + 1, language, body, comment: comment.take(), is_generated });
        } else if !line.is_empty() {
            if comment.is_some() {
                complaints.push(format!("{name}:{}: a block comes right after such a comment", at + 1));
            }
            let said = line.strip_prefix("<!-- ").and_then(|it| it.strip_suffix(" -->"));
            is_generated = match said {
                Some(said) => said.starts_with("generated") || is_generated && said != "end",
                None => is_generated,
            };
            comment = said.filter(|it| !it.starts_with("generated") && *it != "end");
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
    let (place, setting) = (line.to_string(), Setting::default());
    Command { place, block: 0, text, exit: Ok(0), shown: None, is_excerpt: false, setting }
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
        let commands = Page::read("p", page).commands;
        let seen: Vec<_> = commands
            .iter()
            .map(|it| (&*it.place, &*it.text, it.block, it.exit.clone(), it.shown.as_deref()))
            .collect();
        let expected = [
            ("p:3", "a \\\n  b", 0, Ok(1), None),
            ("p:6", "c", 0, Err("slow".to_owned()), None),
            ("p:10", "d", 1, Ok(1), Some("violated: x")),
            ("p:17", "e", 3, Ok(0), Some("holds\nf")),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn comments_say_where_commands_are_run() {
        let page = "<!-- exits: 3; first: a.sh 1; in: ../b; needs: c d; one shell -->\n```sh\nx=1\ny\n```\n";
        let [command] = &Page::read("p", page).commands[..] else { panic!("one command") };
        assert_eq!((&*command.text, &command.exit), ("set -e\nx=1\ny", &Ok(3)));
        let needs = vec!["c".to_owned(), "d".to_owned()];
        let setting = Setting { needs, folder: "../b".to_owned(), first: Some("a.sh 1".to_owned()) };
        assert_eq!(command.setting, setting);
    }

    #[test]
    fn texts_say_what_prints_them() {
        let text = |comment: &str| Page::read("p", &format!("{comment}\n```text\nseen\n```\n"));
        let [command] = &text("<!-- exits: 1; printed by: a; b -->").commands[..] else { panic!("one") };
        assert_eq!((&*command.text, &command.exit, command.is_excerpt), ("a; b", &Ok(1), true));
        assert_eq!(command.shown.as_deref(), Some("seen"));
        for right in ["<!-- unchecked: a drawing -->", "<!-- generated: x -->"] {
            assert!(text(right).complaints.is_empty(), "{right}");
        }
        for wrong in ["", "<!-- compared by: crates/clewline-cli/tests/it/main.rs -->"] {
            assert_eq!(text(wrong).complaints.len(), 1, "{wrong}");
        }
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
        let wrong =
            ["not run:", "not run", "exits: -", "exits: 0; not run: slow", "exits: 0 0", "exits: x", "y"];
        for wrong in wrong {
            assert_eq!(complaints(&format!("<!-- {wrong} -->\n{block}")).len(), 1, "{wrong}");
        }
        assert_eq!(complaints(&format!("<!-- exits: 0 -->\nWords.\n{block}")).len(), 1);
        assert_eq!(complaints("```\nclewline specs\n```\n").len(), 1);
    }
}
