//! Actors: values that react to one message at a time.

use std::{any::Any, fmt, hash::Hash};

/// What actors of one system say to each other, and what their timers say to them: usually one enum.
pub trait Message: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static> Message for T {}

/// Whoever can be sent a message: an actor, or one of the clients that use the system from outside.
///
/// The actors a system begins with are numbered from 0 in the order they are listed. An actor that another one creates has a
/// number made of its creator's number and how many that one had created before, so that it does not depend on who else creates
/// what at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(u32);

const CLIENT: u32 = 1 << 31;

impl ActorId {
    /// How many actors a system can begin with.
    pub const ROOTS_MAX: u32 = 64;
    /// How many others an actor can create.
    pub const CHILDREN_MAX: u32 = 16;

    /// The `index`-th actor a system begins with.
    ///
    /// # Panics
    ///
    /// If a system cannot begin with so many.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        assert!(index < Self::ROOTS_MAX, "a system begins with at most 64 actors");
        ActorId(index)
    }

    /// The `index`-th client.
    #[must_use]
    pub const fn client(index: u32) -> Self {
        assert!(index < CLIENT, "there are fewer clients than that");
        ActorId(CLIENT | index)
    }

    /// The actor this one creates after it has created `n` others; `None` if the numbers are used up.
    #[must_use]
    pub fn child(self, n: u32) -> Option<Self> {
        if self.is_client() || Self::CHILDREN_MAX <= n {
            return None;
        }
        let id = self.0.checked_mul(Self::CHILDREN_MAX)?.checked_add(Self::ROOTS_MAX + n)?;
        (id < CLIENT).then_some(ActorId(id))
    }

    /// Whether this is a client and no actor.
    #[must_use]
    pub const fn is_client(self) -> bool {
        self.0 & CLIENT != 0
    }

    /// Its number among the clients, or among the actors.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0 & !CLIENT
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_client() { 'C' } else { 'N' };
        write!(f, "{kind}{}", self.index() + 1)
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
/// Each method is a pure function of `self`, its arguments, and what [`Context::choose`] answers: no clock, no random number,
/// no shared memory. The exploration runs a method once for each state and message that occurs, on a copy, and remembers what
/// came of it. It runs a sample again, and tells if something else comes of it.
///
/// Two actors that are equal behave in the same way from then on: the exploration merges equal states. Keep no field that never
/// matters, such as a count of messages seen, or there will be more states than need be.
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
///             Message::Sum(_) => (),
///         }
///     }
/// }
/// ```
pub trait Actor: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// What the actors of its system say to each other. The same type for all of them; the actors' types may differ.
    type Message: Message;

    /// The system begins, or another actor has created this one.
    fn on_start(&mut self, _context: &mut Context<Self::Message>) {}

    /// A message has come.
    fn on_message(&mut self, from: ActorId, message: &Self::Message, context: &mut Context<Self::Message>);

    /// A timer goes off that was [set](Context::set_timer). It may go off at any moment, late or early: how long it was to run
    /// means nothing here. It is no longer set.
    fn on_timer(&mut self, _timer: &Self::Message, _context: &mut Context<Self::Message>) {}

    /// The actor starts again after a crash. `self` is as it was when it crashed: what was kept in memory alone is to be
    /// forgotten here. Its timers are no longer set. By default everything was on disk.
    fn on_restart(&mut self, _context: &mut Context<Self::Message>) {}
}

/// What an actor does while it reacts, besides changing itself.
#[derive(Debug)]
pub struct Context<M> {
    me: ActorId,
    children: u32,
    outputs: Vec<Output<M>>,
    // What `choose` is to answer, and among how many there was a choice each time.
    scripted_choices: Vec<u32>,
    choice_counts: Vec<u32>,
}

/// One thing an actor did.
#[derive(Clone, Debug)]
pub enum Output<M> {
    /// A message to an actor or a client.
    Send(ActorId, M),
    /// A timer is set; it was set already, perhaps.
    SetTimer(M),
    /// A timer is no longer set.
    CancelTimer(M),
    /// There is one more actor.
    Create(ActorId, Box<dyn AnyActor<M>>),
}

impl<M: Message> Context<M> {
    /// What `me` is handed, who created `children` others before. `choose` answers `answers`, and 0 from then on.
    #[must_use]
    pub fn new(me: ActorId, children: u32, scripted_choices: Vec<u32>) -> Self {
        Context { me, children, outputs: Vec::new(), scripted_choices, choice_counts: Vec::new() }
    }

    /// Who is reacting.
    #[must_use]
    pub fn me(&self) -> ActorId {
        self.me
    }

    /// Sends `message`. When it arrives, and whether others overtake it, is for the schedule to say.
    pub fn send(&mut self, to: ActorId, message: M) {
        self.outputs.push(Output::Send(to, message));
    }

    /// Sets a timer, which is known by what it says when it goes off. To set it twice is to set it once.
    pub fn set_timer(&mut self, timer: M) {
        self.outputs.push(Output::SetTimer(timer));
    }

    /// Makes sure that a timer does not go off.
    pub fn cancel_timer(&mut self, timer: M) {
        self.outputs.push(Output::CancelTimer(timer));
    }

    /// Creates another actor, which starts at once.
    ///
    /// # Panics
    ///
    /// If an actor creates more than 16 others, or if they create others to a depth of more than about six.
    pub fn create<A: Actor<Message = M>>(&mut self, actor: A) -> ActorId {
        let id =
            self.me.child(self.children).expect("an actor creates at most 16 others, six generations deep");
        self.children += 1;
        self.outputs.push(Output::Create(id, Box::new(actor)));
        id
    }

    /// A number below `n`: every one of them is explored.
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

    /// What was done, how many others the actor has created by now, and among how many `choose` chose each time.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Output<M>>, u32, Vec<u32>) {
        (self.outputs, self.children, self.choice_counts)
    }
}

/// An actor whose type is not known: what lets actors of several types live in one system.
///
/// Nobody implements this: every [`Actor`] is one.
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
    fn boxed(&self) -> Box<dyn AnyActor<M>>;
    /// Whether the two are of one type and equal.
    fn is(&self, other: &dyn AnyActor<M>) -> bool;
    /// Feeds the type and the value to `hasher`.
    fn feed(&self, hasher: &mut dyn std::hash::Hasher);
    /// The actor itself, for those who know its type.
    fn as_any(&self) -> &dyn Any;
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

    fn boxed(&self) -> Box<dyn AnyActor<A::Message>> {
        Box::new(self.clone())
    }

    fn is(&self, other: &dyn AnyActor<A::Message>) -> bool {
        other.as_any().downcast_ref::<A>().is_some_and(|it| it == self)
    }

    fn feed(&self, mut hasher: &mut dyn std::hash::Hasher) {
        std::any::type_name::<A>().hash(&mut hasher);
        self.hash(&mut hasher);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<M> Clone for Box<dyn AnyActor<M>> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}
