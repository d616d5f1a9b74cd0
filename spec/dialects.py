#!/usr/bin/env python3
"""Prints spec/dialects.json. It follows spec/DIALECTS.md and does not use the library, so that the two check each other.

Needs `xxhash` from PyPI. ci/vectors.sh installs it, runs this and compares the result with the file.
"""

import datetime
import json
import re
import sys
import zlib

import xxhash

# Digits, whether the text has dashes, and the bits of time, spin, type and hash.
DIALECTS = {
    "rongcloud": ("0123456789ABCDEFGHIJKLMNOPQRSTUV", True, (42, 12, 4, 22), "java"),
    "rongcloud-v1": ("0123456789ABCDEFGHIJKLMNOPQRSTUV", True, (43, 0, 5, 32), "java"),
    "standard": ("23456789ABCDEFGHJKLMNPQRSTUVWXYZ", True, (42, 12, 4, 22), "xxh3"),
    "juggleim": ("abcdefghjklmnpqrstuvwxyz23456789", False, (42, 12, 4, 22), "crc32"),
}
MS = 10**6
NSQ_TICK = 2**20
# The first tick and the length of a tick in ns; the bits of tick, datacenter, worker and sequence; whether the text is hex.
LAYOUTS = {
    "twitter": (1288834974657 * MS, MS, (41, 5, 5, 12), False),
    "leaf": (1288834974657 * MS, MS, (41, 0, 10, 12), False),
    "discord": (1420070400000 * MS, MS, (42, 5, 5, 12), False),
    "twitter-java": (1420041600000 * MS, MS, (41, 5, 5, 12), False),
    "rollback-38-15-10": (1513814400000 * MS, MS, (38, 0, 15, 10), False),
    "nsq": (1288834974288 * NSQ_TICK, NSQ_TICK, (42, 0, 10, 12), True),
    "nsq-before-2015": (1288834974657 * MS, MS, (42, 0, 10, 12), True),
}


def day(text):
    return int(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()) * 1000


NEVER = 2**53 - 1
# When each system has made IDs. The end is not included.
USED = {
    "rongcloud": (day("2018-03-01"), NEVER),
    "rongcloud-v1": (day("2016-01-01"), day("2018-06-01")),
    "standard": (day("2018-01-01"), NEVER),
    "juggleim": (day("2024-08-01"), NEVER),
    "twitter": (day("2010-11-05"), NEVER),
    "leaf": (day("2017-04-01"), NEVER),
    "discord": (day("2015-05-01"), NEVER),
    "twitter-java": (day("2015-11-01"), NEVER),
    "rollback-38-15-10": (0, 0),
    "nsq": (day("2015-09-01"), NEVER),
    "nsq-before-2015": (day("2012-06-01"), day("2016-03-25")),
}

# ---------------------------------------------------------------------------------------------------------------------
# Reading and writing.


def shape(dialect):
    """Returns the text with a question mark for each digit."""
    return "????-????-????-????" if DIALECTS[dialect][1] else "?" * 16


def text_of(dialect, value):
    digits = iter(DIALECTS[dialect][0][value >> 5 * (15 - i) & 31] for i in range(16))
    return "".join(next(digits) if place == "?" else place for place in shape(dialect))


def prefix(dialect, text):
    """Returns the length of the longest beginning of the text that is also the beginning of a valid one."""
    digits = DIALECTS[dialect][0]
    for at, (found, place) in enumerate(zip(text, shape(dialect))):
        if found not in (digits if place == "?" else place):
            return at
    return min(len(text), len(shape(dialect)))


def is_text(dialect, text):
    return len(text) == prefix(dialect, text) == len(shape(dialect))


def value_of(dialect, text):
    value = 0
    for digit in text.replace("-", ""):
        value = value * 32 + DIALECTS[dialect][0].index(digit)
    return value


def cut(value, widths):
    """Returns the fields of these widths, the most significant first."""
    fields = []
    for width in reversed(widths):
        fields.insert(0, value % 2**width)
        value //= 2**width
    assert value == 0
    return fields


def java(name):
    """String.hashCode, without its sign."""
    hashed, units = 0, name.encode("utf-16-be")
    for at in range(0, len(units), 2):
        hashed = (31 * hashed + units[at] * 256 + units[at + 1]) % 2**32
    return hashed


HASHES = {"java": java, "crc32": lambda name: zlib.crc32(name.encode()), "xxh3": lambda name: xxhash.xxh3_64_intdigest(name.encode())}


def hash_of(dialect, name):
    return HASHES[DIALECTS[dialect][3]](name) % 2 ** DIALECTS[dialect][2][3]


def has_sign(layout):
    return sum(LAYOUTS[layout][2]) < 64


def number(layout, text):
    """Returns the 64 bits of a text, or None."""
    if LAYOUTS[layout][3]:
        return int(text, 16) if re.fullmatch("[0-9a-f]{16}", text) else None
    if not re.fullmatch("0|-?[1-9][0-9]*", text):
        return None
    value = int(text)
    if value < 0:
        return value + 2**64 if has_sign(layout) and value >= -(2**63) else None
    return value if value < 2**64 else None


def number_prefix(layout, text):
    for length in range(len(text), 0, -1):
        start = text[:length]
        if LAYOUTS[layout][3]:
            fits = re.fullmatch("[0-9a-f]{1,16}", start)
        else:
            fits = number(layout, start) is not None or start == "-" and has_sign(layout)
        if fits:
            return length
    return 0


def parts(layout, bits):
    """Returns the row of a 64-bit ID. In a layout with a sign bit, the bit counts to the tick."""
    epoch, length, (_, datacenter_bits, worker_bits, sequence_bits), is_hex = LAYOUTS[layout]
    sequence, rest = bits % 2**sequence_bits, bits >> sequence_bits
    node, tick = rest % 2 ** (datacenter_bits + worker_bits), rest >> (datacenter_bits + worker_bits)
    signed = bits - 2**64 if has_sign(layout) and bits >= 2**63 else bits
    ns = epoch + tick * length
    row = {"layout": layout, "text": f"{bits:016x}" if is_hex else str(signed), "hex": f"{bits:016x}"}
    row |= {"ns": str(ns), "timestamp": ns // MS, "node": node, "sequence": sequence}
    if datacenter_bits:
        row |= {"datacenter": node >> worker_bits, "worker": node % 2**worker_bits}
    return row


# ---------------------------------------------------------------------------------------------------------------------
# Rows.

NAMES = ["", "24", "testing", "room-42", "group-42", "user9", "会话-融云", "😀", "a" * 17, "polygenelubricants", "C_test_845934022", "u1:u2"]


def dialects():
    for name, (digits, dashes, widths, hashed) in DIALECTS.items():
        yield {"name": name, "digits": digits, "dashes": dashes, "widths": list(widths), "function": hashed}


def layouts():
    for name, (epoch, tick, widths, is_hex) in LAYOUTS.items():
        yield {"name": name, "epoch_ns": str(epoch), "tick_ns": tick, "widths": list(widths), "form": "hex" if is_hex else "decimal"}


def periods():
    for name, (from_ms, until_ms) in USED.items():
        yield {"name": name, "from": from_ms, "until": until_ms}


# IDs that RongCloud's documents and SDKs print, with their targets.
PRINTED = [
    ("rongcloud", "BUFE-A62U-32C4-01I2", "24"), ("rongcloud", "BN6D-3HBC-0PU4-1FGK", "114"), ("rongcloud", "BKV3-S94Q-43C5-4JF0", "test2"),
    ("rongcloud", "CPEN-GH7K-ECA4-98EU", "C_test_845934022"), ("rongcloud", "CDF1-21C2-A73B-DE0J", "ug01"),
    ("rongcloud-v1", "5EGN-HLDB-K4Q4-LQ1G", "881916345615646720"), ("rongcloud-v1", "5FGT-7VA9-G4DD-4V5P", "MersNRhaKwJkRV9mJR5JXY"),
    ("rongcloud-v1", "5CQK-MT6L-G43A-D3EE", "user9"),
]  # fmt: skip


def messages():
    rows = [(dialect, value_of(dialect, text), name) for dialect, text, name in PRINTED]
    plain = [0, 2**80 - 1, 1763665800000 << 38 | 7 << 26 | 16549227, *(1 << bit for bit in (0, 21, 22, 25, 26, 31, 32, 36, 37, 38, 79))]
    rows += [(dialect, value, None) for dialect in DIALECTS for value in plain]
    # All 32 digits.
    rows += [(dialect, sum(digit << 5 * (15 - i) for i, digit in enumerate(range(start, start + 16))), None) for dialect in DIALECTS for start in (0, 16)]
    for dialect, value, name in rows:
        timestamp, spin, kind, hashed = cut(value, DIALECTS[dialect][2])
        row = {"dialect": dialect, "text": text_of(dialect, value), "hex": f"{value:020x}", "timestamp": timestamp, "type": kind, "hash": hashed}
        if DIALECTS[dialect][2][1]:
            row["spin"] = spin
        if name is not None:
            assert hash_of(dialect, name) == hashed, name
            row["session"] = name
        yield row


def messages_refused():
    for dialect in DIALECTS:
        text = text_of(dialect, 1763665800000 << 38 | 7 << 26 | 16549227)
        other = text.lower() if text.isupper() else text.upper()
        inputs = ["", text[:-1], text + text[-1], " " + text, text + "\n", other, text.replace("-", "") if "-" in text else "-".join(re.findall("....", text))]
        inputs += [text[:at] + odd + text[at + 1 :] for odd in "-0189AIOVWZaiovwz_/:@[`{\0\u00e9\uff21" for at in (0, 3, 4, 7, 15)]
        for given in dict.fromkeys(inputs):
            if not is_text(dialect, given):
                yield {"dialect": dialect, "input": given, "position": prefix(dialect, given)}


def hashes():
    for dialect in DIALECTS:
        for name in NAMES:
            yield {"dialect": dialect, "session": name, "hash": hash_of(dialect, name)}


REAL = [("twitter", "204697221847986177"), ("twitter", "474971393852182528"), ("discord", "175928847299117063"), ("discord", "90339695967350784"),
        ("nsq", "0e1ac0d4168a6000"), ("nsq", "0632eb19de09b007"), ("leaf", "1169786042799259000")]  # fmt: skip


def snowflakes():
    for layout, text in REAL:
        yield parts(layout, number(layout, text))
    for layout in LAYOUTS:
        for bits in (0, 1, 4095, 4096, 2**17, 2**22, 2**25, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF):
            yield parts(layout, bits)


def snowflakes_refused():
    numbers = ["", "-", "-0", "-1", "+1", "00", "007", " 5", "5 ", "5\n", "1.0", "1e3", "0x10", "1_000", "\uff11", "\u0661", "5a", "18446744073709551615",
               "18446744073709551616", "99999999999999999999", "-9223372036854775808", "-9223372036854775809", "-18446744073709551615"]  # fmt: skip
    texts = ["", "0", "0e1ac0d4168a600", "0e1ac0d4168a60000", "0E1AC0D4168A6000", "0e1ac0d4168a600g", " 0e1ac0d4168a6000", "0x1ac0d4168a6000", "-e1ac0d4168a6000", "0e1ac0d4168a600\u00e9"]
    for layout, (_, _, _, is_hex) in LAYOUTS.items():
        for given in texts if is_hex else numbers:
            if number(layout, given) is None:
                yield {"layout": layout, "input": given, "position": number_prefix(layout, given)}


# The codes of the session types that each dialect names. A standard ID has any code.
TYPES = {"rongcloud": range(1, 13), "rongcloud-v1": range(1, 13), "standard": range(16), "juggleim": range(1, 7)}


def candidates(text, now, near=None):
    """Returns the names of those that could have made a text, the best guess first."""
    found = []
    for name in DIALECTS:
        if is_text(name, text):
            time, _, kind, _ = cut(value_of(name, text), DIALECTS[name][2])
            found.append((name, time, kind in TYPES[name]))
    found += [(name, parts(name, number(name, text))["timestamp"], True) for name in LAYOUTS if number(name, text) is not None]
    # A system that makes no IDs any more is listed for its years.
    found = [(name, time, has_type) for name, time, has_type in found if USED[name][1] == NEVER or USED[name][0] <= time < USED[name][1]]

    def fit(candidate):
        name, time, has_type = candidate
        if not day("2005-01-01") <= time <= now + 2 * 365 * 86400000:
            rank = 3
        elif not has_type or not USED[name][0] <= time < USED[name][1]:
            rank = 2
        else:
            rank = 1 if name != "standard" and time > now + 86400000 else 0
        # A standard ID of any time comes before systems that did not make IDs at their time.
        guess = (min(rank, 2), rank > 1 and name != "standard", rank, abs(time - now))
        return guess if near is None else (abs(time - near), rank)

    return [name for name, _, _ in sorted(found, key=fit)]


NOW = day("2026-11-23")


def identify():
    texts = [text for _, text, _ in PRINTED] + [text for _, text in REAL]
    texts += ["5", "4294967295", "1763665800", "1763665800000", "13800138000", "-1", "9223372036854775808", "18446744073709551615", "29700859247"]
    texts += ["EUNC-Q8QJ-22GH-T3DD", "F3Z9-MB7Y-WCQH-T3DD", "BK5Q-4S75-ZJ64-3BCD", "BK5Q-4S75-VJ64-3BCD", "BK5Q-4S75-VJ7P-3BCD", "EPSF-4V3S-2222-2222", "2222-2222-2222-2222", "5GFH-MKD0-SD51-BA0J"]
    texts += ["pb9hvkf86lyr3bmm", "2345678923456789", "abcdef2345678923", "00000000000003e8", "hello", "", "eunc-q8qj-22gh-t3dd", "EUNCQ8QJ22GHT3DD", " 5", "007"]
    # IDs of the first and last days of each system, written as it writes them.
    for name, (from_ms, until_ms) in USED.items():
        for ms in (from_ms - 1, from_ms, min(until_ms, NOW) - 1, min(until_ms, NOW)):
            if ms < NOW + 86400000:
                texts.append(text_of(name, (ms + 1) << sum(DIALECTS[name][2][1:])) if name in DIALECTS else at(name, ms + 1))
    for text in dict.fromkeys(texts):
        yield {"input": text, "now": NOW, "candidates": candidates(text, NOW)}
    for text, now in (("EUNC-Q8QJ-22GH-T3DD", 0), ("EUNC-Q8QJ-22GH-T3DD", day("2016-01-01")), ("175928847299117063", day("2016-05-01")), ("175928847299117063", NEVER), ("DDQH-Q9FR-8UUE-V3TN", NOW), ("DDQH-Q9FR-8UUE-V3TN", day("2028-08-01"))):
        yield {"input": text, "now": now, "candidates": candidates(text, now)}


def at(layout, ms):
    """Returns the text of the first ID that is at or after a time."""
    epoch, tick, widths, _ = LAYOUTS[layout]
    return parts(layout, max(0, -((epoch - ms * MS) // tick)) << sum(widths[1:]))["text"]


def identify_near():
    for text, near in [
        ("204697221847986177", day("2012-05-21")), ("474971393852182528", 1402076979493), ("175928847299117063", 1462015105796), ("90339695967350784", 1441609061949),
        ("1169786042799259000", 1567733700834), ("0e1ac0d4168a6000", 1605525592766), ("BK5Q-4S75-VJ64-3BCD", day("2010-06-01")), ("5EGN-HLDB-K4Q4-LQ1G", 1499141156189),
        ("5EGN-HLDB-K4Q4-LQ1G", day("1993-10-02")), ("EPSF-4V3S-2222-2222", day("2034-01-01")), ("204697221847986177", 0), ("5", day("2015-01-01")),
    ]:  # fmt: skip
        yield {"input": text, "now": NOW, "near": near, "candidates": candidates(text, NOW, near)}


MEMBERS = [dialects, layouts, periods, messages, messages_refused, hashes, snowflakes, snowflakes_refused, identify, identify_near]


def main():
    rows = {make.__name__: list(make()) for make in MEMBERS}
    assert [row["text"] for row in rows["messages"][: len(PRINTED)]] == [text for _, text, _ in PRINTED]
    assert [row["text"] for row in rows["snowflakes"][: len(REAL)]] == [text for _, text in REAL]
    for member, list_ in rows.items():
        keys = [json.dumps(row) for row in list_]
        assert len(keys) == len(set(keys)), f"{member} has a row twice"
    members = ['"$schema": "schema/dialects.json"', '"version": 1']
    members += (f"{json.dumps(member)}: [\n" + ",\n".join(map(json.dumps, list_)) + "\n]" for member, list_ in rows.items())
    sys.stdout.write("{\n" + ",\n".join(members) + "\n}\n")


if __name__ == "__main__":
    main()
