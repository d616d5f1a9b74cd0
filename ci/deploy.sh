#!/usr/bin/env bash
# What deploy/ has works: promtool accepts the alert rules, each of them fires when it should, and the demonstration ends without
# duplicates.
set -euo pipefail
cd "$(dirname "$0")/.."
bash ci/services.sh install prometheus || true
if command -v promtool >/dev/null; then
  promtool check rules deploy/alerts.yml
  promtool test rules deploy/alerts.test.yml
else
  echo "not checked: deploy: no promtool"
fi
bash deploy/demo.sh
