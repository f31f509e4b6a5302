//! The resolver: each name of a tree gets its slot. A name that is defined nowhere is an error, and
//! so is a call of a global function with other arguments than it takes.
//!
//! A name that a function assigns anywhere is a local variable of it. The variables of a
//! comprehension have slots of the function around it. A variable that a function inside uses is
//! captured: its slot holds a cell.

use std::{collections::HashMap, sync::Arc};

use clewline_core::NotFound;

use crate::{
    builtin::Builtin,
    error::{Fault, fault},
    lexer::refusal,
    parser::KEYWORDS,
    tree::{
        Argument, Capture, Clause, Comprehension, Expression, Function, Goal, Kind, Place, Statement,
        StatementKind, Target, Tree,
    },
};

/// Resolves all names of `tree`.
pub(crate) fn resolve(tree: &mut Tree) -> Result<(), Fault> {
    let mut globals: HashMap<Arc<str>, u32> = HashMap::new();
    let mut defined: HashMap<Arc<str>, Vec<Declared>> = HashMap::new();
    for statement in &tree.body {
        if let StatementKind::Define(_, number) = &statement.kind {
            let Function { name, parameters, .. } = &tree.functions[*number];
            let declared = parameters.iter().map(|it| (Arc::clone(&it.name), it.default.is_some()));
            defined.insert(Arc::clone(name), declared.collect());
        }
        if let StatementKind::Assign(target, _) | StatementKind::Define(target, _) = &statement.kind {
            each_name(target, &mut |name, at| {
                let number = globals.len() as u32;
                if globals.insert(Arc::clone(name), number).is_some() {
                    return fault(at, format!("`{name}` is defined twice; a global has one definition"));
                }
                tree.globals.push(Arc::clone(name));
                Ok(())
            })?;
        }
    }
    let mut resolver = Resolver {
        globals,
        defined,
        functions: std::mem::take(&mut tree.functions).into_iter().map(Some).collect(),
        scopes: vec![Scope::default()],
    };
    let outcome = resolver.statements(&mut tree.body);
    tree.slots = resolver.scopes[0].slots;
    tree.captured = std::mem::take(&mut resolver.scopes[0].captured);
    tree.functions = resolver.functions.into_iter().flatten().collect();
    outcome
}

type Visit<'a> = dyn FnMut(&Arc<str>, u32) -> Result<(), Fault> + 'a;

/// Calls `visit` with each name that `target` assigns, and its place.
fn each_name(target: &Target, visit: &mut Visit<'_>) -> Result<(), Fault> {
    match &target.kind {
        Goal::Name(name, _) => visit(name, target.at),
        Goal::Item(_) => Ok(()),
        Goal::Several(items) => items.iter().try_for_each(|it| each_name(it, visit)),
    }
}

/// A function, or what is outside of all.
#[derive(Default)]
struct Scope {
    // The innermost block last.
    blocks: Vec<HashMap<Arc<str>, u32>>,
    slots: usize,
    captured: Vec<u32>,
    free: Vec<(Arc<str>, Capture)>,
}

// A parameter, and whether it has a default.
type Declared = (Arc<str>, bool);

struct Resolver {
    globals: HashMap<Arc<str>, u32>,
    // The parameters of functions that are globals.
    defined: HashMap<Arc<str>, Vec<Declared>>,
    // `None` while one is resolved.
    functions: Vec<Option<Function>>,
    scopes: Vec<Scope>,
}

impl Resolver {
    fn scope(&mut self) -> &mut Scope {
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// The place of `name` in the function at `depth`, if it is a variable of that or of one
    /// around.
    fn variable(&mut self, depth: usize, name: &Arc<str>) -> Option<Place> {
        let scope = &self.scopes[depth];
        if let Some(slot) = scope.blocks.iter().rev().find_map(|it| it.get(name)) {
            return Some(Place::Local(*slot));
        }
        if let Some(number) = scope.free.iter().position(|it| it.0 == *name) {
            return Some(Place::Free(number as u32));
        }
        let outer = self.variable(depth.checked_sub(1)?, name)?;
        let capture = match outer {
            Place::Local(slot) => {
                let captured = &mut self.scopes[depth - 1].captured;
                if !captured.contains(&slot) {
                    captured.push(slot);
                }
                Capture::Slot(slot)
            }
            Place::Free(number) => Capture::Free(number),
            Place::Unresolved | Place::Global(_) | Place::Builtin(_) => return None,
        };
        let free = &mut self.scopes[depth].free;
        free.push((Arc::clone(name), capture));
        Some(Place::Free(free.len() as u32 - 1))
    }

    fn place(&mut self, name: &Arc<str>, at: u32) -> Result<Place, Fault> {
        if let Some(place) = self.variable(self.scopes.len() - 1, name) {
            return Ok(place);
        }
        if let Some(number) = self.globals.get(name) {
            return Ok(Place::Global(*number));
        }
        if let Some(builtin) = Builtin::find(name) {
            return Ok(Place::Builtin(builtin));
        }
        if let Some(why) = refusal(name) {
            return fault(at, format!("not supported: {why}"));
        }
        let own = self.scopes.iter().flat_map(|it| &it.blocks).flat_map(HashMap::keys);
        let own = own.chain(self.globals.keys()).map(|it| &**it);
        let mut names: Vec<&str> = own.chain(KEYWORDS).chain(Builtin::NAMES.iter().copied()).collect();
        names.sort_unstable();
        match NotFound::new("name", name, names).closest() {
            Some(near) => fault(at, format!("`{name}` is not defined; did you mean `{near}`?")),
            None => fault(at, format!("`{name}` is not defined")),
        }
    }

    fn function(&mut self, number: usize) -> Result<(), Fault> {
        let Some(mut function) = self.functions[number].take() else { return Ok(()) };
        // Defaults belong to the function around.
        for parameter in &mut function.parameters {
            parameter.default.iter_mut().try_for_each(|it| self.expression(it))?;
        }
        let mut locals: HashMap<Arc<str>, u32> = HashMap::new();
        for parameter in &function.parameters {
            let slot = locals.len() as u32;
            locals.insert(Arc::clone(&parameter.name), slot);
        }
        collect_locals(&function.body, &mut locals);
        let slots = locals.len();
        self.scopes.push(Scope { blocks: vec![locals], slots, ..Scope::default() });
        let outcome = self.statements(&mut function.body);
        if let Some(scope) = self.scopes.pop() {
            function.slots = scope.slots;
            function.captured = scope.captured;
            function.free = scope.free.into_iter().map(|it| it.1).collect();
        }
        self.functions[number] = Some(function);
        outcome
    }

    fn statements(&mut self, statements: &mut [Statement]) -> Result<(), Fault> {
        statements.iter_mut().try_for_each(|it| self.statement(it))
    }

    fn statement(&mut self, statement: &mut Statement) -> Result<(), Fault> {
        match &mut statement.kind {
            StatementKind::Value(value) => self.expression(value),
            StatementKind::Assign(target, value) | StatementKind::Augment(target, _, value) => {
                self.expression(value)?;
                self.target(target)
            }
            StatementKind::Define(target, number) => {
                self.function(*number)?;
                self.target(target)
            }
            StatementKind::If(branches, otherwise) => {
                for (condition, body) in branches {
                    self.expression(condition)?;
                    self.statements(body)?;
                }
                self.statements(otherwise)
            }
            StatementKind::For(target, sequence, body) => {
                self.expression(sequence)?;
                self.target(target)?;
                self.statements(body)
            }
            StatementKind::Return(value) => value.iter_mut().try_for_each(|it| self.expression(it)),
            StatementKind::Break | StatementKind::Continue | StatementKind::Pass => Ok(()),
        }
    }

    fn target(&mut self, target: &mut Target) -> Result<(), Fault> {
        match &mut target.kind {
            Goal::Name(name, place) => {
                *place = self.place(name, target.at)?;
                match place {
                    Place::Global(_) if 1 < self.scopes.len() => {
                        fault(target.at, format!("the global `{name}` is frozen"))
                    }
                    Place::Builtin(_) => fault(target.at, format!("`{name}` is not assigned before")),
                    Place::Local(_) | Place::Free(_) | Place::Global(_) | Place::Unresolved => Ok(()),
                }
            }
            Goal::Item(parts) => {
                self.expression(&mut parts.0)?;
                self.expression(&mut parts.1)
            }
            Goal::Several(items) => items.iter_mut().try_for_each(|it| self.target(it)),
        }
    }

    fn each(&mut self, expressions: &mut [Expression]) -> Result<(), Fault> {
        expressions.iter_mut().try_for_each(|it| self.expression(it))
    }

    fn expression(&mut self, expression: &mut Expression) -> Result<(), Fault> {
        match &mut expression.kind {
            Kind::Constant(_) => Ok(()),
            Kind::Name(name, place) => {
                *place = self.place(name, expression.at)?;
                Ok(())
            }
            Kind::List(items) | Kind::Tuple(items) => self.each(items),
            Kind::Dict(entries) => entries.iter_mut().try_for_each(|(key, value)| {
                self.expression(key)?;
                self.expression(value)
            }),
            Kind::Comprehension(it) => self.comprehension(it),
            Kind::Not(it) | Kind::Negative(it) | Kind::Positive(it) | Kind::Inverted(it) => {
                self.expression(it)
            }
            Kind::Binary(_, both) | Kind::And(both) | Kind::Or(both) | Kind::Item(both) => {
                self.expression(&mut both.0)?;
                self.expression(&mut both.1)
            }
            Kind::If(three) => {
                self.expression(&mut three.0)?;
                self.expression(&mut three.1)?;
                self.expression(&mut three.2)
            }
            Kind::Slice(value, parts) => {
                self.expression(value)?;
                parts.iter_mut().flatten().try_for_each(|it| self.expression(it))
            }
            Kind::Call(value, arguments) => {
                self.expression(value)?;
                arguments.iter_mut().try_for_each(|it| self.expression(&mut it.value))?;
                match &value.kind {
                    Kind::Name(name, Place::Global(_)) => self.check_call(name, arguments, expression.at),
                    _ => Ok(()),
                }
            }
            Kind::Method(value, _, arguments) => {
                self.expression(value)?;
                arguments.iter_mut().try_for_each(|it| self.expression(&mut it.value))
            }
            Kind::Lambda(number) => self.function(*number),
        }
    }

    /// Checks the arguments of a call of a global, if that is a function.
    fn check_call(&self, name: &Arc<str>, arguments: &[Argument], at: u32) -> Result<(), Fault> {
        let Some(parameters) = self.defined.get(name) else { return Ok(()) };
        let unnamed = arguments.iter().filter(|it| it.name.is_none()).count();
        if parameters.len() < unnamed {
            return fault(at, format!("`{name}` takes {} arguments, found {unnamed}", parameters.len()));
        }
        let mut is_given: Vec<bool> = (0..parameters.len()).map(|it| it < unnamed).collect();
        for given in arguments.iter().filter_map(|it| it.name.as_ref()) {
            match parameters.iter().position(|it| it.0 == *given) {
                Some(slot) if is_given[slot] => {
                    return fault(at, format!("`{name}` has two values for `{given}`"));
                }
                Some(slot) => is_given[slot] = true,
                None => return fault(at, format!("`{name}` has no parameter `{given}`")),
            }
        }
        match parameters.iter().zip(is_given).find(|((_, has_default), is_given)| !has_default && !is_given) {
            Some(((missing, _), _)) => fault(at, format!("`{name}` needs a value for `{missing}`")),
            None => Ok(()),
        }
    }

    fn comprehension(&mut self, comprehension: &mut Comprehension) -> Result<(), Fault> {
        let Comprehension { item, clauses } = comprehension;
        for (number, clause) in clauses.iter_mut().enumerate() {
            match clause {
                Clause::For(target, sequence) => {
                    self.expression(sequence)?;
                    // The first sequence is outside of the comprehension.
                    if number == 0 {
                        self.scope().blocks.push(HashMap::new());
                    }
                    each_name(target, &mut |name, _| {
                        let scope = self.scope();
                        let slot = scope.slots as u32;
                        scope.slots += 1;
                        scope.blocks.last_mut().map(|it| it.insert(Arc::clone(name), slot));
                        Ok(())
                    })?;
                    self.target(target)?;
                }
                Clause::If(condition) => self.expression(condition)?,
            }
        }
        self.expression(&mut item.0)?;
        item.1.iter_mut().try_for_each(|it| self.expression(it))?;
        self.scope().blocks.pop();
        Ok(())
    }
}

/// Adds the names that `statements` assign.
fn collect_locals(statements: &[Statement], locals: &mut HashMap<Arc<str>, u32>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(target, _)
            | StatementKind::Augment(target, ..)
            | StatementKind::Define(target, _) => {
                add_names(target, locals);
            }
            StatementKind::For(target, _, body) => {
                add_names(target, locals);
                collect_locals(body, locals);
            }
            StatementKind::If(branches, otherwise) => {
                branches.iter().for_each(|it| collect_locals(&it.1, locals));
                collect_locals(otherwise, locals);
            }
            StatementKind::Value(_)
            | StatementKind::Return(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Pass => (),
        }
    }
}

fn add_names(target: &Target, locals: &mut HashMap<Arc<str>, u32>) {
    match &target.kind {
        Goal::Name(name, _) => {
            let slot = locals.len() as u32;
            locals.entry(Arc::clone(name)).or_insert(slot);
        }
        Goal::Item(_) => (),
        Goal::Several(items) => items.iter().for_each(|it| add_names(it, locals)),
    }
}
