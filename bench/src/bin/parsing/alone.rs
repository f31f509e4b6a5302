//! The JSON reader alone, beside serde_json and sonic-rs.
//!
//! All read the same bytes into the same columns, without ranking them: what stays the same
//! whichever reads is left out. There are three peers:
//!
//! * serde_json and sonic-rs into a typed struct, which knows integers, plain texts and truth
//!   values only, and takes processes as numbers. That is less than our format allows.
//! * [`same`]: serde_json as it would be in our place, with any value, names of processes and
//!   objects, and members that are given once.
//!
//! All begin with bytes of which none knows yet that they are a text. Only ours says in which
//! column something is wrong, what was expected and what was found.

mod same;

use std::{hint::black_box, time::Duration};

use clewline_bench::{best, digits, ratio};
use clewline_core::{ObjectId, ProcessId, RawCall, Timed, TimedColumns, Value, Values};
use clewline_formats::{Row, RowKind, formats};
use serde::Deserialize;

type Columns = TimedColumns<RawCall, Value>;

const ROUNDS: usize = 9;
// As much as our reader takes at a time from a file.
const BLOCK_BYTES: usize = 1 << 20;

/// Measures one text of operations, a row of the table.
pub(crate) fn measure(what: &str, text: &str, lines: usize) {
    check(text, lines);
    let [ours, same, serde, sonic] = best(
        ROUNDS,
        [
            &mut || drop(black_box(read_with_ours(text))),
            &mut || drop(black_box(same::read(text.as_bytes()))),
            &mut || drop(black_box(read_with(text.as_bytes(), |it| serde_json::from_str(it).ok()))),
            &mut || drop(black_box(read_with(text.as_bytes(), |it| sonic_rs::from_str(it).ok()))),
        ],
    );
    let each = |time: Duration| digits(time.as_secs_f64() * 1e9 / lines as f64);
    println!(
        "| {what} | {lines} | {} | {} | {} | {} | {} | {} | {} |",
        each(ours),
        each(same),
        each(serde),
        each(sonic),
        ratio(same, ours),
        ratio(serde, ours),
        ratio(sonic, ours),
    );
}

/// The names of the columns of the table.
pub(crate) fn print_head() {
    println!(
        "| the reader alone | lines | ours, ns/line | serde_json, the same | serde_json, typed | sonic-rs, typed \
         | the same / ours | serde_json / ours | sonic-rs / ours |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
}

/// All have read the same.
fn check(text: &str, lines: usize) {
    let histories = [
        read_with_ours(text),
        same::read(text.as_bytes()),
        read_with(text.as_bytes(), |it| serde_json::from_str(it).ok()),
        read_with(text.as_bytes(), |it| sonic_rs::from_str(it).ok()),
    ]
    .map(|it| it.finish().expect("processes wait for their results"));
    assert_eq!(histories[0].len(), lines, "every line was read");
    for id in (0..lines).map(clewline_core::OperationId::from_index) {
        let shown = histories.each_ref().map(|it| (it.call(id), it.ret(id), it.process(id)));
        assert!(shown.iter().all(|it| *it == shown[0]), "{shown:?} are the same");
    }
}

fn read_with_ours(text: &str) -> Columns {
    let mut follower = formats::jsonl::ENTRY.follow().expect("JSON lines can be followed");
    let mut columns = Columns::with_capacity(0);
    let mut push = |row: &Row| {
        let RowKind::Operation(called, returned) = row.kind else { unreachable!("operations were written") };
        let call = RawCall { method: row.method, arg: row.arg };
        let (process, object) = (ProcessId(row.process), ObjectId(row.object));
        columns.push(Timed { process, object, call, called, returned: returned.map(|it| (row.ret, it)) });
    };
    for block in text.as_bytes().chunks(BLOCK_BYTES) {
        follower.take(block, &mut push).expect("the text is in its format");
    }
    columns
}

fn read_with<'t>(text: &'t [u8], read: impl Fn(&'t str) -> Option<Line<'t>>) -> Columns {
    let text = std::str::from_utf8(text).expect("a text");
    let mut values = Values::new();
    let mut columns = Columns::with_capacity(0);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        let line = read(&text[start..end]).expect("a line of JSON");
        start = end + 1;
        let method = values.text(line.op.expect("an operation is named"));
        let call = RawCall { method, arg: line.arg.intern(&mut values) };
        let ret = line.ret.intern(&mut values);
        let (process, object) = (ProcessId(line.process), ObjectId(0));
        let called = line.call.expect("an operation has a time");
        columns.push(Timed { process, object, call, called, returned: line.r#return.map(|it| (ret, it)) });
    }
    columns
}

/// A line, of either kind, for serde.
#[derive(Deserialize)]
struct Line<'l> {
    event: Option<&'l str>,
    process: u32,
    op: Option<&'l str>,
    #[serde(borrow, default)]
    arg: Scalar<'l>,
    #[serde(borrow, default)]
    ret: Scalar<'l>,
    call: Option<i64>,
    r#return: Option<i64>,
}

/// A value, read without the detour that an untagged enum takes.
#[derive(Default)]
enum Scalar<'l> {
    #[default]
    Nothing,
    Bool(bool),
    Int(i64),
    Text(&'l str),
}

impl<'de: 'l, 'l> Deserialize<'de> for Scalar<'l> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Scalar<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a scalar")
            }
            fn visit_bool<E>(self, it: bool) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Bool(it))
            }
            fn visit_i64<E>(self, it: i64) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Int(it))
            }
            fn visit_u64<E>(self, it: u64) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Int(it.cast_signed()))
            }
            fn visit_borrowed_str<E>(self, it: &'de str) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Text(it))
            }
            fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Nothing)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Scalar<'_> {
    fn intern(&self, values: &mut Values) -> Value {
        match *self {
            Scalar::Nothing => Value::ABSENT,
            Scalar::Bool(false) => Value::FALSE,
            Scalar::Bool(true) => Value::TRUE,
            Scalar::Int(it) => values.int(it),
            Scalar::Text(it) => values.text(it),
        }
    }
}

/// Reads every line with serde_json into a struct and looks at each field of it. Nothing is
/// interned, paired or ranked.
pub(crate) fn forget_with_serde(text: &str) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        let line: Line<'_> = serde_json::from_str(&text[start..end]).expect("a line of JSON");
        start = end + 1;
        let length = |it: &Scalar<'_>| match it {
            Scalar::Nothing => 0,
            Scalar::Bool(it) => i64::from(*it),
            Scalar::Int(it) => *it,
            Scalar::Text(it) => it.len() as i64,
        };
        black_box((
            line.event,
            line.process,
            line.op,
            length(&line.arg),
            length(&line.ret),
            line.call,
            line.r#return,
        ));
    }
}
