# etcd with three members, for crates/imid-lease/clusters.sh.

needs() { first_missing etcd etcdctl curl cc ip; }

state=new
url() { echo "etcd://$(for i in 0 1 2; do printf '%s:2379,' "$(address $((($1 + i - 1) % 3 + 1)))"; done | sed 's/,$//')"; }
peers() { for n in 1 2 3; do printf 'm%s=http://%s:2380,' "$n" "$(address "$n")"; done | sed 's/,$//'; }
ctl() { etcdctl --endpoints "$(for n in 1 2 3; do printf '%s:2379,' "$(address "$n")"; done | sed 's/,$//')" --command-timeout=5s "$@"; }

member() {
  local here
  here=$(address "$1")
  mkdir -p "$folder/m$1"
  chmod 700 "$folder/m$1"
  ETCD_UNSUPPORTED_ARCH=$(uname -m | sed 's/aarch64/arm64/') exec nsenter --net="/proc/${holder[$1]}/ns/net" \
    "$folder/faulty" "$folder/delay$1" "${clock[$1]}" etcd --name "m$1" --data-dir "$folder/m$1" --initial-cluster "$(peers)" --initial-cluster-state "$state" \
    --listen-peer-urls "http://$here:2380" --initial-advertise-peer-urls "http://$here:2380" \
    --listen-client-urls "http://$here:2379" --advertise-client-urls "http://$here:2379" \
    --quota-backend-bytes 16777216
}

status() { curl -s -m 1 -X POST -d '{}' "http://$(address "$1"):2379/v3/maintenance/status"; }
is_up() { curl -s -m 1 "http://$(address "$1"):2379/health" | grep -q '"true"'; }

# Prints the number of the leader.
leader() {
  local n text
  for n in 1 2 3; do
    text=$(status "$n") || continue
    [[ $text =~ \"member_id\":\"([0-9]+)\" ]] && [[ $text == *"\"leader\":\"${BASH_REMATCH[1]}\""* ]] && { echo "$n"; return; }
  done
  return 1
}

leader_killed() {
  find_leader; mark leader killed; kill_member "$n"; sleep 4
  state=existing; start_member "$n"; until_true all_up; sleep 1
}
two_killed() {
  mark two members killed; kill_member 1; kill_member 2; sleep 4
  state=existing; start_member 1; start_member 2; until_true all_up; sleep 1
}
member_replaced() {
  find_leader; mark leader replaced by an empty member; kill_member "$n"; rm -rf "$folder/m$n"
  until_true ctl_member_removed "m$n"
  until_true ctl member add "m$n" --peer-urls="http://$(address "$n"):2380"
  state=existing; start_member "$n"; until_true all_up; sleep 1
}
ctl_member_removed() {
  local id
  id=$(ctl member list | awk -F', ' -v name="$1" '$3 == name { print $1 }')
  [ -z "$id" ] || ctl member remove "$id"
}
compacted() {
  local revision
  mark compaction and defragmentation
  [[ $(status 1) =~ \"revision\":\"([0-9]+)\" ]]
  ctl compact "${BASH_REMATCH[1]}" --physical
  ctl defrag
  sleep 1
} >/dev/null
no_space() {
  local i
  mark no space
  # The quota is 16 MB.
  for i in $(seq 40); do head -c 1000000 /dev/zero | tr '\0' x | ctl put "filler/$i" 2>&1 | grep -q exceeded && break; done
  # Not by `grep -q`: it ends at the first alarm, and etcdctl fails if there is another one to print.
  [[ $(ctl alarm list) == *NOSPACE* ]] || { echo "clusters.sh: etcd has space left" >&2; return 1; }
  sleep 4
  ctl del --prefix filler/
  [[ $(status 1) =~ \"revision\":\"([0-9]+)\" ]]
  ctl compact "${BASH_REMATCH[1]}" --physical
  ctl defrag
  ctl alarm disarm
  sleep 1
} >/dev/null
# The time of the register is that of the member that a process asks: its own one.
clock_wrong() {
  mark "the clock of a member is an hour $1, and processes start there"
  kill_member 1; clock[1]=$2; state=existing; start_member 1; until_true all_up
  start_anew
  mark "its clock is right again, and processes start there"
  kill_member 1; clock[1]=0; start_member 1; until_true all_up
  start_anew
}
clock_behind() { clock_wrong behind -3600; }
clock_ahead() { clock_wrong ahead 3600; }

run() {
  local n
  make_networks
  make_faulty
  for n in 1 2 3; do start_member "$n"; done
  until_true all_up
  control
  mint_during leader_killed leader_paused leader_slow leader_cut_off two_killed member_replaced compacted no_space clock_behind clock_ahead
}
