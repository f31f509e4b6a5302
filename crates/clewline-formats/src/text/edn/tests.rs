use clewline_core::{Datum, Values};

use super::*;

fn read(text: &str) -> Result<String, (usize, String)> {
    let mut sink = Sink::default();
    let mut edn = Edn::new(text, Tail::End);
    let mut value = || {
        let value = edn.value(&mut sink)?;
        if edn.next()? == NextForm::End { Ok(value) } else { Err(edn.error("the end")) }
    };
    match value() {
        Ok(value) => {
            let sort = match sink.values.get(value) {
                Datum::Other(_) => "other ",
                _ => "",
            };
            Ok(format!("{sort}{}", sink.values.show(value)))
        }
        Err(FormEnd::Fault(fault)) => Err((fault.at, fault.message)),
        Err(FormEnd::More) => panic!("there is no more"),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(read(text).map_err(|(at, message)| format!("{at}: {message}")), Ok(expected.to_owned()));
    assert_eq!(Edn::new(text, Tail::End).skip(), Ok(()), "passed over");
    // Every proper prefix asks for more, and for nothing else.
    for end in (0..text.len()).filter(|&it| text.is_char_boundary(it)) {
        let mut edn = Edn::new(&text[..end], Tail::More);
        let early = edn.value(&mut Sink::default());
        assert!(early == Err(FormEnd::More) || early.is_ok(), "{:?}: {early:?}", &text[..end]);
    }
}

#[track_caller]
fn check_fault(text: &str, at: usize, message: &str) {
    assert_eq!(read(text), Err((at, message.to_owned())));
}

#[test]
fn forms_of_every_kind_are_read() {
    check("nil ", "null");
    check("true", "true");
    check(":ok", ":ok");
    check(":a/b", ":a/b");
    check("+7", "7");
    check("-7N", "-7");
    check("99999999999999999999N", "other 99999999999999999999");
    check("1.50", "other 1.5");
    check("1.50M", "other 1.5M");
    check("1e3", "other 1000.0");
    check("22/7", "other 22/7");
    check("##-Inf", "other ##-Inf");
    check(r"\newline", r"other \newline");
    check(r"[\( \)]", r"[\(, \)]");
    check("some/symbol", "other some/symbol");
    check(r#""a\n\"\u00e9\ud83d\ude00""#, r#""a\n\"é😀""#);
    check("[1 (2, 3) []]", "[1, [2, 3], []]");
    check("#{2 1, 10}", "other #{1 10 2}");
    check("{:b 1, :a (1 2)}", "other {:a [1 2] :b 1}");
    check("#inst \"2020\"", "other #inst \"2020\"");
    check("#a #b {}", "other #a #b {}");
    check("[1 #_ 2 3 #_ #_ 4 5 ; six\n 7]", "[1, 3, 7]");
}

#[test]
fn errors_quote_the_text_found() {
    check_fault("", 0, "expected a form, found the end of the file");
    check_fault("[1 2", 4, "expected `]`, found the end of the file");
    check_fault("[1 2)", 4, "expected `]`, found `)`");
    check_fault("}", 0, "expected a form, found `}`");
    check_fault("{:a}", 0, "expected a map with a value for each key, found `{`");
    check_fault("12x", 0, "expected a number, found `12x`");
    check_fault("007", 0, "expected a number, found `007`");
    check_fault(":", 0, "expected a keyword, found `:`");
    check_fault("@a", 0, "expected a form, found `@a`");
    check_fault("\"a", 2, "expected `\"` at the end of the text, found the end of the file");
    check_fault(r#""\q""#, 2, "expected one of `\"\\bfnrtu` after a backslash, found `q`");
    check_fault("1 2", 2, "expected the end, found `2`");
}

#[test]
fn nesting_depth_is_limited() {
    for open in ["[", "(", "{", "#{", "#_", "#a ", "[#_["] {
        let text = open.repeat(1_000_000);
        let mut edn = Edn::new(&text, Tail::End);
        let Err(FormEnd::Fault(fault)) = edn.skip() else { panic!("{open}") };
        assert_eq!(fault.message, "brackets nest deeper than 64", "{open}");
        let mut edn = Edn::new(&text, Tail::End);
        let Err(FormEnd::Fault(fault)) = edn.value(&mut Sink::default()) else { panic!("{open}") };
        assert_eq!(fault.message, "brackets nest deeper than 64", "{open}");
    }
    let deep = format!("{}{}", "[".repeat(64), "]".repeat(64));
    assert!(read(&deep).is_ok());
    assert_eq!(read(&format!("[{deep}]")), Err((64, "brackets nest deeper than 64".to_owned())));
}

#[test]
fn values_that_edn_cannot_express_are_refused() {
    let mut values = Values::new();
    for written in [r#"{"a":1}"#, "1 2", "", "[1]", "1", " 1.5"] {
        let other = values.other(written);
        assert!(write(&values, other, &mut String::new()).is_err(), "{written}");
    }
    let symbol = values.symbol("a b");
    assert!(write(&values, symbol, &mut String::new()).is_err());
    assert!(write(&values, Value::ABSENT, &mut String::new()).is_err());
}
