#!/usr/bin/env bash
# Builds the program of the soaks without the rule that a commit which no replica has confirmed is not acknowledged, on MySQL and on
# PostgreSQL, as unprotected/soak in the target folder: the control of attacks in crates/imid-lease/clusters.sh.
set -euo pipefail
cd "$(dirname "$0")/../../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
copy=$target/unprotected
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -f "$file" ] || printf '%s\0' "$file"
done | xargs -0 cp --parents -t "$copy"
python3 - "$copy/crates/imid-lease/src" <<'PYTHON'
import pathlib, sys

for name, old, new in [
    ("register/mysql/semi_sync.rs", 'return Err("the server has acknowledged a commit that no replica has confirmed".into());',
     "return Ok(());"),
    ("register/postgres.rs", "connection.check_wait(row.try_get(1)?, row.try_get(2)?).await?;",
     "_ = connection.check_wait(row.try_get(1)?, row.try_get(2)?).await;"),
]:
    path = pathlib.Path(sys.argv[1]) / name
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"unprotected.sh: expected one place in {name}, found {text.count(old)}: {old}")
    path.write_text(text.replace(old, new))
PYTHON
# A folder of its own: cargo takes packages at the same place of two workspaces for one.
CARGO_TARGET_DIR=$target/rules cargo build --quiet --all-features --manifest-path "$copy/Cargo.toml" --package imid-lease --example soak
cp "$target/rules/debug/examples/soak" "$copy/soak"
