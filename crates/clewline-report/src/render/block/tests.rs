use super::*;

#[test]
fn a_transition_to_a_drawing_continues_the_paragraph_before_it() {
    let blocks = [
        Block::Paragraph(vec!["One.".to_owned(), "Two.".to_owned()]),
        Block::Lead("Time runs to the right:".to_owned()),
        Block::Drawing(vec!["|--a--|".to_owned(), String::new(), "|--b--|".to_owned()]),
        Block::caption("Below."),
        Block::Where("In a file.".to_owned()),
        Block::List(vec!["x".to_owned(), "y".to_owned()]),
    ];
    assert_eq!(
        wrap(&blocks, 20),
        "  One.\n  Two. Time runs to\n  the right:\n\n  |--a--|\n\n  |--b--|\n\n  Below.\n  In a file.\n\n  x\n  y\n"
    );
    assert_eq!(words(&blocks), ["One. Two.", "In a file.", "x y"]);
}

#[test]
fn lines_are_broken_at_spaces_but_not_within_an_operation() {
    let glued = format!("deq(){GLUE}→{GLUE}12");
    assert_eq!(wrapped(&format!("then {glued}"), 14), ["then", "deq() → 12"]);
    assert_eq!(wrapped(&format!("then {glued}"), 15), ["then deq() → 12"]);
    assert_eq!(wrapped("incomprehensibilities", 3), ["incomprehensibilities"]);
    assert_eq!(hanging("seed:  ", "a b c", 10), ["seed:  a b", "       c"]);
}

#[test]
fn no_line_commands_a_terminal_or_a_runner() {
    let blocks = [
        Block::paragraph("an object called q\n::error::boo \u{1b}[2J"),
        Block::Drawing(vec!["::error::boo: |--enq(1)--|".to_owned()]),
    ];
    assert_eq!(
        wrap(&blocks, 24),
        "  an object called\n  q\\n::error::boo \\u{1b}[2J\n\n  \\u{3a}:error::boo: |--enq(1)--|\n"
    );
}
