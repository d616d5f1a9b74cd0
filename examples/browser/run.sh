#!/usr/bin/env bash
# Runs check.mjs in Node and in headless Chromium: examples/browser/run.sh imid_browser.wasm
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cp "$here"/{imid.mjs,check.mjs,index.html} "$folder"
cp "$1" "$folder/imid_browser.wasm"

if command -v node >/dev/null; then
  (cd "$folder" && node --input-type=module -e '
    import { readFile } from "node:fs/promises";
    import { check } from "./check.mjs";
    console.log("Node:", process.version, await check(await readFile("imid_browser.wasm")));')
else
  echo "not checked: browser: this machine has no Node"
fi

if chromium=$(command -v chromium); then
  # A module is not loaded from a file, so a server of one folder offers it.
  python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$folder" >"$folder/log" 2>&1 &
  server=$!
  until port=$(grep -oE 'port [0-9]+' "$folder/log" 2>/dev/null); do sleep 0.1; done
  page=$("$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/profile" \
    --virtual-time-budget=20000 --dump-dom "http://127.0.0.1:${port#port }/" 2>/dev/null)
  grep -oP '(?<=<p id="result">)Chromium: [^<]*' <<<"$page" || { echo "browser: expected a result in the page, found $page" >&2; exit 1; }
else
  echo "not checked: browser: this machine has no Chromium (ci/services.sh install chromium)"
fi
