//! A barrier: its participants wait for each other, phase after phase.
//!
//! The state is one word, which changes by compare-and-swap: the number of participants, the number
//! of arrivals, and the number of the phase. The participant that arrives last begins the next
//! phase, for which the others wait.
//!
//! **signal-and-wait** (root cause L) is the barrier with the method that makes it one. No
//! sequential order of operations explains it: one at a time, each participant would wait forever.
//! That is the intended behaviour, and the plain variant only lacks the method.

use clewline_matrix::Component;
use clewline_methods::line_up::Cause;
use clewline_threads::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
};

use crate::{
    class::{Class, ClassVariant, Flaw},
    monitor::Monitor,
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "barrier",
    about: "a barrier for two participants at first, without its method to wait",
    source: "Barrier of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || Box::new(component()) },
        ClassVariant {
            name: "signal-and-wait",
            flaw: Some(Flaw {
                letter: 'L',
                about: "participants go on together, which is no order of one after the other; barriers are made for that",
                cause: Cause::NotLinearizable,
                matrix: "signal-and-wait | signal-and-wait",
                initial: "",
            }),
            build: || Box::new(component().call("signal-and-wait", Barrier::signal_and_wait)),
        },
    ],
};

struct Barrier {
    state: AtomicU64,
    is_canceled: AtomicBool,
    // How often sleeping threads were woken.
    wake_count: Monitor<u32>,
}

/// The decoded word of the state.
#[derive(Clone, Copy)]
struct State {
    participants: u16,
    arrived: u16,
    phase: u32,
}

impl State {
    fn word(self) -> u64 {
        u64::from(self.phase) << 32 | u64::from(self.arrived) << 16 | u64::from(self.participants)
    }

    fn of(word: u64) -> State {
        State { participants: word as u16, arrived: (word >> 16) as u16, phase: (word >> 32) as u32 }
    }

    /// The same, in the next phase if all have arrived.
    fn settled(self) -> State {
        if 0 < self.participants && self.arrived == self.participants {
            State { arrived: 0, phase: self.phase + 1, ..self }
        } else {
            self
        }
    }
}

/// Why a call is refused.
#[derive(Debug)]
enum Refused {
    /// There is no participant.
    NoParticipant,
    /// The barrier's operation was canceled.
    Canceled,
}

impl Barrier {
    fn new(participants: u16) -> Self {
        let state = State { participants, arrived: 0, phase: 0 };
        Barrier {
            state: AtomicU64::new(state.word()),
            is_canceled: AtomicBool::new(false),
            wake_count: Monitor::new(0),
        }
    }

    fn state(&self) -> State {
        State::of(self.state.load(SeqCst))
    }

    /// Changes the state by compare-and-swap, and returns the old and the new state.
    fn update(&self, change: impl Fn(State) -> Option<State>) -> Result<(State, State), Refused> {
        let mut before = self.state();
        loop {
            let after = change(before).ok_or(Refused::NoParticipant)?.settled();
            match self.state.compare_exchange(before.word(), after.word(), SeqCst, SeqCst) {
                Ok(_) => {
                    if before.phase != after.phase {
                        self.wake();
                    }
                    return Ok((before, after));
                }
                Err(other) => before = State::of(other),
            }
        }
    }

    fn wake(&self) {
        let mut wakings = self.wake_count.enter();
        *wakings += 1;
        self.wake_count.wake_all();
    }

    /// Returns the phase from which on there is one more.
    fn add_participant(&self) -> Result<u32, Refused> {
        let added = |it: State| Some(State { participants: it.participants + 1, ..it });
        self.update(added).map(|(before, _)| before.phase)
    }

    fn remove_participant(&self) -> Result<(), Refused> {
        let removed =
            |it: State| it.participants.checked_sub(1).map(|participants| State { participants, ..it });
        self.update(removed).map(|_| ())
    }

    fn participants_remaining(&self) -> u16 {
        let state = self.state();
        state.participants - state.arrived
    }

    fn participant_count(&self) -> u16 {
        self.state().participants
    }

    fn current_phase_number(&self) -> u32 {
        self.state().phase
    }

    /// No thread waits from now on.
    fn cancel_token(&self) {
        self.is_canceled.store(true, SeqCst);
        self.wake();
    }

    fn signal_and_wait(&self) -> Result<(), Refused> {
        if self.is_canceled.load(SeqCst) {
            return Err(Refused::Canceled);
        }
        let arrived = |it: State| (0 < it.participants).then_some(State { arrived: it.arrived + 1, ..it });
        let (before, _) = self.update(arrived)?;
        if self.state().phase == before.phase {
            thread::yield_now();
        }
        let mut wakings = self.wake_count.enter();
        while self.state().phase == before.phase {
            if self.is_canceled.load(SeqCst) {
                return Err(Refused::Canceled);
            }
            wakings = self.wake_count.wait(wakings);
        }
        Ok(())
    }
}

fn component() -> Component<Barrier> {
    Component::new(|| Barrier::new(2))
        .call("participants-remaining", Barrier::participants_remaining)
        .call("remove-participant", Barrier::remove_participant)
        .call("cancel-token", Barrier::cancel_token)
        .call("current-phase-number", Barrier::current_phase_number)
        .call("participant-count", Barrier::participant_count)
        .call("add-participant", Barrier::add_participant)
}
