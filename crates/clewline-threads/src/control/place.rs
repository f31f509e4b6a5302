//! Places in the code: where a task arrived at a point.

use std::{borrow::Cow, fmt, panic::Location, ptr, sync::OnceLock};

use crate::source::source_path;

/// A place in the code: a source location or, for code without one, an address.
///
/// It is one word, since every point has one. An address is resolved only on request.
// A pointer to a location, which is even; or twice an address plus one, with the part in the bits
// above `PART_SHIFT_BITS`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place(usize);

/// A source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The file.
    pub file: Cow<'static, str>,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The function, if known.
    pub function: Option<String>,
}

/// Resolves an address of code to its source line.
pub type Resolver = fn(usize) -> Option<Site>;

static RESOLVER: OnceLock<Resolver> = OnceLock::new();

/// Resolves addresses with `resolver` from now on. The first resolver stays.
pub fn set_resolver(resolver: Resolver) {
    let _the_first_stays = RESOLVER.set(resolver);
}

enum Kind {
    Source(&'static Location<'static>),
    Code(usize),
}

// Addresses of code are lower.
const PART_SHIFT_BITS: u32 = 56;

impl Place {
    /// The location of the caller.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn caller() -> Place {
        Place::of(Location::caller())
    }

    /// A place in the source.
    #[inline(always)]
    #[must_use]
    pub fn of(location: &'static Location<'static>) -> Place {
        Place(ptr::from_ref(location).expose_provenance())
    }

    /// The code at `address`, directly after an access: the return address of a call.
    #[inline(always)]
    #[must_use]
    pub const fn code(address: usize) -> Place {
        Place(address << 1 | 1)
    }

    /// One of at most 64 parts of a place in the code, each of which is a place: a loop over the
    /// bytes of a word in one instruction does not repeat the same access.
    #[inline(always)]
    #[must_use]
    pub const fn part(self, part: usize) -> Place {
        Place(self.0 | ((self.0 & 1) * (part << PART_SHIFT_BITS << 1)))
    }

    /// The number of the part.
    #[must_use]
    pub(crate) const fn offset(self) -> usize {
        if self.0 & 1 == 0 { 0 } else { self.0 >> PART_SHIFT_BITS >> 1 }
    }

    /// The address, if this is an address of code.
    #[must_use]
    pub fn address(self) -> Option<usize> {
        match self.kind() {
            Kind::Source(_) => None,
            Kind::Code(address) => Some(address),
        }
    }

    /// A unique word for the place.
    #[inline(always)]
    #[must_use]
    pub const fn word(self) -> usize {
        self.0
    }

    /// The place with that word.
    ///
    /// # Safety
    ///
    /// `word` is the [word](Self::word) of a place of this program.
    #[must_use]
    pub const unsafe fn from_word(word: usize) -> Place {
        Place(word)
    }

    fn kind(self) -> Kind {
        if self.0 & 1 == 1 {
            return Kind::Code(self.0 >> 1 & ((1 << PART_SHIFT_BITS) - 1));
        }
        // SAFETY: an even word was made in `of`, from a `'static` reference.
        Kind::Source(unsafe { &*ptr::with_exposed_provenance::<Location<'static>>(self.0) })
    }

    /// The source line.
    #[must_use]
    pub fn site(self) -> Site {
        match self.kind() {
            Kind::Source(location) => {
                Site { file: location.file().into(), line: location.line(), function: None }
            }
            Kind::Code(address) => {
                let found = RESOLVER.get().and_then(|it| it(address));
                found.unwrap_or_else(|| Site {
                    file: format!("{address:#x}").into(),
                    line: 0,
                    function: None,
                })
            }
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&source_path(&self.file))?;
        if self.line == 0 { Ok(()) } else { write!(f, ":{}", self.line) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.site().fmt(f)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_source_is_found_again() {
        let location = Location::caller();
        let place = Place::of(location);
        assert_eq!(place.to_string(), format!("{}:{}", location.file(), location.line()));
        assert_eq!(place.site().line, location.line());
        assert_eq!(place, Place::of(location));
    }

    #[test]
    fn an_unresolved_address_is_shown_as_a_number() {
        let place = Place::code(0x1234);
        assert_ne!(place, Place::code(0x1235));
        assert_eq!(place.to_string(), "0x1234");
    }

    #[test]
    fn parts_of_a_place_differ_and_are_displayed_equally() {
        let place = Place::code(0x7FFF_FFFF_F000);
        assert_eq!(place, place.part(0));
        assert_ne!(place, place.part(7));
        assert_eq!([place, place.part(7)].map(Place::offset), [0, 7]);
        assert_eq!(place.part(7).to_string(), place.to_string());
        let in_source = Place::caller();
        assert_eq!(in_source, in_source.part(3), "only code has parts");
    }
}
