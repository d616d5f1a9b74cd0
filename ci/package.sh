#!/usr/bin/env bash
# The packages for crates.io have the files that users need and no others, and they compile.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

# check PACKAGE FILE...: fails unless the package has these files. Also fails if it has a folder that only this repository
# needs.
check() {
  local files package=$1
  shift
  files=$(cargo package --package "$package" --list --allow-dirty)
  for wanted in "$@"; do
    grep -qxF "$wanted" <<<"$files" || { echo "package.sh: $package has no $wanted" >&2; exit 1; }
  done
  if unwanted=$(grep -E '^(\.ci|benches|ci|crates|fuzz|tests)/' <<<"$files"); then
    echo "package.sh: $package has files that users do not need: $unwanted" >&2
    exit 1
  fi
}
check imid Cargo.toml README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT src/lib.rs docs/*.md
check imid-cli Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/main.rs
check imid-lease Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs

# Cargo's own verification is not used: it keeps the first library that it unpacked, and builds later tools with it.
rm -f "$target"/package/*.crate
cargo package --workspace --no-verify --allow-dirty
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
for package in "$target"/package/*.crate; do
  tar -xzf "$package" -C "$unpacked"
done
library=$(echo "$unpacked"/imid-[0-9]*)
cargo check --manifest-path "$library/Cargo.toml" --target-dir "$target/package" --all-features
lease=$(echo "$unpacked"/imid-lease-[0-9]*)
for package in imid-cli imid-lease; do
  patches=(--config "patch.crates-io.imid.path = '$library'")
  [ $package != imid-cli ] || patches+=(--config "patch.crates-io.imid-lease.path = '$lease'")
  cargo check --manifest-path "$unpacked/$package"-[0-9]*/Cargo.toml --target-dir "$target/package" "${patches[@]}"
done
