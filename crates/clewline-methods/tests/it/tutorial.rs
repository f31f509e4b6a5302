//! The program of the tutorial on specifications, run; and the page that tells it.

use clewline::{
    LineUp, Specification, Subject,
    line_up::{LineUpOutcome, SpecifiedSubject},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

const PAGE: &str = include_str!("../../../../docs/tutorials/own-specification.md");
const SOURCE: &str = include_str!("tutorial.rs");

// On the page: the specification.
/// A pool of jobs: `Take` returns any job, and `None` if there is none.
#[derive(Clone)]
struct Jobs;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Put(u32),
    Take,
}

impl Specification for Jobs {
    type State = Vec<u32>; // Sorted: pools with the same jobs are equal.
    type Call = Call;
    type Return = Option<u32>;

    fn initial(&self) -> Vec<u32> {
        Vec::new()
    }

    fn step(&self, jobs: &Vec<u32>, call: &Call, ret: Option<&Option<u32>>, next: &mut Vec<Vec<u32>>) {
        let may_return = |result: Option<u32>| ret.is_none_or(|it| *it == result);
        match call {
            Call::Put(job) if may_return(None) => {
                let mut after = jobs.clone();
                after.push(*job);
                after.sort();
                next.push(after);
            }
            Call::Take if jobs.is_empty() && may_return(None) => next.push(Vec::new()),
            Call::Take => {
                for (at, job) in jobs.iter().enumerate() {
                    if may_return(Some(*job)) {
                        let mut after = jobs.clone();
                        after.remove(at);
                        next.push(after);
                    }
                }
            }
            Call::Put(_) => (),
        }
    }
}

/// Two halves with a lock each, so that threads seldom wait for each other.
#[derive(Default)]
struct Pool {
    halves: [Mutex<Vec<u32>>; 2],
    puts: AtomicUsize,
    takes: AtomicUsize,
}

impl Pool {
    fn put(&self, job: u32) {
        let half = self.puts.fetch_add(1, SeqCst) % 2;
        self.halves[half].lock().unwrap().push(job);
    }

    fn take(&self) -> Option<u32> {
        let first = self.takes.fetch_add(1, SeqCst) % 2;
        let job = self.halves[first].lock().unwrap().pop();
        job.or_else(|| self.halves[1 - first].lock().unwrap().pop())
    }
}

impl Subject<Jobs> for Pool {
    fn call(&self, call: &Call) -> Option<u32> {
        match call {
            Call::Put(job) => {
                self.put(*job);
                None
            }
            Call::Take => self.take(),
        }
    }
}
// End.

/// The pool with the mended `take`.
#[derive(Default)]
struct Mended(Pool);

impl std::ops::Deref for Mended {
    type Target = Pool;

    fn deref(&self) -> &Pool {
        &self.0
    }
}

impl Mended {
    // On the page: the mended method.
    fn take(&self) -> Option<u32> {
        let first = self.takes.fetch_add(1, SeqCst) % 2;
        let job = self.halves[first].lock().unwrap().pop();
        job.or_else(|| self.halves[1 - first].lock().unwrap().pop()).or_else(|| {
            let mut both = [0, 1].map(|it| self.halves[it].lock().unwrap());
            both.iter_mut().find_map(|it| it.pop())
        })
    }
    // End.
}

impl Subject<Jobs> for Mended {
    fn call(&self, call: &Call) -> Option<u32> {
        match call {
            Call::Put(_) => self.0.call(call),
            Call::Take => self.take(),
        }
    }
}

fn explore(line_up: LineUp<SpecifiedSubject<Jobs>>) -> LineUpOutcome {
    line_up.threads(2).operations(3).without_environment().run().unwrap()
}

fn calls() -> [Call; 3] {
    [Call::Put(1), Call::Put(2), Call::Take]
}

/// The part of this file after that mark, as the page has it.
fn part(mark: &str) -> String {
    let after = SOURCE.split_once(&format!("// On the page: the {mark}.\n")).expect("it is marked").1;
    after.split_once("// End.").expect("it has an end").0.trim_end().to_owned()
}

#[test]
fn the_page_has_the_program_that_is_run() {
    assert!(PAGE.contains(&part("specification")), "{}", part("specification"));
    assert!(PAGE.contains(&part("mended method")), "{}", part("mended method"));
}

#[test]
fn the_page_shows_what_is_printed() {
    let printed = explore(LineUp::calling(Jobs, Pool::default, calls())).to_string();
    assert!(printed.starts_with("violated: Pool is not linearizable"), "{printed}");
    // Times differ, and so do lines of the source.
    let differs =
        |it: &&str| ["took:", "Files are in ", ".rs:", "next:"].iter().any(|part| it.contains(part));
    for line in printed.lines().filter(|it| !differs(it)) {
        assert!(PAGE.contains(line.trim_end()), "the page lacks\n{line}\nof\n{printed}");
    }
}

#[test]
fn the_mended_pool_holds() {
    let outcome = explore(LineUp::calling(Jobs, Mended::default, calls()));
    assert!(outcome.holds(), "{outcome}");
}
