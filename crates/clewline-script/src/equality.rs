//! Equality and truth, where the result of a pending operation is guessed.

use std::sync::Arc;

use crate::{
    interpreter::{Guess, Interpreter},
    value::{Dict, Entry, Items, Purpose, VALUE_DEPTH_MAX, Val},
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
        let value = self.freeze(value, Purpose::Comparison)?;
        self.spend((value.extent().size + self.guess.excluded.len()) / 8)?;
        if !value.may_be_result() || self.guess.excluded.contains(&value) {
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
        let empty = Val::FrozenList(Arc::new(Items::canonical(Vec::new())));
        let empty_dict = Val::FrozenDict(Arc::new(Dict::CANONICAL));
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
        if let (Some(len), Some(other_len)) = (self.len_of(one), self.len_of(other)) {
            if len != other_len {
                return Ok(false);
            }
            for at in 0..len {
                let (one, other) = (self.item_at(one, at), self.item_at(other, at));
                if !self.equal(&one, &other, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let (Some(len), Some(other_len)) = (self.count_of(one), self.count_of(other)) {
            if len != other_len {
                return Ok(false);
            }
            for at in 0..len {
                let Some((value, other)) = self.pair_at(one, other, at)? else { return Ok(false) };
                if !self.equal(&value, &other, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        self.spend(one.extent().size.min(other.extent().size) / 8)?;
        Ok(one == other)
    }

    /// How many items a list or a tuple has.
    pub(crate) fn len_of(&self, value: &Val) -> Option<usize> {
        self.heap.items(value).map(<[Val]>::len)
    }

    /// The item of a list or a tuple at a place that it has.
    pub(crate) fn item_at(&self, value: &Val, at: usize) -> Val {
        self.heap.items(value).map_or(Val::None, |it| it[at].clone())
    }

    /// How many entries a dict has.
    fn count_of(&self, value: &Val) -> Option<usize> {
        self.heap.entries(value).map(|it| it.entries.len())
    }

    /// The value of an entry of a dict, and that of the same key in a dict of as many entries.
    fn pair_at(&mut self, one: &Val, other: &Val, at: usize) -> Result<Option<(Val, Val)>, String> {
        let (Some(one), Some(other)) = (self.heap.entries(one), self.heap.entries(other)) else {
            return Ok(None);
        };
        let entry = &one.entries[at];
        let is_same = |it: &Entry| it.hash == entry.hash && it.key == entry.key;
        // Most often it has the same place.
        let place = if is_same(&other.entries[at]) { Some(at) } else { other.find(entry.hash, &entry.key) };
        let pair = place.map(|it| (entry.value.clone(), other.entries[it].value.clone()));
        let scanned = place.unwrap_or(other.entries.len()).abs_diff(at);
        self.spend(scanned / 16)?;
        Ok(pair)
    }
}
