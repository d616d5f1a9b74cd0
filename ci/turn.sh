#!/usr/bin/env bash
# Prints the lines of its input whose turn it is, so that each one comes every DAYS days: ci/turn.sh CHECK DAYS <LINES. IMID_CI_SEED sets
# the day, and with IMID_CI_ALL=1 it is the turn of all. What has another day is named on standard error, as `.ci/run` reads it.
set -euo pipefail
check=$1 days=$2 day=${IMID_CI_SEED:-$(date -u +%Y%m%d)}
[[ $day =~ ^[1-9][0-9]{0,11}$ ]] || { echo "turn.sh: expected a number of 1 to 12 digits in IMID_CI_SEED, found '$day'" >&2; exit 2; }
if [ "${IMID_CI_ALL:-}" = 1 ]; then
  cat
  exit
fi
# Days since 1970: the numbers of dates have gaps between months.
if seconds=$(date -u -d "$day" +%s 2>/dev/null); then day=$((seconds / 86400)); fi
awk -v check="$check" -v days="$days" -v turn=$((day % days)) '
  NR % days == turn { print; next }
  { others = others ", " $0 }
  END { if (others) printf "not checked: %s: %s (on other days; all with IMID_CI_ALL=1)\n", check, substr(others, 3) >"/dev/stderr" }'
