"""Just enough of a Redis client for tests and measurements: commands out, replies in, many at once."""

import socket


class RedisError(Exception):
    """An error reply. Its first word is the kind: WRONGTYPE, READONLY, ..."""


class Resp:
    """One connection. Replies are int, bytes, list, None, or RedisError (raised by `ask`, returned inside lists)."""

    def __init__(self, port: int, host: str = "127.0.0.1", timeout: float = 10.0):
        self.socket = socket.create_connection((host, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb")

    def __enter__(self) -> "Resp":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.reader.close()
        self.socket.close()

    def send(self, *commands: tuple) -> None:
        self.socket.sendall(b"".join(packed(command) for command in commands))

    def receive(self):
        return self._reply()

    def ask(self, *words):
        """One command, its reply; raises an error reply."""
        self.send(words)
        reply = self._reply()
        if isinstance(reply, RedisError):
            raise reply
        return reply

    def pipeline(self, commands: list[tuple]) -> list:
        """All commands in one write, then all replies, errors among them."""
        self.send(*commands)
        return [self._reply() for _ in commands]

    def _reply(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection ended in the middle of a reply")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.reader.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self._reply() for _ in range(int(rest))]
        raise ValueError(f"not a reply: {line!r}")


def packed(command: tuple) -> bytes:
    words = [word if isinstance(word, bytes) else str(word).encode() for word in command]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
