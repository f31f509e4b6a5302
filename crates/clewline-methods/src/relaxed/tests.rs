use super::*;

#[track_caller]
fn check_plan(factors: &str, reading: Option<QuasiReading>, specification: &str, expected: &str) {
    let planned = factors.parse::<Quasi>().and_then(|quasi| {
        let quasi = reading.map_or(quasi.clone(), |it| quasi.with_reading(it));
        quasi.plan(specification)
    });
    let plan_text = match planned {
        Ok(Plan::Relaxed(name)) => name,
        Ok(Plan::LeastRelaxed(name)) => format!("{name}:?"),
        Ok(Plan::Displacement) => "displacement".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(plan_text, expected);
}

#[test]
fn removals_of_a_container_are_relaxed() {
    check_plan("deq=2", None, "queue", "quasi-queue:2");
    check_plan("enq=0,deq=2", None, "queue", "quasi-queue:2");
    check_plan(" pop = 1", None, "stack", "quasi-stack:1");
    check_plan("poll=3", None, "priority-queue", "quasi-priority-queue:3");
    check_plan("poll=3", None, "min-priority-queue", "quasi-min-priority-queue:3");
    check_plan("deq=?", None, "queue", "quasi-queue:?");
    check_plan("enq=0", None, "queue", "quasi-queue:0");
}

#[test]
fn other_factors_are_judged_by_displacement() {
    check_plan("all=1", None, "queue", "displacement");
    check_plan("enq=1,deq=2", None, "queue", "displacement");
    check_plan("deq=2", None, "queue:8", "displacement");
    check_plan("inc=1", None, "counter", "displacement");
    check_plan("deq=2", Some(QuasiReading::Displacement), "queue", "displacement");
}

#[test]
fn invalid_factors_are_errors() {
    let relaxed = Some(QuasiReading::Relaxed);
    check_plan("deq", None, "queue", "expected METHOD=K, as in `deq=2` or `deq=?`, found `deq`");
    check_plan("deq=-1", None, "queue", "expected METHOD=K, as in `deq=2` or `deq=?`, found `deq=-1`");
    check_plan("", None, "queue", "expected METHOD=K, as in `deq=2` or `deq=?`, found ``");
    check_plan("=1", None, "queue", "expected METHOD=K, as in `deq=2` or `deq=?`, found `=1`");
    check_plan("deq=1,deq=2", None, "queue", "`deq` has two factors");
    check_plan(
        "all=1,deq=2",
        None,
        "queue",
        "`all` is a class of all operations, and leaves none for another",
    );
    check_plan("enq=?,deq=?", None, "queue", "one factor at most can be asked for with `?`");
    check_plan("pop=1", None, "queue", "no operation is called `pop` (there are enq, deq, peek, all)");
    check_plan(
        "inc=1",
        relaxed,
        "counter",
        "only `queue`, `stack`, `priority-queue`, `min-priority-queue` can be relaxed, not `counter`",
    );
    check_plan(
        "all=1",
        relaxed,
        "queue",
        "a relaxed `queue` relaxes `deq` alone, so expected `deq=K` (and `enq=0`), found `all=1`",
    );
}

#[test]
fn separate_classes_alone_are_warned_about() {
    let warns = |factors: &str, reading: QuasiReading| {
        factors.parse::<Quasi>().unwrap().with_reading(reading).warning("queue").unwrap().is_some()
    };
    assert!(warns("enq=0,deq=2", QuasiReading::Displacement));
    assert!(warns("deq=2", QuasiReading::Displacement));
    assert!(!warns("all=2", QuasiReading::Displacement));
    assert!(!warns("deq=2", QuasiReading::Relaxed));
}
