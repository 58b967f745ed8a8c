"""The two servers, each one process with one worker, on a free port of the loopback.

Every server gets a folder of its own below a place (a file system under test), and is ended by its
process id, whatever happens.
"""

import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess

import signing

START_LIMIT_S = 60
STOP_LIMIT_S = 60
_TICK_S = 0.01

NGINX_CONFIG = """\
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log error;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  sendfile on;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_max_body_size 0;
  client_body_temp_path {folder}/root/.body;
  {unused_paths}
  server {{
    listen 127.0.0.1:{port};
    root {folder}/root;
    location / {{ dav_methods PUT; create_full_put_path on; }}
  }}
}}
"""

# Routes, so that one process is compared with itself: fence on, no fence, durable; and documents.
FENCELINE_CONFIG = """\
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {folder}/ledger.db}}
limits: {{connections: 20000}}
timeouts: {{keep_alive: 1h}}
threads: {{io: 1, workers: {workers}}}
routes:
  - name: fenced
    match: /fenced/{{path...}}
    files: {{root: {folder}/fenced, sync: none}}
  - name: free
    match: /free/{{path...}}
    writes: "off"
    files: {{root: {folder}/free, sync: none}}
  - name: durable
    match: /durable/{{path...}}
    files: {{root: {folder}/durable, sync: full}}
  - name: documents
    match: /documents/{{path...}}
    sqlite: {{database: {folder}/documents.db}}
"""

# The lease service alone.
FENCELINE_LEASES_CONFIG = """\
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {folder}/ledger.db}}
timeouts: {{keep_alive: 1h}}
threads: {{io: 1, workers: 1}}
leases: {{}}
routes:
  - name: fenced
    match: /fenced/{{path...}}
    files: {{root: {folder}/fenced, sync: none}}
"""

# What nginx needs to stream like us: keep-alive to the upstream, no copy of a body on disk.
NGINX_PROXY_CONFIG = """\
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log error;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_max_body_size 0;
  client_body_temp_path {folder}/body;
  proxy_max_temp_file_size 0;
  {unused_paths}
  upstream behind {{
    server 127.0.0.1:{upstream};
    keepalive 64;
    keepalive_requests 1000000000;
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://behind;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
    }}
  }}
}}
"""

# The mode that works with any upstream: the last bytes are held back until the fence is checked.
FENCELINE_PROXY_CONFIG = """\
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {folder}/ledger.db}}
timeouts: {{keep_alive: 1h}}
threads: {{io: 1, workers: 1}}
routes:
  - name: proxied
    match: /{{path...}}
    http: {{upstream: "http://127.0.0.1:{upstream}", commit: plain, probe: false, keep_alive: 1h}}
"""


# Between an S3 client and the same upstream as above, which takes the requests for plain ones.
FENCELINE_S3_CONFIG = """\
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {folder}/ledger.db}}
timeouts: {{keep_alive: 1h}}
threads: {{io: 1, workers: 1}}
routes:
  - name: s3
    match: /bench-bucket/{{key...}}
    s3:
      endpoint: "http://127.0.0.1:{upstream}"
      bucket: bench-bucket
      region: {region}
      credentials: {{access_key: {access_key}, secret_key: {secret_key}}}
      clients: [{{access_key: {access_key}, secret_key: {secret_key}}}]
      commit: plain
      probe: false
      keep_alive: 1h
"""


class Failed(Exception):
    """A measurement that cannot be made, with the reason and the fix."""


def pause():
    select.select([], [], [], _TICK_S)


def wait_for(what, limit_s, condition):
    """The first true result of `condition`; Failed if there is none for `limit_s`."""
    for _ in range(int(limit_s / _TICK_S)):
        result = condition()
        if result:
            return result
        pause()
    raise Failed(f"waited {limit_s} s for {what}")


class Server:
    """A running server. `wrapper` stands before its command (taskset, valgrind, strace)."""

    def __init__(self, name, folder, command, wrapper=(), environment=None):
        self.name = name
        self.folder = folder
        self.port = 0
        self.admin_port = 0
        self._log = folder / "stderr.log"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [*wrapper, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=folder, env=dict(os.environ, **(environment or {})), start_new_session=False)

    @property
    def log(self):
        return self._log.read_text(errors="replace")

    @property
    def pid(self):
        """Of the server itself: under strace, that is the child of the process we started."""
        ours = self._process.pid
        children = pathlib.Path(f"/proc/{ours}/task/{ours}/children").read_text().split()
        return int(children[0]) if children else ours

    def wait_until_ready(self, find_port):
        def ready():
            if self._process.poll() is not None:
                raise Failed(f"{self.name} ended while it started; its log:\n{self.log}")
            self.port = find_port(self.log)
            return self.port and accepts(self.port)
        wait_for(f"{self.name} to serve", START_LIMIT_S, ready)

    def processor_ns(self):
        """(on a processor, waiting for one) of all its threads; exact, while /proc/PID/stat counts
        ticks of 4 ms."""
        on = waiting = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            fields = (task / "schedstat").read_text().split()
            on += int(fields[0])
            waiting += int(fields[1])
        return on, waiting

    def stop(self):
        """Ends it in order, so that valgrind and strace write what they counted."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGTERM)
        try:
            status = self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"{self.name} did not stop in {STOP_LIMIT_S} s") from None
        if status != 0:
            raise Failed(f"{self.name} ended with status {status}; its log:\n{self.log}")

    def kill(self):
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *ended):
        if ended[0] is None:
            self.stop()
        else:
            self.kill()


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def start_nginx(folder, wrapper=()):
    """It serves and takes files."""
    return _start_nginx(folder, wrapper, NGINX_CONFIG)


def start_nginx_proxy(folder, upstream_port, wrapper=()):
    """It passes everything on to the upstream."""
    return _start_nginx(folder, wrapper, NGINX_PROXY_CONFIG, upstream=upstream_port)


def _start_nginx(folder, wrapper, text, **values):
    binary = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    if binary is None:
        raise Failed("nginx is missing; run: apt-get install nginx-light")
    _fresh(folder)
    (folder / "root").mkdir()
    port = free_port()
    # Paths that are not used, but that nginx creates.
    unused = "".join(f"{kind}_temp_path {folder}/{kind}; "
                     for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))
    config = folder / "nginx.conf"
    config.write_text(text.format(folder=folder, port=port, unused_paths=unused, **values))
    server = Server("nginx", folder, [binary, "-p", str(folder), "-c", str(config)], wrapper)
    return _ready(server, lambda log: port)


def start_fenceline(binary, folder, wrapper=(), workers=1, environment=None):
    """Three routes over files."""
    return _start_fenceline(binary, folder, wrapper, environment,
                            FENCELINE_CONFIG.format(folder=folder, workers=workers))


def start_fenceline_proxy(binary, folder, upstream_port, wrapper=(), environment=None):
    """One fenced route that passes everything on to the upstream."""
    return _start_fenceline(binary, folder, wrapper, environment,
                            FENCELINE_PROXY_CONFIG.format(folder=folder, upstream=upstream_port))


def start_fenceline_s3(binary, folder, upstream_port, wrapper=(), environment=None):
    """One fenced S3 route: signatures are verified, requests signed anew."""
    text = FENCELINE_S3_CONFIG.format(folder=folder, upstream=upstream_port, region=signing.REGION,
                                      access_key=signing.ACCESS_KEY, secret_key=signing.SECRET_KEY)
    return _start_fenceline(binary, folder, wrapper, environment, text)


def start_fenceline_leases(binary, folder, wrapper=(), environment=None):
    """The lease service, and a route that nobody uses."""
    return _start_fenceline(binary, folder, wrapper, environment,
                            FENCELINE_LEASES_CONFIG.format(folder=folder))


def _start_fenceline(binary, folder, wrapper, environment, text):
    _fresh(folder)
    config = folder / "fenceline.yaml"
    config.write_text(text)
    server = Server("fenceline", folder, [str(binary), "serve", "--config", str(config)], wrapper,
                    environment)
    _ready(server, lambda log: _port_in(log, "listen"))
    server.admin_port = _port_in(server.log, "admin")
    return server


def _ready(server, find_port):
    try:
        server.wait_until_ready(find_port)
    except BaseException:
        server.kill()
        raise
    return server


def _port_in(log, name):
    found = re.search(rf"serving: .*\b{name}=127\.0\.0\.1:(\d+)", log)
    return int(found[1]) if found else 0
