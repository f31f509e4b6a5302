//! Methods of texts, lists and dicts.

use std::sync::Arc;

use crate::{
    builtins::update,
    interpreter::Interpreter,
    method::Method,
    operators::{position, unsupported},
    value::{Dict, Val},
};

impl Method {
    /// Calls the method of `object`.
    pub(crate) fn call(
        self,
        it: &mut Interpreter<'_>,
        object: &Val,
        arguments: Vec<Val>,
        named: Vec<(Arc<str>, Val)>,
    ) -> Result<Val, String> {
        if self == Method::Format
            && let Val::Text(text) = object
        {
            return format(it, text, &arguments, &named);
        }
        if self == Method::Update && matches!(object, Val::Dict(_) | Val::FrozenDict(_)) {
            it.dict_mut(object)?;
            arguments.iter().try_for_each(|source| update(it, object, source))?;
            named.into_iter().try_for_each(|(name, value)| it.insert(object, &Val::Text(name), value))?;
            return Ok(Val::None);
        }
        if let Some((name, _)) = named.first() {
            return Err(format!("`{}` has no parameter `{name}`", self.name()));
        }
        match object {
            Val::Text(text) => self.of_text(it, text, &arguments),
            Val::List(_) | Val::FrozenList(_) => self.of_list(it, object, &arguments),
            Val::Dict(_) | Val::FrozenDict(_) => self.of_dict(it, object, &arguments),
            other => Err(unsupported(&format!("the method `{}`", self.name()), other)),
        }
    }

    fn wrong(self, kind: &str, arguments: &[Val]) -> String {
        let kinds: Vec<&str> = arguments.iter().map(Val::kind).collect();
        format!("a {kind} has no method `{}({})`", self.name(), kinds.join(", "))
    }

    fn of_list(self, it: &mut Interpreter<'_>, list: &Val, arguments: &[Val]) -> Result<Val, String> {
        match (self, arguments) {
            (Method::Append, [value]) => it.list_mut(list)?.push(value.clone()),
            (Method::Clear, []) => it.list_mut(list)?.clear(),
            (Method::Extend, [values]) => {
                let values = it.collect(values)?;
                it.list_mut(list)?.extend(values);
            }
            (Method::Index, [value]) => {
                let found = place(it, list, value)?;
                return Ok(Val::Int(found as i64));
            }
            (Method::Insert, [Val::Int(index), value]) => {
                it.spend(it.len_of(list).unwrap_or(0) / 16)?;
                let items = it.list_mut(list)?;
                let len = items.len() as i64;
                let at = if *index < 0 { index.saturating_add(len) } else { *index };
                items.insert(at.clamp(0, len) as usize, value.clone());
            }
            (Method::Pop, []) => {
                return it.list_mut(list)?.pop().ok_or_else(|| "`pop` from an empty list".to_owned());
            }
            (Method::Pop, [Val::Int(index)]) => {
                it.spend(it.len_of(list).unwrap_or(0) / 16)?;
                let items = it.list_mut(list)?;
                let len = items.len();
                let at = position(*index, len)
                    .ok_or_else(|| format!("the index {index} is outside of {len} items"))?;
                return Ok(items.remove(at));
            }
            (Method::Remove, [value]) => {
                let at = place(it, list, value)?;
                it.list_mut(list)?.remove(at);
            }
            _ => return Err(self.wrong("list", arguments)),
        }
        Ok(Val::None)
    }

    fn of_dict(self, it: &mut Interpreter<'_>, dict: &Val, arguments: &[Val]) -> Result<Val, String> {
        let value_at = |it: &Interpreter<'_>, at: usize| {
            it.heap.entries(dict).map(|dict| dict.entries[at].value.clone())
        };
        match (self, arguments) {
            (Method::Clear, []) => it.dict_mut(dict)?.entries.clear(),
            (Method::Get, [key, rest @ ..]) if rest.len() <= 1 => {
                let found = it.find(dict, key)?;
                let value = found.and_then(|at| value_at(it, at)).or_else(|| rest.first().cloned());
                return Ok(value.unwrap_or(Val::None));
            }
            (Method::Items | Method::Keys | Method::Values, []) => {
                let entries = it.heap.entries(dict).cloned().unwrap_or_default().entries;
                it.spend(entries.len())?;
                let item = |entry: crate::value::Entry| match self {
                    Method::Keys => Ok(entry.key),
                    Method::Values => Ok(entry.value),
                    _ => Val::tuple(vec![entry.key, entry.value]),
                };
                let items = entries.into_iter().map(item).collect::<Result<_, String>>()?;
                return Ok(it.heap.list(items));
            }
            (Method::Pop, [key, rest @ ..]) if rest.len() <= 1 => {
                it.dict_mut(dict)?;
                return match (it.find(dict, key)?, rest.first()) {
                    (Some(at), _) => Ok(it.dict_mut(dict)?.entries.remove(at).value),
                    (None, Some(default)) => Ok(default.clone()),
                    (None, None) => Err(format!("the dict has no key {}", it.brief(key))),
                };
            }
            (Method::PopItem, []) => {
                let Dict { entries, .. } = it.dict_mut(dict)?;
                if entries.is_empty() {
                    return Err("`popitem` from an empty dict".to_owned());
                }
                let (moved, entry) = (entries.len(), entries.remove(0));
                it.spend(moved / 16)?;
                return Val::tuple(vec![entry.key, entry.value]);
            }
            (Method::SetDefault, [key, rest @ ..]) if rest.len() <= 1 => {
                it.dict_mut(dict)?;
                if let Some(at) = it.find(dict, key)? {
                    return Ok(value_at(it, at).unwrap_or(Val::None));
                }
                let value = rest.first().cloned().unwrap_or(Val::None);
                it.insert(dict, key, value.clone())?;
                return Ok(value);
            }
            _ => return Err(self.wrong("dict", arguments)),
        }
        Ok(Val::None)
    }

    fn of_text(self, it: &mut Interpreter<'_>, text: &str, arguments: &[Val]) -> Result<Val, String> {
        it.spend(text.len() / 8)?;
        let truth = |it| Ok(Val::Bool(it));
        let all = |test: fn(char) -> bool| Ok(Val::Bool(!text.is_empty() && text.chars().all(test)));
        match (self, arguments) {
            (Method::IsAlnum, []) => all(char::is_alphanumeric),
            (Method::IsAlpha, []) => all(char::is_alphabetic),
            (Method::IsDigit, []) => all(|it| it.is_ascii_digit()),
            (Method::Lower, []) => Ok(Val::Text(text.to_lowercase().into())),
            (Method::Upper, []) => Ok(Val::Text(text.to_uppercase().into())),
            (Method::Strip, []) => Ok(Val::text(text.trim())),
            (Method::LStrip, []) => Ok(Val::text(text.trim_start())),
            (Method::RStrip, []) => Ok(Val::text(text.trim_end())),
            (Method::Split, []) => {
                it.spend(text.split_whitespace().count())?;
                let parts = text.split_whitespace().map(Val::text).collect();
                Ok(it.heap.list(parts))
            }
            (Method::SplitLines, []) => {
                it.spend(text.lines().count())?;
                let parts = text.lines().map(Val::text).collect();
                Ok(it.heap.list(parts))
            }
            (Method::StartsWith, [Val::Text(part)]) => truth(text.starts_with(&**part)),
            (Method::EndsWith, [Val::Text(part)]) => truth(text.ends_with(&**part)),
            (Method::Join, [values]) => {
                let mut parts = Vec::new();
                for value in it.collect(values)? {
                    match value {
                        Val::Text(part) => {
                            it.spend((part.len() + text.len()) / 8)?;
                            parts.push(part);
                        }
                        other => return Err(unsupported("`join`", &other)),
                    }
                }
                Ok(Val::Text(parts.join(text).into()))
            }
            (_, [Val::Text(part)]) => self.of_text_and_part(it, text, part),
            (Method::Replace, [Val::Text(old), Val::Text(new)]) => {
                let count = text.matches(&**old).count();
                it.spend(count.saturating_mul(new.len()) / 8)?;
                Ok(Val::Text(text.replace(&**old, new).into()))
            }
            _ => Err(self.wrong("string", arguments)),
        }
    }

    /// Methods of a text with another text.
    fn of_text_and_part(self, it: &mut Interpreter<'_>, text: &str, part: &str) -> Result<Val, String> {
        if matches!(self, Method::Strip | Method::LStrip | Method::RStrip) {
            it.spend(text.len().saturating_mul(part.len()) / 8)?;
        }
        let is_any = |it: char| part.contains(it);
        let place = |found: Option<usize>| Val::Int(found.map_or(-1, |at| text[..at].chars().count() as i64));
        let three = |one: &str, other: &str, last: &str| {
            Val::tuple(vec![Val::text(one), Val::text(other), Val::text(last)])
        };
        match self {
            Method::Count => Ok(Val::Int(text.matches(part).count() as i64)),
            Method::Find => Ok(place(text.find(part))),
            Method::RFind => Ok(place(text.rfind(part))),
            Method::Index => match text.find(part) {
                Some(at) => Ok(place(Some(at))),
                None => Err(format!("{part:?} is not in the text")),
            },
            Method::Strip => Ok(Val::text(text.trim_matches(is_any))),
            Method::LStrip => Ok(Val::text(text.trim_start_matches(is_any))),
            Method::RStrip => Ok(Val::text(text.trim_end_matches(is_any))),
            Method::RemovePrefix => Ok(Val::text(text.strip_prefix(part).unwrap_or(text))),
            Method::RemoveSuffix => Ok(Val::text(text.strip_suffix(part).unwrap_or(text))),
            Method::Partition | Method::RPartition | Method::Split if part.is_empty() => {
                Err(format!("`{}` by an empty text", self.name()))
            }
            Method::Partition => match text.split_once(part) {
                Some((before, after)) => three(before, part, after),
                None => three(text, "", ""),
            },
            Method::RPartition => match text.rsplit_once(part) {
                Some((before, after)) => three(before, part, after),
                None => three("", "", text),
            },
            Method::Split => {
                it.spend(text.split(part).count())?;
                let parts: Vec<Val> = text.split(part).map(Val::text).collect();
                Ok(it.heap.list(parts))
            }
            _ => Err(self.wrong("string", &[Val::text(part)])),
        }
    }
}

/// The place of `value` in a list.
fn place(it: &mut Interpreter<'_>, list: &Val, value: &Val) -> Result<usize, String> {
    for (at, item) in it.collect(list)?.iter().enumerate() {
        if it.equal(item, value, 0)? {
            return Ok(at);
        }
    }
    Err(format!("{} is not in the list", it.brief(value)))
}

/// `text.format(…)`: `{}`, `{0}` and `{name}`.
fn format(
    it: &mut Interpreter<'_>,
    text: &str,
    arguments: &[Val],
    named: &[(Arc<str>, Val)],
) -> Result<Val, String> {
    let mut written = String::new();
    let mut rest = text;
    let mut next = 0;
    while let Some(at) = rest.find(['{', '}']) {
        written.push_str(&rest[..at]);
        let sign = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(sign) {
            written.push_str(sign);
            rest = after;
            continue;
        }
        let field = rest.split_once('}').filter(|_| sign == "{");
        let Some((field, after)) = field else { return Err(format!("a `{sign}` in a format is alone")) };
        let value = if field.is_empty() {
            next += 1;
            arguments.get(next - 1)
        } else if let Ok(index) = field.parse::<usize>() {
            arguments.get(index)
        } else {
            named.iter().find(|it| &*it.0 == field).map(|it| &it.1)
        };
        let value = value.ok_or_else(|| format!("the format has no value for `{{{field}}}`"))?;
        written.push_str(&it.text_of(value)?);
        it.spend(written.len() / 8)?;
        rest = after;
    }
    written.push_str(rest);
    Ok(Val::Text(written.into()))
}
