"""Leases that are taken and given back again: beside a lock in etcd, and one in Redis.

Each is as durable as it can be, on one disk. The client is one thread with a connection for each worker;
every lease has a key of its own, so nobody waits for another.
"""

import base64
import contextlib
import itertools
import json
import random
import shutil
import statistics
import time

import calm
import lease_clients
import places
import rounds
from servers import Failed, Server, free_port, start_fenceline_leases

WORKERS = 16
GOAL = 1
TTL_S = 30
# The client of a fast server must not be what is measured.
MAX_CLIENT = 0.8

REDIS_TAKE = """\
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return 0"""
REDIS_GIVE_BACK = """\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0"""


def run(report, options, binary, tools, folder):
    rows = {peer: f"leases taken and given back, {WORKERS} workers, {{}}, beside {lock}"
            for peer, lock in (("etcd", "a lock in etcd"), ("redis", "a lock in Redis"))}
    if not any(map(options.wanted, rows.values())):
        return
    with contextlib.ExitStack() as stack:
        point, kind = stack.enter_context(places.on_disk(options.disk, folder))
        ours = stack.enter_context(
            start_fenceline_leases(binary, point / "fenceline", calm.REAL_TIME))
        etcd = _start_etcd(point / "etcd")
        stack.callback(etcd.kill)  # It does not end with status 0.
        redis = _start_redis(point / "redis")
        stack.callback(redis.kill)
        contenders = {
            "ours": lambda: _measure(ours.port, _fenceline, options),
            "etcd": lambda: _measure(etcd.port, _etcd, options),
            "redis": lambda: _measure(redis.port, _redis, options),
        }
        for attempt in range(rounds.ATTEMPTS):
            before = calm.probe(tools, point)
            samples = _in_turns(contenders, options.rounds)
            drifted = calm.drift(before, calm.probe(tools, point), calm.DISK_PROBES)
            if not drifted:
                break
            print(f"  too noisy, try {attempt + 1} of {rounds.ATTEMPTS}: {drifted}", flush=True)
    for peer, name in rows.items():
        report.ratio("leases per second", name.format(kind), _outcome(samples, peer, drifted), GOAL,
                     None, lower_is_better=False)


def _in_turns(contenders, count):
    """One Sample of each by name, for each round; in every round in random order."""
    samples = []
    for _ in range(count):
        names = list(contenders)
        random.shuffle(names)
        samples.append({name: contenders[name]() for name in names})
    return samples


def _outcome(samples, peer, drifted):
    pairs = [(each["ours"], each[peer]) for each in samples]
    ratios = [ours.value / theirs.value for ours, theirs in pairs]
    doubts = [sample.doubt for pair in pairs for sample in pair if sample.doubt]
    return rounds.Outcome(statistics.median(ratios), min(ratios), max(ratios),
                          statistics.median(ours.value for ours, _ in pairs),
                          statistics.median(theirs.value for _, theirs in pairs),
                          drifted or (doubts[0] if doubts else None))


_names = itertools.count()


def _measure(port, lease, options):
    """Leases per second. `lease`: a generator of requests, given their answers."""
    start, used = time.monotonic(), time.process_time()
    done = lease_clients.work(port, lease, WORKERS, options.seconds)
    took, used = time.monotonic() - start, time.process_time() - used
    doubt = None
    if used > MAX_CLIENT * took:
        doubt = f"the client was on its processor {used / took:.0%} of the time"
    return rounds.Sample(done / took, doubt)


def _fenceline():
    order = json.dumps({"holder": "bench", "ttl": f"{TTL_S}s"})
    answer = yield lease_clients.http("POST", f"/leases/bench/{next(_names)}", order)
    location = lease_clients.field(answer, "location")
    yield lease_clients.http("DELETE", location)


def _etcd():
    """What its own lock does: a lease, a key with it if there is none, and both gone again."""
    number = next(_names) + 1
    key = base64.b64encode(f"bench/{number}".encode()).decode()
    yield lease_clients.http("POST", "/v3/lease/grant",
                             json.dumps({"ID": str(number), "TTL": str(TTL_S)}))
    put = {"key": key, "value": "", "lease": str(number)}
    answer = yield lease_clients.http("POST", "/v3/kv/txn", json.dumps({
        "compare": [{"key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0"}],
        "success": [{"request_put": put}]}))
    if b'"succeeded":true' not in answer:
        raise Failed(f"etcd did not give the lock: {answer}")
    yield lease_clients.http("POST", "/v3/lease/revoke", json.dumps({"ID": str(number)}))


def _redis():
    number = next(_names)
    lock, counter = f"bench:{{{number}}}:lock", f"bench:{{{number}}}:token"
    token = yield lease_clients.redis("EVAL", REDIS_TAKE, 2, lock, counter, number, TTL_S * 1000)
    if token != b":1\r\n":
        raise Failed(f"Redis did not give the lock: {token}")
    yield lease_clients.redis("EVAL", REDIS_GIVE_BACK, 1, lock, number)


def _start_redis(folder):
    folder.mkdir()
    port = free_port()
    return _started("redis-server", "redis-server", folder, port,
                    ["--port", port, "--bind", "127.0.0.1", "--dir", folder, "--save", "",
                     "--appendonly", "yes", "--appendfsync", "always"])


def _start_etcd(folder):
    folder.mkdir()
    port, peer_port = free_port(), free_port()
    here, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return _started("etcd", "etcd-server", folder, port,
                    ["--data-dir", folder / "data", "--logger", "zap", "--log-level", "warn",
                     "--listen-client-urls", here, "--advertise-client-urls", here,
                     "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                     "--initial-cluster", f"default={peer}"])


def _started(program, package, folder, port, arguments):
    binary = shutil.which(program)
    if binary is None:
        raise Failed(f"{program} is missing; run: apt-get install {package}")
    server = Server(program, folder, [binary, *map(str, arguments)], calm.REAL_TIME)
    try:
        server.wait_until_ready(lambda log: port)
    except BaseException:
        server.kill()
        raise
    return server
