//! Places of another process: the meaning of each address is sent once.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, Once, PoisonError},
};

use clewline_threads::{
    control::Place,
    instrument::{Site, set_resolver},
};

use crate::message::WireMessage;

/// The places that the other side knows.
#[derive(Debug, Default)]
pub(crate) struct SentPlaces(HashSet<usize>);

impl SentPlaces {
    /// Puts a place, and its source line if that was not sent before.
    pub(crate) fn put(&mut self, to: &mut WireMessage, place: Place) {
        to.put(place.word() as u64);
        to.put_maybe(self.0.insert(place.word()).then(|| place.site()), |to, site| {
            to.put_text(&site.file);
            to.put(site.line.into());
            to.put_maybe(site.function.as_deref(), WireMessage::put_text);
        });
    }
}

/// The places of the other side.
///
/// Its addresses have no meaning here. So a place here is an index into [`SITES`], which is
/// resolved like an address of code.
#[derive(Debug, Default)]
pub(crate) struct ReceivedPlaces(HashMap<usize, Place>);

// Of all processes ever explored: reports may be written after a process has ended.
static SITES: Mutex<Vec<Site>> = Mutex::new(Vec::new());

fn resolve(number: usize) -> Option<Site> {
    SITES.lock().unwrap_or_else(PoisonError::into_inner).get(number).cloned()
}

impl ReceivedPlaces {
    /// Takes a place.
    pub(crate) fn take(&mut self, from: &mut WireMessage) -> Place {
        static RESOLVED: Once = Once::new();
        RESOLVED.call_once(|| set_resolver(resolve));
        let word = from.take_usize();
        let site = from.take_maybe(|from| Site {
            file: from.take_text().into(),
            line: from.take_u32(),
            function: from.take_maybe(WireMessage::take_text),
        });
        let new = |site: Site| {
            let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
            sites.push(site);
            Place::code(sites.len() - 1)
        };
        match site {
            Some(site) => *self.0.entry(word).or_insert_with(|| new(site)),
            // A place that was never sent is shown as a number.
            None => *self.0.get(&word).unwrap_or(&Place::code(usize::MAX >> 9)),
        }
    }
}
