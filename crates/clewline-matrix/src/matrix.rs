//! Matrices: which thread makes which calls. A column is a thread.

use std::{fmt, ops::Range, str::FromStr};

use clewline_core::CodecError;

use clewline_threads::control::Calls;

/// A finite test: columns of concurrent calls, initial calls and final calls.
///
/// ```
/// use clewline_matrix::Matrix;
///
/// let matrix: Matrix = "push(1) pop | push(2) pop".parse()?;
/// assert_eq!(matrix.to_string(), "push(1) pop | push(2) pop");
/// assert_eq!(matrix.dimension(), (2, 2));
/// # Ok::<(), clewline_matrix::BadMatrix>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Matrix {
    /// Initial calls, one after the other.
    pub initial: Vec<String>,
    /// Concurrent calls: one column a thread.
    pub columns: Vec<Vec<String>>,
    /// Final calls, one after the other.
    pub last: Vec<String>,
}

// The orders of this number of calls are few enough to try them all: 40,320.
const SEPARATE_CALLS_MAX: usize = 8;

/// Not a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMatrix(String);

impl fmt::Display for BadMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadMatrix {}

/// The parts of a text between separators that are outside of brackets and string literals.
///
/// # Errors
///
/// If a bracket or a string literal is not closed.
pub fn split_outside(text: &str, is_separator: fn(char) -> bool) -> Result<Vec<&str>, BadMatrix> {
    let (mut parts, mut begin, mut open) = (Vec::new(), 0, Vec::new());
    let (mut in_text, mut is_escaped) = (false, false);
    for (at, it) in text.char_indices() {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => (),
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' => {
                let expected = open.pop();
                if expected != Some(it) {
                    return Err(BadMatrix(format!("`{}` closes a bracket that is not open", text.trim())));
                }
            }
            _ if open.is_empty() && is_separator(it) => {
                parts.push(&text[begin..at]);
                begin = at + it.len_utf8();
            }
            _ => (),
        }
    }
    if !open.is_empty() || in_text {
        return Err(BadMatrix(format!("`{}` has a bracket or a text that is not closed", text.trim())));
    }
    parts.push(&text[begin..]);
    Ok(parts)
}

/// The calls in a text, separated by spaces outside of brackets. A brace belongs to the call before
/// it, as `Debug` writes it: `Put { key: 1 }`.
///
/// # Errors
///
/// If a bracket is not closed.
pub fn calls(text: &str) -> Result<Vec<String>, BadMatrix> {
    let mut calls: Vec<String> = Vec::new();
    for part in split_outside(text, char::is_whitespace)?.into_iter().filter(|it| !it.is_empty()) {
        match calls.last_mut() {
            Some(call) if part.starts_with('{') => {
                call.push(' ');
                call.push_str(part);
            }
            Some(_) | None => calls.push(part.to_owned()),
        }
    }
    Ok(calls)
}

/// A call as a matrix writes it, in two: `push` and `(1)` of `push(1)`.
pub fn split_method(call: &str) -> (&str, &str) {
    let call = call.trim();
    let (method, arguments) = call.split_at(call.find(['(', '{']).unwrap_or(call.len()));
    (method.trim_end(), arguments)
}

/// The method of a call as a matrix writes it: `push` of `push(1)`.
pub fn method(call: &str) -> &str {
    split_method(call).0
}

impl FromStr for Matrix {
    type Err = BadMatrix;

    fn from_str(text: &str) -> Result<Self, BadMatrix> {
        let columns = split_outside(text, |it| it == '|')?;
        let columns = columns.into_iter().map(calls).collect::<Result<Vec<_>, _>>()?;
        if columns.iter().all(Vec::is_empty) {
            return Err(BadMatrix(
                "a matrix needs at least one call: \"push(1) pop | push(2) pop\"".to_owned(),
            ));
        }
        Ok(Matrix { columns, ..Matrix::default() })
    }
}

impl fmt::Display for Matrix {
    /// As it is parsed, without initial and final calls.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<String> = self.columns.iter().map(|it| it.join(" ")).collect();
        f.write_str(&columns.join(" | "))
    }
}

impl Matrix {
    /// Columns, and rows of the longest.
    #[must_use]
    pub fn dimension(&self) -> (usize, usize) {
        (self.columns.len(), self.columns.iter().map(Vec::len).max().unwrap_or(0))
    }

    /// How many calls it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.initial.len() + self.columns.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// Whether it has no call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The calls as a program takes them.
    #[must_use]
    pub fn to_calls(&self) -> Calls<String> {
        Calls { initial: self.initial.clone(), columns: self.columns.clone(), last: self.last.clone() }
    }

    /// The same operations and `more`, each in its own column, so that serial executions make them
    /// in every order.
    pub fn to_apart(&self, more: &[String]) -> Result<Calls<String>, CodecError> {
        let all = self.initial.iter().chain(self.columns.iter().flatten()).chain(&self.last).chain(more);
        let columns: Vec<Vec<String>> = all.map(|it| vec![it.clone()]).collect();
        if SEPARATE_CALLS_MAX < columns.len() {
            return Err(CodecError(format!(
                "a golden implementation is called in every order, which is too much for {} calls ({SEPARATE_CALLS_MAX} are not); take a \
                 specification",
                columns.len()
            )));
        }
        Ok(Calls { initial: Vec::new(), columns, last: Vec::new() })
    }

    /// Every matrix with one column, or else one call, less: those with the fewest calls first.
    /// Calls of a column that form one of `sequences` are removed together or not at all.
    pub fn smaller(&self, sequences: &[Vec<String>]) -> Vec<Matrix> {
        let mut smaller = Vec::new();
        if 1 < self.columns.len() {
            for at in 0..self.columns.len() {
                let mut less = self.clone();
                less.columns.remove(at);
                smaller.push(less);
            }
        }
        let mut remove = |part: &dyn Fn(&mut Matrix) -> &mut Vec<String>, entries: Vec<Range<usize>>| {
            for entry in entries.into_iter().rev() {
                let mut less = self.clone();
                part(&mut less).drain(entry);
                less.columns.retain(|it| !it.is_empty());
                smaller.push(less);
            }
        };
        remove(&|it| &mut it.last, entries(&self.last, &[]));
        remove(&|it| &mut it.initial, entries(&self.initial, &[]));
        for (at, column) in self.columns.iter().enumerate() {
            remove(&|it| &mut it.columns[at], entries(column, sequences));
        }
        smaller.retain(|it| !it.columns.is_empty());
        smaller
    }
}

/// The parts of `calls`: the longest matching sequence of `sequences`, or else a single call.
fn entries(calls: &[String], sequences: &[Vec<String>]) -> Vec<Range<usize>> {
    let (mut entries, mut at) = (Vec::new(), 0);
    while at < calls.len() {
        let here = sequences.iter().filter(|it| calls[at..].starts_with(it));
        let end = at + here.map(Vec::len).max().unwrap_or(0).max(1);
        entries.push(at..end);
        at = end;
    }
    entries
}

/// The entries of matrices.
///
/// An entry is a call, or a sequence of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alphabet {
    /// The entries, in the order in which they are used.
    pub entries: Vec<Vec<String>>,
    /// Made before every matrix.
    pub initial: Vec<String>,
    /// Made after every matrix.
    pub last: Vec<String>,
}

impl Alphabet {
    /// An alphabet of single calls.
    pub fn of<I: IntoIterator<Item = S>, S: Into<String>>(calls: I) -> Alphabet {
        Alphabet { entries: calls.into_iter().map(|it| vec![it.into()]).collect(), ..Alphabet::default() }
    }

    fn matrix(&self, columns: impl IntoIterator<Item = Vec<usize>>) -> Matrix {
        let calls = |column: Vec<usize>| column.into_iter().flat_map(|at| self.entries[at].clone()).collect();
        Matrix {
            initial: self.initial.clone(),
            columns: columns.into_iter().map(calls).collect(),
            last: self.last.clone(),
        }
    }

    /// Every matrix with `n` columns and rows of the first `n` entries, up to the order of columns.
    pub fn all(&self, n: usize) -> impl Iterator<Item = Matrix> + Send + use<> {
        let alphabet = self.clone();
        let base = n.min(self.entries.len());
        let n_columns = self.columns(n);
        // Columns are numbers, and none is less than the one before it.
        let mut columns = Some(vec![0; n]).filter(|_| 0 < base);
        std::iter::from_fn(move || {
            let these = columns.clone()?;
            columns = these.iter().rposition(|it| it + 1 < n_columns).map(|at| {
                let mut next = these.clone();
                next[at..].fill(these[at] + 1);
                next
            });
            Some(alphabet.matrix(these.into_iter().map(|it| digits(it, base, n))))
        })
    }

    /// How many columns of `n` of the first `n` entries there are; saturates at a number too large
    /// to enumerate.
    fn columns(&self, n: usize) -> u64 {
        let base = n.min(self.entries.len()) as u64;
        u32::try_from(n).ok().and_then(|it| base.checked_pow(it)).unwrap_or(u64::MAX)
    }

    /// How many matrices [`all`](Self::all) lists, if that can be counted.
    #[must_use]
    pub fn count(&self, n: usize) -> Option<u64> {
        let columns = u128::from(self.columns(n));
        if columns == 0 {
            return Some(0);
        }
        // To choose k of n things, any of them more than once, there are n (n + 1) … (n + k - 1) /
        // k! ways.
        let ways =
            (0..n as u128).try_fold(1_u128, |ways, it| Some(ways.checked_mul(columns + it)? / (it + 1)));
        ways.and_then(|it| u64::try_from(it).ok())
    }
}

/// `number` in `n` digits, the first of which counts most.
fn digits(mut number: u64, base: usize, n: usize) -> Vec<usize> {
    let mut digits = vec![0; n];
    for digit in digits.iter_mut().rev() {
        *digit = (number % base as u64) as usize;
        number /= base as u64;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_read_as_they_are_written() {
        let matrix: Matrix = " put(1, 2)  get(1)|get(1) ".parse().unwrap();
        assert_eq!(matrix.columns, [vec!["put(1, 2)", "get(1)"], vec!["get(1)"]]);
        assert_eq!(matrix.to_string().parse(), Ok(matrix.clone()));
        assert_eq!((matrix.dimension(), matrix.len()), ((2, 2), 3));
        for wrong in ["", " | ", "push(1", "push 1)", "push(\"x) |", "push(1]"] {
            assert!(wrong.parse::<Matrix>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn brackets_and_texts_are_part_of_their_call() {
        let matrix: Matrix = r#"put("a \"| b") | Put { key: [1, 2] } (1, {2}) | "x y""#.parse().unwrap();
        let columns = [vec![r#"put("a \"| b")"#], vec!["Put { key: [1, 2] }", "(1, {2})"], vec![r#""x y""#]];
        assert_eq!(matrix.columns, columns);
        assert_eq!(matrix.to_string().parse(), Ok(matrix));
    }

    #[test]
    fn all_matrices_of_a_size_are_there_once() {
        let alphabet = Alphabet::of(["a", "b", "c"]);
        // All columns, in all numbers: 4 of 2, and 27 of 3.
        for (n, count) in [(1, 1), (2, 10), (3, 3_654)] {
            let sorted = |mut it: Matrix| {
                it.columns.sort();
                it.to_string()
            };
            let all: Vec<String> = alphabet.all(n).map(sorted).collect();
            let distinct: std::collections::HashSet<&String> = all.iter().collect();
            assert_eq!((all.len(), distinct.len(), alphabet.count(n)), (count, count, Some(count as u64)));
        }
        let first: Vec<String> = alphabet.all(2).take(5).map(|it| it.to_string()).collect();
        assert_eq!(first, ["a a | a a", "a a | a b", "a a | b a", "a a | b b", "a b | a b"]);
        assert_eq!((Alphabet::default().all(2).count(), Alphabet::default().count(2)), (0, Some(0)));
        assert_eq!(Alphabet::of(["a"]).all(3).count(), 1);
        assert_eq!(Alphabet::of(('a'..='z').map(String::from)).count(20), None);
    }

    #[test]
    fn smaller_matrices_lack_one_thing() {
        let matrix: Matrix = "a b | c".parse().unwrap();
        let smaller = |sequences: &[Vec<String>]| -> Vec<String> {
            matrix.smaller(sequences).iter().map(ToString::to_string).collect()
        };
        assert_eq!(smaller(&[]), ["c", "a b", "a | c", "b | c", "a b"]);
        let ends = Matrix { initial: calls("x y").unwrap(), last: calls("z").unwrap(), ..matrix.clone() };
        let less = |it: &Matrix| (it.initial.concat(), it.last.concat());
        let of_ends = |it: &&Matrix| it.columns == matrix.columns;
        let smaller_ends: Vec<_> = ends.smaller(&[]).iter().filter(of_ends).map(less).collect();
        assert_eq!(
            smaller_ends,
            [("xy", ""), ("x", "z"), ("y", "z")].map(|it| (it.0.to_owned(), it.1.to_owned()))
        );
        // A sequence stays together.
        let sequence = |text: &str| calls(text).unwrap();
        assert_eq!(smaller(&[sequence("a b"), sequence("a")]), ["c", "a b", "c", "a b"]);
        assert_eq!(smaller(&[sequence("b a"), sequence("c d")]), smaller(&[]));
    }
}
