//! Scripts with random changes: whatever they are, the interpreter does not panic.

use clewline_core::{Codec, Random, Specification, Value, Values};
use clewline_script::Script;
use clewline_testing::share;

const SCRIPTS: [&str; 8] = [
    include_str!("../objects/bag.star"),
    include_str!("../objects/map.star"),
    include_str!("../objects/queue.star"),
    include_str!("../objects/register.star"),
    include_str!("../objects/stack.star"),
    include_str!("../../../../examples/specifications/bank.star"),
    include_str!("../../../../examples/specifications/documents.star"),
    include_str!("../../../../examples/specifications/lease.star"),
];

// Pieces that are put somewhere.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "\n",
    "\n    ",
    " ",
    "ret",
    "state",
    "args",
    "op",
    "==",
    "=",
    "+",
    "-",
    "//",
    "%",
    "*",
    "[1:]",
    "[-1]",
    "[::-1]",
    "0",
    "9223372036854775807",
    "None",
    "\"x\"",
    "lambda x: x",
    " if 1 else 2",
    " for x in args",
    " not in ",
    " in ",
    "sorted",
    "dict",
    ".pop()",
    ".append(ret)",
    "range(9)",
    "é",
];

fn mutated(text: &str, random: &mut Random) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len());
        match random.below(4) {
            0 => {
                text.remove(at);
            }
            1 => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.chars());
            }
            2 => {
                let end = (at + random.below(12)).min(text.len());
                let piece: Vec<char> = text[at..end].to_vec();
                let to = random.below(text.len());
                text.splice(to..to, piece);
            }
            _ => {
                let end = (at + 1 + random.below(6)).min(text.len());
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..end, piece.chars());
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn mutated_scripts_never_panic() {
    let mut random = Random::new(1);
    let (mut loaded, mut refused, mut faults, mut stepped) = (0, 0, 0, 0);
    let count = share(40_000);
    for round in 0..count {
        let text = mutated(SCRIPTS[round % SCRIPTS.len()], &mut random);
        let script = match Script::load("m.star", &text) {
            Ok(script) => script,
            Err(error) => {
                assert!(
                    error.line() <= text.lines().count() + 1 && error.to_string().contains('^'),
                    "{error}"
                );
                refused += 1;
                continue;
            }
        };
        loaded += 1;
        let operations: Vec<(&str, usize)> = script.operations().map(|it| (it.0, it.1.len())).collect();
        let mut states = vec![script.initial()];
        for (method, arity) in operations {
            let items: Vec<Value> = (0..arity as i64).map(Value::from).collect();
            let arg = if arity == 1 { items[0] } else { items.into() };
            let arg = if arity == 0 { Value::ABSENT } else { arg };
            let Ok(call) = script.read_call(&Values::new(), method, arg) else { continue };
            for ret in [None, Some(Value::NIL), Some(Value::TRUE), Some(Value::from(1))] {
                let state = states[states.len() - 1].clone();
                script.step(&state, &call, ret.as_ref(), &mut states);
                script.returns(&state, &call);
                script.part(&call);
            }
        }
        faults += usize::from(script.fault().is_some());
        stepped += usize::from(1 < states.len());
    }
    assert!(count / 20 < loaded && count / 20 < refused, "{loaded} loaded, {refused} refused");
    assert!(count / 50 < faults && count / 50 < stepped, "{faults} fail, {stepped} make steps");
}
