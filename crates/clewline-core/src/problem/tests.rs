use super::*;
use crate::{Deterministic, Event, Verdict, WitnessError};

#[derive(Clone)]
struct Register;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Read(u8),
    Write(u8, u32),
}

/// Two registers, each a part of its own.
impl Deterministic for Register {
    type State = [u32; 2];
    type Call = Call;
    type Return = u32;

    fn initial(&self) -> [u32; 2] {
        [0, 0]
    }

    fn apply(&self, state: &mut [u32; 2], call: &Call) -> Option<u32> {
        match *call {
            Call::Read(at) => Some(state[at as usize]),
            Call::Write(at, value) => {
                state[at as usize] = value;
                Some(0)
            }
        }
    }

    fn part(&self, call: &Call) -> Option<u64> {
        let (Call::Read(at) | Call::Write(at, _)) = *call;
        Some(u64::from(at))
    }
}

fn history() -> History<Call, u32> {
    // Process 0 writes 5 to the first register, then 6 to the second; process 1 reads both
    // meanwhile.
    History::from_events([
        Event::call(0, Call::Write(0, 5)),
        Event::call(1, Call::Read(1)),
        Event::ret(0, 0),
        Event::call(0, Call::Write(1, 6)),
        Event::ret(1, 6),
        Event::call(1, Call::Read(0)),
        Event::ret(1, 5),
        Event::call(2, Call::Read(0)),
    ])
    .unwrap()
}

fn witness(order: &[u32]) -> Witness {
    Witness { order: order.iter().map(|&it| OperationId(it)).collect() }
}

#[test]
fn a_witness_may_leave_out_or_use_pending_operations() {
    let history = history();
    let problem = Problem::new(&Register, &history);
    assert_eq!(witness(&[0, 2, 1, 3]).verify(&problem), Ok(()));
    assert_eq!(witness(&[0, 2, 1, 3, 4]).verify(&problem), Ok(()));
}

#[test]
fn false_witnesses_are_rejected_with_the_reason() {
    let history = history();
    let problem = Problem::new(&Register, &history);
    let error_of = |order: &[u32]| witness(order).verify(&problem).unwrap_err();
    assert_eq!(error_of(&[0, 2, 1]), WitnessError::Missing(OperationId(3)));
    assert_eq!(error_of(&[0, 2, 2]), WitnessError::Repeated(OperationId(2)));
    assert_eq!(error_of(&[0, 9]), WitnessError::Foreign(OperationId(9)));
    assert_eq!(error_of(&[0, 1]), WitnessError::NotAllowed(OperationId(1)));
    let (first, second) = (OperationId(0), OperationId(2));
    assert_eq!(error_of(&[2, 0]), WitnessError::OutOfOrder { first, second });
}

#[test]
fn parts_are_checked_separately_and_their_witnesses_merge() {
    let history = history();
    let problem = Problem::new(&Register, &history);
    let parts = problem.clone().into_parts();
    let members: Vec<Vec<u32>> =
        parts.iter().map(|it| it.operations().iter().map(|it| it.0).collect()).collect();
    assert_eq!(members, [vec![0, 3, 4], vec![1, 2]]);
    let merged = Problem::merge_witnesses(&parts, vec![witness(&[0, 3]), witness(&[2, 1])]);
    assert_eq!(merged.verify(&problem), Ok(()));
}

#[test]
fn a_dropped_result_may_be_any_result() {
    let history = History::from_events([Event::call(0, Call::Read(0)), Event::ret(0, 9)]).unwrap();
    let problem = Problem::new(&Register, &history);
    assert_eq!(witness(&[0]).verify(&problem), Err(WitnessError::NotAllowed(OperationId(0))));
    let weaker = problem.weaken(|_| Retain::CallOnly);
    assert_eq!(witness(&[0]).verify(&weaker), Ok(()));
    assert_eq!(witness(&[]).verify(&weaker), Ok(()));
}

#[test]
fn equal_operations_share_a_label_and_steps_lead_to_interned_states() {
    let history = history();
    let problem = Problem::new(&Register, &history);
    let mut automaton = problem.automaton();
    let labels = automaton.labels().to_vec();
    assert_ne!(labels[3], labels[4], "a pending read is not a read that returned 5");
    let start = automaton.initial();
    let five = automaton.step(start, labels[0], 0).unwrap();
    assert!(!five.has_more);
    assert_eq!(automaton.step(start, labels[0], 1), None);
    assert_eq!(automaton.step(start, labels[3], 0), None);
    assert_eq!(automaton.step(five.state, labels[3], 0).map(|it| it.state), Some(five.state));
    let mut kept = five.state;
    automaton.forget_all_but(&mut [&mut kept]);
    assert_eq!(automaton.step(kept, labels[3], 0).map(|it| it.state), Some(kept));
}

#[test]
fn verdicts_merge_to_the_worse() {
    let holds = || Verdict::Holds(witness(&[0]));
    let unknown = || Verdict::Unknown(crate::Reason::Cancelled);
    assert_eq!(holds().merge(unknown()).word(), "unknown");
    assert_eq!(unknown().merge(holds()).word(), "unknown");
    assert_eq!(holds().merge(Verdict::Holds(witness(&[1]))), Verdict::Holds(witness(&[0, 1])));
}
