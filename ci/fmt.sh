#!/usr/bin/env bash
# All files of all packages are formatted as rustfmt.toml says.
set -euo pipefail
cd "$(dirname "$0")/.."

find . -name target -prune -o -name '*.rs' -print0 | xargs -0 rustfmt --edition 2024 --check
