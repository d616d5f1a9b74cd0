# PostgreSQL: a primary and two standbys, one of which is synchronous, for crates/imid-lease/clusters.sh. The processes at node 3 connect through
# HAProxy and PgBouncer, if both are there.

programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
export PATH=${IMID_POSTGRES_BIN:-$programs}:$PATH PGCONNECT_TIMEOUT=1

needs() { first_missing postgres initdb pg_basebackup psql ip setpriv; }

has_proxies() { first_missing pgbouncer haproxy >/dev/null; }

user=$(id -un)
[ "$user" != root ] || user=postgres
# Runs a command at a node as the user of the servers, who is not root.
as_owner() {
  local n=$1 own=()
  shift
  [ "$(id -u)" != 0 ] || own=(setpriv --reuid "$user" --regid "$(id -gn "$user")" --clear-groups)
  exec nsenter --net="/proc/${holder[$n]}/ns/net" "${own[@]}" "$@"
}

# Processes of an attack reach an old primary that no proxy would take.
is_direct=
# All three, first the one of this node, so the others find a standby before the primary.
direct() { echo "postgres://imid@$(for i in 0 1 2; do printf '%s,' "$(address $((($1 + i - 1) % 3 + 1)))"; done | sed 's/,$//')/postgres"; }
url() { if [ "$1" = 3 ] && [ -z "$is_direct" ] && has_proxies; then echo "postgres://imid@127.0.0.1:6000/postgres"; else direct "$1"; fi; }

member() { as_owner "$1" postgres -D "$folder/m$1/data" -c listen_addresses='*' -c unix_socket_directories= -c max_connections=150; }
sql() { psql -h "$(address "$1")" -U imid -d postgres -Atqc "$2"; }
is_up() { sql "$1" 'SELECT 1'; }

# Says that commits at a node wait for one of the two others.
wait_for_standby() {
  local n names=()
  for n in 1 2 3; do [ "$n" = "$1" ] || names+=("s$n"); done
  echo "synchronous_standby_names = '${IMID_NO_STANDBYS-FIRST 1 (${names[0]}, ${names[1]})}'" >>"$folder/m$1/data/postgresql.auto.conf"
}

# Makes node N a standby of another: clone N FROM.
clone() {
  rm -rf "$folder/m$1/data"
  (as_owner "$1" pg_basebackup -D "$folder/m$1/data" -R -X stream -c fast --no-sync \
    -d "host=$(address "$2") user=imid application_name=s$1") >>"$folder/log$1" 2>&1
  wait_for_standby "$1"
  start_member "$1"
  until_true is_up "$1"
}

# Sets `primary` to the node that takes writes, `standby` to its synchronous standby, `third` to the last one.
find_roles() {
  until_true has_standby
  standby=$(sql "$primary" "SELECT substr(application_name, 2) FROM pg_stat_replication WHERE sync_state = 'sync'")
  third=$((6 - primary - standby))
}
# When the second standby comes, it can become the synchronous one.
has_standby() {
  local states
  states=$(sql "$primary" "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming' ORDER BY 1" | tr '\n' ' ')
  [ "$states" = 'potential sync ' ]
}

# The synchronous standby becomes the primary, and the third node its standby.
promote() {
  sql "$standby" 'SELECT pg_promote()' >/dev/null
  kill_member "$third"
  clone "$third" "$standby"
}

# The old primary becomes a standby.
rejoin() {
  clone "$primary" "$standby"
  primary=$standby
  sleep 1
}

primary_killed() {
  find_roles; mark primary killed and started; kill_member "$primary"; sleep 1
  start_member "$primary"; until_true is_up "$primary"; sleep 3
}
standby_paused() {
  find_roles; mark synchronous standby paused for three time-outs
  signal_tree STOP "${pids_of_member[$standby]}"; sleep 6; signal_tree CONT "${pids_of_member[$standby]}"; sleep 1
}
fenced() {
  find_roles; mark primary killed, standby promoted; kill_member "$primary"; promote; sleep 3
  mark nothing; rejoin
}
# Split brain: the old primary lives, with the processes at its node. No standby confirms its commits.
not_fenced() {
  find_roles; mark primary cut off with its clients, standby promoted; link "$primary" down
  promote
  sleep 2
  probe=$(on "$primary" timeout -s KILL 2 psql -h "$(address "$primary")" -U imid -d postgres -Atqc \
    "INSERT INTO imid_register VALUES ('probe', 'x') RETURNING 'acknowledged'" 2>/dev/null) || true
  echo "$store: the old primary, not fenced: ${probe:-no write acknowledged}"
  [ -z "$probe" ]
  mark old primary back and not fenced; link "$primary" up; sleep 5
  mark old primary fenced; kill_member "$primary"; sleep 3
  mark nothing; rejoin
}

start_proxies() {
  local n
  for n in 1 2 3; do
    printf '%s\n' '[databases]' "postgres = host=$(address "$n") port=5432" '[pgbouncer]' "listen_addr = $(address "$n")" \
      'listen_port = 6432' 'auth_type = trust' "auth_file = $folder/users" 'pool_mode = transaction' 'unix_socket_dir =' \
      'ignore_startup_parameters = extra_float_digits' >"$folder/pgbouncer$n"
    echo '"imid" ""' >"$folder/users"
    chmod 644 "$folder/pgbouncer$n" "$folder/users"
    (as_owner "$n" pgbouncer "$folder/pgbouncer$n" >>"$folder/log-pgbouncer" 2>&1 </dev/null) &
  done
  # An old primary that is not fenced has no standby. Without this condition a check of the new primary that took too long, as on a
  # busy machine, sent its clients to the old one.
  cat >"$folder/is-primary" <<'SCRIPT'
#!/bin/sh
[ "$(PGCONNECT_TIMEOUT=1 psql -h "$3" -U imid -d postgres -Atqc "SELECT NOT pg_is_in_recovery() AND
  (current_setting('synchronous_standby_names') = '' OR EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync'))")" = t ]
SCRIPT
  chmod 755 "$folder/is-primary"
  haproxy_config 6432 >"$folder/haproxy"
  (on 3 haproxy -f "$folder/haproxy" >>"$folder/log-haproxy" 2>&1 </dev/null) &
}

# Without a synchronous standby, what the lost primary has acknowledged is lost.
asynchronous() {
  local n promise ended
  find_roles
  IMID_NO_STANDBYS=
  for n in 1 2 3; do wait_for_standby "$n"; sql "$n" 'SELECT pg_reload_conf()' >/dev/null; done
  sleep 1
  promise=$(on "$primary" "$soak" promise "$(direct "$primary")")
  echo "$store: without synchronous_standby_names: $promise"
  [[ $promise == weak* ]]
  start_workers "$folder/asynchronous" lease
  until_true have_minted
  sleep 2
  signal_tree STOP "${pids_of_member[$standby]}"
  sleep 3
  kill_member "$primary"
  signal_tree CONT "${pids_of_member[$standby]}"
  promote
  sleep 6
  stop_workers
  check_ids
  ended=$(ended_leases)
  echo "$store: asynchronous standby promoted: $count IDs, $duplicates duplicates, $ended holders noticed that the register went back"
}

clear_register() { find_roles; sql "$primary" 'DROP TABLE IF EXISTS imid_register' 2>/dev/null; }

# Split brain, and somebody makes the old primary read-only and lets the commits that wait for a standby go, again and again.
waits_ended() {
  local end
  link "$primary" down
  promote
  end=$((SECONDS + 8))
  while [ $SECONDS -lt $end ]; do
    on "$primary" psql -h "$(address "$primary")" -U imid -d postgres -Atq \
      -c 'ALTER SYSTEM SET default_transaction_read_only = on' -c "ALTER SYSTEM SET synchronous_standby_names = ''" \
      -c 'SELECT pg_reload_conf()' -c 'SELECT pg_sleep(0.2)' \
      -c 'ALTER SYSTEM RESET default_transaction_read_only' -c "ALTER SYSTEM SET synchronous_standby_names = 'nobody'" \
      -c 'SELECT pg_reload_conf()' >/dev/null 2>>"$folder/log-sql" || true
    sleep 0.5
  done
  kill_member "$primary"
  link "$primary" up
  sleep 2
  rejoin
}

run() {
  local n
  make_networks
  for n in 1 2 3; do
    mkdir "$folder/m$n"
    [ "$(id -u)" != 0 ] || chown "$user" "$folder/m$n"
  done
  (as_owner 1 initdb --pgdata "$folder/m1/data" --username imid --auth trust --encoding UTF8 --locale C --no-sync) >>"$folder/log1"
  printf 'host all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n' >>"$folder/m1/data/pg_hba.conf"
  primary=1
  start_member 1
  until_true is_up 1
  clone 2 1
  clone 3 1
  wait_for_standby 1
  sql 1 'SELECT pg_reload_conf()' >/dev/null
  find_roles
  if has_proxies; then start_proxies; else echo "not checked: clusters: postgres: PgBouncer and HAProxy"; fi
  control
  echo "$store: with synchronous_standby_names: $(on 1 "$soak" promise "$(direct 1)")"
  mint_during primary_killed standby_paused fenced not_fenced
  is_direct=1
  attack "commits that wait for a standby are let go in a split brain" waits_ended
  is_direct=
  clear_register
  asynchronous
}
