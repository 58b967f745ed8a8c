#!/usr/bin/env bash
# The holder of a lease is stopped beyond its ttl, as by a garbage collection or a paused VM. Somebody
# else takes over and writes. Then the first one wakes up in the middle of its work and writes, too.
#
#   docs/stories/long-pause.sh [--binary FILE]
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A worker that has checked its lease, and is about to write: a check cannot help from here on.
worker() {
  touch "$work/a.ready"
  until [[ -e "$work/a.go" ]]; do sleep 0.02; done
  write open "$1" "old" >"$work/a.open"
  write fenced/acme "$1" "old" >"$work/a.fenced"
}

say "A takes the lease for one second, and is stopped right before it writes."
read -r _ token_a < <(acquire A 1s)
worker "$token_a" &
a=$!
started+=("$a")
wait_for "worker A" test -e "$work/a.ready"
kill -STOP "$a"
wait_for "worker A to stop" is_stopped "$a"
touch "$work/a.go"
result "A has token $token_a"

say "The lease runs out; B takes it and writes."
read -r _ token_b < <(acquire B 30s)
[[ "$token_b" -gt "$token_a" ]] || fail "B's token $token_b is not above A's $token_a"
expect "B's write" "$(write open "$token_b" new)" 201
expect "B's fenced write" "$(write fenced/acme "$token_b" new)" 201
result "B has token $token_b"

say "A wakes up. It does not know that it slept."
kill -CONT "$a"
wait "$a" || fail "worker A failed"

expect "A's write without a fence" "$(cat "$work/a.open")" 204
expect "the content without a fence" "$(content open)" old
result "without a fence: 204, and B's report is gone"
expect "A's fenced write" "$(cat "$work/a.fenced")" 412
expect "the fenced content" "$(content fenced/acme)" new
result "with the fence: 412, and B's report stands"
