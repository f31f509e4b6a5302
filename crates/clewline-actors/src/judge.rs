//! Verdicts on histories: each is judged once, by a [`Judge`].

use std::fmt;

use crate::histories::{Histories, HistoryEvent, HistoryId, HistorySummary};
use clewline_core::VerdictKind;

/// Judges histories. The exploration itself has no specification.
pub trait Judge: Send {
    /// Returns the verdict on `id`. Called once for each history. The histories
    /// [before](Histories::origin) it need not have been judged.
    fn judge(&mut self, histories: &Histories, id: HistoryId) -> VerdictKind;
}

impl<F: FnMut(&Histories, HistoryId) -> VerdictKind + Send> Judge for F {
    fn judge(&mut self, histories: &Histories, id: HistoryId) -> VerdictKind {
        self(histories, id)
    }
}

/// Judges a history incrementally, from the knowledge about its prefix without the last event.
/// Knowledge is interned by the implementation.
pub trait IncrementalJudge: Send {
    /// The knowledge about the empty history.
    fn start(&mut self) -> u32;

    /// The knowledge after one more event; `before` is the history before it.
    fn extend(&mut self, knowledge: u32, before: HistorySummary, event: HistoryEvent) -> u32;

    /// The verdict that follows from knowledge.
    fn judgement(&mut self, knowledge: u32) -> VerdictKind;
}

/// Judges histories event by event. The knowledge about each is kept, so that a history costs one
/// event.
#[derive(Debug)]
pub struct Stepwise<E> {
    extend: E,
    known: Vec<Option<u32>>,
}

impl<E: IncrementalJudge> Stepwise<E> {
    /// An empty cache.
    pub fn new(extend: E) -> Self {
        Stepwise { extend, known: Vec::new() }
    }

    fn knowledge(&mut self, histories: &Histories, id: HistoryId) -> u32 {
        // Starts from the longest known prefix.
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
    fn judge(&mut self, histories: &Histories, id: HistoryId) -> VerdictKind {
        let knowledge = self.knowledge(histories, id);
        self.extend.judgement(knowledge)
    }
}

/// The verdicts on histories found so far.
pub struct Verdicts {
    judge: Box<dyn Judge>,
    known: Vec<Option<VerdictKind>>,
}

impl Verdicts {
    /// No verdicts yet; `judge` will be called.
    #[must_use]
    pub fn new(judge: Box<dyn Judge>) -> Self {
        Verdicts { judge, known: Vec::new() }
    }

    /// The verdict on `id`.
    pub fn of(&mut self, histories: &Histories, id: HistoryId) -> VerdictKind {
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

    /// Forgets all verdicts.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// The verdict on `id`, if it was judged.
    #[must_use]
    pub fn known(&self, id: HistoryId) -> Option<VerdictKind> {
        *self.known.get(id.0 as usize)?
    }

    /// All judged histories with their verdicts, in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = (HistoryId, VerdictKind)> {
        self.known.iter().enumerate().filter_map(|(at, it)| Some((HistoryId(at as u32), (*it)?)))
    }
}

impl fmt::Debug for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verdicts").field("known", &self.known.len()).finish_non_exhaustive()
    }
}
