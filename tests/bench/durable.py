"""What durability costs: beside plain loops that do the same with files, and with SQLite."""

import json
import os
import re
import statistics
import subprocess
import urllib.request

import calm
import places
import rounds
from load import Load
from servers import Failed, start_fenceline

CONNECTIONS = 64
NAMES = 4096
# More than any run uses.
MANY_TOKENS = 100_000_000
KIB = 1024
GOAL = 0.8
WORKERS = os.cpu_count()


def run(report, options, binary, tools, folder):
    rows = ("durable PUT 1 KiB", "durable raises by GET", "durable raises by PUT 1 KiB",
            "SQLite documents PUT 1 KiB")
    if not any(map(options.wanted, rows)):
        return
    with places.on_disk(options.disk, folder) as (point, kind), \
            start_fenceline(binary, point / "fenceline", calm.REAL_TIME, WORKERS) as server:
        bench = _Bench(options, tools, point, server)
        for name, measure in zip(rows, (bench.puts, bench.raises_by_get, bench.raises_by_put,
                                         bench.documents)):
            if not options.wanted(name):
                continue
            outcome = rounds.calmly(measure, lambda: calm.probe(tools, point), calm.DISK_PROBES)
            report.ratio("requests per second", f"{name}, {kind}, beside {bench.peer}", outcome, GOAL,
                         None, lower_is_better=False)


class _Bench:
    def __init__(self, options, tools, point, server):
        self._options = options
        self._tools = tools
        self._point = point
        self._server = server
        self._next_token = 1
        self.peer = ""  # What the last measurement was compared with.

    def puts(self):
        """One token: the marks are raised by the first pass, the files are what is durable."""
        load = Load("PUT", "/durable/f{}", NAMES, KIB, "Fencing-Token: 1")
        load.run(self._tools, self._server.port, CONNECTIONS, requests=NAMES)
        loop = ["bench_durable_loop", "--folder", self._point / "loop", "--threads", WORKERS,
                "--names", NAMES, "--body-bytes", KIB]
        self.peer = f"{WORKERS} threads that write, fsync, rename, fsync the directory"
        return rounds.compare(lambda: self._load(load), lambda: self._tool(*loop),
                              self._options.rounds)

    def raises_by_get(self):
        self._fill()
        return self._raises(Load("GET", "/fenced/f{}", NAMES, 0, "Fencing-Token: {}"))

    def raises_by_put(self):
        self._fill()
        return self._raises(Load("PUT", "/fenced/f{}", NAMES, KIB, "Fencing-Token: {}"))

    def documents(self):
        """One token: the mark is raised by the first pass."""
        load = Load("PUT", "/documents/f{}", NAMES, KIB, "Fencing-Token: 1")
        load.run(self._tools, self._server.port, CONNECTIONS, requests=NAMES)
        return self._grouped(
            "fenceline_sqlite_commit_writes", lambda: self._load(load),
            lambda group: self._tool("bench_documents_loop", "--path", self._point / "documents.db",
                                     "--group", group, "--names", NAMES, "--body-bytes", KIB),
            "documents")

    def _fill(self):
        Load("PUT", "/fenced/f{}", NAMES, KIB, "Fencing-Token: {}").run(
            self._tools, self._server.port, CONNECTIONS, requests=NAMES, first=self._tokens(NAMES))

    def _raises(self, load):
        """Every request brings a higher token for its key, and each key comes again late.

        The loop commits groups as large as those of the last run of fenceline.
        """
        return self._grouped(
            "fenceline_ledger_commit_raises", lambda: self._load(load),
            lambda group: self._tool("bench_ledger_loop", "--path", self._point / "loop.db",
                                     "--group", group, "--names", NAMES,
                                     "--first", self._tokens(MANY_TOKENS)),
            "raises")

    def _grouped(self, metric, load, loop, what):
        groups = []

        def run_server():
            before = self._committed(metric)
            sample = load()
            done, commits = (now - then for now, then in zip(self._committed(metric), before))
            if commits == 0:
                raise Failed(f"{metric}: nothing was committed")
            groups.append(max(1, round(done / commits)))
            return sample

        run_server()
        outcome = rounds.compare(run_server, lambda: loop(groups[-1]), self._options.rounds)
        self.peer = (f"a loop of SQLite commits of {round(statistics.median(groups))} {what}, as "
                     "fenceline")
        return outcome

    def _committed(self, metric):
        """(what was committed, commits) since the start."""
        url = f"http://127.0.0.1:{self._server.admin_port}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            text = answer.read().decode()
        return tuple(float(re.search(rf"^{metric}_{part}(?:{{.*}})? (\S+)$", text,
                                     re.MULTILINE)[1]) for part in ("sum", "count"))

    def _tokens(self, count):
        """The first of so many tokens that were not used before."""
        first = self._next_token
        self._next_token += count
        return first

    def _load(self, load):
        done = load.run(self._tools, self._server.port, CONNECTIONS,
                        milliseconds=self._options.milliseconds, first=self._tokens(MANY_TOKENS),
                        wrapper=calm.REAL_TIME)
        return rounds.Sample(done["requests"] / done["seconds"], None)

    def _tool(self, name, *arguments):
        command = [*calm.REAL_TIME, str(self._tools / name), *map(str, arguments),
                   "--milliseconds", str(self._options.milliseconds)]
        done = subprocess.run(command, text=True, capture_output=True, timeout=600, check=False)
        if done.returncode != 0:
            raise Failed(f"{done.stderr.strip()}\nby: {' '.join(command)}")
        result = json.loads(done.stdout)
        return rounds.Sample(result["requests"] / result["seconds"], None)
