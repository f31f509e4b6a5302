//! Relaxations written as text. The lab's tests include this file.

use clewline_check::relaxed::Relaxation;
use clewline_core::Problem;

/// The operations whose texts begin with each of `methods` are a class of their own; others have
/// none.
pub(crate) fn classes(problem: &Problem<'_>, methods: &[(&str, u32)]) -> Relaxation {
    let class = |text: String| methods.iter().position(|it| text.starts_with(it.0));
    Relaxation {
        class_of: problem.operations().iter().map(|&id| class(problem.label(id))).collect(),
        factors: methods.iter().map(|it| it.1).collect(),
    }
}

/// Reads `all=1`, or `enq=0,deq=2`.
pub(crate) fn relaxation(problem: &Problem<'_>, text: &str) -> Relaxation {
    let pairs: Vec<(&str, u32)> = text
        .split(',')
        .map(|it| it.split_once('=').unwrap())
        .map(|it| (it.0, it.1.parse().unwrap()))
        .collect();
    match pairs[..] {
        [("all", factor)] => Relaxation::all(problem, factor),
        _ => classes(problem, &pairs),
    }
}
