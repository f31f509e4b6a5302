//! The modules of one crate, what each defines and imports, and the arrows between their files.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, group_end, tokens, without_tests};

/// A file mentions what another one defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    /// The module of the file that mentions it: `monitor::queue`; empty for the root of the crate.
    pub(super) from: String,
    /// The module of the file that defines it.
    pub(super) to: String,
    /// Where it is mentioned, for a reader: `crates/NAME/src/FILE:LINE`.
    pub(super) place: String,
    /// What is mentioned, as it is written: `super::Columns`.
    pub(super) what: String,
}

/// A mention that takes a name from a module around it which only passes the name on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Detour {
    /// Where, as in an [`Arrow`].
    pub(super) place: String,
    /// What is mentioned, as it is written.
    pub(super) what: String,
    /// The path to write instead.
    pub(super) instead: String,
}

/// What one module has names for.
#[derive(Debug, Default)]
struct Module {
    /// The module of the file that this one is written in: itself, unless it is written inside
    /// another.
    file: String,
    path: String,
    defined: BTreeSet<String>,
    imported: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// The types and modules that it defines with `pub`.
    public: BTreeSet<String>,
    /// What it passes on with `pub use`: the path, and the name that it has here.
    passed_on: Vec<(Vec<String>, String)>,
}

/// A path in a module's text.
#[derive(Debug)]
struct Mention {
    module: String,
    line: usize,
    segments: Vec<String>,
    /// Whether it is in a macro for other crates, which see only what the root passes on.
    is_foreign: bool,
}

/// A crate's modules without those for tests, by their paths.
#[derive(Debug, Default)]
pub(super) struct Tree {
    modules: BTreeMap<String, Module>,
    mentions: Vec<Mention>,
    /// Macros by name, and the files that define them, which their paths do not name.
    macros: BTreeMap<String, String>,
}

/// What a path leads to.
struct Target {
    /// The module that defines it.
    module: String,
    /// The name there, unless the path names the module itself.
    name: Option<String>,
    /// What to write instead, if a module around the mention passed the name on without defining
    /// it.
    instead: Option<String>,
}

impl Tree {
    /// Reads `files`: the path of each, and its text. `src` is the folder of the crate's sources.
    pub(super) fn new(src: &str, files: &[(String, String)]) -> Tree {
        let mut tree = Tree::default();
        let mut for_tests = BTreeSet::new();
        let mut bodies = Vec::new();
        for (path, text) in files {
            let Some(module) = path.strip_prefix(src).and_then(module_of) else { continue };
            let product = without_tests(&tokens(text));
            for_tests.extend(product.test_modules.iter().map(|it| join(&module, it)));
            bodies.push((path, module, product.tokens));
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
    pub(super) fn children(&self, around: &str) -> BTreeSet<&str> {
        let depth = around.split("::").filter(|it| !it.is_empty()).count();
        let inside = |it: &&str| around.is_empty() || it.starts_with(&format!("{around}::"));
        let child = |it| str::split(it, "::").nth(depth);
        let files = self.modules.values().filter(|it| !it.file.is_empty()).map(|it| it.file.as_str());
        files.filter(inside).filter_map(child).collect()
    }

    /// How many files were read.
    pub(super) fn files(&self) -> usize {
        self.modules.iter().filter(|(name, it)| **name == it.file).count()
    }

    /// Every arrow between two files, one for each mention.
    pub(super) fn arrows(&self) -> BTreeSet<Arrow> {
        let arrow = |mention: &Mention| {
            let target = self.target(mention)?;
            target.name?;
            let (from, to) = (self.file(&mention.module), self.modules.get(&target.module)?.file.clone());
            let (place, what) = (self.place(mention), mention.segments.join("::"));
            (from != to).then_some(Arrow { from, to, place, what })
        };
        self.mentions.iter().filter(|it| !self.is_repeated(it)).filter_map(arrow).collect()
    }

    /// Every mention that goes through a module around it.
    pub(super) fn detours(&self) -> Vec<Detour> {
        let detour = |mention: &Mention| {
            let instead = self.target(mention)?.instead?;
            Some(Detour { place: self.place(mention), what: mention.segments.join("::"), instead })
        };
        let is_import = |it: &&Mention| {
            let imported = self.modules[&it.module].imported.get(&it.segments[0]);
            imported.is_none_or(|path| *path == it.segments)
        };
        self.mentions.iter().filter(|it| !it.is_foreign).filter(is_import).filter_map(detour).collect()
    }

    /// The types and traits that other crates can name: the public name, and the path of the
    /// definition in this crate. What a macro defines is not seen.
    pub(super) fn public_types(&self) -> BTreeSet<(String, String)> {
        let mut types = BTreeSet::new();
        let mut left = vec![String::new()];
        let mut seen = BTreeSet::new();
        while let Some(at) = left.pop() {
            let Some(module) = self.modules.get(&at).filter(|_| seen.insert(at.clone())) else { continue };
            for name in &module.public {
                let path = join(&at, name);
                if self.modules.contains_key(&path) {
                    left.push(path.clone());
                }
                if module.defined.contains(name) {
                    types.insert((name.clone(), path));
                }
            }
            for (path, public_name) in &module.passed_on {
                let Some(Target { module: from, name, .. }) = self.resolve(&at, &at, path, 0) else {
                    continue;
                };
                let is_public =
                    |it: &String| self.modules.get(&from).is_some_and(|module| module.public.contains(it));
                match name {
                    None => left.push(from),
                    Some(name) if is_public(&name) => {
                        types.insert((public_name.clone(), join(&from, &name)));
                    }
                    Some(_) => {}
                }
            }
        }
        types
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
        let target =
            imported.filter(|_| 1 < segments.len()).and_then(|it| self.resolve(module, module, it, 0));
        target.is_some_and(|it| it.name.is_some())
    }

    fn target(&self, mention: &Mention) -> Option<Target> {
        self.resolve(&mention.module, &mention.module, &mention.segments, 0)
    }

    /// Follows a path that stands in `module` to what it names, for a mention in `origin`. `None`
    /// for what is not of this crate, unless it was found by a detour.
    fn resolve(&self, origin: &str, module: &str, segments: &[String], depth: usize) -> Option<Target> {
        // Imports that import each other name nothing.
        const DEPTH_MAX: usize = 16;
        let (mut at, mut rest) = absolute(module, segments)?;
        let mut is_local = rest.len() == segments.len();
        while let Some((first, tail)) = rest.split_first().filter(|_| depth < DEPTH_MAX) {
            let child = join(&at, first);
            let known = self.modules.get(&at)?;
            // A module and what it is there for may share a name: an import brings both.
            let is_both = tail.is_empty() && known.imported.contains_key(first);
            if self.modules.contains_key(&child) && !is_both {
                (at, rest, is_local) = (child, tail, false);
                continue;
            }
            if known.defined.contains(first) {
                return Some(Target { module: at, name: Some(first.clone()), instead: None });
            }
            if let Some(path) = known.imported.get(first).filter(|it| *it != rest) {
                let path: Vec<String> = path.iter().chain(tail).cloned().collect();
                return self.pass(origin, &at, &path, depth);
            }
            let through = |glob: &Vec<String>| {
                let path: Vec<String> = glob.iter().chain(rest).cloned().collect();
                self.pass(origin, &at, &path, depth).filter(|it| self.defines(it))
            };
            let found = known.globs.iter().find_map(through);
            // An exported macro is at the root, wherever it is written. What a macro defines is
            // where it is looked for.
            let exported = self.macros.get(first).filter(|_| at.is_empty());
            let module = exported.unwrap_or(&at).clone();
            let here = || Target { module, name: Some(first.clone()), instead: None };
            return found.or_else(|| (!is_local).then(here));
        }
        (!is_local).then_some(Target { module: at, name: None, instead: None })
    }

    /// Follows an import of the module `at`, which a mention in `origin` has come to.
    fn pass(&self, origin: &str, at: &str, path: &[String], depth: usize) -> Option<Target> {
        let found = self.resolve(origin, at, path, depth + 1);
        let is_around = at != origin && (at.is_empty() || origin.starts_with(&format!("{at}::")));
        if !is_around {
            return found;
        }
        let is_ours = found.is_some();
        let unknown = || Target { module: path.join("::"), name: None, instead: None };
        let mut found = found.unwrap_or_else(unknown);
        let shorter = || {
            let (at, rest) = absolute(at, path)?;
            Some(join(&join("crate", &at), &rest.join("::")))
        };
        let written = if is_ours { shorter() } else { Some(path.join("::")) };
        found.instead = found.instead.or(written);
        Some(found)
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
    /// The module of the file, and those written inside of it that are open, with the depth of
    /// their braces.
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
            "mod" if self.is(at + 2, ";") => self.publish(at),
            "mod" if self.is(at + 2, "{") => {
                self.publish(at);
                let (around, _) = self.inside.last().expect("a file is a module").clone();
                let name = join(&around, &tokens[at + 1].text);
                let file = self.inside[0].0.clone();
                self.tree.modules.insert(name.clone(), Module { file, ..Module::default() });
                self.inside.push((name, self.depth));
                self.depth += 1;
                return at + 3;
            }
            "struct" | "enum" | "union" | "trait" | "type" => {
                self.publish(at);
                self.define(at + 1);
            }
            "fn" | "const" | "static" => self.define(at + 1),
            "macro_rules" if self.is(at + 1, "!") => {
                self.define(at + 2);
                let module = self.inside[0].0.clone();
                self.tree.macros.insert(tokens[at + 2].text.clone(), module);
                return self.definition(at + 3);
            }
            _ if token.is_word() && self.is(at + 1, "!") && self.depth == self.open() => {
                return self.table(at + 2);
            }
            "$" if !self.is(at + 1, "crate") => return at + 2,
            _ if self.is_path(at) => return self.path(at),
            _ => {}
        }
        at + 1
    }

    /// How deep items of the module are.
    fn open(&self) -> usize {
        self.inside.last().map_or(0, |it| it.1 + usize::from(1 < self.inside.len()))
    }

    /// Enters the item whose name stands at `at`, if it is one of the module and not inside another
    /// item.
    fn define(&mut self, at: usize) {
        let at = if self.is(at, "mut") { at + 1 } else { at };
        let is_named = self.tokens.get(at).is_some_and(Token::is_word)
            && !["fn", "unsafe", "extern", "async"].iter().any(|it| self.is(at, it));
        if is_named && self.depth == self.open() {
            let name = self.tokens[at].text.clone();
            self.module().defined.insert(name);
        }
    }

    /// Enters the name behind the keyword at `at`, if `pub` stands before it.
    fn publish(&mut self, at: usize) {
        let first = if 0 < at && self.is(at - 1, "unsafe") { at - 1 } else { at };
        if 0 < first && self.is(first - 1, "pub") && self.depth == self.open() {
            let name = self.tokens[at + 1].text.clone();
            self.module().public.insert(name);
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
        self.mention(self.tokens[at].line, segments);
        end
    }

    fn mention(&mut self, line: usize, segments: Vec<String>) {
        let module = self.inside.last().expect("a file is a module").0.clone();
        self.tree.mentions.push(Mention { module, line, segments, is_foreign: false });
    }

    /// Where a macro makes items of a list, it uses each module that the list names, and what the
    /// paths and imports in the list name.
    fn table(&mut self, open: usize) -> usize {
        let end = group_end(self.tokens, open);
        let mut at = open;
        while at < end {
            let name = self.tokens[at].text.clone();
            let child = join(&self.inside[0].0, &name);
            let is_alone = [",", "]", ")", "}"].iter().any(|it| self.is(at + 1, it));
            if is_alone && self.tree.modules.contains_key(&child) {
                self.mention(self.tokens[at].line, vec!["self".to_owned(), name.clone(), "ENTRY".to_owned()]);
            }
            at = match name.as_str() {
                "use" if !self.is(at + 1, "<") => self.import(at),
                _ if self.is_path(at) => self.path(at),
                _ => at + 1,
            };
        }
        end
    }

    /// Where a macro is defined, it uses what it names from the root of its crate, wherever it is
    /// called: other paths depend on the place of the call.
    fn definition(&mut self, open: usize) -> usize {
        let end = group_end(self.tokens, open);
        let mut at = open;
        while at < end {
            let is_import = self.is(at, "use") && (self.is(at + 1, "crate") || self.is(at + 1, "$"));
            let start = if is_import { at + 1 } else { at };
            let is_foreign = self.is(start, "$");
            let start = start + usize::from(is_foreign);
            if !self.is(start, "crate") || !self.is(start + 1, "::") {
                at += 1;
                continue;
            }
            let known = self.tree.mentions.len();
            if is_import {
                let mut names = Vec::new();
                at = self.branch(start, &[], &mut names);
                for (line, path, name) in names {
                    let glob = (name == "*").then(|| "*".to_owned());
                    self.mention(line, path.into_iter().chain(glob).collect());
                }
            } else {
                at = self.path(start);
            }
            self.tree.mentions[known..].iter_mut().for_each(|it| it.is_foreign = is_foreign);
        }
        end
    }

    /// Whether a path starts at `at`.
    fn is_path(&self, at: usize) -> bool {
        self.tokens[at].is_word() && self.is(at + 1, "::") && !(0 < at && self.is(at - 1, "::"))
    }

    /// Enters the names that the `use` at `at` brings. One that is only passed on is no mention.
    fn import(&mut self, at: usize) -> usize {
        let is_public = 0 < at && (self.is(at - 1, "pub") || self.is(at - 1, ")"));
        let mut names = Vec::new();
        let end = self.branch(at + 1, &[], &mut names);
        for (line, path, name) in names {
            if 0 < at && self.is(at - 1, "pub") && name != "*" {
                self.module().passed_on.push((path.clone(), name.clone()));
            }
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

    /// Reads a branch of an import, behind `before`: line, path and name of each of its leaves.
    /// Returns where it ends.
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

/// The module that a path in `module` begins at, and what follows.
fn absolute<'p>(module: &str, path: &'p [String]) -> Option<(String, &'p [String])> {
    let mut at = module.to_owned();
    let mut rest = path;
    while let Some((first, tail)) = rest.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => at = parent(&at)?.to_owned(),
            _ => break,
        }
        rest = tail;
    }
    Some((at, rest))
}

/// `a::b` for `a` and `b`; one of them may be empty.
pub(super) fn join(around: &str, name: &str) -> String {
    if around.is_empty() || name.is_empty() { format!("{around}{name}") } else { format!("{around}::{name}") }
}

/// The module around `module`.
pub(super) fn parent(module: &str) -> Option<&str> {
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
