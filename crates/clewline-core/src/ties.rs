//! Ties: a process calls at the very time at which its previous operation returns.
//!
//! Equal times give no order, but a process makes one call after the other, so the order of its own
//! operations is known. A total order of events can keep it for one process at a time: all other
//! calls with that time come first, then the returns and calls of the process, then all other
//! returns. Everything else still overlaps.
//!
//! For two processes no total order can. If each has an operation that returns and one that is
//! called at that time, an order of the events that keeps both puts an operation of one process
//! before one of the other, which is not known. All of them overlap then: a violation may be
//! missed, and none is invented.
//!
//! Operations that are called and return at one and the same time are in the order of the input, if
//! the operations of their process came in the order of time; else their order is not known.

use crate::id::ProcessId;

/// Operations in the order of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TiedColumns<'a> {
    pub(crate) called: &'a [i64],
    pub(crate) returned: &'a [i64],
    pub(crate) processes: &'a [ProcessId],
}

/// The ties that a total order of events keeps.
#[derive(Debug, Default)]
pub(crate) struct Ties {
    /// A call, and a return at the same time that comes before it. By call; both are indices in the
    /// input.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// Ascending times, and the process that is ordered at each of them.
    turns: Vec<(i64, ProcessId)>,
}

impl TiedColumns<'_> {
    /// The ties among `touching`: an operation and the next one of its process, which is called at
    /// the time of its return. Ascending by the second.
    pub(crate) fn ties(self, mut touching: Vec<(u32, u32)>, is_in_order: impl Fn(ProcessId) -> bool) -> Ties {
        let TiedColumns { called, returned, processes } = self;
        let time = |it: &(u32, u32)| called[it.1 as usize];
        let process = |it: &(u32, u32)| processes[it.1 as usize];
        let takes_no_time = |it: u32| called[it as usize] == returned[it as usize];
        let mut ties = Ties::default();
        let (mut pairs, mut unordered) = (Vec::new(), Vec::new());
        touching.sort_by_key(|it| (time(it), process(it)));
        for at_once in touching.chunk_by(|a, b| time(a) == time(b)) {
            pairs.clear();
            let mut turning = Vec::new();
            for own in at_once.chunk_by(|a, b| process(a) == process(b)) {
                let before = pairs.len();
                for &(one, next) in own {
                    unordered.push(one);
                    if !(takes_no_time(one) && takes_no_time(next)) || is_in_order(process(&own[0])) {
                        pairs.extend(unordered.drain(..).map(|it| (next, it)));
                    }
                }
                unordered.clear();
                if before < pairs.len() {
                    turning.push(process(&own[0]));
                }
            }
            if let [only] = turning[..] {
                ties.turns.push((time(&at_once[0]), only));
                ties.pairs.append(&mut pairs);
            }
        }
        ties
    }

    /// Moves the calls of a process that is ordered at some time behind all others with that time,
    /// in `order`, which ascends by call.
    pub(crate) fn put_last(self, ties: &Ties, order: &mut [u32]) {
        let TiedColumns { called, processes, .. } = self;
        for &(time, process) in &ties.turns {
            let start = order.partition_point(|&it| called[it as usize] < time);
            let length = order[start..].partition_point(|&it| called[it as usize] == time);
            order[start..start + length].sort_by_key(|&it| processes[it as usize] == process);
        }
    }
}
