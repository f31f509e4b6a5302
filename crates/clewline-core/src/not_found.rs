//! The error for an unknown name.

use std::{error, fmt};

/// No thing of a kind has the given name: `no table is called `x`; did you mean `y`? (there are y,
/// z)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The kind of thing: `specification`.
    pub what: &'static str,
    /// The name that was given.
    pub found: String,
    /// The existing names.
    pub names: Vec<String>,
    /// Alternatives to them, which are suggested and not listed.
    pub aliases: Vec<String>,
    /// A text that replaces the list of names if there are too many: where they are listed.
    pub hint: Option<String>,
}

impl NotFound {
    /// No `what` is called `found`; `names` are the existing names.
    pub fn new<N: Into<String>>(
        what: &'static str,
        found: &str,
        names: impl IntoIterator<Item = N>,
    ) -> NotFound {
        let names = names.into_iter().map(Into::into).collect();
        NotFound { what, found: found.to_owned(), names, aliases: Vec::new(), hint: None }
    }

    /// The same, with alternatives to the names.
    #[must_use]
    pub fn with_aliases<N: Into<String>>(self, aliases: impl IntoIterator<Item = N>) -> NotFound {
        NotFound { aliases: aliases.into_iter().map(Into::into).collect(), ..self }
    }

    /// The same, with a hint in place of all names.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> NotFound {
        NotFound { hint: Some(hint.into()), ..self }
    }

    /// The name, or the alias, that was probably meant: at most a third of its characters differ,
    /// where two that are swapped count as one; or no other begins so.
    #[must_use]
    pub fn closest(&self) -> Option<&str> {
        // No real typing error is longer, and the distance takes quadratic time.
        if 64 < self.found.len() {
            return None;
        }
        let typed = self.found.to_lowercase().replace([' ', '_'], "-");
        let distance = |it: &str| strsim::osa_distance(&typed, it).min(strsim::osa_distance(&self.found, it));
        let distances = self.names.iter().chain(&self.aliases).map(|it| (distance(it), it));
        let (distance, name) = distances.min_by_key(|&(distance, _)| distance)?;
        let all = self.names.iter().chain(&self.aliases);
        let mut begin = all.filter(|it| 2 < typed.len() && it.starts_with(&typed));
        match (begin.next(), begin.next()) {
            _ if distance * 3 <= name.len() => Some(name),
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {} is called `{}`", self.what, self.found)?;
        if let Some(name) = self.closest() {
            write!(f, "; did you mean `{name}`?")?;
        }
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => write!(f, " (there are {})", self.names.join(", ")),
        }
    }
}

impl error::Error for NotFound {}

#[cfg(test)]
mod tests {
    use super::NotFound;

    #[track_caller]
    fn check(found: &str, message: &str) {
        assert_eq!(NotFound::new("fruit", found, ["plum", "red-currant"]).to_string(), message);
    }

    #[test]
    fn the_nearest_name_is_suggested_if_it_is_near() {
        check("pulm", "no fruit is called `pulm`; did you mean `plum`? (there are plum, red-currant)");
        check("plumb", "no fruit is called `plumb`; did you mean `plum`? (there are plum, red-currant)");
        check(
            "Red_Curent",
            "no fruit is called `Red_Curent`; did you mean `red-currant`? (there are plum, red-currant)",
        );
        check("red", "no fruit is called `red`; did you mean `red-currant`? (there are plum, red-currant)");
        check("re", "no fruit is called `re` (there are plum, red-currant)");
        check("pear", "no fruit is called `pear` (there are plum, red-currant)");
        check(
            &"p".repeat(65),
            &format!("no fruit is called `{}` (there are plum, red-currant)", "p".repeat(65)),
        );
    }

    #[test]
    fn a_hint_stands_for_all_names() {
        let error = NotFound::new("fruit", "plim", ["plum"]).with_hint("see the market");
        assert_eq!(error.to_string(), "no fruit is called `plim`; did you mean `plum`? (see the market)");
        let error = NotFound::new("fruit", "prun", ["plum"]).with_aliases(["prune"]);
        assert_eq!(error.to_string(), "no fruit is called `prun`; did you mean `prune`? (there are plum)");
        assert_eq!(NotFound::new("fruit", "PLIM", ["plum", "PLUM"]).closest(), Some("plum"));
        assert_eq!(NotFound::new("fruit", "PLIM", ["PLUM"]).closest(), Some("PLUM"));
    }
}
