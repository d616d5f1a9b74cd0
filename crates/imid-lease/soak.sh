#!/usr/bin/env bash
# Mints IDs in 32 processes under random faults, and counts the duplicates: crates/imid-lease/soak.sh STORE SECONDS
#
# STORE is file, postgres, mysql, redis, etcd or zookeeper. It starts the server itself. The last line is
# `STORE: N IDs, D duplicates, F faults, ...`. The exit status is 1 if there are duplicates or IDs out of order.
#
# `soak.sh control SECONDS` runs the same faults with two lease schemes of other systems. The exit status is 1 if it finds no
# duplicates in one of them, because it would then prove nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
store=${1:?expected a STORE} seconds=${2:?expected SECONDS}

# The same features as in ci/leases.sh, so that the crates are compiled once.
cargo build --quiet --release --package imid-lease --features postgres,mysql,redis,etcd,zookeeper --example soak
soak=${CARGO_TARGET_DIR:-target}/release/examples/soak
folder=$(mktemp -d)
clean_up() {
  mountpoint -q "$folder/disk" && umount "$folder/disk"
  rm -rf "$folder"
}
trap clean_up EXIT
export IMID_SOAK_FOLDER=$folder

# once STORE [SCHEME]: runs one soak in an empty folder.
once() {
  if [ "$1" = file ]; then
    mkdir -p "$folder/disk"
    # A small disk can be full. This needs the right to mount.
    if mount -t tmpfs -o size=256k imid-soak "$folder/disk" 2>/dev/null; then
      export IMID_SOAK_SMALL_DISK=1
    else
      echo "not done: a full disk: this user cannot mount one"
    fi
    "$soak" run "$1" "$seconds"
  else
    bash ci/services.sh run "$1" -- "$soak" run "$1" "$seconds" ${2:+"$2"}
  fi
}

if [ "$store" = control ]; then
  for scheme in wall-clock expiring-key; do
    status=0
    once redis "$scheme" | tee "$folder/control" || status=$?
    rm -rf "$folder/ids"
    # Only duplicates count. Another failure would prove nothing.
    if [ $status = 0 ] || grep -q ' 0 duplicates' "$folder/control"; then
      echo "control: no duplicates in $scheme, so the soak proves nothing" >&2
      exit 1
    fi
  done
  echo "control: duplicates found in both schemes"
else
  once "$store"
fi
