//! Messages as a harness file writes them: patterns, and templates with the same syntax.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::cursor::{Cursor, HarnessFileError};

/// A pattern that a message matches, or a template of which one is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// `_`: anything.
    Any,
    /// A name in lower case: what it stands for.
    Variable(String),
    /// A number, a text, `true`, `false` or `null`.
    Literal(Json),
    /// `Write(n, v)`, `Write { n, value: v }`, `Read`: a variant of an enum.
    Variant(String, Option<Box<Term>>),
    /// `(a, b)` or `[a, b]`; with `..` at the end, of any length.
    List(Vec<Term>, bool),
    /// `{ key: k }`; with `..` at the end there may be other fields.
    Fields(Vec<(String, Term)>, bool),
}

/// What the variables of a pattern stand for.
pub(super) type Bindings = BTreeMap<String, Json>;

impl Term {
    /// Reads a term.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Term, HarnessFileError> {
        match cursor.peek() {
            Some('(') => Term::list(cursor, '(', ')'),
            Some('[') => Term::list(cursor, '[', ']'),
            Some('{') => Term::fields(cursor),
            Some('"') => cursor.text().map(|it| Term::Literal(it.into())),
            Some(it) if it == '-' || it.is_ascii_digit() => {
                cursor.integer().map(|it| Term::Literal(it.into()))
            }
            Some(it) if it == '_' || it.is_alphabetic() => Term::named(cursor),
            _ => Err(cursor.expected("a message, a name or a value")),
        }
    }

    fn named(cursor: &mut Cursor<'_>) -> Result<Term, HarnessFileError> {
        let name = cursor.name().ok_or_else(|| cursor.expected("a name"))?;
        Ok(match name {
            "_" => Term::Any,
            "true" => Term::Literal(true.into()),
            "false" => Term::Literal(false.into()),
            "null" | "None" => Term::Literal(Json::Null),
            _ if !name.starts_with(char::is_uppercase) => Term::Variable(name.to_owned()),
            _ => {
                let inside = match cursor.peek() {
                    Some('(') => match Term::list(cursor, '(', ')')? {
                        // A variant with one field has it without a list.
                        Term::List(mut one, false) if one.len() == 1 => one.pop(),
                        list => Some(list),
                    },
                    Some('{') => Some(Term::fields(cursor)?),
                    _ => None,
                };
                match inside {
                    Some(inside) if name == "Some" => inside,
                    inside => Term::Variant(name.to_owned(), inside.map(Box::new)),
                }
            }
        })
    }

    fn list(cursor: &mut Cursor<'_>, open: char, close: char) -> Result<Term, HarnessFileError> {
        let mut items = Vec::new();
        let has_rest = sequence(cursor, open, close, |cursor| {
            items.push(Term::read(cursor)?);
            Ok(())
        })?;
        Ok(Term::List(items, has_rest))
    }

    fn fields(cursor: &mut Cursor<'_>) -> Result<Term, HarnessFileError> {
        let mut fields = Vec::new();
        let has_rest = sequence(cursor, '{', '}', |cursor| {
            let name = cursor.name().ok_or_else(|| cursor.expected("the name of a field"))?;
            let term = if cursor.eat(":") { Term::read(cursor)? } else { Term::Variable(name.to_owned()) };
            fields.push((name.to_owned(), term));
            Ok(())
        })?;
        Ok(Term::Fields(fields, has_rest))
    }

    /// Whether `message` matches. Variables that stand for something stand for that; others are
    /// bound.
    pub(super) fn matches(&self, message: &Json, bindings: &mut Bindings) -> bool {
        match (self, message) {
            (Term::Any, _) => true,
            (Term::Variable(name), _) => match bindings.get(name) {
                Some(known) => known == message,
                None => bindings.insert(name.clone(), message.clone()).is_none(),
            },
            (Term::Literal(literal), _) => literal == message,
            (Term::Variant(name, None), Json::String(found)) => name == found,
            (Term::Variant(name, Some(inside)), Json::Object(fields)) => {
                // `Write(..)` says nothing of what is inside, not even whether it is a list.
                let is_open = matches!(&**inside, Term::List(items, true) if items.is_empty());
                fields.len() == 1
                    && fields.get(name).is_some_and(|it| is_open || inside.matches(it, bindings))
            }
            (Term::List(terms, has_rest), Json::Array(items)) => {
                (terms.len() == items.len() || *has_rest && terms.len() < items.len())
                    && terms.iter().zip(items).all(|(term, it)| term.matches(it, bindings))
            }
            (Term::Fields(terms, has_rest), Json::Object(fields)) => {
                (*has_rest || terms.len() == fields.len())
                    && terms
                        .iter()
                        .all(|(name, term)| fields.get(name).is_some_and(|it| term.matches(it, bindings)))
            }
            (Term::Variant(..) | Term::List(..) | Term::Fields(..), _) => false,
        }
    }

    /// The message of which this is the template. Its variables stand for something.
    pub(super) fn build(&self, bindings: &Bindings) -> Json {
        match self {
            Term::Any => Json::Null,
            Term::Variable(name) => bindings.get(name).cloned().unwrap_or_default(),
            Term::Literal(literal) => literal.clone(),
            Term::Variant(name, None) => name.as_str().into(),
            Term::Variant(name, Some(inside)) => {
                Json::Object([(name.clone(), inside.build(bindings))].into_iter().collect())
            }
            Term::List(terms, _) => Json::Array(terms.iter().map(|it| it.build(bindings)).collect()),
            Term::Fields(terms, _) => {
                Json::Object(terms.iter().map(|(name, it)| (name.clone(), it.build(bindings))).collect())
            }
        }
    }

    /// The name of the variant, if it is one.
    pub(super) fn variant(&self) -> Option<&str> {
        match self {
            Term::Variant(name, _) => Some(name),
            _ => None,
        }
    }

    /// The variables.
    pub(super) fn variables(&self) -> Vec<&str> {
        match self {
            Term::Any | Term::Literal(_) | Term::Variant(_, None) => Vec::new(),
            Term::Variable(name) => vec![name],
            Term::Variant(_, Some(inside)) => inside.variables(),
            Term::List(terms, _) => terms.iter().flat_map(Term::variables).collect(),
            Term::Fields(terms, _) => terms.iter().flat_map(|it| it.1.variables()).collect(),
        }
    }

    /// Whether it says less than a whole message: `_` or `..`.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Term::Any => true,
            Term::Variable(_) | Term::Literal(_) | Term::Variant(_, None) => false,
            Term::Variant(_, Some(inside)) => inside.is_open(),
            Term::List(terms, has_rest) => *has_rest || terms.iter().any(Term::is_open),
            Term::Fields(terms, has_rest) => *has_rest || terms.iter().any(|it| it.1.is_open()),
        }
    }
}

/// Reads items between brackets, with commas. Returns whether the last is `..`.
fn sequence(
    cursor: &mut Cursor<'_>,
    open: char,
    close: char,
    mut item: impl FnMut(&mut Cursor<'_>) -> Result<(), HarnessFileError>,
) -> Result<bool, HarnessFileError> {
    let (open, close) = (open.to_string(), close.to_string());
    cursor.expect(&open)?;
    let mut has_rest = false;
    while !cursor.eat(&close) {
        has_rest = cursor.eat("..");
        if !has_rest {
            item(cursor)?;
        }
        if has_rest || !cursor.eat(",") {
            cursor.expect(&close)?;
            break;
        }
    }
    Ok(has_rest)
}
