#!/usr/bin/env bash
# Measures the gap-free recipes of recipes/ on real servers: 32 clients, each with one connection, store messages for SECONDS
# (10 by default) in CONVERSATIONS conversations (1,000 and 1). A tenth of the transactions is rolled back. Then it counts
# gaps and repeats.
#
#   crates/imid-lease/gap_free.sh [SECONDS]
#
# The last line of each run is `STORE, N conversations: R messages per second, G gaps, D repeats`. The status is 1 if there is
# a gap or a repeat.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${IMID_SERVICES:-}" ]; then
  exec bash "$here/../../ci/services.sh" run postgres mysql -- bash "$here/gap_free.sh" "$@"
fi
seconds=${1:-10}
clients=32
status=0
# Nanoseconds of the last run.
took=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Splits a recipe at its `-- statement` line.
tables() { sed '/^-- statement/,$d' "$here/recipes/gap_free_$1.sql"; }
statement() { sed '1,/^-- statement/d' "$here/recipes/gap_free_$1.sql"; }

# Numbers are gap-free if each conversation has as many messages as its greatest number. The key forbids repeats.
count='SELECT count(*), coalesce(sum(greatest - messages), 0), coalesce(sum(messages - numbers), 0), coalesce(sum(messages), 0)
  FROM (SELECT max(number) AS greatest, count(*) AS messages, count(DISTINCT number) AS numbers FROM message
  GROUP BY conversation) AS c'

# Prints the last line of a run.
report() {
  local store=$1 wanted=$2 used=$3 gaps=$4 repeats=$5 messages=$6
  echo "$store, $wanted conversations ($used used), $clients clients: $((messages * 1000 / (took / 1000000))) messages per second, $gaps gaps, $repeats repeats"
  [ "$gaps" = 0 ] && [ "$repeats" = 0 ] && [ "$messages" -gt 0 ] || status=1
}

postgres() {
  local conversations=$1 pgbench start
  pgbench=$(command -v pgbench || ls -d /usr/lib/postgresql/*/bin/pgbench | sort -V | tail -n 1)
  psql -qX "$IMID_POSTGRES_URL" -c 'DROP TABLE IF EXISTS conversation, message' 2>/dev/null
  tables postgres | psql -qX "$IMID_POSTGRES_URL"
  {
    echo "\\set conversation random(1, $conversations)"
    echo '\set luck random(1, 10)'
    echo 'BEGIN;'
    statement postgres
    printf '\\if :luck = 1\nROLLBACK;\n\\else\nCOMMIT;\n\\endif\n'
  } >"$folder/postgres.sql"
  start=$(date +%s%N)
  "$pgbench" -n -c $clients -j 2 -T "$seconds" -f "$folder/postgres.sql" "$IMID_POSTGRES_URL" >"$folder/pgbench" 2>&1 ||
    { cat "$folder/pgbench"; return 1; }
  took=$(($(date +%s%N) - start))
  report postgres "$conversations" $(psql -qXAt -F ' ' "$IMID_POSTGRES_URL" -c "$count")
}

mysql() {
  local conversations=$1 rest user password host port client end start
  rest=${IMID_MYSQL_URL#mysql://}
  user=${rest%%:*} rest=${rest#*:} password=${rest%%@*} rest=${rest#*@} host=${rest%%:*} rest=${rest#*:} port=${rest%%/*}
  client() { mariadb --no-defaults -h "$host" -P "$port" -u "$user" "-p$password" -N -B "$@" imid; }
  client -e 'DROP TABLE IF EXISTS conversation, message'
  tables mariadb | client
  start=$(date +%s%N) end=$(($(date +%s) + seconds))
  # Each client has one connection. The statements come through a pipe, so a slow server slows the shell, too.
  for _ in $(seq $clients); do
    {
      RANDOM=$BASHPID
      sql=$(statement mariadb | sed '/^--/d')
      while [ "$(printf '%(%s)T' -1)" -lt $end ]; do
        how=COMMIT
        [ $((RANDOM % 10)) -gt 0 ] || how=ROLLBACK
        printf 'START TRANSACTION; %s %s;\n' "${sql//:conversation/$((RANDOM % conversations + 1))}" $how
      done
    } | client --unbuffered >/dev/null 2>>"$folder/errors" &
  done
  wait
  # A client ends at its first error.
  [ ! -s "$folder/errors" ] || { sort "$folder/errors" | uniq -c | sort -rn | head -n 3; status=1; }
  took=$(($(date +%s%N) - start))
  report mariadb "$conversations" $(client -e "$count")
}

for store in postgres mysql; do
  url=IMID_${store^^}_URL
  if [ -z "${!url:-}" ]; then
    echo "skipped: gap_free: $store does not run"
    continue
  fi
  for conversations in 1000 1; do "$store" $conversations; done
done
exit $status
