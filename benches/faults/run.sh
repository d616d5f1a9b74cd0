#!/bin/sh
# Prints the table of faults as Markdown. Needs libfaketime. If it is missing, installs it with apt-get, which needs root.
#
#   benches/faults/run.sh            every peer, about half an hour
#   benches/faults/run.sh imid       the peers whose names start with this
set -eu
cd "$(dirname "$0")"

library() {
    find /usr/lib /usr/local/lib -name libfaketimeMT.so.1 2>/dev/null | head -n 1
}

if [ -z "$(library)" ]; then
    apt-get install -y faketime >&2
fi
cargo build --release --quiet
# The full outcomes go to target/outcomes.log.
exec target/release/imid-faults "$(library)" "$@" 2>target/outcomes.log
