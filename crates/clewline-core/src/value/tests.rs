use super::*;

#[test]
fn equal_contents_have_equal_words() {
    let mut values = Values::new();
    let a = values.text("a");
    let b = values.text("b");
    assert_ne!(a, b);
    assert_eq!(values.text("a"), a);
    assert_ne!(values.symbol("a"), a);
    assert_ne!(values.other("a"), a);
    let list = values.list(&[a, b]);
    assert_eq!(values.list(&[a, b]), list);
    assert_ne!(values.list(&[b, a]), list);
    assert_eq!(values.find_text("b"), Some(b));
    assert_eq!(values.find_text("c"), None);
}

#[test]
fn integers_of_every_size_come_back() {
    let mut values = Values::new();
    for int in [0, 1, -1, (1 << 30) - 1, 1 << 30, -(1 << 30), -(1 << 30) - 1, i64::MAX, i64::MIN] {
        let value = values.int(int);
        assert_eq!(values.get(value), Datum::Int(int));
        assert_eq!(values.int(int), value);
    }
}

#[test]
fn an_optional_value_is_one_word() {
    assert_eq!(size_of::<Option<Value>>(), 4);
}

#[test]
fn absorbed_values_keep_their_contents() {
    let mut target = Values::new();
    target.text("b");
    let mut source = Values::new();
    let (a, b) = (source.text("a"), source.text("b"));
    let pair = source.list(&[a, b, Value::NIL]);
    let nested = source.list(&[pair, pair]);
    let rename = target.absorb(&source);
    assert_eq!(target.show(rename(nested)).to_string(), r#"[["a", "b", null], ["a", "b", null]]"#);
    assert_eq!(rename(Value::TRUE), Value::TRUE);
    assert_eq!(Some(rename(b)), target.find_text("b"));
}

#[test]
fn many_values_survive_the_growth_of_the_table() {
    let mut values = Values::new();
    let words: Vec<Value> = (0..10_000).map(|it| values.text(&it.to_string())).collect();
    for (number, &word) in words.iter().enumerate() {
        assert_eq!(values.get(word), Datum::Text(&number.to_string()));
        assert_eq!(values.find_text(&number.to_string()), Some(word));
    }
}
