#!/usr/bin/env python3
"""Prints spec/vectors.json. It follows spec/FORMAT.md and does not use the library, so that the two check each other.

Needs `xxhash` from PyPI. ci/vectors.sh installs it, runs this and compares the result with the file.
"""

import json
import re
import sys
import uuid

import xxhash

import xxh3 as own

DIGITS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
DASHES = (4, 9, 14)
WHITE_SPACE = "\t\n\v\f\r "
TYPES = {
    1: "PRIVATE", 2: "DISCUSSION", 3: "GROUP", 4: "CHATROOM", 5: "CUSTOMER_SERVICE", 6: "SYSTEM",
    7: "APP_PUBLIC_SERVICE", 8: "PUBLIC_SERVICE", 9: "PUSH_SERVICE", 10: "ULTRA_GROUP", 11: "ENCRYPTED", 12: "RTC",
}  # fmt: skip
LAST_MS = 2**42 - 1
EXAMPLE_MS = 1763665800000

# ---------------------------------------------------------------------------------------------------------------------
# The format.


def integer_of(timestamp, spin, kind, hashed):
    return timestamp * 2**38 + spin * 2**26 + kind * 2**22 + hashed


def text_of(integer):
    digits = "".join(DIGITS[integer // 32 ** (15 - i) % 32] for i in range(16))
    return "-".join(digits[i : i + 4] for i in (0, 4, 8, 12))


def uuid_of(integer):
    """Returns the UUID view."""
    timestamp, spin, session = integer // 2**38, integer // 2**26 % 4096, integer % 2**26
    return uuid.UUID(int=timestamp * 2**80 + 7 * 2**76 + spin * 2**64 + 2 * 2**62 + session * 2**36 + 2**36 - 1)


def xxh3(name):
    return xxh3_of(name.encode())


def xxh3_of(data):
    hashed = xxhash.xxh3_64_intdigest(data)
    assert own.xxh3(data) == hashed, f"xxh3.py differs for {data}"
    return hashed


def hash_of(name):
    return xxh3(name) % 2**22


def ends_of(a, b):
    """Returns the 16 bytes that are hashed for a pair."""
    return b"".join(end.to_bytes(8, "big") for end in sorted((xxh3(a), xxh3(b))))


def shard_of(session, n):
    key, bucket, following = session, 0, 0
    while following < n:
        bucket = following
        key = (key * 2862933555777941757 + 1) % 2**64
        # Python's numbers are binary64, and `int` drops the fraction.
        following = int(float(bucket + 1) * (2147483648.0 / float(key // 2**33 + 1)))
    return bucket


# Length of the longest beginning of an input that is also the beginning of an accepted input. It is the whole length if
# the input is accepted, or if only its end is missing.


def strict_prefix(text):
    for at, found in enumerate(text[:19]):
        if found not in ("-" if at in DASHES else DIGITS):
            return at
    return min(len(text), 19)


def lenient_prefix(text):
    at = len(text) - len(text.lstrip(WHITE_SPACE))
    digits, last = 0, ""
    for found in text[at:]:
        if found == "-":
            fits = digits in (4, 8, 12) and last != "-"
        elif found in WHITE_SPACE:
            fits = digits == 16
        else:
            fits = digits < 16 and found in DIGITS + DIGITS.lower()
            digits += fits
        if not fits:
            break
        at, last = at + 1, found
    return at


def hex_prefix(text):
    return len(re.match("[0-9a-fA-F]{0,20}", text)[0])


LENIENT = re.compile("[{w}]*{d}-?{d}-?{d}-?{d}[{w}]*".format(w=WHITE_SPACE, d="[2-9A-HJ-NP-Za-hj-np-z]{4}"))

# ---------------------------------------------------------------------------------------------------------------------
# The rows of each member.


def ids():
    """Returns the rows in ascending order of their IDs."""
    named = [
        (EXAMPLE_MS, 7, 3, "room-42"), (1732037865755, 2219, 14, "room-42"), (3795497519039, 3926, 6, "group-42"),
        (1603607982232, 2182, 6, "g"), (108983602413, 2253, 12, ""), (4186912404006, 4066, 6, "会话-融云"),
        (970355693759, 3843, 9, "user:1001"), (1709630585875, 988, 2, "a" * 16), (2331935386681, 2305, 0, "a" * 17),
        (1984896549086, 2544, 2, "a" * 129), (699802387792, 947, 5, "a" * 241), (2604267766733, 708, 10, "😀"),
        (4264803856806, 835, 4, "alice"), (4386271855920, 323, 5, "bob"),
        (2890948716829, 65, 11, "ws/5f1c0c9e-7b1e-4a5e-9a41-5f3a7a4d1c20"),
        (1282165503625, 1219, 14, "s-173006080178430354"), (109862097360, 1289, 7, "s-715248129517292071"),
        (2788479466249, 2035, 8, "s-117878172352192422"), (230814311981, 1847, 3, "s-585764503457547201"),
        (2117118728220, 3198, 10, "s-361066606003635406"), (37257430913, 2062, 14, "s-792769248282035957"),
        (546370844038, 2688, 1, "s-445200702167535079"), (2654456663848, 1094, 5, "s-190325518652039031"),
        (2409487119602, 4008, 1, "s-802602490583503471"), (2026269764068, 3501, 14, "s-393710417798136621"),
        (2129643965837, 1718, 2, "s-145537440344234521"), (1655438357444, 2642, 2, "s-251978894346102004"),
        (432763992641, 298, 13, "s-1118127935206900801"), (3334597521497, 1063, 8, "s-1135963492606222151"),
        (3619752509331, 2181, 12, "s-344301497782669890"), (4071610851954, 1892, 3, "s-630873498189679910"),
        (751572064319, 2316, 8, "s-1140302850248791380"), (3825816939423, 1760, 8, "s-395076517269536193"),
        (105516096889, 1197, 5, "s-138578409491210626"), (1073783451955, 3979, 11, "s-473019872548298690"),
        (1516431679121, 846, 8, "s-943835654553918708"), (2715798557003, 1208, 14, "s-304443908958758691"),
        (3799308004053, 674, 15, "s-1014976708571950126"), (660196814177, 762, 15, "s-244192139953168021"),
        (2844013301261, 4031, 13, "s-942725469240230004"), (1170239015926, 3515, 15, "s-904812097774191476"),
    ]  # fmt: skip
    values = {integer_of(timestamp, spin, kind, hash_of(name)): name for timestamp, spin, kind, name in named}
    # 0, each bit alone, all bits, the 32 digits in order, the bounds of the example's millisecond, and two numbers that
    # a reader with 53 or with 64 bits gets wrong.
    plain = [0, *(2**bit for bit in range(80)), 2**80 - 1, 2**53 + 1, 2**64 - 1]
    plain += [sum(value * 32 ** (15 - i) for i, value in enumerate(range(start, start + 16))) for start in (0, 16)]
    plain += [EXAMPLE_MS * 2**38, EXAMPLE_MS * 2**38 + 2**38 - 1]
    for value in sorted({*values, *plain}):
        row = {
            "text": text_of(value),
            "hex": value.to_bytes(10, "big").hex(),
            "integer": str(value),
            "timestamp": value // 2**38,
            "spin": value // 2**26 % 4096,
            "type": value // 2**22 % 16,
            "hash": value % 2**22,
            "session_tag": value % 2**26,
        }
        if value in values:
            row["name"] = values[value]
        yield row


def texts_refused():
    for text, why in [
        ("", "nothing"),
        ("2", "too short"),
        ("2222", "too short"),
        ("2222-", "too short"),
        ("2222-2222-2222-222", "too short"),
        ("2222-2222-2222-22222", "too long"),
        ("2222-2222-2222-2222-", "too long"),
        ("2222-2222-2222-2222-2222", "too long"),
        ("2222222222222222", "no dashes"),
        ("2222222222222222222", "digits in place of dashes"),
        ("22222222-2222-2222", "a dash is missing"),
        ("2222-22222222-2222", "a dash is missing"),
        ("2222-2222-22222222", "a dash is missing"),
        ("2222_2222_2222_2222", "other separators"),
        ("2222 2222 2222 2222", "other separators"),
        ("2222\u20102222\u20102222\u20102222", "U+2010 is not the dash"),
        ("2222\u22122222\u22122222\u22122222", "U+2212 is not the dash"),
        ("2222--222-2222-2222", "a dash in place of a digit"),
        ("222-22222-2222-2222", "a dash in place of a digit"),
        ("-222-2222-2222-2222", "a dash in place of a digit"),
        ("2222-2222-2222-222-", "a dash in place of a digit"),
        ("-------------------", "dashes alone"),
        *((f"{'2222-2222-2222-2222'[:at]}{other}{'2222-2222-2222-2222'[at + 1:]}", f"{other} is not a digit") for other in "01IO" for at in (0, 7, 11, 18)),
        ("2222-2222-2222-222a", "lower case"),
        ("2222-2222-2222-222z", "lower case"),
        ("eunc-q8qj-22gh-t3dd", "lower case"),
        *((f"{'AAAA-AAAA-AAAA-AAAA'[:at]}a{'AAAA-AAAA-AAAA-AAAA'[at + 1:]}", "one letter in lower case") for at in range(19) if at % 5 < 4),
        *((f"2222-222{other}-2222-2222", "the neighbour of a digit in ASCII") for other in "/:@[`{\x7f\0"),
        (" 2222-2222-2222-2222", "white space before"),
        ("2222-2222-2222-2222 ", "white space after"),
        ("2222-2222-2222-2222\n", "a final newline, which `$` in a regular expression may pass over"),
        ("2222-2222-2222-2222\r\n", "a final newline"),
        ("2222-2222-2222-2222\0", "a final zero"),
        (" 222-2222-2222-2222", "white space in place of a digit"),
        ("2222-2222-2222-222\n", "white space in place of a digit"),
        ("\ufeff2222-2222-2222-2222", "a byte order mark before"),
        ("2222-2222-2222-222\u00e9", "not ASCII"),
        ("2222-2222-2222-22\u00e9", "not ASCII, and 19 bytes of UTF-8"),
        ("\uff122222-2222-2222-222", "a full-width digit"),
        ("\uff12222-2222-2222-222", "a full-width digit"),
        ("\u0662222-2222-2222-2222", "an Arabic digit"),
        ("\uff21222-2222-2222-2222", "a full-width letter"),
        ("2222-2222-2222-22\U0001f600", "a character of two UTF-16 units"),
        ("\u0145UNC-Q8QJ-22GH-T3DD", "U+0145, whose low byte is E"),
        ("EUNC\u012dQ8QJ\u012d22GH\u012dT3DD", "U+012D, whose low byte is the dash"),
        ("\u0172NC-Q8QJ-22GH-T3DD", "U+0172, whose UTF-8 has the low bits of E2"),
    ]:
        yield {"input": text, "position": strict_prefix(text), "why": why}


def lenient():
    for value in (integer_of(EXAMPLE_MS, 7, 3, hash_of("room-42")), 0, 2**80 - 1):
        text = text_of(value)
        groups = text.split("-")
        inputs = [text, text.lower(), text.title(), text.swapcase()]
        for dashes in range(8):
            joined = groups[0] + "".join("-"[: dashes >> i & 1] + groups[i + 1] for i in range(3))
            inputs += [joined, joined.lower()]
        inputs += [space + text for space in WHITE_SPACE] + [text + space for space in WHITE_SPACE]
        inputs += [WHITE_SPACE + text.replace("-", "").lower() + WHITE_SPACE]
        for given in dict.fromkeys(inputs):
            yield {"input": given, "text": text}
    # The 32 digits in lower case.
    for text in ("2345-6789-ABCD-EFGH", "JKLM-NPQR-STUV-WXYZ"):
        yield {"input": text.lower(), "text": text}


def lenient_refused():
    text, plain = "EUNC-Q8QJ-22GH-T3DD", "eunc-q8qj-22gh-t3dd"
    spaces = {
        "\u00a0": "NO-BREAK SPACE", "\u3000": "IDEOGRAPHIC SPACE", "\ufeff": "BYTE ORDER MARK", "\u0085": "NEXT LINE",
        "\u1680": "OGHAM SPACE MARK", "\u2003": "EM SPACE", "\u200b": "ZERO WIDTH SPACE", "\u2028": "LINE SEPARATOR",
        "\u202f": "NARROW NO-BREAK SPACE", "\u205f": "MEDIUM MATHEMATICAL SPACE",
        "\x0e": "SHIFT OUT", "\x1c": "FILE SEPARATOR", "\x1f": "UNIT SEPARATOR", "\0": "NULL", "\b": "BACKSPACE",
    }  # fmt: skip
    rows = [
        ("", "nothing"),
        (" \t\n\v\f\r", "white space alone"),
        ("eunc", "too short"),
        ("eunc-q8qj-22gh-t3d", "too short"),
        (" eunc-q8qj-22gh-t3d ", "too short"),
        ("euncq8qj22gh-", "too short"),
        ("eunc-q8qj-22gh-t3dd2", "too long"),
        ("euncq8qj22ght3dd2", "too long"),
        ("-eunc-q8qj-22gh-t3dd", "a dash before"),
        ("eunc-q8qj-22gh-t3dd-", "a dash after"),
        ("e-uncq8qj22ght3dd", "a dash within a group"),
        ("eu-nc-q8qj-22gh-t3dd", "a dash within a group"),
        ("eunc-q8qj-22gh-t3-dd", "a dash within a group"),
        ("euncq-8qj22ght3dd", "a dash within a group"),
        ("eunc--q8qj-22gh-t3dd", "two dashes"),
        ("eunc-q8qj--22ght3dd", "two dashes"),
        ("eunc q8qj 22gh t3dd", "white space inside"),
        ("eunc- q8qj-22gh-t3dd", "white space inside"),
        ("eunc-q8qj-22g\nh-t3dd", "white space inside"),
        ("eunc_q8qj_22gh_t3dd", "other separators"),
        ("eunc\u2011q8qj\u201122gh\u2011t3dd", "U+2011 is not the dash"),
        ("eunc\u2013q8qj\u201322gh\u2013t3dd", "U+2013 is not the dash"),
        ("0unc-q8qj-22gh-t3dd", "0 is not O"),
        ("1unc-q8qj-22gh-t3dd", "1 is not I"),
        ("iunc-q8qj-22gh-t3dd", "i is not a digit"),
        ("Iunc-q8qj-22gh-t3dd", "I is not a digit"),
        ("ounc-q8qj-22gh-t3dd", "o is not a digit"),
        ("eunc-q8qj-22gh-t3dO", "O is not a digit"),
        ("\u017func-q8qj-22gh-t3dd", "LATIN SMALL LETTER LONG S, S in upper case"),
        ("\u0131unc-q8qj-22gh-t3dd", "LATIN SMALL LETTER DOTLESS I, I in upper case"),
        ("\u0130unc-q8qj-22gh-t3dd", "LATIN CAPITAL LETTER I WITH DOT ABOVE, i and a mark in lower case"),
        ("eun\u212a-q8qj-22gh-t3dd", "KELVIN SIGN, k in lower case"),
        ("\uff25unc-q8qj-22gh-t3dd", "FULLWIDTH LATIN CAPITAL LETTER E, E by compatibility"),
        ("\uff45unc-q8qj-22gh-t3dd", "FULLWIDTH LATIN SMALL LETTER E, E by compatibility"),
        ("eunc-q8qj-\uff12\uff12gh-t3dd", "FULLWIDTH DIGIT TWO, 2 by compatibility"),
        ("eunc-q8qj-\u0662\u0662gh-t3dd", "ARABIC-INDIC DIGIT TWO"),
        ("eunc-q8qj-22gh-t3\u00df", "LATIN SMALL LETTER SHARP S, SS in upper case"),
        ("eunc-q8qj-22gh-\ufb00dd", "LATIN SMALL LIGATURE FF, FF in upper case"),
        ("eunc-q8qj-22gh-t3dd\n2222-2222-2222-2222", "two lines"),
        ("eunc-q8qj-22gh-t3dd 2222-2222-2222-2222", "two texts"),
        ("\u0145unc-q8qj-22gh-t3dd", "U+0145, whose low byte is E"),
        ("eunc\u012dq8qj\u012d22gh\u012dt3dd", "U+012D, whose low byte is the dash"),
        ("\u0172nc-q8qj-22gh-t3dd", "U+0172, whose UTF-8 has the low bits of E2"),
        ("\u0120eunc-q8qj-22gh-t3dd", "U+0120, whose low byte is a space"),
        ("eunc-q8qj-22gh-t3dd\u0120", "U+0120, whose low byte is a space"),
        ("eunc-q8qj-\x12\x12gh-t3dd", "0x12, which is 2 with the bit 0x20"),
        ("eunc\rq8qj-22gh-t3dd", "a carriage return, which is the dash with the bit 0x20"),
        ("'eunc-q8qj-22gh-t3dd'", "quotation marks"),
        ("{eunc-q8qj-22gh-t3dd}", "braces"),
    ]
    for space, name in spaces.items():
        rows += [(space + plain, f"{name} before"), (plain + space, f"{name} after"), (f" {space} {text}", f"{name} within")]
    for given, why in rows:
        yield {"input": given, "position": lenient_prefix(given), "why": why}


def hex_accepted():
    for given in ("66A8AB1AD0001CFC856B", "66a8AB1ad0001CFC856b", "FFFFFFFFFFFFFFFFFFFF"):
        yield {"input": given, "hex": given.lower()}


def hex_refused():
    for given, why in [
        ("", "nothing"),
        ("66a8ab1ad0001cfc856", "19 digits"),
        ("66a8ab1ad0001cfc856b0", "21 digits"),
        ("0066a8ab1ad0001cfc856b", "22 digits"),
        ("0x66a8ab1ad0001cfc856b", "a prefix"),
        ("0x66a8ab1ad0001cfc85", "a prefix, 20 characters"),
        ("0X66a8ab1ad0001cfc85", "a prefix, 20 characters"),
        ("\\x66a8ab1ad0001cfc856b", "a prefix"),
        ("+6a8ab1ad0001cfc856b", "a sign, 20 characters"),
        ("-6a8ab1ad0001cfc856b", "a sign, 20 characters"),
        (" 66a8ab1ad0001cfc856b", "white space before"),
        ("66a8ab1ad0001cfc856b\n", "white space after"),
        ("66a8ab1ad0 01cfc856b", "white space inside"),
        ("66a8_ab1a_d0001cfc85", "underscores, 20 characters"),
        ("66-a8-ab-1a-d0-00-1c", "dashes, 20 characters"),
        ("66a8ab1ad0001cfc856g", "g is not a hex digit"),
        ("g6a8ab1ad0001cfc856b", "g is not a hex digit"),
        ("66a8ab1ad0001cfc856:", "the neighbour of a digit in ASCII"),
        ("66a8ab1ad0001cfc856@", "the neighbour of a digit in ASCII"),
        ("66a8ab1ad0001cfc856/", "the neighbour of a digit in ASCII"),
        ("66a8ab1ad0001cfc856`", "the neighbour of a digit in ASCII"),
        ("66a8ab1ad0001cfc856G", "the neighbour of a digit in ASCII"),
        ("66a8ab1ad0001cfc856\n", "19 digits and white space, 20 characters"),
        ("66a8ab1ad0001cfc856b\0", "a final zero"),
        ("6\x16a8ab1ad0001cfc856", "0x16, which is 6 with the bit 0x20"),
        ("\u01366a8ab1ad0001cfc856", "U+0136, whose low byte is 6"),
        ("66a8ab1ad0001cfc85\u00e9", "not ASCII, 20 bytes of UTF-8"),
        ("\uff166a8ab1ad0001cfc856b", "a full-width digit"),
    ]:
        yield {"input": given, "position": hex_prefix(given), "why": why}


def uuids():
    for row in ids():
        view = uuid_of(int(row["integer"]))
        # Python's own reading of the fields. `time_low` and `time_mid` are the 48 bits of version 7.
        assert view.version == 7 and view.variant == uuid.RFC_4122
        assert view.time_low * 2**16 + view.time_mid == row["timestamp"] and view.time_hi_version % 4096 == row["spin"]
        yield {"text": row["text"], "uuid": str(view)}


def uuids_refused():
    example = uuid_of(integer_of(EXAMPLE_MS, 7, 3, hash_of("room-42"))).int
    rows = [
        (0, "the nil UUID"),
        (2**128 - 1, "the max UUID"),
        (example + 2**122, "the timestamp 2 to the power of 42, plus that of the example"),
        (2**42 * 2**80 + 7 * 2**76 + 2**63 + 2**36 - 1, "the first timestamp that is too large"),
        ((2**48 - 1) * 2**80 + 7 * 2**76 + 2**63 + 2**36 - 1, "the last timestamp of a UUID"),
        *((example + (version - 7) * 2**76, f"version {version}") for version in range(16) if version != 7),
        *((example + (variant - 2) * 2**62, f"variant {variant:02b}") for variant in (0, 1, 3)),
        *((example - 2**bit, f"bit {bit} is zero") for bit in (0, 7, 8, 31, 32, 35)),
        (example - (2**36 - 1), "the last 36 bits are zeros"),
    ]
    for view, why in rows:
        yield {"uuid": str(uuid.UUID(int=view)), "why": why}
    # The examples of RFC 9562, of version 7 and of version 4.
    yield {"uuid": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "why": "a random UUID of version 7"}
    yield {"uuid": "919108f7-52d1-4320-9bac-f847db4148a8", "why": "a random UUID"}


def bytes_refused():
    whole = "66a8ab1ad0001cfc856b"
    for length in (0, 1, 9, 11, 16, 20):
        yield {"bytes": (whole * 2)[: 2 * length]}


def integers_refused():
    for given, why in [
        ("1208925819614629174706176", "2 to the power of 80"),
        ("340282366920938463463374607431768211455", "2 to the power of 128, less 1"),
        ("340282366920938463463374607431768211456", "2 to the power of 128"),
        ("-1", "negative"),
        ("-0", "a sign"),
        ("+1", "a sign"),
        ("01", "a leading zero"),
        ("00", "a leading zero"),
        ("", "nothing"),
        (" 1", "white space before"),
        ("1\n", "white space after"),
        ("1.0", "a fraction"),
        ("1e3", "an exponent"),
        ("0x1", "not decimal"),
        ("1_000", "an underscore"),
        ("1,000", "a comma"),
        ("\uff11", "a full-width digit"),
        ("\u0661", "an Arabic digit"),
        ("\u0131", "U+0131, whose low byte is 1"),
        ("1\0", "a final zero"),
        ("1 0", "white space inside"),
        ("1:", "the neighbour of a digit in ASCII"),
        ("1/", "the neighbour of a digit in ASCII"),
    ]:
        yield {"input": given, "why": why}


def fields_refused():
    for field, bits in {"timestamp": 42, "spin": 12, "type": 4, "hash": 22, "session_tag": 26}.items():
        for value in (-1, 2**bits, 2**32, 2**53 - 1):
            if not 0 <= value < 2**bits:
                yield {"field": field, "input": str(value)}


def types():
    for code in range(16):
        yield {"code": code} | ({"name": TYPES[code]} if code in TYPES else {})


def names():
    lengths = (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 96, 97, 128, 129, 144, 239, 240, 241, 255, 256, 257)
    lengths += (1023, 1024, 1025, 2048)
    digits = "0123456789"
    for name in [
        "", "g", "room-42", "Room-42", "room-42 ", " room-42", "42", "042", "room-42\0", "\0", "\n",
        "会话-融云", "会", "😀", "👩\u200d👩\u200d👧", "caf\u00e9", "cafe\u0301", "\ufeffroom-42", "\U0010ffff",
        "\ud7ff", "\ue000", "\U00010000", "\uffff", "\ufffd", "\r\n", "\ufb01",
        "user:1001", "ws/5f1c0c9e-7b1e-4a5e-9a41-5f3a7a4d1c20", "会" * 43, "😀" * 60, "u12", "u51199",
        *("a" * length for length in lengths if length in (16, 17, 128, 129, 240, 241, 2048)),
        *((digits * (length // 10 + 1))[:length] for length in lengths),
    ]:  # fmt: skip
        yield {"name": name, "length": len(name.encode()), "xxh3": f"{xxh3(name):016x}", "hash": hash_of(name)}


def names_refused():
    for units, why in [
        ([0xD800], "a high surrogate alone"),
        ([0xDE00], "a low surrogate alone"),
        ([0x67, 0xD83D], "a high surrogate at the end"),
        ([0xD83D, 0x67, 0xDE00], "a pair of surrogates that is taken apart"),
        ([0xDE00, 0xD83D], "a pair of surrogates the other way round"),
        ([0xDFFF], "the last low surrogate alone"),
        ([0xD83D, 0xE000], "a high surrogate and what is not a low one"),
        ([0xD83D, 0xD83D], "two high surrogates"),
    ]:
        yield {"utf16": units, "why": why}
    for units, why in [
        ("80", "a continuation byte alone"),
        ("c3", "a cut sequence"),
        ("e282", "a cut sequence"),
        ("f09f98", "a cut sequence"),
        ("636166e9", "Latin-1"),
        ("e28228", "a sequence without its last byte"),
        ("c080", "an overlong zero"),
        ("c0af", "an overlong slash"),
        ("e080af", "an overlong slash"),
        ("f08080af", "an overlong slash"),
        ("eda080", "an encoded surrogate"),
        ("edbfbf", "an encoded surrogate"),
        ("f4908080", "past U+10FFFF"),
        ("f5808080", "past U+10FFFF"),
        ("ff", "a byte that UTF-8 does not have"),
    ]:
        yield {"utf8": units, "why": why}


def pairs():
    # These names have the properties that the rows below need.
    assert xxh3("u12") < 2**56 and xxh3("u51199") < 2**48, "leading zero bytes"
    assert xxh3("u0") < 2**63 <= xxh3("u1"), "signed numbers would be in the other order"
    assert xxh3("u97497") // 2**32 == xxh3("u936808") // 2**32, "equal upper halves"
    assert re.fullmatch("[0-9]+e[0-9]+", f"{xxh3('u24009'):x}"), "an exponent"
    assert "b" < "u0" and xxh3("b") > xxh3("u0"), "the names' order is not that of their hashes"
    for a, b, why in [
        ("alice", "bob", None),
        ("", "", "empty names"),
        ("", "alice", "an empty name"),
        ("u", "u", "equal names"),
        ("1001", "1002", None),
        ("10011", "002", "joined, the same text as of 1001 and 1002"),
        ("会", "话", None),
        ("😀", "alice", None),
        ("u12", "alice", "h(u12) begins with a zero byte"),
        ("u12", "u12", "h(u12) begins with a zero byte"),
        ("u51199", "u12", "h(u51199) begins with two zero bytes"),
        ("u0", "u1", "as signed numbers, h(u1) is the lesser"),
        ("b", "u0", "h(u0) is the lesser, though the name is the greater"),
        ("a" * 241, "a" * 17, "long names"),
        ("u9", "u24009", "as text, one hash looks like a number with an exponent"),
        ("u97497", "u936808", "the upper 32 bits of the hashes are equal"),
    ]:
        for one, other in dict.fromkeys([(a, b), (b, a)]):
            ends = ends_of(one, other)
            hashed = xxhash.xxh3_64_intdigest(ends) % 2**22
            row = {"a": one, "b": other, "bytes": ends.hex(), "hash": hashed, "session_tag": 2**22 + hashed}
            yield row | ({"why": why} if why else {})


def shards():
    counts = (1, 2, 3, 7, 8, 10, 100, 1000, 1024, 2048, 65536, 100001, 917504, 2**31 - 1, 2**31, 2**32 - 1)
    sessions = [0, 1, 2, 3, 256, 4194303, 4194304, 16549227, 67108863]
    # These shards differ if a reader multiplies before it divides, or divides integers.
    sessions += [5535570, 13587145, 19047872, 51515733]
    for session in sessions:
        for n in counts:
            yield {"session_tag": session, "n": n, "shard": shard_of(session, n)}


def shards_refused():
    for session, n in [(16549227, 0), (16549227, -1), (16549227, 2**32), (16549227, 2**32 + 1), (2**26, 100), (-1, 100)]:
        yield {"session_tag_input": str(session), "n_input": str(n)}


def times():
    hour = 3600000
    for first, last in [
        (0, 0),
        (1, 1),
        (EXAMPLE_MS, EXAMPLE_MS),
        (EXAMPLE_MS, EXAMPLE_MS + 1),
        (EXAMPLE_MS - 10 * 60000, EXAMPLE_MS - 10 * 60000 + hour - 1),
        (2**41 - 1, 2**41),
        (LAST_MS, LAST_MS),
        (0, LAST_MS),
    ]:
        yield {"from": first, "to": last, "first": text_of(first * 2**38), "last": text_of(last * 2**38 + 2**38 - 1)}


def times_refused():
    for first, last, why in [
        (2**42, 2**42, "past the last millisecond"),
        (0, 2**42, "past the last millisecond"),
        (0, 2**53 - 1, "past the last millisecond"),
        (-1, 0, "negative"),
        (EXAMPLE_MS, EXAMPLE_MS - 1, "ends before it begins"),
        (1, 0, "ends before it begins"),
    ]:
        yield {"from_input": str(first), "to_input": str(last), "why": why}


A, B, C = "2222-2222-2222-2222", "EUNC-Q8QJ-22GH-T3DD", "ZZZZ-ZZZZ-ZZZZ-ZZZZ"


def lines():
    for texts, separator in [([], "\n"), ([B], "\n"), ([A, B, C], "\n"), ([C, A, A], ","), ([B, B], "\0"), ([B, A], "-"), ([B, A], "2")]:
        yield {"texts": texts, "separator": separator, "lines": "".join(text + separator for text in texts)}


def lines_refused():
    for text, line, position, why in [
        ("\n", 0, 0, "an empty line"),
        (f"{A}\n\n{B}\n", 1, 0, "an empty line"),
        (f"{A}\n{B}\n\n", 2, 0, "an empty line at the end"),
        (f"{A}\r\n{B}\r\n", 0, 19, "CR LF"),
        (f"{A}\n {B}\n", 1, 0, "white space before"),
        (f"{A} \n{B}\n", 0, 19, "white space after"),
        (f"{A}\n{B}{C}\n", 1, 19, "a separator is missing"),
        (f"{A},{B}\n", 0, 19, "another separator"),
        (f"{A}\n2222\n{C}\n", 1, 4, "a short line"),
        (f"{A}\n{B[:9]}", 1, 9, "a last line that is too short"),
        (f"{A}\n{B}\n{C.lower()}\n", 2, 0, "lower case"),
        (f"{A}\n{B}\n{C[:-1]}I\n", 2, 18, "I is not a digit"),
        (f"{A}\n{C[:-1]}\u00e9\n", 1, 18, "not ASCII"),
        (f"\ufeff{A}\n", 0, 0, "a byte order mark"),
        (f"{B}\n{A}\r", 1, 19, "a carriage return at the end"),
        (f"{B}\n{A}\n\0", 2, 0, "a final zero"),
        (f"{B}\n{A}\n\x1a", 2, 0, "a final 0x1A"),
    ]:
        yield {"lines": text, "separator": "\n", "line": line, "position": position, "why": why}
    for text, line, position, why in [
        (f"{B},{A}\n", 1, 19, "another separator at the end"),
        (f"{B},{A},\n", 2, 0, "a line feed after the last separator"),
    ]:
        yield {"lines": text, "separator": ",", "line": line, "position": position, "why": why}


# ---------------------------------------------------------------------------------------------------------------------

MEMBERS = {
    "ids": ids,
    "texts_refused": texts_refused,
    "lenient": lenient,
    "lenient_refused": lenient_refused,
    "hex": hex_accepted,
    "hex_refused": hex_refused,
    "uuids": uuids,
    "uuids_refused": uuids_refused,
    "bytes_refused": bytes_refused,
    "integers_refused": integers_refused,
    "fields_refused": fields_refused,
    "types": types,
    "names": names,
    "names_refused": names_refused,
    "pairs": pairs,
    "shards": shards,
    "shards_refused": shards_refused,
    "times": times,
    "times_refused": times_refused,
    "lines": lines,
    "lines_refused": lines_refused,
}


def main():
    rows = {member: list(make()) for member, make in MEMBERS.items()}
    # Checks the rows with regular expressions, which are a second way to read them.
    strict = re.compile("[{d}]{{4}}(?:-[{d}]{{4}}){{3}}".format(d=DIGITS))
    assert all(strict.fullmatch(row["text"]) for row in rows["ids"])
    assert not any(strict.fullmatch(row["input"]) for row in rows["texts_refused"])
    assert all(LENIENT.fullmatch(row["input"]) for row in rows["lenient"])
    assert not any(LENIENT.fullmatch(row["input"]) for row in rows["lenient_refused"])
    assert not any(re.fullmatch("[0-9a-fA-F]{20}", row["input"]) for row in rows["hex_refused"])
    for member, list_ in rows.items():
        keys = [json.dumps({key: row[key] for key in row if key != "why"}) for row in list_]
        assert len(keys) == len(set(keys)), f"{member} has a row twice"

    # One row per line, so that a diff shows the changed rows. Only ASCII, so that editors do not change it.
    members = ['"$schema": "schema/vectors.json"', '"version": 1', f'"xxh3_secret": "{own.SECRET.hex()}"']
    members += (f"{json.dumps(member)}: [\n" + ",\n".join(map(json.dumps, list_)) + "\n]" for member, list_ in rows.items())
    sys.stdout.write("{\n" + ",\n".join(members) + "\n}\n")


if __name__ == "__main__":
    main()
