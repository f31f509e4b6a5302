//! Stacks, as a formula for a solver of Boolean satisfiability.
//!
//! A variable for each two operations that overlap says which comes first; real time says it of all
//! others. A variable for each addition and each operation that may have found it says that it did.
//! A linearization is a solution of these clauses, and each solution is one:
//!
//! * the order is transitive: for two operations that overlap, and a third one that overlaps one
//!   of them (a third one that overlaps neither lies before both, or after both);
//! * a complete `pop` or `peek` with a value finds a `push` of it, which comes before; a pending
//!   `pop` may find any `push`, or it is left out; no `push` is removed twice;
//! * last in, first out: what was pushed after an element, and before it was found, was popped
//!   before that. Nothing was popped before it was peeked at. So nothing finds two elements: the
//!   later one would have to be popped by another operation;
//! * where the stack was found empty, all that was pushed before was popped before.
//!
//! A pending `push` that nothing finds can come last, and is left out.
//!
//! The other search for stacks, [`pushdown`](super::pushdown), takes time in the sets of operations
//! that may be linearized, and in nothing else: it is better wherever few operations are open.
//! Where many are, learned clauses are better.
//!
//! Source: the encoding is ours; the solver is `batsat`, after MiniSat (N. Eén and N. Sörensson,
//! "An extensible SAT-solver", 2003).
//!
//! Requires: at most some millions of clauses, which is about a thousand operations.
//!
//! Cost: (operations) x (open operations)² + (additions of a value) x (additions) clauses, and time
//! that no one can say before.

use std::{cell::Cell, collections::HashMap};

use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, clause::Kind, lbool};
use clewline_core::{Budget, Charge, ObjectKind, Problem, Reason, RoleKind, Verdict};
use clewline_monitor::Columns;

use super::found::{Found, Scope, refute};
use crate::checker::Checker;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct Sat;

impl Checker for Sat {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "for stacks of which many operations are open: a formula for a SAT solver"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        SCOPE.columns(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        decide(problem, budget)
            .unwrap_or_else(|| Verdict::Unknown(Reason::Refused(self.refuses(problem).unwrap_or_default())))
    }
}

/// Its name.
pub(super) const NAME: &str = "sat";

const SCOPE: Scope = Scope { name: NAME, objects: "stacks", knows: |it| it == ObjectKind::Stack };

// A solver takes about 100 bytes for each.
const CLAUSES_MAX: u64 = 8_000_000;
const BYTES_PER_CLAUSE: usize = 100;
// Between two looks at the budget.
const CHECKED_CLAUSES: u64 = 1 << 12;
// Between two looks at the memory, while the solver asks whether to stop.
const CHECKED_STEPS: u32 = 1 << 10;
// More literals, of which one may hold, are counted with variables of their own.
const PAIRWISE_LITERALS_MAX: usize = 6;

/// Decides `problem`; `None` if it is refused.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    let decide = |prefix: &Problem<'_>| match SCOPE.columns(prefix) {
        Ok(columns) => search(&columns, budget).map_or_else(Verdict::Unknown, |it| it.verdict(prefix)),
        Err(why) => Verdict::Unknown(Reason::Refused(why)),
    };
    SCOPE.columns(problem).ok()?;
    Some(match decide(problem) {
        Verdict::Violated(_) => refute(problem, decide, decide),
        verdict => verdict,
    })
}

/// Searches a linearization of a stack, given by its columns. If there is none, no order is known.
///
/// # Errors
///
/// The limit that was hit, or that an operation is not one of a stack, or that the formula is too
/// large.
pub fn search(columns: &Columns, budget: &Budget) -> Result<Found, Reason> {
    SCOPE.check(columns)?;
    let mut formula = Formula::new(columns, budget);
    formula.order()?;
    formula.find()?;
    formula.last_in_first_out()?;
    formula.solve()
}

/// Stops a solver whose budget is used up. It is asked at every step.
///
/// A conflict, from which a clause is learned, counts as a configuration.
struct Limit {
    budget: Budget,
    steps: Cell<u32>,
    conflicts: u64,
}

impl Callbacks for Limit {
    fn on_new_clause(&mut self, _learned: &[Lit], _kind: Kind) {
        self.conflicts += 1;
    }

    fn stop(&self) -> bool {
        if self.budget.configurations() < self.conflicts {
            return true;
        }
        self.steps.set(self.steps.get().wrapping_add(1));
        let is_checked = self.steps.get().is_multiple_of(CHECKED_STEPS);
        self.budget.stopped().is_some() || is_checked && self.budget.allow(0).is_err()
    }
}

struct Formula<'c> {
    columns: &'c Columns,
    budget: &'c Budget,
    charge: Charge,
    solver: Solver<Limit>,
    // Always holds.
    truth: Lit,
    clauses: u64,
    clause: Vec<Lit>,
    // Operations with an effect, or a result.
    operations: Vec<u32>,
    // For each operation, those that overlap it.
    overlapping: Vec<Vec<u32>>,
    // For two operations, the one with the smaller number first: whether that one comes first.
    first: HashMap<(u32, u32), Lit>,
    // For each addition, the operations that may have found it, and the variable that says it.
    finders: Vec<Vec<(u32, Lit)>>,
    // Whether an addition was popped before an operation.
    popped: HashMap<(u32, u32), Lit>,
}

impl<'c> Formula<'c> {
    fn new(columns: &'c Columns, budget: &'c Budget) -> Self {
        let limit = Limit { budget: budget.clone(), steps: Cell::new(0), conflicts: 0 };
        let mut solver = Solver::new(SolverOpts::default(), limit);
        let truth = Lit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![truth]);
        let operations: Vec<u32> = (0..columns.len() as u32)
            .filter(|&it| columns.kinds[it as usize] != RoleKind::NoEffect)
            .collect();
        Formula {
            columns,
            budget,
            charge: budget.charge(),
            solver,
            truth,
            clauses: 0,
            clause: Vec::new(),
            overlapping: overlapping(columns, &operations),
            operations,
            first: HashMap::new(),
            finders: vec![Vec::new(); columns.len()],
            popped: HashMap::new(),
        }
    }

    fn variable(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    /// One of these holds.
    fn add(&mut self, literals: impl IntoIterator<Item = Lit>) -> Result<(), Reason> {
        self.clause.clear();
        for literal in literals {
            if literal == self.truth {
                return Ok(());
            }
            if literal != !self.truth {
                self.clause.push(literal);
            }
        }
        self.clauses += 1;
        if CLAUSES_MAX < self.clauses {
            return Err(Reason::Refused(format!("its formula has more than {CLAUSES_MAX} clauses")));
        }
        if self.clauses.is_multiple_of(CHECKED_CLAUSES) {
            self.charge.set(self.clauses as usize * BYTES_PER_CLAUSE);
            self.budget.allow(0)?;
        }
        self.solver.add_clause_reuse(&mut self.clause);
        Ok(())
    }

    /// At most one of these holds.
    fn at_most_one(&mut self, literals: &[Lit]) -> Result<(), Reason> {
        if literals.len() <= PAIRWISE_LITERALS_MAX {
            for (at, &one) in literals.iter().enumerate() {
                literals[at + 1..].iter().try_for_each(|&other| self.add([!one, !other]))?;
            }
            return Ok(());
        }
        // One up to here.
        let mut before: Option<Lit> = None;
        for &literal in literals {
            let until = self.variable();
            self.add([!literal, until])?;
            if let Some(before) = before {
                self.add([!before, until])?;
                self.add([!before, !literal])?;
            }
            before = Some(until);
        }
        Ok(())
    }

    /// That `one` comes before `other`.
    fn before(&mut self, one: u32, other: u32) -> Lit {
        let interval = |it: u32| self.columns.intervals[it as usize];
        if interval(one).precedes(interval(other)) {
            return self.truth;
        }
        if interval(other).precedes(interval(one)) {
            return !self.truth;
        }
        if other < one {
            return !self.before(other, one);
        }
        if let Some(&known) = self.first.get(&(one, other)) {
            return known;
        }
        let literal = self.variable();
        self.first.insert((one, other), literal);
        literal
    }

    /// The order is transitive.
    fn order(&mut self) -> Result<(), Reason> {
        let mut third: Vec<u32> = Vec::new();
        for one in self.operations.clone() {
            for place in 0..self.overlapping[one as usize].len() {
                let other = self.overlapping[one as usize][place];
                third.clear();
                third.extend_from_slice(&self.overlapping[one as usize]);
                third.extend_from_slice(&self.overlapping[other as usize]);
                third.sort_unstable();
                third.dedup();
                third.retain(|&it| it != one && it != other);
                for &last in &third {
                    let (first, then) = (self.before(one, other), self.before(other, last));
                    let whole = self.before(one, last);
                    self.add([!first, !then, whole])?;
                }
            }
        }
        Ok(())
    }

    fn is_pop(&self, at: u32) -> bool {
        matches!(self.columns.kinds[at as usize], RoleKind::Remove | RoleKind::RemoveUnknown)
    }

    fn pushes(&self) -> Vec<u32> {
        let is_push = |it: &u32| self.columns.kinds[*it as usize] == RoleKind::Add;
        self.operations.iter().copied().filter(is_push).collect()
    }

    /// Which operation found what.
    fn find(&mut self) -> Result<(), Reason> {
        let pushes = self.pushes();
        for finder in self.operations.clone() {
            let is_any = match self.columns.kinds[finder as usize] {
                RoleKind::Remove | RoleKind::Observe => false,
                RoleKind::RemoveUnknown => true,
                _ => continue,
            };
            let mut found: Vec<Lit> = Vec::new();
            for &push in &pushes {
                let is_value = self.columns.elements[push as usize] == self.columns.elements[finder as usize];
                let order = self.before(push, finder);
                if (!is_any && !is_value) || order == !self.truth {
                    continue;
                }
                let literal = self.variable();
                self.add([!literal, order])?;
                self.finders[push as usize].push((finder, literal));
                found.push(literal);
            }
            if !is_any {
                self.add(found.iter().copied())?;
            }
        }
        for push in pushes {
            let pops = self.pops(push);
            self.at_most_one(&pops.iter().map(|it| it.1).collect::<Vec<Lit>>())?;
        }
        Ok(())
    }

    /// The operations that may have popped what `push` added.
    fn pops(&self, push: u32) -> Vec<(u32, Lit)> {
        self.finders[push as usize].iter().copied().filter(|it| self.is_pop(it.0)).collect()
    }

    /// That what `push` added was popped before `at`.
    fn popped(&mut self, push: u32, at: u32) -> Result<Lit, Reason> {
        if let Some(&known) = self.popped.get(&(push, at)) {
            return Ok(known);
        }
        let literal = self.variable();
        self.popped.insert((push, at), literal);
        let mut ways = vec![!literal];
        for (pop, found) in self.pops(push) {
            let order = self.before(pop, at);
            if pop == at || order == !self.truth {
                continue;
            }
            let way = if order == self.truth { found } else { self.variable() };
            if way != found {
                self.add([!way, found])?;
                self.add([!way, order])?;
            }
            ways.push(way);
        }
        self.add(ways)?;
        Ok(literal)
    }

    fn last_in_first_out(&mut self) -> Result<(), Reason> {
        let pushes = self.pushes();
        for &push in &pushes {
            for (finder, found) in self.finders[push as usize].clone() {
                if !self.is_pop(finder) {
                    for (pop, is_pop) in self.pops(push) {
                        let order = self.before(finder, pop);
                        self.add([!found, !is_pop, order])?;
                    }
                }
                for &later in pushes.iter().filter(|&&it| it != push) {
                    let (after, before) = (self.before(push, later), self.before(later, finder));
                    self.needs_popped([found, after, before], later, finder)?;
                }
            }
        }
        for empty in self.operations.clone() {
            if self.columns.kinds[empty as usize] == RoleKind::Empty {
                for &push in &pushes {
                    let before = self.before(push, empty);
                    self.needs_popped([before, self.truth, self.truth], push, empty)?;
                }
            }
        }
        Ok(())
    }

    /// If all of `conditions` hold, then what `push` added was popped before `at`.
    fn needs_popped(&mut self, conditions: [Lit; 3], push: u32, at: u32) -> Result<(), Reason> {
        if conditions.contains(&!self.truth) {
            return Ok(());
        }
        let popped = self.popped(push, at)?;
        let [one, two, three] = conditions;
        self.add([!one, !two, !three, popped])
    }

    fn solve(mut self) -> Result<Found, Reason> {
        let outcome = self.solver.solve_limited(&[]);
        self.budget.visit(self.solver.num_conflicts());
        if outcome == lbool::FALSE {
            return Ok(Found::Longest(Vec::new()));
        }
        if outcome != lbool::TRUE {
            let conflicts = self.solver.cb().conflicts;
            return Err(self.budget.allow(conflicts).err().unwrap_or(Reason::Cancelled));
        }
        let holds = |it: Lit| self.solver.value_lit(it) == lbool::TRUE;
        let takes_effect = |it: u32| {
            let is_found_by = |finder: u32| {
                let mut of = self.finders.iter().flatten();
                of.any(|&(by, literal)| by == finder && holds(literal))
            };
            match self.columns.kinds[it as usize] {
                _ if !self.columns.is_pending(it as usize) => true,
                RoleKind::Add => self.finders[it as usize].iter().any(|&(_, literal)| holds(literal)),
                _ => is_found_by(it),
            }
        };
        let mut order: Vec<u32> = self.operations.iter().copied().filter(|&it| takes_effect(it)).collect();
        let is_before = |one: u32, other: u32| {
            let interval = |it: u32| self.columns.intervals[it as usize];
            if interval(one).precedes(interval(other)) || interval(other).precedes(interval(one)) {
                return interval(one).precedes(interval(other));
            }
            let literal = self.first.get(&(one.min(other), one.max(other))).copied();
            literal.is_none_or(holds) == (one < other)
        };
        // How many come before it is the place of each.
        let place = |it: u32| order.iter().filter(|&&other| other != it && is_before(other, it)).count();
        let mut places: Vec<(usize, u32)> = order.iter().map(|&it| (place(it), it)).collect();
        places.sort_unstable();
        order = places.into_iter().map(|it| it.1).collect();
        Ok(Found::Linearization(order))
    }
}

/// For each operation, those of `operations` that overlap it.
fn overlapping(columns: &Columns, operations: &[u32]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); columns.len()];
    for (at, &one) in operations.iter().enumerate() {
        // Intervals ascend by their left ends.
        let interval = columns.intervals[one as usize];
        let later =
            operations[at + 1..].iter().take_while(|&&it| !interval.precedes(columns.intervals[it as usize]));
        for &other in later {
            all[one as usize].push(other);
            all[other as usize].push(one);
        }
    }
    all
}
