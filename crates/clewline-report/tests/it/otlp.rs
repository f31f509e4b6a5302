//! OpenTelemetry traces.

use clewline_report::{Circumstances, Mapping, ReadOptions};

use crate::support::{check, check_error, format, read, show};

fn span(times: (i64, i64), attributes: &[(&str, &str)], more: &str) -> String {
    let attributes: Vec<String> =
        attributes.iter().map(|(key, value)| format!(r#"{{"key":"{key}","value":{{{value}}}}}"#)).collect();
    let (start, end) = times;
    format!(
        r#"{{"name":"work","startTimeUnixNano":"{start}","endTimeUnixNano":"{end}","attributes":[{}]{more}}}"#,
        attributes.join(",")
    )
}

fn export(spans: &[String]) -> String {
    let host = r#"{"key":"host.name","value":{"stringValue":"h1"}},{"key":"service.name","value":{"stringValue":"kv"}}"#;
    format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{host}]}},"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
        spans.join(",")
    )
}

const PUT: (&str, &str) = ("clewline.op", r#""stringValue":"put""#);
const GET: (&str, &str) = ("clewline.op", r#""stringValue":"get""#);

#[test]
fn spans_are_operations() {
    let pair = r#""arrayValue":{"values":[{"stringValue":"k"},{"intValue":"1"}]}"#;
    let text = [
        export(&[
            span((1, 4), &[("clewline.process", "\"intValue\":\"7\""), PUT, ("clewline.arg", pair)], ""),
            span((1, 90), &[("http.method", "\"stringValue\":\"GET\"")], ""),
        ]),
        export(&[
            span(
                (2, 3),
                &[GET, ("clewline.arg", "\"stringValue\":\"k\""), ("clewline.ret", "\"intValue\":1")],
                "",
            ),
            // Of the same process, at the same time.
            span((2, 0), &[GET, ("clewline.arg", "\"stringValue\":\"k\"")], ""),
        ]),
    ]
    .join("\n");
    check(
        "otlp",
        &text,
        r#"
        7 [0, 4] put(["k", 1]) #0
        "h1 kv" [1, 3] get("k") → 1 #1
        "h1 kv" [2, ..) get("k") → ? #2
        "#,
    );
    let recording = read("otlp", &text).unwrap();
    assert_eq!((recording.names.skipped.count, recording.names.skipped.line), (1, 1));
}

#[test]
fn an_error_leaves_the_outcome_open_unless_an_attribute_says_it() {
    let outcome = |it: &'static str| ("clewline.outcome", it);
    let error = r#","status":{"code":2}"#;
    let text = export(&[
        span((1, 2), &[PUT], error),
        span((3, 4), &[PUT], r#","status":{"code":"STATUS_CODE_ERROR"}"#),
        span((5, 6), &[PUT, outcome("\"stringValue\":\"ok\"")], error),
        span((7, 8), &[PUT, outcome("\"stringValue\":\"fail\"")], ""),
        span((9, 10), &[PUT, outcome("\"stringValue\":\"info\"")], ""),
        span((11, 12), &[PUT], r#","status":{"code":1}"#),
    ]);
    let expected = r#"
        "h1 kv" [0, ..) put() → ? #0
        "h1 kv" [1, ..) put() → ? #1
        "h1 kv" [2, 3] put() #2
        "h1 kv" [4, ..) put() → ? #3
        "h1 kv" [5, 6] put() #4
        "#;
    check("otlp", &text, expected);
}

#[test]
fn a_mapping_names_attributes() {
    let mapping = r#"{"op": "name", "process": "client", "arg": ["key", "new"], "ret": "old", "json": true,
        "ops": {"work": "insert"}}"#;
    let mut reading = Circumstances::default();
    reading.mapping = Mapping::parse(mapping).unwrap();
    let options = ReadOptions { circumstances: &reading, ..ReadOptions::default() };
    let text = |key: &'static str| {
        let client = ("client", "\"stringValue\":\"c\"");
        let (new, old) = (("new", "\"stringValue\":\"[1]\""), ("old", "\"stringValue\":\"null\""));
        export(&[span((1, 2), &[client, (key, "\"stringValue\":\"k\""), new, old], "")])
    };
    let read = |text: String| format("otlp").read(&mut text.as_bytes(), &options).map(|it| show(&it));
    assert_eq!(read(text("key")).unwrap(), "\"c\" [0, 1] insert([\"k\", [1]]) → null #0\n");
    let error = read(text("kex")).unwrap_err().to_string();
    assert_eq!(error, "line 1: the span `work`: expected the attribute `key`");
}

/// A field of protobuf that holds bytes.
fn bytes(number: u8, contents: &[u8]) -> Vec<u8> {
    assert!(contents.len() < 1 << 14);
    let size = [contents.len() as u8 | 0x80, (contents.len() >> 7) as u8];
    [&[number << 3 | 2], &size[..], contents].concat()
}

fn number(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

fn time(number: u8, value: u64) -> Vec<u8> {
    [&[number << 3 | 1], &value.to_le_bytes()[..]].concat()
}

fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
    bytes(9, &[bytes(1, key.as_bytes()), bytes(2, value)].concat())
}

/// A request of these spans, behind its length.
fn request(spans: &[Vec<u8>]) -> Vec<u8> {
    let attribute = |key: &str, value: &str| {
        let value = bytes(2, &bytes(1, value.as_bytes()));
        bytes(1, &[bytes(1, key.as_bytes()), value].concat())
    };
    let resource = [attribute("host.name", "h1"), attribute("service.name", "kv")].concat();
    let spans: Vec<Vec<u8>> = spans.iter().map(|it| bytes(2, it)).collect();
    let request = bytes(1, &[bytes(1, &resource), bytes(2, &spans.concat())].concat());
    [&(request.len() as u32).to_be_bytes()[..], &request].concat()
}

#[test]
fn requests_in_protobuf_are_those_in_json() {
    let text = |it: &str| bytes(1, it.as_bytes());
    let span = |start: u64, end: u64, attributes: &[(&str, Vec<u8>)], more: &[u8]| {
        let attributes: Vec<Vec<u8>> = attributes.iter().map(|(key, value)| attribute(key, value)).collect();
        [&bytes(5, b"work")[..], &time(7, start), &time(8, end), &attributes.concat(), more].concat()
    };
    let pair = bytes(5, &[bytes(1, &text("k")), bytes(1, &number(3, 1))].concat());
    let put = [("clewline.process", number(3, 7)), ("clewline.op", text("put")), ("clewline.arg", pair)];
    let get = [("clewline.op", text("get")), ("clewline.arg", text("k")), ("clewline.ret", number(3, 1))];
    let failed = bytes(15, &number(3, 2));
    let spans = [
        request(&[span(1, 4, &put, &[]), span(1, 90, &[("http.method", text("GET"))], &[])]),
        request(&[span(2, 3, &get, &[]), span(2, 9, &get[..2], &failed)]),
    ];
    let read = |bytes: &[u8]| format("otlp").read(&mut &*bytes, &ReadOptions::default());
    let recording = read(&spans.concat()).unwrap();
    let expected = "7 [0, 4] put([\"k\", 1]) #0\n\"h1 kv\" [1, 3] get(\"k\") → 1 #1\n\"h1 kv\" [2, ..) get(\"k\") → ? #2\n";
    assert_eq!(show(&recording), expected);
    assert_eq!((recording.names.skipped.count, recording.names.skipped.line), (1, 1));
    let error = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    let late = request(&[span(4, 3, &put, &[])]);
    let late = [&spans[0][..], &late].concat();
    assert_eq!(error(&late), "line 2: the span `work`: it ends before it starts");
    let cut = &spans[0][..spans[0].len() - 1];
    let size = spans[0].len() - 4;
    let expected = format!("line 1: expected a request of {size} bytes, found only {} of them", size - 1);
    assert_eq!(error(cut), expected);
    let nested = (0..60).fold(text("x"), |it, _| bytes(5, &bytes(1, &it)));
    let nested = request(&[span(1, 2, &[("clewline.op", text("a")), ("clewline.arg", nested)], &[])]);
    assert_eq!(error(&nested), "line 1: messages are nested more than 40 levels deep");
}

#[test]
fn order_hints_are_attributes() {
    let order = |it: &'static str| ("clewline.order", it);
    let text = export(&[
        span((1, 2), &[PUT, order("\"intValue\":\"12\"")], ""),
        span((3, 4), &[PUT], ""),
        span((5, 6), &[PUT, order("\"intValue\":7")], ""),
    ]);
    assert_eq!(read("otlp", &text).unwrap().names.orders, Some(vec![Some(12), None, Some(7)]));
}

#[test]
fn an_error_names_the_span() {
    let good = export(&[span((1, 2), &[PUT], "")]);
    let check = |more: String, expected: &str| check_error("otlp", format!("{good}\n{more}"), expected, 1);
    check(export(&[span((4, 3), &[PUT], "")]), "line 2: the span `work`: it ends before it starts");
    let outcome = ("clewline.outcome", "\"stringValue\":\"maybe\"");
    check(
        export(&[span((1, 2), &[PUT, outcome], "")]),
        "line 2: the span `work`: expected the outcome ok, fail or info, found `maybe`",
    );
    let order = ("clewline.order", "\"stringValue\":\"soon\"");
    check(
        export(&[span((1, 2), &[PUT, order], "")]),
        "line 2: the span `work`: expected an order, an integer, found \"soon\"",
    );
    let unknown = export(&[span((1, 2), &[PUT], "")]).replace("startTimeUnixNano", "start");
    check(unknown, "line 2: the span `work`: expected `startTimeUnixNano`");
}
