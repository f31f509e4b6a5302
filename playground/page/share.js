// A link has everything after its `#`, which browsers do not send: the settings, and the history,
// compressed.
const LINK_MAX_CHARACTERS = 200_000;

// What a link and a file may hold: a few bytes can stand for as many as fill the memory.
const LINK_MAX_BYTES = 64 << 20;
const FILE_MAX_BYTES = 1 << 30;

async function through(stream, bytes, limit = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await reader.cancel();
      throw new RangeError(`it holds more than ${limit >> 20} MiB`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (it) => it.charCodeAt(0));

async function toFragment(settings, contents) {
  const packed = await through(new CompressionStream("deflate-raw"), contents);
  const parts = new URLSearchParams(settings);
  parts.set("history", toBase64(packed).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
  return "#" + parts;
}

// The settings, with the history as bytes; null if the fragment has none.
async function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const packed = parts.get("history");
  if (!packed) return null;
  parts.delete("history");
  const bytes = fromBase64(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const contents = await through(new DecompressionStream("deflate-raw"), bytes, LINK_MAX_BYTES);
  return { settings: Object.fromEntries(parts), contents };
}

const isGzip = (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b;
