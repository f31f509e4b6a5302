//! Operators, items and slices.

use std::{cmp::Ordering, sync::Arc};

use crate::{
    error::RESULTS_HINT,
    interpreter::Interpreter,
    tree::{Kind, Operator},
    value::{Dict, Limited, Range, Sequence, Val, write_value},
};

const OVERFLOW: &str = "an integer exceeds 64 bits";
// The part of a value that an error shows, in bytes.
const SHOWN_VALUE_BYTES_MAX: usize = 200;

impl Interpreter<'_> {
    /// The value of `-x`, `+x` or `~x`.
    pub(crate) fn unary(&self, kind: &Kind, value: &Val) -> Result<Val, String> {
        let Val::Int(int) = value else {
            return Err(unsupported("this sign", value));
        };
        Ok(Val::Int(match kind {
            Kind::Negative(_) => int.checked_neg().ok_or(OVERFLOW)?,
            Kind::Inverted(_) => !int,
            _ => *int,
        }))
    }

    /// The value of `one operator other`.
    pub(crate) fn binary(&mut self, operator: Operator, one: &Val, other: &Val) -> Result<Val, String> {
        match operator {
            Operator::Equal => self.equal(one, other, 0).map(Val::Bool),
            Operator::Unequal => self.equal(one, other, 0).map(|it| Val::Bool(!it)),
            Operator::In => self.contains(other, one).map(Val::Bool),
            Operator::NotIn => self.contains(other, one).map(|it| Val::Bool(!it)),
            Operator::Less => self.compare(one, other, "<", 0).map(|it| Val::Bool(it.is_lt())),
            Operator::LessOrEqual => self.compare(one, other, "<=", 0).map(|it| Val::Bool(it.is_le())),
            Operator::Greater => self.compare(one, other, ">", 0).map(|it| Val::Bool(it.is_gt())),
            Operator::GreaterOrEqual => self.compare(one, other, ">=", 0).map(|it| Val::Bool(it.is_ge())),
            _ => match (one, other) {
                (Val::Int(one), Val::Int(other)) => arithmetic(operator, *one, *other).map(Val::Int),
                _ => self.combine(operator, one, other),
            },
        }
    }

    /// As [`binary`](Self::binary), for `one operator= other`: a list is extended in place.
    pub(crate) fn augmented(&mut self, operator: Operator, one: &Val, other: &Val) -> Result<Val, String> {
        match (operator, one) {
            (Operator::Add, Val::List(_)) => {
                let items = self.collect(other)?;
                self.list_mut(one)?.extend(items);
                Ok(one.clone())
            }
            (Operator::Or, Val::Dict(_)) => {
                let other = self.heap.entries(other).cloned().ok_or_else(|| unsupported("|=", other))?;
                self.spend(other.entries.len())?;
                self.dict_mut(one)?;
                for entry in other.entries {
                    self.insert(one, &entry.key, entry.value)?;
                }
                Ok(one.clone())
            }
            _ => self.binary(operator, one, other),
        }
    }

    /// Operators on texts, lists, tuples and dicts.
    fn combine(&mut self, operator: Operator, one: &Val, other: &Val) -> Result<Val, String> {
        match (operator, one, other) {
            (Operator::Add, Val::Text(one), Val::Text(other)) => {
                self.spend(one.len() / 8 + other.len() / 8)?;
                Ok(Val::Text(format!("{one}{other}").into()))
            }
            (Operator::Add, Val::Tuple(one), Val::Tuple(other)) => {
                self.spend(one.len() + other.len())?;
                Val::tuple([&***one, &***other].concat())
            }
            (Operator::Add, Val::List(_) | Val::FrozenList(_), Val::List(_) | Val::FrozenList(_)) => {
                let mut items = self.collect(one)?;
                items.extend(self.collect(other)?);
                Ok(self.heap.list(items))
            }
            (
                Operator::Multiply,
                Val::Int(_),
                Val::Text(_) | Val::Tuple(_) | Val::List(_) | Val::FrozenList(_),
            ) => self.combine(operator, other, one),
            (Operator::Multiply, Val::Text(text), Val::Int(count)) => {
                let count = usize::try_from(*count).unwrap_or(0);
                self.spend(text.len().saturating_mul(count))?;
                Ok(Val::Text(text.repeat(count).into()))
            }
            (Operator::Multiply, Val::Tuple(_) | Val::List(_) | Val::FrozenList(_), Val::Int(count)) => {
                let items = self.collect(one)?;
                let count = if items.is_empty() { 0 } else { usize::try_from(*count).unwrap_or(0) };
                self.spend(items.len().saturating_mul(count))?;
                let items: Vec<Val> = std::iter::repeat_n(items, count).flatten().collect();
                if matches!(one, Val::Tuple(_)) { Val::tuple(items) } else { Ok(self.heap.list(items)) }
            }
            (Operator::Modulo, Val::Text(format), _) => self.format_percent(format, other),
            (Operator::Or, Val::Dict(_) | Val::FrozenDict(_), Val::Dict(_) | Val::FrozenDict(_)) => {
                let len = self.heap.entries(one).map_or(0, |it| it.entries.len());
                self.spend(len)?;
                let dict = self.heap.entries(one).cloned().unwrap_or_default();
                let union = self.heap.dict(dict);
                self.augmented(operator, &union, other)
            }
            _ => Err(unsupported_pair(operator.sign(), one, other)),
        }
    }

    /// Whether `value` is in `container`.
    pub(crate) fn contains(&mut self, container: &Val, value: &Val) -> Result<bool, String> {
        if let (Val::Text(text), Val::Text(part)) = (container, value) {
            self.spend(text.len() / 8)?;
            return Ok(text.contains(&**part));
        }
        if self.heap.entries(container).is_some() {
            return Ok(self.find(container, value)?.is_some());
        }
        match (self.heap.sequence(container), value) {
            (Some(Sequence::Range(range)), Val::Int(int)) => Ok(within(range, *int)),
            (Some(_), _) => {
                for item in self.collect(container)? {
                    if self.equal(&item, value, 0)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (None, _) => Err(unsupported_pair("in", value, container)),
        }
    }

    /// The place of `key` in a dict.
    pub(crate) fn find(&mut self, dict: &Val, key: &Val) -> Result<Option<usize>, String> {
        let len = self.heap.entries(dict).map_or(0, |it| it.entries.len());
        self.spend(len / 16)?;
        if !matches!(key, Val::Unknown) {
            let hash = self.key_hash(key)?;
            return Ok(self.heap.entries(dict).and_then(|it| it.find(hash, key)));
        }
        for at in 0..len {
            let Some(other) = self.heap.entries(dict).map(|it| it.entries[at].key.clone()) else { break };
            if self.equal(key, &other, 0)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The order of two values.
    pub(crate) fn compare(
        &mut self,
        one: &Val,
        other: &Val,
        sign: &str,
        depth: usize,
    ) -> Result<Ordering, String> {
        self.spend(1)?;
        match (one, other) {
            (Val::Int(one), Val::Int(other)) => return Ok(one.cmp(other)),
            (Val::Text(one), Val::Text(other)) => {
                self.spend(one.len().min(other.len()) / 8)?;
                return Ok(one.cmp(other));
            }
            (Val::Bool(one), Val::Bool(other)) => return Ok(one.cmp(other)),
            _ => (),
        }
        let is_same_kind = one.kind() == other.kind() && depth <= crate::value::VALUE_DEPTH_MAX;
        let (Some(len), Some(other_len)) = (self.len_of(one), self.len_of(other)) else {
            return Err(unsupported_pair(sign, one, other));
        };
        if !is_same_kind {
            return Err(unsupported_pair(sign, one, other));
        }
        for at in 0..len.min(other_len) {
            let (one, other) = (self.item_at(one, at), self.item_at(other, at));
            if !self.equal(&one, &other, depth + 1)? {
                return self.compare(&one, &other, sign, depth + 1);
            }
        }
        Ok(len.cmp(&other_len))
    }

    /// The value of `object[key]`.
    pub(crate) fn item(&mut self, object: &Val, key: &Val) -> Result<Val, String> {
        if self.heap.entries(object).is_some() {
            let found = self.find(object, key)?;
            let value = found.and_then(|at| self.heap.entries(object).map(|it| it.entries[at].value.clone()));
            return value.ok_or_else(|| format!("the dict has no key {}", self.brief(key)));
        }
        let Val::Int(index) = key else {
            return Err(if self.is_indexed(object) {
                unsupported("an index", key)
            } else {
                unsupported("`[…]`", object)
            });
        };
        let out = |len: usize| format!("the index {index} is outside of {len} items");
        match object {
            Val::Text(text) => {
                self.spend(text.len() / 8)?;
                let count = text.chars().count();
                let at = position(*index, count).ok_or_else(|| out(count))?;
                Ok(Val::Text(text.chars().skip(at).take(1).collect::<String>().into()))
            }
            _ => match self.heap.sequence(object) {
                Some(Sequence::Items(items)) => {
                    let at = position(*index, items.len()).ok_or_else(|| out(items.len()))?;
                    Ok(items[at].clone())
                }
                Some(Sequence::Range(range)) => {
                    let at = position(*index, range.len).ok_or_else(|| out(range.len))?;
                    Ok(Val::Int(range.get(at)))
                }
                None => Err(unsupported("`[…]`", object)),
            },
        }
    }

    fn is_indexed(&self, object: &Val) -> bool {
        matches!(object, Val::Text(_)) || self.heap.sequence(object).is_some()
    }

    /// StatementKind `object[key] = value`.
    pub(crate) fn set_item(&mut self, object: &Val, key: &Val, value: Val) -> Result<(), String> {
        match object {
            Val::Dict(_) | Val::FrozenDict(_) => {
                self.dict_mut(object)?;
                self.insert(object, key, value)
            }
            Val::List(_) | Val::FrozenList(_) => {
                let Val::Int(index) = key else { return Err(unsupported("an index", key)) };
                let items = self.list_mut(object)?;
                let len = items.len();
                let at = position(*index, len)
                    .ok_or_else(|| format!("the index {index} is outside of {len} items"))?;
                items[at] = value;
                Ok(())
            }
            other => Err(unsupported("an assignment to an item", other)),
        }
    }

    /// Adds an entry to a dict on the heap.
    pub(crate) fn insert(&mut self, dict: &Val, key: &Val, value: Val) -> Result<(), String> {
        let hash = self.key_hash(key)?;
        let Val::Dict(at) = dict else { return Err(frozen("dict")) };
        let dict = &mut self.heap.dicts[*at as usize].dict;
        let scanned = dict.entries.len() / 16;
        dict.insert(hash, key.clone(), value);
        self.spend(scanned)
    }

    /// The items of a list that can be changed.
    pub(crate) fn list_mut(&mut self, list: &Val) -> Result<&mut Vec<Val>, String> {
        match list {
            Val::List(at) => {
                let cell = &mut self.heap.lists[*at as usize];
                if cell.loops != 0 { Err(looping("list")) } else { Ok(&mut cell.items) }
            }
            Val::FrozenList(_) => Err(frozen("list")),
            other => Err(unsupported("a change", other)),
        }
    }

    /// A dict that can be changed.
    pub(crate) fn dict_mut(&mut self, dict: &Val) -> Result<&mut Dict, String> {
        match dict {
            Val::Dict(at) => {
                let cell = &mut self.heap.dicts[*at as usize];
                if cell.loops != 0 { Err(looping("dict")) } else { Ok(&mut cell.dict) }
            }
            Val::FrozenDict(_) => Err(frozen("dict")),
            other => Err(unsupported("a change", other)),
        }
    }

    /// The value of `value[start:stop:step]`.
    pub(crate) fn slice(&mut self, value: &Val, bounds: &[Val; 3]) -> Result<Val, String> {
        let number = |it: &Val| match it {
            Val::None => Ok(None),
            Val::Int(int) => Ok(Some(*int)),
            other => Err(unsupported("a bound of a slice", other)),
        };
        let (start, stop) = (number(&bounds[0])?, number(&bounds[1])?);
        let step = number(&bounds[2])?.unwrap_or(1);
        if step == 0 {
            return Err("the step of a slice is 0".to_owned());
        }
        if let Val::Text(text) = value {
            self.spend(text.len())?;
            let characters: Vec<char> = text.chars().collect();
            let places = places(start, stop, step, characters.len());
            return Ok(Val::Text(places.map(|it| characters[it]).collect::<String>().into()));
        }
        if self.heap.sequence(value).is_none() {
            return Err(unsupported("a slice", value));
        }
        let items = self.collect(value)?;
        let chosen: Vec<Val> = places(start, stop, step, items.len()).map(|it| items[it].clone()).collect();
        if matches!(value, Val::Tuple(_)) { Val::tuple(chosen) } else { Ok(self.heap.list(chosen)) }
    }

    /// `value` as `repr` writes it.
    pub(crate) fn shown(&mut self, value: &Val) -> Result<String, String> {
        let room = usize::try_from(self.steps_left).unwrap_or(usize::MAX).saturating_mul(8);
        let mut out = Limited::new(room);
        let written = write_value(Some(&self.heap), self.guess.known.as_ref(), value, &mut out, 0);
        self.spend(if out.is_full { usize::MAX } else { out.text.len() / 8 })?;
        written.map_err(|_| unsupported("a text", &Val::Unknown))?;
        Ok(out.text)
    }

    /// The beginning of `value`, for an error.
    pub(crate) fn brief(&self, value: &Val) -> String {
        let mut out = Limited::new(SHOWN_VALUE_BYTES_MAX);
        match write_value(Some(&self.heap), self.guess.known.as_ref(), value, &mut out, 0) {
            Ok(()) => out.text,
            Err(_) if out.is_full => out.text + "…",
            Err(_) => "the result of a pending operation".to_owned(),
        }
    }

    /// `value` as `str` writes it.
    pub(crate) fn text_of(&mut self, value: &Val) -> Result<Arc<str>, String> {
        match value {
            Val::Text(text) => Ok(Arc::clone(text)),
            Val::Unknown => Err(unsupported("`str`", value)),
            value => self.shown(value).map(Arc::from),
        }
    }

    /// The value of `format % values`.
    fn format_percent(&mut self, format: &str, values: &Val) -> Result<Val, String> {
        let mut values = match values {
            Val::Tuple(items) => items.to_vec(),
            other => vec![other.clone()],
        }
        .into_iter();
        let mut text = String::new();
        let mut characters = format.chars();
        while let Some(next) = characters.next() {
            if next != '%' {
                text.push(next);
                continue;
            }
            let kind = characters.next();
            if kind == Some('%') {
                text.push('%');
                continue;
            }
            let value = values.next().ok_or("the format needs more values")?;
            match (kind, &value) {
                (Some('s'), _) => text.push_str(&self.text_of(&value)?),
                (Some('r'), _) => text.push_str(&self.shown(&value)?),
                (Some('d'), Val::Int(int)) => text.push_str(&int.to_string()),
                (Some('d'), other) => return Err(unsupported("`%d`", other)),
                _ => return Err("expected %s, %r, %d or %% in a format".to_owned()),
            }
            self.spend(text.len() / 8)?;
        }
        if values.next().is_some() {
            return Err("the format needs fewer values".to_owned());
        }
        Ok(Val::Text(text.into()))
    }
}

fn arithmetic(operator: Operator, one: i64, other: i64) -> Result<i64, String> {
    let shift = || u32::try_from(other).map_err(|_| "a shift by a negative number".to_owned());
    let result = match operator {
        Operator::Add => one.checked_add(other),
        Operator::Subtract => one.checked_sub(other),
        Operator::Multiply => one.checked_mul(other),
        Operator::Divide | Operator::Modulo if other == 0 => return Err("a division by 0".to_owned()),
        // Rounds down, and the remainder has the sign of the divisor.
        Operator::Divide => {
            let down = one.checked_rem(other).is_some_and(|it| it != 0) && (one < 0) != (other < 0);
            one.checked_div(other).map(|it| it - i64::from(down))
        }
        Operator::Modulo => {
            let rest = one.checked_rem(other).unwrap_or(0);
            Some(if rest != 0 && (rest < 0) != (other < 0) { rest + other } else { rest })
        }
        Operator::Or => Some(one | other),
        Operator::And => Some(one & other),
        Operator::Xor => Some(one ^ other),
        Operator::Left => {
            let by = shift()?;
            one.checked_shl(by).filter(|it| it >> by == one).or((one == 0).then_some(0))
        }
        Operator::Right => Some(one.checked_shr(shift()?).unwrap_or(if one < 0 { -1 } else { 0 })),
        _ => return Err(unsupported_pair(operator.sign(), &Val::Int(one), &Val::Int(other))),
    };
    result.ok_or_else(|| OVERFLOW.to_owned())
}

fn within(range: &Range, int: i64) -> bool {
    let distance = i128::from(int) - i128::from(range.start);
    let step = i128::from(range.step);
    distance % step == 0 && (0..range.len as i128).contains(&(distance / step))
}

/// The place of an index, which counts from the end if it is negative.
pub(crate) fn position(index: i64, len: usize) -> Option<usize> {
    let at = if index < 0 { index.checked_add(len as i64)? } else { index };
    usize::try_from(at).ok().filter(|it| *it < len)
}

/// The places of a slice.
fn places(start: Option<i64>, stop: Option<i64>, step: i64, len: usize) -> impl Iterator<Item = usize> {
    let len = len as i64;
    let (low, high) = if 0 < step { (0, len) } else { (-1, len - 1) };
    let bound = |it: i64| if it < 0 { it.saturating_add(len).clamp(low, high) } else { it.clamp(low, high) };
    let first = start.map_or(if 0 < step { low } else { high }, bound);
    let last = stop.map_or(if 0 < step { high } else { low }, bound);
    let is_before = move |it: &i64| if 0 < step { *it < last } else { last < *it };
    std::iter::successors(Some(first), move |it| it.checked_add(step))
        .take_while(is_before)
        .map(|it| it as usize)
}

/// The error that `what` does not take such a value.
pub(crate) fn unsupported(what: &str, value: &Val) -> String {
    match value {
        Val::Unknown => {
            format!("{what} needs the result of a pending operation, which is not known{RESULTS_HINT}")
        }
        value => format!("{what} does not take {}", value.a_kind()),
    }
}

fn unsupported_pair(sign: &str, one: &Val, other: &Val) -> String {
    if matches!(one, Val::Unknown) || matches!(other, Val::Unknown) {
        return unsupported(&format!("`{sign}`"), &Val::Unknown);
    }
    format!("`{sign}` does not take {} and {}", one.a_kind(), other.a_kind())
}

fn frozen(what: &str) -> String {
    format!(
        "this {what} is frozen: states, arguments and globals cannot be changed; change a copy, {what}(…)"
    )
}

fn looping(what: &str) -> String {
    format!("this {what} is changed while a loop goes over it")
}
