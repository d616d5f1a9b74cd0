#!/usr/bin/env bash
# Measures on real servers, which it starts itself: crates/imid-lease/figures.sh take-over|writes|idle|slow [STORE...]
#
#   take-over   how long a lane is unused when its holder gives it back (bar: 100 ms), and when its holder is killed (bar: the
#               horizon, 10 s, and 1 s more)
#   writes      how often a lane is written at a horizon of 10 s (bar: 0.5 times a second)
#   idle        processor time, wake-ups, memory, threads and sockets of a lane that is not used, for a minute
#   slow        many leases of one process, with 20 ms to 1 s per call of a store in memory (bars: no call refused; a hundred leases
#               hold after 2 s)
#
# STORE is file, postgres, mysql, redis, etcd or zookeeper. Default: file, postgres and etcd. The status is 1 if a figure is
# above its bar.
set -euo pipefail
cd "$(dirname "$0")/../.."
what=${1:?expected take-over, writes, idle or slow}
shift
default=(file postgres etcd)
[ $# -gt 0 ] || set -- "${default[@]}"

cargo build --quiet --release --package imid-lease --features postgres,mysql,redis,etcd,zookeeper --example figures
figures=${CARGO_TARGET_DIR:-target}/release/examples/figures
[ "$what" != slow ] || exec "$figures" slow
status=0
for store; do
  if [ "$store" = file ]; then
    folder=$(mktemp -d -p .)
    "$figures" "$what" "file:$PWD/$folder/register" || status=1
    rm -rf "$folder"
  else
    url=IMID_${store^^}_URL
    bash ci/services.sh run "$store" -- bash -c '"$0" "$1" "${!2}"' "$figures" "$what" "$url" || status=1
  fi
done
exit $status
