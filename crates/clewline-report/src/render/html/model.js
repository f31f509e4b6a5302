// The operations, from the columns in the page. Ranks number the events: each call and each return
// has one of its own.

const page = JSON.parse(document.getElementById("data").textContent);
const history_ = page.history;
const count = history_.count;
const NEVER = 0x7fffffff;

const column = (numbers) => (numbers.length ? Int32Array.from(numbers) : new Int32Array(count));
const summed = (differences) => {
  const sums = column(differences);
  for (let at = 1; at < sums.length; at++) sums[at] += sums[at - 1];
  return sums;
};

const processOf = column(history_.process);
const objectOf = column(history_.object);
const partOf = column(history_.part);
const callOf = column(history_.call);
const resultOf = column(history_.result);
const idOf = column(history_.id);
const lineOf = summed(history_.line);
const startOf = summed(history_.start);
const endOf = column(history_.length);
let lastRank = 0;
for (let op = 0; op < count; op++) {
  endOf[op] = endOf[op] === 0 ? NEVER : startOf[op] + endOf[op];
  lastRank = Math.max(lastRank, startOf[op], endOf[op] === NEVER ? 0 : endOf[op]);
}

const counterexample = page.rest.counterexample;
const inCounterexample = new Uint8Array(count);
for (const op of counterexample) inCounterexample[op] = 1;
const paths = page.rest.paths;
// By path and operation: the states before and after it.
const around = paths.map((path) => new Map(path.around.map(([op, before, after]) => [op, [path.states[before], path.states[after]]])));
// Notes on the history: a text, and how many events come before its beginning and before its end;
// null if it does not end.
const bands = page.rest.bands.map(([text, from, until]) => ({ text, from, until: until === null ? lastRank + 1 : until, isOpen: until === null, isMoment: from === until }));
const notes = new Map();
for (const [op, note] of page.rest.notes) notes.set(op, [...(notes.get(op) || []), note]);

const isPending = (op) => endOf[op] === NEVER;
const calledAt = Float64Array.from(history_.called);
for (let op = 1; op < calledAt.length; op++) calledAt[op] += calledAt[op - 1];

// When an operation was called and returned, by the clock of the file; empty if unknown.
function times(op) {
  if (!calledAt.length) return "";
  const called = BigInt(history_.clock) + BigInt(calledAt[op]);
  if (isPending(op)) return `called at ${called}`;
  return `called at ${called}, returned at ${called + BigInt(history_.took[op])}, ${grouped(history_.took[op])} later`;
}

const callText = (op) => history_.texts[callOf[op]];
const resultText = (op) => (resultOf[op] ? history_.texts[resultOf[op] - 1] : "");
const label = (op) => (resultOf[op] ? callText(op) + " → " + resultText(op) : callText(op));
const processName = (op) => history_.processes[processOf[op]];
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

// The first index in [from, to) for which `test` holds; it holds for all later ones.
function first(from, to, test) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (test(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

// At most `most` letters.
const shorten = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");

// As much of a label as fits: `read() → 17`, `read→17`, `rea…`, nothing.
function fitting(op, most) {
  const whole = label(op);
  if (whole.length <= most) return whole;
  const brief = whole.replace("() → ", "→").replace(" → ", "→");
  if (brief.length <= most) return brief;
  return most < 4 ? "" : shorten(brief, most);
}

// What there is to choose from: everything, the counterexample, each object, each key.
function choices() {
  const all = [{ key: "all", name: "everything", has: () => true }];
  if (counterexample.length && counterexample.length < count) all.push({ key: "counterexample", name: "the counterexample only", has: (op) => inCounterexample[op] === 1 });
  const named = (kind, names, of) => {
    if (names.length < 2) return;
    const sizes = new Int32Array(names.length);
    for (let op = 0; op < count; op++) sizes[of[op]]++;
    const isOfCounterexample = new Uint8Array(names.length);
    for (const op of counterexample) isOfCounterexample[of[op]] = 1;
    const order = [...names.keys()].sort((a, b) => isOfCounterexample[b] - isOfCounterexample[a] || sizes[b] - sizes[a] || a - b);
    for (const at of order.slice(0, 300)) {
      const name = `${kind} ${shorten(names[at] || "without a name", 40)} (${grouped(sizes[at])})`;
      all.push({ key: `${kind}:${names[at]}`, name, has: (op) => of[op] === at });
    }
    if (order.length > 300) all.push({ key: "", name: `… and ${grouped(order.length - 300)} more: search for them`, has: null });
  };
  named("object", history_.objects, objectOf);
  named("key", history_.parts, partOf);
  return all;
}
