#!/usr/bin/env bash
# Leases on clusters of three members: 12 processes on 8 lanes mint while leaders are killed, paused, cut off and replaced.
#
#   crates/imid-lease/clusters.sh [STORE [SECONDS]]
#     STORE is etcd, zookeeper, postgres, mysql (MariaDB) or redis; without it, all of them at once. The faults are repeated until
#     SECONDS are over (default 0: each of them once). The control, which is a lease that ends by the wall clock, must show duplicates in
#     the same run. Without a program or a right that it needs, the script says what was not checked.
#
# Each member has a network of its own, with four of the processes in it, so a link that is down cuts off both. All of it is in a
# namespace of the kernel that ends with this script: nothing outside sees a port or a process of it.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH=$PATH:/usr/sbin:/sbin
mapfile -t all < <(bash ci/services.sh list)
source crates/imid-lease/clusters/common.sh

if [ "${1:-}" = inside ]; then
  store=$2 seconds=$3 folder=$4
  source "crates/imid-lease/clusters/$store.sh"
  run
  exit
fi

stores=("${all[@]}")
[ $# = 0 ] || stores=("$1")
[[ " ${all[*]} " == *" ${stores[0]} "* ]] || { echo "clusters.sh: expected one of ${all[*]}, found ${stores[0]}" >&2; exit 2; }
[[ ${2:-0} =~ ^[0-9]+$ ]] || { echo "clusters.sh: expected seconds, found $2" >&2; exit 2; }

# Who is not root needs a namespace of users for it.
separate=(unshare --net --pid --fork --kill-child --mount-proc)
[ "$(id -u)" = 0 ] || separate=(unshare --user --map-current-user --keep-caps "${separate[@]:1}")
if ! "${separate[@]}" ip link add test type bridge 2>/dev/null; then
  echo "not checked: clusters: no right to make network namespaces, or no program ip"
  exit 0
fi
[[ ! " ${stores[*]} " =~ \ (mysql|postgres)\  ]] || bash crates/imid-lease/clusters/unprotected.sh
cargo build --quiet --all-features --example soak
cargo build --quiet --release --package imid-cli --features postgres,tls-ring
declare -A tools=([etcd]="etcd-client curl" [postgres]="pgbouncer haproxy" [mysql]=haproxy [redis]="haproxy redis-sentinel")
for store in "${stores[@]}"; do
  bash ci/services.sh install "$store" ${tools[$store]:-} || true
done

folder=$(mktemp -d)
started=()
clean_up() {
  local one
  # With the first process of a namespace, all others end.
  for one in "${started[@]}"; do kill -KILL "${one#* }" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
chmod 755 "$folder"
for store in "${stores[@]}"; do
  source "crates/imid-lease/clusters/$store.sh"
  if ! missing=$(needs); then
    echo "not checked: clusters: $store: no $missing"
    continue
  fi
  mkdir -m 755 "$folder/$store"
  # They wait most of the time, so they run at once.
  "${separate[@]}" bash crates/imid-lease/clusters.sh inside "$store" "${2:-0}" "$folder/$store" >"$folder/$store.out" 2>&1 </dev/null &
  started+=("$store $!")
done
failed=()
for one in "${started[@]}"; do
  store=${one% *}
  if ! wait "${one#* }"; then
    failed+=("$store")
    tail -n 5 "$folder/$store"/log* || true
  fi
  cat "$folder/$store.out"
done
[ ${#failed[@]} = 0 ] || { echo "clusters: ${failed[*]} failed" >&2; exit 1; }
