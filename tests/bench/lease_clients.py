"""Many connections to one lock service in one thread, each with one request under way."""

import selectors
import socket
import time

from servers import Failed

_LIMIT_S = 30


def work(port, lease, connections, seconds):
    """Runs `lease` again and again on each connection; how many were whole after `seconds`.

    `lease` makes a generator that yields requests and is sent their answers, as bytes.
    """
    selector = selectors.DefaultSelector()
    workers = [_Worker(port, lease) for _ in range(connections)]
    try:
        for worker in workers:
            selector.register(worker.socket, selectors.EVENT_READ, worker)
            worker.begin()
        end = time.monotonic() + seconds
        while any(worker.busy for worker in workers):
            events = selector.select(_LIMIT_S)
            if not events:
                raise Failed(f"no answer of port {port} for {_LIMIT_S} s")
            for key, _ in events:
                key.data.receive(time.monotonic() < end)
        return sum(worker.done for worker in workers)
    finally:
        selector.close()
        for worker in workers:
            worker.socket.close()


def http(method, target, body=""):
    return (f"{method} {target} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


def redis(*words):
    encoded = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word)
                                                 for word in encoded)


def field(answer, name):
    """The value of a field of an HTTP answer."""
    for line in answer.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]:
        found, _, value = line.partition(":")
        if found.lower() == name:
            return value.strip()
    raise Failed(f"no {name} in {answer}")


class _Worker:
    def __init__(self, port, lease):
        self.socket = socket.create_connection(("127.0.0.1", port), _LIMIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.done = 0
        self.busy = True
        self._lease = lease
        self._steps = None
        self._received = b""

    def begin(self):
        self._steps = self._lease()
        self.socket.sendall(next(self._steps))

    def receive(self, again):
        """Takes what has come in; when a lease is whole, begins another if it is to go on."""
        bytes_read = self.socket.recv(65536)
        if not bytes_read:
            raise Failed(f"a connection was closed in the middle of {self._received}")
        self._received += bytes_read
        if not _is_whole(self._received):
            return
        answer, self._received = self._received, b""
        if not answer.startswith((b"HTTP/1.1 2", b":")):
            raise Failed(f"refused: {answer}")
        try:
            self.socket.sendall(self._steps.send(answer))
        except StopIteration:
            self.done += 1
            self.busy = again
            if again:
                self.begin()


def _is_whole(answer):
    if not answer.startswith(b"HTTP/"):
        return answer.endswith(b"\r\n")
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    head = head.lower()
    if b"\r\ntransfer-encoding: chunked" in head:
        return body.endswith(b"0\r\n\r\n")
    _, found, length = head.partition(b"\r\ncontent-length:")
    return len(body) == (int(length.split(b"\r\n", 1)[0]) if found else 0)
