#!/usr/bin/env bash
# The library and the tool compile with the oldest version of Rust that Cargo.toml allows.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
toolchain=
[[ $(rustc --version) == "rustc $version."* ]] || toolchain=+$version
if [ -n "$toolchain" ] && ! rustup toolchain list | grep -q "^$version"; then
  echo "not checked: msrv: this machine has no Rust $version"
  exit
fi
# There are no quotes, because an empty string must not become an argument.
cargo $toolchain check --all-features
cargo $toolchain check --no-default-features --package imid
cargo $toolchain --version
