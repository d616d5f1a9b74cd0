// The page in Chromium, as a person uses it: node --test page.test.mjs. PAGE is the file, CHROMIUM the browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const repository = new URL("../../", import.meta.url);
const url = pathToFileURL(process.env.PAGE ?? "imid.html").href;
const vectors = JSON.parse(readFileSync(new URL("spec/vectors.json", repository), "utf8"));
const dialects = JSON.parse(readFileSync(new URL("spec/dialects.json", repository), "utf8"));
const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const ID = "EUNC-Q8QJ-22GH-T3DD"; // 2025-11-20T19:10:00Z, GROUP, of FORMAT.md

let browser;
const requests = [];
const problems = [];

/** Opens the page as a person with this browser sees it. */
async function open(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, locale: "en-US", timezoneId: "Asia/Shanghai", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  await page.goto(url + hash);
  await page.waitForSelector("nav a[aria-current]"); // the module runs, and the page shows its link
  return page;
}

/** Pastes a text, as the clipboard would. */
const paste = (page, text) => page.evaluate((pasted) => {
  // Here, so that no field that was filled before is shown in between.
  delete document.getElementById("ids").dataset.milliseconds;
  const field = document.getElementById("text");
  field.focus();
  const data = new DataTransfer();
  data.setData("text/plain", pasted);
  const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  if (field.dispatchEvent(event)) {
    field.value = pasted;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
}, text);
const read = async (page, text) => {
  await paste(page, text);
  await page.waitForFunction(() => document.getElementById("ids").dataset.milliseconds !== undefined);
};
const texts = (page, selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent));
const status = (page) => page.textContent("#status");

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
});
after(async () => {
  await browser?.close();
  // One request for each page: the file itself.
  assert.deepEqual([...new Set(requests.map((request) => request.split("#")[0]))], [url]);
  assert.deepEqual(problems, []);
});

test("one ID is open in full, with its time in three zones", async () => {
  const page = await open();
  await page.fill("#zone", "America/New_York");
  await read(page, ID);
  // The change of the zone reads the text before once more, and can come last.
  await page.waitForFunction(() => document.getElementById("status").textContent === "1 ID.");
  const open_ = await page.textContent("#open");
  for (const expected of ["2025-11-20 19:10:00.000+00:00", "2025-11-21 03:10:00.000+08:00", "2025-11-20 14:10:00.000-05:00", "66a8ab1ad0001cfc856b", "484792763652715801511275", "019aa2ac-6b40-7007-8fc8-56bfffffffff", "ZqirGtAAHPyFaw==", "3 group", "2109-05-15"]) {
    assert.ok(open_.includes(expected), `${expected} in ${open_}`);
  }
  const bits = await texts(page, "#open .bits code");
  assert.equal(bits.join(""), BigInt("0x66a8ab1ad0001cfc856b").toString(2).padStart(80, "0"));
  assert.deepEqual(bits.map((field) => field.length), [42, 12, 4, 22]);
});

test("each form of an ID is read, and named", async () => {
  const page = await open();
  for (const [text, form] of [[ID, "text"], [ID.toLowerCase(), "lenient text"], ["66a8ab1ad0001cfc856b", "hex"], ["\\x66a8ab1ad0001cfc856b", "hex"], ["484792763652715801511275", "integer"], ["019aa2ac-6b40-7007-8fc8-56bfffffffff", "uuid"], ["ZqirGtAAHPyFaw==", "base64"]]) {
    await read(page, text);
    const open_ = (await page.textContent("#open")).toLowerCase();
    assert.ok(open_.startsWith(ID.toLowerCase()), `${text}: ${open_}`);
    assert.ok(open_.includes(`read as${form}`) || open_.includes(`read as${form.slice(0, 3)}`), `${text}: ${open_}`);
  }
});

test("every row of the vectors is read as they say", async () => {
  const page = await open();
  const rows = vectors.ids;
  await read(page, rows.map((row) => `sent ${row.text} ok`).join("\n"));
  while (await page.isVisible("#more")) await page.click("#more");
  const found = new Set(await texts(page, "#rows .id"));
  // A time that is not plausible is not searched for in a text: it is read alone.
  let alone = 0;
  for (const row of rows) {
    if (found.has(row.text)) continue;
    alone += 1;
    await read(page, row.text);
    assert.ok((await texts(page, "#rows .id, #open-title")).includes(row.text), row.text);
  }
  assert.ok(found.size > 5 && alone > 0, `${found.size} found, ${alone} alone`);
  for (const row of rows.filter((_, index) => index % 7 === 0)) {
    await read(page, row.text);
    // The likeliest system of a text of 1970 is not ours.
    const standard = (await texts(page, "#rows th")).indexOf(row.text);
    if (standard > 0) await page.click(`#rows tr:nth-child(${standard + 1}) .id`);
    const fields = await texts(page, "#open .bits small");
    const expected = [["time", row.timestamp], ["spin", row.spin], ["type", row.type], ["room hash", row.hash]];
    expected.forEach(([name, value], index) => assert.match(fields[index], new RegExp(`^${name}, \\d+ bits: ${value}\\b`), row.text));
    const forms = await texts(page, "#open .copy code");
    for (const form of [row.text, row.hex, row.integer]) assert.ok(forms.includes(form), `${form} of ${row.text}`);
  }
});

test("what the vectors refuse is refused, with the place", async () => {
  const page = await open();
  for (const row of vectors.texts_refused.filter((one) => typeof one.input === "string" && one.input.trim() === one.input && one.input.length === 19)) {
    await read(page, row.input);
    // Another system's ID, or a lenient reading, says so.
    const readAs = await page.$$eval("#open dd", (facts) => facts.map((fact) => fact.textContent).find((text) => / of \w/.test(text)));
    assert.ok(readAs !== "text of standard", row.input);
  }
  await read(page, "EUNC-Q8QJ-22GH-T3D0");
  assert.match(await page.textContent("#problem"), /^0 cannot be right here/);
  assert.equal(await page.textContent("#problem mark"), "0");
  assert.deepEqual(await texts(page, "#problem li .id"), ["EUNC-Q8QJ-22GH-T3DD", "EUNC-Q8QJ-22GH-T3DQ"]);
  assert.ok(await page.isHidden("#open"), "no wrong reading");
  await page.click("#problem li:first-of-type .id");
  assert.equal(await page.inputValue("#text"), "EUNC-Q8QJ-22GH-T3DD");
  assert.equal(await page.textContent("#problem"), "");
  assert.equal(await status(page), "1 ID.");
  await page.goBack();
  await page.waitForSelector("#problem mark");
  // Two wrong digits, a UUID and a sentence.
  for (const [text, expected] of [["EUNC-Q8QJ-2200-T3D1", /^not an ID: expected .* found '0' at 12EUNC-Q8QJ-2200-T3D1$/], ["9b2c8e0a-4f1d-4c3b-8a77-5a1f2b3c4d5e", /^a UUID of version 4 \(random\), not an ID$/], ["not to be found in here", /^$/]]) {
    await read(page, text);
    assert.match(await page.textContent("#problem"), expected, text);
  }
  assert.equal(await status(page), "No ID in this text.");
});

test("an ID that is cut off still tells its time, alone and beside others", async () => {
  const page = await open("", { timezoneId: "UTC" });
  for (const [text, mark] of [["EUNC-Q8QJ-22G…", "EUNC-Q8QJ-22G…"], ["eunc-q8qj-22", "eunc-q8qj-22"], ["12:00 msg=EUNC-Q8QJ-22G... lost", "EUNC-Q8QJ-22G..."], [`${ID} and EUNC-Q8QJ-22G…`, "EUNC-Q8QJ-22G…"]]) {
    await read(page, text);
    assert.equal(await page.textContent("#problem mark"), mark, text);
    assert.match(await page.textContent("#problem"), /Its time is still known: 2025-11-20 19:10:00\.000 UTC\.$/, text);
  }
  assert.equal(await page.textContent("#open-title"), ID);
  await read(page, "EUNC-Q8");
  assert.match(await page.textContent("#problem"), /6 of 16 digits are left.*between 2025-11-20 19:\d\d:\d\d\.\d{3} and 2025-11-20 19:\d\d:\d\d\.\d{3} UTC/);
  // A word of a longer text is a word.
  await read(page, "gate EAST4 was 1234-5678 and 2025-11-20 there");
  assert.equal(await page.textContent("#problem"), "");
});

test("the command finds each form of the ID, and no other ID", async () => {
  const page = await open();
  await read(page, ID);
  const forms = await texts(page, "#open .forms code");
  const command = (await texts(page, "#open .copy code")).find((text) => text.startsWith("rg '"));
  const [, insensitive, sensitive] = /^rg '\(\?i:([^)]*)\)\|(.*)'$/.exec(command);
  const finds = (text) => new RegExp(insensitive, "i").test(text) || new RegExp(sensitive).test(text);
  for (const form of [...forms, ID.toLowerCase(), ID.replaceAll("-", ""), "66A8AB1AD0001CFC856B", "ZqirGtAAHPyFaw", "019aa2ac6b4070078fc856bfffffffff"]) assert.ok(finds(form), `${form} by ${command}`);
  for (const other of ["EUNC-Q8QX-22GH-T3DD", "66a8ab1add001cfc856b", "ZQIRGtAAHPyFaw=="]) assert.ok(!finds(other), other);
});

test("conditions: the day of the zone, and what was chosen holds for the next ID", async () => {
  const page = await open();
  await page.fill("#zone", "Asia/Shanghai");
  await read(page, ID);
  await page.selectOption("#open select >> nth=0", "MySQL");
  await page.selectOption("#open select >> nth=1", "my day");
  assert.match(await page.textContent("#open"), /From 2025-11-21 00:00:00\.000 until before 2025-11-22 00:00:00\.000, Asia\/Shanghai/);
  await page.fill("#zone", "");
  await page.waitForFunction(() => /From 2025-11-21 00:00:00\.000 until before 2025-11-22 00:00:00\.000, Asia\/Shanghai/.test(document.getElementById("open").textContent));
  await read(page, "EUNC-Q8QX-22GH-T3DD");
  const condition = (await texts(page, "#open .copy code")).at(-1);
  const hour = 3_600_000n;
  const first = ((1763665800000n / hour) * hour - 3n * hour) << 38n; // 19:10 in UTC; the day began at 16:00
  assert.equal(condition, `WHERE id BETWEEN x'${first.toString(16).padStart(20, "0")}' AND x'${(first + ((24n * hour) << 38n) - 1n).toString(16).padStart(20, "0")}'`);
  // A day of 23 hours, one of 25, and one that begins at 01:00.
  for (const [zone, from, expected] of [["Europe/Berlin", "2026-03-29", "23 hours"], ["Europe/Berlin", "2025-10-26", "1 day 1 hour"], ["Africa/Cairo", "2026-04-23", "1 day"], ["UTC", "2025-11-20 19:10", "1 minute"], ["UTC", "2025-11-20 19:10:00", "1 ms"], ["UTC", "1763665800s", "1 ms"], ["UTC+8", "2025-11-20", "1 day"], ["UTC+8", "yesterday", "1 day"], ["Asia/Shanghai", "yesterday 14:00", "1 minute"], ["UTC", "14:00", "1 minute"], ["UTC", "-1h", "1 ms"]]) {
    const bounds = await open(`#${new URLSearchParams({ view: "time", from, "time-zone": zone })}`);
    assert.ok((await bounds.textContent("#bounds > p")).endsWith(` UTC, ${expected}.`), `${zone} ${from}: ${await bounds.textContent("#bounds > p")}`);
    await bounds.context().close();
  }
});

test("a zone is a city or an offset too, and what is not read is said", async () => {
  const page = await open();
  await read(page, ID);
  for (const [zone, expected] of [["shanghai", "2025-11-21 03:10:00.000+08:00"], ["New York", "2025-11-20 14:10:00.000-05:00"], ["+05:30", "2025-11-21 00:40:00.000+05:30"]]) {
    await page.fill("#zone", zone);
    await page.waitForFunction((text) => document.getElementById("open").textContent.includes(text), expected);
    assert.equal(await status(page), "1 ID.");
  }
  await page.fill("#zone", "Atlantis");
  await page.fill("#near", "May");
  await page.waitForFunction(() => document.getElementById("near").ariaInvalid === "true");
  assert.equal(await status(page), '1 ID. Not used: expected a time zone such as Asia/Shanghai, found "Atlantis". Not used: expected a time such as 2025-11-20 12:00, 2025-11-20T12:00:00Z, 2025-11-20, yesterday 14:00, 14:00, today, now, -1h, 1763640000000 or 1763640000s, found "May".');
  const bounds = await open("#view=time&from=2025-11-20&time-zone=Atlantis");
  assert.match(await bounds.textContent("#bounds"), /^expected a time zone such as Asia\/Shanghai, found "Atlantis"$/);
});

test("what is pasted beside the field is the next ticket", async () => {
  const page = await open();
  await read(page, ID);
  await page.focus("#open .copy button");
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "next: EUNC-Q8QX-22GH-T3DD");
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  assert.equal(await page.inputValue("#text"), "next: EUNC-Q8QX-22GH-T3DD");
  assert.equal(await page.textContent("#open-title"), "EUNC-Q8QX-22GH-T3DD");
  assert.equal(await page.evaluate(() => document.activeElement.id), "open-title");
});

test("an ID of another system in a text has its other candidates behind a button", async () => {
  const page = await open();
  await read(page, `{"id":204697221847986177,"ref":"${ID}"}`);
  assert.match(await page.textContent("#line"), /different systems, whose rooms cannot be compared/);
  assert.equal(await status(page), "2 IDs, of 1 room.");
  await page.click("text=What else can it be?");
  assert.equal(await page.inputValue("#text"), "204697221847986177");
  assert.match(await status(page), /systems could have made this ID/);
});

test("a line of a log, a JSON object and a ticket have their IDs marked", async () => {
  const page = await open();
  const later = "EUNC-Q8QX-22GH-T3DD";
  await read(page, `12:00 sent ${ID} to room\n{"id":"${later}"}\nsee BUFE-A62U-32C4-01I2, 谢谢 😀`);
  assert.deepEqual(await texts(page, "#rows .id"), [ID, later, "BUFE-A62U-32C4-01I2"]);
  assert.equal(await status(page), "3 IDs, of 2 rooms.");
  await page.click("#marked summary");
  assert.deepEqual(await texts(page, "#marks mark"), [ID, later, "BUFE-A62U-32C4-01I2"]);
  assert.ok((await page.textContent("#marks")).endsWith("谢谢 😀"));
  assert.deepEqual((await texts(page, "#rows tr")).map((row) => /[AB]$/.exec(row)?.[0]), ["A", "A", "B"]);
  await page.click("#rows tr:nth-child(3) .id");
  assert.equal(await page.textContent("#open-title"), "BUFE-A62U-32C4-01I2");
});

test("two IDs show which came first, by how much, and whether they share a room", async () => {
  const page = await open();
  const [first, second] = vectors.times.slice(-1).map((row) => [row.first, row.last])[0];
  assert.ok(first < second);
  await read(page, `EUNC-Q8QX-22GH-T3DD and ${ID}`);
  const line = await page.textContent("#line");
  assert.match(line, new RegExp(`^In order${ID} came first, \\d+ ms before EUNC-Q8QX-22GH-T3DD: the same room`));
  await page.focus("#text");
});

test("the ID of another system has its candidates, sorted by a time that the person knows", async () => {
  const page = await open();
  await read(page, "204697221847986177");
  const candidates = await page.$$eval("#rows th", (cells) => cells.map((cell) => cell.textContent));
  assert.ok(candidates.length >= 4, String(candidates));
  await page.fill("#near", "2012-05-21");
  await page.waitForFunction(() => document.querySelector("#rows th")?.textContent?.includes("twitter"));
  assert.match(await page.textContent("#open"), /2012-05-21 22:16:35\.436/);
});

test("every row of identify has its candidates, in order", async () => {
  const page = await open();
  // A browser's clock ends in the year 275760.
  for (const row of [...dialects.identify, ...dialects.identify_near].filter(({ now }) => now <= 8.64e15)) {
    await page.clock.setFixedTime(row.now);
    await page.evaluate((near) => { document.getElementById("near").value = near ?? ""; }, row.near === undefined ? null : new Date(row.near).toISOString());
    await read(page, row.input);
    const found = await page.$$eval("#rows th", (cells) => cells.map((cell) => / ([a-z][\w-]*)/.exec(cell.textContent)?.[1] ?? "standard"));
    // It also reads other forms, and leaves out what is implausible where something else is not.
    const known = found.filter((name) => row.candidates.includes(name));
    assert.deepEqual(known, row.candidates.filter((name) => known.includes(name)), `${row.input} ${found}`);
    // A number below 16 digits is no ID, and what no system made at its time is not read as one.
    if (row.candidates.includes("standard")) assert.ok(known.length > 0, `${row.input} ${found}`);
  }
});

test("every pasted text has the IDs that the tool prints", async () => {
  const page = await open();
  for (const [text, ids, others] of JSON.parse(readFileSync(new URL("crates/imid-cli/tests/cli/pasted.json", repository), "utf8"))) {
    await read(page, text);
    const found = await page.evaluate(() => {
      const rows = [...document.querySelectorAll("#rows th")].map((cell) => [/ ([a-z][\w-]*)/.exec(cell.childNodes[2]?.textContent ?? "")?.[1] ?? "standard", cell.querySelector(".id").textContent]);
      const open = document.getElementById("open");
      const readAs = [...open.querySelectorAll("dd")].map((fact) => /^(?:lenient text|text|hex|int|uuid|base64|bytes) of ([a-z][\w-]*)$/.exec(fact.textContent)?.[1]).find((name) => name);
      const one = open.hidden ? [] : [[readAs, document.getElementById("open-title").textContent]];
      const summary = document.querySelector("#others:not([hidden]) summary");
      return [(rows.length ? rows : one).map((each) => each.join(" ")), Number(summary?.textContent.split(" ")[0] ?? 0)];
    });
    assert.deepEqual(found, [ids, others], text);
  }
});

test("is it of this room", async () => {
  const page = await open();
  const { name, hash } = vectors.names.find((row) => row.name.startsWith("room"));
  await page.fill("#room", name);
  const row = vectors.ids.find((one) => one.hash === hash);
  await read(page, row ? row.text : ID);
  assert.match(await page.textContent("#open"), row ? /It can be of this name, as [a-z 0-9]+ \(1 in 4 million/ : /It is not of this name/);
  const { a, b, hash: pair } = vectors.pairs[0];
  await page.fill("#room", a);
  await page.fill("#peer", b);
  await page.waitForTimeout(200);
  const own = vectors.ids.find((one) => one.hash === pair);
  if (own) {
    await read(page, own.text);
    assert.match(await page.textContent("#open"), /It can be of these users, as private/);
  }
  // RongCloud hashes the addressed one of the two: "24" here. The other ID is of a group.
  for (const [text, a_, b_, expected] of [["BUFE-A62U-32C4-01I2", "24", "other", /It can be a private message to one of these users/], ["BUFE-A62U-32C4-01I2", "other", "24", /to one of these users.*1 in 2 million/], ["BUFE-A62U-32C4-01I2", "other", "25", /It is not of these users/], ["BUFE-A62U-32C4-01I2", "24", "", /It can be of this name, as private \(1 in 4/], ["BUFE-A62U-32CC-01I2", "24", "other", /It is not of these users/]]) {
    await page.fill("#room", a_);
    await page.fill("#peer", b_);
    await read(page, text);
    assert.match(await page.textContent("#open"), expected, `${text} ${a_} ${b_}`);
  }
});

test("rooms of two types that share a name are not one room", async () => {
  const page = await open();
  const { name, hash } = vectors.names.find((row) => row.name.startsWith("room"));
  const digits = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
  const of = (type) => {
    const value = (BigInt(1_763_665_800_000) << 38n) | (BigInt(type) << 22n) | BigInt(hash);
    const text = Array.from({ length: 16 }, (_, at) => digits[Number((value >> BigInt(75 - 5 * at)) & 31n)]).join("");
    return text.replace(/(.{4})(?=.)/g, "$1-");
  };
  await page.fill("#room", name);
  await read(page, `${of(1)} ${of(3)} F3ZC-FDXM-X8SH-T3DE`);
  assert.deepEqual((await texts(page, "#rows td:last-child")).map((cell) => cell.replace(/^[A-Z]/, "")), [" ✓ this name", " ✓ this name", ""]);
  assert.match(await status(page), /^3 IDs, of 3 rooms\. 2 can be of this name; 1 in 4 million/);
  await page.fill("#peer", "someone");
  await page.waitForFunction(() => /0 can be of these users/.test(document.getElementById("status").textContent));
});

test("the bounds of a time are those of the vectors, in all forms", async () => {
  const page = await open("#view=time");
  for (const row of vectors.times.filter((one) => one.from > 1e12 && one.to < 4e12)) {
    await page.fill("#from", new Date(row.from).toISOString());
    await page.fill("#to", new Date(row.to + 1).toISOString());
    await page.waitForFunction((text) => text.every((one) => document.getElementById("bounds").textContent.includes(one)), [row.first, row.last]);
  }
  await page.fill("#from", "2026-03-29 02:30");
  await page.fill("#to", "");
  await page.fill("#time-zone", "Europe/Berlin");
  await page.waitForFunction(() => document.getElementById("bounds").textContent.includes("does not exist in Europe/Berlin"));
  await page.fill("#from", "2026-02-30");
  await page.waitForFunction(() => document.getElementById("bounds").textContent.includes("expected a date such as"));
});

test("the risk of a deployment, with numbers as the tool reads them", async () => {
  const page = await open("#view=risk&hosts=8&rate=10&rooms=1&zipf=0");
  const table = await page.textContent("#answer");
  assert.match(table, /about once in 1 day 2 hours/); // 26 hours: README
  assert.match(table, /never, while/);
  for (const [rate, expected] of [["100k", "1,070 per second"], ["1e5", "1,070 per second"], ["100,000", "1,070 per second"], ["1e-3", "less than once in 10,000 years"]]) {
    await page.fill("#rate", rate);
    await page.waitForFunction((text) => document.querySelector("#answer td").textContent === text, expected);
  }
  for (const [id, text, expected] of [["hosts", "x", 'hosts: expected a number from 1 to 65,536, found "x"'], ["hosts", "", "hosts: expected"], ["hosts", "0x10", "hosts: expected"], ["rate", "1k k", "rate: expected"]]) {
    await page.fill(`#${id}`, text);
    await page.waitForFunction((start) => document.getElementById("answer").textContent.startsWith(start), expected);
    await page.fill(`#${id}`, "8");
  }
});

test("nothing typed is lost: views, Back, reload, a long text; and the link has it only by its button", async () => {
  const page = await open("", { permissions: ["clipboard-read", "clipboard-write"] });
  await read(page, `ticket of a customer: ${ID}`);
  await page.fill("#room", "kitchen");
  await page.click("nav a[data-view=risk]");
  await page.waitForSelector("#risk:not([hidden])");
  assert.ok(!page.url().includes("EUNC") && !page.url().includes("kitchen"), page.url());
  await page.click("nav a[data-view=ids]");
  assert.equal(await page.inputValue("#text"), `ticket of a customer: ${ID}`);
  await page.goBack();
  await page.waitForSelector("#risk:not([hidden])");
  await page.goBack();
  await page.waitForSelector("#open:not([hidden])");
  await page.reload();
  await page.waitForSelector("#open:not([hidden])");
  assert.equal(await page.inputValue("#text"), `ticket of a customer: ${ID}`);
  assert.equal(await page.inputValue("#room"), "kitchen");
  // Another text is a new page for Back.
  await page.focus("#copy-link");
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "next EUNC-Q8QX-22GH-T3DD");
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  assert.equal(await page.textContent("#open-title"), "EUNC-Q8QX-22GH-T3DD");
  await page.goBack();
  await page.waitForFunction((id) => document.getElementById("open-title").textContent === id, ID);
  // A text above the limit of a link.
  const long = `${"words ".repeat(2_000)}${ID}`;
  await read(page, long);
  await page.waitForFunction(() => document.getElementById("holds").textContent.includes("too long for a link"));
  await page.reload();
  await page.waitForSelector("#open:not([hidden])");
  assert.equal(await page.inputValue("#text"), long);
  // The footer says what a link holds, and the link is that.
  await read(page, `again ${ID}`);
  await page.waitForFunction(() => /A link now holds the text \(25 characters\), “Is it from this room\?”\.$/.test(document.getElementById("holds").textContent));
  await page.click("#copy-link");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, `${url}#text=again+${ID}&room=kitchen`);
  const again = await open(`#text=${encodeURIComponent(`a ${ID} b`)}&zone=Asia%2FTokyo`);
  assert.match(await again.textContent("#open"), /2025-11-21 04:10:00\.000\+09:00/);
});

test("the answer is first, in one line, and examples show what can be pasted", async () => {
  const page = await open();
  assert.equal((await page.$$("#examples button")).length, 3);
  await page.clock.setFixedTime(1_795_305_600_000);
  await read(page, ID);
  assert.ok(await page.isHidden("#examples"));
  assert.equal(await page.textContent("#open .answer"), "Thu 20 Nov 2025, 19:10 UTC · 1 year ago · group · room #3966315");
  assert.ok(await page.isHidden("#open .bits"), "the bits are folded");
  assert.match(await page.textContent("footer"), /imid \d+\.\d+\.\d+, \d{4}-\d\d-\d\d/);
  assert.ok((await page.$$("#open dl button")).length >= 2, "each time has a button");
  for (let index = 0; index < 3; index += 1) {
    await page.fill("#text", "");
    await page.waitForSelector("#examples:not([hidden])");
    await page.click(`#examples button:nth-of-type(${index + 1})`);
    await page.waitForSelector("#open:not([hidden])");
    await page.focus("#text");
  }
});

test("keys in other fields do not read the text again", async () => {
  const page = await open();
  await read(page, `one ${ID} two`);
  const reads = () => page.$eval("#ids", (section) => section.dataset.reads);
  const before = await reads();
  await page.type("#zone", "Asia/Tokyo");
  await page.type("#room", "kitchen");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("can be of this name"));
  assert.equal(await reads(), before);
});

test("a ticket has its one ID, and numbers that could be IDs are folded", async () => {
  const page = await open();
  await read(page, `customer (IMEI 861234567890123, order 202611261234567890) lost ${ID}. span=a1b2c3d4e5f6a7b8 ts=1763665800000123456`);
  assert.equal(await status(page), "1 ID.");
  assert.equal(await page.textContent("#others summary"), "2 numbers that could be IDs of other systems");
  assert.ok(await page.isHidden("#others li"));
});

test("equal IDs are equal, and many have counts beside which one is open", async () => {
  const page = await open();
  await read(page, `${ID} and ${ID.toLowerCase()}`);
  assert.match(await page.textContent("#line"), /^In orderThe same ID, twice: one message that arrived more than once, or a duplicate\./);
  assert.equal(await status(page), "2 IDs, 1 different, of 1 room.");
  const lines = Array.from({ length: 1_000 }, (_, index) => `sent ${ID.slice(0, 11)}${"23456789ABCDEFGH"[index % 16]}${"23456789"[(index >> 4) % 8]}${ID.slice(13)}`);
  await read(page, lines.join("\n"));
  const [count, rooms] = /^([\d,]+) IDs, 128 different, of (\d+) room/.exec(await status(page)).slice(1);
  assert.equal(count, "1,000");
  assert.ok((await page.textContent("#line")).includes(rooms === "1" ? "the same room" : `${rooms} rooms.`), await page.textContent("#line"));
  assert.deepEqual((await texts(page, "#counts h3")).map((title) => title.split(",")[0]), ["By minute", "By type", "By room"]);
  const total = await page.$$eval("#counts > div:first-child td", (cells) => cells.reduce((sum, cell) => sum + Number(cell.textContent.replace(",", "")), 0));
  assert.equal(total, 1_000);
  const [list, article] = await Promise.all(["#list", "#open"].map(async (selector) => (await page.$(selector)).boundingBox()));
  assert.ok(article.x >= list.x + list.width, "the open ID is beside the list");
});

test("what is pasted is text and never markup", async () => {
  const page = await open();
  for (const text of [`<img src=x onerror=alert(1)>${ID}<script>document.title="x"</script>`, `\ud800 ${ID} \udc00 😀`, `"&lt;${ID}\u0000\u202e${ID}`, "\u2028\u2029<b>"]) {
    await read(page, text);
    assert.equal(await page.$$eval("#ids img, #ids script, #ids b", (found) => found.length), 0);
    if (text.includes(ID)) assert.equal(await page.textContent("#open-title"), ID);
  }
  assert.match(await page.title(), /imid/);
});

test("a thousand lines, twenty thousand and 10 MB", async (t) => {
  const page = await open();
  const line = (index) => `2026-11-22 12:00:00 INFO sent ${vectors.ids[0] && ID.slice(0, 12)}${"23456789ABCDEFGH"[index % 16]}${"23456789"[(index >> 4) % 8]}-T3DD to a room with some more words`;
  const lines = (count) => Array.from({ length: count }, (_, index) => line(index)).join("\n");
  for (const [name, text, most] of [["1,000 lines", lines(1_000), 1_000], ["20,000 lines", lines(20_000), 20_000], ["10 MB of other text", "hello world, nothing here\n".repeat(400_000), 0]]) {
    await read(page, text);
    const took = await page.$eval("#ids", (section) => Number(section.dataset.milliseconds));
    t.diagnostic(`${name}: ${took} ms of script`);
    const found = most ? `${most.toLocaleString("en")} IDs` : "No ID";
    assert.match(await status(page), new RegExp(`^${found}`));
    assert.ok((await page.$$("#rows tr")).length <= 200);
  }
});

test("by keyboard alone, and copied", async () => {
  const page = await open("", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.focus("#text");
  await page.keyboard.insertText(`x ${ID} y EUNC-Q8QX-22GH-T3DD`);
  await page.waitForSelector("#rows tr:nth-child(2)");
  for (let tabs = 0; tabs < 12 && (await page.evaluate(() => document.activeElement.closest("#rows tr:nth-child(2)"))) === null; tabs += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "open-title");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "copy");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.textContent === "copied");
});

for (const [name, options] of [["wide and light", {}], ["320 wide and dark", { viewport: { width: 320, height: 700 }, colorScheme: "dark" }], ["in Chinese", { locale: "zh-CN" }], ["in Arabic, with reduced motion", { locale: "ar-EG", reducedMotion: "reduce", timezoneId: "Africa/Cairo" }]]) {
  test(`nothing is out of reach: ${name}`, async () => {
    for (const hash of ["", `#text=${ID}`, `#text=${ID}%20EUNC-Q8QX-22GH-T3DD%20BUFE-A62U-32C4-01I2`, "#text=EUNC-Q8QJ-22GH-T3D0", "#view=time&from=2025-11-20", "#view=risk"]) {
      const page = await open(hash, options);
      // The policy of the page keeps scripts out; DevTools are not bound by it.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), [], hash);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${hash} scrolls sideways`);
      const digits = await page.evaluate(() => document.body.textContent.match(/[\u0660-\u0669]/g));
      assert.equal(digits, null);
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${name.replaceAll(/\W+/g, "-")}-${hash.replaceAll(/\W+/g, "-").slice(0, 60)}.png`, fullPage: true });
      await page.context().close();
    }
  });
}
