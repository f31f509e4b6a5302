//! The parser: words to a tree whose names are not resolved yet.

use std::sync::Arc;

use clewline_core::NotFound;

use crate::{
    error::{Fault, fault},
    lexer::{Token, refusal},
    method::Method,
    tree::{
        Argument, Clause, Comprehension, Expression, Function, Goal, Kind, Operator, Parameter, Place,
        Statement, StatementKind, Target, Tree,
    },
    value::Val,
};

// Brackets, operators and blocks inside each other. The parser is recursive.
const NESTING_DEPTH_MAX: usize = 60;

pub(crate) const KEYWORDS: [&str; 14] = [
    "and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "not", "or", "pass",
    "return",
];

/// The tree of a script.
pub(crate) fn parse(tokens: Vec<(u32, Token)>) -> Result<Tree, Fault> {
    let mut parser =
        Parser { tokens, next: 0, depth: 0, functions: Vec::new(), loops: 0, is_in_function: false };
    let mut body = Vec::new();
    while *parser.peek() != Token::End {
        if parser.take(&Token::Newline) {
            continue;
        }
        parser.statement(&mut body)?;
    }
    Ok(Tree { body, functions: parser.functions, ..Tree::default() })
}

struct Parser {
    tokens: Vec<(u32, Token)>,
    next: usize,
    depth: usize,
    functions: Vec<Function>,
    // How many loops are around, in this function.
    loops: usize,
    is_in_function: bool,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }

    fn at(&self) -> u32 {
        self.tokens[self.next].0
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        // The last token is the end, which stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == token;
        if is_next {
            self.advance();
        }
        is_next
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(it) if *it == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(it) if **it == *word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn expect_sign(&mut self, sign: &str) -> Result<(), Fault> {
        if self.take_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        if let Token::Name(name) = self.peek()
            && let Some(why) = refusal(name)
        {
            return fault(self.at(), format!("not supported: {why}"));
        }
        fault(self.at(), format!("expected {what}, found {}", self.peek().shown()))
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if NESTING_DEPTH_MAX <= self.depth {
            return fault(self.at(), format!("nested more than {NESTING_DEPTH_MAX} levels deep"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn name(&mut self, what: &str) -> Result<Arc<str>, Fault> {
        match self.peek() {
            Token::Name(name) if !KEYWORDS.contains(&&**name) && refusal(name).is_none() => {
                let name = Arc::clone(name);
                self.advance();
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    fn statement(&mut self, body: &mut Vec<Statement>) -> Result<(), Fault> {
        let at = self.at();
        let word = match self.peek() {
            Token::Name(name) => Arc::clone(name),
            Token::Indent => return fault(at, "this line is indented, and begins no block"),
            _ => "".into(),
        };
        let kind = match &*word {
            "def" => self.deeper(Parser::definition)?,
            "if" | "for" if !self.is_in_function => {
                return fault(at, format!("`{word}` is allowed only inside of a function"));
            }
            "if" => self.deeper(Parser::branches)?,
            "for" => self.deeper(Parser::for_loop)?,
            _ => return self.simple_statements(body),
        };
        body.push(Statement { at, kind });
        Ok(())
    }

    fn block(&mut self) -> Result<Vec<Statement>, Fault> {
        self.expect_sign(":")?;
        let mut body = Vec::new();
        if !self.take(&Token::Newline) {
            self.simple_statements(&mut body)?;
            return Ok(body);
        }
        if !self.take(&Token::Indent) {
            return self.expected("an indented block");
        }
        while !self.take(&Token::Dedent) {
            if !self.take(&Token::Newline) {
                self.statement(&mut body)?;
            }
        }
        Ok(body)
    }

    fn definition(&mut self) -> Result<StatementKind, Fault> {
        self.advance();
        let at = self.at();
        let name = self.name("the name of a function")?;
        self.expect_sign("(")?;
        let parameters = self.parameters(")")?;
        self.expect_sign(")")?;
        let outside = (std::mem::take(&mut self.loops), std::mem::replace(&mut self.is_in_function, true));
        let body = self.block()?;
        (self.loops, self.is_in_function) = outside;
        let function = Function { name: Arc::clone(&name), at, parameters, body, ..Function::default() };
        self.functions.push(function);
        let target = Target { at, kind: Goal::Name(name, Place::Unresolved) };
        Ok(StatementKind::Define(target, self.functions.len() - 1))
    }

    fn parameters(&mut self, end: &str) -> Result<Vec<Parameter>, Fault> {
        let mut parameters: Vec<Parameter> = Vec::new();
        while !self.is_sign(end) {
            if self.is_sign("*") {
                return fault(self.at(), "parameters with `*` are not supported");
            }
            let at = self.at();
            let name = self.name("the name of a parameter")?;
            if parameters.iter().any(|it| it.name == name) {
                return fault(at, format!("two parameters are called `{name}`"));
            }
            let default = if self.take_sign("=") { Some(self.test()?) } else { None };
            if default.is_none() && parameters.last().is_some_and(|it| it.default.is_some()) {
                return fault(at, format!("`{name}` needs a default, since the parameter before it has one"));
            }
            parameters.push(Parameter { name, default });
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(parameters)
    }

    fn branches(&mut self) -> Result<StatementKind, Fault> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        self.advance();
        loop {
            let condition = self.test()?;
            branches.push((condition, self.block()?));
            if self.take_word("elif") {
                continue;
            }
            if self.take_word("else") {
                otherwise = self.block()?;
            }
            return Ok(StatementKind::If(branches, otherwise));
        }
    }

    fn for_loop(&mut self) -> Result<StatementKind, Fault> {
        self.advance();
        let target = self.loop_target()?;
        self.expect_word("in")?;
        let sequence = self.tests()?;
        self.loops += 1;
        let body = self.block()?;
        self.loops -= 1;
        if self.is_word("else") {
            return fault(self.at(), "`else` after a loop is not supported");
        }
        Ok(StatementKind::For(target, sequence, body))
    }

    fn simple_statements(&mut self, body: &mut Vec<Statement>) -> Result<(), Fault> {
        loop {
            let at = self.at();
            let kind = self.simple_statement()?;
            body.push(Statement { at, kind });
            if self.take_sign(";") {
                if self.take(&Token::Newline) {
                    return Ok(());
                }
                continue;
            }
            return if self.take(&Token::Newline) { Ok(()) } else { self.expected("the end of the line") };
        }
    }

    fn simple_statement(&mut self) -> Result<StatementKind, Fault> {
        let at = self.at();
        if self.take_word("pass") {
            return Ok(StatementKind::Pass);
        }
        if self.is_word("break") || self.is_word("continue") {
            if self.loops == 0 {
                return fault(at, format!("{} is allowed only inside of a loop", self.peek().shown()));
            }
            let is_break = self.take_word("break");
            if !is_break {
                self.advance();
            }
            return Ok(if is_break { StatementKind::Break } else { StatementKind::Continue });
        }
        if self.take_word("return") {
            if !self.is_in_function {
                return fault(at, "`return` is allowed only inside of a function");
            }
            let is_bare = *self.peek() == Token::Newline || self.is_sign(";");
            return Ok(StatementKind::Return(if is_bare { None } else { Some(self.tests()?) }));
        }
        let left = self.tests()?;
        if self.take_sign("=") {
            let target = target(left)?;
            let value = self.tests()?;
            if self.is_sign("=") {
                return fault(self.at(), "`a = b = c` is not supported");
            }
            return Ok(StatementKind::Assign(target, value));
        }
        if let Token::Sign(sign) = self.peek()
            && let Some((operator, 2..)) = sign.strip_suffix('=').and_then(Operator::find)
        {
            self.advance();
            let target = target(left)?;
            if matches!(target.kind, Goal::Several(_)) {
                return fault(at, "an augmented assignment has one target");
            }
            return Ok(StatementKind::Augment(target, operator, self.tests()?));
        }
        if self.is_sign(":") {
            return fault(self.at(), "types of variables are not supported");
        }
        Ok(StatementKind::Value(left))
    }

    /// One expression, or a tuple without brackets.
    fn tests(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let first = self.test()?;
        if !self.is_sign(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take_sign(",") {
            if !self.begins_expression() {
                break;
            }
            items.push(self.test()?);
        }
        Ok(Expression { at, kind: Kind::Tuple(items) })
    }

    fn begins_expression(&self) -> bool {
        match self.peek() {
            Token::Name(name) => !KEYWORDS.contains(&&**name) || matches!(&**name, "lambda" | "not"),
            Token::Int(_) | Token::Text(_) => true,
            Token::Sign(sign) => matches!(*sign, "(" | "[" | "{" | "-" | "+" | "~"),
            Token::Newline | Token::Indent | Token::Dedent | Token::End => false,
        }
    }

    /// An expression, with `if … else` and `lambda`.
    fn test(&mut self) -> Result<Expression, Fault> {
        self.deeper(|it| {
            let at = it.at();
            if it.take_word("lambda") {
                let parameters = it.parameters(":")?;
                it.expect_sign(":")?;
                let value = it.test()?;
                let body = vec![Statement { at, kind: StatementKind::Return(Some(value)) }];
                it.functions.push(Function {
                    name: "lambda".into(),
                    at,
                    parameters,
                    body,
                    ..Function::default()
                });
                return Ok(Expression { at, kind: Kind::Lambda(it.functions.len() - 1) });
            }
            let value = it.or_test()?;
            if !it.take_word("if") {
                return Ok(value);
            }
            let condition = it.or_test()?;
            it.expect_word("else")?;
            let otherwise = it.test()?;
            Ok(Expression { at, kind: Kind::If(Box::new((condition, value, otherwise))) })
        })
    }

    fn or_test(&mut self) -> Result<Expression, Fault> {
        let mut left = self.and_test()?;
        let mut links = 0;
        while self.is_word("or") {
            let at = self.at();
            links = self.link(links)?;
            self.advance();
            let right = self.deeper(Parser::and_test)?;
            left = Expression { at, kind: Kind::Or(Box::new((left, right))) };
        }
        Ok(left)
    }

    fn and_test(&mut self) -> Result<Expression, Fault> {
        let mut left = self.not_test()?;
        let mut links = 0;
        while self.is_word("and") {
            let at = self.at();
            links = self.link(links)?;
            self.advance();
            let right = self.deeper(Parser::not_test)?;
            left = Expression { at, kind: Kind::And(Box::new((left, right))) };
        }
        Ok(left)
    }

    fn not_test(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        if self.take_word("not") {
            let value = self.deeper(Parser::not_test)?;
            return Ok(Expression { at, kind: Kind::Not(Box::new(value)) });
        }
        self.binary(1)
    }

    /// One operator more in a chain: it makes the tree deeper on its left side.
    fn link(&self, links: usize) -> Result<usize, Fault> {
        if links == NESTING_DEPTH_MAX {
            return fault(self.at(), format!("more than {NESTING_DEPTH_MAX} operators without brackets"));
        }
        Ok(links + 1)
    }

    /// The operator that comes next, and how strongly it binds.
    fn operator(&self) -> Option<(Operator, u8)> {
        match self.peek() {
            Token::Sign(sign) => Operator::find(sign),
            Token::Name(name) if **name == *"in" => Operator::find("in"),
            Token::Name(name) if **name == *"not" => match self.tokens.get(self.next + 1) {
                Some((_, Token::Name(next))) if **next == *"in" => Operator::find("not in"),
                _ => None,
            },
            _ => None,
        }
    }

    /// Operators that bind at least as strongly as `least`.
    fn binary(&mut self, least: u8) -> Result<Expression, Fault> {
        let mut left = self.unary()?;
        let mut links = 0;
        while let Some((operator, strength)) = self.operator().filter(|it| least <= it.1) {
            let at = self.at();
            self.advance();
            if operator == Operator::NotIn {
                self.advance();
            }
            let right = self.deeper(|it| it.binary(strength + 1))?;
            links = self.link(links)?;
            left = Expression { at, kind: Kind::Binary(operator, Box::new((left, right))) };
            if strength == 1 && self.operator().is_some_and(|it| it.1 == 1) {
                return fault(self.at(), "comparisons are not chained: use `and`");
            }
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let make: fn(Box<Expression>) -> Kind = match self.peek() {
            Token::Sign("-") => Kind::Negative,
            Token::Sign("+") => Kind::Positive,
            Token::Sign("~") => Kind::Inverted,
            _ => return self.primary(),
        };
        self.advance();
        let value = self.deeper(Parser::unary)?;
        Ok(Expression { at, kind: make(Box::new(value)) })
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        let mut value = self.atom()?;
        let mut links = 0;
        loop {
            let at = self.at();
            links += 1;
            if NESTING_DEPTH_MAX < links {
                return fault(at, format!("a chain of more than {NESTING_DEPTH_MAX} calls"));
            }
            let kind = if self.take_sign("(") {
                Kind::Call(Box::new(value), self.arguments()?)
            } else if self.take_sign("[") {
                self.item(value)?
            } else if self.take_sign(".") {
                let at = self.at();
                let name = self.name("the name of a method")?;
                let Some(method) = Method::find(&name) else {
                    return fault(
                        at,
                        NotFound::new("method", &name, Method::NAMES.iter().copied()).to_string(),
                    );
                };
                if !self.take_sign("(") {
                    return self.expected("`(`: a method is called where it is named");
                }
                Kind::Method(Box::new(value), method, self.arguments()?)
            } else {
                return Ok(value);
            };
            value = Expression { at, kind };
        }
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Fault> {
        let mut arguments: Vec<Argument> = Vec::new();
        while !self.is_sign(")") {
            if self.is_sign("*") {
                return fault(self.at(), "arguments with `*` are not supported");
            }
            let value = self.test()?;
            let argument = match value.kind {
                Kind::Name(name, _) if self.take_sign("=") => {
                    Argument { name: Some(name), value: self.test()? }
                }
                _ if self.is_word("for") => {
                    return fault(self.at(), "a comprehension needs square brackets here");
                }
                _ => Argument { name: None, value },
            };
            if argument.name.is_none() && arguments.last().is_some_and(|it| it.name.is_some()) {
                return fault(argument.value.at, "an argument without a name follows one with a name");
            }
            arguments.push(argument);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign(")")?;
        Ok(arguments)
    }

    /// What follows `value[`.
    fn item(&mut self, value: Expression) -> Result<Kind, Fault> {
        let mut parts: [Option<Expression>; 3] = [None, None, None];
        let mut count = 0;
        for part in &mut parts {
            if !self.is_sign(":") && !self.is_sign("]") {
                *part = Some(self.tests()?);
            }
            count += 1;
            if !self.take_sign(":") {
                break;
            }
        }
        self.expect_sign("]")?;
        match (count, &mut parts) {
            (1, [Some(_), _, _]) => match parts[0].take() {
                Some(index) => Ok(Kind::Item(Box::new((value, index)))),
                None => self.expected("an index"),
            },
            (1, _) => fault(self.at(), "expected an index"),
            _ => Ok(Kind::Slice(Box::new(value), Box::new(parts))),
        }
    }

    fn atom(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let kind = match self.peek().clone() {
            Token::Int(int) => {
                self.advance();
                Kind::Constant(Val::Int(int))
            }
            Token::Text(text) => {
                self.advance();
                if matches!(self.peek(), Token::Text(_)) {
                    return fault(self.at(), "texts are joined by `+`");
                }
                Kind::Constant(Val::Text(text))
            }
            Token::Name(name) => match &*name {
                "None" | "True" | "False" => {
                    self.advance();
                    Kind::Constant(match &*name {
                        "None" => Val::None,
                        word => Val::Bool(word == "True"),
                    })
                }
                _ => Kind::Name(self.name("an expression")?, Place::Unresolved),
            },
            Token::Sign("(") => {
                self.advance();
                if self.take_sign(")") {
                    return Ok(Expression { at, kind: Kind::Tuple(Vec::new()) });
                }
                let inside = self.tests()?;
                if self.is_word("for") {
                    return fault(self.at(), "generators are not supported: use square brackets");
                }
                self.expect_sign(")")?;
                return Ok(inside);
            }
            Token::Sign("[") => self.list()?,
            Token::Sign("{") => self.dict()?,
            _ => return self.expected("an expression"),
        };
        Ok(Expression { at, kind })
    }

    fn list(&mut self) -> Result<Kind, Fault> {
        self.advance();
        let mut items = Vec::new();
        while !self.is_sign("]") {
            let item = self.test()?;
            if items.is_empty() && self.is_word("for") {
                let clauses = self.clauses()?;
                self.expect_sign("]")?;
                return Ok(Kind::Comprehension(Box::new(Comprehension { item: (item, None), clauses })));
            }
            items.push(item);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign("]")?;
        Ok(Kind::List(items))
    }

    fn dict(&mut self) -> Result<Kind, Fault> {
        self.advance();
        let mut entries = Vec::new();
        while !self.is_sign("}") {
            let key = self.test()?;
            if self.is_sign(",") || self.is_sign("}") {
                return fault(key.at, "sets are not supported: expected `key: value`");
            }
            self.expect_sign(":")?;
            let value = self.test()?;
            if entries.is_empty() && self.is_word("for") {
                let clauses = self.clauses()?;
                self.expect_sign("}")?;
                return Ok(Kind::Comprehension(Box::new(Comprehension {
                    item: (key, Some(value)),
                    clauses,
                })));
            }
            entries.push((key, value));
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign("}")?;
        Ok(Kind::Dict(entries))
    }

    fn clauses(&mut self) -> Result<Vec<Clause>, Fault> {
        let mut clauses = Vec::new();
        loop {
            if NESTING_DEPTH_MAX <= clauses.len() {
                return fault(self.at(), format!("more than {NESTING_DEPTH_MAX} clauses"));
            }
            if self.take_word("for") {
                let target = self.loop_target()?;
                self.expect_word("in")?;
                clauses.push(Clause::For(target, self.or_test()?));
            } else if self.take_word("if") {
                clauses.push(Clause::If(self.or_test()?));
            } else {
                return Ok(clauses);
            }
        }
    }

    /// The variables of a loop: `in` ends them.
    fn loop_target(&mut self) -> Result<Target, Fault> {
        let at = self.at();
        let mut items = vec![target(self.deeper(Parser::primary)?)?];
        if !self.is_sign(",")
            && let Some(only) = items.pop()
        {
            return Ok(only);
        }
        while self.take_sign(",") {
            if self.is_word("in") {
                break;
            }
            items.push(target(self.deeper(Parser::primary)?)?);
        }
        Ok(Target { at, kind: Goal::Several(items) })
    }
}

/// `expression` as something that is assigned to.
fn target(expression: Expression) -> Result<Target, Fault> {
    let at = expression.at;
    let kind = match expression.kind {
        Kind::Name(name, place) => Goal::Name(name, place),
        Kind::Item(parts) => Goal::Item(parts),
        Kind::Tuple(items) | Kind::List(items) if !items.is_empty() => {
            Goal::Several(items.into_iter().map(target).collect::<Result<_, Fault>>()?)
        }
        _ => return fault(at, "expected a name, an item or several of them before `=`"),
    };
    Ok(Target { at, kind })
}
