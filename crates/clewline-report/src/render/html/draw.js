// The pictures. Only what can be seen is drawn: the first operation of each row that reaches into
// the picture is found by halving, and of operations that share a pixel one is drawn.

const canvas = document.getElementById("timeline");
const overview = document.getElementById("overview");
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

let layout = null;
let points = null;
// In columns from left to right, and in pixels from the top.
const view = { from: 0, to: 1, top: 0 };
const size = { width: 1, height: 1, gutter: 40, letter: 7.2 };
let selected = -1;
let hovered = -1;
let matches = [];
const isMatch = new Uint8Array(count);
let colours = {};

// A colour of the style sheet, as it is in the scheme of the page: a canvas knows no variables.
function colour(name) {
  canvas.style.color = `var(--${name})`;
  return getComputedStyle(canvas).color;
}

function readColours() {
  const names = ["ground", "ink", "quiet", "rule", "band", "bar", "bar-edge", "bar-ink", "counterexample", "counterexample-edge", "counterexample-ink", "path", "path-ink", "note", "match", "select"];
  colours = Object.fromEntries(names.map((it) => [it, colour(it)]));
}

// As many pixels as the screen has; drawing goes on in those of the page.
function prepare(target, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (target.width !== w || target.height !== h) {
    target.width = w;
    target.height = h;
  }
  const context = target.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

const scale = () => (size.width - size.gutter) / (view.to - view.from);
const xOf = (col) => size.gutter + (col - view.from) * scale();
const columnAt = (x) => view.from + (x - size.gutter) / scale();
const yOf = (track) => HEAD + track * ROW - view.top;

// Where an operation is drawn. An end lies in the middle of its column, so that who ends and who
// begins next to it are apart.
function place(op) {
  const left = xOf(startColumn(layout, op) + 0.1);
  const right = isPending(op) ? Math.max(size.width + 2, left + 2) : xOf(endColumn(layout, op) + 0.9);
  return { left, right, top: yOf(layout.trackOf[op]) + 3, height: BAR };
}

function draw() {
  // On paper there is no timeline.
  if (!overview.clientWidth) return;
  const context = prepare(canvas, size.width, size.height);
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, size.width, size.height);
  context.font = FONT;
  context.textBaseline = "middle";
  const from = Math.max(0, Math.floor(view.top / ROW));
  const to = Math.min(layout.tracks.length, Math.ceil((view.top + size.height - HEAD) / ROW));
  context.save();
  context.beginPath();
  context.rect(0, HEAD, size.width, size.height - HEAD);
  context.clip();
  for (let track = from; track < to; track++) drawBand(context, track);
  context.save();
  context.beginPath();
  context.rect(size.gutter, HEAD, size.width - size.gutter, size.height - HEAD);
  context.clip();
  drawBands(context, HEAD);
  for (let track = from; track < to; track++) drawTrack(context, track);
  drawCounterexample(context);
  drawPath(context);
  drawMarked(context, hovered, 1);
  drawMarked(context, selected, 2.5);
  context.restore();
  for (let track = from; track < to; track++) drawName(context, track);
  drawThumb(context);
  context.restore();
  drawAxis(context);
  drawBandLabels(context);
  if (!layout.shown) drawNothing(context);
  drawOverview();
}

function drawBand(context, track) {
  const y = yOf(track);
  if (layout.tracks[track].isBand) {
    context.fillStyle = colours.band;
    context.fillRect(0, y, size.width, ROW);
  }
  context.fillStyle = colours.rule;
  context.fillRect(size.gutter, Math.round(y + 3 + BAR / 2), size.width, 1);
}

// Where a note is drawn: a band, or a line.
function bandPlace({ from, until, isMoment, isOpen }) {
  const left = xOf(columnBefore(layout, from));
  const right = isOpen ? size.width + 4 : xOf(columnBefore(layout, until));
  return { left, right: isMoment ? left + 2 : Math.max(right, left + 2) };
}

const isSeen = ({ left, right }) => right >= size.gutter && left <= size.width;

// Notes on the history lie behind everything else.
function drawBands(context, top) {
  context.fillStyle = colours.note;
  for (const band of bands) {
    const { left, right } = bandPlace(band);
    if (!isSeen({ left, right })) continue;
    const [from, to] = [Math.max(left, size.gutter), Math.min(right, size.width)];
    context.globalAlpha = 0.13;
    if (!band.isMoment) context.fillRect(from, top, to - from, size.height);
    context.globalAlpha = 0.8;
    if (left >= size.gutter) context.fillRect(Math.round(left), top, 2, size.height);
    if (!band.isMoment && !band.isOpen && right <= size.width) context.fillRect(Math.round(right) - 2, top, 2, size.height);
  }
  context.globalAlpha = 1;
}

// The labels of notes, as they were drawn last.
let bandLabels = [];

// Each label stands where its note begins, or at the edge, in the first row that is free there.
// Where none is, pointing at the note shows it.
function drawBandLabels(context) {
  bandLabels = [];
  if (!bands.length) return;
  context.fillStyle = colours.ground;
  context.fillRect(0, AXIS, size.width, HEAD - AXIS);
  const free = new Array(labelRows).fill(size.gutter);
  for (const band of bands) {
    const { left, right } = bandPlace(band);
    if (!isSeen({ left, right })) continue;
    const from = Math.max(left, size.gutter);
    const text = shorten(band.text, 30);
    const wide = Math.max(text.length * size.letter + 12, Math.min(right, size.width) - from);
    const row = free.findIndex((it) => it <= from);
    if (row < 0) continue;
    free[row] = from + wide + 2;
    const top = AXIS + row * LABEL;
    bandLabels.push({ band, left: from, right: from + wide, top });
    context.fillStyle = colours.note;
    context.globalAlpha = 0.13;
    if (!band.isMoment) context.fillRect(from, top + 1, Math.min(right, size.width) - from, LABEL - 1);
    context.globalAlpha = 1;
    if (left >= size.gutter) context.fillRect(Math.round(left), top + 1, 2, LABEL - 1 + (labelRows - 1 - row) * LABEL);
    context.fillText(text, from + 6, top + LABEL / 2 + 1);
  }
  context.fillStyle = colours.rule;
  context.fillRect(0, HEAD - 1, size.width, 1);
}

// Narrower bars than this have no inside, and are drawn as one where they touch.
const SLIM = 4;

function drawTrack(context, track) {
  const { operations } = layout.tracks[track];
  const top = yOf(track) + 3;
  const perColumn = scale();
  // What has one colour is drawn at once: of thousands, each by itself would take too long.
  const edges = new Path2D();
  const insides = new Path2D();
  const found = new Path2D();
  const roomy = [];
  // Pixels, one after the other, in which operations are too narrow to be distinguished: each
  // stands for all that begin in it.
  let run = null;
  const endRun = () => {
    if (run) (run.isFound ? found : edges).rect(run.from, top, run.to - run.from, BAR);
    run = null;
  };
  let at = first(0, operations.length, (it) => endColumn(layout, operations[it]) + 1 > view.from);
  while (at < operations.length) {
    const op = operations[at];
    const { left, right } = place(op);
    if (left > size.width) break;
    if (right - left < SLIM && !inCounterexample[op]) {
      const pixel = Math.floor(left);
      const isFound = isMatch[op] === 1;
      if (run && (run.to < pixel || run.isFound !== isFound)) endRun();
      run = run || { from: pixel, to: pixel, isFound };
      run.to = Math.max(pixel + 1, Math.floor(right));
      // Those that begin in the same pixel are passed over; operations of the counterexample are
      // drawn later, and never passed over.
      const next = view.from + (pixel + 1 - size.gutter) / perColumn;
      at = firstFrom(operations, at + 1, next - 0.1);
      continue;
    }
    if (isPending(op) && !inCounterexample[op]) drawBar(context, op, left, right, top, "bar", 1);
    else if (!inCounterexample[op]) {
      const [from, to] = [Math.max(left, size.gutter - 4), Math.min(right, size.width + 4)];
      edges.rect(from, top, to - from, BAR);
      (isMatch[op] ? found : insides).rect(from + 1, top + 1, to - from - 2, BAR - 2);
    }
    if (right - left > 20 && !inCounterexample[op]) roomy.push({ op, left, right });
    at++;
  }
  endRun();
  const fill = (path, colour) => {
    context.fillStyle = colour;
    context.fill(path);
  };
  fill(edges, colours["bar-edge"]);
  fill(insides, colours.bar);
  fill(found, colours.match);
  for (const { op, left, right } of roomy) drawLabel(context, op, left, right, top, colours["bar-ink"]);
}

// The first operation, from a place on, that is called in a column or later. It is mostly near.
function firstFrom(operations, from, col) {
  let step = 1;
  let to = from;
  while (to < operations.length && startColumn(layout, operations[to]) < col) {
    from = to + 1;
    to += step;
    step *= 2;
  }
  return first(from, Math.min(to, operations.length), (it) => startColumn(layout, operations[it]) >= col);
}

// A closed bar; open to the right while the operation is pending. Of thousands on one picture two
// rectangles are drawn faster than an outline.
function drawBar(context, op, left, right, top, kind, thick) {
  const from = Math.max(left, size.gutter - 4);
  const to = Math.min(right, size.width + 4);
  const fill = isMatch[op] ? colours.match : colours[kind];
  if (!isPending(op)) {
    context.fillStyle = colours[kind + "-edge"];
    context.fillRect(from, top, to - from, BAR);
    context.fillStyle = fill;
    if (to - from > 2 * thick) context.fillRect(from + thick, top + thick, to - from - 2 * thick, BAR - 2 * thick);
    return;
  }
  context.fillStyle = fill;
  context.fillRect(from, top, to - from, BAR);
  context.strokeStyle = colours[kind + "-edge"];
  context.lineWidth = thick;
  context.setLineDash([6, 3]);
  context.beginPath();
  context.moveTo(to, top + 0.5);
  context.lineTo(from + 0.5, top + 0.5);
  context.lineTo(from + 0.5, top + BAR - 0.5);
  context.lineTo(to, top + BAR - 0.5);
  context.stroke();
  context.setLineDash([]);
}

function drawLabel(context, op, left, right, top, colour) {
  const from = Math.max(left, size.gutter) + 5;
  const letters = Math.floor((Math.min(right, size.width) - 4 - from) / size.letter);
  const text = fitting(op, letters);
  context.fillStyle = colour;
  if (text) context.fillText(text, from, top + BAR / 2 + 0.5);
}

// The counterexample is drawn over everything else, wide enough to be seen. What is too narrow for
// its label has it beside, if there is room.
function drawCounterexample(context) {
  const boxes = new Map();
  flags = [];
  for (const op of counterexample) {
    if (layout.trackOf[op] < 0) continue;
    let { left, right, top } = place(op);
    if (top > size.height || top + BAR < HEAD) continue;
    if (right - left < 6) [left, right] = [(left + right) / 2 - 3, (left + right) / 2 + 3];
    if (left > size.width || right < size.gutter) continue;
    if (!boxes.has(top)) boxes.set(top, []);
    boxes.get(top).push({ op, left, right });
  }
  // Those that are too narrow for an inside are drawn at once: of hundreds, each by itself takes
  // too long.
  context.fillStyle = colours["counterexample-edge"];
  context.beginPath();
  for (const [top, row] of boxes) {
    for (const { op, left, right } of row) if (isNarrow(op, left, right)) context.rect(left, top, right - left, BAR);
  }
  context.fill();
  for (const [top, row] of boxes) {
    row.forEach(({ op, left, right }) => isNarrow(op, left, right) || drawBar(context, op, left, right, top, "counterexample", 2));
    let taken = -Infinity;
    row.forEach(({ op, left, right }, at) => {
      const inside = Math.min(right, size.width) - Math.max(left, size.gutter);
      if (inside >= Math.min(label(op).length, 8) * size.letter + 10) return drawLabel(context, op, left, right, top, colours["counterexample-ink"]);
      const [before, after] = room(op, left, right);
      const from = Math.max(taken, at ? row[at - 1].right : 0, before);
      const to = Math.min(after, at + 1 < row.length ? row[at + 1].left : size.width);
      const letters = (wide) => Math.floor((wide - 14) / size.letter);
      if (Math.max(to - right, left - from) < 40 && inside < 20) return;
      const [beside, behind] = [letters(to - right), letters(left - from)];
      const whole = Math.min(label(op).length, 28);
      const isRight = beside >= whole || beside >= behind;
      const text = fitting(op, Math.min(28, isRight ? beside : behind));
      // If there is no room beside it either, as much as fits.
      if (text.length < Math.min(whole, 6)) return inside > 20 && drawLabel(context, op, left, right, top, colours["counterexample-ink"]);
      const wide = text.length * size.letter + 8;
      const x = isRight ? right + 3 : left - 3 - wide;
      drawFlag(context, text, x, top, wide);
      flags.push({ op, left: x, right: x + wide, track: layout.trackOf[op] });
      taken = x + wide;
    });
  }
}

const isNarrow = (op, left, right) => right - left <= 6 && !isMatch[op] && !isPending(op);

// The labels that stand beside their bars, as they were drawn last.
let flags = [];

// From where to where nothing else is drawn in the row of an operation.
function room(op, left, right) {
  const { operations } = layout.tracks[layout.trackOf[op]];
  const at = first(0, operations.length, (it) => operations[it] >= op);
  const before = at > 0 ? Math.min(place(operations[at - 1]).right, left) : size.gutter;
  const after = at + 1 < operations.length ? Math.max(place(operations[at + 1]).left, right) : size.width;
  return [Math.max(before, size.gutter), Math.min(after, size.width)];
}

function drawFlag(context, text, x, top, wide) {
  context.fillStyle = colours.counterexample;
  context.globalAlpha = 0.92;
  context.fillRect(x, top + 2, wide, BAR - 4);
  context.globalAlpha = 1;
  context.fillStyle = colours["counterexample-ink"];
  context.fillText(text, x + 4, top + BAR / 2 + 0.5);
}

const DENSE = 250;

function drawPath(context) {
  if (!points) return;
  const { operations, at, numbers, stuck } = points;
  const from = Math.max(0, first(0, at.length, (it) => at[it] > view.from) - 1);
  const to = Math.min(at.length, first(from, at.length, (it) => at[it] > view.to) + 1);
  if (to - from > DENSE) return;
  const x = (it) => xOf(at[it] + 0.5);
  const y = (it) => yOf(layout.trackOf[operations[it]]) + 3 + BAR + 4;
  const isRoomy = (size.width - size.gutter) / Math.max(1, to - from) > 13;
  context.strokeStyle = colours.path;
  context.lineWidth = 1.5;
  context.globalAlpha = isRoomy ? 0.75 : 0.4;
  context.beginPath();
  // Along the row and then across: a slanted line would run through labels.
  for (let it = from; it < to; it++) {
    if (it > from) context.lineTo(x(it), y(it - 1));
    context.lineTo(x(it), y(it));
  }
  context.stroke();
  context.globalAlpha = 1;
  context.textAlign = "center";
  context.font = FONT.replace("12px", "bold 10px");
  for (let it = from; it < to; it++) {
    const text = String(numbers.get(operations[it]));
    context.fillStyle = colours.path;
    context.beginPath();
    if (isRoomy) context.roundRect(x(it) - 7 - (text.length - 1) * 2, y(it) - 7, 14 + (text.length - 1) * 4, 14, 7);
    else context.arc(x(it), y(it), 2.5, 0, 7);
    context.fill();
    context.fillStyle = colours["path-ink"];
    if (isRoomy) context.fillText(text, x(it), y(it) + 0.5);
  }
  if (stuck !== null && layout.trackOf[stuck] >= 0) drawStuck(context, at.length ? [x(at.length - 1), y(at.length - 1)] : null, stuck);
  context.textAlign = "left";
  context.font = FONT;
}

// A dashed line from the end of a path to the operation that cannot come next, and a cross there.
function drawStuck(context, end, stuck) {
  const { left, top } = place(stuck);
  const [x, y] = [left + 9, top + BAR + 4];
  context.strokeStyle = colours["counterexample-edge"];
  context.lineWidth = 1.5;
  context.setLineDash([4, 4]);
  context.beginPath();
  if (end) {
    context.moveTo(...end);
    // Before its bar, beside the label; back to the left the path has come along the row.
    if (x > end[0]) {
      context.lineTo(left - 4, end[1]);
      context.lineTo(left - 4, y);
    }
  }
  context.lineTo(x, y);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = colours["counterexample-edge"];
  context.beginPath();
  context.arc(x, y, 8, 0, 7);
  context.fill();
  context.fillStyle = colours.ground;
  context.font = FONT.replace("12px", "bold 13px");
  context.fillText("×", x, y + 0.5);
}

function drawMarked(context, op, thick) {
  if (op < 0 || layout.trackOf[op] < 0) return;
  const { left, right, top } = place(op);
  const from = Math.max(left - 2, size.gutter - 6);
  context.strokeStyle = colours.select;
  context.lineWidth = thick;
  context.strokeRect(from, top - 2, Math.max(Math.min(right + 2, size.width + 6) - from, 6), BAR + 4);
}

function drawName(context, track) {
  const { name, hasCounterexample, isBand } = layout.tracks[track];
  context.fillStyle = isBand ? colours.band : colours.ground;
  context.fillRect(0, yOf(track), size.gutter, ROW);
  context.fillStyle = hasCounterexample ? colours["counterexample-edge"] : colours.ink;
  context.textAlign = "right";
  context.fillText(shorten(name, Math.floor((size.gutter - 12) / size.letter)), size.gutter - 8, yOf(track) + 3 + BAR / 2);
  context.textAlign = "left";
  context.fillStyle = colours.rule;
  context.fillRect(size.gutter - 1, yOf(track), 1, ROW);
}

// That there are more rows above or below.
function drawThumb(context) {
  const all = layout.tracks.length * ROW + 4;
  const seen = size.height - HEAD;
  if (all <= seen) return;
  context.fillStyle = colours["bar-edge"];
  context.globalAlpha = 0.7;
  context.fillRect(size.width - 6, HEAD + (view.top / all) * seen, 5, (seen / all) * seen);
  context.globalAlpha = 1;
}

// Event numbers, at round distances.
function drawAxis(context) {
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, size.width, AXIS);
  context.fillStyle = colours.rule;
  context.fillRect(0, AXIS - 1, size.width, 1);
  context.fillStyle = colours.quiet;
  context.fillText("event", 6, AXIS / 2);
  let step = 1;
  for (let round = 0; step * scale() < 70; round++) step *= round % 3 === 1 ? 2.5 : 2;
  const from = Math.max(1, Math.floor(view.from / step)) * step;
  for (let number = from; number - 1 < Math.min(view.to, layout.width); number += step) {
    const x = xOf(number - 0.5);
    if (x < size.gutter + 14) continue;
    context.fillStyle = colours.rule;
    context.fillRect(x, AXIS - 5, 1, 5);
    context.fillStyle = colours.quiet;
    context.textAlign = "center";
    context.fillText(grouped(rankAt(number - 1) + 1), x, AXIS / 2);
    context.textAlign = "left";
  }
}

// The rank of the event in a column.
const rankAt = (col) => first(0, lastRank + 1, (rank) => layout.columns[rank + 1] > col);

function drawNothing(context) {
  context.fillStyle = colours.quiet;
  context.fillText("There are no operations.", size.gutter + 12, HEAD + 24);
}

let backdrop = null;

// All of it, small: how much happens when, where the counterexample is, and which part is seen
// above.
function drawOverview() {
  const [width, height] = [overview.clientWidth, 34];
  const context = prepare(overview, width, height);
  if (!backdrop || backdrop.layout !== layout || backdrop.width !== width || backdrop.matches !== matches || backdrop.colours !== colours) {
    backdrop = { layout, width, matches, colours, canvas: document.createElement("canvas") };
    drawBackdrop(prepare(backdrop.canvas, width, height), width, height);
  }
  context.drawImage(backdrop.canvas, 0, 0, width, height);
  if (selected >= 0) markOn(context, selected, colours.select, 2, width, height);
  const from = (view.from / layout.width) * width;
  const wide = Math.max(((view.to - view.from) / layout.width) * width, 3);
  context.strokeStyle = colours.path;
  context.lineWidth = 2;
  context.strokeRect(Math.max(1, from), 1, Math.min(wide, width - 2 - Math.max(0, from)), height - 2);
}

// What stays the same while the picture moves.
function drawBackdrop(context, width, height) {
  context.fillStyle = colours.band;
  context.fillRect(0, 0, width, height);
  const counts = new Int32Array(Math.max(width, 1));
  let most = 1;
  for (let op = 0; op < count; op++) {
    if (!layout.isShown[op]) continue;
    const x = Math.min(width - 1, Math.floor((startColumn(layout, op) / layout.width) * width));
    most = Math.max(most, ++counts[x]);
  }
  const at = (events) => (columnBefore(layout, events) / layout.width) * width;
  context.fillStyle = colours.note;
  for (const { from, until, isMoment } of bands) {
    context.globalAlpha = isMoment ? 0.8 : 0.25;
    context.fillRect(at(from), 0, Math.max(at(until) - at(from), 1.5), height);
  }
  context.globalAlpha = 1;
  context.fillStyle = colours["bar-edge"];
  counts.forEach((it, x) => it && context.fillRect(x, height - 3 - (it / most) * 18, 1, (it / most) * 18));
  if (matches.length < 5000) for (const op of matches) markOn(context, op, colours.match, 2, width, height);
  for (const op of counterexample) markOn(context, op, colours["counterexample-edge"], 3, width, height);
}

function markOn(context, op, colour, thick, width, height) {
  if (layout.trackOf[op] < 0) return;
  context.fillStyle = colour;
  context.fillRect((startColumn(layout, op) / layout.width) * width - thick / 2, 2, thick, height - 4);
}
