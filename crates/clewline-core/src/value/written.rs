//! Objects of JSON and maps of EDN, which a table of values holds as they were written.

/// A value that was written in JSON or EDN, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// `null` or `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A text, or the name of a keyword.
    Text(String),
    /// Another word, such as a fraction.
    Word(String),
    /// A list or a vector.
    List(Vec<Written>),
    /// An object or a map: its members in their order.
    Map(Vec<(Written, Written)>),
}

// Values inside each other.
const NESTING_DEPTH_MAX: usize = 60;

impl Written {
    /// The value that `text` stands for; `None` if it is neither JSON nor EDN, or nested deeply.
    #[must_use]
    pub fn parse(text: &str) -> Option<Written> {
        let mut reader = Reader { rest: text };
        let value = reader.value(0)?;
        reader.skip();
        reader.rest.is_empty().then_some(value)
    }
}

/// A text of JSON or EDN.
struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',']);
    }

    fn take(&mut self, sign: char) -> bool {
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Written> {
        self.skip();
        if NESTING_DEPTH_MAX < depth {
            return None;
        }
        if self.take('{') {
            let mut entries = Vec::new();
            loop {
                self.skip();
                if self.take('}') {
                    return Some(Written::Map(entries));
                }
                let is_text = self.rest.starts_with('"');
                let key = self.value(depth + 1)?;
                // A colon of JSON follows its key at once; that of a keyword follows a space.
                if is_text {
                    self.take(':');
                }
                entries.push((key, self.value(depth + 1)?));
            }
        }
        if self.take('[') {
            let mut items = Vec::new();
            loop {
                self.skip();
                if self.take(']') {
                    return Some(Written::List(items));
                }
                items.push(self.value(depth + 1)?);
            }
        }
        if self.take('"') {
            return self.text();
        }
        let end = self.rest.find([' ', ',', '}', ']', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "" => None,
            "true" => Some(Written::Bool(true)),
            "false" => Some(Written::Bool(false)),
            "null" | "nil" => Some(Written::Nil),
            _ => match (word.parse(), word.strip_prefix(':')) {
                (Ok(int), _) => Some(Written::Int(int)),
                (Err(_), Some(name)) => Some(Written::Text(name.to_owned())),
                (Err(_), None) => Some(Written::Word(word.to_owned())),
            },
        }
    }

    /// The rest of a text, after its first quote.
    fn text(&mut self) -> Option<Written> {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => match characters.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => text.push(code_point(&mut characters)?),
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Some(Written::Text(text))
    }
}

/// The character of the digits after `\u`, or of two such escapes.
fn code_point(characters: &mut std::str::Chars<'_>) -> Option<char> {
    let high = four_digits(characters)?;
    if !(0xd800..0xdc00).contains(&high) {
        return char::from_u32(high);
    }
    let is_pair = characters.next() == Some('\\') && characters.next() == Some('u');
    let low = four_digits(characters).filter(|it| is_pair && (0xdc00..0xe000).contains(it))?;
    char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}

fn four_digits(characters: &mut std::str::Chars<'_>) -> Option<u32> {
    let digits: String = characters.by_ref().take(4).collect();
    u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(format!("{:?}", Written::parse(text)), expected, "{text}");
    }

    #[test]
    fn json_and_edn_are_taken_apart() {
        check(
            r#"{"a": [1, -2.5, null], "b":{}}"#,
            r#"Some(Map([(Text("a"), List([Int(1), Word("-2.5"), Nil])), (Text("b"), Map([]))]))"#,
        );
        check(
            "{:a 1, :b [nil true]}",
            r#"Some(Map([(Text("a"), Int(1)), (Text("b"), List([Nil, Bool(true)]))]))"#,
        );
        check(r#"{1 2.0M}"#, r#"Some(Map([(Int(1), Word("2.0M"))]))"#);
        check(r#""a\u00e9\ud83d\ude00\n""#, "Some(Text(\"aé😀\\n\"))");
    }

    #[test]
    fn what_is_neither_is_not() {
        for text in ["", "{", "{1}", "[1", r#""a"#, r#""\ud83d""#, r#""\u12""#, "1 2"] {
            assert_eq!(Written::parse(text), None, "{text}");
        }
        assert_eq!(Written::parse(&"[".repeat(100_000)), None);
    }
}
