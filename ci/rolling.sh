#!/usr/bin/env bash
# Rolling deployments of 6 pods over 8 lanes, with processes as pods and PostgreSQL as the register: ci/rolling.sh [TIMES], default
# 2. It repeats each of both kinds this often, and prints how long a pod was without a lane:
#   - a Deployment with maxSurge 2 and maxUnavailable 0: two new pods, with new names, start and become ready, and then two old
#     ones are told to end, while the next two start;
#   - a StatefulSet: one pod ends, and then a pod with the same name starts.
# It fails if an ID is minted twice, or if a pod does not become ready within 10 s.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != inside ]; then
  [[ ${1:-2} =~ ^[1-9][0-9]*$ ]] || { echo "rolling.sh: expected how often, found $1" >&2; exit 2; }
  cargo build --quiet --workspace --all-features --example soak
  cargo build --quiet --release --package imid-cli --features postgres,tls-ring
  bash ci/services.sh run postgres -- bash ci/rolling.sh inside "${1:-2}"
  exit
fi
times=$2
if [ -z "${IMID_POSTGRES_URL:-}" ]; then
  echo "not checked: rolling: no PostgreSQL"
  exit
fi
target=${CARGO_TARGET_DIR:-target}
soak=$target/debug/examples/soak
export IMID_SOAK_LANE_BITS=3
folder=$(mktemp -d)
declare -A pids
clean_up() {
  [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT

start() {
  [ -e "$ids/$1.commands" ] || mkfifo "$ids/$1.commands"
  # Open to read and to write, so that it never ends.
  "$soak" worker "$IMID_POSTGRES_URL" "$ids" "$1" lease <>"$ids/$1.commands" &
  pids[$1]=$!
}
is_ready() { grep -qs minted "$ids/$1-${pids[$1]}"-*.diary; }
wait_ready() {
  local end=$((SECONDS + 10))
  until is_ready "$1"; do
    [ $SECONDS -lt $end ] || { echo "rolling.sh: pod $1 is not ready after 10 s" >&2; exit 1; }
    sleep 0.02
  done
}
# As SIGTERM does in an application that closes its generator.
end() { echo quit >"$ids/$1.commands"; }
end_and_wait() {
  end "$1"
  wait "${pids[$1]}"
  unset "pids[$1]"
}

report() {
  local name line checked
  for name in "${!pids[@]}"; do end_and_wait "$name"; done
  line=$("$soak" check "$ids") || { echo "rolling.sh: $line" >&2; exit 1; }
  [[ $line =~ ^([0-9]+)\ IDs ]]
  checked=$("$soak" texts "$ids" | "$target/release/imid" check --unsorted --json 2>/dev/null) || true
  [[ $checked == *"\"valid\":${BASH_REMATCH[1]},"* && $checked == *'"duplicates":0,'* ]] || { echo "rolling.sh: imid check: $checked" >&2; exit 1; }
  echo "$1, $times times: $line"
  "$soak" starts "$ids" | sed "s/^/$1, $times times: /"
}

ids=$folder/deployment
mkdir "$ids"
pods=()
for pod in 1 2 3 4 5 6; do start "v0-$pod"; pods+=("v0-$pod"); done
for pod in "${pods[@]}"; do wait_ready "$pod"; done
for version in $(seq "$times"); do
  for pair in 1 3 5; do
    ended=("${pods[@]:0:2}")
    new=("v$version-$pair" "v$version-$((pair + 1))")
    for pod in "${new[@]}"; do start "$pod"; done
    for pod in "${new[@]}"; do wait_ready "$pod"; done
    pods=("${pods[@]:2}" "${new[@]}")
    # Nobody waits for the end of a pod: the next ones start meanwhile.
    for pod in "${ended[@]}"; do end "$pod"; done
  done
  for pod in "${!pids[@]}"; do [[ " ${pods[*]} " == *" $pod "* ]] || { wait "${pids[$pod]}"; unset "pids[$pod]"; }; done
done
report "Deployment of 6 pods"

ids=$folder/stateful
mkdir "$ids"
for pod in 0 1 2 3 4 5; do start "chat-$pod"; done
for pod in 0 1 2 3 4 5; do wait_ready "chat-$pod"; done
for _ in $(seq "$times"); do
  for pod in 5 4 3 2 1 0; do
    end_and_wait "chat-$pod"
    start "chat-$pod"
    wait_ready "chat-$pod"
  done
done
report "StatefulSet of 6 pods"
