"""HTTP/1.1 by hand: bytes out, parsed answers in, nothing corrected on the way."""

import socket
import time
from dataclasses import dataclass


@dataclass
class RawAnswer:
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


class RawConnection:
    """One TCP connection to a port of this machine."""

    def __init__(self, port: int, timeout: float = 10.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(timeout)
        self.buffer = b""

    def __enter__(self) -> "RawConnection":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def _more(self) -> bool:
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            return False
        self.buffer += data
        return bool(data)

    def _line(self) -> bytes | None:
        while b"\r\n" not in self.buffer:
            if not self._more():
                return None
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def _exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            assert self._more(), f"the connection ended {size - len(self.buffer)} bytes too early"
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def receive(self) -> RawAnswer | None:
        """The next answer; None if the peer closed instead."""
        line = self._line()
        if line is None:
            return None
        assert line.startswith(b"HTTP/1.1 "), line
        headers = {}
        while header := self._line():
            name, _, value = header.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while (size := int(self._line().split(b";")[0], 16)) > 0:
                body += self._exactly(size)
                self._exactly(2)
            self._line()
        else:
            body = self._exactly(int(headers.get("content-length", "0")))
        return RawAnswer(int(line.split()[1]), headers, body)

    def exchange(self, data: bytes) -> RawAnswer | None:
        self.send(data)
        return self.receive()

    def closed_within(self, limit: float) -> bool:
        """True if the peer ends the connection in that time; whatever it says before is kept in `buffer`."""
        deadline = time.monotonic() + limit
        self.socket.settimeout(limit)
        try:
            while time.monotonic() < deadline:
                if not self._more():
                    return True
        except TimeoutError:
            pass
        return False


def post(
    body: bytes, headers: dict[str, str | None] | None = None, path: str = "/mcp", host: str = "127.0.0.1"
) -> bytes:
    """A well-formed POST as an MCP client sends it. A header given as None is left out."""
    fields = {
        "Host": host,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value is not None)
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body
