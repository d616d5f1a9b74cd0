#!/usr/bin/env bash
# What deploy/ has works: promtool accepts the alert rules and Prometheus' file, each rule fires when it should, the demonstration ends
# without duplicates, docker-compose accepts its file, and the manifests of Kubernetes are what two linters accept and what the gateway of
# examples/chat and the one with a lease of imid-lease do, with TLS to PostgreSQL as in the compose file. Without a program that it needs, it
# says what was not checked.
set -euo pipefail
cd "$(dirname "$0")/.."
# PyPI may be slow.
export PIP_RETRIES=10 PIP_DEFAULT_TIMEOUT=60
export PATH=$PATH:/usr/sbin:/sbin
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
not_checked() { echo "not checked: deploy: $*"; }
bash ci/services.sh install prometheus docker-compose python || true

if command -v promtool >/dev/null; then
  promtool check rules deploy/alerts.yml
  promtool test rules deploy/alerts.test.yml
  # Both are in one folder in the container.
  cp deploy/alerts.yml deploy/compose/prometheus.yml "$folder"
  promtool check config "$folder/prometheus.yml"
else
  not_checked "alerts.yml and compose/prometheus.yml: no promtool"
fi
bash deploy/demo.sh
if command -v docker-compose >/dev/null; then
  docker-compose --file deploy/compose.yml --profile lease config --quiet
  echo "ok: docker-compose accepts compose.yml"
else
  not_checked "compose.yml: no docker-compose"
fi

venv=$target/deploy-venv
if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate pyyaml; then
  "$venv/bin/kubernetes-validate" --strict --no-warn deploy/kubernetes.yml deploy/kubernetes-lease.yml deploy/kubernetes-register.yml \
    deploy/kubernetes-file.yml
  # CKV_K8S_43: the example has no registry, so its image has no digest. CKV_K8S_35: PostgreSQL's URL is one variable of the gateway.
  if "$venv/bin/pip" install --quiet --disable-pip-version-check checkov; then
    "$venv/bin/checkov" --file deploy/kubernetes.yml deploy/kubernetes-lease.yml deploy/kubernetes-register.yml --framework kubernetes \
      --compact --quiet --skip-download --skip-check CKV_K8S_43,CKV_K8S_35
    echo "ok: checkov accepts the manifests"
  else
    not_checked "the manifests by checkov: PyPI cannot be reached"
  fi
  cargo build --quiet --locked --manifest-path examples/chat/Cargo.toml --bin imid-chat --target-dir "$target"
  cargo build --quiet --locked --manifest-path crates/imid-lease/examples/gateway/Cargo.toml --target-dir "$target"
  cargo build --quiet --locked --release --features postgres,tls-ring --package imid-cli
  bash ci/services.sh run postgres -- "$venv/bin/python" deploy/pod.py "$target/debug/imid-chat" "$target/debug/imid-gateway" \
    "$target/release/imid" "$folder"
else
  not_checked "kubernetes*.yml: PyPI cannot be reached"
fi
