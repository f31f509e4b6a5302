//! The notice board of the manual page on actors: with its two bugs, and without.
//!
//! `cargo run --example noticeboard` shows the reports.

use clewline::{
    Deterministic,
    actors::{Actor, ActorId, AnyActor, Context, Explore, Harness},
};

/// What a board should do when a single client uses it: it shows the latest notice.
#[derive(Clone, Debug)]
struct Board;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Post(u32),
    Look,
}

impl Deterministic for Board {
    type State = u32;
    type Call = Call;
    type Return = u32;

    fn initial(&self) -> u32 {
        0
    }

    fn apply(&self, shown: &mut u32, call: &Call) -> Option<u32> {
        if let Call::Post(notice) = call {
            *shown = *notice;
        }
        Some(*shown)
    }
}

/// What boards and clients say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Message {
    /// From a client: put this up.
    Post(u32),
    /// From a client: what is up?
    Look,
    /// To the other board: put this up as well; a client waits for it.
    Copy(ActorId, u32),
    /// Back to the first board: done, for that client.
    Copied(ActorId, u32),
    /// From the other board: a client wants to know what is up.
    Ask(ActorId),
    /// To a client: this is up.
    Shown(u32),
}

/// When a post counts as done, and who answers a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Design {
    /// At once; each board answers for itself.
    Hasty,
    /// When both boards have it; each board answers for itself.
    Careful,
    /// When both boards have it; the first board answers.
    Right,
}

/// One of two boards; posts go to the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    design: Design,
    shown: u32,
}

const FIRST: ActorId = ActorId::new(0);
const SECOND: ActorId = ActorId::new(1);

impl Actor for Node {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        match *message {
            Message::Post(notice) => {
                self.shown = notice;
                context.send(SECOND, Message::Copy(from, notice));
                if self.design == Design::Hasty {
                    context.send(from, Message::Shown(notice));
                }
            }
            Message::Copy(client, notice) => {
                self.shown = notice;
                context.send(FIRST, Message::Copied(client, notice));
            }
            Message::Copied(client, notice) => {
                if self.design != Design::Hasty {
                    context.send(client, Message::Shown(notice));
                }
            }
            Message::Look if self.design == Design::Right && context.me() != FIRST => {
                context.send(FIRST, Message::Ask(from));
            }
            Message::Look => context.send(from, Message::Shown(self.shown)),
            Message::Ask(client) => context.send(client, Message::Shown(self.shown)),
            Message::Shown(_) => unreachable!("only clients are told"),
        }
    }
}

/// Two boards, and how clients talk to them.
struct Noticeboard(Design);

impl Harness for Noticeboard {
    type Message = Message;
    type Specification = Board;

    fn specification(&self) -> Board {
        Board
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
        let node = Node { design: self.0, shown: 0 };
        vec![Box::new(node.clone()), Box::new(node)]
    }

    fn request(&self, call: &Call, _n: u32) -> Message {
        match *call {
            Call::Post(notice) => Message::Post(notice),
            Call::Look => Message::Look,
        }
    }

    fn response(&self, message: &Message) -> Option<u32> {
        match *message {
            Message::Shown(notice) => Some(notice),
            Message::Post(_) | Message::Look | Message::Copy(..) | Message::Copied(..) | Message::Ask(_) => {
                None
            }
        }
    }
}

/// One client posts; another looks at the first board, and then at the second.
fn explore(design: Design) -> Explore<Noticeboard> {
    Explore::new(Noticeboard(design)).client([(0, Call::Post(7))]).client([(0, Call::Look), (1, Call::Look)])
}

/// The report of a board that answers at once, or none if nothing is wrong.
pub(crate) fn hasty() -> Option<String> {
    report(Design::Hasty)
}

/// The report of a board that waits for the other.
pub(crate) fn careful() -> Option<String> {
    report(Design::Careful)
}

/// The report of the one that is right.
pub(crate) fn right() -> Option<String> {
    report(Design::Right)
}

fn report(design: Design) -> Option<String> {
    let told = std::panic::catch_unwind(|| explore(design).check()).err()?;
    told.downcast::<String>().ok().map(|it| *it)
}

#[allow(dead_code, reason = "a test takes this file for a module")]
fn main() {
    for (design, told) in [("hasty", hasty()), ("careful", careful()), ("right", right())] {
        println!("{design}: {}", told.unwrap_or_else(|| "holds".to_owned()));
    }
}
