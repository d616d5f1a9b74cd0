// Times in zones. Digits and words are those of English on every machine, so that a copied time means the same everywhere.
import { ask } from "./module.js";

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {string} zone */
function format(zone) {
  let made = formats.get(zone);
  if (!made) {
    const digits = /** @type {const} */ ("2-digit");
    made = new Intl.DateTimeFormat("en-GB-u-nu-latn-ca-gregory", {
      timeZone: zone, year: "numeric", month: digits, day: digits, hour: digits, minute: digits, second: digits, fractionalSecondDigits: 3, hourCycle: "h23",
    });
    formats.set(zone, made);
  }
  return made;
}

/** Returns the time as the clock of the zone shows it, read as if it were UTC. @param {number} ms @param {string} zone */
function wall(ms, zone) {
  const parts = Object.fromEntries(format(zone).formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second, parts.fractionalSecond);
}

export const myZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** Returns `2025-11-20 19:10:00.000`, with the offset if asked. @param {number} ms @param {string} zone @param {boolean} [hasOffset] */
export function iso(ms, zone, hasOffset = false) {
  const shown = zone === "UTC" ? ms : wall(ms, zone);
  const text = new Date(shown).toISOString().replace("T", " ").replace("Z", "");
  if (!hasOffset) return text;
  const minutes = Math.round((shown - ms) / 60_000);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${text}${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}

/** Returns the zone that a name, a city or an offset such as +08:00 means, or null. @param {string} name */
export function canonicalZone(name) {
  if (!name.trim()) return null;
  /** @type {number | null} */
  const minutes = ask("offset", name);
  if (minutes !== null) return minutes === 0 ? "UTC" : `${minutes < 0 ? "-" : "+"}${String(Math.floor(Math.abs(minutes) / 60)).padStart(2, "0")}:${String(Math.abs(minutes) % 60).padStart(2, "0")}`;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name.trim() }).resolvedOptions().timeZone;
  } catch {
    const city = `/${name.trim().toLowerCase().replaceAll(" ", "_")}`;
    return Intl.supportedValuesOf("timeZone").find((zone) => zone.toLowerCase().endsWith(city)) ?? null;
  }
}

/** @type {[string, number][]} */
const UNITS = [["year", 31_557_600_000], ["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]];

/** Returns a length of time in its two greatest units, or in one. @param {number} ms @param {number} [most] */
export function span(ms, most = 2) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const at = UNITS.findIndex(([, length]) => ms >= length);
  const [name, length] = UNITS[at];
  const count = Math.floor(ms / length);
  const words = (/** @type {number} */ n, /** @type {string} */ unit) => `${n.toLocaleString("en")} ${unit}${n === 1 ? "" : "s"}`;
  if (name === "second") return words(Number((ms / 1_000).toFixed(count < 10 ? 3 : 0)), name);
  const [smaller, smallerLength] = UNITS[at + 1];
  const rest = Math.floor((ms % length) / smallerLength);
  return rest && most > 1 ? `${words(count, name)} ${words(rest, smaller)}` : words(count, name);
}

/** @param {number} ms @param {number} now @param {number} [most] units */
export const ago = (ms, now, most) => (ms <= now ? `${span(now - ms, most)} ago` : `in ${span(ms - now, most)}`);

/** Returns `Thu 20 Nov 2025, 19:10 UTC`. @param {number} ms */
export function shortTime(ms) {
  const [, weekday, day, month, year] = /^(\w+), (\d+) (\w+) (\d+)/.exec(new Date(ms).toUTCString()) ?? [];
  return `${weekday} ${Number(day)} ${month} ${year}, ${iso(ms, "UTC").slice(11, 16)} UTC`;
}

/** A time as the module reads it. @typedef {{ at?: number, shown?: number, before?: number, clock: number | null }} Typed */

/**
 * Returns the time that a zone shows so, the earlier one if there are two, or null if its clocks skip it.
 * @param {number} asUtc what the clocks show, read as if it were UTC @param {string} zone
 */
function inZone(asUtc, zone) {
  if (zone === "UTC") return asUtc;
  // The offset of a zone is known for a time in UTC. A day to both sides has the offset before and after a change.
  const offsets = new Set([-86_400_000, 86_400_000].map((near) => wall(asUtc + near, zone) - (asUtc + near)));
  const fits = [...offsets].map((ms) => asUtc - ms).filter((ms) => wall(ms, zone) === asUtc);
  return fits.length ? Math.min(...fits) : null;
}

/**
 * Reads a time as the tool does. Returns what is wrong as text, and null for nothing.
 * @param {string} text @param {string} zone of a time without an offset
 * @returns {number | string | null}
 */
export function parseTime(text, zone) {
  if (!text.trim()) return null;
  /** @type {Typed | string} */
  const typed = ask("time", Date.now(), text);
  if (typeof typed === "string") return typed;
  if (typed.at !== undefined) return typed.at;
  const today = wall(Date.now(), zone);
  const day = typed.shown === undefined ? today - (today % 86_400_000) - 86_400_000 * (typed.before ?? 0) : typed.shown - (typed.clock ?? 0);
  const time = inZone(day + (typed.clock ?? 0), zone) ?? (typed.clock === null ? startOf(day, zone) : null);
  return time ?? `${text.trim()} does not exist in ${zone}: the clock skips it`;
}

/** Returns how long a typed time is: a day, a minute, or the millisecond. @param {string} text */
export function lengthOf(text) {
  const typed = ask("time", Date.now(), text);
  const hasDay = typeof typed !== "string" && typed.at === undefined;
  return hasDay && typed.clock === null ? "day" : hasDay && /^(.* )?\d\d:\d\d$/.test(text.trim().replace("T", " ")) ? "minute" : "";
}

/** Returns the beginning of a day, which in some zones is at 01:00. @param {number} shown @param {string} zone @returns {number} */
const startOf = (shown, zone) => inZone(shown, zone) ?? startOf(shown + 1_800_000, zone);

/**
 * Returns the beginning and the end of the minute, hour or day of a time in a zone.
 * @param {number} ms @param {string} unit @param {string} zone
 * @returns {[number, number]}
 */
export function around(ms, unit, zone) {
  const length = { minute: 60_000, hour: 3_600_000 }[unit] ?? 86_400_000;
  const local = wall(ms, zone);
  const start = local - (local % length);
  if (unit !== "day") return [ms - (local - start), ms - (local - start) + length];
  // A day with a change of the clock has 23 or 25 hours, and in some zones it begins at 01:00.
  return [startOf(start, zone), startOf(start + length, zone)];
}
