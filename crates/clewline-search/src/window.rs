//! The elements at the head of a queue whose enqs are placed.

/// The elements at the head of a queue whose enqs are placed, in the order of their enqs: at most
/// one, except in a relaxed queue, where elements may be overtaken.
pub(super) struct Window {
    elements: Vec<Waiting>,
    // How many elements one may overtake, and how often it may be overtaken.
    factor: usize,
    // Whether the last enq was placed for the next operation of the head side, which has to find
    // its element, or that of a further enq.
    is_owing: bool,
}

/// An element in the window.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    value: u32,
    overtaken: usize,
    // Whether a pending enq put it there, and no peek has found it.
    is_unfound: bool,
}

/// What was before a change.
#[derive(Clone, Copy)]
pub(super) struct Undo {
    was_owing: bool,
    change: Change,
}

#[derive(Clone, Copy)]
enum Change {
    Nothing,
    Added,
    // An element was found or removed, at this place.
    Found(usize, Waiting),
    Removed(usize, Waiting),
}

impl Window {
    /// An empty window.
    pub(super) fn new(factor: usize) -> Window {
        Window { elements: Vec::new(), factor, is_owing: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The value at the place.
    pub(super) fn value(&self, place: usize) -> u32 {
        self.elements[place].value
    }

    /// Where an operation of the head side finds this value, if it does.
    pub(super) fn place_of(&self, value: u32) -> Option<usize> {
        let place = self.reachable().find(|&it| self.elements[it].value == value)?;
        (!self.is_owing || place + 1 == self.elements.len()).then_some(place)
    }

    /// The places from which a pending deq may remove an element. What a pending enq added is not
    /// removed by a pending deq unless a peek has found it.
    pub(super) fn removable(&self) -> impl Iterator<Item = usize> {
        self.reachable()
            .filter(|&it| self.place_of(self.elements[it].value) == Some(it) && !self.elements[it].is_unfound)
    }

    /// Whether the next operation of the head side could find an element that is added now.
    pub(super) fn has_room(&self) -> bool {
        self.elements.len() <= self.factor && self.elements.iter().all(|it| it.overtaken < self.factor)
    }

    /// Whether an element of this value that is added now would be found.
    pub(super) fn shows(&self, value: u32) -> bool {
        self.elements.iter().all(|it| it.value != value)
    }

    /// Whether that operation could find one that is added after it.
    pub(super) fn has_more_room(&self) -> bool {
        self.elements.len() < self.factor && self.has_room()
    }

    /// Adds an element.
    pub(super) fn add(&mut self, value: u32, is_unfound: bool) -> Undo {
        self.elements.push(Waiting { value, overtaken: 0, is_unfound });
        self.changed(Change::Added, true)
    }

    /// An operation that changes nothing finds the element at this place.
    pub(super) fn find(&mut self, place: usize) -> Undo {
        let before = self.elements[place];
        self.elements[place].is_unfound = false;
        self.changed(Change::Found(place, before), false)
    }

    /// Removes the element at this place.
    pub(super) fn remove(&mut self, place: usize) -> Undo {
        self.elements[..place].iter_mut().for_each(|it| it.overtaken += 1);
        let element = self.elements.remove(place);
        self.changed(Change::Removed(place, element), false)
    }

    /// Changes nothing.
    pub(super) fn keep(&self) -> Undo {
        Undo { was_owing: self.is_owing, change: Change::Nothing }
    }

    /// Undoes the last change.
    pub(super) fn undo(&mut self, Undo { was_owing, change }: Undo) {
        match change {
            Change::Nothing => (),
            Change::Added => {
                self.elements.pop();
            }
            Change::Found(place, before) => self.elements[place] = before,
            Change::Removed(place, before) => {
                self.elements.insert(place, before);
                self.elements[..place].iter_mut().for_each(|it| it.overtaken -= 1);
            }
        }
        self.is_owing = was_owing;
    }

    /// Numbers that tell windows apart.
    pub(super) fn key(&self) -> impl Iterator<Item = u32> {
        let of_element = |it: &Waiting| [it.value, (it.overtaken as u32) << 1 | u32::from(it.is_unfound)];
        self.elements.iter().flat_map(of_element).chain([u32::from(self.is_owing)])
    }

    /// The places at which operations of the head side find elements.
    fn reachable(&self) -> impl Iterator<Item = usize> {
        let blocked = self.elements.iter().position(|it| it.overtaken == self.factor);
        let end = blocked.map_or(self.elements.len(), |it| it + 1).min(self.factor + 1);
        0..end.min(self.elements.len())
    }

    fn changed(&mut self, change: Change, is_owing: bool) -> Undo {
        Undo { was_owing: std::mem::replace(&mut self.is_owing, is_owing), change }
    }
}
