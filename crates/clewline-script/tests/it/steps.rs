//! Steps of scripts: pending operations, arguments, declarations, and errors.

use clewline_check::{JudgeOptions, judge};
use clewline_core::{
    Codec, Datum, ErasedSpec, GeneratorConfig, Reason, Specification, Value, Values, Verdict,
};
use clewline_script::Script;

fn script(text: &str) -> Script {
    Script::load("x.star", text).unwrap_or_else(|it| panic!("{it}"))
}

/// A script whose state is an integer, with this body of `step`.
fn with_step(body: &str) -> Script {
    let body: String = body.lines().map(|it| format!("    {it}\n")).collect();
    script(&format!("def initial():\n    return 0\ndef step(state, op, args, ret):\n{body}"))
}

/// The states after `op` returns `ret`, and after it is pending, in the order in which they are
/// found; the error instead, if there is one.
fn after(script: &Script, op: &str, arg: Value, ret: Option<Value>) -> String {
    let mut bound = script.clone();
    bound.bind(&Values::new().into(), Value::NIL);
    let call = bound.read_call(&Values::new(), op, arg).unwrap();
    let mut next = Vec::new();
    bound.step(&bound.initial(), &call, ret.as_ref(), &mut next);
    let states: Vec<String> = next.iter().map(|it| format!("{it:?}")).collect();
    Specification::fault(&bound).unwrap_or_else(|| states.join(" "))
}

#[track_caller]
fn check_pending(body: &str, expected: &str) {
    let found = after(&with_step(body), "op", Value::ABSENT, None);
    assert!(
        found == expected || (expected.starts_with("x.star:") && found.starts_with(expected)),
        "{body}\n{found}"
    );
}

#[test]
fn a_pending_operation_has_every_result_and_no_other() {
    // One that is compared.
    check_pending("return [1] if ret == 7 else []", "1");
    check_pending("return [] if ret != 7 else [1]", "1");
    check_pending("return [1] if 7 == ret else [2]", "1 2");
    check_pending("return [1]", "1");
    check_pending("return []", "");
    // It is what it was found to be from there on.
    check_pending("if ret == 7:\n    return [ret + 1]\nreturn []", "8");
    check_pending("if ret == 7:\n    return [1] if ret == 8 else [2]\nreturn []", "2");
    check_pending("if ret != 7 and ret != 8:\n    return [1] if ret == 7 else [2]\nreturn [3]", "3 2");
    check_pending("for it in [1, 2, 3]:\n    if ret == it:\n        return [it * 10]\nreturn []", "10 20 30");
    check_pending("return [ret * 2] if ret in [1, 2] else []", "2 4");
    check_pending("return [1] if ret not in (None, True) else []", "1");
    check_pending("return [{1: 5, 2: 6}[ret]] if ret in {1: 0, 2: 0} else []", "5 6");
    check_pending("return [{1: 5}.get(ret, 0)]", "5 0");
    check_pending("return [1] if [ret, 3] == [2, 3] else []", "1");
    check_pending("return [ret] if {'a': ret} == {'a': 4} else []", "4");
    check_pending("return [1] if ret == [1, 2] and ret[0] == 1 else []", "1");
    // No result of a history is a tuple.
    check_pending("return [1] if ret == (1, 2) else [2]", "2");
    check_pending("return [1] if ret == [(1, 2)] else [2]", "2");
    check_pending("return [1] if ret == {'a': (1, 2)} else [2]", "2");
    check_pending("return [1] if ret == [range(2)] else [2]", "2");
    check_pending("return [1] if ret == [ret] else [2]", "2");
    check_pending("return [1] if ret == [[1, 2]] else [2]", "1 2");
    // Its truth.
    check_pending("return [1] if ret else [2]", "2 1");
    check_pending("return [1] if not ret and ret == 0 else []", "1");
    check_pending("return [1] if ret and ret == 0 else []", "");
    check_pending("return [1] if any([ret]) and ret == 'x' else []", "1");
    check_pending("return [bool(ret)] if ret == False or ret == 3 else []", "False True");
}

#[test]
fn a_result_that_is_not_known_is_not_used() {
    const HINT: &str = "needs the result of a pending operation, which is not known; a function `results";
    check_pending("return [1] if ret > 3 else []", &format!("x.star:4:23: `>` {HINT}"));
    check_pending("return [ret + 1]", &format!("x.star:4:17: `+` {HINT}"));
    check_pending("return [len(ret)]", &format!("x.star:4:16: `len` {HINT}"));
    check_pending("return [type(ret)]", &format!("x.star:4:17: `type` {HINT}"));
    check_pending("return [str(ret)]", &format!("x.star:4:16: `str` {HINT}"));
    check_pending("return [str([ret])]", &format!("x.star:4:16: a text {HINT}"));
    check_pending("return ['%r' % ret]", &format!("x.star:4:18: a text {HINT}"));
    check_pending("return ['{}'.format({'a': ret})]", &format!("x.star:4:17: a text {HINT}"));
    check_pending("x = [ret]\nreturn [str(x)] if ret == 3 else []", "\"[3]\"");
    check_pending("return [ret[0]]", &format!("x.star:4:16: `[…]` {HINT}"));
    check_pending("return [1 for x in ret]", "x.star:4:24: the result of a pending operation is not known");
    check_pending("return [{ret: 1}]", "x.star:4:14: the result of a pending operation is a key");
    check_pending("return [ret]", "x.star:3:5: the next state holds the result of a pending operation");
    let listed = "def initial():\n    return 0\ndef results(state, op, args):\n    return [1, 5, 9]\n\
                  def step(state, op, args, ret):\n    return [ret] if ret > 3 else []\n";
    assert_eq!(after(&script(listed), "op", Value::ABSENT, None), "5 9");
    assert_eq!(after(&script(listed), "op", Value::ABSENT, Some(Value::from(7))), "7");
}

#[test]
fn all_runs_for_a_pending_operation_are_limited() {
    let many = "t = 'x' * 1000000\nfor i in range(100):\n    if ret == i:\n        return [i]\nreturn [0]";
    check_pending(many, "x.star:1:1: the result of a pending operation is compared with many values");
    check_pending("return [1] if ret in range(300) else [2]", "1 2");
}

/// States that hold the state before twice, and states inside each other, are limited as well.
#[test]
fn a_state_that_grows_from_step_to_step_is_limited() {
    for (body, expected) in
        [("return [[state, state]]", "holds more than 1048576"), ("return [[state]]", "more than 60 levels")]
    {
        let mut script = with_step(body);
        script.bind(&Values::new().into(), Value::NIL);
        let call = script.read_call(&Values::new(), "op", Value::ABSENT).unwrap();
        let mut states = vec![script.initial()];
        for _ in 0..100 {
            let Some(state) = states.pop() else { break };
            script.step(&state, &call, Some(&Value::NIL), &mut states);
        }
        assert!(states.is_empty());
        assert!(Specification::fault(&script).is_some_and(|it| it.contains(expected)), "{body}");
    }
}

#[test]
fn possible_results_are_those_that_are_accepted() {
    let script =
        with_step("if op == 'any':\n    return [1]\nreturn [state] if ret in (0, None, 'x') else []");
    let call = |op: &str| script.read_call(&Values::new(), op, Value::ABSENT).unwrap();
    let returns = script.returns(&script.initial(), &call("some"));
    assert_eq!(returns, [Value::from(0), Value::NIL, Value::from("x")]);
    assert_eq!(script.returns(&script.initial(), &call("any")), [Value::ABSENT]);
    assert!(script.is_opaque(&Value::ABSENT) && !script.is_opaque(&Value::NIL));
}

#[test]
fn arguments_are_a_tuple() {
    let text = |operations: &str| {
        format!(
            "{operations}\ndef initial():\n    return 0\ndef step(state, op, args, ret):\n    return [args]\n"
        )
    };
    let free = script(&text(""));
    let pair = || Value::from(vec![Value::from(1), Value::from("x")]);
    assert_eq!(after(&free, "op", Value::ABSENT, None), "()");
    assert_eq!(after(&free, "op", Value::NIL, None), "()");
    assert_eq!(after(&free, "op", Value::from(3), None), "(3,)");
    assert_eq!(after(&free, "op", pair(), None), "(1, \"x\")");
    let declared = script(&text("operations = {\"none\": [], \"one\": [\"it\"], \"two\": [\"a\", \"b\"]}"));
    assert_eq!(after(&declared, "none", Value::NIL, None), "()");
    assert_eq!(after(&declared, "one", Value::NIL, None), "(None,)");
    assert_eq!(after(&declared, "one", pair(), None), "([1, \"x\"],)");
    assert_eq!(after(&declared, "two", pair(), None), "(1, \"x\")");
    for (op, arg, expected) in [
        ("three", Value::ABSENT, "no operation is called `three` (there are none, one, two)"),
        ("none", Value::from(1), "`none`: expected no argument, found 1"),
        ("one", Value::ABSENT, "`one`: expected a value, `it`, found nothing"),
        ("two", Value::from(1), "`two`: expected [a, b], found 1"),
    ] {
        assert_eq!(declared.read_call(&Values::new(), op, arg).unwrap_err().0, expected);
    }
}

#[test]
fn objects_and_keywords_of_histories_are_dicts_and_texts() {
    let script = with_step("return [ret]");
    for (written, expected) in [
        ("{\"b\":[1,{\"c\":null}],\"a\":true}", "{\"a\": True, \"b\": [1, {\"c\": None}]}"),
        ("{:from 0, :to \"x\" 3 :ok}", "{3: \"ok\", \"from\": 0, \"to\": \"x\"}"),
        ("{}", "{}"),
        ("1.5", "1.5"),
        ("{\"a\":1.5}", "{\"a\": 1.5}"),
        ("{\"a\":", "{\"a\":"),
        ("{[1] 2}", "{[1] 2}"),
        ("{\"\\u0041\\n\":\"\\\"\"}", "{\"A\\n\": \"\\\"\"}"),
    ] {
        let mut values = Values::new();
        let other = values.other(written);
        let shared = values.share(other);
        assert_eq!(after(&script, "op", Value::ABSENT, Some(shared)), expected);
    }
    let mut values = Values::new();
    let keyword = values.symbol("ok");
    assert_eq!(after(&script, "op", Value::ABSENT, Some(values.share(keyword))), "\"ok\"");
}

#[track_caller]
fn check_load_error(text: &str, expected: &str) {
    let error = Script::load("x.star", text).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{text}\n{error}");
}

#[test]
fn a_specification_is_checked_when_it_is_loaded() {
    const STEP: &str = "def step(state, op, args, ret): return []\n";
    const INITIAL: &str = "def initial(): return 0\n";
    check_load_error("", "x.star:1:1: a specification defines `initial()`; this file defines nothing");
    check_load_error(
        &format!("{INITIAL}def setp(state): return []"),
        "x.star:1:1: a specification defines `step(state, op, args, ret)`; this file defines `initial`, `setp`",
    );
    check_load_error(
        &format!("{INITIAL}def step(state, op, ret): return []"),
        "x.star:2:5: `step`: expected a function (state, op, args, ret), found 3 parameters",
    );
    check_load_error(
        &format!("initial = 0\n{STEP}"),
        "x.star:1:1: `initial`: expected a function (), found an int",
    );
    check_load_error(
        &format!("{INITIAL}{STEP}def part(op): return 1"),
        "x.star:3:5: `part`: expected a function (op, args)",
    );
    check_load_error(
        &format!("{INITIAL}{STEP}name = 3"),
        "x.star:3:1: `name`: expected a text, found an int",
    );
    check_load_error(
        &format!("{INITIAL}{STEP}operations = [1]"),
        "x.star:3:1: `operations`: expected a dict",
    );
    check_load_error(
        &format!("{INITIAL}{STEP}operations = {{\"a\": 3}}"),
        "x.star:3:1: `operations`: expected a dict",
    );
    check_load_error(
        &format!("{INITIAL}{STEP}operations = {{\"a\": []}}\nreads = [\"b\"]"),
        "x.star:4:1: `b` is not one of `operations`",
    );
    check_load_error("def initial():\n    return [][0]\n", "x.star:1:1: a specification defines `step");
    let error =
        Script::load("dir/x.star", &format!("{STEP}def initial():\n    return  [][0] # é\n")).unwrap_err();
    assert_eq!((error.line(), error.column()), (3, 15));
    let shown = "dir/x.star:3:15: the index 0 is outside of 0 items\n  3 |     return  [][0] # é\n    |               ^";
    assert_eq!(error.to_string(), shown);
}

#[test]
fn what_step_returns_is_checked() {
    for (body, expected) in [
        ("return None", "x.star:3:5: `step` returned None for `op`, expected the list of the next states"),
        ("return state", "x.star:3:5: `step` returned 0 for `op`"),
        ("pass", "x.star:3:5: `step` returned None for `op`"),
        ("return (1, 2)", "x.star:3:5: `step` returned (1, 2) for `op`"),
    ] {
        let found = after(&with_step(body), "op", Value::ABSENT, Some(Value::from(1)));
        assert!(found.starts_with(expected), "{found}");
    }
    let reads =
        "reads = [\"op\"]\ndef initial():\n    return 0\ndef step(state, op, args, ret):\n    return [1]\n";
    let found = after(&script(reads), "op", Value::ABSENT, Some(Value::from(1)));
    assert!(found.contains("`op` is one of `reads`, and `step` changes the state"), "{found}");
}

/// Whatever fails while a history is judged, there is no verdict.
#[test]
fn a_script_that_fails_makes_no_verdict() {
    for body in ["return [][1]", "return [state + 1] if state < 3 else fail('too far')", "return None"] {
        let text = format!(
            "operations = {{\"op\": []}}\ndef initial():\n    return 0\ndef step(state, op, args, ret):\n    {body}\n"
        );
        let counts = "operations = {\"op\": []}\ndef initial():\n    return 0\ndef step(state, op, args, ret):\n    return [0]\n";
        let recording = ErasedSpec::generate(
            &script(counts),
            &GeneratorConfig { operations: 12, ..GeneratorConfig::default() },
        );
        let case = script(&text).load(recording).unwrap();
        match judge(case.problems(), &JudgeOptions::default()).verdict {
            Verdict::Unknown(Reason::Specification(why)) => assert!(why.starts_with("x.star:"), "{why}"),
            verdict => panic!("{body}: {verdict:?}"),
        }
    }
}

#[test]
fn an_initial_state_can_be_given() {
    let text = include_str!("../objects/map.star");
    let bank = script(text);
    let mut values = Values::new();
    let pairs: Vec<Value> = [("a", 1), ("b", 2)]
        .into_iter()
        .map(|(key, value)| {
            let pair = [values.text(key), values.int(value)];
            values.list(&pair)
        })
        .collect();
    let initial = values.list(&pairs);
    let mut started = bank.clone();
    assert!(started.start_at(&values, initial));
    started.bind(&values.into(), Value::NIL);
    assert_eq!(format!("{:?}", started.initial()), "{\"a\": 1, \"b\": 2}");
    assert_eq!(format!("{:?}", bank.initial()), "{}");
}

#[test]
fn calls_are_drawn_as_declared() {
    let text = "operations = {\"move\": {\"from\": [\"a\", \"b\"], \"to\": range(2, 4)}}\ndef initial():\n    return 0\n\
                def step(state, op, args, ret):\n    return [state + 1] if ret == state else []\n";
    let config = GeneratorConfig { operations: 50, overlap: 0.0, ..GeneratorConfig::default() };
    let recording = ErasedSpec::generate(&script(text), &config);
    let mut seen = std::collections::BTreeSet::new();
    for (place, operation) in recording.history.operations().enumerate() {
        let Datum::List(items) = recording.values.get(operation.call.arg) else { panic!("no list") };
        seen.insert(
            items.iter().map(|it| recording.values.show(*it).to_string()).collect::<Vec<_>>().join(" "),
        );
        assert_eq!(operation.ret.map(|it| recording.values.get(*it)), Some(Datum::Int(place as i64)));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["\"a\" 2", "\"a\" 3", "\"b\" 2", "\"b\" 3"]);
    let undeclared = with_step("return [state]");
    ErasedSpec::generate(&undeclared, &config);
    assert!(ErasedSpec::fault(&undeclared).unwrap().contains("declares no `operations`"));
}
