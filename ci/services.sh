#!/usr/bin/env bash
# Starts throw-away servers for tests, each on a free loopback port, with its data in one temporary folder.
#
#   ci/services.sh run STORE... -- COMMAND [ARGUMENT...]
#     Installs what is missing, starts the servers, runs the command, and stops the servers when it ends. STORE is
#     postgres, mysql (MariaDB), redis, etcd or zookeeper. The exit status is that of the command. The command finds
#     in its environment IMID_POSTGRES_URL, IMID_MYSQL_URL, IMID_REDIS_URL, IMID_ETCD_URL and IMID_ZOOKEEPER_URL for
#     the servers that run, IMID_SERVICES, the temporary folder, and IMID_SERVICES_SH, this script.
#     A server that cannot be installed or started is reported as `not started: STORE: REASON`. The command runs
#     without it, and its tests say that they are skipped.
#   ci/services.sh server STORE stop|kill|start|pause|resume
#     For that command: stops a server in order, kills it with all its processes, starts it again with its data and port,
#     freezes it, or lets it continue.
#   ci/services.sh server STORE tls [FOLDER]
#     For that command: starts the server again with TLS, with the files ca.pem, server.pem and server.key of a folder, or
#     without TLS. Then PostgreSQL and MariaDB have it on their ports, and Redis, etcd and ZooKeeper on another one, which is in
#     the file $IMID_SERVICES/STORE/tls_port. Clients need a certificate: in PostgreSQL and MariaDB only the user
#     imid_tls, who needs TLS too.
#   ci/services.sh server postgres|mysql save|restore
#     For that command: copies the data of the server, or puts the copy back, as a restored backup does.
#   ci/services.sh server postgres standby
#     For that command: makes a hot standby, whose port is in $IMID_SERVICES/standby/port. `server standby detach` cuts it off from the
#     server, and `server standby promote` kills the server and gives its port to the standby.
#   ci/services.sh install STORE...
#     Installs only. It needs apt-get, and root or a sudo that asks no password. Here STORE can also be python, which is Python 3
#     with venv, chromium, binaryen, prometheus (for promtool), docker-compose, etcd-client, redis-sentinel,
#     pgbouncer, haproxy, faketime or curl.
#   ci/services.sh list
#     Prints the stores, one on each line. The other scripts take them from here.
#
# IMID_CLOCK_FILE is a file with an offset such as +3600, which PostgreSQL and MariaDB add to their clocks whenever they read them, by
# libfaketime (`ci/services.sh install faketime`).
# IMID_POSTGRES_BIN is the folder of PostgreSQL's programs, if they are not those of PATH or of Debian's packages.
set -euo pipefail

stores="postgres mysql redis etcd zookeeper"
export PATH=$PATH:/usr/sbin:/sbin
password=imid-secret

fail() { echo "services.sh: $*" >&2; exit 1; }

# Prints the path of a program of a store. Debian keeps PostgreSQL's programs out of PATH.
program() {
  local found
  if [ -x "${IMID_POSTGRES_BIN:-}/$1" ]; then echo "$IMID_POSTGRES_BIN/$1"; return; fi
  found=$(command -v "$1") || found=$(ls -d /usr/lib/postgresql/*/bin/"$1" 2>/dev/null | sort -V | tail -n 1)
  [ -n "$found" ] && echo "$found"
}

is_installed() {
  case $1 in
    postgres) program postgres && program initdb ;;
    mysql) program mariadbd && program mariadb-install-db ;;
    redis) program redis-server ;;
    etcd) program etcd ;;
    zookeeper) program java && [ -e /usr/share/java/zookeeper.jar ] ;;
    python) python3 -c 'import venv, ensurepip' 2>&1 ;;
    chromium) program chromium ;;
    binaryen) program wasm-opt ;;
    prometheus) program promtool ;;
    pgbouncer | haproxy | faketime | curl | docker-compose | redis-sentinel | etcd-client) program "${1/etcd-client/etcdctl}" ;;
  esac >/dev/null
}

package() {
  case $1 in
    postgres) echo postgresql ;;
    mysql) echo mariadb-server ;;
    redis) echo redis-server ;;
    etcd) echo etcd-server ;;
    zookeeper) echo zookeeper default-jre-headless ;;
    python) echo python3-venv ;;
    *) echo "$1" ;;
  esac
}

# Installs the packages of the stores that are not installed. Packages of servers would also start them; a policy-rc.d that
# denies this is there while they are installed. Only one script at a time installs, because apt-get does not wait for others.
install() {
  local store missing=() sudo=() policy=/usr/sbin/policy-rc.d own_policy= failed=0
  for store; do is_installed "$store" || missing+=($(package "$store")); done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || { echo "services.sh: no apt-get to install ${missing[*]}" >&2; return 1; }
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || { echo "services.sh: not root, and no sudo without a password, to install ${missing[*]}" >&2; return 1; }
    sudo=(sudo -n)
  fi
  if [ -z "${IMID_INSTALLS:-}" ]; then
    IMID_INSTALLS=1 flock /var/lib/dpkg bash "$0" install "$@"
    return
  fi
  if [ ! -e $policy ]; then
    own_policy=1
    printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $policy >/dev/null
    "${sudo[@]}" chmod 755 $policy
  fi
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600)
  # Without package lists, or with old ones, the first attempt fails.
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1 ||
    { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } >&2 || failed=1
  [ -z "$own_policy" ] || "${sudo[@]}" rm -f $policy
  return $failed
}

# Prints a port that nobody listens on, nor will for another folder of servers: a link to the folder reserves it. It is below the ports that
# Linux gives to clients.
free_port() {
  local port link ports=${TMPDIR:-/tmp}/imid-ports.$(id -u)
  mkdir -p "$ports"
  while port=$((20000 + RANDOM % 12000)) link=$ports/$port; do
    [ -e "$link" ] || rm -f "$link"
    ln -sn "$IMID_SERVICES" "$link" 2>/dev/null && ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && { echo $port; return; }
  done
}

# Runs a command as the user of a store, because PostgreSQL and MariaDB refuse root. `exec`, so that the PID stays.
as_user() {
  local user=$1
  shift
  if [ "$(id -u)" = 0 ]; then
    id "$user" >/dev/null 2>&1 || user=nobody
    exec setpriv --reuid "$user" --regid "$(id -gn "$user")" --clear-groups "$@"
  fi
  exec "$@"
}

user_of() { case $1 in postgres | standby) echo postgres ;; mysql) echo mysql ;; *) id -un ;; esac; }

# Makes the data folder of a new server. It is in the working directory.
prepare() {
  case $1 in
    postgres)
      echo $password >password
      (as_user postgres "$(program initdb)" --pgdata "$PWD/data" --username imid --auth md5 \
        --pwfile "$PWD/password" --encoding UTF8 --locale C --no-sync)
      ;;
    mysql)
      # `skip-name-resolve` makes 127.0.0.1 a host of its own, so the user is made for every host.
      cat >init.sql <<SQL
CREATE DATABASE IF NOT EXISTS imid;
CREATE USER IF NOT EXISTS 'imid'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO 'imid'@'%' WITH GRANT OPTION;
DROP USER IF EXISTS ''@'localhost', ''@'$(hostname 2>/dev/null || echo localhost)';
SQL
      chmod 644 init.sql
      (as_user mysql "$(program mariadb-install-db)" --no-defaults --datadir="$PWD/data" --tmpdir="$PWD" --skip-test-db \
        --auth-root-authentication-method=normal --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0)
      ;;
    redis) mkdir -p data ;;
    etcd) mkdir -p data && chmod 700 data ;;
    zookeeper) mkdir -p data ;;
  esac >>log 2>&1
}

# Turns TLS on with the files of a folder, or off without one.
set_tls() {
  local store=$1 files=${2:-} folder=$IMID_SERVICES/$1
  stop "$store" stop
  rm -rf "$folder/tls"
  if [ -n "$files" ]; then
    mkdir "$folder/tls"
    cp "$files"/{ca,server}.pem "$files/server.key" "$folder/tls"
    cat "$folder/tls/server.pem" "$folder/tls/server.key" >"$folder/tls/both.pem"
    chmod 600 "$folder"/tls/*.key
    [ "$(id -u)" != 0 ] || chown -R "$(stat -c %U "$folder/data")" "$folder/tls"
    # The first line that fits counts.
    [ "$store" != postgres ] || grep -q imid_tls "$folder/data/pg_hba.conf" || sed -i '1i hostssl all imid_tls all md5 clientcert=verify-ca\nhost all imid_tls all reject' "$folder/data/pg_hba.conf"
    [ -e "$folder/tls_port" ] || free_port >"$folder/tls_port"
  fi
  start "$store"
}

# Becomes the server.
run_server() {
  local store=$1 port=$2 here=$PWD tls=() tls_port= clock=()
  [ -z "${IMID_CLOCK_FILE:-}" ] || clock=(env "LD_PRELOAD=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1)" "FAKETIME_TIMESTAMP_FILE=$IMID_CLOCK_FILE"
    FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_DISABLE_SHM=1)
  if [ -d tls ]; then
    tls_port=$(cat tls_port)
    case $store in
      postgres) tls=(-c ssl=on -c "ssl_cert_file=$here/tls/server.pem" -c "ssl_key_file=$here/tls/server.key" -c "ssl_ca_file=$here/tls/ca.pem") ;;
      mysql) tls=(--ssl-cert="$here/tls/server.pem" --ssl-key="$here/tls/server.key" --ssl-ca="$here/tls/ca.pem") ;;
      redis) tls=(--tls-port "$tls_port" --tls-cert-file "$here/tls/server.pem" --tls-key-file "$here/tls/server.key" --tls-ca-cert-file "$here/tls/ca.pem") ;;
      etcd) tls=(--cert-file "$here/tls/server.pem" --key-file "$here/tls/server.key" --trusted-ca-file "$here/tls/ca.pem" --client-cert-auth) ;;
    esac
  fi
  case $store in
    postgres | standby)
      as_user postgres "${clock[@]}" "$(program postgres)" -D "$here/data" -p "$port" -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories= -c max_connections="${IMID_POSTGRES_CONNECTIONS:-120}" -c wal_level=logical "${tls[@]}"
      ;;
    mysql)
      # A server deletes the temporary tables that it finds in its tmpdir when it starts, also those of other servers.
      as_user mysql "${clock[@]}" "$(program mariadbd)" --no-defaults --datadir="$here/data" --tmpdir="$here" --port="$port" \
        --bind-address=127.0.0.1 --socket=socket --pid-file="$here/data/pid" --init-file="$here/init.sql" \
        --innodb-log-file-size=16M --innodb-buffer-pool-size=32M --max-connections=200 --skip-name-resolve --performance-schema \
        --log-bin=binlog --sync-binlog=1 --log-bin-trust-function-creators=ON "${tls[@]}"
      ;;
    redis)
      # By default Redis syncs once a second, and while it does, it also holds back writes. A killed server then loses what it
      # has acknowledged.
      exec "$(program redis-server)" --port "$port" --bind 127.0.0.1 --dir "$here/data" --requirepass $password \
        --appendonly yes --appendfsync always --save '' "${tls[@]}"
      ;;
    etcd)
      ETCD_UNSUPPORTED_ARCH=$(uname -m | sed 's/aarch64/arm64/') exec "$(program etcd)" --data-dir "$here/data" \
        "${tls[@]}" --listen-client-urls "http://127.0.0.1:$port${tls_port:+,https://127.0.0.1:$tls_port}" --advertise-client-urls "http://127.0.0.1:$port" \
        --listen-peer-urls "http://127.0.0.1:$(cat peer_port)" --initial-advertise-peer-urls "http://127.0.0.1:$(cat peer_port)" \
        --initial-cluster "default=http://127.0.0.1:$(cat peer_port)"
      ;;
    zookeeper)
      cat >zoo.cfg <<CONFIG
dataDir=$here/data
clientPort=$port
clientPortAddress=127.0.0.1
tickTime=500
maxClientCnxns=0
admin.enableServer=false
CONFIG
      [ -z "$tls_port" ] || cat >>zoo.cfg <<CONFIG
secureClientPort=$tls_port
secureClientPortAddress=127.0.0.1
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
ssl.keyStore.location=$here/tls/both.pem
ssl.trustStore.location=$here/tls/ca.pem
CONFIG
      # Debian's jar does not name all of Netty.
      local classes=/usr/share/java/zookeeper.jar library
      for library in codec resolver transport-native-unix-common; do classes+=:/usr/share/java/netty-$library.jar; done
      # The default of the heap is a quarter of the memory. The first compiler alone starts faster.
      exec "$(program java)" -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$classes" \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$here/zoo.cfg"
      ;;
  esac
}

# Succeeds once the server answers a client.
answers() {
  local store=$1 port=$2 line
  case $store in
    postgres | standby) "$(program pg_isready)" -q -h 127.0.0.1 -p "$port" ;;
    # The server's first packet comes at once; the init file has run by then.
    mysql) "$(program mariadb)" --no-defaults -h 127.0.0.1 -P "$port" -u imid -p$password -e 'SELECT 1' imid ;;
    redis)
      exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'AUTH %s\r\nPING\r\n' $password >&3 &&
        read -r -t 1 line <&3 && read -r -t 1 line <&3 && [[ $line == +PONG* ]]
      ;;
    etcd)
      exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /health HTTP/1.0\r\n\r\n' >&3 && timeout 1 grep -q '"true"' <&3
      ;;
    zookeeper) exec 3<>"/dev/tcp/127.0.0.1/$port" && printf srvr >&3 && timeout 1 grep -q Mode <&3 ;;
  esac
}

# Makes a hot standby of the PostgreSQL.
clone() {
  local folder=$IMID_SERVICES/standby
  stop standby kill
  rm -rf "$folder"
  mkdir "$folder"
  [ "$(id -u)" != 0 ] || chown "$(user_of standby)" "$folder"
  (cd "$folder" && as_user "$(user_of standby)" "$(program pg_basebackup)" -D "$folder/data" -R -X stream -c fast --no-sync \
    -d "$(url postgres)") >>"$folder/log" 2>&1 && start standby
}

sql_of_standby() { "$(program psql)" -XAtqc "$1" "$(url standby)"; }

# Cuts the standby off, and waits until it receives nothing.
detach() {
  sql_of_standby "ALTER SYSTEM SET primary_conninfo = ''" && sql_of_standby 'SELECT pg_reload_conf()' >/dev/null || return
  local receivers
  while receivers=$(sql_of_standby 'SELECT count(*) FROM pg_stat_wal_receiver') || return; do
    [ "$receivers" != 0 ] || break
    sleep 0.05
  done
}

# The standby becomes the server of the port.
promote() {
  stop postgres kill
  [ "$(sql_of_standby 'SELECT pg_promote(true, 600)')" = t ] || return
  stop standby stop
  rm -rf "$IMID_SERVICES/postgres/data"
  mv "$IMID_SERVICES/standby/data" "$IMID_SERVICES/postgres/data"
  rm -rf "$IMID_SERVICES/standby"
  start postgres
}

# Prints the PID of a server that runs. The working directory of each server is in its folder, so a PID that was given to
# another process is not taken for the server.
pid_of() {
  local pid
  pid=$(cat "$IMID_SERVICES/$1/pid" 2>/dev/null) && [[ $(readlink "/proc/$pid/cwd") == "$IMID_SERVICES/$1"* ]] || return 1
  echo "$pid"
}

# Prints the children of a process. PostgreSQL has a process for each connection.
children() {
  local pid=$1 stat
  for stat in /proc/[0-9]*/stat; do
    { read -r line <"$stat"; } 2>/dev/null || continue
    set -- ${line##*) }
    [ "$2" != "$pid" ] || { stat=${stat#/proc/}; echo "${stat%/stat}"; }
  done
}

# Starts a server and waits until it answers.
start() {
  local store=$1 folder=$IMID_SERVICES/$1 port attempt
  cd "$folder"
  # In a container whose first process collects no children, a killed PostgreSQL stays a zombie, which a new one takes for a
  # server that runs.
  pid_of "$store" >/dev/null || rm -f data/postmaster.pid
  for attempt in $(seq 10); do
    [ -e port ] || free_port >port
    [ "$store" != etcd ] || [ -e peer_port ] || free_port >peer_port
    port=$(cat port)
    # A session of its own: a Ctrl-C at the terminal reaches this script first, which then stops the servers.
    (run_server "$store" "$port") </dev/null >>log 2>&1 &
    echo $! >pid
    for _ in $(seq 2000); do
      (answers "$store" "$port") >/dev/null 2>&1 && { touch started; return 0; }
      kill -0 "$(cat pid)" 2>/dev/null || break
      sleep 0.05
    done
    stop "$store" kill
    # A new server may have lost its port to another process. One that ran before keeps it, and is tried again, because the
    # killed processes of a PostgreSQL hold its shared memory for a moment.
    if [ -e started ]; then sleep 0.3; else rm -f port peer_port; fi
  done
  return 1
}

# Stops a server in order, with a time limit, or kills it.
stop() {
  local store=$1 how=$2 pid signal=TERM
  pid=$(pid_of "$store") || return 0
  # SIGTERM waits for the clients of PostgreSQL; SIGINT does not.
  [[ $store != postgres && $store != standby ]] || signal=INT
  if [ "$how" = stop ]; then
    signal_all "$store" CONT
    kill -$signal "$pid" 2>/dev/null || true
    for _ in $(seq 200); do
      is_running "$pid" || return 0
      sleep 0.05
    done
  fi
  signal_all "$store" KILL
  while is_running "$pid"; do sleep 0.02; done
}

# A killed process is a zombie until its parent collects it.
is_running() { grep -qs '^State:[[:space:]][^ZX]' "/proc/$1/status"; }

# Signals a server and its children. The server is stopped first, so that it starts no others.
signal_all() {
  local pid child
  pid=$(pid_of "$1") || return 0
  [ "$2" = CONT ] || kill -STOP "$pid" 2>/dev/null || true
  for child in $(children "$pid"); do kill "-$2" "$child" 2>/dev/null || true; done
  kill "-$2" "$pid" 2>/dev/null || true
}

url() {
  local port
  port=$(cat "$IMID_SERVICES/$1/port")
  case $1 in
    postgres | standby) echo "postgres://imid:$password@127.0.0.1:$port/postgres" ;;
    mysql) echo "mysql://imid:$password@127.0.0.1:$port/imid" ;;
    redis) echo "redis://:$password@127.0.0.1:$port" ;;
    etcd) echo "etcd://127.0.0.1:$port" ;;
    zookeeper) echo "zookeeper://127.0.0.1:$port" ;;
  esac
}

stop_all() {
  local store
  trap '' INT TERM HUP
  for store in $stores standby; do [ ! -e "$IMID_SERVICES/$store" ] || stop "$store" kill & done
  wait
  # A server that was being prepared may still write for a moment.
  for _ in 1 2 3 4 5; do rm -rf "$IMID_SERVICES" 2>/dev/null && break || sleep 1; done
}

run() {
  local store wanted=() status=0
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [[ " $stores " == *" $1 "* ]] || fail "expected a store ($stores) or --, found $1"
    wanted+=("$1")
    shift
  done
  [ $# -gt 1 ] || fail "expected -- COMMAND after the stores"
  shift
  export IMID_SERVICES IMID_SERVICES_SH
  IMID_SERVICES=$(mktemp -d)
  IMID_SERVICES_SH=$(readlink -f "$0")
  # The users of the servers must reach their folders.
  chmod 755 "$IMID_SERVICES"
  trap stop_all EXIT
  trap 'exit 130' INT TERM HUP

  install "${wanted[@]}" || true
  for store in "${wanted[@]}"; do
    mkdir "$IMID_SERVICES/$store"
    [ "$(id -u)" != 0 ] || chown "$(user_of "$store")" "$IMID_SERVICES/$store" 2>/dev/null || chmod 777 "$IMID_SERVICES/$store"
    if is_installed "$store"; then
      (cd "$IMID_SERVICES/$store" && prepare "$store" && start "$store" && touch ready) &
    fi
  done
  wait
  for store in "${wanted[@]}"; do
    if [ -e "$IMID_SERVICES/$store/ready" ]; then
      export "IMID_${store^^}_URL=$(url "$store")"
    else
      echo "not started: $store: $(is_installed "$store" && tail -n 3 "$IMID_SERVICES/$store/log" | tr '\n' ' ' || echo not installed)" >&2
    fi
  done
  "$@" || status=$?
  exit $status
}

case ${1:-} in
  run) shift; run "$@" ;;
  install) shift; install "$@" ;;
  list) printf '%s\n' $stores ;;
  server)
    [ -n "${IMID_SERVICES:-}" ] || fail "expected IMID_SERVICES, which \`services.sh run\` sets"
    [ -e "$IMID_SERVICES/${2:-}/port" ] || fail "expected a server that \`services.sh run\` started, found ${2:-none}"
    case ${3:-} in
      start) start "$2" || fail "cannot start $2: $(tail -n 3 "$IMID_SERVICES/$2/log")" ;;
      stop | kill) stop "$2" "$3" ;;
      pause) signal_all "$2" STOP ;;
      resume) signal_all "$2" CONT ;;
      save) stop "$2" stop && rm -rf "$IMID_SERVICES/$2/saved" && cp -a "$IMID_SERVICES/$2/data" "$IMID_SERVICES/$2/saved" && start "$2" ;;
      restore) stop "$2" kill && rm -rf "$IMID_SERVICES/$2/data" && cp -a "$IMID_SERVICES/$2/saved" "$IMID_SERVICES/$2/data" && start "$2" ;;
      standby) clone || fail "cannot make a standby: $(tail -n 3 "$IMID_SERVICES/standby/log")" ;;
      detach) detach || fail "cannot cut off the standby" ;;
      promote) promote || fail "cannot promote the standby: $(tail -n 3 "$IMID_SERVICES"/{standby,postgres}/log)" ;;
      tls) set_tls "$2" "${4:-}" || fail "cannot start $2: $(tail -n 3 "$IMID_SERVICES/$2/log")" ;;
      *) fail "expected stop, kill, start, pause, resume, tls, save, restore, standby, detach or promote, found ${3:-nothing}" ;;
    esac
    ;;
  *) fail "expected run, server, install or list; see the head of this script" ;;
esac
