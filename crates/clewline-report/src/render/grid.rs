//! Rows of cells as lines of text that fit a width: cells that are too wide are shortened in the
//! middle.

use super::{timeline::shorten, width::width as columns};

/// The maximum width of a line of a table or a timeline, in columns, with its indentation.
pub const LINE_COLUMNS_MAX: usize = 120;

// Between two cells.
const GAP_COLUMNS: usize = 2;

// A cell is not made narrower: 16 of them fit.
const CELL_COLUMNS_MIN: usize = 4;

// The place of a step, at the end of its line, is not wider.
const PLACE_COLUMNS_MAX: usize = 50;

/// Rows of cells, aligned at the left, in lines of at most `width` columns if there are few cells.
#[must_use]
pub fn aligned(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let mut widths = widths(rows);
    let total = |widths: &[usize]| widths.iter().map(|it| it + GAP_COLUMNS).sum::<usize>();
    while width + GAP_COLUMNS < total(&widths) {
        let Some(widest) = widths.iter_mut().max().filter(|it| CELL_COLUMNS_MIN < **it) else { break };
        *widest -= 1;
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| {
            let cell = shorten(cell, width);
            format!("{cell}{}", " ".repeat(width + GAP_COLUMNS - columns(&cell)))
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |at: usize| rows.iter().filter_map(|it| it.get(at)).map(|it| columns(it)).max();
    (0..n).map(|at| widest(at).unwrap_or(0)).collect()
}

/// Rows of a step, of one cell with text among those of the threads, and of a place. If they get
/// wider than `width`, threads are moved together, and text reaches into the empty columns to its
/// right. If they are wider than `most` even then, text is shortened.
#[must_use]
pub fn interleaved(rows: &[Vec<String>], width: usize, most: usize) -> Vec<String> {
    let texts = widths(rows);
    let mut widths = texts.clone();
    let n = widths.len();
    let plain = widths.iter().map(|it| it + GAP_COLUMNS).sum::<usize>();
    if plain <= width + GAP_COLUMNS || n < 4 {
        return aligned(rows, most);
    }
    let last = n - 1;
    widths[last] = widths[last].min(PLACE_COLUMNS_MAX);
    let start = |at: usize, widths: &[usize]| widths[..at].iter().map(|it| it + GAP_COLUMNS).sum::<usize>();
    let end = |widths: &[usize]| (0..last).map(|at| start(at, widths) + texts[at]).max().unwrap_or(0);
    // Threads keep some distance, unless that would shorten text.
    for (width, least) in [(width, 6), (most, 1)] {
        while width < end(&widths) + GAP_COLUMNS + widths[last] {
            // The last thread has no column to its right.
            let widest = (1..last - 1).max_by_key(|&at| widths[at]).filter(|&at| least < widths[at]);
            let Some(at) = widest else { break };
            widths[at] -= 1;
        }
    }
    let places = end(&widths).min(most.saturating_sub(widths[last] + GAP_COLUMNS)) + GAP_COLUMNS;
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate().filter(|it| !it.1.is_empty()) {
            let from = if at == last { places } else { start(at, &widths) };
            let room = if at == last { widths[last] } else { places.saturating_sub(from + GAP_COLUMNS) };
            line.push_str(&" ".repeat(from.saturating_sub(columns(&line))));
            line.push_str(&shorten(cell, room.max(1)));
        }
        line
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn threads_are_moved_together_where_rows_would_be_too_wide() {
        let rows = [
            row(["step", "a", "b", "c", "where"]),
            row(["1", "store x1: 0 → 12345678", "", "", "a.rs:1"]),
            row(["2", "", "store x1: 12345678 → 0", "", "a.rs:2"]),
            row(["3", "", "", "load x1: 0", "a.rs:3"]),
        ];
        assert_eq!(interleaved(&rows, 100, 118), aligned(&rows, 118));
        assert_eq!(
            interleaved(&rows, 50, 118).join("\n"),
            "step  a            b            c           where\n\
             1     store x1: 0 → 12345678                a.rs:1\n\
             2                  store x1: 12345678 → 0   a.rs:2\n\
             3                               load x1: 0  a.rs:3"
        );
    }

    #[test]
    fn wide_cells_are_shortened_in_the_middle() {
        let rows = [row(["a", "b"]), row(["0123456789", "x"])];
        assert_eq!(aligned(&rows, 9), ["a       b", "012…89  x"]);
        let rows = [row(["1", "0123456789", "", "", "f.rs"]), row(["2", "", "x", "y", "f.rs"])];
        assert_eq!(interleaved(&rows, 14, 18)[0], "1  0123…6789  f.rs");
    }

    #[test]
    fn lines_fit_for_any_number_of_threads() {
        for threads in 1..=16 {
            let mut rows = vec![vec!["step".to_owned(); threads + 2]];
            for thread in 0..threads {
                let mut row = vec![String::new(); threads + 2];
                (row[0], row[thread + 1]) = ("1234".to_owned(), "calls insert(…) → ".repeat(20));
                row[threads + 1] = "crates/with/a/very/long/path/".repeat(5);
                rows.push(row);
            }
            for lines in [aligned(&rows, 118), interleaved(&rows, 98, 118)] {
                assert!(lines.iter().all(|it| columns(it) <= 118), "{threads}: {lines:#?}");
            }
        }
    }
}
