// Loads imid_browser.wasm, in a browser or in Node. Each page and each worker that calls it has a generator with a seed of its own.
export async function load(wasm, now = Date.now) {
  const js = { now, seed: () => crypto.getRandomValues(new BigUint64Array(1))[0] };
  const { memory, buffer, mint, time } = (await WebAssembly.instantiate(wasm, { js })).instance.exports;
  const bytes = (length) => new Uint8Array(memory.buffer, buffer(), length);
  const put = (text) => {
    const { read, written } = new TextEncoder().encodeInto(text, bytes(256));
    if (read < text.length) throw new RangeError("expected a text of at most 256 bytes");
    return written;
  };
  const text = (length) => new TextDecoder().decode(bytes(length));
  const checked = (result) => {
    if (result < 0) throw new Error(text(-result));
    return result;
  };
  return {
    /** Mints an ID for a group, and returns its 19 characters. */
    mint: (group) => text(checked(mint(put(group)))),
    /** Returns the `Date` of an ID. */
    time: (id) => new Date(checked(time(put(id)))),
  };
}
