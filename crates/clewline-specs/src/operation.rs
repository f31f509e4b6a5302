//! Operations of a specification, each declared once.
//!
//! From one list, [`operations!`](crate::operations) generates the type of calls, the code that
//! reads and writes them, the descriptions in errors and `clewline specs`, and the sampling for
//! random histories. [`codec!`](crate::codec) generates the rest of a
//! [`Codec`](clewline_core::Codec), for objects whose results are plain values.

use clewline_core::{CodecError, Datum, Encoded, NotFound, Value, Values};

use crate::parameter::Capacity;

/// The description of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationInfo {
    /// Its name in files.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Its argument: `value`, `[old, new]`; empty if it takes none.
    pub argument: &'static str,
    /// What it does and returns.
    pub about: &'static str,
}

impl OperationInfo {
    /// Its name and argument: `enq value`.
    #[must_use]
    pub fn usage(&self) -> String {
        if self.argument.is_empty() {
            self.name.to_owned()
        } else {
            format!("{} {}", self.name, self.argument)
        }
    }

    /// What it does and returns, and its alternative names.
    #[must_use]
    pub fn description(&self) -> String {
        match self.aliases {
            [] => self.about.to_owned(),
            aliases => format!("{} (also: {})", self.about, aliases.join(", ")),
        }
    }

    /// The same operations with other descriptions.
    #[must_use]
    pub const fn with_descriptions<const N: usize>(
        operations: [OperationInfo; N],
        descriptions: [&'static str; N],
    ) -> [OperationInfo; N] {
        let mut others = operations;
        let mut at = 0;
        while at < N {
            others[at].about = descriptions[at];
            at += 1;
        }
        others
    }

    /// The error that no operation of `operations` is called `found`.
    #[must_use]
    pub fn unknown(operations: &[OperationInfo], found: &str) -> CodecError {
        let names = operations.iter().map(|it| it.name);
        let aliases = operations.iter().flat_map(|it| it.aliases.iter().copied());
        NotFound::new("operation", found, names).with_aliases(aliases).into()
    }

    /// Whether `name` is its name, or an alternative to it.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// Declares the calls of an object: for each operation its variant, its fields, its argument, its
/// names, the [kind of its result](crate::operation::ResultKind) and its description.
///
/// A field also determines what is drawn for it: the method of
/// [`CallSampler`](clewline_core::CallSampler) of that name, `value`, `old_value`, `int` or `key`.
/// With `key first`, a key is drawn before the operation is. A call with the fields `key` and
/// `text` is never drawn. An argument is an `element` (any value but null), `anything`, an
/// `integer`, or a `list` with one value for each field.
///
/// ```
/// clewline_specs::operations! {
///     /// A call on a register.
///     enum Call;
///     Read = "read" | "get" => Value, "returns the value";
///     Write(value: anything "value") = "write" => Nothing, "replaces the value";
///     Cas(old_value, value: list "[old, new]") = "cas" => Truth, "replaces old by new; returns
/// whether it did";
/// }
/// assert_eq!(Call::OPERATIONS[2].usage(), "cas [old, new]");
/// assert_eq!(Call::Read.name(), "read");
/// ```
#[macro_export]
macro_rules! operations {
    (@type int) => { i64 };
    (@type $source:ident) => { $crate::core::Value };
    (@draw $sampler:ident key $source:ident) => { $source };
    (@draw $sampler:ident text $source:ident) => { $crate::core::Value::NIL };
    (@draw $sampler:ident $method:ident $source:ident) => { $sampler.$method() };
    (@drawn $name:literal key text) => { None };
    (@drawn $name:literal $($source:ident)*) => { Some($name) };
    (@read $arg:ident $call:ident::$variant:ident) => { $arg.nothing().map(|()| $call::$variant) };
    (@read $arg:ident $call:ident::$variant:ident list $label:literal $($source:ident)+) => {
        $arg.list($label).map(|[$($source),+]| $call::$variant($($source),+))
    };
    (@read $arg:ident $call:ident::$variant:ident $shape:ident $label:literal $($source:ident)+) => {
        $arg.$shape().map($call::$variant)
    };
    (@write) => { $crate::core::Encoded::NOTHING };
    (@write list $($source:ident)+) => {
        $crate::core::Encoded::List(vec![$($crate::core::Encoded::Value($source)),+])
    };
    (@write integer $source:ident) => { $crate::core::Encoded::Int($source) };
    (@write $shape:ident $source:ident) => { $crate::core::Encoded::Value($source) };
    (
        $(#[$doc:meta])*
        enum $call:ident $(, $key:ident first)?;
        $(
            $variant:ident $(($($source:ident),+: $shape:ident $label:literal))?
                = $name:literal $(| $alias:literal)* => $result:ident, $about:literal;
        )+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $call {
            $(
                #[doc = concat!("`", $name, $(" ", $label,)? "`: ", $about, ".")]
                $variant $(($($crate::operations!(@type $source)),+))?,
            )+
        }

        impl $call {
            /// The operations, in the order of the documentation.
            pub const OPERATIONS: [$crate::OperationInfo; [$($name),+].len()] = [$(
                $crate::OperationInfo {
                    name: $name,
                    aliases: &[$($alias),*],
                    argument: concat!($($label)?),
                    about: $about,
                }
            ),+];

            /// Reads a call; [`write`](Self::write) undoes it.
            ///
            /// # Errors
            ///
            /// If there is no such operation, or it does not take such an argument.
            pub fn read(
                values: &$crate::core::Values,
                method: &str,
                arg: $crate::core::Value,
            ) -> Result<$call, $crate::core::CodecError> {
                let arg = $crate::operation::RawValue::argument(values, method, arg);
                match method {
                    $($name $(| $alias)* => $crate::operations!(@read arg $call::$variant $($shape $label $($source)+)?),)+
                    _ => Err($crate::OperationInfo::unknown(&$call::OPERATIONS, method)),
                }
            }

            /// The name and the argument.
            #[must_use]
            pub fn write(&self) -> (&'static str, $crate::core::Encoded) {
                match *self {
                    $($call::$variant $(($($source),+))? => ($name, $crate::operations!(@write $($shape $($source)+)?)),)+
                }
            }

            /// The name of the operation.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($call::$variant { .. } => $name,)+
                }
            }

            /// The kind of its result.
            #[must_use]
            pub fn result_kind(&self) -> $crate::operation::ResultKind {
                match self {
                    $($call::$variant { .. } => $crate::operation::ResultKind::$result,)+
                }
            }

            /// A random call drawn from `sampler`.
            pub fn sample(sampler: &mut $crate::core::CallSampler) -> $call {
                $(let $key = sampler.key();)?
                let drawn = [$($crate::operations!(@drawn $name $($($source)+)?)),+];
                match sampler.one_of(drawn.into_iter().flatten()) {
                    $($name => $call::$variant $(($($crate::operations!(@draw sampler $source $source)),+))?,)+
                    _ => unreachable!("one of those that were offered"),
                }
            }
        }
    };
}

/// Implements [`Codec`](clewline_core::Codec) for a specification whose calls are a type `Call`
/// generated by [`operations!`](crate::operations), and whose results are [`Value`]s. Takes its
/// name in the catalog (or none), the kind of result of a call, how a call is drawn, the calls that
/// make an [initial state](clewline_core::Codec::initial_calls), and the field with the initial
/// value, if there is one.
#[macro_export]
macro_rules! codec {
    (
        $specification:ty, name: $named:expr, result: $result:expr, sample: $sample:expr
        $(, state: $state:expr)?
        $(, initial: $initial:ident)?
    ) => {
        impl $specification {
            fn result_kind_of(&self, call: &Call) -> $crate::operation::ResultKind {
                let kind: fn(&$specification, &Call) -> $crate::operation::ResultKind = $result;
                kind(self, call)
            }
        }

        impl $crate::core::Codec for $specification {
            fn read_call(
                &self,
                values: &$crate::core::Values,
                method: &str,
                arg: $crate::core::Value,
            ) -> Result<Call, $crate::core::CodecError> {
                Call::read(values, method, arg)
            }

            fn read_return(
                &self,
                values: &$crate::core::Values,
                call: &Call,
                ret: $crate::core::Value,
            ) -> Result<$crate::core::Value, $crate::core::CodecError> {
                self.result_kind_of(call).read(values, call.name(), ret)
            }

            fn write_call(&self, call: &Call) -> (&'static str, $crate::core::Encoded) {
                call.write()
            }

            fn write_return(&self, call: &Call, ret: &$crate::core::Value) -> $crate::core::Encoded {
                self.result_kind_of(call).write(*ret)
            }

            fn name(&self) -> Option<String> {
                let name: fn(&$specification) -> _ = $named;
                Option::from(name(self))
            }

$(
            fn initial_calls(
                &self,
                values: &mut $crate::core::Values,
                initial: $crate::core::Value,
            ) -> Result<Vec<$crate::core::RawCall>, $crate::core::CodecError> {
                let state: fn(
                    &$specification,
                    &mut $crate::core::Values,
                    $crate::core::Value,
                ) -> Result<Vec<$crate::core::RawCall>, $crate::core::CodecError> = $state;
                state(self, values, initial)
            }
            )?

            fn sample(&self, sampler: &mut $crate::core::CallSampler) -> Call {
                let sample: fn(&mut $crate::core::CallSampler) -> Call = $sample;
                sample(sampler)
            }

            $(
                // A text that is read later may be the initial value.
                fn is_stable_under_new_values(&self, values: &$crate::core::Values) -> bool {
                    values.find(self.$initial).is_some()
                }

                fn bind(
                    &mut self,
                    values: &std::sync::Arc<$crate::core::Values>,
                    _missing: $crate::core::Value,
                ) {
                    self.$initial = values.find(self.$initial).unwrap_or(self.$initial);
                }
            )?
        }
    };
}

/// Initial states, as the calls that lead to them.
pub mod initial {
    use clewline_core::{CodecError, Datum, RawCall, Value, Values};

    const WHAT: &str = "the initial state";

    /// The call of `method` with `initial` as its argument.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn value(values: &mut Values, method: &str, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        Ok(vec![RawCall { method: values.text(method), arg: initial }])
    }

    /// A call of `method` for each element of the list `initial`, in its order.
    ///
    /// # Errors
    ///
    /// If it is no list.
    pub fn elements(values: &mut Values, method: &str, initial: Value) -> Result<Vec<RawCall>, CodecError> {
        let Datum::List(items) = values.get(initial) else {
            return Err(CodecError::value(WHAT, "the list of its elements", values, initial));
        };
        let items = items.to_vec();
        let method = values.text(method);
        Ok(items.into_iter().map(|arg| RawCall { method, arg }).collect())
    }

    /// As many calls of `method` without an argument.
    #[must_use]
    pub fn times(values: &mut Values, method: &str, count: usize) -> Vec<RawCall> {
        vec![RawCall { method: values.text(method), arg: Value::ABSENT }; count]
    }

    /// An integer.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn integer(values: &Values, initial: Value) -> Result<i64, CodecError> {
        match values.get(initial) {
            Datum::Int(int) => Ok(int),
            _ => Err(CodecError::value(WHAT, "an integer of 64 bits", values, initial)),
        }
    }

    /// True or false.
    ///
    /// # Errors
    ///
    /// If it is neither.
    pub fn truth(values: &Values, initial: Value) -> Result<bool, CodecError> {
        match initial {
            Value::TRUE | Value::FALSE => Ok(initial == Value::TRUE),
            _ => Err(CodecError::value(WHAT, "true or false", values, initial)),
        }
    }
}

/// An argument or a result of an operation in a file.
#[derive(Clone, Copy, Debug)]
pub struct RawValue<'a> {
    values: &'a Values,
    method: &'a str,
    position: Position,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Position {
    Argument,
    Result,
}

impl<'a> RawValue<'a> {
    /// The argument of `method`.
    #[must_use]
    pub fn argument(values: &'a Values, method: &'a str, value: Value) -> Self {
        RawValue { values, method, position: Position::Argument, value }
    }

    /// The result of `method`.
    #[must_use]
    pub fn result(values: &'a Values, method: &'a str, value: Value) -> Self {
        RawValue { values, method, position: Position::Result, value }
    }

    /// Nothing; some formats write null for that.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn nothing(self) -> Result<(), CodecError> {
        match self.value {
            Value::ABSENT | Value::NIL => Ok(()),
            _ => self.error("no argument"),
        }
    }

    /// Any value, null as well.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn anything(self) -> Result<Value, CodecError> {
        if self.value.is_absent() { self.error("a value") } else { Ok(self.value) }
    }

    /// Any value but null.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn element(self) -> Result<Value, CodecError> {
        match self.value {
            Value::ABSENT => self.error("a value"),
            Value::NIL => self.error("a value other than null, which means that there is none"),
            value => Ok(value),
        }
    }

    /// An integer.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn integer(self) -> Result<i64, CodecError> {
        match self.values.get(self.value) {
            Datum::Int(int) => Ok(int),
            _ => self.error("an integer of 64 bits"),
        }
    }

    /// An integer, or null.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn integer_or_null(self) -> Result<Option<i64>, CodecError> {
        match self.values.get(self.value) {
            Datum::Int(int) => Ok(Some(int)),
            Datum::Nil => Ok(None),
            _ => self.error("an integer of 64 bits, or null for none"),
        }
    }

    /// A list of `N` values; `expected` describes them.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn list<const N: usize>(self, expected: &str) -> Result<[Value; N], CodecError> {
        match self.values.get(self.value) {
            Datum::List(items) => items.try_into().or_else(|_| self.error(expected)),
            _ => self.error(expected),
        }
    }

    /// The error that something else was expected.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn error<T>(self, expected: &str) -> Result<T, CodecError> {
        let RawValue { values, method, position, value } = self;
        let what = match position {
            Position::Argument => format!("`{method}`"),
            Position::Result => format!("the result of `{method}`"),
        };
        Err(CodecError::value(&what, expected, values, value))
    }
}

/// The kind of result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// None. It is normalized to true; false means *refused*, which no such operation may return.
    Nothing,
    /// True or false.
    Truth,
    /// A value, or null for none.
    Value,
    /// Whether there was room: [`Truth`](ResultKind::Truth), except [without a
    /// capacity](ResultKind::within).
    Room,
    /// An integer.
    Integer,
    /// An integer, or null for none.
    IntegerOrNull,
}

impl ResultKind {
    /// The kind of result in a collection with this capacity: [`Room`](ResultKind::Room) is nothing
    /// where there is always room.
    #[must_use]
    pub fn within(self, capacity: Capacity) -> ResultKind {
        if self == ResultKind::Room && capacity.is_unbounded() { ResultKind::Nothing } else { self }
    }

    /// Reads a result of `method` and normalizes it.
    ///
    /// # Errors
    ///
    /// If it is anything else.
    pub fn read(self, values: &Values, method: &str, ret: Value) -> Result<Value, CodecError> {
        let raw = RawValue::result(values, method, ret);
        match (self, ret) {
            (ResultKind::Nothing, Value::ABSENT | Value::NIL) => Ok(Value::TRUE),
            (ResultKind::Nothing | ResultKind::Truth | ResultKind::Room, Value::TRUE | Value::FALSE) => {
                Ok(ret)
            }
            (ResultKind::Nothing, _) => raw.error("nothing, or true"),
            (ResultKind::Truth | ResultKind::Room, _) => raw.error("true or false"),
            (ResultKind::Value, Value::ABSENT) => raw.error("a value, or null for none"),
            (ResultKind::Value, _) => Ok(ret),
            (ResultKind::Integer, _) => raw.integer().map(|_| ret),
            (ResultKind::IntegerOrNull, _) => raw.integer_or_null().map(|_| ret),
        }
    }

    /// The form of a result that specifications know: nothing and null are true if the operation
    /// returns nothing.
    #[inline]
    #[must_use]
    pub fn canonical(self, ret: &Value) -> &Value {
        match (self, *ret) {
            (ResultKind::Nothing, Value::ABSENT | Value::NIL) => &Value::TRUE,
            (_, _) => ret,
        }
    }

    /// Writes a result; `read` undoes it.
    #[must_use]
    pub fn write(self, ret: Value) -> Encoded {
        match (self, ret) {
            (ResultKind::Nothing, Value::TRUE) => Encoded::NOTHING,
            (_, _) => Encoded::Value(ret),
        }
    }
}
