//! Harnesses: actors, the calls of clients, and how messages map to calls and returns of an object.

use std::{cell::Cell, fmt, ops::Deref};

use clewline_core::Specification;

use crate::actor::{ActorId, AnyActor, Message};

/// Actors that together implement an object, and how its calls and returns appear as messages.
///
/// Users implement this for their own systems. The calls are given by a [`Scenario`].
pub trait Harness: Send + Sync {
    /// The messages between actors, and between actors and clients.
    type Message: Message;
    /// The object they are to implement.
    type Specification: Specification<Call: Send + Sync + 'static, Return: Send + Sync + 'static>
        + Clone
        + Send
        + Sync
        + 'static;

    /// The object they are to implement.
    fn specification(&self) -> Self::Specification;

    /// The initial actors: the first is `ActorId::new(0)`.
    fn actors(&self) -> Vec<Box<dyn AnyActor<Self::Message>>>;

    /// The request of `call`; `n` is the number of calls that its client made before.
    fn request(&self, call: &<Self::Specification as Specification>::Call, n: u32) -> Self::Message;

    /// The result that a message to a client carries; `None` if it is no response and is ignored.
    fn response(&self, message: &Self::Message) -> Option<<Self::Specification as Specification>::Return>;

    /// Whether `response` is the response to `request`. A client ignores other responses, such as a
    /// duplicate of the response to its previous call. By default every response belongs to the
    /// pending call.
    fn is_response_to(&self, _request: &Self::Message, _response: &Self::Message) -> bool {
        true
    }

    /// The part of the system's state a message is about, such as the key of a map. Return `Some`
    /// only if the handlers of messages with different keys commute at every actor. `None` if the
    /// message may concern the whole state.
    fn key(&self, _message: &Self::Message) -> Option<u64> {
        None
    }

    /// The key that a DS2 harness lists for a message: `--compat ds2` makes LiViola use it. Unlike
    /// [`key`](Self::key) it promises nothing.
    fn published_key(&self, _message: &Self::Message) -> Option<u64> {
        None
    }

    /// Why the harness cannot be used with these calls, if it cannot: a line of its file is wrong.
    fn mistake(&self, _calls: &[ClientCall<<Self::Specification as Specification>::Call>]) -> Option<String> {
        None
    }

    /// Why a message to a client is an error, if it is: the harness does not know it.
    fn misunderstood(&self, _message: &Self::Message) -> Option<String> {
        None
    }

    /// Whether a message is delivered as soon as it can be, before all others: it is internal, and
    /// its order among others does not matter. The exploration believes that.
    fn is_immediate(&self, _message: &Self::Message) -> bool {
        false
    }

    /// The names of the messages that are [immediate](Self::is_immediate), for reports.
    fn immediate(&self) -> Vec<String> {
        Vec::new()
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

/// A property of global states.
pub struct Property<M> {
    /// What a report calls it.
    pub name: &'static str,
    /// In which states it has to hold.
    pub when: Modality,
    /// Whether it is true of a state.
    pub holds: fn(&GlobalState<'_, M>) -> bool,
}

/// In which states a property has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modality {
    /// In every state that can be reached.
    Always,
    /// In some state that can be reached.
    Sometimes,
    /// Eventually in every execution: an execution that ends, or cycles, without it is a
    /// counterexample.
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
    /// The actors, by id; created actors come after the initial ones.
    pub actors: Vec<(ActorId, &'a dyn AnyActor<M>)>,
    /// The messages in flight: sender, receiver, message.
    pub in_flight: Tracked<(ActorId, ActorId, &'a M)>,
    /// The actors that are down.
    pub crashed: Tracked<ActorId>,
}

/// A list that records whether it was read: a list that is never read makes no difference to a
/// property, and need not be explored.
pub struct Tracked<T> {
    all: Vec<T>,
    was_read: Cell<bool>,
}

impl<T> Tracked<T> {
    /// Whether the list was read.
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
    /// The client.
    pub client: u32,
    /// The actor that receives the request.
    pub to: ActorId,
    /// The call.
    pub call: C,
}

/// How clients make their calls, and when an invocation and a response take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clients {
    /// A request is in flight as soon as its client's previous call has returned. The call takes
    /// place when an actor receives the request, the return when an actor sends the response: the
    /// shortest interval that a client could observe, since a client may be arbitrarily slow.
    #[default]
    Tight,
    /// Clients are like actors: a call takes place when its request is sent, which is as soon as
    /// the previous call has returned, and a return takes place when the client receives the
    /// response.
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
