// What must hold in each browser, and in Node. Throws if it does not, and returns what was seen.
import { load } from "./imid.mjs";

function expect(holds, what) {
  if (!holds) throw new Error(`expected ${what}`);
}

export async function check(wasm) {
  const one = await load(wasm);
  const before = Date.now();
  const minted = Array.from({ length: 10_000 }, () => one.mint("room-42"));
  const ids = minted.map(({ id }) => id);
  expect(new Set(ids).size === ids.length, "distinct IDs");
  expect(ids.every((id, at) => at === 0 || ids[at - 1] < id), "IDs in order");
  expect(ids.every((id) => /^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/.test(id)), "texts of 19 characters");
  // 4,096 IDs fit into a millisecond, so a fast machine borrows two or three.
  const times = minted.map(({ time }) => time.getTime());
  expect(times.every((time) => before <= time && time <= Date.now() + 4), `times from ${before}, found ${times[0]}`);
  expect(minted.every(({ id, time }) => one.parse(id).time.getTime() === time.getTime()), "parsed IDs to have their times");
  // Two tabs whose clocks agree differ by their seeds: in the first IDs of four milliseconds, or once in 2^48 not.
  let ms;
  const tabs = [await load(wasm, () => ms), await load(wasm, () => ms)];
  const firsts = tabs.map((tab) => [0, 1, 2, 3].map((at) => { ms = before + at; return tab.mint("room-42").id; }));
  expect(String(firsts[0]) !== String(firsts[1]), "two tabs to mint other IDs");
  expect(one.parse("2222-2222-2222-2222").time.getTime() === 0, "the time of the first ID");
  let words;
  try { one.parse("EUNC-Q8QJ-22GH-T3D!"); } catch (error) { words = error.message; }
  expect(words?.includes("at 18"), `an error that names the position, found ${words}`);
  return `${ids.length} IDs from ${ids[0]} to ${ids.at(-1)}; ${words}`;
}
