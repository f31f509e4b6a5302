//! Simulated histories: an object that takes effect at one point between each call and return.
//!
//! Each process draws a call, some time later the call takes effect on the one true state, and some time
//! later it returns what it got. Such a history is linearizable by construction, in the order of those
//! points, whatever the specification. A call that blocks waits until it no longer does; if it never can, it
//! stays pending.

use crate::{
    codec::Codec,
    history::{Event, EventLog},
    id::ObjectId,
    random::Random,
    recording::{Names, RawCall, Recording},
    sampling::{CallSampler, GeneratorConfig},
    value::{Value, Values},
};

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
pub(crate) fn simulate<S: Codec>(specification: &S, plan: &GeneratorConfig) -> Recording {
    let mut dice = CallSampler::new(plan);
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
struct Object<S: Codec> {
    state: S::State,
    other: S::State,
}

impl<S: Codec> Object<S> {
    fn new(specification: &S) -> Self {
        Object { state: specification.initial(), other: specification.initial() }
    }

    /// One of the outcomes of `call`, with its return; `None` if it blocks.
    fn take_effect(&mut self, specification: &S, call: &S::Call, random: &mut Random) -> Option<S::Return> {
        let before = random.clone();
        let ret = specification.execute_with(&mut self.state, call, &mut |count| random.below(count));
        match &ret {
            Some(_) => {
                let mut random = before;
                specification.execute_with(&mut self.other, call, &mut |count| random.below(count));
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
    fn new(plan: &GeneratorConfig, processes: usize) -> Self {
        Recorder {
            log: EventLog::new(),
            values: Values::new(),
            ids: (0..processes as u32).collect(),
            processes: processes as u32,
            several_objects: 1 < plan.objects,
        }
    }

    fn call<S: Codec>(&mut self, specification: &S, process: usize, object: usize, call: &S::Call) {
        let (method, arg) = specification.write_call(call);
        let call = RawCall { method: self.values.text(method), arg: arg.store(&mut self.values) };
        let process = crate::id::ProcessId(self.ids[process]);
        self.push(Event::Call(process, ObjectId(object as u32), call));
    }

    fn ret<S: Codec>(
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
        self.push(Event::Return(crate::id::ProcessId(self.ids[process]), ret));
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
    fn processes_are_busy_or_idle_in_ascending_order() {
        let mut crew: Crew<(), ()> = Crew::new(5);
        for process in [3, 0, 4] {
            crew.begin(process, 0, ());
        }
        crew.end(0);
        assert_eq!((crew.busy, crew.idle), (vec![3, 4], vec![0, 1, 2]));
    }
}
