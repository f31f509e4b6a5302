//! Verdicts, counterexamples and sentences, compared with an oracle that shares nothing with what
//! made them: for every specification of the catalog, with each parameter that makes a difference.
//!
//! `./test` examines a few histories, `./test all` 20,000. The command for more of them, here 10^7:
//!
//! ```sh
//! CLEWLINE_HISTORIES=10000000 cargo test --release -p clewline-report --test it \
//!     differential::as_many_as_wanted -- --ignored --nocapture
//! ```

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clewline_check::{Checker, JudgeOptions, check, failure_point, judge, search::SEARCHES};
use clewline_core::{
    Budget, Codec, DeadEnd, ErasedHistory, OperationId, Problem, Retain, RoleKind, Roles, Verdict, Violation,
    Why,
};
use clewline_report::render::{CheckedHistory, Source, explanation};
use clewline_specs::{Visitor, visit};
use clewline_testing::{pick_of_three, share};

use crate::histories::random_history;

/// What was seen of one specification.
#[derive(Clone, Debug, Default)]
struct Seen {
    histories: u64,
    violated: u64,
    wrong: u64,
    insufficient: u64,
    not_minimal: u64,
    said_not_minimal: u64,
    not_verified: u64,
    untrue: u64,
    two_culprits: u64,
    // The sum of the sizes of counterexamples.
    operations: u64,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.histories += other.histories;
        self.violated += other.violated;
        self.wrong += other.wrong;
        self.insufficient += other.insufficient;
        self.not_minimal += other.not_minimal;
        self.said_not_minimal += other.said_not_minimal;
        self.not_verified += other.not_verified;
        self.untrue += other.untrue;
        self.two_culprits += other.two_culprits;
        self.operations += other.operations;
    }

    fn flaws(&self) -> u64 {
        self.wrong + self.insufficient + self.not_minimal + self.untrue + self.two_culprits
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} histories, {} violated, mean size {:.2}: {} wrong, {} insufficient, {} not minimal, {} untrue, \
             {} with two culprits; said to be not minimal {}, not verified {}",
            self.histories,
            self.violated,
            self.operations as f64 / self.violated.max(1) as f64,
            self.wrong,
            self.insufficient,
            self.not_minimal,
            self.untrue,
            self.two_culprits,
            self.said_not_minimal,
            self.not_verified
        )
    }
}

/// The names of all specifications, with their parameters.
fn specifications() -> Vec<String> {
    struct Names(Vec<String>);
    impl Visitor for Names {
        fn visit<S>(&mut self, name: &'static str, _: S)
        where
            S: Codec + Clone + Send + Sync + 'static,
            S::Call: Send + Sync,
            S::Return: Send + Sync,
        {
            self.0.push(name.to_owned());
        }
    }
    let mut names = Names(Vec::new());
    visit(&mut names);
    names.0
}

fn oracle() -> &'static dyn Checker {
    SEARCHES.iter().copied().find(|it| it.name() == "oracle").unwrap()
}

fn word(problem: &Problem<'_>) -> &'static str {
    check(oracle(), problem, &Budget::unlimited()).word()
}

/// Examines one history; flaws are counted and written to `flaws`.
fn examine(spec: &str, seed: u64, flaws: &mut Vec<String>) -> Seen {
    let case = random_history(spec, seed);
    let mut seen = Seen { histories: 1, ..Seen::default() };
    let judgement = judge(case.problems(), &JudgeOptions::default());
    let expected = case.problems().iter().map(word).find(|it| *it == "violated").unwrap_or("holds");
    if judgement.verdict.word() != expected {
        seen.wrong += 1;
        flaws.push(format!("{spec} {seed}: {} instead of {expected}", judgement.verdict.word()));
    }
    let Verdict::Violated(violation) = &judgement.verdict else { return seen };
    let judged = CheckedHistory {
        name: "history",
        source: Source::File,
        spec,
        case: &*case,
        verdict: &judgement.verdict,
        others: &[],
        violated: 0,
        algorithm: &judgement.algorithm,
        parts: judgement.parts,
        configurations: 0,
        elapsed: Duration::ZERO,
        stream: None,
        next: &[],
    };
    let text = explanation(&judged, violation);
    let mut flaw = |what: &str| {
        let core: Vec<String> = violation.counterexample.iter().map(|&it| case.label(it)).collect();
        let history: Vec<String> = (0..case.spans().len())
            .map(|at| format!("{at} {:?} {}", case.spans()[at], case.label(OperationId::from_index(at))))
            .collect();
        flaws.push(format!(
            "{spec} {seed}: {what}: {:?} {core:?} \"{text}\"\n  {}",
            violation.counterexample,
            history.join("\n  ")
        ));
    };
    seen.violated += 1;
    seen.operations += violation.counterexample.len() as u64;
    seen.not_verified += u64::from(!violation.is_verified);
    seen.said_not_minimal += u64::from(!violation.is_minimal);
    let parts: Vec<Problem<'_>> = case.problems().into_iter().flat_map(Problem::into_parts).collect();
    let first = violation.counterexample.first().copied();
    let Some(part) = parts.iter().find(|it| first.is_some_and(|id| it.position(id).is_some())) else {
        seen.insufficient += 1;
        flaw("no operation of the history");
        return seen;
    };
    if word(&weakened(part, violation, None)) != "violated" {
        seen.insufficient += 1;
        flaw("insufficient");
    } else if violation.is_minimal
        && let Some(spared) =
            violation.counterexample.iter().find(|it| word(&weakened(part, violation, Some(**it))) != "holds")
    {
        seen.not_minimal += 1;
        flaw(&format!("{} can be spared", case.label(*spared)));
    }
    let reader = Reader { case: &*case, part, violation, text: &text };
    if let Some(what) = reader.untrue() {
        seen.untrue += 1;
        flaw(&what);
    }
    // Of several objects or keys, each may go wrong.
    if seed.is_multiple_of(4) && parts.len() == 1 && is_another_blamed(&*case, violation) {
        seen.two_culprits += 1;
        flaw("another operation is blamed");
    }
    seen
}

/// Whether the failure point is not the last return of the counterexample.
fn is_another_blamed(case: &dyn ErasedHistory, violation: &Violation) -> bool {
    let blamed = failure_point(case.problems(), violation, &JudgeOptions::default()).map(|it| it.operation);
    let end = |it: &OperationId| case.spans()[it.index()].ret();
    blamed.ok() != violation.counterexample.iter().copied().max_by_key(end)
}

/// The rank of the last return of the counterexample.
fn end_of(part: &Problem<'_>, violation: &Violation) -> u32 {
    let ret = |it: &OperationId| part.spans()[part.position(*it).unwrap()].ret();
    violation.counterexample.iter().filter_map(ret).max().unwrap_or(0)
}

/// The history up to the end of the counterexample.
fn until_end<'a>(part: &Problem<'a>, violation: &Violation) -> Problem<'a> {
    let end = end_of(part, violation);
    part.weaken(|at| match part.spans()[at] {
        span if end < span.call() => Retain::Drop,
        span if end < span.end() => Retain::CallOnly,
        _ => Retain::All,
    })
}

/// What the definition of a counterexample leaves of the history: its operations as recorded, and
/// up to its end each other one as recorded, or not at all. `free` may happen at any time, with any
/// result, or not at all.
fn weakened<'a>(part: &Problem<'a>, violation: &Violation, free: Option<OperationId>) -> Problem<'a> {
    let core = &violation.counterexample;
    let end = end_of(part, violation);
    part.weaken(|at| {
        let (id, span) = (part.operations()[at], part.spans()[at]);
        match span {
            _ if Some(id) == free => Retain::Unconstrained,
            _ if core.contains(&id) => Retain::All,
            span if end < span.call() => Retain::Drop,
            span if end < span.end() => Retain::CallOnly,
            _ => Retain::Optional,
        }
    })
}

/// A reader who compares a sentence with the history.
struct Reader<'r> {
    case: &'r dyn ErasedHistory,
    part: &'r Problem<'r>,
    violation: &'r Violation,
    text: &'r str,
}

impl Reader<'_> {
    /// What is wrong with the sentence, if something is.
    fn untrue(&self) -> Option<String> {
        self.not_named()
            .or_else(|| self.not_before())
            .or_else(|| self.not_before_it())
            .or_else(|| self.miscounted())
            .or_else(|| self.was_put())
            .or_else(|| self.was_removed())
            .or_else(|| self.dead_end())
    }

    fn operations(&self) -> impl Iterator<Item = OperationId> {
        self.part.operations().iter().copied()
    }

    fn label(&self, id: OperationId) -> String {
        self.case.label(id)
    }

    fn call(&self, id: OperationId) -> String {
        self.case.shown(id).call()
    }

    fn precedes(&self, one: OperationId, other: OperationId) -> bool {
        self.case.spans()[one.index()].precedes(self.case.spans()[other.index()])
    }

    /// Whether the sentence contains these words, and not as the end of a longer word.
    fn says(&self, words: &str) -> bool {
        let starts = self.text.match_indices(words).map(|it| it.0);
        let is_word = |at: usize| !self.text[..at].ends_with(|it: char| it.is_alphanumeric() || it == '-');
        starts.into_iter().any(is_word)
    }

    /// Each operation of the counterexample is named, or counted among others.
    fn not_named(&self) -> Option<String> {
        if self.text.contains(" more") || self.text.contains("other operation") {
            return None;
        }
        let is_named = |it: &&OperationId| self.says(&self.label(**it)) || self.says(&self.call(**it));
        let missing = self.violation.counterexample.iter().find(|it| !is_named(it))?;
        Some(format!("{} is not named", self.label(*missing)))
    }

    /// Real time is as the sentence says.
    fn not_before(&self) -> Option<String> {
        for one in self.operations() {
            for other in self.operations() {
                let (first, second) = (self.label(one), self.label(other));
                let said = [
                    format!("{first} had returned before {second} was called"),
                    format!("{first} returned before {second} was called"),
                ];
                if !said.iter().any(|it| self.says(it)) {
                    continue;
                }
                let is_it = |id: OperationId, label: &str| self.label(id) == label;
                let is_true = self
                    .operations()
                    .filter(|&it| is_it(it, &first))
                    .any(|a| self.operations().filter(|&it| is_it(it, &second)).any(|b| self.precedes(a, b)));
                if !is_true {
                    return Some(format!("untrue: {}", said[0]));
                }
            }
        }
        None
    }

    /// The same, where the operation with which the sentence begins is called "it".
    fn not_before_it(&self) -> Option<String> {
        let spans = self.part.spans();
        let all = || 0..self.part.len();
        let label = |at: usize| self.label(self.part.operations()[at]);
        let its: Vec<usize> = all().filter(|&at| self.text.starts_with(&format!("{} ", label(at)))).collect();
        let is_true = |said: &str, is_so: &dyn Fn(usize, usize) -> bool| {
            let found = all().map(|at| (at, format!("{} {said}", label(at)))).find(|it| self.says(&it.1));
            let Some((one, said)) = found else { return Ok(()) };
            let mut same = all().filter(|&at| label(at) == label(one));
            if same.any(|one| its.iter().any(|&it| is_so(one, it))) { Ok(()) } else { Err(said) }
        };
        let before = is_true("had returned before it was called", &|one, it| spans[one].precedes(spans[it]));
        let after =
            is_true("was called only after it had returned", &|one, it| spans[it].precedes(spans[one]));
        before.and(after).err().map(|said| format!("untrue: {said}"))
    }

    /// Numbers are as the sentence says.
    fn miscounted(&self) -> Option<String> {
        let words = |number: usize| match number {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            n => format!("{n} times"),
        };
        for id in self.operations() {
            // A pending operation is written without a result.
            let written = |it: OperationId| self.label(it).trim_end_matches(" → ?").to_owned();
            let label = written(id);
            let times = self.operations().filter(|&it| written(it) == label).count();
            for said in 1..=self.part.len() {
                if times < said && self.says(&format!("{label} happened {}", words(said))) {
                    return Some(format!("{label} happened {}", words(times)));
                }
                let only = format!("but {label} only {}.", words(said));
                if times != said && self.says(&only) {
                    return Some(format!("{label} happened {}", words(times)));
                }
            }
        }
        None
    }

    /// The roles, if they are known: who put an element there, who removed it.
    fn puts(&self, of: OperationId) -> Option<Vec<OperationId>> {
        let roles = self.part.roles().ok()?;
        let element = roles.elements[self.part.position(of)?];
        let puts = |&at: &usize| match roles.kinds[at] {
            RoleKind::Add => roles.elements[at] == element,
            RoleKind::Replace => roles.seconds[at] == element,
            _ => false,
        };
        let all = (0..self.part.len()).filter(puts).map(|at| self.part.operations()[at]);
        Some(all.filter(|&it| it != of).collect())
    }

    /// That no operation put an element there is true.
    fn was_put(&self) -> Option<String> {
        let core = &self.violation.counterexample;
        let end = |it: &OperationId| self.case.spans()[it.index()].ret();
        let last = core.iter().copied().max_by_key(end)?;
        let puts = self.puts(last)?;
        let never = ["which no operation had put there.", "undoes what no operation had done"];
        if never.iter().any(|it| self.text.contains(it)) && !puts.is_empty() {
            return Some(format!("{} put it there", self.label(puts[0])));
        }
        let is_early = |&it: &OperationId| !self.precedes(last, it);
        if self.text.contains("nothing was added") && puts.iter().any(is_early) {
            return Some("something was added".to_owned());
        }
        if self.text.contains("is stale") {
            let newer = core.iter().copied().filter(|it| *it != last).max_by_key(end)?;
            let restores = |&it: &OperationId| is_early(&it) && !self.precedes(it, newer);
            if let Some(it) = puts.into_iter().find(restores) {
                return Some(format!("{} may restore it", self.label(it)));
            }
        }
        None
    }

    /// That no operation removed an element is true.
    fn was_removed(&self) -> Option<String> {
        if let Some(what) = self.has_left().or_else(|| self.has_other_removers()) {
            return Some(what);
        }
        let says = ["no operation had removed", "no operation can have removed", "no operation removed"];
        if !says.iter().any(|it| self.text.contains(it)) {
            return None;
        }
        let roles = self.part.roles().ok()?;
        let core = &self.violation.counterexample;
        let end = |it: &OperationId| self.case.spans()[it.index()].ret();
        let last = core.iter().copied().max_by_key(end)?;
        let element = |id: OperationId| roles.elements[self.part.position(id).unwrap()];
        let kind = |id: OperationId| roles.kinds[self.part.position(id).unwrap()];
        // Of a stack or queue, the element that was there is one that the sentence names.
        let there = core.iter().copied().filter(|&it| it != last && kind(it) == RoleKind::Add);
        let there: Vec<OperationId> = there.collect();
        if there.len() != 1 && !self.text.contains("can have removed anything") {
            return None;
        }
        let removes = |id: OperationId, one: OperationId| match kind(id) {
            RoleKind::Remove => id != last && element(id) == element(one),
            RoleKind::RemoveUnknown => true,
            _ => false,
        };
        let may = |&id: &OperationId| {
            let is_it = |&one: &OperationId| removes(id, one) && !self.precedes(id, one);
            !self.precedes(last, id) && there.iter().any(is_it)
        };
        let remover = self.operations().find(may)?;
        Some(format!("{} may have removed it", self.label(remover)))
    }

    /// The operations that are written like this.
    fn written(&self, label: &str) -> Vec<usize> {
        let is_it = |at: &usize| self.label(self.part.operations()[*at]) == label;
        (0..self.part.len()).filter(is_it).collect()
    }

    /// Whether the operation may remove the element: a pending one may remove any.
    fn may_remove(&self, roles: &Roles, at: usize, element: u32) -> bool {
        match roles.kinds[at] {
            RoleKind::Remove => roles.elements[at] == element,
            RoleKind::RemoveUnknown => true,
            _ => false,
        }
    }

    /// Whether the element that the operation put or found was there from its return until the
    /// moment `until`.
    fn stays(&self, roles: &Roles, at: usize, until: u32) -> bool {
        let spans = self.part.spans();
        let removes = |&it: &usize| {
            self.may_remove(roles, it, roles.elements[at])
                && !spans[it].precedes(spans[at])
                && spans[it].call() < until
        };
        !spans[at].is_pending() && !(0..self.part.len()).any(|it| removes(&it))
    }

    /// Something was there all the time, in the stretches that the sentence lists: what it says of
    /// each is true, and there is no gap between them.
    fn has_left(&self) -> Option<String> {
        let roles = self.part.roles().ok()?;
        let (start, list) = self.text.split_once("was there all the time: ")?;
        let spans = self.part.spans();
        let misses: Vec<usize> = (0..self.part.len())
            .filter(|&at| start.starts_with(&self.label(self.part.operations()[at])))
            .collect();
        let is_covered = |miss: usize| {
            let mut until = spans[miss].call();
            let list = list.split(". ").next().unwrap_or(list);
            for stretch in list.trim_end_matches('.').split(", then ") {
                let ends = |last: &str| self.written(last).into_iter().map(|it| spans[it].call()).collect();
                let (first, ends): (&str, Vec<u32>) = match stretch.strip_prefix("between ") {
                    Some(both) => both.split_once(" and ").map(|it| (it.0, ends(it.1)))?,
                    None => (stretch.strip_prefix("from ")?.strip_suffix(" on")?, vec![spans[miss].end()]),
                };
                let begun = |at: &usize| {
                    spans[*at].end() < until
                        && (!start.contains("goes first") || self.goes_first(&roles, *at, miss))
                };
                let firsts: Vec<usize> = self.written(first).into_iter().filter(begun).collect();
                let is_there = |end: &u32| firsts.iter().any(|&at| self.stays(&roles, at, *end));
                until = ends.into_iter().filter(is_there).max()?;
            }
            (spans[miss].end() <= until).then_some(())
        };
        if list.contains(", and so on, ") || misses.iter().any(|&it| is_covered(it).is_some()) {
            return None;
        }
        Some("nothing was there at some moment".to_owned())
    }

    /// Whether a priority queue returns the element of the one before that of the other.
    fn goes_first(&self, roles: &Roles, one: usize, other: usize) -> bool {
        let word = |at: usize| roles.names[roles.elements[at] as usize].cast_signed();
        word(other) < word(one)
    }

    /// Of what "can have removed" something, each operation is named, and there are too few.
    fn has_other_removers(&self) -> Option<String> {
        let (_, names) = self.text.split_once(" and only ")?;
        let names = names.split_once(" can have removed ")?.0;
        let roles = self.part.roles().ok()?;
        let spans = self.part.spans();
        let core = self.violation.counterexample.iter().map(|&it| self.part.position(it));
        let core: Vec<usize> = core.collect::<Option<_>>()?;
        let miss = core.iter().copied().max_by_key(|&it| spans[it].end())?;
        let is_there = |&at: &usize| {
            matches!(roles.kinds[at], RoleKind::Add | RoleKind::Observe) && spans[at].precedes(spans[miss])
        };
        let there: Vec<usize> = core.into_iter().filter(is_there).collect();
        let removes = |&at: &usize| {
            let may = |&it: &usize| {
                self.may_remove(&roles, at, roles.elements[it]) && !spans[at].precedes(spans[it])
            };
            at != miss && !spans[miss].precedes(spans[at]) && there.iter().any(may)
        };
        let removers: Vec<usize> = (0..self.part.len()).filter(removes).collect();
        let is_named = |&at: &usize| {
            let id = self.part.operations()[at];
            names.contains(" more") || names.contains(&self.label(id)) || names.contains(&self.call(id))
        };
        if let Some(&at) = removers.iter().find(|it| !is_named(it)) {
            return Some(format!("{} may have removed it", self.label(self.part.operations()[at])));
        }
        (there.len() <= removers.len()).then(|| "all may have been removed".to_owned())
    }

    /// The order in which operations are said to come is possible, and ends where it is said to.
    fn dead_end(&self) -> Option<String> {
        let end = match self.violation.why.as_deref()? {
            Why::End(end) | Why::Rule { end: Some(end), .. } => end,
            Why::Rule { end: None, .. } => return None,
        };
        let DeadEnd { prefix, next, .. } = end;
        // An operation that was still open may have had another result.
        let problem = until_end(self.part, self.violation);
        let mut replay = problem.replay();
        for (place, &id) in prefix.iter().enumerate() {
            if prefix[..place].iter().any(|&it| self.precedes(id, it)) {
                return Some(format!("{} comes too late in the order", self.label(id)));
            }
            if !problem.position(id).is_some_and(|at| replay.advance(at)) {
                return Some(format!("{} cannot come in this order", self.label(id)));
            }
        }
        let can_come_next = problem.position(*next).is_none_or(|at| replay.advance(at));
        can_come_next.then(|| format!("{} can come next", self.label(*next)))
    }
}

/// Examines about `histories` histories of all specifications together, and returns what was seen
/// of each, and the first flaws.
fn examine_all(
    specifications: &[String],
    histories: u64,
    first_seed: u64,
    threads: u64,
) -> (BTreeMap<String, Seen>, Vec<String>) {
    let each = histories.div_ceil(specifications.len() as u64).max(1);
    let next = AtomicU64::new(0);
    let seen: Mutex<(BTreeMap<String, Seen>, Vec<String>)> = Mutex::default();
    const BATCH: u64 = 64;
    let batches = each.div_ceil(BATCH);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(spec) = specifications.get((number / batches) as usize) else { return };
            let start = number % batches * BATCH;
            let (mut all, mut flaws) = (Seen::default(), Vec::new());
            for seed in start..(start + BATCH).min(each) {
                all.add(&examine(spec, first_seed + seed, &mut flaws));
            }
            let mut seen = seen.lock().unwrap();
            seen.0.entry(spec.clone()).or_default().add(&all);
            let room = 200_usize.saturating_sub(seen.1.len());
            seen.1.extend(flaws.into_iter().take(room));
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    seen.into_inner().unwrap()
}

#[track_caller]
fn expect_no_flaw(seen: &BTreeMap<String, Seen>, flaws: &[String]) {
    let table: Vec<String> = seen.iter().map(|(name, seen)| format!("{name}: {seen}")).collect();
    let first = flaws.iter().take(8).cloned().collect::<Vec<_>>().join("\n");
    assert!(seen.values().all(|it| it.flaws() == 0), "{}\n{first}", table.join("\n"));
}

#[test]
fn verdicts_counterexamples_and_sentences_agree_with_the_oracle() {
    let (seen, flaws) = examine_all(&specifications(), pick_of_three(750, 20_000, 100_000), 0, 2);
    expect_no_flaw(&seen, &flaws);
    // A comparison that sees no violation proves nothing.
    let violated: u64 = seen.values().map(|it| it.violated).sum();
    assert!(pick_of_three(120, 4_000, 20_000) < violated, "{violated}");
    assert!(seen.values().all(|it| it.not_verified == 0 && it.said_not_minimal == 0), "{seen:#?}");
}

/// Where no order begins, or a rule is broken by some of them, the rest of the counterexample is
/// named nevertheless.
#[test]
fn what_does_not_help_is_named() {
    let cases = [
        ("set", 7_000_657),
        ("queue:2", 7_000_126),
        ("map", 7_000_321),
        ("priority-queue", 20_000_240_470),
        ("queue", 20_000_272_386),
        ("queue", 20_000_274_008),
        ("queue", 20_000_042_747),
    ];
    for (spec, seed) in cases {
        let mut flaws = Vec::new();
        assert_eq!(examine(spec, seed, &mut flaws).violated, 1);
        assert!(flaws.is_empty(), "{flaws:?}");
    }
}

/// As many histories as `CLEWLINE_HISTORIES` says, of the specifications that
/// `CLEWLINE_SPECIFICATIONS` lists, or of all of them.
#[test]
#[ignore = "long"]
fn as_many_as_wanted() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |it| it.parse().expect("a number of histories"))
    };
    let histories = number("CLEWLINE_HISTORIES", share(100_000));
    let wanted = std::env::var("CLEWLINE_SPECIFICATIONS").ok();
    let is_wanted = |it: &String| wanted.as_ref().is_none_or(|all| all.split(',').any(|one| one == it));
    let specifications: Vec<String> = specifications().into_iter().filter(is_wanted).collect();
    let (first_seed, jobs) = (number("CLEWLINE_FIRST_SEED", 1 << 32), number("CLEWLINE_JOBS", 2));
    let (seen, flaws) = examine_all(&specifications, histories, first_seed, jobs);
    for (name, seen) in &seen {
        println!("{name}: {seen}");
    }
    let mut all = Seen::default();
    seen.values().for_each(|it| all.add(it));
    println!("all: {all}");
    flaws.iter().for_each(|it| println!("{it}"));
    expect_no_flaw(&seen, &flaws);
}
