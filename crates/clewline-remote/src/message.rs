//! Messages: words, texts and lists as bytes.
//!
//! Values are taken in the order in which they were put. A message that ends too early yields zeros
//! and empty texts, and is marked: reading never panics, whatever another process sends.

/// A message.
#[derive(Debug, Default)]
pub struct WireMessage {
    bytes: Vec<u8>,
    at: usize,
    is_short: bool,
}

impl WireMessage {
    /// A message that begins with the word for its kind.
    #[must_use]
    pub fn new(kind: u64) -> WireMessage {
        let mut message = WireMessage::default();
        message.put(kind);
        message
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> WireMessage {
        WireMessage { bytes, at: 0, is_short: false }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Whether it was read completely, and nothing was missing.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.is_short && self.at == self.bytes.len()
    }

    /// Clears it, reusing its memory.
    pub(crate) fn begin(&mut self, kind: u64) {
        self.bytes.clear();
        (self.at, self.is_short) = (0, false);
        self.put(kind);
    }

    /// Puts a word: seven bits per byte, since most words are small.
    #[inline]
    pub fn put(&mut self, mut word: u64) {
        while 0x80 <= word {
            self.bytes.push(word as u8 | 0x80);
            word >>= 7;
        }
        self.bytes.push(word as u8);
    }

    /// Takes a word.
    #[inline]
    pub fn take(&mut self) -> u64 {
        let (mut word, mut shift) = (0, 0);
        while let Some(&byte) = self.bytes.get(self.at)
            && shift < u64::BITS
        {
            self.at += 1;
            word |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return word;
            }
            shift += 7;
        }
        self.is_short = true;
        0
    }

    /// Takes a word that fits 32 bits.
    pub fn take_u32(&mut self) -> u32 {
        let word = u32::try_from(self.take());
        self.is_short |= word.is_err();
        word.unwrap_or(0)
    }

    /// Takes a `usize`.
    pub fn take_usize(&mut self) -> usize {
        let word = usize::try_from(self.take());
        self.is_short |= word.is_err();
        word.unwrap_or(0)
    }

    /// Puts a Boolean.
    pub fn put_flag(&mut self, flag: bool) {
        self.put(flag.into());
    }

    /// Takes a Boolean.
    pub fn take_flag(&mut self) -> bool {
        self.take() != 0
    }

    /// Puts a text.
    pub fn put_text(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    /// Takes a text.
    pub fn take_text(&mut self) -> String {
        let mut bytes = Vec::new();
        self.take_bytes(&mut bytes);
        String::from_utf8(bytes).unwrap_or_else(|it| String::from_utf8_lossy(it.as_bytes()).into_owned())
    }

    /// Puts bytes.
    pub(crate) fn put_bytes(&mut self, bytes: &[u8]) {
        self.put(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    /// Takes bytes, replacing the contents of `bytes`.
    pub(crate) fn take_bytes(&mut self, bytes: &mut Vec<u8>) {
        bytes.clear();
        let length = self.take_usize();
        let end = self.at.checked_add(length);
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        self.is_short |= found.is_none();
        bytes.extend(found.unwrap_or_default());
        self.at += bytes.len();
    }

    /// Puts a value, if there is one.
    pub fn put_maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut WireMessage, T)) {
        self.put_flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// Takes a value, if there is one.
    pub fn take_maybe<T>(&mut self, take: impl FnOnce(&mut WireMessage) -> T) -> Option<T> {
        self.take_flag().then(|| take(self))
    }

    /// Puts a list.
    pub fn put_all<T>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        mut put: impl FnMut(&mut WireMessage, T),
    ) {
        self.put(values.len() as u64);
        values.for_each(|it| put(self, it));
    }

    /// Takes a list.
    pub fn take_all<T>(&mut self, take: impl FnMut(&mut WireMessage) -> T) -> Vec<T> {
        let mut all = Vec::new();
        self.take_all_into(&mut all, take);
        all
    }

    /// Takes a list, replacing the contents of `all`.
    pub(crate) fn take_all_into<T>(&mut self, all: &mut Vec<T>, mut take: impl FnMut(&mut WireMessage) -> T) {
        all.clear();
        for _ in 0..self.take() {
            let value = take(self);
            // The length may be invalid; stop at the end of the message.
            if self.is_short {
                break;
            }
            all.push(value);
        }
    }

    /// Takes an index below `n`; 0 if it is too large.
    pub(crate) fn take_index(&mut self, n: usize) -> usize {
        let index = self.take_usize();
        self.is_short |= n <= index;
        if index < n { index } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> WireMessage {
        let mut message = WireMessage::new(7);
        message.put_text("four");
        message.put_maybe(Some(5), WireMessage::put);
        message.put_maybe(None, WireMessage::put);
        message.put_all([1, 2, 3].into_iter(), WireMessage::put);
        message
    }

    fn read(message: &mut WireMessage) -> (u64, String, [Option<u64>; 2], Vec<u64>) {
        let (kind, text) = (message.take(), message.take_text());
        let maybe = [(); 2].map(|()| message.take_maybe(WireMessage::take));
        (kind, text, maybe, message.take_all(WireMessage::take))
    }

    #[test]
    fn values_are_taken_in_the_order_they_were_put() {
        let mut message = message();
        let expected = (7, "four".to_owned(), [Some(5), None], vec![1, 2, 3]);
        assert_eq!(read(&mut message), expected);
        assert!(message.is_whole());
    }

    #[test]
    fn a_truncated_message_is_detected_without_a_panic() {
        let whole = message();
        for end in 0..whole.bytes().len() {
            let mut cut = WireMessage::from_bytes(whole.bytes()[..end].to_vec());
            read(&mut cut);
            assert!(!cut.is_whole(), "{end} bytes");
        }
        let mut longer = WireMessage::from_bytes([whole.bytes(), &[0]].concat());
        read(&mut longer);
        assert!(!longer.is_whole());
    }

    #[test]
    fn numbers_that_are_too_large_are_detected() {
        let takes: [fn(&mut WireMessage) -> usize; 3] =
            [|it| it.take_u32() as usize, |it| it.take_index(3), |it| it.take_all(WireMessage::take).len()];
        for take in takes {
            let mut message = WireMessage::new(1 << 40);
            take(&mut message);
            assert!(!message.is_whole());
        }
        let mut message = WireMessage::new(2);
        assert_eq!((message.take_index(3), message.is_whole()), (2, true));
    }
}
