//! The commands that reports propose: each can be typed, and makes sense.

use clewline_testing::pick;

use crate::run::{BAD, Folder, GOOD, clewline, hard};

/// The proposals of a command: the lines `next: …` and `or: …`.
fn proposals(folder: &Folder, args: &[&str]) -> Vec<String> {
    let ran = clewline(folder, args, "");
    assert_ne!(ran.code, 2, "{args:?}: {}", ran.stderr);
    let command = |it: &str| it.strip_prefix("next: ").or(it.strip_prefix("  or: ")).map(str::to_owned);
    ran.stdout.lines().filter_map(command).collect()
}

/// Words as a shell reads them that knows single quotes.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for it in command.chars() {
        match it {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            it => word.push(it),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[test]
fn every_proposed_command_can_be_typed() {
    let folder = Folder::new("proposals")
        .with("good.jsonl", GOOD)
        .with("bad.jsonl", BAD)
        .with("hard.jsonl", &hard())
        .with("my bad.jsonl", BAD);
    let commands: &[&str] = &[
        "check good.jsonl --spec queue",
        "check bad.jsonl --spec queue",
        "check 'my bad.jsonl' --spec queue",
        "check bad.jsonl --spec queue --html a.html",
        "check bad.jsonl --spec queue --quasi deq=? --reading displacement",
        "check hard.jsonl --spec queue --timeout 0ms",
        "check hard.jsonl --spec queue --memory 1KiB",
        "check hard.jsonl --spec queue --algorithm wg-tree --timeout 1ms",
        "explore manual-reset-event:pre --seed 1",
        "explore manual-reset-event:pre --matrix 'wait | set reset set' --html a.html",
        "explore treiber-stack --matrix 'push(1) | pop' --preemptions 1",
        "explore treiber-stack --matrix 'push(1) | pop' --preemptions none",
        "explore treiber-stack --matrix 'push(1) | pop' --scheduler pct --depth 2 --executions 10",
        "explore treiber-stack --matrix 'push(1) | pop' --executions 2",
        "explore treiber-stack --matrix 'push(1) | pop' --steps 3",
        "explore treiber-stack --threads 2 --operations 2 --samples 2 --seed 1 --timeout 0ms",
        "explore treiber-stack --auto 1",
        "explore treiber-stack:aba --matrix 'pop | pop pop | push(4)' --initial 'push(1) push(2)' --seed 1",
        "explore quasi-queue:b1 --quasi deq=2 --seed 1 --samples 5",
        "stress register --executions 3 --operations 20 --seed 1",
        "stress register --timeout 50ms --operations 20 --seed 1 --no-pin --jobs 2",
        "stress register:unsynchronized --executions 2000 --seed 1 --shrink 100ms --save .",
        "stress register --executions 2 --algorithm wg-tree --values 2 --seed 1",
        "actors edr",
        "actors edr --html a.html",
        "actors adr --states 10",
        "actors adr --scheduler random --executions 10",
        "actors adr --scheduler random --executions 10 --steps 2",
        "actors dr:repaired",
        "actors paxos --timeout 0ms",
        "actors dr --scheduler liviola --compat ds2",
    ];
    let mut seen = 0;
    // In `./test` every third.
    for command in commands.iter().step_by(pick(3, 1)) {
        let given = words(command);
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        for proposed in proposals(&folder, &given) {
            let accepted = clewline_cli::accepts(&words(&proposed));
            assert!(accepted.is_ok(), "{command} proposes {proposed}: {accepted:?}");
            // A page that was written is not proposed, and neither is the command itself.
            assert!(!command.contains("--html") || !proposed.contains("--html"), "{command}: {proposed}");
            assert_ne!(words(&proposed)[1..], given[..], "{command} proposes itself");
            // Only a time limit that was hit is raised.
            assert!(
                !proposed.contains("--timeout") || command.contains("--timeout"),
                "{command}: {proposed}"
            );
            seen += 1;
        }
    }
    assert!(commands.len() <= seen * pick(3, 1), "{seen} proposals of {} commands", commands.len());
}

#[test]
fn a_proposal_goes_beyond_the_limit_that_was_hit() {
    let folder = Folder::new("proposals-limits").with("bad.jsonl", BAD);
    let first = |command: &str| {
        let given = words(command);
        proposals(&folder, &given.iter().map(String::as_str).collect::<Vec<_>>()).into_iter().next()
    };
    for (command, flag) in [
        ("explore treiber-stack --matrix 'push(1) | pop' --executions 2 --timeout 1m", " --executions 20"),
        ("explore treiber-stack --matrix 'push(1) | pop' --steps 3 --timeout 1m", " --steps 30"),
        ("actors adr --states 10 --timeout 1m", " --states 100"),
        ("stress register --executions 3 --operations 20 --timeout 1m --seed 1", " --executions 30"),
    ] {
        let proposed = first(command).unwrap_or_default();
        assert!(proposed.contains(flag) && !proposed.contains("--timeout"), "{command}: {proposed}");
    }
    let piped = clewline(&folder, &["check", "-", "--spec", "queue"], BAD);
    assert!(piped.code == 1 && !piped.stdout.contains("next:"), "{}", piped.stdout);
}

#[test]
fn commands_about_programs_are_parsed_to_the_end() {
    for (command, is_accepted) in [
        ("clewline run ./p --argument=-x --matrix main --replay ab --html report.html", true),
        ("clewline run ./p --matrix main --reply ab", false),
        ("clewline cc a.c -O2 --flag=x --matrix 'push(1) | pop' --points all", true),
        ("clewline cc a.c --compiler gcc --preemption 3", false),
        ("clewline cargo test two -p bank --lib -- --matrix main --replay a2b", true),
        ("clewline cargo test two -- --rows 3", false),
        ("clewline stress register --rows 3", false),
    ] {
        assert_eq!(clewline_cli::accepts(&words(command)).is_ok(), is_accepted, "{command}");
    }
}

#[test]
#[ignore = "long"]
fn shrinking_means_the_same_everywhere() {
    let folder = Folder::new("shrinking");
    let explore = ["explore", "manual-reset-event:pre", "--seed", "1", "--threads", "3", "--operations", "3"];
    let stress = ["stress", "register:unsynchronized", "--seed", "1", "--timeout", "300s", "--save", "."];
    // An exploration ends before its time is up, also on a slow machine; a stress test says that it
    // has tried.
    for (command, smaller, time) in
        [(&explore[..], "\nfound in:", "300s"), (&stress[..], "\nsmaller:", "500ms")]
    {
        let all = [("none", false), (time, true), ("0s", false), ("auto", true)];
        for (value, shrinks) in all.into_iter().take(pick(2, 4)) {
            let ran = clewline(&folder, &[command, &["--shrink", value]].concat(), "");
            assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.stdout.contains(smaller), shrinks, "{value}: {}", ran.stdout);
        }
        let ran = clewline(&folder, &[command, &["--shrink", "never"]].concat(), "");
        assert!(
            ran.code == 2 && ran.stderr.contains("expected `auto`, `none` or a duration"),
            "{}",
            ran.stderr
        );
    }
}
