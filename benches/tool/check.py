"""Checks that the lines of standard input are IDs in strictly increasing order."""

import re
import sys

is_id = re.compile(rb"[2-9A-HJ-NP-Z]{4}(?:-[2-9A-HJ-NP-Z]{4}){3}\Z").match
previous = b""
lines = problems = 0
for line in sys.stdin.buffer:
    text = line.rstrip(b"\r\n")
    lines += 1
    if not is_id(text) or text <= previous:
        problems += 1
    previous = text
print(lines, problems)
