//! The interpreter: it walks the tree of a script.
//!
//! Each call has a limit of steps, and so of time and memory: whatever makes, compares or writes
//! many values at once takes as many steps. What it returns has a limit of size ([`Heap::freeze`]).
//! There is no recursion of functions, as in Starlark, and expressions, calls and values inside
//! each other have a limit, so that the stack of a thread suffices.
//!
//! The result of a pending operation is not known. The interpreter guesses where a script compares
//! it with a value or takes its truth: it tries every outcome, each in a run of its own
//! ([`Interpreter::outcomes`]). In a run in which the result was equal to a value, it is that value
//! from there on; in one in which it was unequal to all, it remains unknown. There are infinitely
//! many values, so each run is the behaviour for some result, and all results are covered.

use std::sync::Arc;

use crate::{
    error::{Fault, RESULTS_HINT, fault},
    tree::{
        Argument, Capture, Clause, Comprehension, Expression, Function, Goal, Kind, Operator, Place,
        Statement, StatementKind, Target, Tree,
    },
    value::{Closure, Dict, Freezing, Heap, Purpose, Sequence, Val},
};

/// Steps of one call.
pub(crate) const STEPS_MAX: u64 = 2_000_000;
// Expressions, blocks and calls inside each other.
const NESTING_DEPTH_MAX: u32 = 200;
// Runs for one pending operation in one state, and when no further one is begun.
const PENDING_RUNS_MAX: usize = 10_000;
const RUNS_STEPS_MAX: u64 = 5 * STEPS_MAX;

pub(crate) struct Interpreter<'p> {
    pub(crate) tree: &'p Tree,
    // Those of a script that is loaded; empty while it is.
    globals: &'p [Val],
    // The globals while the script is loaded.
    loading: Vec<Val>,
    pub(crate) heap: Heap,
    stack: Vec<Val>,
    pub(crate) steps_left: u64,
    depth: u32,
    // The functions that are called.
    active: Vec<usize>,
    pub(crate) guess: Guess,
}

/// What is assumed about the result of a pending operation in one run.
#[derive(Debug, Default)]
pub(crate) struct Guess {
    // The choice at each point of the run, and how many there are.
    pub(crate) path: Vec<(usize, usize)>,
    // How many points the run has passed.
    pub(crate) passed: usize,
    pub(crate) known: Option<Val>,
    pub(crate) excluded: Vec<Val>,
}

/// The outcome of a call in one run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What the call returned.
    pub(crate) value: Val,
    /// The result of the pending operation, if the run has found it out.
    pub(crate) known: Option<Val>,
    /// The results that it is not, if not.
    pub(crate) excluded: Vec<Val>,
}

/// Where the variables of a call are.
#[derive(Clone, Copy)]
struct Frame<'c> {
    base: usize,
    cells: &'c [u32],
}

/// How a block ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Val),
}

impl<'p> Interpreter<'p> {
    /// An interpreter of a script with these globals.
    pub(crate) fn new(tree: &'p Tree, globals: &'p [Val]) -> Self {
        Interpreter {
            tree,
            globals,
            loading: Vec::new(),
            heap: Heap::default(),
            stack: Vec::new(),
            steps_left: STEPS_MAX,
            depth: 0,
            active: Vec::new(),
            guess: Guess::default(),
        }
    }

    /// Runs the script. Returns its globals, frozen.
    pub(crate) fn load(tree: &'p Tree) -> Result<Vec<Val>, Fault> {
        let mut it = Interpreter::new(tree, &[]);
        it.loading = vec![Val::Unset; tree.globals.len()];
        it.enter(tree.slots, &tree.captured);
        it.block(&tree.body, Frame { base: 0, cells: &[] })?;
        let globals = std::mem::take(&mut it.loading);
        let frozen: Result<_, String> =
            globals.iter().map(|value| it.freeze(value, Purpose::Global)).collect();
        frozen.map_err(|message| Fault { at: 0, message })
    }

    /// Calls a function of the script, and freezes what it returns as a state.
    pub(crate) fn call(&mut self, function: &Val, arguments: Vec<Val>) -> Result<Val, Fault> {
        let at = match function {
            Val::Function(closure) => self.tree.functions[closure.function].at,
            _ => 0,
        };
        let value = self.call_value(function, arguments, Vec::new(), at)?;
        self.freeze(&value, Purpose::State).map_err(|message| Fault { at, message })
    }

    /// `value` in its frozen form.
    pub(crate) fn freeze(&mut self, value: &Val, purpose: Purpose) -> Result<Val, String> {
        let mut visited = 0;
        let options = Freezing { purpose, unknown: self.guess.known.as_ref() };
        let frozen = self.heap.freeze(value, &options, &mut visited)?;
        self.spend(visited)?;
        Ok(frozen)
    }

    /// Calls a function of the script once for each result that the pending operation may have. One
    /// of the arguments is [`Val::Unknown`].
    pub(crate) fn outcomes(
        tree: &'p Tree,
        globals: &'p [Val],
        function: &Val,
        arguments: &[Val],
        mut visit: impl FnMut(Outcome) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut steps = 0;
        for _ in 0..PENDING_RUNS_MAX {
            if RUNS_STEPS_MAX < steps {
                let values = "the result of a pending operation is compared with many values";
                return fault(0, format!("{values}: more than {RUNS_STEPS_MAX} steps{RESULTS_HINT}"));
            }
            let mut run = Interpreter::new(tree, globals);
            run.guess.path = path;
            let value = run.call(function, arguments.to_vec())?;
            steps += STEPS_MAX - run.steps_left;
            let Guess { path: tried, known, excluded, .. } = run.guess;
            visit(Outcome { value, known, excluded })?;
            path = tried;
            while let Some((choice, count)) = path.last_mut() {
                *choice += 1;
                if choice < count {
                    break;
                }
                path.pop();
            }
            if path.is_empty() {
                return Ok(());
            }
        }
        fault(
            0,
            format!(
                "the result of a pending operation is compared with more than {PENDING_RUNS_MAX} values{RESULTS_HINT}"
            ),
        )
    }

    /// Takes `count` of the steps that are left.
    pub(crate) fn spend(&mut self, count: usize) -> Result<(), String> {
        match self.steps_left.checked_sub(count as u64) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(format!("the call takes more than {STEPS_MAX} steps")),
        }
    }

    fn deeper(&mut self, at: u32) -> Result<(), Fault> {
        self.spend(1).map_err(|message| Fault { at, message })?;
        self.depth += 1;
        if NESTING_DEPTH_MAX < self.depth {
            return fault(
                at,
                format!("calls and expressions are nested more than {NESTING_DEPTH_MAX} levels deep"),
            );
        }
        Ok(())
    }

    /// Makes room for the variables of a call; those that functions share get cells.
    fn enter(&mut self, slots: usize, captured: &[u32]) -> usize {
        let base = self.stack.len();
        self.stack.resize(base + slots, Val::Unset);
        for &slot in captured {
            self.capture(base + slot as usize);
        }
        base
    }

    fn capture(&mut self, at: usize) {
        let cell = Val::Cell(self.heap.cells.len() as u32);
        let value = std::mem::replace(&mut self.stack[at], cell);
        self.heap.cells.push(value);
    }

    /// Calls a value, if it is a function.
    pub(crate) fn call_value(
        &mut self,
        function: &Val,
        arguments: Vec<Val>,
        named: Vec<(Arc<str>, Val)>,
        at: u32,
    ) -> Result<Val, Fault> {
        match function {
            Val::Function(closure) => {
                self.deeper(at)?;
                let value = self.call_closure(closure, arguments, named, at);
                self.depth -= 1;
                value
            }
            Val::Builtin(builtin) => builtin.call(self, arguments, named, at),
            other => fault(at, format!("{} is called, which is no function", other.a_kind())),
        }
    }

    fn call_closure(
        &mut self,
        closure: &Closure,
        arguments: Vec<Val>,
        named: Vec<(Arc<str>, Val)>,
        at: u32,
    ) -> Result<Val, Fault> {
        let function: &'p Function = &self.tree.functions[closure.function];
        let Function { name, parameters, .. } = function;
        if self.active.contains(&closure.function) {
            return fault(at, format!("`{name}` calls itself: recursion is not supported"));
        }
        if parameters.len() < arguments.len() {
            let (expected, found) = (parameters.len(), arguments.len());
            return fault(at, format!("`{name}` takes {expected} arguments, found {found}"));
        }
        let base = self.stack.len();
        self.stack.extend(arguments);
        self.stack.resize(base + function.slots, Val::Unset);
        let unwind = |it: &mut Self| it.stack.truncate(base);
        for (given, value) in named {
            let slot = parameters.iter().position(|it| it.name == given);
            match slot {
                Some(slot) if matches!(self.stack[base + slot], Val::Unset) => {
                    self.stack[base + slot] = value
                }
                Some(_) => {
                    unwind(self);
                    return fault(at, format!("`{name}` has two values for `{given}`"));
                }
                None => {
                    unwind(self);
                    return fault(at, format!("`{name}` has no parameter `{given}`"));
                }
            }
        }
        let required = parameters.len() - closure.defaults.len();
        for (slot, parameter) in parameters.iter().enumerate() {
            if !matches!(self.stack[base + slot], Val::Unset) {
                continue;
            }
            match slot.checked_sub(required) {
                Some(default) => self.stack[base + slot] = closure.defaults[default].clone(),
                None => {
                    unwind(self);
                    return fault(at, format!("`{name}` needs a value for `{}`", parameter.name));
                }
            }
        }
        for &slot in &function.captured {
            self.capture(base + slot as usize);
        }
        self.active.push(closure.function);
        let flow = self.block(&function.body, Frame { base, cells: &closure.cells });
        self.active.pop();
        unwind(self);
        match flow? {
            Flow::Return(value) => Ok(value),
            Flow::Next | Flow::Break | Flow::Continue => Ok(Val::None),
        }
    }

    fn block(&mut self, statements: &'p [Statement], frame: Frame<'_>) -> Result<Flow, Fault> {
        for statement in statements {
            match self.statement(statement, frame)? {
                Flow::Next => (),
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'p Statement, frame: Frame<'_>) -> Result<Flow, Fault> {
        let at = statement.at;
        self.deeper(at)?;
        let flow = match &statement.kind {
            StatementKind::Value(value) => self.evaluate(value, frame).map(|_| Flow::Next),
            StatementKind::Assign(target, value) => {
                let value = self.evaluate(value, frame)?;
                self.assign(target, value, frame).map(|()| Flow::Next)
            }
            StatementKind::Augment(target, operator, value) => {
                self.augment(target, *operator, value, frame).map(|()| Flow::Next)
            }
            StatementKind::Define(target, function) => {
                let value = self.closure(*function, frame)?;
                self.assign(target, value, frame).map(|()| Flow::Next)
            }
            StatementKind::If(branches, otherwise) => self.branches(branches, otherwise, frame),
            StatementKind::For(target, sequence, body) => self.for_loop(target, sequence, body, frame),
            StatementKind::Return(None) => Ok(Flow::Return(Val::None)),
            StatementKind::Return(Some(value)) => self.evaluate(value, frame).map(Flow::Return),
            StatementKind::Break => Ok(Flow::Break),
            StatementKind::Continue => Ok(Flow::Continue),
            StatementKind::Pass => Ok(Flow::Next),
        }?;
        self.depth -= 1;
        Ok(flow)
    }

    fn branches(
        &mut self,
        branches: &'p [(Expression, Vec<Statement>)],
        otherwise: &'p [Statement],
        frame: Frame<'_>,
    ) -> Result<Flow, Fault> {
        for (condition, body) in branches {
            if self.condition(condition, frame)? {
                return self.block(body, frame);
            }
        }
        self.block(otherwise, frame)
    }

    fn condition(&mut self, condition: &'p Expression, frame: Frame<'_>) -> Result<bool, Fault> {
        let value = self.evaluate(condition, frame)?;
        self.truth(&value).map_err(|message| Fault { at: condition.at, message })
    }

    fn for_loop(
        &mut self,
        target: &'p Target,
        sequence: &'p Expression,
        body: &'p [Statement],
        frame: Frame<'_>,
    ) -> Result<Flow, Fault> {
        let value = self.evaluate(sequence, frame)?;
        let mut end = Flow::Next;
        self.each(&value, sequence.at, &mut |it, item| {
            it.assign(target, item, frame)?;
            match it.block(body, frame)? {
                Flow::Next | Flow::Continue => Ok(true),
                Flow::Break => Ok(false),
                flow @ Flow::Return(_) => {
                    end = flow;
                    Ok(false)
                }
            }
        })?;
        Ok(end)
    }

    /// Calls `visit` with each item of `value`, until it returns false. The list or dict cannot be
    /// changed meanwhile.
    fn each(
        &mut self,
        value: &Val,
        at: u32,
        visit: &mut dyn FnMut(&mut Self, Val) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        self.lock(value, 1);
        let mut index = 0;
        let outcome = loop {
            let item = match (self.heap.sequence(value), self.heap.entries(value)) {
                (Some(Sequence::Items(items)), _) => items.get(index).cloned(),
                (Some(Sequence::Range(range)), _) => (index < range.len).then(|| Val::Int(range.get(index))),
                (None, Some(dict)) => dict.entries.get(index).map(|it| it.key.clone()),
                (None, None) => break fault(at, not_a_sequence(value)),
            };
            let Some(item) = item else { break Ok(()) };
            index += 1;
            if let Err(message) = self.spend(1) {
                break fault(at, message);
            }
            match visit(self, item) {
                Ok(true) => (),
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.lock(value, -1);
        outcome
    }

    fn lock(&mut self, value: &Val, by: i32) {
        let loops = match value {
            Val::List(at) => &mut self.heap.lists[*at as usize].loops,
            Val::Dict(at) => &mut self.heap.dicts[*at as usize].loops,
            _ => return,
        };
        *loops = loops.wrapping_add_signed(by);
    }

    /// The items of a sequence, or the keys of a dict.
    pub(crate) fn collect(&mut self, value: &Val) -> Result<Vec<Val>, String> {
        let value = self.known(value.clone());
        let items: Vec<Val> = match (self.heap.sequence(&value), self.heap.entries(&value)) {
            (Some(Sequence::Items(items)), _) => items.to_vec(),
            (Some(Sequence::Range(range)), _) => {
                let range = *range;
                self.spend(range.len)?;
                (0..range.len).map(|it| Val::Int(range.get(it))).collect()
            }
            (None, Some(dict)) => dict.entries.iter().map(|it| it.key.clone()).collect(),
            (None, None) => return Err(not_a_sequence(&value)),
        };
        self.spend(items.len())?;
        Ok(items)
    }

    /// The hash of a key.
    pub(crate) fn key_hash(&mut self, key: &Val) -> Result<u64, String> {
        self.spend(key.extent().size / 8)?;
        key.key_hash().ok_or_else(|| match key {
            Val::Unknown => {
                let what = "the result of a pending operation is a key of a dict, and is not known";
                format!("{what}{RESULTS_HINT}")
            }
            key => format!("{} cannot be a key of a dict", key.a_kind()),
        })
    }

    fn assign(&mut self, target: &'p Target, value: Val, frame: Frame<'_>) -> Result<(), Fault> {
        let at = target.at;
        match &target.kind {
            Goal::Name(_, place) => {
                self.set(*place, value, frame);
                Ok(())
            }
            Goal::Item(parts) => {
                let object = self.evaluate(&parts.0, frame)?;
                let key = self.evaluate(&parts.1, frame)?;
                self.set_item(&object, &key, value).map_err(|message| Fault { at, message })
            }
            Goal::Several(targets) => {
                let items = self.collect(&value).map_err(|message| Fault { at, message })?;
                if items.len() != targets.len() {
                    let (expected, found) = (targets.len(), items.len());
                    return fault(at, format!("expected {expected} values to assign, found {found}"));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.assign(target, item, frame)?;
                }
                Ok(())
            }
        }
    }

    fn set(&mut self, place: Place, value: Val, frame: Frame<'_>) {
        match place {
            Place::Local(slot) => {
                let at = frame.base + slot as usize;
                match self.stack[at] {
                    Val::Cell(cell) => self.heap.cells[cell as usize] = value,
                    _ => self.stack[at] = value,
                }
            }
            Place::Free(number) => self.heap.cells[frame.cells[number as usize] as usize] = value,
            Place::Global(number) => self.loading[number as usize] = value,
            Place::Builtin(_) | Place::Unresolved => (),
        }
    }

    fn augment(
        &mut self,
        target: &'p Target,
        operator: Operator,
        value: &'p Expression,
        frame: Frame<'_>,
    ) -> Result<(), Fault> {
        let at = target.at;
        match &target.kind {
            Goal::Name(name, place) => {
                let old = self.get(name, *place, at, frame)?;
                let value = self.evaluate(value, frame)?;
                let new = self.augmented(operator, &old, &value).map_err(|message| Fault { at, message })?;
                self.set(*place, new, frame);
                Ok(())
            }
            Goal::Item(parts) => {
                let object = self.evaluate(&parts.0, frame)?;
                let key = self.evaluate(&parts.1, frame)?;
                let old = self.item(&object, &key).map_err(|message| Fault { at, message })?;
                let value = self.evaluate(value, frame)?;
                let new = self.augmented(operator, &old, &value).map_err(|message| Fault { at, message })?;
                self.set_item(&object, &key, new).map_err(|message| Fault { at, message })
            }
            Goal::Several(_) => fault(at, "an augmented assignment has one target"),
        }
    }

    /// The value of a name.
    fn get(&self, name: &Arc<str>, place: Place, at: u32, frame: Frame<'_>) -> Result<Val, Fault> {
        let value = match place {
            Place::Local(slot) => &self.stack[frame.base + slot as usize],
            Place::Free(number) => &self.heap.cells[frame.cells[number as usize] as usize],
            Place::Global(number) if self.globals.is_empty() => &self.loading[number as usize],
            Place::Global(number) => &self.globals[number as usize],
            Place::Builtin(builtin) => return Ok(Val::Builtin(builtin)),
            Place::Unresolved => &Val::Unset,
        };
        let value = match value {
            Val::Cell(cell) => &self.heap.cells[*cell as usize],
            value => value,
        };
        match value {
            Val::Unset => fault(at, format!("`{name}` is used before its assignment")),
            Val::Unknown => Ok(self.known(Val::Unknown)),
            value => Ok(value.clone()),
        }
    }

    fn closure(&mut self, number: usize, frame: Frame<'_>) -> Result<Val, Fault> {
        let function: &'p Function = &self.tree.functions[number];
        let mut defaults = Vec::new();
        for parameter in &function.parameters {
            if let Some(default) = &parameter.default {
                defaults.push(self.evaluate(default, frame)?);
            }
        }
        let mut cells = Vec::with_capacity(function.free.len());
        for capture in &function.free {
            cells.push(match *capture {
                Capture::Slot(slot) => match self.stack[frame.base + slot as usize] {
                    Val::Cell(cell) => cell,
                    _ => return fault(function.at, "internal error: a captured variable has no cell"),
                },
                Capture::Free(number) => frame.cells[number as usize],
            });
        }
        let closure = Closure::new(number, defaults, cells);
        let closure = closure.map_err(|message| Fault { at: function.at, message })?;
        Ok(Val::Function(Arc::new(closure)))
    }

    fn evaluate(&mut self, expression: &'p Expression, frame: Frame<'_>) -> Result<Val, Fault> {
        let at = expression.at;
        match &expression.kind {
            Kind::Constant(value) => return Ok(value.clone()),
            Kind::Name(name, place) => return self.get(name, *place, at, frame),
            _ => (),
        }
        self.deeper(at)?;
        let value = self.evaluate_inner(expression, frame)?;
        self.depth -= 1;
        Ok(self.known(value))
    }

    fn evaluate_inner(&mut self, expression: &'p Expression, frame: Frame<'_>) -> Result<Val, Fault> {
        let at = expression.at;
        let failed = |message| Fault { at, message };
        match &expression.kind {
            Kind::Constant(value) => Ok(value.clone()),
            Kind::Name(name, place) => self.get(name, *place, at, frame),
            Kind::List(items) => {
                let items = self.evaluate_each(items, frame)?;
                Ok(self.heap.list(items))
            }
            Kind::Tuple(items) => Val::tuple(self.evaluate_each(items, frame)?).map_err(failed),
            Kind::Dict(entries) => self.dict(entries, frame),
            Kind::Comprehension(it) => self.comprehension(it, frame),
            Kind::Not(value) => Ok(Val::Bool(!self.condition(value, frame)?)),
            Kind::Negative(value) | Kind::Positive(value) | Kind::Inverted(value) => {
                let value = self.evaluate(value, frame)?;
                self.unary(&expression.kind, &value).map_err(failed)
            }
            Kind::Binary(operator, both) => {
                let one = self.evaluate(&both.0, frame)?;
                let other = self.evaluate(&both.1, frame)?;
                self.binary(*operator, &one, &other).map_err(failed)
            }
            Kind::And(both) => {
                let one = self.evaluate(&both.0, frame)?;
                if self.truth(&one).map_err(failed)? { self.evaluate(&both.1, frame) } else { Ok(one) }
            }
            Kind::Or(both) => {
                let one = self.evaluate(&both.0, frame)?;
                if self.truth(&one).map_err(failed)? { Ok(one) } else { self.evaluate(&both.1, frame) }
            }
            Kind::If(three) => match self.condition(&three.0, frame)? {
                true => self.evaluate(&three.1, frame),
                false => self.evaluate(&three.2, frame),
            },
            Kind::Item(both) => {
                let object = self.evaluate(&both.0, frame)?;
                let key = self.evaluate(&both.1, frame)?;
                self.item(&object, &key).map_err(failed)
            }
            Kind::Slice(value, parts) => self.slice_of(value, parts, at, frame),
            Kind::Call(function, arguments) => {
                let function = self.evaluate(function, frame)?;
                let (arguments, named) = self.arguments(arguments, frame)?;
                self.call_value(&function, arguments, named, at)
            }
            Kind::Method(object, method, arguments) => {
                let object = self.evaluate(object, frame)?;
                let (arguments, named) = self.arguments(arguments, frame)?;
                method.call(self, &object, arguments, named).map_err(failed)
            }
            Kind::Lambda(number) => self.closure(*number, frame),
        }
    }

    fn slice_of(
        &mut self,
        value: &'p Expression,
        parts: &'p [Option<Expression>; 3],
        at: u32,
        frame: Frame<'_>,
    ) -> Result<Val, Fault> {
        let value = self.evaluate(value, frame)?;
        let mut bounds = [const { Val::None }; 3];
        for (bound, part) in bounds.iter_mut().zip(parts) {
            if let Some(part) = part {
                *bound = self.evaluate(part, frame)?;
            }
        }
        self.slice(&value, &bounds).map_err(|message| Fault { at, message })
    }

    fn evaluate_each(&mut self, items: &'p [Expression], frame: Frame<'_>) -> Result<Vec<Val>, Fault> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.evaluate(item, frame)?);
        }
        Ok(values)
    }

    #[expect(clippy::type_complexity, reason = "the arguments without and with a name")]
    fn arguments(
        &mut self,
        arguments: &'p [Argument],
        frame: Frame<'_>,
    ) -> Result<(Vec<Val>, Vec<(Arc<str>, Val)>), Fault> {
        let (mut values, mut named) = (Vec::with_capacity(arguments.len()), Vec::new());
        for argument in arguments {
            let value = self.evaluate(&argument.value, frame)?;
            match &argument.name {
                Some(name) => named.push((Arc::clone(name), value)),
                None => values.push(value),
            }
        }
        Ok((values, named))
    }

    fn dict(&mut self, entries: &'p [(Expression, Expression)], frame: Frame<'_>) -> Result<Val, Fault> {
        let mut dict = Dict::default();
        for (key, value) in entries {
            let at = key.at;
            let key = self.evaluate(key, frame)?;
            let value = self.evaluate(value, frame)?;
            let hash = self.key_hash(&key).map_err(|message| Fault { at, message })?;
            if dict.find(hash, &key).is_some() {
                return fault(at, "a key occurs twice in a dict");
            }
            dict.insert(hash, key, value);
        }
        Ok(self.heap.dict(dict))
    }

    fn comprehension(&mut self, comprehension: &'p Comprehension, frame: Frame<'_>) -> Result<Val, Fault> {
        let (mut items, mut dict) = (Vec::new(), Dict::default());
        self.clause(comprehension, 0, frame, &mut items, &mut dict)?;
        Ok(if comprehension.item.1.is_some() { self.heap.dict(dict) } else { self.heap.list(items) })
    }

    fn clause(
        &mut self,
        comprehension: &'p Comprehension,
        number: usize,
        frame: Frame<'_>,
        items: &mut Vec<Val>,
        dict: &mut Dict,
    ) -> Result<(), Fault> {
        match comprehension.clauses.get(number) {
            None => {
                let item = self.evaluate(&comprehension.item.0, frame)?;
                let Some(value) = &comprehension.item.1 else {
                    items.push(item);
                    return Ok(());
                };
                let value = self.evaluate(value, frame)?;
                let at = comprehension.item.0.at;
                let scanned = dict.entries.len() / 16;
                let hash = self.key_hash(&item).and_then(|hash| self.spend(scanned).map(|()| hash));
                dict.insert(hash.map_err(|message| Fault { at, message })?, item, value);
                Ok(())
            }
            Some(Clause::If(condition)) => match self.condition(condition, frame)? {
                true => self.clause(comprehension, number + 1, frame, items, dict),
                false => Ok(()),
            },
            Some(Clause::For(target, sequence)) => {
                let value = self.evaluate(sequence, frame)?;
                self.deeper(sequence.at)?;
                self.each(&value, sequence.at, &mut |it, item| {
                    it.assign(target, item, frame)?;
                    it.clause(comprehension, number + 1, frame, items, dict)?;
                    Ok(true)
                })?;
                self.depth -= 1;
                Ok(())
            }
        }
    }
}

fn not_a_sequence(value: &Val) -> String {
    match value {
        Val::Unknown => format!("the result of a pending operation is not known{RESULTS_HINT}"),
        value => format!("expected a list, a tuple, a range or a dict, found {}", value.a_kind()),
    }
}
