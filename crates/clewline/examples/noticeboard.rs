//! The notice board of the manual page on actors: with its two bugs, and without.
//!
//! `cargo run --example noticeboard` shows the reports. The code is identical to that of the page;
//! a test compares them.

/// Responds at once; each node responds from its own state.
mod hasty {
    use clewline::{
        Deterministic,
        actors::{Actor, ActorId, AnyActor, Context, Explore, Harness},
    };

    #[derive(Clone, Debug)]
    pub(crate) struct Board;

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub(crate) enum Call {
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

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Message {
        Post(u32),  // from a client: put this up
        Look,       // from a client: what is up?
        Copy(u32),  // to the second node: put this up as well
        Shown(u32), // to a client: this is up
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Node {
        shown: u32,
    }

    const SECOND: ActorId = ActorId::new(1);

    impl Actor for Node {
        type Message = Message;

        fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
            match *message {
                Message::Post(notice) => {
                    self.shown = notice;
                    context.send(SECOND, Message::Copy(notice));
                    context.send(from, Message::Shown(notice));
                }
                Message::Copy(notice) => self.shown = notice,
                Message::Look => context.send(from, Message::Shown(self.shown)),
                Message::Shown(_) => unreachable!("sent only to clients"),
            }
        }
    }

    struct Noticeboard;

    impl Harness for Noticeboard {
        type Message = Message;
        type Specification = Board;

        fn specification(&self) -> Board {
            Board
        }

        fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
            vec![Box::new(Node { shown: 0 }), Box::new(Node { shown: 0 })]
        }

        fn request(&self, call: &Call, _n: u32) -> Message {
            match *call {
                Call::Post(notice) => Message::Post(notice),
                Call::Look => Message::Look,
            }
        }

        fn response(&self, message: &Message) -> Option<u32> {
            if let Message::Shown(notice) = *message { Some(notice) } else { None }
        }
    }

    pub(crate) fn noticeboard_is_linearizable() {
        Explore::new(Noticeboard)
            .client([(0, Call::Post(7))])
            .client([(0, Call::Look), (1, Call::Look)])
            .assert();
    }
}

/// Responds when both nodes have the notice; each node responds from its own state.
mod careful {
    use clewline::actors::{Actor, ActorId, AnyActor, Context, Explore, Harness};

    use super::hasty::{Board, Call};

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Message {
        Post(u32),
        Look,
        Copy(ActorId, u32), // to the second node: put this up as well, that client waits for it
        Copied(ActorId, u32), // back to the first node: done, for that client
        Shown(u32),
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Node {
        shown: u32,
    }

    const SECOND: ActorId = ActorId::new(1);

    impl Actor for Node {
        type Message = Message;

        fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
            match *message {
                Message::Post(notice) => {
                    self.shown = notice;
                    context.send(SECOND, Message::Copy(from, notice));
                }
                Message::Copy(client, notice) => {
                    self.shown = notice;
                    context.send(from, Message::Copied(client, notice));
                }
                Message::Copied(client, notice) => context.send(client, Message::Shown(notice)),
                Message::Look => context.send(from, Message::Shown(self.shown)),
                Message::Shown(_) => unreachable!("sent only to clients"),
            }
        }
    }

    struct Noticeboard;

    impl Harness for Noticeboard {
        type Message = Message;
        type Specification = Board;

        fn specification(&self) -> Board {
            Board
        }

        fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
            vec![Box::new(Node { shown: 0 }), Box::new(Node { shown: 0 })]
        }

        fn request(&self, call: &Call, _n: u32) -> Message {
            match *call {
                Call::Post(notice) => Message::Post(notice),
                Call::Look => Message::Look,
            }
        }

        fn response(&self, message: &Message) -> Option<u32> {
            if let Message::Shown(notice) = *message { Some(notice) } else { None }
        }
    }

    pub(crate) fn noticeboard_is_linearizable() {
        Explore::new(Noticeboard)
            .client([(0, Call::Post(7))])
            .client([(0, Call::Look), (1, Call::Look)])
            .assert();
    }
}

/// Responds when both nodes have the notice; the first node responds.
mod right {
    use clewline::actors::{Actor, ActorId, AnyActor, Context, Explore, Harness};

    use super::hasty::{Board, Call};

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Message {
        Post(u32),
        Look,
        Copy(ActorId, u32), // to the second node: put this up as well, that client waits for it
        Copied(ActorId, u32), // back to the first node: done, for that client
        Ask(ActorId),       // to the first node: that client wants to know what is up
        Shown(u32),
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Node {
        shown: u32,
    }

    const SECOND: ActorId = ActorId::new(1);
    const FIRST: ActorId = ActorId::new(0);

    impl Actor for Node {
        type Message = Message;

        fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
            match *message {
                Message::Post(notice) => {
                    self.shown = notice;
                    context.send(SECOND, Message::Copy(from, notice));
                }
                Message::Copy(client, notice) => {
                    self.shown = notice;
                    context.send(from, Message::Copied(client, notice));
                }
                Message::Copied(client, notice) => context.send(client, Message::Shown(notice)),
                Message::Look if context.me() == SECOND => context.send(FIRST, Message::Ask(from)),
                Message::Look => context.send(from, Message::Shown(self.shown)),
                Message::Ask(client) => context.send(client, Message::Shown(self.shown)),
                Message::Shown(_) => unreachable!("sent only to clients"),
            }
        }
    }

    struct Noticeboard;

    impl Harness for Noticeboard {
        type Message = Message;
        type Specification = Board;

        fn specification(&self) -> Board {
            Board
        }

        fn actors(&self) -> Vec<Box<dyn AnyActor<Message>>> {
            vec![Box::new(Node { shown: 0 }), Box::new(Node { shown: 0 })]
        }

        fn request(&self, call: &Call, _n: u32) -> Message {
            match *call {
                Call::Post(notice) => Message::Post(notice),
                Call::Look => Message::Look,
            }
        }

        fn response(&self, message: &Message) -> Option<u32> {
            if let Message::Shown(notice) = *message { Some(notice) } else { None }
        }
    }

    pub(crate) fn noticeboard_is_linearizable() {
        Explore::new(Noticeboard)
            .client([(0, Call::Post(7))])
            .client([(0, Call::Look), (1, Call::Look)])
            .assert();
    }
}

/// The report on a board that responds at once; `None` if there is no violation.
pub(crate) fn hasty() -> Option<String> {
    report(hasty::noticeboard_is_linearizable)
}

/// The report on a board that waits for the other node.
pub(crate) fn careful() -> Option<String> {
    report(careful::noticeboard_is_linearizable)
}

/// The report on the correct board.
pub(crate) fn right() -> Option<String> {
    report(right::noticeboard_is_linearizable)
}

fn report(check: fn()) -> Option<String> {
    let panic = std::panic::catch_unwind(check).err()?;
    panic.downcast::<String>().ok().map(|it| *it)
}

#[allow(dead_code, reason = "a test takes this file for a module")]
fn main() {
    for (design, report) in [("hasty", hasty()), ("careful", careful()), ("right", right())] {
        println!("{design}: {}", report.unwrap_or_else(|| "holds".to_owned()));
    }
}
