// Looking around: what is seen, what is selected, and what the page says about it.

let isDue = false;
let drawn = 0;

// Draws soon, once for all that has changed.
function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
    drawn++;
  });
}

// A view that is neither too close nor beyond what there is.
function look(from, to) {
  const most = layout.width * 1.04 + 1;
  const wide = Math.min(Math.max(to - from, 3), Math.max(most, 6));
  // An end may come into the middle, to be looked at closely; but a view of everything shows all of
  // it.
  const beyond = Math.min(wide / 2, Math.max(most - wide, (wide - layout.width) / 2));
  const left = Math.min(Math.max((from + to - wide) / 2, -beyond), layout.width - wide + beyond);
  view.from = left;
  view.to = left + wide;
  const all = layout.tracks.length * ROW + HEAD + 4;
  view.top = Math.min(Math.max(view.top, 0), Math.max(0, all - size.height));
  redraw();
  rememberSoon();
}

const moveBy = (columns, pixels) => {
  view.top += pixels;
  look(view.from + columns, view.to + columns);
};

function zoom(factor, x) {
  const at = x === undefined ? (view.from + view.to) / 2 : columnAt(x);
  look(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

// So that these operations fill most of the picture.
function fit(operations) {
  const shown = operations.filter((op) => layout.trackOf[op] >= 0);
  if (!shown.length) return fitAll();
  let [from, to, top] = [Infinity, -Infinity, Infinity];
  for (const op of shown) {
    from = Math.min(from, startColumn(layout, op));
    to = Math.max(to, isPending(op) ? startColumn(layout, op) + 4 : endColumn(layout, op) + 1);
    top = Math.min(top, layout.trackOf[op]);
  }
  const room = Math.max((to - from) * 0.12, 1);
  const isInView = (op) => (layout.trackOf[op] + 1) * ROW + HEAD - view.top <= size.height && layout.trackOf[op] * ROW >= view.top;
  if (!shown.every(isInView)) view.top = top * ROW;
  look(from - room, to + room);
}

const fitAll = () => look(-0.02 * layout.width, layout.width * 1.02);

// At first: everything, if that is little; the counterexample; or, without one, everything if that
// can be read, and otherwise the beginning.
function fitAtFirst() {
  const readable = (size.width - size.gutter) / 14;
  if (layout.width <= readable / 3) return fitAll();
  if (counterexample.some((op) => layout.trackOf[op] >= 0)) return fit(counterexample);
  if (layout.width <= readable) fitAll();
  else look(-0.5, readable);
}

// Moves the picture no more than is needed to see an operation.
function reveal(op) {
  if (layout.trackOf[op] < 0) choose("all");
  const y = layout.trackOf[op] * ROW;
  if (y < view.top) view.top = y;
  if (y + ROW + HEAD > view.top + size.height) view.top = y + ROW + HEAD - size.height;
  const wide = view.to - view.from;
  const [from, to] = [startColumn(layout, op), isPending(op) ? startColumn(layout, op) + 3 : endColumn(layout, op) + 1];
  if (from < view.from || from > view.to - wide * 0.05 || (to > view.to && to - from < wide)) {
    const middle = to - from < wide ? (from + to) / 2 : from + wide * 0.4;
    look(middle - wide / 2, middle + wide / 2);
  } else {
    look(view.from, view.to);
  }
}

function select(op) {
  selected = op;
  if (op >= 0) reveal(op);
  showDetails();
  redraw();
  rememberSoon();
}

// What is known of an operation, in sentences.
function facts(op) {
  const lines = [`${page.rest.caller} ${processName(op)}, called as event ${grouped(startOf[op] + 1)}, ${isPending(op) ? "and not returned: whether and when it took effect is unknown" : `returned as event ${grouped(endOf[op] + 1)}`}`];
  if (times(op)) lines.push(`by the clock of the file: ${times(op)}`);
  const where = [];
  if (history_.objects[objectOf[op]]) where.push(`object ${history_.objects[objectOf[op]]}`);
  if (history_.parts[partOf[op]]) where.push(`key ${history_.parts[partOf[op]]}`);
  if (lineOf[op]) where.push(`line ${grouped(lineOf[op])} of the file`);
  if (history_.texts[idOf[op]]) where.push(`id ${history_.texts[idOf[op]]}`);
  if (where.length) lines.push(where.join(", "));
  if (inCounterexample[op]) lines.push(page.rest.each);
  if (points) {
    const number = points.numbers.get(op);
    if (number) lines.push(`number ${grouped(number)} of the order that is drawn${states(op)}`);
    else if (points.stuck === op) lines.push(`it cannot come next in the order that is drawn${states(op)}`);
  }
  return lines.concat(notes.get(op) || []);
}

// What the operation does there to the state: `; the state before it is [1, 2], after it [2]`.
function states(op) {
  const known = around[pathNumber()] && around[pathNumber()].get(op);
  if (!known) return "";
  const [before, after] = known;
  if (after === "") return `; the state before it is ${before}`;
  return before === after ? `; the state is ${before}, and stays so` : `; the state before it is ${before}, after it ${after}`;
}

// How many operations may have happened before or after it.
function overlaps(op) {
  let others = 0;
  const end = first(op, count, (it) => startOf[it] > endOf[op]);
  for (let it = 0; it < end; it++) if (it !== op && endOf[it] > startOf[op] && layout.isShown[it]) others++;
  return others;
}

function element(name, text, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// Steps and messages of an operation, which link to it.
function markLinks() {
  for (const link of document.querySelectorAll("a.chosen")) link.classList.remove("chosen");
  if (selected < 0) return;
  for (const link of document.querySelectorAll(`a[href="#op=${selected}"]`)) link.classList.add("chosen");
}

function showDetails() {
  const details = document.getElementById("details");
  markLinks();
  details.replaceChildren();
  if (selected < 0) return;
  details.className = inCounterexample[selected] ? "counterexample" : "";
  const list = document.createElement("ul");
  for (const line of facts(selected)) list.append(element("li", line));
  const others = overlaps(selected);
  list.append(element("li", others ? `overlaps ${grouped(others)} other${others === 1 ? "" : "s"}: they may have happened before or after it` : "overlaps no other"));
  details.append(element("b", label(selected), "label"), list);
}

// Where a note stands among the events.
function noteFacts({ from, until, isMoment, isOpen }) {
  if (isOpen) return `from event ${grouped(from + 1)} on`;
  return isMoment || until === from ? `after event ${grouped(from)}` : `from event ${grouped(from + 1)} to event ${grouped(until)}`;
}

// The note at a point of the picture: one whose label is there, or the narrowest band.
function bandAt(x, y) {
  if (x < size.gutter || y < AXIS) return null;
  const labelled = bandLabels.find((it) => x >= it.left && x <= it.right && y >= it.top && y < it.top + LABEL);
  if (labelled || y < HEAD) return labelled ? labelled.band : null;
  const wide = (it) => bandPlace(it).right - bandPlace(it).left;
  const under = bands.filter((it) => x >= bandPlace(it).left - 3 && x <= bandPlace(it).right + 3);
  return under.sort((one, other) => wide(one) - wide(other))[0] || null;
}

function tip(op, x, y) {
  const band = op < 0 && x !== undefined ? bandAt(x, y) : null;
  const box = document.getElementById("tip");
  box.hidden = op < 0 && !band;
  if (box.hidden) return;
  if (band) box.replaceChildren(element("b", band.text), element("div", noteFacts(band)));
  else box.replaceChildren(element("b", label(op)), ...facts(op).map((it) => element("div", it)));
  box.style.left = Math.max(4, Math.min(x + 14, size.width - box.offsetWidth - 6)) + "px";
  // Below, unless the window ends there.
  const isCut = canvas.getBoundingClientRect().top + y + 20 + box.offsetHeight > window.innerHeight;
  box.style.top = (isCut ? y - box.offsetHeight - 10 : y + 20) + "px";
}

// The operation at a point of the picture; those of the counterexample are wider than they are, to
// be hit.
function operationAt(x, y) {
  if (x < size.gutter || y < HEAD) return -1;
  const track = Math.floor((y - HEAD + view.top) / ROW);
  if (track < 0 || track >= layout.tracks.length) return -1;
  for (const op of counterexample) {
    if (layout.trackOf[op] !== track) continue;
    const { left, right } = place(op);
    if (x >= left - 4 && x <= Math.max(right, left + 6) + 4) return op;
  }
  const { operations } = layout.tracks[track];
  const col = columnAt(x);
  const at = first(0, operations.length, (it) => endColumn(layout, operations[it]) + 1 > col);
  return at < operations.length && startColumn(layout, operations[at]) - 2 / scale() <= col ? operations[at] : -1;
}

// To the operation before or after in the same row.
function step(by) {
  if (selected < 0 || layout.trackOf[selected] < 0) return select(startingPoint());
  const { operations } = layout.tracks[layout.trackOf[selected]];
  const at = operations.indexOf(selected) + by;
  if (at >= 0 && at < operations.length) select(operations[at]);
}

// To the operation of another row that is nearest in time.
function change(by) {
  if (selected < 0 || layout.trackOf[selected] < 0) return select(startingPoint());
  const track = layout.trackOf[selected] + by;
  if (track < 0 || track >= layout.tracks.length) return;
  const { operations } = layout.tracks[track];
  const at = first(0, operations.length, (it) => startOf[operations[it]] > startOf[selected]);
  const near = [operations[at - 1], operations[at]].filter((it) => it !== undefined);
  near.sort((one, other) => Math.abs(startOf[one] - startOf[selected]) - Math.abs(startOf[other] - startOf[selected]));
  select(near[0]);
}

function jump(isToEnd) {
  const track = layout.tracks[selected >= 0 && layout.trackOf[selected] >= 0 ? layout.trackOf[selected] : 0];
  if (track) select(track.operations[isToEnd ? track.operations.length - 1 : 0]);
}

// Where the keyboard begins: with the counterexample, or with what is seen first.
function startingPoint() {
  const drawn = counterexample.find((op) => layout.trackOf[op] >= 0);
  if (drawn !== undefined) return drawn;
  const at = first(0, count, (op) => layout.columns[startOf[op]] >= view.from);
  for (let op = at; op < count; op++) if (layout.isShown[op]) return op;
  return -1;
}

// Along the order that is drawn, or through the counterexample.
function follow(by) {
  const order = points && points.operations.length ? points.operations : counterexample.filter((op) => layout.trackOf[op] >= 0);
  if (!order.length) return;
  const at = order.indexOf(selected);
  select(order[at < 0 ? (by > 0 ? 0 : order.length - 1) : Math.min(Math.max(at + by, 0), order.length - 1)]);
}

function search(text) {
  isMatch.fill(0);
  matches = [];
  const wanted = text.trim().toLowerCase();
  if (wanted) {
    // Most labels occur more than once.
    const asked = new Map();
    for (let op = 0; op < count; op++) {
      const key = callOf[op] * 4294967296 + resultOf[op];
      let is = asked.get(key);
      if (is === undefined) asked.set(key, (is = label(op).toLowerCase().includes(wanted)));
      if (is && layout.isShown[op]) {
        isMatch[op] = 1;
        matches.push(op);
      }
    }
  }
  document.getElementById("found").textContent = wanted ? (matches.length ? `${grouped(matches.length)} found` : "none found") : "";
  redraw();
}

function nextMatch(by) {
  if (!matches.length) return;
  const after = first(0, matches.length, (it) => matches[it] > selected);
  const at = by > 0 ? after : after - (matches[after - 1] === selected ? 2 : 1);
  const op = matches[(at + matches.length) % matches.length];
  select(op);
  document.getElementById("found").textContent = `${grouped(matches.indexOf(op) + 1)} of ${grouped(matches.length)}`;
}
