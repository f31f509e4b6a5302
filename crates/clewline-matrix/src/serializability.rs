//! Conflict-serializability of an execution: an order of whole operations in which conflicting
//! accesses keep theirs.
//!
//! Stricter than linearizability, and ignorant of the meaning of accesses: an operation that
//! retries after a failed compare-and-swap is often not serializable, and still correct. It is here
//! for comparison.
//!
//! Source: A. Farzan and P. Madhusudan, "Monitoring atomicity in concurrent programs", 2008;
//! compared in section 5.6 of the Line-Up paper.

use clewline_threads::control::Moment;

/// A cycle of operations that must each come before the next; `None` if the execution is
/// serializable.
///
/// `processes` are the processes of the operations, in their numbering.
#[must_use]
pub fn cycle(moments: &[Moment], processes: &[usize]) -> Option<Vec<usize>> {
    let owners = owners(moments, processes);
    let mut follows = vec![Vec::new(); processes.len()];
    for (at, later) in moments.iter().enumerate() {
        for (earlier, owner) in moments[..at].iter().zip(&owners) {
            if let (Some(one), Some(other)) = (*owner, owners[at])
                && one != other
                && earlier.step.conflicts(&later.step)
                && !follows[one].contains(&other)
            {
                follows[one].push(other);
            }
        }
    }
    let mut seen = vec![false; processes.len()];
    (0..processes.len()).find_map(|start| visit(start, &follows, &mut seen, &mut Vec::new()))
}

/// The operation that each step is part of.
fn owners(moments: &[Moment], processes: &[usize]) -> Vec<Option<usize>> {
    let n_tasks = processes.iter().max().map_or(0, |it| it + 1);
    // The operations of a process are numbered in the order in which they are called.
    let operations =
        |task: usize| processes.iter().enumerate().filter(move |it| *it.1 == task).map(|it| it.0);
    let mut next: Vec<usize> = vec![0; n_tasks];
    let mut open: Vec<Option<usize>> = vec![None; n_tasks];
    let mut owners = Vec::with_capacity(moments.len());
    for moment in moments {
        let task = moment.step.cause.unwrap_or(moment.step.task).index();
        if task < n_tasks && moment.step.calls {
            open[task] = operations(task).nth(next[task]);
            next[task] += 1;
        }
        owners.push(open.get(task).copied().flatten());
    }
    owners
}

/// Continues from `at`, to which `path` leads. Returns a cycle, if there is one through an
/// unvisited node.
fn visit(at: usize, follows: &[Vec<usize>], seen: &mut [bool], path: &mut Vec<usize>) -> Option<Vec<usize>> {
    if std::mem::replace(&mut seen[at], true) {
        let start = path.iter().position(|&it| it == at)?;
        return Some(path[start..].to_vec());
    }
    path.push(at);
    let found = follows[at].iter().find_map(|&next| visit(next, follows, seen, path));
    path.pop();
    found
}

#[cfg(test)]
mod tests {

    use clewline_core::Random;
    use clewline_explore::{Access, SharedId, Step, TaskId};

    use super::*;

    /// `(task, object, is a write, begins an operation)`.
    fn moments(steps: &[(u8, u32, bool, bool)]) -> Vec<Moment> {
        let moment = |&(task, object, writes, calls): &(u8, u32, bool, bool)| {
            let access = if writes { Access::Write } else { Access::Read };
            let step = Step { calls, ..Step::new(TaskId(task), access, SharedId(object)) };
            Moment::new(step, clewline_threads::control::Place::caller())
        };
        steps.iter().map(moment).collect()
    }

    #[test]
    fn a_lost_update_is_not_serializable() {
        let lost = [(0, 0, false, true), (1, 0, false, true), (0, 0, true, false), (1, 0, true, false)];
        assert_eq!(cycle(&moments(&lost), &[0, 1]), Some(vec![0, 1]));
        let serial = [(0, 0, false, true), (0, 0, true, false), (1, 0, false, true), (1, 0, true, false)];
        assert_eq!(cycle(&moments(&serial), &[0, 1]), None);
        let apart = [(0, 0, false, true), (1, 1, false, true), (0, 0, true, false), (1, 1, true, false)];
        assert_eq!(cycle(&moments(&apart), &[0, 1]), None);
    }

    #[test]
    fn operations_of_one_process_are_apart() {
        let between = [(0, 0, false, true), (1, 0, true, true), (0, 0, false, true)];
        assert_eq!(cycle(&moments(&between), &[0, 0, 1]), None);
        let around = [(0, 0, false, true), (1, 0, true, true), (0, 0, false, false)];
        assert_eq!(cycle(&moments(&around), &[0, 0, 1]), Some(vec![0, 2]));
    }

    #[test]
    fn only_operations_of_the_cycle_are_reported() {
        let steps = [
            (0, 1, true, true),
            (1, 1, false, true),
            (1, 0, false, false),
            (2, 0, false, true),
            (1, 0, true, false),
            (2, 0, true, false),
        ];
        assert_eq!(cycle(&moments(&steps), &[0, 1, 2]), Some(vec![1, 2]));
    }

    #[test]
    fn steps_of_tasks_that_an_operation_started_are_its_own() {
        let lost = [(0, 0, false, true), (1, 0, false, true), (2, 0, true, false), (1, 0, true, false)];
        let mut moments = moments(&lost);
        assert_eq!(cycle(&moments, &[0, 1]), None);
        moments[2].step.cause = Some(TaskId(0));
        assert_eq!(cycle(&moments, &[0, 1]), Some(vec![0, 1]));
    }

    /// Whether some order of all operations has every pair of conflicting accesses in the order
    /// they were made.
    fn by_trying(moments: &[Moment], processes: &[usize]) -> bool {
        fn permute(order: &mut Vec<usize>, left: &mut Vec<usize>, fits: &dyn Fn(&[usize]) -> bool) -> bool {
            if left.is_empty() {
                return fits(order);
            }
            (0..left.len()).any(|at| {
                let it = left.remove(at);
                order.push(it);
                let found = permute(order, left, fits);
                order.pop();
                left.insert(at, it);
                found
            })
        }
        let owners = owners(moments, processes);
        let fits = |order: &[usize]| {
            let place = |it: usize| order.iter().position(|&other| other == it);
            (0..moments.len()).all(|later| {
                (0..later).all(|earlier| {
                    !moments[earlier].step.conflicts(&moments[later].step)
                        || owners[earlier] == owners[later]
                        || owners[earlier].and_then(place) < owners[later].and_then(place)
                })
            })
        };
        permute(&mut Vec::new(), &mut (0..processes.len()).collect(), &fits)
    }

    #[test]
    fn the_graph_agrees_with_trying_every_order() {
        let mut random = Random::new(5);
        let (mut serializable, mut not) = (0, 0);
        for _ in 0..3_000 {
            let processes = [0, 0, 1, 1, 2];
            let mut begun = [0; 3];
            let mut steps = Vec::new();
            for _ in 0..4 + random.below(6) {
                let task = random.below(3);
                let most = if task == 2 { 1 } else { 2 };
                let calls = begun[task] == 0 || begun[task] < most && random.below(3) == 0;
                begun[task] += usize::from(calls);
                steps.push((task as u8, random.below(2) as u32, random.below(2) == 0, calls));
            }
            let moments = moments(&steps);
            let found = cycle(&moments, &processes);
            assert_eq!(found.is_none(), by_trying(&moments, &processes), "{steps:?}");
            if found.is_some() { not += 1 } else { serializable += 1 }
        }
        assert!(500 < serializable && 500 < not, "{serializable} {not}");
    }
}
