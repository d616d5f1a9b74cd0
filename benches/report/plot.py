#!/usr/bin/env python3
"""Draws benches/plots/*.svg from criterion's results. Needs matplotlib: plot.sh installs it and runs this script."""

import argparse
import sys
from dataclasses import dataclass

import results

PLOTS = results.REPOSITORY / "benches" / "plots"
# NOTE: benches/codec.rs uses these names for results of a forced level.
LEVELS = {"portable", "avx2"}


@dataclass
class Figure:
    """One SVG: panels in two columns, row by row."""

    name: str
    title: str
    command: str
    panels: dict  # Titles by (topic, case).
    notes: list

    def topics(self):
        return {topic for topic, _ in self.panels}


FIGURES = [
    Figure(
        name="generate",
        title="imid: the generator beside its peers",
        command="cargo bench --manifest-path benches/Cargo.toml --bench generate",
        panels={
            ("generate", "one-thread"): "One thread",
            ("generate", "two-threads"): "Two threads",
            ("batch-64", "one-thread"): "Batches of 64",
            ("sustained", "one-thread"): "Sustained, with the limits in place",
        },
        notes=[
            "tick: with a clock that a thread publishes. vec: into a new vector. 16-bit, 22-bit: a wider sequence.",
            "Limits on the rate are lifted in all panels but the last.",
        ],
    ),
    Figure(
        name="codec",
        title="imid: the codec beside its peers",
        command='RUSTFLAGS="--cfg imid_levels" cargo bench --manifest-path benches/Cargo.toml --bench codec',
        panels={
            ("encode", "stack"): "Written to the stack",
            ("encode", "string"): "Written to a new String",
            ("parse", "valid"): "Read",
            ("parse", "wrong-at-the-end"): "Refused: the last character is wrong",
            ("encode-lines", "million"): "A million lines written",
            ("decode-lines", "million"): "A million lines read",
        },
        notes=[
            "Texts differ in length: imid 19 characters, uuid and uuid-simd 36, ulid 26, scru128 25, ferroid 13, "
            "the others 16.",
            "const: the portable reader. bytes: reads bytes instead of text. copy: moves the same bytes.",
            "Left out: imid with its instructions forced to portable or avx2.",
        ],
    ),
]

# The figure has its own background, so it looks the same on a light and on a dark page.
PAPER, INK, PALE_INK = "#f6f8fa", "#1f2328", "#59636e"
KINDS = {"imid": "#0969a8", "imid in other forms": "#7db8de", "others": "#b4bcc5"}
# Inches.
WIDTH, MARGIN, HEAD, PANEL_HEAD, BAR, NOTE = 9.4, 0.12, 0.58, 0.41, 0.215, 0.165


def kind(library):
    """Returns the key of KINDS for this library."""
    if library == "imid":
        return "imid"
    return "imid in other forms" if library.startswith("imid-") else "others"


def shown(rows):
    """Returns the rows without forced levels, because a normal program does not force a level."""
    return {library: nanoseconds for library, nanoseconds in rows.items() if not LEVELS & set(library.split("-"))}


def label(nanoseconds):
    """Returns a label with three significant digits and at most two decimals."""
    return f"{nanoseconds:.{2 if nanoseconds < 9.995 else 1 if nanoseconds < 99.95 else 0}f} ns"


def draw_panel(axis, title, rows, lines):
    """Draws a bar for each library, fastest first, in a panel with this number of lines."""
    colours = [KINDS[kind(library)] for library in rows]
    bars = axis.barh(list(rows), list(rows.values()), color=colours, clip_on=False)
    for text in axis.bar_label(bars, [label(nanoseconds) for nanoseconds in rows.values()], padding=3, fontsize=8):
        # Aligned with the names of the libraries.
        text.set_verticalalignment("center_baseline")
    axis.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axis.set_frame_on(False)
    axis.set_xticks([])
    axis.tick_params(left=False, labelsize=9, labelcolor=INK)
    for text in axis.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() == "imid" else "normal")
    # Room for the label of the longest bar.
    axis.set_xlim(0, 1.2 * max(rows.values()))
    axis.set_ylim(lines - 0.5, -0.5)


def draw(figure, cases, file):
    """Writes the SVG. The same results give the same bytes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Page
    from matplotlib.patches import Patch

    panels = [(title, shown(cases[name])) for name, title in figure.panels.items()]
    # Both panels of a row have the same number of lines, so all bars have the same height.
    lines = [max(len(rows) for _, rows in panels[first : first + 2]) for first in range(0, len(panels), 2)]
    foot = MARGIN + NOTE * len(figure.notes)
    height = HEAD + sum(PANEL_HEAD + BAR * count for count in lines) + foot
    style = {"font.sans-serif": "DejaVu Sans", "svg.fonttype": "none", "svg.hashsalt": figure.name, "text.color": INK}
    with rc_context(style):
        page = Page((WIDTH, height), facecolor=PAPER, layout="constrained")
        page.get_layout_engine().set(rect=(0, foot / height, 1, 1 - (HEAD + foot) / height), w_pad=MARGIN, h_pad=0.07)
        grid = page.add_gridspec(len(lines), 2, height_ratios=lines)
        for number, (title, rows) in enumerate(panels):
            row, column = divmod(number, 2)
            draw_panel(page.add_subplot(grid[row, column]), title, rows, lines[row])

        left, top = MARGIN / WIDTH, 1 - MARGIN / height
        page.text(left, top, figure.title, va="top", fontsize=12, fontweight="bold")
        measure = "Median time per ID in nanoseconds, of several runs the least; lower is better"
        page.text(left, top - 0.24 / height, measure, va="top", fontsize=9)
        page.text(left, MARGIN / height, "\n".join(figure.notes), va="bottom", fontsize=8, color=PALE_INK)
        patches = [Patch(color=colour, label=name) for name, colour in KINDS.items()]
        page.legend(handles=patches, loc="upper right", ncols=len(KINDS), frameon=False, fontsize=8)
        FigureCanvasSVG(page).print_svg(file, metadata={"Date": None, "Title": figure.title})


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("topic", nargs="*", help="draw only the figures of this topic, such as generate or parse")
    topics = set(arguments.parse_args().topic)

    known = set().union(*(figure.topics() for figure in FIGURES))
    if unknown := sorted(topics - known):
        sys.exit(f"no figure shows {', '.join(unknown)}; there are figures of {', '.join(sorted(known))}")
    figures = [figure for figure in FIGURES if not topics or topics & figure.topics()]
    cases = results.read()
    for figure in figures:
        if missing := ["/".join(name) for name in figure.panels if "imid" not in cases.get(name, {})]:
            sys.exit(
                f"{figure.name}.svg: no results in {results.folder()} of imid in {', '.join(missing)}: "
                f"run `{figure.command}`, or name the topics that were run"
            )

    PLOTS.mkdir(exist_ok=True)
    for figure in figures:
        file = PLOTS / f"{figure.name}.svg"
        try:
            draw(figure, cases, file)
        except ImportError as error:
            sys.exit(f"{error}: run benches/report/plot.sh, which installs matplotlib and then runs plot.py")
        print(f"wrote {file.relative_to(results.REPOSITORY)}, {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
