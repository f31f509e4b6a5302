// Putting it together: what is chosen, the address of the page, mouse and keyboard.

const byId = (id) => document.getElementById(id);
const shows = choices();
let shownKey = "all";

// Shows everything, the counterexample, an object or a key.
function choose(key) {
  const choice = shows.find((it) => it.key === key && it.has) || shows[0];
  shownKey = choice.key;
  byId("show").value = String(shows.indexOf(choice));
  layout = layOut(choice.has);
  measure();
  draftPath();
  search(byId("search").value);
}

const pathNumber = () => Number(byId("path").value);

function draftPath() {
  const path = paths[pathNumber()];
  points = path ? pathPoints(layout, path) : null;
  byId("path-text").textContent = path ? path.text : "";
  redraw();
}

function measure() {
  const context = canvas.getContext("2d");
  context.font = FONT;
  size.letter = context.measureText("mmmmmmmmmm").width / 10;
  const names = layout.tracks.reduce((most, it) => Math.max(most, it.name.length), 5);
  size.width = byId("stage").clientWidth;
  size.gutter = Math.min(names * size.letter + 18, size.width * 0.3, 150);
  const high = layout.tracks.length * ROW + HEAD + 4;
  size.height = Math.max(HEAD + 2 * ROW, Math.min(high, Math.max(260, window.innerHeight * 0.62)));
  canvas.style.height = size.height + "px";
}

// The address: which events are seen, which operation is selected, what is shown.
let remembering = 0;
let isReading = false;

function rememberSoon() {
  if (isReading || remembering) return;
  remembering = setTimeout(() => {
    remembering = 0;
    const from = rankAt(Math.max(0, Math.round(view.from))) + 1;
    const to = rankAt(Math.min(layout.width - 1, Math.max(0, Math.round(view.to)))) + 1;
    const parts = [`t=${from}-${to}`];
    if (selected >= 0) parts.push(`op=${selected}`);
    if (shownKey !== "all") parts.push(`show=${encodeURIComponent(shownKey)}`);
    try {
      history.replaceState(null, "", "#" + parts.join("&"));
    } catch {
      // Some browsers allow no such thing for files.
    }
  }, 250);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function readAddress() {
  const asked = new Map(location.hash.slice(1).split("&").map((it) => [it.split("=")[0], decoded(it.split("=")[1] || "")]));
  isReading = true;
  if (asked.has("show")) {
    choose(asked.get("show"));
    fitAtFirst();
  }
  const times = /^(\d+)-(\d*)$/.exec(asked.get("t") || "");
  const op = /^\d+$/.test(asked.get("op") || "") ? Number(asked.get("op")) : -1;
  if (times) {
    const at = (event) => layout.columns[Math.min(Math.max(Number(event) - 1, 0), lastRank + 1)];
    look(at(times[1]), times[2] ? at(times[2]) + 1 : layout.width);
  }
  if (op >= 0 && op < count) {
    select(op);
    if (!times && isSmall(op)) lookCloser(op);
  }
  isReading = false;
}

const isSmall = (op) => place(op).right - place(op).left < 30;

function lookCloser(op) {
  if (op < 0 || layout.trackOf[op] < 0) return;
  const from = startColumn(layout, op);
  const wide = isPending(op) ? 10 : endColumn(layout, op) + 1 - from;
  const room = Math.max(wide * 1.2, 6);
  look(from - room, from + wide + room);
}

const KEYS = {
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  ArrowUp: () => change(-1),
  ArrowDown: () => change(1),
  Home: () => jump(false),
  End: () => jump(true),
  PageUp: () => moveBy(0, -size.height / 2),
  PageDown: () => moveBy(0, size.height / 2),
  Enter: () => (selected < 0 ? select(startingPoint()) : lookCloser(selected)),
  "+": () => zoom(1 / 1.5),
  "=": () => zoom(1 / 1.5),
  "-": () => zoom(1.5),
  0: () => fitAll(),
  c: () => fit(counterexample),
  n: () => follow(1),
  p: () => follow(-1),
  Escape: () => select(-1),
};
const SHIFTED = {
  ArrowLeft: () => moveBy((view.from - view.to) / 6, 0),
  ArrowRight: () => moveBy((view.to - view.from) / 6, 0),
  ArrowUp: () => moveBy(0, -ROW),
  ArrowDown: () => moveBy(0, ROW),
};

function listenToKeys() {
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = (event.shiftKey && SHIFTED[event.key]) || KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (event.key === "/") byId("search").focus();
    else if (event.key === "?") byId("help").showModal();
    else return;
    event.preventDefault();
  });
  byId("search").addEventListener("input", (event) => search(event.target.value));
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") canvas.focus();
  });
}

const pointers = new Map();
let moved = 0;

function pointAt(event) {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

// One finger or the mouse moves the picture, two fingers zoom; a press that does not move selects.
function listenToPointers() {
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, pointAt(event));
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = pointAt(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      const under = operationAt(now.x, now.y);
      if (under !== hovered) redraw();
      hovered = under;
      return tip(hovered, now.x, now.y);
    }
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, it]) => it);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (others.length) zoom(Math.max(8, Math.abs(before.x - others[0].x)) / Math.max(8, Math.abs(now.x - others[0].x)), (now.x + others[0].x) / 2);
    if (moved > 4) {
      canvas.classList.add("moving");
      tip(-1);
      moveBy((before.x - now.x) / scale() / (others.length + 1), before.y - now.y);
    }
    pointers.set(event.pointerId, now);
  });
  const lift = (event) => {
    const was = pointers.delete(event.pointerId);
    canvas.classList.remove("moving");
    if (was && event.type === "pointerup" && moved <= 4) {
      const { x, y } = pointAt(event);
      select(operationAt(x, y));
    }
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => {
    hovered = -1;
    tip(-1);
    redraw();
  });
  canvas.addEventListener("dblclick", (event) => zoom(1 / 2.5, pointAt(event).x));
  canvas.addEventListener("wheel", (event) => {
    const isOurs = event.ctrlKey || event.metaKey || document.activeElement === canvas;
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!isOurs && !isSideways) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (isSideways) moveBy(((event.deltaX || event.deltaY) * unit) / scale(), 0);
    else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY * unit)) / 400), pointAt(event).x);
  }, { passive: false });
  const travel = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    const at = (pointAt(event).x / overview.clientWidth) * layout.width;
    const wide = view.to - view.from;
    look(at - wide / 2, at + wide / 2);
  };
  overview.addEventListener("pointerdown", (event) => {
    overview.setPointerCapture(event.pointerId);
    travel(event);
  });
  overview.addEventListener("pointermove", travel);
}

function listenToButtons() {
  byId("zoom-in").onclick = () => zoom(1 / 1.5);
  byId("zoom-out").onclick = () => zoom(1.5);
  byId("fit-all").onclick = fitAll;
  byId("fit-counterexample").onclick = () => fit(counterexample);
  byId("fit-counterexample").hidden = !counterexample.length;
  byId("help-open").onclick = () => byId("help").showModal();
  byId("theme").onclick = () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    readColours();
    redraw();
  };
  byId("show").onchange = () => {
    choose(shows[Number(byId("show").value)].key);
    fitAtFirst();
    showDetails();
  };
  byId("path").onchange = () => {
    draftPath();
    showDetails();
    if (points && points.stuck !== null) reveal(points.stuck);
  };
}

const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function fill() {
  const option = (text, value, isOff) => Object.assign(document.createElement("option"), { textContent: text, value, disabled: Boolean(isOff) });
  shows.forEach((it, at) => byId("show").append(option(it.name, String(at), !it.has)));
  paths.forEach((it, at) => byId("path").append(option(it.title, String(at))));
  byId("path").append(option("none", "-1"));
  byId("path").value = paths.length ? "0" : "-1";
  byId("path-label").hidden = !paths.length;
  const legend = (kind, mark, text) => {
    const entry = document.createElement("span");
    entry.append(element("i", mark, kind), text);
    byId("legend").append(entry);
  };
  if (counterexample.length < count) legend("", "", "an operation");
  if (counterexample.length) legend("counterexample", "", page.rest.each);
  if (endOf.includes(NEVER)) legend("pending", "", "not returned");
  if (bands.length) legend("note", "", "a note on the history");
  if (paths.length) legend("path", "1", "an order of the operations, as far as it gets; seen when zoomed in");
}

function resized() {
  // On paper there is no timeline; afterwards it is as it was.
  if (!byId("stage").clientWidth) return;
  const before = size.width;
  measure();
  if (before !== size.width) look(view.from, view.to);
  redraw();
}

readColours();
fill();
choose("all");
listenToKeys();
listenToPointers();
listenToButtons();
// What the address does not say is as at first.
isReading = true;
fitAtFirst();
readAddress();
draw();
drawn++;
performance.mark("clewline-drawn");
new ResizeObserver(resized).observe(byId("stage"));
window.addEventListener("hashchange", () => {
  readAddress();
  canvas.scrollIntoView({ block: "nearest" });
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  redraw();
});

// For tests and scripts: what is seen, and where an operation is drawn.
window.clewline = {
  state: () => ({ from: view.from, to: view.to, top: view.top, selected, hovered, shown: layout.shown, show: shownKey, matches: matches.length, drawn, dark: isDark() }),
  place: (op) => (layout.trackOf[op] < 0 ? null : { ...place(op), x: size.gutter, width: size.width, bottom: size.height, y: HEAD }),
  // The order that is drawn: operations, and the columns of their numbers, of their calls and of
  // their returns.
  order: () => (points ? points.operations.map((op, at) => [op, points.at[at], startColumn(layout, op), isPending(op) ? NEVER : endColumn(layout, op)]) : []),
  // Labels beside the bars of the counterexample, and where the bars of a row are.
  flags: () => flags,
  // Labels of notes, and where a note is drawn.
  bands: () => bandLabels.map((it) => ({ ...it, text: it.band.text })),
  band: (at) => bandPlace(bands[at]),
  colour,
  row: (track) => [...layout.tracks[track].operations].map((op) => ({ op, ...place(op) })),
  look, moveBy, zoom, draw,
};
