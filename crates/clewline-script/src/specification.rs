//! A script as a specification.
//!
//! Steps are memoized for all searches of a history: the script runs once for each distinct step.
//! A script that fails cannot say so where it is called. The error is kept, nothing is allowed from
//! then on, and the judge returns the error in place of a verdict
//! ([`Specification::fault`](clewline_core::Specification::fault)).

use std::{
    collections::{HashMap, HashSet, hash_map::DefaultHasher},
    fmt,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use clewline_core::{
    CallSampler, Codec, CodecError, Datum, Elements, Encoded, Footprint, NotFound, Specification, Value,
    Values, static_name,
};

use crate::{
    convert::{dict, list, to_history, to_script},
    error::{Fault, ScriptError, fault},
    interpreter::Interpreter,
    program::{Declared, Program},
    value::{Shown, Tuple, Val},
};

/// A specification that is written in Starlark.
///
/// ```
/// use clewline_script::Script;
///
/// let text = r#"
/// operations = {"next": []}
///
/// def initial():
///     return 0
///
/// def step(state, op, args, ret):
///     return [state + 1] if ret == state + 1 else []
/// "#;
/// assert!(Script::load("tickets.star", text).is_ok());
/// let error = Script::load("tickets.star", "def initial(): return x").unwrap_err();
/// assert!(error.to_string().starts_with("tickets.star:1:23: `x` is not defined"));
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    program: Arc<Program>,
    bound: Arc<Bound>,
}

/// What belongs to one history.
#[derive(Debug, Default)]
struct Bound {
    values: Arc<Values>,
    // The state of a fresh object, if it is not that of the script.
    initial: Option<Val>,
    fault: OnceLock<ScriptError>,
    steps: [Mutex<Steps>; STEP_TABLES],
    parts: Mutex<HashMap<ScriptCall, Option<u64>>>,
}

/// Some of the steps that were made.
#[derive(Debug, Default)]
struct Steps {
    steps: HashMap<(ScriptState, ScriptCall, Option<Value>), Arc<[ScriptState]>>,
    states: HashSet<ScriptState>,
    bytes: usize,
}

const STEP_TABLES: usize = 16;
// A table is emptied when it is larger: it saves time, and nothing depends on it.
const STEP_TABLE_BYTES_MAX: usize = 16 << 20;

/// A call: the name of an operation and its argument in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScriptCall {
    method: &'static str,
    arg: Value,
}

/// A state, which a script has returned.
#[derive(Clone)]
pub struct ScriptState(Arc<StateValue>);

struct StateValue {
    hash: u64,
    bytes: usize,
    value: Val,
}

impl ScriptState {
    fn new(value: Val) -> ScriptState {
        let mut hasher = DefaultHasher::new();
        value.hash_into(&mut hasher);
        ScriptState(Arc::new(StateValue { hash: hasher.finish(), bytes: value.bytes(), value }))
    }
}

impl PartialEq for ScriptState {
    fn eq(&self, other: &ScriptState) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.0.value == other.0.value)
    }
}

impl Eq for ScriptState {}

impl Hash for ScriptState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0.hash);
    }
}

impl fmt::Debug for ScriptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Shown { heap: None, value: &self.0.value })
    }
}

/// A possible outcome of a call.
struct Possible {
    // `None`: any result but those that are excluded.
    ret: Option<Val>,
    excluded: Vec<Val>,
    states: Vec<ScriptState>,
}

impl Script {
    /// Reads and checks a script; errors and reports call it `file`.
    ///
    /// # Errors
    ///
    /// If it is not a specification in Starlark.
    pub fn load(file: &str, text: &str) -> Result<Script, ScriptError> {
        let program = Arc::new(Program::load(file, text)?);
        Ok(Script { program, bound: Arc::default() })
    }

    /// What the script calls itself, if it does.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.program.name.as_deref()
    }

    /// The operations that the script declares, each with the names of its parameters.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, Vec<&str>)> {
        self.program
            .operations
            .iter()
            .flatten()
            .map(|it| (it.name, it.parameters.iter().map(|(name, _)| &**name).collect()))
    }

    fn declared(&self, method: &str) -> Option<&Declared> {
        self.program.operations.iter().flatten().find(|it| it.name == method)
    }

    /// The arguments of a call: a tuple.
    fn arguments(&self, call: &ScriptCall) -> Val {
        let values = &self.bound.values;
        let items: Vec<Val> = match (values.get(call.arg), self.declared(call.method)) {
            (_, Some(it)) if it.parameters.len() == 1 => vec![to_script(values, call.arg)],
            (Datum::Absent | Datum::Nil, _) => Vec::new(),
            (Datum::List(items), _) => items.iter().map(|it| to_script(values, *it)).collect(),
            _ => vec![to_script(values, call.arg)],
        };
        Val::Tuple(Arc::new(Tuple::new(items)))
    }

    /// What `step` returned, as states.
    fn states(
        &self,
        state: &ScriptState,
        call: &ScriptCall,
        returned: &Val,
    ) -> Result<Vec<ScriptState>, Fault> {
        let at = self.program.place_of("step");
        let Val::FrozenList(items) = returned else {
            let found = Shown { heap: None, value: returned };
            let expected =
                "the list of the next states: `[]` if `op` cannot return `ret` here, `[state]` for one";
            return fault(at, format!("`step` returned {found} for `{}`, expected {expected}", call.method));
        };
        let states: Vec<ScriptState> = items.items.iter().map(|it| self.interned(it.clone())).collect();
        let is_read = self.program.reads.iter().any(|it| **it == *call.method);
        if is_read && states.iter().any(|it| it != state) {
            return fault(at, format!("`{}` is one of `reads`, and `step` changes the state", call.method));
        }
        Ok(states)
    }

    /// The state that holds `value`, the same allocation each time.
    fn interned(&self, value: Val) -> ScriptState {
        let state = ScriptState::new(value);
        let mut steps = self.table(&state);
        match steps.states.get(&state) {
            Some(known) => known.clone(),
            None => {
                steps.bytes += state.0.bytes + 2 * size_of::<usize>();
                steps.states.insert(state.clone());
                state
            }
        }
    }

    fn table(&self, state: &ScriptState) -> std::sync::MutexGuard<'_, Steps> {
        let table = &self.bound.steps[state.0.hash as usize % STEP_TABLES];
        table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `step` for a result that is known.
    fn step_with(&self, state: &ScriptState, call: &ScriptCall, ret: Val) -> Result<Vec<ScriptState>, Fault> {
        let arguments = vec![state.0.value.clone(), Val::text(call.method), self.arguments(call), ret];
        let returned = self.program.call(&self.program.step, arguments)?;
        self.states(state, call, &returned)
    }

    /// Every outcome of a call whose result is not known.
    fn possible(&self, state: &ScriptState, call: &ScriptCall) -> Result<Vec<Possible>, Fault> {
        let Program { tree, globals, step, results, .. } = &*self.program;
        let mut arguments = vec![state.0.value.clone(), Val::text(call.method), self.arguments(call)];
        let mut all = Vec::new();
        if let Some(results) = results {
            let listed = self.program.call(results, arguments)?;
            let Val::FrozenList(listed) = listed else {
                let found = listed.a_kind();
                return fault(
                    self.program.place_of("results"),
                    format!("`results` returned {found}, expected a list"),
                );
            };
            for ret in &listed.items {
                let states = self.step_with(state, call, ret.clone())?;
                all.push(Possible { ret: Some(ret.clone()), excluded: Vec::new(), states });
            }
        } else {
            arguments.push(Val::Unknown);
            Interpreter::outcomes(tree, globals, step, &arguments, |it| {
                let states = self.states(state, call, &it.value)?;
                all.push(Possible { ret: it.known, excluded: it.excluded, states });
                Ok(())
            })?;
        }
        all.retain(|it| !it.states.is_empty());
        Ok(all)
    }

    fn step_unmemoized(
        &self,
        state: &ScriptState,
        call: &ScriptCall,
        ret: Option<&Value>,
    ) -> Result<Vec<ScriptState>, Fault> {
        match ret {
            Some(ret) => self.step_with(state, call, to_script(&self.bound.values, *ret)),
            None => {
                let mut states: Vec<ScriptState> = Vec::new();
                for it in self.possible(state, call)?.into_iter().flat_map(|it| it.states) {
                    if !states.contains(&it) {
                        states.push(it);
                    }
                }
                Ok(states)
            }
        }
    }

    /// `outcome`, or nothing after the error is kept.
    fn kept<T: Default>(&self, outcome: Result<T, Fault>) -> T {
        match outcome {
            Ok(it) => it,
            Err(error) => {
                let _an_earlier_one_counts = self.bound.fault.set(self.program.source.error(error));
                T::default()
            }
        }
    }

    /// A result in the table of the history, if it is there.
    fn found(&self, ret: &Val) -> Value {
        let value = to_history(ret);
        self.bound.values.find(value).unwrap_or(value)
    }
}

impl Specification for Script {
    type State = ScriptState;
    type Call = ScriptCall;
    type Return = Value;

    fn initial(&self) -> ScriptState {
        ScriptState::new(self.bound.initial.as_ref().unwrap_or(&self.program.initial).clone())
    }

    fn step(&self, state: &ScriptState, call: &ScriptCall, ret: Option<&Value>, next: &mut Vec<ScriptState>) {
        if self.bound.fault.get().is_some() {
            return;
        }
        let key = (state.clone(), *call, ret.copied());
        if let Some(known) = self.table(state).steps.get(&key) {
            next.extend_from_slice(known);
            return;
        }
        let states: Arc<[ScriptState]> = self.kept(self.step_unmemoized(state, call, ret)).into();
        next.extend_from_slice(&states);
        let mut steps = self.table(state);
        if STEP_TABLE_BYTES_MAX < steps.bytes {
            *steps = Steps::default();
        }
        steps.bytes += size_of_val(&key) + size_of_val(&*states) + 4 * size_of::<usize>();
        steps.steps.insert(key, states);
    }

    fn returns(&self, state: &ScriptState, call: &ScriptCall) -> Vec<Value> {
        let mut returns: Vec<Value> = Vec::new();
        for it in self.kept(self.possible(state, call)) {
            // One result stands for all that are not distinguished.
            let ret = it.ret.map_or(Value::ABSENT, |ret| self.found(&ret));
            if !returns.contains(&ret) {
                returns.push(ret);
            }
        }
        returns
    }

    fn is_opaque(&self, ret: &Value) -> bool {
        ret.is_absent()
    }

    // Nothing and null are both None.
    fn canonical_return<'r>(&self, _call: &ScriptCall, ret: &'r Value) -> &'r Value {
        if ret.is_absent() { &Value::NIL } else { ret }
    }

    fn execute_with(
        &self,
        state: &mut ScriptState,
        call: &ScriptCall,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Value> {
        let mut possible = self.kept(self.possible(state, call));
        if possible.is_empty() {
            return None;
        }
        let Possible { ret, excluded, mut states } = possible.swap_remove(choose(possible.len()));
        *state = states.swap_remove(choose(states.len()));
        let any = |it: &Val| !excluded.contains(it);
        Some(match ret {
            Some(ret) => self.found(&ret),
            None if any(&Val::None) => Value::ABSENT,
            None => {
                let ints = (0..).map(Val::Int);
                let other = [Val::Bool(true)].into_iter().chain(ints).find(any);
                other.map_or(Value::NIL, |it| self.found(&it))
            }
        })
    }

    fn part(&self, call: &ScriptCall) -> Option<u64> {
        let function = self.program.part.as_ref()?;
        let parts = || self.bound.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = parts().get(call) {
            return *known;
        }
        let arguments = vec![Val::text(call.method), self.arguments(call)];
        let number = self.program.call(function, arguments).and_then(|key| match key {
            Val::None => Ok(None),
            key => self.program.part_number(key).map(Some),
        });
        let number = self.kept(number);
        parts().insert(*call, number);
        number
    }

    fn footprint(&self, call: &ScriptCall, _ret: Option<&Value>) -> Footprint {
        match self.program.reads.iter().any(|it| **it == *call.method) {
            true => Footprint::Reads(Elements::Any),
            false => Footprint::Changes(Elements::Any),
        }
    }

    fn state_bytes(&self, state: &ScriptState) -> usize {
        size_of::<ScriptState>() + size_of::<StateValue>() + state.0.bytes
    }

    fn fault(&self) -> Option<String> {
        self.bound.fault.get().map(ScriptError::headline)
    }
}

impl Codec for Script {
    fn read_call(&self, values: &Values, method: &str, arg: Value) -> Result<ScriptCall, CodecError> {
        let Some(operations) = &self.program.operations else {
            return Ok(ScriptCall { method: static_name(method), arg });
        };
        let Some(declared) = operations.iter().find(|it| it.name == method) else {
            return Err(NotFound::new("operation", method, operations.iter().map(|it| it.name)).into());
        };
        let fits = match (declared.parameters.len(), values.get(arg)) {
            (0, Datum::Absent | Datum::Nil) => true,
            (0, _) | (1, Datum::Absent) => false,
            (1, _) => true,
            (count, Datum::List(items)) => items.len() == count,
            (_, _) => false,
        };
        if fits {
            return Ok(ScriptCall { method: declared.name, arg });
        }
        let names: Vec<&str> = declared.parameters.iter().map(|it| &*it.0).collect();
        let expected = match names[..] {
            [] => "no argument".to_owned(),
            [only] => format!("a value, `{only}`"),
            _ => format!("[{}]", names.join(", ")),
        };
        Err(CodecError::value(&format!("`{method}`"), &expected, values, arg))
    }

    fn read_return(&self, _values: &Values, _call: &ScriptCall, ret: Value) -> Result<Value, CodecError> {
        Ok(ret)
    }

    fn write_call(&self, call: &ScriptCall) -> (&'static str, Encoded) {
        let is_one = self.declared(call.method).is_some_and(|it| it.parameters.len() == 1);
        let arg = match self.bound.values.get(call.arg) {
            Datum::List(items) if !is_one => {
                Encoded::List(items.iter().map(|it| Encoded::Value(*it)).collect())
            }
            _ => Encoded::Value(call.arg),
        };
        (call.method, arg)
    }

    fn write_return(&self, _call: &ScriptCall, ret: &Value) -> Encoded {
        Encoded::Value(*ret)
    }

    fn sample(&self, sampler: &mut CallSampler) -> ScriptCall {
        let Some(operations) = &self.program.operations else {
            let why = "the script declares no `operations`, so no calls can be drawn";
            self.kept::<()>(fault(0, why));
            return ScriptCall { method: "", arg: Value::ABSENT };
        };
        let method = sampler.one_of(operations.iter().map(|it| it.name));
        let mut items: Vec<Value> = Vec::new();
        for (name, values) in operations.iter().filter(|it| it.name == method).flat_map(|it| &it.parameters) {
            items.push(match (values, &**name) {
                (Some(values), _) => to_history(&values[sampler.below(values.len())]),
                (None, "key") => sampler.key(),
                (None, "old") => sampler.old_value(),
                (None, _) => sampler.value(),
            });
        }
        let arg = match items[..] {
            [] => Value::ABSENT,
            [only] => only,
            _ => items.into(),
        };
        ScriptCall { method, arg }
    }

    fn name(&self) -> Option<String> {
        Some(self.program.source.file.clone())
    }

    fn start_at(&mut self, values: &Values, initial: Value) -> bool {
        // An object is the list of its members there.
        let mut state = to_script(values, initial);
        if let (Val::FrozenDict(_), Val::FrozenList(items)) = (&self.program.initial, &state) {
            let pair = |it: &Val| match it {
                Val::FrozenList(pair) => {
                    <&[Val; 2]>::try_from(&pair.items[..]).ok().cloned().map(|[a, b]| (a, b))
                }
                _ => None,
            };
            if let Some(entries) = items.items.iter().map(pair).collect::<Option<Vec<_>>>() {
                state = dict(entries).unwrap_or_else(|| list(items.items.clone()));
            }
        }
        let bound = Bound { initial: Some(state), ..Bound::default() };
        self.bound = Arc::new(bound);
        true
    }

    fn bind(&mut self, values: &Arc<Values>, _missing: Value) {
        let initial = self.bound.initial.clone();
        self.bound = Arc::new(Bound { values: Arc::clone(values), initial, ..Bound::default() });
    }
}
