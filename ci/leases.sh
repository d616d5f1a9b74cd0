#!/usr/bin/env bash
# Each register of imid-lease obeys the laws of a register on a real server: it starts the servers and runs the tests against
# them. Then it says which stores were tested.
set -euo pipefail
cd "$(dirname "$0")/.."
stores=(postgres mysql redis etcd zookeeper)

tests=(cargo test --package imid-lease --features "$(IFS=,; echo "${stores[*]}")" --test registers)
# The servers wait for nothing while they run.
"${tests[@]}" --no-run
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bash ci/services.sh run "${stores[@]}" -- "${tests[@]}" 2>&1 | tee "$log"

echo "stores tested on real servers: $(sed -n 's/^test \([a-z]*\)::.* ok$/\1/p' "$log" | sort | uniq -c |
  awk '{ printf "%s%s (%d laws)", NR > 1 ? ", " : "", $2, $1 }')"
# The skipped stores are in the output already.
if grep -q '^skipped: registers::' "$log"; then
  echo "not checked: leases: $(sed -n 's/^skipped: registers::\([a-z]*\):.*/\1/p' "$log" | sort | tr '\n' ' ')"
fi
