#!/usr/bin/env bash
# Mutants that no test notices: ci/mutants.sh [FILE | FOLDER | all]. It takes a file or a folder of those below, such as
# src/generator/stripe.rs; without an argument it takes the line whose turn it is on this day (IMID_CI_SEED sets the day). cargo-mutants
# changes one expression or one function at a time, and a change with which all tests of its list below pass must be in
# ci/mutants.txt, with the reason. A run of the tests that takes three times as long as without a change has noticed it. A line takes from
# minutes to hours, so .ci/run leaves this out.
set -euo pipefail
cd "$(dirname "$0")/.."
lease=crates/imid-lease/src protocol=crates/imid-lease-protocol/src snowflake=crates/imid-snowflake/src
# Its list in Redis needs a server.
queue="$snowflake/redis_queue/error.rs $snowflake/redis_queue/mod.rs $snowflake/redis_queue/work.rs"
shards=(
  src/generator src/clock "src/fork src/fork.rs" "src/after.rs src/stamp.rs src/wait.rs"
  $snowflake/generator "$snowflake/layout $snowflake/error.rs $snowflake/id.rs $snowflake/text.rs" "$queue"
  $protocol/engine "$protocol/record $protocol/record.rs" "$protocol/admin $protocol/admin.rs"
  "$lease/lease $lease/lease.rs" "$lease/leased $lease/leased.rs" $lease/clock.rs "$lease/handle.rs $lease/wait.rs $lease/minter.rs"
  "$lease/admin $lease/admin.rs" "$lease/error.rs $lease/options.rs $lease/status.rs"
)
wanted=${1:-}
if [ -z "$wanted" ]; then
  day=${IMID_CI_SEED:-$(date -u +%Y%m%d)}
  wanted=${shards[day % ${#shards[@]}]}
  echo "not checked: mutants: what has another day than $wanted ('mutants.sh all' has it)"
fi
[ "$wanted" != all ] || wanted=${shards[*]}
paths=()
for path in $wanted; do
  # Loom has the models.
  if [ -d "$path" ]; then mapfile -t -O ${#paths[@]} paths < <(find "$path" -name '*.rs' ! -name models.rs | sort)
  elif [ -f "$path" ]; then paths+=("$path")
  else echo "mutants.sh: expected a file or folder, found '$path'" >&2; exit 2; fi
done

cargo mutants --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-mutants
# One target folder, so that only the package is compiled again.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/mutants CARGO_INCREMENTAL=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Runs the mutants of the paths that begin so, with these tests: few, since each of them is linked for each mutant.
run() {
  local package=$1 source=$2 options=() status=0 path
  shift 2
  for path in "${paths[@]}"; do [[ $path != "$source"* ]] || options+=(--file "$path"); done
  [ ${#options[@]} -gt 0 ] || return 0
  # The schedules of the model are long, and rules.sh has them.
  PROPTEST_RNG_SEED=1 IMID_LEASE_SCHEDULES=20 nice cargo mutants --package "$package" "${options[@]}" "${@/#/--cargo-arg=}" \
    --timeout-multiplier 3 --minimum-test-timeout 30 --output "$folder/${source//\//-}" --no-times --colors never || status=$?
  # 2 and 3: some mutants were missed, or did not end.
  [[ $status =~ ^[023]$ ]] || exit "$status"
}
run imid src/generator --lib --test=generator --test=scripted_clock --test=faults --test=forks
run imid src/stamp.rs --lib --test=generator --test=scripted_clock
run imid src/clock --lib --test=tick_clock --test=errors --test=fault_broken_clock --test=fault_dead_ticker --test=generator
run imid src/fork --lib --test=forks --test=tick_clock
run imid src/after.rs --lib --test=after
run imid src/wait.rs --lib
run imid-snowflake $snowflake --features=redis-queue --lib --test=generator --test=bounds --test=snowflake --test=known_answers \
  --test=errors --test=fork
run imid-lease-protocol $protocol --lib --test=simulation
run imid-lease $lease --lib

python3 - "$folder" ci/mutants.txt "${paths[@]}" <<'PYTHON'
import json, pathlib, re, sys

def words(name):
    """Returns the name of a mutant without its line, which other changes move."""
    return re.sub(r"^(\S+?):\d+:\d+: ", r"\1: ", name)

folder, listed, files = sys.argv[1], sys.argv[2], sys.argv[3:]
explained, reason = {}, None
for line in map(str.strip, open(listed)):
    if line.startswith("["):
        reason = line[1:-1]
    elif line and reason:
        explained[line] = reason
found, counts = set(), {}
runs = pathlib.Path(folder).glob("*/mutants.out/outcomes.json")
for outcome in (outcome for run in runs for outcome in json.loads(run.read_text())["outcomes"]):
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
