#!/usr/bin/env bash
# Each package compiles without a warning with no feature, and with each feature alone. ci/clippy.sh has all features at once.
# Without a crypto provider, with one of each kind and with both, TLS of each register works or is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

for manifest in Cargo.toml crates/*/Cargo.toml; do
  package=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -n 1)
  for feature in '' $(sed -n '/^\[features\]/,/^\[[^f]/s/^\([a-z][a-z0-9_-]*\) = .*/\1/p' "$manifest"); do
    echo "$package: ${feature:-no feature}"
    # `--package`, because a tool that needs std would give std to the library too.
    cargo clippy --quiet --package "$package" --no-default-features --features "$feature" -- -D warnings
  done
done

for providers in tls tls-ring tls-aws-lc-rs tls-ring,tls-aws-lc-rs; do
  echo "imid-lease: $providers, with each store"
  cargo test --quiet --package imid-lease --features "$providers,postgres,mysql,redis,etcd,zookeeper" --test providers
done
