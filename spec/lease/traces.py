"""Translates schedules of the model (crates/imid-lease-protocol/tests/simulation/steps.rs) into the steps of Trace.tla, and falsifies them.

A step of Lease that reads is where the store read, not where the answer arrived. An attempt to take a lane is at the last moment at which
its record was the one that the attempt expects; if there is none, the store refuses it whatever else happens, and it is left out. Times
are replaced by their ranks. A trace ends where a register is lost without a backup, because what follows depends on the clock (rule 27).
"""

import re

LANE = re.compile(r"imid-lease/1 lane version=(\d+) token=\w+ holder=\S+ horizon=\d+ ceiling=(\d+) (held|free|closed)")
META = re.compile(r"imid-lease/1 meta version=(\d+) token=\w+ layout=\S+ bits=(\d+) era=(\d+) floor=(\d+) space=\S+")
DESCRIPTION = "lanes/meta"
TOKENS = {"recover": -1, "close": -2, "free": -3}


def schedules(text):
    """Yields the name of each schedule, and its steps: the process, the kind of step, and its fields."""
    for part in text.split("\tschedule\t")[1:]:
        head, *lines = part.rstrip("\t\n").split("\n")
        yield head.replace("\t", " "), [line.split("\t") for line in lines]


def place_of(key):
    _, era, lane = key.split("/")
    return int(era), int(lane) + 1


def ceiling(text):
    return int(LANE.match(text)[2])


def phantom(state, c):
    """The record of the second lane where the engine has one lane."""
    return f"imid-lease/1 lane version=1 token=0 holder=- horizon=0 ceiling={c} {state}"


class Process:
    def __init__(self, start):
        self.start, self.lane, self.taken, self.is_seeking, self.is_releasing = start, 0, None, True, False
        # Where it last read the lanes, where its last attempt ended, and where it last read the record that it wants to release.
        self.read_at, self.ended_at, self.reread_at = 0, 0, None
        # Where it read the description after its attempt to take a lane was acknowledged.
        self.confirmed_at = None


class Trace:
    """`steps` are those of Trace.tla, and `times` how many ranks their times have."""

    def __init__(self, steps):
        self.raw, self.out, self.attempts, self.operated, self.history, self.before = steps, [], {}, {}, {}, {}
        self.cut()
        self.calls = {step[2]: step for step in self.raw if step[1] == "call"}
        self.made = {step[2]: at for at, step in enumerate(self.raw) if step[1] == "made"}
        self.found = {step[2] for step in self.raw if step[1] == "reply" and step[3] == "found"}
        self.note_records()
        self.processes = {}
        for at, step in enumerate(self.raw):
            self.translate(at, step)
        self.number()

    def cut(self):
        for at, step in enumerate(self.raw):
            is_lost = step[1] == "restore" and self.raw[at + 1 : at + 2] == [] or step[1] == "restore" and self.raw[at + 1][1] != "record"
            is_created = step[1:3] == ["operate", DESCRIPTION] and META.match(step[3])[1] == "1"
            if is_lost or is_created:
                self.raw = self.raw[:at]
                return

    def note_records(self):
        """Notes what the store has, and since when."""
        for at, step in enumerate(self.raw):
            match step[1:]:
                case ["made", number, "written"]:
                    key, seen, value = self.calls[number][4:]
                    self.before[value] = key, seen
                    self.note(at, key, value)
                case ["lose", value]:
                    self.note(at, *self.before[value])
                case ["restore"]:
                    for key in self.history:
                        self.note(at, key, "")
                case ["operate" | "record", key, value]:
                    self.note(at, key, value)

    def note(self, at, key, text):
        self.history.setdefault(key, []).append((at, text))

    def text(self, key, at):
        return next((text for noted_at, text in reversed(self.history.get(key, [])) if noted_at <= at), "")

    def add(self, at, order, do, process=0, **more):
        self.out.append((at, order, {"do": do, "p": process, **more}))

    def translate(self, at, step):
        if step[0]:
            holder, start = step[0].split(".")
            process = int(holder) + 1
            before = self.processes.get(process)
            if before and before.start != start:
                self.add(at, 0, "crash", process)
            if not before or before.start != start:
                self.processes[process] = Process(start)
            me = self.processes[process]
        match step[1:]:
            case ["call", number, "list"] | ["call", number, "read", "lanes/meta"]:
                me.is_seeking = True
                me.read_at = self.made[number] if number in self.found else me.read_at
            case ["call", number, "read", _] if number in self.found:
                if me.is_releasing:
                    me.reread_at = self.made[number]
                else:
                    self.add(self.made[number], 1, "check", process)
            case ["call", number, "write", key, seen, value] if key != DESCRIPTION:
                self.attempt(at, process, me, number, key, seen, value)
            case ["made", number, outcome] if number in self.attempts:
                self.add(at, 0, "made", text=self.attempts[number][1], written=outcome == "written")
            case ["reply", number, "found"] if me.taken and self.calls[number][3:5] == ["read", DESCRIPTION]:
                me.confirmed_at = self.made[number]
            case ["reply", number, outcome] if number in self.attempts:
                self.reply(at, process, me, number, outcome)
            case ["late", number, "written"] if number in self.attempts:
                self.add(at, 0, "late", process, text=self.attempts[number][1])
            case ["seal", end]:
                if me.lane and end != "0":
                    self.add(at, 0, "used", process, lane=me.lane, last=int(end) - 1)
                if me.taken and me.confirmed_at is not None:
                    # An acknowledged lane is used from here on.
                    me.lane, text = me.taken
                    self.add(me.confirmed_at, 1, "confirm", process)
                    self.add(at, 1, "granted", process, text=text)
                    me.taken, me.is_seeking = None, False
            case ["mint", lane, first, last]:
                self.add(at, 0, "mint", process, lane=int(lane) + 1, first=int(first), last=int(last))
            case ["lose", value] if LANE.match(value):
                era, lane = place_of(self.before[value][0])
                self.add(at, 0, "lose", era=era, lane=lane, text=value)
            case ["restore"]:
                self.restore(at)
            case ["operate", key, value] if value not in self.operated:
                self.operate(at, key, value)

    def attempt(self, at, process, me, number, key, seen, value):
        do, place = "renew", at
        if me.taken and seen == me.taken[1]:
            do, me.taken = "back", None
        elif LANE.match(value)[3] == "free":
            do, place = "release", at if me.reread_at is None else me.reread_at
            me.is_releasing = True
        elif me.is_seeking:
            do, window = "take", range(at - 1, max(me.read_at, me.ended_at) - 1, -1)
            place = next((it for it in window if self.text(key, it) == seen), None)
            is_written = number in self.made and self.raw[self.made[number]][3] == "written"
            if place is None and not is_written:
                me.ended_at = at
                return
            # What is written was expected, so TLC refuses the trace.
            place = at if place is None else place
        lane = place_of(key)[1]
        self.attempts[number] = do, value, lane
        self.add(place, 2, do, process, lane=lane, seen=seen, value=value)

    def reply(self, at, process, me, number, outcome):
        do, text, lane = self.attempts[number]
        made = self.made.get(number, at)
        if outcome == "written" and do == "take":
            me.taken, me.confirmed_at = (lane, text), None
        elif outcome == "written":
            self.add(at, 0, "granted", process, text=text)
        elif outcome == "unknown" and (made >= at or self.raw[made][3] == "written"):
            # In Lease a process knows of a conflict as soon as the store does.
            self.add(at, 0, "unknown", process)
        if outcome != "written":
            me.ended_at = min(at, made)

    def operate(self, at, key, value):
        if key != DESCRIPTION:
            do = "close" if value.endswith("closed") else "free"
            self.operated[value] = TOKENS[do]
            self.add(at, 0, do, lane=place_of(key)[1], value=value)
            return
        _, bits, _, floor = META.match(self.text(key, at - 1)).groups()
        if bits == "0":
            text = phantom("closed", floor)
            self.operated[text] = TOKENS["close"]
            self.add(at, 0, "close", lane=2, value=text)
        self.add(at, 1, "resize", era=int(META.match(value)[3]), floor=int(META.match(value)[4]))

    def restore(self, at):
        """The backup, and what the recovery writes."""
        backup, recovery = {}, {}
        for step in self.raw[at + 1 :]:
            if step[1] not in ("record", "operate"):
                break
            (backup if step[1] == "record" else recovery)[step[2]] = step[3]
            self.operated[step[3]] = TOKENS["recover"]
        floor = int(META.match(recovery[DESCRIPTION])[4])
        text = phantom("free", floor)
        self.operated[text] = TOKENS["recover"]
        keys = ["lanes/1/00000", "lanes/1/00001"]
        old, new = [backup.get(key, "") for key in keys], [recovery.get(key, text) for key in keys]
        self.add(at, 0, "restore", old=old, new=new, floor=floor)

    def number(self):
        """Orders the steps, numbers the attempts, and replaces times by their ranks."""
        self.steps = [step for _, _, step in sorted(self.out, key=lambda it: it[:2])]
        sent = [step["value"] for step in self.steps if step["do"] in ("take", "back", "renew", "release")]
        numbers = {text: number for number, text in enumerate(sent, 1)}
        times = {0}
        for step in self.steps:
            texts = [step.get("seen"), step.get("value"), *step.get("old", ()), *step.get("new", ())]
            times |= {ceiling(text) for text in texts if text}
            times |= {step[key] + more for key in ("first", "last", "floor") if key in step for more in (0, 1)}
        rank = {time: at for at, time in enumerate(sorted(times))}
        self.times = len(rank)

        def record(text):
            if not text:
                return {"ver": 0, "tok": 0, "c": 0, "st": "none"}
            ver, c, st = LANE.match(text).groups()
            return {"ver": int(ver), "tok": numbers.get(text) or self.operated.get(text, 0), "c": rank[int(c)], "st": st}

        for step in self.steps:
            for key in ("seen", "value"):
                if key in step:
                    step[key] = record(step[key])
            for key in ("old", "new"):
                if key in step:
                    step[key] = [record(text) for text in step[key]]
            for key in ("first", "last", "floor"):
                if key in step:
                    step[key] = rank[step[key]]
            if "text" in step:
                step["id"] = numbers[step.pop("text")]


def tla(value):
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return f'"{value}"'
        case dict():
            return f"[{', '.join(f'{key} |-> {tla(it)}' for key, it in value.items())}]"
        case list():
            return f"<<{', '.join(map(tla, value))}>>"
    return str(value)


# How a true schedule is falsified: each yields the places at which it can be, and what is there instead.

def writes(steps):
    """Yields the place of each attempt to write a lane, with the text that it expects, the one that it writes, and its reply."""
    replies = {step[2]: (at, step[3]) for at, step in enumerate(steps) if step[1] == "reply"}
    for at, step in enumerate(steps):
        if step[1:4:2] == ["call", "write"] and step[4] != DESCRIPTION:
            yield at, step, step[5], step[6], *replies.get(step[2], (at, ""))


def changed(step, last):
    return [*step[:-1], last]


def with_ceiling(text, c):
    return text.replace(f"ceiling={ceiling(text)} ", f"ceiling={c} ")


def past_the_ceiling(steps):
    for at, step in enumerate(steps):
        if step[1] == "mint":
            yield {at: changed(step, str(int(step[4]) + 36_000_000))}


def below_the_record(steps):
    for at, step, seen, value, replied_at, outcome in writes(steps):
        if seen and value.endswith("held") and outcome == "written":
            mint = next((it for it in range(replied_at, len(steps)) if steps[it][:2] == [step[0], "mint"]), None)
            is_taken = any(it[:2] == [step[0], "seal"] for it in steps[replied_at:mint])
            if mint and is_taken:
                ms = str(ceiling(seen) - 1)
                yield {mint: [*steps[mint][:3], ms, ms]}


def two_win(steps):
    for at, step, _, _, replied_at, outcome in writes(steps):
        made_at = next((it for it, made in enumerate(steps) if made[1:3] == ["made", step[2]]), None)
        if outcome == "conflict":
            yield {made_at: changed(steps[made_at], "written"), replied_at: changed(steps[replied_at], "written")}


def silence_grants(steps):
    for _, step, _, value, replied_at, outcome in writes(steps):
        is_made = any(made[1:3] == ["made", step[2]] for made in steps[:replied_at])
        if outcome == "unknown" and value.endswith("held") and not is_made:
            # A lane is used from the seal on, after the description was read.
            read = [[step[0], "call", "0", "read", DESCRIPTION], ["", "made", "0", "found"], [step[0], "reply", "0", "found"]]
            after = [*read, [step[0], "seal", "0"]]
            yield {replied_at: changed(steps[replied_at], "written"), **{replied_at + 0.1 * at: it for at, it in enumerate(after, 1)}}


def rewritten(steps, old, new):
    return {at: [new if field == old else field for field in step] for at, step in enumerate(steps) if old in step}


def lower_release(steps):
    for _, _, _, value, _, _ in writes(steps):
        if value.endswith("free"):
            yield rewritten(steps, value, with_ceiling(value, ceiling(value) - 1))


def lower_renewal(steps):
    for _, _, seen, value, _, outcome in writes(steps):
        if value.endswith("held") and seen.split(" ")[4:6] == value.split(" ")[4:6] and outcome == "written":
            yield rewritten(steps, value, with_ceiling(value, ceiling(seen) - 1))


def after_the_release(steps):
    for at, step, _, value, _, _ in writes(steps):
        mints = [it for it in steps[:at] if it[:2] == [step[0], "mint"]]
        if value.endswith("free") and mints:
            yield {at + 0.5: mints[-1]}


def lower_description(steps):
    for at, step in enumerate(steps):
        floor = int(META.match(step[3])[4]) if step[1:3] == ["operate", DESCRIPTION] else 0
        if floor:
            yield {at: changed(step, step[3].replace(f"floor={floor} ", f"floor={floor - 1} "))}


def lower_recovery(steps):
    """Of the description and of all lanes."""
    start = next((at for at, step in enumerate(steps) if step[1] == "restore"), None)
    writes = [at for at in range(start or 0, len(steps)) if start and steps[at][1] == "operate"]
    granted = [ceiling(value) for at, _, _, value, _, outcome in globals()["writes"](steps[:start]) if outcome == "written"]
    if writes and granted:
        yield {at: changed(steps[at], re.sub(r"(floor|ceiling)=\d+", rf"\1={max(granted) - 1}", steps[at][3])) for at in writes}


FALSE = {
    "a value past the ceiling": past_the_ceiling,
    "a grant that starts below the ceiling of its record": below_the_record,
    "two holders win one compare-and-set": two_win,
    "a grant without an answer": silence_grants,
    "a renewal that lowers the ceiling": lower_renewal,
    "a release below the last value": lower_release,
    "a value after the release": after_the_release,
    "a lower description": lower_description,
    "a recovery below a granted ceiling": lower_recovery,
}


def falsified(schedules, most):
    """Yields what is false and a trace, at most this number of each kind, from as many schedules."""
    for what, places in FALSE.items():
        found = 0
        for name, steps in schedules:
            change = next(places(Trace(steps).raw), None) if found < most else None
            if change:
                found += 1
                raw = Trace(steps).raw
                items = dict(enumerate(raw)) | change
                yield what, name, Trace([items[at] for at in sorted(items)])
        if found == 0:
            raise SystemExit(f"traces.py: no schedule can be falsified by {what}")


def module(traces):
    """The module Steps."""
    lines = (tla(trace.steps) for trace in traces)
    return "---- MODULE Steps ----\nEXTENDS Integers\nTraces == <<\n" + ",\n".join(lines) + "\n>>\n====\n"
