//! Verdicts on histories: each is judged once, by someone from outside.

use std::fmt;

use crate::histories::{Histories, HistoryEvent, HistoryId, Summary};

/// What someone says about a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is allowed.
    Holds,
    /// It is not.
    Violated,
    /// Nobody found out.
    Unknown,
}

/// Someone who judges histories. The exploration knows no specification.
pub trait Judge: Send {
    /// Says what `id` is. It is asked once about each. Whatever is [before](Histories::origin) it need not have been asked about.
    fn judge(&mut self, histories: &Histories, id: HistoryId) -> Judgement;
}

impl<F: FnMut(&Histories, HistoryId) -> Judgement + Send> Judge for F {
    fn judge(&mut self, histories: &Histories, id: HistoryId) -> Judgement {
        self(histories, id)
    }
}

/// Someone who judges a history from what they knew of it before its last event. Knowledge has numbers of their own.
pub trait IncrementalJudge: Send {
    /// What is known of the empty history.
    fn start(&mut self) -> u32;

    /// What is known after one more event; `before` is the history before it.
    fn extend(&mut self, knowledge: u32, before: Summary, event: HistoryEvent) -> u32;

    /// What follows from knowledge.
    fn judgement(&mut self, knowledge: u32) -> Judgement;
}

/// Judges histories event by event. What is known of each is kept, so that a history costs one event.
#[derive(Debug)]
pub struct Stepwise<E> {
    extend: E,
    known: Vec<Option<u32>>,
}

impl<E: IncrementalJudge> Stepwise<E> {
    /// Nothing is known yet.
    pub fn new(extend: E) -> Self {
        Stepwise { extend, known: Vec::new() }
    }

    fn knowledge(&mut self, histories: &Histories, id: HistoryId) -> u32 {
        // From the last one of which something is known, forward.
        let (mut at, mut events) = (id, Vec::new());
        let mut knowledge = loop {
            if let Some(&Some(known)) = self.known.get(at.0 as usize) {
                break known;
            }
            match histories.origin(at) {
                Some((before, event)) => {
                    events.push((before, event, at));
                    at = before;
                }
                None => break self.extend.start(),
            }
        };
        for (before, event, after) in events.into_iter().rev() {
            knowledge = self.extend.extend(knowledge, histories.summaries()[before.0 as usize], event);
            let after = after.0 as usize;
            if self.known.len() <= after {
                self.known.resize(after + 1, None);
            }
            self.known[after] = Some(knowledge);
        }
        knowledge
    }
}

impl<E: IncrementalJudge> Judge for Stepwise<E> {
    fn judge(&mut self, histories: &Histories, id: HistoryId) -> Judgement {
        let knowledge = self.knowledge(histories, id);
        self.extend.judgement(knowledge)
    }
}

/// What was said about each history.
pub struct Verdicts {
    judge: Box<dyn Judge>,
    known: Vec<Option<Judgement>>,
}

impl Verdicts {
    /// Nothing is known yet; `judge` will be asked.
    #[must_use]
    pub fn new(judge: Box<dyn Judge>) -> Self {
        Verdicts { judge, known: Vec::new() }
    }

    /// What `id` is.
    pub fn of(&mut self, histories: &Histories, id: HistoryId) -> Judgement {
        let at = id.0 as usize;
        if let Some(&Some(known)) = self.known.get(at) {
            return known;
        }
        let judgement = self.judge.judge(histories, id);
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        self.known[at] = Some(judgement);
        judgement
    }

    /// As if nobody had been asked.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// What was said about `id`, if someone was asked.
    #[must_use]
    pub fn known(&self, id: HistoryId) -> Option<Judgement> {
        *self.known.get(id.0 as usize)?
    }

    /// Every history that was asked about, with what was said, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = (HistoryId, Judgement)> {
        self.known.iter().enumerate().filter_map(|(at, it)| Some((HistoryId(at as u32), (*it)?)))
    }
}

impl fmt::Debug for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verdicts").field("known", &self.known.len()).finish_non_exhaustive()
    }
}
