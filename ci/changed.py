#!/usr/bin/env python3
"""Which checks must run: changed.py CHECK... prints those that read a file that has changed since the last whole run.

`.ci/run` writes .ci/whole_run.txt after a run of all checks, and a person commits it. It names the commit that was checked, the compiler,
and the checks that could do only a part of their work. ci/reads.txt says which files a check reads. A check is skipped only if
  - that commit is an ancestor of this one, and the compiler is the same,
  - the check did all of its work then, and
  - no file that it reads differs from that commit, in later commits or in the working tree.
Otherwise it runs, and all checks do if a file changed that ci/reads.txt does not name. The reasons go to standard error.
With IMID_CI_ALL=1 all checks run.

    changed.py write LOG CHECK...   writes .ci/whole_run.txt after a run of all CHECKs; LOG is what they printed
    changed.py test                 tests this script, and that each file has a check that reads it
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

READS, WHOLE = "ci/reads.txt", ".ci/whole_run.txt"


def git(*arguments, folder="."):
    """Returns the names that git prints, or None if it fails."""
    run = subprocess.run(["git", "-c", "core.quotePath=off", *arguments, "-z"], cwd=folder, capture_output=True, text=True)
    return None if run.returncode else [name for name in run.stdout.split("\0") if name]


def is_ancestor(commit, folder):
    return not subprocess.run(["git", "merge-base", "--is-ancestor", commit, "HEAD"], cwd=folder, capture_output=True).returncode


def compiler():
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()


def pattern(text):
    """Returns a pattern of ci/reads.txt as a regular expression."""
    if text.endswith("/"):
        return re.escape(text) + ".*"
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(character, re.escape(character)) for character in text)


def reads(text):
    """Returns each check of ci/reads.txt with a regular expression of the files that it reads."""
    sets, checks = {}, {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, words = line.split(" = ")
        patterns = []
        for word in words.split():
            patterns += sets[word] if word.startswith("@") else [pattern(word)]
        if name.startswith("@"):
            sets[name] = patterns
        else:
            checks.setdefault(name, []).extend(patterns)
    return {name: re.compile("|".join([*sets["@all"], f"ci/{name}\\.sh", *patterns])) for name, patterns in checks.items()}


def decide(names, folder=".", rustc=None):
    """Returns the checks to run, and the reason of each of the others; or all of them, and the reason of that."""
    if os.environ.get("IMID_CI_ALL") == "1":
        return names, "IMID_CI_ALL=1"
    try:
        lines = (pathlib.Path(folder) / WHOLE).read_text().splitlines()
        commit = re.fullmatch("commit ([0-9a-f]{40})", lines[0])[1]
        checked = re.fullmatch("with (.+)", lines[1])[1]
        partly = re.fullmatch("partly: ?(.*)", lines[2])[1].split()
    except (OSError, IndexError, TypeError):
        return names, f"{WHOLE} names no whole run"
    if not is_ancestor(commit, folder):
        return names, f"the whole run of {commit[:12]} is not in the history of this commit"
    if checked != (rustc or compiler()):
        return names, f"the last whole run was with {checked}"
    committed, new = git("diff", "--name-only", "--no-renames", commit, folder=folder), git("ls-files", "--others", "--exclude-standard", folder=folder)
    if committed is None or new is None:
        return names, f"git cannot compare with {commit[:12]}"
    changed = sorted({*committed, *new} - {WHOLE})
    of_check = reads((pathlib.Path(folder) / READS).read_text())
    for file in changed:
        if not any(files.fullmatch(file) for files in of_check.values()):
            return names, f"{READS} does not name {file}"
    run, skipped = [], {}
    for name in names:
        if name not in of_check or name in partly or any(map(of_check[name].fullmatch, changed)):
            run.append(name)
        else:
            skipped[name] = f"no file that it reads has changed since the whole run of {commit[:12]} (IMID_CI_ALL=1 runs it)"
    return run, skipped


def write(log, names):
    """A check that printed `not checked: NAME` has done a part of its work."""
    text = pathlib.Path(log).read_text(errors="replace")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    sections = re.split(r"^=== (\w+)$", text, flags=re.M)
    of_check = dict(zip(sections[1::2], sections[2::2]))
    partly = [name for name in names if re.search("^not checked: ", of_check.get(name, "not checked: "), re.M)]
    pathlib.Path(WHOLE).write_text(f"commit {commit}\nwith {compiler()}\npartly: {' '.join(partly)}".rstrip() + "\n")


class Decisions(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)
        self.folder = pathlib.Path(self.home.name)
        self.git("init", "--quiet")
        self.save(READS, "@all = shared\n@both = a/ b/*.x\none = @both\ntwo = c\n")
        for file in ("shared", "a/1", "b/1.x", "c"):
            self.save(file, "1")
        self.commit()
        self.whole(self.head())

    def git(self, *arguments):
        options = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *options, *arguments], cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def head(self):
        return self.git("rev-parse", "HEAD")

    def save(self, file, text):
        path = self.folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")

    def whole(self, commit, partly=""):
        self.save(WHOLE, f"commit {commit}\nwith rustc 1\npartly: {partly}\n")

    def run_(self, rustc="rustc 1"):
        return decide(["one", "two"], self.folder, rustc)[0]

    def test_nothing_runs_if_nothing_has_changed(self):
        self.commit()
        self.assertEqual(self.run_(), [])

    def test_a_check_runs_if_a_file_that_it_reads_has_changed(self):
        for file, expected in (("a/1", ["one"]), ("b/1.x", ["one"]), ("c", ["two"]), ("shared", ["one", "two"])):
            self.save(file, "2")
            self.assertEqual(self.run_(), expected, f"{file} in the working tree")
            self.commit()
            self.assertEqual(self.run_(), expected, f"{file} in a commit")
            self.whole(self.head())

    def test_a_check_runs_if_a_file_is_new_gone_or_moved(self):
        (self.folder / "a/deep").mkdir()
        self.save("a/deep/new", "1")
        self.assertEqual(self.run_(), ["one"])
        (self.folder / "a/deep/new").unlink()
        (self.folder / "c").rename(self.folder / "a/c")
        self.assertEqual(self.run_(), ["one", "two"])

    def test_all_checks_run_if_a_file_has_no_check(self):
        self.save("b/1.y", "1")
        self.assertEqual(self.run_(), ["one", "two"])

    def test_all_checks_run_without_a_whole_run_of_this_history_and_compiler(self):
        self.assertEqual(self.run_("rustc 2"), ["one", "two"])
        for commit in ("0" * 40, "main", self.head()[:12]):
            self.whole(commit)
            self.assertEqual(self.run_(), ["one", "two"], commit)
        first = self.head()
        self.save("c", "2")
        self.commit()
        later = self.head()
        self.git("reset", "--quiet", "--hard", first)
        self.whole(later)
        self.assertEqual(self.run_(), ["one", "two"], "of another branch")
        (self.folder / WHOLE).unlink()
        self.assertEqual(self.run_(), ["one", "two"])

    def test_a_check_that_did_a_part_of_its_work_runs(self):
        self.whole(self.head(), "two")
        self.assertEqual(self.run_(), ["two"])

    def test_all_checks_run_by_request(self):
        os.environ["IMID_CI_ALL"] = "1"
        try:
            self.assertEqual(self.run_(), ["one", "two"])
        finally:
            del os.environ["IMID_CI_ALL"]


class List(unittest.TestCase):
    def test_each_file_has_a_check_and_each_check_a_script(self):
        text = pathlib.Path(READS).read_text()
        of_check, files = reads(text), git("ls-files", "--cached", "--others", "--exclude-standard")
        files = [file for file in files if os.path.exists(file)]
        unread = [file for file in files if not any(names.fullmatch(file) for names in of_check.values())]
        self.assertEqual(unread, [], f"files that no check of {READS} reads")
        words = {word for line in text.splitlines() if not line.startswith("#") for word in line.partition(" = ")[2].split()}
        unused = [word for word in words if word[0] != "@" and not any(map(re.compile(pattern(word)).fullmatch, files))]
        self.assertEqual([word for word in unused if word != WHOLE], [], "patterns without a file")
        lanes = re.search(r"^lanes=\((.*?)^\)", pathlib.Path(".ci/run").read_text(), re.M | re.S)[1]
        checks = {name for lane in re.findall('"(.*)"', lanes) for name in lane.split()}
        self.assertEqual(checks, set(of_check) - {"gate", "nothing"}, f".ci/run and {READS} name the same checks")
        for check in checks:
            self.assertIn(f"ci/{check}.sh", files)


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).resolve().parents[1])
    os.environ.pop("GIT_DIR", None)
    match sys.argv[1:]:
        case ["test"]:
            os.environ.pop("IMID_CI_ALL", None)
            unittest.main(argv=["changed.py"])
        case ["write", log, *names]:
            write(log, names)
        case names:
            run, skipped = decide(names)
            if isinstance(skipped, str):
                print(f"all checks run: {skipped}", file=sys.stderr)
            else:
                for name, reason in skipped.items():
                    print(f"not checked: {name}: {reason}", file=sys.stderr)
            print(*run)
