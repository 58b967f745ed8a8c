#!/usr/bin/env bash
# A worker renews its lock without asking whose it is: `EXPIRE key 30` instead of "if it is mine". It
# was late once, so from then on it keeps the lock of its successor alive and takes it for its own.
#
#   docs/stories/bad-renewal.sh [--binary FILE]
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lock="$work/lock"

# The lock is a file with an owner and a deadline on the monotonic clock: no clock is wrong here.
uptime_ms() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }
take() {
  (
    flock 9
    local until_ms=0
    [[ ! -e "$lock" ]] || read -r _ until_ms <"$lock"
    [[ "$until_ms" -le "$(uptime_ms)" ]] || exit 1
    echo "$1 $(($(uptime_ms) + $2))" >"$lock"
  ) 9>"$lock.guard"
}
# What is wrong: the owner is not compared.
renew() {
  (
    flock 9
    read -r owner _ <"$lock"
    echo "$owner $(($(uptime_ms) + $1))" >"$lock"
  ) 9>"$lock.guard"
}

say "A holds the lock for 200 ms and is late with its renewal. B takes over."
take A 200 || fail "A did not get the lock"
wait_for "B to get the lock" take B 30000
say "A renews. Nothing tells it that the lock is not its own."
renew 30000 || fail "the renewal failed"
result "renewed: A goes on for another 30 s, and so does B"
expect "B's write" "$(write open 0 new)" 201
expect "A's write" "$(write open 0 old)" 204
expect "the content" "$(content open)" old
result "without a fence: B's report is gone"

say "With a lease, a renewal names the lease; one that has ended stays ended, also if nobody has it yet."
read -r lease_a token_a < <(acquire A 200ms)
read -r _ token_b < <(acquire B 30s)
status="$(curl -sS -m "$PATIENCE_S" -X PUT -o "$work/answer" -w '%{http_code}' \
  "$url/leases/exports/acme/$lease_a")"
expect "A's renewal" "$status" 410
grep -q 'urn:fenceline:problem:lease-ended' "$work/answer" || fail "the refusal does not say why"
result "A's renewal: 410 lease-ended"
expect "B's fenced write" "$(write fenced/acme "$token_b" new)" 201
expect "A's fenced write" "$(write fenced/acme "$token_a" old)" 412
expect "the fenced content" "$(content fenced/acme)" new
result "and had A not looked at that: 412"
