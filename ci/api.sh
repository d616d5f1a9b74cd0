#!/usr/bin/env bash
# The public API of each library is the text in docs/api, with all features. `ci/api.sh --write` writes the texts anew: a change of
# the API is then a part of the commit's diff. Without --write, cargo-semver-checks then compares each library with the last release: a
# breaking change needs a version number that allows it. rustdoc's JSON is an option of nightly Rust; RUSTC_BOOTSTRAP gives it to this one.
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=(imid imid-inspect imid-lease imid-lease-protocol imid-snowflake leaf-segment)
texts=$(mktemp -d)
trap 'rm -rf "$texts"' EXIT
# As in ci/docs.sh: with the examples, no crate is compiled again, and only rustdoc has the variable, so that no build script runs again.
printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec "%s" "$@"\n' "$(command -v rustdoc)" >"$texts/rustdoc"
chmod +x "$texts/rustdoc"
RUSTDOC=$texts/rustdoc RUSTDOCFLAGS="--cap-lints allow -Zunstable-options --output-format json" \
  cargo doc --quiet --workspace --lib --examples --no-deps --all-features

failed=0
for library in "${libraries[@]}"; do
  status=0
  python3 ci/api.py "${CARGO_TARGET_DIR:-target}/doc/${library//-/_}.json" >"$texts/$library.txt" || status=$?
  if [ $status = 3 ]; then
    cat "$texts/$library.txt"
    exit
  elif [ $status != 0 ]; then
    exit $status
  elif [ "${1-}" = --write ]; then
    mkdir -p docs/api
    cp "$texts/$library.txt" "docs/api/$library.txt"
  else
    diff -u "docs/api/$library.txt" "$texts/$library.txt" || failed=1
  fi
done
[ $failed = 0 ] || { echo "api.sh: the public API has changed; if that is meant, run ci/api.sh --write" >&2; exit 1; }
[ "${1-}" != --write ] || exit 0

if ! tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
  echo "not checked: semver: there is no release yet (no tag v*)"
  exit
fi
command -v cargo-semver-checks >/dev/null || cargo install cargo-semver-checks --locked
for package in "${libraries[@]}"; do
  # A package that the last release did not have has no API to break.
  manifest=$(git ls-files "Cargo.toml" "crates/*/Cargo.toml" | xargs grep -lx "name = \"$package\"")
  git cat-file -e "$tag:$manifest" 2>/dev/null || { echo "$package is new since $tag"; continue; }
  cargo semver-checks --package "$package" --all-features --baseline-rev "$tag"
done
