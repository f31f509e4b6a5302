//! OpenTelemetry traces.

use clewline_formats::{Circumstances, Mapping, ReadOptions};

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

/// Without its process or its object, operations of several would be those of one.
#[test]
fn an_attribute_that_no_span_has_is_an_error() {
    let read = |mapping: &str, attributes: &[(&str, &str)]| {
        let mut reading = Circumstances::default();
        reading.mapping = Mapping::parse(mapping).unwrap();
        let options = ReadOptions { circumstances: &reading, ..ReadOptions::default() };
        let text = export(&[span((1, 2), attributes, "")]);
        let read = clewline_formats::formats::read(format("otlp"), &mut text.as_bytes(), &options);
        read.map_or_else(|it| it.to_string(), |it| show(&it))
    };
    let client = ("db.client", "\"stringValue\":\"c\"");
    assert_eq!(read(r#"{"process": "db.client"}"#, &[PUT, client]), "\"c\" [0, 1] put() #0\n");
    let expected = "line 1: no attribute is called `db.clien`; did you mean `db.client`? (there are clewline.op, \
                    db.client, host.name, service.name)";
    for member in ["process", "object"] {
        let mapping = format!(r#"{{"{member}": "db.clien"}}"#);
        assert_eq!(read(&mapping, &[PUT, client]), expected);
    }
    assert_eq!(
        read(r#"{"op": "db.op"}"#, &[client]),
        "line 1: expected an operation, found only the span work: no attribute is called `db.op` (there are \
         db.client, host.name, service.name)"
    );
}

/// One file exporter may serve several pipelines.
#[test]
fn exports_of_logs_and_metrics_are_skipped() {
    let text = format!(
        "{{\"resourceLogs\":[]}}\n{}\n{{\"resourceMetrics\":[]}}\n{{}}\n",
        export(&[span((1, 2), &[PUT], "")])
    );
    assert_eq!(read("otlp", &text).unwrap().names.skipped.count, 2);
    let read = clewline_formats::formats::read(
        format("otlp"),
        &mut "{\"resourceMetrics\":[]}".as_bytes(),
        &ReadOptions::default(),
    );
    assert_eq!(
        read.unwrap_err().to_string(),
        "line 1: expected an operation, found only `resourceMetrics`, not `resourceSpans`"
    );
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
