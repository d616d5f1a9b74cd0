"""Runs the scripts on results that the tests write: python3 -m unittest discover benches/report."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

import plot
import results

SCRIPTS = Path(__file__).resolve().parent
# The tests set these variables themselves.
ELSEWHERE = {name: value for name, value in os.environ.items() if name not in ("CARGO_TARGET_DIR", "CRITERION_HOME")}


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def measured(self, name, nanoseconds, throughput=None, run="new"):
        """Writes the parts of a result that the scripts read, and returns its folder."""
        topic, case, library = name.split("/")
        new = self.folder / "criterion" / f"{topic}_{case}" / library / run
        new.mkdir(parents=True)
        about = {"group_id": f"{topic}/{case}", "function_id": library, "throughput": throughput}
        (new / "benchmark.json").write_text(json.dumps(about))
        (new / "estimates.json").write_text(json.dumps({"median": {"point_estimate": nanoseconds}}))
        return new

    def run_script(self, script, *topics, **variables):
        environment = ELSEWHERE | {"CARGO_TARGET_DIR": str(self.folder)} | variables
        command = [sys.executable, SCRIPTS / script, *topics]
        return subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, check=False)

    def refusal(self, script, *topics, **variables):
        """Runs a script that must fail, and returns its error."""
        run = self.run_script(script, *topics, **variables)
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertNotIn("Traceback", run.stderr)
        return run.stderr.strip()


class Reading(Report):
    def test_the_folder_of_results_is_the_one_that_criterion_uses(self):
        for variables, folder in [
            ({"CARGO_TARGET_DIR": "out"}, results.REPOSITORY / "out" / "criterion"),
            ({"CARGO_TARGET_DIR": "/nowhere"}, "/nowhere/criterion"),
            ({"CARGO_TARGET_DIR": "/nowhere", "CRITERION_HOME": "/nowhere/else"}, "/nowhere/else"),
        ]:
            for script in ("table.py", "plot.py"):
                said = self.refusal(script, **variables)
                self.assertEqual(said, f"no results in {folder}: run benches/report/run.sh first")

    def test_a_result_of_another_shape_is_named(self):
        for spoilt, said in [
            ("", "JSONDecodeError"),
            ("[]", "TypeError"),
            ('{"group_id": "encode/stack", "function_id": "imid"}', "KeyError('throughput')"),
            ('{"group_id": "encode", "function_id": "imid", "throughput": null}', "ValueError"),
            (
                '{"group_id": "encode/stack", "function_id": "imid", "throughput": {"Bytes": 19}}',
                "its throughput is in Bytes, not in Elements",
            ),
        ]:
            with self.subTest(spoilt):
                new = self.folder / "criterion" / "encode_stack" / "imid" / "new"
                if not new.exists():
                    self.measured("encode/stack/imid", 1)
                (new / "benchmark.json").write_text(spoilt)
                refusal = self.refusal("table.py")
                self.assertIn(f"{new} is not a result of the form `topic/case/library`: ", refusal)
                self.assertIn(said, refusal)

    def test_a_result_that_lacks_a_part_is_named(self):
        new = self.measured("encode/stack/imid", 1)
        (new / "estimates.json").write_text('{"mean": {}}')
        self.assertIn(f"{new} is not a result", self.refusal("table.py"))
        (new / "benchmark.json").unlink()
        self.assertIn(f"{new} is not a result", self.refusal("table.py"))

    def test_the_least_time_of_several_runs_counts(self):
        for run, nanoseconds in [("run-1", 3), ("run-2", 2), ("run-3", 4), ("new", 4), ("base", 1)]:
            self.measured("encode/stack/imid", nanoseconds, run=run)
        self.assertIn("| imid | 2.00 |", self.run_script("table.py").stdout)

    def test_an_old_result_gets_a_warning(self):
        new = self.measured("encode/stack/old", 2)
        self.measured("encode/stack/imid", 1)
        self.assertEqual(self.run_script("table.py").stderr, "")
        then = (new / "estimates.json").stat().st_mtime - 7200
        os.utime(new / "estimates.json", (then, then))
        said = "warning: encode/stack/old is 2.0 h older than the rest of its case\n"
        self.assertEqual(self.run_script("table.py").stderr, said)


class Table(Report):
    def test_medians_are_per_id_and_the_fastest_comes_first(self):
        self.measured("batch-64/one-thread/imid-vec", 192, {"Elements": 64})
        self.measured("batch-64/one-thread/imid", 128, {"Elements": 64})
        self.measured("floor/one-thread/rdtsc", 8.875)
        floor = "\n### floor/one-thread\n\n| | ns per ID | M IDs/s |\n| --- | ---: | ---: |\n| rdtsc | 8.88 | 112.7 |\n"
        batch = (
            "\n### batch-64/one-thread\n\n"
            "| | ns per ID | M IDs/s | × imid |\n| --- | ---: | ---: | ---: |\n"
            "| imid | 2.00 | 500.0 | 1.00 |\n| imid-vec | 3.00 | 333.3 | 1.50 |\n"
        )
        self.assertEqual(self.run_script("table.py").stdout, batch + floor)
        self.assertEqual(self.run_script("table.py", "floor").stdout, floor)

    def test_a_topic_without_results_is_an_error_that_names_those_with(self):
        self.measured("encode/stack/imid", 1)
        self.measured("parse/valid/imid", 1)
        said = f"no results of decode in {self.folder}/criterion; there are results of encode, parse"
        self.assertEqual(self.refusal("table.py", "encode", "decode"), said)


class Plot(Report):
    def measured_all(self, figure):
        for number, (topic, case) in enumerate(figure.panels):
            self.measured(f"{topic}/{case}/imid", 20 + number)
            self.measured(f"{topic}/{case}/imid-avx2-one-by-one", 30)
            self.measured(f"{topic}/{case}/rival", 1234.5)

    def test_a_topic_in_no_figure_is_an_error_that_names_the_others(self):
        said = self.refusal("plot.py", "parse", "floor")
        self.assertEqual(said.split(";")[0], "no figure shows floor")
        self.assertIn("parse", said.split(";")[1])

    def test_a_missing_panel_is_named_with_the_command_that_measures_it(self):
        self.measured_all(plot.FIGURES[0])
        said = self.refusal("plot.py")
        self.assertIn(f"codec.svg: no results in {self.folder}/criterion of imid in encode/stack, encode/string,", said)
        self.assertIn('run `RUSTFLAGS="--cfg imid_levels" cargo bench --manifest-path benches/Cargo.toml --bench codec`', said)

    def test_without_matplotlib_the_script_that_installs_it_is_named(self):
        (self.folder / "matplotlib.py").write_text("raise ImportError('matplotlib is not here')")
        self.measured_all(plot.FIGURES[0])
        said = self.refusal("plot.py", "generate", PYTHONPATH=str(self.folder))
        self.assertEqual(
            said, "matplotlib is not here: run benches/report/plot.sh, which installs matplotlib and then runs plot.py"
        )

    def test_forced_levels_are_not_shown(self):
        rows = {"imid": 1, "imid-portable": 2, "imid-avx2-one-by-one": 3, "imid-const": 4, "uuid-simd": 5}
        self.assertEqual(plot.shown(rows), {"imid": 1, "imid-const": 4, "uuid-simd": 5})

    def test_labels_have_three_digits(self):
        labels = [plot.label(nanoseconds) for nanoseconds in (0.351, 9.994, 9.996, 99.94, 99.96, 1234.5)]
        self.assertEqual(labels, ["0.35 ns", "9.99 ns", "10.0 ns", "99.9 ns", "100 ns", "1234 ns"])

    def test_every_figure_is_there_small_and_embedded(self):
        embedded = re.findall(r"!\[(.+?)\]\((.+?)\)", (results.REPOSITORY / "docs/BENCHMARKS.md").read_text(), re.DOTALL)
        files = [plot.PLOTS / f"{figure.name}.svg" for figure in plot.FIGURES]
        self.assertEqual([(results.REPOSITORY / "docs" / link).resolve() for _, link in embedded], files)
        self.assertEqual(sorted(plot.PLOTS.iterdir()), sorted(files))
        for file in files:
            self.assertLess(file.stat().st_size, 40_000)

    def test_a_drawing_has_its_numbers_as_text_and_is_the_same_each_time(self):
        if not importlib.util.find_spec("matplotlib"):
            reason = "matplotlib is not installed (benches/report/plot.sh installs it)"
            # The line has the form that .ci/run counts.
            print(f"\nskipped: {self._testMethodName}: {reason}", file=sys.stderr)
            self.skipTest(reason)
        figure = plot.FIGURES[1]
        self.measured_all(figure)
        drawn = []
        for seed in ("1", "2"):
            file = self.folder / f"{seed}.svg"
            draw = (
                "import plot, results, sys; figure = plot.FIGURES[1];"
                "plot.draw(figure, results.read(figure.topics()), sys.argv[1])"
            )
            environment = ELSEWHERE | {"CARGO_TARGET_DIR": str(self.folder), "PYTHONHASHSEED": seed}
            subprocess.run([sys.executable, "-c", draw, file], env=environment, cwd=SCRIPTS, check=True)
            drawn.append(file.read_bytes())
        self.assertEqual(*drawn)
        texts = [node.text for node in ElementTree.fromstring(drawn[0]).iter("{http://www.w3.org/2000/svg}text")]
        for text in [figure.title, *figure.notes, *figure.panels.values(), "20.0 ns", "25.0 ns", "1234 ns", "rival"]:
            self.assertIn(text, texts)
        self.assertNotIn("imid-avx2-one-by-one", texts)


if __name__ == "__main__":
    unittest.main()
