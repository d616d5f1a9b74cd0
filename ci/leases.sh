#!/usr/bin/env bash
# Leases on real servers: each register obeys the laws of a register, and a soak of each store finds no duplicates, although it
# finds them in the leases of other systems: ci/leases.sh [SECONDS of each soak], default 15. It starts the servers itself, and
# says in the end what ran.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-15}
stores=(postgres mysql redis etcd zookeeper)

# The servers wait for nothing while they run, so everything is compiled before. Release builds: the soak needs them, and so
# all crates are compiled once.
cargo=(--release --package imid-lease --features "$(IFS=,; echo "${stores[*]}")")
cargo build "${cargo[@]}" --example soak
cargo test "${cargo[@]}" --test registers --example soak --no-run
bash ci/services.sh install "${stores[@]}" || true

log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo test "${cargo[@]}" --example soak
bash ci/services.sh run "${stores[@]}" -- cargo test "${cargo[@]}" --test registers 2>&1 | tee "$log"
tested=$(sed -n 's/^test \([a-z]*\)::.* ok$/\1/p' "$log" | sort | uniq -c | awk '{ printf " %s (%d laws)", $2, $1 }')
mapfile -t skipped < <(sed -n 's/^skipped: registers::\([a-z]*\):.*/\1/p' "$log")

for store in file "${stores[@]}"; do
  [[ " ${skipped[*]:-} " == *" $store "* ]] || bash crates/imid-lease/soak.sh "$store" "$seconds"
done
[[ " ${skipped[*]:-} " == *" redis "* ]] || bash crates/imid-lease/soak.sh control "$seconds"

echo "registers tested on real servers:$tested"
[ ${#skipped[@]} = 0 ] || echo "not checked: leases: no server for ${skipped[*]}"
