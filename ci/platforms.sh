#!/usr/bin/env bash
# The tests pass on other processors and systems, in emulators: ci/platforms.sh [[short] TARGET...]. `ci/platforms.sh list` names
# the targets. `short` runs the tests that a processor or a system can break, instead of all. Without an argument it runs the
# short sets of the targets for which nothing compiles std, which take turns (ci/turn.sh); ci/platforms.sh std runs
# those of the others. docs/PLATFORMS.md has the results. `with COMMAND...` runs a command with the Rust that compiles std, and
# ends with 3 if there is none.
#
# It needs Debian 12 on x86-64, apt-get and access to its packages, crates.io and PyPI; no rights of root. Rust, cross compilers
# and emulators are unpacked into target/platforms (5 GB), whatever else the machine has; only Chromium is installed, if it can be.
set -euo pipefail
cd "$(dirname "$0")/.."

without_std=(thumbv7em i686 s390x)
with_std=(wasm32 darwin wasip1 windows)
# The workflow runs all tests on a real aarch64.
by_hand=(aarch64 i686-tool aarch64-tool windows-tool armv7 powerpc powerpc64le riscv64 msvc thread address)
short= may_build_std=1
case ${1-} in
  list) printf '%s\n' "${without_std[@]}" "${with_std[@]}" "${by_hand[@]}"; exit ;;
  short) short=1; shift ;;
  std) short=1; set -- "${with_std[@]}" ;;
  '')
    short=1 may_build_std=
    mapfile -t turn < <(printf '%s\n' "${without_std[@]}" | bash ci/turn.sh platforms 3)
    set -- "${turn[@]}"
    ;;
esac
# The files of tests of the short sets: what a system can break, and what a processor can: byte order, widths, alignment,
# atomics, forks.
of_systems="system threads tick_clock vectors"
of_processors="forks $of_systems"

home=$PWD/target/platforms
root=$home/root
lib=$root/usr/lib/x86_64-linux-gnu
mkdir -p "$home"/{bin,logs,unpacked,lists/partial,cache/archives/partial} "$root"

# `-Zbuild-std` is an option of nightly Rust. This variable gives it to a stable one.
export RUSTC_BOOTSTRAP=1
export CARGO_TARGET_DIR=$home/target CARGO_INCREMENTAL=0 PROPTEST_RNG_SEED=1
export PATH=$home/bin:$PATH
unset RUSTUP_TOOLCHAIN RUSTFLAGS
# Without the feature `backtrace`, whose crates take a third of the time.
no_backtrace=-Zbuild-std-features=panic-unwind
# How tests are compiled and run. Some targets set these for themselves.
std=(-Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test $no_backtrace)
emulator=()

not_checked() { echo "not checked: platforms: $*"; }

# apt-get with lists and packages of its own.
apt() {
  apt-get -qq -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::State::status="$home/status" \
    -o Dir::State::lists="$home/lists" -o Dir::Cache="$home/cache" "$@" >>"$home/logs/apt.log" 2>&1
}

# Writes the status of a machine that has only what each Debian has, and a compiler of C: the required packages, gcc, and what these
# depend on. All others are unpacked into the folder, whether this machine has them or not.
base() {
  python3 - "$home" <<'PY'
import re, sys

entries, seeds = {}, ["gcc", "libc6-dev"]
for entry in open("/var/lib/dpkg/status").read().split("\n\n"):
    field = lambda name: (re.search(rf"^{name}: (.*)", entry, re.M) or [None, ""])[1]
    if field("Status") != "install ok installed":
        continue
    name = field("Package")
    entries[name] = entry, re.findall(r"(?:^|[,|])\s*([a-z0-9.+-]+)", field("Depends") + "," + field("Pre-Depends"))
    if field("Essential") == "yes" or field("Priority") == "required":
        seeds.append(name)
base = set()
while seeds:
    name = seeds.pop()
    if name in entries and name not in base:
        base.add(name)
        seeds += entries[name][1]
open(f"{sys.argv[1]}/status", "w").write("".join(entries[name][0] + "\n\n" for name in sorted(base)))
open(f"{sys.argv[1]}/base", "w").write("".join(name + "\n" for name in sorted(base)))
PY
}

# Unpacks Debian packages, and those that they need.
unpack() {
  local missing=() package deb name
  for package; do [ -e "$home/unpacked/$package" ] || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  base
  apt update && apt install -y --download-only --no-install-recommends "${missing[@]}" || return 1
  for deb in "$home"/cache/archives/*.deb; do
    name=${deb##*/}
    # A newer version of a package of the base would not fit the machine's other libraries.
    grep -qxF "${name%%_*}" "$home/base" || dpkg -x "$deb" "$root"
    rm "$deb"
  done
  for package in "${missing[@]}"; do touch "$home/unpacked/$package"; done
}

# Writes a program that finds its libraries in the folder. Only that program and what it starts see the variable.
wrapper() {
  local name=$1; shift
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$lib" "$*" >"$home/bin/$name"
  chmod +x "$home/bin/$name"
}

# Rust of Debian's security updates, which is newer than that of Debian 12.
rust() {
  unpack rustc-web cargo-web rust-web-src rust-web-llvm || return 1
  local program
  for program in rustc rustdoc cargo; do wrapper $program "$root/usr/bin/$program"; done
  # The linker of WebAssembly, and the runtimes of the sanitizers, of the same LLVM.
  llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
  unpack "lld-$llvm" || return 1
  wrapper wasm-ld "$root/usr/lib/llvm-$llvm/bin/wasm-ld"
  wrapper llc "$root/usr/lib/llvm-$llvm/bin/llc"
  rustc --version 2>&1
}

# Debian 13 has the same version of Rust, with a compiled std of each processor. Returns 1 if it has another at present.
has_std() {
  local triple=$1 architecture=$2 folder=$home/std-$2 site options command
  if [ ! -e "$root/usr/lib/rustlib/$triple/lib" ]; then
    site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
    mkdir -p "$folder/lists/partial"
    : >"$home/status"
    echo "deb [arch=$architecture signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site trixie main" >"$folder/sources"
    options=(-o "APT::Architectures=amd64,$architecture" -o "Dir::Etc::sourcelist=$folder/sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/lists")
    for command in update "download libstd-rust-web-dev:$architecture"; do
      (cd "$folder" && apt "${options[@]}" $command) || return 1
    done
    dpkg -x "$folder"/*.deb "$root" && rm "$folder"/*.deb
  fi
  rustc --target "$triple" --crate-type lib --emit metadata -o "$folder/empty.rmeta" - </dev/null
}

# run_tests TRIPLE SHORT ALL [OPTION...]: the tests of `packages`. SHORT and ALL name files of tests of imid; without a name all run.
# Of other packages all run, or where there are no threads those that start none.
run_tests() {
  local triple=$1 files=$3 package status=0 tests
  [ ! "$short" ] || files=$2
  shift 3
  for package in $packages; do
    tests=(--tests) # with the unit tests
    if [ "$package" = imid ]; then
      [ ! "$files" ] || tests=(--lib $(printf -- '--test %s ' $files))
      # The other features bring large crates that have platforms of their own.
      tests+=(--features serde,uuid-1,juggleim)
    elif [ "$triple" = wasm32-wasip1 ]; then
      tests=(--lib --test snowflake --test errors)
    fi
    "${emulator[@]}" cargo test "${std[@]}" -p "$package" --target "$triple" "${tests[@]}" --no-fail-fast -- "$@" || status=1
  done
  return $status
}

# Runs the checks of a target, writes their output to a log, and prints the sum of the tests as `.ci/run` reads it.
timed() {
  local start=$SECONDS status=0 log=$home/logs/$target.log
  # A subshell, because of the variables that it sets. After `||`, `set -e` would not hold in it.
  set +e
  (set -e; "$@") >"$log" 2>&1
  status=$?
  set -e
  if grep -a "^not checked: platforms: " "$log"; then return; fi
  grep -a "^skipped: " "$log" | sort -u | sed "s/^skipped: /skipped: $target: /" || true
  awk -v name="$target" -v status=$status -v seconds=$((SECONDS - start)) '
    /^test result:/ { runs++; passed += $4; failed += $6; skipped += $8; left += $12 }
    END {
      if (!runs) printf "%s: %s in %d s\n", name, status ? "FAILED" : "compiled", seconds
      else printf "test result: %s. %d passed; %d failed; %d ignored; 0 measured; %d filtered out; %s: %d files in %d s\n",
        status ? "FAILED" : "ok", passed, failed, skipped, left, name, runs, seconds
    }' "$log"
  [ $status = 0 ] || { grep -aE '^test .* FAILED|^error(\[|:)|panicked at' "$log" | sort -u | sed 's/^/    /' | head -n 30 || true; failed=1; }
}

# ---- Linux on other processors ------------------------------------------------------------------------------------------

# Runs a command in a namespace whose kernel starts the programs of a processor with qemu: tests start their own program
# again, and the tool's tests start the tool. Nothing outside of the namespace changes. It needs Linux 6.7.
emulated() {
  local qemu=$1 object=$2 magic mask
  shift 2
  # The head of an ELF file: magic number, class, byte order and machine are compared. All others may differ.
  magic=$(od -An -tx1 -v -N20 "$object" | tr -d '\n' | sed 's/ /\\x/g')
  mask=$(printf '\\x%s' ff ff ff ff ff ff 00 00 00 00 00 00 00 00 00 00 00 00 ff ff)
  unshare --user --map-root-user --mount bash -c '
    mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc &&
      printf "%s" ":imid:M::$2:$3:$1:F" >/proc/sys/fs/binfmt_misc/register || exit 125
    shift 3
    exec "$@"' _ "$qemu" "$magic" "$mask" "$@"
}

# linux TRIPLE GNU QEMU ARCHITECTURE: tests of Linux programs. QEMU is `-` where this processor runs them.
linux() {
  local triple=$1 gnu=$2 qemu=$3 architecture=$4 upper skip=()
  upper=$(tr a-z- A-Z_ <<<"$triple")
  unpack "gcc-${gnu//_/-}" "libc6-dev-$architecture-cross" qemu-user-static || { not_checked "$triple: no packages of a cross compiler"; return; }
  wrapper "$gnu-gcc" "$root/usr/bin/$gnu-gcc --sysroot=$root"
  export "CARGO_TARGET_${upper}_LINKER=$gnu-gcc" "CC_${triple//-/_}=$gnu-gcc" "AR_${triple//-/_}=$root/usr/bin/$gnu-ar"
  if [ "$qemu" = - ]; then
    export "CARGO_TARGET_${upper}_RUSTFLAGS=-Clink-arg=-Wl,--dynamic-linker=$root/usr/$gnu/lib/ld-linux.so.2 -Clink-arg=-Wl,-rpath,$root/usr/$gnu/lib"
  else
    emulator=(emulated "$root/usr/bin/qemu-$qemu-static" "$root/usr/$gnu/lib/libc.so.6")
    "${emulator[@]}" true 2>/dev/null || { not_checked "$triple: no namespace with a binfmt_misc of its own"; return; }
    export QEMU_LD_PREFIX=$root/usr/$gnu PROPTEST_CASES=8
    # This version of qemu cannot start a thread in a forked child: the C library aborts. It needs more memory than a test of the
    # tool allows, and /proc has its own signals in the place of the program's.
    skip=(--skip a_tick_clock_is_dropped_and_started_in_every_child --skip too_little_memory_is_one_line_and_status_1
      --skip a_signal_that_the_parent_ignores_does_not_end_the_tool)
  fi
  if has_std "$triple" "$architecture"; then
    std=()
  elif [ ! "$may_build_std" ]; then
    not_checked "$triple: Debian 13 has another version of Rust than Debian 12 at present ('platforms.sh short TARGET' compiles std)"
    return
  fi
  run_tests "$triple" "$of_processors" '' "${skip[@]}"
}

# ---- Other systems -------------------------------------------------------------------------------------------------------

windows() {
  unpack gcc-mingw-w64-x86-64-win32 wine64 || { not_checked "windows: no packages of MinGW and Wine"; return; }
  local object wine=$root/usr/lib/wine
  wrapper x86_64-w64-mingw32-gcc "$root/usr/bin/x86_64-w64-mingw32-gcc-win32 --sysroot=$root"
  wrapper wine64 "$wine/wine64"
  wrapper x86_64-w64-mingw32-dlltool "$root/usr/bin/x86_64-w64-mingw32-dlltool"
  # In the package it is a script that looks for the program in /usr.
  ln -sf wineserver64 "$wine/wineserver"
  export WINEDEBUG=-all WINEPREFIX=$home/wine
  export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$home/bin/wine64
  export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc AR_x86_64_pc_windows_gnu=$root/usr/bin/x86_64-w64-mingw32-ar
  # `-Zbuild-std` does not make the objects that begin and end a program.
  local objects=$root/usr/lib/rustlib/x86_64-pc-windows-gnu/lib
  mkdir -p "$objects"
  for object in rsbegin rsend; do
    rustc --target x86_64-pc-windows-gnu --emit=obj -o "$objects/$object.o" "$root/usr/lib/rustlib/src/rust/library/rtstartup/$object.rs"
  done
  # Wine looks for this library in /usr, and in the folder of the emulated system.
  mkdir -p "$WINEPREFIX/drive_c/windows/system32"
  cp "$root/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$WINEPREFIX/drive_c/windows/system32/"
  wine64 wineboot -i >/dev/null 2>&1
  # Wine 8 has no bcryptprimitives.dll, where std gets random bytes.
  printf '#include <windows.h>\nBOOLEAN NTAPI SystemFunction036(PVOID, ULONG);\n__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return SystemFunction036(p, (ULONG)n); }\n' |
    x86_64-w64-mingw32-gcc -shared -xc - -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" -ladvapi32
  local status=0
  run_tests x86_64-pc-windows-gnu "$of_systems" '' || status=1
  "$wine/wineserver" -k || true # that of this prefix
  return $status
}

# WASI has no threads and no processes, so its tests run in one thread, and files of tests that start some are left out.
wasip1() {
  unpack wasi-libc || { not_checked "wasip1: no package of wasi-libc"; return; }
  [ -e "$home/venv/bin/wasmtime-py" ] || python3 -m venv "$home/venv" && "$home/venv/bin/pip" install -q --disable-pip-version-check wasmtime ||
    { not_checked "wasip1: no Python with venv, or no wasmtime from PyPI"; return; }
  local own=$root/usr/lib/rustlib/wasm32-wasip1/lib/self-contained name
  mkdir -p "$own"
  cp "$root"/usr/lib/wasm32-wasi/{crt1-command.o,libc.a} "$own/"
  # The wasi-libc of Debian 12 lacks functions that std refers to. They fail (58 is ENOTSUP), as those of newer versions do.
  {
    for name in join detach attr_init attr_destroy attr_setstacksize create; do
      case $name in join | attr_setstacksize) arguments="ptr, ptr" ;; create) arguments="ptr, ptr, ptr, ptr" ;; *) arguments=ptr ;; esac
      echo "define i32 @pthread_$name($arguments) { ret i32 58 }"
    done
    echo 'define ptr @realpath(ptr, ptr) { ret ptr null }'
  } | "$home/bin/llc" -mtriple=wasm32-wasi -filetype=obj -o "$home/threads.o"
  cat >"$home/wasi.py" <<'PY'
import os, sys, wasmtime
config = wasmtime.Config()
config.cache = True
engine = wasmtime.Engine(config)
linker = wasmtime.Linker(engine)
linker.define_wasi()
wasi = wasmtime.WasiConfig()
wasi.argv = sys.argv[1:]
wasi.inherit_stdout()
wasi.inherit_stderr()
wasi.env = [(key, value) for key, value in os.environ.items() if key.startswith(("PROPTEST", "CARGO_MANIFEST"))]
wasi.preopen_dir(os.getcwd(), os.getcwd())
store = wasmtime.Store(engine)
store.set_wasi(wasi)
try:
    linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1])).exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
PY
  export CARGO_TARGET_WASM32_WASIP1_LINKER=wasm-ld CARGO_TARGET_WASM32_WASIP1_RUNNER="$home/venv/bin/python $home/wasi.py"
  export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-Clink-self-contained=yes -Clink-arg=$home/threads.o"
  run_tests wasm32-wasip1 "system vectors" "dialect errors format forms model serde session store system uuid vectors" \
    --test-threads=1
}

# The crate of the inspector page compiles. The example of the browser runs in Node and in Chromium, and what the library with
# std refuses there.
wasm32() {
  local target=wasm32-unknown-unknown module size
  local build=(cargo build --release -Zbuild-std=std,panic_abort $no_backtrace --manifest-path examples/browser/Cargo.toml --locked --target $target)
  cargo check --release -Zbuild-std=std,panic_abort $no_backtrace -p imid-inspect --target $target
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld
  "${build[@]}" --example refused --features imid/std
  ! command -v node >/dev/null || node -e 'WebAssembly.instantiate(require("fs").readFileSync(process.argv[1])).then(({ instance }) => {
    if (instance.exports.refused() !== 3) throw new Error(`expected 3 refusals, found ${instance.exports.refused()}`);
    console.log("Node: a generator without a seed and one by the system clock are refused");
  })' "$CARGO_TARGET_DIR/$target/release/examples/refused.wasm"
  "${build[@]}"
  module=$CARGO_TARGET_DIR/$target/release/imid_browser.wasm
  size=$(stat -c %s "$module")
  echo "imid_browser.wasm: $size bytes, $(gzip -9c "$module" | wc -c) compressed"
  [ "$size" -lt 40000 ]
  bash ci/services.sh install chromium || true # run.sh says if there is none
  bash examples/browser/run.sh "$module"
}

# checked TRIPLE: where this machine can compile and not run.
checked() {
  cargo check -Zbuild-std=std,panic_abort $no_backtrace -p imid -p imid-lease -p imid-snowflake --target "$1"
}

# sanitized NAME RUNTIME FILES: the tests that start threads, or all that read memory of others.
sanitized() {
  local name=$1 runtime=$2 files=$3
  unpack "libclang-rt-$llvm-dev" || { not_checked "$name: no runtimes of LLVM $llvm"; return; }
  cp "$root/usr/lib/llvm-$llvm"/lib/clang/*/lib/linux/"libclang_rt.$runtime-x86_64.a" \
    "$root/usr/lib/rustlib/x86_64-unknown-linux-gnu/lib/librustc-stable_rt.$runtime.a"
  export RUSTFLAGS=-Zsanitizer=$name CARGO_TARGET_DIR=$home/target-$name
  run_tests x86_64-unknown-linux-gnu "$files" "$files"
}

# ---- The targets ---------------------------------------------------------------------------------------------------------

failed=0
if [ "${1-}" = with ]; then
  shift
  command -v apt-get >/dev/null && rust >/dev/null || exit 3
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld
  exec "$@"
fi
if ! command -v apt-get >/dev/null || ! rust; then
  not_checked "no Rust of Debian 12 for x86-64, which compiles std"
  exit
fi
for target; do
  packages="imid imid-snowflake"
  [ "${target%-tool}" = "$target" ] || packages="imid-lease imid-cli"
  case $target in
    i686 | i686-tool) timed linux i686-unknown-linux-gnu i686-linux-gnu - i386 ;;
    aarch64 | aarch64-tool) timed linux aarch64-unknown-linux-gnu aarch64-linux-gnu aarch64 arm64 ;;
    armv7) timed linux armv7-unknown-linux-gnueabihf arm-linux-gnueabihf arm armhf ;;
    powerpc) timed linux powerpc-unknown-linux-gnu powerpc-linux-gnu ppc powerpc ;;
    powerpc64le) timed linux powerpc64le-unknown-linux-gnu powerpc64le-linux-gnu ppc64le ppc64el ;;
    riscv64) timed linux riscv64gc-unknown-linux-gnu riscv64-linux-gnu riscv64 riscv64 ;;
    s390x) timed linux s390x-unknown-linux-gnu s390x-linux-gnu s390x s390x ;;
    windows | windows-tool) timed windows ;;
    wasip1) timed wasip1 ;;
    wasm32) timed wasm32; grep -hE '^(imid_browser.wasm|Node|Chromium|not checked):' "$home/logs/wasm32.log" || true ;;
    thumbv7em) timed cargo check -Zbuild-std=core -p imid --no-default-features --target thumbv7em-none-eabi ;;
    darwin) timed checked aarch64-apple-darwin ;;
    msvc) timed checked x86_64-pc-windows-msvc ;;
    thread) timed sanitized thread tsan "threads generator tick_clock" ;;
    address) timed sanitized address asan "forms vectors format" ;;
    *) echo "platforms.sh: expected a target of 'platforms.sh list', found $target" >&2; exit 2 ;;
  esac
done
exit $failed
