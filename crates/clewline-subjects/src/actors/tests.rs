mod oracle;

use std::collections::BTreeSet;

use clewline_explore::actors::Harness;

use self::oracle::{Seen, explore};
use super::{Ignored, ReadsAndWrites, Shape, SystemVisitor, find_system};

/// Explores every order of everything.
struct Everything {
    shape: Shape,
    clients: clewline_explore::actors::Clients,
    actors: u32,
    ignored: Ignored,
    limit: usize,
}

impl SystemVisitor for Everything {
    type Output = Seen;

    fn visit<H: Harness<Specification: ReadsAndWrites> + 'static>(self, harness: H) -> Seen {
        let scenario = self.shape.scenario::<H::Specification>(self.actors, self.clients);
        explore(&harness, &scenario, self.ignored, self.limit)
    }
}

#[track_caller]
fn look(name: &str, calls: &str) -> Seen {
    let found = find_system(name).unwrap();
    let actors = found.variant.actors;
    let clients = found.variant.clients;
    let shape = calls.parse().unwrap();
    found.visit(
        actors,
        Everything { shape, clients, actors, ignored: found.variant.ignored, limit: 2_000_000 },
    )
}

/// Schedules, states, edges; canonical histories, those that are complete, those that are violated.
#[track_caller]
fn check(name: &str, calls: &str, space: (u128, usize, usize), histories: (usize, usize, usize)) {
    let seen = look(name, calls);
    assert_eq!(
        ((seen.schedules, seen.states, seen.edges), (seen.histories, seen.complete, seen.violated)),
        ((Some(space.0), space.1, space.2), histories),
        "{name} {calls}"
    );
}

#[test]
fn the_papers_systems_have_as_many_schedules_and_histories_as_were_counted() {
    check("dr", "2r+1w", (4_200, 622, 1_015), (44, 31, 0));
    check("edr", "2r+1w", (252, 232, 335), (32, 32, 12));
    check("adr", "2r+1w", (1_680, 438, 718), (35, 24, 0));
    check("open-chord", "2r+1w", (18_396, 845, 1_826), (41, 41, 9));
    check("paxos", "2r+1w", (5_765_760, 825, 1_815), (32, 32, 0));
}

#[test]
fn names_are_unique() {
    let names: Vec<String> = super::systems().map(|it| it.name()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}

#[test]
fn zz_survey() {
    for found in super::systems() {
        let start = std::time::Instant::now();
        let variant = found.variant;
        let shape = variant.calls.parse().unwrap();
        let seen = found.visit(
            variant.actors,
            Everything {
                shape,
                clients: variant.clients,
                actors: variant.actors,
                ignored: variant.ignored,
                limit: 100_000,
            },
        );
        println!("{} {} {:?}: {seen:?} {:?}", found.name(), variant.calls, variant.flaw, start.elapsed());
    }
}
