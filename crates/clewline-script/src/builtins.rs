//! The functions that every script has.

use std::{cmp::Ordering, sync::Arc};

use crate::{
    builtin::Builtin,
    error::{Fault, fault},
    interpreter::Interpreter,
    operators::unsupported,
    value::{Dict, Range, Sequence, Val},
};

type Named = Vec<(Arc<str>, Val)>;

impl Builtin {
    /// Calls the function.
    pub(crate) fn call(
        self,
        it: &mut Interpreter<'_>,
        arguments: Vec<Val>,
        named: Named,
        at: u32,
    ) -> Result<Val, Fault> {
        let failed = |message| Fault { at, message };
        let takes_named = matches!(self, Builtin::Dict | Builtin::Max | Builtin::Min | Builtin::Sorted);
        if let Some((name, _)) = named.first().filter(|_| !takes_named) {
            return fault(at, format!("`{}` has no parameter `{name}`", self.name()));
        }
        match self {
            Builtin::Max | Builtin::Min => self.extreme(it, arguments, named, at),
            Builtin::Sorted => self.sorted(it, &arguments, named, at),
            Builtin::Dict => make_dict(it, &arguments, named).map_err(failed),
            _ => self.simple(it, &arguments).map_err(failed),
        }
    }

    fn wrong_count(self, found: usize) -> String {
        format!("`{}` does not take {found} arguments", self.name())
    }

    /// Functions without named arguments.
    fn simple(self, it: &mut Interpreter<'_>, arguments: &[Val]) -> Result<Val, String> {
        match (self, arguments) {
            (Builtin::Fail, values) => {
                let texts =
                    values.iter().map(|value| it.text_of(value)).collect::<Result<Vec<_>, String>>()?;
                Err(format!("fail: {}", texts.join(" ")))
            }
            (Builtin::Range, values) => self.range(values),
            (Builtin::Zip, values) => {
                let columns =
                    values.iter().map(|value| it.collect(value)).collect::<Result<Vec<_>, String>>()?;
                let len = columns.iter().map(Vec::len).min().unwrap_or(0);
                let row = |at: usize| Val::tuple(columns.iter().map(|column| column[at].clone()).collect());
                let rows = (0..len).map(row).collect::<Result<_, String>>()?;
                Ok(it.heap.list(rows))
            }
            (Builtin::Enumerate, [value, rest @ ..]) if rest.len() <= 1 => {
                let first = match rest {
                    [] => 0,
                    [Val::Int(first), ..] => *first,
                    [other, ..] => return Err(unsupported("`enumerate`", other)),
                };
                let items = it.collect(value)?.into_iter().enumerate();
                let pair = |(at, item)| Val::tuple(vec![Val::Int(first.wrapping_add(at as i64)), item]);
                let pairs = items.map(pair).collect::<Result<_, String>>()?;
                Ok(it.heap.list(pairs))
            }
            (Builtin::Bool, []) => Ok(Val::Bool(false)),
            (Builtin::Int, []) => Err(self.wrong_count(0)),
            (Builtin::List, []) => Ok(it.heap.list(Vec::new())),
            (Builtin::Tuple, []) => Val::tuple(Vec::new()),
            (_, [value]) => self.of_one(it, value),
            (_, values) => Err(self.wrong_count(values.len())),
        }
    }

    /// Functions of one argument.
    fn of_one(self, it: &mut Interpreter<'_>, value: &Val) -> Result<Val, String> {
        match self {
            Builtin::Abs => match value {
                Val::Int(int) => {
                    int.checked_abs().map(Val::Int).ok_or_else(|| "an integer exceeds 64 bits".to_owned())
                }
                other => Err(unsupported("`abs`", other)),
            },
            Builtin::All | Builtin::Any => {
                let is_any = self == Builtin::Any;
                for item in it.collect(value)? {
                    if it.truth(&item)? == is_any {
                        return Ok(Val::Bool(is_any));
                    }
                }
                Ok(Val::Bool(!is_any))
            }
            Builtin::Bool => it.truth(value).map(Val::Bool),
            Builtin::Int => match value {
                Val::Int(int) => Ok(Val::Int(*int)),
                Val::Bool(truth) => Ok(Val::Int(i64::from(*truth))),
                Val::Text(text) => {
                    let int = text.trim().parse().map(Val::Int);
                    int.map_err(|_| format!("{text:?} is no integer of 64 bits"))
                }
                other => Err(unsupported("`int`", other)),
            },
            Builtin::Len => {
                it.spend(if let Val::Text(text) = value { text.len() / 8 } else { 0 })?;
                let len = match (value, it.heap.sequence(value), it.heap.entries(value)) {
                    (Val::Text(text), ..) => text.chars().count(),
                    (_, Some(Sequence::Items(items)), _) => items.len(),
                    (_, Some(Sequence::Range(range)), _) => range.len,
                    (_, None, Some(dict)) => dict.entries.len(),
                    (other, None, None) => return Err(unsupported("`len`", other)),
                };
                Ok(Val::Int(len as i64))
            }
            Builtin::List => {
                let items = it.collect(value)?;
                Ok(it.heap.list(items))
            }
            Builtin::Tuple => Val::tuple(it.collect(value)?),
            Builtin::Reversed => {
                let mut items = it.collect(value)?;
                items.reverse();
                Ok(it.heap.list(items))
            }
            Builtin::Str => it.text_of(value).map(Val::Text),
            Builtin::Repr | Builtin::Type if matches!(value, Val::Unknown) => {
                Err(unsupported(&format!("`{}`", self.name()), value))
            }
            Builtin::Repr => it.shown(value).map(|it| Val::Text(it.into())),
            Builtin::Type => Ok(Val::text(value.kind())),
            Builtin::Dict
            | Builtin::Enumerate
            | Builtin::Fail
            | Builtin::Max
            | Builtin::Min
            | Builtin::Range
            | Builtin::Sorted
            | Builtin::Zip => Err(self.wrong_count(1)),
        }
    }

    fn range(self, values: &[Val]) -> Result<Val, String> {
        let mut ints = Vec::new();
        for value in values {
            match value {
                Val::Int(int) => ints.push(*int),
                other => return Err(unsupported("`range`", other)),
            }
        }
        let (start, stop, step) = match ints[..] {
            [stop] => (0, stop, 1),
            [start, stop] => (start, stop, 1),
            [start, stop, step] if step != 0 => (start, stop, step),
            [_, _, _] => return Err("the step of a range is 0".to_owned()),
            _ => return Err(self.wrong_count(ints.len())),
        };
        let distance = if 0 < step {
            i128::from(stop) - i128::from(start)
        } else {
            i128::from(start) - i128::from(stop)
        };
        let step_size = i128::from(step).abs();
        let len = if distance <= 0 { 0 } else { (distance + step_size - 1) / step_size };
        let len = usize::try_from(len).map_err(|_| "a range is too long".to_owned())?;
        Ok(Val::Range(Arc::new(Range { start, stop, len, step })))
    }

    /// `max` and `min`.
    fn extreme(
        self,
        it: &mut Interpreter<'_>,
        mut arguments: Vec<Val>,
        named: Named,
        at: u32,
    ) -> Result<Val, Fault> {
        let failed = |message| Fault { at, message };
        let key = self.only_named(named, at)?;
        if let [value] = &arguments[..] {
            arguments = it.collect(value).map_err(failed)?;
        }
        let wanted = if self == Builtin::Max { Ordering::Greater } else { Ordering::Less };
        let mut best: Option<(Val, Val)> = None;
        for item in arguments {
            let measure = measured(it, key.as_ref(), &item, at)?;
            let is_better = match &best {
                None => true,
                Some((_, other)) => it.compare(&measure, other, self.name(), 0).map_err(failed)? == wanted,
            };
            if is_better {
                best = Some((item, measure));
            }
        }
        best.map(|it| it.0).ok_or_else(|| failed(format!("`{}` of nothing", self.name())))
    }

    /// The argument `key`, and no other.
    fn only_named(self, named: Named, at: u32) -> Result<Option<Val>, Fault> {
        let mut key = None;
        for (name, value) in named {
            if &*name != "key" {
                return fault(at, format!("`{}` has no parameter `{name}`", self.name()));
            }
            key = Some(value).filter(|it| !matches!(it, Val::None));
        }
        Ok(key)
    }

    fn sorted(
        self,
        it: &mut Interpreter<'_>,
        arguments: &[Val],
        named: Named,
        at: u32,
    ) -> Result<Val, Fault> {
        let failed = |message| Fault { at, message };
        let [value] = arguments else { return fault(at, self.wrong_count(arguments.len())) };
        let (reverse, key): (Named, Named) = named.into_iter().partition(|it| &*it.0 == "reverse");
        let key = self.only_named(key, at)?;
        let is_reversed = match reverse.first() {
            Some((_, value)) => it.truth(value).map_err(failed)?,
            None => false,
        };
        let mut items = Vec::new();
        for item in it.collect(value).map_err(failed)? {
            items.push((measured(it, key.as_ref(), &item, at)?, item));
        }
        // Equal items keep their order, in reverse as well.
        let wrong = if is_reversed { Ordering::Less } else { Ordering::Greater };
        let sorted = merge_sort(it, items, wrong).map_err(failed)?;
        Ok(it.heap.list(sorted.into_iter().map(|it| it.1).collect()))
    }
}

/// What an item is compared by.
fn measured(it: &mut Interpreter<'_>, key: Option<&Val>, item: &Val, at: u32) -> Result<Val, Fault> {
    match key {
        Some(key) => it.call_value(key, vec![item.clone()], Vec::new(), at),
        None => Ok(item.clone()),
    }
}

/// Sorts `items`, such that no item compares as `wrong` with the next one. A comparison may fail,
/// which the sorts of the standard library do not provide for.
fn merge_sort(
    it: &mut Interpreter<'_>,
    mut items: Vec<(Val, Val)>,
    wrong: Ordering,
) -> Result<Vec<(Val, Val)>, String> {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut one, mut other) = (left.iter().peekable(), right.iter().peekable());
            while let (Some(first), Some(second)) = (one.peek(), other.peek()) {
                let is_wrong = it.compare(&first.0, &second.0, "<", 0)? == wrong;
                merged.extend(if is_wrong { other.next() } else { one.next() }.cloned());
            }
            merged.extend(one.cloned());
            merged.extend(other.cloned());
        }
        it.spend(items.len())?;
        items = merged;
        width *= 2;
    }
    Ok(items)
}

/// `dict(pairs or dict, name = value, …)`.
fn make_dict(it: &mut Interpreter<'_>, arguments: &[Val], named: Named) -> Result<Val, String> {
    let dict = match arguments {
        [] => it.heap.dict(Dict::default()),
        [source] => match it.heap.entries(source).cloned() {
            Some(entries) => {
                it.spend(entries.entries.len())?;
                it.heap.dict(entries)
            }
            None => {
                let dict = it.heap.dict(Dict::default());
                update(it, &dict, source)?;
                dict
            }
        },
        _ => return Err(Builtin::Dict.wrong_count(arguments.len())),
    };
    for (name, value) in named {
        it.insert(&dict, &Val::Text(name), value)?;
    }
    Ok(dict)
}

/// Adds the entries of `source`, a dict or pairs, to a dict on the heap.
pub(crate) fn update(it: &mut Interpreter<'_>, dict: &Val, source: &Val) -> Result<(), String> {
    if let Some(entries) = it.heap.entries(source).cloned() {
        it.spend(entries.entries.len())?;
        return entries.entries.into_iter().try_for_each(|entry| it.insert(dict, &entry.key, entry.value));
    }
    for pair in it.collect(source)? {
        match &it.collect(&pair)?[..] {
            [key, value] => it.insert(dict, key, value.clone())?,
            other => {
                return Err(format!("expected pairs of a key and a value, found {} values", other.len()));
            }
        }
    }
    Ok(())
}
