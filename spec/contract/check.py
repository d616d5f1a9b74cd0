#!/usr/bin/env python3
"""Judges a generator of any language by spec/generator.json: `check.py DRIVER [ARGUMENT...]`.

The driver reads one call per line on standard input, and writes one line for it on standard output, without delay. The calls and
the answers are in README.md. With --case TEXT only the cases whose names contain it are run, and each line is shown.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import threading
from collections import Counter

FILE = pathlib.Path(__file__).resolve().parents[1] / "generator.json"
DIGITS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
# A refusal of these kinds names the wait.
NUMBERED = ("overload", "rollback", "skew")
SECONDS = 60


class Failure(Exception):
    """The driver did not do what a case expects."""


class Unsupported(Exception):
    """The driver does not know a call."""


class Driver:
    def __init__(self, command, shown=False, errors_shown=True):
        self.command, self.shown = command, shown
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None if errors_shown else subprocess.DEVNULL, text=True
        )
        self.timer = None

    def watch(self):
        """Gives the driver time for one more row."""
        if self.timer:
            self.timer.cancel()
        self.timer = threading.Timer(SECONDS, self.process.kill)
        self.timer.start()

    def ask(self, call):
        return next(self.ask_all([call]))

    def ask_all(self, calls):
        """Writes all calls and yields the answers. Another thread writes, so that neither side waits for the other."""
        calls = list(calls)
        writer = threading.Thread(target=self.write, args=(calls,))
        writer.start()
        for call in calls:
            answer = self.process.stdout.readline()
            if not answer.endswith("\n"):
                raise Failure(f"no answer to `{call}`: the driver has ended, or did not answer for {SECONDS} s")
            if self.shown:
                print(f"  {call} -> {answer.strip()}")
            if answer == "unsupported\n":
                raise Unsupported
            yield answer.split()
        writer.join()

    def write(self, calls):
        try:
            self.process.stdin.write("".join(f"{call}\n" for call in calls))
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # the pipe is closed; the missing answer says so

    def end(self):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # what the driver has not read


def fields(text):
    """Returns the millisecond, the spin and the session tag of an ID."""
    digits = text.replace("-", "")
    if len(text) != 19 or len(digits) != 16 or any(digit not in DIGITS for digit in digits):
        raise Failure(f"expected an ID, found {text}")
    value = 0
    for digit in digits:
        value = value * 32 + DIGITS.index(digit)
    return value >> 38, value >> 26 & 4095, value & 2**26 - 1


class Play:
    """One case, step by step. Whatever the case expects, IDs ascend, runs have no gaps, and lanes and sessions are right."""

    def __init__(self, driver):
        self.driver = driver
        self.lane, self.w = 0, 4096
        self.last = None

    def step(self, step):
        call = step["call"]
        if call.startswith("new"):
            self.begin(call)
        if "repeat" in step:
            self.repeat(call, step)
            return
        answer = self.driver.ask(call)
        if "refused" not in step:
            self.accepted(call, answer, step)
        else:
            retry = self.refused(call, answer, step)
            if "follow" in step:
                self.follow(call, step, retry)

    def begin(self, call):
        settings = dict(word.split("=") for word in call.split()[1:])
        index, bits = map(int, settings.get("lane", "0/0").split("/"))
        self.lane, self.w, self.last = index, 4096 >> bits, None

    def accepted(self, call, answer, step):
        name, *words = call.split()
        if name == "close":
            expected = step.get("ms")
            fits = answer == ["none"] if expected is None else answer[0] == "ok" and expected[0] <= int(answer[1]) <= expected[1]
            if not fits:
                raise Failure(f"`{call}`: expected {'none' if expected is None else f'ok and {expected}'}, found {' '.join(answer)}")
        elif answer[:1] != ["ok"]:
            raise Failure(f"`{call}`: expected ok, found {' '.join(answer)}")
        elif name == "mint":
            self.minted(call, int(words[0]), int(words[1]), answer[1:], step)
        elif len(answer) > 1:
            raise Failure(f"`{call}`: expected nothing after ok, found {' '.join(answer)}")

    def minted(self, call, n, tag, ids, step):
        if len(ids) != n:
            raise Failure(f"`{call}`: expected {n} IDs, found {len(ids)}")
        stamps = []
        for ms, spin, found in map(fields, ids):
            if found != tag:
                raise Failure(f"`{call}`: expected the session tag {tag}, found {found}")
            if spin // self.w != self.lane:
                raise Failure(f"`{call}`: expected a spin of lane {self.lane}, found {spin}")
            stamps.append(ms * self.w + spin % self.w)
        if not stamps:
            return
        if any(b - a != 1 for a, b in zip(stamps, stamps[1:])):
            raise Failure(f"`{call}`: the IDs of the run do not follow each other")
        if self.last is not None and stamps[0] <= self.last:
            raise Failure(f"`{call}`: the ID is not after the one before it")
        if step.get("next") and stamps[0] != self.last + 1:
            raise Failure(f"`{call}`: expected the next stamp, found one {stamps[0] - self.last} later")
        self.last = stamps[-1]
        for end, stamp in (("first", stamps[0]), ("last", stamps[-1])):
            least, greatest = step.get(end, (0, 2**42))
            if not least <= stamp // self.w <= greatest:
                raise Failure(f"`{call}`: expected the {end} ID in {least} to {greatest}, found {stamp // self.w}")

    def refused(self, call, answer, step):
        kind, words = step["refused"], answer[2:]
        if answer[:2] != ["refused", kind] or len(words) != (kind in NUMBERED):
            raise Failure(f"`{call}`: expected refused {kind}{' and a number' * (kind in NUMBERED)}, found {' '.join(answer[:3])}")
        if not words:
            return None
        number = int(words[0])
        least, greatest = step.get("retry", (1, 2**42))
        if not least <= number <= greatest:
            raise Failure(f"`{call}`: expected {kind} with {least} to {greatest}, found {number}")
        return number

    def repeat(self, call, step):
        """Mints until it is refused."""
        least, greatest = step["repeat"]
        n, tag = map(int, call.split()[1:])
        for granted in range(greatest + 2):
            answer = self.driver.ask(call)
            if answer[0] != "ok":
                break
            bounds = {"first": [0, step["last"][1]], "last": [0, step["last"][1]]} if "last" in step else {}
            self.minted(call, n, tag, answer[1:], bounds)
        if not least <= granted <= greatest:
            raise Failure(f"`{call}`: expected {least} to {greatest} grants until {step['refused']}, found {granted}")
        if granted and "last" in step and self.last // self.w < step["last"][0]:
            raise Failure(f"`{call}`: expected the last ID in {step['last']}, found {self.last // self.w}")
        self.refused(call, answer, step)

    def follow(self, call, step, retry):
        """Before the end of the wait the call is refused, and at its end it is granted, or refused `again` so many times at most."""
        now, more = step["follow"], step.get("again", 0)
        while retry is not None:
            if retry > 1:
                self.driver.ask(f"clock {now + retry - 1}")
                self.refused(call, self.driver.ask(call), {"refused": step["refused"], "retry": [1, 2**42 if more else 1]})
            now += retry
            self.driver.ask(f"clock {now}")
            answer = self.driver.ask(call)
            retry = self.refused(call, answer, {"refused": step["refused"]}) if more and answer[0] != "ok" else None
            more -= 1
        self.accepted(call, answer, {})


def after(driver, row):
    call = " ".join(str(word) for word in ("after", row.get("last_id", "none"), row["tag"], row["now"], row["r"], row["q"], row["limit"]))
    answer = driver.ask(call)
    expected = ["ok", row["id"]] if "id" in row else ["refused", row["refused"]]
    if answer[:2] != expected:
        raise Failure(f"`{call}`: expected {' '.join(expected)}, found {' '.join(answer)}")


def starts(driver, row, at):
    """Returns the counter at which each millisecond starts, for the generator at this place of the row."""
    new, first = row["new"][at], row["from"]
    times = range(first, first + row["milliseconds"])
    calls = [f"clock {first - 1}", new, *row.get("before", [[]] * 2)[at]]
    head = len(calls)
    calls += (call for ms in times for call in (f"clock {ms}", "mint 1 0"))
    lane = new.partition("lane=")[2].split(" ")[0]
    w = 4096 >> int(lane.split("/")[1] if lane else 0)
    found = [fields(answer[1]) for answer in list(driver.ask_all(calls))[head + 1 :: 2]]
    if [ms for ms, _, _ in found] != list(times):
        raise Failure("an ID does not have the time of the clock")
    return [spin % w for _, spin, _ in found], w


def seeds_drawn(driver, row):
    """Returns what tells each generator of this driver apart: where some milliseconds start."""
    times = range(row["from"], row["from"] + row["milliseconds"])
    one = ["new", *(call for ms in times for call in (f"clock {ms}", "mint 1 0"))]
    answers = list(driver.ask_all([f"clock {row['from']}"] + one * row["generators"]))[1:]
    spins = [[fields(answer[1])[1] for answer in answers[at + 2 : at + len(one) : 2]] for at in range(0, len(answers), len(one))]
    return [tuple(found) for found in spins]


def between(what, bounds, found):
    if not bounds[0] <= found <= bounds[1]:
        raise Failure(f"expected {what} from {bounds[0]} to {bounds[1]}, found {found:g}")


def statistic(driver, row):
    kind = row["statistic"]
    if kind == "starts":
        found, w = starts(driver, row, 0)
        counts, expected = Counter(found), len(found) / w
        between("chi-squared", row["chi_squared"], sum((counts[at] - expected) ** 2 / expected for at in range(w)))
    elif kind == "drawn_seeds":
        found = seeds_drawn(driver, row)
        for _ in range(1, row["processes"]):
            other = Driver(driver.command, driver.shown)
            other.watch()
            try:
                found += seeds_drawn(other, row)
            finally:
                other.end()
        if len(set(found)) < len(found):
            raise Failure(f"expected {len(found)} different seeds, found {len(set(found))}")
    elif kind == "equal_starts":
        (one, _), (other, _) = (starts(driver, row, at) for at in (0, 1))
        between("equal starts", row["equal"], sum(a == b for a, b in zip(one, other)))
    else:
        seeds = range(1, row["seeds"] + 1)
        before = sum(row.get("before", []), [])
        calls = (call for seed in seeds for call in (f"clock {row['from']}", f"new seed={seed}", "mint 1 0", *before, row["event"], "mint 1 0"))
        each = 5 + len(before)
        found = Counter(fields(answer[1])[0] - row["least"] for answer in list(driver.ask_all(calls))[each - 1 :: each])
        if sorted(found) != list(range(row["values"])):
            raise Failure(f"expected the distances 0 to {row['values'] - 1}, found {sorted(found)}")
        between("hosts at the most frequent distance", row["most_frequent"], max(found.values()))


def judge(command, rows, shown=False, first_only=False, errors_shown=True):
    """Returns why rows failed, by name, and the names of those that the driver does not support."""
    failed, unsupported, driver = {}, [], None
    for row in rows:
        if shown:
            print(row["name"])
        driver = driver or Driver(command, shown, errors_shown)
        driver.watch()
        try:
            if "statistic" in row:
                statistic(driver, row)
            elif "now" in row:
                after(driver, row)
            else:
                play = Play(driver)
                for step in row["steps"]:
                    play.step(step)
        except Unsupported:
            unsupported.append(row["name"])
        except (Failure, ValueError, IndexError) as failure:
            failed[row["name"]] = str(failure)
        # A driver that has failed or forked does not go on.
        calls = [step["call"] for step in row.get("steps", ())] + sum(row.get("before", []), [])
        if row["name"] in failed or row["name"] in unsupported or "fork" in calls:
            driver.end()
            driver = None
        if failed and first_only:
            break
    if driver:
        driver.end()
    return failed, unsupported


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--case", default="", metavar="TEXT")
    arguments.add_argument("driver", nargs=argparse.REMAINDER)
    given = arguments.parse_args()
    file = json.loads(FILE.read_text())
    rows = [row for row in file["cases"] + file["statistics"] + file["after"] if given.case in row["name"]]
    failed, unsupported = judge(given.driver, rows, shown=bool(given.case))
    for name, why in failed.items():
        print(f"FAILED {name}: {why}")
    for name in unsupported:
        print(f"not checked: {name}: the driver does not support a call")
    print(f"{len(rows) - len(failed) - len(unsupported)} of {len(rows)} cases and statistics passed, {len(failed)} failed, {len(unsupported)} not checked")
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
