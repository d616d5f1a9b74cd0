#!/usr/bin/env bash
# A fleet on a real store: processes with a connection each, on lanes for little more than as many, through a crash of all,
# outages of 5, 20 and 60 s and a restart of the store. All must hold a lane within twice the horizon of 10 s after each of them, and
# nobody may lose a lane.
#   crates/imid-lease/fleets.sh [PROCESSES [BITS [STORE [LOAD]]]]    1,000 processes on 1,024 lanes of PostgreSQL, if not said otherwise
# LOAD is the number of other processes that compute all the time, 0 by default. Of each phase it prints the processor time of the
# server, of the fleet and of the load, until all mint. STORE is postgres, pgbouncer (PostgreSQL behind it, in transaction mode, with
# 20 connections), etcd, or etcd-users (etcd with a user, which all log in as; each login takes 60 ms of etcd). PostgreSQL's passwords are SCRAM's. PgBouncer's server_login_retry is 1 s: by default it refuses all
# clients for 15 s after a login at the server has failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
count=${1:-1000} bits=${2:-10} store=${3:-postgres} load=${4:-0}
server=${store/pgbouncer/postgres}
server=${server/-users/}
if [ -z "${IMID_SERVICES:-}" ]; then
  cargo build --quiet --release -p imid-lease --example figures --features "$server"
  [ "$store" != pgbouncer ] || ci/services.sh install pgbouncer
  ulimit -n 8192
  IMID_POSTGRES_CONNECTIONS=$((count + 20)) exec ci/services.sh run "$server" -- crates/imid-lease/fleets.sh "$count" "$bits" "$store" "$load"
fi
figures=${CARGO_TARGET_DIR:-target}/release/examples/figures
url=IMID_${server^^}_URL log=$IMID_SERVICES/fleet.log pid= begun= bouncer= loops=()
url=${!url}

# A server that was made with MD5 takes SCRAM's passwords too.
if [ "$server" = postgres ]; then
  psql -XAtqc "SET password_encryption = 'scram-sha-256'; ALTER ROLE imid PASSWORD 'imid-secret'" "$url"
fi

# All processes have one user.
if [ "$store" = etcd-users ]; then
  address=${url#*://} address=${address#*@}
  for request in 'user/add {"name":"root","password":"imid-secret"}' 'user/grant {"user":"root","role":"root"}' 'enable {}'; do
    curl -sf -X POST "http://$address/v3/auth/${request%% *}" -d "${request#* }" >/dev/null
  done
  url=etcd://root:imid-secret@$address
fi

# Puts PgBouncer in front of PostgreSQL, on the next port that is free.
start_bouncer() {
  local address=${url#*@} port folder=$IMID_SERVICES/bouncer owner=()
  address=${address%/*}
  mkdir "$folder"
  psql -XAtqc "SELECT format('\"%s\" \"%s\"', rolname, rolpassword) FROM pg_authid WHERE rolname = 'imid'" "$url" >"$folder/users"
  for port in $(seq $((${address#*:} + 1)) $((${address#*:} + 100))); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  printf '%s\n' '[databases]' "postgres = host=127.0.0.1 port=${address#*:}" '[pgbouncer]' 'listen_addr = 127.0.0.1' \
    "listen_port = $port" 'auth_type = scram-sha-256' "auth_file = $folder/users" 'pool_mode = transaction' \
    'default_pool_size = 20' 'server_login_retry = 1' "max_client_conn = $((count + 20))" 'unix_socket_dir =' >"$folder/config"
  chmod -R a+rX "$folder"
  [ "$(id -u)" != 0 ] || owner=(setpriv --reuid postgres --regid "$(id -gn postgres)" --clear-groups)
  "${owner[@]}" pgbouncer "$folder/config" >"$folder/log" 2>&1 </dev/null &
  bouncer=$!
  url=${url/$address/127.0.0.1:$port}
  until psql -XAtqc 'SELECT 1' "$url" >/dev/null 2>&1; do sleep 0.1; done
}
trap 'kill -9 $pid $bouncer "${loops[@]}" 2>/dev/null || true' EXIT
[ "$store" != pgbouncer ] || start_bouncer
for _ in $(seq "$load"); do
  while :; do :; done &
  loops+=($!)
done

start() {
  : >"$log"
  begun=$EPOCHREALTIME
  "$figures" "$1" "$url" "$count" "$bits" 900 >"$log" 2>&1 &
  pid=$!
}

crash() {
  kill -9 "$pid"
  wait "$pid" 2>/dev/null || true
  pid=
}

# Prints the processor time of these processes and their children, in seconds. The kernel counts in hundredths of a second in `stat`,
# which is more than a child of PostgreSQL needs.
processor_time() {
  local pid
  for pid; do
    awk '{ sub(/.*\) /, ""); print ($12 + $13 + $14 + $15) * 1e7 }' "/proc/$pid/stat"
    pgrep -P "$pid" | sed 's|.*|/proc/&/schedstat|' | xargs -r cat 2>/dev/null || true
  done | awk '{ sum += $1 } END { printf "%.1f", sum / 1e9 }'
}

# Prints the processor time of the server, the fleet and the load.
times() {
  echo "$(processor_time "$(cat "$IMID_SERVICES/$server/pid")" $bouncer) $(processor_time "$pid")" \
    "$(processor_time "${loops[@]}") $( (grep -Eo '[0-9]+ of them in vain' "$log" || echo 0) | tail -n 1 | cut -d' ' -f1)"
}

# Waits until all hold and mint, and nothing has changed for longer than a horizon: who has no connection is missed by then.
# Prints when the last change was, from now on, and what was needed until then.
wait_for_all() {
  local what=$1 most=$2 from=$EPOCHREALTIME last took all=": $count hold, $count mint," before after=
  before=$(times)
  until last=$(tail -n 1 "$log") && [[ $last == *"$all"* ]] &&
    [ $((${EPOCHREALTIME%.*} - ${from%.*})) -gt 12 ] && [ $(($(date +%s) - $(stat -c %Y "$log"))) -gt 12 ]; do
    if [[ $last != *"$all"* ]]; then after=; else after=${after:-$(times)}; fi
    sleep 0.5
    [ $((${EPOCHREALTIME%.*} - ${from%.*})) -lt $((most + 80)) ] || break
  done
  took=$(awk "BEGIN { took = $begun + ${last%% *} - $from; printf \"%.1f\", took < 0 ? 0 : took }")
  echo "$what: $took s, load average $(cut -d' ' -f1 /proc/loadavg): ${last#*: }"
  echo "$before ${after:-$(times)}" | awk '{
    printf "  processor time in s: server %.1f, fleet %.1f, load %.1f; %d calls in vain\n", $5 - $1, $6 - $2, $7 - $3, $8 - $4 }'
  [[ $last == *"$all 0 lost;"* ]] && [ "${took%.*}" -lt "$most" ] || failed=1
}

failed=0
echo "$count leases, $((1 << bits)) lanes, $store, load of $load; load average before: $(cut -d' ' -f1-3 /proc/loadavg)"
start fleet
wait_for_all "a process each on an empty register" 20
crash
start fleet
wait_for_all "a process each after a crash of all" 20
for seconds in 5 20 60; do
  ci/services.sh server "$server" stop
  sleep "$seconds"
  ci/services.sh server "$server" start
  wait_for_all "after $seconds s without the store" 20
done
ci/services.sh server "$server" kill
ci/services.sh server "$server" start
wait_for_all "after a restart of the store" 20
crash
exit $failed
