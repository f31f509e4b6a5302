//! The words of a source file, without comments, texts and what only tests compile.

use std::collections::BTreeSet;

/// One word or sign, and the line that it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// Whether it is an identifier or a keyword.
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|it: char| it.is_alphabetic() || it == '_')
    }
}

/// The tokens of `text`: words, `::`, and every other sign by itself. Comments, literals and
/// lifetimes are left out.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let text: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while at < text.len() {
        // No literal begins with any other character. Most characters are none of these.
        let may_begin = matches!(text[at], '/' | '"' | '\'' | 'b' | 'c' | 'r');
        let end = match may_begin.then(|| literal(&text, at)).flatten() {
            Some(end) => end,
            None if text[at].is_whitespace() => at + 1,
            None => {
                let end = match text[at] {
                    it if is_part(it) => at + text[at..].iter().take_while(|it| is_part(**it)).count(),
                    ':' if text.get(at + 1) == Some(&':') => at + 2,
                    _ => at + 1,
                };
                tokens.push(Token { text: text[at..end].iter().collect(), line });
                end
            }
        };
        line += text[at..end].iter().filter(|it| **it == '\n').count();
        at = end;
    }
    tokens
}

/// Whether a word may have this character in it.
fn is_part(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// Behind the comment, the text, the character or the lifetime that starts at `at`, if one does.
fn literal(text: &[char], at: usize) -> Option<usize> {
    let starts = |with: &str| text[at..].iter().copied().take(with.len()).eq(with.chars());
    let until = |end: char, from: usize| (from..text.len()).find(|it| text[*it] == end).unwrap_or(text.len());
    if starts("//") {
        return Some(until('\n', at));
    }
    if starts("/*") {
        let closes = |it: &usize| text[*it..].starts_with(&['*', '/']);
        return Some((at + 2..text.len()).find(closes).map_or(text.len(), |it| it + 2));
    }
    let prefix = ["br", "cr", "b", "c", "r"].into_iter().find(|it| starts(it)).map_or(0, str::len);
    let is_new_word = at == 0 || !is_part(text[at - 1]);
    let hashes = text[at + prefix..].iter().take_while(|it| **it == '#').count();
    let quote = at + prefix + hashes;
    let is_raw = 0 < prefix && text[at + prefix - 1] == 'r';
    if is_new_word && is_raw && text.get(quote) == Some(&'"') {
        let closes =
            |it: &usize| text[*it] == '"' && text[it + 1..].iter().take(hashes).eq(&vec!['#'; hashes]);
        return Some((quote + 1..text.len()).find(closes).map_or(text.len(), |it| it + 1 + hashes));
    }
    match text[at] {
        '"' => Some(quoted(text, at + 1, '"')),
        '\'' if text.get(at + 1) == Some(&'\\') || text.get(at + 2) == Some(&'\'') => {
            Some(quoted(text, at + 1, '\''))
        }
        // A lifetime.
        '\'' => Some(at + 1 + text[at + 1..].iter().take_while(|it| is_part(**it)).count()),
        _ => None,
    }
}

/// Behind the quote that ends what starts at `at`.
fn quoted(text: &[char], mut at: usize, quote: char) -> usize {
    while at < text.len() && text[at] != quote {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    text.len().min(at + 1)
}

/// A file without what is there for tests alone.
#[derive(Debug, Default)]
pub(crate) struct Product {
    /// Its tokens, without attributes.
    pub(crate) tokens: Vec<Token>,
    /// The modules that were declared for tests.
    pub(crate) test_modules: Vec<String>,
    /// The lines of the items for tests.
    pub(crate) test_lines: BTreeSet<usize>,
}

/// Leaves out attributes, and each item that is there for tests alone. What a macro is called with
/// is not an item yet, so nothing of it is left out.
pub(crate) fn without_tests(tokens: &[Token]) -> Product {
    let mut product = Product::default();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at].is("#") {
            let end = if is_macro_call(tokens, at) { group_end(tokens, at + 1) } else { at + 1 };
            product.tokens.extend_from_slice(&tokens[at..end]);
            at = end;
            continue;
        }
        let begin = at;
        let (end, is_for_tests) = attribute(tokens, at);
        at = end;
        if !is_for_tests {
            continue;
        }
        while tokens.get(at).is_some_and(|it| it.is("#")) {
            at = attribute(tokens, at).0;
        }
        let end = item_end(tokens, at);
        let declared = tokens[at..end].iter().position(|it| it.is("mod"));
        product.test_modules.extend(declared.map(|it| tokens[at + it + 1].text.clone()));
        let last = tokens[..end].last().map_or(0, |it| it.line);
        product.test_lines.extend(tokens[begin].line..=last);
        at = end;
    }
    product
}

/// Whether the `!` at `at` calls a macro.
fn is_macro_call(tokens: &[Token], at: usize) -> bool {
    let is_open = |it: &Token| ["(", "[", "{"].iter().any(|open| it.is(open));
    tokens[at].is("!") && 0 < at && tokens[at - 1].is_word() && tokens.get(at + 1).is_some_and(is_open)
}

/// Behind the attribute that starts at `at`, and whether it says `cfg(test)`, alone or first of
/// `all`.
fn attribute(tokens: &[Token], at: usize) -> (usize, bool) {
    let Some(open) = (at..tokens.len().min(at + 3)).find(|it| tokens[*it].is("[")) else {
        return (at + 1, false);
    };
    let end = group_end(tokens, open);
    let says = |words: &[&str]| {
        tokens[open + 1..end].iter().map(|it| it.text.as_str()).zip(words).all(|it| it.0 == *it.1)
    };
    (end, says(&["cfg", "(", "test", ")"]) || says(&["cfg", "(", "all", "(", "test"]))
}

/// Behind the bracket that closes the one at `open`.
pub(crate) fn group_end(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Behind the item, the field or the statement that starts at `at`.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    let is_import = tokens[at..].iter().take_while(|it| !it.is(";") && !it.is("{")).any(|it| it.is("use"));
    let is_field = tokens.get(at + 1).is_some_and(|it| it.is(":"));
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "," if is_field => return at + 1,
            "}" => return at,
            "{" if !is_import => return group_end(tokens, at),
            "(" | "[" | "{" => at = group_end(tokens, at),
            _ => at += 1,
        }
    }
    at
}
