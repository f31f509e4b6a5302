//! Places that race: addresses of code, and of blocks the numbers of their words.
//!
//! Addresses of the program are relative to where it is loaded, so that they lie in its functions.
//! Those of its libraries are as they are, and lie above.
//!
//! An access to one word is the address of its code. Of a block, each word that is read and each
//! that is written is a place; addresses leave the upper bits free for this.

use std::collections::BTreeMap;

const WORD_SHIFT: u32 = 48;
const WORD_MAX: usize = (1 << 15) - 1;
const WRITE_BIT: usize = 1 << 63;

/// The place of an access to a word of the block that the code at `address` accesses. All words
/// from the 32,767th on are one place.
#[inline]
#[must_use]
pub fn word_place(address: usize, number: usize, is_write: bool) -> usize {
    address | number.min(WORD_MAX) << WORD_SHIFT | if is_write { WRITE_BIT } else { 0 }
}

/// The address of its code.
#[inline]
#[must_use]
pub fn code_of(place: usize) -> usize {
    place & ((1 << WORD_SHIFT) - 1)
}

/// An address as text, if it is in no function that has a name.
#[must_use]
pub fn show_address(address: usize) -> String {
    format!("{address:x}")
}

/// An address as text, by the name of its function and its distance from there: `push+0x1f`.
#[must_use]
pub fn show_in_function(name: &str, offset: usize) -> String {
    format!("{name}{OFFSET}{offset:x}")
}

const OFFSET: &str = "+0x";

/// Places as text: `push+0x1f,4f31:0-7,4f31:w2`, where words that are written have a `w`. The
/// closure shows an address.
#[must_use]
pub fn show_places(places: &[usize], show: impl Fn(usize) -> String) -> String {
    let mut words: BTreeMap<(usize, bool), Vec<usize>> = BTreeMap::new();
    let mut order = Vec::new();
    for place in places {
        let key = (code_of(*place), place & WRITE_BIT != 0);
        let numbers = words.entry(key).or_default();
        if numbers.is_empty() {
            order.push(key);
        }
        numbers.push(*place >> WORD_SHIFT & WORD_MAX);
    }
    let mut shown = Vec::new();
    for key @ (address, is_write) in order {
        let mut numbers = words.remove(&key).unwrap_or_default();
        numbers.sort_unstable();
        numbers.dedup();
        for run in numbers.chunk_by(|one, next| one + 1 == *next) {
            let (code, letter) = (show(address), if is_write { "w" } else { "" });
            shown.push(match run {
                [0] if !is_write => code,
                [only] => format!("{code}:{letter}{only}"),
                [first, .., last] => format!("{code}:{letter}{first}-{last}"),
                [] => continue,
            });
        }
    }
    shown.join(",")
}

/// The places that [`show_places`] has shown. The closure returns where the function of that name
/// begins.
///
/// # Errors
///
/// The part that is not a place.
pub fn read_places(text: &str, begin: impl Fn(&str) -> Option<usize>) -> Result<Vec<usize>, String> {
    let mut places = Vec::new();
    for part in text.split(',') {
        places.extend(read_part(part, &begin).ok_or_else(|| part.to_owned())?);
    }
    Ok(places)
}

fn read_part(part: &str, begin: impl Fn(&str) -> Option<usize>) -> Option<impl Iterator<Item = usize>> {
    let (code, words) = part.split_once(':').unwrap_or((part, "0"));
    let (function, offset) = code.split_once(OFFSET).map_or((None, code), |it| (Some(it.0), it.1));
    let start = function.map_or(Some(0), begin)?;
    let address = usize::from_str_radix(offset, 16).ok()?.checked_add(start)?;
    let address = Some(address).filter(|it| code_of(*it) == *it)?;
    let (is_write, words) = words.strip_prefix('w').map_or((false, words), |it| (true, it));
    let (first, last) = words.split_once('-').unwrap_or((words, words));
    let [first, last] = [first, last].map(|it| it.parse::<usize>().ok().filter(|it| *it <= WORD_MAX));
    let words = first?..=last?;
    Some(words.map(move |it| word_place(address, it, is_write)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(function: &str) -> Option<usize> {
        (function == "push").then_some(0x4f00)
    }

    #[test]
    fn places_are_read_as_they_are_shown() {
        let block = |words: [usize; 4]| words.map(|it| word_place(0x4f31, it, false));
        let places = [&[0x4e0a][..], &block([0, 2, 1, 7]), &[word_place(0x4f31, 3, true)]].concat();
        let in_function = |it: usize| match it.checked_sub(0x4f00) {
            Some(offset) => show_in_function("push", offset),
            None => show_address(it),
        };
        let named = show_places(&places, in_function);
        assert_eq!(named, "4e0a,push+0x31:0-2,push+0x31:7,push+0x31:w3");
        let shown = show_places(&places, show_address);
        assert_eq!(shown, "4e0a,4f31:0-2,4f31:7,4f31:w3");
        let mut expected = places;
        expected.sort_unstable();
        for shown in [named, shown] {
            let mut again = read_places(&shown, begin).unwrap();
            again.sort_unstable();
            assert_eq!(again, expected);
        }
    }

    #[test]
    fn invalid_places_are_named() {
        for (text, part) in [
            ("1f,xy", "xy"),
            ("1f:", "1f:"),
            ("1f:3-x", "1f:3-x"),
            ("1:99999", "1:99999"),
            ("push+0x1,pop+0x1", "pop+0x1"),
            ("push+1", "push+1"),
            ("push", "push"),
        ] {
            assert_eq!(read_places(text, begin), Err(part.to_owned()));
        }
        for text in ["8000000000000001", "push+0xffffffffffffffff"] {
            assert!(read_places(text, begin).is_err());
        }
    }
}
