//! Calls as a builder takes them: as text, or as values of the specification's type.

use crate::{
    matrix::{BadMatrix, Matrix, calls, split_outside},
    specified::SpecifiedSubject,
};
use clewline_core::Specification;

/// Calls, as text or, of a subject with a specification, as values: `"push(1) pop"`,
/// `[Call::Push(1), Call::Pop]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of calls",
    label = "expected text, or an array or a vector of the specification's `Call`"
)]
pub trait CallList<E> {
    /// The labels of the calls. The subject knows calls by their labels from now on.
    ///
    /// # Errors
    ///
    /// If a text is not a list of calls.
    fn labels(self, subject: &mut E) -> Result<Vec<String>, BadMatrix>;
}

/// The columns of a matrix, a column a thread: as text or, of a subject with a specification, as
/// values: `"push(1) pop | pop"`, `[vec![Call::Push(1), Call::Pop], vec![Call::Pop]]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of columns",
    label = "expected text, or an array or a vector of columns"
)]
pub trait ColumnList<E> {
    /// The labels of the calls, by column. The subject knows calls by their labels from now on.
    ///
    /// # Errors
    ///
    /// If a text is not a matrix.
    fn columns(self, subject: &mut E) -> Result<Vec<Vec<String>>, BadMatrix>;
}

impl<E> CallList<E> for &str {
    fn labels(self, _: &mut E) -> Result<Vec<String>, BadMatrix> {
        calls(self)
    }
}

impl<E> CallList<E> for &String {
    fn labels(self, _: &mut E) -> Result<Vec<String>, BadMatrix> {
        calls(self)
    }
}

impl<S, const N: usize> CallList<SpecifiedSubject<S>> for [S::Call; N]
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn labels(self, subject: &mut SpecifiedSubject<S>) -> Result<Vec<String>, BadMatrix> {
        Ok(self.into_iter().map(|it| label(subject, it)).collect())
    }
}

impl<S> CallList<SpecifiedSubject<S>> for Vec<S::Call>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    fn labels(self, subject: &mut SpecifiedSubject<S>) -> Result<Vec<String>, BadMatrix> {
        Ok(self.into_iter().map(|it| label(subject, it)).collect())
    }
}

impl<E> ColumnList<E> for &str {
    fn columns(self, _: &mut E) -> Result<Vec<Vec<String>>, BadMatrix> {
        Ok(self.parse::<Matrix>()?.columns)
    }
}

impl<E> ColumnList<E> for &String {
    fn columns(self, subject: &mut E) -> Result<Vec<Vec<String>>, BadMatrix> {
        self.as_str().columns(subject)
    }
}

impl<E, C: CallList<E>, const N: usize> ColumnList<E> for [C; N] {
    fn columns(self, subject: &mut E) -> Result<Vec<Vec<String>>, BadMatrix> {
        self.into_iter().map(|it| it.labels(subject)).collect()
    }
}

impl<E, C: CallList<E>> ColumnList<E> for Vec<C> {
    fn columns(self, subject: &mut E) -> Result<Vec<Vec<String>>, BadMatrix> {
        self.into_iter().map(|it| it.labels(subject)).collect()
    }
}

/// The label of a call: its text, which a matrix and a replay token contain. Texts that cannot be
/// read back from there are quoted, and equal texts of different calls are numbered.
fn label<S>(subject: &mut SpecifiedSubject<S>, call: S::Call) -> String
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    if let Some((label, _)) = subject.calls().iter().find(|it| it.1 == call) {
        return label.clone();
    }
    let shown = subject.show_call(&call);
    let text = if is_readable(&shown) { shown } else { format!("{shown:?}") };
    let (mut label, mut number) = (text.clone(), 1);
    while subject.calls().iter().any(|it| it.0 == label) {
        number += 1;
        label = format!("{text}[{number}]");
    }
    subject.add_call(label.clone(), call);
    label
}

/// Whether a replay token can contain this text of a call.
fn is_readable(text: &str) -> bool {
    let is_column = text.parse::<Matrix>().is_ok_and(|it| it.columns == [[text]]);
    let has_semicolon = split_outside(text, |it| it == ';').is_ok_and(|it| it.len() != 1);
    // A brace would belong to the call before it.
    is_column && !has_semicolon && !text.starts_with('{') && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use clewline_core::Deterministic;
    use clewline_threads::Subject;

    use super::*;

    /// A call with a text of its own.
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Text(&'static str, u32);

    impl fmt::Debug for Text {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    #[derive(Clone)]
    struct Anything;

    impl Deterministic for Anything {
        type State = ();
        type Call = Text;
        type Return = ();

        fn initial(&self) {}

        fn apply(&self, (): &mut (), _: &Text) -> Option<()> {
            Some(())
        }
    }

    impl Subject<Anything> for () {
        fn call(&self, _: &Text) {}
    }

    #[test]
    fn every_call_has_a_label_that_a_matrix_can_contain() {
        let mut subject = SpecifiedSubject::with_debug(Anything, || ());
        for (call, expected) in [
            (Text("Take", 0), "Take"),
            (Text("Take", 0), "Take"),
            (Text("Take", 1), "Take[2]"),
            (Text("Take", 2), "Take[3]"),
            (Text("Put { key: 1 }", 0), "Put { key: 1 }"),
            (Text("()", 0), "()"),
            (Text("(\"a | b; c\")", 0), "(\"a | b; c\")"),
            (Text("a | b", 0), "\"a | b\""),
            (Text("a b", 0), "\"a b\""),
            (Text("a;b", 0), "\"a;b\""),
            (Text("{1}", 0), "\"{1}\""),
            (Text("Put('\"')", 0), "\"Put('\\\"')\""),
            (Text("Put(\n1)", 0), "\"Put(\\n1)\""),
            (Text("", 0), "\"\""),
        ] {
            assert_eq!(label(&mut subject, call), expected);
        }
        for (text, _) in subject.calls() {
            let matrix: Matrix = format!("{text} {text} | {text}").parse().expect("a matrix");
            assert_eq!(matrix.columns, [vec![text.as_str(), text], vec![text]]);
        }
    }
}
