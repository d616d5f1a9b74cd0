#!/usr/bin/env bash
# Mutants of imid-lease and its protocol that no unit test or schedule notices: ci/mutants.sh [FILE | all]. FILE is one of those below, such as engine/seek.rs; without
# an argument it is the one whose turn it is on this day (IMID_CI_SEED sets the day). cargo-mutants changes one expression or one
# function at a time, and a change with which all unit tests pass must be in ci/mutants.txt, with the reason. A run of the tests that takes
# three times as long as without a change has noticed it. A file takes from minutes to hours, so .ci/run leaves this out.
set -euo pipefail
cd "$(dirname "$0")/.."
lease=(admin clock error handle identity lease leased minter options status wait)
protocol=(
  backoff engine/clock_judgement engine/listing engine/mod engine/raise engine/renew engine/reply engine/seek protocol/admin record space
)
files=("${lease[@]}" "${protocol[@]}")
wanted=${1:-}
wanted=${wanted%.rs}
if [ -z "$wanted" ]; then
  day=${IMID_CI_SEED:-$(date -u +%Y%m%d)}
  wanted=${files[day % ${#files[@]}]}
  echo "not checked: mutants: the files that have another day than $wanted.rs ('mutants.sh all' has them)"
fi
[ "$wanted" = all ] || files=("$wanted")
of_lease=() of_protocol=()
for file in "${files[@]}"; do
  if [[ " ${protocol[*]} " = *" $file "* ]]; then
    path=crates/imid-lease-protocol/src/${file#protocol/}.rs of_protocol+=(--file "$path")
  else
    path=crates/imid-lease/src/$file.rs of_lease+=(--file "$path")
  fi
  [ -f "$path" ] || { echo "mutants.sh: expected a file of imid-lease or imid-lease-protocol, found '$file.rs'" >&2; exit 2; }
done

cargo mutants --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-mutants
# One target folder, so that only the library is compiled again.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/mutants CARGO_INCREMENTAL=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# mutate PACKAGE OPTION...: 2 and 3 say that some mutants were missed, or did not end.
mutate() {
  local package=$1 status=0
  shift
  mkdir "$folder/$package"
  PROPTEST_RNG_SEED=1 IMID_LEASE_SCHEDULES=20 nice cargo mutants --package "$package" "$@" --cargo-arg=--lib \
    --timeout-multiplier 3 --minimum-test-timeout 60 --output "$folder/$package" --no-times --colors never || status=$?
  [[ $status =~ ^[023]$ ]] || exit "$status"
}
[ ${#of_lease[@]} = 0 ] || mutate imid-lease "${of_lease[@]}"
# The long schedules of the model are for rules.sh.
[ ${#of_protocol[@]} = 0 ] || mutate imid-lease-protocol "${of_protocol[@]}" --cargo-arg=--test --cargo-arg=simulation

python3 - "$folder" ci/mutants.txt "${files[@]}" <<'PYTHON'
import json, pathlib, re, sys

def words(name):
    """Returns the name of a mutant without its line, which other changes move."""
    name = name.replace("crates/imid-lease-protocol/src/admin.rs", "protocol/admin.rs")
    return re.sub(r"^(?:crates/imid-lease(?:-protocol)?/src/)?(\S+?):\d+:\d+: ", r"\1: ", name)

folder, listed, files = pathlib.Path(sys.argv[1]), sys.argv[2], [f"{file}.rs" for file in sys.argv[3:]]
explained, reason = {}, None
for line in map(str.strip, open(listed)):
    if line.startswith("["):
        reason = line[1:-1]
    elif line and reason:
        explained[line] = reason
found, counts = set(), {}
outcomes = [json.loads(path.read_text())["outcomes"] for path in folder.glob("*/mutants.out/outcomes.json")]
for outcome in sum(outcomes, []):
    if outcome["scenario"] == "Baseline":
        continue
    counts[outcome["summary"]] = counts.get(outcome["summary"], 0) + 1
    if outcome["summary"] == "MissedMutant":
        found.add(words(outcome["scenario"]["Mutant"]["name"]))
print(", ".join(f"{count} {summary}" for summary, count in sorted(counts.items())))
for name in sorted(found & explained.keys()):
    print(f"explained: {name}: {explained[name]}")
caught = sorted(name for name in explained if name.split(":")[0] in files and name not in found)
for name in caught:
    print(f"noticed now, or no longer there; {listed} does not need it: {name}")
missed = sorted(found - explained.keys())
for name in missed:
    print(f"mutants.sh: no test notices this: {name}", file=sys.stderr)
sys.exit(1 if missed else 0)
PYTHON
