//! Pictures of a matrix, of a history and of an interleaving: one column a thread.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clewline_core::Shown;
use clewline_explore::{Access, SharedId};
use clewline_matrix::Matrix;
use clewline_report::render::{
    block::hanging,
    count,
    grid::{LINE_COLUMNS_MAX, aligned, interleaved},
    timeline::{self, Bar, TimelineRow},
};
use clewline_threads::{
    control::{Holder, Moment, OldRead, Pending, Place},
    is_standard, source_place,
};

use super::{
    files::Files,
    finding::{LineUpFinding, ObservedOperation, is_stuck},
};

/// Threads as reports and replay tokens name them.
pub(super) struct Threads {
    columns: usize,
    has_initial: bool,
    has_last: bool,
}

impl Threads {
    pub(super) fn of(matrix: &Matrix) -> Threads {
        Threads {
            columns: matrix.columns.len(),
            has_initial: !matrix.initial.is_empty(),
            has_last: !matrix.last.is_empty(),
        }
    }

    /// In drawing order: `before`, the columns, threads started by the subject, `after`.
    pub(super) fn ordered(&self, processes: &BTreeSet<usize>) -> Vec<usize> {
        let mut ordered: Vec<usize> = processes.iter().copied().collect();
        ordered.sort_by_key(|&it| match it {
            it if self.is_before(it) => (0, it),
            it if self.is_after(it) => (2, it),
            it => (1, it),
        });
        ordered
    }

    fn is_before(&self, process: usize) -> bool {
        self.has_initial && process == self.columns
    }

    fn is_after(&self, process: usize) -> bool {
        self.has_last && process == self.columns + usize::from(self.has_initial)
    }

    /// `thread a`, as the subject of a sentence.
    pub(super) fn title(&self, process: usize) -> String {
        match process {
            it if self.is_before(it) => "the thread of the initial calls".to_owned(),
            it if self.is_after(it) => "the thread of the final calls".to_owned(),
            it => format!("thread {}", self.name(it)),
        }
    }

    /// `a`, `b`, … for the columns, `before` and `after` for the calls around them, and further
    /// letters for threads that the subject started. After `z` come numbers, as in tokens: `[26]`.
    pub(super) fn name(&self, process: usize) -> String {
        if self.is_before(process) {
            "before".to_owned()
        } else if self.is_after(process) {
            "after".to_owned()
        } else {
            match u8::try_from(process) {
                Ok(letter @ 0..26) => char::from(b'a' + letter).to_string(),
                _ => format!("[{process}]"),
            }
        }
    }
}

/// The matrix, a column a thread.
pub(super) fn matrix(matrix: &Matrix) -> Vec<String> {
    let threads = Threads::of(matrix);
    let mut lines = Vec::new();
    if !matrix.initial.is_empty() {
        lines.extend(hanging("before: ", &matrix.initial.join(" "), DRAWING_WIDTH_MAX));
        lines.push(String::new());
    }
    let mut rows = vec![(0..matrix.columns.len()).map(|it| threads.name(it)).collect()];
    for row in 0..matrix.dimension().1 {
        let cell = |column: &Vec<String>| column.get(row).cloned().unwrap_or_default();
        rows.push(matrix.columns.iter().map(cell).collect());
    }
    lines.extend(aligned(&rows, DRAWING_WIDTH_MAX));
    if !matrix.last.is_empty() {
        lines.push(String::new());
        lines.extend(hanging("after: ", &matrix.last.join(" "), DRAWING_WIDTH_MAX));
    }
    lines
}

/// `pop → 1`, `push(1)`, `wait → ?`.
pub(super) fn label(seen: &ObservedOperation) -> Shown {
    Shown::of_texts(&seen.call, seen.returned.as_ref().map(|it| it.1.as_str()))
}

pub(super) fn call_with_result(call: &str, result: &str) -> String {
    if result.is_empty() { call.to_owned() } else { format!("{call} → {result}") }
}

/// The called operations, split wherever all operations before a cut precede all after it.
fn layers(operations: &[ObservedOperation]) -> Vec<Vec<&ObservedOperation>> {
    let mut called: Vec<&ObservedOperation> = operations.iter().filter(|it| it.called.is_some()).collect();
    called.sort_by_key(|it| it.called);
    // How many operations, from the first on, precede all from here on.
    let mut before = called.len();
    let mut is_cut = vec![false; called.len()];
    for (at, seen) in called.iter().enumerate().rev() {
        before = before.min(called[..at].iter().take_while(|it| it.precedes(seen)).count());
        is_cut[at] = before == at;
    }
    let mut layers: Vec<Vec<&ObservedOperation>> = Vec::new();
    for (seen, is_cut) in called.into_iter().zip(is_cut) {
        match layers.last_mut() {
            Some(layer) if !is_cut => layer.push(seen),
            _ => layers.push(vec![seen]),
        }
    }
    layers
}

/// Of operations of different threads, which precede which, without what follows from that; if
/// happens-before determines it. Then there are no times at which calls are open.
fn orders(threads: &Threads, layers: &[Vec<&ObservedOperation>]) -> Vec<String> {
    let mut found = Vec::new();
    for layer in layers {
        for (at, one) in layer.iter().enumerate() {
            for (to, next) in layer.iter().enumerate().skip(at + 1) {
                let is_between = |it: &&ObservedOperation| one.precedes(it) && it.precedes(next);
                let is_other = one.process != next.process;
                if is_other && one.precedes(next) && !layer[at + 1..to].iter().any(is_between) {
                    let [one, next] =
                        [one, next].map(|it| format!("{} of {}", label(it), threads.title(it.process)));
                    found.push(format!("{one} happens before {next}"));
                }
            }
        }
    }
    found
}

/// The history as a table: operations above a line precede those below it. A drawing of the
/// intervals of the calls follows if the lines do not show the whole order.
pub(super) fn history(matrix: &Matrix, operations: &[ObservedOperation], width: usize) -> Vec<String> {
    let threads = Threads::of(matrix);
    let layers = layers(operations);
    let processes = threads.ordered(&layers.iter().flatten().map(|it| it.process).collect());
    let mut rows = vec![processes.iter().map(|&it| threads.name(it)).collect::<Vec<String>>()];
    // Rows before which a line is drawn.
    let mut lines = Vec::new();
    for layer in &layers {
        let of = |process: usize| {
            layer.iter().filter(move |it| it.process == process).map(|it| label(it).to_string())
        };
        let columns: Vec<Vec<String>> = processes.iter().map(|&it| of(it).collect()).collect();
        lines.push(rows.len());
        for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            rows.push(columns.iter().map(|it| it.get(row).cloned().unwrap_or_default()).collect());
        }
    }
    let table = aligned(&rows, DRAWING_WIDTH_MAX);
    let long = table.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let mut drawn = Vec::new();
    for (at, line) in table.into_iter().enumerate() {
        if lines.contains(&at) {
            drawn.push("-".repeat(long));
        }
        drawn.push(line);
    }
    let overlaps = |one: &ObservedOperation, other: &ObservedOperation| {
        one.process == other.process || !one.precedes(other) && !other.precedes(one)
    };
    let is_all = layers.iter().all(|it| it.iter().all(|one| it.iter().all(|other| overlaps(one, other))));
    if operations.iter().any(|it| it.order.is_some()) {
        if layers.iter().all(|it| it.iter().all(|one| one.process == it[0].process)) {
            return drawn;
        }
        let orders = orders(&threads, &layers);
        let heading =
            if orders.is_empty() { "Nothing else orders calls of two threads." } else { "Besides:" };
        drawn.extend(["", heading].map(str::to_owned));
        drawn.extend(orders.iter().map(|it| format!("  {it}")));
    } else if !is_all {
        drawn.extend(["", "When each call was open; time runs to the right:", ""].map(str::to_owned));
        drawn.extend(timeline(&threads, &processes, operations, width));
    }
    drawn
}

fn timeline(
    threads: &Threads,
    processes: &[usize],
    operations: &[ObservedOperation],
    width: usize,
) -> Vec<String> {
    let bar = |it: &ObservedOperation| {
        let (start, end) = (2 * it.called?, it.returned.as_ref().map(|it| 2 * it.0 + 1));
        Some(Bar { label: label(it), start, end })
    };
    let of = |process: usize| operations.iter().filter(move |it| it.process == process).filter_map(bar);
    let row = |&it: &usize| TimelineRow { name: threads.name(it), bars: of(it).collect() };
    let rows: Vec<TimelineRow> = processes.iter().map(row).collect();
    timeline::lines(&rows, &[], width - 2)
}

/// How much of an interleaving is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterleavingDetail {
    /// Of a long run of steps of one thread, the first and the last.
    Short,
    /// Every step.
    Full,
}

// In longer runs of steps of one thread, steps are left out: this number is shown at either end,
// and this number of writes in between.
const FULL_RUN_STEPS_MAX: usize = 8;
const RUN_END_STEPS_SHOWN: usize = 3;
const RUN_CHANGE_STEPS_SHOWN: usize = 4;

/// Numbers objects in the order in which they are first used here.
pub(super) struct ObjectNumbers(HashMap<SharedId, usize>);

impl ObjectNumbers {
    fn of(moments: &[Moment], pending: &[Pending]) -> ObjectNumbers {
        let mut names = HashMap::new();
        let of_step = |it: &Moment| [it.step.object, it.step.frees];
        let used = moments.iter().flat_map(of_step).chain(pending.iter().map(|it| it.object));
        for object in used.filter(|it| *it != SharedId::NONE) {
            let next = names.len() + 1;
            names.entry(object).or_insert(next);
        }
        ObjectNumbers(names)
    }

    /// ` x3`, or nothing.
    fn name(&self, object: SharedId) -> String {
        self.0.get(&object).map_or_else(String::new, |it| format!(" x{it}"))
    }
}

/// A line of the interleaving: step, thread, action, source place.
pub(super) struct InterleavingLine {
    pub(super) step: Option<usize>,
    pub(super) process: usize,
    pub(super) action: String,
    pub(super) place: String,
    // Its operation, if it is a call or a return.
    pub(super) operation: Option<usize>,
    // Whether it may change shared state.
    is_change: bool,
    pub(super) old_read: Option<OldRead>,
}

/// The contents of an interleaving.
pub(super) struct Interleaving {
    pub(super) threads: Threads,
    pub(super) objects: ObjectNumbers,
    pub(super) files: Files,
    pub(super) lines: Vec<InterleavingLine>,
    // From left to right.
    pub(super) processes: Vec<usize>,
}

impl Interleaving {
    pub(super) fn of(matrix: &Matrix, finding: &LineUpFinding, shown: InterleavingDetail) -> Interleaving {
        let threads = Threads::of(matrix);
        let objects = ObjectNumbers::of(&finding.moments, &finding.pending);
        let places =
            finding.moments.iter().map(|it| it.place).chain(finding.pending.iter().map(|it| it.place));
        // Files of the standard library have no folder in common with those of the user.
        let own = places.filter(|it| !is_standard(&it.site().file)).map(|it| it.to_string());
        let panicked = finding.panic.iter().filter_map(|it| it.1.place.as_deref());
        let panicked = panicked.filter(|it| !is_standard(it)).map(source_place);
        let own: Vec<String> = own.chain(panicked).collect();
        let files = Files::of(own.iter().map(String::as_str));
        let mut lines = lines(finding, &objects, &files);
        if shown == InterleavingDetail::Short {
            let steps = finding.moments.iter().filter(|it| it.repeats).count();
            lines = shortened(&threads, without_repetition(lines, steps));
        }
        let mut processes: BTreeSet<usize> = lines.iter().map(|it| it.process).collect();
        processes.extend(0..matrix.columns.len());
        let processes = threads.ordered(&processes);
        Interleaving { threads, objects, files, lines, processes }
    }
}

/// The interleaving, one step a line and one column a thread, with source places; then the blocked
/// threads.
pub(super) fn interleaving(
    matrix: &Matrix,
    finding: &LineUpFinding,
    shown: InterleavingDetail,
) -> Vec<String> {
    let Interleaving { threads, objects, files, lines, processes } = Interleaving::of(matrix, finding, shown);
    let mut heading = vec!["step".to_owned()];
    heading.extend(processes.iter().map(|&it| threads.name(it)));
    heading.push("where".to_owned());
    let row = |line: &InterleavingLine| {
        let mut row = vec![line.step.map_or_else(String::new, |it| format!("{it:>4}"))];
        let cell = |&it: &usize| if it == line.process { line.action.clone() } else { String::new() };
        row.extend(processes.iter().map(cell));
        row.push(line.place.clone());
        row
    };
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(lines.iter().map(row)).collect();
    let mut drawn = interleaved(&rows, INTERLEAVING_WIDTH_MAX, DRAWING_WIDTH_MAX);
    let legend = files.legend().into_iter().collect();
    for below in [legend, buffers(&threads, finding), blocked_besides(finding, &threads, &objects)] {
        if !below.is_empty() {
            drawn.push(String::new());
            drawn.extend(below);
        }
    }
    drawn
}

// The preferred maximum width of an interleaving, and the width of what is drawn here: the report
// indents it.
const INTERLEAVING_WIDTH_MAX: usize = 98;
const DRAWING_WIDTH_MAX: usize = LINE_COLUMNS_MAX - 2;

fn lines(finding: &LineUpFinding, objects: &ObjectNumbers, files: &Files) -> Vec<InterleavingLine> {
    let mut lines = Vec::new();
    let panics_at = |step: usize| panics(finding, files).filter(|it| it.0 == step).map(|it| it.1);
    for (at, moment) in finding.moments.iter().enumerate() {
        let (step, process) = (at + 1, moment.step.task.index());
        let is_at = |it: u32| it as usize == step;
        let mine = || finding.operations.iter().enumerate().filter(|it| it.1.process == process);
        let talk = |at: usize, action: String| InterleavingLine {
            step: None,
            process,
            action,
            place: String::new(),
            operation: Some(at),
            is_change: false,
            old_read: None,
        };
        let called = mine().find(|it| it.1.called.is_some_and(is_at));
        lines.extend(called.map(|(at, it)| talk(at, format!("calls {}", it.call))));
        let within = if moment.offset == 0 { String::new() } else { format!("+{}", moment.offset) };
        let detail = match moment.detail.as_str() {
            "" => String::new(),
            detail => format!(": {}", detail.replace("->", "→")),
        };
        let unlocked = match objects.name(moment.step.frees) {
            name if name.is_empty() => name,
            name => format!(", {}{name}", Access::Release.verb()),
        };
        let object = objects.name(moment.step.object);
        lines.push(InterleavingLine {
            step: Some(step),
            process,
            action: format!("{}{object}{within}{detail}{unlocked}", moment.step.access.verb()),
            place: files.show(moment.place),
            operation: None,
            is_change: !matches!(moment.step.access, Access::Read | Access::Local),
            old_read: moment.old_read,
        });
        let returned = mine().find_map(|(at, it)| Some((at, it.returned.as_ref().filter(|it| is_at(it.0))?)));
        lines.extend(
            returned.map(|(at, (_, result))| talk(at, format!("returns {result}").trim_end().to_owned())),
        );
        lines.extend(panics_at(step));
    }
    lines
}

/// The panic, and after how many steps it began. The later steps of that thread are its drops.
fn panics(finding: &LineUpFinding, files: &Files) -> Option<(usize, InterleavingLine)> {
    let (process, panic) = finding.panic.as_ref()?;
    let open =
        |it: &ObservedOperation| it.process == *process && it.called.is_some() && it.returned.is_none();
    let line = InterleavingLine {
        step: None,
        process: *process,
        action: "panics".to_owned(),
        place: panic.place.as_ref().map_or_else(String::new, |it| files.show_text(it)),
        operation: finding.operations.iter().position(open),
        is_change: false,
        old_read: None,
    };
    Some((panic.step? as usize, line))
}

/// Shows a round that repeats forever once.
fn without_repetition(mut lines: Vec<InterleavingLine>, steps: usize) -> Vec<InterleavingLine> {
    let is_same = |one: &InterleavingLine, other: &InterleavingLine| {
        (one.process, &one.action, &one.place) == (other.process, &other.action, &other.place)
    };
    let Some(round) = lines.len().checked_sub(steps).filter(|_| steps != 0) else { return lines };
    let repeated =
        (steps..lines.len()).rev().take_while(|&at| is_same(&lines[at], &lines[at - steps])).count();
    let again = lines.split_off(round);
    lines.truncate(round - repeated / steps * steps);
    let action = format!("… {} forever:", count(steps as u64, "step repeats", "steps repeat"));
    let (process, place) = (again[0].process, String::new());
    lines.push(InterleavingLine {
        step: None,
        process,
        action,
        place,
        operation: None,
        is_change: false,
        old_read: None,
    });
    lines.extend(again);
    lines
}

/// Without the middle of long runs of steps of one thread, and without steps that no thread can
/// interfere with. Calls and returns stay, and so do the few steps in the middle that change shared
/// state.
fn shortened(threads: &Threads, lines: Vec<InterleavingLine>) -> Vec<InterleavingLine> {
    let mut short = Vec::new();
    let mut run: Vec<InterleavingLine> = Vec::new();
    let flush = |run: &mut Vec<InterleavingLine>, short: &mut Vec<InterleavingLine>| {
        let is_alone =
            run.first().is_some_and(|it| threads.is_before(it.process) || threads.is_after(it.process));
        let (most, ends) = if is_alone { (1, 0) } else { (FULL_RUN_STEPS_MAX, RUN_END_STEPS_SHOWN) };
        if run.len() <= most {
            short.append(run);
            return;
        }
        let process = run[0].process;
        let tail = run.split_off(run.len() - ends);
        let left_out = run.split_off(ends);
        short.append(run);
        let keeps = !is_alone && left_out.iter().filter(|it| it.is_change).count() <= RUN_CHANGE_STEPS_SHOWN;
        let mut left_out = left_out.into_iter().peekable();
        while left_out.peek().is_some() {
            let is_shown = |it: &InterleavingLine| keeps && it.is_change;
            let mut n = 0;
            while left_out.next_if(|it| !is_shown(it)).is_some() {
                n += 1;
            }
            if n != 0 {
                let action = format!("… {}", count(n, "step", "steps"));
                let (place, operation) = (String::new(), None);
                short.push(InterleavingLine {
                    step: None,
                    process,
                    action,
                    place,
                    operation,
                    is_change: false,
                    old_read: None,
                });
            }
            short.extend(left_out.next_if(is_shown));
        }
        short.extend(tail);
    };
    for line in lines {
        if line.step.is_none() || run.last().is_some_and(|it| it.process != line.process) {
            flush(&mut run, &mut short);
        }
        if line.step.is_none() { short.push(line) } else { run.push(line) }
    }
    flush(&mut run, &mut short);
    short
}

/// The threads with store buffers: a buffer has a column as threads have.
pub(super) fn buffers(threads: &Threads, finding: &LineUpFinding) -> Vec<String> {
    let flushes = finding.moments.iter().map(|it| &it.step).filter(|it| it.access == Access::Flush);
    let owners: BTreeMap<usize, usize> =
        flushes.filter_map(|it| Some((it.task.index(), it.cause?.index()))).collect();
    let name = |(&buffer, &owner): (&usize, &usize)| {
        let [buffer, owner] = [buffer, owner].map(|it| threads.name(it));
        format!("Steps of {buffer} are stores of {owner} that others see from then on.")
    };
    owners.iter().map(name).collect()
}

/// Where the threads are that can no longer continue, below an interleaving. In a deadlock they are
/// its first sentences, and are not repeated.
pub(super) fn blocked_besides(
    finding: &LineUpFinding,
    threads: &Threads,
    objects: &ObjectNumbers,
) -> Vec<String> {
    if finding.pending.is_empty() || is_stuck(finding) {
        return Vec::new();
    }
    let caption = "Then no thread can continue:".to_owned();
    std::iter::once(caption).chain(blocked(finding, threads, objects)).collect()
}

/// Where each thread is that can no longer continue, what it waits for, and which thread holds it:
/// a sentence each.
pub(super) fn blocked_threads(matrix: &Matrix, finding: &LineUpFinding) -> Vec<String> {
    let objects = ObjectNumbers::of(&finding.moments, &finding.pending);
    blocked(finding, &Threads::of(matrix), &objects).collect()
}

fn blocked<'a>(
    finding: &'a LineUpFinding,
    threads: &'a Threads,
    objects: &'a ObjectNumbers,
) -> impl Iterator<Item = String> + 'a {
    finding.pending.iter().map(|pending| {
        let process = pending.task.index();
        let open =
            |it: &&ObservedOperation| it.process == process && it.called.is_some() && it.returned.is_none();
        let operation = finding.operations.iter().find(open);
        let sentence = format!(
            "{} {}{} ({}), {}.",
            threads.title(process),
            if pending.spins { "runs" } else { "is blocked" },
            operation.map_or_else(String::new, |it| format!(" in {}", it.call)),
            shown_place(pending.place),
            awaited(finding, pending, threads, objects),
        );
        let (first, rest) = sentence.split_at(1);
        format!("{}{rest}", first.to_uppercase())
    })
}

/// The place, unless it says nothing: no code of the user is on the stack there.
fn shown_place(place: Place) -> String {
    if is_standard(&place.site().file) { "in the standard library".to_owned() } else { place.to_string() }
}

/// What a thread waits for, and which thread holds it.
fn awaited(finding: &LineUpFinding, pending: &Pending, threads: &Threads, objects: &ObjectNumbers) -> String {
    let object = objects.name(pending.object);
    let titles =
        |tasks: Vec<usize>| tasks.into_iter().map(|it| threads.title(it)).collect::<Vec<_>>().join(" and ");
    if pending.spins {
        let reads =
            if pending.access == Access::Read { format!(" reads{object} and") } else { String::new() };
        return format!("in a loop that{reads} never ends");
    }
    if let Some(condition) = awaited_notification(finding, pending) {
        return format!("waiting for a notification on{}", objects.name(condition));
    }
    match pending.access {
        Access::Acquire | Access::AcquireShared if !pending.holders.is_empty() => {
            let holders = pending.holders.iter().map(|it| holder(finding, pending, threads, it));
            format!("waiting for lock{object}, {}", holders.collect::<Vec<_>>().join(" and "))
        }
        Access::Receive => format!("waiting for a message on{object}"),
        Access::Send => format!("waiting for room in{object}"),
        Access::Join if !pending.after.is_empty() => {
            let tasks = pending.after.iter().map(|it| it.index()).collect();
            format!("waiting for {} to end", titles(tasks))
        }
        Access::Join => format!("waiting for other threads at{object}"),
        Access::Await => "waiting to be woken: no task will call its waker".to_owned(),
        Access::Park => {
            let changed = last_change(finding, pending);
            let changed = changed.map_or_else(String::new, |(word, it)| {
                let thread = threads.title(it.task.index());
                format!(" on{}, which {thread} changed last ({})", objects.name(word), shown_place(it.place))
            });
            format!("waiting to be woken{changed}")
        }
        access => format!("waiting to {}{object}", access.verb()),
    }
}

fn holder(finding: &LineUpFinding, pending: &Pending, threads: &Threads, holder: &Holder) -> String {
    let Holder { task, place } = holder;
    if *task == pending.task {
        return format!("which it has held itself since {place}");
    }
    let has_ended = finding.pending.iter().all(|it| it.task != *task);
    let ended = if has_ended { ", which has ended" } else { "" };
    format!("held by {} since {place}{ended}", threads.title(task.index()))
}

/// For a thread that sleeps until a word of memory changes: the word, and which other thread
/// changed it last.
fn last_change(finding: &LineUpFinding, pending: &Pending) -> Option<(SharedId, Holder)> {
    let own = finding.moments.iter().rfind(|it| it.step.task == pending.task)?;
    let is_word = own.step.access == Access::Update && own.is_futex_wait;
    let word = own.step.object;
    let changes = |it: &&Moment| {
        let writes = matches!(it.step.access, Access::Write | Access::Update);
        writes && it.step.object == word && it.step.task != pending.task && !it.is_futex_wait
    };
    let other = finding.moments.iter().rfind(changes).filter(|_| is_word)?;
    Some((word, Holder { task: other.step.task, place: other.place }))
}

/// The object whose notification the task waits for, if no notification came since. After one, it
/// may be waiting for its lock.
fn awaited_notification(finding: &LineUpFinding, pending: &Pending) -> Option<SharedId> {
    let mut own = None;
    for moment in &finding.moments {
        if moment.step.task == pending.task {
            own = Some(&moment.step);
        } else if moment.step.access == Access::Notify {
            own = own.filter(|it| it.object != moment.step.object);
        }
    }
    own.filter(|it| it.access == Access::Wait).map(|it| it.object)
}

#[cfg(test)]
mod tests {
    use clewline_explore::TaskId;
    use clewline_threads::control::HappensBefore;

    use super::*;

    fn seen(process: usize, call: &str, called: u32, returned: Option<u32>) -> ObservedOperation {
        let returned = returned.map(|it| (it, "1".to_owned()));
        ObservedOperation { process, call: call.to_owned(), called: Some(called), returned, order: None }
    }

    fn two() -> Matrix {
        "x y | z".parse().expect("a matrix")
    }

    #[test]
    fn a_line_separates_operations_that_all_precede_the_ones_below() {
        let operations = [seen(0, "x", 1, Some(2)), seen(0, "y", 5, Some(6)), seen(1, "z", 3, Some(4))];
        assert_eq!(
            history(&two(), &operations, 80).join("\n"),
            "a      b\n------------\nx → 1\n------------\n       z → 1\n------------\ny → 1"
        );
    }

    #[test]
    fn intervals_are_drawn_where_lines_do_not_show_the_whole_order() {
        let operations = [seen(0, "x", 1, Some(2)), seen(0, "y", 3, Some(6)), seen(1, "z", 2, Some(4))];
        let all = history(&two(), &operations, 80);
        assert_eq!(all.join("\n"), "a      b\n------------\nx → 1  z → 1\ny → 1");
        let three: Matrix = "x | y | z".parse().expect("a matrix");
        let operations = [seen(0, "x", 1, Some(2)), seen(1, "y", 4, Some(5)), seen(2, "z", 1, None)];
        let text = history(&three, &operations, 80).join("\n");
        assert!(text.contains("time runs to the right") && text.contains("z → ?"), "{text}");
    }

    /// `x` happens before `y`, which runs in another thread; `z` is first in the execution, and
    /// nothing orders it.
    #[test]
    fn calls_that_happens_before_orders_have_no_times() {
        let ordered = |seen: ObservedOperation, returned, known: &[u32]| {
            let (task, known) = (TaskId(seen.process as u8), known.to_vec().into());
            ObservedOperation { order: Some(HappensBefore { task, returned, known }), ..seen }
        };
        let three: Matrix = "x | y | z".parse().expect("a matrix");
        let x = ordered(seen(0, "x", 3, Some(4)), 1, &[0, 0, 0]);
        let y = ordered(seen(1, "y", 5, Some(6)), 1, &[1, 0, 0]);
        let z = ordered(seen(2, "z", 1, Some(2)), 1, &[0, 0, 0]);
        let table = "a      b      c\n-------------------\nx → 1  y → 1  z → 1\n\n";
        assert_eq!(
            history(&three, &[x.clone(), y.clone(), z.clone()], 80).join("\n"),
            format!("{table}Besides:\n  x → 1 of thread a happens before y → 1 of thread b")
        );
        let free = ordered(seen(1, "y", 5, Some(6)), 1, &[0, 0, 0]);
        assert_eq!(
            history(&three, &[x.clone(), free, z], 80).join("\n"),
            format!("{table}Nothing else orders calls of two threads.")
        );
        let two = history(&two(), &[x, y], 80).join("\n");
        assert_eq!(two, "a      b\n------------\nx → 1\n------------\n       y → 1");
    }
}
