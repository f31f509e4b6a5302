//! Where a history can be changed, and the history changed there.

use std::collections::{BTreeMap, BTreeSet};

use clewline_core::{
    Datum, End, Event, EventLog, Names, ObjectId, Operation, OperationId, ProcessId, Random, RawCall,
    Recording, Value, Values,
};

use super::violate::Violate;

// How far apart, among the operations of its method, an answer may be taken from.
const REACH: usize = 64;

// How many events after a change may be needed to tell that it was one.
const AFTERMATH: usize = 4_000;

/// Where a history can be changed.
pub(super) struct Places<'r> {
    recording: &'r Recording,
    events: Vec<(OperationId, End)>,
    // The operations of one method of one object that have an answer, in call order.
    groups: Vec<Vec<OperationId>>,
    // For each operation with an answer, in call order: its group, and its place there.
    answered: Vec<(usize, usize)>,
    complete: Vec<OperationId>,
    // The least integer that is greater than all there are.
    fresh: i64,
}

impl<'r> Places<'r> {
    pub(super) fn new(recording: &'r Recording) -> Self {
        let Recording { history, values, .. } = recording;
        let mut numbers: BTreeMap<(ObjectId, Value), usize> = BTreeMap::new();
        let mut places = Places {
            recording,
            events: history.events(),
            groups: Vec::new(),
            answered: Vec::new(),
            complete: Vec::new(),
            fresh: 0,
        };
        for operation in history.operations() {
            places.fresh = places.fresh.max(greatest(values, operation.call.arg).saturating_add(1));
            let Some(&ret) = operation.ret else { continue };
            places.fresh = places.fresh.max(greatest(values, ret).saturating_add(1));
            places.complete.push(operation.id);
            if ret.is_absent() {
                continue;
            }
            let fresh = places.groups.len();
            let group = *numbers.entry((operation.object, operation.call.method)).or_insert(fresh);
            if group == fresh {
                places.groups.push(Vec::new());
            }
            places.answered.push((group, places.groups[group].len()));
            places.groups[group].push(operation.id);
        }
        places
    }

    /// A change of this kind to one of the first operations, if there is one where the dice fell.
    pub(super) fn draw(&self, kind: Violate, within: usize, random: &mut Random) -> Option<Change> {
        let history = &self.recording.history;
        if kind == Violate::Lost {
            let operation = *self.complete.get(random.below(self.complete.len().min(within)))?;
            return Some(Change::Remove(operation));
        }
        let &(group, place) = self.answered.get(random.below(self.answered.len().min(within)))?;
        let group = &self.groups[group];
        let operation = group[place];
        let answer = *history.ret(operation)?;
        if kind == Violate::Invented {
            return self.invented(answer).map(|invented| Change::Answer(operation, invented));
        }
        // Somewhere around the operation, or before it.
        let first = place.saturating_sub(REACH);
        let last = if kind == Violate::Swap { (place + REACH).min(group.len() - 1) } else { place };
        let other = group[first + random.below(last - first + 1)];
        let given = *history.ret(other)?;
        if answer == given {
            return None;
        }
        let precedes = || history.spans()[other.index()].precedes(history.spans()[operation.index()]);
        match kind {
            Violate::Swap => Some(Change::Swap([(operation, given), (other, answer)])),
            Violate::Stale if history.call(other) == history.call(operation) && precedes() => {
                Some(Change::Answer(operation, New::Known(given)))
            }
            // Being told twice that there is nothing is no duplicate.
            Violate::Duplicate if given != Value::NIL && given != Value::FALSE => {
                Some(Change::Answer(operation, New::Known(given)))
            }
            Violate::Stale | Violate::Duplicate | Violate::Lost | Violate::Invented => None,
        }
    }

    /// An answer that no operation gave, of the kind of `answer`.
    fn invented(&self, answer: Value) -> Option<New> {
        match self.recording.values.get(answer) {
            Datum::Bool(truth) => Some(New::Known(Value::bool(!truth))),
            Datum::Nil | Datum::Int(_) => Some(New::Int(self.fresh)),
            Datum::Text(text) => Some(New::Text(format!("{text} (invented)"))),
            Datum::Absent | Datum::Symbol(_) | Datum::List(_) | Datum::Other(_) => None,
        }
    }

    /// The changed history up to some time after the change, which is as good as all of it: a history is
    /// violated if its beginning is. None if its events cannot be told one after the other.
    pub(super) fn beginning(&self, change: &Change) -> Option<Recording> {
        let spans = self.recording.history.spans();
        let last = change.operations().into_iter().flatten().map(|it| spans[it.index()].end()).max()?;
        // An event's rank is at least its index, so this is late enough.
        let end = (last as usize).saturating_add(AFTERMATH).min(self.events.len());
        self.replay(change, &self.events[..end])
    }

    /// The changed history.
    pub(super) fn whole(&self, change: &Change) -> Option<Recording> {
        self.replay(change, &self.events)
    }

    fn replay(&self, change: &Change, events: &[(OperationId, End)]) -> Option<Recording> {
        let Recording { history, values, names, missing } = self.recording;
        let mut values = values.clone();
        let answers = change.answers(&mut values);
        let mut log: EventLog<RawCall, Value> = EventLog::new();
        let mut open: BTreeSet<ProcessId> = BTreeSet::new();
        for &(id, end) in events {
            if matches!(change, Change::Remove(lost) if *lost == id) {
                continue;
            }
            let Operation { process, object, call, ret, .. } = history.operation(id);
            match end {
                End::Call => {
                    // A process that goes on has given its operation up.
                    if !open.insert(process) {
                        log.push(Event::Info(process)).ok()?;
                    }
                    log.push(Event::Call(process, object, *call)).ok()?;
                }
                End::Return => {
                    let changed = answers.iter().flatten().find(|it| it.0 == id);
                    open.remove(&process);
                    log.push(Event::Return(process, changed.map_or(*ret?, |it| it.1))).ok()?;
                }
            }
        }
        // Positions may have moved: operations are known by their new ones.
        let names = Names { ids: None, lines: None, times: None, ..names.clone() };
        Some(Recording { history: log.finish(), values, names, missing: *missing })
    }
}

/// What is done to a history.
pub(super) enum Change {
    /// The operation gets another answer.
    Answer(OperationId, New),
    /// Two operations get each other's.
    Swap([(OperationId, Value); 2]),
    /// The operation is taken out.
    Remove(OperationId),
}

/// A value that may have to be made.
pub(super) enum New {
    Known(Value),
    Int(i64),
    Text(String),
}

impl Change {
    fn operations(&self) -> [Option<OperationId>; 2] {
        match self {
            Change::Answer(operation, _) | Change::Remove(operation) => [Some(*operation), None],
            Change::Swap([one, other]) => [Some(one.0), Some(other.0)],
        }
    }

    /// Who gets which answer.
    fn answers(&self, values: &mut Values) -> [Option<(OperationId, Value)>; 2] {
        match self {
            Change::Answer(operation, new) => {
                let answer = match new {
                    New::Known(value) => *value,
                    New::Int(int) => values.int(*int),
                    New::Text(text) => values.text(text),
                };
                [Some((*operation, answer)), None]
            }
            Change::Swap([one, other]) => [Some(*one), Some(*other)],
            Change::Remove(_) => [None, None],
        }
    }
}

/// The greatest integer in `value`; 0 if there is none. Lists nest as deep as a format lets them.
fn greatest(values: &Values, value: Value) -> i64 {
    match values.get(value) {
        Datum::Int(int) => int,
        Datum::List(items) => items.iter().map(|&it| greatest(values, it)).max().unwrap_or(0),
        Datum::Absent | Datum::Nil | Datum::Bool(_) | Datum::Text(_) | Datum::Symbol(_) | Datum::Other(_) => {
            0
        }
    }
}
