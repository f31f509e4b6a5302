//! The counterexample of a violation as a picture: standalone SVG, for a paper or an issue.
//!
//! One row a process, time to the right; black lines on white, so that it can be printed. Columns
//! are those of a [`timeline`]: they show which operation ended before which began, not durations.
//!
//! A history without a violation has no counterexample. It is drawn whole if it is small; otherwise
//! the picture says so.

use std::fmt::Write;

use clewline_core::{Note, OperationId, Verdict, visible};

use super::{
    CheckedHistory,
    explain::explanation,
    text::{self, DRAWN_OPS_MAX},
    timeline::{self, PlacedBar, TimelineRow, shorten},
};

/// The background of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// White, which is drawn.
    Paper,
    /// A page that has its own colours.
    Page,
}

// A column is as wide as a character of this size in the usual monospaced fonts.
const LETTER_WIDTH_PX: usize = 8;
const FONT: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const FONT_SIZE_PX: usize = 13;

const MARGIN_PX: usize = 12;
const BAR_HEIGHT_PX: usize = 26;
const LANE_HEIGHT_PX: usize = 36;
const FOOT_HEIGHT_PX: usize = 24;

// The height of a row of labels of notes, and the length of a label.
const NOTE_ROW_HEIGHT_PX: usize = 18;
const NOTE_LABEL_CHARS_MAX: usize = 32;

// More columns than this fit no page.
const DRAWING_COLUMNS_MAX: usize = 130;

/// A picture, and its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The picture.
    pub svg: String,
    /// How many operations of the counterexample are drawn.
    pub bars: usize,
    /// How many are drawn for comparison.
    pub beside: usize,
}

/// The picture of a counterexample.
#[must_use]
pub fn counterexample(judged: &CheckedHistory<'_>, ground: Ground) -> Picture {
    let title = format!("{}: {}", judged.verdict.word(), text::headline(judged));
    let (operations, beside, description) = match judged.verdict {
        Verdict::Violated(violation) => {
            let text::Picture { drawn, beside, .. } = text::picture(violation);
            (drawn, beside, explanation(judged, violation))
        }
        Verdict::Holds(_) | Verdict::Unknown(_) => {
            let len = judged.case.spans().len();
            let all = (0..if len <= DRAWN_OPS_MAX { len } else { 0 }).map(OperationId::from_index).collect();
            (all, Vec::new(), text::meaning(judged))
        }
    };
    if operations.is_empty() {
        return Picture { svg: sentence(&title, &description, ground), bars: 0, beside: 0 };
    }
    let row = |it: &str| format!("{} {it}", judged.source.caller());
    let rows =
        text::rows(judged, &operations).into_iter().map(|it| TimelineRow { name: row(&it.name), ..it });
    let starts: Vec<u32> = beside.iter().map(|it| judged.case.spans()[it.index()].call()).collect();
    let notes = &judged.case.names().notes;
    draw_beside(&title, &description, &rows.collect::<Vec<TimelineRow>>(), &starts, notes, ground)
}

/// Draws `rows`. `title` and `description` are for readers who cannot see them.
#[must_use]
pub fn draw(title: &str, description: &str, rows: &[TimelineRow], ground: Ground) -> Picture {
    draw_beside(title, description, rows, &[], &[], ground)
}

/// The same, with dotted bars for operations that start at one of the ranks of `beside`: they are
/// there for comparison. `notes` are behind the operations.
fn draw_beside(
    title: &str,
    description: &str,
    rows: &[TimelineRow],
    beside: &[u32],
    notes: &[Note],
    ground: Ground,
) -> Picture {
    let (lanes, placed) = timeline::layout(rows, DRAWING_COLUMNS_MAX);
    let names = rows.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let from = MARGIN_PX + (names + 2) * LETTER_WIDTH_PX;
    let columns = placed.iter().map(|it| it.right + 1).max().unwrap_or(0);
    let (bands, note_rows) = bands(&placed, notes, columns);
    let labels = bands.iter().map(|it| it.left / 2 + it.label.chars().count() + 1);
    let width = from + labels.max().unwrap_or(0).max(columns) * LETTER_WIDTH_PX + MARGIN_PX;
    let top = MARGIN_PX + note_rows * NOTE_ROW_HEIGHT_PX;
    let height = top + lanes.len() * LANE_HEIGHT_PX + FOOT_HEIGHT_PX;
    let mut svg = opened(title, description, width, height, ground);
    for band in &bands {
        draw_note(&mut svg, band, from, height - FOOT_HEIGHT_PX, ground);
    }
    let ink = format!("fill=\"none\" {}", ink(ground));
    for (number, lane) in lanes.iter().enumerate() {
        let middle = top + number * LANE_HEIGHT_PX + BAR_HEIGHT_PX / 2;
        let right = width - MARGIN_PX;
        line(&mut svg, &format!("M{from} {middle}H{right}"), &format!("{ink} stroke-dasharray=\"1 5\""));
        if let Some(name) = lane.name {
            let baseline = middle + FONT_SIZE_PX / 3;
            written(&mut svg, name, from - 2 * LETTER_WIDTH_PX, baseline, "end");
        }
    }
    let is_beside = |it: &PlacedBar| beside.contains(&it.start);
    for bar in &placed {
        let kind = if is_beside(bar) { BarKind::Beside } else { BarKind::Core };
        draw_bar(&mut svg, bar, kind, (from, top), ground);
    }
    let foot = height - FOOT_HEIGHT_PX / 2;
    let (tip, back) = (width - MARGIN_PX, width - MARGIN_PX - 7);
    line(
        &mut svg,
        &format!("M{from} {foot}H{tip}M{back} {}L{tip} {foot}L{back} {}", foot - 4, foot + 4),
        &ink,
    );
    written(&mut svg, "time", from - 2 * LETTER_WIDTH_PX, foot + FONT_SIZE_PX / 3, "end");
    svg.push_str("</svg>\n");
    let dotted = placed.iter().filter(|it| is_beside(it)).count();
    Picture { svg, bars: placed.len() - dotted, beside: dotted }
}

/// A note as it is drawn: half columns from the left, and the row of its label.
struct Band {
    left: usize,
    right: usize,
    is_moment: bool,
    row: usize,
    label: String,
}

/// The notes that have a place among the bars, and the number of rows of labels above them.
fn bands(placed: &[PlacedBar], notes: &[Note], columns: usize) -> (Vec<Band>, usize) {
    // Ranks and columns of calls and returns, from left to right.
    let mut ends: Vec<(u32, usize)> = placed.iter().map(|it| (it.start, it.left)).collect();
    ends.extend(placed.iter().filter_map(|it| Some((it.end?, it.right))));
    ends.sort_unstable();
    // Half way between the events around it.
    let column = |events: u32| {
        let at = ends.partition_point(|it| it.0 < events);
        let left = if at == 0 { 0 } else { ends[at - 1].1 };
        let right = ends.get(at).map_or(columns, |it| it.1);
        if at == 0 { 0 } else { left + right }
    };
    let mut free: Vec<usize> = Vec::new();
    let mut bands = Vec::new();
    for note in notes {
        let left = column(note.from);
        let right = note.until.map_or(2 * columns, column);
        // A note before or after all of the bars is not drawn.
        if right == 0 || (left == right && !note.is_moment()) || ends.last().is_none_or(|it| it.0 < note.from)
        {
            continue;
        }
        let label = shorten(&note.text, NOTE_LABEL_CHARS_MAX);
        let wide = 2 * (label.chars().count() + 2);
        let row = free.iter().position(|&it| it <= left).unwrap_or(free.len());
        free.resize(free.len().max(row + 1), 0);
        free[row] = (left + wide).max(right);
        bands.push(Band { left, right, is_moment: note.is_moment(), row, label });
    }
    (bands, free.len())
}

/// A band behind the operations, or a line at a moment, with its label above them.
fn draw_note(svg: &mut String, band: &Band, from: usize, bottom: usize, ground: Ground) {
    let (left, right) = (from + band.left * LETTER_WIDTH_PX / 2, from + band.right * LETTER_WIDTH_PX / 2);
    let top = MARGIN_PX + band.row * NOTE_ROW_HEIGHT_PX;
    let colour = match ground {
        Ground::Paper => "#000",
        Ground::Page => "currentColor",
    };
    // Writing to a string cannot fail.
    let _infallible = if band.is_moment {
        writeln!(
            svg,
            "<path class=\"note\" d=\"M{left} {top}V{bottom}\" stroke=\"{colour}\" stroke-width=\"1.5\" \
             stroke-dasharray=\"4 3\"/>"
        )
    } else {
        writeln!(
            svg,
            "<rect class=\"note\" x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" \
             fill-opacity=\"0.1\"/>",
            right - left,
            bottom - top
        )
    };
    written(svg, &band.label, left + LETTER_WIDTH_PX / 2, top + FONT_SIZE_PX, "start");
}

/// The role of a bar.
#[derive(Clone, Copy)]
enum BarKind {
    /// Part of the counterexample.
    Core,
    /// For comparison.
    Beside,
}

/// One operation: closed on both sides, or open to the right while it is pending.
fn draw_bar(svg: &mut String, bar: &PlacedBar, kind: BarKind, (from, top): (usize, usize), ground: Ground) {
    let top = top + bar.lane * LANE_HEIGHT_PX;
    let bottom = top + BAR_HEIGHT_PX;
    let (left, right) = (from + bar.left * LETTER_WIDTH_PX, from + bar.right * LETTER_WIDTH_PX);
    let paper = match ground {
        Ground::Paper => "fill=\"#fff\"",
        Ground::Page => "fill=\"none\"",
    };
    let ink = ink(ground);
    let shape = if bar.is_pending {
        format!("M{right} {top}H{left}V{bottom}H{right}")
    } else {
        format!("M{left} {top}H{right}V{bottom}H{left}Z")
    };
    let dashes = match kind {
        BarKind::Beside => " stroke-dasharray=\"1 3\"",
        BarKind::Core if bar.is_pending => " stroke-dasharray=\"6 3\"",
        BarKind::Core => "",
    };
    let class = match kind {
        BarKind::Core => "bar",
        BarKind::Beside => "beside",
    };
    // Writing to a string cannot fail.
    let _infallible =
        writeln!(svg, "<path class=\"{class}\" d=\"{shape}\" {paper} {ink} stroke-width=\"1.5\"{dashes}/>");
    let length = bar.label.chars().count() * LETTER_WIDTH_PX;
    let centre =
        if bar.is_pending { left + 2 * LETTER_WIDTH_PX + length / 2 } else { usize::midpoint(left, right) };
    let baseline = top + BAR_HEIGHT_PX / 2 + FONT_SIZE_PX / 3;
    let label = escaped(&bar.label);
    let _infallible = writeln!(
        svg,
        "<text x=\"{centre}\" y=\"{baseline}\" text-anchor=\"middle\" textLength=\"{length}\" \
         lengthAdjust=\"spacingAndGlyphs\">{label}</text>"
    );
}

/// A picture with only a sentence.
fn sentence(title: &str, description: &str, ground: Ground) -> String {
    let width = 2 * MARGIN_PX + title.chars().count() * LETTER_WIDTH_PX;
    let mut svg = opened(title, description, width, 2 * MARGIN_PX + FONT_SIZE_PX, ground);
    written(&mut svg, title, MARGIN_PX, MARGIN_PX + FONT_SIZE_PX, "start");
    svg.push_str("</svg>\n");
    svg
}

fn opened(title: &str, description: &str, width: usize, height: usize, ground: Ground) -> String {
    let fill = match ground {
        Ground::Paper => "#000",
        Ground::Page => "currentColor",
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\" font-size=\"{FONT_SIZE_PX}\" fill=\"{fill}\">\n\
         <title>{}</title>\n<desc>{}</desc>\n",
        escaped(title),
        escaped(description)
    );
    if ground == Ground::Paper {
        svg.push_str("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    }
    svg
}

fn ink(ground: Ground) -> String {
    let colour = match ground {
        Ground::Paper => "#000",
        Ground::Page => "currentColor",
    };
    format!("stroke=\"{colour}\"")
}

fn line(svg: &mut String, path: &str, how: &str) {
    let _infallible = writeln!(svg, "<path d=\"{path}\" {how}/>");
}

fn written(svg: &mut String, text: &str, x: usize, y: usize, anchor: &str) {
    let _infallible =
        writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", escaped(text));
}

/// `text` as it stands in XML and in HTML, between tags or in an attribute.
///
/// Characters that XML cannot hold, or that nothing shows, may well be in a recorded text: they are
/// [escaped](visible).
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in visible(text).chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            it => escaped.push(it),
        }
    }
    escaped
}
