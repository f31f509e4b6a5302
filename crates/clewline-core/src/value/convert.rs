//! Values from integers, texts and lists, and back.

use std::fmt;

use super::word::{Datum, Value};

impl Value {
    /// The integer, the text or the truth value that this is made of.
    ///
    /// ```
    /// use clewline_core::Value;
    ///
    /// assert_eq!(Value::from(3).get::<u32>(), 3);
    /// assert_eq!(Value::from("x").get::<String>(), "x");
    /// ```
    ///
    /// # Panics
    ///
    /// If it is something else. `T::try_from(value)` and [`as_int`](Self::as_int) do not panic.
    #[track_caller]
    #[must_use]
    pub fn get<T: TryFrom<Value, Error = ValueError>>(self) -> T {
        T::try_from(self).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A value is not of the requested type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueError {
    value: Value,
    expected: &'static str,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a value of type {}, found {:?}", self.expected, self.value)
    }
}

impl std::error::Error for ValueError {}

macro_rules! integers {
    ($($int:ty),+) => {$(
        impl From<$int> for Value {
            /// An integer beyond 64 bits is known by its decimal digits.
            #[inline]
            fn from(int: $int) -> Value {
                match i64::try_from(int).ok() {
                    Some(int) => Value::in_place(int).unwrap_or_else(|| Value::shared(Datum::Int(int))),
                    None => Value::shared(Datum::Other(&int.to_string())),
                }
            }
        }

        impl TryFrom<Value> for $int {
            type Error = ValueError;

            fn try_from(value: Value) -> Result<$int, ValueError> {
                let int = match value.datum() {
                    Some(Datum::Int(int)) => <$int>::try_from(int).ok(),
                    Some(Datum::Other(digits)) => digits.parse().ok(),
                    _ => None,
                };
                int.ok_or(ValueError { value, expected: stringify!($int) })
            }
        }
    )+};
}

integers![i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize];

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::bool(truth)
    }
}

impl TryFrom<Value> for bool {
    type Error = ValueError;

    fn try_from(value: Value) -> Result<bool, ValueError> {
        match value {
            Value::TRUE => Ok(true),
            Value::FALSE => Ok(false),
            _ => Err(ValueError { value, expected: "bool" }),
        }
    }
}

impl From<()> for Value {
    /// The result of an operation that returns nothing: absent.
    fn from((): ()) -> Value {
        Value::ABSENT
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::shared(Datum::Text(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::from(&*text)
    }
}

impl TryFrom<Value> for &'static str {
    type Error = ValueError;

    fn try_from(value: Value) -> Result<&'static str, ValueError> {
        value.as_text().ok_or(ValueError { value, expected: "&str" })
    }
}

impl TryFrom<Value> for String {
    type Error = ValueError;

    fn try_from(value: Value) -> Result<String, ValueError> {
        value.as_text().map(str::to_owned).ok_or(ValueError { value, expected: "String" })
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    /// Null for `None`.
    fn from(option: Option<T>) -> Value {
        option.map_or(Value::NIL, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    /// A list.
    ///
    /// # Panics
    ///
    /// If an item was read from a file: its contents are in the table of a recording, and so must
    /// be the list.
    fn from(items: Vec<T>) -> Value {
        let items: Vec<Value> = items.into_iter().map(Into::into).collect();
        let foreign = items.iter().find(|it| it.datum().is_none());
        assert!(foreign.is_none(), "a list of values of a recording is made by the table of the recording");
        Value::shared(Datum::List(&items))
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    /// A list.
    fn from(items: &[T]) -> Value {
        items.to_vec().into()
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    /// A list.
    fn from(items: [T; N]) -> Value {
        Vec::from(items).into()
    }
}

impl<A: Into<Value>, B: Into<Value>> From<(A, B)> for Value {
    /// A list of two.
    fn from((a, b): (A, B)) -> Value {
        vec![a.into(), b.into()].into()
    }
}

/// Implements `From` for a type that wraps a [`Value`], for all that a value can be made of: the
/// result of a call whose results are not values alone.
#[doc(hidden)]
#[macro_export]
macro_rules! from_all_that_make_values {
    ($type:ty, $wrap:expr) => {
        $crate::from_all_that_make_values! {
            $type, $wrap;
            $crate::Value, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, bool, (), &str,
            String
        }
        impl<T: Into<$crate::Value>> From<Option<T>> for $type {
            fn from(it: Option<T>) -> $type {
                $wrap(it.into())
            }
        }
        impl<T: Into<$crate::Value>> From<Vec<T>> for $type {
            fn from(it: Vec<T>) -> $type {
                $wrap(it.into())
            }
        }
    };
    ($type:ty, $wrap:expr; $($source:ty),+) => {$(
        impl From<$source> for $type {
            fn from(it: $source) -> $type {
                $wrap(it.into())
            }
        }
    )+};
}
