#!/usr/bin/env bash
# Owners of a sequence are killed and paused on a real PostgreSQL, and the gap-free recipes run on PostgreSQL and MariaDB. With
# arguments it takes longer: ci/sequences.sh [KILLS] [SECONDS]; 1,000 kills take about three minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
export IMID_KILLS=${1:-30}

# Compiled before the servers start, so that they do not run during the compilation. The packages and features are those of
# ci/tests.sh, so that the crates are compiled once.
tests=(cargo test --all-features --test kill_owner)
"${tests[@]}" --no-run
bash ci/services.sh run postgres mysql -- bash -c '"${@:2}" && bash crates/imid-lease/gap_free.sh "$1"' - "${2:-3}" \
  "${tests[@]}" -- --nocapture
