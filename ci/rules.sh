#!/usr/bin/env bash
# Each rule of the lease protocol is needed: it is taken away from a copy of the source, and then a schedule of the
# model (crates/imid-lease-protocol/tests/simulation), or a case of spec/lease.json, must show the fault within two minutes: ci/rules.sh [NAME].
# With a name, only the rules whose names contain it; without one, the fifth of the rules whose turn it is (ci/turn.sh).
# The rules that are kept outside of the engine are in the model's rules.rs.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -f "$file" ] || printf '%s\0' "$file"
done | xargs -0 cp --parents -t "$folder"
# One target folder for all mutants, so that only the library is compiled again.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/rules CARGO_INCREMENTAL=1 IMID_LEASE_SCHEDULES=${IMID_LEASE_SCHEDULES:-500}

python3 - "$folder" "${1:-}" <<'PYTHON'
import pathlib, re, subprocess, sys, time

ENGINE = pathlib.Path(sys.argv[1]) / "crates/imid-lease-protocol/src/engine"
SECONDS = 120
OVERLAP, ORDER, LEAD, STUCK = "Overlap", "Order", "Lead", "Stuck"

# Name; what goes wrong without it; the faults that show it; and the patches: file, text, text in its place.
RULES = [
    ("grant-when-acknowledged", "a holder mints below a ceiling that no other process can see", OVERLAP, [
        ("mod.rs", "if outcome == Outcome::Acknowledged {\n                    self.taken(",
                   "if outcome != Outcome::Conflict {\n                    self.taken("),
        ("mod.rs", "Outcome::Unknown => self.step = Step::Check { at_ms: again_ms },",
                   "Outcome::Unknown => { let _ = again_ms; self.acknowledge(at, attempt) }")]),
    ("wait-for-time-out", "live holders lose their lanes", "LostWhileHealthy", [
        ("seek.rs", "if seen.is_stale || is_taken && !is_own {", "if seen.is_stale || is_taken && !is_own && false {")]),
    ("wait-for-horizon", "a slow holder loses its lane", "LostWhileHealthy", [
        ("seek.rs", "self.unchanged_ms(at) < record.horizon_ms", "self.unchanged_ms(at) < record.horizon_ms / 4")]),
    ("floor-at-ceiling", "two holders mint the same stamps", OVERLAP, [
        ("seek.rs", "        let taken = Present {",
                    "        let floor_ms = at.now_ms.unwrap_or(floor_ms);\n        let taken = Present {")]),
    ("floor-of-the-space", "a lane begins below what a recovered register has granted", OVERLAP, [
        ("seek.rs", "Some(record) => Some(record.ceiling_ms.max(floor_ms)),", "Some(record) => Some(record.ceiling_ms),")]),
    ("floor-after-own-stamps", "IDs go back when the lane changes", ORDER, [
        ("mod.rs", "taken.floor_ms = taken.floor_ms.max(self.used_until_ms);", "")]),
    ("own-grant-only", "a late acknowledgement raises the ceiling of another lane", OVERLAP, [
        ("mod.rs", "self.present = Some(*taken);",
                   "if let Some(before) = &self.present { taken.attempts.splice(0..0, before.attempts.clone()); }\n"
                   "                self.present = Some(*taken);")]),
    ("lose-to-others", "two holders raise one ceiling", OVERLAP, [
        ("hold.rs", "Some(found) if present.wrote(&found) => {", "Some(found) => {")]),
    ("stop-when-the-register-went-back", "stamps are granted twice", OVERLAP, [
        ("seek.rs", "let Some(known) = self.acknowledged.get(&lane) else { return false };",
                    "let Some(known) = self.acknowledged.get(&lane).filter(|_| false) else { return false };")]),
    ("never-resume", "a lane is used after its release", OVERLAP, [
        ("mod.rs", "if outcome == Outcome::Conflict {\n                    self.step = Step::CheckRelease",
                   "if outcome != Outcome::Acknowledged {\n                    self.is_closing = false;\n"
                   "                    self.step = Step::Start;\n"
                   "                    if let Some(present) = &mut self.present {\n"
                   "                        present.floor_ms = present.floor_ms.max(self.used_until_ms);\n"
                   "                    }\n                } else if outcome == Outcome::Conflict {\n"
                   "                    self.step = Step::CheckRelease")]),
    ("release-own-record-only", "another holder's record is overwritten", OVERLAP, [
        ("hold.rs", "            && present.wrote(&found)\n", "")]),
    ("keep-the-end", "a released lane begins at the beginning of time", OVERLAP, [
        ("hold.rs", "ceiling_ms: present.floor_ms.max(self.used_until_ms),", "ceiling_ms: 0,")]),
    ("only-raise", "a clock that steps back grants stamps twice", OVERLAP, [
        ("hold.rs", "by_clock.max(by_record).max(by_stamps).min(END_OF_TIME_MS)",
                    "{ let _ = (by_record, by_stamps); by_clock.min(END_OF_TIME_MS) }"),
        ("hold.rs", "if ceiling_ms <= present.record.ceiling_ms {", "if false {"),
        ("seek.rs", "if ceiling_ms <= floor_ms.max(self.used_until_ms) {", "if false {"),
        ("hold.rs", "present.ceiling_ms = present.ceiling_ms.max(record.ceiling_ms);\n        present.room_ms",
                    "present.ceiling_ms = record.ceiling_ms;\n        present.room_ms")]),
    ("grow-with-time", "a holder whose clock stepped back stops", STUCK, [
        ("hold.rs", "by_clock.max(by_record).max(by_stamps).min(END_OF_TIME_MS)",
                    "{ let _ = (by_record, by_stamps); by_clock.max(self.ceiling_ms).min(END_OF_TIME_MS) }")]),
    ("grow-by-elapsed-only", "the ceiling leads by a horizon for each restart", LEAD, [
        ("hold.rs", "let elapsed = self.known_for_ms.min(self.horizon_ms);", "let elapsed = self.horizon_ms;")]),
    ("lead-of-stamps-only", "the lead of a clock that was ahead never ends", LEAD, [
        ("hold.rs", "self.ceiling_ms.saturating_add(elapsed).min(most);", "{ let _ = most; self.ceiling_ms.saturating_add(elapsed) };")]),
    ("grow-always", "a holder whose ceiling is far ahead writes nothing, and loses its lane", "the clock steps back", [
        ("hold.rs", ".max(self.ceiling_ms.saturating_add(1));", ";")]),
    ("skip-far-ahead", "one wild clock moves the IDs of others", "FarAhead", [
        ("seek.rs", "if is_far && !accepts_far {", "if is_far && !accepts_far && false {")]),
    ("refuse-far-ahead", "a clock that was ahead for two seconds moves the IDs of an hour", "FarAhead", [
        ("seek.rs", "self.config.any_lead || self.present.is_some() && self.are_all_far(at)", "self.config.any_lead || self.are_all_far(at)")]),
    ("a-read-proves-nothing", "a description that is read and then lost stops processes", STUCK, [
        ("seek.rs", "        let meta = match MetaRecord::parse(text) {",
                    "        self.proven.clone_from(&self.meta);\n        let meta = match MetaRecord::parse(text) {"),
        ("seek.rs", "            if self.proven.is_some() {", "            if self.meta.is_some() {")]),
    ("renew-early", "minting stops at each renewal", "RefusedWhileHealthy|LostWhileHealthy", [
        ("hold.rs", "let wants_room = left_ms <= present.room_ms / 2;", "let wants_room = left_ms > u64::MAX - 1;"),
        ("hold.rs", "acknowledged_at_ms + horizon_ms / 4;", "acknowledged_at_ms + horizon_ms;")]),
    ("renew-seldom", "an overload floods the register", "TooOften", [
        ("hold.rs", "attempted + MIN_GAP_MS)", "attempted)"),]),
    ("read-the-description-again", "a lane is used beside a space that was created again", OVERLAP, [
        ("seek.rs", "if text.map(MetaRecord::parse).and_then(Result::ok) != self.meta {", "if text.is_some() && text.is_none() {")]),
    ("closed-is-taken-by-nobody", "the new lanes repeat what a closed one mints", OVERLAP, [
        ("seek.rs", "Some(record) if record.state == LaneState::Closed => None,", "")]),
    ("never-a-new-space-over-lanes", "lanes of a space without a description are granted twice", OVERLAP, [
        ("../admin.rs", "if !register.list(&space.prefix())?.is_empty() {", "if false {")]),
    ("recover-each-lane", "a process that took a lane beside a recovery keeps it, and nobody is told", "Unnoticed", [
        ("../admin.rs", "        records.push((key, record, text));\n    }\n    let granted",
                        "        if record.is_some() {\n            records.push((key, record, text));\n        }\n    }\n    let granted")]),
    ("recover-above-the-horizons", "a recovery by a horizon that is too short grants what was granted", OVERLAP, [
        ("../admin.rs", "granted().map(|(_, record)| record.horizon_ms).max().unwrap_or(0)", "0")]),
    ("recover-above-the-ceilings", "a recovery below a ceiling of the backup grants what was granted", OVERLAP, [
        ("../admin.rs", "record.ceiling_ms > floor_ms)", "record.ceiling_ms > floor_ms && false)")]),
    ("never-back", "a clock that jumped back is believed, and the IDs stand still", "Behind", [
        ("clock_judgement.rs", "self.good.is_none_or(|good| found < good)", "self.good.is_none()")]),
    ("same-space", "lanes of another space are taken beside those of the first", OVERLAP, [
        ("seek.rs", "known.space_id != meta.space_id || meta.version", "meta.version")]),
    ("no-older-version", "a lane is taken whose recovery was lost", OVERLAP, [
        ("seek.rs", "meta.version < known.version || ", "")]),
    ("no-older-era", "lanes of an earlier number are taken", OVERLAP, [
        ("seek.rs", " || meta.era < known.era)", ")")]),
    ("end-of-a-release", "a process that gives its lane back does not end", STUCK, [
        ("mod.rs", "(Step::CheckingRelease { tries }, Ok(text)) =>", "(Step::CheckingRelease { tries }, Ok(text)) if { let _ = tries; false } =>")]),
    ("check-meta", "lanes of two sizes overlap", OVERLAP, [
        ("seek.rs", "if !is_expected {", "if !is_expected && false {")]),
]

def tests():
    """Returns the output of the tests, and whether all have passed. Only the tests have a time limit."""
    command = ["cargo", "test", "--quiet", "--package", "imid-lease-protocol", "--test", "simulation"]
    built = subprocess.run([*command, "--no-run"], cwd=sys.argv[1], capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"rules.sh: it does not compile:\n{built.stderr}")
    result = subprocess.run(command, cwd=sys.argv[1], capture_output=True, text=True, timeout=SECONDS)
    return result.stdout + result.stderr, result.returncode == 0

def run():
    output, passed = tests()
    if not passed:
        sys.exit(f"rules.sh: the model fails with all rules:\n{output}")
    missed, wanted = [], [rule[0] for rule in RULES if sys.argv[2] in rule[0]]
    if not sys.argv[2]:
        turn = subprocess.run(["bash", "ci/turn.sh", "rules", "5"], input="\n".join(wanted), text=True, stdout=subprocess.PIPE, check=True)
        wanted = turn.stdout.split()
    for name, without, faults, patches in RULES:
        if name not in wanted:
            continue
        before = {}
        for file, old, new in patches:
            path = ENGINE / file
            text = path.read_text()
            before.setdefault(path, text)
            if text.count(old) != 1:
                sys.exit(f"rules.sh: {name}: expected one place in {file}, found {text.count(old)}: {old}")
            path.write_text(text.replace(old, new))
        start = time.monotonic()
        try:
            output, _ = tests()
            found = re.search(rf"(?:left: Some\(|^FAILED )(({faults})\b[^)\n]*)", output, re.M)
        except subprocess.TimeoutExpired:
            found = None
        print(f"without {name}: {without}: {found.group(1) if found else 'NOT FOUND'} ({time.monotonic() - start:.0f} s)",
              flush=True)
        if not found:
            missed.append(name)
        for path, text in before.items():
            path.write_text(text)
    if missed:
        sys.exit(f"rules.sh: no schedule shows what goes wrong without {', '.join(missed)}")

run()
PYTHON
