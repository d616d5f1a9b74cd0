#!/usr/bin/env bash
# A holder in Python that follows spec/PROTOCOL.md (crates/imid-lease/tests/holder.py) runs beside holders of the library on PostgreSQL
# and on etcd, while both are killed, paused and started again: ci/holder.sh [SECONDS of each], default 15. It fails if an ID is
# minted twice, if no Python holder renews a lane, or if no ID is minted twice once the Python holder does not check its ceiling.
# Before that, spec/lease/statements.py runs the statements of the page on the stores that they are for.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
if [ "${1:-}" != inside ]; then
  [[ ${1:-15} =~ ^[1-9][0-9]*$ ]] || { echo "holder.sh: expected seconds, found $1" >&2; exit 2; }
  cargo build --quiet --workspace --all-features --example soak
  bash ci/services.sh install python || { echo "not checked: holder: no Python with venv"; exit; }
  "$target/holder/bin/python" -c 'import pg8000, pymysql, redis' 2>/dev/null ||
    { python3 -m venv "$target/holder" && "$target/holder/bin/pip" --quiet install pg8000==1.31.5 PyMySQL==1.2.4 redis==8.1.0; }
  bash ci/services.sh run postgres mysql redis etcd -- bash ci/holder.sh inside "${1:-15}"
  exit
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$target/holder/bin/python" spec/lease/statements.py
"$target/holder/bin/python" - "$target/debug/examples/soak" "$folder" "$2" <<'PYTHON'
import os, pathlib, random, re, signal, subprocess, sys, time

SOAK, FOLDER, SECONDS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
BITS = "2"  # Four lanes for six holders, so that a lane is taken as soon as its holder is silent.


class Trial:
    def __init__(self, store, environment):
        self.url, self.folder = os.environ[f"IMID_{store.upper()}_URL"], FOLDER / f"{store}{len(environment)}"
        self.folder.mkdir()
        self.is_control = bool(environment)
        self.environment = {**os.environ, "IMID_SOAK_LANE_BITS": BITS, **environment}
        self.holders, self.kills, self.pauses = {}, 0, 0

    def start(self, name):
        if name.startswith("rust"):
            command = [SOAK, "worker", self.url, self.folder, name, "lease"]
        else:
            command = [sys.executable, "crates/imid-lease/tests/holder.py", self.url, self.folder, name, BITS, self.tags]
        self.holders[name] = subprocess.Popen(command, stdin=subprocess.PIPE, env=self.environment)

    def sessions(self):
        """Returns the session tags of the library's holders: the lowest 26 bits of their IDs."""
        tags = set()
        while len(tags) < 4:
            time.sleep(0.1)
            for path in self.files("rust"):
                ids = path.read_bytes()[:1000]
                tags |= {int.from_bytes(ids[at:at + 10], "big") % (1 << 26) for at in range(0, len(ids) - 9, 10)}
        return ",".join(map(str, sorted(tags)))

    def fault(self, seed):
        name = seed.choice(sorted(self.holders))
        if self.is_control:
            # One that holds a lane.
            name = max(self.files("python"), key=lambda path: path.stat().st_mtime_ns).name[:len("python-1")]
        process = self.holders[name]
        # The horizon is two seconds.
        if self.is_control or seed.random() < 0.7:
            self.pauses += 1
            process.send_signal(signal.SIGSTOP)
            time.sleep(seed.uniform(3, 4) if self.is_control else seed.uniform(1, 4))
            process.send_signal(signal.SIGCONT)
        else:
            self.kills += 1
            process.kill()
            process.wait()
            self.start(name)

    def run(self, seconds):
        seed, end = random.Random(1), time.monotonic() + seconds
        try:
            for name in ("rust-1", "rust-2", "rust-3"):
                self.start(name)
            self.tags = self.sessions()
            for name in ("python-1", "python-2", "python-3"):
                self.start(name)
            # A busy machine has more time. Each pause of the control adds some duplicates.
            pauses, kills = (12, 0) if self.is_control else (4, 2)
            while time.monotonic() < end or self.pauses < pauses or self.kills < kills or not self.has_renewed():
                if time.monotonic() > end + 300:
                    sys.exit(f"holder.sh: {self.url.split(':')[0]}: no Python holder renews a lane: {self.counts('python')} IDs")
                time.sleep(seed.uniform(0.2, 0.8))
                if self.counts("python"):
                    self.fault(seed)
                ended = [name for name, process in self.holders.items() if process.poll() is not None]
                if ended:
                    sys.exit(f"holder.sh: {self.url.split(':')[0]}: {ended} ended")
            # Before that, SIGTERM does not end a Python holder in order.
            while not all(list(self.files(f"{name}-{process.pid}")) for name, process in self.holders.items() if "python" in name):
                time.sleep(0.1)
            for name, process in self.holders.items():
                process.stdin.close() if name.startswith("rust") else process.terminate()
            codes = {name: process.wait(60) for name, process in self.holders.items()}
        finally:
            for process in self.holders.values():
                process.kill()
        line = subprocess.run([SOAK, "check", self.folder], capture_output=True, text=True).stdout.strip()
        found = re.match(r"(\d+) IDs, (\d+) duplicates, (\d+) out of order", line)
        of_python = self.counts("python")
        return int(found[2]), f"{line}; {of_python} IDs by Python, {self.kills} kills, {self.pauses} pauses", codes, int(found[3])

    def has_renewed(self):
        """Returns whether a Python holder has minted for more than two horizons: the first write of a lane grants one."""
        def span_ms(path):
            with path.open("rb") as file:
                first = file.read(10)
                file.seek(path.stat().st_size // 10 * 10 - 10)
                return (int.from_bytes(file.read(10), "big") >> 38) - (int.from_bytes(first, "big") >> 38)
        return any(path.stat().st_size >= 10 and span_ms(path) > 4000 for path in self.files("python"))

    def files(self, name):
        return self.folder.glob(f"{name}*.ids")

    def counts(self, name):
        return sum(path.stat().st_size // 10 for path in self.files(name))


failed = False
for store in ("postgres", "etcd"):
    if f"IMID_{store.upper()}_URL" not in os.environ:
        print(f"not checked: holder: no {store}")
        continue
    duplicates, line, codes, out_of_order = Trial(store, {}).run(SECONDS)
    print(f"{store}: {line}", flush=True)
    wrong = {name: code for name, code in codes.items() if code != 0}
    if duplicates or out_of_order or wrong:
        print(f"holder.sh: {store}: expected no duplicates and that all end in order: {wrong}", file=sys.stderr)
        failed = True
if "IMID_POSTGRES_URL" in os.environ:
    duplicates, line, _, _ = Trial("postgres", {"IMID_HOLDER_NO_CEILING": "1"}).run(SECONDS)
    print(f"control, without the check of the ceiling: {line}")
    if duplicates == 0:
        print("holder.sh: the control has no duplicates, so the others prove nothing", file=sys.stderr)
        failed = True
sys.exit(failed)
PYTHON
