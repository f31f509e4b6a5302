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

/// One value of each kind, as a program makes them.
fn made() -> Vec<Value> {
    let nested = Value::from(vec![Value::from("x"), Value::from(1_i64 << 40), Value::from([1, 2])]);
    let (text, big, least) = (Value::from("x"), Value::from(1_i64 << 40), Value::from(i64::MIN));
    let (beyond, pair) = (Value::from(u64::MAX), Value::from(("x", 1)));
    vec![Value::from(7), Value::from(true), Value::NIL, text, big, least, beyond, pair, nested]
}

#[test]
fn values_that_programs_make_are_equal_if_their_contents_are() {
    assert_eq!(made(), made());
    for (at, one) in made().iter().enumerate() {
        assert!(made()[at + 1..].iter().all(|it| it != one), "{one:?}");
    }
    assert_eq!(Value::from("x"), Value::from(String::from("x")));
    assert_eq!(Value::from([1, 2]), Value::from(&[1_u64, 2][..]));
    assert_eq!(Value::from(Some(1_u8)), Value::from(1_i128));
    assert_eq!(Value::from(None::<bool>), Value::NIL);
    assert_eq!(Value::from(()), Value::ABSENT);
    // Texts of digits are no integers.
    assert_ne!(Value::from(u64::MAX), Value::from(u64::MAX.to_string()));
}

#[test]
fn integers_of_every_type_are_made_and_come_back() {
    assert_eq!(Value::from(i64::MIN).get::<i64>(), i64::MIN);
    assert_eq!(Value::from(u64::MAX).get::<u64>(), u64::MAX);
    assert_eq!(Value::from(i128::MIN).get::<i128>(), i128::MIN);
    assert_eq!(Value::from(u128::MAX).datum(), Some(Datum::Other(&u128::MAX.to_string())));
    assert_eq!(Value::from(usize::MAX).get::<usize>(), usize::MAX);
    assert_eq!(Value::from(-1_i8).as_int(), Some(-1));
    assert_eq!(
        u8::try_from(Value::from(256)).unwrap_err().to_string(),
        "expected a value of type u8, found 256"
    );
    assert!(u64::try_from(Value::from(-1)).is_err() && i64::try_from(Value::from("1")).is_err());
    assert!(Value::from(true).get::<bool>() && bool::try_from(Value::NIL).is_err());
    assert_eq!((Value::from("x").get::<&str>(), Value::from("x").as_text()), ("x", Some("x")));
    assert_eq!((Value::from("1").as_int(), Value::NIL.as_int()), (None, None));
}

#[test]
#[should_panic = r#"expected a value of type u64, found ["x", 1]"#]
fn a_value_of_another_type_is_named_in_the_panic() {
    let _number: u64 = Value::from(("x", 1)).get();
}

#[test]
fn values_that_programs_make_show_their_contents() {
    let shown: Vec<String> = made().iter().map(|it| format!("{it:?}")).collect();
    let by_table: Vec<String> = made().iter().map(|it| Values::new().show(*it).to_string()).collect();
    let nested = r#"["x", 1099511627776, [1, 2]]"#;
    let texts =
        ["7", "true", "nil", "\"x\"", "1099511627776", "-9223372036854775808", "18446744073709551615"];
    assert_eq!(shown[..7], texts);
    assert_eq!(shown[7..], [r#"["x", 1]"#, nested]);
    assert_eq!(by_table[2], "null");
    assert_eq!(by_table[3..], shown[3..]);
    let mut values = Values::new();
    let read = values.text("x");
    assert_eq!((format!("{read:?}"), read.datum(), read.as_text()), ("#5".to_owned(), None, None));
}

#[test]
fn the_order_of_values_does_not_depend_on_which_was_made_first() {
    let (late, early) = (Value::from("order: b"), Value::from("order: a"));
    assert!(late.word() < early.word() && early < late);
    let mut all = made();
    all.extend([late, early, Value::from(-1), Value::from(-(1 << 30)), Value::ABSENT]);
    all.sort_unstable();
    let is_ascending = |it: &[Value]| it.windows(2).all(|it| it[0] <= it[1]);
    assert!(is_ascending(&all), "{all:?}");
    // By size as well, whichever is compared with which: the order is total.
    assert!((0..all.len()).all(|it| all[..it].iter().all(|before| before <= &all[it])), "{all:?}");
}

#[test]
fn values_move_between_the_tables_of_the_process_and_of_a_recording() {
    let mut values = Values::new();
    values.text("other");
    for made in made() {
        assert!(values.has(made));
        let is_in_place = !made.is_shared();
        assert_eq!(values.find(made), is_in_place.then_some(made));
        let own = values.adopt(made);
        assert_eq!(own == made, is_in_place, "{made:?}");
        assert_eq!(values.show(own).to_string(), values.show(made).to_string());
        // Contents that were interned before have the word that they had.
        assert_eq!((values.adopt(made), values.find(made)), (own, Some(own)));
        assert_eq!(values.share(own), made);
        assert_eq!(values.share(made), made);
    }
    // A list of both kinds is a list of the recording.
    let own = values.text("x");
    let (mixed, plain) = (values.list(&[own, Value::from("x")]), values.list(&[own, own]));
    assert_eq!(mixed, plain);
    assert_eq!(values.value(Datum::List(&[Value::from("x"), own])), plain);
}

#[test]
fn a_word_of_no_value_is_shown_and_not_known() {
    let values = Values::new();
    for word in [64, u64::from(u32::MAX - 1)] {
        let foreign = Value::from_word(word).unwrap();
        assert!(!values.has(foreign));
        assert_eq!(values.show(foreign).to_string(), "a value of another table");
    }
    assert_eq!(Value::from_word(0), None);
}

#[test]
fn threads_that_make_equal_values_get_equal_words() {
    let make = |from: usize| -> Vec<(usize, Value)> {
        (0..5_000).map(|it| (it + from) % 5_000).map(|it| (it, format!("thread: {it}").into())).collect()
    };
    let mut made: Vec<Vec<(usize, Value)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = [0, 1_000, 4_000].map(|from| scope.spawn(move || make(from))).into();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    made.iter_mut().for_each(|it| it.sort_unstable_by_key(|it| it.0));
    assert!(made.iter().all(|it| *it == made[0]));
    assert!(made[0].iter().all(|(number, value)| value.get::<String>() == format!("thread: {number}")));
}

#[test]
fn states_are_shown_with_the_values_of_their_table() {
    let mut values = Values::new();
    let text = values.text("a, b");
    let list = values.list(&[text, Value::NIL]);
    let shown = |values: &Arc<Values>| values.shown_by_debug(|| format!("{:?}", (text, [list, Value::NIL])));
    assert_eq!(shown(&Arc::new(values)), r#"("a, b", [["a, b", null], null])"#);
    // Of another table, and outside.
    assert_eq!(shown(&Arc::default()), "(#5, [#6, null])");
    assert_eq!(format!("{:?}", (text, Value::NIL, Value::ABSENT)), "(#5, nil, absent)");
    // Texts stay as they are, whatever they say.
    let made = Arc::new(Values::new()).shown_by_debug(|| format!("{:?}", ("nil #5", Value::ABSENT)));
    assert_eq!(made, r#"("nil #5", absent)"#);
    // Also after a panic.
    let panics = || Arc::new(Values::new()).shown_by_debug(|| -> usize { panic!("as expected") });
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(format!("{:?}", Value::NIL), "nil");
}
