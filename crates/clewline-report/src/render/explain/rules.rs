//! Explanations of rule violations, a sentence or two for each.

use std::{cell::RefCell, collections::HashSet};

use clewline_core::{OperationId, Rule, Shown, ShownReturn, Value};

use super::{Explainer, LAST_OPERATIONS_SHOWN, glued, listed, observed_value, put_value, times};
use crate::render::count;

impl Explainer<'_> {
    /// A rule violation, in terms of the operations that violate it.
    pub(super) fn broken(&self, rule: Rule, operations: &[OperationId]) -> String {
        let explained = Explained { explainer: self, operations, named: RefCell::default() };
        let words = explained.words(rule);
        // These are about all operations of the counterexample.
        let is_whole = matches!(rule, Rule::NoneBelow | Rule::OutOfOrder { .. });
        let words = if is_whole { words } else { format!("{words}{}", explained.rest()) };
        let counts = matches!(
            rule,
            Rule::Often { .. } | Rule::AddedAgain { .. } | Rule::RemovedAgain { .. } | Rule::Left { .. }
        );
        // Elements that came and went may no longer be held.
        let is_settled = counts && self.judged.has_forgotten();
        if is_settled { format!("{words} What had been settled before is not counted.") } else { words }
    }
}

/// The operations of a rule, by their places.
struct Explained<'t> {
    explainer: &'t Explainer<'t>,
    operations: &'t [OperationId],
    // Those that the words name, or count.
    named: RefCell<HashSet<OperationId>>,
}

impl Explained<'_> {
    fn words(&self, rule: Rule) -> String {
        match rule {
            Rule::Added | Rule::AddedBefore | Rule::TakenOnce | Rule::Gone => {
                self.found_what_is_not_there(rule)
            }
            Rule::Often { added } => self.often(0, added as usize),
            Rule::OftenSince { added } => self.often_since(added as usize),
            Rule::AddedAgain { removed: undone } | Rule::RemovedAgain { added: undone } => {
                self.changed_again(rule, undone as usize)
            }
            Rule::Left { added } => self.left(added as usize),
            Rule::Empty => self.empty(),
            Rule::FirstInFirstOut | Rule::OneInFront | Rule::FrontInTurn => self.out_of_turn(rule),
            Rule::GreatestFirst => self.not_the_greatest(),
            Rule::LastInFirstOut => self.below_another(),
            Rule::NoneBelow => {
                "Last in, first out: in every order of these, some operation finds another value on top."
                    .to_owned()
            }
            Rule::OvertakesMany { allowed } => {
                format!("{} overtakes {}.", self.name(1), self.beyond(allowed, 1))
            }
            Rule::OvertakenOften { allowed } => {
                format!("What {} added is overtaken by {}.", self.name(0), self.beyond(allowed, 0))
            }
            Rule::OutOfOrder { allowed } => {
                let allowed = count(u64::from(allowed), "other", "others");
                format!("In every order of these, one overtakes, or is overtaken by, more than {allowed}.")
            }
            Rule::OneAtATime => self.one_at_a_time(),
            Rule::NoRoom => self.no_room(),
            Rule::Stale => self.stale(),
            Rule::Other(rule) => {
                let names: Vec<String> = (0..self.operations.len()).map(|it| self.name(it)).collect();
                format!("{}: {rule}.", names.join(", "))
            }
            Rule::ReplacedOnce if self.name(0) == self.name(1) => {
                format!("{} happened twice, but {} had been there only once.", self.name(0), self.found(0))
            }
            Rule::ReplacedOnce => format!(
                "Both {} and {} replaced {}, which had been there only once.",
                self.name(0),
                self.name(1),
                self.found(0)
            ),
            Rule::Chain => format!(
                "{} belongs before {} in the chain of values, but {} had returned before it was called.",
                self.name(1),
                self.name(0),
                self.name(0)
            ),
            Rule::ThereOrNot => {
                format!("However the others are ordered, {} has no place among them.", self.name(0))
            }
            Rule::AbsentSince => self.absent_since(),
            Rule::Lineage => self.lineage(),
            Rule::Sum => self.no_sum(),
            Rule::SumWithin { least, greatest } => self.sum(least, greatest),
            Rule::FoundUnadded { .. }
            | Rule::Lost { .. }
            | Rule::ReadsDisagree { .. }
            | Rule::EarlierMissing { .. } => self.about_elements(rule),
        }
    }
}

impl Explained<'_> {
    fn shown(&self, place: usize) -> Option<Shown> {
        self.operations.get(place).map(|&it| self.explainer.judged.case.shown(it))
    }

    /// What it returned, if that is something.
    fn ret(&self, place: usize) -> Option<ShownReturn> {
        self.shown(place).and_then(|it| it.ret)
    }

    fn put_value(&self, place: usize) -> Option<String> {
        self.shown(place).and_then(|it| put_value(&it))
    }

    fn observed_value(&self, place: usize) -> Option<String> {
        self.shown(place).and_then(|it| observed_value(&it))
    }

    fn name(&self, place: usize) -> String {
        self.operations.get(place).map_or_else(String::new, |&it| self.name_of(it))
    }

    fn name_of(&self, id: OperationId) -> String {
        self.named.borrow_mut().insert(id);
        self.explainer.label(id)
    }

    /// A sentence about the operations of the counterexample that the words leave out, if they do.
    fn rest(&self) -> String {
        let label = |id: &OperationId| self.explainer.label(*id);
        let named: HashSet<String> = self.named.borrow().iter().map(label).collect();
        let violation = self.explainer.violation;
        let mut rest: Vec<String> = violation.counterexample.iter().map(label).collect();
        rest.retain(|it| !named.contains(it));
        match (rest.len(), violation.is_minimal) {
            (0, _) => String::new(),
            (_, true) => {
                format!(" Without {}, there would be an order in which all results are right.", listed(&rest))
            }
            (1, false) => format!(" {} belongs to it as well.", listed(&rest)),
            (_, false) => format!(" {} belong to it as well.", listed(&rest)),
        }
    }

    /// The value that the operation put.
    fn put(&self, place: usize) -> String {
        self.put_value(place).unwrap_or_else(|| format!("what {} put there", self.name(place)))
    }

    /// The value that the operation observed.
    fn found(&self, place: usize) -> String {
        self.observed_value(place).unwrap_or_else(|| format!("what {} found", self.name(place)))
    }

    /// The value that it put if it has no result, and otherwise the value that it observed.
    fn value(&self, place: usize) -> String {
        if self.ret(place).is_some() { self.found(place) } else { self.put(place) }
    }

    /// That the operation at one place had returned before the one at the next was called.
    fn before(&self, place: usize) -> String {
        format!("{} had returned before {} was called", self.name(place), self.name(place + 1))
    }

    /// What is wrong with the elements of a set that is read as a whole.
    fn about_elements(&self, rule: Rule) -> String {
        match rule {
            Rule::FoundUnadded { element } if self.operations.len() == 1 => {
                format!("{} found {}, which no operation had added.", self.name(0), self.element(element))
            }
            Rule::FoundUnadded { element } => format!(
                "{} had returned before {} was called{}.",
                self.finder(0, element),
                self.name(1),
                self.but_not(2, element)
            ),
            Rule::Lost { element } => format!(
                "{} had returned before {} was called, which did not find {element}, although no operation had \
                 removed {element}.",
                self.finder(0, element),
                self.name(1),
                element = self.element(element)
            ),
            Rule::ReadsDisagree { only_first, only_second } => format!(
                "{first} found {one} and not {other}, {second} found {other} and not {one}. Neither can have been \
                 the first, as no operation had removed either.",
                first = self.name(0),
                second = self.name(1),
                one = self.element(only_first),
                other = self.element(only_second)
            ),
            Rule::EarlierMissing { found, missing } => format!(
                "{} had returned before {} was called{}, so {missing} was there before {found}. But {} found \
                 {found} and not {missing}, although no operation had removed {missing}.",
                self.finder(0, missing),
                self.name(1),
                self.but_not(3, found),
                self.name(2),
                found = self.element(found),
                missing = self.element(missing)
            ),
            _ => String::new(),
        }
    }

    /// An element of a set.
    fn element(&self, word: u64) -> String {
        let values = self.explainer.judged.case.values();
        let value = Value::from_word(word).filter(|&it| values.has(it));
        value.map_or_else(|| "an element".to_owned(), |it| glued(&values.show(it).to_string()))
    }

    /// An operation that added or found an element. A read does not name it.
    fn finder(&self, place: usize, element: u64) -> String {
        let is_named = self.put_value(place).is_some();
        let found = if is_named { String::new() } else { format!(" found {}, and", self.element(element)) };
        format!("{}{found}", self.name(place))
    }

    /// That the operation at a place, if there is one, did not add an element.
    fn but_not(&self, place: usize, element: u64) -> String {
        match self.operations.get(place) {
            Some(_) => format!(", and {} did not add {}", self.name(place), self.element(element)),
            None => String::new(),
        }
    }

    fn is_drawn(&self, place: usize) -> bool {
        self.operations.get(place).is_some_and(|it| self.explainer.violation.counterexample.contains(it))
    }

    fn found_what_is_not_there(&self, rule: Rule) -> String {
        let (first, second) = (self.name(0), self.name(1));
        let value = self.observed_value(0);
        match (rule, value) {
            (Rule::Added, None) => format!("{first} undoes what no operation had done."),
            // An element that came and went may no longer be held.
            (Rule::Added, Some(value)) if self.explainer.judged.has_forgotten() => {
                format!("{first} found {value}, which no operation had put there, or which was gone by then.")
            }
            (Rule::Added, Some(value)) => format!("{first} found {value}, which no operation had put there."),
            (Rule::AddedBefore, _) if first == second => {
                format!("{first} returned before the other one was called.")
            }
            (Rule::AddedBefore, _) => format!("{first} returned before {second} was called."),
            (Rule::TakenOnce, value) => {
                let value =
                    value.map_or_else(|| "what had been".to_owned(), |it| format!("{it}, which had been"));
                if first == second {
                    format!("{first} happened twice, but took {value} added only once.")
                } else {
                    format!("Both {first} and {second} took {value} added only once.")
                }
            }
            (_, value) => {
                let value = value.unwrap_or_else(|| "it".to_owned());
                format!("{}: {value} was gone by then.", self.before(0))
            }
        }
    }

    /// Labels of operations, each once, with how often.
    fn counted(
        &self,
        places: std::ops::Range<usize>,
        name: impl Fn(OperationId) -> String,
    ) -> Vec<(String, usize)> {
        let mut all: Vec<(String, usize)> = Vec::new();
        for &id in self.operations.get(places).unwrap_or_default() {
            self.named.borrow_mut().insert(id);
            let name = name(id);
            match all.iter_mut().find(|it| it.0 == name) {
                Some(known) => known.1 += 1,
                None => all.push((name, 1)),
            }
        }
        all
    }

    /// An operation that added or removed something, or may have.
    fn added(&self, id: OperationId) -> String {
        let is_pending = self.explainer.judged.case.spans()[id.index()].is_pending();
        if is_pending { self.explainer.call(id) } else { self.explainer.label(id) }
    }

    /// `enq(1) happened only once`, or nothing if there are none.
    fn only(&self, places: std::ops::Range<usize>) -> Option<String> {
        let total = places.len();
        let all = self.counted(places, |id| self.added(id));
        match all.as_slice() {
            [] => None,
            [(name, number)] => Some(format!("{name} only {}", times(*number))),
            _ => {
                let names: Vec<String> = all.into_iter().map(|it| it.0).collect();
                Some(format!("{} together only {}", listed(&names), times(total)))
            }
        }
    }

    fn often_since(&self, added: usize) -> String {
        let start = format!("After {} had found nothing", self.name(0));
        if added == 0 && self.operations.len() == 2 {
            return format!(
                "{start}, {} found {}, which no operation had put there since.",
                self.name(1),
                self.found(1)
            );
        }
        format!("{start}, {}", self.often(1, added))
    }

    fn often(&self, first: usize, added: usize) -> String {
        let takers = self.operations.len().saturating_sub(added);
        let all = self.counted(first..takers, |id| self.explainer.label(id));
        let only = self.only(takers..self.operations.len()).unwrap_or_else(|| "nothing was added".to_owned());
        let adders = takers..self.operations.len();
        let by_then = if self.has_more(adders, |id| self.added(id)) { " by then" } else { "" };
        let is_more = self.has_more(first..takers, |id| self.explainer.label(id));
        let at_least = if is_more { "at least " } else { "" };
        let happened = |(name, number): &(String, usize)| {
            format!("{name} happened {}{}", if 1 < *number { at_least } else { "" }, times(*number))
        };
        match all.as_slice() {
            [only_one] => format!("{}, but {only}{by_then}.", happened(only_one)),
            [some @ .., (last, 1)] => {
                let some: Vec<String> = some.iter().map(happened).collect();
                format!("{}, and then {last} found it once more, but {only}{by_then}.", listed(&some))
            }
            all => {
                let all: Vec<String> = all.iter().map(happened).collect();
                format!("{}, but {only}{by_then}.", listed(&all))
            }
        }
    }

    /// Whether operations that look the same happened elsewhere, too.
    fn has_more(&self, places: std::ops::Range<usize>, name: impl Fn(OperationId) -> String) -> bool {
        let case = self.explainer.judged.case;
        let named = self.operations.get(places).unwrap_or_default();
        let labels: HashSet<String> = named.iter().map(|&it| name(it)).collect();
        let objects: HashSet<_> = named.iter().map(|&it| case.object(it)).collect();
        let counted: HashSet<OperationId> = self.operations.iter().copied().collect();
        let mut all = (0..case.spans().len()).map(OperationId::from_index);
        all.any(|it| {
            !counted.contains(&it) && objects.contains(&case.object(it)) && labels.contains(&name(it))
        })
    }

    fn changed_again(&self, rule: Rule, undone: usize) -> String {
        let changes = self.operations.len().saturating_sub(undone);
        let (name, happened) = (self.name(0), times(changes));
        let is_removed = matches!(rule, Rule::RemovedAgain { .. });
        match (self.only(changes..self.operations.len()), self.put_value(0)) {
            (Some(only), _) => format!("{name} happened {happened}, but {only} in between."),
            (None, Some(value)) if is_removed => {
                format!("{name} happened {happened}, but no operation added {value} in between.")
            }
            (None, Some(value)) => {
                format!("{name} happened {happened}, but no operation removed {value} in between.")
            }
            (None, None) => {
                format!("{name} happened {happened}, but no operation undid the first in between.")
            }
        }
    }

    fn left(&self, added: usize) -> String {
        let miss = self.name(0);
        // One of the observing operations is enough.
        let removers = 1 + added..self.operations.len();
        let adders = times_each(self.counted(1..1 + added, |id| self.explainer.label(id)));
        let (found, goes_first) = match self.ret(0) {
            Some(ShownReturn::Bool(false)) => (format!("{miss} missed {}", self.found(0)), ""),
            Some(ShownReturn::Bool(true)) => (format!("{miss} did not find {}", self.found(0)), ""),
            Some(ShownReturn::Null) | None => (format!("{miss} found nothing"), ""),
            // Of a priority queue.
            Some(_) => (format!("{miss} found {}", self.found(0)), ", which go first,"),
        };
        let had = format!("although {}{goes_first} had returned before it was called", listed(&adders));
        let number = removers.len();
        let names = times_each(self.counted(removers, |id| self.added(id)));
        match (number, added) {
            (0, 1) => format!("{found}, {had} and no operation can have removed {} since.", self.value(1)),
            (0, _) => format!("{found}, {had} and no operation can have removed anything since."),
            (1, _) => format!("{found}, {had} and only {} can have removed one of them.", listed(&names)),
            (n, _) => format!("{found}, {had} and only {} can have removed {n} of them.", listed(&names)),
        }
    }

    fn empty(&self) -> String {
        let miss = self.name(0);
        match self.operations.get(1..) {
            Some([first, last]) if first == last || !self.is_drawn(2) => format!(
                "{miss} found nothing, although {} had returned before it was called and no operation had removed {} since.",
                self.name(1),
                self.value(1)
            ),
            Some([_, _]) => format!(
                "{miss} found nothing, although {} had returned before it was called, and {} was called only after it \
                 had returned.",
                self.name(1),
                self.name(2)
            ),
            rest => format!(
                "{miss} found nothing, although something was there all the time: {}.",
                self.stretches(rest.unwrap_or_default())
            ),
        }
    }

    /// Elements of a queue leave out of order. If one is not known to have left, there are fewer
    /// operations.
    fn out_of_turn(&self, rule: Rule) -> String {
        let is_late_drawn =
            self.operations.last().is_some_and(|it| self.explainer.violation.counterexample.contains(it));
        let number = self.operations.len();
        match (rule, number) {
            (Rule::OneInFront, 0..=2) => format!(
                "Both {} and {} found an element in front, and neither is known to have left.",
                self.name(0),
                self.name(1)
            ),
            (Rule::OneInFront, 3) if self.is_drawn(2) && self.operations[1] != self.operations[2] => format!(
                "Only one can be in front: {}, {} found {} as well, and {} is not known to have left.",
                self.before(0),
                self.name(2),
                self.found(2),
                self.found(0)
            ),
            (Rule::OneInFront, 3) => format!(
                "Only one can be in front: {}, and {} is not known to have left.",
                self.before(0),
                self.found(0)
            ),
            (Rule::OneInFront, _) => {
                format!(
                    "Each was in front before the other had left: {}, and {}.",
                    self.before(0),
                    self.before(2)
                )
            }
            (Rule::FrontInTurn, 0..=5) => format!(
                "They form a precedence cycle: {}, {}, and {} is not known to have left before {}.",
                self.before(0),
                self.before(2),
                self.found(0),
                self.name(4)
            ),
            (Rule::FrontInTurn, _) => format!(
                "They form a precedence cycle: {}, {}, and {}.",
                self.before(0),
                self.before(2),
                self.before(4)
            ),
            (_, 4) if is_late_drawn => {
                format!("{} left after {}, although {}.", self.value(0), self.value(1), self.before(0))
            }
            (_, _) => format!(
                "{} found {} while {} was still there, although {}.",
                self.name(2),
                self.found(2),
                self.value(0),
                self.before(0)
            ),
        }
    }

    // For both directions: the least may be the first to leave.
    fn not_the_greatest(&self) -> String {
        let (name, found) = (self.name(0), self.found(0));
        match self.operations.get(1..) {
            Some([first, last]) if first == last || !self.is_drawn(2) => format!(
                "{name} found {found}, although {}, which goes first, was there: {} had returned before it was called \
                 and no operation had removed it since.",
                self.value(1),
                self.name(1)
            ),
            Some([_, last]) if !self.matters(*last) => format!(
                "{name} found {found}, although {}, which goes first, was there: {} had returned before it was called, and {} \
                 was called only after it had returned.",
                self.value(1),
                self.name(1),
                self.name(2)
            ),
            rest => format!(
                "{name} found {found}, although something that goes first was there all the time: {}.",
                self.stretches(rest.unwrap_or_default())
            ),
        }
    }

    fn below_another(&self) -> String {
        let (lower, upper) = (self.value(0), self.value(1));
        let found = format!("{} found {lower} below {upper}", self.name(3));
        if self.operations.len() < 6 || !self.is_drawn(5) {
            return format!(
                "{found}: {}, {}, and no operation had removed {upper}.",
                self.before(0),
                self.before(2)
            );
        }
        format!("{found}: {}, {}, and {}.", self.before(0), self.before(2), self.before(4))
    }

    fn one_at_a_time(&self) -> String {
        format!(
            "{} was there both before and after {}, but was put there only once: {}, and {}.",
            self.value(0),
            self.value(1),
            self.before(0),
            self.before(2)
        )
    }

    fn no_room(&self) -> String {
        let late = self.name(0);
        match self.operations.get(1..) {
            Some([first, last]) if first != last && self.is_drawn(2) => {
                let (value, found) = (self.value(1), self.found(2));
                let meanwhile = if value == found {
                    format!("{value} was there all the time from one to the other")
                } else {
                    format!("from one to the other {value} became {found} by swaps alone")
                };
                format!("{late} lies between {} and {}, but {meanwhile}.", self.name(1), self.name(2))
            }
            rest => {
                let there = self.stretches(rest.unwrap_or_default());
                format!("{late} has no place: another value was there all the time, {there}.")
            }
        }
    }

    fn stale(&self) -> String {
        let (late, value, newer) = (self.name(0), self.found(0), self.name(1));
        let stale = format!("{late} is stale: {newer} had returned before it was called");
        let is_drawn = (2..self.operations.len()).any(|it| self.is_drawn(it));
        let earlier =
            listed(&times_each(self.counted(2..self.operations.len(), |id| self.explainer.label(id))));
        if is_drawn {
            return format!("{stale}, and {earlier} had returned before that one was called.");
        }
        format!("{stale}, and no later write restores {value}.")
    }

    fn sum(&self, least: i64, greatest: i64) -> String {
        let late = self.name(0);
        let is_read = self.ret(1).is_some();
        let adds = 1 + usize::from(is_read)..self.operations.len();
        let added = listed(&times_each(self.counted(adds.clone(), |id| self.explainer.label(id))));
        let by_then = match (is_read, adds.is_empty()) {
            (false, true) => "by then the sum was".to_owned(),
            (true, true) => {
                format!("{} had returned before it was called, and since then the sum was", self.name(1))
            }
            (false, false) => format!("{added} had returned before it was called, so the sum was"),
            (true, false) => {
                format!("{} and then {added} had returned before it was called, so the sum was", self.name(1))
            }
        };
        match self.ret(0) {
            _ if least == greatest => format!("{late} is wrong: {by_then} {least}."),
            Some(ShownReturn::Int(sum)) if sum < least => {
                format!("{late} is too little: {by_then} at least {least}.")
            }
            Some(ShownReturn::Int(sum)) if greatest < sum => {
                format!("{late} is too much: {by_then} at most {greatest}.")
            }
            Some(_) | None => format!("{late} is wrong: {by_then} between {least} and {greatest}."),
        }
    }

    fn absent_since(&self) -> String {
        let (found, value, absent) = (self.name(0), self.found(0), self.name(1));
        let although = format!("{found} found {value}, although {absent} had returned before it was called");
        let adders = 2..self.operations.len();
        if adders.clone().any(|it| self.is_drawn(it)) {
            let adders = listed(&times_each(self.counted(adders, |id| self.explainer.label(id))));
            return format!("{although}, and {adders} had returned before that one was called.");
        }
        format!("{although} and no operation can have added {value} since.")
    }

    /// No choice of the operations before has the sum.
    fn no_sum(&self) -> String {
        let late = self.name(0);
        let adds = self.counted(1..self.operations.len(), |id| self.added(id));
        let choice = match adds.as_slice() {
            [] => return format!("However the operations before it are ordered, {late} is not the sum."),
            [(only, 1)] => format!("whether or not {only} had happened by then"),
            _ => format!("whichever of {} had happened by then", listed(&times_each(adds))),
        };
        format!("{late} is wrong: {choice}, the sum was another one.")
    }

    /// Each operation found what only the next one can have put there.
    fn lineage(&self) -> String {
        let mut text = format!("{} found {}", self.name(0), self.found(0));
        for place in 1..self.operations.len() {
            let link = format!(
                ", which only {} can have put there; that one found {}",
                self.name(place),
                self.found(place)
            );
            text.push_str(&link);
        }
        format!("{text}, which no operation had put there by then.")
    }

    /// `2 elements in every order of enq(1), enq(2) and enq(3) (1 and 2); 1 is allowed`: the rest
    /// of the counterexample is named.
    fn beyond(&self, allowed: u32, of: usize) -> String {
        let own = self.value(of);
        let mut others: Vec<String> = Vec::new();
        for value in (0..self.operations.len()).map(|it| self.value(it)) {
            if value != own && !others.contains(&value) {
                others.push(value);
            }
        }
        let mut rest: Vec<OperationId> = self.explainer.violation.counterexample.clone();
        rest.retain(|it| self.operations.contains(it) && self.operations.get(of) != Some(it));
        let rest: Vec<String> = rest.into_iter().map(|it| self.name_of(it)).collect();
        let order = if rest.is_empty() {
            "every order".to_owned()
        } else {
            format!("every order of {}", listed(&rest))
        };
        let elements = count(u64::from(allowed) + 1, "element", "elements");
        let allowed = count(u64::from(allowed), "is allowed", "are allowed");
        format!("{elements} in {order} ({}); {allowed}", listed(&others))
    }

    /// Whether the operation was called before the first one of the rule had returned.
    fn matters(&self, id: OperationId) -> bool {
        let spans = self.explainer.judged.case.spans();
        self.operations.first().is_some_and(|it| spans[id.index()].call() < spans[it.index()].end())
    }

    /// `between enq(1) and deq() → 1, then from enq(2) on`, for pairs of operations. A pair of
    /// equal operations has no end, and an end that was called after the first operation of the
    /// rule had returned is too late to matter.
    fn stretches(&self, operations: &[OperationId]) -> String {
        let stretch = |pair: &[OperationId]| match pair {
            [first, last] if first != last && self.matters(*last) => {
                format!("between {} and {}", self.name_of(*first), self.name_of(*last))
            }
            [first, ..] => format!("from {} on", self.name_of(*first)),
            [] => String::new(),
        };
        let all: Vec<String> = operations.chunks(2).map(stretch).collect();
        let (shown, rest) = all.split_at(all.len().min(LAST_OPERATIONS_SHOWN));
        let more = if rest.is_empty() { String::new() } else { format!(", and so on, {} more", rest.len()) };
        format!("{}{more}", shown.join(", then "))
    }
}

/// `add(1)`, `add(2) (twice)`.
fn times_each(counted: Vec<(String, usize)>) -> Vec<String> {
    let with_count = |(name, number): (String, usize)| match number {
        1 => name,
        _ => format!("{name} ({})", times(number)),
    };
    counted.into_iter().map(with_count).collect()
}
