//! Verdicts on histories: each is judged once, by someone from outside.

use std::fmt;

use crate::actors::histories::{Histories, HistoryId};

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
