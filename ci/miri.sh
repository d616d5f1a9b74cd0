#!/usr/bin/env bash
# The unit tests beside `unsafe` code have no undefined behaviour that Miri finds: text from ASCII, the clock, the call that notices a
# fork, and the codec's tables. Miri has no AVX2 gather and no `pthread_atfork`: tests of those are left out here by name and run
# natively in ci/tests.sh and, with sanitizers, in ci/platforms.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
  echo "not checked: miri: nightly Rust has no miri here (rustup component add --toolchain nightly miri rust-src)"
  exit
fi
# The clock and the environment of the machine are real; the address space is not.
export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-strict-provenance" PROPTEST_CASES=4 CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/miri
cargo +nightly miri test --package imid --lib -- codec:: clock:: id:: session:: dialect:: --skip avx2
cargo +nightly miri test --package imid-snowflake --lib
