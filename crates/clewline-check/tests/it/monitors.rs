//! What every monitor owes: its verdicts, its witnesses and its evidence, against those who know nothing about
//! the object. Registering a monitor enrols it here.
//!
//! `CLEWLINE_AT_LENGTH` says for how long this goes on: see CONTRIBUTING.md.

mod decided;
mod every;
mod exhaustive;
mod random;
mod referee;

/// How often each answer was given: a comparison that only ever sees one of them proves nothing.
#[derive(Debug, Default)]
struct Tally {
    holds: u64,
    violated: u64,
    refused: u64,
}

impl Tally {
    #[track_caller]
    fn expect(&self, both: f64, refused: f64, about: &str) {
        let judged = (self.holds + self.violated) as f64;
        let rarer = self.holds.min(self.violated) as f64;
        assert!(both * judged < rarer, "{about}: {self:?}");
        assert!(self.refused as f64 <= refused * (judged + self.refused as f64), "{about}: {self:?}");
    }
}
