# Sourced by quickstart: the story of the zombie, step by step. Every expectation is checked.
#
# Uses and sets variables of quickstart: binary, config, log, work, server_pid, worker_pid; sets url,
# admin, token_a and token_b.

readonly KEY=exports/acme
readonly HALF_BYTES=$((2 * 1024 * 1024))
readonly PATIENCE_S=30

step_number=0
step() {
  step_number=$((step_number + 1))
  printf '\n%d. %s\n' "$step_number" "$1"
  shift
  local line
  for line in "$@"; do printf '   %s\n' "$line"; done
}
command_line() { printf '   $ %s\n' "$1"; }
result() { printf '   -> %s\n' "$1"; }

fail_story() {
  {
    printf '\nquickstart: %s\n' "$1"
    shift
    local line
    for line in "$@"; do printf '  %s\n' "$line"; done
    printf '\nThe log of the proxy, %s, ends with:\n' "$log"
    tail -n 30 "$log" 2>/dev/null || true
  } >&2
  exit 1
}

# wait_for WHAT COMMAND… — until the command succeeds.
wait_for() {
  local what="$1" deadline=$((SECONDS + PATIENCE_S))
  shift
  until "$@"; do
    [[ $SECONDS -lt $deadline ]] || fail_story "waited $PATIENCE_S s in vain for $what"
    sleep 0.02  # between two looks
  done
}

# ---- who listens on a port

# The inode numbers of the sockets that listen on port $1, IPv4 and IPv6.
listening_inodes() {
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    awk -v port="$(printf '%04X' "$1")" '$4 == "0A" && $2 ~ ":" port "$" { print $10 }'
}

refuse_used_port() {
  local inodes inode link owner=""
  inodes="$(listening_inodes "$1")"
  [[ -n "$inodes" ]] || return 0
  for inode in $inodes; do
    link="$(find /proc/[0-9]*/fd -lname "socket:\[$inode\]" -print -quit 2>/dev/null || true)"
    if [[ -n "$link" ]]; then
      owner="${link#/proc/}"
      owner="${owner%%/*}"
      owner="process $owner ($(tr '\0' ' ' <"/proc/$owner/cmdline" | cut -c1-120 || true))"
    fi
  done
  die "port $1 is in use by ${owner:-a process of another user}." \
    "Stop that process, or choose another port: scripts/quickstart --port 9080"
}

# ---- the proxy

server_says_serving() {
  kill -0 "$server_pid" 2>/dev/null || fail_story "the proxy did not start"
  grep -q ' serving: ' "$log"
}

start_server() {
  # Here, and not by the redirection below, which happens later: `serving` must be that of this start.
  : >"$log"
  # In a session of its own: Ctrl-C is for this script, which then stops the proxy once.
  setsid "$binary" serve --config "$config" >>"$log" 2>&1 3>&- &
  server_pid=$!
  wait_for "the proxy to serve" server_says_serving
  url="http://$(sed -n 's/.* serving: .* listen=\([^ ]*\).*/\1/p' "$log")"
  admin="http://$(sed -n 's/.* serving: .* admin=\([^ ]*\).*/\1/p' "$log")"
}

stop_server() {
  local status=0
  kill -TERM "$server_pid"
  wait "$server_pid" || status=$?
  server_pid=""
  [[ "$status" == 0 ]] || fail_story "the proxy ended with status $status after SIGTERM, not 0"
}

# The durable mark of the story's key; $1 if no token was ever seen.
mark_or() {
  local status
  status="$(curl -sS -m "$PATIENCE_S" -o "$work/fence" -w '%{http_code}' "$admin/v1/fences/$KEY")" ||
    fail_story "the admin API does not answer"
  case "$status" in
    200) sed -n 's/.*"mark":"\([0-9]*\)".*/\1/p' "$work/fence" ;;
    404) echo "$1" ;;
    *) fail_story "asking for the mark of $KEY was answered $status" "$(cat "$work/fence")" ;;
  esac
}

staged_bytes() {
  curl -sS -m "$PATIENCE_S" "$admin/metrics" | sed -n 's/^fenceline_staged_bytes //p'
}

# ---- what must be so

expect_status() {
  local status="$1" wanted="$2" what="$3" answer="$4"
  [[ " $wanted " == *" $status "* ]] || fail_story "$what was answered $status, not $wanted" \
    "$(cat "$answer" 2>/dev/null)"
}

expect_refused() {
  local status="$1" answer="$2"
  expect_status "$status" 412 "the write of the zombie" "$answer"
  grep -q 'urn:fenceline:problem:stale-token' "$answer" && grep -q '"applied":"no"' "$answer" ||
    fail_story "the refusal does not say that the token is stale and nothing was applied" \
      "$(cat "$answer")"
  result "$status: $(sed -n 's/.*"detail":"\([^"]*\)".*/\1/p' "$answer")"
}

expect_content_of_b() {
  curl -sS -m "$PATIENCE_S" -o "$work/content" "$url/exports/acme/report.csv" ||
    fail_story "curl could not read the file"
  cmp -s "$work/content" "$work/b.csv" ||
    fail_story "the content is not what B wrote, but:" "$(head -c 200 "$work/content")"
  result "the content is: $(cat "$work/content")"
}

is_stopped() { [[ "$(ps -o stat= -p "$worker_pid")" == T* ]]; }

# All of the first half: nothing more is in the pipe.
first_half_is_staged() {
  kill -0 "$worker_pid" 2>/dev/null ||
    fail_story "curl of worker A ended too early" "$(cat "$work/a.out" "$work/a.answer" 2>/dev/null)"
  [[ "$(staged_bytes)" == "$HALF_BYTES" ]]
}

# ---- the story

# write TOKEN FILE ANSWER — writes the file of the story and prints the status.
write() {
  curl -sS -m "$PATIENCE_S" -T "$2" -H "Fencing-Token: $1" -o "$3" -w '%{http_code}' \
    "$url/exports/acme/report.csv" || fail_story "curl could not write $2"
}

start_upload_of_a() {
  mkfifo "$work/a.fifo"
  curl -sS -T - -H "Fencing-Token: $token_a" -o "$work/a.answer" -w '%{http_code}' \
    "$url/exports/acme/report.csv" <"$work/a.fifo" >"$work/a.out" 2>"$work/a.err" &
  worker_pid=$!
  exec 3>"$work/a.fifo"
  head -c "$HALF_BYTES" /dev/zero | tr '\0' 'A' >&3 ||
    fail_story "curl of worker A does not read" "$(cat "$work/a.err")"
  wait_for "the first half of the upload to be staged" first_half_is_staged
  kill -STOP "$worker_pid"
  wait_for "curl of worker A to stop" is_stopped
  [[ -n "$(ls var/exports/.fenceline/tmp)" ]] ||
    fail_story "no temporary file holds the first half of the upload"
}

finish_upload_of_a() {
  kill -CONT "$worker_pid"
  # The answer may come before the end is sent; then nobody reads the rest.
  (trap '' PIPE; head -c "$HALF_BYTES" /dev/zero | tr '\0' 'A' >&3) 2>/dev/null || true
  exec 3>&-
  wait "$worker_pid" || fail_story "curl of worker A failed" "$(cat "$work/a.err")"
  worker_pid=""
}

play_story() {
  local upload status mark
  start_server
  mark="$(mark_or 32)"
  token_a=$((mark + 1))
  token_b=$((mark + 2))
  upload="curl -T - -H 'Fencing-Token: $token_a' $url/exports/acme/report.csv"
  printf '\nThe proxy serves %s. This is the story of a zombie.\n' "$url"
  if [[ "$token_a" != 33 ]]; then
    printf 'A fresh start uses the tokens 33 and 34. var/ is from an earlier run: %s\n' \
      "the highest token seen for $KEY is $mark, so this run goes on with $token_a and $token_b."
  fi

  step "Worker A holds the lease with token $token_a and starts an upload." \
    "In the middle of it A is stopped (SIGSTOP), as by a long garbage collection."
  command_line "$upload < a-slow-pipe &"
  start_upload_of_a
  command_line "kill -STOP $worker_pid"
  result "A is stopped; $HALF_BYTES bytes are staged, where no reader sees them"

  step "The lease expires. Worker B gets it with token $token_b and writes the same file."
  printf 'written by worker B with token %s\n' "$token_b" >"$work/b.csv"
  command_line "curl -T b.csv -H 'Fencing-Token: $token_b' $url/exports/acme/report.csv"
  status="$(write "$token_b" "$work/b.csv" "$work/b.answer")"
  expect_status "$status" "201 204" "the write of B" "$work/b.answer"
  result "$status: written"

  step "A wakes up (SIGCONT), knows nothing of all this, and finishes its upload."
  command_line "kill -CONT $worker_pid"
  finish_upload_of_a
  expect_refused "$(cat "$work/a.out")" "$work/a.answer"
  command_line "curl $url/exports/acme/report.csv"
  expect_content_of_b

  step "The proxy is restarted (SIGTERM, and started again). The highest token must survive."
  command_line "curl $admin/v1/fences/$KEY"
  stop_server
  start_server
  mark="$(mark_or none)"
  [[ "$mark" == "$token_b" ]] || fail_story "after the restart the mark is $mark, not $token_b"
  result "the highest token is $mark"

  step "A tries once more."
  printf 'written by worker A with token %s\n' "$token_a" >"$work/a.csv"
  command_line "curl -T a.csv -H 'Fencing-Token: $token_a' $url/exports/acme/report.csv"
  status="$(write "$token_a" "$work/a.csv" "$work/a.answer")"
  expect_refused "$status" "$work/a.answer"
  expect_content_of_b
}
