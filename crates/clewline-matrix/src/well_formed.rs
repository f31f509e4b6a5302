//! Well-formed matrices: as many removes as adds.
//!
//! In the displacement reading a history is compared with orders of its own operations. If an
//! element is added and never removed, an operation may return a value that no order of these calls
//! ever gives, although a structure that continues could explain it: it comes out of thin air
//! (section V of the paper has an example). So every element that is added must be removed.

use crate::matrix::{Matrix, method};

use std::fmt;

/// Which calls add an element, and which remove one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementCalls {
    /// The first is how to write one.
    adds: &'static [&'static str],
    removes: &'static [&'static str],
    /// The relaxed specification.
    relaxed: Option<&'static str>,
}

const ROLES: [(&str, ElementCalls); 5] = [
    ("bag", ElementCalls { adds: &["add"], removes: &["take"], relaxed: None }),
    (
        "min-priority-queue",
        ElementCalls {
            adds: &["add", "offer", "insert"],
            removes: &["poll"],
            relaxed: Some("quasi-min-priority-queue"),
        },
    ),
    (
        "priority-queue",
        ElementCalls {
            adds: &["add", "offer", "insert"],
            removes: &["poll"],
            relaxed: Some("quasi-priority-queue"),
        },
    ),
    (
        "queue",
        ElementCalls {
            adds: &["enq", "enqueue", "offer"],
            removes: &["deq", "dequeue", "poll"],
            relaxed: Some("quasi-queue"),
        },
    ),
    ("stack", ElementCalls { adds: &["push"], removes: &["pop"], relaxed: Some("quasi-stack") }),
];

/// A matrix with more of one than of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllFormed {
    roles: ElementCalls,
    adds: usize,
    removes: usize,
}

impl fmt::Display for IllFormed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IllFormed { roles, adds, removes } = self;
        let (add, remove) = (roles.add(), roles.remove());
        write!(
            f,
            "the matrix is not well-formed: it has {adds} {add} and {removes} {remove}. Then a call may return what no order of these \
             calls gives, though nothing is wrong: "
        )?;
        if removes < adds {
            write!(f, "what is not taken out may have been overtaken. Add {remove} after all others")?;
        } else {
            write!(f, "a {remove} that finds nothing may be early. Add {add} before all others")?;
        }
        write!(f, ", or allow it (--ill-formed allow; in a test, `ill_formed`)")
    }
}

impl std::error::Error for IllFormed {}

impl ElementCalls {
    /// The roles of the specification of that name, with or without its parameter, relaxed or not.
    #[must_use]
    pub fn of(spec: &str) -> Option<ElementCalls> {
        let name = spec.split(':').next().unwrap_or_default();
        let name = name.strip_prefix("quasi-").unwrap_or(name);
        ROLES.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// The specification without relaxation that has these calls.
    #[must_use]
    pub fn plain(spec: &str) -> &str {
        let name = spec.split(':').next().unwrap_or_default();
        name.strip_prefix("quasi-").unwrap_or(spec)
    }

    /// The text of an adding call.
    #[must_use]
    pub fn add(&self) -> &'static str {
        self.adds[0]
    }

    /// The text of a removing call.
    #[must_use]
    pub fn remove(&self) -> &'static str {
        self.removes[0]
    }

    /// The name of the specification that allows elements to be removed out of order.
    #[must_use]
    pub fn relaxed(&self) -> Option<&'static str> {
        self.relaxed
    }

    /// Whether a method removes an element.
    #[must_use]
    pub fn is_remove(&self, method: &str) -> bool {
        self.removes.contains(&method)
    }

    /// Whether a method adds an element.
    #[must_use]
    pub fn is_add(&self, method: &str) -> bool {
        self.adds.contains(&method)
    }

    /// Whether as many elements are removed as added.
    ///
    /// # Errors
    ///
    /// If not.
    pub fn check(&self, matrix: &Matrix) -> Result<(), IllFormed> {
        let all = || matrix.initial.iter().chain(matrix.columns.iter().flatten()).chain(&matrix.last);
        let adds = all().filter(|it| self.is_add(method(it))).count();
        let removes = all().filter(|it| self.is_remove(method(it))).count();
        if adds == removes { Ok(()) } else { Err(IllFormed { roles: *self, adds, removes }) }
    }

    /// The matrix made well-formed: adds before all others, removes after all others, and each add
    /// with its own value.
    #[must_use]
    pub fn complete(&self, mut matrix: Matrix) -> Matrix {
        if let Err(IllFormed { adds, removes, .. }) = self.check(&matrix) {
            let missing = |call: &str, n: usize| vec![call.to_owned(); n];
            matrix.initial.extend(missing(self.add(), removes.saturating_sub(adds)));
            matrix.last.extend(missing(self.remove(), adds.saturating_sub(removes)));
        }
        let Matrix { initial, columns, last } = &mut matrix;
        let all = initial.iter_mut().chain(columns.iter_mut().flatten()).chain(last);
        for (number, call) in all.filter(|it| self.is_add(method(it))).enumerate() {
            *call = format!("{}({})", method(call), number + 1);
        }
        matrix
    }

    /// Two threads with `first` and `second` calls, and a main thread with `main` calls.
    ///
    /// The main thread adds what it can before the two begin; they add the rest, taking turns, and
    /// then remove; the main thread removes what they leave.
    #[must_use]
    pub fn shape(&self, first: usize, second: usize, main: usize) -> Matrix {
        let half = (first + second + main) / 2;
        let before = main.min(half);
        let mut columns = [Vec::new(), Vec::new()];
        for number in 0..half - before {
            let at = if columns[number % 2].len() < [first, second][number % 2] {
                number % 2
            } else {
                1 - number % 2
            };
            columns[at].push(self.add().to_owned());
        }
        for (column, length) in columns.iter_mut().zip([first, second]) {
            column.resize(length, self.remove().to_owned());
        }
        let initial = vec![self.add().to_owned(); before];
        let last = vec![self.remove().to_owned(); main - before];
        self.complete(Matrix { initial, columns: columns.to_vec(), last })
    }

    /// Two threads with one call each, and a main thread that makes the others, so that there are
    /// `half` of both: before them it adds and then removes as many as `before` says, or adds all,
    /// and after them the rest.
    #[must_use]
    pub fn pair(&self, calls: [&str; 2], half: usize, before: Option<[usize; 2]>) -> Matrix {
        let adds = calls.iter().filter(|it| self.is_add(it)).count();
        let (all_adds, all_removes) = (half - adds, half + adds - 2);
        let [adds, removes] = before.unwrap_or([all_adds, 0]);
        let calls_of = |adds: usize, removes: usize| {
            let mut calls = vec![self.add().to_owned(); adds];
            calls.resize(adds + removes, self.remove().to_owned());
            calls
        };
        let initial = calls_of(adds, removes);
        let last = calls_of(all_adds - adds, all_removes - removes);
        let columns = calls.iter().map(|it| vec![(*it).to_owned()]).collect();
        self.complete(Matrix { initial, columns, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The initial calls, the columns and the last calls.
    fn typed(matrix: &Matrix) -> String {
        format!("{}; {matrix}; {}", matrix.initial.join(" "), matrix.last.join(" "))
    }

    #[test]
    fn the_shapes_of_the_paper_are_well_formed() {
        let queue = ElementCalls::of("queue").unwrap();
        let shapes =
            [(2, 2, 0), (2, 2, 4), (3, 3, 4), (2, 3, 3), (3, 3, 2), (3, 4, 1), (4, 4, 0), (1, 1, 12)];
        for (first, second, main) in shapes {
            let matrix = queue.shape(first, second, main);
            assert_eq!(queue.check(&matrix), Ok(()), "{matrix}");
            let lengths: Vec<usize> = matrix.columns.iter().map(Vec::len).collect();
            assert_eq!((lengths, matrix.len()), (vec![first, second], first + second + main));
        }
        assert_eq!(typed(&queue.shape(2, 3, 3)), "enq(1) enq(2) enq(3); enq(4) deq | deq deq deq; ");
    }

    #[test]
    fn missing_calls_are_added_before_or_after() {
        let stack = ElementCalls::of("quasi-stack:2").unwrap();
        let complete = |text: &str| typed(&stack.complete(text.parse().unwrap()));
        assert_eq!(complete("push(1) | push(1)"), "; push(1) | push(2); pop pop");
        assert_eq!(complete("pop | push(7)"), "; pop | push(1); ");
        assert_eq!(complete("pop | pop"), "push(1) push(2); pop | pop; ");
        let message = stack.check(&"push(1) | pop pop".parse().unwrap()).unwrap_err().to_string();
        assert!(message.contains("it has 1 push and 2 pop"), "{message}");
    }

    #[test]
    fn pairs_have_as_many_of_both() {
        let queue = ElementCalls::of("queue").unwrap();
        for calls in [["enq", "deq"], ["enq", "enq"], ["deq", "deq"]] {
            for before in [None, Some([4, 1])] {
                let matrix = queue.pair(calls, 7, before);
                assert_eq!((queue.check(&matrix), matrix.len()), (Ok(()), 14), "{matrix}");
            }
        }
    }
}
