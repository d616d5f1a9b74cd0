# MariaDB: a primary and two replicas with semi-synchronous replication, for crates/imid-lease/clusters.sh. A URL of MySQL has one host, so the
# processes connect through HAProxy, which takes the server that is not read-only.

needs() { first_missing mariadbd mariadb-install-db mariadb haproxy ip setpriv; }

user=$(id -un)
[ "$user" != root ] || user=mysql
# Runs a command at a node as the user of the servers, who is not root.
as_owner() {
  local n=$1 own=()
  shift
  [ "$(id -u)" != 0 ] || own=(setpriv --reuid "$user" --regid "$(id -gn "$user")" --clear-groups)
  exec nsenter --net="/proc/${holder[$n]}/ns/net" "${own[@]}" "$@"
}

url() { echo "mysql://imid:imid-secret@127.0.0.1:6000/imid"; }
sql() { mariadb --no-defaults --connect-timeout=1 -h "$(address "$1")" -u imid -pimid-secret -N -B -e "$2" 2>>"$folder/log-sql"; }
is_up() { sql "$1" 'SELECT 1'; }

# On the primary, a commit waits for a replica as long as it takes. A replica would also wait for one of its own. Each starts
# read-only, so that an old primary does not come back as one.
member() {
  as_owner "$1" mariadbd --no-defaults --datadir="$folder/m$1/data" --tmpdir="$folder/m$1" --socket="$folder/m$1/socket" \
    --pid-file="$folder/m$1/pid" --port=3306 --bind-address=0.0.0.0 --skip-name-resolve --max-connections=200 \
    --innodb-log-file-size=16M --innodb-buffer-pool-size=32M --server-id="$1" --log-bin=binlog --log-slave-updates \
    --sync-binlog=1 --innodb-flush-log-at-trx-commit=1 --gtid-strict-mode=ON --read-only=ON --slave-net-timeout=2 \
    --rpl-semi-sync-slave-enabled=ON --rpl-semi-sync-master-timeout=1000000000 \
    --rpl-semi-sync-master-wait-no-slave=ON --rpl-semi-sync-master-wait-point=AFTER_SYNC
}

# Makes an empty server, and starts it.
new_member() {
  rm -rf "$folder/m$1"
  mkdir "$folder/m$1"
  [ "$(id -u)" != 0 ] || chown "$user" "$folder/m$1"
  (as_owner "$1" mariadb-install-db --no-defaults --datadir="$folder/m$1/data" --tmpdir="$folder/m$1" --skip-test-db \
    --auth-root-authentication-method=normal --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0) >>"$folder/log$1" 2>&1
  # Without a log of changes, so each server has this user of its own.
  printf '%s\n' 'FLUSH PRIVILEGES;' "CREATE USER imid@'%' IDENTIFIED BY 'imid-secret';" "GRANT ALL ON *.* TO imid@'%';" \
    "DROP USER IF EXISTS ''@localhost, ''@'$(hostname 2>/dev/null || echo localhost)';" >"$folder/init.sql"
  (as_owner "$1" mariadbd --no-defaults --datadir="$folder/m$1/data" --tmpdir="$folder/m$1" --bootstrap <"$folder/init.sql") >>"$folder/log$1" 2>&1
  start_member "$1"
  until_true is_up "$1"
}
# A user that may write to a read-only server would not notice that it is one.
follow() {
  sql "$1" "STOP SLAVE; CHANGE MASTER TO MASTER_HOST = '$(address "$2")', MASTER_USER = 'imid', MASTER_PASSWORD = 'imid-secret',
    MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1; START SLAVE"
}
become_primary() { sql "$1" 'STOP SLAVE; RESET SLAVE ALL; SET GLOBAL rpl_semi_sync_master_enabled = ON; SET GLOBAL read_only = OFF'; }

# Waits until a server has applied what it has received, and prints how many changes these are.
position() {
  local received
  received=$(mariadb --no-defaults -h "$(address "$1")" -u imid -pimid-secret -E -e 'SHOW SLAVE STATUS' | sed -n 's/^ *Gtid_IO_Pos: //p')
  [ "$(sql "$1" "SELECT MASTER_GTID_WAIT('$received', 10)")" = 0 ]
  echo "${received##*-}"
}
has_replicas() { [ "$(sql "$primary" "SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'" | cut -f 2)" = 2 ]; }

# A replica has confirmed each commit, but not always the same one: the one with more changes becomes the primary.
promote() {
  local others=() n new old=$primary of_new of_third
  for n in 1 2 3; do [ "$n" = "$primary" ] || others+=("$n"); done
  new=${others[0]} third=${others[1]}
  sql "$new" 'STOP SLAVE IO_THREAD'
  sql "$third" 'STOP SLAVE IO_THREAD'
  of_new=$(position "$new") of_third=$(position "$third")
  if [ "$of_third" -gt "$of_new" ]; then third=$new new=${others[1]}; fi
  follow "$third" "$new"
  become_primary "$new"
  primary=$new replaced=$old
}
# The old primary can have changes that nobody confirmed, so it starts anew.
rejoin() {
  new_member "$replaced"
  follow "$replaced" "$primary"
  until_true has_replicas
  sleep 1
}

primary_killed() {
  until_true has_replicas; mark primary killed and started; kill_member "$primary"; sleep 1
  start_member "$primary"; until_true is_up "$primary"
  become_primary "$primary"
  until_true has_replicas; sleep 2
}
replicas_paused() {
  until_true has_replicas; mark both replicas paused for three time-outs
  for n in 1 2 3; do [ "$n" = "$primary" ] || kill -STOP "${pids_of_member[$n]}"; done
  sleep 6
  for n in 1 2 3; do [ "$n" = "$primary" ] || kill -CONT "${pids_of_member[$n]}"; done
  sleep 2
}
fenced() {
  until_true has_replicas; mark primary killed, replica promoted; kill_member "$primary"; promote; sleep 3
  mark nothing; rejoin
}
# Split brain: the old primary lives, with the processes at its node. No replica confirms its commits.
not_fenced() {
  local probe
  until_true has_replicas; mark primary cut off with its clients, replica promoted; link "$primary" down
  promote
  sleep 2
  probe=$(on "$replaced" timeout -s KILL 2 mariadb --no-defaults -h "$(address "$replaced")" -u imid -pimid-secret -N -B \
    -e "INSERT INTO imid.imid_register VALUES ('probe', 'x'); SELECT 'acknowledged'" 2>/dev/null) || true
  echo "$store: the old primary, not fenced: ${probe:-no write acknowledged}"
  [ -z "$probe" ]
  mark old primary back and not fenced; link "$replaced" up; sleep 5
  mark old primary fenced; kill_member "$replaced"; sleep 3
  mark nothing; rejoin
}

clear_register() { until_true has_replicas; sql "$primary" 'DROP TABLE IF EXISTS imid.imid_register'; }

# Split brain, and somebody on the side of the old primary kills the commits that wait for a replica.
commits_killed() {
  local old=$primary end
  link "$old" down
  promote
  end=$((SECONDS + 8))
  while [ $SECONDS -lt $end ]; do
    on "$old" mariadb --no-defaults -h "$(address "$old")" -u imid -pimid-secret -N -B -e "SELECT CONCAT('KILL QUERY ', id, ';')
      FROM information_schema.processlist WHERE state LIKE 'Waiting for semi-sync%'" 2>>"$folder/log-sql" |
      on "$old" mariadb --no-defaults --force -h "$(address "$old")" -u imid -pimid-secret 2>>"$folder/log-sql" || true
    sleep 0.1
  done
  kill_member "$old"
  link "$old" up
  sleep 2
  rejoin
}

start_proxies() {
  local n
  cat >"$folder/is-primary" <<'SCRIPT'
#!/bin/sh
[ "$(mariadb --no-defaults --connect-timeout=1 -h "$3" -u imid -pimid-secret -N -B -e 'SELECT @@read_only')" = 0 ]
SCRIPT
  chmod 755 "$folder/is-primary"
  haproxy_config 3306 >"$folder/haproxy"
  for n in 1 2 3; do
    # The bind address of another node is not there.
    (on "$n" haproxy -f "$folder/haproxy" >>"$folder/log-haproxy" 2>&1 </dev/null) &
  done
}

run() {
  local n
  make_networks
  for n in 1 2 3; do new_member "$n"; done
  primary=1
  sql 1 'SET GLOBAL rpl_semi_sync_master_enabled = ON'
  follow 2 1
  follow 3 1
  until_true has_replicas
  become_primary 1
  sql 1 'CREATE DATABASE imid'
  start_proxies
  sleep 2
  control
  mint_during primary_killed replicas_paused fenced not_fenced
  attack "commits that wait for a replica are killed in a split brain" commits_killed
}
