#!/usr/bin/env bash
# What a newcomer does: a fresh clone, an empty home, no more programs than README.md names, then `make demo` and `make test`.
# `make newcomer-check` runs it. Exit code 0 when every part passed, 1 when one failed, 2 when this machine lacks something.
#
#   PARTS="demo test"      the make targets, one after the other; any target goes, for a look at the script itself
#   MAVEN_SETTINGS=file    the newcomer's settings.xml, where Maven needs a mirror or a proxy
#   PASS="NAME ..."        variables to hand through beside those below
#   MINUTES=n              after which a part has failed; 240
#   KEEP=1                 leaves the clone and the home for a look
set -uo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LOGS=$ROOT/out/newcomer
PARTS=${PARTS:-demo test}
MINUTES=${MINUTES:-240}
TAIL=60

# The prerequisites of README.md, and git, without which there is no clone.
NEEDED="git go gofmt java javac mvn make gcc"
# What comes along with these.
WITH_THEM="cc c++ g++ cpp as ld ld.bfd ld.gold ar ranlib strip nm objcopy keytool jar"
# What every Linux has: the shell, coreutils, findutils, diffutils, procps, util-linux, archives.
BASE="sh bash env [ awk gawk mawk basename cat chmod chown cmp comm cp cut date dd df diff dirname du echo egrep expr false fgrep find flock
  getconf grep groups gunzip gzip head hostname id install kill ln ls mkdir mkfifo mktemp mount mv nice nohup nproc od paste pgrep printf ps
  pwd readlink realpath rm rmdir sed seq setpriv sh sha256sum sleep sort stat stty tail tar tee test timeout touch tr true tty umount uname
  uniq unshare wc which whoami xargs"
# How to reach the registries of packages, and nothing that may hold a cache. What `go env -w` has set counts too.
NETWORK="http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR"
GO_NETWORK="GOPROXY GONOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOINSECURE"

say() { echo "newcomer-check: $*"; }
lacking() { echo "newcomer-check: $*" >&2; exit 2; }

# newer A B: whether version B is A or newer.
newer() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

check_prerequisites() {
  local missing="" program want have
  for program in $NEEDED; do
    type -P "$program" > /dev/null || missing="$missing $program"
  done
  [ -z "$missing" ] || lacking "this machine lacks:$missing. README.md wants: $(sed -n 's/^On Linux with \(.*\):$/\1/p' "$ROOT/README.md")"
  want=$(sed -n 's/^go //p' "$ROOT/go.mod") have=$(go env GOVERSION)
  newer "$want" "${have#go}" || lacking "go is ${have#go}, go.mod wants $want or newer"
  have=$(javac -version 2>&1 | sed 's/^javac //')
  newer 17 "$have" || lacking "javac is $have, README.md wants 17 or newer"
  [ -z "${MAVEN_SETTINGS:-}" ] && return
  [ -r "$MAVEN_SETTINGS" ] || lacking "MAVEN_SETTINGS = $MAVEN_SETTINGS cannot be read"
  ! grep -v '<!--' "$MAVEN_SETTINGS" | grep -q '<localRepository>' ||
    lacking "MAVEN_SETTINGS = $MAVEN_SETTINGS names a localRepository, which a newcomer has not: take that line out"
}

# fill_path FOLDER: links to all that a newcomer may call. A test that calls anything else fails here.
fill_path() {
  local program found
  mkdir -p "$1"
  for program in $NEEDED $WITH_THEM $BASE; do
    found=$(type -P "$program") && ln -sf "$found" "$1/$program"
  done
}

# environment: one NAME=VALUE a line in the array ENVIRONMENT.
fill_environment() {
  local name value
  ENVIRONMENT=("PATH=$WORK/bin" "HOME=$WORK/home")
  for name in $NETWORK ${PASS:-}; do
    [ -z "${!name:-}" ] || ENVIRONMENT+=("$name=${!name}")
  done
  for name in $GO_NETWORK; do
    value=$(go env "$name")
    [ -z "$value" ] || ENVIRONMENT+=("$name=$value")
  done
}

prepare() {
  mkdir -p "$WORK/home/.m2" "$LOGS"
  fill_path "$WORK/bin"
  fill_environment
  [ -z "${MAVEN_SETTINGS:-}" ] || cp "$MAVEN_SETTINGS" "$WORK/home/.m2/settings.xml"
  [ -z "$(git -C "$ROOT" status --porcelain)" ] || say "what is not committed is left out"
  git clone -q --no-hardlinks "$ROOT" "$WORK/penstock" || lacking "cannot clone $ROOT"
  say "clone of $(git -C "$WORK/penstock" log -1 --format='%h %s')"
}

# run_part TARGET
run_part() {
  local log=$LOGS/$1.log start=$SECONDS code
  say "make $1 (log: ${log#"$ROOT"/})"
  env -i "${ENVIRONMENT[@]}" timeout --kill-after=60 "${MINUTES}m" make --no-print-directory -C "$WORK/penstock" "$1" > "$log" 2>&1 < /dev/null &
  PART=$!
  wait "$PART"
  code=$?
  PART=
  if [ "$code" = 0 ]; then
    say "make $1 passed in $((SECONDS - start)) s: $(tail -n 1 "$log")"
    return
  fi
  tail -n "$TAIL" "$log" >&2
  [ "$code" != 124 ] || say "make $1 did not end within MINUTES=$MINUTES" >&2
  say "make $1 FAILED with code $code after $((SECONDS - start)) s; the whole log is $log" >&2
  exit 1
}

clean_up() {
  trap - EXIT INT TERM
  if [ -n "${PART:-}" ]; then
    kill "$PART" 2> /dev/null && wait "$PART"
  fi
  if [ -n "${KEEP:-}" ]; then
    say "left: $WORK"
    return
  fi
  chmod -R u+w "$WORK" && rm -rf "$WORK" # Go's module cache is read-only
}

check_prerequisites
WORK=$(mktemp -d "${TMPDIR:-/tmp}/penstock-newcomer-XXXXXX") || exit 2
# As /usr/bin can: some tests become another user and run a program.
chmod 755 "$WORK"
trap clean_up EXIT
trap 'exit 130' INT TERM
prepare
for part in $PARTS; do
  run_part "$part"
done
say "passed: $PARTS"
