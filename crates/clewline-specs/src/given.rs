//! Arguments and answers as a file gives them, and what an operation makes of them.

use clewline_core::{Datum, Misfit, Value, Values, Written};

/// A value that a file gives to an operation, or as its answer.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    values: &'a Values,
    method: &'a str,
    role: Role,
    value: Value,
}

#[derive(Clone, Copy)]
enum Role {
    Argument,
    Answer,
}

impl<'a> Given<'a> {
    /// The argument of `method`.
    pub(crate) fn argument(values: &'a Values, method: &'a str, value: Value) -> Self {
        Given { values, method, role: Role::Argument, value }
    }

    /// The answer of `method`.
    pub(crate) fn answer(values: &'a Values, method: &'a str, value: Value) -> Self {
        Given { values, method, role: Role::Answer, value }
    }

    /// Nothing at all; some formats write null for that.
    pub(crate) fn nothing(self) -> Result<(), Misfit> {
        match self.value {
            Value::ABSENT | Value::NIL => Ok(()),
            _ => self.misfit("no argument"),
        }
    }

    /// Any value, null as well.
    pub(crate) fn anything(self) -> Result<Value, Misfit> {
        if self.value.is_absent() { self.misfit("a value") } else { Ok(self.value) }
    }

    /// Any value but null.
    pub(crate) fn element(self) -> Result<Value, Misfit> {
        match self.value {
            Value::ABSENT => self.misfit("a value"),
            Value::NIL => self.misfit("a value other than null, which means that there is none"),
            value => Ok(value),
        }
    }

    /// An integer.
    pub(crate) fn integer(self) -> Result<i64, Misfit> {
        match self.values.get(self.value) {
            Datum::Int(int) => Ok(int),
            _ => self.misfit("an integer of 64 bits"),
        }
    }

    /// An integer, or null.
    pub(crate) fn integer_or_null(self) -> Result<Option<i64>, Misfit> {
        match self.values.get(self.value) {
            Datum::Int(int) => Ok(Some(int)),
            Datum::Nil => Ok(None),
            _ => self.misfit("an integer of 64 bits, or null for none"),
        }
    }

    /// A list of `N` values, which are `expected` in words.
    pub(crate) fn list<const N: usize>(self, expected: &str) -> Result<[Value; N], Misfit> {
        match self.values.get(self.value) {
            Datum::List(items) => items.try_into().or_else(|_| self.misfit(expected)),
            _ => self.misfit(expected),
        }
    }

    /// An error that says what was expected instead.
    pub(crate) fn misfit<T>(self, expected: &str) -> Result<T, Misfit> {
        let Given { values, method, role, value } = self;
        let what = match role {
            Role::Argument => format!("`{method}`"),
            Role::Answer => format!("the answer of `{method}`"),
        };
        Err(Misfit::value(&what, expected, values, value))
    }
}

/// What kind of answer an operation gives.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// None. The normal form is true, and false stands for a refusal that no such operation may give.
    Nothing,
    /// True or false.
    Truth,
    /// A value, or null for none.
    Value,
}

impl Answer {
    /// Reads an answer of `method`, in its normal form.
    pub(crate) fn read(self, values: &Values, method: &str, ret: Value) -> Result<Value, Misfit> {
        let given = Given::answer(values, method, ret);
        match (self, ret) {
            (Answer::Nothing, Value::ABSENT | Value::NIL) => Ok(Value::TRUE),
            (Answer::Nothing | Answer::Truth, Value::TRUE | Value::FALSE) => Ok(ret),
            (Answer::Nothing, _) => given.misfit("nothing, or true"),
            (Answer::Truth, _) => given.misfit("true or false"),
            (Answer::Value, Value::ABSENT) => given.misfit("a value, or null for none"),
            (Answer::Value, _) => Ok(ret),
        }
    }

    /// Writes an answer; `read` undoes it.
    pub(crate) fn write(self, ret: Value) -> Written {
        match (self, ret) {
            (Answer::Nothing, Value::TRUE) => Written::NOTHING,
            (Answer::Nothing | Answer::Truth | Answer::Value, _) => Written::Value(ret),
        }
    }
}
