mod oracle;
mod schedulers;
mod states;

use std::collections::BTreeSet;

use clewline_actors::{
    ActorSystem, Clients, Harness, Histories, HistoryId, Ignored, Modality, PropertyVerdict, Rules, Scenario,
    Search, Verdicts, explore_states,
};
use clewline_core::{Codec, Value, Verdict};
use clewline_specs::map;
use clewline_systems::{ExploreOptions, HarnessFile};
use clewline_testing::pick;

use self::{
    oracle::{Exploration, explore, wander},
    states::{StateCounts, Until, count},
};
use super::{
    FoundSystem, NamedSystem, ReadsAndWrites, SYSTEMS, Shape, Symptom, SystemVisitor, find_system,
    sha1::sha1, systems,
};

/// Explores every order of everything.
struct AllSystems {
    calls: Calls,
    clients: Clients,
    actors: u32,
    ignored: Ignored,
}

/// The calls of a system that is read and written, or those that its entry lists.
enum Calls {
    Shape(Shape, &'static [ReadsAndWrites]),
    Listed(Box<HarnessFile>, &'static [&'static str]),
}

impl AllSystems {
    fn scenario<S: Codec>(&self, specification: &S) -> Scenario<S::Call> {
        let AllSystems { calls, clients, actors, .. } = self;
        match calls {
            Calls::Shape(shape, shapes) => {
                let words = ReadsAndWrites::of(shapes, specification).unwrap();
                shape.scenario(specification, words, *actors, *clients).unwrap()
            }
            Calls::Listed(file, offers) => {
                Scenario { calls: file.calls(specification, offers, *actors).unwrap(), clients: *clients }
            }
        }
    }
}

impl SystemVisitor for AllSystems {
    type Output = Exploration;

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Exploration {
        let scenario = self.scenario(&harness.specification());
        explore(&harness, &scenario, self.ignored, 20_000)
    }
}

/// Explores the states with the engine that users have.
struct States {
    everything: AllSystems,
    until: Until,
}

impl SystemVisitor for States {
    type Output = StateCounts;

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> StateCounts {
        let scenario = self.everything.scenario(&harness.specification());
        let rules = Rules { ignored: self.everything.ignored, ..Rules::default() };
        count(harness, scenario, rules, self.until, 5_000_000)
    }
}

fn everything(found: &FoundSystem, actors: u32, calls: &str) -> AllSystems {
    let FoundSystem { system, variant } = found;
    let calls = match (calls.parse(), system.shapes) {
        (Ok(shape), shapes @ [_, ..]) => Calls::Shape(shape, shapes),
        _ => Calls::Listed(Box::new(HarnessFile::read(&calls.replace(';', "\n")).unwrap()), system.offers),
    };
    AllSystems { calls, clients: variant.clients, actors, ignored: variant.ignored }
}

fn look(name: &str, calls: &str) -> Exploration {
    let found = find_system(name).unwrap();
    found.visit(found.variant.actors, everything(&found, found.variant.actors, calls))
}

fn look_for(found: &FoundSystem, calls: &str, until: Until) -> StateCounts {
    let actors = found.variant.actors;
    found.visit(actors, States { everything: everything(found, actors, calls), until })
}

/// Schedules, states, edges; canonical histories, complete ones, violated ones. The oracle and the
/// engine agree.
#[track_caller]
fn check(name: &str, calls: &str, space: (u128, usize, usize), histories: (usize, usize, usize)) {
    let seen = look(name, calls);
    assert_eq!(
        ((seen.schedules, seen.states, seen.edges), (seen.histories, seen.complete, seen.violated)),
        ((Some(space.0), space.1, space.2), histories),
        "{name} {calls}"
    );
    check_states(name, calls, (space.1, space.2), histories);
}

#[track_caller]
fn check_states(name: &str, calls: &str, space: (usize, usize), histories: (usize, usize, usize)) {
    let found = find_system(name).unwrap();
    let counted = look_for(&found, calls, Until::TheEnd);
    assert_eq!(
        ((counted.states, counted.edges), (counted.histories, counted.complete, counted.violated)),
        (space, histories),
        "{name} {calls}"
    );
}

#[test]
fn three_calls_on_the_papers_systems_have_the_known_schedules_and_histories() {
    check("dr", "2r+1w", (4_200, 622, 1_015), (44, 31, 0));
    check("edr", "2r+1w", (252, 232, 335), (32, 32, 12));
    check("adr", "2r+1w", (1_680, 438, 718), (35, 24, 0));
    check("open-chord", "2r+1w", (18_396, 845, 1_826), (41, 41, 9));
    check("paxos", "2r+1w", (5_765_760, 825, 1_815), (32, 32, 0));
}

#[test]
#[ignore = "long"]
fn four_calls_on_the_papers_systems_have_the_known_schedules_and_histories() {
    check("adr", "2r+2w", (369_600, 14_753, 29_546), (551, 351, 0));
    check("open-chord", "2r+2w", (1_672_440, 14_837, 32_663), (432, 432, 91));
    check_states("dr", "2r+2w", (22_419, 47_359), (399, 0, 0));
    check_states("edr", "2r+2w", (46_495, 98_948), (562, 562, 272));
    check_states("adr:three-rounds", "2r+2w", (61_833, 152_676), (551, 351, 0));
}

/// The examples of stateright have these numbers of unique and generated states, the initial one
/// included.
#[test]
fn state_counts_equal_those_of_stateright() {
    let expected = [
        ("abd:stateright", "2c", 544, 875),
        ("single-copy:stateright", "3c", 4_243, 6_778),
        ("paxos:stateright", "2c", 16_668, 32_971),
        ("paxos:stateright", "3c", 1_194_428, 2_420_477),
        ("single-copy:stateright", "4c", 400_233, 731_789),
    ];
    for (name, calls, unique, generated) in expected.into_iter().take(pick(3, 5)) {
        let counted = look_for(&find_system(name).unwrap(), calls, Until::TheEnd);
        assert_eq!((counted.states, counted.edges + 1), (unique, generated), "{name} {calls}");
        assert_eq!((counted.violated, counted.is_cut), (0, false), "{name} {calls}");
    }
}

#[test]
fn the_engine_agrees_with_the_oracle() {
    let mut compared = 0;
    for found in systems().step_by(pick(24, 1)) {
        let calls = found.variant.calls;
        let seen = look(&found.name(), calls);
        if !seen.is_cut {
            let space = (seen.states, seen.edges);
            check_states(&found.name(), calls, space, (seen.histories, seen.complete, seen.violated));
            compared += 1;
        }
    }
    assert!(pick(0, 25) < compared, "{compared} systems are small enough");
}

#[track_caller]
fn check_right(found: &FoundSystem, calls: &str) {
    let name = found.name();
    let counted = look_for(found, calls, Until::TheEnd);
    assert_eq!((counted.violated, counted.is_cut), (0, false), "{name} {calls}: {counted:?}");
    if found.variant.may_not_return.is_none() {
        assert_eq!(counted.complete, counted.histories, "{name} {calls}: {counted:?}");
    }
    assert!(look(&name, calls).broken.is_empty(), "{name} {calls}");
}

#[test]
fn correct_variants_hold_and_every_call_returns() {
    let right = || systems().filter(|it| it.variant.flaw.is_none());
    for found in right().step_by(pick(20, 1)) {
        check_right(&found, found.variant.calls);
    }
    // These are small enough for more calls.
    let small = ["adr", "chain", "dr", "edr", "open-chord", "primary-backup", "single-copy"];
    let small = small.into_iter().flat_map(|name| right().filter(move |it| it.system.name == name));
    let small = small.filter(|it| it.variant.clients == Clients::Tight);
    for found in small.step_by(pick(4, 1)) {
        for calls in pick(&["1r+1w"][..], &["1r+2w", "2r+2w", "2c"]) {
            check_right(&found, calls);
        }
    }
}

/// The verdict on each property in all states.
struct Properties(AllSystems);

impl SystemVisitor for Properties {
    type Output = Vec<(&'static str, PropertyVerdict)>;

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Self::Output {
        let properties: Vec<(&str, Modality)> =
            harness.properties().iter().map(|it| (it.name, it.when)).collect();
        let scenario = self.0.scenario(&harness.specification());
        let rules = Rules { ignored: self.0.ignored, ..Rules::default() };
        let system = ActorSystem::new(harness, scenario, rules).unwrap();
        let mut verdicts = Verdicts::new(Box::new(|_: &Histories, _: HistoryId| Verdict::Holds(())));
        let search = Search { states_max: 100_000, ..Search::default() };
        let whens: Vec<Modality> = properties.iter().map(|it| it.1).collect();
        let explored = explore_states(&system.engine(), &whens, &mut verdicts, &search, &|_| ());
        properties.iter().map(|it| it.0).zip(explored.properties).collect()
    }
}

#[test]
fn correct_variants_satisfy_their_properties() {
    let mut held = 0;
    for found in systems().filter(|it| it.variant.flaw.is_none()) {
        let actors = found.variant.actors;
        for (property, it) in found.visit(actors, Properties(everything(&found, actors, found.variant.calls)))
        {
            assert!(!matches!(it, Verdict::Violated(_)), "{}: {property}: {it:?}", found.name());
            held += u32::from(it == Verdict::Holds(()));
        }
    }
    assert!(4 < held, "{held} are known to hold");
}

#[test]
fn every_flaw_shows_in_its_scenario() {
    for found in systems().step_by(pick(4, 1)) {
        let (name, calls) = (found.name(), found.variant.calls);
        match found.variant.flaw {
            None => (),
            Some(Symptom::Violated) => {
                assert_eq!(look_for(&found, calls, Until::Violated).violated, 1, "{name}");
            }
            Some(Symptom::Incomplete) => {
                let counted = look_for(&found, calls, Until::TheEnd);
                assert!(counted.complete < counted.histories && counted.violated == 0, "{name}");
            }
            Some(Symptom::Property(property)) => {
                let actors = found.variant.actors;
                let broken = found.visit(actors, RandomPaths(everything(&found, actors, calls)));
                assert_eq!(broken, BTreeSet::from([property]), "{name}");
            }
        }
    }
}

/// Executes random paths, and returns the properties that do not hold.
struct RandomPaths(AllSystems);

impl SystemVisitor for RandomPaths {
    type Output = BTreeSet<&'static str>;

    fn visit<H: Harness<Specification: Codec> + 'static>(self, harness: H) -> Self::Output {
        let scenario = self.0.scenario(&harness.specification());
        wander(&harness, &scenario, self.0.ignored, 500)
    }
}

#[test]
fn the_table_is_sorted_and_complete() {
    let names: Vec<&str> = SYSTEMS.iter().map(|it| it.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let all: Vec<String> = systems().map(|it| it.name()).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    for FoundSystem { system, variant } in systems() {
        let texts = [system.about, system.source, variant.about];
        assert!(texts.iter().all(|it| !it.is_empty()), "{} {}", system.name, variant.name);
        let methods: Vec<_> = clewline_specs::entry(system.spec).unwrap().methods().collect();
        assert!(system.offers.iter().all(|it| methods.contains(it)), "{}", system.name);
        assert!((variant.range.0..=variant.range.1).contains(&variant.actors), "{}", system.name);
        let is_shape = variant.calls.parse::<Shape>().is_ok() && !system.shapes.is_empty();
        let is_list = HarnessFile::read(&variant.calls.replace(';', "\n")).is_ok();
        assert!(is_shape || is_list, "{}: write `calls` as `2r+1w`, or as `C1 N1 write(1); …`", system.name);
    }
}

#[test]
fn a_name_that_is_mistyped_gets_a_hint() {
    assert_eq!(
        find_system("pax0s").unwrap_err().to_string(),
        "no actor system is called `pax0s`; did you mean `paxos`? (`clewline systems` lists them)"
    );
}

/// Client, actor and call: `0>2 Read`.
#[track_caller]
fn check_shape(text: &str, actors: u32, expected: &str) {
    let shape: Shape = text.parse().unwrap();
    assert_eq!(shape.to_string(), text);
    let scenario =
        shape.scenario(&map::Map::default(), &ReadsAndWrites::MAP, actors, Clients::Tight).unwrap();
    let shown = scenario.calls.iter().map(|it| {
        let call = match it.call {
            map::Call::Put(key, value) => format!("{}={}", show(key), show(value)),
            map::Call::Get(key) => format!("{}?", show(key)),
            ref other => panic!("{other:?}"),
        };
        format!("{}>{} {call}", it.client, it.to.index())
    });
    assert_eq!(shown.collect::<Vec<_>>().join(", "), expected, "{text}");
}

fn show(value: Value) -> i64 {
    value.get()
}

#[test]
fn shapes_give_client_actor_and_call() {
    check_shape("2r+1w", 2, "0>0 1=10, 1>1 1?, 2>0 1?");
    check_shape("2r+2w", 2, "0>0 1=10, 1>1 1?, 2>0 1?, 3>1 2=20");
    check_shape("2r+2w", 3, "0>0 1=10, 1>1 1?, 2>2 1?, 3>0 2=20");
    check_shape("4r+1w", 2, "0>0 1=10, 1>1 1?, 2>0 1?, 3>0 2?, 4>1 2?");
    check_shape("0r+2w", 2, "0>0 1=10, 1>1 2=20");
    check_shape("2c", 3, "0>0 1=10, 0>1 1?, 1>1 1=20, 1>2 1?");
    check_shape("none", 3, "");
    for (short, text) in [("2r1w", "2r+1w"), ("2r", "2r+0w"), ("1w", "0r+1w")] {
        assert_eq!(short.parse::<Shape>().unwrap(), text.parse().unwrap(), "{short}");
    }
    for wrong in
        ["", "2", "0r+0w", "r+w", "1w+1r", "0c", "40c", "99999999999r+1w", "-1r+1w", "2r++1w", "+1w", "1wx"]
    {
        let error = wrong.parse::<Shape>().unwrap_err().to_string();
        assert!(error.ends_with(&format!("found `{wrong}`")), "{error}");
    }
}

#[test]
fn digests_are_those_of_the_standard() {
    let hex = |text: &str| sha1(text).iter().map(|it| format!("{it:02x}")).collect::<String>();
    assert_eq!(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_eq!(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

#[test]
fn values_come_from_thin_air_without_any_write() {
    for (name, violated) in [("edr", false), ("edr:thin-air", true)] {
        let named = NamedSystem::new(find_system(name).unwrap(), "2r".parse().unwrap());
        let options = ExploreOptions::default();
        let (metrics, _) = clewline_systems::count(&named.harness(&options).unwrap(), &options).unwrap();
        assert_eq!(0 < metrics.violated, violated, "{name}: {metrics:?}");
    }
}
