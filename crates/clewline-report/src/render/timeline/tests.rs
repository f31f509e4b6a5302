use clewline_core::Random;

use super::*;
use crate::render::tests::operation;

fn bar(label: &str, start: u32, end: impl Into<Option<u32>>) -> Bar {
    Bar { label: operation(label), start, end: end.into() }
}

fn row(name: &str, bars: impl Into<Vec<Bar>>) -> TimelineRow {
    TimelineRow { name: name.to_owned(), bars: bars.into() }
}

#[track_caller]
fn check_drawing(rows: &[TimelineRow], width: usize, expected: &str) {
    let drawn = draw(rows, width);
    assert_eq!(drawn.trim_end(), expected.trim_matches('\n').trim_end(), "drawn:\n{drawn}");
}

#[test]
fn serial_operations_stand_side_by_side() {
    check_drawing(
        &[row("0", [bar("enq(1)", 0, 1), bar("enq(2)", 2, 3)]), row("1", [bar("deq() → 2", 4, 5)])],
        80,
        "
0: |--enq(1)--|  |--enq(2)--|
1:                             |--deq() → 2--|
",
    );
}

#[test]
fn a_bar_stretches_over_what_happens_within_it() {
    check_drawing(
        &[row("a", [bar("write(1)", 0, 5)]), row("b", [bar("read() → 0", 1, 2), bar("read() → 1", 3, 4)])],
        80,
        "
a: |-------------write(1)-------------|
b:  |--read() → 0--|  |--read() → 1--|
",
    );
}

#[test]
fn pending_operations_are_open_to_the_right() {
    check_drawing(
        &[row("0", [bar("deq() → ?", 0, None)]), row("10", [bar("enq(1)", 1, 2), bar("enq(2)", 3, None)])],
        80,
        "
 0: |--deq() → ?--------------…
10:  |--enq(1)--|  |--enq(2)--…
",
    );
}

#[test]
fn operations_of_one_process_that_overlap_are_drawn_below_each_other() {
    check_drawing(
        &[row("7", [bar("cas → ?", 0, None), bar("read → 1", 1, 2)])],
        80,
        "
7: |--cas → ?-----…
    |--read → 1--|
",
    );
}

#[test]
fn dashes_go_first_and_then_labels_when_room_is_short() {
    let rows =
        [row("0", [bar("put(\"a long key\", 12345)", 0, 1), bar("get(\"a long key\") → 54321", 2, 3)])];
    check_drawing(
        &rows,
        57,
        "
0: |-put(\"a lon…\", 12345)-| |-get(\"a lon…) → 54321-|
",
    );
}

#[test]
fn a_drawing_too_wide_for_short_labels_goes_on_below() {
    let serial: Vec<Bar> = (0..6).map(|it| bar(&format!("enq({it})"), 2 * it, 2 * it + 1)).collect();
    check_drawing(
        &[row("0", serial), row("1", [bar("deq() → 0", 0, 1)])],
        40,
        "
0: |-enq(0)-|     |-enq(1)-| |-enq(2)-|
1:  |-deq() → 0-|

0: |-enq(3)-| |-enq(4)-| |-enq(5)-|
",
    );
}

#[test]
fn a_bar_that_goes_on_below_is_cut_where_its_label_is_not() {
    let serial: Vec<Bar> = (0..5).map(|it| bar(&format!("enq({it})"), 2 * it + 1, 2 * it + 2)).collect();
    check_drawing(
        &[row("0", serial), row("1", [bar("deq() → 0", 0, 20)])],
        40,
        "
0:  |-enq(0)-| |-enq(1)-| |-enq(2)-|
1: |----------------------deq() → 0--

0: |-enq(3)-| |-enq(4)-|
1: ---------------------|
",
    );
}

#[test]
fn nothing_is_drawn_of_nothing() {
    check_drawing(&[], 80, "");
    check_drawing(&[row("0", [])], 80, "0:");
}

#[test]
fn line_breaks_in_labels_do_not_break_the_drawing() {
    check_drawing(&[row("0", [bar("a\nb", 0, 1)])], 80, "0: |--a\\nb--|");
}

/// The columns of the ends of every bar, by label. Labels are unique and hold no `|`.
fn columns(drawing: &str, label: &str) -> (usize, Option<usize>) {
    let line = drawing.lines().find(|it| it.contains(&format!("-{label}-"))).expect("every bar is drawn");
    let at = line.find(&format!("-{label}-")).expect("found just now");
    let column = |byte: usize| line[..byte].chars().count();
    let left = line[..at].rfind('|').expect("every bar has a left end");
    let right = line[at..].find(['|', '…']).map(|it| it + at).expect("every bar has a right end");
    (column(left), line[right..].starts_with('|').then(|| column(right)))
}

#[test]
fn the_order_of_all_ends_is_preserved() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (rows, ends) = random_rows(&mut random);
        let drawing = draw(&rows, usize::MAX);
        let mut drawn: Vec<(usize, u32)> = Vec::new();
        for bar in rows.iter().flat_map(|it| &it.bars) {
            let (left, right) = columns(&drawing, &bar.label.to_string());
            drawn.push((left, bar.start));
            assert_eq!(right.is_some(), bar.end.is_some(), "seed {seed}:\n{drawing}");
            drawn.extend(right.zip(bar.end));
        }
        drawn.sort_unstable();
        assert_eq!(drawn.len(), ends, "seed {seed}");
        assert!(drawn.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "seed {seed}:\n{drawing}");
    }
}

/// Rows of random bars, some of them pending, and how many ends they have.
fn random_rows(random: &mut Random) -> (Vec<TimelineRow>, usize) {
    let mut rows: Vec<TimelineRow> = (0..1 + random.below(4)).map(|it| row(&it.to_string(), [])).collect();
    let mut open: Vec<usize> = Vec::new();
    let (mut rank, mut labels) = (0, 0);
    for _ in 0..random.below(40) {
        let at = random.below(rows.len());
        match open.iter().position(|&it| it == at) {
            Some(place) => {
                open.swap_remove(place);
                if !random.chance(0.1) {
                    rows[at].bars.last_mut().expect("an open bar").end = Some(rank);
                }
            }
            None => {
                let label = format!("{}{labels}", "o".repeat(random.below(9)));
                rows[at].bars.push(bar(&label, rank, None));
                open.push(at);
                labels += 1;
            }
        }
        rank += 1;
    }
    let ends = rows.iter().flat_map(|it| &it.bars).map(|it| 1 + usize::from(it.end.is_some())).sum();
    (rows, ends)
}

#[test]
fn bars_for_comparison_are_dotted() {
    let rows = [
        TimelineRow { name: "a".to_owned(), bars: vec![bar("enq(1)", 0, None)] },
        TimelineRow { name: "b".to_owned(), bars: vec![bar("deq() → 1", 1, 2), bar("deq() → 1", 3, 4)] },
    ];
    let expected = "\
a: |··enq(1)························…
b:  |--deq() → 1--|  |--deq() → 1--|
";
    assert_eq!(lines(&rows, &[0], 80).join("\n") + "\n", expected);
}

/// Letters that take two columns, and marks that take none, leave the rows aligned.
#[test]
fn bars_line_up_whatever_the_labels_are_made_of() {
    let rows = [
        TimelineRow {
            name: "客".to_owned(),
            bars: vec![bar("put(\"鍵\", \"e\u{301}\")", 0, 1), bar("get() → 3", 2, 3)],
        },
        TimelineRow { name: "b2".to_owned(), bars: vec![bar("get() → \"🦀\"", 4, 5)] },
    ];
    let expected = "\
客: |--put(\"鍵\", \"e\u{301}\")--|  |--get() → 3--|
b2:                                        |--get() → \"🦀\"--|
";
    assert_eq!(draw(&rows, 80), expected);
    let narrow = draw(&rows, 30);
    assert!(narrow.lines().all(|it| width(it) <= 30), "{narrow}");
}

#[test]
fn a_label_is_shortened_in_columns_not_in_letters() {
    assert_eq!(shorten("鍵鍵鍵鍵鍵鍵", 12), "鍵鍵鍵鍵鍵鍵");
    assert_eq!(shorten("鍵鍵鍵鍵鍵鍵", 9), "鍵鍵…鍵鍵");
    assert_eq!(shorten("鍵鍵鍵鍵鍵鍵", 8), "鍵鍵…鍵");
    assert_eq!(shorten("line\nbreak", 20), "line break");
}

/// How much is in a long list says more than its last elements.
#[test]
fn a_long_list_is_shortened_to_its_first_elements_and_their_number() {
    let list = (0..998).map(|it| it.to_string()).collect::<Vec<_>>().join(", ");
    let check = |label: &str, max: usize, expected: &str| {
        assert_eq!(shorten_operation(&operation(label), max), expected);
    };
    let label = format!("read() → [{list}]");
    check(&label, 24, "read() → 998 elements");
    check(&label, 32, "read() → [0, 1, … 998 elements]");
    check(&label, 13, "read()…, 997]");
    check(
        &"read() → [(1, 2)]".replace("(1, 2)", &["(1, 2)"; 6].join(", ")),
        32,
        "read() → [(1, 2), … 6 elements]",
    );
    // Short ones as any other label.
    check("read() → [10000, 20000]", 20, "read() → […0, 20000]");
    check(r#"read() → ["a, b", "c, d", "e, f", "g, h"]"#, 20, r#"read() → […, "g, h"]"#);
}
