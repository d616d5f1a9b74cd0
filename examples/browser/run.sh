#!/usr/bin/env bash
# Runs check.mjs in Node and in headless Chromium: examples/browser/run.sh imid_browser.wasm
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
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
  # A module is not loaded from a file, so a server of one folder offers it. The page sends its result there.
  cat >>"$folder/index.html" <<'HTML'
<script type="module">
  const result = document.getElementById("result");
  const send = () => result.textContent && fetch("result", { method: "POST", body: result.textContent });
  new MutationObserver(send).observe(result, { childList: true });
  send();
</script>
HTML
  python3 - "$folder" "$chromium" <<'PY'
import functools, http.server, subprocess, sys, threading

folder, chromium = sys.argv[1:]
results, sent = [], threading.Event()

class Handler(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        results.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()
        sent.set()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
threading.Thread(target=server.serve_forever, daemon=True).start()
options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile"]
browser = subprocess.Popen([chromium, *options, f"http://127.0.0.1:{server.server_port}/"], stderr=subprocess.DEVNULL)
try:
    sent.wait(120)
finally:
    browser.terminate()
    browser.wait()
if not results or not results[0].startswith("Chromium: "):
    sys.exit(f"browser: expected a result that begins with Chromium, found {results}")
print(results[0])
PY
else
  echo "not checked: browser: this machine has no Chromium (ci/services.sh install chromium)"
fi
