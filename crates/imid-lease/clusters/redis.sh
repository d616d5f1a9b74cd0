# Redis with two replicas and three sentinels, for crates/imid-lease/clusters.sh. Redis is weak: the script shows what a failover loses, and counts
# duplicates without a bar. A URL of Redis has one host, so the processes connect through HAProxy, which takes the master.

needs() { first_missing redis-server redis-sentinel redis-cli haproxy ip; }

url() { echo "redis://127.0.0.1:6000"; }
cli() { timeout 2 redis-cli -h "$(address "$1")" "${@:2}"; }
is_up() { [ "$(cli "$1" PING)" = PONG ]; }

member() {
  local here more=()
  here=$(address "$1")
  mkdir -p "$folder/m$1"
  [ "$1" = "$primary" ] || more=(--replicaof "$(address "$primary")" 6379)
  exec nsenter --net="/proc/${holder[$1]}/ns/net" redis-server --port 6379 --bind "$here" --dir "$folder/m$1" \
    --protected-mode no --appendonly yes --appendfsync always --save '' --repl-diskless-sync-delay 0 "${more[@]}"
}
start_sentinel() {
  printf '%s\n' "port 26379" "bind $(address "$1")" 'protected-mode no' "sentinel monitor imid $(address "$primary") 6379 2" \
    'sentinel down-after-milliseconds imid 1000' 'sentinel failover-timeout imid 5000' >"$folder/sentinel$1"
  (on "$1" redis-sentinel "$folder/sentinel$1" </dev/null >>"$folder/log-sentinel$1" 2>&1) &
}
is_master() { [ "$(cli "$1" ROLE | head -n 1)" = master ]; }
has_replicas() { [ "$(cli "$primary" INFO replication | tr -d '\r' | sed -n 's/^connected_slaves://p')" = 2 ]; }

# Waits until a sentinel has made another node the master.
find_new_master() {
  local n
  for n in 1 2 3; do
    if [ "$n" != "$primary" ] && is_master "$n"; then new=$n; return; fi
  done
  return 1
}

master_killed() {
  until_true has_replicas; mark master killed, sentinels promote a replica; kill_member "$primary"
  until_true find_new_master
  sleep 3
  mark nothing; old=$primary primary=$new; start_member "$old"; until_true has_replicas; sleep 1
}
# Split brain: the old master answers the processes at its node until the link is back.
master_cut_off() {
  until_true has_replicas; mark master cut off with its clients, sentinels promote a replica; link "$primary" down
  until_true find_new_master
  sleep 3
  mark old master back; link "$primary" up; primary=$new
  until_true has_replicas; sleep 3
}

run() {
  local n
  make_networks
  primary=1
  for n in 1 2 3; do start_member "$n"; until_true is_up "$n"; done
  until_true has_replicas
  for n in 1 2 3; do start_sentinel "$n"; done
  cat >"$folder/is-primary" <<'SCRIPT'
#!/bin/sh
[ "$(timeout 1 redis-cli -h "$3" ROLE | head -n 1)" = master ]
SCRIPT
  chmod 755 "$folder/is-primary"
  haproxy_config 6379 >"$folder/haproxy"
  for n in 1 2 3; do (on "$n" haproxy -f "$folder/haproxy" >>"$folder/log-haproxy" 2>&1 </dev/null) & done
  sleep 2
  control
  echo "$store: $(on 1 "$soak" promise "$(url 1)")"
  is_weak=1
  mint_during master_killed master_cut_off
}
