//! The names of objects in a column.

use std::cmp::Ordering;

use arrow_array::{Array, ArrayRef, cast::AsArray, types};
use arrow_schema::DataType;
use serde_json::Value as Json;

/// The name of an object. Integers come before texts; texts are ordered by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    /// No name.
    Null,
    /// An integer.
    Int(i64),
    /// A text.
    Text(String),
}

impl Name {
    /// The name as reports for programs have it.
    pub(crate) fn json(&self) -> Json {
        match self {
            Name::Null => Json::Null,
            Name::Int(int) => (*int).into(),
            Name::Text(text) => text.as_str().into(),
        }
    }

    /// Whether this name may come after `earlier` in a sorted column. No name comes first or last.
    pub(crate) fn follows(&self, earlier: &Name) -> bool {
        match (earlier, self) {
            (Name::Null, _) | (_, Name::Null) => true,
            (earlier, own) => earlier.cmp(own) == Ordering::Less,
        }
    }
}

/// A column of names.
#[derive(Debug)]
pub(crate) enum Names {
    /// Integers.
    Ints(Vec<Option<i64>>),
    /// Texts, by row, as numbers of their dictionary.
    Texts(ArrayRef),
    /// Keys into texts or integers.
    Dictionary(Vec<Option<usize>>, Box<Names>),
}

impl Names {
    /// The names in `array`.
    ///
    /// # Errors
    ///
    /// If they are neither integers nor texts.
    pub(crate) fn of(array: &ArrayRef) -> Result<Names, String> {
        macro_rules! ints {
            ($kind:ty) => {
                Names::Ints(
                    array.as_primitive::<$kind>().iter().map(|it| it.map(|it| it as i64)).collect::<Vec<_>>(),
                )
            };
        }
        Ok(match array.data_type() {
            DataType::Int8 => ints!(types::Int8Type),
            DataType::Int16 => ints!(types::Int16Type),
            DataType::Int32 => ints!(types::Int32Type),
            DataType::Int64 => ints!(types::Int64Type),
            DataType::UInt8 => ints!(types::UInt8Type),
            DataType::UInt16 => ints!(types::UInt16Type),
            DataType::UInt32 => ints!(types::UInt32Type),
            DataType::UInt64 => {
                let numbers = array.as_primitive::<types::UInt64Type>();
                let number = |it: Option<u64>| it.map(i64::try_from).transpose();
                let numbers: Result<Vec<_>, _> = numbers.iter().map(number).collect();
                Names::Ints(numbers.map_err(|_| "an integer has more than 63 bits".to_owned())?)
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Names::Texts(array.clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let keys = dictionary.normalized_keys();
                let key = |(row, key): (usize, usize)| (!array.is_null(row)).then_some(key);
                let keys = keys.into_iter().enumerate().map(key).collect();
                Names::Dictionary(keys, Box::new(Names::of(dictionary.values())?))
            }
            other => return Err(format!("expected integers or texts, found {other}")),
        })
    }

    fn text(array: &ArrayRef, row: usize) -> Option<&str> {
        if array.is_null(row) {
            return None;
        }
        Some(match array.data_type() {
            DataType::LargeUtf8 => array.as_string::<i64>().value(row),
            DataType::Utf8View => array.as_string_view().value(row),
            _ => array.as_string::<i32>().value(row),
        })
    }

    /// The name in `row`.
    pub(crate) fn get(&self, row: usize) -> Name {
        match self {
            Names::Ints(numbers) => numbers[row].map_or(Name::Null, Name::Int),
            Names::Texts(array) => Names::text(array, row).map_or(Name::Null, |it| Name::Text(it.to_owned())),
            Names::Dictionary(keys, names) => keys[row].map_or(Name::Null, |it| names.get(it)),
        }
    }

    /// Whether the name in `row` is that of the row before.
    pub(crate) fn is_that_before(&self, row: usize) -> bool {
        match self {
            Names::Ints(numbers) => numbers[row] == numbers[row - 1],
            Names::Texts(array) => Names::text(array, row) == Names::text(array, row - 1),
            Names::Dictionary(keys, names) => match (keys[row], keys[row - 1]) {
                (Some(own), Some(other)) => own == other || names.get(own) == names.get(other),
                (own, other) => own == other,
            },
        }
    }
}
