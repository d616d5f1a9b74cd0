#!/usr/bin/env bash
# Builds the page, one file: web/build.sh [FILE], by default web/imid.html. It needs Rust with the target
# wasm32-unknown-unknown (`rustup target add wasm32-unknown-unknown`), and nothing else. For a Rust that compiles its own std,
# IMID_CARGO_OPTIONS are options of cargo and IMID_RUSTFLAGS those of rustc.
set -euo pipefail
cd "$(dirname "$0")"
page=${1:-imid.html}
target=${CARGO_TARGET_DIR:-$PWD/../target}

RUSTFLAGS=${IMID_RUSTFLAGS:-} cargo build --quiet --release --locked --target wasm32-unknown-unknown --target-dir "$target" ${IMID_CARGO_OPTIONS:-}

# One script: the modules follow each other in the order of their imports.
script=$(sed -e '/^import /d' -e 's/^export //' module.js time.js sql.js page.js)
style=$(<page.css)
module=$(gzip -9nc "$target/wasm32-unknown-unknown/release/imid_page.wasm" | base64 -w 0)
# Nothing but these two texts runs, and nothing is fetched: https://www.w3.org/TR/CSP3/
sha() { printf 'sha256-%s' "$(printf '%s' "$1" | openssl dgst -sha256 -binary | base64)"; }
policy="default-src 'none'; script-src '$(sha "$script")' 'wasm-unsafe-eval'; style-src '$(sha "$style")'; img-src data:; base-uri 'none'; form-action 'none'"

html=$(<page.html)
html=${html/'{{policy}}'/"$policy"}
html=${html/'{{style}}'/"$style"}
html=${html/'{{module}}'/"$module"}
html=${html/'{{script}}'/"$script"}
printf '%s\n' "$html" >"$page"
printf '%s: %d bytes, %d compressed; module %d, %d compressed\n' "$page" "$(stat -c %s "$page")" "$(gzip -9c "$page" | wc -c)" \
  "$(stat -c %s "$target/wasm32-unknown-unknown/release/imid_page.wasm")" "$(gzip -9c "$target/wasm32-unknown-unknown/release/imid_page.wasm" | wc -c)"
