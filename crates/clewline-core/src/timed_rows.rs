//! Operations with times, as files give them, before they become a history.
//!
//! Clocks of several hosts may differ. A bound on their difference, the skew, widens the interval
//! of each operation at both ends, so that no order is claimed that the clocks do not prove. Then
//! two operations of one process may overlap: each of them gets a process of its own, of the same
//! name. For linearizability this allows more orders, never fewer. Criteria that need the order
//! within the process find it in [`OwnTimes`].

use std::collections::HashMap;

use crate::{
    history::{Timed, TimedColumns},
    id::{ObjectId, ProcessId},
    recording::{OwnTimes, RawCall},
    value::Value,
};

/// An operation. Processes and objects are numbers, whose names are elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct TimedRow {
    /// Its line, from 1.
    pub line: usize,
    /// Its process.
    pub process: u32,
    /// Its object.
    pub object: u32,
    /// The call.
    pub call: RawCall,
    /// The time of the call.
    pub called: i64,
    /// The result and the time of the return; `None` while pending.
    pub returned: Option<(Value, i64)>,
}

/// Operations in the order of the file.
#[derive(Debug, Default)]
pub struct TimedRows {
    rows: Vec<TimedRow>,
}

impl TimedRows {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The operation that follows.
    pub fn push(&mut self, row: TimedRow) {
        self.rows.push(row);
    }

    /// The columns of these operations, with intervals widened by `skew` on both sides, and the
    /// line of each. Where operations of one process overlap, processes are added to `processes`,
    /// the names by number; the times by the clocks of processes are returned where they are not
    /// those of the history.
    pub fn into_columns(
        mut self,
        skew: i64,
        processes: &mut Vec<Value>,
    ) -> (TimedColumns<RawCall, Value>, Vec<usize>, Option<Vec<OwnTimes>>) {
        let own = |row: &TimedRow| OwnTimes {
            process: ProcessId(row.process),
            called: row.called,
            returned: row.returned.map_or(i64::MAX, |it| it.1),
        };
        let own_times: Vec<OwnTimes> = self.rows.iter().map(own).collect();
        let named = processes.len();
        for row in &mut self.rows {
            row.called = row.called.saturating_sub(skew);
            row.returned = row.returned.map(|(ret, time)| (ret, time.saturating_add(skew)));
        }
        // A process that calls when its operation returns keeps its order, unless clocks differ.
        let is_free = |free: i64, called: i64| free < called || (free == called && skew == 0);
        self.separate(processes, is_free);
        let lines = self.rows.iter().map(|it| it.line).collect();
        let is_changed = skew != 0 || named != processes.len();
        (self.into_columns_of_processes(), lines, is_changed.then_some(own_times))
    }

    /// The columns of these operations, as they are.
    pub fn into_columns_of_processes(self) -> TimedColumns<RawCall, Value> {
        let mut columns = TimedColumns::with_capacity(self.rows.len());
        for TimedRow { process, object, call, called, returned, .. } in self.rows {
            let (process, object) = (ProcessId(process), ObjectId(object));
            columns.push(Timed { process, object, call, called, returned });
        }
        columns
    }

    /// Gives operations of one process that overlap to different ones.
    fn separate(&mut self, processes: &mut Vec<Value>, is_free: impl Fn(i64, i64) -> bool) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&it| self.rows[it].called);
        // By process: those with its name, and when each is free again.
        let mut lanes: HashMap<u32, Vec<(u32, i64)>> = HashMap::new();
        for at in order {
            let row = &mut self.rows[at];
            let lanes = lanes.entry(row.process).or_insert_with(|| vec![(row.process, i64::MIN)]);
            let end = row.returned.map_or(i64::MAX, |(_, time)| time.max(row.called));
            match lanes.iter_mut().find(|(_, free)| is_free(*free, row.called)) {
                Some(lane) => {
                    lane.1 = end;
                    row.process = lane.0;
                }
                None => {
                    let number = processes.len() as u32;
                    processes.push(processes[row.process as usize]);
                    lanes.push((number, end));
                    row.process = number;
                }
            }
        }
    }
}
