//! Columns: a problem as monitors see it.
//!
//! Time is measured in *gaps*. A gap is a moment after a run of calls and before the run of returns
//! that follows it. Every linearizable history has a linearization whose linearization points are
//! in gaps: delaying a point up to the next return, or moving it forward past calls, loses nothing.
//! An operation becomes a closed interval of gaps, and precedes another if and only if its interval
//! ends before the other's begins. There are at most as many gaps as operations, equal times are
//! gone, and all sorts are counting sorts.

use clewline_core::{ObjectKind, Problem, RoleKind, Roles, Span, sort_by_key};

use crate::verdict::Unsupported;

/// The gaps in which an operation may take effect, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The first.
    pub left: u32,
    /// The last.
    pub right: u32,
}

impl Interval {
    /// Whether it ends before `other` begins.
    #[must_use]
    pub fn precedes(self, other: Interval) -> bool {
        self.right < other.left
    }
}

/// The operations of a problem in columns, by position. Intervals ascend by their left ends.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The kind of object.
    pub kind: ObjectKind,
    /// The role of each operation.
    pub kinds: Vec<RoleKind>,
    /// Its interval.
    pub intervals: Vec<Interval>,
    /// Its element. An element that is added again when it is certainly gone is another one.
    pub elements: Vec<u32>,
    /// The second element of each [`RoleKind::Replace`]; empty if there are none.
    pub seconds: Vec<u32>,
    /// The word that names each element.
    pub names: Vec<u64>,
    /// The gap after all others: pending operations end in it, and elements that are never removed
    /// may be removed in it.
    pub last: u32,
}

impl Columns {
    /// The columns of `problem`.
    ///
    /// # Errors
    ///
    /// If the role of an operation is not known.
    pub fn new(problem: &Problem<'_>) -> Result<Columns, Unsupported> {
        let mut columns = Columns::with_copies(problem)?;
        if columns.kind.is_container() {
            columns.renumber_readded_elements();
        }
        Ok(columns)
    }

    /// The columns of a problem whose operations need not be in the order of their calls, since
    /// some may take effect at any time; and the position of each column in the problem.
    ///
    /// # Errors
    ///
    /// If the role of an operation is not known.
    pub fn of_weaker(problem: &Problem<'_>) -> Result<(Columns, Vec<u32>), Unsupported> {
        let spans = problem.spans();
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        sort_by_key(&mut order, |at| spans[at as usize].call());
        let kind = problem.kind().ok_or(Unsupported::Other("no monitor knows this kind of object"))?;
        let roles = problem.roles().map_err(|_| Unsupported::Other("no role describes an operation"))?;
        let in_order = |column: &[u32]| -> Vec<u32> {
            if column.is_empty() { Vec::new() } else { order.iter().map(|&at| column[at as usize]).collect() }
        };
        let roles = Roles {
            kinds: order.iter().map(|&at| roles.kinds[at as usize]).collect(),
            elements: in_order(&roles.elements),
            seconds: in_order(&roles.seconds),
            names: roles.names,
        };
        let spans: Vec<Span> = order.iter().map(|&at| spans[at as usize]).collect();
        let (intervals, last) = gaps(&spans);
        let mut columns = Columns::with_intervals(kind, roles, intervals, last);
        if columns.kind.is_container() {
            columns.renumber_readded_elements();
        }
        Ok((columns, order))
    }

    /// The columns of `problem`, in which an element that is added again keeps its number.
    ///
    /// # Errors
    ///
    /// If the role of an operation is not known.
    pub fn with_copies(problem: &Problem<'_>) -> Result<Columns, Unsupported> {
        let kind = problem.kind().ok_or(Unsupported::Other("no monitor knows this kind of object"))?;
        let unfit = |id| problem.position(id).map_or(NONE, |at| at as u32);
        let roles = problem.roles().map_err(|it| match it {
            Some(id) => Unsupported::Unfit(unfit(id)),
            None => Unsupported::Other("no monitor knows this kind of object"),
        })?;
        let (intervals, last) = gaps(problem.spans());
        Ok(Columns::with_intervals(kind, roles, intervals, last))
    }

    /// The columns of the same object without its capacity, in which an element that is added again
    /// keeps its number, and the position of each in the problem; `None` if it has none.
    #[must_use]
    pub fn without_capacity(problem: &Problem<'_>) -> Option<(Columns, Vec<u32>)> {
        let (kind, positions, roles) = problem.without_capacity()?;
        let spans: Vec<Span> = positions.iter().map(|&at| problem.spans()[at as usize]).collect();
        let (intervals, last) = gaps(&spans);
        Some((Columns::with_intervals(kind, roles, intervals, last), positions))
    }

    /// The columns of all operations of an object with a capacity, in which an element that is
    /// added again keeps its number. Those that found no room are [`RoleKind::Absent`]. `None` if
    /// it has no capacity.
    #[must_use]
    pub fn with_refused(problem: &Problem<'_>) -> Option<Columns> {
        let (kind, positions, mut roles) = problem.without_capacity()?;
        let (mut kinds, mut elements) = (vec![RoleKind::Absent; problem.len()], vec![0; problem.len()]);
        for (place, &at) in positions.iter().enumerate() {
            kinds[at as usize] = roles.kinds[place];
            elements[at as usize] = roles.elements.get(place).copied().unwrap_or(0);
        }
        (roles.kinds, roles.elements) = (kinds, elements);
        let (intervals, last) = gaps(problem.spans());
        Some(Columns::with_intervals(kind, roles, intervals, last))
    }

    /// The columns of operations with these roles and intervals, in the order of their calls.
    /// Pending operations end in the gap `last`, which is after all others.
    #[must_use]
    pub fn with_intervals(kind: ObjectKind, roles: Roles, intervals: Vec<Interval>, last: u32) -> Columns {
        let Roles { kinds: acts, elements, seconds, names } = roles;
        let mut columns = Columns { kind, kinds: acts, intervals, elements, seconds, names, last };
        if columns.kind.is_container() {
            columns.drop_unobserved_adds();
        }
        columns
    }

    /// How many operations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// How many gaps there are, the last one included.
    #[must_use]
    pub fn gaps(&self) -> usize {
        self.last as usize + 1
    }

    /// Whether the operation is pending.
    #[must_use]
    pub fn is_pending(&self, at: usize) -> bool {
        self.intervals[at].right == self.last
    }

    /// Drops pending adds of elements that no operation found: they cannot be observed.
    fn drop_unobserved_adds(&mut self) {
        let pending = |it: &Columns| -> Vec<usize> {
            (0..it.len()).filter(|&at| it.kinds[at] == RoleKind::Add && it.is_pending(at)).collect()
        };
        let pending = pending(self);
        if pending.is_empty() {
            return;
        }
        let mut is_found = vec![false; self.names.len()];
        for (&kind, &element) in self.kinds.iter().zip(&self.elements) {
            if matches!(kind, RoleKind::Remove | RoleKind::Observe) {
                is_found[element as usize] = true;
            }
        }
        for at in pending {
            if !is_found[self.elements[at] as usize] {
                self.kinds[at] = RoleKind::NoEffect;
            }
        }
    }

    /// Gives an element another number when it is added again after all operations on it have
    /// returned, and it has been removed as often as added.
    fn renumber_readded_elements(&mut self) {
        let mut adds = vec![0_u8; self.names.len()];
        for (&kind, &element) in self.kinds.iter().zip(&self.elements) {
            if kind == RoleKind::Add {
                adds[element as usize] = adds[element as usize].saturating_add(1);
            }
        }
        if adds.iter().all(|&it| it <= 1) {
            return;
        }
        #[derive(Clone, Copy)]
        struct Life {
            number: u32,
            is_removed: bool,
            // How often it was added but not removed.
            inside: i32,
            // The last gap in which it may have changed.
            end: u32,
        }
        let unborn = |number| Life { number: number as u32, is_removed: false, inside: 0, end: 0 };
        let mut lives: Vec<Life> = (0..self.names.len()).map(unborn).collect();
        for at in 0..self.len() {
            if !matches!(self.kinds[at], RoleKind::Add | RoleKind::Remove | RoleKind::Observe) {
                continue;
            }
            let Interval { left, right } = self.intervals[at];
            let life = &mut lives[self.elements[at] as usize];
            if self.kinds[at] == RoleKind::Add && life.is_removed && life.inside <= 0 && life.end < left {
                let name = self.names[self.elements[at] as usize];
                *life = Life { number: self.names.len() as u32, is_removed: false, inside: 0, end: 0 };
                self.names.push(name);
            }
            life.is_removed |= self.kinds[at] == RoleKind::Remove;
            life.inside +=
                i32::from(self.kinds[at] == RoleKind::Add) - i32::from(self.kinds[at] == RoleKind::Remove);
            life.end = life.end.max(right);
            self.elements[at] = life.number;
        }
    }
}

/// The interval of each span, and the gap after all.
#[must_use]
pub fn gaps(spans: &[Span]) -> (Vec<Interval>, u32) {
    let (mut least, mut greatest) = (u32::MAX, 0);
    for span in spans {
        least = least.min(span.call());
        greatest = greatest.max(span.ret().unwrap_or(span.call()));
    }
    let least = least.min(greatest);
    // Ranks that lie close together are sorted by setting bits; the few of a part of a history are
    // not.
    if ((greatest - least) as usize) < 64 * spans.len() {
        Timeline::new(spans, least, greatest).intervals(spans)
    } else {
        sorted(spans)
    }
}

/// Which ranks begin a gap: bits, with the number of them before each word.
struct Timeline {
    least: u32,
    begins: Vec<u64>,
    before: Vec<u32>,
    gaps: u32,
}

impl Timeline {
    fn new(spans: &[Span], least: u32, greatest: u32) -> Timeline {
        let words = ((greatest - least) / u64::BITS) as usize + 1;
        let mut begins = vec![0_u64; words];
        let mut returns = vec![0_u64; words];
        for span in spans {
            set(&mut begins, span.call() - least);
            if let Some(ret) = span.ret() {
                set(&mut returns, ret - least);
            }
        }
        // Calls that follow a return begin a gap: the return is the event before, however many
        // unused ranks lie between. An addition carries the mark of a return over those, also from
        // word to word.
        let mut before = Vec::with_capacity(words);
        let mut follows_return = 0;
        let mut count = 0;
        for (calls, &returns) in begins.iter_mut().zip(&returns) {
            before.push(count);
            let nothing = !(*calls | returns);
            let after_return = returns << 1 | follows_return;
            let (carried, overflows) = (after_return & nothing).overflowing_add(nothing);
            *calls &= !returns & (after_return | carried & !nothing);
            follows_return = returns >> (u64::BITS - 1) | u64::from(overflows);
            count += calls.count_ones();
        }
        Timeline { least, begins, before, gaps: count + 1 }
    }

    fn gap(&self, rank: u32) -> u32 {
        let place = rank - self.least;
        let word = (place / u64::BITS) as usize;
        let up_to = u64::MAX >> (u64::BITS - 1 - place % u64::BITS);
        self.before[word] + (self.begins[word] & up_to).count_ones()
    }

    fn intervals(&self, spans: &[Span]) -> (Vec<Interval>, u32) {
        let interval = |span: &Span| Interval {
            left: self.gap(span.call()),
            right: span.ret().map_or(self.gaps, |ret| self.gap(ret)),
        };
        (spans.iter().map(interval).collect(), self.gaps)
    }
}

fn set(bits: &mut [u64], place: u32) {
    bits[(place / u64::BITS) as usize] |= 1 << (place % u64::BITS);
}

/// As a [`Timeline`] does, by comparison.
fn sorted(spans: &[Span]) -> (Vec<Interval>, u32) {
    const RETURN: u32 = 1;
    let mut events: Vec<(u32, u32)> = Vec::with_capacity(2 * spans.len());
    for (at, span) in (0..).zip(spans) {
        events.push((span.call(), at << 1));
        events.extend(span.ret().map(|ret| (ret, at << 1 | RETURN)));
    }
    events.sort_unstable();
    let mut intervals = vec![Interval { left: 0, right: NONE }; spans.len()];
    let mut gap = 0;
    let mut follows_return = false;
    for (_, event) in events {
        let interval = &mut intervals[(event >> 1) as usize];
        if event & RETURN != 0 {
            interval.right = gap;
            follows_return = true;
        } else {
            gap += u32::from(follows_return);
            interval.left = gap;
            follows_return = false;
        }
    }
    let last = gap + 1;
    intervals.iter_mut().filter(|it| it.right == NONE).for_each(|it| it.right = last);
    (intervals, last)
}

/// No operation, no element, no gap.
pub const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use clewline_core::Random;

    #[test]
    fn calls_after_a_return_begin_a_gap() {
        // a: [0, 2], b: [1, ..), c: [3, 5], d: [4, 6], e: [7, 8].
        let spans = [(0, Some(2)), (1, None), (3, Some(5)), (4, Some(6)), (7, Some(8))];
        let spans: Vec<Span> = spans.into_iter().map(|(call, ret)| Span::new(call, ret)).collect();
        let (intervals, last) = gaps(&spans);
        let bounds: Vec<(u32, u32)> = intervals.iter().map(|it| (it.left, it.right)).collect();
        assert_eq!(bounds, [(0, 0), (0, 3), (1, 1), (1, 1), (2, 2)]);
        assert_eq!(last, 3);
    }

    #[test]
    fn bits_and_comparisons_find_the_same_gaps_and_keep_precedence() {
        let mut random = Random::new(3);
        for round in 0..2_000 {
            let count = 1 + random.below(40);
            let segment = 1 + random.below(1 + round % 9) as u32;
            let mut ranks: Vec<u32> = (0..2 * count as u32).map(|it| 5 + it * segment).collect();
            for at in (1..ranks.len()).rev() {
                ranks.swap(at, random.below(at + 1));
            }
            let span = |pair: &[u32]| {
                let (call, ret) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                Span::new(call, (!pair[0].is_multiple_of(7)).then_some(ret))
            };
            let mut spans: Vec<Span> = ranks.chunks(2).map(span).collect();
            spans.sort_by_key(|it| it.call());
            let (least, greatest) = (5, 5 + 2 * count as u32 * segment);
            let (intervals, last) = Timeline::new(&spans, least, greatest).intervals(&spans);
            assert_eq!((intervals.clone(), last), sorted(&spans));
            for (one, a) in spans.iter().zip(&intervals) {
                for (other, b) in spans.iter().zip(&intervals) {
                    assert_eq!(one.precedes(*other), a.precedes(*b), "{spans:?}");
                }
            }
        }
    }
}
