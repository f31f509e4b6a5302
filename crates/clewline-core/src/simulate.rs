//! Simulated histories: an object that takes effect at one point between each call and return.
//!
//! Each process draws a call, some time later the call takes effect on the one true state, and some time
//! later it returns what it got. Such a history is linearizable by construction, in the order of those
//! points, whatever the specification. A call that blocks waits until it no longer does; if it never can, it
//! stays pending.

use crate::{
    EventLog, Names, Notation, ObjectId, Random, Recording, Value, Values, history::Event, recording::RawCall,
};

/// What a generated history looks like.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many operations are called.
    pub operations: usize,
    /// How many processes call them.
    pub processes: usize,
    /// How many operations are open at a time, on average, when all processes are busy: from 0 (serial) to
    /// 1 (every process has an operation open nearly always).
    pub overlap: f64,
    /// Which methods are drawn how often; those not named have weight 0. Empty: all alike.
    pub mix: Vec<(String, u32)>,
    /// Where values come from.
    pub values: Domain,
    /// How many keys there are.
    pub keys: usize,
    /// How many objects there are.
    pub objects: usize,
    /// The share of operations that never return.
    pub pending: f64,
    /// Everything random follows from this.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            operations: 100,
            processes: 4,
            overlap: 0.5,
            mix: Vec::new(),
            values: Domain::Below(20),
            keys: 20,
            objects: 1,
            pending: 0.0,
            seed: 1,
        }
    }
}

/// Where generated values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// 1, 2, 3, …: no value is drawn twice.
    Distinct,
    /// Integers from 0 up to this one, exclusive.
    Below(u32),
}

/// What a specification draws its sample calls from.
#[derive(Clone, Debug)]
pub struct Dice {
    random: Random,
    mix: Vec<(String, u32)>,
    values: Domain,
    keys: usize,
    drawn: i64,
    turns: usize,
}

impl Dice {
    /// Dice as `plan` loads them.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let Plan { mix, values, keys, seed, .. } = plan;
        Dice {
            random: Random::new(*seed),
            mix: mix.clone(),
            values: *values,
            keys: *keys,
            drawn: 0,
            turns: 0,
        }
    }

    /// One of `methods`, as the mix has it.
    pub fn method<'m>(&mut self, methods: &[&'m str]) -> &'m str {
        let weight = |method: &str| match self.mix.iter().find(|(name, _)| name == method) {
            Some((_, weight)) => *weight as usize,
            None => usize::from(self.mix.is_empty()),
        };
        let weights: Vec<usize> = methods.iter().map(|it| weight(it)).collect();
        let mut left = self.random.below(weights.iter().sum());
        for (method, weight) in methods.iter().zip(weights) {
            if left < weight {
                return method;
            }
            left -= weight;
        }
        methods.first().expect("an object has at least one method")
    }

    /// An integer of the domain of values.
    pub fn int(&mut self) -> i64 {
        match self.values {
            Domain::Below(bound) => self.random.below(bound as usize) as i64,
            Domain::Distinct => {
                self.drawn += 1;
                self.drawn
            }
        }
    }

    /// A value of the domain. Integers beyond 2^30 are not drawn.
    pub fn value(&mut self) -> Value {
        Value::small(self.int()).unwrap_or(Value::NIL)
    }

    /// One of the values that have been or may be drawn: what a read hopes for, or a `cas` expects.
    pub fn old_value(&mut self) -> Value {
        let bound = match self.values {
            Domain::Below(bound) => bound as usize,
            Domain::Distinct => self.drawn as usize + 1,
        };
        Value::small(self.random.below(bound) as i64).unwrap_or(Value::NIL)
    }

    /// A key.
    pub fn key(&mut self) -> Value {
        Value::small(self.random.below(self.keys) as i64).unwrap_or(Value::NIL)
    }

    /// Counts up from 0: for calls that must alternate lest every process blocks.
    pub fn turn(&mut self) -> usize {
        self.turns += 1;
        self.turns - 1
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }
}

/// What a process is doing.
enum Doing<C, R> {
    Nothing,
    Waiting(usize, C),
    Returning(R, C),
}

/// Simulates `specification` as `plan` describes.
pub(crate) fn simulate<S: Notation>(specification: &S, plan: &Plan) -> Recording {
    let mut dice = Dice::new(plan);
    let mut schedule = Random::new(plan.seed ^ 0x5EED_0F5C_4ED0_1E00);
    let objects = plan.objects.max(1);
    let mut states: Vec<S::State> = (0..objects).map(|_| specification.initial()).collect();
    let mut doing: Vec<Doing<S::Call, S::Return>> =
        (0..plan.processes.max(1)).map(|_| Doing::Nothing).collect();
    let mut recorder = Recorder::new(plan, doing.len());
    let mut called = 0;
    let mut blocked = 0;
    loop {
        let busy: Vec<usize> = (0..doing.len()).filter(|&it| !matches!(doing[it], Doing::Nothing)).collect();
        let idle: Vec<usize> = (0..doing.len()).filter(|it| !busy.contains(it)).collect();
        let may_call = called < plan.operations && !idle.is_empty();
        if !may_call && (busy.is_empty() || busy.len() * 64 < blocked) {
            break;
        }
        let share = (busy.len() + 1) as f64 / doing.len() as f64;
        if may_call
            && (busy.is_empty()
                || busy.len() * 64 < blocked
                || share <= plan.overlap
                || schedule.chance(0.25 * plan.overlap))
        {
            let process = idle[schedule.below(idle.len())];
            let call = specification.sample(&mut dice);
            let object = schedule.below(objects);
            recorder.call(specification, process, object, &call);
            doing[process] = Doing::Waiting(object, call);
            called += 1;
            blocked = 0;
            continue;
        }
        let process = busy[schedule.below(busy.len())];
        doing[process] = match std::mem::replace(&mut doing[process], Doing::Nothing) {
            Doing::Waiting(object, call) => {
                match take_effect(specification, &mut states[object], &call, &mut schedule) {
                    Some(ret) => {
                        blocked = 0;
                        Doing::Returning(ret, call)
                    }
                    None => {
                        blocked += 1;
                        Doing::Waiting(object, call)
                    }
                }
            }
            Doing::Returning(ret, call) => {
                recorder.ret(specification, process, &call, &ret, schedule.chance(plan.pending));
                Doing::Nothing
            }
            Doing::Nothing => unreachable!("a busy process does something"),
        };
    }
    recorder.finish(objects)
}

/// One of the outcomes of `call`, with its return; `None` if it blocks.
fn take_effect<S: Notation>(
    specification: &S,
    state: &mut S::State,
    call: &S::Call,
    random: &mut Random,
) -> Option<S::Return> {
    let mut returns = specification.returns(state, call);
    if returns.is_empty() {
        return None;
    }
    let ret = returns.swap_remove(random.below(returns.len()));
    let mut states = vec![state.clone()];
    specification.advance(&mut states, call, Some(&ret));
    assert!(!states.is_empty(), "a specification allows what it says may be returned");
    *state = states.swap_remove(random.below(states.len()));
    Some(ret)
}

struct Recorder {
    log: EventLog<RawCall, Value>,
    values: Values,
    // The process id of each simulated process: one that gives an operation up goes on under a new id.
    ids: Vec<u32>,
    processes: u32,
    several_objects: bool,
}

impl Recorder {
    fn new(plan: &Plan, processes: usize) -> Self {
        Recorder {
            log: EventLog::new(),
            values: Values::new(),
            ids: (0..processes as u32).collect(),
            processes: processes as u32,
            several_objects: 1 < plan.objects,
        }
    }

    fn call<S: Notation>(&mut self, specification: &S, process: usize, object: usize, call: &S::Call) {
        let (method, arg) = specification.write_call(call);
        let call = RawCall { method: self.values.text(method), arg: arg.store(&mut self.values) };
        let process = crate::ProcessId(self.ids[process]);
        self.push(Event::Call(process, ObjectId(object as u32), call));
    }

    fn ret<S: Notation>(
        &mut self,
        specification: &S,
        process: usize,
        call: &S::Call,
        ret: &S::Return,
        lost: bool,
    ) {
        if lost {
            self.ids[process] = self.processes;
            self.processes += 1;
            return;
        }
        let ret = specification.write_return(call, ret).store(&mut self.values);
        self.push(Event::Return(crate::ProcessId(self.ids[process]), ret));
    }

    fn push(&mut self, event: Event<RawCall, Value>) {
        self.log.push(event).expect("a simulated process waits for its answers");
    }

    fn finish(mut self, objects: usize) -> Recording {
        let number = |it: u32| Value::small(i64::from(it)).unwrap_or(Value::NIL);
        let processes = (0..self.processes).map(number).collect();
        let objects = match self.several_objects {
            true => (0..objects).map(|it| self.values.text(&format!("object-{it}"))).collect(),
            false => vec![Value::ABSENT],
        };
        let names = Names { processes, objects, ids: None, lines: None };
        Recording::new(self.log.finish(), self.values, names)
    }
}
