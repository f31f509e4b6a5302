//! Specifications of one's own without a codec, and subjects for them.

use clewline::{
    Specification, Subject,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

/// A bag: `Take` returns any element, or `None` if there is none.
#[derive(Clone, Debug)]
pub(crate) struct Bag;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BagCall {
    Put { value: u32 },
    Take,
}

pub(crate) fn put(value: u32) -> BagCall {
    BagCall::Put { value }
}

impl Specification for Bag {
    type State = Vec<u32>;
    type Call = BagCall;
    type Return = Option<u32>;

    fn initial(&self) -> Vec<u32> {
        Vec::new()
    }

    fn step(&self, bag: &Vec<u32>, call: &BagCall, ret: Option<&Option<u32>>, next: &mut Vec<Vec<u32>>) {
        let is_allowed = |result: Option<u32>| ret.is_none_or(|it| *it == result);
        match *call {
            BagCall::Put { value } if is_allowed(None) => {
                let mut after = bag.clone();
                after.insert(after.partition_point(|it| *it < value), value);
                next.push(after);
            }
            BagCall::Put { .. } => (),
            BagCall::Take if bag.is_empty() && is_allowed(None) => next.push(Vec::new()),
            BagCall::Take => {
                for at in (0..bag.len()).filter(|at| is_allowed(Some(bag[*at]))) {
                    let mut after = bag.clone();
                    after.remove(at);
                    next.push(after);
                }
            }
        }
    }
}

/// A queue of at most two elements, whose `TryPush` may always fail: `false`.
#[derive(Clone, Debug)]
pub(crate) struct Moody;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MoodyCall {
    TryPush(u32),
    Pop,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MoodyReturn {
    Pushed(bool),
    Popped(Option<u32>),
}

pub(crate) const MOODY_CAPACITY: usize = 2;

impl Specification for Moody {
    type State = Vec<u32>;
    type Call = MoodyCall;
    type Return = MoodyReturn;

    fn initial(&self) -> Vec<u32> {
        Vec::new()
    }

    fn step(&self, queue: &Vec<u32>, call: &MoodyCall, ret: Option<&MoodyReturn>, next: &mut Vec<Vec<u32>>) {
        let is_allowed = |result: MoodyReturn| ret.is_none_or(|it| *it == result);
        match *call {
            MoodyCall::TryPush(value) => {
                if is_allowed(MoodyReturn::Pushed(false)) {
                    next.push(queue.clone());
                }
                if queue.len() < MOODY_CAPACITY && is_allowed(MoodyReturn::Pushed(true)) {
                    next.push([&queue[..], &[value]].concat());
                }
            }
            MoodyCall::Pop if is_allowed(MoodyReturn::Popped(queue.first().copied())) => {
                next.push(queue.iter().skip(1).copied().collect());
            }
            MoodyCall::Pop => (),
        }
    }
}

/// A mailbox for one letter: `Send` blocks while it is full, and `Receive` while it is empty.
#[derive(Clone, Debug)]
pub(crate) struct Mailbox;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MailboxCall {
    Send(u32),
    Receive,
}

impl Specification for Mailbox {
    type State = Option<u32>;
    type Call = MailboxCall;
    type Return = Option<u32>;

    fn initial(&self) -> Option<u32> {
        None
    }

    fn step(
        &self,
        letter: &Option<u32>,
        call: &MailboxCall,
        ret: Option<&Option<u32>>,
        next: &mut Vec<Option<u32>>,
    ) {
        let is_allowed = |result: Option<u32>| ret.is_none_or(|it| *it == result);
        match (call, letter) {
            (MailboxCall::Send(value), None) if is_allowed(None) => next.push(Some(*value)),
            (MailboxCall::Receive, Some(_)) if is_allowed(*letter) => next.push(None),
            (MailboxCall::Send(_) | MailboxCall::Receive, _) => (),
        }
    }
}

/// How a subject is wrong, if it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// A decision and the change that follows from it are not atomic.
    Gap,
    /// It blocks where it must not.
    Blocks,
}

/// A bag that takes the first and the last element in turns.
pub(crate) struct TurnBag {
    elements: Mutex<(Vec<u32>, bool)>,
    is_filled: Condvar,
    flaw: Flaw,
}

impl TurnBag {
    pub(crate) fn new(flaw: Flaw) -> TurnBag {
        TurnBag { elements: Mutex::default(), is_filled: Condvar::new(), flaw }
    }
}

impl Subject<Bag> for TurnBag {
    fn call(&self, call: &BagCall) -> Option<u32> {
        let mut bag = self.elements.lock().unwrap();
        match *call {
            BagCall::Put { value } => {
                bag.0.push(value);
                self.is_filled.notify_all();
                None
            }
            BagCall::Take => {
                while self.flaw == Flaw::Blocks && bag.0.is_empty() {
                    bag = self.is_filled.wait(bag).unwrap();
                }
                if bag.0.is_empty() {
                    return None;
                }
                bag.1 = !bag.1;
                let at = if bag.1 { 0 } else { bag.0.len() - 1 };
                let taken = bag.0[at];
                if self.flaw == Flaw::Gap {
                    drop(bag);
                    bag = self.elements.lock().unwrap();
                }
                if let Some(at) = bag.0.iter().position(|it| *it == taken) {
                    bag.0.remove(at);
                }
                Some(taken)
            }
        }
    }
}

/// A queue whose `TryPush` fails if another thread has the lock.
pub(crate) struct TryQueue {
    elements: Mutex<Vec<u32>>,
    length: AtomicU32,
    flaw: Flaw,
}

impl TryQueue {
    pub(crate) fn new(flaw: Flaw) -> TryQueue {
        TryQueue { elements: Mutex::default(), length: AtomicU32::new(0), flaw }
    }
}

impl Subject<Moody> for TryQueue {
    fn call(&self, call: &MoodyCall) -> MoodyReturn {
        match *call {
            MoodyCall::TryPush(value) => {
                if self.flaw == Flaw::Gap {
                    // Two threads may both see a place that is left.
                    let has_place = self.length.load(Ordering::SeqCst) < MOODY_CAPACITY as u32;
                    if has_place {
                        self.elements.lock().unwrap().push(value);
                        self.length.fetch_add(1, Ordering::SeqCst);
                    }
                    return MoodyReturn::Pushed(has_place);
                }
                let Ok(mut elements) = self.elements.try_lock() else { return MoodyReturn::Pushed(false) };
                let has_place = elements.len() < MOODY_CAPACITY;
                if has_place {
                    elements.push(value);
                }
                MoodyReturn::Pushed(has_place)
            }
            MoodyCall::Pop => {
                let mut elements = self.elements.lock().unwrap();
                if elements.is_empty() {
                    return MoodyReturn::Popped(None);
                }
                self.length.fetch_sub(1, Ordering::SeqCst);
                MoodyReturn::Popped(Some(elements.remove(0)))
            }
        }
    }
}

/// A mailbox with a lock and a condition variable.
pub(crate) struct LockedMailbox {
    letter: Mutex<Option<u32>>,
    changed: Condvar,
    flaw: Flaw,
}

impl LockedMailbox {
    pub(crate) fn new(flaw: Flaw) -> LockedMailbox {
        LockedMailbox { letter: Mutex::new(None), changed: Condvar::new(), flaw }
    }
}

impl Subject<Mailbox> for LockedMailbox {
    fn call(&self, call: &MailboxCall) -> Option<u32> {
        let mut letter = self.letter.lock().unwrap();
        match *call {
            MailboxCall::Send(value) => {
                while letter.is_some() {
                    letter = self.changed.wait(letter).unwrap();
                }
                *letter = Some(value);
                if self.flaw != Flaw::Blocks {
                    self.changed.notify_all();
                }
                None
            }
            MailboxCall::Receive => loop {
                match letter.take() {
                    None => letter = self.changed.wait(letter).unwrap(),
                    taken => {
                        self.changed.notify_all();
                        return taken;
                    }
                }
            },
        }
    }
}
