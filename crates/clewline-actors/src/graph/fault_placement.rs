//! Faults at few places, compared with faults at all places.

use super::*;
use crate::{
    Actor, ActorId, ActorSystem, AnyActor, Clients, Context, Delivery, GlobalState, Harness, Mailbox,
    Property, Rules, Scenario,
    random_systems::{self, PROPERTIES},
    samples::{Call, Register, judge},
};
use clewline_core::Verdict;
use clewline_testing::{pick_of_three, share};

fn explore<H: Harness<Specification = Register> + 'static>(
    system: &ActorSystem<H>,
    properties: &[Modality],
    search: &Search,
) -> Explored {
    let mut verdicts = Verdicts::new(Box::new(judge(system)));
    explore_states(&system.engine(), properties, &mut verdicts, search, &|_| ())
}

// The results that must not depend on the places of faults.
fn placement_invariants(seen: &Explored) -> (StopReason, [u64; 8], &[HistoryId], Vec<bool>) {
    let counts = [
        seen.ends,
        seen.stuck,
        seen.undelivered,
        seen.histories,
        seen.violated,
        seen.unknown,
        seen.final_complete,
        seen.final_violated,
    ];
    let is_violated = seen.properties.iter().map(|it| matches!(it, Verdict::Violated(_))).collect();
    (seen.ended, counts, &seen.final_histories, is_violated)
}

#[test]
fn faults_at_few_places_give_the_same_results() {
    let (mut lost, mut crashed, mut apart, mut wrong, mut violated) = (0, 0, 0, [0; 4], 0);
    for seed in 0..pick_of_three(19, 91, 900) {
        let (harness, scenario, mut rules) = random_systems::random(seed);
        if seed % 7 != 0 {
            rules.delivery = Delivery::Unordered;
        }
        rules.faults.lose = (seed % 4) as u8;
        rules.faults.crash = (seed / 4 % 3) as u8;
        rules.faults.partition = u8::from(seed / 12 % 3 == 0);
        if seed % 5 != 0 {
            rules.faults.mailbox = Mailbox::Kept;
        }
        let system = ActorSystem::new(harness, scenario, rules).unwrap();
        let when = PROPERTIES.map(|it| it.0);
        let search = Search { states_max: 20_000, ..Search::default() };
        let all = explore(&system, &when, &search);
        if all.ended != StopReason::Exhausted {
            continue;
        }
        let few = explore(&system, &when, &Search { places: FaultPlacement::Few, ..search.clone() });
        assert_eq!(placement_invariants(&few), placement_invariants(&all), "seed {seed}, {rules:?}");
        let two = explore(&system, &when, &Search { places: FaultPlacement::Few, jobs: 2, ..search });
        assert_eq!(two, few, "two threads, seed {seed}, {rules:?}");
        assert!(few.unique <= all.unique);
        if few.unique < all.unique {
            assert_eq!(few.places, FaultPlacement::Few);
            lost += u64::from(rules.faults.lose != 0);
            crashed += u64::from(rules.faults.crash != 0);
            apart += u64::from(rules.faults.partition != 0);
            violated += u64::from(all.violated != 0);
            placement_invariants(&all).3.iter().enumerate().for_each(|(at, it)| wrong[at] += u64::from(*it));
        }
    }
    let counts =
        format!("{lost} with losses, {crashed} with crashes, {apart} with partitions, {violated} violated");
    assert!(
        share(150) < lost && share(150) < crashed && share(50) < apart && share(50) < violated,
        "{counts}"
    );
    assert!(wrong.iter().all(|it| share(30) <= *it), "{wrong:?}");
}

/// Sends itself a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sender(bool);

impl Actor for Sender {
    type Message = u8;

    fn on_start(&mut self, context: &mut Context<u8>) {
        context.send(context.me(), 1);
    }

    fn on_message(&mut self, _from: ActorId, _message: &u8, _context: &mut Context<u8>) {
        self.0 = true;
    }
}

struct StateProperty(fn(&GlobalState<'_, u8>) -> bool);

impl Harness for StateProperty {
    type Message = u8;
    type Specification = Register;

    fn specification(&self) -> Register {
        Register
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<u8>>> {
        vec![Box::new(Sender(false)), Box::new(Sender(false))]
    }

    fn request(&self, _call: &Call, _n: u32) -> u8 {
        0
    }

    fn response(&self, _message: &u8) -> Option<u8> {
        None
    }

    fn properties(&self) -> Vec<Property<u8>> {
        vec![Property { name: "", when: Modality::Always, holds: self.0 }]
    }
}

#[track_caller]
fn check_watching(holds: fn(&GlobalState<'_, u8>) -> bool, places: FaultPlacement, found: &PropertyVerdict) {
    let scenario = Scenario { calls: Vec::new(), clients: Clients::Tight };
    let faults = Faults { lose: 1, crash: 1, ..Faults::default() };
    let system =
        ActorSystem::new(StateProperty(holds), scenario, Rules { faults, ..Rules::default() }).unwrap();
    let search = Search { places: FaultPlacement::Few, ..Search::default() };
    let seen = explore(&system, &[Modality::Always], &search);
    assert_eq!((seen.places, &seen.properties[0]), (places, found));
}

#[test]
fn all_places_are_explored_if_a_property_reads_what_faults_change() {
    check_watching(|it| it.all::<Sender>().count() == 2, FaultPlacement::Few, &Verdict::Holds(()));
    // One message was lost, and the other is in flight.
    let violated = Verdict::Violated(Vec::new());
    check_watching(|it| it.in_flight.len() + receivers_done(it) == 2, FaultPlacement::All, &violated);
    // One actor has crashed, and the other has received its message.
    check_watching(|it| it.crashed.is_empty() || receivers_done(it) == 0, FaultPlacement::All, &violated);
    check_watching(|it| format!("{it:?}") != "", FaultPlacement::All, &Verdict::Holds(()));
}

fn receivers_done(state: &GlobalState<'_, u8>) -> usize {
    state.all::<Sender>().filter(|it| it.0).count()
}
