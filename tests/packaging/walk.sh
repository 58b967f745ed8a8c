#!/usr/bin/env bash
# Walks the package through its life on the machine it runs on: install, use, upgrade, remove, purge.
# Only for a system that nobody needs (package_test.py and clean_machine.sh make one): it is root's.
#
#   walk.sh OLD.deb NEW.deb [DISK]     the same content; NEW has the higher version
#
# DISK is a folder to be mounted where the data is: needed where the root is an overlay, on which
# files and folders are of different file systems.
#
# Where systemd runs, packages come by apt and the service is systemd's. Where it does not (as in a
# chroot), they come by dpkg, the scripts of the package must start nothing, and this script runs the
# ExecStart of the unit as its user.
set -euo pipefail

old="$1" new="$2" disk="${3:-}"
readonly PATIENCE_S=30
readonly CONFIG=/etc/fenceline/fenceline.yaml STATE=/var/lib/fenceline
readonly UNIT=/lib/systemd/system/fenceline.service
readonly FILE_URL=http://127.0.0.1:8080/exports/acme/report.csv ADMIN_URL=http://127.0.0.1:8081
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

if [[ -d /run/systemd/system ]]; then managed=yes; else managed=no; fi
server_pid=""
trap '[[ -z "$server_pid" ]] || kill "$server_pid" 2>/dev/null || true' EXIT

step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
fail() {
  printf 'walk: %s\n' "$1" >&2
  [[ ! -s /tmp/answer ]] || cat /tmp/answer >&2
  [[ "$managed" == no ]] || journalctl -u fenceline --no-pager -n 20 >&2 || true
  exit 1
}

# run COMMAND… — shows the command, then what it prints.
run() {
  printf '$ %s\n' "$*"
  "$@" 2>&1
}

# expect WHAT EXPECTED FOUND
expect() {
  [[ "$2" == "$3" ]] || fail "$1: expected '$2', found '$3'"
  printf '%s: %s\n' "$1" "$3"
}

expect_no() { [[ ! -e "$1" ]] || fail "$1 is still there"; }
owner_and_mode() { stat -c '%U:%G %a' "$1"; }
field() { dpkg-query -W -f="\${$1}" fenceline; }

wait_for() {
  local what="$1" deadline=$((SECONDS + PATIENCE_S))
  shift
  until "$@"; do
    [[ $SECONDS -lt $deadline ]] || fail "waited $PATIENCE_S s in vain for $what"
    sleep 0.05  # between two looks
  done
}

# ---- packages

# install_package FILE [OPTION OF APT…]
install_package() {
  if [[ "$managed" == yes ]]; then
    run apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root --no-install-recommends \
      "${@:2}" install "$1"
  else
    # Triggers would rebuild the index of the manuals each time.
    run dpkg --no-triggers --force-unsafe-io -i "$1"
  fi
}

remove_package() {
  if [[ "$managed" == yes ]]; then
    run apt-get -q -y -o Dpkg::Use-Pty=0 "$1" fenceline
  else
    run dpkg --no-triggers "--$1" fenceline
  fi
}

# ---- the service

is_ready() { [[ "$(curl -s -o /dev/null -w '%{http_code}' "$ADMIN_URL/readyz")" == 200 ]]; }
is_gone() { [[ ! -e "/proc/$1" ]]; }
of_unit() { sed -n "s/^$1=//p" "$UNIT"; }

main_pid() {
  if [[ "$managed" == yes ]]; then
    systemctl show -P MainPID fenceline
  else
    echo "${server_pid:-0}"
  fi
}

# Without systemd: what systemd would do, but for the sandbox.
start_by_hand() {
  [[ "$managed" == no ]] || return 0
  expect "processes that the package started" "" "$(pgrep -x fenceline || true)"
  # shellcheck disable=SC2046  # ExecStart is words
  (cd "$(of_unit WorkingDirectory)" && umask "$(of_unit UMask)" &&
    exec setpriv --reuid "$(of_unit User)" --regid "$(of_unit Group)" --init-groups \
      --no-new-privs $(of_unit ExecStart)) 2>/tmp/fenceline.log &
  server_pid=$!
}

stop_by_hand() {
  [[ "$managed" == no ]] || return 0
  kill -TERM "$server_pid"
  wait "$server_pid" || fail "the server ended with status $?"
  server_pid=""
}

# put TOKEN — prints the status of a fenced write whose content is its token.
put() {
  curl -s -o /tmp/answer -w '%{http_code}' -H "Fencing-Token: $1" -H 'Content-Type: text/csv' \
    --data-binary "token $1" -X PUT "$FILE_URL"
}

expect_fence() {
  expect "write with token 33, overtaken by 34" 412 "$(put 33)"
  expect "content" "$1" "$(curl -s "$FILE_URL")"
}

# ---- the walk

step "Install $(basename "$old")"
install_package "$old"
expect "status" "install ok installed" "$(field Status)"
expect "user" fenceline "$(id -un fenceline)"
expect "home and shell" "$STATE:/usr/sbin/nologin" "$(getent passwd fenceline | cut -d: -f6,7)"
expect "$CONFIG" "root:fenceline 640" "$(owner_and_mode "$CONFIG")"
expect "$STATE" "fenceline:fenceline 750" "$(owner_and_mode "$STATE")"
expect "/usr/bin/fenceline" "root:root 755" "$(owner_and_mode /usr/bin/fenceline)"
expect "$UNIT" "root:root 644" "$(owner_and_mode "$UNIT")"
[[ "$(field Conffiles)" == *"$CONFIG "* ]] || fail "$CONFIG is no conffile"
expect "unit is linked in" "$UNIT" \
  "$(readlink /etc/systemd/system/multi-user.target.wants/fenceline.service)"
run fenceline check "$CONFIG"
if [[ -n "$disk" ]]; then
  chown fenceline:fenceline "$disk"
  chmod 750 "$disk"
  mount --bind "$disk" "$STATE"
fi

step "A fenced write and a zombie"
start_by_hand
wait_for "the server to be ready" is_ready
expect "user of the process" fenceline "$(stat -c %U "/proc/$(main_pid)")"
expect "write with token 34" 201 "$(put 34)"
expect_fence "token 34"
expect "$STATE/ledger.db" "fenceline:fenceline 640" "$(owner_and_mode "$STATE/ledger.db")"

step "Upgrade to $(basename "$new"), with a configuration that was edited"
sed -i 's/level: info/level: debug/' "$CONFIG"
edited="$(sha256sum <"$CONFIG")"
before="$(main_pid)"
if [[ "$managed" == yes ]]; then
  install_package "$new"
  wait_for "the server to be ready" is_ready
  [[ "$(main_pid)" != "$before" ]] || fail "the upgrade did not restart the server"
  echo "process: before $before, now $(main_pid)"
else
  install_package "$new"
  expect "the old server still answers" 412 "$(put 33)"
  stop_by_hand
  start_by_hand
  wait_for "the server to be ready" is_ready
fi
expect "version" "$(dpkg-deb -f "$new" Version)" "$(field Version)"
expect "configuration as edited" "$edited" "$(sha256sum <"$CONFIG")"
expect "$CONFIG" "root:fenceline 640" "$(owner_and_mode "$CONFIG")"
expect "binary of the process" /usr/bin/fenceline "$(readlink "/proc/$(main_pid)/exe")"
expect_fence "token 34"
expect "write with token 35" 204 "$(put 35)"

if [[ "$managed" == yes ]]; then
  step "systemctl restart, stop, start; what the administrator disabled stays disabled"
  run systemctl restart fenceline
  wait_for "the server to be ready" is_ready
  expect_fence "token 35"
  run systemctl stop fenceline
  expect "ended with" "success 0" \
    "$(systemctl show -P Result fenceline) $(systemctl show -P ExecMainStatus fenceline)"
  expect_no "$STATE/ledger.db-wal"
  run systemctl disable -q fenceline
  install_package "$new" --reinstall
  expect "enabled" disabled "$(systemctl is-enabled fenceline || true)"
  run systemctl enable -q --now fenceline
  wait_for "the server to be ready" is_ready
  run systemd-analyze security --no-pager --threshold=20 fenceline | tail -n 1
fi

step "Remove: the server stops; configuration, ledger and files stay"
before="$(main_pid)"
stop_by_hand
remove_package remove
wait_for "the server to be gone" is_gone "$before"
expect "status" "deinstall ok config-files" "$(field Status)"
expect_no /usr/bin/fenceline
expect_no "$UNIT"
expect "configuration as edited" "$edited" "$(sha256sum <"$CONFIG")"
expect "$STATE/exports/acme/report.csv" "token 35" "$(cat "$STATE/exports/acme/report.csv")"

step "Install again: the fence is where it was"
install_package "$new"
start_by_hand
wait_for "the server to be ready" is_ready
expect_fence "token 35"

step "Purge: the configuration goes; ledger and files are never deleted by a package"
echo 'ADMIN_TOKEN=secret' >/etc/fenceline/environment
stop_by_hand
remove_package purge
expect_no /etc/fenceline
expect_no /etc/systemd/system/multi-user.target.wants/fenceline.service
expect_no /usr/bin/fenceline
expect "$STATE/ledger.db" "fenceline:fenceline 640" "$(owner_and_mode "$STATE/ledger.db")"

step "Install after the purge: the fence still is where it was"
install_package "$new"
expect "$CONFIG" "root:fenceline 640" "$(owner_and_mode "$CONFIG")"
start_by_hand
wait_for "the server to be ready" is_ready
expect_fence "token 35"
stop_by_hand
remove_package purge

step "Purge when there is nothing to keep"
find "$STATE" -mindepth 1 -delete
[[ -z "$disk" ]] || umount "$STATE"
install_package "$new"
[[ "$managed" == no ]] || run systemctl stop fenceline
find "$STATE" -mindepth 1 -delete
remove_package purge
expect_no "$STATE"

printf '\nthe walk is done\n'
