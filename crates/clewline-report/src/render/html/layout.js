// Where everything lies: rows of operations that do not overlap, and a column for each event that
// is shown.
//
// Columns are ranks without those of operations that are not shown, so that a key with ten
// operations among thousands fills the picture.

const ROW = 38;
const BAR = 21;
const AXIS = 26;
// Labels of notes stand in rows below the axis.
const LABEL = 17;
const overlapping = Math.max(0, ...bands.map((it) => bands.filter((other) => other.from <= it.from && it.from < other.until).length));
const labelRows = Math.min(bands.length, Math.max(2, overlapping), 3);
const HEAD = AXIS + labelRows * LABEL;

function layOut(has) {
  const isShown = new Uint8Array(count);
  const isEvent = new Uint8Array(lastRank + 2);
  let shown = 0;
  for (let op = 0; op < count; op++) {
    if (!has(op)) continue;
    shown++;
    isShown[op] = 1;
    isEvent[startOf[op]] = 1;
    if (!isPending(op)) isEvent[endOf[op]] = 1;
  }
  // By rank: how many events that are shown come before.
  const columns = new Int32Array(lastRank + 2);
  for (let rank = 0; rank <= lastRank; rank++) columns[rank + 1] = columns[rank] + isEvent[rank];
  const width = Math.max(columns[lastRank + 1], 1);
  const tracks = trackList(isShown);
  const trackOf = new Int32Array(count).fill(-1);
  tracks.forEach((track, at) => track.operations.forEach((op) => (trackOf[op] = at)));
  return { isShown, shown, columns, width, tracks, trackOf };
}

// One row a process; more where operations of one overlap, as those do that were given up while
// their process went on.
function trackList(isShown) {
  const rows = history_.processes.map(() => ({ lanes: [], open: [], hasCounterexample: false }));
  for (let op = 0; op < count; op++) {
    if (!isShown[op]) continue;
    const row = rows[processOf[op]];
    let lane = row.open.find((it) => it.free <= startOf[op]);
    if (!lane) {
      lane = { free: 0, operations: [] };
      row.lanes.push(lane);
      row.open.push(lane);
    }
    lane.operations.push(op);
    lane.free = endOf[op];
    // Nothing comes after what never ends.
    if (isPending(op)) row.open.splice(row.open.indexOf(lane), 1);
    if (inCounterexample[op]) row.hasCounterexample = true;
  }
  const tracks = [];
  rows.forEach(({ lanes, hasCounterexample }, process) =>
    lanes.forEach((lane, at) => {
      const name = at === 0 ? history_.processes[process] : "";
      tracks.push({ process, name, hasCounterexample, operations: Int32Array.from(lane.operations) });
    }),
  );
  // If they cannot all be seen, those of the counterexample come first.
  if (tracks.length > 14) tracks.sort((one, other) => other.hasCounterexample - one.hasCounterexample);
  // Every other process stands on a band.
  let isBand = true;
  tracks.forEach((track) => {
    if (track.name !== "") isBand = !isBand;
    track.isBand = isBand;
  });
  return tracks;
}

// Between the columns of two events: how many of those that are shown come before.
const columnBefore = (layout, events) => layout.columns[Math.min(events, lastRank + 1)];
const startColumn = (layout, op) => layout.columns[startOf[op]];
const endColumn = (layout, op) => (isPending(op) ? Infinity : layout.columns[endOf[op]]);

// A moment in each operation of a path, so that they happen in its order: each right after the
// latest call up to it, and so before any return that comes later.
function pathPoints(layout, path) {
  const operations = path.order.filter((op) => layout.isShown[op]);
  const at = new Float64Array(operations.length);
  let from = 0;
  let latest = -1;
  const spread = (to) => {
    for (let place = from; place < to; place++) at[place] = latest + (place - from + 1) / (to - from + 1);
  };
  operations.forEach((op, place) => {
    const call = startColumn(layout, op);
    if (call > latest) {
      spread(place);
      from = place;
      latest = call;
    }
  });
  spread(operations.length);
  const numbers = new Map(path.order.map((op, place) => [op, place + 1]));
  return { operations, at, numbers, stuck: path.stuck };
}
