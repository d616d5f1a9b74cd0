#!/usr/bin/env bash
# Random tests with another seed each day; ci/tests.sh and ci/rules.sh draw the same ones each time. The seed is the date, and
# IMID_CI_SEED=20261123 ci/explore.sh repeats the run of that day.
set -euo pipefail
cd "$(dirname "$0")/.."
seed=${IMID_CI_SEED:-$(date -u +%Y%m%d)}
[[ $seed =~ ^[1-9][0-9]{0,11}$ ]] || { echo "explore.sh: expected a number of 1 to 12 digits in IMID_CI_SEED, found '$seed'" >&2; exit 2; }
repeat="repeat it with IMID_CI_SEED=$seed ci/explore.sh"
echo "seed $seed; $repeat"
trap '[ $? = 0 ] || echo "explore.sh: failed with seed $seed; $repeat" >&2' EXIT

# Without `--package`, which has other features, so that the programs are those of ci/tests.sh.
# The model of leases: schedules that no other day plays, and fleets of up to 1,000 processes.
IMID_LEASE_FIRST=${seed}000 IMID_LEASE_SCHEDULES=${IMID_LEASE_SCHEDULES:-1000} IMID_LEASE_FLEET=1000 \
  cargo test --test simulation -- --nocapture random_schedules a_lead_is_at_most a_table_of_fleets
# The properties.
export PROPTEST_RNG_SEED=$seed
cargo test --lib --test find --test forms --test identify --test model --test scripted_clock --test session --test store
