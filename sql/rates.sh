#!/usr/bin/env bash
# Compares the rates of ways to store a message in PostgreSQL, in rounds by turns, with pgbench:
#
#   sql/rates.sh [SECONDS [ROUNDS [CLIENTS]]]     5 s, 5 rounds and 16 clients, unless they are given
#
# For 1,000 rooms and for one: the medians of the rounds in messages per second, and the ratio to a UUID insert. imid_post and numbers.sql number the
# messages and keep the client keys unique, as the tables of the others do; these do not order the messages of a room.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${IMID_POSTGRES_URL:-}" ] || exec bash "$here/../ci/services.sh" run postgres -- bash "$0" "$@"
seconds=${1:-5} rounds=${2:-5} clients=${3:-16}
bench=$(command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench | tail -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
psql=(psql -X -q -v ON_ERROR_STOP=1 "$IMID_POSTGRES_URL")
export PGOPTIONS='-c search_path=imid_rates -c client_min_messages=warning'
"${psql[@]}" -c 'DROP SCHEMA IF EXISTS imid_rates CASCADE; CREATE SCHEMA imid_rates' -f "$here/postgres/tables.sql" -f "$here/postgres/mint.sql" \
  -c "CREATE TABLE uuids (id uuid PRIMARY KEY, room text NOT NULL, sender text NOT NULL, client_key text NOT NULL, body text NOT NULL, UNIQUE (room, sender, client_key));
    CREATE TABLE serials (id bigserial PRIMARY KEY, room text NOT NULL, sender text NOT NULL, client_key text NOT NULL, body text NOT NULL, UNIQUE (room, sender, client_key))"

values="'room-' || :room, 'user', gen_random_uuid()::text, 'hello'"
echo '\set room random(1, :rooms)' | tee "$folder"/{uuid,bigserial,imid_post,numbers}.sql >/dev/null
echo "INSERT INTO uuids VALUES (gen_random_uuid(), $values);" >>"$folder/uuid.sql"
echo "INSERT INTO serials (room, sender, client_key, body) VALUES ($values);" >>"$folder/bigserial.sql"
echo "SELECT * FROM imid_post('room-' || :room, 3, 'user', gen_random_uuid()::text, 'hello');" >>"$folder/imid_post.sql"
# The round trips of a program in Rust. pgbench cannot mint, so the database does.
cat >>"$folder/numbers.sql" <<'SQL'
BEGIN;
INSERT INTO rooms AS room (name, session_tag, last_number, last_id) VALUES ('room-' || :room, 12582912, 1, (SELECT last_id FROM rooms WHERE name = ''))
  ON CONFLICT (name) DO UPDATE SET last_number = room.last_number + 1
  RETURNING last_number, encode(imid_after(last_id, session_tag), 'hex') AS id, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms \gset
WITH stored AS (INSERT INTO messages VALUES (decode(:id, 'hex'), 'room-' || :room, :last_number, 'user', gen_random_uuid()::text, 'hello')
  ON CONFLICT (room, sender, client_key) DO NOTHING RETURNING id, room) UPDATE rooms SET last_id = stored.id FROM stored WHERE name = stored.room;
COMMIT;
SQL
for rooms in 1000 1; do
  for round in $(seq "$rounds"); do
    for way in uuid bigserial imid_post numbers; do
      "${psql[@]}" -c 'TRUNCATE messages, uuids, serials' -c "DELETE FROM rooms WHERE name <> ''" -c CHECKPOINT
      # The rooms are there, as those of a chat are.
      "${psql[@]}" -o /dev/null -c "SELECT imid_post('room-' || n, 3, 'user', 'first', '') FROM generate_series(1, $rooms) AS n"
      "$bench" -n -M prepared -c "$clients" -j 2 -T "$seconds" -D rooms="$rooms" -f "$folder/$way.sql" "$IMID_POSTGRES_URL" 2>"$folder/log" |
        sed -n "s/^tps = \([0-9]*\).*/$rooms $way \1/p" >>"$folder/rates" || { cat "$folder/log" >&2; exit 1; }
    done
  done
done
python3 - "$folder/rates" <<'PYTHON'
import statistics, sys
rates = {}
for line in open(sys.argv[1]):
    rooms, way, rate = line.split()
    rates.setdefault(rooms, {}).setdefault(way, []).append(int(rate))
for rooms, ways in rates.items():
    base = statistics.median(ways["uuid"])
    for way, found in ways.items():
        print(f"{rooms} rooms, {way}: {statistics.median(found):.0f} per second, {statistics.median(found) / base:.2f} of a UUID ({min(found)} to {max(found)})")
PYTHON
"${psql[@]}" -c 'DROP SCHEMA imid_rates CASCADE'
