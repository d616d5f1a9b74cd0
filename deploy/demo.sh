#!/usr/bin/env bash
# Shows what a lease is for, without containers: deploy/demo.sh
#
# Three hosts share two lanes and mint for the same conversations, while a host is paused and killed and the database is stopped.
# The hosts are processes, and the database is a PostgreSQL that ci/services.sh installs and starts on a free port. The last line
# counts the duplicates. The exit status is 1 if there are any.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != inside ]; then
  [ $# = 0 ] || { echo "demo.sh: expected no arguments, found $*" >&2; exit 2; }
  echo "compiling the hosts and imid"
  cargo build --quiet --workspace --all-features --example soak
  cargo build --quiet --release --package imid-cli --features postgres,tls-ring
  bash ci/services.sh run postgres -- bash deploy/demo.sh inside
  exit
fi
[ -n "${IMID_POSTGRES_URL:-}" ] || { echo "demo.sh: PostgreSQL did not start" >&2; exit 1; }
target=${CARGO_TARGET_DIR:-target}
soak=$target/debug/examples/soak
ids=$(mktemp -d)
export IMID_SOAK_LANE_BITS=1
declare -A pids
clean_up() {
  kill -KILL "${pids[@]}" 2>/dev/null || true
  rm -rf "$ids"
}
trap clean_up EXIT

say() { printf '%3d s  %s\n' $((SECONDS - begin)) "$*"; }
start() {
  [ -e "$ids/$1.commands" ] || mkfifo "$ids/$1.commands"
  # Open to read and to write, so that it never ends.
  "$soak" worker "$IMID_POSTGRES_URL" "$ids" "$1" lease <>"$ids/$1.commands" 2>/dev/null &
  pids[$1]=$!
}
# Says who minted in the last seconds.
watch_for() {
  local end=$((SECONDS + $1)) host from minting=()
  sleep $(($1 > 1 ? $1 - 1 : 0))
  from=$(date +%s%3N)
  while [ $SECONDS -lt $end ]; do sleep 0.1; done
  for host in host-1 host-2 host-3; do
    ! awk -v from="$from" '$1 == "minted" && $2 > from { found = 1 } END { exit !found }' "$ids/$host"-*.diary || minting+=("$host")
  done
  say "       minting: ${minting[*]:-nobody}"
}

begin=$SECONDS
for host in host-1 host-2 host-3; do start "$host"; done
say "three hosts, two lanes"
watch_for 4
# Somebody who has a lane.
for _ in {1..60}; do holder=$(grep -l minted "$ids"/host-?-*.diary) && break; sleep 1; done
[[ $holder =~ (host-[123]) ]]
paused=${BASH_REMATCH[1]}
say "$paused is paused: after the horizon of 2 s its lane belongs to another host"
kill -STOP "${pids[$paused]}"
watch_for 6
say "$paused goes on, and believes for a moment that it still has the lane"
kill -CONT "${pids[$paused]}"
watch_for 4
killed=host-$((${paused#host-} % 3 + 1))
say "$killed is killed, and starts again"
kill -KILL "${pids[$killed]}"
wait "${pids[$killed]}" 2>/dev/null || true
start "$killed"
watch_for 5
say "the database is stopped: each host mints up to what it was granted, and then refuses"
bash "$IMID_SERVICES_SH" server postgres stop
watch_for 6
say "the database is started"
bash "$IMID_SERVICES_SH" server postgres start
watch_for 6
for host in "${!pids[@]}"; do echo quit >"$ids/$host.commands"; done
wait "${pids[@]}" || true

"$soak" texts "$ids" | "$target/release/imid" check --unsorted || true
found=$("$soak" check "$ids") || true
[[ $found =~ ^([0-9]+)\ IDs,\ ([0-9]+)\ duplicates ]]
echo "${BASH_REMATCH[1]} IDs of ${#pids[@]} hosts, duplicates ${BASH_REMATCH[2]}"
[ "${BASH_REMATCH[1]}" -gt 0 ] && [ "${BASH_REMATCH[2]}" = 0 ]
