//! Leaving out what a footprint allows to leave out never makes a linearizable history violated.

use std::collections::HashSet;

use clewline_core::{CallSampler, Codec, Elements, Footprint};

use crate::support::{Ops, for_every_specification, is_linearizable, load, random_ops, record};

/// The elements linked to `element`, directly or through other operations.
fn closure<S: Codec>(specification: &S, ops: &Ops<S>, element: u64) -> HashSet<u64> {
    let mut linked = HashSet::from([element]);
    loop {
        let before = linked.len();
        for op in ops {
            if let Elements::Two(a, b) = specification.footprint(&op.call, op.ret.as_ref()).elements()
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
    match footprint.elements() {
        Elements::None | Elements::Any | Elements::Every => Vec::new(),
        Elements::One(element) => vec![element],
        Elements::Two(one, other) => vec![one, other],
    }
}

/// Whether leaving out the elements `removed` also leaves out this operation: it touches one of
/// them, or is a read that may.
fn goes_with<S: Codec>(
    specification: &S,
    call: &S::Call,
    ret: Option<&S::Return>,
    removed: &HashSet<u64>,
) -> bool {
    let footprint = specification.footprint(call, ret);
    elements(footprint).iter().any(|it| removed.contains(it)) || footprint == Footprint::Reads(Elements::Any)
}

#[test]
fn an_element_can_be_left_out_with_all_that_see_it() {
    fn law<S: Codec>(name: &str, specification: &S, sample: &dyn Fn(&mut CallSampler) -> S::Call) {
        let (mut left_out, mut reads_kept) = (0, 0);
        for seed in 0..1500 {
            let ops = random_ops(specification, sample, seed);
            assert!(is_linearizable(specification, &ops), "{name} {seed}: {ops:?}");
            let footprints = ops.iter().map(|it| specification.footprint(&it.call, it.ret.as_ref()));
            let mentioned = footprints.filter(|it| !it.is_read()).flat_map(elements);
            for element in mentioned.collect::<HashSet<_>>() {
                let removed = closure(specification, &ops, element);
                let mut rest = ops.clone();
                rest.retain(|it| !goes_with(specification, &it.call, it.ret.as_ref(), &removed));
                assert!(is_linearizable(specification, &rest), "{name} {seed}: {ops:?} without {removed:?}");
                left_out += 1;
                let footprints = rest.iter().map(|it| specification.footprint(&it.call, it.ret.as_ref()));
                reads_kept += footprints.filter(|it| it.is_read()).count();
            }
        }
        // Objects in which every change touches `Any` have no elements.
        let has_elements = left_out != 0;
        assert!(!has_elements || 1000 < left_out && 100 < reads_kept, "{name}: {left_out}, {reads_kept}");
    }
    for_every_specification!(law);
}

/// `expected`: whether the operation reads, and its elements.
#[track_caller]
fn check_footprint(specification: &str, operation: &str, expected: &str) {
    let case = load(specification, record(operation, None)).unwrap();
    let problem = case.problems().remove(0);
    let footprint = problem.footprint(0);
    let elements = match footprint.elements() {
        Elements::None => "nothing".to_owned(),
        Elements::One(element) => format!("{element}"),
        Elements::Two(one, other) => format!("{one} {other}"),
        Elements::Any => "anything".to_owned(),
        Elements::Every => "everything".to_owned(),
    };
    assert_eq!(if footprint.is_read() { format!("reads {elements}") } else { elements }, expected);
}

// The word of a small integer is twice the integer plus one; the word of null is 4.
#[test]
fn collections_touch_what_is_added_and_taken() {
    for (name, add, take) in [("queue", "enq", "deq"), ("stack", "push", "pop"), ("bag", "add", "take")] {
        check_footprint(name, &format!("{add} 3"), "7");
        check_footprint(name, &format!("{add} 3 = ?"), "7");
        check_footprint(name, &format!("{take} = 3"), "7");
        check_footprint(name, &format!("{take} = null"), "reads nothing");
        check_footprint(name, &format!("{take} = ?"), "anything");
    }
    check_footprint("channel", "send 3 = true", "7");
    check_footprint("channel", "send 3 = false", "reads nothing");
    check_footprint("channel", "recv = 3", "7");
    check_footprint("channel", "recv = \"closed\"", "reads nothing");
    check_footprint("channel", "recv = ?", "anything");
    check_footprint("channel", "close", "nothing");
    check_footprint("queue", "peek = 3", "reads 7");
    check_footprint("queue", "peek = null", "reads nothing");
    check_footprint("deque", "pop-back = 3", "7");
    check_footprint("priority-queue", "poll = -1", &u64::MAX.to_string());
    check_footprint("priority-queue", "peek = 3", "reads 3");
    check_footprint("set", "add 3 = false", "reads 7");
    check_footprint("set", "remove 3 = true", "7");
    check_footprint("multiset", "remove 3 = false", "reads 7");
}

#[test]
fn only_fullness_couples_everything_in_a_bounded_collection() {
    check_footprint("queue:2", "enq 3 = true", "7");
    check_footprint("queue:2", "enq 3 = false", "reads anything");
    check_footprint("stack:2", "pop = 3", "7");
    check_footprint("deque:2", "pop-front = null", "reads nothing");
}

#[test]
fn a_swap_links_what_it_found_and_what_it_left() {
    check_footprint("register", "read = null", "reads 4");
    check_footprint("register", "write 3", "7");
    check_footprint("cas-register", "cas [null, 3] = true", "4 7");
    check_footprint("cas-register", "cas [1, 3] = ?", "3 7");
    check_footprint("cas-register", "cas [1, 3] = false", "reads anything");
    check_footprint("map", "insert [0, 3] = null", "4 7");
    check_footprint("map", "insert [0, 3] = ?", "7");
    check_footprint("map", "remove 0 = 3", "7 4");
    check_footprint("map", "remove 0 = null", "reads 4");
    check_footprint("map", "remove 0 = ?", "4");
    check_footprint("map", "erase 0", "4");
    check_footprint("map", "get-or-insert [0, 3] = 3", "4 7");
    check_footprint("map", "get-or-insert [0, 3] = 5", "reads 11");
    check_footprint("map", "contains 0 = true", "reads anything");
    check_footprint("map", "contains 0 = false", "reads 4");
}

#[test]
fn where_there_is_an_append_nothing_is_left_out() {
    check_footprint("map", "put [0, 3]; append [1, \"x\"]", "everything");
    check_footprint("map", "append [0, \"x\"] = ?", "everything");
    check_footprint("map", "get 0 = 3; append [1, \"x\"]", "reads 7");
    check_footprint("counter", "inc", "anything");
    check_footprint("counter", "read = 3", "reads anything");
    check_footprint("mutex", "lock", "anything");
}
