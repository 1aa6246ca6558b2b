"""HTTP/1.1 as a scripted server writes it: whole answers, streams, and a port whose connections end with the test."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.tool_server import Loop, ToolServer

MOST_HEAD = 256 * 1024


@dataclass
class Answer:
    """A whole HTTP answer. `media_type` None: no such field."""

    status: int
    body: bytes = b""
    media_type: str | None = None
    fields: dict[str, str] = field(default_factory=dict)

    @classmethod
    def rpc(cls, status: int, code: int, text: str, id=None) -> "Answer":
        error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}
        return cls(status, json.dumps(error).encode(), "application/json")

    def written(self) -> bytes:
        return self.head() + self.body

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Scripted"]
        if self.status != 204:
            lines.append(f"Content-Length: {len(self.body)}")
        if self.media_type is not None:
            lines.append(f"Content-Type: {self.media_type}")
        lines += [f"{name}: {value}" for name, value in self.fields.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@dataclass
class Request:
    verb: str
    path: str
    fields: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)


def parse_head(head: bytes) -> Request:
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    fields = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    return Request(*first.split(" ")[:2], fields, b"")


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    request = parse_head(head)
    request.body = await reader.readexactly(int(request.header("content-length") or 0))
    return request


class HttpConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader = reader
        self.writer = writer
        self.piece = 0

    async def whole(self, answer: Answer) -> None:
        self.writer.write(answer.head())
        for piece in self._pieces(answer.body):
            self.writer.write(piece)
            await self.writer.drain()

    async def begin_stream(self, fields: dict | None = None) -> None:
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in (fields or {}).items())
        self.writer.write(head.encode() + b"\r\n")
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        for piece in self._pieces(data):
            self.writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await self.writer.drain()

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        size = self.piece or len(data)
        return (data[start : start + size] for start in range(0, len(data), size)) if data else iter(())

    async def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def closed(self) -> None:
        """Until the peer goes away. It sends nothing meanwhile."""
        while await self.reader.read(4096):
            pass


class Listening:
    """A port of this machine, with its connections, all ended by stop()."""

    def __init__(self, server: ToolServer, port: int = 0, tls: tuple | None = None):
        self.server = server
        self.port = port
        self.tls: ssl.SSLContext | None = None
        if tls is not None:
            self.certify(*tls)
        self.tasks: set[asyncio.Task] = set()  # of connections
        self.most_buffered = MOST_HEAD  # bytes that may wait to be read on a connection
        self.cut = 0  # connections that the peer ended while something was being written

    def certify(self, certificate, key) -> None:
        """The certificate from the next start on. No session from before is known then."""
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def start(self):
        async def listen():
            self.socket = await asyncio.start_server(
                self._accept, "127.0.0.1", self.port, ssl=self.tls, limit=self.most_buffered, backlog=512
            )
            self.port = self.socket.sockets[0].getsockname()[1]

        Loop.run(listen())
        return self

    def stop(self) -> None:
        async def stop():
            self.socket.close()
            for task in list(self.tasks):
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)

        Loop.run(stop())

    async def _accept(self, reader, writer) -> None:
        task = asyncio.current_task()
        self.tasks.add(task)
        try:
            await self.converse(reader, writer)
        except ConnectionError:
            self.cut += 1
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the peer went away, or the test is over
        finally:
            self.tasks.discard(task)
            writer.close()

    async def converse(self, reader, writer) -> None:
        raise NotImplementedError
