//! OpenTelemetry traces as protocol buffers.

use std::{fs, path::Path};

use clewline_formats::{Circumstances, Mapping, ReadOptions, formats::detect};
use serde_json::{Value as Json, json};

use crate::support::{check_error, format, options, read, show};

/// An integer of variable length.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while 0x7f < value {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field with a length.
fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

fn int(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn fixed(number: u64, bits: u64) -> Vec<u8> {
    [varint(number << 3 | 1), bits.to_le_bytes().to_vec()].concat()
}

fn each(list: &Json, encode: impl Fn(&Json) -> Vec<u8>) -> Vec<u8> {
    list.as_array().into_iter().flatten().flat_map(encode).collect()
}

fn attribute(number: u64, it: &Json) -> Vec<u8> {
    let value = field(2, &value(&it["value"]));
    field(number, &[field(1, it["key"].as_str().unwrap().as_bytes()), value].concat())
}

fn number(it: &Json) -> i64 {
    it.as_i64().unwrap_or_else(|| it.as_str().unwrap().parse().unwrap())
}

fn value(it: &Json) -> Vec<u8> {
    let Some((kind, inner)) = it.as_object().and_then(|it| it.iter().next()) else { return Vec::new() };
    match kind.as_str() {
        "stringValue" => field(1, inner.as_str().unwrap().as_bytes()),
        "boolValue" => int(2, u64::from(inner.as_bool().unwrap())),
        "intValue" => int(3, number(inner).cast_unsigned()),
        "doubleValue" => fixed(4, inner.as_f64().unwrap().to_bits()),
        "arrayValue" => field(5, &each(&inner["values"], |it| field(1, &value(it)))),
        "kvlistValue" => field(6, &each(&inner["values"], |it| attribute(1, it))),
        other => panic!("{other}"),
    }
}

fn span(it: &Json) -> Vec<u8> {
    let time = |number: u64, name: &str| match &it[name] {
        Json::Null => Vec::new(),
        time => fixed(number, self::number(time).cast_unsigned()),
    };
    let code = match &it["status"]["code"] {
        Json::String(code) => u64::from(code == "STATUS_CODE_ERROR") * 2,
        code => code.as_u64().unwrap_or(0),
    };
    let parts = [
        field(1, &[7; 16]),
        field(5, it["name"].as_str().unwrap_or("").as_bytes()),
        time(7, "startTimeUnixNano"),
        time(8, "endTimeUnixNano"),
        each(&it["attributes"], |it| attribute(9, it)),
        field(15, &int(3, code)),
    ];
    parts.concat()
}

/// The message that OTLP's JSON stands for.
fn message(tree: &Json) -> Vec<u8> {
    each(&tree["resourceSpans"], |resource| {
        let attributes = each(&resource["resource"]["attributes"], |it| attribute(1, it));
        let scopes = each(&resource["scopeSpans"], |scope| {
            let of_scope = field(1, &each(&scope["scope"]["attributes"], |it| attribute(3, it)));
            field(2, &[of_scope, each(&scope["spans"], |it| field(2, &span(it)))].concat())
        });
        field(1, &[field(1, &attributes), scopes].concat())
    })
}

/// A message behind its length.
fn framed(message: &[u8]) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_be_bytes()[..], message].concat()
}

fn trees(text: &str) -> Vec<Json> {
    serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap()
}

fn work(attributes: Json) -> Json {
    let spans =
        json!([{"name": "work", "startTimeUnixNano": "5", "endTimeUnixNano": "9", "attributes": attributes}]);
    json!({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]})
}

fn put() -> Json {
    json!([{"key": "clewline.op", "value": {"stringValue": "put"}}])
}

#[test]
fn messages_mean_what_they_mean_in_json() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/otlp");
    let mut compared = 0;
    for file in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        let text = fs::read_to_string(&file).unwrap();
        let Ok(in_json) = read("otlp", &text) else { continue };
        let messages: Vec<Vec<u8>> = trees(&text).iter().map(message).collect();
        let framed: Vec<u8> = messages.iter().flat_map(|it| framed(it)).collect();
        for bytes in [framed, messages.concat()] {
            // A file without a byte is one without a message.
            let name = detect(&bytes, None).map(|it| it.name());
            let is_empty = in_json.names.processes.is_empty();
            assert!(is_empty || name == Some("otlp-proto"), "{}: {name:?}", file.display());
            let recording = read("otlp-proto", &bytes).unwrap();
            assert_eq!(show(&recording), show(&in_json), "{}", file.display());
            assert_eq!(recording.names.skipped.count, in_json.names.skipped.count);
            assert_eq!(recording.names.orders, in_json.names.orders);
            compared += 1;
        }
    }
    assert!(16 < compared, "{compared}");
}

#[test]
fn values_are_those_of_json() {
    let arg = |value: Vec<u8>| {
        let attribute = field(9, &[field(1, b"clewline.arg"), field(2, &value)].concat());
        let name = field(9, &[field(1, b"clewline.op"), field(2, &field(1, b"put"))].concat());
        let span = field(2, &[fixed(7, 1), name, attribute].concat());
        show(&read("otlp-proto", framed(&field(1, &field(2, &span)))).unwrap())
    };
    let check = |value: Vec<u8>, expected: &str| {
        assert_eq!(arg(value), format!("\"? ?\" [0, ..) put({expected}) → ? #0\n"));
    };
    check(field(1, "é\n".as_bytes()), r#""é\n""#);
    check(int(2, 1), "true");
    check(int(3, (-7_i64).cast_unsigned()), "-7");
    check(fixed(4, 1.5_f64.to_bits()), "1.5");
    // As the collector writes it: JSON has no other integers.
    check(fixed(4, (-3.0_f64).to_bits()), "-3");
    check(fixed(4, f64::NAN.to_bits()), r#""NaN""#);
    check(field(7, b"any carnal pleas"), r#""YW55IGNhcm5hbCBwbGVhcw==""#);
    check(field(7, b"sure"), r#""c3VyZQ==""#);
    check(field(7, b"sur"), r#""c3Vy""#);
    check(field(7, b"su"), r#""c3U=""#);
    check(Vec::new(), "null");
}

#[test]
fn a_mapping_names_attributes() {
    let mut reading = Circumstances::default();
    reading.mapping = Mapping::parse(r#"{"op": "name", "ops": {"work": "inc"}}"#).unwrap();
    let options = ReadOptions { circumstances: &reading, ..ReadOptions::default() };
    let bytes = framed(&message(&work(json!([]))));
    let recording = format("otlp-proto").read(&mut &bytes[..], &options).unwrap();
    assert_eq!(show(&recording), "\"? ?\" [0, 1] inc() #0\n");
}

#[test]
fn an_error_names_the_message_and_the_byte() {
    let good = framed(&message(&work(put())));
    let after = |more: &[u8]| [&good[..], more].concat();
    let byte = |at: usize| good.len() + at;
    let check = |more: &[u8], expected: String| check_error("otlp-proto", after(more), &expected, 1);
    let found = "expected a length of 4 bytes, found 2 until the end of the file";
    check(&[0, 0], format!("line 2: byte {}: {found}", byte(0)));
    let found = "expected the length of a message of at most 64 MiB, found 67108865";
    check(&[4, 0, 0, 1], format!("line 2: byte {}: {found}", byte(0)));
    check(
        &[0, 0, 0, 9, 10],
        format!("line 2: byte {}: expected 9 bytes, found 1 until the end of the file", byte(4)),
    );
    check(
        &framed(&[0x0a, 5, 1]),
        format!("line 2: byte {}: expected 5 bytes, found 1 until the end of the message", byte(6)),
    );
    let found = "expected the field 1 of traces, `resourceSpans`, found another type";
    check(&framed(&[0x08, 1]), format!("line 2: byte {}: {found}", byte(4)));
    let outcome = json!({"key": "clewline.outcome", "value": {"stringValue": "maybe"}});
    let tree = work(json!([put()[0], outcome]));
    check(
        &framed(&message(&tree)),
        "line 2: the span `work`: expected the outcome ok, fail or info, found `maybe`".to_owned(),
    );
    check_error(
        "otlp-proto",
        [0x0a, 3, 0x12, 9, 0],
        "line 1: byte 4: expected 9 bytes, found 1 until the end of the message",
        0,
    );
}

#[test]
fn a_message_alone_is_distinguished_from_texts() {
    let whole = message(&work(put()));
    let is_it = |bytes: &[u8]| detect(bytes, None).is_some_and(|it| it.name() == "otlp-proto");
    assert!(is_it(&whole) && is_it(&framed(&whole)));
    // The head of a file is cut anywhere.
    assert!((12..whole.len()).all(|it| is_it(&whole[..it])), "{whole:?}");
    assert!((5..whole.len()).all(|it| is_it(&framed(&whole)[..it])));
    for text in
        ["\n\n\n\n\n\n\n\n\n\n\n\n\n\n", "\n{\"process\": 1", "\n\r\n\u{12}", "\n\u{8}\n\u{2}aa\u{12}b"]
    {
        assert!(!is_it(text.as_bytes()), "{text:?}");
    }
    let twenty = [&b"\n\x14\n\x12"[..], b"twenty characters!!", b"more"].concat();
    assert!(!is_it(&twenty), "a resource without scopes has no spans");
    // Other messages: of metrics, and of nothing.
    assert!(!is_it(b"\0\0\0\x04\x08\x01\x08\x01") && !is_it(b"\0\0\0\0") && !is_it(b"\x0a\x00"));
    assert!(!is_it(&[0xff, 0xff, 0xff, 0xff, 0x0a, 2, 0x12, 0]));
    let read = format("otlp-proto").read(&mut &b""[..], &options(false, 1)).unwrap();
    assert!(read.history.is_empty());
}
