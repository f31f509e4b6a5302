const byId = (id) => document.getElementById(id);
const field = Object.fromEntries(["history", "spec", "parameter", "script", "criterion", "initial", "keyed", "limit", "example"].map((it) => [it, byId(it)]));

const EXAMPLES = [
  { title: "a queue that is out of order", name: "lost.jsonl", spec: "queue", text: {{text examples/lost.jsonl}} },
  { title: "a register with a stale read (CSV)", name: "stale.csv", spec: "register", text: {{text examples/stale.csv}} },
  { title: "a Jepsen test of a compare-and-set register", name: "cas.edn", spec: "cas-register", text: {{text examples/cas.edn}} },
  { title: "a map whose operations overlap", name: "overlap.jsonl", spec: "map", text: {{text examples/overlap.jsonl}} },
];

// A larger file is held aside, and its beginning is shown: a text field would be slow.
const SHOWN_MAX_BYTES = 512 * 1024;
const HEAD_SHOWN_BYTES = 16 * 1024;

let held = null; // { name, bytes } of a file that is not in the text field.
let fileName = "history"; // The name of what is in the text field.
let running = null; // The worker.
let reportUrl = null;

// The module is compiled once; each check has an instance of its own.
const compiled = (async () => {
  const packed = fromBase64(byId("wasm").textContent);
  return WebAssembly.compile(await through(new DecompressionStream("gzip"), packed));
})();
const workerUrl = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));

function startWorker(module, message, receive) {
  const worker = new Worker(workerUrl);
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => receive({ kind: "failed", message: event.message || "the worker could not be started" });
  worker.postMessage({ module, ...message });
  return worker;
}

const specs = new Map();
const SCRIPT = "script.star"; // The specification is in a field of its own.

const specsListed = compiled.then((module) => new Promise((done, failed) => {
  const worker = startWorker(module, {}, (data) => {
    worker.terminate();
    if (data.kind !== "specs") return failed(new Error(data.message));
    for (const line of data.specs.trimEnd().split("\n")) {
      const [name, about, parameter] = line.split("\t");
      specs.set(name, { about, parameter });
      field.spec.add(new Option(name, name));
    }
    field.spec.add(new Option("a script", SCRIPT));
    field.spec.value = "queue";
    describeSpec();
    done();
  });
}));

function describeSpec() {
  const { about, parameter } = specs.get(field.spec.value) || { about: "", parameter: "" };
  byId("about").textContent = about;
  // An initial value has a field of its own.
  byId("parameter-row").hidden = !parameter || (parameter.includes("initial") && !field.parameter.value);
  field.parameter.placeholder = parameter;
  byId("script-row").hidden = field.spec.value !== SCRIPT;
}

// What is said above the report.
function say(kind, word, sentence, counterexample = "") {
  const status = byId("status");
  status.hidden = false;
  status.className = `status ${kind}`;
  byId("word").textContent = word;
  byId("sentence").textContent = sentence;
  byId("counterexample-line").textContent = counterexample;
}

function showReport(page) {
  const report = byId("report");
  const save = byId("save");
  if (reportUrl) URL.revokeObjectURL(reportUrl);
  reportUrl = page ? URL.createObjectURL(new Blob([page], { type: "text/html" })) : null;
  report.hidden = save.hidden = !page;
  if (page) {
    save.href = reportUrl;
    report.src = reportUrl;
  } else {
    report.removeAttribute("src");
  }
}

const grouped = (number) => number.toLocaleString("en-US");

// The bytes to judge, and the name that the report calls them.
function input() {
  return held || { name: fileName, bytes: new TextEncoder().encode(field.history.value) };
}

function specName() {
  const parameter = byId("parameter-row").hidden ? "" : field.parameter.value.trim();
  return field.spec.value + (parameter ? `:${parameter}` : "");
}

function finish() {
  if (running) running.terminate();
  running = null;
  byId("check").disabled = false;
  byId("cancel").disabled = true;
}

async function check() {
  finish();
  showReport(null);
  const { name, bytes } = input();
  const begun = performance.now();
  const seconds = () => `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  byId("check").disabled = true;
  byId("cancel").disabled = false;
  say("", "", "starting");
  await specsListed;
  const module = await compiled;
  const message = {
    name,
    contents: bytes,
    spec: specName(),
    script: field.spec.value === SCRIPT ? field.script.value : undefined,
    criterion: field.criterion.value,
    initial: field.initial.value.trim() || undefined,
    isKeyed: field.keyed.checked,
    limitMs: Number(field.limit.value) * 1000,
  };
  running = startWorker(module, message, (data) => {
    if (data.kind === "progress") {
      const read = Math.min(100, Math.round((100 * data.bytes) / Math.max(1, bytes.length)));
      const visited = data.configurations ? `, ${grouped(data.configurations)} configurations` : "";
      say("", "", data.bytes < bytes.length && !visited ? `reading: ${read} %, ${seconds()}` : `judging${visited}, ${seconds()}`);
      return;
    }
    finish();
    if (data.kind === "failed") {
      say("unknown", "unknown", `: the check ended without a verdict: ${data.message}`);
    } else if (data.verdict === "unreadable") {
      say("unreadable", "cannot be read", `: ${data.headline}`);
      selectLine(data.line);
    } else {
      const rest = data.headline.slice(data.verdict.length);
      say(data.verdict, data.verdict, `${rest} (${data.format}, ${grouped(data.operations)} operations, ${seconds()})`, data.counterexample.slice(0, 12).join("    "));
      showReport(data.page);
      byId("status").scrollIntoView({ block: "nearest" });
    }
    document.body.dataset.done = String(Number(document.body.dataset.done || 0) + 1);
  });
}

// Marks the line of an error.
function selectLine(line) {
  if (!line || held) return;
  const lines = field.history.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0);
  field.history.focus();
  field.history.setSelectionRange(before, before + (lines[line - 1] || "").length);
  const height = parseFloat(getComputedStyle(field.history).lineHeight);
  field.history.scrollTop = Math.max(0, (line - 4) * height);
}

function show(name, bytes) {
  const isLarge = bytes.length > SHOWN_MAX_BYTES;
  held = isLarge ? { name, bytes } : null;
  fileName = name;
  const decoder = new TextDecoder();
  field.history.value = decoder.decode(isLarge ? bytes.subarray(0, HEAD_SHOWN_BYTES) : bytes);
  field.history.readOnly = isLarge;
  byId("held").hidden = !isLarge;
  byId("held").firstElementChild.textContent = `${name}, ${grouped(Math.ceil(bytes.length / 1024))} KiB: the beginning is shown, all of it is checked.`;
}

async function open(file) {
  let bytes = new Uint8Array(await file.arrayBuffer());
  let name = file.name;
  try {
    if (isGzip(bytes)) {
      bytes = await through(new DecompressionStream("gzip"), bytes, FILE_MAX_BYTES);
      name = name.replace(/\.gz$/, "");
    }
  } catch (error) {
    const why = error instanceof RangeError ? error.message : "it is not a complete gzip file";
    say("unreadable", "cannot be read", `: ${name}: ${why}`);
    return;
  }
  show(name, bytes);
  await check();
}

function settings() {
  const kept = { name: input().name, spec: specName() };
  if (field.initial.value.trim()) kept.initial = field.initial.value.trim();
  if (field.keyed.checked) kept.keyed = "1";
  if (field.spec.value === SCRIPT) kept.script = field.script.value;
  if (field.criterion.value !== "linearizable") kept.criterion = field.criterion.value;
  return kept;
}

function take({ name, spec = "", script = "", criterion = "linearizable", initial = "", keyed }) {
  const [base, ...parameter] = spec.split(":");
  if (specs.has(base) || base === SCRIPT) field.spec.value = base;
  field.script.value = script;
  field.criterion.value = criterion;
  field.parameter.value = parameter.join(":");
  field.initial.value = initial;
  field.keyed.checked = keyed === "1";
  describeSpec();
  return name || "history";
}

async function openLink() {
  let found;
  try {
    found = await fromFragment(location.hash);
  } catch (error) {
    const isLong = error instanceof RangeError;
    const why = isLong ? error.message.replace("it", "this link") : "this link is not complete: its end may have been cut off";
    say("unreadable", "cannot be read", `: ${why}`);
    return;
  }
  if (!found) return;
  await specsListed;
  show(take(found.settings), found.contents);
  await check();
}

async function share() {
  const fragment = await toFragment(settings(), input().bytes);
  if (fragment.length > LINK_MAX_CHARACTERS) {
    say("", "", `The link would have ${grouped(fragment.length)} characters, and browsers cut long ones: share the file instead.`);
    return;
  }
  history.replaceState(null, "", fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    say("", "", "The link is copied; it is in the address bar, too. The history is in the link itself.");
  } catch {
    say("", "", "The link is in the address bar. The history is in the link itself.");
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  check();
});
byId("cancel").addEventListener("click", () => {
  finish();
  say("unknown", "unknown", ": cancelled");
});
byId("share").addEventListener("click", share);
byId("choose").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", ({ target }) => {
  if (target.files[0]) open(target.files[0]);
  target.value = "";
});
byId("drop-held").addEventListener("click", () => show("history", new Uint8Array()));
field.spec.addEventListener("change", () => {
  field.parameter.value = "";
  describeSpec();
});
field.history.addEventListener("paste", () => {
  if (!held) fileName = "history";
});
EXAMPLES.forEach(({ title }, at) => field.example.add(new Option(title, String(at))));
field.example.addEventListener("change", async () => {
  const example = EXAMPLES[field.example.value];
  if (!example) return;
  await specsListed;
  show(take(example), new TextEncoder().encode(example.text));
  await check();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    check();
  }
});
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragenter" || kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
  });
}
window.addEventListener("hashchange", openLink);
specsListed.then(() => (document.body.dataset.ready = "1"), (error) => say("unknown", "unknown", `: this browser cannot run the checker: ${error.message}`));
openLink();
