//! Timelines: operations drawn as bars over time, one row a process.
//!
//! ```text
//! 0: |--enq(1)--|  |--enq(2)--|
//! 1:                             |--deq() → 2--|  |--deq() → ?-----…
//! ```
//!
//! Such a drawing shows which operation ended before which other began, and which overlap. Columns
//! are therefore not time: each end of a bar gets a column of its own, in the order of the ends,
//! and bars are only as wide as their labels need.
//!
//! A bar that is there only for comparison is dotted: `|··enq(1)··|`.
//!
//! Where the drawing is too wide, labels are shortened; where that does not help, it is cut into
//! bands that are read one after the other, like lines of text.
//!
//! Invariants: an end that happened before another is drawn to the left of it. Cost: O(n log n) for
//! n bars, apart from the area drawn.

use std::borrow::Cow;

use clewline_core::{Shown, ShownReturn, visible};

use super::width::{char_width, width};

/// The operations of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineRow {
    /// The name of the process.
    pub name: String,
    /// Its operations, in any order. Those that overlap each other are drawn below each other.
    pub bars: Vec<Bar>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Its label.
    pub label: Shown,
    /// The rank of its call among all ends.
    pub start: u32,
    /// The rank of its return; none while it is pending, which is drawn open to the right.
    pub end: Option<u32>,
}

/// Draws `rows` in lines of at most `width` characters, if the bars allow it.
///
/// ```
/// use clewline_core::Shown;
/// use clewline_report::render::timeline::{Bar, TimelineRow, draw};
///
/// let bar = |call, ret, start, end| Bar { label: Shown::of_texts(call, ret), start, end };
/// let (write, read) = (bar("write(1)", Some(""), 0, Some(2)), bar("read()", Some("0"), 1, Some(3)));
/// let rows = [
///     TimelineRow { name: "a".to_owned(), bars: vec![write] },
///     TimelineRow { name: "b".to_owned(), bars: vec![read, bar("read()", None, 4, None)] },
/// ];
/// assert_eq!(
///     draw(&rows, 80),
///     "\
/// a: |--write(1)--|
/// b:  |--read() → 0--|  |--read() → ?--…
/// "
/// );
/// ```
#[must_use]
pub fn draw(rows: &[TimelineRow], width: usize) -> String {
    lines(rows, &[], width).iter().map(|it| format!("{it}\n")).collect()
}

/// The lines of such a drawing, with dotted bars for operations that start at one of the ranks of
/// `beside`.
#[must_use]
pub fn lines(rows: &[TimelineRow], beside: &[u32], columns: usize) -> Vec<String> {
    let rows: Vec<TimelineRow> = rows
        .iter()
        .map(|it| TimelineRow { name: shorten(&it.name, NAME_COLUMNS_MAX), ..it.clone() })
        .collect();
    let lanes = lanes(&rows);
    let names = rows.iter().map(|it| width(&it.name)).max().unwrap_or(0);
    // At least a few columns, however long the names are.
    let room = columns.saturating_sub(names + 2).max(LABEL_COLUMNS[LABEL_COLUMNS.len() - 1] + 8);
    let shapes = [(usize::MAX, 2), (usize::MAX, 1)].into_iter().chain(LABEL_COLUMNS.map(|it| (it, 1)));
    let placed = |label, dashes| (place(&lanes, label, dashes), dashes);
    let narrow = shapes.map(|(label, dashes)| placed(label, dashes)).find(|it| columns_of(&it.0) <= room);
    let (bars, dashes) = narrow.unwrap_or_else(|| placed(LABEL_COLUMNS[BAND_LABEL_INDEX].min(room - 8), 1));
    let grid = Grid::new(bars, lanes.len(), beside, dashes);
    let bands = grid.bands(room);
    let mut lines = Vec::new();
    for (number, &(from, to)) in bands.iter().enumerate() {
        if number != 0 {
            lines.push(String::new());
        }
        for (lane, cells) in lanes.iter().zip(&grid.cells) {
            let band: String = cells[from..to].iter().map(|it| &*it.text).collect();
            // Each of several bands shows only the rows with operations in it.
            if bands.len() == 1 || !band.trim_end().is_empty() {
                lines.push(format!("{}{}", lane.title(names), band).trim_end().to_owned());
            }
        }
    }
    lines
}

// Longer names of processes are shortened.
const NAME_COLUMNS_MAX: usize = 24;

// Lengths to which labels are shortened, one after the other, until the drawing fits.
const LABEL_COLUMNS: [usize; 4] = [24, 20, 16, 13];

// Which of them is used in a drawing that is cut into bands: short enough that there are few of
// them.
const BAND_LABEL_INDEX: usize = 2;

/// The layout, for drawings that are not text: the lanes, and the bars with their columns. Labels
/// are shortened until there are at most `width` columns, if possible.
pub(super) fn layout(rows: &[TimelineRow], width: usize) -> (Vec<Lane<'_>>, Vec<PlacedBar>) {
    let lanes = lanes(rows);
    let mut placings = [usize::MAX].into_iter().chain(LABEL_COLUMNS).map(|it| place(&lanes, it, 2));
    let narrow = placings.find(|placed| placed.iter().all(|it| it.right < width));
    // If it is too wide anyway, labels stay readable.
    let placed = narrow.unwrap_or_else(|| place(&lanes, LABEL_COLUMNS[0], 2));
    (lanes, placed)
}

/// Bars of one row that do not overlap.
pub(super) struct Lane<'a> {
    // None on the second and later lanes of a row.
    pub(super) name: Option<&'a str>,
    bars: Vec<&'a Bar>,
}

impl Lane<'_> {
    fn title(&self, columns: usize) -> String {
        match self.name {
            Some(name) => format!("{}{name}: ", " ".repeat(columns.saturating_sub(width(name)))),
            None => " ".repeat(columns + 2),
        }
    }
}

/// Puts each bar into the first lane of its row that is free when it begins.
fn lanes(rows: &[TimelineRow]) -> Vec<Lane<'_>> {
    let mut all = Vec::new();
    for row in rows {
        let mut bars: Vec<&Bar> = row.bars.iter().collect();
        bars.sort_by_key(|it| it.start);
        let mut lanes = vec![Lane { name: Some(&row.name), bars: Vec::new() }];
        for bar in bars {
            let is_free = |lane: &&mut Lane<'_>| {
                lane.bars.last().is_none_or(|it| it.end.is_some_and(|end| end < bar.start))
            };
            match lanes.iter_mut().find(is_free) {
                Some(lane) => lane.bars.push(bar),
                None => lanes.push(Lane { name: None, bars: vec![bar] }),
            }
        }
        all.append(&mut lanes);
    }
    all
}

#[derive(Clone)]
struct Cell {
    // One character and the marks on it; nothing behind one that takes two columns.
    text: Cow<'static, str>,
    // Whether it is part of a label, which is better not cut.
    is_label: bool,
}

struct Grid {
    // By lane.
    cells: Vec<Vec<Cell>>,
    width: usize,
}

/// The columns of one bar's ends; the right edge of the drawing if it is pending.
pub(super) struct PlacedBar {
    pub(super) lane: usize,
    pub(super) label: String,
    pub(super) start: u32,
    pub(super) end: Option<u32>,
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) is_pending: bool,
}

impl Grid {
    fn new(placed: Vec<PlacedBar>, lanes: usize, beside: &[u32], dashes: usize) -> Grid {
        let columns = columns_of(&placed);
        let cell = |text: &'static str| Cell { text: Cow::Borrowed(text), is_label: false };
        let mut cells = vec![vec![cell(" "); columns]; lanes];
        for PlacedBar { lane, label, start, left, right, is_pending, .. } in placed {
            let row = &mut cells[lane];
            row[left..=right].fill(cell(if beside.contains(&start) { "·" } else { "-" }));
            row[left] = cell("|");
            row[right] = cell(if is_pending { "…" } else { "|" });
            let inside = right - left - 1;
            let before = if is_pending { dashes } else { (inside - width(&label)) / 2 };
            let mut column = left + 1 + before;
            for char in label.chars() {
                match char_width(char) {
                    // A mark belongs to the character before it.
                    0 => row[column - 1].text.to_mut().push(char),
                    wide => {
                        row[column] = Cell { text: Cow::Owned(char.to_string()), is_label: true };
                        row[column + 1..column + wide].fill(Cell { text: Cow::Borrowed(""), is_label: true });
                        column += wide;
                    }
                }
            }
        }
        Grid { cells, width: columns }
    }

    /// The columns at which each band begins and ends, none of them wider than `room`.
    fn bands(&self, room: usize) -> Vec<(usize, usize)> {
        let mut bands = Vec::new();
        let mut from = 0;
        while room < self.width - from {
            // The rightmost of the least harmful cuts; a band is at least half full.
            let cuts = (from + room / 2..=from + room).rev();
            let to = cuts.min_by_key(|&at| self.cut_cost(at)).unwrap_or(from + room);
            bands.push((from, to));
            // Empty columns can be dropped.
            let is_blank = |at: &usize| self.cells.iter().all(|it| it[*at].text == " ");
            from = to + (to..self.width).take_while(is_blank).count();
        }
        bands.push((from, self.width));
        bands
    }

    /// How many labels, and how many bars, a cut before column `at` would go through.
    fn cut_cost(&self, at: usize) -> (usize, usize) {
        let labels = self.cells.iter().filter(|it| it[at - 1].is_label && it[at].is_label).count();
        let bars = self.cells.iter().filter(|it| it[at - 1].text != " " && it[at].text != " ").count();
        (labels, bars)
    }
}

/// How many columns bars take.
fn columns_of(placed: &[PlacedBar]) -> usize {
    placed.iter().map(|it| it.right + 1).max().unwrap_or(0)
}

/// Gives each end the leftmost column that is right of all earlier ends and leaves room for the
/// label.
fn place(lanes: &[Lane<'_>], label_max: usize, dashes: usize) -> Vec<PlacedBar> {
    let mut placed: Vec<PlacedBar> = Vec::new();
    let mut ends: Vec<(u32, bool, usize)> = Vec::new();
    for (lane, Lane { bars, .. }) in lanes.iter().enumerate() {
        for bar in bars {
            ends.push((bar.start, false, placed.len()));
            // At one rank a call comes first: equal ranks overlap.
            ends.extend(bar.end.map(|end| (end.max(bar.start), true, placed.len())));
            let label = shorten_operation(&bar.label, label_max);
            let (start, is_pending) = (bar.start, bar.end.is_none());
            placed.push(PlacedBar { lane, label, start, end: bar.end, left: 0, right: 0, is_pending });
        }
    }
    ends.sort_unstable();
    let mut next = 0;
    let mut was_return = false;
    for (_, is_return, bar) in ends {
        let bar = &mut placed[bar];
        let label = width(&bar.label) + 2 * dashes;
        if is_return {
            bar.right = next.max(bar.left + label + 1);
            next = bar.right + 1;
        } else {
            // A gap shows that earlier operations really ended before this call.
            bar.left = if was_return { next + dashes } else { next };
            next = bar.left + 1;
        }
        was_return = is_return;
    }
    // A pending operation ends after all others.
    let edge = placed.iter().filter(|it| it.is_pending).map(|it| it.left + width(&it.label) + 2 * dashes + 1);
    let edge = edge.max().unwrap_or(0).max(next);
    placed.iter_mut().filter(|it| it.is_pending).for_each(|it| it.right = edge);
    placed
}

/// `text` in at most `max` columns, on one line.
pub(super) fn shorten(text: &str, max: usize) -> String {
    let label: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    if width(&label) <= max {
        return label;
    }
    // The result stands at the end and matters as much as the method at the beginning.
    let tail = (max - 1) / 2;
    let head = max - 1 - tail;
    let fitting = |chars: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        let mut fits = |it: &char| {
            used += char_width(*it);
            used <= room
        };
        chars.take_while(|it| fits(it)).collect()
    };
    let start = fitting(&mut label.chars(), head);
    let end = fitting(&mut label.chars().rev(), tail);
    start.into_iter().chain(['…']).chain(end.into_iter().rev()).collect()
}

/// The operation in at most `max` columns, on one line. Of a long list that it returned, the first
/// elements are shown.
pub(super) fn shorten_operation(operation: &Shown, max: usize) -> String {
    let label = operation.to_string();
    let short = match &operation.ret {
        Some(ShownReturn::List(elements)) if max < width(&label) => {
            shorten_list(&operation.call(), elements, max)
        }
        _ => None,
    };
    short.unwrap_or_else(|| shorten(&label, max))
}

/// `read() → [1, 2, … 98 elements]`, or `read() → 98 elements`. `None` if it does not fit.
fn shorten_list(call: &str, elements: &[String], max: usize) -> Option<String> {
    const SHORTENED_ELEMENTS_MIN: usize = 6;
    let count = elements.len();
    let mut short = format!("{call} → {count} elements");
    if count < SHORTENED_ELEMENTS_MIN || max < width(&short) {
        return None;
    }
    let mut start = format!("{call} → [");
    for element in elements {
        start = format!("{start}{}, ", visible(element));
        let longer = format!("{start}… {count} elements]");
        if max < width(&longer) {
            break;
        }
        short = longer;
    }
    Some(short)
}

#[cfg(test)]
mod tests;
