#!/usr/bin/env bash
# The documentation builds without a warning: with private items, for maintainers, and as docs.rs builds it.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings"

cargo doc --lib --no-deps --all-features --document-private-items
# docs.rs has a nightly compiler, which shows the feature that an item needs. RUSTC_BOOTSTRAP allows that here too. This
# build is the last one, so target/doc keeps its result.
RUSTC_BOOTSTRAP=imid RUSTDOCFLAGS="$RUSTDOCFLAGS --cfg docsrs" cargo doc --lib --no-deps --all-features
grep -q 'Available on .*crate feature' "${CARGO_TARGET_DIR:-target}/doc/imid/index.html" || {
  echo "docs.sh: the crate page shows no feature" >&2
  exit 1
}
