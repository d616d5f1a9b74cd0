#!/usr/bin/env bash
# TLS of each register on real servers, with authorities and certificates that the test makes, and PgBouncer and HAProxy between
# a lease and PostgreSQL; and `imid lane doctor` on these servers. Prints which case passed for which store.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t stores < <(bash ci/services.sh list)

# Everything is compiled before the servers start. The tool brings the features of the same names of imid-lease.
# The other features are on, so that most crates are those of ci/leases.sh, but the tool needs a single crypto provider.
features=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
packages = json.load(sys.stdin)["packages"]
every = [package["name"] + "/" + feature for package in packages for feature in package["features"]]
print(*(feature for feature in every if feature != "imid-lease/tls-aws-lc-rs"), sep=",")')
cargo=(cargo test --workspace --features "$features")
"${cargo[@]}" --test tls --test urls --test cli --no-run
bash ci/services.sh install "${stores[@]}" pgbouncer haproxy || true

"${cargo[@]}" --test urls
# A URL that asks for TLS, in a build without it: one day of three, because clients are compiled once more.
if [ -n "$(bash ci/turn.sh tls 3 <<<'urls without TLS')" ]; then
  printf -v plain 'imid-lease/%s,' "${stores[@]}"
  cargo test --workspace --features "$plain" --test urls
fi
bash ci/services.sh run "${stores[@]}" -- "${cargo[@]}" --test cli doctor
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bash ci/services.sh run "${stores[@]}" -- "${cargo[@]}" --test tls 2>&1 | tee "$log"
echo "cases of TLS that passed:"
sed -n 's/^test \([a-z]*\)::\([a-z_]*\) *\.\.\. ok$/\2 \1/p' "$log" | sort |
  awk '{ stores[$1] = stores[$1] " " $2 } END { for (name in stores) printf "  %s:%s\n", name, stores[name] }' | sort
mapfile -t skipped < <(sed -n 's/^skipped: tls::\(.*\): .*/\1/p' "$log")
[ ${#skipped[@]} = 0 ] || echo "not checked: tls: ${skipped[*]}"
