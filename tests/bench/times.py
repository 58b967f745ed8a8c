"""CPU time per request beside nginx, and beside fenceline itself without a fence."""

import collections

import calm
import places
import rounds
import signing
from load import Load
from servers import (start_fenceline, start_fenceline_proxy, start_fenceline_s3, start_nginx,
                     start_nginx_proxy)

KIB, MIB = 1024, 1024 * 1024
SERVER_CPU = ["taskset", "-c", "0"]
CLIENT_CPU = ["taskset", "-c", "1"]
# As in counts.py: the marks are raised by the filling, so the fence compares and does not write.
TOKEN = "Fencing-Token: 7"

# Goals of the issue: now and stretch, in CPU time of nginx.
Workload = collections.namedtuple("Workload", "name method size names connections goal stretch")
WORKLOADS = (
    Workload("GET 1 KiB", "GET", KIB, 64, 32, 0.8, 0.5),
    Workload("GET 16 MiB", "GET", 16 * MIB, 4, 4, 1.0, 0.5),
    Workload("PUT 1 KiB", "PUT", KIB, 1024, 16, 0.9, 0.4),
    Workload("PUT 64 KiB", "PUT", 64 * KIB, 256, 16, 0.9, 0.4),
    Workload("PUT 16 MiB", "PUT", 16 * MIB, 4, 2, 1.0, 0.5),
)
# With the same server behind both: nginx, which serves and takes files on a tmpfs.
PROXIED = (
    Workload("proxied GET 1 KiB", "GET", KIB, 64, 32, 0.95, 0.7),
    Workload("proxied PUT 1 KiB", "PUT", KIB, 64, 16, 0.95, 0.7),
    Workload("proxied GET 16 MiB", "GET", 16 * MIB, 4, 4, 0.8, 0.55),
    Workload("proxied PUT 16 MiB", "PUT", 16 * MIB, 4, 2, 1.0, 0.8),
)
# One object: a signature is for one name. The peer passes on what it does not look at.
S3_PATH = "/bench-bucket/{size}"
S3 = (
    Workload("S3 GET 1 KiB", "GET", KIB, 1, 32, 1.3, None),
    Workload("S3 PUT 1 KiB", "PUT", KIB, 1, 16, 1.3, None),
    Workload("S3 GET 16 MiB", "GET", 16 * MIB, 1, 4, 1.2, None),
    Workload("S3 PUT 16 MiB", "PUT", 16 * MIB, 1, 2, 1.2, None),
)
FENCE_GOAL = 1.02
FENCE_ROUNDS = 3  # Times as many: a difference of 2 % is smaller than the spread of one round.


class Contender:
    def __init__(self, server, prefix, header, tools, point, milliseconds, shares=False):
        """`shares`: it waits for an upstream, so that it is idle for a part of the time."""
        self._shares = shares
        self._server = server
        self._prefix = prefix
        self._header = header
        self._tools = tools
        self._point = point
        self._milliseconds = milliseconds

    def prepare(self, workload):
        """Every name exists, so that a PUT replaces and the mark is there."""
        self._load("PUT", workload).run(self._tools, self._server.port, 1,
                                        requests=workload.names)

    def run(self, workload):
        places.settle(self._point)
        load = self._load(workload.method, workload)
        before = self._server.processor_ns()
        done = load.run(self._tools, self._server.port, workload.connections,
                        milliseconds=self._milliseconds, wrapper=CLIENT_CPU)
        on_ns, waiting_ns = (after - earlier for after, earlier
                             in zip(self._server.processor_ns(), before))
        doubt = calm.waiting(self._server.name, on_ns, waiting_ns)
        if not self._shares and not (workload.method == "PUT" and workload.size >= MIB):
            doubt = doubt or calm.idle(self._server.name, on_ns / 1e9, done["seconds"])
        return rounds.Sample(on_ns / 1000 / done["requests"], doubt)

    def _load(self, method, workload):
        size = workload.size if method == "PUT" else 0
        return Load(method, f"{self._prefix}/{workload.size}-{{}}", workload.names, size,
                    self._header if method == "PUT" else "")


class SignedContender(Contender):
    """Its requests are those of an S3 client, signed."""

    def _load(self, method, workload):
        size = workload.size if method == "PUT" else 0
        path = S3_PATH.format(size=workload.size)
        return Load(method, path, 1, size, signing.fields(method, path, b"x" * size, 7))


def run(report, options, binary, tools, folder):
    for kind in (places.EXT4, places.TMPFS):
        if not any(options.wanted(f"{workload.name} {kind}") for workload in WORKLOADS):
            continue
        with places.mounted(kind, folder) as point, \
                start_nginx(point / "nginx", SERVER_CPU) as nginx, \
                start_fenceline(binary, point / "fenceline", SERVER_CPU) as fenceline:
            def contender(server, prefix, header):
                return Contender(server, prefix, header, tools, point, options.milliseconds)
            ours = contender(fenceline, "/fenced", TOKEN)
            for workload in WORKLOADS:
                _row(report, options, tools, folder, kind, workload, ours,
                     contender(nginx, "", ""), "nginx", workload.goal, workload.stretch)
            # The same header, so that only looking at it differs.
            put = WORKLOADS[2]
            _row(report, options, tools, folder, kind, put, ours,
                 contender(fenceline, "/free", TOKEN), "writes: off", FENCE_GOAL, None,
                 FENCE_ROUNDS)


    _proxied(report, options, binary, tools, folder)
    _s3(report, options, binary, tools, folder)


def _proxied(report, options, binary, tools, folder):
    if not any(options.wanted(f"{workload.name} {places.TMPFS}") for workload in PROXIED):
        return
    # The upstream shares the processor of the client: only the proxies are compared.
    with places.mounted(places.TMPFS, folder) as point, \
            start_nginx(point / "upstream", CLIENT_CPU) as upstream, \
            start_nginx_proxy(point / "nginx", upstream.port, SERVER_CPU) as nginx, \
            start_fenceline_proxy(binary, point / "fenceline", upstream.port, SERVER_CPU) as ours:
        for workload in PROXIED:
            _row(report, options, tools, folder, places.TMPFS, workload,
                 Contender(ours, "", TOKEN, tools, point, options.milliseconds, shares=True),
                 Contender(nginx, "", "", tools, point, options.milliseconds, shares=True),
                 "nginx proxy_pass", workload.goal, workload.stretch)


def _s3(report, options, binary, tools, folder):
    if not any(options.wanted(f"{workload.name} {places.TMPFS}") for workload in S3):
        return
    with places.mounted(places.TMPFS, folder) as point, \
            start_nginx(point / "upstream", CLIENT_CPU) as upstream, \
            start_nginx_proxy(point / "nginx", upstream.port, SERVER_CPU) as nginx, \
            start_fenceline_s3(binary, point / "fenceline", upstream.port, SERVER_CPU) as ours:
        def contender(server):
            return SignedContender(server, "", "", tools, point, options.milliseconds, shares=True)
        for workload in S3:
            _row(report, options, tools, folder, places.TMPFS, workload, contender(ours),
                 contender(nginx), "nginx proxy_pass", workload.goal, workload.stretch)


def _row(report, options, tools, folder, kind, workload, ours, theirs, peer, goal, stretch,
         times_rounds=1):
    name = f"{workload.name}, {kind}, beside {peer}"
    if not options.wanted(f"{workload.name} {kind} {peer}"):
        return

    def measure():
        return rounds.compare(lambda: ours.run(workload), lambda: theirs.run(workload),
                              options.rounds * times_rounds)
    ours.prepare(workload)
    theirs.prepare(workload)
    outcome = rounds.calmly(measure, lambda: calm.probe(tools, folder), calm.CPU_PROBES)
    report.ratio("CPU time per request, µs", name, outcome, goal, stretch, lower_is_better=True)
