//! The tree of a script, with names resolved to slots.

use std::sync::Arc;

use crate::{builtin::Builtin, method::Method, value::Val};

/// A script that was parsed.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) body: Vec<Statement>,
    pub(crate) functions: Vec<Function>,
    /// The names of globals, by number.
    pub(crate) globals: Vec<Arc<str>>,
    /// How many slots the comprehensions outside of functions need.
    pub(crate) slots: usize,
    /// Those of them that functions use.
    pub(crate) captured: Vec<u32>,
}

/// A `def` or a `lambda`.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) at: u32,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Vec<Statement>,
    /// How many slots it needs; the parameters have the first ones.
    pub(crate) slots: usize,
    /// The slots that functions inside of it use.
    pub(crate) captured: Vec<u32>,
    /// Where the variables of functions around it come from when it is made.
    pub(crate) free: Vec<Capture>,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Arc<str>,
    pub(crate) default: Option<Expression>,
}

/// A variable of the function around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Capture {
    Slot(u32),
    Free(u32),
}

#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) at: u32,
    pub(crate) kind: StatementKind,
}

#[derive(Debug)]
pub(crate) enum StatementKind {
    Value(Expression),
    Assign(Target, Expression),
    Augment(Target, Operator, Expression),
    Define(Target, usize),
    If(Vec<(Expression, Vec<Statement>)>, Vec<Statement>),
    For(Target, Expression, Vec<Statement>),
    Return(Option<Expression>),
    Break,
    Continue,
    Pass,
}

/// What is assigned to.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) at: u32,
    pub(crate) kind: Goal,
}

#[derive(Debug)]
pub(crate) enum Goal {
    Name(Arc<str>, Place),
    Item(Box<(Expression, Expression)>),
    Several(Vec<Target>),
}

/// Where a name's value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Unresolved,
    Local(u32),
    Free(u32),
    Global(u32),
    Builtin(Builtin),
}

#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) at: u32,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Constant(Val),
    Name(Arc<str>, Place),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Dict(Vec<(Expression, Expression)>),
    Comprehension(Box<Comprehension>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Positive(Box<Expression>),
    Inverted(Box<Expression>),
    Binary(Operator, Box<(Expression, Expression)>),
    And(Box<(Expression, Expression)>),
    Or(Box<(Expression, Expression)>),
    If(Box<(Expression, Expression, Expression)>),
    Item(Box<(Expression, Expression)>),
    Slice(Box<Expression>, Box<[Option<Expression>; 3]>),
    Call(Box<Expression>, Vec<Argument>),
    Method(Box<Expression>, Method, Vec<Argument>),
    Lambda(usize),
}

#[derive(Debug)]
pub(crate) struct Comprehension {
    /// The item, or the key and the value of a dict.
    pub(crate) item: (Expression, Option<Expression>),
    pub(crate) clauses: Vec<Clause>,
}

#[derive(Debug)]
pub(crate) enum Clause {
    For(Target, Expression),
    If(Expression),
}

#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) value: Expression,
}

/// An operator with two operands that are both evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Or,
    And,
    Xor,
    Left,
    Right,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

impl Operator {
    /// The sign, and how strongly it binds: comparisons least.
    const SIGNS: [(&str, Operator, u8); 18] = [
        ("==", Operator::Equal, 1),
        ("!=", Operator::Unequal, 1),
        ("<", Operator::Less, 1),
        ("<=", Operator::LessOrEqual, 1),
        (">", Operator::Greater, 1),
        (">=", Operator::GreaterOrEqual, 1),
        ("in", Operator::In, 1),
        ("not in", Operator::NotIn, 1),
        ("|", Operator::Or, 2),
        ("^", Operator::Xor, 3),
        ("&", Operator::And, 4),
        ("<<", Operator::Left, 5),
        (">>", Operator::Right, 5),
        ("+", Operator::Add, 6),
        ("-", Operator::Subtract, 6),
        ("*", Operator::Multiply, 7),
        ("//", Operator::Divide, 7),
        ("%", Operator::Modulo, 7),
    ];

    pub(crate) fn find(sign: &str) -> Option<(Operator, u8)> {
        Operator::SIGNS.iter().find(|it| it.0 == sign).map(|it| (it.1, it.2))
    }

    pub(crate) fn sign(self) -> &'static str {
        Operator::SIGNS.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }
}
