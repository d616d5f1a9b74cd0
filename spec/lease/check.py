#!/usr/bin/env python3
"""Judges a holder of any language by spec/lease.json: `check.py [--case TEXT] DRIVER [ARGUMENT...]`. The lines are in README.md.

It is the store and the clock of the holder. Which lane is taken, when it reads and when exactly it writes is the holder's choice; what
it writes and mints has bounds. With --case TEXT only the cases whose names contain it are run, and each line is shown.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import threading

FILE = pathlib.Path(__file__).resolve().parents[1] / "lease.json"
LANE = re.compile(r"imid-lease/1 lane version=(\d+) token=([0-9a-f]{16}) holder=(\S+) horizon=(\d+) ceiling=(\d+) (held|free|closed)")
STEP_MS, CALLS, SECONDS = 5, 100, 60


class Failure(Exception):
    """The holder did not do what a case expects."""


class Driver:
    def __init__(self, command, shown):
        self.shown = shown
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.timer = threading.Timer(SECONDS, self.process.kill)
        self.timer.start()
        while (line := self.process.stdout.readline()) != "ready\n":
            if not line:
                raise SystemExit("check.py: the driver has ended before `ready`")

    def ask(self, *fields):
        call = "\t".join(map(str, fields))
        try:
            self.process.stdin.write(f"{call}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer.endswith("\n"):
            raise Failure(f"no answer to `{call}`: the driver has ended, or did not answer for {SECONDS} s")
        if self.shown and (fields[0] != "clock" and answer != "sleep\n"):
            print(f"  {call} -> {answer.rstrip()}")
        return answer.rstrip("\n").split("\t")

    def end(self):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()


class Play:
    """One case. Whatever the case expects, values ascend and are in [floor, ceiling) of what was acknowledged."""

    def __init__(self, driver, case):
        self.driver, self.records = driver, {}
        self.mono, self.wall, self.offset = 1_000_000, case["from"], 0
        self.known, self.tokens, self.grant, self.last, self.wrote_at, self.lines = {}, set(), None, 0, 0, 0
        self.is_stopped = False
        # What the holder has called while nothing waited for it.
        self.pending = None
        self.settings = dict(word.split("=") for word in case["new"].split())
        driver.ask("new", *case["new"].split())
        self.clock()

    def clock(self):
        self.driver.ask("clock", self.mono, self.wall + self.offset)

    def go_on(self, ms):
        self.mono, self.wall = self.mono + ms, self.wall + ms
        self.clock()

    def next_write(self, ms, is_silent=False):
        """Lets up to this time pass, and answers reads, until the holder writes; `None` if it does not."""
        until, answer = self.mono + ms, self.pending or self.driver.ask("go")
        self.pending = None
        while True:
            self.lines += 1
            if self.lines > CALLS:
                raise Failure("the holder reads again and again without a pause")
            match answer:
                case ["sleep"] if self.mono < until:
                    self.lines = 0
                    self.go_on(min(STEP_MS, until - self.mono))
                    answer = self.driver.ask("go")
                case ["list" | "read", *_] if is_silent:
                    answer = self.driver.ask("unknown")
                case ["list"]:
                    found = {key: text for key, text in self.records.items() if key.startswith("lanes/")}
                    self.known |= {key: self.records.get(key, "") for key in set(self.known) | set(found)}
                    answer = self.driver.ask("found", *(field for pair in sorted(found.items()) for field in pair))
                case ["read", key]:
                    self.known[key] = self.records.get(key, "")
                    answer = self.driver.ask("found", *[text for text in [self.known[key]] if text])
                case ["write", key, seen, value]:
                    return key, seen, value
                case ["sleep"] | ["stopped"]:
                    self.is_stopped = answer == ["stopped"]
                    self.go_on(until - self.mono)
                    return None
                case _:
                    raise Failure(f"expected list, read, write, sleep or stopped, found {' '.join(answer)}")

    def step(self, step):
        name, *words = step["call"].split(" ", 1)
        match name:
            case "set":
                key, _, text = words[0].partition(" ")
                self.records[key] = text
                if not text:
                    del self.records[key]
            case "clock":
                self.offset += int(words[0])
                self.clock()
            case "pass":
                self.go_on(int(words[0]))
            case "idle" | "silence":
                found = self.next_write(int(words[0]), name == "silence")
                if found:
                    raise Failure(f"`{step['call']}`: expected no write, found {' '.join(found)}")
            case "stop":
                self.idle_until_stopped(step)
            case "close":
                self.driver.ask("close")
            case "mint":
                self.mint(step)
            case "take" | "raise" | "release":
                self.write(name, step)
            case _:
                raise Failure(f"unknown step {step['call']}")

    def idle_until_stopped(self, step):
        self.is_stopped = False
        found = self.next_write(int(step["call"].split()[1]))
        if found or not self.is_stopped:
            raise Failure(f"`{step['call']}`: expected that it stops, found {' '.join(found or ['no stop'])}")
        self.mint({"call": "mint", "refused": True})

    def mint(self, step):
        answer = self.driver.ask("mint")
        if step.get("refused"):
            if answer != ["refused"]:
                raise Failure(f"`mint`: expected a refusal, found {' '.join(answer)}")
            return
        if answer[0] != "minted":
            raise Failure(f"`mint`: expected a value, found {' '.join(answer)}")
        lane, ms = int(answer[1]), int(answer[2])
        least, greatest = step["ms"]
        if not self.grant or lane != self.grant["lane"] or not self.grant["floor"] <= ms < self.grant["ceiling"]:
            raise Failure(f"`mint`: {ms} in lane {lane} is not below what was granted: {self.grant}")
        if ms < self.last or not least <= ms <= greatest:
            raise Failure(f"`mint`: expected {max(least, self.last)} to {greatest}, found {ms}")
        self.last = ms

    def write(self, do, step):
        started, most = self.mono, step["within"][1]
        found = self.next_write(most)
        if not found:
            raise Failure(f"`{step['call']}`: expected a write within {most} ms, found none")
        key, seen, value = found
        if self.mono - started < step["within"][0]:
            raise Failure(f"`{step['call']}`: expected no write for {step['within'][0]} ms, found one after {self.mono - started}")
        if seen != self.known.get(key, ""):
            raise Failure(f"`{step['call']}`: expects {seen or 'no record'}, and not what it has read: {self.known.get(key, '')}")
        self.lane(do, step, key, seen, value)
        outcome = step["answer"]
        if outcome in ("written", "silent"):
            if self.records.get(key, "") != seen:
                raise Failure(f"`{step['call']}`: expects a record that is not there: {seen}")
            self.records[key] = value
        if outcome == "written":
            self.known[key] = value
            self.acknowledged(do, key, seen, value)
        self.pending = self.driver.ask("unknown" if outcome in ("silent", "lost") else outcome)

    def lane(self, do, step, key, seen, value):
        match, before = LANE.fullmatch(value), LANE.fullmatch(seen)
        if not match or not re.fullmatch(r"lanes/\d+/\d{5}", key) or int(key[-5:]) not in step["lanes"]:
            raise Failure(f"expected the record of a lane of {step['lanes']}, found {key} {value}")
        version, token, holder, horizon, ceiling, state = match.groups()
        if int(version) != (int(before[1]) if before else 0) + 1 or token in self.tokens or holder != self.settings["holder"]:
            raise Failure(f"expected the next version, a fresh token and the holder, found {value}")
        if horizon != self.settings["horizon"] or state != ("free" if do == "release" else "held"):
            raise Failure(f"expected the horizon, and held or free, found {value}")
        self.tokens.add(token)
        least, greatest = step["ceiling"]
        if not least <= int(ceiling) <= greatest:
            raise Failure(f"`{step['call']}`: expected a ceiling of {least} to {greatest}, found {ceiling}")
        if do == "raise":
            if self.mono - self.wrote_at < 100:
                raise Failure(f"`{step['call']}`: {self.mono - self.wrote_at} ms after the attempt before it")
            if int(ceiling) <= int(before[5]):
                raise Failure(f"`{step['call']}`: the ceiling is not above that of the record")
        self.wrote_at = self.mono

    def acknowledged(self, do, key, seen, value):
        if do == "take":
            described = re.search(r" floor=(\d+) ", self.records.get("lanes/meta", " floor=0 "))
            floor = max(int(LANE.fullmatch(seen)[5]) if seen else 0, int(described[1]))
            self.grant = {"lane": int(key[-5:]), "floor": floor, "ceiling": int(LANE.fullmatch(value)[5])}
        elif do == "raise":
            self.grant["ceiling"] = max(self.grant["ceiling"], int(LANE.fullmatch(value)[5]))
        elif do == "release":
            self.grant = None


def judge(command, case, shown):
    """Returns why a case failed."""
    driver = Driver(command, shown)
    try:
        play = Play(driver, case)
        for step in case["steps"]:
            if shown:
                print(f"  {play.mono - 1_000_000} {json.dumps(step)}")
            play.step(step)
    except (Failure, ValueError, IndexError) as failure:
        return str(failure)
    finally:
        driver.end()
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--case", default="", metavar="TEXT")
    arguments.add_argument("driver", nargs=argparse.REMAINDER)
    given = arguments.parse_args()
    cases = [case for case in json.loads(FILE.read_text())["cases"] if given.case in case["name"]]
    failed = 0
    for case in cases:
        if given.case:
            print(case["name"])
        why = judge(given.driver, case, bool(given.case))
        if why:
            failed += 1
            print(f"FAILED {case['name']}: {why}")
    print(f"{len(cases) - failed} of {len(cases)} cases passed")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
