//! Equality and truth, where the result of a pending operation is guessed.

use std::sync::Arc;

use crate::{
    interpreter::{Guess, Interpreter},
    value::{Dict, Freezing, Items, VALUE_DEPTH_MAX, Val},
};

impl Interpreter<'_> {
    /// One of `count` choices about the result of the pending operation.
    fn choose(&mut self, count: usize) -> usize {
        let Guess { path, passed, .. } = &mut self.guess;
        if path.len() == *passed {
            path.push((0, count));
        }
        *passed += 1;
        path[*passed - 1].0
    }

    /// `value`, or the result of the pending operation if that is known by now.
    pub(crate) fn known(&self, value: Val) -> Val {
        match (&value, &self.guess.known) {
            (Val::Unknown, Some(known)) => known.clone(),
            _ => value,
        }
    }

    /// Whether the result of the pending operation, which is unknown, is `value`.
    fn guess_equal(&mut self, value: &Val) -> Result<bool, String> {
        // A result in a history is none of these.
        if matches!(value, Val::Tuple(_) | Val::Range(_) | Val::Function(_) | Val::Builtin(_)) {
            return Ok(false);
        }
        let value = self.heap.freeze(value, &Freezing::STATE)?;
        if self.guess.excluded.contains(&value) {
            return Ok(false);
        }
        let is_equal = self.choose(2) == 0;
        if is_equal {
            self.guess.known = Some(value);
        } else {
            self.guess.excluded.push(value);
        }
        Ok(is_equal)
    }

    /// Whether the result of the pending operation, which is unknown, counts as true.
    fn guess_truth(&mut self) -> Result<bool, String> {
        let empty = Val::FrozenList(Arc::new(Items { is_canonical: true, items: Vec::new() }));
        let empty_dict = Val::FrozenDict(Arc::new(Dict { is_canonical: true, entries: Vec::new() }));
        for value in [Val::None, Val::Bool(false), Val::Int(0), Val::text(""), empty, empty_dict] {
            if self.guess_equal(&value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `value` counts as true.
    pub(crate) fn truth(&mut self, value: &Val) -> Result<bool, String> {
        let value = self.known(value.clone());
        Ok(match &value {
            Val::Unknown => return self.guess_truth(),
            Val::None | Val::Unset | Val::Cell(_) => false,
            Val::Bool(truth) => *truth,
            Val::Int(int) => *int != 0,
            Val::Text(text) => !text.is_empty(),
            Val::Tuple(items) => !items.is_empty(),
            Val::Range(range) => range.len != 0,
            Val::List(_) | Val::FrozenList(_) => self.heap.items(&value).is_some_and(|it| !it.is_empty()),
            Val::Dict(_) | Val::FrozenDict(_) => {
                self.heap.entries(&value).is_some_and(|it| !it.entries.is_empty())
            }
            Val::Other(_) | Val::Function(_) | Val::Builtin(_) => true,
        })
    }

    /// Whether two values are equal.
    pub(crate) fn equal(&mut self, one: &Val, other: &Val, depth: usize) -> Result<bool, String> {
        if VALUE_DEPTH_MAX < depth {
            return Err("values that are compared are nested too deeply".to_owned());
        }
        self.spend(1)?;
        match (one, other) {
            (Val::Unknown, Val::Unknown) => return Ok(true),
            (Val::Unknown, _) | (_, Val::Unknown) => {
                let (one, other) = (self.known(one.clone()), self.known(other.clone()));
                return match (&one, &other) {
                    (Val::Unknown, value) | (value, Val::Unknown) => self.guess_equal(value),
                    (one, other) => self.equal(one, other, depth + 1),
                };
            }
            (Val::Range(one), Val::Range(other)) => {
                let same = |it| one.get(it) == other.get(it);
                return Ok(one.len == other.len
                    && (one.len == 0 || (same(0) && (one.len == 1 || one.step == other.step))));
            }
            (Val::Builtin(one), Val::Builtin(other)) => return Ok(one == other),
            (Val::Function(one), Val::Function(other)) => return Ok(Arc::ptr_eq(one, other)),
            _ => (),
        }
        if one.kind() != other.kind() {
            return Ok(false);
        }
        if let (Some(one), Some(other)) = (self.heap.items(one), self.heap.items(other)) {
            if one.len() != other.len() {
                return Ok(false);
            }
            let (one, other) = (one.to_vec(), other.to_vec());
            for (one, other) in one.iter().zip(&other) {
                if !self.equal(one, other, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let (Some(one), Some(other)) = (self.heap.entries(one), self.heap.entries(other)) {
            if one.entries.len() != other.entries.len() {
                return Ok(false);
            }
            let mut pairs = Vec::with_capacity(one.entries.len());
            for entry in &one.entries {
                let at = entry.key.key_hash().and_then(|hash| other.find(hash, &entry.key));
                let Some(at) = at else { return Ok(false) };
                pairs.push((entry.value.clone(), other.entries[at].value.clone()));
            }
            for (one, other) in pairs {
                if !self.equal(&one, &other, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        Ok(one == other)
    }
}
