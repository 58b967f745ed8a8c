"""User instructions and system calls per request: what does not depend on how busy the machine is.

Each is the slope between two numbers of requests, each with a server of its own: what starting,
filling and stopping cost cancels out.
"""

import collections
import contextlib
import os
import pathlib
import re
import shutil
import tempfile

import signing
from load import Load
from servers import (Failed, start_fenceline, start_fenceline_proxy, start_fenceline_s3,
                     start_nginx, start_nginx_proxy, wait_for)

KIB = 1024
WORKLOADS = ("GET 1 KiB", "PUT 1 KiB", "proxied GET 1 KiB", "proxied PUT 1 KiB", "S3 GET 1 KiB",
             "S3 PUT 1 KiB")
# The marks are raised by the filling; the counted requests only compare with them. Few names, since
# the threads of the ledger do not wait the same number of times in each run.
NAMES = 16
TOKEN = "Fencing-Token: 7"
# The timer wheel of the server, as in proxy/server_options.h: not a cost of requests.
TICK_S = 0.05

Kind = collections.namedtuple("Kind", "tool few many connections pause_ms")
KINDS = {
    "instructions": Kind("valgrind", 256, 2304, 1, 0),
    # Each request finds an idle server: nothing is left to chance, so this is what is gated.
    "system calls": Kind("strace", 128, 1152, 1, 2),
    # As under load, where one epoll_wait serves many; whether an attempt to read finds something is
    # a matter of luck here.
    "system calls, 16 connections": Kind("strace", 256, 2304, 16, 0),
}
GATED = ("instructions", "system calls")


# A signature is for one name.
S3_PATH = "/bench-bucket/f"


def is_s3(workload):
    return workload.startswith("S3 ")


def is_proxied(workload):
    return is_s3(workload) or workload.startswith("proxied ")


class Peer:
    """How one of the servers is started and addressed."""

    def __init__(self, name, start, prefix, header):
        self.name = name
        self.start = start
        self._prefix = prefix
        self._header = header

    def put(self, body_bytes=KIB, names=NAMES):
        return Load("PUT", f"{self._prefix}/f{{}}", names, body_bytes, self._header)

    def get(self, names=NAMES):
        return Load("GET", f"{self._prefix}/f{{}}", names)


class S3Peer(Peer):
    """Its requests are those of an S3 client, signed when they are asked for."""

    def put(self, body_bytes=KIB, names=1):
        return Load("PUT", S3_PATH, names, body_bytes,
                    signing.fields("PUT", S3_PATH, b"x" * body_bytes, 7))

    def get(self, names=1):
        return Load("GET", S3_PATH, names, header=signing.fields("GET", S3_PATH, b"", 7))


def fenceline(binary, tools, workload, fenced=True):
    # Only valgrind needs it, see openat2_under_valgrind.cc.
    preload = {"LD_PRELOAD": str(tools / "libbench_openat2.so")}

    def environment(wrapper):
        under_valgrind = wrapper and os.path.basename(wrapper[0]) == "valgrind"
        return preload if under_valgrind else None

    def start(folder, wrapper):
        return start_fenceline(binary, folder, wrapper, environment=environment(wrapper))

    def start_proxy(folder, port, wrapper):
        return start_fenceline_proxy(binary, folder, port, wrapper, environment(wrapper))

    def start_s3(folder, port, wrapper):
        return start_fenceline_s3(binary, folder, port, wrapper, environment(wrapper))
    if is_s3(workload):
        return S3Peer("fenceline", _before_an_upstream(start_s3), "", "")
    if is_proxied(workload):
        return Peer("fenceline", _before_an_upstream(start_proxy), "", TOKEN)
    if fenced:
        return Peer("fenceline", start, "/fenced", TOKEN)
    return Peer("writes: off", start, "/free", TOKEN)


def nginx(workload):
    if is_s3(workload):
        return S3Peer("nginx proxy_pass", _before_an_upstream(start_nginx_proxy), "", "")
    if is_proxied(workload):
        return Peer("nginx proxy_pass", _before_an_upstream(start_nginx_proxy), "", "")
    return Peer("nginx", start_nginx, "", "")


def _before_an_upstream(start_proxy):
    @contextlib.contextmanager
    def start(folder, wrapper):
        with start_nginx(folder / "upstream") as upstream, \
                start_proxy(folder / "proxy", upstream.port, wrapper) as proxy:
            yield proxy
    return start


def count(kind_name, peer, workload, tools, keep=None):
    """The count per request: a dict with `total`, for system calls also by name.

    `keep` is a folder that gets what callgrind wrote, for callgrind_annotate.
    """
    kind = KINDS[kind_name]
    if shutil.which(kind.tool) is None:
        raise Failed(f"{kind.tool} is missing; run: apt-get install {kind.tool}")
    with tempfile.TemporaryDirectory(prefix="fenceline-counts-") as name:
        folder = pathlib.Path(name)
        few, few_s = _whole_run(kind, peer, workload, tools, folder / "few", kind.few)
        many, many_s = _whole_run(kind, peer, workload, tools, folder / "many", kind.many)
        if keep and kind.tool == "valgrind":
            name = re.sub(r"\W+", "-", f"callgrind.{peer.name}.{workload}")
            shutil.copy(folder / "many/counted", keep / name)
    requests = kind.many - kind.few
    slope = {call: (many.get(call, 0) - few.get(call, 0)) / requests for call in {*few, *many}}
    return without_ticks(slope, (many_s - few_s) / requests)


def without_ticks(slope, seconds_per_request):
    """Takes out the ticks that passed meanwhile, and no more than those, and adds `total`."""
    ticks = max(0, min(slope.get("timerfd_settime", 0) / 2, seconds_per_request / TICK_S))
    for call, calls_per_tick in (("timerfd_settime", 2), ("epoll_wait", 1)):
        if call in slope:
            slope[call] -= calls_per_tick * ticks
    slope["total"] = sum(slope.values())
    return slope


def _whole_run(kind, peer, workload, tools, folder, requests):
    folder.mkdir(parents=True)
    output = folder / "counted"
    wrapper = {
        "valgrind": ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}"],
        "strace": ["strace", "-f", "-c", "-U", "calls,name", "-o", str(output)],
    }[kind.tool]
    load = peer.get() if "GET" in workload else peer.put()
    with peer.start(folder / "server", wrapper) as server:
        peer.put().run(tools, server.port, 1, requests=NAMES)
        loaded = load.run(tools, server.port, kind.connections, requests=requests,
                          pause_ms=kind.pause_ms)
    wait_for(f"what was counted in {output}", 10, lambda: output.exists() and output.stat().st_size)
    return _READERS[kind.tool](output.read_text()), loaded["seconds"]


def read_callgrind(text):
    found = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    if not found:
        raise Failed("callgrind wrote no totals")
    return {"instructions": int(found[1])}


def read_strace(text):
    calls = re.findall(r"^ *(\d+) +(\w+)$", text, re.MULTILINE)
    if not calls:
        raise Failed(f"strace wrote no counts:\n{text}")
    return {name: int(number) for number, name in calls if name != "total"}


_READERS = {"valgrind": read_callgrind, "strace": read_strace}
