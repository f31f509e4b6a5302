//! Means with their intervals, and medians.

use clewline_report::render::table::Cell;

/// Repeated measurements of one quantity.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample(Vec<f64>);

/// The 97.5 % quantiles of Student's t-distribution, by degrees of freedom, from 1.
const STUDENT_T_QUANTILES: [f64; 19] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093,
];

impl Sample {
    pub(super) fn add(&mut self, number: f64) {
        self.0.push(number);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = f64> {
        self.0.iter().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// The half width of the 95 % confidence interval of the mean; unknown for less than two
    /// numbers.
    pub(super) fn interval(&self) -> Option<f64> {
        let mean = self.mean()?;
        let freedom = self.0.len().checked_sub(2)?;
        // Further on it hardly changes; the last is on the safe side.
        let student = STUDENT_T_QUANTILES[freedom.min(STUDENT_T_QUANTILES.len() - 1)];
        let squares: f64 = self.0.iter().map(|it| (it - mean).powi(2)).sum();
        let count = self.0.len() as f64;
        Some(student * (squares / (count - 1.0) / count).sqrt())
    }

    pub(super) fn median(&self) -> Option<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let upper = *sorted.get(sorted.len() / 2)?;
        let lower = sorted[(sorted.len() - 1) / 2];
        Some(f64::midpoint(lower, upper))
    }

    pub(super) fn greatest(&self) -> Option<f64> {
        self.0.iter().copied().reduce(f64::max)
    }
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        Sample(numbers.into_iter().collect())
    }
}

/// A mean or a median of integers, rounded.
pub(super) fn count(number: Option<f64>) -> Cell {
    number.map_or(Cell::Missing, |it| Cell::Count(it.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_uses_the_t_distribution() {
        let sample: Sample = [1.0, 2.0, 3.0, 4.0].into_iter().collect();
        assert_eq!(sample.mean(), Some(2.5));
        // The standard deviation is 1.2910, and 3.182 x 1.2910 / 2 = 2.0540.
        let interval = sample.interval().unwrap();
        assert!((interval - 2.0540).abs() < 1e-3, "{interval}");
        let many: Sample = (0..100).map(|it| f64::from(it % 2)).collect();
        assert!((many.interval().unwrap() - 2.093 * 0.05025).abs() < 1e-4);
    }

    #[test]
    fn one_number_has_no_interval_and_an_empty_sample_no_mean() {
        let one: Sample = [7.0].into_iter().collect();
        assert_eq!((one.mean(), one.interval(), one.median()), (Some(7.0), None, Some(7.0)));
        let none = Sample::default();
        assert_eq!((none.mean(), none.interval(), none.median(), none.greatest()), (None, None, None, None));
    }

    #[test]
    fn half_of_the_numbers_are_on_either_side_of_the_median() {
        let odd: Sample = [9.0, 1.0, 2.0].into_iter().collect();
        let even: Sample = [9.0, 1.0, 2.0, 4.0].into_iter().collect();
        assert_eq!((odd.median(), even.median(), even.greatest()), (Some(2.0), Some(3.0), Some(9.0)));
    }
}
