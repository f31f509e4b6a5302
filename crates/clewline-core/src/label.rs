//! Calls in the notation of the command line: `push(1)`, `pop`, `cas(1, 2)`, `append("x", "y")`.

use crate::{
    codec::CodecError,
    value::{Value, Values},
};

/// Splits a call into its method and its argument: nothing, a value, or a list of several.
///
/// # Errors
///
/// If it is not in the notation of a call.
pub fn read_label<'a>(label: &'a str, values: &mut Values) -> Result<(&'a str, Value), CodecError> {
    let label = label.trim();
    let (method, arguments) = match label.split_once('(') {
        None => (label, ""),
        Some((method, rest)) => {
            let inside = rest.strip_suffix(')');
            (method, inside.ok_or_else(|| CodecError(format!("`{label}` lacks a closing bracket")))?)
        }
    };
    let is_name = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
    if method.is_empty() || !method.chars().all(is_name) {
        return Err(CodecError(format!("`{label}` does not begin with the name of a method")));
    }
    let mut items = Vec::new();
    for item in split(arguments) {
        items.push(value(item, values).ok_or_else(|| {
            CodecError(format!("`{item}` in `{label}` is no integer, `true`, `false`, `null` or \"text\""))
        })?);
    }
    let argument = match items[..] {
        [] => Value::ABSENT,
        [only] => only,
        _ => values.list(&items),
    };
    Ok((method, argument))
}

/// The parts between commas outside of texts; none if `arguments` is blank.
fn split(arguments: &str) -> Vec<&str> {
    let (mut parts, mut start, mut in_text) = (Vec::new(), 0, false);
    for (at, it) in arguments.char_indices() {
        match it {
            '"' => in_text = !in_text,
            ',' if !in_text => {
                parts.push(arguments[start..at].trim());
                start = at + 1;
            }
            _ => (),
        }
    }
    if !arguments.trim().is_empty() {
        parts.push(arguments[start..].trim());
    }
    parts
}

fn value(item: &str, values: &mut Values) -> Option<Value> {
    match item {
        "true" => return Some(Value::TRUE),
        "false" => return Some(Value::FALSE),
        "null" | "nil" => return Some(Value::NIL),
        _ => (),
    }
    if let Ok(int) = item.parse() {
        return Some(values.int(int));
    }
    let text = item.strip_prefix('"')?.strip_suffix('"')?;
    Some(values.text(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Datum;

    #[test]
    fn calls_are_read_as_they_are_written() {
        let mut values = Values::new();
        let one = values.int(1);
        let x = values.text("x, y");
        let both = values.list(&[one, x]);
        assert_eq!(read_label(" pop ", &mut values), Ok(("pop", Value::ABSENT)));
        assert_eq!(read_label("pop()", &mut values), Ok(("pop", Value::ABSENT)));
        assert_eq!(read_label("push(1)", &mut values), Ok(("push", one)));
        assert_eq!(read_label("put(1, \"x, y\")", &mut values), Ok(("put", both)));
        assert_eq!(read_label("set(null)", &mut values), Ok(("set", Value::NIL)));
        let (_, minus) = read_label("add(-3)", &mut values).unwrap();
        assert_eq!(values.get(minus), Datum::Int(-3));
    }

    #[test]
    fn invalid_calls_are_rejected() {
        let mut values = Values::new();
        for invalid in ["", "(1)", "push(1", "push(1,)", "push(x)", "a b", "push(\"x)"] {
            assert!(read_label(invalid, &mut values).is_err(), "{invalid}");
        }
    }
}
