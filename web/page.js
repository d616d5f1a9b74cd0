// The page: what it shows, from what module.js answers. Times are unix milliseconds.
import { ask } from "./module.js";
import { ago, canonicalZone, iso, myZone, parseTime, span } from "./time.js";
import { formsOf, whereClauses } from "./sql.js";

/**
 * An ID as the module returns it.
 * @typedef {object} Id
 * @property {[number, number]} at its place in the text, in UTF-16 units
 * @property {string} scheme the dialect or layout that reads it
 * @property {string} key the ID in hex, as the scheme orders it
 * @property {string} text
 * @property {number} ms
 * @property {string} type the kind of conversation in words, or ""
 * @property {number | null} hash the hash of the conversation
 * @property {string} form how it was written, such as "text" or "hex"
 */
/**
 * @typedef {object} Opened
 * @property {string} scheme
 * @property {string} text
 * @property {number} ms
 * @property {number} lastMs the last millisecond of the layout
 * @property {{ name: string, bits: string, value: string, says: string }[]} fields
 * @property {[string, string][]} forms
 * @property {string} pattern a regular expression of all forms, or ""
 */
/** @typedef {{ message: string, at: number, length: number, fits: string, from?: number, to?: number }} Problem */

const ROWS = 200;
const LONG = 100_000; // Chromium lays out a longer text for seconds
const MARKED = 20_000;
const LINKED = 4_000;

const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ ($(id));
/** What the link carries, by the ID of its field. */
const FIELDS = ["text", "zone", "near", "room", "peer", "from", "to", "time-zone", "hosts", "rate", "rooms", "zipf", "busiest"];
const DEFAULTS = new Map(FIELDS.map((id) => [id, input(id).value]));

/** The whole text, where the field shows only its beginning. */
let longText = "";
/** @type {Id[]} */
let ids = [];
let chosen = 0;
let shown = 0;

/**
 * Makes an element. A text among the children is text, whatever it contains.
 * @param {string} tag
 * @param {Record<string, string | boolean | ((event: Event) => void)>} [attributes]
 * @param {...(Node | string | null)} children
 */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "circle", "text", "title", "g"].includes(tag);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** @param {string} text @param {string} label */
function copyable(text, label) {
  const button = make("button", { "aria-label": `Copy ${label}`, click: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      getSelection()?.selectAllChildren(code);
      button.textContent = "press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  } }, "copy");
  const code = make("code", {}, text);
  return make("div", { class: "copy" }, code, button);
}

/** Returns A to Z, then AA, AB and so on. @param {number} index @returns {string} */
const letters = (index) => (index < 26 ? "" : letters(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));

/** @param {Id} id */
const roomOf = (id) => (id.hash === null ? null : `${id.type}/${id.hash}/${id.scheme}`);

/** @type {Map<string, string>} */
const roomLetters = new Map();
/** Each room gets the next letter. @param {Id} id */
function letterOf(id) {
  const room = roomOf(id);
  if (room === null) return "";
  if (!roomLetters.has(room)) roomLetters.set(room, letters(roomLetters.size));
  return roomLetters.get(room) ?? "";
}

/** The hash that the named room has in each dialect. @type {Map<string, number>} */
let wanted = new Map();
/** @param {Id} id */
const isWanted = (id) => id.hash !== null && wanted.get(id.scheme) === id.hash;

/** Reads a field with a zone, and marks it if there is no such zone. @param {string} id */
function zoneIn(id) {
  const field = input(id);
  const zone = canonicalZone(field.value);
  field.setAttribute("aria-invalid", String(field.value.trim() !== "" && zone === null));
  return zone;
}

/** Reads a field with a time. @param {string} id @param {string} zone */
function timeIn(id, zone) {
  const field = input(id);
  const time = parseTime(field.value, zone);
  field.setAttribute("aria-invalid", String(typeof time === "string"));
  return time;
}

function showIds() {
  const started = performance.now();
  const text = longText || input("text").value;
  const near = timeIn("near", zoneIn("zone") ?? "UTC");
  const room = input("room").value;
  const hashes = room ? ask("room", room, input("peer").value) : [];
  wanted = new Map(hashes);
  roomLetters.clear();
  const answer = text.trim() ? ask("read", Date.now(), typeof near === "number" ? near : "", text) : { ids: [], problem: null, isOne: false };
  ids = answer.ids;
  chosen = Math.min(chosen, Math.max(0, ids.length - 1));
  shown = 0;
  ids.forEach(letterOf);
  $("rows").replaceChildren();
  $("list").hidden = ids.length < 2;
  showMore();
  showProblem(text, answer.problem);
  showLine(answer.isOne);
  showMarks(text, answer.isOne);
  showOpen();
  const count = ids.length.toLocaleString("en");
  const mine = ids.filter(isWanted).length.toLocaleString("en");
  const say = !text.trim() ? "" : answer.isOne && ids.length > 1 ? `${count} systems could have made this ID. The likeliest is first.`
    : ids.length === 1 ? "1 ID." : ids.length ? `${count} IDs, of ${roomLetters.size.toLocaleString("en")} rooms.` : answer.problem ? "" : "No ID in this text.";
  const ofRoom = wanted.size && ids.length ? ` ${mine} can be of this room; 1 in 4 million matches by chance.` : "";
  $("status").textContent = say + ofRoom;
  $("ids").dataset.milliseconds = (performance.now() - started).toFixed(1);
}

function showMore() {
  const zone = zoneIn("zone");
  const now = Date.now();
  const mine = myZone();
  $("my-zone").textContent = mine === "UTC" ? "My zone (UTC)" : mine;
  $("other-zone").textContent = zone ?? "";
  $("other-zone").hidden = zone === null;
  const rows = document.createDocumentFragment();
  for (const [index, id] of ids.slice(shown, shown + ROWS).entries()) rows.append(row(id, shown + index, zone, now));
  $("rows").append(rows);
  shown = Math.min(ids.length, shown + ROWS);
  $("more").hidden = shown >= ids.length;
  $("more").textContent = `Show ${Math.min(ROWS, ids.length - shown)} more of ${(ids.length - shown).toLocaleString("en")}`;
}

/** @param {Id} id @param {number} index @param {string | null} zone @param {number} now */
function row(id, index, zone, now) {
  const button = make("button", { class: "id", click: () => choose(index) }, id.text);
  const cells = [
    make("th", { scope: "row" }, button, id.scheme === "standard" ? "" : ` ${id.scheme}`, id.form === "text" ? "" : ` (${id.form})`),
    make("td", { class: "when", "data-label": "UTC" }, iso(id.ms, "UTC")),
    make("td", { class: "when", "data-label": "My zone" }, iso(id.ms, myZone())),
    zone === null ? null : make("td", { class: "when", "data-label": zone }, iso(id.ms, zone)),
    make("td", { "data-label": "Age" }, ago(id.ms, now)),
    make("td", { "data-label": "Type" }, id.type),
    make("td", { "data-label": "Room" }, letterOf(id), isWanted(id) ? make("strong", {}, " ✓ this room") : ""),
  ];
  return make("tr", { "aria-current": index === chosen && "true" }, ...cells);
}

/** @param {number} index */
function choose(index) {
  $("rows").children[chosen]?.removeAttribute("aria-current");
  chosen = index;
  $("rows").children[chosen]?.setAttribute("aria-current", "true");
  showOpen();
  $("open").querySelector("h3")?.focus();
}

/** @param {string} text @param {Problem | null} problem */
function showProblem(text, problem) {
  const box = $("problem");
  box.replaceChildren();
  if (!problem) return;
  const { at, length } = problem;
  const end = at + length;
  const place = text.length > 200 ? null : make("p", { class: "bad" }, make("code", {}, text.slice(0, at), make("mark", {}, text.slice(at, end) || "␣"), text.slice(end)));
  box.append(make("p", { class: "bad" }, problem.message));
  if (place && (length || at < text.length)) box.append(place);
  if (problem.fits) box.append(make("p", {}, `What fits there: ${problem.fits}`));
  if (problem.from !== undefined && problem.to !== undefined) {
    box.append(make("p", {}, `What is left of it says: between ${iso(problem.from, "UTC")} and ${iso(problem.to, "UTC")} UTC.`));
  }
}

/** A line of time of two IDs or more. @param {boolean} isOne */
function showLine(isOne) {
  const box = $("line");
  box.hidden = isOne || ids.length < 2;
  if (box.hidden) return;
  const sorted = ids.slice(0, ROWS).sort((a, b) => a.ms - b.ms || (a.key < b.key ? -1 : 1));
  const [first, last] = [sorted[0], sorted[sorted.length - 1]];
  const width = Math.max(1, last.ms - first.ms);
  const x = (/** @type {number} */ ms) => String(20 + (960 * (ms - first.ms)) / width);
  const picture = make("svg", { viewBox: "0 0 1000 50", role: "img", "aria-label": "IDs in the order of their times" },
    make("line", { class: "axis", x1: "20", x2: "980", y1: "25", y2: "25" }),
    ...sorted.map((id) => make("circle", { class: isWanted(id) ? "open" : "dot", cx: x(id.ms), cy: "25", r: "5" }, make("title", {}, `${id.text} ${iso(id.ms, "UTC")} ${letterOf(id)}`))));
  const sameRoom = new Set(sorted.map(roomOf)).size === 1 && roomOf(first) !== null;
  const sameScheme = new Set(sorted.map((id) => id.scheme)).size === 1;
  const order = first.ms === last.ms && sameScheme ? "in one millisecond, in the order of their text"
    : `over ${span(last.ms - first.ms)}${sameScheme ? "" : ", of different systems"}`;
  const which = sorted.length === 2 ? `${first.text} came first, ${span(last.ms - first.ms)} before ${last.text}: ` : `From ${first.text} to ${last.text}, ${order}: `;
  const rooms = sameRoom ? "the same room, as far as an ID can tell." : sorted.length === 2 ? "not the same room." : `${new Set(sorted.map(roomOf)).size} rooms.`;
  const cut = ids.length > ROWS ? ` The first ${ROWS} in the text.` : "";
  box.replaceChildren(make("h3", {}, "In order"), make("p", {}, which + rooms + cut), picture);
}

/** @param {string} text @param {boolean} isOne */
function showMarks(text, isOne) {
  $("marked").hidden = isOne || ids.length === 0;
  if ($("marked").hidden) return;
  const parts = [];
  let from = 0;
  for (const [index, { at: [start, end] }] of ids.entries()) {
    if (end > MARKED) break;
    if (start < from) continue;
    const button = make("button", { class: "id", click: () => choose(index) }, text.slice(start, end));
    parts.push(text.slice(from, start), make("mark", {}, button));
    from = end;
  }
  const rest = text.slice(from, Math.max(from, MARKED));
  $("marks").replaceChildren(...parts, rest, text.length > from + rest.length ? " … " : "");
}

function showOpen() {
  const box = $("open");
  const id = ids[chosen];
  box.hidden = !id;
  if (!id) return;
  /** @type {Opened} */
  const opened = ask("open", id.scheme, id.key);
  const zone = zoneIn("zone");
  const now = Date.now();
  const zones = [["UTC", "UTC"], [`My zone, ${myZone()}`, myZone()], ...(zone ? [[zone, zone]] : [])];
  const facts = make("dl", {}, ...zones.flatMap(([label, of]) => [make("dt", {}, label), make("dd", {}, iso(id.ms, of, true))]),
    make("dt", {}, "Age"), make("dd", {}, ago(id.ms, now)),
    make("dt", {}, "Read as"), make("dd", {}, `${id.form} of ${id.scheme}`),
    make("dt", {}, "Last day of this layout"), make("dd", {}, iso(opened.lastMs, "UTC").slice(0, 10)));
  const bits = make("div", { class: "bits" }, ...opened.fields.map((field, index) =>
    make("div", { class: `f${index % 4}` }, make("code", {}, field.bits), make("small", {}, `${field.name}, ${field.bits.length} bits: ${field.value}${field.says ? ` ${field.says}` : ""}`))));
  const ofRoom = wanted.has(id.scheme) ? make("p", {}, make("strong", {}, isWanted(id) ? "It can be of this room" : "It is not of this room"), isWanted(id) ? " (1 in 4 million matches by chance)." : ": the hash is another one.") : "";
  const parts = [
    make("h3", { id: "open-title", tabindex: "-1" }, opened.text), facts, ofRoom,
    make("h3", {}, "Its bits"), bits,
    make("h3", {}, "Its forms"), make("div", { class: "forms" }, ...opened.forms.flatMap(([name, value]) => [make("small", {}, name), copyable(value, name)])),
  ];
  if (opened.pattern) parts.push(make("h3", {}, "Find it in files"), copyable(`rg -i '${opened.pattern}'`, "the command"));
  if (id.scheme === "standard") parts.push(make("h3", {}, "IDs of the same time in a table"), queries(id.ms));
  box.replaceChildren(...parts);
}

/** SQL for the minute, hour and day of a time. @param {number} ms */
function queries(ms) {
  const select = (/** @type {string} */ label, /** @type {string[]} */ options) => {
    const made = make("select", { "aria-label": label, change: () => show() }, ...options.map((option) => make("option", {}, option)));
    return /** @type {HTMLSelectElement} */ (made);
  };
  const database = select("Database", Object.keys(whereClauses));
  const length = select("Time", ["minute", "hour", "day"]);
  const form = select("Column", Object.keys(formsOf));
  const result = make("div");
  function show() {
    const unit = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[length.value] ?? 60_000;
    const from = ms - (ms % unit);
    const [first, last] = ask("bounds", from, from + unit);
    result.replaceChildren(copyable(whereClauses[database.value](formsOf[form.value](first), formsOf[form.value](last), form.value), "the condition"));
  }
  show();
  return make("div", {}, make("div", { class: "fields" }, database, make("span", {}, "this"), length, make("span", {}, "(UTC), a column of"), form), result);
}

function showTime() {
  const box = $("bounds");
  const zone = zoneIn("time-zone") ?? "UTC";
  const [from, to] = [timeIn("from", zone), timeIn("to", zone)];
  for (const problem of [from, to]) {
    if (typeof problem === "string") return box.replaceChildren(make("p", { class: "bad" }, problem));
  }
  if (typeof from !== "number") return box.replaceChildren();
  const end = typeof to === "number" ? to : from + 1;
  if (end <= from) return box.replaceChildren(make("p", { class: "bad" }, "The end is not after the beginning."));
  const answer = ask("bounds", from, end);
  if (typeof answer === "string") return box.replaceChildren(make("p", { class: "bad" }, answer));
  const [first, last] = answer;
  const rows = Object.keys(first).map((form) => make("tr", {}, make("th", { scope: "row" }, form), make("td", { "data-label": "first" }, make("code", {}, first[form])), make("td", { "data-label": "last" }, make("code", {}, last[form]))));
  const conditions = make("div", { class: "forms" }, ...Object.entries(whereClauses).flatMap(([name, where]) => [make("small", {}, name), copyable(where(formsOf.bytes(first), formsOf.bytes(last), "bytes"), `the condition for ${name}`)]));
  box.replaceChildren(
    make("p", {}, `From ${iso(from, "UTC")} until before ${iso(end, "UTC")} UTC, ${span(end - from)}.`),
    make("table", {}, make("thead", {}, make("tr", {}, ...["Form", "First ID", "Last ID"].map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows)),
    make("h3", {}, "As a condition, for a column of 10 bytes"), conditions);
}

/** @param {number} value */
const short = (value) => (value === 0 ? "0" : value >= 1e6 || value < 0.01 ? value.toExponential(1).replace("e+", "e").replace(".0e", "e") : value.toLocaleString("en", { maximumSignificantDigits: 3 }));

/** @param {number} perYear */
function howOften(perYear) {
  const seconds = 31_557_600 / perYear;
  if (seconds < 1) return `${short(1 / seconds)} per second`;
  return seconds / 31_557_600 > 10_000 ? "less than once in 10,000 years" : `about once in ${span(seconds * 1000)}`;
}

/** @typedef {{ mode: string, name: string, condition: string | null, perYear: number, oneAt: number | null }} Mode */

/** Reads a field with a number, or returns what is wrong. Nothing is 0. @param {string} id @param {number} least @param {number} most */
function numberIn(id, least, most) {
  const field = input(id);
  const value = Number(field.value.replace(/[,_\s]/g, ""));
  const fits = value >= least && value <= most;
  field.setAttribute("aria-invalid", String(!fits));
  return fits ? value : `${id}: expected a number from ${least} to ${most.toLocaleString("en")}, found ${JSON.stringify(field.value)}`;
}

const eight = new DataView(new ArrayBuffer(8));
/** The module writes numbers as the integers of their bits. @param {number[]} values @returns {string | { modes: Mode[], advice: string }} */
function askRisk(values) {
  const bits = values.map((value) => {
    eight.setFloat64(0, value);
    return String(eight.getBigUint64(0));
  });
  const number = (/** @type {string | null} */ text) => {
    eight.setBigUint64(0, BigInt(text ?? 0));
    return text === null ? null : eight.getFloat64(0);
  };
  const answer = ask("risk", ...bits);
  if (typeof answer === "string") return answer;
  return { ...answer, modes: answer.modes.map((/** @type {any} */ mode) => ({ ...mode, perYear: number(mode.perYear) ?? 0, oneAt: number(mode.oneAt) })) };
}

function showRisk() {
  const box = $("answer");
  $("plot").replaceChildren();
  const values = [numberIn("hosts", 1, 65_536), numberIn("rate", 1e-9, 1e12), numberIn("rooms", 1, 1e12), numberIn("zipf", 0, 10), numberIn("busiest", 0, 1e12)];
  const wrong = values.find((value) => typeof value === "string");
  if (typeof wrong === "string") return box.replaceChildren(make("p", { class: "bad" }, wrong));
  const answer = askRisk(/** @type {number[]} */ (values));
  if (typeof answer === "string") return box.replaceChildren(make("p", { class: "bad" }, answer));
  const rows = answer.modes.map((mode) => make("tr", {},
    make("th", { scope: "row" }, mode.name),
    make("td", { "data-label": "An ID repeats" }, mode.condition ? `never, ${mode.condition}` : howOften(mode.perYear)),
    make("td", { class: "number", "data-label": "Per year" }, mode.condition ? "0" : short(mode.perYear)),
    make("td", { class: "number", "data-label": "Once per year at" }, mode.oneAt === null ? "" : `${short(mode.oneAt)}/s`)));
  const heads = ["Which host mints", "An ID repeats", "Per year", "Once per year at"];
  box.replaceChildren(
    make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((name, index) => make("th", { scope: "col", class: index > 1 && "number" }, name)))), make("tbody", {}, ...rows)),
    make("p", {}, make("strong", {}, answer.advice)));
  showPlot(/** @type {number[]} */ (values), answer.modes);
}

/** Draws duplicates per year over messages per second, both as powers of ten. @param {number[]} values @param {Mode[]} modes */
function showPlot(values, modes) {
  const [left, top, width, height] = [60, 20, 820, 300];
  const powers = Array.from({ length: 29 }, (_, index) => index / 4);
  const answers = powers.map((power) => askRisk([values[0], 10 ** power, values[2], values[3], 0]));
  const x = (/** @type {number} */ power) => left + (width * power) / 7;
  const y = (/** @type {number} */ perYear) => top + (height * (9 - Math.log10(perYear))) / 12;
  const lines = modes.filter((mode) => !mode.condition).map((mode, index) => {
    const points = answers.map((answer, at) => [powers[at], typeof answer === "string" ? 0 : answer.modes.find((one) => one.mode === mode.mode)?.perYear ?? 0])
      .filter(([, perYear]) => perYear >= 1e-3 && perYear <= 1e9);
    if (points.length < 2) return null;
    const [power, perYear] = points[points.length - 1];
    return make("g", { class: `f${index}` },
      make("path", { d: `M${points.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`, fill: "none", stroke: "currentColor", "stroke-width": "2" }),
      make("text", { x: String(x(power) + 4), y: String(y(perYear) + 4) }, mode.name));
  });
  const grid = [1e-3, 1, 1e3, 1e6, 1e9].flatMap((value) => [
    make("line", { class: "axis", x1: String(left), x2: String(left + width), y1: String(y(value)), y2: String(y(value)) }),
    make("text", { x: String(left - 6), y: String(y(value) + 4), "text-anchor": "end" }, short(value))]);
  const ticks = [0, 1, 2, 3, 4, 5, 6, 7].map((power) => make("text", { x: String(x(power)), y: String(top + height + 18), "text-anchor": "middle" }, (10 ** power).toLocaleString("en")));
  $("plot").append(make("figure", {}, make("svg", { viewBox: "0 0 1000 350", role: "img", "aria-label": "Duplicates per year over messages per second; the table has the numbers" }, ...grid, ...ticks, ...lines),
    make("figcaption", {}, "Duplicates per year over messages per second of all rooms.")));
}

const VIEWS = { ids: showIds, time: showTime, risk: showRisk };
/** @typedef {keyof typeof VIEWS} View */
/** @type {View} */
let view = "ids";

/** Writes what was typed behind the #. @param {boolean} isNew whether Back returns to what was there before */
function link(isNew) {
  const parts = new URLSearchParams();
  if (view !== "ids") parts.set("view", view);
  for (const id of FIELDS) {
    const value = id === "text" && longText ? "" : input(id).value;
    const isHere = $(view).contains(input(id));
    if (isHere && value !== DEFAULTS.get(id) && value.length <= LINKED) parts.set(id, value);
  }
  const next = `#${parts}`;
  if (next === (location.hash || "#")) return;
  if (isNew) history.pushState(null, "", next);
  else history.replaceState(null, "", next);
}

function open() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const named = parts.get("view") ?? "ids";
  view = named in VIEWS ? /** @type {View} */ (named) : "ids";
  longText = "";
  chosen = 0;
  for (const id of FIELDS) input(id).value = parts.get(id) ?? DEFAULTS.get(id) ?? "";
  $("shortened").hidden = true;
  show();
}

function show() {
  for (const name of Object.keys(VIEWS)) $(name).hidden = name !== view;
  for (const anchor of document.querySelectorAll("nav a")) {
    if (/** @type {HTMLElement} */ (anchor).dataset.view === view) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  VIEWS[view]();
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
let linkIsNew = true;
document.addEventListener("input", (event) => {
  const field = /** @type {HTMLElement} */ (event.target);
  if (!FIELDS.includes(field.id)) return;
  if (field.id === "text") {
    longText = "";
    chosen = 0;
    $("shortened").hidden = true;
  }
  clearTimeout(typing);
  typing = setTimeout(() => {
    show();
    link(linkIsNew);
    linkIsNew = false;
  }, input("text").value.length > 10_000 ? 300 : 60);
});
// The next edit after a pause is a new page for Back.
document.addEventListener("focusin", () => { linkIsNew = true; });
$("text").addEventListener("paste", (event) => {
  linkIsNew = true;
  const pasted = /** @type {ClipboardEvent} */ (event).clipboardData?.getData("text/plain") ?? "";
  if (pasted.length <= LONG) return;
  event.preventDefault();
  take(pasted);
});

/** Takes a text that is too long for the field. @param {string} text */
function take(text) {
  longText = text;
  chosen = 0;
  input("text").value = text.slice(0, 2_000);
  $("shortened").hidden = false;
  $("shortened").textContent = `${text.length.toLocaleString("en")} characters are read; the field shows the first 2,000. The link does not carry them.`;
  show();
  link(true);
}

$("more").addEventListener("click", showMore);
addEventListener("popstate", open);
addEventListener("hashchange", open);
$("zones").append(...Intl.supportedValuesOf("timeZone").map((zone) => make("option", { value: zone })));
open();
