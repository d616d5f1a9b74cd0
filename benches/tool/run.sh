#!/usr/bin/env bash
# Measures `imid tag` and `imid check` against the same jobs in Python (orjson) and jq, in one run, with the memory.
#
#     benches/tool/run.sh [LINES] [ROUNDS] > tool.md
#
# Needs jq, Python and GNU time (`/usr/bin/time`). orjson comes from PyPI into a venv below the target folder. The programs take
# turns, and each result is the fastest of its rounds. OLD=/path/to/an/older/imid adds that tool.
set -euo pipefail
cd "$(dirname "$0")/../.."
lines=${1:-3000000} rounds=${2:-5}

folder=${CARGO_TARGET_DIR:-target}/tool-bench
mkdir -p "$folder"
cargo build --release --quiet -p imid-cli
imid=${CARGO_TARGET_DIR:-target}/release/imid
[ -x "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -c 'import orjson' 2> /dev/null || "$folder/venv/bin/pip" install --quiet orjson
python=$folder/venv/bin/python

input=$folder/chat-$lines.jsonl
[ -s "$input" ] || "$python" benches/tool/input.py "$lines" > "$input"
tag=(tag --session-field room --time-field at --seed 1)
"$imid" "${tag[@]}" < "$input" > "$folder/tagged.jsonl" 2> /dev/null
jq -r .id "$folder/tagged.jsonl" > "$folder/ids.txt"

# name, input, command
programs=()
add() { programs+=("$1" "$2" "${*:3}"); }
one="taskset -c 0"
[ -z "${OLD:-}" ] || add "tag: older imid" "$input" $one "$OLD" "${tag[@]}"
add "tag: imid" "$input" $one "$imid" "${tag[@]}"
add "tag: Python and orjson" "$input" $one "$python" benches/tool/tag.py
add "tag: jq (adds a number only)" "$input" $one jq -c '.+{id:input_line_number}'
add "check: imid" "$folder/ids.txt" $one "$imid" check --json
add "check --unsorted: imid" "$folder/ids.txt" $one "$imid" check --unsorted --json
add "check: Python" "$folder/ids.txt" $one "$python" benches/tool/check.py
add "stats: imid" "$folder/tagged.jsonl" $one "$imid" stats --json

declare -A best memory
for _ in $(seq "$rounds"); do
    for ((at = 0; at < ${#programs[@]}; at += 3)); do
        name=${programs[at]}
        # The words of the command are separated by spaces. `check` ends with status 1 if an ID is wrong.
        # shellcheck disable=SC2086
        /usr/bin/time -f '%e %M' -o "$folder/time" ${programs[at + 2]} < "${programs[at + 1]}" > /dev/null 2> "$folder/messages" ||
            { echo "$name failed: $(head -1 "$folder/messages")" >&2; exit 1; }
        read -r seconds kib < <(tail -1 "$folder/time")
        if [ -z "${best[$name]:-}" ] || [ "$(echo "$seconds < ${best[$name]}" | bc)" = 1 ]; then best[$name]=$seconds; fi
        memory[$name]=$kib
    done
done

printf '| %s lines, %s MB | seconds | lines per second | MiB |\n| --- | ---: | ---: | ---: |\n' \
    "$lines" "$(($(stat -c %s "$input") / 1000000))"
for ((at = 0; at < ${#programs[@]}; at += 3)); do
    name=${programs[at]}
    printf '| %s | %s | %s | %s |\n' "$name" "${best[$name]}" "$(awk "BEGIN { t = ${best[$name]}; print int($lines / (t > 0 ? t : 0.01)) }")" "$((memory[$name] / 1024))"
done
