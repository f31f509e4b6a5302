//! Where a history can be changed, and the changed history.

use std::collections::{BTreeMap, BTreeSet};

use clewline_core::{
    Datum, End, Event, EventLog, Names, ObjectId, Operation, OperationId, ProcessId, Random, RawCall,
    Recording, Value, Values,
};

use super::violate::Violate;

// The maximum distance, among the operations of a method, from which a result is taken.
const REPLACEMENT_DISTANCE_OPS_MAX: usize = 64;

// How many events after a change may be needed to detect it.
const DETECTION_SUFFIX_EVENTS: usize = 4_000;

/// Where a history can be changed.
pub(super) struct MutationPoints<'r> {
    recording: &'r Recording,
    events: Vec<(OperationId, End)>,
    // The operations of one method of one object that returned, in call order.
    groups: Vec<Vec<OperationId>>,
    // For each operation that returned, in call order: its group, and its index there.
    completed: Vec<(usize, usize)>,
    complete: Vec<OperationId>,
    // The least integer that is greater than all there are.
    fresh: i64,
}

impl<'r> MutationPoints<'r> {
    pub(super) fn new(recording: &'r Recording) -> Self {
        let Recording { history, values, .. } = recording;
        let mut numbers: BTreeMap<(ObjectId, Value), usize> = BTreeMap::new();
        let mut places = MutationPoints {
            recording,
            events: history.events(),
            groups: Vec::new(),
            completed: Vec::new(),
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
            places.completed.push((group, places.groups[group].len()));
            places.groups[group].push(operation.id);
        }
        places
    }

    /// A change of this kind to one of the first operations, if the random point allows one.
    pub(super) fn draw(&self, kind: Violate, within: usize, random: &mut Random) -> Option<Change> {
        let history = &self.recording.history;
        if kind == Violate::Lost {
            let operation = *self.complete.get(random.below(self.complete.len().min(within)))?;
            return Some(Change::Remove(operation));
        }
        let &(group, place) = self.completed.get(random.below(self.completed.len().min(within)))?;
        let group = &self.groups[group];
        let operation = group[place];
        let result = *history.ret(operation)?;
        if kind == Violate::Invented {
            return self.fresh_value(result).map(|invented| Change::Result(operation, invented));
        }
        // Somewhere around the operation, or before it.
        let first = place.saturating_sub(REPLACEMENT_DISTANCE_OPS_MAX);
        let last = if kind == Violate::Swap {
            (place + REPLACEMENT_DISTANCE_OPS_MAX).min(group.len() - 1)
        } else {
            place
        };
        let other = group[first + random.below(last - first + 1)];
        let given = *history.ret(other)?;
        if result == given {
            return None;
        }
        let precedes = || history.spans()[other.index()].precedes(history.spans()[operation.index()]);
        match kind {
            Violate::Swap => Some(Change::Swap([(operation, given), (other, result)])),
            Violate::Stale if history.call(other) == history.call(operation) && precedes() => {
                Some(Change::Result(operation, NewValue::Known(given)))
            }
            // Two operations that return *empty* are not a duplicate.
            Violate::Duplicate if given != Value::NIL && given != Value::FALSE => {
                Some(Change::Result(operation, NewValue::Known(given)))
            }
            Violate::Stale | Violate::Duplicate | Violate::Lost | Violate::Invented => None,
        }
    }

    /// A result that no operation returned, of the same kind as `result`.
    fn fresh_value(&self, result: Value) -> Option<NewValue> {
        match self.recording.values.get(result) {
            Datum::Bool(truth) => Some(NewValue::Known(Value::bool(!truth))),
            Datum::Nil | Datum::Int(_) => Some(NewValue::Int(self.fresh)),
            Datum::Text(text) => Some(NewValue::Text(format!("{text} (invented)"))),
            Datum::Absent | Datum::Symbol(_) | Datum::List(_) | Datum::Other(_) => None,
        }
    }

    /// The changed history up to some time after the change. That is enough: a history is violated
    /// if a prefix is. None if its events cannot be put in one order.
    pub(super) fn beginning(&self, change: &Change) -> Option<Recording> {
        let spans = self.recording.history.spans();
        let last = change.operations().into_iter().flatten().map(|it| spans[it.index()].end()).max()?;
        // An event's rank is at least its index, so this is late enough.
        let end = (last as usize).saturating_add(DETECTION_SUFFIX_EVENTS).min(self.events.len());
        self.replay(change, &self.events[..end])
    }

    /// The changed history.
    pub(super) fn whole(&self, change: &Change) -> Option<Recording> {
        self.replay(change, &self.events)
    }

    fn replay(&self, change: &Change, events: &[(OperationId, End)]) -> Option<Recording> {
        let Recording { history, values, names, missing, .. } = self.recording;
        let mut values = values.clone();
        let new_results = change.results(&mut values);
        let mut log: EventLog<RawCall, Value> = EventLog::new();
        let mut open: BTreeSet<ProcessId> = BTreeSet::new();
        for &(id, end) in events {
            if matches!(change, Change::Remove(lost) if *lost == id) {
                continue;
            }
            let Operation { process, object, call, ret, .. } = history.operation(id);
            match end {
                End::Call => {
                    // A process that continues has abandoned its operation.
                    if !open.insert(process) {
                        log.push(Event::Info(process)).ok()?;
                    }
                    log.push(Event::Call(process, object, *call)).ok()?;
                }
                End::Return => {
                    let changed = new_results.iter().flatten().find(|it| it.0 == id);
                    open.remove(&process);
                    log.push(Event::Return(process, changed.map_or(*ret?, |it| it.1))).ok()?;
                }
            }
        }
        // Positions may have moved: operations are known by their new ones.
        let names = Names { ids: None, lines: None, times: None, notes: Vec::new(), ..names.clone() };
        Some(Recording { missing: *missing, ..Recording::new(log.finish(), values, names) })
    }
}

/// A mutation of a history.
pub(super) enum Change {
    /// The operation gets another result.
    Result(OperationId, NewValue),
    /// Two operations get each other's.
    Swap([(OperationId, Value); 2]),
    /// The operation is taken out.
    Remove(OperationId),
}

/// A value that may have to be made.
pub(super) enum NewValue {
    Known(Value),
    Int(i64),
    Text(String),
}

impl Change {
    fn operations(&self) -> [Option<OperationId>; 2] {
        match self {
            Change::Result(operation, _) | Change::Remove(operation) => [Some(*operation), None],
            Change::Swap([one, other]) => [Some(one.0), Some(other.0)],
        }
    }

    /// The operations with new results.
    fn results(&self, values: &mut Values) -> [Option<(OperationId, Value)>; 2] {
        match self {
            Change::Result(operation, new) => {
                let result = match new {
                    NewValue::Known(value) => *value,
                    NewValue::Int(int) => values.int(*int),
                    NewValue::Text(text) => values.text(text),
                };
                [Some((*operation, result)), None]
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
