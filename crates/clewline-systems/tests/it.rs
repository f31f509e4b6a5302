//! Systems that harness files describe.

use std::panic::AssertUnwindSafe;

use clewline::{
    Verdict,
    actors::{Actor, ActorId, ActorScheduler, AnyActor, Context, Explore, ExploreOutcome, HarnessFile},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Message {
    Write { number: u32, value: i64 },
    Read(u32),
    Written(u32),
    Held(u32, Option<i64>),
    Copy(i64),
    Copied,
    Progress(u8, u8),
}

/// One copy of a register. The first server passes writes on to the others, and waits for none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Server {
    others: u32,
    value: Option<i64>,
    copied: u32,
    is_chatty: bool,
}

impl Actor for Server {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Write { number, value } => {
                self.value = Some(value);
                (1..=self.others).for_each(|it| context.send(ActorId::new(it), Message::Copy(value)));
                if self.is_chatty {
                    context.send(from, Message::Progress(1, 2));
                }
                context.send(from, Message::Written(number));
            }
            Message::Read(number) => context.send(from, Message::Held(number, self.value)),
            Message::Copy(value) => {
                self.value = Some(value);
                context.send(from, Message::Copied);
            }
            Message::Copied => self.copied += 1,
            Message::Written(_) | Message::Held(..) | Message::Progress(..) => context.unhandled(),
        }
    }
}

fn servers(count: u32, is_chatty: bool) -> Vec<Box<dyn AnyActor<Message>>> {
    let server = |it| Server { others: if it == 0 { count - 1 } else { 0 }, is_chatty, ..Server::default() };
    (0..count).map(|it| Box::new(server(it)) as Box<dyn AnyActor<Message>>).collect()
}

const MESSAGES: &str = "\
spec register
request write(v) = Write { number: n, value: v }
request read = Read(n)
response Written(n) to Write { number: n, .. } = true
response Held(n, v) to Read(n) = v
";

fn holds(outcome: &ExploreOutcome) -> bool {
    matches!(outcome.verdict, Verdict::Holds(()))
}

fn explore(lines: &str, count: u32) -> Result<ExploreOutcome, String> {
    explore_by(lines, servers(count, false), ActorScheduler::States)
}

fn explore_by(
    lines: &str,
    actors: Vec<Box<dyn AnyActor<Message>>>,
    scheduler: ActorScheduler,
) -> Result<ExploreOutcome, String> {
    let text = format!("{MESSAGES}{lines}");
    let explore = Explore::from_text("servers", &text, actors).map_err(|it| it.to_string())?;
    explore.scheduler(scheduler).run().map_err(|it| it.to_string())
}

#[test]
fn a_system_is_judged_by_the_specification_that_the_file_names() {
    let one = explore("C1 N1 write(1)\nC1 N1 write(2)\nC2 N1 read\n", 1).unwrap();
    assert!(one.finding().is_none(), "{one:?}");
    assert!(holds(&one), "{one:?}");
    // The second server hears of it later.
    let two = explore("actors 2\nclients waiting\nC1 N1 write(1)\nC1 N2 read # 1 is expected\n", 2).unwrap();
    let finding = two.finding().unwrap();
    assert!(format!("{finding:?}").contains("Held(1, None)"), "{finding:?}");
    assert_eq!(two.program, ["C1 asks N1 for write(1)", "C1 asks N2 for read()"]);
    // By another specification these are increments.
    let text =
        MESSAGES.replace("spec register", "spec counter").replace("request write(v)", "request add(v)");
    let explored =
        Explore::from_text("servers", &format!("{text}C1 N1 add(2)\nC1 N1 read\n"), servers(1, false));
    assert!(explored.unwrap().run().unwrap().finding().is_none());
    let explored = Explore::from_text(
        "servers",
        &format!("{text}C1 N1 add(2)\nC1 N1 add(2)\nC1 N1 read\n"),
        servers(1, false),
    );
    assert!(explored.unwrap().run().unwrap().finding().is_some(), "2 and 2 are 4");
}

#[test]
fn a_file_is_read_from_its_path_and_gives_the_system_its_name() {
    let folder = std::env::temp_dir().join(format!("clewline-harness-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("two-copies.harness");
    std::fs::write(&path, format!("{MESSAGES}clients waiting\nC1 N1 write(1)\nC1 N2 read\n")).unwrap();
    let explore = Explore::from_file(&path, servers(2, false)).unwrap();
    let report = std::panic::catch_unwind(AssertUnwindSafe(|| explore.assert())).unwrap_err();
    let report = report.downcast_ref::<String>().unwrap();
    assert!(report.starts_with("violated: two-copies is not linearizable as a register"), "{report}");
    assert!(report.contains("write(1)"), "{report}");
    let error = Explore::from_file(folder.join("none.harness"), servers(1, false)).unwrap_err();
    assert!(error.to_string().contains("none.harness"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_message_that_the_file_does_not_know_is_an_error() {
    let calls = "C1 N1 write(1)\nC2 N1 read\n";
    let chatty = |lines: &str| explore_by(lines, servers(1, true), ActorScheduler::States);
    let error = chatty(calls).unwrap_err();
    assert!(error.contains("N1 sends Progress(1, 2) to C1"), "{error}");
    assert!(error.contains("it matches no line that begins with `response` or `ignore`"), "{error}");
    for line in
        ["ignore Progress(..)", "ignore Progress(1, _)", "ignore Progress(1, ..)", "ignore Progress(x, y)"]
    {
        let outcome = chatty(&format!("{line}\n{calls}")).unwrap();
        assert!(holds(&outcome), "{line}: {outcome:?}");
    }
    for line in ["ignore Progress(2, _)", "ignore Progress(x, x)", "ignore Progress", "ignore Progress(1)"] {
        assert!(chatty(&format!("{line}\n{calls}")).is_err(), "{line}");
    }
    // A response to no call, and a result that the call cannot have.
    let text = MESSAGES.replace("to Read(n) = v", "to Read(9) = v") + "C1 N1 read\n";
    let error = Explore::from_text("servers", &text, servers(1, false)).unwrap().run().unwrap_err();
    assert!(error.to_string().ends_with("no call has such a request"), "{error}");
    let text = MESSAGES.replace("= true", "= 7") + "C1 N1 write(1)\n";
    let error = Explore::from_text("servers", &text, servers(1, false)).unwrap().run().unwrap_err();
    assert!(error.to_string().contains("to C1 at message Write"), "{error}");
    assert!(error.to_string().contains("the result of `write`: expected"), "{error}");
}

/// `Copied` only counts: that it is delivered at once loses no history, and spares states.
#[test]
fn immediate_messages_are_not_interleaved() {
    let calls = "clients waiting\nC1 N1 write(1)\nC1 N2 read\nC2 N3 read\n";
    let all = explore(calls, 3).unwrap();
    let fewer = explore(&format!("immediate Copied\n{calls}"), 3).unwrap();
    let histories = |it: &ExploreOutcome| (it.metrics.canonical, it.metrics.violated);
    assert_eq!(histories(&all), histories(&fewer));
    let states = |it: &ExploreOutcome| it.metrics.states.as_ref().unwrap().unique;
    assert!(states(&fewer) < states(&all), "{} {}", states(&fewer), states(&all));
    assert_eq!((all.immediate.len(), fewer.immediate), (0, vec!["Copied".to_owned()]));
    // What is delivered at once is never late.
    let none = explore(&format!("immediate Copy(_)\n{calls}"), 3).unwrap();
    assert!(none.metrics.violated < all.metrics.violated, "{none:?}");
    // The same by executions; a reduction says that it does not know.
    let by = |scheduler| {
        explore_by("immediate Copied\nC1 N1 write(1)\nC2 N1 read\n", servers(2, false), scheduler).unwrap()
    };
    assert!(holds(&by(ActorScheduler::EXHAUSTIVE)));
    let reduced = by(ActorScheduler::DPOR);
    assert!(
        matches!(&reduced.verdict, Verdict::Unknown(why) if why.contains("delivered at once")),
        "{reduced:?}"
    );
}

/// A reduction tests the keys that it believes.
#[test]
fn keys_are_those_of_the_file() {
    let by_keys = |lines: &str| {
        let calls = "C1 N1 write(1)\nC2 N1 write(2)\n";
        explore_by(&format!("{lines}{calls}"), servers(2, false), ActorScheduler::LIVIOLA)
    };
    assert!(by_keys("").is_ok_and(|it| holds(&it)));
    assert!(by_keys("key Copy(_) = 1\n").is_ok_and(|it| holds(&it)));
    let error = by_keys("key Copy(v) = v\n").unwrap_err();
    assert!(error.starts_with("the keys promise too much: a message at N2 from N1"), "{error}");
}

#[test]
fn errors_name_line_and_column() {
    let wrong = |text: &str| match HarnessFile::read(text) {
        Err(error) => error.to_string(),
        Ok(_) => Explore::from_text("servers", text, servers(2, false))
            .map_or_else(|it| it.to_string(), |it| it.run().expect_err(text).to_string()),
    };
    for (text, message) in [
        ("write(1)", "line 1, column 1: expected a call as in `C1 N2 write(1)`, or a line that begins with"),
        ("actors many", "line 1, column 8: expected an integer of 64 bits, found `many`"),
        ("actors 2 3", "line 1, column 10: expected the end of the line, found `3`"),
        ("clients lazy", "line 1, column 9: expected `tight` or `waiting`, found `lazy`"),
        ("spec", "line 1, column 5: expected the name of a specification"),
        (
            "spec regster\nC1 N1 read",
            "line 1, column 6: no specification is called `regster`; did you mean `register`?",
        ),
        ("C1 N1 read", "line 1, column 1: expected a line such as `spec register`, found none"),
        ("C0 N1 read", "line 1, column 1: expected a call as in"),
        ("C+1 N1 read", "line 1, column 1: expected a call as in"),
        ("C1 N1", "line 1, column 1: expected a call as in"),
        ("C1 N99999999999 read", "line 1, column 1: expected clients and actors from 1 to 64"),
        ("\nrequest write(v) = Write(n, w)", "line 2, column 20: `w` is not on the left side of the line"),
        ("request write(v) = Write(n, _)", "line 1, column 20: expected a whole value, without `_` and `..`"),
        ("request write(v) Write(n, v)", "line 1, column 18: expected `=`, found `Write(n, v)`"),
        ("request write(v = Write(v)", "line 1, column 17: expected `)`, found `= Write(v)`"),
        ("response Held(n, v) Read(n) = v", "line 1, column 21: expected `to`, found `Read(n) = v`"),
        ("response Held(n, v to Read(n) = v", "line 1, column 20: expected `)`, found `to Read(n) = v`"),
        ("ignore \"x", "line 1, column 8: expected a text that ends with `\"`"),
        ("key Copy(v)", "line 1, column 12: expected `=`, found the end of the line"),
        ("published", "line 1, column 1: expected a call as in"),
    ] {
        assert!(wrong(text).starts_with(message), "{text}: {}", wrong(text));
    }
    for (line, message) in [
        ("C1 N3 read", "line 6, column 1: expected one of the actors N1 to N2, found N3"),
        ("C1 N1 push(1)", "line 6, column 7: expected one of the calls write, read; found `push`"),
        ("C1 N1 write(1", "line 6, column 7: `write(1` lacks a closing bracket"),
        ("actors 3\nC1 N1 read", "line 6: expected 2 actors, found 3"),
        (
            "ignore Progres(..)\nC1 N1 read",
            "line 6, column 8: no message is called `Progres`; did you mean `Progress`?",
        ),
    ] {
        let found = wrong(&format!("{MESSAGES}{line}"));
        assert!(found.starts_with(message), "{line}: {found}");
    }
    // The first line that fits counts; here it names no message.
    let text = MESSAGES.replace("request read = Read(n)", "request read = Reed(n)") + "C1 N1 read";
    let error = wrong(&text);
    assert!(
        error.starts_with("line 3, column 16: this is no message of the actors: unknown variant `Reed`"),
        "{error}"
    );
    let text = MESSAGES.replace("request read = Read(n)\n", "request write = Read(n)\n") + "C1 N1 read";
    assert!(wrong(&text).contains("expected one of the calls write; found `read`"), "{}", wrong(&text));
    let text = MESSAGES.replace("Read(n)", "Read(\"x\")") + "C1 N1 read";
    assert!(wrong(&text).contains("this is no message of the actors: invalid type"), "{}", wrong(&text));
}

#[test]
fn large_integers_texts_and_lists_are_values() {
    let register = clewline::specs::find("register").unwrap().to_any();
    let text = format!("{MESSAGES}C1 N1 write(5000000000)\nC2 N2 write(6000000000)\n");
    let calls = HarnessFile::read(&text).unwrap().calls(&register, &[], 2).unwrap();
    assert_ne!(calls[0].call, calls[1].call);
    let outcome = explore("C1 N1 write(5000000000)\nC1 N1 read\n", 1).unwrap();
    assert!(holds(&outcome), "{outcome:?}");
}
