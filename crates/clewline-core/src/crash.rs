//! Crashes: processes end, and leave their open operations without a return.
//!
//! A process that crashed makes no more calls. What calls later under its name is another process,
//! so that an operation that a crash interrupted may still be pending then.

use std::{collections::HashMap, fmt};

use crate::{history::TimedColumns, id::ProcessId, value::Value};

/// A crash of a recorded system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The index of its note, which has its text and its place among the events.
    pub note: usize,
    /// The processes that the source names; `None` if all of them crashed.
    pub named: Option<Vec<Value>>,
    /// The node that the source names.
    pub node: Option<String>,
    /// The processes that it ended, in ascending order.
    pub ended: Vec<ProcessId>,
}

impl Crash {
    /// Whether all processes crashed.
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        self.named.is_none()
    }
}

/// The processes of a log of events, by the numbers of their names. One that calls after a crash
/// has an id of its own, and the name of the one before.
#[derive(Clone, Debug, Default)]
pub struct ProcessNames {
    /// The name of each process.
    pub names: Vec<Value>,
    /// For each crash so far, the processes that it ended, in ascending order.
    pub ended: Vec<Vec<ProcessId>>,
    current: Vec<Option<u32>>,
}

impl ProcessNames {
    /// The process that calls now under the name of that number, which is `name`.
    pub fn get(&mut self, number: u32, name: Value) -> u32 {
        let at = number as usize;
        if self.current.len() <= at {
            self.current.resize(at + 1, None);
        }
        *self.current[at].get_or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }

    /// The processes under the names of these numbers crash, or all of them.
    pub fn crash(&mut self, numbers: Option<&[u32]>) {
        let all = 0..self.current.len() as u32;
        let numbers = numbers.map_or_else(|| all.collect(), <[u32]>::to_vec);
        let end = |it: u32| self.current.get_mut(it as usize).and_then(Option::take).map(ProcessId);
        let mut ended: Vec<ProcessId> = numbers.into_iter().filter_map(end).collect();
        ended.sort_unstable();
        self.ended.push(ended);
    }
}

/// A crash among operations with times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedCrash {
    /// Its time.
    pub time: i64,
    /// The processes that crashed; `None` if all of them did.
    pub processes: Option<Vec<ProcessId>>,
}

/// What crashes make of the processes of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incarnations {
    /// For each crash, the processes that it ended, in ascending order.
    pub ended: Vec<Vec<ProcessId>>,
    /// For each crash, the number of events before it.
    pub events: Vec<u32>,
    /// For each process that was added, the one under whose name it calls.
    pub added: Vec<ProcessId>,
}

/// An operation contradicts a crash of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashError {
    /// The index of the operation.
    pub operation: usize,
    /// The index of the crash.
    pub crash: usize,
    /// Whether it is called at the time of the crash. Otherwise it returns after it.
    pub is_called_then: bool,
}

impl fmt::Display for CrashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_called_then {
            "an operation is called at the very time of a crash of its process, so that it is not known which comes first"
        } else {
            "an operation returns after a crash of its process"
        })
    }
}

impl<C, R> TimedColumns<C, R> {
    /// Gives what is called after a crash to new processes, which are numbered from `processes` on.
    ///
    /// # Errors
    ///
    /// The first operation that contradicts a crash.
    pub fn crash(&mut self, crashes: &[TimedCrash], processes: usize) -> Result<Incarnations, CrashError> {
        let mut order: Vec<usize> = (0..crashes.len()).collect();
        order.sort_by_key(|&it| crashes[it].time);
        let mut made = Incarnations {
            ended: vec![Vec::new(); crashes.len()],
            events: crashes.iter().map(|it| self.events_until(it.time)).collect(),
            added: Vec::new(),
        };
        // By process: its crashes, in the order of time.
        let mut concerning: HashMap<ProcessId, Vec<usize>> = HashMap::new();
        // By process and the number of its crashes before.
        let mut numbers: HashMap<(ProcessId, usize), ProcessId> = HashMap::new();
        for at in 0..self.len() {
            let (process, called) = (self.history.processes[at], self.called[at]);
            let own = concerning.entry(process).or_insert_with(|| {
                let concerns =
                    |it: &usize| crashes[*it].processes.as_ref().is_none_or(|all| all.contains(&process));
                order.iter().copied().filter(concerns).collect()
            });
            let before = own.partition_point(|&it| crashes[it].time < called);
            let next = own.get(before).copied();
            let number = match before {
                0 => process,
                _ => *numbers.entry((process, before)).or_insert_with(|| {
                    made.added.push(process);
                    ProcessId((processes + made.added.len() - 1) as u32)
                }),
            };
            self.history.processes[at] = number;
            let Some(crash) = next else { continue };
            let is_called_then = crashes[crash].time == called;
            let returned = self.history.rets[at].is_some().then_some(self.returned[at]);
            if is_called_then || returned.is_some_and(|it| crashes[crash].time < it) {
                return Err(CrashError { operation: at, crash, is_called_then });
            }
            made.ended[crash].push(number);
        }
        for ended in &mut made.ended {
            ended.sort_unstable();
            ended.dedup();
        }
        Ok(made)
    }

    /// The number of events up to `time`, those at that time included.
    fn events_until(&self, time: i64) -> u32 {
        let is_over = |at: usize| self.history.rets[at].is_some() && self.returned[at] <= time;
        let events = (0..self.len()).map(|at| u32::from(self.called[at] <= time) + u32::from(is_over(at)));
        events.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{history::Timed, id::ObjectId};

    fn columns(operations: &[(u32, i64, Option<i64>)]) -> TimedColumns<(), ()> {
        let mut columns = TimedColumns::with_capacity(0);
        for &(process, called, returned) in operations {
            let (process, object) = (ProcessId(process), ObjectId(0));
            columns.push(Timed { process, object, call: (), called, returned: returned.map(|it| ((), it)) });
        }
        columns
    }

    fn crash(time: i64, processes: Option<&[u32]>) -> TimedCrash {
        TimedCrash { time, processes: processes.map(|all| all.iter().map(|&it| ProcessId(it)).collect()) }
    }

    #[test]
    fn what_calls_after_a_crash_is_another_process() {
        let mut all = columns(&[(0, 1, None), (1, 2, Some(9)), (0, 6, Some(7)), (0, 12, Some(13))]);
        let made = all.crash(&[crash(10, None), crash(5, Some(&[0]))], 2).unwrap();
        let process = |it: u32| ProcessId(it);
        assert_eq!(made.ended, [vec![process(1), process(2)], vec![process(0)]]);
        assert_eq!((made.added, made.events), (vec![process(0), process(0)], vec![5, 2]));
        let history = all.finish().unwrap();
        let processes: Vec<u32> = history.operations().map(|it| it.process.0).collect();
        assert_eq!(processes, [0, 1, 2, 3]);
    }

    #[test]
    fn a_crash_ends_what_returns_at_its_time() {
        let mut all = columns(&[(0, 1, Some(5)), (1, 5, None)]);
        let made = all.crash(&[crash(5, Some(&[0]))], 2).unwrap();
        assert_eq!((made.ended, made.events), (vec![vec![ProcessId(0)]], vec![3]));
    }

    #[test]
    fn operations_that_contradict_a_crash_are_errors() {
        let error = columns(&[(0, 1, Some(6))]).crash(&[crash(5, None)], 1).unwrap_err();
        assert_eq!(error, CrashError { operation: 0, crash: 0, is_called_then: false });
        let error = columns(&[(0, 5, Some(6))]).crash(&[crash(5, None)], 1).unwrap_err();
        assert_eq!(error, CrashError { operation: 0, crash: 0, is_called_then: true });
        assert!(columns(&[(0, 1, Some(6))]).crash(&[crash(5, Some(&[1]))], 2).is_ok());
    }
}
