//! The rules that arrows keep: no cycle between files or rooms, and no arrow to a higher layer.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Arrow, Tree, join};

/// What is said about a mention that takes a name from a module around it.
pub(super) fn detours(tree: &Tree) -> Vec<String> {
    let detours = tree.detours().into_iter();
    detours
        .map(|it| {
            let (place, what, instead) = (it.place, it.what, it.instead);
            format!("{place}: `{what}` is only passed on by a module around this one; import `{instead}`")
        })
        .collect()
}

/// The cycles between files, and those between the rooms of one folder. A room is a module with
/// all that lies in it.
pub(super) fn cycles(tree: &Tree) -> Vec<String> {
    let arrows = tree.arrows();
    let files = arrows.iter().map(|it| (it.from.clone(), it.to.clone(), it)).collect();
    let mut complaints: Vec<String> = cycles_of(files).iter().map(|it| say("files", it)).collect();
    let around = |arrow: &Arrow| {
        let (one, other): (Vec<_>, Vec<_>) =
            (arrow.from.split("::").collect(), arrow.to.split("::").collect());
        let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
        // An arrow to or from the file of a module around the other one is a matter of files.
        let room = |path: &[&str]| path.get(common).map(|_| path[..=common].join("::"));
        Some((one[..common].join("::"), room(&one)?, room(&other)?))
    };
    let mut rooms: BTreeMap<String, Vec<(String, String, &Arrow)>> = BTreeMap::new();
    for arrow in arrows.iter().filter(|it| !it.from.is_empty() && !it.to.is_empty()) {
        if let Some((around, from, to)) = around(arrow) {
            rooms.entry(around).or_default().push((from, to, arrow));
        }
    }
    for room in rooms.into_values() {
        let is_more = |cycle: &&Vec<&Arrow>| !complaints.contains(&say("files", cycle));
        let found = cycles_of(room);
        let new: Vec<String> = found.iter().filter(is_more).map(|it| say("rooms", it)).collect();
        complaints.extend(new);
    }
    complaints
}

/// The arrows of each cycle: two nodes are in one if each leads to the other.
fn cycles_of(arrows: Vec<(String, String, &Arrow)>) -> Vec<Vec<&Arrow>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to, _) in &arrows {
        next.entry(from).or_default().insert(to);
    }
    let reached = |from: &str| {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut left: Vec<&str> = next.get(from).into_iter().flatten().copied().collect();
        while let Some(at) = left.pop() {
            if reached.insert(at) {
                left.extend(next.get(at).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|it| (*it, reached(it))).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|it| it.contains(to));
    let mut cycles: Vec<(&str, Vec<&Arrow>)> = Vec::new();
    for (from, _, arrow) in arrows.iter().filter(|(from, to, _)| leads(to, from)) {
        match cycles.iter_mut().find(|(one, _)| *one == from || leads(one, from) && leads(from, one)) {
            Some((_, cycle)) => cycle.push(arrow),
            None => cycles.push((from, vec![arrow])),
        }
    }
    cycles.into_iter().map(|it| it.1).collect()
}

fn say(what: &str, cycle: &[&Arrow]) -> String {
    let mut lines = vec![format!(
        "a cycle of {what}: of these arrows cut the one that is new; move what both need to a file of its own"
    )];
    // One line for each two files.
    let mut between: BTreeMap<(&str, &str), (&str, Vec<&str>)> = BTreeMap::new();
    for Arrow { from, to, place, what } in cycle {
        between.entry((from, to)).or_insert((place, Vec::new())).1.push(what);
    }
    lines.extend(
        between.into_iter().map(|((from, to), (place, what))| line(from, to, place, &what.join(", "))),
    );
    lines.join("\n")
}

fn line(from: &str, to: &str, place: &str, what: &str) -> String {
    let name = |module: &str| if module.is_empty() { "lib.rs".to_owned() } else { module.to_owned() };
    format!("    {place}: {} -> {}: {what}", name(from), name(to))
}

/// The layers of the modules in one folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layers {
    /// The crate: `clewline-check`.
    pub(super) krate: String,
    /// The module in whose folder they lie; empty for the root of the crate.
    pub(super) folder: String,
    /// The modules by layer, the highest first.
    pub(super) layers: Vec<Vec<String>>,
}

/// Reads the fenced block below the heading `## Layers`: a line `crate:` or `crate/folder:`, then
/// one line for each layer.
pub(super) fn read_layers(page: &str) -> Vec<Layers> {
    let section = page.split("\n## Layers\n").nth(1).unwrap_or_default();
    let block = section.split("```").nth(1).unwrap_or_default();
    let mut all: Vec<Layers> = Vec::new();
    for line in block.lines().filter(|it| !it.trim().is_empty()) {
        if let Some(heading) = line.strip_suffix(':') {
            let (krate, folder) = heading.split_once('/').unwrap_or((heading, ""));
            let (krate, folder) = (krate.to_owned(), folder.replace('/', "::"));
            all.push(Layers { krate, folder, layers: Vec::new() });
        } else if let Some(last) = all.last_mut() {
            last.layers.push(line.split_whitespace().map(str::to_owned).collect());
        }
    }
    all
}

/// The arrows of `tree` that lead upward in `layers`, and the modules that these forgot or
/// invented.
pub(super) fn upward(tree: &Tree, Layers { krate, folder, layers }: &Layers) -> Vec<String> {
    let mut complaints = Vec::new();
    let heights: BTreeMap<&str, usize> = (layers.iter().rev().enumerate())
        .flat_map(|(height, layer)| layer.iter().map(move |it| (it.as_str(), height)))
        .collect();
    let title = join(krate, folder);
    let children = tree.children(folder);
    for child in children.iter().filter(|it| !heights.contains_key(**it)) {
        complaints.push(format!("{title}: `{child}` has no layer; write it into one in ARCHITECTURE.md"));
    }
    for name in heights.keys().filter(|it| !children.contains(**it)) {
        complaints.push(format!("{title}: `{name}` has a layer in ARCHITECTURE.md, but no file"));
    }
    let room = |module: &str| {
        let inside = if folder.is_empty() { Some(module) } else { module.strip_prefix(&join(folder, "")) };
        let inside = inside.map(|it| it.trim_start_matches("::"));
        inside.filter(|it| !it.is_empty()).and_then(|it| it.split("::").next().map(str::to_owned))
    };
    for arrow in tree.arrows() {
        let from = room(&arrow.from).and_then(|it| heights.get(it.as_str()));
        let to = room(&arrow.to).and_then(|it| heights.get(it.as_str()));
        if from.is_some() && from < to {
            let title = "an arrow upward: move what is needed down, or hand it over as an argument";
            let Arrow { from, to, place, what } = &arrow;
            complaints.push(format!("{title}\n{}", line(from, to, place, what)));
        }
    }
    complaints
}

/// A public name that several types share on purpose, the crates that may define one, and why.
pub(super) struct SharedName {
    pub(super) name: &'static str,
    pub(super) crates: &'static [&'static str],
    pub(super) reason: &'static str,
}

/// The public names that mean two types, and the shared names that no two types have.
pub(super) fn ambiguous_names(crates: &[&(String, Tree)], shared: &[SharedName]) -> Vec<String> {
    let mut definitions: BTreeMap<String, BTreeSet<(&str, String)>> = BTreeMap::new();
    for (krate, tree) in crates {
        for (name, path) in tree.public_types() {
            definitions.entry(name).or_default().insert((krate, path));
        }
    }
    definitions.retain(|_, it| 1 < it.len());
    let mut complaints = Vec::new();
    for SharedName { name, reason, .. } in shared {
        if !definitions.contains_key(*name) {
            complaints.push(format!("`{name}` is one type: delete its exception ({reason})"));
        }
    }
    for (name, places) in definitions {
        let exception = shared.iter().find(|it| it.name == name);
        if !exception.is_some_and(|it| places.iter().all(|place| it.crates.contains(&place.0))) {
            let places: Vec<String> = places.iter().map(|it| format!("    {}: {}", it.0, it.1)).collect();
            complaints.push(format!("the public name `{name}` means several types:\n{}", places.join("\n")));
        }
    }
    complaints
}
