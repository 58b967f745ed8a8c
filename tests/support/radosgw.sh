#!/usr/bin/env bash
# A real S3 server for tests: radosgw with one monitor and one object store in memory, on 127.0.0.1.
#
#   radosgw.sh DIR PORT MON_PORT     says "ready" when it answers; runs until its standard input ends,
#                                    so it does not outlive whoever has started it
#
# S3 answers on PORT, virtual hosts are BUCKET.localhost; the user's keys are testaccess and
# testsecretkey1234. The ports MON_PORT … MON_PORT + 99 are the cluster's own.
set -euo pipefail

dir="$1" port="$2" mon_port="$3"
config="$dir/ceph.conf"
mkdir -p "$dir"/{mon,osd,run,log}

fsid="$(cat /proc/sys/kernel/random/uuid)"
osd="$(cat /proc/sys/kernel/random/uuid)"
# radosgw by itself wants secure connections to the monitor, which there are none of without keys.
cat >"$config" <<EOF
[global]
fsid = $fsid
mon host = v2:127.0.0.1:$mon_port/0
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms bind msgr1 = false
ms bind port min = $((mon_port + 1))
ms bind port max = $((mon_port + 99))
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail warn = 1
mon data avail crit = 1
run dir = $dir/run
admin socket = $dir/run/\$name.\$pid.asok
pid file = $dir/run/\$name.pid
log file = $dir/log/\$name.log
log to stderr = false
crash dir = $dir/run
[mon]
mon data = $dir/mon
mon cluster log file = $dir/log/cluster.log
paxos propose interval = 0.05
paxos min wait = 0.01
[osd]
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 2147483648
[client]
rgw frontends = beast endpoint=127.0.0.1:$port
rgw thread pool size = 16
rgw dns name = localhost
rgw enable usage log = false
rgw enable gc threads = false
rgw enable lc threads = false
EOF

pids=()
finish() {
  for ((i = ${#pids[@]} - 1; i >= 0; --i)); do
    # Nothing of it is kept, so nobody waits for it to put its state in order.
    kill -KILL "${pids[i]}" 2>/dev/null || true
  done
  wait 2>/dev/null
}
trap finish EXIT

# `</dev/null`: only this script listens to its standard input.
run() { "$@" </dev/null & pids+=("$!"); }

until_true() {
  local what="$1" tries=0
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || { echo "gave up waiting for $what" >&2; exit 1; }
    sleep 0.1
  done
}

osd_is_up() { timeout 10 ceph -c "$config" osd stat | grep -q '1 up'; }

monmaptool --create --clobber --addv a "[v2:127.0.0.1:$mon_port]" --fsid "$fsid" "$dir/monmap" \
  >/dev/null
ceph-mon -c "$config" --mkfs -i a --monmap "$dir/monmap"
run ceph-mon -c "$config" -f -i a --setuser root --setgroup root
until_true "the monitor" timeout 30 ceph -c "$config" osd new "$osd"
ceph-osd -c "$config" -i 0 --mkfs --osd-uuid "$osd" >/dev/null 2>&1
run ceph-osd -c "$config" -f -i 0
until_true "the object store" osd_is_up
run radosgw -c "$config" -f -n client.rgw
until_true "radosgw" curl -sf -o /dev/null --max-time 2 "http://127.0.0.1:$port/"
timeout 60 radosgw-admin -c "$config" user create --uid test --display-name test \
  --access-key testaccess --secret-key testsecretkey1234 >/dev/null 2>&1
echo ready
cat >/dev/null
