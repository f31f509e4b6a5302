//! Roles of threads: a producer, two consumers.

use std::{collections::HashSet, fmt, str::FromStr};

use clewline_core::ParseError;
use clewline_specs::check_mix;

/// Threads of an execution that call the same methods. Displays as `--role` takes it:
/// `consumer=2:deq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRole {
    /// The name; its threads are called `producer` if there is one, else `consumer-1`,
    /// `consumer-2`.
    pub name: String,
    /// How many threads have it.
    pub threads: usize,
    /// The weights of methods; those not named have weight 0. Empty: all equal.
    pub mix: Vec<(String, u32)>,
}

impl fmt::Display for ThreadRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ThreadRole { name, threads, mix } = self;
        write!(f, "{name}={threads}")?;
        for (at, (method, weight)) in mix.iter().enumerate() {
            write!(f, "{}{method}", if at == 0 { ":" } else { "," })?;
            if *weight != 1 {
                write!(f, "={weight}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for ThreadRole {
    type Err = ParseError;

    /// `producer=1:enq`, `owner=1:push=2,pop`; all methods if none is named.
    fn from_str(text: &str) -> Result<ThreadRole, ParseError> {
        let method = |it: &str| match it.split_once('=') {
            Some((method, weight)) => Some((method.to_owned(), weight.parse().ok()?)),
            None => (!it.is_empty()).then(|| (it.to_owned(), 1)),
        };
        let read = || {
            let (name, rest) = text.split_once('=')?;
            let (threads, methods) = rest.split_once(':').map_or((rest, None), |it| (it.0, Some(it.1)));
            let mix = methods.map_or(Some(Vec::new()), |it| it.split(',').map(method).collect())?;
            Some(ThreadRole { name: name.to_owned(), threads: threads.parse().ok()?, mix })
        };
        read().ok_or_else(|| ParseError::new("NAME=THREADS:METHOD,…, for example producer=1:enq", text))
    }
}

/// The name of each thread, in the order of the roles. Empty if there are no roles.
pub(super) fn thread_names(roles: &[ThreadRole]) -> Vec<String> {
    let names = |role: &ThreadRole| -> Vec<String> {
        match role.threads {
            1 => vec![role.name.clone()],
            threads => (1..=threads).map(|it| format!("{}-{it}", role.name)).collect(),
        }
    };
    roles.iter().flat_map(names).collect()
}

/// The first mistake in `roles` of an object with this specification.
pub(super) fn mistake(roles: &[ThreadRole], spec: &str) -> Option<String> {
    let is_plain = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
    for ThreadRole { name, threads, mix } in roles {
        if name.is_empty() || !name.chars().all(is_plain) {
            return Some(format!("expected a role's name of letters, digits, `-` and `_`; found `{name}`"));
        }
        if *threads == 0 {
            return Some(format!("the role `{name}`: expected at least one thread"));
        }
        if let Err(error) = check_mix(spec, mix) {
            return Some(format!("the role `{name}`: {error}"));
        }
    }
    let mut names = HashSet::new();
    let twice = thread_names(roles).into_iter().find(|it| !names.insert(it.clone()))?;
    Some(format!("two threads are called `{twice}`: expected roles with different names"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_as_they_are_written() {
        for text in ["producer=1:enq", "owner=1:push-back=2,pop-back", "all=3"] {
            assert_eq!(text.parse::<ThreadRole>().unwrap().to_string(), text);
        }
        for text in
            ["", "producer", "producer=", "producer=x:enq", "producer=1:", "a=1:enq,,deq", "a=1:enq=x"]
        {
            let error = text.parse::<ThreadRole>().unwrap_err().to_string();
            assert!(error.contains("NAME=THREADS:METHOD"), "{error}");
        }
    }

    #[test]
    fn threads_are_named_by_role() {
        let roles = ["producer=1:enq", "consumer=2:deq"].map(|it| it.parse().unwrap());
        assert_eq!(thread_names(&roles), ["producer", "consumer-1", "consumer-2"]);
        assert_eq!(mistake(&roles, "queue"), None);
    }

    #[test]
    fn mistakes_in_roles_are_named() {
        for (roles, expected) in [
            (&["a=0:enq"][..], "the role `a`: expected at least one thread"),
            (&["=1:enq"], "expected a role's name of letters, digits, `-` and `_`; found ``"),
            (&["a b=1:enq"], "expected a role's name of letters, digits, `-` and `_`; found `a b`"),
            (&["a=1:push"], "the role `a`: queue: no operation is called `push` (there are enq, deq, peek)"),
            (&["a=1:enq=0"], "the role `a`: expected at least one weight above 0"),
            (&["a=2:enq", "a-1=1:deq"], "two threads are called `a-1`: expected roles with different names"),
        ] {
            let roles: Vec<ThreadRole> = roles.iter().map(|it| it.parse().unwrap()).collect();
            assert_eq!(mistake(&roles, "queue").as_deref(), Some(expected));
        }
    }
}
