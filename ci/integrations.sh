#!/usr/bin/env bash
# Values go through the traits of database drivers and other crates. With the features of ci/leases.sh, so that the crates are compiled once.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --workspace --all-features --test drivers
