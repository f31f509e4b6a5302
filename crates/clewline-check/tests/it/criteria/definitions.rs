//! Criteria by their definitions: every cut, every choice of pending operations, every permutation.

/// A history as a list of what happened, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    pub(super) spec: &'static str,
    pub(super) operations: Vec<Operation>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) process: u32,
    pub(super) object: u32,
    pub(super) kind: Kind,
    /// If it returns.
    pub(super) ret: Option<i64>,
}

/// No value.
pub(super) const NULL: i64 = -1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Write(i64),
    Read,
    Enq(i64),
    Deq,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Call(usize),
    Return(usize),
    /// Of these processes, or of all.
    Crash(Option<Vec<u32>>),
}

/// The contents of each of two objects: the elements of a queue, or the value of a register.
type State = [Vec<i64>; 2];

/// The result of an operation, and the state after it.
fn apply(state: &State, operation: Operation) -> (i64, State) {
    let mut next = state.clone();
    let own = &mut next[operation.object as usize];
    let ret = match operation.kind {
        Kind::Write(value) => {
            *own = vec![value];
            NULL
        }
        Kind::Enq(value) => {
            own.push(value);
            NULL
        }
        Kind::Read => own.first().copied().unwrap_or(NULL),
        Kind::Deq if own.is_empty() => NULL,
        Kind::Deq => own.remove(0),
    };
    (ret, next)
}

/// An operation in an order that is looked for.
#[derive(Clone, Copy)]
struct Placed {
    operation: Operation,
    at: usize,
    has_result: bool,
    is_required: bool,
}

/// Whether some order of the required operations and any of the others is legal, and puts no
/// operation before one that precedes it.
fn has_order(all: &[Placed], precedes: &dyn Fn(usize, usize) -> bool) -> bool {
    let optional: Vec<usize> = (0..all.len()).filter(|&it| !all[it].is_required).collect();
    (0..1_u32 << optional.len()).any(|choice| {
        let is_in = |it: usize| {
            let place = optional.iter().position(|&other| other == it);
            place.is_none_or(|place| choice & 1 << place != 0)
        };
        let some: Vec<Placed> = (0..all.len()).filter(|&it| is_in(it)).map(|it| all[it]).collect();
        permuted(&some, &mut vec![false; some.len()], &State::default(), precedes)
    })
}

fn permuted(
    all: &[Placed],
    used: &mut Vec<bool>,
    state: &State,
    precedes: &dyn Fn(usize, usize) -> bool,
) -> bool {
    if used.iter().all(|&it| it) {
        return true;
    }
    (0..all.len()).any(|next| {
        let is_late = |it: usize| !used[it] && it != next && precedes(all[it].at, all[next].at);
        if used[next] || (0..all.len()).any(is_late) {
            return false;
        }
        let (ret, after) = apply(state, all[next].operation);
        if all[next].has_result && all[next].operation.ret != Some(ret) {
            return false;
        }
        used[next] = true;
        let found = permuted(all, used, &after, precedes);
        used[next] = false;
        found
    })
}

impl Sketch {
    fn called(&self, at: usize) -> usize {
        self.steps.iter().position(|it| *it == Step::Call(at)).unwrap()
    }

    fn returned(&self, at: usize) -> Option<usize> {
        self.steps.iter().position(|it| *it == Step::Return(at))
    }

    /// The crash that interrupts a pending operation.
    fn interrupted(&self, at: usize) -> Option<usize> {
        let process = self.operations[at].process;
        let is_own = |it: &Step| match it {
            Step::Crash(None) => true,
            Step::Crash(Some(processes)) => processes.contains(&process),
            Step::Call(_) | Step::Return(_) => false,
        };
        let called = self.called(at);
        let crash = (called..self.steps.len()).find(|&it| is_own(&self.steps[it]));
        crash.filter(|_| self.returned(at).is_none())
    }

    /// How often the process of an operation had crashed when it called.
    fn incarnation(&self, at: usize) -> usize {
        let process = self.operations[at].process;
        let crashes = self.steps[..self.called(at)].iter().filter(|it| match it {
            Step::Crash(all) => all.as_ref().is_none_or(|it| it.contains(&process)),
            Step::Call(_) | Step::Return(_) => false,
        });
        crashes.count()
    }

    fn precedes(&self, first: usize, second: usize) -> bool {
        self.returned(first).is_some_and(|it| it < self.called(second))
    }

    fn placed(&self, at: usize) -> Placed {
        let is_complete = self.returned(at).is_some();
        Placed { operation: self.operations[at], at, has_result: is_complete, is_required: is_complete }
    }

    fn all(&self) -> Vec<Placed> {
        (0..self.operations.len()).map(|at| self.placed(at)).collect()
    }

    /// All, of which only these are required.
    fn requiring(&self, required: &[usize]) -> Vec<Placed> {
        let mut all = self.all();
        all.iter_mut().for_each(|it| it.is_required &= required.contains(&it.at));
        all
    }

    pub(super) fn is_linearizable(&self) -> bool {
        has_order(&self.all(), &|first, second| self.precedes(first, second))
    }

    /// An interrupted operation gets a return right before its crash, or is removed.
    pub(super) fn is_strict(&self, required: Option<&[usize]>) -> bool {
        let all = required.map_or_else(|| self.all(), |it| self.requiring(it));
        has_order(&all, &|first, second| {
            let end = self.returned(first).or(self.interrupted(first));
            end.is_some_and(|it| it < self.called(second))
        })
    }

    pub(super) fn is_sequential(&self, required: Option<&[usize]>) -> bool {
        let all = required.map_or_else(|| self.all(), |it| self.requiring(it));
        let process = |at: usize| (self.operations[at].process, self.incarnation(at));
        has_order(&all, &|first, second| process(first) == process(second) && self.precedes(first, second))
    }

    pub(super) fn is_regular(&self) -> bool {
        let is_write = |it: &Placed| matches!(it.operation.kind, Kind::Write(_));
        let is_complete_read = |it: &&Placed| !is_write(it) && it.is_required;
        self.all().iter().filter(is_complete_read).all(|read| {
            let of_object = |it: &Placed| it.operation.object == read.operation.object;
            let writes = self.all().into_iter().filter(|it| is_write(it) && of_object(it));
            let some: Vec<Placed> = writes.chain([*read]).collect();
            has_order(&some, &|first, second| self.precedes(first, second))
        })
    }

    /// The operations of each era.
    fn eras(&self) -> Vec<Vec<usize>> {
        let mut eras = vec![Vec::new()];
        for step in &self.steps {
            match step {
                Step::Crash(_) => eras.push(Vec::new()),
                Step::Call(at) => eras.last_mut().unwrap().push(*at),
                Step::Return(_) => (),
            }
        }
        eras
    }

    pub(super) fn is_buffered(&self) -> bool {
        let eras = self.eras();
        self.survives(&eras, 0, &mut Vec::new())
    }

    /// Whether each era from this one on is linearizable after what survives of the others.
    fn survives(&self, eras: &[Vec<usize>], era: usize, before: &mut Vec<(usize, bool)>) -> bool {
        let own: Vec<(usize, bool)> = eras[era].iter().map(|&at| (at, self.returned(at).is_some())).collect();
        let view: Vec<(usize, bool)> = before.iter().copied().chain(own.clone()).collect();
        if !self.is_view_linearizable(&view) {
            return false;
        }
        if era + 1 == eras.len() {
            return true;
        }
        // Each operation is lost, or its call survives, or its return as well.
        (0..3_u32.pow(own.len() as u32)).any(|choice| {
            let fate = |place: usize| choice / 3_u32.pow(place as u32) % 3;
            let mut events: Vec<Step> = Vec::new();
            for (place, &(at, is_complete)) in own.iter().enumerate() {
                if fate(place) == 2 && !is_complete {
                    return false;
                }
                events.extend((0 < fate(place)).then_some(Step::Call(at)));
                events.extend((fate(place) == 2).then_some(Step::Return(at)));
            }
            if !self.is_cut(&own, &events) {
                return false;
            }
            let length = before.len();
            let survivors = own.iter().enumerate().filter(|it| 0 < fate(it.0));
            before.extend(survivors.map(|(place, &(at, _))| (at, fate(place) == 2)));
            let found = self.survives(eras, era + 1, before);
            before.truncate(length);
            found
        })
    }

    /// Whether with each event those survive that happened before it: the call of a return, and the
    /// returns before a call.
    fn is_cut(&self, own: &[(usize, bool)], events: &[Step]) -> bool {
        events.iter().all(|event| match *event {
            Step::Return(at) => events.contains(&Step::Call(at)),
            Step::Call(at) => {
                let mut earlier = own.iter().filter(|it| self.precedes(it.0, at));
                earlier.all(|it| events.contains(&Step::Return(it.0)))
            }
            Step::Crash(_) => true,
        })
    }

    /// Operations, and whether each has its return.
    fn is_view_linearizable(&self, view: &[(usize, bool)]) -> bool {
        let placed = |&(at, is_complete): &(usize, bool)| Placed {
            operation: self.operations[at],
            at,
            has_result: is_complete,
            is_required: is_complete,
        };
        let all: Vec<Placed> = view.iter().map(placed).collect();
        has_order(&all, &|first, second| view.contains(&(first, true)) && self.precedes(first, second))
    }
}
