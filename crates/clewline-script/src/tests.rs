//! The language: what scripts evaluate to, and the errors of scripts.

use clewline_testing::pick;

use crate::{
    program::Program,
    value::{Shown, Val},
};

const STEP: &str = "\ndef step(state, op, args, ret):\n    return [state]\n";

/// What `initial` of a script returns, or the error.
fn initial(script: &str) -> Result<String, String> {
    match Program::load("x.star", &format!("{script}{STEP}")) {
        Ok(program) => Ok(Shown { heap: None, value: &program.initial }.to_string()),
        Err(error) => Err(format!("{}:{}: {}", error.line(), error.column(), error.message())),
    }
}

#[track_caller]
fn check(expression: &str, expected: &str) {
    let script = format!("def initial():\n    return {expression}\n");
    assert_eq!(initial(&script).as_deref(), Ok(expected), "{expression}");
}

#[track_caller]
fn check_body(body: &str, expected: &str) {
    let body: String = body.lines().map(|it| format!("    {it}\n")).collect();
    assert_eq!(initial(&format!("def initial():\n{body}")).as_deref(), Ok(expected), "{body}");
}

#[track_caller]
fn check_error(script: &str, expected: &str) {
    match initial(script) {
        Ok(value) => panic!("{script}: evaluates to {value}"),
        Err(error) => assert!(error.starts_with(expected), "{script}\n  is  {error}\n  not {expected}"),
    }
}

#[test]
fn arithmetic_is_that_of_starlark() {
    for (expression, expected) in [
        ("1 + 2 * 3 - 4", "3"),
        ("(1 + 2) * 3", "9"),
        ("-7 // 2", "-4"),
        ("7 // -2", "-4"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("-(3)", "-3"),
        ("~5", "-6"),
        ("0x1f + 0o17 + 0b11", "49"),
        ("1 | 6 & 3 ^ 8", "11"),
        ("1 << 4 >> 2", "4"),
        ("-1 >> 70", "-1"),
        ("0 << 99", "0"),
        ("9223372036854775807", "9223372036854775807"),
        ("2 < 3 and not 3 < 2", "True"),
        ("1 if 0 else 2", "2"),
        ("None or 0 or 'x'", "\"x\""),
        ("[] and 1", "[]"),
        ("True == 1", "False"),
        ("[1] == (1,)", "False"),
        ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "True"),
        ("range(3) == range(0, 3, 1)", "True"),
        ("[1, 2] < [1, 3] and 'a' < 'b' and (1, 'x') >= (1, 'x')", "True"),
    ] {
        check(expression, expected);
    }
}

#[test]
fn sequences_are_indexed_and_sliced() {
    for (expression, expected) in [
        ("[1, 2, 3][-1]", "3"),
        ("[1, 2, 3, 4][1:3]", "[2, 3]"),
        ("[1, 2, 3, 4][::-1]", "[4, 3, 2, 1]"),
        ("(1, 2, 3)[:-1]", "(1, 2)"),
        ("'héllo'[1:3] + 'x'[0]", "\"élx\""),
        ("'abc'[5:]", "\"\""),
        ("range(10)[2:8:3]", "[2, 5]"),
        ("range(10)[-1]", "9"),
        ("3 in [1, 2, 3]", "True"),
        ("'b' not in {'a': 1}", "True"),
        ("'ell' in 'hello'", "True"),
        ("4 in range(0, 10, 3)", "False"),
        ("[1] * 3 + [2]", "[1, 1, 1, 2]"),
        ("2 * 'ab'", "\"abab\""),
        ("(1,) + (2,)", "(1, 2)"),
        ("{'a': 1} | {'b': 2, 'a': 3}", "{\"a\": 3, \"b\": 2}"),
    ] {
        check(expression, expected);
    }
}

#[test]
fn functions_and_methods_are_those_of_starlark() {
    for (expression, expected) in [
        ("len('héllo') + len([1]) + len({}) + len(range(5))", "11"),
        ("sorted([3, 1, 2], reverse = True)", "[3, 2, 1]"),
        ("sorted(['bb', 'a', 'ccc'], key = lambda it: -len(it))", "[\"ccc\", \"bb\", \"a\"]"),
        (
            "sorted([(1, 'b'), (0, 'z'), (1, 'a')], key = lambda it: it[0])",
            "[(0, \"z\"), (1, \"b\"), (1, \"a\")]",
        ),
        ("min(3, 1, 2) + max([3, 1, 2])", "4"),
        ("max(['a', 'bbb'], key = len)", "\"bbb\""),
        ("any([0, 1]) and all([1, 'x']) and all([])", "True"),
        ("list(enumerate(['a', 'b'], 1))", "[(1, \"a\"), (2, \"b\")]"),
        ("zip([1, 2], 'a b'.split())", "[(1, \"a\"), (2, \"b\")]"),
        ("list(reversed(range(3)))", "[2, 1, 0]"),
        ("dict([('a', 1)], b = 2)", "{\"a\": 1, \"b\": 2}"),
        ("str(1) + str([1, 'x', None, (2,)])", "\"1[1, \\\"x\\\", None, (2,)]\""),
        ("int('12') + int(True)", "13"),
        (
            "type(1) + type('') + type([]) + type(None) + type({}) + type(())",
            "\"intstringlistNoneTypedicttuple\"",
        ),
        ("abs(-3)", "3"),
        ("bool([]) or bool(())", "False"),
        ("'a,b'.split(',') + ['-'.join(['x', 'y'])]", "[\"a\", \"b\", \"x-y\"]"),
        ("'%s is %d%%, %r' % ('x', 5, 'y')", "\"x is 5%, \\\"y\\\"\""),
        ("'{} {1} {n} {{}}'.format(1, 2, n = 3)", "\"1 2 3 {}\""),
        ("'Abc'.lower() + 'Abc'.upper() + ' x '.strip()", "\"abcABCx\""),
        ("'a=b=c'.partition('=')", "(\"a\", \"=\", \"b=c\")"),
        ("'a=b=c'.rpartition('=')", "(\"a=b\", \"=\", \"c\")"),
        ("'abc'.find('c') + 'abc'.find('x')", "1"),
        (
            "repr(range(3)) + repr(range(1, 10, 4)) + repr(range(5, 0))",
            "\"range(0, 3)range(1, 10, 4)range(5, 0)\"",
        ),
        ("'٣'.isdigit() or '½'.isdigit() or ''.isdigit()", "False"),
        ("'abc'.startswith('ab') and 'abc'.endswith('bc') and '12'.isdigit()", "True"),
        ("'key:1'.removeprefix('key:').replace('1', '22')", "\"22\""),
        ("{'a': 1}.get('a') + {'a': 1}.get('b', 5)", "6"),
        ("{'b': 1, 'a': 2}.items()", "[(\"b\", 1), (\"a\", 2)]"),
        ("{'b': 1, 'a': 2}.keys() + {'b': 1}.values()", "[\"b\", \"a\", 1]"),
        ("[1, 2, 3].index(2)", "1"),
        ("[x * y for x in range(3) if x for y in [1, 10]]", "[1, 10, 2, 20]"),
        ("{k: v for k, v in [('a', 1), ('b', 2)]}", "{\"a\": 1, \"b\": 2}"),
        ("[x for x in [1, 2]] + [x for x in [3]]", "[1, 2, 3]"),
        ("(lambda x, y = 2: x + y)(1)", "3"),
        (
            r#"'tab\t' + "q\"" + r'\n' + '\x41\u00e9' + """a
b""""#,
            r#""tab\tq\"\\nAéa\nb""#,
        ),
    ] {
        check(expression, expected);
    }
}

#[test]
fn statements_are_those_of_starlark() {
    check_body(
        "total = 0\nfor x in range(10):\n    if x == 2: continue\n    if x == 5: break\n    total += x\nreturn total",
        "8",
    );
    check_body("a, (b, c) = 1, [2, 3]\nd = {}\nd['x'] = a + b\nd['x'] += c\nreturn d", "{\"x\": 6}");
    check_body("a = [1]\nb = a\nb += [2]\nb.append(3)\nreturn a", "[1, 2, 3]");
    check_body("a = [1]\nb = a + [2]\nreturn (a, b)", "([1], [1, 2])");
    check_body(
        "a = [5, 6, 7]\na.pop()\na.insert(0, 4)\na.remove(6)\na.extend((1, 2))\nreturn a",
        "[4, 5, 1, 2]",
    );
    check_body("a = [1, 2]; a.clear(); return a", "[]");
    check_body(
        "d = {'a': 1, 'b': 2}\nd.pop('a')\nd.setdefault('c', 3)\nd.update([('b', 5)], z = 1)\nreturn d",
        "{\"b\": 5, \"c\": 3, \"z\": 1}",
    );
    check_body("if False:\n    x = 1\nelif 0:\n    x = 2\nelse:\n    x = 3\nreturn x", "3");
    check_body(
        "def outer(n):\n    def inner(k): return n + k\n    n = n * 10\n    return inner\nreturn outer(2)(1)",
        "21",
    );
    check_body("n = [0]\ndef bump():\n    n.append(1)\nbump()\nbump()\nreturn len(n)", "3");
    check_body("fs = [lambda: x for x in [1, 2]]\nreturn [f() for f in fs]", "[2, 2]");
    check_body("# a comment\n\nx = (1 +\n     2)  # more\ny = x \\\n    + 1\nreturn y", "4");
    check_body("pass", "None");
    // What is frozen in a state is sorted by its keys.
    check_body(
        "return {'b': [{'z': 1, 'y': 2}], 'a': 0, 3: 0, (1, 2): 0}",
        "{3: 0, \"a\": 0, \"b\": [{\"y\": 2, \"z\": 1}], (1, 2): 0}",
    );
    let globals = "LIMIT = 3\nTABLE = {\"b\": LIMIT, \"a\": [x for x in range(2)]}\ndef helper(x, by = LIMIT):\n    return x + by\n";
    let script = format!("{globals}def initial():\n    return [helper(1), helper(1, by = 5), TABLE]\n");
    assert_eq!(initial(&script).as_deref(), Ok("[4, 6, {\"a\": [0, 1], \"b\": 3}]"));
}

#[test]
fn what_is_not_supported_is_named_with_its_place() {
    for (script, expected) in [
        ("def initial():\n    while True:\n        pass", "2:5: not supported: `while` loops"),
        ("class X: pass", "1:1: not supported: classes"),
        ("import os", "1:1: not supported: imports"),
        ("load('a', 'b')", "1:1: not supported: `load`"),
        ("x = 1.5", "1:5: floating-point numbers are not supported, found `1.5`"),
        ("x = 1e3", "1:5: floating-point numbers are not supported"),
        ("x = 1 / 2", "1:7: `/` makes floating-point numbers"),
        ("x = 2 ** 3", "1:7: `**` is not supported"),
        ("x = b'a'", "1:5: bytes are not supported"),
        ("x = f'a'", "1:5: f-strings are not supported"),
        ("x = {1, 2}", "1:6: sets are not supported"),
        ("x = set([1])", "1:5: not supported: sets"),
        ("def f(*args): pass", "1:7: parameters with `*` are not supported"),
        ("x = dict(**{})", "1:10: `**` is not supported"),
        ("x = max(*[1])", "1:9: arguments with `*` are not supported"),
        ("def f(x: int): pass", "1:8: expected `)`, found `:`"),
        ("def f() -> int: pass", "1:9: types of functions are not supported"),
        ("x = (y for y in [1])", "1:8: generators are not supported"),
        ("x = [1].append", "1:15: expected `(`: a method is called where it is named"),
        ("x = 'a'.nope()", "1:9: no method is called `nope`"),
        ("for x in [1]: pass", "1:1: `for` is allowed only inside of a function"),
        ("x = y = 1", "1:7: `a = b = c` is not supported"),
        ("x = 1 < 2 < 3", "1:11: comparisons are not chained"),
        ("x = 'a' 'b'", "1:9: texts are joined by `+`"),
        ("def initial():\n    print(1)", "2:5: not supported: `print`"),
        ("def initial():\n    x is None", "2:7: not supported: `is`"),
        ("def initial():\n    return nope", "2:12: `nope` is not defined"),
        ("def initial():\n    retrun [1]", "2:5: `retrun` is not defined; did you mean `return`?"),
        ("def f(state):\n    return statee", "2:12: `statee` is not defined; did you mean `state`?"),
        (
            "def f(state):\n    return [g(x) for x in statte]",
            "2:27: `statte` is not defined; did you mean `state`?",
        ),
        (
            "ACCOUNTS = 1\ndef f():\n    return ACOUNTS",
            "3:12: `ACOUNTS` is not defined; did you mean `ACCOUNTS`?",
        ),
        ("x = @", "1:5: expected a word of Starlark, found `@`"),
    ] {
        check_error(script, expected);
    }
}

#[test]
fn errors_of_syntax_have_their_place() {
    for (script, expected) in [
        ("def initial()\n    return 1", "1:14: expected `:`, found the end of the line"),
        ("def initial():\nreturn 1", "2:1: expected an indented block, found `return`"),
        ("def initial():\n    x = 1\n  y = 2", "3:3: expected the indentation of an outer block"),
        ("  x = 1", "1:3: this line is indented"),
        ("def f():\n\tpass", "2:1: expected spaces as indentation, found a tab"),
        ("x = (1", "4:1: "),
        ("x = 1)", "1:6: `)` closes nothing"),
        ("x = 'abc", "1:5: a text is not closed on its line"),
        ("x = '\\q'", "1:6: `\\q` is no escape"),
        ("x = 99999999999999999999", "1:5: expected an integer of 64 bits"),
        ("x = 012", "1:5: expected an integer, found `012`"),
        ("x = [1, 2", ""),
        ("break", "1:1: `break` is allowed only inside of a loop"),
        ("return 1", "1:1: `return` is allowed only inside of a function"),
        ("x = 1\nx = 2", "2:1: `x` is defined twice"),
        ("def f(a, a): pass", "1:10: two parameters are called `a`"),
        ("def f(a = 1, b): pass", "1:14: `b` needs a default"),
        ("1 = x", "1:1: expected a name"),
    ] {
        check_error(script, expected);
    }
}

#[test]
fn errors_of_a_call_have_their_place() {
    for (body, expected) in [
        ("return 1 + 'x'", "2:14: `+` does not take an int and a string"),
        ("return [1][3]", "2:15: the index 3 is outside of 1 items"),
        ("return {}['x']", "2:14: the dict has no key \"x\""),
        ("return {[]: 1}", "2:13: a list cannot be a key of a dict"),
        ("return {'a': 1, 'a': 2}", "2:21: a key occurs twice"),
        ("return 9223372036854775807 + 1", "2:32: an integer exceeds 64 bits"),
        ("return 1 // 0", "2:14: a division by 0"),
        ("fail('no', 3)", "2:9: fail: no 3"),
        ("return x\n    x = 1", "2:12: `x` is used before its assignment"),
        ("a, b = [1]", "2:5: expected 2 values to assign, found 1"),
        ("return len(1)", "2:15: `len` does not take an int"),
        ("return sorted([1, 'a'])", "2:18: `<` does not take an int and a string"),
        ("l = [1]\n    for x in l: l.append(x)", "3:18: this list is changed while a loop goes over it"),
        ("TABLE.append(1)", "2:10: this list is frozen"),
        ("TABLE[0] = 1", "2:10: this list is frozen"),
        ("return initial()", "2:19: `initial` calls itself: recursion is not supported"),
        ("return (lambda f: f(f))(lambda f: f(f))", "2:40: `lambda` calls itself"),
        ("return step(1)", "2:16: `step` needs a value for `op`"),
        ("return step(1, 2, 3, 4, 5)", "2:16: `step` takes 4 arguments, found 5"),
        ("return step(1, state = 2)", "2:16: `step` has two values for `state`"),
        ("return step(1, x = 2)", "2:16: `step` has no parameter `x`"),
        ("return 3(4)", "2:13: an int is called"),
        ("return [x for x in 3]", "2:24: expected a list, a tuple, a range or a dict, found an int"),
        ("for x in range(10000000): pass", "2:31: the call takes more than 2000000 steps"),
        ("return 'x' * 1000000000000", "2:16: the call takes more than"),
        ("return list(range(1000000000000))", "2:16: the call takes more than"),
        ("l = []\n    l.append(l)\n    return l", "1:5: a value is nested more than 60 levels deep"),
        ("return lambda: 1", "1:5: a state holds a function"),
        ("return '%d' % 'x'", "2:17: `%d` does not take a string"),
        ("return max([])", "2:15: `max` of nothing"),
        ("return [1].nope", "2:16: no method"),
        ("return 'a'.join([1])", "2:15: `join` does not take an int"),
    ] {
        check_error(&format!("def initial():\n    {body}\nTABLE = [1]\n"), expected);
    }
}

#[test]
fn calls_of_functions_are_checked_before_they_are_made() {
    let script = |call: &str| {
        format!("def helper(a, b = 1):\n    return a\ndef initial():\n    return 0 if True else {call}\n")
    };
    for (call, expected) in [
        ("helper()", "4:33: `helper` needs a value for `a`"),
        ("helper(1, 2, 3)", "4:33: `helper` takes 2 arguments, found 3"),
        ("helper(1, a = 2)", "4:33: `helper` has two values for `a`"),
        ("helper(1, c = 2)", "4:33: `helper` has no parameter `c`"),
        ("[helper() for helper in [initial]]", ""),
        ("helper(b = 2, a = 1) + helper(1) + (lambda helper: helper())(initial)", ""),
    ] {
        match expected {
            "" => assert_eq!(initial(&script(call)).as_deref(), Ok("0"), "{call}"),
            expected => check_error(&script(call), expected),
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{1:", "}"), ("-", ""), ("not ", ""), ("f(", ")"), ("lambda: ", "")]
    {
        for depth in [70, 100_000] {
            let script =
                format!("def f(x):\n    return x\nx = {}1{}\n", open.repeat(depth), close.repeat(depth));
            let error = initial(&script).expect_err("it is nested too deeply");
            assert!(error.contains("nested more than"), "{open} {error}");
        }
    }
    for long in ["1 + ", "1 or ", "f.", "1 == 1 and ", "f()("] {
        let script = format!("def f():\n    return 1\nx = {}1\n", long.repeat(100_000));
        assert!(initial(&script).is_err(), "{long}");
    }
    let blocks: String = (0..1_000).map(|it| format!("{}if True:\n", " ".repeat(it + 1))).collect();
    assert!(initial(&format!("def initial():\n{blocks}{}pass\n", " ".repeat(1_001))).is_err());
    // Many functions, each of which calls the next one.
    let chain: String = (0..1_000).map(|it| format!("def f{it}(): return f{}()\n", it + 1)).collect();
    check_error(
        &format!("{chain}def f1000(): return 1\ndef initial(): return f0()\n"),
        "66:22: calls and expressions are nested more than 200 levels deep",
    );
}

#[test]
fn a_text_is_shown_as_a_script_may_contain_it() {
    for text in ["a'b", "\"\\", "\n\r\t", "\0\u{7}\u{7f}", "é\u{200b}\u{feff}", "\u{1f600}\u{e0001}"] {
        let shown = Shown { heap: None, value: &Val::text(text) }.to_string();
        assert!(!shown.contains("\\u{"), "{shown}");
        // It means the same in a script, and `repr` of it is what is shown.
        check(&shown, &shown);
        let script = format!("def initial():\n    return {shown}\n{STEP}");
        let program = Program::load("x.star", &script).expect(&script);
        assert!(matches!(&program.initial, Val::Text(found) if **found == *text), "{shown}");
    }
}

#[test]
fn a_call_is_limited_whatever_it_does() {
    const DOUBLED: &str = "for i in range(58):\n        x =";
    const STEPS: &str = "more than 2000000 steps";
    const SIZE: &str = "a value holds more than 1048576 values";
    const DEPTH: &str = "a value is nested more than 60 levels deep";
    let bodies = [
        // What is returned has a size, and values that are shared count each time.
        ("return range(1 << 50)".to_owned(), SIZE),
        ("return [range(1 << 19), range(1 << 19), range(1 << 19)]".to_owned(), SIZE),
        (format!("x = []\n    {DOUBLED} [x, x]\n    return x"), SIZE),
        (format!("x = ()\n    {DOUBLED} (x, x)\n    return x"), SIZE),
        (format!("x = {{}}\n    {DOUBLED} {{1: x, 2: x}}\n    return x"), SIZE),
        ("t = 'x' * 1000000\n    return [t] * 1000".to_owned(), SIZE),
        // So does what is a key, is shown, or is compared.
        (format!("x = ()\n    {DOUBLED} (x, x)\n    return {{x: 1}}"), SIZE),
        (format!("x = []\n    {DOUBLED} [x, x]\n    return str(x)"), STEPS),
        (format!("x = []\n    {DOUBLED} [x, x]\n    return '%r' % [x]"), STEPS),
        (format!("x = []\n    y = []\n    {DOUBLED} [x, x]\n        y = [y, y]\n    return x == y"), STEPS),
        (format!("x = []\n    {DOUBLED} [x, x]\n    return {{}}.pop(x)"), "a list cannot be a key"),
        (format!("x = []\n    {DOUBLED} [x, x]\n    return [1].index(x)"), "[[[["),
        // Copies take steps.
        ("d = {i: i for i in range(1000)}\n    for i in range(100000): e = d | {}".to_owned(), STEPS),
        ("t = 'x' * 1000000\n    for i in range(100000): n = len(t)".to_owned(), STEPS),
        ("t = 'x' * 1000000\n    for i in range(100000): n = t[0]".to_owned(), STEPS),
        ("t = 'x' * 1000000\n    u = t + 'y'\n    for i in range(100000): n = t < u".to_owned(), STEPS),
        ("t = 'x' * 100000\n    return t.join(['a'] * 100000)".to_owned(), STEPS),
        ("t = 'x' * 100000\n    return t.strip(t)".to_owned(), STEPS),
        ("l = [0] * 500000\n    for i in range(100000): l.insert(0, 1)".to_owned(), STEPS),
        // Neither tuples nor defaults are nested without an end.
        ("x = ()\n    for i in range(100000): x = (x,)\n    return 1".to_owned(), DEPTH),
        ("x = ()\n    for i in range(100000): x = zip([x])[0]\n    return 1".to_owned(), DEPTH),
        ("f = len\n    for i in range(100000): f = lambda g = f: g\n    return 1".to_owned(), DEPTH),
    ];
    // In `./test` every third of them.
    for (body, expected) in bodies.into_iter().step_by(pick(3, 1)) {
        let error = initial(&format!("def initial():\n    {body}\n")).expect_err(&body);
        assert!(error.contains(expected) && error.len() < 1_000, "{body}\n{error}");
    }
    check("len(list(range(100000)))", "100000");
    check("[range(3)]", "[[0, 1, 2]]");
}
