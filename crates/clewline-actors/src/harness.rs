//! Harnesses: actors, the calls that clients make, and what both mean to an object.

use std::{cell::Cell, fmt, ops::Deref};

use clewline_core::Specification;

use crate::actor::{ActorId, AnyActor, Message};

/// Actors that together implement an object, and how its calls and returns look among their messages.
///
/// This is what someone writes who wants their own system explored; the calls come with a [`Scenario`].
pub trait Harness: Send + Sync {
    /// What the actors say to each other and to clients.
    type Message: Message;
    /// The object they are to implement.
    type Specification: Specification<Call: Send + Sync + 'static, Return: Send + Sync + 'static>
        + Clone
        + Send
        + Sync
        + 'static;

    /// The object they are to implement.
    fn specification(&self) -> Self::Specification;

    /// The actors the system begins with: the first is `ActorId::new(0)`.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Self::Message>>>;

    /// The message by which a client asks for `call`; `n` is how many calls that client made before.
    fn request(&self, call: &<Self::Specification as Specification>::Call, n: u32) -> Self::Message;

    /// What a message to a client returns; `None` if it returns nothing and is to be ignored.
    fn response(&self, message: &Self::Message) -> Option<<Self::Specification as Specification>::Return>;

    /// Whether a response belongs to the call that was asked for by `request`. A client takes no notice of others, such as one to
    /// its previous call that was duplicated on the way. By default every response belongs to the call that is open.
    fn is_response_to(&self, _request: &Self::Message, _response: &Self::Message) -> bool {
        true
    }

    /// Which part of the system's state a message is about, such as the key of a map. Promise it only if the handlers of messages
    /// with different keys commute at every actor. `None` if the message may concern everything.
    fn key(&self, _message: &Self::Message) -> Option<u64> {
        None
    }

    /// What a harness of DS2 would list as the key of a message: all that `--compat ds2` makes LiViola believe. Unlike
    /// [`key`](Self::key) it promises nothing.
    fn published_key(&self, message: &Self::Message) -> Option<u64> {
        self.key(message)
    }

    /// What to call a message in a picture: by default the first word of what `Debug` shows.
    fn name(&self, message: &Self::Message) -> String {
        let shown = format!("{message:?}");
        let end = shown.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(shown.len());
        shown[..end].to_owned()
    }

    /// Properties of global states besides linearizability.
    fn properties(&self) -> Vec<Property<Self::Message>> {
        Vec::new()
    }
}

/// Something that is to be true of global states.
pub struct Property<M> {
    /// What a report calls it.
    pub name: &'static str,
    /// When it is to be true.
    pub when: Modality,
    /// Whether it is true of a state.
    pub holds: fn(&GlobalState<'_, M>) -> bool,
}

/// When a property is to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modality {
    /// In every state that can be reached.
    Always,
    /// In some state that can be reached.
    Sometimes,
    /// Sooner or later in every execution: one that ends, or goes round for ever, without it is a counterexample.
    Eventually,
}

impl<M> fmt::Debug for Property<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property").field("name", &self.name).field("when", &self.when).finish_non_exhaustive()
    }
}

/// A global state, as a property sees it.
#[derive(Debug)]
pub struct GlobalState<'a, M> {
    /// The actors, by number; those that were created come after those the system began with.
    pub actors: Vec<(ActorId, &'a dyn AnyActor<M>)>,
    /// The messages on their way: from, to, what.
    pub in_flight: Tracked<(ActorId, ActorId, &'a M)>,
    /// Who is down.
    pub crashed: Tracked<ActorId>,
}

/// A list that knows whether someone has looked at it: what nobody looks at makes no difference, and need not be explored.
pub struct Tracked<T> {
    all: Vec<T>,
    was_read: Cell<bool>,
}

impl<T> Tracked<T> {
    /// Whether someone has looked at it.
    pub(crate) fn was_read(&self) -> bool {
        self.was_read.get()
    }
}

impl<T> Deref for Tracked<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.was_read.set(true);
        &self.all
    }
}

impl<T> FromIterator<T> for Tracked<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Tracked { all: all.into_iter().collect(), was_read: Cell::new(false) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Tracked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<M: 'static> GlobalState<'_, M> {
    /// The actors of type `A`, in order.
    pub fn all<A: 'static>(&self) -> impl Iterator<Item = &A> {
        self.actors.iter().filter_map(|(_, it)| it.as_any().downcast_ref())
    }
}

/// What clients do, and when that counts as having happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario<C> {
    /// The calls, in the order of each client's program.
    pub calls: Vec<ClientCall<C>>,
    /// How clients go about their calls.
    pub clients: Clients,
}

/// One call of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCall<C> {
    /// Who calls.
    pub client: u32,
    /// Whom it asks.
    pub to: ActorId,
    /// For what.
    pub call: C,
}

/// How clients go about their calls, and when a call and a return count as having happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clients {
    /// A request is on its way as soon as its client's previous call has returned. The call happens when an actor receives it, the
    /// return when an actor sends it: the tightest span that any client could see, since a client may be as slow as it likes.
    Tight,
    /// Clients are like actors: a call happens when it is sent, which is as soon as the previous one returned, and a return when
    /// the client receives it.
    Waiting,
}

impl Clients {
    /// The name promised to scripts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Clients::Tight => "tight",
            Clients::Waiting => "waiting",
        }
    }
}
