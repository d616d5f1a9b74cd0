#!/bin/sh
# Prints the table of faults as Markdown. Needs Debian's libfaketime, and installs it where it is missing and may be.
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
# Outcomes in full go to a log beside the binary: the table has the words only.
exec target/release/imid-faults "$(library)" "$@" 2>target/outcomes.log
