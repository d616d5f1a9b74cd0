#!/usr/bin/env bash
# Sets the address of the repository everywhere: ci/address.sh https://HOST/OWNER/NAME. Without an argument, prints the address,
# or that there is none. These files name it:
# - Cargo.toml: `repository` of the workspace, which each package that is published takes over. With it, crates.io resolves the
#   relative links of imid's README;
# - README.md: the badge of the checks;
# - SECURITY.md: where to report;
# - deploy/alerts.yml and its test: the page for those on call, which each alert links to.
set -euo pipefail
cd "$(dirname "$0")/.."

present=$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)
if [ $# = 0 ]; then
  echo "${present:-not checked: address: the repository has no address yet (ci/address.sh URL sets it)}"
  exit
fi
url=${1%/}
[[ $url =~ ^https://[^/\ ]+/[^/\ ]+/[^/\ ]+$ ]] || { echo "address.sh: expected https://HOST/OWNER/NAME, found $1" >&2; exit 2; }

if [ "$present" ]; then
  sed -i "s|^repository = .*|repository = \"$url\"|" Cargo.toml
else
  sed -i "/^\[workspace.package\]/,/^\$/s|^version = .*|&\nrepository = \"$url\"|" Cargo.toml
  for manifest in Cargo.toml crates/*/Cargo.toml; do
    sed -i 's/^license.workspace = true$/&\nrepository.workspace = true/' "$manifest"
  done
fi
# The badge is the line after the title.
sed -i '/^\[!\[checks\](/,+1d' README.md
sed -i "1s|\$|\n\n[![checks]($url/actions/workflows/checks.yml/badge.svg)]($url/actions/workflows/checks.yml)|" README.md
sed -i "s|^Report .*|Report it privately at <$url/security/advisories/new>, not in a public issue.|" SECURITY.md
sed -i "s|runbook_url: .*docs/|runbook_url: $url/blob/HEAD/docs/|" deploy/alerts.yml deploy/alerts.test.yml
