//! The modules of one crate, what each defines and imports, and the arrows between their files.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, group_end, tokens, without_tests};

/// A file mentions what another one defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The module of the file that mentions it: `monitor::queue`; empty for the root of the crate.
    pub from: String,
    /// The module of the file that defines it.
    pub to: String,
    /// Where it is mentioned, for a reader: `crates/NAME/src/FILE:LINE`.
    pub place: String,
    /// What is mentioned, as it is written: `super::Columns`.
    pub what: String,
}

/// A mention that takes a name from a module around it which only passes the name on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    /// Where, as in an [`Arrow`].
    pub place: String,
    /// What is mentioned, as it is written.
    pub what: String,
    /// The path to write instead.
    pub instead: String,
}

/// What one module has names for.
#[derive(Debug, Default)]
struct Module {
    /// The module of the file that this one is written in: itself, unless it is written inside another.
    file: String,
    path: String,
    defined: BTreeSet<String>,
    imported: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// A path in a module's text.
#[derive(Debug)]
struct Mention {
    module: String,
    line: usize,
    segments: Vec<String>,
}

/// A crate's modules without those for tests, by their paths.
#[derive(Debug, Default)]
pub struct Tree {
    modules: BTreeMap<String, Module>,
    mentions: Vec<Mention>,
}

/// What a path leads to.
struct Target {
    /// The module that defines it.
    module: String,
    /// The name there, unless the path names the module itself.
    name: Option<String>,
    /// Whether a module around the mention passed the name on without defining it.
    is_detour: bool,
}

impl Tree {
    /// Reads `files`: the path of each, and its text. `src` is the folder of the crate's sources.
    pub fn new(src: &str, files: &[(String, String)]) -> Tree {
        let mut tree = Tree::default();
        let mut for_tests = BTreeSet::new();
        let mut bodies = Vec::new();
        for (path, text) in files {
            let Some(module) = path.strip_prefix(src).and_then(module_of) else { continue };
            let (tokens, tests) = without_tests(&tokens(text));
            for_tests.extend(tests.iter().map(|it| join(&module, it)));
            bodies.push((path, module, tokens));
        }
        let is_test = |module: &str| {
            let around = module.match_indices("::").map(|it| &module[..it.0]).chain([module]);
            around.into_iter().any(|it| for_tests.contains(it) || it == "tests" || it.ends_with("::tests"))
        };
        bodies.retain(|(_, module, _)| !is_test(module));
        for (path, module, _) in &bodies {
            let known = Module { file: module.clone(), path: (*path).clone(), ..Module::default() };
            tree.modules.insert(module.clone(), known);
        }
        for (_, module, tokens) in &bodies {
            tree.read(module, tokens);
        }
        tree
    }

    /// The modules that lie directly in `around`.
    pub fn children(&self, around: &str) -> BTreeSet<&str> {
        let depth = around.split("::").filter(|it| !it.is_empty()).count();
        let inside = |it: &&str| around.is_empty() || it.starts_with(&format!("{around}::"));
        let child = |it| str::split(it, "::").nth(depth);
        let files = self.modules.values().filter(|it| !it.file.is_empty()).map(|it| it.file.as_str());
        files.filter(inside).filter_map(child).collect()
    }

    /// How many files were read.
    pub fn files(&self) -> usize {
        self.modules.iter().filter(|(name, it)| **name == it.file).count()
    }

    /// Every arrow between two files, one for each mention.
    pub fn arrows(&self) -> BTreeSet<Arrow> {
        let arrow = |mention: &Mention| {
            let target = self.resolve(&mention.module, &mention.segments, 0)?;
            target.name?;
            let (from, to) = (self.file(&mention.module), self.modules.get(&target.module)?.file.clone());
            let (place, what) = (self.place(mention), mention.segments.join("::"));
            (from != to).then_some(Arrow { from, to, place, what })
        };
        self.mentions.iter().filter(|it| !self.is_repeated(it)).filter_map(arrow).collect()
    }

    /// Every mention that goes through a module around it.
    pub fn detours(&self) -> Vec<Detour> {
        let detour = |mention: &Mention| {
            let target = self.resolve(&mention.module, &mention.segments, 0).filter(|it| it.is_detour)?;
            let around = if self.modules.contains_key(&target.module) { "crate" } else { "" };
            let instead = join(&join(around, &target.module), target.name.as_deref().unwrap_or_default());
            Some(Detour { place: self.place(mention), what: mention.segments.join("::"), instead })
        };
        self.mentions.iter().filter(|it| !self.is_repeated(it)).filter_map(detour).collect()
    }

    fn file(&self, module: &str) -> String {
        self.modules[module].file.clone()
    }

    fn place(&self, mention: &Mention) -> String {
        format!("{}:{}", self.modules[&self.file(&mention.module)].path, mention.line)
    }

    /// Whether the path starts with an imported item, whose import is a mention already.
    fn is_repeated(&self, Mention { module, segments, .. }: &Mention) -> bool {
        let imported = self.modules[module].imported.get(&segments[0]).filter(|it| *it != segments);
        let target = imported.filter(|_| 1 < segments.len()).and_then(|it| self.resolve(module, it, 0));
        target.is_some_and(|it| it.name.is_some())
    }

    /// Follows a path from `module` to the module that defines what it names. `None` for what is not of this crate.
    fn resolve(&self, module: &str, segments: &[String], depth: usize) -> Option<Target> {
        if 16 < depth {
            return None;
        }
        let mut at = module.to_owned();
        let mut rest = segments;
        while let Some((first, tail)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => at = parent(&at)?.to_owned(),
                _ => break,
            }
            rest = tail;
        }
        let is_local = rest.len() == segments.len();
        self.descend(module, at, rest, is_local, depth)
    }

    /// Follows `rest` from the module `at`; `is_local` if nothing before it said that it is of this crate.
    fn descend(
        &self,
        from: &str,
        mut at: String,
        mut rest: &[String],
        mut is_local: bool,
        depth: usize,
    ) -> Option<Target> {
        while let Some((first, tail)) = rest.split_first() {
            let child = join(&at, first);
            let known = self.modules.get(&at)?;
            // A module and what it is there for may share a name: an import brings both.
            let is_both = tail.is_empty() && known.imported.contains_key(first);
            if self.modules.contains_key(&child) && !is_both {
                (at, rest, is_local) = (child, tail, false);
                continue;
            }
            if known.defined.contains(first) {
                return Some(Target { module: at, name: Some(first.clone()), is_detour: false });
            }
            let is_around = at != from && (at.is_empty() || from.starts_with(&format!("{at}::")));
            if let Some(path) = known.imported.get(first).filter(|it| *it != rest) {
                let path: Vec<String> = path.iter().chain(tail).cloned().collect();
                let found = self.resolve(&at, &path, depth + 1);
                let found = found.or_else(|| {
                    let module = path.join("::");
                    is_around.then_some(Target { module, name: Some(String::new()), is_detour: true })
                })?;
                return Some(Target { is_detour: found.is_detour || is_around, ..found });
            }
            for glob in &known.globs {
                let path: Vec<String> = glob.iter().chain(rest).cloned().collect();
                let found = self.resolve(&at, &path, depth + 1);
                if let Some(found) = found.filter(|it| self.defines(it)) {
                    return Some(Target { is_detour: found.is_detour || is_around, ..found });
                }
            }
            // What a macro defines is where it is looked for.
            return (!is_local).then(|| Target { module: at, name: Some(first.clone()), is_detour: false });
        }
        (!is_local).then_some(Target { module: at, name: None, is_detour: false })
    }

    fn defines(&self, target: &Target) -> bool {
        let module = self.modules.get(&target.module);
        module.zip(target.name.as_ref()).is_some_and(|(module, name)| module.defined.contains(name))
    }

    /// Enters what the file of `module` defines and mentions.
    fn read(&mut self, module: &str, tokens: &[Token]) {
        let mut reader = Reader { tree: self, tokens, inside: vec![(module.to_owned(), 0)], depth: 0 };
        let mut at = 0;
        while at < tokens.len() {
            at = reader.next(at);
        }
    }
}

/// Where the reading of a file is.
struct Reader<'a> {
    tree: &'a mut Tree,
    tokens: &'a [Token],
    /// The module of the file, and those written inside of it that are open, with the depth of their braces.
    inside: Vec<(String, usize)>,
    depth: usize,
}

impl Reader<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|it| it.is(text))
    }

    fn module(&mut self) -> &mut Module {
        let (name, _) = self.inside.last().expect("a file is a module");
        self.tree.modules.get_mut(name).expect("modules that are read are known")
    }

    /// Takes in what stands at `at`; where to go on.
    fn next(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        let token = &tokens[at];
        match token.text.as_str() {
            "{" => self.depth += 1,
            "}" => {
                self.depth -= 1;
                if 1 < self.inside.len() && self.inside.last().is_some_and(|it| it.1 == self.depth) {
                    self.inside.pop();
                }
            }
            "use" if !self.is(at + 1, "<") => return self.import(at),
            "mod" if self.is(at + 2, "{") => {
                let (around, _) = self.inside.last().expect("a file is a module").clone();
                let name = join(&around, &tokens[at + 1].text);
                let file = self.inside[0].0.clone();
                self.tree.modules.insert(name.clone(), Module { file, ..Module::default() });
                self.inside.push((name, self.depth));
                self.depth += 1;
                return at + 3;
            }
            "registry" | "systems" if self.is(at + 1, "!") && self.is(at + 2, "{") => {
                return self.table(at + 2);
            }
            "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static" => self.define(at + 1),
            "macro_rules" if self.is(at + 1, "!") => self.define(at + 2),
            "$" => return at + 2,
            _ if token.is_word() && self.is(at + 1, "::") && !(0 < at && self.is(at - 1, "::")) => {
                return self.path(at);
            }
            _ => {}
        }
        at + 1
    }

    /// Enters the item whose name stands at `at`, if it is one of the module and not inside another item.
    fn define(&mut self, at: usize) {
        let at = if self.is(at, "mut") { at + 1 } else { at };
        let is_named = self.tokens.get(at).is_some_and(Token::is_word)
            && !["fn", "unsafe", "extern", "async"].iter().any(|it| self.is(at, it));
        let open = self.inside.last().map_or(0, |it| it.1 + usize::from(1 < self.inside.len()));
        if is_named && self.depth == open {
            let name = self.tokens[at].text.clone();
            self.module().defined.insert(name);
        }
    }

    /// Enters a path that starts at `at` in the middle of code.
    fn path(&mut self, at: usize) -> usize {
        let mut segments = vec![self.tokens[at].text.clone()];
        let mut end = at + 1;
        while self.is(end, "::") && self.tokens.get(end + 1).is_some_and(Token::is_word) {
            segments.push(self.tokens[end + 1].text.clone());
            end += 2;
        }
        let is_table = ["registry", "systems"].contains(&segments[segments.len() - 1].as_str());
        if is_table && self.is(end, "!") && self.is(end + 1, "{") {
            return self.table(end + 1);
        }
        self.mention(self.tokens[at].line, segments);
        end
    }

    fn mention(&mut self, line: usize, segments: Vec<String>) {
        let module = self.inside.last().expect("a file is a module").0.clone();
        self.tree.mentions.push(Mention { module, line, segments });
    }

    /// A table of modules uses an entry of each that it names.
    fn table(&mut self, open: usize) -> usize {
        let end = group_end(self.tokens, open);
        for at in open..end {
            let name = self.tokens[at].text.clone();
            let child = join(&self.inside[0].0, &name);
            if self.tree.modules.contains_key(&child) && (self.is(at + 1, ",") || self.is(at + 1, "}")) {
                self.mention(self.tokens[at].line, vec!["self".to_owned(), name, "ENTRY".to_owned()]);
            }
        }
        end
    }

    /// Enters the names that the `use` at `at` brings. One that is only passed on is no mention.
    fn import(&mut self, at: usize) -> usize {
        let is_public = 0 < at && (self.is(at - 1, "pub") || self.is(at - 1, ")"));
        let mut names = Vec::new();
        let end = self.branch(at + 1, &[], &mut names);
        for (line, path, name) in names {
            if name == "*" {
                self.module().globs.push(path.clone());
            } else if name != "_" {
                self.module().imported.insert(name.clone(), path.clone());
            }
            let is_elsewhere = |(at, it): (usize, &Token)| {
                let is_macro = self.is(at + 1, "!") || 1 < at && self.is(at - 2, "macro_rules");
                let is_module = 0 < at && self.is(at - 1, "mod");
                it.text == name && !is_macro && !is_module && !self.is_in_import(at)
            };
            if !is_public || self.tokens.iter().enumerate().any(is_elsewhere) {
                let glob = (name == "*").then(|| "*".to_owned());
                self.mention(line, path.into_iter().chain(glob).collect());
            }
        }
        end + 1
    }

    /// Whether the token at `at` is part of an import.
    fn is_in_import(&self, at: usize) -> bool {
        let starts = |it: &usize| self.tokens[*it].is("use") || self.tokens[*it].is(";");
        let start = (0..at).rev().find(starts);
        start.is_some_and(|it| self.tokens[it].is("use") && !self.is(it + 1, "<"))
    }

    /// Reads a branch of an import, behind `before`: line, path and name of each of its leaves. Returns where it ends.
    fn branch(
        &self,
        mut at: usize,
        before: &[String],
        names: &mut Vec<(usize, Vec<String>, String)>,
    ) -> usize {
        let mut path = before.to_vec();
        while let Some(token) = self.tokens.get(at) {
            match token.text.as_str() {
                "::" => at += 1,
                "{" => {
                    at += 1;
                    while at < self.tokens.len() && !self.is(at, "}") {
                        at = self.branch(at, &path, names);
                        at += usize::from(self.is(at, ","));
                    }
                    return at + 1;
                }
                "*" => {
                    names.push((token.line, path, "*".to_owned()));
                    return at + 1;
                }
                "self" if !path.is_empty() => at += 1,
                _ if token.is_word() => {
                    path.push(token.text.clone());
                    at += 1;
                }
                _ => break,
            }
            if self.is(at, "as") {
                names.push((self.tokens[at].line, path, self.tokens[at + 1].text.clone()));
                return at + 2;
            }
            if !self.is(at, "::") && !self.is(at - 1, "::") {
                let name = path.last().cloned().unwrap_or_default();
                names.push((self.tokens[at - 1].line, path, name));
                return at;
            }
        }
        at
    }
}

/// `a::b` for `a` and `b`; one of them may be empty.
pub fn join(around: &str, name: &str) -> String {
    if around.is_empty() || name.is_empty() { format!("{around}{name}") } else { format!("{around}::{name}") }
}

/// The module around `module`.
pub fn parent(module: &str) -> Option<&str> {
    (!module.is_empty()).then(|| module.rsplit_once("::").map_or("", |it| it.0))
}

/// The module that a file in the folder of sources holds. Programs beside the library have none.
fn module_of(file: &str) -> Option<String> {
    let module = file.trim_start_matches('/').strip_suffix(".rs")?.replace('/', "::");
    let module = module.strip_suffix("::mod").unwrap_or(&module);
    match module {
        "lib" => Some(String::new()),
        "main" => None,
        it if it.starts_with("bin::") => None,
        it => Some(it.to_owned()),
    }
}
