//! Small integers with a type each, so that a process cannot be confused with an operation.

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
            /// If there are more than 2^32 members, which every constructor of this crate rules
            /// out.
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
    /// A sequential process, which issues operations one at a time: a thread or a client.
    ProcessId, "p"
}
id! {
    /// One of the objects of a history. Each is checked separately.
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
    /// What an operation did, without its process and times: operations with equal call and result
    /// share a label.
    LabelId, "l"
}
id! {
    /// A result of a call, as an [`Automaton`](crate::Automaton) numbers them. Ids mean nothing
    /// outside it.
    ResultId, "a"
}
