#!/usr/bin/env bash
# ci/platforms.sh for the targets whose std is compiled first: WebAssembly in browsers and WASI, macOS (compiled only) and Windows. It
# takes 15 minutes from an empty folder, so .ci/run leaves it out; the workflow and a person run it.
set -euo pipefail
exec bash "$(dirname "$0")/platforms.sh" std
