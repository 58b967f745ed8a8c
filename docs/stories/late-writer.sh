#!/usr/bin/env bash
# A begins an upload while its lease is good. The network is slow: the last byte comes after B has taken
# over and written. Whoever checks the lease only when the upload begins lets it through.
#
#   docs/stories/late-writer.sh [--binary FILE]
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

half="$(printf 'old%.0s' {1..100000})"

# upload NAME PLACE TOKEN — sends half of the report and waits for $work/NAME.go with the rest.
upload() {
  {
    printf '%s' "$half"
    touch "$work/$1.half"
    until [[ -e "$work/$1.go" ]]; do sleep 0.02; done
    printf '%s' "$half"
  } | curl -sS -m "$PATIENCE_S" -T - -H "Fencing-Token: $3" -o "$work/$1.answer" -w '%{http_code}' \
    "$url/$2/report.csv" >"$work/$1.status" || true
}

say "A takes the lease for one second and begins two uploads, one to each storage."
read -r _ token_a < <(acquire A 1s)
upload open open "$token_a" &
started+=("$!")
upload fenced fenced/acme "$token_a" &
started+=("$!")
wait_for "half of the first upload" test -e "$work/open.half"
wait_for "half of the second upload" test -e "$work/fenced.half"

say "The lease runs out; B takes over and writes its own report."
read -r _ token_b < <(acquire B 30s)
expect "B's write" "$(write open "$token_b" new)" 201
expect "B's fenced write" "$(write fenced/acme "$token_b" new)" 201

say "The rest of A's uploads arrives."
touch "$work/open.go" "$work/fenced.go"
wait_for "the end of the first upload" test -s "$work/open.status"
wait_for "the end of the second upload" test -s "$work/fenced.status"
expect "A's upload without a fence" "$(cat "$work/open.status")" 204
content open >"$work/content"
[[ "$(head -c 3 "$work/content")" == old ]] || fail "the content without a fence is not A's"
result "without a fence: 204, and B's report is gone"
expect "A's fenced upload" "$(cat "$work/fenced.status")" 412
expect "the fenced content" "$(content fenced/acme)" new
result "with the fence: 412 at its last byte, and B's report stands"
