#!/usr/bin/env bash
# Makes an authority and the certificate of a PostgreSQL server, once: certificates.sh FOLDER HOST GROUP
#
# The files are ca.pem, server.pem and server.key. The key belongs to root, and GROUP may read it: PostgreSQL takes it so. The key of
# the authority is not kept.
set -euo pipefail
cd "$1"
[ ! -e server.pem ] || exit 0
keys=$(mktemp -d)
trap 'rm -rf "$keys"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=authority of a trial" \
  -keyout "$keys/ca.key" -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$2" -keyout server.key -out "$keys/server.csr"
printf 'subjectAltName = DNS:%s\nextendedKeyUsage = serverAuth\n' "$2" >"$keys/extensions"
openssl x509 -req -days 3650 -in "$keys/server.csr" -CA ca.pem -CAkey "$keys/ca.key" -CAcreateserial -CAserial "$keys/serial" \
  -extfile "$keys/extensions" -out "$keys/server.pem"
chown "root:$3" server.key
chmod 640 server.key
chmod 644 ca.pem
# The last one, because it says that all are there.
install -m 644 "$keys/server.pem" server.pem
