//! The search and the enumeration on all small histories and on many random ones.

use clewline_check::relaxed::Relaxation;
use clewline_core::{ErasedHistory, Problem, Random};
use clewline_testing::pick;

use crate::{
    factors::{classes, relaxation},
    histories::{every_history, random_times},
    judge::Judge,
};

#[track_caller]
fn check_every(spec: &str, most: usize, actions: &[&str], relaxations: &[&str]) {
    let mut judge = Judge::new(u64::MAX);
    let mut number = 0;
    for n in 0..=most {
        every_history(spec, n, actions, |case| {
            number += 1;
            // In `./test` one of five of the largest.
            if n == most && number % pick(5, 1) != 0 {
                return;
            }
            for problem in case.problems() {
                for text in relaxations {
                    judge.check(&problem, &relaxation(&problem, text), &format!("{spec} {text}"));
                }
            }
        });
    }
    judge.expect_both(0.1, spec);
}

const QUEUE: [&str; 8] =
    ["all=0", "all=1", "all=2", "enq=0,deq=0", "enq=0,deq=1", "enq=1,deq=0", "deq=1", "enq=0"];

#[test]
fn every_small_queue_history() {
    check_every("queue", 4, &["enq 1", "enq 2", "deq → 1", "deq → 2", "deq → nil"], &QUEUE);
    check_every("queue", 5, &["enq 1", "enq 2", "deq → 1"], &["all=1", "all=2", "enq=0,deq=1"]);
}

#[test]
fn every_small_queue_history_with_pending_operations() {
    check_every("queue", 4, &["enq 1", "enq 2 → ?", "deq → 1", "deq → 2", "deq → ?"], &QUEUE);
}

#[test]
fn every_small_stack_history() {
    let relaxations = ["all=0", "all=1", "all=2", "push=0,pop=1", "push=1,pop=0", "pop=1"];
    check_every("stack", 4, &["push 1", "push 2", "pop → 1", "pop → 2", "push 1 → ?"], &relaxations);
    check_every("stack", 5, &["push 1", "push 2", "pop → 1"], &["all=1", "push=1,pop=1"]);
}

#[test]
fn every_small_priority_queue_history() {
    let relaxations = ["all=0", "all=1", "all=2", "add=0,poll=1", "add=1,poll=0", "poll=1"];
    let actions = ["add 1", "add 2", "poll → 1", "poll → 2", "poll → nil"];
    check_every("priority-queue", 4, &actions, &relaxations);
}

#[test]
fn every_small_counter_history() {
    let relaxations = ["all=0", "all=1", "all=2", "inc=0,read=1", "read=1", "inc=1,read=0"];
    check_every("counter", 4, &["inc", "read → 0", "read → 1", "read → 2", "inc → ?"], &relaxations);
    check_every("counter", 5, &["inc", "read → 1", "read → 2"], &["all=1", "all=2"]);
}

/// A few operations on a container, in an order in which elements are removed up to `slip` places
/// from where they should be.
fn container(spec: &str, [add, take]: [&str; 2], random: &mut Random) -> Box<dyn ErasedHistory> {
    let slip = random.below(5);
    let n = 4 + random.below(4);
    let has_distinct = random.chance(0.7);
    let mut inside: Vec<usize> = Vec::new();
    let mut actions: Vec<String> = Vec::new();
    for number in 1..=n {
        if random.chance(0.4) || (inside.is_empty() && random.chance(0.8)) {
            let value = if has_distinct { number } else { 1 + random.below(3) };
            inside.push(value);
            if spec == "priority-queue" {
                inside.sort_unstable();
            }
            actions.push(format!("{add} {value}"));
        } else if inside.is_empty() {
            actions.push(format!("{take} → nil"));
        } else {
            let places = random.below((slip + 1).min(inside.len()));
            let place = if spec == "queue" { places } else { inside.len() - 1 - places };
            actions.push(format!("{take} → {}", inside.remove(place)));
        }
        if random.chance(0.02) {
            actions.push(format!("{take} → {}", actions.len() % 9));
        }
        if random.chance(0.06) {
            let call = actions.pop().unwrap();
            actions.push(format!("{} → ?", call.split('→').next().unwrap().trim()));
        }
    }
    // Some operations exchange their times.
    for _ in 0..random.below(7) {
        let (one, other) = (random.below(actions.len()), random.below(actions.len()));
        actions.swap(one, other);
    }
    random_times(spec, &actions.iter().map(String::as_str).collect::<Vec<_>>(), random)
}

fn counter(random: &mut Random) -> Box<dyn ErasedHistory> {
    let n = 2 + random.below(6);
    let mut sum = 0;
    let mut actions: Vec<String> = Vec::new();
    for _ in 0..n {
        match random.below(5) {
            0 | 1 => {
                sum += 1;
                actions.push(if random.chance(0.1) { "inc → ?" } else { "inc" }.to_owned());
            }
            2 => {
                sum -= 1;
                actions.push("dec".to_owned());
            }
            _ => actions.push(format!("read → {}", sum + random.below(5) as i64 - 2)),
        }
    }
    random_times("counter", &actions.iter().map(String::as_str).collect::<Vec<_>>(), random)
}

/// One class of all operations, a factor for each method, classes for some methods only, or random
/// classes.
fn random_relaxation(problem: &Problem<'_>, methods: &[&str], random: &mut Random) -> Relaxation {
    // Small ones more often: few operations are far out of place.
    let factor = |random: &mut Random| [0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 4][random.below(11)];
    match random.below(5) {
        0 | 1 => Relaxation::all(problem, factor(random)),
        2 => {
            let pairs: Vec<(&str, u32)> = methods.iter().map(|&it| (it, factor(random))).collect();
            classes(problem, &pairs)
        }
        3 => classes(problem, &[(methods[random.below(methods.len())], factor(random))]),
        _ => {
            let count = 1 + random.below(3);
            let class = |random: &mut Random| Some(random.below(count + 1)).filter(|&it| it < count);
            let class_of = (0..problem.len()).map(|_| class(random)).collect();
            Relaxation { class_of, factors: (0..count).map(|_| factor(random)).collect() }
        }
    }
}

#[track_caller]
fn check_random(spec: &str, methods: &[&str], make: impl Fn(&mut Random) -> Box<dyn ErasedHistory>) {
    let mut judge = Judge::new(30_000);
    for seed in 0..pick(150, 2_500) {
        let mut random = Random::new(seed);
        let case = make(&mut random);
        for problem in case.problems() {
            let about = format!("{spec} from seed {seed}");
            let relaxation = random_relaxation(&problem, methods, &mut random);
            judge.check(&problem, &relaxation, &about);
            if seed % 5 == 0 {
                judge.check_least(&problem, &relaxation, random.below(relaxation.factors.len()), &about);
            }
        }
    }
    judge.expect_both(0.12, spec);
    let counts = &judge.counts;
    assert!(pick(0, 20) < counts.alone.min(counts.class), "{spec}: {counts:?}");
}

#[test]
fn random_queue_histories() {
    check_random("queue", &["enq", "deq"], |random| container("queue", ["enq", "deq"], random));
}

#[test]
fn random_stack_histories() {
    check_random("stack", &["push", "pop"], |random| container("stack", ["push", "pop"], random));
}

#[test]
fn random_priority_queue_histories() {
    check_random("priority-queue", &["add", "poll"], |random| {
        container("priority-queue", ["add", "poll"], random)
    });
}

#[test]
fn random_counter_histories() {
    check_random("counter", &["inc", "dec", "read"], counter);
}
