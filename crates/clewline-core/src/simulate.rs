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
    /// As distinct, but in no order: a permutation, which the seed chooses, of the integers below a power of two.
    Shuffled,
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
    shuffle: Shuffle,
    turns: usize,
}

impl Dice {
    /// Dice as `plan` loads them.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let Plan { mix, values, keys, seed, operations, .. } = plan;
        Dice {
            random: Random::new(*seed),
            mix: mix.clone(),
            values: *values,
            keys: *keys,
            drawn: 0,
            shuffle: Shuffle::new(*operations, *seed),
            turns: 0,
        }
    }

    /// One of `methods`, as the mix has it.
    pub fn method<'m>(&mut self, methods: &[&'m str]) -> &'m str {
        self.one_of(methods.iter().copied())
    }

    /// One of `methods`, of which there is at least one, as the mix has it.
    pub fn one_of<'m>(&mut self, methods: impl Iterator<Item = &'m str> + Clone) -> &'m str {
        let mix = &self.mix;
        let weight = |method: &str| match mix.iter().find(|(name, _)| name == method) {
            Some((_, weight)) => *weight as usize,
            None => usize::from(mix.is_empty()),
        };
        let sum = methods.clone().map(weight).sum();
        let mut left = self.random.below(sum);
        for method in methods.clone() {
            let weight = weight(method);
            if left < weight {
                return method;
            }
            left -= weight;
        }
        let mut methods = methods;
        methods.next().expect("an object has at least one method")
    }

    /// An integer of the domain of values.
    pub fn int(&mut self) -> i64 {
        match self.values {
            Domain::Below(bound) => self.random.below(bound as usize) as i64,
            Domain::Distinct => {
                self.drawn += 1;
                self.drawn
            }
            Domain::Shuffled => {
                self.drawn += 1;
                self.shuffle.place(self.drawn)
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
            Domain::Distinct | Domain::Shuffled => self.drawn as usize + 1,
        };
        let drawn = self.random.below(bound) as i64;
        let int = if self.values == Domain::Shuffled { self.shuffle.place(drawn) } else { drawn };
        Value::small(int).unwrap_or(Value::NIL)
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

/// A permutation of the integers below a power of two; greater ones stay where they are.
#[derive(Clone, Copy, Debug)]
struct Shuffle {
    bits: u32,
    key: u64,
}

impl Shuffle {
    /// One with room for `count` integers.
    fn new(count: usize, seed: u64) -> Shuffle {
        let bits = count.next_power_of_two().ilog2().clamp(2, 29);
        Shuffle { bits, key: Random::new(seed ^ 0x5_4FF1_E000).next() }
    }

    fn place(self, int: i64) -> i64 {
        let mask = (1_u64 << self.bits) - 1;
        let Some(mut it) = u64::try_from(int).ok().filter(|&it| it <= mask) else { return int };
        // Each step can be undone within so many bits: adding, multiplying by an odd number, and folding the
        // upper half into the lower one.
        for odd in [0x9E37_79B9_7F4A_7C15_u64, 0xBF58_476D_1CE4_E5B9] {
            it = it.wrapping_add(self.key).wrapping_mul(odd) & mask;
            it ^= it >> self.bits.div_ceil(2);
        }
        it.cast_signed()
    }
}

/// What a process is doing.
enum Doing<C, R> {
    Nothing,
    Waiting(usize, C),
    Returning(R, C),
}

/// The processes, told apart by whether they are doing something.
struct Crew<C, R> {
    doing: Vec<Doing<C, R>>,
    // Both ascend, so that a draw does not depend on what happened before.
    busy: Vec<u32>,
    idle: Vec<u32>,
}

impl<C, R> Crew<C, R> {
    fn new(processes: usize) -> Self {
        Crew {
            doing: (0..processes).map(|_| Doing::Nothing).collect(),
            busy: Vec::with_capacity(processes),
            idle: (0..processes as u32).collect(),
        }
    }

    /// The share of processes that are busy once one more is.
    fn share_with_one_more(&self) -> f64 {
        (self.busy.len() + 1) as f64 / self.doing.len() as f64
    }

    fn begin(&mut self, process: usize, object: usize, call: C) {
        transfer(process as u32, &mut self.idle, &mut self.busy);
        self.doing[process] = Doing::Waiting(object, call);
    }

    fn end(&mut self, process: usize) {
        transfer(process as u32, &mut self.busy, &mut self.idle);
        self.doing[process] = Doing::Nothing;
    }
}

/// Moves an entry between two ascending lists, of which exactly the first holds it.
fn transfer(entry: u32, from: &mut Vec<u32>, to: &mut Vec<u32>) {
    if let (Ok(at), Err(place)) = (from.binary_search(&entry), to.binary_search(&entry)) {
        from.remove(at);
        to.insert(place, entry);
    }
}

/// Simulates `specification` as `plan` describes.
pub(crate) fn simulate<S: Notation>(specification: &S, plan: &Plan) -> Recording {
    let mut dice = Dice::new(plan);
    let mut schedule = Random::new(plan.seed ^ 0x5EED_0F5C_4ED0_1E00);
    let objects = plan.objects.max(1);
    let mut states: Vec<Object<S>> = (0..objects).map(|_| Object::new(specification)).collect();
    let mut crew: Crew<S::Call, S::Return> = Crew::new(plan.processes.max(1));
    let mut recorder = Recorder::new(plan, crew.doing.len());
    let mut called = 0;
    let mut blocked = 0;
    loop {
        let is_stuck = crew.busy.len() * 64 < blocked;
        let may_call = called < plan.operations && !crew.idle.is_empty();
        if !may_call && (crew.busy.is_empty() || is_stuck) {
            break;
        }
        if may_call
            && (crew.busy.is_empty()
                || is_stuck
                || crew.share_with_one_more() <= plan.overlap
                || schedule.chance(0.25 * plan.overlap))
        {
            let process = crew.idle[schedule.below(crew.idle.len())] as usize;
            let call = specification.sample(&mut dice);
            let object = schedule.below(objects);
            recorder.call(specification, process, object, &call);
            crew.begin(process, object, call);
            called += 1;
            blocked = 0;
            continue;
        }
        let process = crew.busy[schedule.below(crew.busy.len())] as usize;
        match std::mem::replace(&mut crew.doing[process], Doing::Nothing) {
            Doing::Waiting(object, call) => {
                let ret = states[object].take_effect(specification, &call, &mut schedule);
                blocked = if ret.is_some() { 0 } else { blocked + 1 };
                crew.doing[process] = match ret {
                    Some(ret) => Doing::Returning(ret, call),
                    None => Doing::Waiting(object, call),
                };
            }
            Doing::Returning(ret, call) => {
                recorder.ret(specification, process, &call, &ret, schedule.chance(plan.pending));
                crew.end(process);
            }
            Doing::Nothing => unreachable!("a busy process does something"),
        }
    }
    recorder.finish(objects)
}

/// The state of an object, twice: what a call that blocks has spoiled is restored from the other.
///
/// Letting every call happen twice costs less than a copy of a long queue before each.
struct Object<S: Notation> {
    state: S::State,
    other: S::State,
}

impl<S: Notation> Object<S> {
    fn new(specification: &S) -> Self {
        Object { state: specification.initial(), other: specification.initial() }
    }

    /// One of the outcomes of `call`, with its return; `None` if it blocks.
    fn take_effect(&mut self, specification: &S, call: &S::Call, random: &mut Random) -> Option<S::Return> {
        let before = random.clone();
        let ret = specification.happen(&mut self.state, call, &mut |count| random.below(count));
        match &ret {
            Some(_) => {
                let mut random = before;
                specification.happen(&mut self.other, call, &mut |count| random.below(count));
            }
            None => {
                *random = before;
                self.state = self.other.clone();
            }
        }
        ret
    }
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
        let names = Names { processes, objects, ..Names::default() };
        Recording::new(self.log.finish(), self.values, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_hits_every_place_once_and_leaves_no_order() {
        for (count, seed) in [(0, 1), (1, 2), (16, 3), (1_000, 4), (1 << 14, 5)] {
            let shuffle = Shuffle::new(count, seed);
            let room = 1_i64 << shuffle.bits;
            assert!(count as i64 <= room);
            let places: Vec<i64> = (0..room).map(|it| shuffle.place(it)).collect();
            let mut sorted = places.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..room), "{count} from seed {seed}");
            assert_eq!(shuffle.place(room), room);
            let ascents = places.windows(2).filter(|it| it[0] < it[1]).count() as i64;
            assert!(room < 1_000 || (room / 3..room * 2 / 3).contains(&ascents), "{ascents} of {room}");
        }
    }

    #[test]
    fn processes_are_busy_or_idle_in_ascending_order() {
        let mut crew: Crew<(), ()> = Crew::new(5);
        for process in [3, 0, 4] {
            crew.begin(process, 0, ());
        }
        crew.end(0);
        assert_eq!((crew.busy, crew.idle), (vec![3, 4], vec![0, 1, 2]));
    }
}
