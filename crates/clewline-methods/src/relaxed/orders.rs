//! What a report says in the displacement reading: the factors, and both orders of a witness.

use clewline_check::relaxed::QuasiWitness;
use clewline_core::{ErasedHistory, OperationId, Verdict};
use clewline_report::render::block::Block;

use super::evidence::QuasiEvidence;

/// The text after the verdict's word, for the history `name` of a `spec`.
pub(crate) fn headline(name: &str, spec: &str, verdict: &Verdict, evidence: &QuasiEvidence) -> String {
    let factors = evidence.quasi.factors();
    let quasi = evidence.least.map_or_else(|| factors.clone(), |it| factors.with_factor(it));
    match verdict {
        Verdict::Holds(_) => format!("{name} is quasi linearizable as a {spec} with {quasi}"),
        Verdict::Violated(_) => format!("{name} is not quasi linearizable as a {spec} with {quasi}"),
        Verdict::Unknown(reason) => {
            format!("whether {name} is quasi linearizable as a {spec} with {quasi}: {reason}")
        }
    }
}

/// Both orders of each witness, and the displaced operations.
pub(crate) fn orders(case: &dyn ErasedHistory, evidence: &QuasiEvidence) -> Vec<Block> {
    evidence.witnesses.iter().map(|it| Block::List(both_orders(case, it).to_vec())).collect()
}

fn both_orders(case: &dyn ErasedHistory, witness: &QuasiWitness) -> [String; 3] {
    let labels = |order: &[OperationId]| -> String {
        order.iter().map(|&it| case.label(it)).collect::<Vec<_>>().join(", ")
    };
    let displaced = witness.displacement.iter().filter(|it| it.1 != 0);
    let displaced: Vec<String> = displaced.map(|&(it, by)| format!("{} by {by:+}", case.label(it))).collect();
    let displaced = if displaced.is_empty() { "nothing".to_owned() } else { displaced.join(", ") };
    [
        format!("Real time allows: {}", labels(&witness.sequentialization)),
        format!("The specification allows: {}", labels(&witness.legal)),
        format!("Out of place: {displaced}"),
    ]
}
