//! What every monitor must satisfy: its verdicts, witnesses and evidence, compared with checkers
//! that know nothing about the object. Registering a monitor enrols it here.
//!
//! `CLEWLINE_AT_LENGTH` controls how long this takes: see CONTRIBUTING.md.

mod decided;
mod exhaustive;
mod random;
pub(crate) mod referee;
pub(crate) mod small_histories;

/// How often each verdict was reached: a comparison that only ever meets one of them proves
/// nothing.
#[derive(Debug, Default)]
struct VerdictCounts {
    holds: u64,
    violated: u64,
    refused: u64,
}

impl VerdictCounts {
    #[track_caller]
    fn expect(&self, both: f64, refused: f64, about: &str) {
        let judged = (self.holds + self.violated) as f64;
        let rarer = self.holds.min(self.violated) as f64;
        assert!(both * judged < rarer, "{about}: {self:?}");
        assert!(self.refused as f64 <= refused * (judged + self.refused as f64), "{about}: {self:?}");
    }
}
