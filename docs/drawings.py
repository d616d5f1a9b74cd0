#!/usr/bin/env python3
"""Draws docs/drawings/*.svg: docs/drawings.py writes them, docs/drawings.py --check compares them with what is there.

Colors come from classes, so that a drawing follows the reader's light or dark scheme. Each one has its own background, because the
page around an image can have the other scheme.
"""

import sys
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).with_name("drawings")
WIDTH = 760

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 12px; fill: #59636e }
  .bold { font-weight: 600 }
  .middle { text-anchor: middle }
  .end { text-anchor: end }
  .paper { fill: #ffffff }
  .axis, .guide { stroke: #818b98; fill: none }
  .guide { stroke-dasharray: 3 3 }
  .clock { stroke: #818b98; stroke-width: 2; stroke-dasharray: 6 4; fill: none }
  .blue { stroke: #0969da } .orange { stroke: #bc4c00 } .red { stroke: #cf222e }
  .line { stroke-width: 2.5; fill: none }
  .bar { fill: #0969da } .bar2 { fill: #bc4c00 } .pale { fill: #dbe9fa } .grey { fill: #d1d9e0 }
  .on { fill: #ffffff }
  .t-blue { fill: #0969da } .t-orange { fill: #bc4c00 } .t-red { fill: #cf222e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9198a1 }
    .paper { fill: #0d1117 }
    .blue { stroke: #58a6ff } .orange { stroke: #f0883e } .red { stroke: #ff7b72 }
    .bar { fill: #58a6ff } .bar2 { fill: #f0883e } .pale { fill: #16304f } .grey { fill: #3d444d }
    .on { fill: #0d1117 }
    .t-blue { fill: #58a6ff } .t-orange { fill: #f0883e } .t-red { fill: #ff7b72 }
  }
"""


class Drawing:
    def __init__(self, height, title):
        self.height, self.title, self.parts = height, title, []

    def text(self, x, y, words, kind=""):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>')

    def path(self, points, kind):
        self.parts.append(f'<path d="M{" L".join(f"{x:g} {y:g}" for x, y in points)}" class="{kind}"/>')

    def bar(self, x, y, width, height, kind):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" class="{kind}"/>')

    def dot(self, x, y, kind):
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="4.5" class="{kind}"/>')

    def cross(self, x, y):
        self.path([(x - 6, y - 6), (x + 6, y + 6)], "line red")
        self.path([(x - 6, y + 6), (x + 6, y - 6)], "line red")

    def arrow(self, points, kind="axis"):
        """A line with a head at its end, which points along the longer side of the last piece."""
        self.path(points, kind)
        (x0, y0), (x, y) = points[-2:]
        if abs(x - x0) >= abs(y - y0):
            back = -7 if x > x0 else 7
            head = [(x + back, y - 4), (x, y), (x + back, y + 4)]
        else:
            back = -7 if y > y0 else 7
            head = [(x - 4, y + back), (x, y), (x + 4, y + back)]
        self.path(head, kind)

    def svg(self):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" height="{self.height}" role="img">',
            f"<title>{escape(self.title)}</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="{WIDTH}" height="{self.height}" rx="6" class="paper"/>',
            *self.parts,
            "</svg>\n",
        ])


def lease():
    drawing = Drawing(368, "The life of a lease: each ceiling is written before it is used, and the next holder starts at the last one")

    def at(clock, time):
        return 60 + clock * 25, 322 - time * 9

    horizon, crash, takeover = 10, 9, 17
    drawing.arrow([at(0, 0), at(27, 0)])
    drawing.arrow([at(0, 0), at(0, 33.5)])
    drawing.text(*at(24.4, -1.9), "clock")
    drawing.text(70, 30, "time of IDs")
    drawing.path([at(0, 0), at(26, 26)], "clock")
    drawing.text(*at(22.4, 19.2), "the clock", "small")

    last = 7.5
    for number, renewal in enumerate((0, 2.5, 5, 7.5), 1):
        end = renewal + 2.5 if renewal < last else takeover
        ceiling = renewal + horizon
        drawing.path([at(renewal, ceiling), at(end, ceiling)], "line blue")
        if renewal < last:
            drawing.path([at(end, ceiling), at(end, ceiling + 2.5)], "line blue")
        drawing.text(*at(renewal + 0.15, ceiling + 0.8), f"C{number}", "t-blue")
        drawing.path([at(renewal, 0), at(renewal, -0.8)], "axis")
    drawing.text(*at(0, -3.2), "renewals, one per quarter of the horizon", "small")
    drawing.path([at(0, 0), at(crash, crash)], "line blue")
    drawing.text(*at(3.6, 1.2), "holder A mints", "t-blue bold")
    drawing.arrow([at(5.3, 5.6), at(5.3, 14.6)])
    drawing.arrow([at(5.3, 14.6), at(5.3, 5.6)])
    drawing.text(*at(5.6, 10.4), "horizon", "small")
    drawing.cross(*at(crash, crash))
    drawing.text(*at(crash + 0.5, crash - 1.2), "A is killed", "t-red bold")
    drawing.text(*at(9.5, 5.2), "nobody mints in this lane", "small")

    drawing.path([at(takeover, 0), at(takeover, 27)], "guide")
    drawing.text(*at(takeover - 2.9, -3.2), "takeover: A has not renewed for a horizon", "small")
    first = last + horizon
    drawing.path([at(takeover, first), at(takeover + 1, takeover + 1), at(25, 25)], "line orange")
    drawing.path([at(takeover, 27), at(19.5, 27), at(19.5, 29.5), at(22, 29.5), at(22, 32), at(25, 32)], "line orange")
    drawing.dot(*at(takeover, first), "bar2")
    drawing.text(*at(takeover + 0.8, first - 3.6), "holder B mints, from C4 on", "t-orange bold")
    drawing.text(*at(takeover + 0.15, 27.8), "C5", "t-orange")
    drawing.text(*at(takeover - 0.3, 28.2), "B writes C5 first", "small end")
    drawing.text(*at(takeover - 0.3, 24.6), "A's IDs are below C4, whatever A does:", "small end")
    drawing.text(*at(takeover - 0.3, 22.6), "paused, cut off, or with a wrong clock", "small end")
    return drawing


def half_speed():
    drawing = Drawing(316, "After a step back and after observe, the time of IDs runs at half speed until the clock has caught up")

    def panel(left, heading, clock, ids, scale, top):
        def at(true, time):
            return left + true * scale, 262 - (time - top[0]) * top[1]

        drawing.text(left - 26, 24, heading, "bold")
        drawing.arrow([(left, 262), (left + 316, 262)])
        drawing.arrow([(left, 262), (left, 44)])
        drawing.text(left + 316, 254, "real time", "small end")
        drawing.path([at(*point) for point in clock], "clock")
        drawing.path([at(*point) for point in ids], "line blue")
        return at

    at = panel(40, "The clock steps back by 10 s", [(0, 0), (10, 10), (10, 0), (38, 28)], [(0, 0), (10, 10), (30, 20), (38, 28)], 8, (0, 7))
    drawing.text(*at(10.5, 22), "time of IDs: half speed", "t-blue")
    drawing.text(*at(21.5, 8.8), "the clock", "small")
    drawing.path([at(10, 0), at(10, -1.4)], "axis")
    drawing.path([at(30, 20), at(30, -1.4)], "guide")
    drawing.text(*at(10, -3), "step", "small middle")
    drawing.text(*at(30, -3), "20 s later", "small middle")

    at = panel(424, "observe of an ID that is 4 s ahead", [(0, 0), (18, 18)], [(0, 0), (5, 5), (5, 9), (13, 13), (18, 18)], 17, (0, 11))
    drawing.dot(*at(5, 9), "bar")
    drawing.text(*at(4.5, 9.8), "observed ID", "small end")
    drawing.text(*at(4.6, 14.4), "time of IDs: half speed", "t-blue")
    drawing.text(*at(9.4, 6.8), "the clock", "small")
    drawing.path([at(5, 5), at(5, -0.9)], "guide")
    drawing.path([at(13, 13), at(13, -0.9)], "guide")
    drawing.text(*at(5, -1.9), "observe", "small middle")
    drawing.text(*at(13, -1.9), "8 s later", "small middle")
    drawing.text(14, 306, "IDs keep increasing, and are spread over milliseconds at twice the usual density.", "small")
    return drawing


def shutdown():
    drawing = Drawing(226, "From SIGTERM to exit: drain, finish requests, release the lane")

    def x(second):
        return 172 + second * 16.6

    rows = ["/ready", "new requests", "requests in progress", "lane"]
    for row, name in enumerate(rows):
        drawing.text(160, 65 + row * 32, name, "end")
    for second, label, left in ((0, "SIGTERM", 42), (5, "stop accepting", 34), (15, "requests done", 48), (25, "exit", 13)):
        drawing.path([(x(second), 30), (x(second), 184)], "guide")
        drawing.text(x(second) - left, 22, label, "bold")
    drawing.path([(x(30), 30), (x(30), 184)], "line red")
    drawing.text(x(30), 22, "SIGKILL", "bold middle t-red")

    def bar(row, start, end, kind, words, color):
        drawing.bar(x(start), 49 + row * 32, x(end) - x(start), 23, kind)
        drawing.text((x(start) + x(end)) / 2, 65 + row * 32, words, f"middle {color}")

    bar(0, 0, 25, "grey", "503, so the balancer stops sending requests here", "")
    bar(1, 0, 5, "bar", "served", "on")
    bar(1, 5, 25, "grey", "refused", "")
    bar(2, 0, 15, "bar", "answered; streams end after 5 s", "on")
    bar(3, 0, 15, "bar", "mints", "on")
    bar(3, 15, 25, "pale", "close_within", "")
    drawing.arrow([(172, 184), (744, 184)])
    for second, label in ((0, "0 s"), (5, "5 s"), (15, "15 s at most"), (25, "25 s at most"), (30, "30 s")):
        drawing.text(x(second), 202, label, "small middle")
    drawing.text((x(0) + x(5)) / 2, 218, "CHAT_DRAIN", "small middle")
    drawing.text((x(5) + x(30)) / 2, 218, "terminationGracePeriodSeconds: 30", "small middle")
    return drawing


def cursor():
    drawing = Drawing(250, "Two transactions that overlap: the follower's cursor passes an ID that is not committed yet")
    for y, name in ((52, "transaction 1"), (102, "transaction 2"), (172, "follower")):
        drawing.text(16, y + 5, name, "bold")
    drawing.bar(130, 40, 480, 25, "bar")
    drawing.bar(200, 90, 200, 25, "bar2")
    for left, right, y, number in ((130, 610, 57, 10), (200, 400, 107, 11)):
        drawing.text(left + 8, y, f"mints {number}", "on bold")
        drawing.text(right - 8, y, "COMMIT", "on bold end")
    drawing.path([(400, 115), (400, 150)], "guide")
    drawing.path([(610, 65), (610, 150)], "guide")
    for x, first, second, kind in ((460, "reads id > 9: finds 11", "cursor = 11", "bar2"), (668, "reads id > 11:", "finds nothing", "bar2")):
        drawing.dot(x, 172, kind)
        drawing.text(x, 196, first, "middle")
        drawing.text(x, 213, second, "middle")
    drawing.text(622, 57, "10 is now visible,", "t-red bold")
    drawing.text(622, 75, "but never read", "t-red bold")
    drawing.path([(130, 172), (740, 172)], "guide")
    drawing.arrow([(130, 232), (740, 232)])
    drawing.text(16, 236, "time", "small")
    return drawing


DRAWINGS = {"lease": lease, "half_speed": half_speed, "shutdown": shutdown, "cursor": cursor}


def main():
    made = {FOLDER / f"{name}.svg": draw().svg() for name, draw in DRAWINGS.items()}
    if "--check" not in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        for path, svg in made.items():
            path.write_text(svg)
        return
    wrong = [str(path) for path, svg in made.items() if not path.exists() or path.read_text() != svg]
    wrong += [str(path) for path in sorted(FOLDER.iterdir()) if path not in made]
    if wrong:
        sys.exit(f"docs/drawings.py does not draw {', '.join(wrong)}: run it")


main()
