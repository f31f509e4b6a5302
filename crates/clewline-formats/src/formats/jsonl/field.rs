//! The members of a line, by their names.

/// A member of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// No member yet.
    None,
    /// The user's own.
    Unknown,
    Process,
    Op,
    Arg,
    Ret,
    Call,
    Return,
    Id,
    Object,
    Event,
    /// Of an event; skipped as an unknown member, unless reports need it.
    Time,
    /// The text of a note.
    Note,
    /// The time at which a note ends.
    Until,
    /// The state of each object before the first operation.
    Initial,
    /// When an operation took effect, relative to others: a hint.
    Order,
}

impl Field {
    /// How many there are.
    pub(super) const COUNT: usize = Field::Order as usize + 1;

    const NAMES: [(&str, Field); 14] = [
        ("process", Field::Process),
        ("op", Field::Op),
        ("arg", Field::Arg),
        ("ret", Field::Ret),
        ("call", Field::Call),
        ("return", Field::Return),
        ("id", Field::Id),
        ("object", Field::Object),
        ("event", Field::Event),
        ("time", Field::Time),
        ("note", Field::Note),
        ("until", Field::Until),
        ("initial", Field::Initial),
        ("order", Field::Order),
    ];

    pub(super) fn find(name: &str) -> Field {
        Field::NAMES.iter().find(|(it, _)| *it == name).map_or(Field::Unknown, |(_, field)| *field)
    }

    pub(super) fn name(self) -> &'static str {
        Field::NAMES.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }
}
