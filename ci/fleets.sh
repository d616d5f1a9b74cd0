#!/usr/bin/env bash
# A fleet on a real store: processes with a connection each, on lanes for little more than as many, through a crash of all,
# outages of 5, 20 and 60 s and a restart of the store. After each, all must hold a lane again within twice the horizon, and
# after the first start within 30 s.
#   ci/fleets.sh [PROCESSES [BITS [STORE]]]     1,000 processes on 1,024 lanes of PostgreSQL, if not said otherwise
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-1000} bits=${2:-10} store=${3:-postgres}
if [ -z "${IMID_SERVICES:-}" ]; then
  cargo build --quiet --release -p imid-lease --example figures --features "segment,$store"
  ulimit -n 8192
  IMID_POSTGRES_CONNECTIONS=$((count + 20)) exec ci/services.sh run "$store" -- ci/fleets.sh "$count" "$bits" "$store"
fi
figures=${CARGO_TARGET_DIR:-target}/release/examples/figures
url=IMID_${store^^}_URL log=$IMID_SERVICES/fleet.log pid=

start() {
  : >"$log"
  "$figures" "$1" "${!url}" "$count" "$bits" 900 >"$log" 2>&1 &
  pid=$!
}

# Waits until all hold, and prints how long it took and what was lost.
wait_for_all() {
  local what=$1 most=$2 begun=$SECONDS
  until [[ $(tail -n 1 "$log") == *": $count hold, $count mint,"* ]]; do
    sleep 0.5
    [ $((SECONDS - begun)) -lt $((most + 60)) ] || break
  done
  echo "$what: $((SECONDS - begun)) s: $(tail -n 1 "$log")"
  [ $((SECONDS - begun)) -le "$most" ] || failed=1
}

failed=0
start fleet-shared
wait_for_all "leases of one process on an empty register" 10
grep -E 'VmHWM|Threads|^voluntary' "/proc/$pid/status"
kill -9 $pid
wait $pid 2>/dev/null || true
sleep 1
start fleet
wait_for_all "a process each, after their crash" 30
kill -9 $pid
wait $pid 2>/dev/null || true
start fleet
wait_for_all "after a crash of all" 30
for seconds in 5 20 60; do
  ci/services.sh server "$store" stop
  sleep "$seconds"
  ci/services.sh server "$store" start
  sleep 1
  wait_for_all "after $seconds s without the store" 20
done
ci/services.sh server "$store" kill
ci/services.sh server "$store" start
wait_for_all "after a restart of the store" 20
kill -9 $pid
exit $failed
