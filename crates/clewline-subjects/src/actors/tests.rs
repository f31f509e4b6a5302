mod oracle;
mod states;

use std::collections::BTreeSet;

use clewline_explore::actors::{Clients, Harness, Ignored, Rules};

use self::{
    oracle::{Seen, explore},
    states::{Counted, Until, count},
};
use super::{FoundSystem, ReadsAndWrites, Shape, Symptom, SystemVisitor, find_system, sha1::sha1, systems};

/// Explores every order of everything.
struct Everything {
    shape: Shape,
    clients: Clients,
    actors: u32,
    ignored: Ignored,
}

impl SystemVisitor for Everything {
    type Output = Seen;

    fn visit<H: Harness<Specification: ReadsAndWrites> + 'static>(self, harness: H) -> Seen {
        let scenario = self.shape.scenario::<H::Specification>(self.actors, self.clients);
        explore(&harness, &scenario, self.ignored, 20_000)
    }
}

/// Explores the states with the engine that users have.
struct States {
    everything: Everything,
    until: Until,
}

impl SystemVisitor for States {
    type Output = Counted;

    fn visit<H: Harness<Specification: ReadsAndWrites> + 'static>(self, harness: H) -> Counted {
        let Everything { shape, clients, actors, ignored } = self.everything;
        let scenario = shape.scenario::<H::Specification>(actors, clients);
        let rules = Rules { ignored, ..Rules::default() };
        count(harness, scenario, rules, self.until, 5_000_000)
    }
}

fn everything(found: &FoundSystem, actors: u32, calls: &str) -> Everything {
    let variant = found.variant;
    Everything { shape: calls.parse().unwrap(), clients: variant.clients, actors, ignored: variant.ignored }
}

fn look(name: &str, calls: &str) -> Seen {
    let found = find_system(name).unwrap();
    found.visit(found.variant.actors, everything(&found, found.variant.actors, calls))
}

fn look_for(found: &FoundSystem, calls: &str, until: Until) -> Counted {
    let actors = found.variant.actors;
    found.visit(actors, States { everything: everything(found, actors, calls), until })
}

#[test]
fn zz_survey() {
    for found in super::systems() {
        let variant = found.variant;
        let start = std::time::Instant::now();
        let until = if variant.flaw == Some(Symptom::Violated) { Until::Violated } else { Until::TheEnd };
        let counted = look_for(&found, variant.calls, until);
        println!("{} {} {:?}: {counted:?} {:?}", found.name(), variant.calls, variant.flaw, start.elapsed());
    }
}
