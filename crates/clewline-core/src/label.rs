//! Calls in the notation of the command line: `push(1)`, `pop`, `cas(1, 2)`, `append("x", "y")`.

use crate::{
    codec::{CodecError, Encoded},
    value::{Datum, Value, Values},
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
            CodecError(format!(
                "`{item}` in `{label}` is no integer, `true`, `false`, `null`, \"text\" or list"
            ))
        })?);
    }
    let argument = match items[..] {
        [] => Value::ABSENT,
        [only] => only,
        _ => values.list(&items),
    };
    Ok((method, argument))
}

/// The call of `method` with `argument`: [`read_label`] reads it again. A list of several is the
/// arguments of a method with several.
#[must_use]
pub fn write_label(method: &str, argument: &Encoded, values: &Values) -> String {
    let listed: Vec<String> = match argument {
        Encoded::List(items) => items.iter().map(|it| it.show(values)).collect(),
        Encoded::Value(value) => match values.get(*value) {
            Datum::List(items) => items.iter().map(|it| values.show(*it).to_string()).collect(),
            _ => Vec::new(),
        },
        Encoded::Int(_) | Encoded::Text(_) | Encoded::Other(_) => Vec::new(),
    };
    let arguments = if 1 < listed.len() { listed.join(", ") } else { argument.show(values) };
    format!("{method}({arguments})")
}

/// The parts between commas outside of texts and lists; none if `arguments` is blank.
fn split(arguments: &str) -> Vec<&str> {
    let (mut parts, mut start, mut in_text, mut is_escaped, mut depth) = (Vec::new(), 0, false, false, 0);
    for (at, it) in arguments.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match it {
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            '[' if !in_text => depth += 1,
            ']' if !in_text => depth -= 1,
            ',' if !in_text && depth == 0 => {
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
    if let Some(items) = item.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        let items = split(items).into_iter().map(|it| value(it, values)).collect::<Option<Vec<Value>>>()?;
        return Some(values.list(&items));
    }
    let text = item.strip_prefix('"')?.strip_suffix('"')?;
    Some(values.text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn lists_are_values() {
        let mut values = Values::new();
        let (one, two) = (values.int(1), values.int(2));
        let both = values.list(&[one, two]);
        let (alone, nested) = (values.list(&[one]), values.list(&[both, one]));
        // Several arguments are a list as well.
        for (label, value) in [
            ("write(1, 2)", both),
            ("write([1, 2])", both),
            ("write([1])", alone),
            ("write([1, 2], 1)", nested),
            ("write([[1, 2], 1])", nested),
        ] {
            assert_eq!(read_label(label, &mut values), Ok(("write", value)), "{label}");
            let written = write_label("write", &Encoded::Value(value), &values);
            assert_eq!(read_label(&written, &mut values), Ok(("write", value)), "{written}");
        }
        let alone = Encoded::List(vec![Encoded::Text("a, \", b".into())]);
        assert_eq!(write_label("write", &alone, &values), "write([\"a, \\\", b\"])");
        let two = Encoded::List(vec![Encoded::Int(1), alone]);
        assert_eq!(write_label("write", &two, &values), "write(1, [\"a, \\\", b\"])");
    }

    #[test]
    fn invalid_calls_are_rejected() {
        let mut values = Values::new();
        for invalid in
            ["", "(1)", "push(1", "push(1,)", "push(x)", "a b", "push(\"x)", "push([1)", "push([x])"]
        {
            assert!(read_label(invalid, &mut values).is_err(), "{invalid}");
        }
    }
}
