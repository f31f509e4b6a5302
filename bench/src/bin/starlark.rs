//! Objects in Starlark beside the same objects in Rust: the same search of the same histories.
//!
//! Both make the same configurations. The whole object is one problem, so that a map is not
//! divided. Processor time of the search alone, and that of each distinct step of the script.

use clewline_check::{check, search::SEARCHES};
use clewline_core::{Budget, ErasedHistory, ErasedSpec, GeneratorConfig, ValueDomain};
use clewline_script::Script;
use cpu_time::ThreadTime;

const OBJECTS: [(&str, &str); 5] = [
    ("bag", include_str!("../../../crates/clewline-script/tests/objects/bag.star")),
    ("map", include_str!("../../../crates/clewline-script/tests/objects/map.star")),
    ("queue", include_str!("../../../crates/clewline-script/tests/objects/queue.star")),
    ("register", include_str!("../../../crates/clewline-script/tests/objects/register.star")),
    ("stack", include_str!("../../../crates/clewline-script/tests/objects/stack.star")),
];

fn main() {
    println!("| object | operations | configurations | Rust, ms | Starlark, ms | times |");
    println!("|---|---|---|---|---|---|");
    for (name, text) in OBJECTS {
        let built_in = clewline_specs::find(name).expect("it is built in");
        let script = Script::load(&format!("{name}.star"), text).expect("it is a specification");
        for operations in [200, 2_000] {
            let recording = built_in.generate(&GeneratorConfig {
                operations,
                processes: 4,
                overlap: 0.6,
                values: ValueDomain::Below(8),
                keys: 8,
                seed: 1,
                ..GeneratorConfig::default()
            });
            let (visited, rust) = measure(|| built_in.load(recording.clone()).expect("it is one of these"));
            let (other, starlark) =
                measure(|| ErasedSpec::load(&script, recording.clone()).expect("as well"));
            let times = starlark / rust;
            println!(
                "| {name} | {operations} | {visited} / {other} | {rust:.3} | {starlark:.3} | {times:.1} |"
            );
        }
    }
}

/// The configurations of a search, and the least of five times in milliseconds.
fn measure(load: impl Fn() -> Box<dyn ErasedHistory>) -> (u64, f64) {
    let (mut visited, mut least) = (0, f64::MAX);
    for _ in 0..5 {
        // Loaded anew, so that no step is known.
        let case = load();
        let budget = Budget::unlimited().with_configurations(300_000);
        let begun = ThreadTime::now();
        for problem in case.problems() {
            let _verdict = check(*SEARCHES.find("jit-graph").expect("it is built in"), &problem, &budget);
        }
        least = least.min(begun.elapsed().as_secs_f64() * 1e3);
        visited = budget.visited();
    }
    (visited, least)
}
