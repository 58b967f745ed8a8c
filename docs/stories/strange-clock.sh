#!/usr/bin/env bash
# A lock of the kind that many build themselves: a row, or here a file, that says until when it is held,
# by the wall clock of who took it. B's clock is an hour ahead, so it takes the lock for expired.
#
#   docs/stories/strange-clock.sh [--binary FILE]
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lock="$work/lock"

# take HOLDER SKEW_S — by the holder's own clock; the flock makes it one step, so it is not that.
take() {
  local now=$(($(date +%s) + $2))
  (
    flock 9
    local held_until=0
    [[ ! -e "$lock" ]] || read -r _ held_until <"$lock"
    [[ "$held_until" -le "$now" ]] || exit 1
    echo "$1 $((now + 30))" >"$lock"
  ) 9>"$lock.guard"
}

say "A takes the lock for 30 s. B, whose clock is an hour ahead, finds it expired, and takes it."
take A 0 || fail "A did not get the lock"
if take C 0; then fail "C, whose clock is right, got the lock too"; fi
take B 3600 || fail "B did not get the lock"
result "both hold the lock now; C, whose clock is right, was refused"
expect "B's write" "$(write open 0 new)" 201
expect "A's write" "$(write open 0 old)" 204
expect "the content" "$(content open)" old
result "whoever writes last wins, and nobody knows who that is"

say "With a lease the server keeps the time, on a clock that nobody sets; the holder only counts."
read -r _ token_a < <(acquire A 30s)
status="$(curl -sS -m "$PATIENCE_S" -o "$work/answer" -w '%{http_code}' -H 'Content-Type: application/json' \
  -d '{"holder":"B","ttl":"30s","wait":"0s","request_id":"b-1"}' "$url/leases/exports/acme")"
expect "B's attempt" "$status" 409
result "B, whatever its clock says: 409 lease-held"
expect "A's fenced write" "$(write fenced/acme "$token_a" old)" 201

say "And if a source of leases is deceived all the same, the token decides, not the time."
expect "the write of a newer holder" "$(write fenced/acme "$((token_a + 1))" new)" 204
expect "A's fenced write" "$(write fenced/acme "$token_a" old)" 412
expect "the fenced content" "$(content fenced/acme)" new
result "412 for the older one, although its lease has not run out"
