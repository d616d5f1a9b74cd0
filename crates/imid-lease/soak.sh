#!/usr/bin/env bash
# Mints IDs in 32 processes under random faults, and counts the duplicates: crates/imid-lease/soak.sh STORE SECONDS
#
# STORE is file, postgres, mysql, redis, etcd or zookeeper. It starts the server itself. `imid check --unsorted` reads all IDs
# again. The last line is `STORE: N IDs, D duplicates, F faults, ...`. The exit status is 1 if there are duplicates or IDs out of
# order, if a kind of fault was missing, or if a process ended with an error. A busy machine may take up to three times SECONDS,
# until each kind of fault was there.
#
# `soak.sh control SECONDS` runs the same faults with two lease schemes of other systems. The exit status is 1 if it finds no
# duplicates in one of them, because it would then prove nothing.
#
# IMID_SOAK_PROFILE is cargo's profile of the processes, release unless it is set.
set -euo pipefail
cd "$(dirname "$0")/../.."
store=${1:?expected a STORE} seconds=${2:?expected SECONDS}

profile=${IMID_SOAK_PROFILE:-release}
target=${CARGO_TARGET_DIR:-target}
# All features, as in ci/leases.sh, so that its crates serve here too.
cargo build --quiet --workspace --all-features --profile "$profile" --example soak
# The features are those of all checks, so that the tool of a check that runs meanwhile is not replaced.
cargo build --quiet --release --package imid-cli --features postgres,tls-ring
soak=$target/${profile/#dev/debug}/examples/soak
folder=$(mktemp -d)
clean_up() {
  mountpoint -q "$folder/disk" && umount "$folder/disk"
  rm -rf "$folder"
}
trap clean_up EXIT
export IMID_SOAK_FOLDER=$folder

# once STORE [SCHEME]: runs one soak in an empty folder. The last line is its result.
once() {
  local status=0 line ids duplicates checked
  if [ "$1" = file ]; then
    mkdir -p "$folder/disk"
    # A small disk can be full. This needs the right to mount. Otherwise each write finds a device that is full.
    if mount -t tmpfs -o size=256k imid-soak "$folder/disk" 2>/dev/null; then
      export IMID_SOAK_SMALL_DISK=1
    fi
    "$soak" run "$1" "$seconds" >"$folder/result" || status=$?
  else
    bash ci/services.sh run "$1" -- "$soak" run "$1" "$seconds" ${2:+"$2"} >"$folder/result" || status=$?
  fi
  head -n 1 "$folder/result"
  line=$(tail -n 1 "$folder/result")
  # Another reader of the same IDs must count the same.
  [[ $line =~ :\ ([0-9]+)\ IDs,\ ([0-9]+)\ duplicates ]] || return $((status > 1 ? status : 2))
  ids=${BASH_REMATCH[1]} duplicates=${BASH_REMATCH[2]}
  checked=$("$soak" texts "$folder/ids" | "$target/release/imid" check --unsorted --json 2>/dev/null) || true
  echo "imid check --unsorted: $checked"
  if [[ $checked != *"\"valid\":$ids,"* || $checked != *"\"duplicates\":$duplicates,"* ]]; then
    echo "imid check does not agree" >&2
    status=2
  fi
  rm -rf "$folder/ids"
  echo "$line"
  return $status
}

if [ "$store" = control ]; then
  for scheme in wall-clock expiring-key; do
    status=0
    once redis "$scheme" || status=$?
    # Only duplicates count. Another failure would prove nothing.
    if [ $status != 1 ] || grep -q ' 0 duplicates' "$folder/result"; then
      echo "control: no duplicates in $scheme, so the soak proves nothing" >&2
      exit 1
    fi
  done
  echo "control: duplicates found in both schemes"
else
  once "$store"
fi
