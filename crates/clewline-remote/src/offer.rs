//! The run options of a program, and what it declares.

use crate::{message::WireMessage, trust::Trust};

/// Set in the environment of a program whose standard input is a [`Line`](crate::Line).
pub const DRIVEN_VARIABLE: &str = "CLEWLINE_DRIVEN";

/// How a program is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Which plain accesses are points.
    pub points: Points,
    /// Places in the code that race, if known from an earlier run; those of the program relative to
    /// where it is loaded.
    pub racing: Vec<usize>,
    /// Whether freed memory may be reused.
    pub reuses_memory: bool,
    /// Whether each execution has its own process.
    pub isolates_executions: bool,
    /// Whether data races are not reported.
    pub ignores_races: bool,
    /// Code that need not be seen.
    pub trust: Trust,
    /// Addresses of functions of the program, relative to where it is loaded: whether they run is
    /// reported. With [`IS_SEEN`], if they are instrumented.
    pub watched: Vec<usize>,
}

/// Added to the address of a watched function.
pub const IS_SEEN: usize = 1 << (usize::BITS - 1);

/// Which plain accesses are points, besides atomic ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// Those that race, as far as known.
    #[default]
    Racing,
    /// All.
    All,
    /// None.
    Atomics,
}

impl Points {
    /// Each of them.
    pub const ALL: [Points; 3] = [Points::Racing, Points::All, Points::Atomics];

    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Points::Racing => "racing",
            Points::All => "all",
            Points::Atomics => "atomics",
        }
    }
}

/// What a program declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The possible calls.
    pub invocations: Vec<String>,
    /// Its matrices.
    pub matrices: Vec<String>,
    /// The name of the specification.
    pub spec: Option<String>,
    /// The allowed displacement of calls.
    pub quasi: Option<String>,
    /// The results that calls may return with no effect.
    pub may_fail: Option<String>,
    /// Which operations one thread calls: `producer: enq`.
    pub roles: Vec<String>,
    /// Whether its `main` is explored: that is correct if it terminates.
    pub is_body: bool,
}

/// What a program did that was not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// One sentence for each piece of code that is not trusted: a library, a function.
    pub sentences: Vec<String>,
    /// Which of the watched functions ran, by their positions.
    pub watched: Vec<usize>,
    /// Whether threads ran, and none of them made an access that is seen.
    pub is_everything: bool,
    /// Whether no execution had a second thread that ran.
    pub is_sequential: bool,
    /// Whether a library, trusted or not, keeps what it did in the executions before.
    pub keeps_state: bool,
}

impl Unseen {
    /// Adds what another process of the same program did.
    pub(crate) fn add(&mut self, other: &Unseen) {
        let is_new = |it: &&String| !self.sentences.contains(it);
        let sentences: Vec<String> = other.sentences.iter().filter(is_new).cloned().collect();
        self.sentences.extend(sentences);
        let is_new = |it: &&usize| !self.watched.contains(it);
        let watched: Vec<usize> = other.watched.iter().filter(is_new).copied().collect();
        self.watched.extend(watched);
        self.is_everything &= other.is_everything;
        self.is_sequential &= other.is_sequential;
        self.keeps_state |= other.keeps_state;
    }

    pub(crate) fn to_message(&self) -> WireMessage {
        let mut to = WireMessage::default();
        to.put_all(self.sentences.iter(), |to, it| to.put_text(it));
        to.put_all(self.watched.iter(), |to, it| to.put(*it as u64));
        to.put_flag(self.is_everything);
        to.put_flag(self.is_sequential);
        to.put_flag(self.keeps_state);
        to
    }

    pub(crate) fn from_message(mut from: WireMessage) -> Option<Unseen> {
        let sentences = from.take_all(WireMessage::take_text);
        let watched = from.take_all(WireMessage::take_usize);
        let [is_everything, is_sequential, keeps_state] = [(); 3].map(|()| from.take_flag());
        let unseen = Unseen { sentences, watched, is_everything, is_sequential, keeps_state };
        from.is_whole().then_some(unseen)
    }
}

impl RunOptions {
    /// Encodes it as a message.
    #[must_use]
    pub fn to_message(&self) -> WireMessage {
        let mut to = WireMessage::default();
        to.put(Points::ALL.iter().position(|it| *it == self.points).unwrap_or(0) as u64);
        to.put_all(self.racing.iter(), |to, it| to.put(*it as u64));
        to.put_flag(self.reuses_memory);
        to.put_flag(self.isolates_executions);
        to.put_flag(self.ignores_races);
        to.put_all(self.trust.0.iter(), |to, it| to.put_text(it));
        to.put_all(self.watched.iter(), |to, it| to.put(*it as u64));
        to
    }

    /// Decodes a message, if it is valid.
    #[must_use]
    pub fn from_message(mut from: WireMessage) -> Option<RunOptions> {
        let wanted = RunOptions {
            points: Points::ALL[from.take_index(Points::ALL.len())],
            racing: from.take_all(WireMessage::take_usize),
            reuses_memory: from.take_flag(),
            isolates_executions: from.take_flag(),
            ignores_races: from.take_flag(),
            trust: Trust(from.take_all(WireMessage::take_text)),
            watched: from.take_all(WireMessage::take_usize),
        };
        from.is_whole().then_some(wanted)
    }
}

impl Offer {
    pub(crate) fn to_message(&self) -> WireMessage {
        let mut to = WireMessage::default();
        for list in [&self.invocations, &self.matrices, &self.roles] {
            to.put_all(list.iter(), |to, it| to.put_text(it));
        }
        for text in [&self.spec, &self.quasi, &self.may_fail] {
            to.put_maybe(text.as_deref(), WireMessage::put_text);
        }
        to.put_flag(self.is_body);
        to
    }

    pub(crate) fn from_message(mut from: WireMessage) -> Option<Offer> {
        let [invocations, matrices, roles] = [(); 3].map(|()| from.take_all(WireMessage::take_text));
        let [spec, quasi, may_fail] = [(); 3].map(|()| from.take_maybe(WireMessage::take_text));
        let is_body = from.take_flag();
        let offer = Offer { invocations, matrices, spec, quasi, may_fail, roles, is_body };
        from.is_whole().then_some(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_options_and_offers_survive_encoding() {
        for points in Points::ALL {
            let wanted = RunOptions {
                points,
                racing: vec![3, 4],
                reuses_memory: true,
                isolates_executions: false,
                ignores_races: true,
                trust: Trust(vec!["libz".to_owned()]),
                watched: vec![5],
            };
            assert_eq!(RunOptions::from_message(wanted.to_message()), Some(wanted));
        }
        let offer = Offer {
            invocations: vec!["push(1)".to_owned(), "pop".to_owned()],
            matrices: vec!["push(1) | pop".to_owned()],
            spec: Some("stack".to_owned()),
            quasi: None,
            may_fail: Some("pop=null".to_owned()),
            roles: vec!["owner: push".to_owned()],
            is_body: true,
        };
        assert_eq!(Offer::from_message(offer.to_message()), Some(offer));
        assert_eq!(Offer::from_message(WireMessage::new(2)), None);
        let sentences = vec!["`f` is not instrumented".to_owned()];
        let unseen = Unseen {
            sentences,
            watched: vec![7],
            is_everything: true,
            is_sequential: false,
            keeps_state: true,
        };
        assert_eq!(Unseen::from_message(unseen.to_message()), Some(unseen));
    }
}
