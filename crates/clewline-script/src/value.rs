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
    fmt,
    hash::{Hash as _, Hasher as _},
    ops::Deref,
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
    Tuple(Arc<Tuple>),
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

/// How much a value holds. What can be changed counts as one value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    depth: u32,
    /// The values in it, each as often as it occurs; 16 bytes of a text count as one.
    pub(crate) size: usize,
}

impl Extent {
    /// That of a value with these parts.
    fn of<'v>(parts: impl IntoIterator<Item = &'v Val>) -> Extent {
        let mut whole = Extent { depth: 0, size: 1 };
        for part in parts.into_iter().map(Val::extent) {
            whole.depth = whole.depth.max(part.depth.saturating_add(1));
            whole.size = whole.size.saturating_add(part.size);
        }
        whole
    }

    fn check(self) -> Result<(), String> {
        if VALUE_DEPTH_MAX < self.depth as usize {
            return Err(format!("a value is nested more than {VALUE_DEPTH_MAX} levels deep"));
        }
        if VALUE_SIZE_MAX < self.size {
            return Err(too_large());
        }
        Ok(())
    }
}

fn too_large() -> String {
    format!("a value holds more than {VALUE_SIZE_MAX} values")
}

/// The items of a tuple.
#[derive(Debug)]
pub(crate) struct Tuple {
    items: Box<[Val]>,
    extent: Extent,
}

impl Tuple {
    pub(crate) fn new(items: Vec<Val>) -> Tuple {
        let extent = Extent::of(&items);
        Tuple { items: items.into(), extent }
    }
}

impl Deref for Tuple {
    type Target = [Val];

    fn deref(&self) -> &[Val] {
        &self.items
    }
}

/// The numbers of `range(start, stop, step)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) start: i64,
    pub(crate) stop: i64,
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
    is_canonical: bool,
    pub(crate) items: Vec<Val>,
    extent: Extent,
}

impl Items {
    /// The items of a list in its canonical form.
    pub(crate) fn canonical(items: Vec<Val>) -> Items {
        let extent = Extent::of(&items);
        Items { is_canonical: true, items, extent }
    }
}

/// A function, with what it has captured.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) function: usize,
    pub(crate) defaults: Vec<Val>,
    pub(crate) cells: Vec<u32>,
    extent: Extent,
}

impl Closure {
    pub(crate) fn new(function: usize, defaults: Vec<Val>, cells: Vec<u32>) -> Result<Closure, String> {
        let extent = Extent::of(&defaults);
        extent.check()?;
        Ok(Closure { function, defaults, cells, extent })
    }
}

/// The entries of a dict, in their order.
///
/// Look-ups compare hashes one after the other: a state is copied where it changes, which takes
/// longer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dict {
    is_canonical: bool,
    pub(crate) entries: Vec<Entry>,
    // Of a frozen one.
    extent: Extent,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    pub(crate) key: Val,
    pub(crate) value: Val,
}

impl Dict {
    /// A dict in its canonical form, without entries.
    pub(crate) const CANONICAL: Dict =
        Dict { is_canonical: true, entries: Vec::new(), extent: Extent { depth: 0, size: 1 } };

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
// Values in a value that is frozen. What is frozen is hashed, compared and measured as a whole.
const VALUE_SIZE_MAX: usize = 1 << 20;

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

    /// `value` in its frozen form. The values that were visited are added to `visited`.
    pub(crate) fn freeze(
        &self,
        value: &Val,
        options: &Freezing<'_>,
        visited: &mut usize,
    ) -> Result<Val, String> {
        let frozen = self.freeze_at(value, options, 0, visited)?;
        frozen.extent().check()?;
        Ok(frozen)
    }

    fn freeze_at(
        &self,
        value: &Val,
        options: &Freezing<'_>,
        depth: usize,
        visited: &mut usize,
    ) -> Result<Val, String> {
        if VALUE_DEPTH_MAX < depth {
            return Err(format!("a value is nested more than {VALUE_DEPTH_MAX} levels deep"));
        }
        *visited += 1;
        if VALUE_SIZE_MAX < *visited {
            return Err(too_large());
        }
        let is_canonical = options.purpose != Purpose::Global;
        let is_compared = options.purpose == Purpose::Comparison;
        match value {
            Val::Unset | Val::Cell(_) => Err("a variable is used before its assignment".to_owned()),
            Val::Unknown if is_compared => Ok(Val::Unknown),
            Val::Unknown => {
                options.unknown.cloned().ok_or_else(|| format!("{UNKNOWN_IN_STATE}{RESULTS_HINT}"))
            }
            Val::None | Val::Bool(_) | Val::Int(_) | Val::Text(_) | Val::Other(_) => Ok(value.clone()),
            Val::Range(range) if options.purpose == Purpose::State => {
                *visited = visited.saturating_add(range.len);
                if VALUE_SIZE_MAX < *visited {
                    return Err(too_large());
                }
                let items = (0..range.len).map(|it| Val::Int(range.get(it))).collect();
                Ok(Val::FrozenList(Arc::new(Items::canonical(items))))
            }
            Val::Range(_) => Ok(value.clone()),
            Val::Tuple(items) => {
                let items = self.freeze_each(items, options, depth, visited)?;
                Ok(Val::Tuple(Arc::new(Tuple::new(items))))
            }
            Val::FrozenList(list) if list.is_canonical || !is_canonical => Ok(value.clone()),
            Val::FrozenDict(dict) if dict.is_canonical || !is_canonical => Ok(value.clone()),
            Val::List(_) | Val::FrozenList(_) => {
                let items = self.items(value).unwrap_or_default();
                let items = self.freeze_each(items, options, depth, visited)?;
                Ok(Val::FrozenList(Arc::new(Items { is_canonical, ..Items::canonical(items) })))
            }
            Val::Dict(_) | Val::FrozenDict(_) => {
                let mut entries = self.entries(value).map(|it| it.entries.clone()).unwrap_or_default();
                for entry in &mut entries {
                    *visited = visited.saturating_add(entry.key.extent().size);
                    entry.value = self.freeze_at(&entry.value, options, depth + 1, visited)?;
                }
                if is_canonical {
                    entries.sort_by(|one, other| one.key.rank(&other.key));
                }
                let extent = Extent::of(entries.iter().flat_map(|it| [&it.key, &it.value]));
                Ok(Val::FrozenDict(Arc::new(Dict { is_canonical, entries, extent })))
            }
            Val::Function(_) | Val::Builtin(_) if options.purpose == Purpose::State => {
                Err("a state holds a function, which cannot be compared".to_owned())
            }
            Val::Function(_) | Val::Builtin(_) if is_compared => Ok(value.clone()),
            Val::Function(closure) if !closure.cells.is_empty() => {
                Err("a global holds a function that uses variables of a comprehension".to_owned())
            }
            Val::Function(closure) => {
                let defaults = self.freeze_each(&closure.defaults, options, depth, visited)?;
                Ok(Val::Function(Arc::new(Closure::new(closure.function, defaults, Vec::new())?)))
            }
            Val::Builtin(_) => Ok(value.clone()),
        }
    }

    fn freeze_each(
        &self,
        items: &[Val],
        options: &Freezing<'_>,
        depth: usize,
        visited: &mut usize,
    ) -> Result<Vec<Val>, String> {
        items.iter().map(|it| self.freeze_at(it, options, depth + 1, visited)).collect()
    }
}

const UNKNOWN_IN_STATE: &str = "the next state holds the result of a pending operation, which is not known";

/// What a value is frozen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A state: canonical, and without functions.
    State,
    /// A global.
    Global,
    /// To compare it with a result: canonical, and ranges, functions and the unknown result remain
    /// what they are.
    Comparison,
}

/// How a value is frozen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freezing<'a> {
    pub(crate) purpose: Purpose,
    /// What the result of the pending operation is, if it was found out.
    pub(crate) unknown: Option<&'a Val>,
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

    /// The name of its type, with an article.
    pub(crate) fn a_kind(&self) -> String {
        let kind = self.kind();
        match self {
            Val::Int(_) => format!("an {kind}"),
            Val::Other(_) => "a value that is only compared".to_owned(),
            _ => format!("a {kind}"),
        }
    }

    pub(crate) fn text(text: &str) -> Val {
        Val::Text(text.into())
    }

    /// A tuple, unless that is too large.
    pub(crate) fn tuple(items: Vec<Val>) -> Result<Val, String> {
        let tuple = Tuple::new(items);
        tuple.extent.check()?;
        Ok(Val::Tuple(Arc::new(tuple)))
    }

    /// How much it holds.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Val::Text(text) | Val::Other(text) => Extent { depth: 0, size: 1 + text.len() / 16 },
            Val::Tuple(tuple) => tuple.extent,
            Val::FrozenList(list) => list.extent,
            Val::FrozenDict(dict) => dict.extent,
            Val::Function(closure) => closure.extent,
            _ => Extent { depth: 0, size: 1 },
        }
    }

    /// Whether a history may hold it, which is frozen: there are neither tuples, ranges nor
    /// functions in one.
    pub(crate) fn may_be_result(&self) -> bool {
        match self {
            Val::None | Val::Bool(_) | Val::Int(_) | Val::Text(_) | Val::Other(_) => true,
            Val::FrozenList(list) => list.items.iter().all(Val::may_be_result),
            Val::FrozenDict(dict) => {
                dict.entries.iter().all(|it| it.key.may_be_result() && it.value.may_be_result())
            }
            _ => false,
        }
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
            (Val::Tuple(one), Val::Tuple(other)) => Arc::ptr_eq(one, other) || one.items == other.items,
            (Val::FrozenList(one), Val::FrozenList(other)) => {
                Arc::ptr_eq(one, other) || one.items == other.items
            }
            (Val::FrozenDict(one), Val::FrozenDict(other)) => {
                if Arc::ptr_eq(one, other) {
                    return true;
                }
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
        write_value(self.heap, None, self.value, f, 0)
    }
}

/// A text that has room for a number of bytes.
pub(crate) struct Limited {
    pub(crate) text: String,
    pub(crate) left: usize,
    /// Whether there was more than it has room for.
    pub(crate) is_full: bool,
}

impl Limited {
    pub(crate) fn new(left: usize) -> Limited {
        Limited { text: String::new(), left, is_full: false }
    }
}

impl fmt::Write for Limited {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        match self.left.checked_sub(part.len()) {
            Some(left) => {
                self.left = left;
                self.text.push_str(part);
                Ok(())
            }
            None => {
                self.is_full = true;
                Err(fmt::Error)
            }
        }
    }
}

/// Writes a value as `repr` does. It is an error if it holds the result of a pending operation,
/// unless that is `known`.
pub(crate) fn write_value(
    heap: Option<&Heap>,
    known: Option<&Val>,
    value: &Val,
    out: &mut dyn fmt::Write,
    depth: usize,
) -> fmt::Result {
    if VALUE_DEPTH_MAX < depth {
        return out.write_str("…");
    }
    let none = Heap::default();
    let own = heap.unwrap_or(&none);
    let each = |items: &[Val], out: &mut dyn fmt::Write| {
        for (place, item) in items.iter().enumerate() {
            out.write_str(if place == 0 { "" } else { ", " })?;
            write_value(heap, known, item, out, depth + 1)?;
        }
        Ok(())
    };
    match value {
        Val::None => out.write_str("None"),
        Val::Bool(truth) => out.write_str(if *truth { "True" } else { "False" }),
        Val::Int(int) => write!(out, "{int}"),
        Val::Text(text) => write_text(text, out),
        Val::Other(text) => out.write_str(text),
        Val::Tuple(items) => {
            out.write_char('(')?;
            each(items, out)?;
            out.write_str(if items.len() == 1 { ",)" } else { ")" })
        }
        Val::Range(it) => {
            write!(out, "range({}, {}", it.start, it.stop)?;
            if it.step == 1 { out.write_char(')') } else { write!(out, ", {})", it.step) }
        }
        Val::List(_) | Val::FrozenList(_) => {
            out.write_char('[')?;
            each(own.items(value).unwrap_or_default(), out)?;
            out.write_char(']')
        }
        Val::Dict(_) | Val::FrozenDict(_) => {
            out.write_char('{')?;
            for (place, entry) in own.entries(value).iter().flat_map(|it| &it.entries).enumerate() {
                out.write_str(if place == 0 { "" } else { ", " })?;
                write_value(heap, known, &entry.key, out, depth + 1)?;
                out.write_str(": ")?;
                write_value(heap, known, &entry.value, out, depth + 1)?;
            }
            out.write_char('}')
        }
        Val::Function(_) => out.write_str("<function>"),
        Val::Builtin(builtin) => write!(out, "<built-in function {}>", builtin.name()),
        Val::Unknown => match known {
            Some(value) => write_value(heap, None, value, out, depth + 1),
            None => Err(fmt::Error),
        },
        Val::Unset | Val::Cell(_) => write!(out, "<{}>", value.kind()),
    }
}

/// Writes a text as a script may contain it.
fn write_text(text: &str, out: &mut dyn fmt::Write) -> fmt::Result {
    out.write_char('"')?;
    for it in text.chars() {
        let is_plain = it == '\'' || it.escape_debug().len() == 1;
        match it {
            '"' | '\\' => write!(out, "\\{it}")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            it if is_plain => out.write_char(it)?,
            it => match u32::from(it) {
                code @ ..0x80 => write!(out, "\\x{code:02x}")?,
                code @ ..0x1_0000 => write!(out, "\\u{code:04x}")?,
                code => write!(out, "\\U{code:08x}")?,
            },
        }
    }
    out.write_char('"')
}
