use clewline_core::{Datum, Random};
use serde_json::Value as Theirs;

use super::*;

/// The value of `text`, as a report shows it; or the error.
fn read(text: &str) -> Result<String, (usize, String)> {
    let mut sink = Sink::default();
    let mut json = Json::new(text);
    let value = json.value(&mut sink).map_err(|fault| (fault.at, fault.message))?;
    assert!(sink.items.is_empty(), "every list that was opened was closed");
    match json.peek() {
        None => Ok(format!("{:?} {}", kind(sink.values.get(value)), sink.values.show(value))),
        Some(_) => Err((json.at, "more".to_owned())),
    }
}

fn kind(datum: Datum<'_>) -> &'static str {
    match datum {
        Datum::Absent => "absent",
        Datum::Nil | Datum::Bool(_) => "word",
        Datum::Int(_) => "int",
        Datum::Text(_) => "text",
        Datum::Symbol(_) => "symbol",
        Datum::List(_) => "list",
        Datum::Other(_) => "other",
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(read(text).map_err(|(at, message)| format!("{at}: {message}")), Ok(expected.to_owned()));
}

#[track_caller]
fn check_fault(text: &str, at: usize, message: &str) {
    assert_eq!(read(text), Err((at, message.to_owned())));
    let mut json = Json::new(text);
    let skipped = json.skip().map_err(|fault| (fault.at, fault.message));
    assert_eq!(skipped, Err((at, message.to_owned())), "passed over");
}

#[test]
fn values_of_every_kind_are_read() {
    check(" null ", r#""word" null"#);
    check("true", r#""word" true"#);
    check("false", r#""word" false"#);
    check("-12", r#""int" -12"#);
    check("-0", r#""int" 0"#);
    check("9223372036854775807", r#""int" 9223372036854775807"#);
    check("-9223372036854775808", r#""int" -9223372036854775808"#);
    check("9223372036854775808", r#""other" 9223372036854775808"#);
    check("1.50", r#""other" 1.5"#);
    check("1E3", r#""int" 1000"#);
    check(r#""a""#, r#""text" "a""#);
    check("[ 1 , [ ] , null ]", r#""list" [1, [], null]"#);
    check(
        r#"{ "b" : [ 1 , 2.0 ] , "a\u0062" : { } , "a" : null }"#,
        r#""other" {"a":null,"ab":{},"b":[1,2]}"#,
    );
}

#[test]
fn escapes_of_every_kind_are_read() {
    check(r#""\"\\\/\b\f\n\r\t""#, &format!("\"text\" {:?}", "\"\\/\u{8}\u{c}\n\r\t"));
    check(r#""x\u00e9y\ud83d\ude00z""#, r#""text" "xéy😀z""#);
    check(r#""\u0000""#, r#""text" "\0""#);
}

#[test]
fn errors_quote_the_text_found() {
    check_fault("", 0, "expected a value, found the end of the line");
    check_fault("nul", 0, "expected a value, found `nul`");
    check_fault("+1", 0, "expected a value, found `+1`");
    check_fault("01", 0, "expected a number without leading zeros, found `01`");
    check_fault("-", 1, "expected a digit, found the end of the line");
    check_fault("1.x", 2, "expected a digit, found `x`");
    check_fault("1e+", 3, "expected a digit, found the end of the line");
    check_fault("[1 2]", 3, "expected `,` or `]`, found `2`");
    check_fault("[1,]", 3, "expected a value, found `]`");
    check_fault(r#"{"a" 1}"#, 5, "expected `:`, found `1`");
    check_fault(r#"{"a":1,}"#, 7, "expected the name of a member, in double quotes, found `}`");
    check_fault(r#"{a:1}"#, 1, "expected the name of a member, in double quotes, found `a`");
    check_fault(r#""a"#, 2, "expected `\"` at the end of the text, found the end of the line");
    check_fault("\"a\tb\"", 2, "expected `\"` at the end of the text, found `\\t`");
    check_fault(r#""\x""#, 2, "expected one of `\"\\/bfnrtu` after a backslash, found `x`");
    check_fault(r#""\u12g4""#, 5, "expected four hexadecimal digits, found `g4`");
    check_fault(r#""\ud83dx""#, 1, "expected two surrogates, high and low, found `\\ud83dx`");
    check_fault(r#""\ude00""#, 1, "expected two surrogates, high and low, found `\\ude00`");
}

#[test]
fn nesting_depth_is_limited() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let inner = open.matches(['[', '{']).count();
        let deep =
            |levels: usize| format!("{}1{}", open.repeat(levels / inner), close.repeat(levels / inner));
        assert!(read(&deep(64)).is_ok());
        let (_, message) = read(&deep(66)).unwrap_err();
        assert_eq!(message, "brackets nest deeper than 64");
        let mut json = Json::new("");
        json.text = Box::leak(deep(1_000_000).into_boxed_str());
        assert!(json.skip().is_err());
    }
}

/// The value that serde_json reads, as we would show it.
fn one_form(number: &serde_json::Number) -> String {
    match number::json(&number.to_string()) {
        number::JsonNumber::Int(int) => int.to_string(),
        number::JsonNumber::Other(form) => form,
    }
}

fn shown(theirs: &Theirs) -> String {
    match theirs {
        Theirs::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Theirs::String(text) => format!("{text:?}"),
        Theirs::Number(it) if it.is_f64() => one_form(it),
        Theirs::Object(_) => written(theirs),
        Theirs::Null | Theirs::Bool(_) | Theirs::Number(_) => theirs.to_string(),
    }
}

/// serde_json sorts the members of objects too; only numbers may be written in another way.
fn written(theirs: &Theirs) -> String {
    match theirs {
        Theirs::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(",")),
        Theirs::Object(members) => {
            let members = members.iter().map(|(name, it)| {
                let mut member = String::new();
                write_text(name, &mut member);
                member + ":" + &written(it)
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Theirs::Number(it) if it.is_f64() => one_form(it),
        Theirs::String(text) => {
            let mut out = String::new();
            write_text(text, &mut out);
            out
        }
        Theirs::Null | Theirs::Bool(_) | Theirs::Number(_) => theirs.to_string(),
    }
}

fn random_value(random: &mut Random, depth: usize) -> String {
    let space = ["", "", "", " ", "\t", " \r "][random.below(6)];
    let value = match random.below(if depth == 0 { 8 } else { 12 }) {
        0 => "null".to_owned(),
        1 => "true".to_owned(),
        2 => "false".to_owned(),
        3 => random.next().cast_signed().to_string(),
        4 => (random.below(100) as i64 - 50).to_string(),
        5 => format!("{}.{}", random.below(1000), random.below(1000)),
        6 => format!("{}e{}", random.below(1000), random.below(40) as i64 - 20),
        7 => random_text(random),
        8..=9 => {
            let items: Vec<String> = (0..random.below(4)).map(|_| random_value(random, depth - 1)).collect();
            format!("[{space}{}]", items.join(","))
        }
        _ => {
            // Names are distinct: the meaning of duplicate names is undefined.
            let members: Vec<String> = (0..random.below(4))
                .map(|it| {
                    let name = random_text(random);
                    format!("\"{it}{}{space}:{}", &name[1..], random_value(random, depth - 1))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
    };
    format!("{space}{value}{space}")
}

fn random_text(random: &mut Random) -> String {
    let pieces =
        ["a", "é", "😀", " ", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d\\ude00", "\\b", "}", "]"];
    let text: String = (0..random.below(6)).map(|_| pieces[random.below(pieces.len())]).collect();
    format!("\"{text}\"")
}

#[test]
fn serde_json_reads_the_same() {
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let text = random_value(&mut random, 4);
        let theirs: Theirs = serde_json::from_str(&text).unwrap();
        let mut sink = Sink::default();
        let mut json = Json::new(&text);
        let ours = json.value(&mut sink).unwrap_or_else(|fault| panic!("{text}: {}", fault.message));
        assert_eq!(json.peek(), None, "{text}");
        assert_eq!(sink.values.show(ours).to_string(), shown(&theirs), "{text}");
        let mut again = String::new();
        write(&sink.values, ours, &mut again).unwrap();
        assert_eq!(Json::new(&again).value(&mut sink), Ok(ours), "{text} was written as {again}");
    }
}

#[test]
fn serde_json_refuses_the_same() {
    let mut random = Random::new(12);
    let (mut read, mut refused) = (0, 0);
    while read < 3_000 || refused < 3_000 {
        let mut text = random_value(&mut random, 3).into_bytes();
        let at = random.below(text.len());
        match random.below(3) {
            0 => text[at] = b"\"\\{}[],:0129.eE+-tfnu xyz\x01"[random.below(26)],
            1 => text.truncate(at),
            _ => drop(text.remove(at)),
        }
        let Ok(text) = String::from_utf8(text) else { continue };
        let theirs = serde_json::from_str::<Theirs>(&text);
        let mut json = Json::new(&text);
        let ours = json.skip().is_ok() && json.peek().is_none();
        let mut json = Json::new(&text);
        let kept = json.value(&mut Sink::default()).is_ok() && json.peek().is_none();
        assert_eq!(ours, kept, "{text}");
        // A number too large for a double is a number nevertheless.
        if theirs.as_ref().is_err_and(|it| it.to_string().contains("number out of range")) {
            continue;
        }
        assert_eq!(ours, theirs.is_ok(), "{text}: {theirs:?}");
        *if ours { &mut read } else { &mut refused } += 1;
    }
}
