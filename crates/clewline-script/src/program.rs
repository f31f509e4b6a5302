//! A script that was loaded and checked: its functions, and what it declares.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use clewline_core::static_name;

use crate::{
    convert,
    error::{Fault, ScriptError, Source, fault},
    interpreter::Interpreter,
    lexer, parser, resolver,
    tree::{Goal, StatementKind, Tree},
    value::{Heap, Sequence, Val},
};

/// A script, ready to be called.
pub(crate) struct Program {
    pub(crate) source: Arc<Source>,
    pub(crate) tree: Tree,
    pub(crate) globals: Vec<Val>,
    /// The state of a fresh object.
    pub(crate) initial: Val,
    pub(crate) step: Val,
    pub(crate) part: Option<Val>,
    pub(crate) results: Option<Val>,
    /// What it calls itself.
    pub(crate) name: Option<Arc<str>>,
    /// Its operations, if it declares them.
    pub(crate) operations: Option<Vec<Declared>>,
    /// The operations that it declares to change nothing.
    pub(crate) reads: Vec<Arc<str>>,
    // The numbers of parts.
    parts: Mutex<HashMap<PartKey, u64>>,
}

/// An operation that a script declares.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: &'static str,
    /// The parameters, each with the values that may be drawn for it, if they are given.
    pub(crate) parameters: Vec<(Arc<str>, Option<Vec<Val>>)>,
}

#[derive(Debug, PartialEq, Eq)]
struct PartKey(u64, Val);

impl std::hash::Hash for PartKey {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0);
    }
}

impl Program {
    /// Reads and checks a script; errors call it `file`.
    pub(crate) fn load(file: &str, text: &str) -> Result<Program, ScriptError> {
        let source = Arc::new(Source { file: file.to_owned(), text: text.to_owned() });
        Program::check(&source).map_err(|it| source.error(it))
    }

    fn check(source: &Arc<Source>) -> Result<Program, Fault> {
        let mut tree = parser::parse(lexer::tokens(&source.text)?)?;
        resolver::resolve(&mut tree)?;
        let globals = Interpreter::load(&tree)?;
        let exports = Exports { tree: &tree, globals: &globals };
        let initial = exports.function("initial", &[])?;
        let step = exports.function("step", &["state", "op", "args", "ret"])?;
        let part = exports.optional("part", &["op", "args"])?;
        let results = exports.optional("results", &["state", "op", "args"])?;
        let name = exports.name()?;
        let operations = exports.operations()?;
        let reads = exports.reads(operations.as_deref())?;
        let initial = Interpreter::new(&tree, &globals).call(&initial, Vec::new())?;
        let source = Arc::clone(source);
        let parts = Mutex::default();
        Ok(Program { source, tree, globals, initial, step, part, results, name, operations, reads, parts })
    }

    /// The number of the part that `key` names. Equal keys have equal numbers, in all histories.
    pub(crate) fn part_number(&self, key: Val) -> Result<u64, Fault> {
        let Some(hash) = key.key_hash() else {
            return fault(
                self.place_of("part"),
                format!("`part` returned {}, expected a key of a dict", key.a_kind()),
            );
        };
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = parts.len() as u64;
        Ok(*parts.entry(PartKey(hash, key)).or_insert(fresh))
    }

    /// Where a global is defined.
    pub(crate) fn place_of(&self, name: &str) -> u32 {
        place_of(&self.tree, name)
    }

    /// Calls a function of the script with these arguments.
    pub(crate) fn call(&self, function: &Val, arguments: Vec<Val>) -> Result<Val, Fault> {
        Interpreter::new(&self.tree, &self.globals).call(function, arguments)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("file", &self.source.file).finish_non_exhaustive()
    }
}

fn place_of(tree: &Tree, name: &str) -> u32 {
    let defines = |kind: &StatementKind| match kind {
        StatementKind::Assign(target, _) | StatementKind::Define(target, _) => match &target.kind {
            Goal::Name(found, _) => (**found == *name).then_some(target.at),
            Goal::Item(_) | Goal::Several(_) => None,
        },
        _ => None,
    };
    tree.body.iter().find_map(|it| defines(&it.kind)).unwrap_or(0)
}

/// The globals of a script, by their names.
struct Exports<'t> {
    tree: &'t Tree,
    globals: &'t [Val],
}

impl Exports<'_> {
    fn get(&self, name: &str) -> Option<&Val> {
        self.tree.globals.iter().position(|it| **it == *name).map(|at| &self.globals[at])
    }

    fn wrong<T>(&self, name: &str, expected: &str, found: &Val) -> Result<T, Fault> {
        fault(place_of(self.tree, name), format!("`{name}`: expected {expected}, found {}", found.a_kind()))
    }

    fn function(&self, name: &str, parameters: &[&str]) -> Result<Val, Fault> {
        match self.optional(name, parameters)? {
            Some(function) => Ok(function),
            None => {
                let found: Vec<String> = self.tree.globals.iter().map(|it| format!("`{it}`")).collect();
                let found = if found.is_empty() { "nothing".to_owned() } else { found.join(", ") };
                let parameters = parameters.join(", ");
                fault(0, format!("a specification defines `{name}({parameters})`; this file defines {found}"))
            }
        }
    }

    fn optional(&self, name: &str, parameters: &[&str]) -> Result<Option<Val>, Fault> {
        let expected = || format!("a function ({})", parameters.join(", "));
        match self.get(name) {
            None => Ok(None),
            Some(Val::Function(closure)) => {
                let function = &self.tree.functions[closure.function];
                let (most, least) =
                    (function.parameters.len(), function.parameters.len() - closure.defaults.len());
                if (least..=most).contains(&parameters.len()) {
                    return Ok(Some(Val::Function(Arc::clone(closure))));
                }
                fault(function.at, format!("`{name}`: expected {}, found {most} parameters", expected()))
            }
            Some(other) => self.wrong(name, &expected(), other),
        }
    }

    fn name(&self) -> Result<Option<Arc<str>>, Fault> {
        match self.get("name") {
            None => Ok(None),
            Some(Val::Text(name)) => Ok(Some(Arc::clone(name))),
            Some(other) => self.wrong("name", "a text", other),
        }
    }

    fn operations(&self) -> Result<Option<Vec<Declared>>, Fault> {
        const EXPECTED: &str = "a dict: for each operation the list of its parameters, or a dict with the values \
                                of each";
        let dict = match self.get("operations") {
            None => return Ok(None),
            Some(Val::FrozenDict(dict)) if !dict.entries.is_empty() => dict,
            Some(other) => return self.wrong("operations", EXPECTED, other),
        };
        let mut operations = Vec::new();
        for entry in &dict.entries {
            let (Val::Text(name), Some(parameters)) = (&entry.key, parameters(&entry.value)) else {
                return self.wrong("operations", EXPECTED, &entry.value);
            };
            operations.push(Declared { name: static_name(name), parameters });
        }
        Ok(Some(operations))
    }

    fn reads(&self, operations: Option<&[Declared]>) -> Result<Vec<Arc<str>>, Fault> {
        let items = match self.get("reads") {
            None => return Ok(Vec::new()),
            Some(value) => match texts(value) {
                Some(texts) => texts,
                None => return self.wrong("reads", "a list of operations", value),
            },
        };
        for name in &items {
            if operations.is_some_and(|all| all.iter().all(|it| *it.name != **name)) {
                return fault(place_of(self.tree, "reads"), format!("`{name}` is not one of `operations`"));
            }
        }
        Ok(items)
    }
}

fn texts(value: &Val) -> Option<Vec<Arc<str>>> {
    let text = |it: &Val| match it {
        Val::Text(text) => Some(Arc::clone(text)),
        _ => None,
    };
    Heap::default().items(value)?.iter().map(text).collect()
}

/// Names of parameters, each with the values that are drawn for it, if they are given.
type Parameters = Vec<(Arc<str>, Option<Vec<Val>>)>;

fn parameters(value: &Val) -> Option<Parameters> {
    let Val::FrozenDict(dict) = value else {
        return Some(texts(value)?.into_iter().map(|it| (it, None)).collect());
    };
    let mut parameters = Vec::new();
    for entry in &dict.entries {
        let Val::Text(name) = &entry.key else { return None };
        let drawn = match Heap::default().sequence(&entry.value) {
            Some(Sequence::Items(items)) => items.to_vec(),
            // Beyond this a range is drawn from its beginning.
            Some(Sequence::Range(range)) => {
                (0..range.len.min(1 << 16)).map(|it| Val::Int(range.get(it))).collect()
            }
            None => return None,
        };
        // An empty list has nothing to draw.
        let drawn = Some(drawn).filter(|it| !it.is_empty())?;
        let drawn = drawn.iter().map(convert::canonical).collect::<Option<Vec<Val>>>()?;
        parameters.push((Arc::clone(name), Some(drawn)));
    }
    Some(parameters)
}
