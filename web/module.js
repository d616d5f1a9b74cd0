// Calls the module of WebAssembly. It is compressed and written in base 64 in the page, so nothing is fetched.

const packed = document.getElementById("module")?.textContent ?? "";
const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
const unpacked = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
const { instance } = await WebAssembly.instantiate(await unpacked.arrayBuffer());
const { memory, reserve, call } = /** @type {{ memory: WebAssembly.Memory, reserve: (length: number) => number, call: () => number }} */ (
  /** @type {unknown} */ (instance.exports)
);

/**
 * Asks one of the questions of web/src/lib.rs. Half of a surrogate pair arrives as U+FFFD, which is as long.
 * @param {string} question @param {...(string | number)} values
 */
export function ask(question, ...values) {
  const text = new TextEncoder().encode([question, ...values].join("\x1f"));
  const at = reserve(text.length);
  new Uint8Array(memory.buffer, at, text.length).set(text);
  const answer = call();
  const length = new DataView(memory.buffer).getUint32(answer, true);
  return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 4, length)));
}
