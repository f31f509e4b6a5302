//! Operations of a specification, each declared once.
//!
//! [`operations!`](crate::operations) makes of one list the type of calls, what is read and written, what errors and
//! `clewline specs` tell, and what is drawn for random histories. [`notation!`](crate::notation) makes the rest of a
//! [`Codec`](clewline_core::Codec) of it, for objects that answer plain values.

use clewline_core::{CodecError, Datum, Encoded, Value, Values};

use crate::parameter::Capacity;

/// An operation, as it is told to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// How a file names it.
    pub name: &'static str,
    /// Other names by which it is known.
    pub aliases: &'static [&'static str],
    /// Its argument: `value`, `[old, new]`; empty if it takes none.
    pub argument: &'static str,
    /// What it does and answers.
    pub about: &'static str,
}

impl Operation {
    /// How it is written: `enq value`.
    #[must_use]
    pub fn written(&self) -> String {
        if self.argument.is_empty() {
            self.name.to_owned()
        } else {
            format!("{} {}", self.name, self.argument)
        }
    }

    /// What it does and answers, and its other names.
    #[must_use]
    pub fn does(&self) -> String {
        match self.aliases {
            [] => self.about.to_owned(),
            aliases => format!("{} (also: {})", self.about, aliases.join(", ")),
        }
    }

    /// The same operations, each of which does something else.
    #[must_use]
    pub const fn doing<const N: usize>(
        operations: [Operation; N],
        abouts: [&'static str; N],
    ) -> [Operation; N] {
        let mut others = operations;
        let mut at = 0;
        while at < N {
            others[at].about = abouts[at];
            at += 1;
        }
        others
    }

    /// That none of `operations` is called `found`.
    #[must_use]
    pub fn unknown(operations: &[Operation], found: &str) -> CodecError {
        let known: Vec<String> = operations.iter().map(|it| format!("`{}`", it.name)).collect();
        CodecError::method(found, &known.join(", "))
    }
}

/// Declares the calls of an object: for each operation its variant, what it is made of, its argument, its names, the
/// kind of [`Answer`](crate::operation::ResultKind) and what it does.
///
/// What a call is made of says what is drawn for it, too, by the method of [`Dice`](clewline_core::CallSampler) of that
/// name: `value`, `old_value`, `int`, `key`. With `key first`, a key is drawn before the operation is. A call made of a `key` and a
/// `text` is never drawn. An argument is an `element` (any value but null), `anything`, an `integer`, or a
/// `list` of as many values as the call is made of.
///
/// ```
/// clewline_specs::operations! {
///     /// A call on a register.
///     enum Call;
///     Read = "read" | "get" => Value, "answers the value";
///     Write(value: anything "value") = "write" => Nothing, "replaces the value";
///     Cas(old_value, value: list "[old, new]") = "cas" => Truth, "replaces old by new; answers whether it did";
/// }
/// assert_eq!(Call::OPERATIONS[2].written(), "cas [old, new]");
/// assert_eq!(Call::Read.name(), "read");
/// ```
#[macro_export]
macro_rules! operations {
    (@type int) => { i64 };
    (@type $source:ident) => { $crate::core::Value };
    (@draw $dice:ident key $source:ident) => { $source };
    (@draw $dice:ident text $source:ident) => { $crate::core::Value::NIL };
    (@draw $dice:ident $method:ident $source:ident) => { $dice.$method() };
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
                = $name:literal $(| $alias:literal)* => $answer:ident, $about:literal;
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
            /// The operations, in the order in which they are told.
            pub const OPERATIONS: [$crate::Operation; [$($name),+].len()] = [$(
                $crate::Operation {
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
            /// If there is no such operation, or it takes another argument.
            pub fn read(
                values: &$crate::core::Values,
                method: &str,
                arg: $crate::core::Value,
            ) -> Result<$call, $crate::core::CodecError> {
                let arg = $crate::operation::Given::argument(values, method, arg);
                match method {
                    $($name $(| $alias)* => $crate::operations!(@read arg $call::$variant $($shape $label $($source)+)?),)+
                    _ => Err($crate::Operation::unknown(&$call::OPERATIONS, method)),
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

            /// What kind of answer it gives.
            #[must_use]
            pub fn answer(&self) -> $crate::operation::ResultKind {
                match self {
                    $($call::$variant { .. } => $crate::operation::ResultKind::$answer,)+
                }
            }

            /// Some call, as `dice` will have it.
            pub fn sample(dice: &mut $crate::core::CallSampler) -> $call {
                $(let $key = dice.key();)?
                let drawn = [$($crate::operations!(@drawn $name $($($source)+)?)),+];
                match dice.one_of(drawn.into_iter().flatten()) {
                    $($name => $call::$variant $(($($crate::operations!(@draw dice $source $source)),+))?,)+
                    _ => unreachable!("one of those that were offered"),
                }
            }
        }
    };
}

/// Implements [`Codec`](clewline_core::Codec) for a specification whose calls are a type `Call` that
/// [`operations!`](crate::operations) made, and whose answers are [`Value`]s: given its name in the catalog, what kind of
/// answer a call gives, and how a call is drawn.
#[macro_export]
macro_rules! notation {
    ($specification:ty, name: $named:expr, answer: $answer:expr, sample: $sample:expr) => {
        impl $specification {
            fn kind_of_answer(&self, call: &Call) -> $crate::operation::ResultKind {
                let kind: fn(&$specification, &Call) -> $crate::operation::ResultKind = $answer;
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
                self.kind_of_answer(call).read(values, call.name(), ret)
            }

            fn write_call(&self, call: &Call) -> (&'static str, $crate::core::Encoded) {
                call.write()
            }

            fn write_return(&self, call: &Call, ret: &$crate::core::Value) -> $crate::core::Encoded {
                self.kind_of_answer(call).write(*ret)
            }

            fn name(&self) -> Option<String> {
                let name: fn(&$specification) -> String = $named;
                Some(name(self))
            }

            fn sample(&self, dice: &mut $crate::core::CallSampler) -> Call {
                let sample: fn(&mut $crate::core::CallSampler) -> Call = $sample;
                sample(dice)
            }
        }
    };
}

/// A value that a file gives to an operation, or as its answer.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    values: &'a Values,
    method: &'a str,
    role: Role,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Role {
    Argument,
    Answer,
}

impl<'a> Given<'a> {
    /// The argument of `method`.
    #[must_use]
    pub fn argument(values: &'a Values, method: &'a str, value: Value) -> Self {
        Given { values, method, role: Role::Argument, value }
    }

    /// The answer of `method`.
    #[must_use]
    pub fn answer(values: &'a Values, method: &'a str, value: Value) -> Self {
        Given { values, method, role: Role::Answer, value }
    }

    /// Nothing at all; some formats write null for that.
    ///
    /// # Errors
    ///
    /// If it is something else.
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
    /// If it is something else.
    pub fn anything(self) -> Result<Value, CodecError> {
        if self.value.is_absent() { self.error("a value") } else { Ok(self.value) }
    }

    /// Any value but null.
    ///
    /// # Errors
    ///
    /// If it is something else.
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
    /// If it is something else.
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
    /// If it is something else.
    pub fn integer_or_null(self) -> Result<Option<i64>, CodecError> {
        match self.values.get(self.value) {
            Datum::Int(int) => Ok(Some(int)),
            Datum::Nil => Ok(None),
            _ => self.error("an integer of 64 bits, or null for none"),
        }
    }

    /// A list of `N` values, which are `expected` in words.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn list<const N: usize>(self, expected: &str) -> Result<[Value; N], CodecError> {
        match self.values.get(self.value) {
            Datum::List(items) => items.try_into().or_else(|_| self.error(expected)),
            _ => self.error(expected),
        }
    }

    /// An error that says what was expected instead.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn error<T>(self, expected: &str) -> Result<T, CodecError> {
        let Given { values, method, role, value } = self;
        let what = match role {
            Role::Argument => format!("`{method}`"),
            Role::Answer => format!("the answer of `{method}`"),
        };
        Err(CodecError::value(&what, expected, values, value))
    }
}

/// What kind of answer an operation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// None. The normal form is true, and false stands for a refusal that no such operation may give.
    Nothing,
    /// True or false.
    Truth,
    /// A value, or null for none.
    Value,
    /// Whether there was room: [`Truth`](Answer::Truth), unless [there always is](Answer::within).
    Room,
    /// An integer.
    Integer,
    /// An integer, or null for none.
    IntegerOrNull,
}

impl ResultKind {
    /// What an operation of a collection answers that has room for so many: nothing where there is always room.
    #[must_use]
    pub fn within(self, capacity: Capacity) -> ResultKind {
        if self == ResultKind::Room && capacity.is_unbounded() { ResultKind::Nothing } else { self }
    }

    /// Reads an answer of `method`, in its normal form.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn read(self, values: &Values, method: &str, ret: Value) -> Result<Value, CodecError> {
        let given = Given::answer(values, method, ret);
        match (self, ret) {
            (ResultKind::Nothing, Value::ABSENT | Value::NIL) => Ok(Value::TRUE),
            (ResultKind::Nothing | ResultKind::Truth | ResultKind::Room, Value::TRUE | Value::FALSE) => {
                Ok(ret)
            }
            (ResultKind::Nothing, _) => given.error("nothing, or true"),
            (ResultKind::Truth | ResultKind::Room, _) => given.error("true or false"),
            (ResultKind::Value, Value::ABSENT) => given.error("a value, or null for none"),
            (ResultKind::Value, _) => Ok(ret),
            (ResultKind::Integer, _) => given.integer().map(|_| ret),
            (ResultKind::IntegerOrNull, _) => given.integer_or_null().map(|_| ret),
        }
    }

    /// Writes an answer; `read` undoes it.
    #[must_use]
    pub fn write(self, ret: Value) -> Encoded {
        match (self, ret) {
            (ResultKind::Nothing, Value::TRUE) => Encoded::NOTHING,
            (_, _) => Encoded::Value(ret),
        }
    }
}
