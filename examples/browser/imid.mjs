// Loads imid_browser.wasm, in a browser or in Node. Each page and each worker that calls it has a generator with a seed of its own.
export async function load(wasm, now = Date.now) {
  let input, output;
  const js = {
    now,
    seed: () => crypto.getRandomValues(new BigUint64Array(1))[0],
    read: (at) => input[at] ?? -1,
    write: (byte) => (output += String.fromCharCode(byte)),
  };
  const { mint, parse } = (await WebAssembly.instantiate(wasm, { js })).instance.exports;
  const call = (run, text) => {
    [input, output] = [new TextEncoder().encode(text), ""];
    const time = run();
    if (time < 0) throw new Error(output);
    return { id: output, time: new Date(time) };
  };
  // Both return the 19 characters of an ID and its time.
  return { mint: (group) => call(mint, group), parse: (id) => call(parse, id) };
}
