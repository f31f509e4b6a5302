//! Bounds of schedulers: declared with the scheduler, set by name.
//!
//! A scheduler lists its bounds in its table entry. The command line makes a flag of each, the
//! builders accept it, the attribute does so by name, and an environment variable sets it. No other
//! code depends on a particular bound.

/// A bound of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Its name, in the plural if it counts something: the flag is `--preemptions`.
    pub name: &'static str,
    /// Its singular: `preemption`.
    pub one: &'static str,
    /// The default value.
    pub default: u32,
    /// Whether `none` removes the bound.
    pub may_be_none: bool,
    /// One line for the help.
    pub help: &'static str,
}

impl Bound {
    /// Parses a number, or `none` if that is accepted.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<Option<u32>> {
        match text.parse() {
            Ok(most) => Some(Some(most)),
            Err(_) => (text == "none" && self.may_be_none).then_some(None),
        }
    }

    /// What [`parse`](Self::parse) expects.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        if self.may_be_none { "a number or `none`" } else { "a number" }
    }

    /// The environment variable that sets it: `CLEWLINE_PREEMPTIONS`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("CLEWLINE_{}", self.name.to_uppercase().replace('-', "_"))
    }

    /// `2 preemptions`, `1 preemption`.
    #[must_use]
    pub fn count(&self, n: u32) -> String {
        format!("{n} {}", if n == 1 { self.one } else { self.name })
    }
}

/// The distinct bounds of a table, in the order of the table. Bounds of the same name are the same.
pub fn distinct(bounds: impl Iterator<Item = &'static Bound>) -> Vec<&'static Bound> {
    let mut all: Vec<&'static Bound> = Vec::new();
    for bound in bounds {
        if !all.iter().any(|it| it.name == bound.name) {
            all.push(bound);
        }
    }
    all
}

/// The one of `bounds` that has that name. A `const fn` cannot use iterators.
pub(crate) const fn find(bounds: &[Bound], name: &str) -> Option<Bound> {
    let mut at = 0;
    while at < bounds.len() {
        if is_same(bounds[at].name.as_bytes(), name.as_bytes()) {
            return Some(bounds[at]);
        }
        at += 1;
    }
    None
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The values of bounds that were set; all others have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds(Vec<(&'static str, Option<u32>)>);

impl Bounds {
    /// Sets a bound; `None` removes it.
    pub fn set(&mut self, bound: &Bound, value: Option<u32>) {
        match self.0.iter_mut().find(|it| it.0 == bound.name) {
            Some(set) => set.1 = value,
            None => self.0.push((bound.name, value)),
        }
    }

    /// Sets a bound; `None` removes it, if that is possible.
    ///
    /// # Errors
    ///
    /// If `value` is `None` and the bound cannot be removed.
    pub fn change(&mut self, bound: &Bound, value: Option<u32>) -> Result<(), String> {
        if value.is_none() && !bound.may_be_none {
            return Err(format!("the bound `{}` cannot be lifted", bound.name));
        }
        self.set(bound, value);
        Ok(())
    }

    /// The same with one more bound set.
    #[must_use]
    pub fn with(mut self, bound: &Bound, value: impl Into<Option<u32>>) -> Self {
        self.set(bound, value.into());
        self
    }

    /// Whether a bound was set.
    #[must_use]
    pub fn is_set(&self, bound: &Bound) -> bool {
        self.0.iter().any(|it| it.0 == bound.name)
    }

    /// The value of a bound; `None` if it was removed.
    #[must_use]
    pub fn get(&self, bound: &Bound) -> Option<u32> {
        let set = self.0.iter().find(|it| it.0 == bound.name);
        set.map_or(Some(bound.default), |it| it.1)
    }
}
