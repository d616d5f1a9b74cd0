#!/usr/bin/env bash
# The packages for crates.io have the files that users need and no others, and they and their unit tests compile as they are
# packed. Their READMEs have no link that works only in this repository. Their manifests have what crates.io and docs.rs show, and the
# versions of the packages on each other fit.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}

# check PACKAGE FILE...: fails unless the package has these files. Also fails if it has a folder that only this repository
# needs.
check() {
  local files package=$1
  shift
  files=$(cargo package --package "$package" --list --allow-dirty)
  for wanted in "$@"; do
    grep -qxF "$wanted" <<<"$files" || { echo "package.sh: $package has no $wanted" >&2; exit 1; }
  done
  # imid's README is that of the repository: crates.io resolves its links when ci/address.sh has set the address.
  if [ "$package" != imid ] && grep -nE '\]\([^)]' "crates/$package/README.md" | grep -vE '\]\((https?:|#)' >&2; then
    echo "package.sh: the README of $package has a link to a file" >&2
    exit 1
  fi
  if unwanted=$(grep -E '^(\.ci|benches|ci|crates|fuzz|tests)/|^spec/(contract|lease)/|\.py$' <<<"$files"); then
    echo "package.sh: $package has files that users do not need: $unwanted" >&2
    exit 1
  fi
}
check imid Cargo.toml README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT src/lib.rs docs/*.md spec/{FORMAT,DIALECTS}.md spec/{,schema/}{vectors,dialects}.json
check imid-cli Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/main.rs
check imid-inspect Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs
check imid-lease Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs
check imid-lease-protocol Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs
check imid-snowflake Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs
check leaf-segment Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs

cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
packages = [package for package in json.load(sys.stdin)["packages"] if package["publish"] is None]
versions = {package["name"]: package["version"] for package in packages}
head = open("CHANGELOG.md").read().split("\n## ")[1].split()[0]
for package in packages:
    faults = [name for name in ("description", "license", "readme", "keywords", "categories") if not package[name]]
    if len(package["keywords"]) > 5 or len(package["categories"]) > 5:
        faults.append("more than five keywords or categories")
    docs = ((package["metadata"] or {}).get("docs") or {}).get("rs") or {}
    if package["features"] and not docs.get("all-features") and any("lib" in target["kind"] for target in package["targets"]):
        faults.append("all features on docs.rs")
    if package["version"] != head:
        faults.append("the version at the head of CHANGELOG.md, " + head)
    for needed in package["dependencies"]:
        if needed["name"] in versions and needed["req"] != "^" + versions[needed["name"]] and (needed["kind"] != "dev" or needed["req"] != "*"):
            faults.append("version of " + needed["name"])
    if faults:
        sys.exit("package.sh: " + package["name"] + ": expected " + ", ".join(faults))
print(len(packages), "packages of version", head)
'

# Cargo's own verification is not used: it keeps the first library that it unpacked, and builds later tools with it. Here the unpacked
# packages are a workspace with the lock file, the profile and, because of the examples, the features of ci/clippy.sh, so little more
# is compiled. Their files are as old as the unpacking (-m), so cargo does not take them for those of an earlier run.
rm -f "$target"/package/*.crate
cargo package --no-verify --allow-dirty
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
for package in "$target"/package/*.crate; do
  tar -xzmf "$package" -C "$unpacked"
done
cp Cargo.lock "$unpacked"
{
  printf '[workspace]\nmembers = ["*"]\nresolver = "3"\n[patch.crates-io]\n'
  for package in imid imid-inspect imid-lease imid-lease-protocol imid-snowflake leaf-segment; do
    printf '%s.path = "%s"\n' $package "$(cd "$unpacked" && echo $package-[0-9]*)"
  done
  sed -n '/^\[profile.dev[].]/,/^$/p' Cargo.toml
} >"$unpacked/Cargo.toml"
# Integration tests are not packed. Without the repository beside them, unit tests that need its files say that they are skipped.
IMID_LEASE_SCHEDULES=20 cargo test --manifest-path "$unpacked/Cargo.toml" --target-dir "$target" --workspace --lib --bins --examples --all-features
