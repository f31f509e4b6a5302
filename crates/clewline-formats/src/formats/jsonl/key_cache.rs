//! Prediction of the next member, and of the operation: programs write the members of a line in one
//! order, with the same spacing, and call few operations.
//!
//! Each member's name, with the comma before it and all spaces around it, is cached under the
//! previous member, and each operation with its quotes. If the same bytes come next again, they
//! need not be parsed. The cache does not change the result. It saves about a quarter of all
//! instructions.

use clewline_core::Value;

use super::field::Field;

/// The bytes between two values, and the operations.
#[derive(Debug, Default)]
pub(super) struct KeyCache {
    // By the member that came before.
    seen: [Vec<(Prefix, Field)>; Field::COUNT],
    operations: Vec<(Prefix, Value)>,
}

// Files alternate between few kinds of lines; with more kinds, a cache does not help.
const LINE_KINDS_MAX: usize = 3;
const OPERATIONS_MAX: usize = 6;
const KEY_BYTES_MAX: usize = 32;

impl KeyCache {
    /// The member whose name begins `rest`, and the length of the text before its value.
    #[inline]
    pub(super) fn expect(&self, last: Field, rest: &[u8]) -> Option<(Field, usize)> {
        find(&self.seen[last as usize], rest)
    }

    /// The bytes `bytes` after `last` name `field`.
    pub(super) fn learn(&mut self, last: Field, bytes: &[u8], field: Field) {
        let seen = &mut self.seen[last as usize];
        if seen.len() < LINE_KINDS_MAX && bytes.len() <= KEY_BYTES_MAX {
            seen.push((Prefix::new(bytes), field));
        }
    }

    /// The operation whose text, with quotes, begins `rest`, and its length there.
    #[inline]
    pub(super) fn operation(&self, rest: &[u8]) -> Option<(Value, usize)> {
        find(&self.operations, rest)
    }

    /// The bytes `bytes`, a text with its quotes, name the operation `op`.
    pub(super) fn learn_operation(&mut self, bytes: &[u8], op: Value) {
        if self.operations.len() < OPERATIONS_MAX && bytes.len() <= KEY_BYTES_MAX {
            self.operations.push((Prefix::new(bytes), op));
        }
    }
}

/// What the first prefix of `rest` among `seen` stands for, and its length.
#[inline]
fn find<T: Copy>(seen: &[(Prefix, T)], rest: &[u8]) -> Option<(T, usize)> {
    seen.iter().find(|(prefix, _)| prefix.begins(rest)).map(|(prefix, it)| (*it, prefix.bytes.len()))
}

// Bytes that are compared as one number.
const WORD_BYTES: usize = size_of::<u128>();

/// Bytes that may begin a text.
#[derive(Debug)]
struct Prefix {
    bytes: Box<[u8]>,
    // The bytes as a number, and ones where they stand, if they are at most `WORD_BYTES`.
    word: u128,
    mask: u128,
}

impl Prefix {
    fn new(bytes: &[u8]) -> Prefix {
        let number = |of: &dyn Fn(u8) -> u8| {
            let mut word = [0; WORD_BYTES];
            word.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = of(byte));
            u128::from_le_bytes(word)
        };
        Prefix { bytes: bytes.into(), word: number(&|byte| byte), mask: number(&|_| u8::MAX) }
    }

    #[inline]
    fn begins(&self, rest: &[u8]) -> bool {
        match rest.first_chunk::<WORD_BYTES>() {
            Some(first) if self.bytes.len() <= WORD_BYTES => {
                u128::from_le_bytes(*first) & self.mask == self.word
            }
            _ => rest.starts_with(&self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Prefix;

    #[test]
    fn a_prefix_begins_what_starts_with_it() {
        let text = b", \"process\": 1, \"op\": \"enq\", \"arg\": 3";
        for length in 0..text.len() {
            let prefix = Prefix::new(&text[..length]);
            for end in 0..text.len() {
                assert_eq!(prefix.begins(&text[..end]), length <= end, "{length} of {end}");
                let mut other = text[..end].to_vec();
                if let Some(last) = other[..end.min(length)].last_mut() {
                    *last ^= 0x80;
                    assert!(!prefix.begins(&other), "{length} of {end}, the last one another");
                }
            }
        }
    }
}
