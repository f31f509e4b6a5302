//! Words and numbers of EDN.

use std::borrow::Cow;

use crate::text::number;

/// The value of a token.
pub(super) enum Atom<'a> {
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// Anything else, in its canonical form.
    Other(Cow<'a, str>),
}

const ENDS_TOKEN: [bool; 256] = {
    let mut ends = [false; 256];
    let delimiters = b" \t\n\r,\x0b\x0c;\"()[]{}";
    let mut at = 0;
    while at < delimiters.len() {
        ends[delimiters[at] as usize] = true;
        at += 1;
    }
    ends
};

/// Whether `byte` ends the token before it.
pub(super) fn ends_token(byte: u8) -> bool {
    ENDS_TOKEN[byte as usize]
}

/// The fast path for nearly all numbers.
pub(super) fn short_integer(token: &str) -> Option<i64> {
    if token.is_empty() || 18 < token.len() || (token.starts_with('0') && token != "0") {
        return None;
    }
    let mut int = 0;
    for byte in token.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if 9 < digit {
            return None;
        }
        int = 10 * int + i64::from(digit);
    }
    Some(int)
}

/// A token that begins with a digit, after its sign.
pub(super) fn numeral<'a>(token: &'a str, unsigned: &'a str) -> Option<Atom<'a>> {
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let plain = |it: &str| digits(it) && (it == "0" || !it.starts_with('0'));
    let whole = token.strip_suffix('N').unwrap_or(token);
    if plain(unsigned.strip_suffix('N').unwrap_or(unsigned)) {
        let large = whole.strip_prefix('+').unwrap_or(whole);
        return Some(whole.parse().map_or_else(|_| Atom::Other(large.into()), Atom::Int));
    }
    if let Some((above, below)) = unsigned.split_once('/') {
        return (plain(above) && plain(below)).then_some(Atom::Other(token.into()));
    }
    let (decimal, exact) = match token.strip_suffix('M') {
        Some(decimal) => (decimal, "M"),
        None => (token, ""),
    };
    let mantissa = unsigned.strip_suffix('M').unwrap_or(unsigned);
    let (mantissa, exponent) = mantissa.split_once(['e', 'E']).unwrap_or((mantissa, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    let valid = plain(whole) && digits(fraction) && digits(exponent);
    valid.then(|| Atom::Other((number::decimal(decimal) + exact).into()))
}
