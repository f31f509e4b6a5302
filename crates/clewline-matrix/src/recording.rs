//! The outcome of an execution as a recording, which any specification can load.

use clewline_core::{
    CodecError, History, Names, ObjectId, ProcessId, RawCall, Recording, ResultId, Timed, Value, Values,
    read_label,
};
use clewline_threads::control::ExecutionOutcome;

use crate::test_program::TestProgram;

/// The outcome as a recording.
///
/// # Errors
///
/// If a call cannot be read.
pub fn recording(
    program: &dyn TestProgram,
    outcome: &ExecutionOutcome<ResultId>,
) -> Result<Recording, CodecError> {
    let mut values = Values::new();
    let mut operations = Vec::new();
    for (at, (operation, (process, label))) in outcome.operations.iter().zip(program.operations()).enumerate()
    {
        let Some(call) = operation.call else { continue };
        let (method, arg) = read_label(label, &mut values)?;
        let method = values.text(method);
        operations.push(Timed {
            process: ProcessId::from_index(*process),
            object: ObjectId(0),
            call: RawCall { method, arg },
            called: 2 * i64::from(call),
            returned: operation.ret.map(|(step, result)| {
                (read_result(&program.show_result(at, result), &mut values), 2 * i64::from(step) + 1)
            }),
        });
    }
    let history = History::from_operations(operations).expect("a task makes one call after the other");
    Ok(Recording::new(history, values, Names::default()))
}

/// A result as a person or `Debug` writes it: `3`, `Some(3)` and `None`, `"x"`, nothing.
fn read_result(text: &str, values: &mut Values) -> Value {
    let text = text.trim();
    match text {
        "" | "()" => return Value::ABSENT,
        "None" => return Value::NIL,
        _ => (),
    }
    if let Some(inside) = text.strip_prefix("Some(").and_then(|it| it.strip_suffix(')')) {
        return read_result(inside, values);
    }
    // Every argument can be a result.
    match read_label(&format!("result({text})"), values) {
        Ok((_, value)) => value,
        Err(_) => values.other(text),
    }
}

#[cfg(test)]
mod tests {
    use clewline_core::Datum;

    use super::*;

    #[test]
    fn results_are_read_as_people_and_debug_write_them() {
        let mut values = Values::new();
        let mut read = |text: &str| {
            let value = read_result(text, &mut values);
            format!("{:?}", values.get(value))
        };
        assert_eq!(read(""), format!("{:?}", Datum::Absent));
        assert_eq!(read("None"), format!("{:?}", Datum::Nil));
        assert_eq!(read("Some(3)"), format!("{:?}", Datum::Int(3)));
        assert_eq!(read("null"), format!("{:?}", Datum::Nil));
        assert_eq!(read("true"), format!("{:?}", Datum::Bool(true)));
        assert_eq!(read("\"a\""), format!("{:?}", Datum::Text("a")));
        assert_eq!(read("Err(Full)"), format!("{:?}", Datum::Other("Err(Full)")));
    }
}
