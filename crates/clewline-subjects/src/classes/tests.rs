//! Tests of all classes: what they answer one call at a time, that the plain ones hold, and that each root cause is found.

mod oracle;

use std::collections::BTreeSet;

use clewline_core::Random;
use clewline_threads::Explorable;

use self::oracle::{check, columns};
use super::*;
use crate::{ClassVariant, Flaw};

fn variant(name: &str, variant: &str) -> &'static ClassVariant {
    let class = CLASSES.iter().find(|it| it.name == name).unwrap();
    class.variants.iter().find(|it| it.name == variant).unwrap()
}

fn flaws() -> impl Iterator<Item = (&'static Class, &'static ClassVariant, Flaw)> {
    let all = CLASSES.iter().flat_map(|class| class.variants.iter().map(move |it| (class, it)));
    all.filter_map(|(class, it)| Some((class, it, it.flaw?)))
}

/// A matrix whose entries are drawn with equal chances.
fn draw(subject: &dyn Explorable, columns: usize, rows: usize, random: &mut Random) -> Vec<Vec<String>> {
    let calls = subject.invocations();
    let mut column = || (0..rows).map(|_| calls[random.below(calls.len())].clone()).collect();
    (0..columns).map(|_| column()).collect()
}

#[test]
fn plain_variants_hold() {
    for class in CLASSES {
        let subject = (class.variants[0].build)();
        for (columns, rows, samples) in [(2, 2, 12), (3, 2, 4)] {
            let mut random = Random::new(5);
            for _ in 0..samples {
                let matrix = draw(&*subject, columns, rows, &mut random);
                let begun = std::time::Instant::now();
                let seen = check(&*subject, &matrix);
                if begun.elapsed().as_millis() > 300 { eprintln!("{} {matrix:?} {seen:?} {:?}", class.name, begun.elapsed()); }
                assert!(seen.causes.is_empty(), "{}: {matrix:?}: {seen:?}", class.name);
            }
        }
    }
}

#[test]
fn root_causes_are_found_and_their_matrices_are_minimal() {
    let mut letters = BTreeSet::new();
    for (class, variant, flaw) in flaws() {
        let subject = (variant.build)();
        let matrix = columns(flaw.matrix);
        let seen = check(&*subject, &matrix);
        eprintln!("{}:{} {:?}", class.name, variant.name, seen);
        assert_eq!(seen.causes, BTreeSet::from([flaw.cause]), "{}:{}: {seen:?}", class.name, variant.name);
        for column in 0..matrix.len() {
            for row in 0..matrix[column].len() {
                let mut less = matrix.clone();
                less[column].remove(row);
                let seen = check(&*subject, &less);
                assert!(seen.causes.is_empty(), "{}:{}: {less:?}: {seen:?}", class.name, variant.name);
            }
        }
        letters.insert(flaw.letter);
    }
    assert_eq!(letters, ('A'..='L').collect());
}

#[test]
fn probe() {
    let Ok(name) = std::env::var("PROBE_CLASS") else { return };
    let (class, kind) = name.split_once(':').unwrap_or((&name, ""));
    let subject = (variant(class, kind).build)();
    if let Ok(matrix) = std::env::var("PROBE_MATRIX") {
        eprintln!("{matrix}: {:?}", check(&*subject, &columns(&matrix)));
        return;
    }
    let n = |name: &str, other: usize| std::env::var(name).map_or(other, |it| it.parse().unwrap());
    let mut random = Random::new(n("PROBE_SEED", 5) as u64);
    for _ in 0..n("PROBE_N", 10) {
        let matrix = draw(&*subject, n("PROBE_C", 3), n("PROBE_R", 3), &mut random);
        let begun = std::time::Instant::now();
        eprintln!("{matrix:?}");
        let seen = check(&*subject, &matrix);
        eprintln!("   {} {seen:?} {:?}", class, begun.elapsed());
        assert!(seen.causes.is_empty());
    }
}
