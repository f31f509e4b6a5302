//! Which histories to generate so that a monitor decides them: found by running the monitor.

use std::collections::BTreeSet;

use clewline_check::{ByMonitor, check};
use clewline_core::{
    Budget, Datum, ErasedSpec, GeneratorConfig, ObjectKind, Problem, RoleKind, ValueDomain, Verdict,
};
use clewline_monitor::find;
use clewline_specs::SpecificationEntry;

/// The share of histories of a few methods that a monitor may refuse.
const REFUSED_MAX: f64 = 0.05;
const PROBES: u64 = 40;

/// The methods of a specification whose histories its monitor decides, and of which values.
pub(crate) struct Decided {
    kind: Option<ObjectKind>,
    methods: Vec<&'static str>,
    // Those that only add elements.
    adders: BTreeSet<String>,
}

impl Decided {
    /// Runs the monitor, if there is one, on each method together with those before it.
    pub(crate) fn of(entry: &SpecificationEntry, spec: &dyn ErasedSpec) -> Decided {
        let case = spec.load(spec.generate(&GeneratorConfig::default())).unwrap();
        let kind = case.problems().first().and_then(Problem::kind);
        let mut decided = Decided { kind, methods: Vec::new(), adders: BTreeSet::new() };
        if kind.and_then(find).is_some() {
            for method in entry.methods() {
                decided.methods.push(method);
                if REFUSED_MAX < decided.refused(spec) {
                    decided.methods.pop();
                }
            }
            decided.adders = decided.adders(spec);
        }
        decided
    }

    /// Values of which no more than `bound` differ, where an element may be added again after it
    /// was removed.
    pub(crate) fn values(&self, bound: u32) -> ValueDomain {
        match self.kind {
            Some(ObjectKind::Set | ObjectKind::Multiset) => ValueDomain::Below(bound),
            _ => ValueDomain::Distinct,
        }
    }

    /// The methods that are decided. Where copies are counted, others are generated `others` times
    /// as often as those that add, to avoid many copies.
    pub(crate) fn mix(&self, others: u32) -> Vec<(String, u32)> {
        let weight = |it: &str| {
            if self.kind == Some(ObjectKind::Multiset) && !self.adders.contains(it) { others } else { 1 }
        };
        self.methods.iter().map(|&it| (it.to_owned(), weight(it))).collect()
    }

    /// The share of histories that the monitor refuses.
    fn refused(&self, spec: &dyn ErasedSpec) -> f64 {
        let (mut refused, mut all) = (0, 0);
        for seed in 0..PROBES {
            let case = spec.load(spec.generate(&self.probe(seed))).unwrap();
            for part in case.problems().into_iter().flat_map(Problem::into_parts) {
                let verdict = check(&ByMonitor, &part, &Budget::unlimited());
                all += 1;
                refused += u32::from(matches!(verdict, Verdict::Unknown(_)));
            }
        }
        f64::from(refused) / f64::from(all)
    }

    fn adders(&self, spec: &dyn ErasedSpec) -> BTreeSet<String> {
        let recording = spec.generate(&self.probe(0));
        let (mut adds, mut does_more) = (BTreeSet::new(), BTreeSet::new());
        let case = spec.load(recording.clone()).unwrap();
        for part in case.problems() {
            let Ok(roles) = part.roles() else { continue };
            for (id, act) in part.operations().iter().zip(&roles.kinds) {
                let Datum::Text(method) = recording.values.get(recording.history.call(*id).method) else {
                    continue;
                };
                let methods = if *act == RoleKind::Add { &mut adds } else { &mut does_more };
                methods.insert(method.to_owned());
            }
        }
        &adds - &does_more
    }

    fn probe(&self, seed: u64) -> GeneratorConfig {
        let (values, mix) = (self.values(4), self.mix(1));
        GeneratorConfig { operations: 30, values, mix, keys: 2, seed, ..GeneratorConfig::default() }
    }
}
