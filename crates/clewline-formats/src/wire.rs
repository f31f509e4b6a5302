//! Protocol buffers on the wire: the fields of a message, one after another, each with its place.
//!
//! Source: "Encoding", the reference of Protocol Buffers. Groups, which proto3 has not, are
//! refused.

/// Something is wrong at a byte of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WireError {
    /// The byte, from 0.
    pub at: u64,
    /// The expected and the found text.
    pub message: String,
}

impl WireError {
    #[cold]
    pub(crate) fn new(at: u64, message: impl Into<String>) -> WireError {
        WireError { at, message: message.into() }
    }
}

/// A message, or other bytes whose length is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes<'m> {
    /// All of them.
    pub bytes: &'m [u8],
    /// The place of the first in the input.
    pub at: u64,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire<'m> {
    /// An integer of variable length.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// A text, bytes or a message.
    Bytes(Bytes<'m>),
    /// Four bytes.
    Fixed32(u32),
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'m> {
    /// Its number.
    pub number: u64,
    /// Its value.
    pub value: Wire<'m>,
    /// Its place in the input.
    pub at: u64,
}

impl<'m> Bytes<'m> {
    /// Takes the next field of the message; `None` at its end.
    ///
    /// # Errors
    ///
    /// If what comes is no field.
    pub(crate) fn next_field(&mut self) -> Result<Option<Field<'m>>, WireError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let at = self.at;
        let tag = self.varint("the tag of a field")?;
        let number = tag >> 3;
        if number == 0 || u64::from(u32::MAX) < tag {
            return Err(WireError::new(at, format!("expected the tag of a field, found {tag}")));
        }
        let value = match tag & 7 {
            0 => Wire::Varint(self.varint("an integer")?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = self.varint("a length")?;
                Wire::Bytes(self.take(length)?)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
            other => {
                return Err(WireError::new(at, format!("expected a wire type of proto3, found {other}")));
            }
        };
        Ok(Some(Field { number, value, at }))
    }

    /// The bytes as a text.
    pub(crate) fn text(self) -> Result<&'m str, WireError> {
        std::str::from_utf8(self.bytes).map_err(|error| {
            WireError::new(self.at + error.valid_up_to() as u64, "expected text in UTF-8, found other bytes")
        })
    }

    /// Takes an integer of variable length, which is `what`.
    pub(crate) fn varint(&mut self, what: &str) -> Result<u64, WireError> {
        let mut value = 0;
        for (index, &byte) in self.bytes.iter().enumerate().take(10) {
            // The tenth byte has one bit.
            if index == 9 && 1 < byte {
                break;
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.take(index as u64 + 1)?;
                return Ok(value);
            }
        }
        let found = if self.bytes.len() < 10 { "the end of its message" } else { "more than 64 bits" };
        Err(WireError::new(self.at, format!("expected {what}, found {found}")))
    }

    fn take(&mut self, length: u64) -> Result<Bytes<'m>, WireError> {
        let found = self.bytes.len();
        let split = usize::try_from(length).ok().and_then(|it| self.bytes.split_at_checked(it));
        let Some((bytes, rest)) = split else {
            return Err(WireError::new(
                self.at,
                format!("expected {length} bytes, found {found} until the end of the message"),
            ));
        };
        let taken = Bytes { bytes, at: self.at };
        *self = Bytes { bytes: rest, at: self.at + length };
        Ok(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], WireError> {
        let taken = self.take(LENGTH as u64)?;
        Ok(std::array::from_fn(|it| taken.bytes[it]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u64, Wire<'_>)>, WireError> {
        let mut message = Bytes { bytes, at: 100 };
        let mut fields = Vec::new();
        while let Some(field) = message.next_field()? {
            fields.push((field.number, field.value));
        }
        Ok(fields)
    }

    #[test]
    fn each_wire_type_is_read() {
        let bytes = [
            &[0x08, 0x96, 0x01][..],
            &[0x11, 1, 0, 0, 0, 0, 0, 0, 0x80],
            &[0x1a, 2, b'h', b'i'],
            &[0x25, 2, 0, 0, 0],
            &[0xf8, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ];
        assert_eq!(
            fields(&bytes.concat()).expect("they are well-formed"),
            [
                (1, Wire::Varint(150)),
                (2, Wire::Fixed64(0x8000_0000_0000_0001)),
                (3, Wire::Bytes(Bytes { bytes: b"hi", at: 114 })),
                (4, Wire::Fixed32(2)),
                (1023, Wire::Varint(u64::MAX)),
            ]
        );
    }

    #[test]
    fn an_error_names_its_byte() {
        let check = |bytes: &[u8], at: u64, message: &str| {
            assert_eq!(fields(bytes), Err(WireError::new(at, message)), "{bytes:?}");
        };
        check(&[0x08], 101, "expected an integer, found the end of its message");
        check(&[0x08, 1, 0x88], 102, "expected the tag of a field, found the end of its message");
        check(&[0x12, 3, 1, 2], 102, "expected 3 bytes, found 2 until the end of the message");
        check(&[0x11, 1], 101, "expected 8 bytes, found 1 until the end of the message");
        check(&[0x00, 1], 100, "expected the tag of a field, found 0");
        check(&[0x0b], 100, "expected a wire type of proto3, found 3");
        let long = [&[0x08][..], &[0xff; 9], &[0x02]].concat();
        check(&long, 101, "expected an integer, found more than 64 bits");
        let endless = [&[0x12][..], &[0xff; 9], &[0x01]].concat();
        check(&endless, 111, "expected 18446744073709551615 bytes, found 0 until the end of the message");
        let text = Bytes { bytes: b"ab\xff", at: 7 }.text();
        assert_eq!(text, Err(WireError::new(9, "expected text in UTF-8, found other bytes")));
    }
}
