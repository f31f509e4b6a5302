//! The values of a script.
//!
//! A list or a dict that a call makes lives on the heap of that call, and can be changed. What a
//! call returns, and what globals hold, is frozen: a tree that is shared, and never changed. A
//! frozen value never refers to a heap.
//!
//! A state is frozen in its canonical form, in which dicts are sorted by their keys: two states
//! that are equal cannot be distinguished by the order of their keys.

use std::{
    cmp::Ordering,
    collections::hash_map::DefaultHasher,
    fmt::{self, Write as _},
    hash::{Hash as _, Hasher as _},
    sync::Arc,
};

use crate::{builtin::Builtin, error::RESULTS_HINT};

/// A value of a script.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// No value: a variable before its assignment.
    Unset,
    /// A variable that functions share, by its number on the heap.
    Cell(u32),
    /// The result of a pending operation.
    Unknown,
    None,
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
    /// A value of a history that is only compared, such as a fraction.
    Other(Arc<str>),
    Tuple(Arc<[Val]>),
    Range(Arc<Range>),
    /// A list on the heap.
    List(u32),
    /// A dict on the heap.
    Dict(u32),
    FrozenList(Arc<Items>),
    FrozenDict(Arc<Dict>),
    Function(Arc<Closure>),
    Builtin(Builtin),
}

/// The numbers of `range(start, stop, step)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) start: i64,
    pub(crate) len: usize,
    pub(crate) step: i64,
}

impl Range {
    /// The number at `index`, which is below its length.
    pub(crate) fn get(&self, index: usize) -> i64 {
        self.start.wrapping_add((index as i64).wrapping_mul(self.step))
    }
}

/// The items of a frozen list.
#[derive(Debug)]
pub(crate) struct Items {
    pub(crate) is_canonical: bool,
    pub(crate) items: Vec<Val>,
}

/// A function, with what it has captured.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) function: usize,
    pub(crate) defaults: Vec<Val>,
    pub(crate) cells: Vec<u32>,
}

/// The entries of a dict, in their order.
///
/// Look-ups compare hashes one after the other: a state is copied where it changes, which takes
/// longer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dict {
    pub(crate) is_canonical: bool,
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    hash: u64,
    pub(crate) key: Val,
    pub(crate) value: Val,
}

impl Dict {
    /// The place of `key`, whose hash is `hash`.
    pub(crate) fn find(&self, hash: u64, key: &Val) -> Option<usize> {
        self.entries.iter().position(|it| it.hash == hash && it.key == *key)
    }

    /// Sets the value of `key`.
    pub(crate) fn insert(&mut self, hash: u64, key: Val, value: Val) {
        match self.find(hash, &key) {
            Some(at) => self.entries[at].value = value,
            None => self.entries.push(Entry { hash, key, value }),
        }
    }
}

/// A list on the heap.
#[derive(Debug, Default)]
pub(crate) struct ListCell {
    pub(crate) items: Vec<Val>,
    /// How many loops are going over it.
    pub(crate) loops: u32,
}

/// A dict on the heap.
#[derive(Debug, Default)]
pub(crate) struct DictCell {
    pub(crate) dict: Dict,
    /// How many loops are going over it.
    pub(crate) loops: u32,
}

/// What a call has made and can change. It is dropped after the call.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    pub(crate) lists: Vec<ListCell>,
    pub(crate) dicts: Vec<DictCell>,
    pub(crate) cells: Vec<Val>,
}

// Values inside each other.
pub(crate) const VALUE_DEPTH_MAX: usize = 60;

/// A sequence whose items are read in place.
pub(crate) enum Sequence<'h> {
    Items(&'h [Val]),
    Range(&'h Range),
}

impl Heap {
    pub(crate) fn list(&mut self, items: Vec<Val>) -> Val {
        self.lists.push(ListCell { items, loops: 0 });
        Val::List(self.lists.len() as u32 - 1)
    }

    pub(crate) fn dict(&mut self, dict: Dict) -> Val {
        self.dicts.push(DictCell { dict: Dict { is_canonical: false, ..dict }, loops: 0 });
        Val::Dict(self.dicts.len() as u32 - 1)
    }

    /// The items of a list or a tuple.
    pub(crate) fn items<'h>(&'h self, value: &'h Val) -> Option<&'h [Val]> {
        match value {
            Val::Tuple(items) => Some(items),
            Val::List(at) => Some(&self.lists[*at as usize].items),
            Val::FrozenList(list) => Some(&list.items),
            _ => None,
        }
    }

    /// The items of a list, a tuple or a range.
    pub(crate) fn sequence<'h>(&'h self, value: &'h Val) -> Option<Sequence<'h>> {
        match value {
            Val::Range(range) => Some(Sequence::Range(range)),
            value => self.items(value).map(Sequence::Items),
        }
    }

    /// The entries of a dict.
    pub(crate) fn entries<'h>(&'h self, value: &'h Val) -> Option<&'h Dict> {
        match value {
            Val::Dict(at) => Some(&self.dicts[*at as usize].dict),
            Val::FrozenDict(dict) => Some(dict),
            _ => None,
        }
    }

    /// `value` in its frozen form.
    pub(crate) fn freeze(&self, value: &Val, options: &Freezing<'_>) -> Result<Val, String> {
        self.freeze_at(value, options, 0)
    }

    fn freeze_at(&self, value: &Val, options: &Freezing<'_>, depth: usize) -> Result<Val, String> {
        if VALUE_DEPTH_MAX < depth {
            return Err(format!("a value is nested more than {VALUE_DEPTH_MAX} levels deep"));
        }
        let each = |items: &[Val]| -> Result<Vec<Val>, String> {
            items.iter().map(|it| self.freeze_at(it, options, depth + 1)).collect()
        };
        let is_canonical = options.is_state;
        match value {
            Val::Unset | Val::Cell(_) => Err("a variable is used before its assignment".to_owned()),
            Val::Unknown => {
                options.unknown.cloned().ok_or_else(|| format!("{UNKNOWN_IN_STATE}{RESULTS_HINT}"))
            }
            Val::None | Val::Bool(_) | Val::Int(_) | Val::Text(_) | Val::Other(_) => Ok(value.clone()),
            Val::Range(range) if options.is_state => {
                let items = (0..range.len).map(|it| Val::Int(range.get(it))).collect();
                Ok(Val::FrozenList(Arc::new(Items { is_canonical, items })))
            }
            Val::Range(_) => Ok(value.clone()),
            Val::Tuple(items) => Ok(Val::Tuple(each(items)?.into())),
            Val::FrozenList(list) if list.is_canonical || !is_canonical => Ok(value.clone()),
            Val::FrozenDict(dict) if dict.is_canonical || !is_canonical => Ok(value.clone()),
            Val::List(_) | Val::FrozenList(_) => {
                let items = each(self.items(value).unwrap_or_default())?;
                Ok(Val::FrozenList(Arc::new(Items { is_canonical, items })))
            }
            Val::Dict(_) | Val::FrozenDict(_) => {
                let mut entries = self.entries(value).map(|it| it.entries.clone()).unwrap_or_default();
                for entry in &mut entries {
                    entry.value = self.freeze_at(&entry.value, options, depth + 1)?;
                }
                if is_canonical {
                    entries.sort_by(|one, other| one.key.rank(&other.key));
                }
                Ok(Val::FrozenDict(Arc::new(Dict { is_canonical, entries })))
            }
            Val::Function(_) | Val::Builtin(_) if options.is_state => {
                Err("a state holds a function, which cannot be compared".to_owned())
            }
            Val::Function(closure) if !closure.cells.is_empty() => {
                Err("a global holds a function that uses variables of a comprehension".to_owned())
            }
            Val::Function(closure) => {
                let defaults = each(&closure.defaults)?;
                let (function, cells) = (closure.function, Vec::new());
                Ok(Val::Function(Arc::new(Closure { function, defaults, cells })))
            }
            Val::Builtin(_) => Ok(value.clone()),
        }
    }
}

const UNKNOWN_IN_STATE: &str = "the next state holds the result of a pending operation, which is not known";

/// How a value is frozen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freezing<'a> {
    /// Whether it is a state: canonical, and without functions.
    pub(crate) is_state: bool,
    /// What the result of the pending operation is, if it was found out.
    pub(crate) unknown: Option<&'a Val>,
}

impl Freezing<'_> {
    pub(crate) const STATE: Freezing<'static> = Freezing { is_state: true, unknown: None };
    pub(crate) const GLOBAL: Freezing<'static> = Freezing { is_state: false, unknown: None };
}

impl Val {
    /// The name of its type.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Val::Unset | Val::Cell(_) => "unset",
            Val::Unknown => "result of a pending operation",
            Val::None => "NoneType",
            Val::Bool(_) => "bool",
            Val::Int(_) => "int",
            Val::Text(_) => "string",
            Val::Other(_) => "other",
            Val::Tuple(_) => "tuple",
            Val::Range(_) => "range",
            Val::List(_) | Val::FrozenList(_) => "list",
            Val::Dict(_) | Val::FrozenDict(_) => "dict",
            Val::Function(_) => "function",
            Val::Builtin(_) => "builtin_function_or_method",
        }
    }

    pub(crate) fn text(text: &str) -> Val {
        Val::Text(text.into())
    }

    /// The order in which a canonical dict has its keys: by type, then by value.
    pub(crate) fn rank(&self, other: &Val) -> Ordering {
        let number = |it: &Val| match it {
            Val::None => 0,
            Val::Bool(_) => 1,
            Val::Int(_) => 2,
            Val::Text(_) => 3,
            Val::Other(_) => 4,
            _ => 5,
        };
        match (self, other) {
            (Val::Bool(one), Val::Bool(other)) => one.cmp(other),
            (Val::Int(one), Val::Int(other)) => one.cmp(other),
            (Val::Text(one), Val::Text(other)) | (Val::Other(one), Val::Other(other)) => one.cmp(other),
            (Val::Tuple(one), Val::Tuple(other)) => {
                let unequal = one.iter().zip(other.iter()).map(|(one, other)| one.rank(other));
                unequal.into_iter().find(|it| it.is_ne()).unwrap_or(one.len().cmp(&other.len()))
            }
            _ => number(self).cmp(&number(other)),
        }
    }

    /// The hash of a key; `None` if such a value cannot be a key.
    pub(crate) fn key_hash(&self) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        self.hash_key(&mut hasher, 0).then(|| hasher.finish())
    }

    fn hash_key(&self, hasher: &mut DefaultHasher, depth: usize) -> bool {
        match self {
            Val::Tuple(items) if depth <= VALUE_DEPTH_MAX => {
                hasher.write_usize(items.len());
                items.iter().all(|it| it.hash_key(hasher, depth + 1))
            }
            Val::None | Val::Bool(_) | Val::Int(_) | Val::Text(_) | Val::Other(_) => {
                self.hash_into(hasher);
                true
            }
            _ => false,
        }
    }

    /// Hashes a frozen value, or a key. Equal values have equal hashes.
    pub(crate) fn hash_into(&self, hasher: &mut DefaultHasher) {
        match self {
            Val::None => hasher.write_u8(0),
            Val::Bool(truth) => hasher.write_u8(1 + u8::from(*truth)),
            Val::Int(int) => int.hash(hasher),
            Val::Text(text) => text.hash(hasher),
            Val::Other(text) => text.hash(hasher),
            Val::Tuple(items) => items.iter().for_each(|it| it.hash_into(hasher)),
            Val::FrozenList(list) => list.items.iter().for_each(|it| it.hash_into(hasher)),
            Val::FrozenDict(dict) => dict.entries.iter().for_each(|it| {
                hasher.write_u64(it.hash);
                it.value.hash_into(hasher);
            }),
            _ => (),
        }
    }

    /// About how many bytes a frozen value takes.
    pub(crate) fn bytes(&self) -> usize {
        let each = |items: &[Val]| items.iter().map(Val::bytes).sum::<usize>() + 16;
        size_of::<Val>()
            + match self {
                Val::Text(text) | Val::Other(text) => text.len() + 16,
                Val::Tuple(items) => each(items),
                Val::FrozenList(list) => each(&list.items),
                Val::FrozenDict(dict) => {
                    dict.entries.iter().map(|it| it.key.bytes() + it.value.bytes() + 8).sum::<usize>() + 16
                }
                _ => 0,
            }
    }
}

/// Frozen canonical values, and keys, are equal if their contents are. Nothing else is compared so.
impl PartialEq for Val {
    fn eq(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::None, Val::None) => true,
            (Val::Bool(one), Val::Bool(other)) => one == other,
            (Val::Int(one), Val::Int(other)) => one == other,
            (Val::Text(one), Val::Text(other)) | (Val::Other(one), Val::Other(other)) => one == other,
            (Val::Tuple(one), Val::Tuple(other)) => one == other,
            (Val::FrozenList(one), Val::FrozenList(other)) => {
                Arc::ptr_eq(one, other) || one.items == other.items
            }
            (Val::FrozenDict(one), Val::FrozenDict(other)) => {
                let same = |(one, other): (&Entry, &Entry)| {
                    one.hash == other.hash && one.key == other.key && one.value == other.value
                };
                let (one, other) = (&one.entries, &other.entries);
                one.len() == other.len() && one.iter().zip(other).all(same)
            }
            _ => false,
        }
    }
}

impl Eq for Val {}

/// Writes a value as `repr` does.
pub(crate) struct Shown<'h> {
    pub(crate) heap: Option<&'h Heap>,
    pub(crate) value: &'h Val,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(self.heap, self.value, f, 0)
    }
}

fn write_value(heap: Option<&Heap>, value: &Val, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    if VALUE_DEPTH_MAX < depth {
        return f.write_str("…");
    }
    let none = Heap::default();
    let known = heap.unwrap_or(&none);
    let each = |items: &[Val], f: &mut fmt::Formatter<'_>| {
        for (place, item) in items.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            write_value(heap, item, f, depth + 1)?;
        }
        Ok(())
    };
    match value {
        Val::None => f.write_str("None"),
        Val::Bool(truth) => f.write_str(if *truth { "True" } else { "False" }),
        Val::Int(int) => write!(f, "{int}"),
        Val::Text(text) => write!(f, "{text:?}"),
        Val::Other(text) => f.write_str(text),
        Val::Tuple(items) => {
            f.write_char('(')?;
            each(items, f)?;
            f.write_str(if items.len() == 1 { ",)" } else { ")" })
        }
        Val::Range(it) => {
            write!(f, "range({}, {}", it.start, it.get(it.len))?;
            if it.step == 1 { f.write_char(')') } else { write!(f, ", {})", it.step) }
        }
        Val::List(_) | Val::FrozenList(_) => {
            f.write_char('[')?;
            each(known.items(value).unwrap_or_default(), f)?;
            f.write_char(']')
        }
        Val::Dict(_) | Val::FrozenDict(_) => {
            f.write_char('{')?;
            for (place, entry) in known.entries(value).iter().flat_map(|it| &it.entries).enumerate() {
                f.write_str(if place == 0 { "" } else { ", " })?;
                write_value(heap, &entry.key, f, depth + 1)?;
                f.write_str(": ")?;
                write_value(heap, &entry.value, f, depth + 1)?;
            }
            f.write_char('}')
        }
        Val::Function(_) => f.write_str("<function>"),
        Val::Builtin(builtin) => write!(f, "<built-in function {}>", builtin.name()),
        Val::Unset | Val::Cell(_) | Val::Unknown => write!(f, "<{}>", value.kind()),
    }
}
