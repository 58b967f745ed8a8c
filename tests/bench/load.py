"""Runs bench_load, the client of every measurement; see load.cc."""

import json
import subprocess

from servers import Failed

LIMIT_S = 600


class Load:
    """One kind of request: what bench_load is told, without port, amount and connections."""

    def __init__(self, method, path, names=1, body_bytes=0, header=""):
        self.path = path
        self._arguments = ["--method", method, "--path", path, "--names", str(names),
                           "--body-bytes", str(body_bytes), "--header", header]

    def run(self, tools, port, connections, requests=0, milliseconds=0, first=0,
            pause_ms=0, wrapper=()):
        """What bench_load printed, as a dict. Failed if one answer was not a success."""
        command = [*wrapper, str(tools / "bench_load"), "--port", str(port),
                   "--connections", str(connections), "--requests", str(requests),
                   "--milliseconds", str(milliseconds), "--first", str(first),
                   "--pause-ms", str(pause_ms), *self._arguments]
        done = subprocess.run(command, text=True, capture_output=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0:
            raise Failed(f"{done.stderr.strip()}\nby: {' '.join(command)}")
        return json.loads(done.stdout)
