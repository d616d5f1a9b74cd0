#!/usr/bin/env bash
# Each package compiles without a warning with no feature, and with each feature alone. ci/clippy.sh has all features at once. A
# package whose source names no feature is compiled once.
# Without a crypto provider and with one of each kind, TLS of each register works or is an error. ci/leases.sh has both kinds.
# The features take turns of a week and the providers of three days (ci/turn.sh), because most of them compile other crates once more.
set -euo pipefail
cd "$(dirname "$0")/.."

for manifest in Cargo.toml crates/*/Cargo.toml; do
  package=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -n 1)
  features=$(sed -n '/^\[features\]/,/^\[[^f]/s/^\([a-z][a-z0-9_-]*\) = .*/\1/p' "$manifest")
  turn=
  if grep -rq 'feature = "' "${manifest%Cargo.toml}src"; then
    turn=$(bash ci/turn.sh "features of $package" 7 <<<"$features")
  fi
  for feature in '' $turn; do
    echo "$package: ${feature:-no feature}"
    # `--package`, because a tool that needs std would give std to the library too.
    cargo clippy --quiet --package "$package" --no-default-features --features "$feature" -- -D warnings
  done
done

# With the workspace, so that most crates are those of ci/leases.sh.
mapfile -t stores < <(bash ci/services.sh list)
for provider in $(printf '%s\n' tls tls-ring tls-aws-lc-rs | bash ci/turn.sh "features of TLS" 3); do
  echo "imid-lease: $provider, with each store"
  printf -v features 'imid-lease/%s,' "$provider" "${stores[@]}"
  cargo test --quiet --workspace --features "$features" --test providers
done
