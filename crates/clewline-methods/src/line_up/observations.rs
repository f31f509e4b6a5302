//! Observations: the serial histories of a subject, kept so that phase 1 need not be repeated.

use clewline_core::ResultId;
use clewline_matrix::Matrix;

use super::{
    drawing::Threads,
    finding::ShownSerialHistory,
    serial::{ResultTexts, SerialObservations},
};

pub use super::observing::observe;

/// The serial histories of a matrix, with results as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observations {
    matrix: Matrix,
    histories: Vec<ShownSerialHistory>,
}

impl Observations {
    /// These histories of a matrix.
    #[must_use]
    pub fn new(matrix: Matrix, histories: Vec<ShownSerialHistory>) -> Observations {
        Observations { matrix, histories }
    }

    /// The histories.
    #[must_use]
    pub fn histories(&self) -> &[ShownSerialHistory] {
        &self.histories
    }

    /// The matrix that they are of.
    #[must_use]
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// As phase 1 would have left it.
    pub(super) fn observed(&self, texts: &mut ResultTexts) -> SerialObservations {
        let mut observed = SerialObservations::default();
        for serial in &self.histories {
            let complete = serial
                .complete
                .iter()
                .map(|(at, text)| (*at as u32, ResultId(texts.intern_ref(text))))
                .collect();
            let stuck = serial.stuck.map(|it| it as u32);
            observed.set.insert(&clewline_matrix::SerialHistory { complete, stuck });
        }
        observed
    }
}

/// The threads of a matrix as reports name them: its columns, then those of initial and final
/// calls.
#[must_use]
pub fn thread_names(matrix: &Matrix) -> Vec<String> {
    let names = Threads::of(matrix);
    let ends = [&matrix.initial, &matrix.last].into_iter().filter(|it| !it.is_empty()).count();
    (0..matrix.columns.len() + ends).map(|it| names.name(it)).collect()
}
