//! The words of a script, with its indentation.

use std::sync::Arc;

use crate::error::{Fault, fault};

/// A word of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Name(Arc<str>),
    Int(i64),
    Text(Arc<str>),
    /// An operator or a bracket.
    Sign(&'static str),
    Newline,
    Indent,
    Dedent,
    End,
}

impl Token {
    /// The word as an error shows it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Int(int) => format!("`{int}`"),
            Token::Text(_) => "a text".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Newline => "the end of the line".to_owned(),
            Token::Indent => "a deeper indentation".to_owned(),
            Token::Dedent => "the end of the block".to_owned(),
            Token::End => "the end of the file".to_owned(),
        }
    }
}

// The longest first: the first that fits is the sign.
const SIGNS: [&str; 43] = [
    "<<=", ">>=", "//=", "**", "->", ":=", "==", "!=", "<=", ">=", "<<", ">>", "//", "+=", "-=", "*=", "%=",
    "/=", "|=", "&=", "^=", "+", "-", "*", "/", "%", "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ":",
    ";", ".", "|", "&", "^", "~",
];

/// Words of Python that Starlark, or this subset of it, does not have.
const REFUSED: [(&str, &str); 22] = [
    ("while", "`while` loops: `for … in range(…)` has a bound"),
    ("class", "classes: a dict holds named values"),
    ("try", "exceptions"),
    ("except", "exceptions"),
    ("finally", "exceptions"),
    ("raise", "exceptions: `fail(…)` ends the script with an error"),
    ("import", "imports"),
    ("from", "imports"),
    ("load", "`load`: a specification is one file"),
    ("with", "`with`"),
    ("as", "`as`"),
    ("yield", "generators"),
    ("async", "`async`"),
    ("await", "`await`"),
    ("global", "`global`: globals are frozen"),
    ("nonlocal", "`nonlocal`"),
    ("del", "`del`: a dict has `pop`"),
    ("assert", "`assert`: `fail(…)` ends the script with an error"),
    ("is", "`is`: values are compared by `==`"),
    ("print", "`print`: a specification has no output"),
    ("set", "sets: a dict with the values True, or a sorted list"),
    ("float", "floating-point numbers"),
];

/// What is refused about `name`, if it is.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|it| it.0 == name).map(|it| it.1)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<(u32, Token)>,
    indents: Vec<usize>,
    // How many brackets are open: inside, line ends and indentation do not count.
    brackets: Vec<u8>,
}

/// The words of `text`, each with its place.
pub(crate) fn tokens(text: &str) -> Result<Vec<(u32, Token)>, Fault> {
    if u32::try_from(text.len()).is_err() {
        return fault(0, "a script has less than 4 GiB");
    }
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), indents: vec![0], brackets: Vec::new() };
    lexer.run()?;
    Ok(lexer.tokens)
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, at: usize, token: Token) {
        self.tokens.push((at as u32, token));
    }

    fn fail<T>(&self, at: usize, message: impl Into<String>) -> Result<T, Fault> {
        fault(at as u32, message)
    }

    fn run(&mut self) -> Result<(), Fault> {
        let mut is_line_start = true;
        while self.at < self.text.len() {
            if is_line_start && self.brackets.is_empty() {
                is_line_start = false;
                if self.indentation()? {
                    is_line_start = true;
                    continue;
                }
            }
            match self.byte(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => self.comment(),
                b'\n' => {
                    if self.brackets.is_empty() {
                        self.push(self.at, Token::Newline);
                        is_line_start = true;
                    }
                    self.at += 1;
                }
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                b'\\' if self.byte(1) == b'\r' && self.byte(2) == b'\n' => self.at += 3,
                _ => self.token()?,
            }
        }
        if let Some(bracket) = self.brackets.last() {
            return self.fail(self.at, format!("a `{}` is not closed", char::from(*bracket)));
        }
        if !is_line_start {
            self.push(self.at, Token::Newline);
        }
        for _ in 1..self.indents.len() {
            self.push(self.at, Token::Dedent);
        }
        self.push(self.at, Token::End);
        Ok(())
    }

    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// Reads the spaces at the start of a line. Returns whether nothing else is on it.
    fn indentation(&mut self) -> Result<bool, Fault> {
        let start = self.at;
        while matches!(self.byte(0), b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
        match self.byte(0) {
            b'#' => {
                self.comment();
                self.at += usize::from(self.at < self.text.len());
                return Ok(true);
            }
            b'\n' => {
                self.at += 1;
                return Ok(true);
            }
            _ if self.at == self.text.len() => return Ok(true),
            _ => (),
        }
        if self.text[start..self.at].contains('\t') {
            return self.fail(start, "expected spaces as indentation, found a tab");
        }
        let width = self.at - start;
        let current = self.indents.last().copied().unwrap_or(0);
        if current < width {
            self.indents.push(width);
            self.push(self.at, Token::Indent);
        }
        while self.indents.last().is_some_and(|it| width < *it) {
            self.indents.pop();
            self.push(self.at, Token::Dedent);
        }
        if self.indents.last() != Some(&width) {
            return self.fail(self.at, "expected the indentation of an outer block");
        }
        Ok(false)
    }

    fn token(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let byte = self.byte(0);
        if byte == b'_' || byte.is_ascii_alphabetic() {
            return self.name();
        }
        if byte.is_ascii_digit() || (byte == b'.' && self.byte(1).is_ascii_digit()) {
            return self.number();
        }
        if byte == b'"' || byte == b'\'' {
            return self.string(start, Escapes::Read);
        }
        let rest = &self.text[start..];
        let Some(sign) = SIGNS.iter().find(|it| rest.starts_with(**it)) else {
            let found = rest.chars().next().unwrap_or_default();
            return self
                .fail(start, format!("expected a word of Starlark, found `{}`", found.escape_debug()));
        };
        match *sign {
            "**" => return self.fail(start, "`**` is not supported"),
            "->" => return self.fail(start, "types of functions are not supported"),
            ":=" => return self.fail(start, "`:=` is not supported"),
            "/" | "/=" => {
                return self
                    .fail(start, "`/` makes floating-point numbers, which are not supported: use `//`");
            }
            "(" | "[" | "{" => self.brackets.push(byte),
            ")" | "]" | "}" => {
                let open = self.brackets.pop();
                if !matches!((open, byte), (Some(b'('), b')') | (Some(b'['), b']') | (Some(b'{'), b'}')) {
                    return self.fail(start, format!("`{sign}` closes nothing"));
                }
            }
            _ => (),
        }
        self.at += sign.len();
        self.push(start, Token::Sign(sign));
        Ok(())
    }

    fn name(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.byte(0) == b'_' || self.byte(0).is_ascii_alphanumeric() {
            self.at += 1;
        }
        let name = &self.text[start..self.at];
        if matches!(self.byte(0), b'"' | b'\'') {
            return match name {
                "r" => self.string(start, Escapes::Kept),
                "b" | "rb" | "br" => self.fail(start, "bytes are not supported: use a text"),
                "f" | "fr" | "rf" => self.fail(start, "f-strings are not supported: use `%` or `.format`"),
                _ => self.fail(self.at, "expected an operator, found a text"),
            };
        }
        self.push(start, Token::Name(name.into()));
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.byte(0).is_ascii_alphanumeric() || self.byte(0) == b'.' || self.byte(0) == b'_' {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        let lower = word.to_ascii_lowercase();
        let (digits, radix) = match lower.get(..2) {
            Some("0x") => (&lower[2..], 16),
            Some("0o") => (&lower[2..], 8),
            Some("0b") => (&lower[2..], 2),
            _ => (&*lower, 10),
        };
        let is_number = !digits.is_empty() && digits.chars().all(|it| it.is_digit(radix));
        if !is_number || (radix == 10 && 1 < digits.len() && digits.starts_with('0')) {
            let is_float = word.contains('.') || (radix == 10 && lower.contains('e'));
            let what =
                if is_float { "floating-point numbers are not supported" } else { "expected an integer" };
            return self.fail(start, format!("{what}, found `{word}`"));
        }
        match i64::from_str_radix(digits, radix) {
            Ok(int) => self.push(start, Token::Int(int)),
            Err(_) => return self.fail(start, "expected an integer of 64 bits"),
        }
        Ok(())
    }

    fn string(&mut self, start: usize, escapes: Escapes) -> Result<(), Fault> {
        let quote = self.byte(0);
        let is_long = self.byte(1) == quote && self.byte(2) == quote;
        self.at += if is_long { 3 } else { 1 };
        let mut text = String::new();
        loop {
            let Some(next) = self.text[self.at..].chars().next() else {
                return self.fail(start, "a text is not closed");
            };
            if next == char::from(quote) && (!is_long || (self.byte(1) == quote && self.byte(2) == quote)) {
                self.at += if is_long { 3 } else { 1 };
                break;
            }
            if next == '\n' && !is_long {
                return self.fail(start, "a text is not closed on its line");
            }
            self.at += next.len_utf8();
            if next != '\\' {
                text.push(next);
            } else if escapes == Escapes::Read {
                self.escape(&mut text)?;
            } else {
                text.push(next);
                if let Some(next) = self.text[self.at..].chars().next() {
                    text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
        self.push(start, Token::Text(text.into()));
        Ok(())
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, text: &mut String) -> Result<(), Fault> {
        let start = self.at - 1;
        let Some(next) = self.text[self.at..].chars().next() else {
            return self.fail(start, "a text is not closed");
        };
        self.at += next.len_utf8();
        let digits = match next {
            'n' | 't' | 'r' | '0' | '\\' | '\'' | '"' => {
                text.push(match next {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    same => same,
                });
                return Ok(());
            }
            '\n' => return Ok(()),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return self.fail(start, format!("`\\{}` is no escape", next.escape_debug())),
        };
        let code = self.text.get(self.at..self.at + digits).and_then(|it| u32::from_str_radix(it, 16).ok());
        match code.and_then(char::from_u32) {
            Some(found) => text.push(found),
            None => return self.fail(start, format!("expected {digits} hexadecimal digits of a character")),
        }
        self.at += digits;
        Ok(())
    }
}

/// Whether a backslash begins an escape.
#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    Read,
    Kept,
}
