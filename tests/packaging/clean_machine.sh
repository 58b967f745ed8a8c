#!/usr/bin/env bash
# Walks the package through its life on a fresh Debian 12 with a systemd that was booted, in a
# container; what it needs beside itself comes from apt. Called by scripts/package --walk, as root.
#
#   clean_machine.sh OLD.deb NEW.deb
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

readonly MIRROR=http://deb.debian.org/debian PATIENCE_S=300
[[ "$(id -u)" == 0 ]] || die "this needs root: it makes a system of its own and boots it"
ensure_groups walk

work="$(mktemp -d --tmpdir fenceline-walk.XXXXXX)"
machine="$work/root"
trap 'rm -rf --one-file-system "$work"' EXIT

say "A fresh Debian 12"
mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,curl,procps bookworm \
  "$machine" "$MIRROR" >&2
cp "$1" "$2" "$(dirname "${BASH_SOURCE[0]}")/walk.sh" "$machine/root/"
# A wait for the network at boot is not for a machine that has none.
chroot "$machine" systemctl --quiet mask systemd-networkd-wait-online.service

say "What the package depends on, from apt"
# Fetched here, where there is a network; installed by the walk, which has none.
systemd-nspawn --quiet --register=no --keep-unit --pipe --as-pid2 --directory="$machine" \
  env DEBIAN_FRONTEND=noninteractive sh -c "apt-get -q update && apt-get -q -y \
    --no-install-recommends --download-only install /root/$(basename "$1")" </dev/null >&2

cat >"$machine/etc/systemd/system/walk.service" <<UNIT
[Unit]
After=multi-user.target
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
TimeoutStartSec=$PATIENCE_S
WorkingDirectory=/root
ExecStart=bash /root/walk.sh /root/$(basename "$1") /root/$(basename "$2")
StandardOutput=file:/root/transcript
StandardError=inherit
[Install]
WantedBy=default.target
UNIT
chroot "$machine" systemctl --quiet enable walk.service

say "Booting it"
status=0
timeout --kill-after=30 "$((PATIENCE_S + 120))" \
  systemd-nspawn --quiet --boot --register=no --keep-unit --private-network --console=read-only \
  --directory="$machine" </dev/null >"$work/console" 2>&1 || status=$?
cat "$machine/root/transcript" || cat "$work/console"
[[ "$status" == 0 ]] && tail -n 1 "$machine/root/transcript" | grep -qx 'the walk is done' ||
  die "the walk did not end well (status $status); what the machine said last:" \
    "$(tail -n 20 "$work/console")"
