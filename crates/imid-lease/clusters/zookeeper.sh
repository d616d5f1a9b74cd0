# ZooKeeper with three members, for crates/imid-lease/clusters.sh.

needs() { first_missing java cc ip && { [ -e /usr/share/java/zookeeper.jar ] || { echo zookeeper.jar; return 1; }; }; }

url() { echo "zookeeper://$(for i in 0 1 2; do printf '%s:2181,' "$(address $((($1 + i - 1) % 3 + 1)))"; done | sed 's/,$//')"; }

member() {
  local n
  mkdir -p "$folder/m$1"
  echo "$1" >"$folder/m$1/myid"
  {
    printf '%s\n' "dataDir=$folder/m$1" "clientPort=2181" "clientPortAddress=$(address "$1")" tickTime=500 initLimit=10 syncLimit=4 \
      maxClientCnxns=0 admin.enableServer=false 4lw.commands.whitelist=srvr
    for n in 1 2 3; do echo "server.$n=$(address "$n"):2888:3888"; done
  } >"$folder/zoo$1.cfg"
  exec nsenter --net="/proc/${holder[$1]}/ns/net" "$folder/faulty" "$folder/delay$1" "${clock[$1]}" java -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
    -cp /usr/share/java/zookeeper.jar org.apache.zookeeper.server.quorum.QuorumPeerMain "$folder/zoo$1.cfg"
}

mode() {
  timeout 1 bash -c 'exec 3<>/dev/tcp/$0/2181 && printf srvr >&3 && cat <&3' "$(address "$1")" 2>/dev/null |
    sed -n 's/^Mode: //p'
}
is_up() { mode "$1" | grep -Eq 'leader|follower'; }
leader() { local n; for n in 1 2 3; do [ "$(mode "$n")" != leader ] || { echo "$n"; return; }; done; return 1; }

leader_killed() { find_leader; mark leader killed; kill_member "$n"; sleep 4; start_member "$n"; until_true all_up; sleep 1; }
two_killed() {
  mark two members killed; kill_member 1; kill_member 2; sleep 4
  start_member 1; start_member 2; until_true all_up; sleep 1
}
member_replaced() {
  find_leader; mark leader replaced by an empty member; kill_member "$n"; rm -rf "$folder/m$n"
  start_member "$n"; until_true all_up; sleep 1
}
# The time of the register is that of the leader.
clock_wrong() {
  mark "the clock of the leader is an hour $1, and processes start"
  kill_member 3; clock[3]=$2; start_member 3; until_true all_up
  # Of members that know the same, the one with the greatest number becomes the leader.
  until [ "$(leader)" = 3 ]; do find_leader; kill_member "$n"; until_true leader; start_member "$n"; until_true all_up; done
  start_anew
  mark "its clock is right again, and processes start"
  kill_member 3; clock[3]=0; start_member 3; until_true all_up
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
  mint_during leader_killed leader_paused leader_slow leader_cut_off two_killed member_replaced clock_behind clock_ahead
}
