#!/usr/bin/env bash
# The library compiles with the oldest version of Rust that Cargo.toml allows.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n '/^\[package\]/,/^\[features\]/s/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if [[ $(rustc --version) == "rustc $version."* ]]; then
  echo "$(rustc --version) is the oldest version that Cargo.toml allows, so the other checks show that it compiles everything"
  exit
fi
if ! rustup toolchain list | grep -q "^$version"; then
  echo "not checked: msrv: this machine has no Rust $version"
  exit
fi
cargo "+$version" check --all-features --package imid
cargo "+$version" check --no-default-features --package imid
