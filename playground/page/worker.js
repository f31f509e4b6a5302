// Judges one history, and ends with it: the memory of WebAssembly never shrinks.
onmessage = ({ data }) => {
  wasm_bindgen.initSync({ module: data.module });
  if (!data.contents) {
    postMessage({ kind: "specs", specs: wasm_bindgen.specs() });
    return;
  }
  try {
    const progress = (bytes, configurations) => postMessage({ kind: "progress", bytes, configurations });
    const judged = wasm_bindgen.judge(data.name, data.contents, data.spec, data.script, data.criterion, data.initial, data.isKeyed, data.limitMs, progress);
    const { verdict, headline, text, page, counterexample, format, operations, line } = judged;
    postMessage({ kind: "judged", verdict, headline, text, page, counterexample, format, operations, line });
  } catch (error) {
    postMessage({ kind: "failed", message: String((error && error.message) || error) });
  }
};
