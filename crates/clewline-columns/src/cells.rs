//! The cells of a column, as values.

use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, cast::AsArray, types};
use arrow_schema::{DataType, Field, TimeUnit};
use clewline_core::{Value, Values};
use clewline_formats::json_value;

/// What is wrong with a column, and in which row of the batch, if it is not the whole column.
#[derive(Debug)]
pub(crate) struct CellError {
    pub(crate) row: Option<usize>,
    pub(crate) message: String,
}

impl CellError {
    fn column(expected: &str, found: &DataType) -> CellError {
        CellError { row: None, message: format!("expected {expected}, found {found}") }
    }

    fn cell(row: usize, message: impl Into<String>) -> CellError {
        CellError { row: Some(row), message: message.into() }
    }
}

/// Whether the texts of a column are JSON: Arrow's extension type says so.
pub(crate) fn is_json(field: &Field) -> bool {
    field.metadata().get("ARROW:extension:name").is_some_and(|it| it == "arrow.json")
}

/// Whether a column has timestamps.
pub(crate) fn is_timestamps(array: &dyn Array) -> bool {
    matches!(array.data_type(), DataType::Timestamp(..))
}

const TOO_LARGE: &str =
    "expected an integer of 64 bits with a sign (of timestamps: of nanoseconds), found a larger one";

/// What `cell` makes of the integers of a column of integers, or of timestamps in nanoseconds, if
/// it is one; `null` where there is none.
fn integers<C: Copy>(
    array: &dyn Array,
    null: C,
    mut cell: impl FnMut(i64) -> C,
) -> Option<Result<Vec<C>, CellError>> {
    fn each<T: ArrowPrimitiveType, C: Copy>(
        array: &dyn Array,
        null: C,
        cell: &mut impl FnMut(i64) -> C,
        number: impl Fn(T::Native) -> Option<i64>,
    ) -> Result<Vec<C>, CellError> {
        let column = array.as_primitive::<T>();
        let mut cells = Vec::with_capacity(column.len());
        let mut add = |row: usize, found: T::Native| {
            let found = number(found).ok_or_else(|| CellError::cell(row, TOO_LARGE))?;
            Ok(cell(found))
        };
        let numbers = column.values().iter().enumerate();
        match column.nulls().filter(|it| it.null_count() != 0) {
            None => {
                for (row, found) in numbers {
                    cells.push(add(row, *found)?);
                }
            }
            Some(nulls) => {
                for ((row, found), is_there) in numbers.zip(nulls.iter()) {
                    cells.push(if is_there { add(row, *found)? } else { null });
                }
            }
        }
        Ok(cells)
    }
    macro_rules! of {
        ($kind:ty) => {
            each::<$kind, C>(array, null, &mut cell, |it| i64::try_from(it).ok())
        };
        ($kind:ty, $nanoseconds:expr) => {
            each::<$kind, C>(array, null, &mut cell, |it| it.checked_mul($nanoseconds))
        };
    }
    Some(match array.data_type() {
        DataType::Int8 => of!(types::Int8Type),
        DataType::Int16 => of!(types::Int16Type),
        DataType::Int32 => of!(types::Int32Type),
        DataType::Int64 => of!(types::Int64Type),
        DataType::UInt8 => of!(types::UInt8Type),
        DataType::UInt16 => of!(types::UInt16Type),
        DataType::UInt32 => of!(types::UInt32Type),
        DataType::UInt64 => of!(types::UInt64Type),
        DataType::Timestamp(TimeUnit::Second, _) => of!(types::TimestampSecondType, 1_000_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of!(types::TimestampMillisecondType, 1_000_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of!(types::TimestampMicrosecondType, 1_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of!(types::TimestampNanosecondType),
        _ => return None,
    })
}

/// The times of a column; none where it is null.
pub(crate) fn times(array: &dyn Array) -> Result<Vec<Option<i64>>, CellError> {
    let expected = "integers or timestamps";
    integers(array, None, Some).unwrap_or_else(|| Err(CellError::column(expected, array.data_type())))
}

/// The values of each text of a column, if it is one of texts.
fn texts(
    array: &dyn Array,
    mut value: impl FnMut(usize, &str) -> Result<Value, CellError>,
) -> Option<Result<Vec<Value>, CellError>> {
    fn all<'a>(
        texts: impl Iterator<Item = Option<&'a str>>,
        value: &mut impl FnMut(usize, &str) -> Result<Value, CellError>,
    ) -> Result<Vec<Value>, CellError> {
        let one = |(row, text): (usize, Option<&str>)| text.map_or(Ok(Value::ABSENT), |it| value(row, it));
        texts.enumerate().map(one).collect()
    }
    Some(match array.data_type() {
        DataType::Utf8 => all(array.as_string::<i32>().iter(), &mut value),
        DataType::LargeUtf8 => all(array.as_string::<i64>().iter(), &mut value),
        DataType::Utf8View => all(array.as_string_view().iter(), &mut value),
        _ => return None,
    })
}

/// The number, if the text is one of 1 to 18 digits, as JSON has them: no zero before others.
fn small_number(text: &str) -> Option<i64> {
    let digits = text.as_bytes();
    if !(1..=18).contains(&digits.len()) || digits[0] == b'0' && digits.len() != 1 {
        return None;
    }
    digits.iter().try_fold(0, |number, it| it.is_ascii_digit().then(|| number * 10 + i64::from(it - b'0')))
}

/// The names in a column: integers or texts; absent where it is null.
pub(crate) fn names(array: &dyn Array, values: &mut Values) -> Result<Vec<Value>, CellError> {
    typed(array, values, false)?.ok_or_else(|| CellError::column("integers or texts", array.data_type()))
}

/// The texts in a column; absent where it is null.
pub(crate) fn words(array: &dyn Array, values: &mut Values) -> Result<Vec<Value>, CellError> {
    let is_text = match array.data_type() {
        DataType::Dictionary(_, values) => !values.is_integer(),
        other => !other.is_integer() && !other.is_temporal(),
    };
    let found = if is_text { typed(array, values, false)? } else { None };
    found.ok_or_else(|| CellError::column("texts", array.data_type()))
}

/// The arguments or results in a column; absent where it is null.
pub(crate) fn data(array: &dyn Array, values: &mut Values, is_json: bool) -> Result<Vec<Value>, CellError> {
    match array.data_type() {
        DataType::Null => return Ok(vec![Value::ABSENT; array.len()]),
        DataType::Boolean => {
            let one = |it: Option<bool>| it.map_or(Value::ABSENT, Value::bool);
            return Ok(array.as_boolean().iter().map(one).collect());
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let ends = list.value_offsets().iter().map(|it| *it as usize).collect();
            return lists(array, list.values(), ends, values);
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let ends = list.value_offsets().iter().map(|it| *it as usize).collect();
            return lists(array, list.values(), ends, values);
        }
        DataType::Timestamp(..) => (),
        _ => {
            if let Some(found) = typed(array, values, is_json)? {
                return Ok(found);
            }
        }
    }
    let expected = "booleans, integers, texts, lists of these, or texts of the logical type JSON";
    Err(CellError::column(expected, array.data_type()))
}

fn lists(
    array: &dyn Array,
    items: &ArrayRef,
    ends: Vec<usize>,
    values: &mut Values,
) -> Result<Vec<Value>, CellError> {
    let items = data(items, values, false).map_err(|it| CellError { row: None, ..it })?;
    let null = |it: &Value| if it.is_absent() { Value::NIL } else { *it };
    let mut list = |row: usize| {
        if array.is_null(row) {
            return Value::ABSENT;
        }
        let items: Vec<Value> = items[ends[row]..ends[row + 1]].iter().map(null).collect();
        values.list(&items)
    };
    Ok((0..array.len()).map(&mut list).collect())
}

/// Integers and texts; `None` if the column has others.
fn typed(array: &dyn Array, values: &mut Values, is_json: bool) -> Result<Option<Vec<Value>>, CellError> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let Some(entries) =
            typed(dictionary.values(), values, is_json).map_err(|it| CellError { row: None, ..it })?
        else {
            return Ok(None);
        };
        let keys = if entries.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
        if array.null_count() == 0 {
            return Ok(Some(keys.into_iter().map(|it| entries[it]).collect()));
        }
        let cell = |row: usize| if array.is_null(row) { Value::ABSENT } else { entries[keys[row]] };
        return Ok(Some((0..array.len()).map(cell).collect()));
    }
    if let Some(cells) = integers(array, Value::ABSENT, |it| values.int(it)) {
        return cells.map(Some);
    }
    let parsed = |row: usize, text: &str| {
        if !is_json {
            return Ok(values.text(text));
        }
        // Most results are small numbers, or nothing.
        if let Some(small) = small_number(text) {
            return Ok(values.int(small));
        }
        if text == "null" {
            return Ok(Value::NIL);
        }
        json_value(text, values).map_err(|it| CellError::cell(row, format!("expected JSON: {it}")))
    };
    texts(array, parsed).transpose()
}
