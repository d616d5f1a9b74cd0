#!/usr/bin/env bash
# Starts a throw-away PostgreSQL and the chat in front of it:
#
#   examples/chat/run.sh                   three gateways, until Ctrl-C. Open the printed addresses in browsers
#   examples/chat/run.sh browser [FOLDER]  two people talk in headless Chromium while a gateway is killed; screenshots go to FOLDER
#   examples/chat/run.sh load [SECONDS]    posts and follows while gateways are killed, then `imid check` reads the stored IDs
#   examples/chat/run.sh control           the same must be found wrong, if gateways mint without the last ID, and without the lift
#
# A PostgreSQL that DATABASE_URL names is used instead.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
if [ -z "${IMID_CHAT_BUILT:-}" ]; then
  # It gives a gateway another clock.
  bash "$root/ci/services.sh" install faketime
  IMID_FAKETIME=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1)
  export IMID_FAKETIME
  cargo build --quiet --manifest-path "$here/Cargo.toml" --locked
  cargo build --quiet --manifest-path "$root/Cargo.toml" --release --package imid-cli --features postgres,tls-ring
  export IMID_CHAT_BUILT=1
  [ -n "${DATABASE_URL:-}" ] || exec bash "$root/ci/services.sh" run postgres -- bash "$0" "$@"
fi
export DATABASE_URL=${DATABASE_URL:-$IMID_POSTGRES_URL}
bin=$CARGO_TARGET_DIR/debug

# Runs the load, and prints what it finds wrong.
expect_lower() {
  local found
  found=$("$bin/imid-chat-load" "$1" /dev/null) && { echo "run.sh: nothing is wrong: $found" >&2; exit 1; }
  grep 'WRONG: [1-9][0-9]* IDs are lower' <<<"$found" || { echo "run.sh: no ID is lower: $found" >&2; exit 1; }
}

case ${1:-} in
  load)
    ids=$(mktemp)
    trap 'rm -f "$ids"' EXIT
    "$bin/imid-chat-load" "${2:-60}" "$ids"
    "$CARGO_TARGET_DIR/release/imid" check "$ids"
    ;;
  control)
    echo "without the lift after the failover:"
    CHAT_NO_LIFT=1 expect_lower 45
    psql -Xqc 'DROP TABLE rooms, messages, readers' "$DATABASE_URL"
    echo "with a generator in each gateway, without the last ID and the time of the database:"
    control=$CARGO_TARGET_DIR/chat-control
    rm -rf "$control"
    mkdir -p "$control/examples"
    cp -r "$here" "$control/examples/chat"
    ln -s "$(realpath "$root/sql")" "$control/sql"
    sed -i "s|imid-chat|imid-chat-control|; s|path = \"../..\"|path = \"$(realpath "$root")\"|" "$control"/examples/chat/Cargo.{toml,lock}
    mint='MessageId::after(last_id, room.tag, now_ms as u64)'
    grep -qF "$mint" "$here/src/store.rs"
    sed -i "s/$mint/{ let _: (Option<MessageId>, i64) = (last_id, now_ms); imid::generate(room.tag) }/" "$control/examples/chat/src/store.rs"
    cargo build --quiet --manifest-path "$control/examples/chat/Cargo.toml" --bin imid-chat-control
    CHAT_PROGRAM=imid-chat-control IMID_SERVICES_SH='' expect_lower 10
    ;;
  browser) python3 "$here/browser.py" "$bin/imid-chat" "${@:2}" ;;
  "")
    pids=()
    trap 'kill "${pids[@]}" 2>/dev/null; wait' EXIT
    for port in 8081 8082 8083; do
      CHAT_LISTEN=127.0.0.1:$port "$bin/imid-chat" &
      pids+=($!)
    done
    echo "open http://127.0.0.1:8081/ and http://127.0.0.1:8082/"
    wait
    ;;
  *) echo "run.sh: expected load, control, browser or nothing, found $1" >&2; exit 2 ;;
esac
