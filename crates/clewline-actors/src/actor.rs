//! Actors: values that react to one message at a time.

use std::{any::Any, fmt, hash::Hash};

/// The messages that actors of one system send to each other, and the values of their timers.
/// Usually one enum.
pub trait Message: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static> Message for T {}

/// A receiver of messages: an actor, or one of the clients that use the system from outside.
///
/// The initial actors are numbered from 0 in the order in which they are listed. The id of a
/// created actor is computed from the id of its creator and the number of actors that the creator
/// had created before. It therefore does not depend on what other actors create at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(u32);

const CLIENT_BIT: u32 = 1 << 31;

impl ActorId {
    /// Maximum number of initial actors of a system.
    pub const ROOTS_MAX: u32 = 64;
    /// Maximum number of actors that one actor can create.
    pub const CHILDREN_MAX: u32 = 16;

    /// The `index`-th initial actor.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`ROOTS_MAX`](Self::ROOTS_MAX).
    #[must_use]
    pub const fn new(index: u32) -> Self {
        assert!(index < Self::ROOTS_MAX, "a system begins with at most 64 actors");
        ActorId(index)
    }

    /// The `index`-th client.
    #[must_use]
    pub const fn client(index: u32) -> Self {
        assert!(index < CLIENT_BIT, "there are fewer clients than that");
        ActorId(CLIENT_BIT | index)
    }

    /// The actor this one creates after it has created `n` others; `None` if the ids are used up.
    #[must_use]
    pub fn child(self, n: u32) -> Option<Self> {
        if self.is_client() || Self::CHILDREN_MAX <= n {
            return None;
        }
        let id = self.0.checked_mul(Self::CHILDREN_MAX)?.checked_add(Self::ROOTS_MAX + n)?;
        (id < CLIENT_BIT).then_some(ActorId(id))
    }

    /// Whether this is a client and no actor.
    #[must_use]
    pub const fn is_client(self) -> bool {
        self.0 & CLIENT_BIT != 0
    }

    /// Its index among the clients, or among the actors.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0 & !CLIENT_BIT
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_client() { 'C' } else { 'N' };
        write!(f, "{kind}{}", self.index() + 1)
    }
}

// As a report shows it: `N1`, `C2`.
#[cfg(feature = "files")]
impl serde::Serialize for ActorId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "files")]
impl<'de> serde::Deserialize<'de> for ActorId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ActorId, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let number = |kind| name.strip_prefix(kind)?.parse::<u32>().ok()?.checked_sub(1);
        let actor = number('N').filter(|it| *it < CLIENT_BIT).map(ActorId);
        let client = number('C').filter(|it| *it < CLIENT_BIT).map(ActorId::client);
        actor
            .or(client)
            .ok_or_else(|| serde::de::Error::custom("expected an actor as in `\"N1\"` or `\"C1\"`"))
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A value that reacts to one message at a time: its fields are its state.
///
/// # Contract
///
/// Each method is a pure function of `self`, its arguments, and the results of [`Context::choose`]:
/// no clock, no random number, no shared memory. The exploration runs a method once for each pair
/// of state and message that occurs, on a copy, and caches the outcome. It runs a sample of them
/// again, and reports a different outcome as an error.
///
/// Two equal actors behave in the same way from then on: the exploration merges equal states. Do
/// not keep fields that never matter, such as a count of messages received: they only add states.
///
/// ```
/// use clewline_actors::{Actor, ActorId, Context};
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// enum Message { Add(u32), Get, Sum(u32) }
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
/// struct Counter { sum: u32 }
///
/// impl Actor for Counter {
///     type Message = Message;
///
///     fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
///         match message {
///             Message::Add(n) => self.sum += n,
///             Message::Get => context.send(from, Message::Sum(self.sum)),
///             Message::Sum(_) => context.unhandled(),
///         }
///     }
/// }
/// ```
pub trait Actor: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// The message type of the system. All its actors have the same one; the types of the actors
    /// may differ.
    type Message: Message;

    /// Called when the system starts, or when another actor has created this one.
    fn on_start(&mut self, _context: &mut Context<Self::Message>) {}

    /// Called when a message is received.
    fn on_message(&mut self, from: ActorId, message: &Self::Message, context: &mut Context<Self::Message>);

    /// Called when a timer fires that was [set](Context::set_timer). It may fire at any moment: the
    /// exploration has no durations. The timer is then no longer set. An actor that sets a timer
    /// implements this: by default, the timer is [not handled](Context::unhandled).
    fn on_timer(&mut self, _timer: &Self::Message, context: &mut Context<Self::Message>) {
        context.unhandled();
    }

    /// Called when the actor restarts after a crash. `self` is as it was at the crash: reset
    /// volatile fields here. Its timers are no longer set. By default the whole state is durable.
    fn on_restart(&mut self, _context: &mut Context<Self::Message>) {}
}

/// The interface through which an actor acts while it reacts, besides changing its own state.
#[derive(Debug)]
pub struct Context<M> {
    me: ActorId,
    children: u32,
    outputs: Vec<Output<M>>,
    // The results that `choose` returns, and the number of alternatives of each choice.
    scripted_choices: Vec<u32>,
    choice_counts: Vec<u32>,
    is_unhandled: bool,
}

/// One output of a handler.
#[derive(Clone, Debug)]
pub enum Output<M> {
    /// A message to an actor or a client.
    Send(ActorId, M),
    /// A timer is set. It may have been set already.
    SetTimer(M),
    /// A timer is no longer set.
    CancelTimer(M),
    /// An actor is created.
    Create(ActorId, Box<dyn AnyActor<M>>),
}

impl<M: Message> Context<M> {
    /// The context of a handler of `me`, which has created `children` actors before. `choose`
    /// returns `scripted_choices`, and then 0.
    #[must_use]
    pub fn new(me: ActorId, children: u32, scripted_choices: Vec<u32>) -> Self {
        let (outputs, choice_counts) = (Vec::new(), Vec::new());
        Context { me, children, outputs, scripted_choices, choice_counts, is_unhandled: false }
    }

    /// The actor that reacts.
    #[must_use]
    pub fn me(&self) -> ActorId {
        self.me
    }

    /// Sends `message`. The schedule decides when it arrives, and whether other messages overtake
    /// it.
    pub fn send(&mut self, to: ActorId, message: M) {
        self.outputs.push(Output::Send(to, message));
    }

    /// Sets a timer, identified by its value. Setting a timer twice has the same effect as setting
    /// it once.
    pub fn set_timer(&mut self, timer: M) {
        self.outputs.push(Output::SetTimer(timer));
    }

    /// Cancels a timer: it does not fire.
    pub fn cancel_timer(&mut self, timer: M) {
        self.outputs.push(Output::CancelTimer(timer));
    }

    /// Creates another actor, which starts at once.
    ///
    /// # Panics
    ///
    /// If an actor creates more than 16 others, or if creations are nested more than about six
    /// deep.
    pub fn create<A: Actor<Message = M>>(&mut self, actor: A) -> ActorId {
        let id =
            self.me.child(self.children).expect("an actor creates at most 16 others, six generations deep");
        self.children += 1;
        self.outputs.push(Output::Create(id, Box::new(actor)));
        id
    }

    /// Returns a number below `n`. Every number is explored.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn choose(&mut self, n: u32) -> u32 {
        assert!(0 < n, "there is nothing to choose from");
        let at = self.choice_counts.len();
        self.choice_counts.push(n);
        self.scripted_choices.get(at).copied().unwrap_or(0)
    }

    /// Reports that the actor does not handle the message or timer: the exploration ends with an
    /// error that names it. For what must not arrive; what may be ignored needs no call.
    pub fn unhandled(&mut self) {
        self.is_unhandled = true;
    }

    /// Whether the handler called [`unhandled`](Self::unhandled).
    #[must_use]
    pub fn is_unhandled(&self) -> bool {
        self.is_unhandled
    }

    /// The outputs, the number of actors created so far, and the number of alternatives of each
    /// `choose`.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Output<M>>, u32, Vec<u32>) {
        (self.outputs, self.children, self.choice_counts)
    }
}

/// An actor with its type erased, so that actors of several types can be part of one system.
///
/// Implemented for every [`Actor`]; do not implement it otherwise.
pub trait AnyActor<M>: fmt::Debug + Send + Sync {
    /// See [`Actor::on_start`].
    fn on_start(&mut self, context: &mut Context<M>);
    /// See [`Actor::on_message`].
    fn on_message(&mut self, from: ActorId, message: &M, context: &mut Context<M>);
    /// See [`Actor::on_timer`].
    fn on_timer(&mut self, timer: &M, context: &mut Context<M>);
    /// See [`Actor::on_restart`].
    fn on_restart(&mut self, context: &mut Context<M>);
    /// A copy.
    fn clone_boxed(&self) -> Box<dyn AnyActor<M>>;
    /// Whether the two are of one type and equal.
    fn is_equal(&self, other: &dyn AnyActor<M>) -> bool;
    /// Feeds the type and the value to `hasher`.
    fn hash_into(&self, hasher: &mut dyn std::hash::Hasher);
    /// The actor itself, to be downcast to its type.
    fn as_any(&self) -> &dyn Any;
    /// The name of its type, without the modules.
    fn type_name(&self) -> &'static str;
}

impl<A: Actor> AnyActor<A::Message> for A {
    fn on_start(&mut self, context: &mut Context<A::Message>) {
        Actor::on_start(self, context);
    }

    fn on_message(&mut self, from: ActorId, message: &A::Message, context: &mut Context<A::Message>) {
        Actor::on_message(self, from, message, context);
    }

    fn on_timer(&mut self, timer: &A::Message, context: &mut Context<A::Message>) {
        Actor::on_timer(self, timer, context);
    }

    fn on_restart(&mut self, context: &mut Context<A::Message>) {
        Actor::on_restart(self, context);
    }

    fn clone_boxed(&self) -> Box<dyn AnyActor<A::Message>> {
        Box::new(self.clone())
    }

    fn is_equal(&self, other: &dyn AnyActor<A::Message>) -> bool {
        other.as_any().downcast_ref::<A>().is_some_and(|it| it == self)
    }

    fn hash_into(&self, mut hasher: &mut dyn std::hash::Hasher) {
        std::any::type_name::<A>().hash(&mut hasher);
        self.hash(&mut hasher);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn type_name(&self) -> &'static str {
        let name = std::any::type_name::<A>();
        let name = name.split('<').next().unwrap_or(name);
        name.rsplit("::").next().unwrap_or(name)
    }
}

impl<M> Clone for Box<dyn AnyActor<M>> {
    fn clone(&self) -> Self {
        (**self).clone_boxed()
    }
}
