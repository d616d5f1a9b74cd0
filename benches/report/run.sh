#!/usr/bin/env bash
# Runs all benches of docs/BENCHMARKS.md several times and prints the tables: benches/report/run.sh [RUNS], default 5, two
# minutes each. It deletes the earlier results of criterion.
#
# The tables have the least time of several runs, because other load on the machine can slow down a part of a run.
set -euo pipefail
cd "$(dirname "$0")/../.."

rm -rf "$(python3 -c 'import sys; sys.path.append("benches/report"); import results; print(results.folder())')"
for run in $(seq "${1:-5}"); do
  for bench in generate codec; do
    echo "run $run: $bench" >&2
    RUSTFLAGS="${RUSTFLAGS:-} --cfg imid_levels" cargo bench --manifest-path benches/Cargo.toml --locked --bench "$bench" -- --save-baseline "run-$run" \
      --warm-up-time 0.2 --measurement-time 0.5 --sample-size 20 >/dev/null
  done
done
benches/report/table.py
