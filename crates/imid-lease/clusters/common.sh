# What the clusters of crates/imid-lease/clusters.sh share: three networks, 12 processes, and the record of the faults.

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
soak=$target/debug/examples/soak
imid=$target/release/imid
export IMID_SOAK_LANE_BITS=3

# Prints the first of these programs that is not there.
first_missing() {
  local program
  for program; do
    command -v "$program" >/dev/null || { echo "$program"; return 1; }
  done
}

address() { echo "10.77.0.$1"; }

# Makes the networks of the nodes 1 to 3, and a bridge between them.
make_networks() {
  local n
  ip link set lo up
  ip link add bridge type bridge
  ip link set bridge up
  ip addr add 10.77.0.254/24 dev bridge
  for n in 1 2 3; do
    unshare --net sleep infinity &
    holder[n]=$!
    # Until it has its network.
    while [ "$(readlink "/proc/${holder[n]}/ns/net")" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    ip link add "node$n" type veth peer name eth0 netns "${holder[n]}"
    ip link set "node$n" master bridge up
    on "$n" ip addr add "$(address "$n")/24" dev eth0
    on "$n" ip link set eth0 up
    on "$n" ip link set lo up
  done
}
holder=() pids_of_member=()

# Runs a command in the network of a node. The command has the PID of the subshell, if it is run in one.
on() { nsenter --net="/proc/${holder[$1]}/ns/net" "${@:2}"; }

# Makes the program that members run in, which can make their disks slow and their clocks wrong.
make_faulty() {
  local n
  cc -O1 -o "$folder/faulty" crates/imid-lease/clusters/faulty.c
  for n in 1 2 3; do : >"$folder/delay$n"; clock[n]=0; done
}
clock=()

# Starts member N of the cluster as `member N` says.
start_member() {
  (member "$1" </dev/null >>"$folder/log$1" 2>&1) &
  pids_of_member[$1]=$!
}

# Signals a process and its descendants.
signal_tree() {
  local child
  [ "$1" = CONT ] || kill -STOP "$2" 2>/dev/null || true
  for child in $(ps -o pid= --ppid "$2"); do signal_tree "$1" "$child"; done
  kill "-$1" "$2" 2>/dev/null || true
}

kill_member() {
  signal_tree KILL "${pids_of_member[$1]}"
  wait "${pids_of_member[$1]}" 2>/dev/null || true
}

link() { ip link set "node$1" "$2"; }

# Prints a configuration of HAProxy that forwards a local port 6000 to the member for which the script is-primary succeeds:
# haproxy_config PORT.
haproxy_config() {
  local n
  printf '%s\n' global '  external-check' '  insecure-fork-wanted' defaults '  mode tcp' '  timeout connect 1s' '  timeout client 1m' \
    '  timeout server 1m' 'listen primary' '  bind 127.0.0.1:6000' '  option external-check' "  external-check path $PATH" \
    "  external-check command $folder/is-primary" '  default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions'
  for n in 1 2 3; do echo "  server m$n $(address "$n"):$1"; done
}

# Waits up to a minute until a command succeeds.
until_true() {
  local end=$((SECONDS + 60))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { echo "clusters.sh: gave up to wait for: $*" >&2; return 1; }
    sleep 0.1
  done
}

# Starts 12 processes, four at each node: start_workers FOLDER SCHEME. The function `url N` is what those of node N connect to.
start_workers() {
  local n w
  ids=$1 scheme=$2
  mkdir -p "$ids"
  workers=()
  for n in 1 2 3; do for w in 1 2 3 4; do mkfifo "$ids/n$n-$w.commands"; start_worker "$n" "$w"; done; done
}
# Starts process W of node N.
start_worker() {
  local name=n$1-$2
  # The file is open to read and to write, so that it never ends.
  (on "$1" "$soak" worker "$(url "$1")" "$ids" "$name" "$scheme" <>"$ids/$name.commands" >>"$folder/log-workers" 2>&1) &
  workers[4 * ($1 - 1) + $2 - 1]=$!
}
kill_workers() {
  local pid
  for pid in "${workers[@]:4 * ($1 - 1):4}"; do
    signal_tree KILL "$pid"
    wait "$pid" 2>/dev/null || true
  done
}
# Starts processes at node 1 while there are free lanes, because those of node 3 are gone.
start_anew() {
  local w
  kill_workers 1
  kill_workers 3
  for w in 1 2 3 4; do start_worker 1 "$w"; done
  sleep 6
  for w in 1 2 3 4; do start_worker 3 "$w"; done
}

stop_workers() {
  local n w pid end=$((SECONDS + 10))
  for n in 1 2 3; do for w in 1 2 3 4; do echo quit >"$ids/n$n-$w.commands"; done; done
  for pid in "${workers[@]}"; do
    while kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $end ]; do sleep 0.05; done
    signal_tree KILL "$pid"
  done
}

# Says that a fault begins. It lasts until the next mark.
mark() { echo "$(date +%s%3N) $*" >>"$folder/marks"; }

# The faults of stores with a leader, which have is_up NODE, leader and pids_of_member.
all_up() { is_up 1 && is_up 2 && is_up 3; }
find_leader() { until_true leader; n=$(leader); }
leader_paused() {
  find_leader; mark leader paused for three time-outs
  kill -STOP "${pids_of_member[$n]}"; sleep 6; kill -CONT "${pids_of_member[$n]}"; until_true all_up; sleep 1
}
leader_slow() {
  find_leader; mark each sync of the disk of the leader takes 1 s
  echo 1000 >"$folder/delay$n"; sleep 6; : >"$folder/delay$n"; until_true all_up; sleep 1
}
leader_cut_off() {
  find_leader; mark leader cut off with its clients; link "$n" down; sleep 6; link "$n" up; until_true all_up; sleep 1
}

# Counts the leases that ended although nobody closed them.
ended_leases() { if [ -e "$ids/Ended.count" ]; then wc -c <"$ids/Ended.count"; else echo 0; fi; }

have_minted() { grep -qs minted "$ids"/*.diary; }

# Counts the duplicates with two programs: check_ids. Sets `count`, `duplicates`, `out_of_order`, and by how many seconds the last
# ID is ahead of the clock, `ahead`.
check_ids() {
  local line checked
  line=$("$soak" check "$ids") || true
  checked=$("$soak" texts "$ids" | "$imid" check --unsorted --json 2>/dev/null) || true
  [[ $line =~ ^([0-9]+)\ IDs,\ ([0-9]+)\ duplicates,\ ([0-9]+)\ out ]] || { echo "clusters.sh: $line" >&2; return 1; }
  count=${BASH_REMATCH[1]} duplicates=${BASH_REMATCH[2]} out_of_order=${BASH_REMATCH[3]}
  [[ $checked =~ \"last_time\":\"([^\"]+) ]] && ahead=$(($(date -d "${BASH_REMATCH[1]}" +%s) - $(date +%s)))
  if [[ $checked != *"\"valid\":$count,"* || $checked != *"\"duplicates\":$duplicates,"* ]]; then
    echo "clusters.sh: imid check does not agree: $line; $checked" >&2
    return 1
  fi
}

has_duplicates() { [[ $("$soak" check "$ids") != *" 0 duplicates"* ]]; }

# The scheme of others, a lease that ends by the wall clock: holders that were paused go on in lanes that others have taken. Whether
# the bursts of two holders of a lane meet depends on chance, so it pauses them again until they have met. A busy machine takes long to
# count, so the rounds have an end, and not the time.
control() {
  local n w pid round=0 holders
  start_workers "$folder/control" wall-clock
  until_true have_minted
  sleep 2
  until has_duplicates || [ $round = 20 ]; do
    round=$((round + 1))
    holders=()
    for n in 1 2 3; do
      for w in 1 2 3 4; do
        ! grep -qs minted "$ids/n$n-$w"-*.diary || holders+=("${workers[4 * (n - 1) + w - 1]}")
      done
    done
    # Not all of them: others must be there to take the lanes.
    holders=("${holders[@]:0:8}")
    for pid in "${holders[@]}"; do signal_tree STOP "$pid"; done
    sleep 6
    for pid in "${holders[@]}"; do signal_tree CONT "$pid"; done
    sleep 3
  done
  stop_workers
  check_ids
  echo "$store: control, a lease by the wall clock: $count IDs, $duplicates duplicates"
  [ "$duplicates" -gt 0 ] || { echo "clusters.sh: no duplicates in the control, so the check proves nothing" >&2; return 1; }
}

# Mints during a fault after which a store has taken back what it has acknowledged: attack NAME FAULT. Without the rule (see unprotected.sh)
# there must be duplicates, and with it none. The function `clear_register` empties the register.
attack() {
  local name=$1 fault=$2 run found=0 protected=$soak
  # On a busy machine the fault can miss its moment, so the control has three tries.
  for run in without-1 without-2 without-3 with; do
    [[ $run = with || $found = 0 ]] || continue
    clear_register
    [ $run = with ] || soak=$target/unprotected/soak
    start_workers "$folder/$fault-$run" lease
    until_true have_minted
    sleep 2
    "$fault"
    stop_workers
    soak=$protected
    check_ids
    echo "$store: $name, ${run%-*} the rule: $count IDs, $duplicates duplicates"
    if [ $run = with ]; then
      [ "$duplicates$out_of_order" = 00 ] && [ "$count" -gt 0 ]
    else
      found=$duplicates
      [[ $run-$found != without-3-0 ]] || { echo "clusters.sh: $store: no duplicates without the rule, so the check proves nothing" >&2; return 1; }
    fi
  done
}

# Mints while the functions that are named run in order, and repeats them until the time is over. Then counts. A strong store must have
# no duplicates; with is_weak=1 they are counted only.
mint_during() {
  local n fault ended phases end=$((SECONDS + seconds)) rounds=0
  start_workers "$folder/ids" lease
  until_true have_minted
  sleep 2
  while [ $rounds = 0 ] || [ $SECONDS -lt $end ]; do
    for fault; do "$fault"; done
    rounds=$((rounds + 1))
  done
  mark end
  stop_workers
  ended=$(ended_leases)
  check_ids
  # The URLs of the nodes differ.
  for n in 1 2 3; do grep -qs minted "$ids/n$n"-*.diary || { echo "clusters.sh: nobody at node $n has minted" >&2; return 1; }; done
  phases=$("$soak" pauses "$ids" <"$folder/marks")
  grep -v '^nothing:' <<<"$phases" | sed "s/^/$store: /"
  echo "$store: $count IDs, $duplicates duplicates, $out_of_order out of order, 12 processes on 8 lanes, $rounds rounds, $ended leases ended"
  [ "$ahead" -lt 60 ] || { echo "clusters.sh: $store: the last ID is $ahead s ahead of the clock" >&2; return 1; }
  [ "$count" -gt 0 ] && { [ -n "${is_weak:-}" ] || [ "$duplicates$out_of_order$ended" = 000 ]; }
}
