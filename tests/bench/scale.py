"""Many keys and many idle connections: what they cost in memory and time."""

import json
import pathlib
import resource
import socket
import subprocess

import calm
import places
from servers import Failed, start_fenceline, start_nginx

CONNECTIONS = 10_000
SPARE_FILES = 1000
IDLE_GOAL_BYTES = 16 * 1024


def run(report, options, binary, tools, folder):
    if options.wanted("keys in memory"):
        gate = _tool(tools, "gate", options.keys)
        report.fact("memory of one key in the gate", f"{gate['bytes_per_key']:.0f} bytes",
                    f"{gate['keys']:,} keys of 39 bytes")
        report.fact("admission of a key in memory", f"{gate['admit_ns']:.0f} ns",
                    f"any of {gate['keys']:,} keys, one thread")
    if options.wanted("keys in the ledger"):
        with places.mounted(places.EXT4_ON_DISK, folder) as point:
            ledger = _tool(tools, "ledger", options.keys, "--path", str(point / "ledger.db"))
        keys = f"{ledger['keys']:,} keys"
        report.fact("file of the ledger, per key", f"{ledger['file_bytes_per_key']:.0f} bytes",
                    f"{keys}, filled in the order of the keys")
        report.fact("start of the ledger", f"{ledger['open_ms']:.0f} ms",
                    f"{keys}, until the first answer, file not in the page cache")
        report.fact("look-up in the ledger, first pass", f"{ledger['find_cold_us']:.1f} µs",
                    f"{keys}, what is in the page cache is chance")
        report.fact("look-up in the ledger, page cache", f"{ledger['find_us']:.1f} µs", keys)
        report.fact("memory of the open ledger", f"{ledger['resident_mib']:.1f} MiB", keys)
    if options.wanted("idle connections"):
        _idle(report, binary, folder)


def _tool(tools, part, keys, *more):
    command = [*calm.REAL_TIME, str(tools / "bench_scale"), "--part", part, "--keys", str(keys), *more]
    done = subprocess.run(command, text=True, capture_output=True, timeout=1800, check=False)
    if done.returncode != 0:
        raise Failed(f"{done.stderr.strip()}\nby: {' '.join(command)}")
    return json.loads(done.stdout)


def _idle(report, binary, folder):
    _raise_file_limit()
    for start, path, goal in (
            (lambda: start_fenceline(binary, folder / "idle-fenceline"), "/fenced/f", True),
            (lambda: start_nginx(folder / "idle-nginx"), "/f", False)):
        with start() as server:
            _put(server.port, path)
            # What the first connections make the server allocate once is not theirs.
            _open_and_get(server.port, path, 100)
            before = _resident_bytes(server.pid)
            kept = _open_and_get(server.port, path, CONNECTIONS)
            each = (_resident_bytes(server.pid) - before) / CONNECTIONS
            for connection in kept:
                connection.close()
        report.fact(f"memory of an idle connection, {server.name}", f"{each / 1024:.1f} KiB",
                    f"{CONNECTIONS:,} connections, each after one GET"
                    + (f"; goal {IDLE_GOAL_BYTES // 1024} KiB" if goal else ""))


def _raise_file_limit():
    needed = CONNECTIONS + SPARE_FILES
    low, high = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    if int(high) - int(low) < needed:
        raise Failed(f"{needed} connections need more local ports than {low} to {high}; leave them "
                     "out with --only, or widen net.ipv4.ip_local_port_range")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, max(hard, needed)))
        except (ValueError, OSError) as error:
            raise Failed(f"{needed} open files are needed, {hard} are allowed ({error}); "
                         f"run: ulimit -n {needed}") from error


def _open_and_get(port, path, count):
    """So many connections, each idle after one answer."""
    kept = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        _read_ok(connection)
        kept.append(connection)
    return kept


def _put(port, path):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nFencing-Token: 1\r\n"
                           "Content-Length: 1\r\n\r\nx".encode())
        _read_ok(connection)


def _read_ok(connection):
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = connection.recv(4096)
        if not piece:
            raise Failed(f"the server closed a connection after {answer!r}")
        answer += piece
    if not answer.startswith(b"HTTP/1.1 2"):
        raise Failed(f"not a success: {answer[:200]!r}")


def _resident_bytes(pid):
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()
