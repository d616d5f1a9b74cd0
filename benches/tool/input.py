"""Prints N invented messages as JSON lines."""

import random
import sys

random.seed(1)
time = 1763640000000
for number in range(int(sys.argv[1])):
    time += random.randrange(3)
    print(
        '{"seq":%d,"room":"room-%d","sender":"user-%d","at":%d,"text":"message %d, of ordinary length","reply":null}'
        % (number, random.randrange(5000), random.randrange(100000), time, number)
    )
