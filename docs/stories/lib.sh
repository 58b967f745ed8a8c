# Sourced by the stories: starts a fenceline of their own on free ports, with a route that fences and
# one that does not over the same kind of folder, and ends every process that it started.
set -euo pipefail

readonly PATIENCE_S=30

binary=fenceline
while [[ $# -gt 0 ]]; do
  case "$1" in
    --binary) binary="$(realpath -e "${2:?--binary needs a file}")" && shift ;;
    -h | --help) sed -n '2,/^set \|^source /p' "$0" | sed -n 's/^# \{0,1\}//p' && exit 0 ;;
    *) printf "%s: unknown argument '%s'\n" "${0##*/}" "$1" >&2 && exit 2 ;;
  esac
  shift
done
command -v "$binary" >/dev/null || {
  printf '%s: there is no %s; name one with --binary build/fenceline\n' "${0##*/}" "$binary" >&2
  exit 2
}

work="$(mktemp -d)"
started=()
clean_up() {
  local status=$? pid
  trap - EXIT
  for pid in "${started[@]}"; do
    # A stopped process takes SIGTERM only after SIGCONT.
    kill -TERM "$pid" 2>/dev/null && kill -CONT "$pid" 2>/dev/null || true
  done
  wait 2>/dev/null || true
  rm -rf "$work"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n%s\n' "$*"; }
result() { printf '   -> %s\n' "$*"; }
fail() {
  printf '\n%s: %s\n' "${0##*/}" "$*" >&2
  tail -n 20 "$work/log" >&2 2>/dev/null || true
  exit 1
}

# wait_for WHAT COMMAND… — until the command succeeds.
wait_for() {
  local what="$1" deadline=$((SECONDS + PATIENCE_S))
  shift
  until "$@"; do
    [[ $SECONDS -lt $deadline ]] || fail "waited $PATIENCE_S s in vain for $what"
    sleep 0.02  # between two looks
  done
}

cat >"$work/fenceline.yaml" <<YAML
listen: 127.0.0.1:0
ledger: {sqlite: $work/ledger.db}
leases: {min_ttl: 100ms}
routes:
  - name: open           # a storage as most are: it takes what comes
    match: /open/{path...}
    writes: off
    files: {root: $work/open}
  - name: fenced
    match: /fenced/{tenant}/{path...}
    fence: exports/{tenant}
    files: {root: $work/fenced}
YAML

serving() {
  kill -0 "$server" 2>/dev/null || fail "the server did not start"
  grep -q ' serving: ' "$work/log"
}
: >"$work/log"
"$binary" serve --config "$work/fenceline.yaml" >>"$work/log" 2>&1 &
server=$!
started+=("$server")
wait_for "the server" serving
url="http://$(sed -n 's/.* serving: .* listen=\([^ ]*\).*/\1/p' "$work/log")"

# acquire HOLDER TTL — takes the lease on exports/acme, waiting for the one before to expire; prints
# "LEASE TOKEN".
acquire() {
  curl -sS -m "$PATIENCE_S" -d "{\"holder\":\"$1\",\"ttl\":\"$2\",\"wait\":\"20s\",\"request_id\":\"$1-$RANDOM\"}" \
    -H 'Content-Type: application/json' "$url/leases/exports/acme" >"$work/lease.$1"
  sed -n 's/.*"lease":"\([^"]*\)".*/\1/p' "$work/lease.$1" | tr '\n' ' '
  sed -n 's/.*"token":"\([0-9]*\)".*/\1/p' "$work/lease.$1"
}

# write PLACE TOKEN TEXT — a PUT; prints the status. PLACE: open or fenced/acme.
write() {
  curl -sS -m "$PATIENCE_S" -X PUT -H "Fencing-Token: $2" --data-binary "$3" -o "$work/answer" \
    -w '%{http_code}' "$url/$1/report.csv"
}

content() { curl -sS -m "$PATIENCE_S" "$url/$1/report.csv"; }

expect() {
  [[ "$2" == "$3" ]] || fail "$1 is '$2', not '$3': $(cat "$work/answer" 2>/dev/null || true)"
}
is_stopped() { [[ "$(ps -o stat= -p "$1")" == T* ]]; }
