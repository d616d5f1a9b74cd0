// The page: what it shows, from what module.js answers. Times are Unix milliseconds.
import { ask } from "./module.js";
import { ago, around, canonicalZone, iso, lengthOf, myZone, parseTime, shortTime, span } from "./time.js";
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
 * @property {[string, string][]} spellings each way to write it, with its form
 */
/** Why a text is not an ID. @typedef {{ message: string, isForeign: boolean, at: number | null }} Problem */
/**
 * A word that is not all of an ID: what is left of one, or what a mistyped one can have been.
 * @typedef {object} Broken
 * @property {[number, number]} at
 * @property {number} [digits]
 * @property {{ scheme: string, from: number, to: number }[]} [cuts]
 * @property {number} [wrong] the place of the wrong digit
 * @property {Id[]} [repairs]
 */

const ROWS = 200;
const LONG = 100_000; // Chromium lays out a longer text for seconds
const MARKED = 20_000;
const LINKED = 4_000;
const KEPT = 20;

const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ ($(id));
/** What the link carries, by the ID of its field. */
const FIELDS = ["text", "zone", "near", "room", "peer", "from", "to", "time-zone", "hosts", "rate", "rooms", "zipf", "busiest"];
const DEFAULTS = new Map(FIELDS.map((id) => [id, input(id).value]));

/** The whole text, where the field shows only its beginning. */
let longText = "";
/** @type {Id[]} */
let ids = [];
/** Whether the IDs are the ways to read one. */
let isOne = false;
/** The text in which they are. */
let source = "";
let chosen = 0;
let shown = 0;

/**
 * Makes an element. A text among the children is text, whatever it contains.
 * @param {string} tag
 * @param {Record<string, string | boolean | ((event: Event) => void)>} [attributes]
 * @param {...(Node | string | null)} children
 */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/**
 * Copies a text, and says at the button that it did. Where the browser forbids it, shows the text for copying by hand.
 * @param {Element} button @param {string} name what it says @param {string} text @param {string} label
 * @param {() => string} byHand shows it, and returns what the button says
 */
async function copy(button, name, text, label, byHand) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
    $("said").textContent = `Copied ${label}`;
  } catch {
    button.textContent = byHand();
  }
  setTimeout(() => { button.textContent = name; }, 1500);
}

/** A button that copies a text. @param {string} text @param {string} label @param {string} [className] */
function copyButton(text, label, className = "") {
  const select = () => {
    if (button.previousSibling) getSelection()?.selectAllChildren(button.previousSibling);
    return "press Ctrl+C";
  };
  const button = make("button", { "aria-label": `Copy ${label}`, class: className, click: () => copy(button, "copy", text, label, select) }, "copy");
  return button;
}

/** @param {string} text @param {string} label */
const copyable = (text, label) => make("div", { class: "copy" }, make("code", {}, text), copyButton(text, label));

/** A short text with its button. @param {string} text @param {string} label */
const withCopy = (text, label) => make("span", {}, make("span", {}, text), copyButton(text, label, "one"));

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

/** The hashes that the named room has: dialects and hashes. @type {[string, number][]} */
let wanted = [];
/** RongCloud hashes the user whom a private message is addressed to. @param {Id} id */
const isHalf = (id) => id.scheme.startsWith("rongcloud") && input("peer").value !== "";
/** @param {Id} id */
const isWanted = (id) => wanted.some(([scheme, hash]) => scheme === id.scheme && hash === id.hash) && (input("peer").value === "" || id.type === "private");
/** A group and a channel of one name have one hash, so a match is of the name. */
const wantedWords = () => (input("peer").value ? "these users" : "this name");

/** Reads a field with a zone, and marks it if there is no such zone. @param {string} id */
function zoneIn(id) {
  const field = input(id);
  const zone = canonicalZone(field.value);
  field.setAttribute("aria-invalid", String(field.value.trim() !== "" && zone === null));
  return zone;
}

/** Says what is wrong with a field with a zone. @param {string} id */
const zoneProblem = (id) => (input(id).value.trim() && zoneIn(id) === null ? `expected a time zone such as Asia/Shanghai, found ${JSON.stringify(input(id).value)}` : null);

/** Reads a field with a time. @param {string} id @param {string} zone */
function timeIn(id, zone) {
  const field = input(id);
  const time = parseTime(field.value, zone);
  field.setAttribute("aria-invalid", String(typeof time === "string"));
  return time;
}

/** What was read last, so that keys in other fields do not read the text again. */
let last = { text: "", near: "", answer: { ids: [], others: [], broken: null, problem: null, isOne: false } };

function showIds() {
  const started = performance.now();
  const text = longText || input("text").value;
  const near = timeIn("near", zoneIn("zone") ?? "UTC");
  const room = input("room").value;
  const nearMs = typeof near === "number" ? String(near) : "";
  wanted = room ? ask("room", room, input("peer").value) : [];
  if (text !== last.text || (last.answer.isOne && nearMs !== last.near)) {
    const answer = ask("read", Date.now(), nearMs, text);
    last = { text, near: nearMs, answer: text.trim() ? answer : { ...answer, problem: null } };
    $("ids").dataset.reads = String(Number($("ids").dataset.reads ?? 0) + 1);
  }
  const { answer } = last;
  ids = answer.ids;
  isOne = answer.isOne;
  source = text;
  chosen = Math.min(chosen, Math.max(0, ids.length - 1));
  shown = 0;
  roomLetters.clear();
  ids.forEach(letterOf);
  $("rows").replaceChildren();
  $("examples").hidden = text.trim() !== "";
  $("list").hidden = ids.length < 2;
  $("found").classList.toggle("beside", ids.length > 1 && !isOne);
  showMore();
  const isBroken = showBroken(text, answer.broken) || showProblem(text, ids.length ? null : answer.problem);
  showLine();
  showCounts();
  showMarks(text);
  showOthers(text, answer.others);
  showOpen();
  const count = ids.length.toLocaleString("en");
  const mine = ids.filter(isWanted).length.toLocaleString("en");
  const different = new Set(ids.map((id) => `${id.scheme} ${id.key}`)).size;
  const rooms = (different < ids.length ? `, ${different.toLocaleString("en")} different` : "") + (roomLetters.size ? `, of ${roomLetters.size.toLocaleString("en")} room${roomLetters.size === 1 ? "" : "s"}` : "");
  const say = !text.trim() ? "" : isOne && ids.length > 1 ? `${count} systems could have made this ID. The likeliest is first.`
    : ids.length === 1 ? "1 ID." : ids.length ? `${count} IDs${rooms}.` : isBroken ? "" : "No ID in this text.";
  const ofRoom = room && ids.length ? ` ${mine} can be of ${wantedWords()}; 1 in ${ids.some(isHalf) ? 2 : 4} million matches by chance.` : "";
  const ignored = [zoneProblem("zone"), typeof near === "string" ? near : null].filter((problem) => problem).map((problem) => ` Not used: ${problem}.`);
  $("status").textContent = say + ofRoom + ignored.join("");
  $("ids").dataset.milliseconds = (performance.now() - started).toFixed(1);
}

/** Numbers that could be IDs of other systems, folded. @param {string} text @param {Id[]} others */
function showOthers(text, others) {
  const box = $("others");
  box.hidden = others.length === 0;
  const [summary, items] = box.children;
  summary.textContent = others.length === 1 ? "1 number that could be an ID of another system" : `${others.length.toLocaleString("en")} numbers that could be IDs of other systems`;
  items.replaceChildren(...others.slice(0, ROWS).map(({ at, scheme, ms }) => {
    const word = text.slice(...at);
    return make("li", {}, make("button", { class: "id", click: () => fill(word) }, word), ` as ${scheme}: ${iso(ms, "UTC")} UTC`);
  }));
}

/** Counts by time, type and room. */
function showCounts() {
  const box = $("counts");
  box.hidden = isOne || ids.length < 5;
  if (box.hidden) return;
  const zone = zoneIn("zone") ?? "UTC";
  const sorted = ids.map((id) => id.ms).sort((a, b) => a - b);
  const width = sorted[sorted.length - 1] - sorted[0];
  const [unit, length] = /** @type {[string, number][]} */ ([["minute", 16], ["hour", 13], ["day", 10]]).find((_, index) => width < [3_600_000, 2 * 86_400_000, Infinity][index]) ?? ["day", 10];
  const table = (/** @type {string} */ title, /** @type {(id: Id) => string} */ key, /** @type {boolean} */ byCount) => {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const id of ids) counts.set(key(id), (counts.get(key(id)) ?? 0) + 1);
    const all = [...counts].sort(byCount ? (a, b) => b[1] - a[1] : (a, b) => (a[0] < b[0] ? -1 : 1));
    const rows = all.slice(0, 24).map(([name, count]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, count.toLocaleString("en"))));
    const rest = all.length > 24 ? make("p", { class: "note" }, `and ${(all.length - 24).toLocaleString("en")} more`) : null;
    return make("div", { tabindex: "0" }, make("h3", {}, title), make("table", {}, make("tbody", {}, ...rows)), rest);
  };
  box.replaceChildren(table(`By ${unit}, ${zone}`, (id) => iso(id.ms, zone).slice(0, length) + (unit === "hour" ? ":00" : ""), false),
    table("By type", (id) => id.type || id.scheme, true), table("By room", (id) => letterOf(id) || "no room", true));
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
    make("th", { scope: "row" }, button, copyButton(id.text, id.text, "one"), make("small", {}, id.scheme === "standard" ? "" : ` ${id.scheme}`), make("small", {}, id.form === "text" ? "" : ` (${id.form})`)),
    make("td", { class: "when", "data-label": "UTC" }, iso(id.ms, "UTC")),
    make("td", { class: "when", "data-label": "My zone" }, iso(id.ms, myZone())),
    zone === null ? null : make("td", { class: "when", "data-label": zone }, iso(id.ms, zone)),
    make("td", { "data-label": "Age" }, ago(id.ms, now, 1)),
    make("td", { "data-label": "Type" }, id.type),
    make("td", { "data-label": "Room" }, letterOf(id), isWanted(id) ? make("strong", {}, ` ✓ ${wantedWords()}`) : ""),
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

/** Shows a place in the text, with what is around it. @param {string} text @param {number} at @param {number} end */
const placeIn = (text, at, end) => make("p", { class: "bad" }, make("code", {}, at > 80 ? "… " : "", text.slice(Math.max(0, at - 80), at), make("mark", {}, text.slice(at, end) || "␣"), text.slice(end, end + 80), text.length > end + 80 ? " …" : ""));

/** @param {string} text @param {Problem | null} problem */
function showProblem(text, problem) {
  // A sentence is not an ID that somebody mistyped.
  if (!problem || (!problem.isForeign && /\s/.test(text.trim()))) return false;
  $("problem").append(make("p", { class: "bad" }, problem.message));
  const { at } = problem;
  if (at !== null) $("problem").append(placeIn(text, at, at + (String.fromCodePoint(text.codePointAt(at) ?? 0).length)));
  return true;
}

/** Shows a word that is not all of an ID. @param {string} text @param {Broken | null} broken */
function showBroken(text, broken) {
  const box = $("problem");
  box.replaceChildren();
  if (!broken) return false;
  const [start, end] = broken.at;
  if (broken.repairs) {
    const wrong = broken.wrong ?? start;
    const buttons = broken.repairs.map((id) => make("li", {}, make("button", { class: "id", click: () => fill(id.text) }, id.text), ` ${iso(id.ms, "UTC")} UTC`));
    box.append(make("p", { class: "bad" }, broken.wrong === undefined ? "Its end is missing: base64 ends with ==." : `${text[wrong]} cannot be right here.`),
      placeIn(text, wrong, broken.wrong === undefined ? end : wrong + 1), make("p", {}, "It could have been:"), make("ul", {}, ...buttons));
    return true;
  }
  const zone = zoneIn("zone") ?? myZone();
  const times = (/** @type {{ from: number, to: number }} */ cut, /** @type {string} */ of) => cut.from === cut.to ? iso(cut.from, of) : `between ${iso(cut.from, of)} and ${iso(cut.to, of)}`;
  const cuts = (broken.cuts ?? []).map((cut) => make("p", {}, cut.scheme === "standard" ? "Its time is still known: " : `As an ID of ${cut.scheme}: `, make("strong", {}, `${times(cut, "UTC")} UTC`), zone === "UTC" ? "" : `, ${times(cut, zone)} ${zone}`, "."));
  box.append(make("p", { class: "bad" }, `Cut off: ${broken.digits} of 16 digits are left.`), placeIn(text, start, end), ...cuts);
  return true;
}

/** A line of time of two IDs or more. */
function showLine() {
  const box = $("line");
  box.hidden = isOne || ids.length < 2;
  if (box.hidden) return;
  const sorted = [...ids].sort((a, b) => a.ms - b.ms || (a.key < b.key ? -1 : 1));
  const [first, last] = [sorted[0], sorted[sorted.length - 1]];
  const ofRooms = roomLetters.size;
  const isOneSystem = new Set(sorted.map((id) => id.scheme)).size === 1;
  const [isTwo, isOneMs] = [sorted.length === 2, first.ms === last.ms];
  const isEqual = sorted.every((id) => id.key === first.key && id.scheme === first.scheme);
  const order = isOneMs && isOneSystem ? "in one millisecond, in the order of their text"
    : `over ${span(last.ms - first.ms)}${isOneSystem ? "" : ", of different systems"}`;
  const which = isEqual ? `The same ID, ${isTwo ? "twice" : `${sorted.length} times`}: ` : !isTwo ? `From ${first.text} to ${last.text}, ${order}: `
    : isOneMs ? `${first.text} and ${last.text} are of one millisecond, and are first and second if one process made both: `
    : `${first.text} came first, ${span(last.ms - first.ms)} before ${last.text}: `;
  const rooms = isEqual ? "one message that arrived more than once, or a duplicate." : ofRooms === 0 ? "such IDs do not tell their room." : isTwo && !isOneSystem ? "different systems, whose rooms cannot be compared."
    : ofRooms === 1 ? "the same room, as far as an ID can tell." : isTwo ? "not the same room." : `${ofRooms.toLocaleString("en")} rooms.`;
  box.replaceChildren(make("h3", {}, "In order"), make("p", {}, which + rooms));
}

/** @param {string} text */
function showMarks(text) {
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
  const zones = [...new Set(["UTC", myZone(), ...(zone ? [zone] : [])])];
  const facts = make("dl", {}, ...zones.flatMap((of) => [make("dt", {}, of), make("dd", {}, withCopy(iso(id.ms, of, true), `the time, ${of}`))]),
    make("dt", {}, "Age"), make("dd", {}, ago(id.ms, now)),
    make("dt", {}, "Read as"), make("dd", {}, `${id.form} of ${id.scheme}`),
    make("dt", {}, "Layout ends"), make("dd", {}, iso(opened.lastMs, "UTC").slice(0, 10)));
  const bits = make("div", { class: "bits" }, ...opened.fields.map((field, index) =>
    make("div", { class: `f${index % 4}` }, make("code", {}, field.bits), make("small", {}, `${field.name}, ${field.bits.length} bits: ${field.value}${field.says ? ` ${field.says}` : ""}`))));
  const answer = [shortTime(id.ms), ago(id.ms, now, 1), ...(id.scheme === "standard" ? [] : [id.scheme]), ...(id.hash === null ? [] : [id.type, `room #${id.hash}`])].join(" · ");
  const isOf = isHalf(id) ? "It can be a private message to one of these users; RongCloud does not hash the sender" : `It can be of ${wantedWords()}, as ${id.type}`;
  const ofRoom = wanted.some(([scheme]) => scheme === id.scheme) ? make("p", {}, make("strong", {}, isWanted(id) ? isOf : `It is not of ${wantedWords()}`), isWanted(id) ? ` (1 in ${isHalf(id) ? 2 : 4} million matches by chance).` : ".") : "";
  // The text of a Snowflake is its integer.
  const forms = opened.forms.filter(([name, value]) => name !== "int" || value !== opened.text);
  const base64 = opened.spellings.find(([form]) => form === "base64");
  if (base64) forms.push(["base64", `${base64[1]}==`]);
  const parts = [
    make("h3", { id: "open-title", tabindex: "-1" }, opened.text), make("p", { class: "answer" }, answer), ofRoom, facts,
    id.scheme === "standard" || isOne ? "" : make("p", {}, make("button", { click: () => fill(source.slice(...id.at)) }, "What else can it be?")),
    make("details", {}, make("summary", {}, "Its bits"), bits),
    make("h3", {}, "Its forms"), make("div", { class: "forms" }, ...forms.flatMap(([name, value]) => [make("small", {}, name), copyable(value, name)])),
    make("details", {}, make("summary", {}, "Find it in files"), copyable(`rg '${pattern(opened.spellings)}'`, "the command")),
  ];
  if (id.scheme === "standard") {
    const zoneOf = () => (chosenOf.Time === "my day" ? zone ?? myZone() : "UTC");
    const rangeOf = () => around(id.ms, chosenOf.Time.replace("my ", "").replace(" in UTC", ""), zoneOf());
    parts.push(make("h3", {}, "IDs of the same time in a table"), queries(rangeOf, { Database: Object.keys(whereClauses), Time: ["minute", "hour", "my day", "day in UTC"], Column: Object.keys(formsOf) }, zoneOf));
  }
  box.replaceChildren(...parts);
}

/** A regular expression of all spellings. Upper and lower case differ only in base 64. @param {[string, string][]} spellings */
function pattern(spellings) {
  const others = spellings.filter(([form, text]) => form !== "base64" && text === text.toLowerCase()).map(([, text]) => text);
  return [`(?i:${others.join("|")})`, ...spellings.filter(([form]) => form === "base64").map(([, text]) => text.replaceAll("+", "\\+"))].join("|");
}

/** What was chosen for a condition holds for the next ID too. @type {Record<string, string>} */
const chosenOf = { Database: "PostgreSQL", Time: "hour", Column: "bytes" };

/** SQL for the IDs of a range of time. @param {() => [number, number]} rangeOf @param {Record<string, string[]>} choices @param {() => string} zoneOf */
function queries(rangeOf, choices, zoneOf) {
  const selects = Object.entries(choices).map(([label, options]) => make("label", {}, label, make("select", { change: (event) => {
    chosenOf[label] = /** @type {HTMLSelectElement} */ (event.target).value;
    show();
  } }, ...options.map((option) => make("option", { selected: option === chosenOf[label] }, option)))));
  const result = make("div");
  function show() {
    const [from, to] = rangeOf();
    const [first, last] = ask("bounds", from, to);
    const form = formsOf[chosenOf.Column];
    result.replaceChildren(copyable(whereClauses[chosenOf.Database](form(first), form(last), chosenOf.Column), "the condition"),
      make("small", {}, `From ${iso(from, zoneOf())} until before ${iso(to, zoneOf())}, ${zoneOf()}.`));
  }
  show();
  return make("div", {}, make("div", { class: "fields" }, ...selects), result);
}

function showTime() {
  const box = $("bounds");
  const zone = zoneIn("time-zone") ?? "UTC";
  const [from, to] = [timeIn("from", zone), timeIn("to", zone)];
  for (const problem of [zoneProblem("time-zone"), from, to]) {
    if (typeof problem === "string") return box.replaceChildren(make("p", { class: "bad" }, problem));
  }
  if (typeof from !== "number") return box.replaceChildren();
  // A day alone is all of it, and so is a minute.
  const unit = lengthOf(input("from").value);
  const end = typeof to === "number" ? to : unit === "day" ? around(from, "day", zone)[1] : from + (unit === "minute" ? 60_000 : 1);
  if (end <= from) return box.replaceChildren(make("p", { class: "bad" }, "The end must be after the start."));
  const answer = ask("bounds", from, end);
  if (typeof answer === "string") return box.replaceChildren(make("p", { class: "bad" }, answer));
  const [first, last] = answer;
  const rows = Object.keys(first).map((form) => make("tr", {}, make("th", { scope: "row" }, form), ...[[first, "first"], [last, "last"]].map(([of, name]) => make("td", { "data-label": name }, make("code", {}, of[form]), copyButton(of[form], `the ${name} ID as ${form}`, "one")))));
  const inZone = zone === "UTC" ? "" : `From ${iso(from, zone)} until before ${iso(end, zone)} ${zone}. `;
  box.replaceChildren(
    make("p", {}, `${inZone}From ${iso(from, "UTC")} until before ${iso(end, "UTC")} UTC, ${span(end - from)}.`),
    make("table", {}, make("thead", {}, make("tr", {}, ...["Form", "First ID", "Last ID"].map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows)),
    make("h3", {}, "As a condition"), queries(() => [from, end], { Database: Object.keys(whereClauses), Column: Object.keys(formsOf) }, () => zone));
}

/** @param {number} value */
const short = (value) => (value === 0 ? "0" : value >= 1e6 || value < 0.01 ? value.toExponential(1).replace("e+", "e").replace(".0e", "e") : value.toLocaleString("en", { maximumSignificantDigits: 3 }));

/** @param {number} perYear */
function howOften(perYear) {
  const seconds = 31_557_600 / perYear;
  if (seconds < 1) return `${short(1 / seconds)} per second`;
  return seconds / 31_557_600 > 10_000 ? "less than once in 10,000 years" : `about once in ${span(seconds * 1000)}`;
}

/** @typedef {{ name: string, condition: string | null, perYear: number, oneAt: number | null }} Mode */

/** Reads a field with a number, or returns what is wrong. Nothing is 0. @param {string} id @param {number} least @param {number} most */
function numberIn(id, least, most) {
  const field = input(id);
  /** @type {string | null} */
  const digits = ask("number", field.value);
  const value = digits === null && field.value.trim() ? NaN : Number(digits);
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
    make("p", {}, make("strong", {}, answer.advice)),
    make("p", { class: "note" }, "With ten times the messages, in the same proportions, IDs repeat a hundred times as often."));
}

const VIEWS = { ids: showIds, time: showTime, risk: showRisk };
/** @typedef {keyof typeof VIEWS} View */
/** @type {View} */
let view = "ids";

/** Every text of this tab, which its history counts: Back returns to the one before. The URL has none of them. @type {string[]} */
let texts = [""];
let at = 0;

/** Keeps what was typed for a reload. A text above the browser's limit is not kept, and the page says so. */
function keep() {
  const kept = { fields: FIELDS.filter((id) => id !== "text").map((id) => [id, input(id).value]), at };
  try {
    sessionStorage.setItem("imid", JSON.stringify({ ...kept, texts }));
  } catch {
    const short = texts.map((text) => (text.length > LONG ? "" : text));
    try { sessionStorage.setItem("imid", JSON.stringify({ ...kept, texts: short })); } catch { /* a page without storage forgets on reload */ }
    $("shortened").textContent += " Paste it again after a reload: it is above this browser's limit.";
  }
}

/** What a link would hold: the fields of this view. */
function linked() {
  const parts = new URLSearchParams();
  if (view !== "ids") parts.set("view", view);
  const held = FIELDS.filter((id) => $(view).contains(input(id)) && (id === "text" ? texts[at] : input(id).value) !== DEFAULTS.get(id));
  const isLong = texts[at].length > LINKED;
  for (const id of held) if (id !== "text" || !isLong) parts.set(id, id === "text" ? texts[at] : input(id).value);
  const names = held.filter((id) => id !== "text" || !isLong).map((id) => (id === "text" ? `the text (${texts[at].length.toLocaleString("en")} characters)` : `\u201c${input(id).labels?.[0].firstChild?.textContent?.trim()}\u201d`));
  const tooLong = held.includes("text") && isLong ? ` The text is too long for a link, which holds ${LINKED.toLocaleString("en")} characters.` : "";
  return { parts, says: `Only \u201cCopy link\u201d writes it into a link. A link now holds ${names.length ? names.join(", ") : "nothing that you typed"}.${tooLong}` };
}

$("copy-link").addEventListener("click", () => {
  const link = `${location.href.split("#")[0]}#${linked().parts}`;
  copy($("copy-link"), "Copy link", link, "the link", () => {
    history.replaceState(history.state, "", link);
    return "The address bar has the link";
  });
});

/** Makes room for the next text. Those that are many pages back are forgotten. */
function next() {
  texts = [...texts.slice(0, at + 1).map((text, index) => (index > at - KEPT ? text : "")), ""];
  at += 1;
}

/** Adds a page for Back. */
function push() {
  history.pushState({ at }, "", view === "ids" ? "#" : `#view=${view}`);
}

/** Shows a text in its field, or its beginning. */
function showText() {
  const text = texts[at];
  longText = text.length > LONG ? text : "";
  input("text").value = longText ? text.slice(0, 2_000) : text;
  $("shortened").hidden = !longText;
  $("shortened").textContent = `${text.length.toLocaleString("en")} characters are read; the field shows the first 2,000.`;
}

/** Reads the URL and the history. A link with fields replaces what is here. */
function open() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const named = parts.get("view") ?? "ids";
  view = named in VIEWS ? /** @type {View} */ (named) : "ids";
  const given = FIELDS.filter((id) => parts.has(id));
  for (const id of given.filter((one) => one !== "text")) input(id).value = parts.get(id) ?? "";
  const text = parts.get("text");
  if (text !== null && text !== texts[at]) {
    next();
    texts[at] = text;
  } else if (typeof history.state?.at === "number") {
    at = Math.min(history.state.at, texts.length - 1);
  }
  if (typeof history.state?.at !== "number") history.replaceState({ at }, "");
  chosen = 0;
  showText();
  show();
}

function show() {
  for (const name of Object.keys(VIEWS)) $(name).hidden = name !== view;
  for (const anchor of document.querySelectorAll("nav a")) {
    if (/** @type {HTMLElement} */ (anchor).dataset.view === view) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  VIEWS[view]();
  $("holds").textContent = linked().says;
  keep();
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
let isNewText = true;
document.addEventListener("input", (event) => {
  const field = /** @type {HTMLElement} */ (event.target);
  if (!FIELDS.includes(field.id)) return;
  if (field.id === "text") {
    // The first edit after a pause is a new page for Back.
    if (isNewText && texts[at] !== "") {
      next();
      push();
    }
    isNewText = false;
    texts[at] = input("text").value;
    longText = "";
    chosen = 0;
    $("shortened").hidden = true;
  }
  clearTimeout(typing);
  typing = setTimeout(show, input("text").value.length > 10_000 ? 300 : 60);
});
document.addEventListener("focusin", () => { isNewText = true; });
// Also where the focus is elsewhere, as on a button that copied something.
document.addEventListener("paste", (event) => {
  isNewText = true;
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  const isElsewhere = !(/** @type {HTMLElement} */ (event.target).closest("input, textarea"));
  if (view !== "ids" || !(isElsewhere || (event.target === $("text") && pasted.length > LONG))) return;
  event.preventDefault();
  fill(pasted);
});

/** Reads another text, as a new page for Back. @param {string} text */
function fill(text) {
  if (texts[at] !== "") {
    next();
  }
  texts[at] = text;
  push();
  chosen = 0;
  showText();
  show();
  $("open").querySelector("h3")?.focus();
}

for (const example of document.querySelectorAll("[data-example]")) example.addEventListener("click", () => fill(/** @type {HTMLElement} */ (example).dataset.example ?? ""));
for (const anchor of document.querySelectorAll("nav a, h1 a")) {
  anchor.addEventListener("click", (event) => {
    event.preventDefault();
    view = /** @type {View} */ (/** @type {HTMLElement} */ (anchor).dataset.view ?? "ids");
    push();
    show();
  });
}
$("more").addEventListener("click", showMore);
addEventListener("popstate", open);
addEventListener("hashchange", open);
$("zones").append(...Intl.supportedValuesOf("timeZone").map((zone) => make("option", { value: zone })));
try {
  const kept = JSON.parse(sessionStorage.getItem("imid") ?? "null");
  // A link with fields is another start than a reload.
  if (kept && !/[#&](text|from|to|zone|hosts|rate|near|room|peer)=/.test(location.hash)) {
    ({ texts, at } = kept);
    for (const [id, value] of kept.fields) input(id).value = value;
  }
} catch { /* nothing was kept */ }
$("cannot").remove();
open();
