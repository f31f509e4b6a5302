//! Merging the time-stamped logs of processes into one history.
//!
//! Each process stamps its own operations with a shared clock, in the order in which it issues
//! them. A process that goes directly from one operation to the next may read the clock once
//! between them: the return and the call then have the same stamp, and the return comes first,
//! because the order within the process is known.
//!
//! Between processes equal stamps give no order and count as overlapping: where two processes share
//! a stamp, all calls with it come before all returns with it. One of them may return and call
//! again at that stamp: its events are then put between the calls and the returns of the others. If
//! two do, the order within them is given up, but only there: no total order of the events keeps
//! both without adding an order between them (`ties.rs`).

use crate::{
    history::{History, PENDING, Span},
    id::{ObjectId, ProcessId},
};

/// An operation with the stamps of its call and return, for [`History::merge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped<C, R> {
    /// The call: a method with its arguments.
    pub call: C,
    /// The stamp of the call.
    pub called: u64,
    /// The result and the stamp of the return; `None` while pending.
    pub returned: Option<(R, u64)>,
}

impl<C, R> History<C, R> {
    /// Merges the logs of processes, each in the order in which its process issued the operations.
    ///
    /// ```
    /// use clewline_core::{History, Stamped};
    ///
    /// let log = |call, called, returned| vec![Stamped { call, called, returned: Some(((), returned)) }];
    /// let history = History::merge(vec![log("a", 1, 5), log("b", 6, 9), log("c", 9, 10)]);
    /// let spans = history.spans();
    /// assert!(spans[0].precedes(spans[1]));
    /// // What is stamped alike by different processes overlaps.
    /// assert!(!spans[1].precedes(spans[2]));
    /// ```
    ///
    /// # Panics
    ///
    /// If the stamps of one process decrease, an operation follows a pending one, or there are more
    /// operations than a history can hold.
    #[must_use]
    pub fn merge(logs: Vec<Vec<Stamped<C, R>>>) -> Self {
        let length = logs.iter().map(Vec::len).sum();
        let mut merger = Merger { history: History::with_capacity(length), rank: 0 };
        let cursors = logs.into_iter().enumerate().filter_map(|(process, log)| {
            let mut rest = log.into_iter();
            let next_event = NextEvent::Call(rest.next()?);
            Some(Cursor {
                process: ProcessId(process as u32),
                time: next_event.time(),
                next_event: Some(next_event),
                rest,
            })
        });
        let mut cursors: Vec<Cursor<C, R>> = cursors.collect();
        while let Some(&time) = cursors.iter().map(|it| &it.time).min() {
            let mut simultaneous = (0..cursors.len()).filter(|&it| cursors[it].time == time);
            match (simultaneous.next(), simultaneous.next()) {
                (Some(one), None) => merger.take(&mut cursors[one]),
                _ => merger.take_all(&mut cursors, time),
            }
            cursors.retain(|it| it.next_event.is_some());
        }
        merger.history
    }
}

/// The next event of a process.
enum NextEvent<C, R> {
    Call(Stamped<C, R>),
    // The row of its operation, its result, and its stamp.
    Return(usize, R, u64),
}

impl<C, R> NextEvent<C, R> {
    fn time(&self) -> u64 {
        match self {
            NextEvent::Call(operation) => operation.called,
            NextEvent::Return(.., at) => *at,
        }
    }
}

struct Cursor<C, R> {
    process: ProcessId,
    // The stamp of `next_event`; meaningless if there is none.
    time: u64,
    next_event: Option<NextEvent<C, R>>,
    rest: std::vec::IntoIter<Stamped<C, R>>,
}

impl<C, R> Cursor<C, R> {
    /// Whether the process returns and calls again at `time`, which is that of its next event.
    fn turns_at(&self, time: u64) -> bool {
        self.time == time && self.rest.as_slice().first().is_some_and(|it| it.called == time)
    }

    fn set(&mut self, next_event: Option<NextEvent<C, R>>) {
        let time = next_event.as_ref().map_or(self.time, NextEvent::time);
        assert!(self.time <= time, "the stamps of a process do not go back");
        self.time = time;
        self.next_event = next_event;
    }
}

struct Merger<C, R> {
    history: History<C, R>,
    rank: u32,
}

impl<C, R> Merger<C, R> {
    fn rank(&mut self) -> u32 {
        self.rank += 1;
        assert!(self.rank != PENDING, "a history holds at most 2^31 operations");
        self.rank - 1
    }

    /// Takes the next event of one process.
    fn take(&mut self, cursor: &mut Cursor<C, R>) {
        match cursor.next_event.take() {
            Some(NextEvent::Call(operation)) => self.call(cursor, operation),
            Some(NextEvent::Return(row, ret, _)) => {
                self.ret(row, ret);
                let next = cursor.rest.next().map(NextEvent::Call);
                cursor.set(next);
            }
            None => (),
        }
    }

    /// Takes all events at `time`, calls first; if only one process turns then, its events in its
    /// own order after all other calls.
    fn take_all(&mut self, cursors: &mut [Cursor<C, R>], time: u64) {
        let mut turning = (0..cursors.len()).filter(|&it| cursors[it].turns_at(time));
        let ordered = turning.next().filter(|_| turning.next().is_none());
        let mut returns: Vec<(usize, R)> = Vec::new();
        for (at, cursor) in cursors.iter_mut().enumerate() {
            while cursor.time == time && Some(at) != ordered {
                match cursor.next_event.take() {
                    Some(NextEvent::Call(operation)) => self.call(cursor, operation),
                    Some(NextEvent::Return(row, ret, _)) => {
                        returns.push((row, ret));
                        let next = cursor.rest.next().map(NextEvent::Call);
                        cursor.set(next);
                    }
                    None => break,
                }
            }
        }
        if let Some(at) = ordered {
            let cursor = &mut cursors[at];
            while cursor.time == time && cursor.next_event.is_some() {
                self.take(cursor);
            }
        }
        returns.into_iter().for_each(|(row, ret)| self.ret(row, ret));
    }

    fn call(&mut self, cursor: &mut Cursor<C, R>, operation: Stamped<C, R>) {
        let Stamped { call, returned, .. } = operation;
        let (row, rank) = (self.history.len(), self.rank());
        let history = &mut self.history;
        history.processes.push(cursor.process);
        history.objects.push(ObjectId(0));
        history.calls.push(call);
        history.rets.push(None);
        history.spans.push(Span { call: rank, ret: PENDING });
        history.sources.push(row as u32);
        let next = match returned {
            Some((ret, at)) => Some(NextEvent::Return(row, ret, at)),
            None => {
                assert!(cursor.rest.len() == 0, "a process issues nothing after a pending operation");
                None
            }
        };
        cursor.set(next);
    }

    fn ret(&mut self, row: usize, ret: R) {
        let rank = self.rank();
        self.history.rets[row] = Some(ret);
        self.history.spans[row].ret = rank;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations are written `call..return`; the text is also the name of the call.
    #[track_caller]
    fn check(logs: &[&str], expected: &str) {
        let stamp = |text: &str| text.parse::<u64>().unwrap();
        let operation = |text: &str| {
            let (called, returned) = text.split_once("..").unwrap();
            let returned = (!returned.is_empty()).then(|| ((), stamp(returned)));
            Stamped { call: text.to_owned(), called: stamp(called), returned }
        };
        let logs = logs.iter().map(|log| log.split_whitespace().map(operation).collect()).collect();
        let history = History::merge(logs);
        let show = |(id, end): (crate::OperationId, crate::End)| match end {
            crate::End::Call => format!("[{}", history.call(id)),
            crate::End::Return => format!("{}]", history.call(id)),
        };
        let shown: Vec<String> = history.events().into_iter().map(show).collect();
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn events_come_in_the_order_of_their_stamps() {
        check(&["1..4 6..7", "2..3 5..8"], "[1..4 [2..3 2..3] 1..4] [5..8 [6..7 6..7] 5..8]");
    }

    #[test]
    fn events_of_one_process_keep_their_order() {
        check(&["1..3 3..5", "2..4"], "[1..3 [2..4 1..3] [3..5 2..4] 3..5]");
    }

    #[test]
    fn equal_stamps_of_two_processes_overlap() {
        check(&["1..3 3..5", "2..3 3..6"], "[1..3 [2..3 [3..5 [3..6 1..3] 2..3] 3..5] 3..6]");
        check(&["1..3", "3..4"], "[1..3 [3..4 1..3] 3..4]");
    }

    #[test]
    fn one_process_keeps_its_order_among_equal_stamps() {
        check(&["1..3 3..5", "2..3"], "[1..3 [2..3 1..3] [3..5 2..3] 3..5]");
        check(&["1..3 3..5", "3..4"], "[1..3 [3..4 1..3] [3..5 3..4] 3..5]");
        check(&["2..3", "1..3 3..3 3.."], "[1..3 [2..3 1..3] [3..3 3..3] [3.. 2..3]");
    }

    #[test]
    fn an_operation_may_be_called_and_return_at_one_time() {
        check(&["1..1 1..1", "2..2"], "[1..1 1..1] [1..1 1..1] [2..2 2..2]");
        check(&["1..1", "1..1"], "[1..1 [1..1 1..1] 1..1]");
    }

    #[test]
    fn the_last_operation_of_a_process_may_be_pending() {
        check(&["1..2 3..", "2..4"], "[1..2 [2..4 1..2] [3.. 2..4]");
        check(&["", "1.."], "[1..");
    }

    #[test]
    #[should_panic(expected = "do not go back")]
    fn decreasing_stamps_are_rejected() {
        check(&["1..3 2..4"], "");
    }
}
