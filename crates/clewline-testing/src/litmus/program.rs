//! Programs and outcomes, and how they are written.

use std::{
    fmt,
    sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
};

/// The locations of a program.
pub const LOCATIONS: usize = 3;

/// An access, or a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A load of a location.
    Load(usize, Ordering),
    /// A store of a value.
    Store(usize, usize, Ordering),
    /// A swap for a value.
    Swap(usize, usize, Ordering),
    /// A fence.
    Fence(Ordering),
}

/// The accesses of each thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program(pub Vec<Vec<Op>>);

/// What each thread has read, and what the locations hold in the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    /// The values of loads and swaps, thread by thread.
    pub read: Vec<Vec<usize>>,
    /// The value of each location.
    pub held: Vec<usize>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |it: &[usize]| it.iter().map(ToString::to_string).collect::<String>();
        let read: Vec<String> = self.read.iter().map(|it| digits(it)).collect();
        write!(f, "{};{}", read.join("|"), digits(&self.held))
    }
}

const ORDERINGS: [(&str, Ordering); 5] =
    [("", Relaxed), (".acq", Acquire), (".rel", Release), (".ar", AcqRel), (".sc", SeqCst)];

fn suffix(order: Ordering) -> &'static str {
    ORDERINGS.iter().find(|it| it.1 == order).map_or("", |it| it.0)
}

fn name(location: usize) -> char {
    ['x', 'y', 'z'][location]
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Op::Load(at, order) => write!(f, "R{}{}", name(at), suffix(order)),
            Op::Store(at, value, order) => write!(f, "W{}{value}{}", name(at), suffix(order)),
            Op::Swap(at, value, order) => write!(f, "X{}{value}{}", name(at), suffix(order)),
            Op::Fence(order) => write!(f, "F{}", suffix(order)),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thread = |it: &Vec<Op>| it.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        f.write_str(&self.0.iter().map(thread).collect::<Vec<_>>().join(" | "))
    }
}

impl Op {
    fn parse(text: &str) -> Option<Op> {
        let at = text.find('.').unwrap_or(text.len());
        let (what, suffix) = text.split_at(at);
        let order = ORDERINGS.iter().find(|it| it.0 == suffix)?.1;
        let mut letters = what.chars();
        let kind = letters.next()?;
        if kind == 'F' {
            return Some(Op::Fence(order));
        }
        let location = "xyz".find(letters.next()?)?;
        let value = || letters.as_str().parse().ok();
        match kind {
            'R' => Some(Op::Load(location, order)),
            'W' => Some(Op::Store(location, value()?, order)),
            'X' => Some(Op::Swap(location, value()?, order)),
            _ => None,
        }
    }
}

impl Program {
    /// The program with that text.
    ///
    /// # Panics
    ///
    /// If it is none.
    #[must_use]
    pub fn parse(text: &str) -> Program {
        let op = |it: &str| Op::parse(it).unwrap_or_else(|| panic!("`{it}` is no access"));
        Program(text.split('|').map(|it| it.split_whitespace().map(op).collect()).collect())
    }

    /// A random program with that many accesses and fences, of two or three threads.
    ///
    /// `below` returns a random number below its argument.
    #[must_use]
    pub fn random(operations: usize, below: &mut dyn FnMut(usize) -> usize) -> Program {
        let mut threads: Vec<Vec<Op>> = vec![Vec::new(); [2, 2, 3][below(3)]];
        for value in 1..=operations {
            // Two locations, so that accesses meet.
            let (n, location) = (threads.len(), below(2));
            let op = match below(9) {
                0..=3 => Op::Load(location, [Relaxed, Relaxed, SeqCst, Acquire][below(4)]),
                4..=6 => Op::Store(location, value, [Relaxed, Relaxed, SeqCst, Release][below(4)]),
                7 => Op::Swap(location, value, [Relaxed, SeqCst, Acquire, Release, AcqRel][below(5)]),
                _ => Op::Fence([SeqCst, SeqCst, Acquire, Release, AcqRel][below(5)]),
            };
            threads[below(n)].push(op);
        }
        Program(threads)
    }
}
