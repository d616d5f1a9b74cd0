#!/usr/bin/env bash
# Builds the page, one file: web/build.sh [FILE], by default web/imid.html. It needs Rust with the target
# wasm32-unknown-unknown (`rustup target add wasm32-unknown-unknown`); with `wasm-opt` (Debian's binaryen) it is a tenth smaller. For a Rust that compiles its own std,
# IMID_CARGO_OPTIONS are options of cargo and IMID_RUSTFLAGS those of rustc.
set -euo pipefail
cd "$(dirname "$0")"
page=${1:-imid.html}
target=${CARGO_TARGET_DIR:-$PWD/../target}

RUSTFLAGS=${IMID_RUSTFLAGS:-} cargo build --quiet --release --locked --target wasm32-unknown-unknown --target-dir "$target" ${IMID_CARGO_OPTIONS:-}
module=$target/wasm32-unknown-unknown/release/imid_page.wasm
if command -v wasm-opt >/dev/null; then
  # No data is in the first KiB: the stack is there, and grows down to it.
  wasm-opt --low-memory-unused --flatten --rereloop -Oz --converge --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals "$module" -o "$module.small"
  module=$module.small
fi

# One script: the modules follow each other in the order of their imports.
script=$(sed -e '/^import /d' -e 's/^export //' module.js time.js sql.js page.js)
style=$(<page.css)
packed=$(gzip -9nc "$module" | base64 -w 0)
# Nothing but these two texts runs, and nothing is fetched: https://www.w3.org/TR/CSP3/
sha() { printf 'sha256-%s' "$(printf '%s' "$1" | openssl dgst -sha256 -binary | base64)"; }
policy="default-src 'none'; script-src '$(sha "$script")' 'wasm-unsafe-eval'; style-src '$(sha "$style")'; img-src data:; base-uri 'none'; form-action 'none'"

html=$(<page.html)
html=${html/'{{policy}}'/"$policy"}
html=${html/'{{style}}'/"$style"}
html=${html/'{{version}}'/"$(sed -n 's/^version = "\(.*\)"/\1/p' ../Cargo.toml | head -1)"}
html=${html/'{{date}}'/"$(git log -1 --format=%cs 2>/dev/null || date -u +%F)"}
html=${html/'{{module}}'/"$packed"}
html=${html/'{{script}}'/"$script"}
printf '%s\n' "$html" >"$page"
printf '%s: %d bytes, %d compressed; module %d, %d compressed\n' "$page" "$(stat -c %s "$page")" "$(gzip -9c "$page" | wc -c)" \
  "$(stat -c %s "$module")" "$(gzip -9c "$module" | wc -c)"
