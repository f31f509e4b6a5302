//! Simulated histories: each operation takes effect at one point between its call and its return.
//!
//! Each process draws a call; some time later the call takes effect on the one state of the object,
//! and some time later it returns its result. Such a history is linearizable by construction, in
//! the order of those linearization points, for every specification. A call that blocks waits until
//! it can take effect; if it never can, it stays pending.

use crate::{
    codec::Codec,
    history::{Event, EventLog},
    id::ObjectId,
    random::Random,
    recording::{Names, RawCall, Recording},
    sampling::{CallSampler, GeneratorConfig},
    value::{Value, Values},
};

/// The state of a process.
enum ProcessState<C, R> {
    Idle,
    Called(usize, C),
    Returning(R, C),
}

/// The processes, grouped by whether they have an open operation.
struct Processes<C, R> {
    states: Vec<ProcessState<C, R>>,
    // Both ascend, so that a draw does not depend on earlier draws.
    busy: Vec<u32>,
    idle: Vec<u32>,
}

impl<C, R> Processes<C, R> {
    fn new(processes: usize) -> Self {
        Processes {
            states: (0..processes).map(|_| ProcessState::Idle).collect(),
            busy: Vec::with_capacity(processes),
            idle: (0..processes as u32).collect(),
        }
    }

    /// The share of busy processes if one more becomes busy.
    fn share_with_one_more(&self) -> f64 {
        (self.busy.len() + 1) as f64 / self.states.len() as f64
    }

    fn begin(&mut self, process: usize, object: usize, call: C) {
        transfer(process as u32, &mut self.idle, &mut self.busy);
        self.states[process] = ProcessState::Called(object, call);
    }

    fn end(&mut self, process: usize) {
        transfer(process as u32, &mut self.busy, &mut self.idle);
        self.states[process] = ProcessState::Idle;
    }
}

/// Moves an entry between two ascending lists, of which exactly the first holds it.
fn transfer(entry: u32, from: &mut Vec<u32>, to: &mut Vec<u32>) {
    if let (Ok(at), Err(place)) = (from.binary_search(&entry), to.binary_search(&entry)) {
        from.remove(at);
        to.insert(place, entry);
    }
}

/// Simulates `specification` as `config` describes.
pub(crate) fn simulate<S: Codec>(specification: &S, config: &GeneratorConfig) -> Recording {
    let mut sampler = CallSampler::new(config);
    let mut schedule = Random::new(config.seed ^ 0x5EED_0F5C_4ED0_1E00);
    let objects = config.objects.max(1);
    let mut states: Vec<Object<S>> = (0..objects).map(|_| Object::new(specification)).collect();
    let mut processes: Processes<S::Call, S::Return> = Processes::new(config.processes.max(1));
    let mut recorder = Recorder::new(config, processes.states.len());
    let mut called = 0;
    let mut blocked = 0;
    loop {
        let is_stuck = processes.busy.len() * 64 < blocked;
        let may_call = called < config.operations && !processes.idle.is_empty();
        if !may_call && (processes.busy.is_empty() || is_stuck) {
            break;
        }
        if may_call
            && (processes.busy.is_empty()
                || is_stuck
                || processes.share_with_one_more() <= config.overlap
                || schedule.chance(0.25 * config.overlap))
        {
            let process = processes.idle[schedule.below(processes.idle.len())] as usize;
            let call = specification.sample(&mut sampler);
            let object = schedule.below(objects);
            recorder.call(specification, process, object, &call);
            processes.begin(process, object, call);
            called += 1;
            blocked = 0;
            continue;
        }
        let process = processes.busy[schedule.below(processes.busy.len())] as usize;
        match std::mem::replace(&mut processes.states[process], ProcessState::Idle) {
            ProcessState::Called(object, call) => {
                let ret = states[object].take_effect(specification, &call, &mut schedule);
                blocked = if ret.is_some() { 0 } else { blocked + 1 };
                processes.states[process] = match ret {
                    Some(ret) => ProcessState::Returning(ret, call),
                    None => ProcessState::Called(object, call),
                };
            }
            ProcessState::Returning(ret, call) => {
                recorder.ret(specification, process, &call, &ret, schedule.chance(config.pending));
                processes.end(process);
            }
            ProcessState::Idle => unreachable!("a busy process does something"),
        }
    }
    recorder.finish(objects)
}

/// The state of an object, twice: if a blocking call has changed one copy, it is restored from the
/// other.
///
/// Executing every call twice costs less than copying a long queue before each call.
struct Object<S: Codec> {
    state: S::State,
    other: S::State,
}

impl<S: Codec> Object<S> {
    fn new(specification: &S) -> Self {
        Object { state: specification.initial(), other: specification.initial() }
    }

    /// Executes `call` with one of its outcomes and returns its result; `None` if it blocks.
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
    // The process id of each simulated process. A process that abandons an operation continues
    // under a new id.
    ids: Vec<u32>,
    processes: u32,
    several_objects: bool,
}

impl Recorder {
    fn new(config: &GeneratorConfig, processes: usize) -> Self {
        Recorder {
            log: EventLog::new(),
            values: Values::new(),
            ids: (0..processes as u32).collect(),
            processes: processes as u32,
            several_objects: 1 < config.objects,
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
        let processes = (0..self.processes).map(Value::from).collect();
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
        let mut processes: Processes<(), ()> = Processes::new(5);
        for process in [3, 0, 4] {
            processes.begin(process, 0, ());
        }
        processes.end(0);
        assert_eq!((processes.busy, processes.idle), (vec![3, 4], vec![0, 1, 2]));
    }
}
