//! Messages: words, texts and lists as bytes.
//!
//! What was put in first is taken out first. A message that ends too early gives zeros and empty
//! texts, and says so: whatever another process sends, reading it does not panic.

/// A message.
#[derive(Debug, Default)]
pub struct Message {
    bytes: Vec<u8>,
    at: usize,
    is_short: bool,
}

impl Message {
    /// A message that begins with the word which says what kind of message it is.
    #[must_use]
    pub fn new(kind: u64) -> Message {
        let mut message = Message::default();
        message.put(kind);
        message
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Message {
        Message { bytes, at: 0, is_short: false }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether all of it was taken, and nothing was missing.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.is_short && self.at == self.bytes.len()
    }

    /// Puts a word.
    pub fn put(&mut self, word: u64) {
        self.bytes.extend(word.to_le_bytes());
    }

    /// Takes a word.
    pub fn take(&mut self) -> u64 {
        let found = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        self.is_short |= found.is_none();
        self.at += if found.is_some() { 8 } else { 0 };
        found.map_or(0, |it| u64::from_le_bytes(*it))
    }

    /// Takes a word that fits 32 bits.
    pub fn take_u32(&mut self) -> u32 {
        let word = u32::try_from(self.take());
        self.is_short |= word.is_err();
        word.unwrap_or(0)
    }

    /// Takes a number of something in memory.
    pub fn take_usize(&mut self) -> usize {
        let word = usize::try_from(self.take());
        self.is_short |= word.is_err();
        word.unwrap_or(0)
    }

    /// Puts yes or no.
    pub fn put_flag(&mut self, flag: bool) {
        self.put(flag.into());
    }

    /// Takes yes or no.
    pub fn take_flag(&mut self) -> bool {
        self.take() != 0
    }

    /// Puts a text.
    pub fn put_text(&mut self, text: &str) {
        self.put(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    /// Takes a text.
    pub fn take_text(&mut self) -> String {
        let length = self.take_usize();
        let end = self.at.checked_add(length);
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        self.is_short |= found.is_none();
        let text = found.map_or_else(String::new, |it| String::from_utf8_lossy(it).into_owned());
        self.at += if self.is_short { 0 } else { length };
        text
    }

    /// Puts a value, if there is one.
    pub fn put_maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Message, T)) {
        self.put_flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// Takes a value, if there is one.
    pub fn take_maybe<T>(&mut self, take: impl FnOnce(&mut Message) -> T) -> Option<T> {
        self.take_flag().then(|| take(self))
    }

    /// Puts a list.
    pub fn put_all<T>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        mut put: impl FnMut(&mut Message, T),
    ) {
        self.put(values.len() as u64);
        values.for_each(|it| put(self, it));
    }

    /// Takes a list.
    pub fn take_all<T>(&mut self, mut take: impl FnMut(&mut Message) -> T) -> Vec<T> {
        let length = self.take();
        let mut all = Vec::new();
        for _ in 0..length {
            let value = take(self);
            // The length may be nonsense, and what is there is not.
            if self.is_short {
                break;
            }
            all.push(value);
        }
        all
    }

    /// Takes the number of one of `n` things; 0 if it is too large.
    pub(crate) fn take_index(&mut self, n: usize) -> usize {
        let index = self.take_usize();
        self.is_short |= n <= index;
        if index < n { index } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        let mut message = Message::new(7);
        message.put_text("four");
        message.put_maybe(Some(5), Message::put);
        message.put_maybe(None, Message::put);
        message.put_all([1, 2, 3].into_iter(), Message::put);
        message
    }

    fn read(message: &mut Message) -> (u64, String, [Option<u64>; 2], Vec<u64>) {
        let (kind, text) = (message.take(), message.take_text());
        let maybe = [(); 2].map(|()| message.take_maybe(Message::take));
        (kind, text, maybe, message.take_all(Message::take))
    }

    #[test]
    fn what_was_put_in_is_taken_out() {
        let mut message = message();
        let expected = (7, "four".to_owned(), [Some(5), None], vec![1, 2, 3]);
        assert_eq!(read(&mut message), expected);
        assert!(message.is_whole());
    }

    #[test]
    fn a_message_that_ends_too_early_is_noticed_and_does_no_harm() {
        let whole = message();
        for end in 0..whole.bytes().len() {
            let mut cut = Message::from_bytes(whole.bytes()[..end].to_vec());
            read(&mut cut);
            assert!(!cut.is_whole(), "{end} bytes");
        }
        let mut longer = Message::from_bytes([whole.bytes(), &[0]].concat());
        read(&mut longer);
        assert!(!longer.is_whole());
    }

    #[test]
    fn numbers_that_are_too_large_are_noticed() {
        let takes: [fn(&mut Message) -> usize; 3] =
            [|it| it.take_u32() as usize, |it| it.take_index(3), |it| it.take_all(Message::take).len()];
        for take in takes {
            let mut message = Message::new(1 << 40);
            take(&mut message);
            assert!(!message.is_whole());
        }
        let mut message = Message::new(2);
        assert_eq!((message.take_index(3), message.is_whole()), (2, true));
    }
}
