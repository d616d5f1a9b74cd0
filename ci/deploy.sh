#!/usr/bin/env bash
# What deploy/ has works: promtool accepts the alert rules, each of them fires when it should, the demonstration ends without
# duplicates, and the services of the compose file run as processes. Without a program or a right that it needs, it says what was
# not checked.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/sbin:/sbin
bash ci/services.sh install prometheus || true
if command -v promtool >/dev/null; then
  promtool check rules deploy/alerts.yml
  promtool test rules deploy/alerts.test.yml
else
  echo "not checked: deploy: no promtool"
fi
bash deploy/demo.sh

# docker-compose of Python knows less than that of Docker, and is Debian's.
if command -v docker-compose >/dev/null; then
  docker-compose --file deploy/compose.yml config --quiet
else
  echo "not checked: deploy: no docker-compose"
fi
bash ci/services.sh install postgres || true
separate=(unshare --net --pid --fork --kill-child --mount --mount-proc)
has_all() {
  python3 -c 'import yaml' && prometheus --version && openssl version && psql --version && "${separate[@]}" ip link add test type bridge
}
if has_all >/dev/null 2>&1; then
  # As the Dockerfile does, without optimization.
  target=${CARGO_TARGET_DIR:-target}
  cargo build --quiet --locked --features tls --manifest-path examples/chat/Cargo.toml --bin imid-chat --target-dir "$target"
  "${separate[@]}" python3 ci/compose.py "$(realpath "$target")/debug"
else
  echo "not checked: deploy: the compose file (it needs root, ip, Prometheus, PostgreSQL, openssl and Python's yaml)"
fi
