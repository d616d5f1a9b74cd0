#!/bin/sh
# Prints the table of faults as Markdown. It needs Debian's libfaketime, and installs it if it is missing.
#
#   benches/faults/run.sh            every peer, about forty minutes
#   benches/faults/run.sh imid       only the peers whose name starts with "imid"
set -eu
cd "$(dirname "$0")"

library() {
    find /usr/lib /usr/local/lib -name libfaketimeMT.so.1 2>/dev/null | head -n 1
}

if [ -z "$(library)" ]; then
    apt-get install -y faketime >&2
fi
cargo build --release --quiet
# The table has only words. The outcomes in full go to a log beside the binary.
exec target/release/imid-faults "$(library)" "$@" 2>target/outcomes.log
