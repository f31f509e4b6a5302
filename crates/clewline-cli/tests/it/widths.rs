//! No line of a table or a timeline is wider than 120 columns, whatever the names and values are.

use clewline_core::{Random, Verdict};
use clewline_methods::{Check, line_up::LineUp};
use clewline_report::render::{
    Present, WitnessShown,
    block::{Block, wrap},
    text::Style,
};
use clewline_testing::pick;
use clewline_threads::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Checks every drawing of a report; returns how many there were.
#[track_caller]
fn expect_narrow(blocks: &[Block], seed: u64) -> usize {
    let drawings: Vec<&Block> = blocks.iter().filter(|it| matches!(it, Block::Drawing(_))).collect();
    for drawing in &drawings {
        for line in wrap(&[(*drawing).clone()], 80).lines() {
            assert!(line.chars().count() <= 120, "seed {seed}: {line}");
        }
    }
    drawings.len()
}

/// A word of a length that is usually small and sometimes huge.
fn word(random: &mut Random) -> String {
    let length = [3, 12, 40, 150, 400][random.below(5)];
    let letters: Vec<char> = "abc 0123 →\"é".chars().collect();
    (0..length).map(|_| letters[random.below(letters.len())]).collect()
}

/// A history of a register in JSON lines: reads return any of the values.
fn history(random: &mut Random) -> String {
    let processes: Vec<String> = (0..1 + random.below(6)).map(|at| format!("{at}{}", word(random))).collect();
    let values: Vec<String> = (0..1 + random.below(4)).map(|_| word(random)).collect();
    let mut lines = String::new();
    let mut free = vec![0_usize; processes.len()];
    for _ in 0..2 + random.below(30) {
        let process = random.below(processes.len());
        let call = free[process] + 1 + random.below(20);
        let ret = call + 1 + random.below(60);
        free[process] = ret;
        let value = values[random.below(values.len())].as_str();
        let mut line = serde_json::json!({"process": processes[process], "call": call, "return": ret});
        let (name, field) = if random.chance(0.5) { ("write", "arg") } else { ("read", "ret") };
        (line["op"], line[field]) = (name.into(), value.into());
        lines.push_str(&format!("{line}\n"));
    }
    lines
}

#[test]
fn tables_and_timelines_of_random_histories_fit() {
    let (mut violated, mut held) = (0, 0);
    for seed in 0..pick(150, 5_000) as u64 {
        let text = history(&mut Random::new(seed));
        let report = Check::new().reader("it", text.as_bytes(), "register").run().unwrap();
        for width in [80, 120, 20] {
            let style = Style { width, witness: WitnessShown::Whole, ..Style::default() };
            expect_narrow(&report.sentences(&style), seed);
        }
        match report.verdict() {
            Verdict::Violated(_) => violated += 1,
            Verdict::Holds(_) => held += 1,
            Verdict::Unknown(_) => (),
        }
    }
    assert!(0 < violated && 0 < held, "{violated} and {held}");
}

#[test]
fn tables_of_explorations_fit() {
    let mut drawings = 0;
    for seed in 0..pick(20, 200) as u64 {
        let mut random = Random::new(seed);
        let plain = |it: String| it.replace(|it: char| !it.is_alphanumeric(), "_");
        let columns = 2 + random.below(2);
        let names: Vec<String> =
            (0..columns).map(|at| format!("call{at}{}", plain(word(&mut random)))).collect();
        let mut line_up = LineUp::new(|| AtomicU32::new(0)).named("it");
        for name in &names {
            let result = word(&mut random);
            line_up = line_up.call(name.as_str(), move |it: &AtomicU32| {
                let count = it.load(SeqCst);
                it.store(count + 1, SeqCst);
                format!("{count}{result}")
            });
        }
        let outcome = line_up.matrix(&names.join(" | ")).run().unwrap();
        assert!(!outcome.holds(), "seed {seed}: {outcome}");
        drawings += expect_narrow(&outcome.sentences(&Style::default()), seed);
    }
    assert!(40 <= drawings, "{drawings}");
}
