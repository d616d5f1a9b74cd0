#!/usr/bin/env bash
# The README's test command: unit, integration and documentation tests, with every feature.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --all-features
