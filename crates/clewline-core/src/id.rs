//! Small integers with names, so that a process is never passed for an operation.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// This id as an index into a slice.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the `index`-th member.
            ///
            /// # Panics
            ///
            /// If there are more than 2^32 members, which no constructor of this crate lets through.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("ids fit 32 bits"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, self.0)
            }
        }
    };
}

id! {
    /// Who issues operations, one at a time: a thread or a client.
    ProcessId, "p"
}
id! {
    /// One of the objects that a history is about. Each is judged by itself.
    ObjectId, "b"
}
id! {
    /// An operation of a history: its index in call order.
    OperationId, "o"
}
id! {
    /// A state of an [`Automaton`](crate::Automaton). Ids mean nothing outside that automaton.
    StateId, "s"
}
id! {
    /// What an operation did, without who or when: operations with equal call and return share a label.
    LabelId, "l"
}
id! {
    /// What a call may answer, in the numbering of an [`Automaton`](crate::Automaton). Ids mean nothing outside it.
    ResultId, "a"
}
