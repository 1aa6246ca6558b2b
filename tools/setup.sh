#!/usr/bin/env bash
# Installs what Switchgear needs on Debian 12 and nothing else; run again, it finds everything there and changes nothing.
#
#   tools/setup.sh build            compiler and libraries (what `make run` needs)
#   tools/setup.sh build test       and the peers and interpreters of the tests
#   tools/setup.sh build bench      and what the benchmarks compare with
#   tools/setup.sh backports        only: make bookworm-backports known to apt
#
# SETUP_ROOT=DIR reads and writes DIR/etc/apt instead of /etc/apt (for `backports`; the tests use it).
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

BUILD=(clang-19 lld-19 libclang-rt-19-dev cmake ninja-build ccache pkg-config
  libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libsimdjson-dev libssl-dev zlib1g-dev libyaml-cpp-dev
  libspdlog-dev libcli11-dev libmimalloc-dev prometheus-cpp-dev libgtest-dev libgmock-dev libbenchmark-dev)
# llvm-19 brings the symbolizer: a sanitizer report without line numbers helps nobody. prometheus brings promtool.
# spin checks the model of the shared breaker in docs/model. faketime gives processes wall clocks that differ.
TEST=(clang-format-19 clang-tidy-19 llvm-19 python3 python3-venv openssl ca-certificates prometheus
  redis-server redis-sentinel spin faketime)
BENCH=(nginx-light wrk util-linux python3 redis-server)
# Packages that only bookworm-backports has. While the list is empty, apt's sources stay as they are.
BACKPORTS=(libhiredict-dev)

ROOT="${SETUP_ROOT:-}"
PYTHON="${PYTHON:-/usr/bin/python3}"
NODE_OLDEST=18

say() { printf 'set-up: %s\n' "$*"; }
fail() {
  printf 'set-up: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

missing_of() {
  local package
  declare -A present=()
  while read -r package; do present[$package]=1; done < <(
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p'
  )
  for package in "$@"; do
    [ -n "${present[$package]:-}" ] || printf '%s\n' "$package"
  done
}

# --- backports ---------------------------------------------------------------------------------------------------

codename() { sed -n 's/^VERSION_CODENAME=//p' "$ROOT/etc/os-release" | tr -d '"'; }

source_files() { find "$ROOT/etc/apt" -maxdepth 2 \( -name '*.sources' -o -name '*.list' \) 2>/dev/null | sort; }

# Prints the deb822 stanza or the one-line entry of suite bookworm, with the suite exchanged. The copy keeps mirror,
# components and Signed-By, so that no host is named here and a machine behind a mirror stays behind it.
copied_entry() {
  local file=$1
  case "$file" in
    *.sources)
      awk 'BEGIN { RS = ""; FS = "\n" }
        {
          deb = 0; suite = 0; off = 0
          for (i = 1; i <= NF; ++i) {
            if ($i ~ /^Types:/ && $i ~ /[ \t]deb([ \t]|$)/) deb = 1
            if ($i ~ /^Suites:/ && $i ~ /[ \t]bookworm([ \t]|$)/) suite = 1
            if ($i ~ /^Enabled:[ \t]*no/) off = 1
          }
          if (deb && suite && !off) {
            for (i = 1; i <= NF; ++i) {
              if ($i ~ /^#/) continue
              sub(/^Types:.*/, "Types: deb", $i)
              sub(/^Suites:.*/, "Suites: bookworm-backports", $i)
              print $i
            }
            exit
          }
        }' "$file"
      ;;
    *.list)
      sed -nE 's/^[[:space:]]*(deb([[:space:]]+\[[^]]*\])?[[:space:]]+[^[:space:]]+[[:space:]]+)bookworm([[:space:]].*)?$/\1bookworm-backports\3/p' \
        "$file" | head -n 1
      ;;
  esac
}

enable_backports() {
  local name file entry target
  name=$(codename)
  if [ "$name" != bookworm ]; then
    say "this is ${name:-no Debian release I know}, not bookworm: backports are left alone"
    return 0
  fi
  while read -r file; do
    if grep -qE '^(Suites:.*|[[:space:]]*deb .*[[:space:]])bookworm-backports([[:space:]]|$)' "$file"; then
      say "bookworm-backports is known already (${file#"$ROOT"})"
      return 0
    fi
  done < <(source_files)
  while read -r file; do
    entry=$(copied_entry "$file")
    if [ -n "$entry" ]; then
      target="$ROOT/etc/apt/sources.list.d/switchgear-backports.${file##*.}"
      mkdir -p "$ROOT/etc/apt/sources.list.d"
      printf '%s\n' "$entry" >"$target"
      say "bookworm-backports added in ${target#"$ROOT"}, copied from ${file#"$ROOT"}"
      return 0
    fi
  done < <(source_files)
  fail "no apt entry of suite bookworm found to copy for backports"
}

# --- packages ----------------------------------------------------------------------------------------------------

# We want the programs of these packages, not their services: not now (while apt works, invoke-rc.d is told no), and not
# after the next boot. A service that was there before us stays as it is.
declare -A SERVICE=([nginx-light]=nginx [prometheus]=prometheus)
POLICY=/usr/sbin/policy-rc.d
restore_policy() {
  if [ -e "$POLICY.before-switchgear" ]; then
    as_root mv -f "$POLICY.before-switchgear" "$POLICY"
  elif grep -qs 'switchgear set-up' "$POLICY"; then
    as_root rm -f "$POLICY"
  fi
}
forbid_services() {
  restore_policy # of a run that was killed half-way
  if [ -x "$POLICY" ]; then
    if "$POLICY" nginx start >/dev/null 2>&1; then :; elif [ $? -eq 101 ]; then return 0; fi
    as_root mv "$POLICY" "$POLICY.before-switchgear"
  fi
  trap restore_policy EXIT
  printf '#!/bin/sh\n# switchgear set-up: no service starts while packages are installed\nexit 101\n' |
    as_root tee "$POLICY" >/dev/null
  as_root chmod 755 "$POLICY"
}

install_packages() {
  local missing=() late=() package
  mapfile -t missing < <(missing_of "$@")
  if [ ${#BACKPORTS[@]} -gt 0 ]; then
    mapfile -t late < <(missing_of "${BACKPORTS[@]}")
  fi
  if [ ${#missing[@]} -eq 0 ] && [ ${#late[@]} -eq 0 ]; then
    say "all $# packages are there"
    return 0
  fi
  command -v apt-get >/dev/null || fail "no apt-get here. Needed: ${missing[*]} ${late[*]}"
  if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
    fail "not root, and no sudo without a password. Install by hand: apt-get install ${missing[*]} ${late[*]}"
  fi
  say "installing ${#missing[@]} of $# packages: ${missing[*]} ${late[*]}"
  forbid_services
  if [ ${#late[@]} -gt 0 ]; then enable_backports; fi
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  as_root "${apt[@]}" update
  if [ ${#missing[@]} -gt 0 ]; then
    as_root "${apt[@]}" install --no-install-recommends "${missing[@]}"
  fi
  if [ ${#late[@]} -gt 0 ]; then
    as_root "${apt[@]}" install --no-install-recommends -t bookworm-backports "${late[@]}"
  fi
  for package in "${missing[@]}"; do
    if [ -n "${SERVICE[$package]:-}" ]; then as_root update-rc.d "${SERVICE[$package]}" disable; fi
  done
  restore_policy
  trap - EXIT
}

# Debian's node is taken only when none is there or it is too old: a node of the user's own stays.
node_packages() {
  local version=0
  if command -v node >/dev/null; then
    version=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
  fi
  if [ "$version" -lt $NODE_OLDEST ]; then echo nodejs; fi
  if [ "$version" -lt $NODE_OLDEST ] || ! command -v npm >/dev/null; then echo npm; fi
}

# --- what the tests' own languages install, inside the checkout -----------------------------------------------------

python_packages() {
  local want=$1 folder=$2 sum
  local stamp=$folder/.installed
  [ -f "$want" ] || return 0
  sum="$("$PYTHON" --version) $(sha256sum <"$want")"
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ]; then
    say "python packages are there ($folder)"
    return 0
  fi
  say "python packages into $folder"
  "$PYTHON" -m venv --clear "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --no-input -r "$want"
  printf '%s\n' "$sum" >"$stamp"
}

node_modules() {
  local folder=test/e2e/node sum
  [ -f $folder/package-lock.json ] || return 0
  local stamp=$folder/node_modules/.installed
  sum="$(node --version) $(sha256sum <$folder/package-lock.json)"
  if [ -f $stamp ] && [ "$(cat $stamp)" = "$sum" ]; then
    say "node packages are there"
    return 0
  fi
  say "node packages into $folder/node_modules"
  npm ci --prefix $folder --silent --no-audit --no-fund --ignore-scripts </dev/null
  printf '%s\n' "$sum" >$stamp
}

# --- main ----------------------------------------------------------------------------------------------------------

[ $# -gt 0 ] || set -- build
wanted=()
tests=no
for group in "$@"; do
  case "$group" in
    build) wanted+=("${BUILD[@]}") ;;
    test)
      tests=yes
      mapfile -t node < <(node_packages)
      wanted+=("${TEST[@]}" "${node[@]}")
      ;;
    bench) wanted+=("${BENCH[@]}") ;;
    backports)
      enable_backports
      exit 0
      ;;
    *) fail "unknown group '$group'; known: build test bench backports" ;;
  esac
done

install_packages "${wanted[@]}"
if [ ${#BACKPORTS[@]} -eq 0 ]; then say "nothing from backports is needed"; fi
if [ $tests = yes ]; then
  mkdir -p build
  python_packages test/e2e/requirements.txt build/venv
  python_packages test/e2e/langchain-requirements.txt build/venv-langchain
  node_modules
fi
