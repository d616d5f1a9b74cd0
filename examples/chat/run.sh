#!/usr/bin/env bash
# Starts a throw-away PostgreSQL and the chat in front of it:
#
#   examples/chat/run.sh                   three gateways, until Ctrl-C. Open the printed addresses in browsers
#   examples/chat/run.sh browser [FOLDER]  two people talk in headless Chromium while a gateway is killed; screenshots go to FOLDER
#   examples/chat/run.sh load [SECONDS]    posts and follows while gateways are killed, then `imid check` reads the stored IDs
#
# A PostgreSQL that DATABASE_URL names is used instead.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
if [ -z "${IMID_CHAT_BUILT:-}" ]; then
  cargo build --quiet --manifest-path "$here/Cargo.toml" --locked
  cargo build --quiet --manifest-path "$root/Cargo.toml" --release --package imid-cli --features postgres,tls-ring
  export IMID_CHAT_BUILT=1
  [ -n "${DATABASE_URL:-}" ] || exec bash "$root/ci/services.sh" run postgres -- bash "$0" "$@"
fi
export DATABASE_URL=${DATABASE_URL:-$IMID_POSTGRES_URL}
bin=$CARGO_TARGET_DIR/debug

case ${1:-} in
  load)
    ids=$(mktemp)
    trap 'rm -f "$ids"' EXIT
    "$bin/imid-chat-load" "${2:-60}" "$ids"
    "$CARGO_TARGET_DIR/release/imid" check "$ids"
    ;;
  browser) python3 "$here/browser.py" "$bin/imid-chat" "${@:2}" ;;
  "")
    pids=()
    trap 'kill "${pids[@]}" 2>/dev/null; wait' EXIT
    for port in 8081 8082 8083; do
      CHAT_LISTEN=127.0.0.1:$port CHAT_OPERATIONS=127.0.0.1:$((port + 1000)) CHAT_NAME=chat-$port "$bin/imid-chat" &
      pids+=($!)
    done
    echo "open http://127.0.0.1:8081/ and http://127.0.0.1:8082/"
    wait
    ;;
  *) echo "run.sh: expected load, browser or nothing, found $1" >&2; exit 2 ;;
esac
