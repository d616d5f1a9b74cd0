#!/usr/bin/env bash
# Each package compiles with the oldest version of Rust that its Cargo.toml allows. Some features of imid need a newer one:
# CONTRIBUTING.md has the table. On a machine without that version, Debian 12's Rust 1.85 compiles imid, with what is
# stable since then switched on by name: it finds anything else that is newer. It is unpacked into target/msrv (400 MB), and
# compiles one of three parts a day (ci/turn.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

core=$(sed -n '/^\[package\]/,/^\[features\]/s/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
others=$(sed -n '/^\[workspace.package\]/,/^\[package\]/s/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

has() { cargo "+$1" --version >/dev/null 2>&1; }

# The names of Rust 1.85 for what 1.86 to 1.88 made stable and imid uses.
stable_since=let_chains,slice_as_chunks,integer_sign_cast,unsigned_is_multiple_of

# Unpacks Rust 1.85. Nothing is installed, and apt-get has lists of its own, so it does not wait for another one.
older() {
  local folder=$PWD/target/msrv version package
  local options=(-qq -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder/cache")
  older=$folder/rustc
  [ ! -x "$older" ] || return 0
  command -v apt-get >/dev/null || return 1
  mkdir -p "$folder"/{root,lists/partial,cache/archives/partial}
  apt-get "${options[@]}" update >&2 || return 1
  version=$(apt-cache "${options[@]}" madison rustc-web | awk '$3 ~ /^1\.85\./ && !found++ { print $3 }')
  [ -n "$version" ] || return 1
  (cd "$folder" && apt-get "${options[@]}" download {rustc-web,libstd-rust-web-dev,libstd-rust-web-1.85}="$version" libllvm19) >&2 || return 1
  for package in "$folder"/*.deb; do dpkg -x "$package" "$folder/root"; rm "$package"; done
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$folder/root/usr/lib/x86_64-linux-gnu" "$folder/root/usr/bin/rustc" >"$older"
  chmod +x "$older"
}

# compiles_older ARGUMENT...: for a processor without SSE2, because the functions of AVX2 are safe since 1.87.
compiles_older() {
  RUSTC=$older RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/msrv/target \
    RUSTFLAGS="-Ctarget-feature=-sse2 -Adead_code -Zcrate-attr=feature($stable_since)" \
    cargo check --locked --ignore-rust-version --target x86_64-unknown-linux-gnu "$@"
}

if has "$core"; then
  cargo "+$core" check --locked --no-default-features --package imid
  cargo "+$core" check --locked --features redis-queue,serde --package imid-snowflake
  cargo "+$core" check --locked --features arbitrary-1,juggleim,redis-1,schemars-1,serde,utoipa-6 --package imid
elif older; then
  turn=$(printf '%s\n' imid imid-snowflake features | bash ci/turn.sh "msrv with Rust 1.85" 3)
  for part in $turn; do
    case $part in
      imid) compiles_older --package imid --no-default-features ;;
      imid-snowflake) compiles_older --package imid-snowflake --features redis-queue,serde ;;
      # The crates of redis-1 need a newer version.
      features) compiles_older --package imid --features arbitrary-1,juggleim,schemars-1,serde,utoipa-6 ;;
    esac
  done
  echo "not checked: msrv: this machine has no Rust $core; Rust 1.85 compiled" $turn "without AVX2 and redis-1"
else
  echo "not checked: msrv: this machine has no Rust $core for imid"
fi
if has "$others"; then
  for package in imid-inspect imid-lease imid-lease-protocol imid-snowflake leaf-segment imid-cli; do
    cargo "+$others" check --locked --all-features --package $package
  done
else
  echo "not checked: msrv: this machine has no Rust $others for imid-inspect, imid-lease and imid-cli"
fi
