#!/usr/bin/env bash
# The documentation builds without a warning: with private items, for maintainers, and as docs.rs builds it. The drawings are what
# docs/drawings.py draws, and the scripts that print and draw the results of benchmarks work on small ones.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 docs/drawings.py --check
# Drawing benchmarks needs matplotlib, which benches/report/plot.sh installs.
python=${CARGO_TARGET_DIR:-target}/plot-venv/bin/python
[ -x "$python" ] || python=python3
"$python" -m unittest discover --start-directory benches/report --pattern tests.py
export RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings"

# With the examples, cargo chooses the features of crates as ci/clippy.sh does, so they are not compiled again.
doc=(cargo doc --workspace --lib --examples --no-deps --all-features)
"${doc[@]}" --document-private-items

# docs.rs has a nightly compiler, which shows the feature that an item needs. RUSTC_BOOTSTRAP allows that to rustdoc here. If cargo
# had it too, the build scripts that look for a nightly compiler would run again, and all crates after them. This build is the last
# one, so target/doc keeps its result.
rustdoc=$(mktemp)
trap 'rm -f "$rustdoc"' EXIT
printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec "%s" "$@"\n' "$(command -v rustdoc)" >"$rustdoc"
chmod +x "$rustdoc"
RUSTDOC=$rustdoc RUSTDOCFLAGS="$RUSTDOCFLAGS --cfg docsrs" "${doc[@]}"
grep -q 'Available on .*crate feature' "${CARGO_TARGET_DIR:-target}/doc/imid/index.html" || {
  echo "docs.sh: the crate page shows no feature" >&2
  exit 1
}
