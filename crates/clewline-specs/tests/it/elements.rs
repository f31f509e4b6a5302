//! Leaving out what a footprint says can be left out never turns a good history into a bad one.

use std::collections::HashSet;

use clewline_core::{Dice, Footprint, Notation};

use crate::support::{Ops, for_every_specification, is_linearizable, load, random_ops, record};

/// The elements that go with `element`: those linked to it, one operation after the other.
fn closure<S: Notation>(specification: &S, ops: &Ops<S>, element: u64) -> HashSet<u64> {
    let mut linked = HashSet::from([element]);
    loop {
        let before = linked.len();
        for op in ops {
            if let Footprint::Elements(a, b) = specification.footprint(&op.call, op.ret.as_ref())
                && (linked.contains(&a) || linked.contains(&b))
            {
                linked.extend([a, b]);
            }
        }
        if linked.len() == before {
            return linked;
        }
    }
}

fn elements(footprint: Footprint) -> Vec<u64> {
    match footprint {
        Footprint::Reads | Footprint::Anything => Vec::new(),
        Footprint::Element(element) => vec![element],
        Footprint::Elements(one, other) => vec![one, other],
    }
}

/// Whether leaving out the elements `gone` means leaving out this operation: it saw one of them, or is a read
/// that may have.
fn goes_with<S: Notation>(
    specification: &S,
    call: &S::Call,
    ret: Option<&S::Return>,
    gone: &HashSet<u64>,
) -> bool {
    let sees = specification.sees(call, ret);
    let is_read = specification.footprint(call, ret) == Footprint::Reads;
    elements(sees).iter().any(|it| gone.contains(it)) || is_read && sees == Footprint::Anything
}

#[test]
fn an_element_can_be_left_out_with_all_that_see_it() {
    fn law<S: Notation>(name: &str, specification: &S, sample: fn(&mut Dice) -> S::Call) {
        let (mut left_out, mut reads_kept) = (0, 0);
        for seed in 0..1500 {
            let ops = random_ops(specification, sample, seed);
            assert!(is_linearizable(specification, &ops), "{name} {seed}: {ops:?}");
            let mentioned =
                ops.iter().flat_map(|it| elements(specification.footprint(&it.call, it.ret.as_ref())));
            for element in mentioned.collect::<HashSet<_>>() {
                let gone = closure(specification, &ops, element);
                let mut rest = ops.clone();
                rest.retain(|it| !goes_with(specification, &it.call, it.ret.as_ref(), &gone));
                assert!(is_linearizable(specification, &rest), "{name} {seed}: {ops:?} without {gone:?}");
                left_out += 1;
                let is_read = |footprint| footprint == Footprint::Reads;
                reads_kept += rest
                    .iter()
                    .filter(|it| is_read(specification.footprint(&it.call, it.ret.as_ref())))
                    .count();
            }
        }
        // Objects whose every change touches anything have no elements.
        let has_elements = left_out != 0;
        assert!(!has_elements || 1000 < left_out && 100 < reads_kept, "{name}: {left_out}, {reads_kept}");
    }
    for_every_specification!(law);
}

#[test]
fn changes_see_what_they_touch() {
    fn law<S: Notation>(name: &str, specification: &S, sample: fn(&mut Dice) -> S::Call) {
        for seed in 0..300 {
            for op in random_ops(specification, sample, seed) {
                let (call, ret) = (&op.call, op.ret.as_ref());
                let (touches, sees) = (specification.footprint(call, ret), specification.sees(call, ret));
                assert!(touches == Footprint::Reads || touches == sees, "{name}: {op:?}");
            }
        }
    }
    for_every_specification!(law);
}

/// `expected`: what the operation touches, and what it sees if that is something else.
#[track_caller]
fn check_footprint(specification: &str, operation: &str, expected: &str) {
    let case = load(specification, record(operation, None)).unwrap();
    let problem = case.problems().remove(0);
    let show = |footprint| match footprint {
        Footprint::Reads => "reads".to_owned(),
        Footprint::Element(element) => format!("{element}"),
        Footprint::Elements(one, other) => format!("{one} {other}"),
        Footprint::Anything => "anything".to_owned(),
    };
    let (touches, sees) = (show(problem.footprint(0)), show(problem.sees(0)));
    assert_eq!(if touches == sees { touches } else { format!("{touches}, sees {sees}") }, expected);
}

// The word of a small integer is twice that and one; the word of null is 4.
#[test]
fn collections_touch_what_is_added_and_taken() {
    for (name, add, take) in [("queue", "enq", "deq"), ("stack", "push", "pop"), ("bag", "add", "take")] {
        check_footprint(name, &format!("{add} 3"), "7");
        check_footprint(name, &format!("{add} 3 = ?"), "7");
        check_footprint(name, &format!("{take} = 3"), "7");
        check_footprint(name, &format!("{take} = null"), "reads");
        check_footprint(name, &format!("{take} = ?"), "anything");
    }
    check_footprint("queue", "peek = 3", "reads, sees 7");
    check_footprint("queue", "peek = null", "reads");
    check_footprint("deque", "pop-back = 3", "7");
    check_footprint("priority-queue", "poll = -1", &u64::MAX.to_string());
    check_footprint("priority-queue", "peek = 3", "reads, sees 3");
    check_footprint("set", "add 3 = false", "reads, sees 7");
    check_footprint("set", "remove 3 = true", "7");
    check_footprint("multiset", "remove 3 = false", "reads, sees 7");
}

#[test]
fn fullness_couples_everything_in_a_bounded_collection() {
    check_footprint("queue:2", "enq 3 = true", "anything");
    check_footprint("queue:2", "enq 3 = false", "reads, sees anything");
    check_footprint("stack:2", "pop = 3", "anything");
    check_footprint("deque:2", "pop-front = null", "reads");
}

#[test]
fn a_swap_links_what_it_found_and_what_it_left() {
    check_footprint("register", "read = null", "reads, sees 4");
    check_footprint("register", "write 3", "7");
    check_footprint("cas-register", "cas [null, 3] = true", "4 7");
    check_footprint("cas-register", "cas [1, 3] = ?", "3 7");
    check_footprint("cas-register", "cas [1, 3] = false", "reads, sees anything");
    check_footprint("map", "insert [0, 3] = null", "4 7");
    check_footprint("map", "insert [0, 3] = ?", "7");
    check_footprint("map", "remove 0 = 3", "7 4");
    check_footprint("map", "remove 0 = null", "reads, sees 4");
    check_footprint("map", "remove 0 = ?", "4");
    check_footprint("map", "get-or-insert [0, 3] = 3", "4 7");
    check_footprint("map", "get-or-insert [0, 3] = 5", "reads, sees 11");
    check_footprint("map", "contains 0 = true", "reads, sees anything");
    check_footprint("map", "contains 0 = false", "reads, sees 4");
}

#[test]
fn where_there_is_an_append_nothing_is_left_out() {
    check_footprint("map", "put [0, 3]; append [1, \"x\"]", "anything");
    check_footprint("map", "get 0 = 3; append [1, \"x\"]", "reads, sees 7");
    check_footprint("counter", "inc", "anything");
    check_footprint("counter", "read = 3", "reads, sees anything");
    check_footprint("mutex", "lock", "anything");
}
