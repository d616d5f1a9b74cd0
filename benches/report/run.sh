#!/usr/bin/env bash
# Measures everything that docs/BENCHMARKS.md shows, several times over, and prints the tables: benches/report/run.sh [RUNS],
# 5 unless told, of two minutes each. What criterion has measured before is deleted.
#
# One after another: on a machine that others share, what one library lost to them is found in another run.
set -euo pipefail
cd "$(dirname "$0")/../.."

rm -rf "$(python3 -c 'import sys; sys.path.append("benches/report"); import results; print(results.folder())')"
for run in $(seq "${1:-5}"); do
  for bench in generate codec; do
    echo "run $run: $bench" >&2
    RUSTFLAGS="${RUSTFLAGS:-} --cfg imid_levels" cargo bench --bench "$bench" -- --save-baseline "run-$run" \
      --warm-up-time 0.2 --measurement-time 0.5 --sample-size 20 >/dev/null
  done
done
benches/report/table.py
