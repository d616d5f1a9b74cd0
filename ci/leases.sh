#!/usr/bin/env bash
# Leases on real servers: each register obeys the laws of a register, worker IDs and Leaf's segments come from real stores, and a
# soak of each store finds no duplicates, although it finds them in the leases of other
# systems: ci/leases.sh [SECONDS of each soak], default 15, or 30 with IMID_CI_ALL=1. It starts the servers itself, and prints what ran at
# the end.
set -euo pipefail
IMID_CI_ALL=${IMID_CI_ALL:-0}
cd "$(dirname "$0")/.."
seconds=${1:-$((IMID_CI_ALL == 1 ? 30 : 15))}
mapfile -t stores < <(bash ci/services.sh list)

# Everything is compiled before the servers start, so that they do not run during the compilation. A soak sleeps most of the time, so
# it needs no release build.
cargo=(cargo test --workspace --all-features)
export IMID_SOAK_PROFILE=dev
servers=(--test worker_ids_stores --test redis_queue --test leaf_stores --test register_fork --test fork
  --test worker_ids_connections)
# ci/tests.sh has the default features, without which these are not compiled.
features=(--test async_calls --test auto_traits --test providers --test segment
  --test line --test worker_ids --test worker_ids_fork)
"${cargo[@]}" --test registers "${servers[@]}" "${features[@]}" --test events --test foreign_code --test metrics --lib --example soak --no-run
cargo build --workspace --all-features --example soak
cargo build --release --package imid-cli --features postgres,tls-ring
bash ci/services.sh install "${stores[@]}" || true

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log
"${cargo[@]}" "${features[@]}" --example soak
# Metrics and events.
"${cargo[@]}" --test events --test foreign_code --test metrics
"${cargo[@]}" --lib register
bash ci/services.sh run "${stores[@]}" -- "${cargo[@]}" --test registers 2>&1 | tee "$log"
bash ci/services.sh run "${stores[@]}" -- "${cargo[@]}" "${servers[@]}"
tested=$(sed -n 's/^test \([a-z]*\)::.* ok$/\1/p' "$log" | sort | uniq -c | awk '{ printf " %s (%d laws)", $2, $1 }')
mapfile -t skipped < <(sed -n 's/^skipped: registers::\([a-z]*\):.*/\1/p' "$log")

soaks=()
for store in control file "${stores[@]}"; do
  [[ " ${skipped[*]:-} " == *" ${store/control/redis} "* ]] || soaks+=("$store")
done
# A soak waits most of the time, so three of them run at once.
printf '%s\n' "${soaks[@]}" | xargs -P 3 -I STORE bash -c \
  'bash crates/imid-lease/soak.sh STORE "$1" >"$0/STORE" 2>&1 || touch "$0/STORE.failed"' "$folder" "$seconds"
failed=()
for store in "${soaks[@]}"; do
  cat "$folder/$store"
  [ ! -e "$folder/$store.failed" ] || failed+=("$store")
done
[ ${#failed[@]} = 0 ] || { echo "leases: the soak of ${failed[*]} failed" >&2; exit 1; }

echo "registers tested on real servers:$tested"
[ ${#skipped[@]} = 0 ] || echo "not checked: leases: no server for ${skipped[*]}"
