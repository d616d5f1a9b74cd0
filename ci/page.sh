#!/usr/bin/env bash
# The page of web/ builds, stays small, has no type error, and does what web/test says in Chromium: ci/page.sh [FOLDER]. With a
# folder, pictures of the page are written there. It needs what ci/platforms.sh needs, Node with npm and access to the npm
# registry, and installs Debian's Chromium and binaryen.
set -euo pipefail
cd "$(dirname "$0")/.."

not_checked() { echo "not checked: page: $*"; exit 0; }
command -v npm >/dev/null || not_checked "no Node with npm"
bash ci/services.sh install chromium binaryen || not_checked "chromium or binaryen cannot be installed"

home=$PWD/target/page
mkdir -p "$home/web"
status=0
# Without the messages of panics, which nobody sees in a module.
IMID_CARGO_OPTIONS="-Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size" IMID_RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort" \
  bash ci/platforms.sh with bash web/build.sh "$home/imid.html" >"$home/sizes" || status=$?
[ $status != 3 ] || not_checked "no Rust with its sources for wasm32"
[ $status = 0 ]
cat "$home/sizes"
read -r page module < <(grep -o '[0-9]* compressed' "$home/sizes" | cut -d' ' -f1 | xargs)
[ "$page" -le 94000 ] && [ "$module" -le 73000 ]
lines=$(cat web/*.js | wc -l)
echo "$lines lines of JavaScript"
[ "$lines" -le 820 ]

# The tests run in a copy, so that their packages are not in the repository. The copy finds spec/*.json two folders above.
mkdir -p "$home/web/test" "$home/spec"
cp web/*.js web/tsconfig.json "$home/web"
cp web/test/* "$home/web/test"
mkdir -p "$home/crates/imid-cli/tests/cli"
cp crates/imid-cli/tests/cli/pasted.json "$home/crates/imid-cli/tests/cli"
cp spec/{vectors,dialects}.json "$home/spec"
cd "$home/web/test"
npm ci --no-audit --no-fund --loglevel=error
npx --no-install tsc --project ..
status=0
PAGE=$home/imid.html PICTURES=${1:+$(realpath "$1")} node --test --test-reporter=spec page.test.mjs >"$home/log" 2>&1 || status=$?
cat "$home/log"
awk '/^ℹ pass / { passed = $3 } /^ℹ fail / { failed = $3 } END { printf "test result: %s. %d passed; %d failed; 0 ignored\n", failed + 0 ? "FAILED" : "ok", passed, failed }' "$home/log"
exit $status
