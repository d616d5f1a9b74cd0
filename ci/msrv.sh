#!/usr/bin/env bash
# Each package compiles with the oldest version of Rust that its Cargo.toml allows. Some features of imid need a newer one:
# CONTRIBUTING.md has the table.
set -euo pipefail
cd "$(dirname "$0")/.."

core=$(sed -n '/^\[package\]/,/^\[features\]/s/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
others=$(sed -n '/^\[workspace.package\]/,/^\[package\]/s/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

# compiles VERSION ARGUMENT...
compiles() {
  local version=$1
  shift
  if cargo "+$version" --version >/dev/null 2>&1; then
    cargo "+$version" check --locked "$@"
  else
    echo "not checked: msrv: this machine has no Rust $version for ${*: -1}"
  fi
}

compiles "$core" --no-default-features --package imid
compiles "$core" --features arbitrary-1,juggleim,redis-1,schemars-1,serde,utoipa-6 --package imid
compiles "$others" --all-features --package imid-lease
compiles "$others" --all-features --package imid-cli
