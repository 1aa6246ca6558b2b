"""What carries the messages of a ToolServer: Streamable HTTP, the HTTP+SSE transport of 2024, and stdio.

How events are written is the test's to choose (`encode`, `preamble`, `linger`), as is what stands in an HTTP answer.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import Callable

from harness.process import SUPPORT
from harness.scripted_http import Answer, HttpConnection, Listening, Request, read_request
from harness.tool_server import Loop, ToolServer


def plain_event(text: str) -> bytes:
    return f"event: message\ndata: {text}\n\n".encode()


class HttpCarrier(Listening):
    """Streamable HTTP at any path. `first`: async function of a Request that may give an Answer before anything else is
    looked at."""

    def __init__(
        self, server: ToolServer, port: int = 0, *, get_stream: bool = True, sessions: bool = True, tls=None
    ):
        super().__init__(server, port, tls)
        self.get_stream = get_stream
        self.sessions: set[str] | None = set() if sessions else None
        self.session_field = "Mcp-Session-Id"
        self.first: Callable | None = None
        self.lost = Answer.rpc(404, -32001, "Session not found")
        self.note_answer = Answer(202)
        self.encode = plain_event
        self.preamble: list[bytes] = []  # written at the start of every stream, each in a write of its own
        self.always_stream = False
        self.piece = 0  # bytes in one write; 0: no matter
        self.standalone: list[asyncio.StreamWriter] = []
        self.linger = False  # a POST stream stays open after the response
        self.transform: Callable[[], Callable[[bytes], bytes]] | None = None  # made for each stream: a compressor
        self.stream_fields: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    def forget_sessions(self) -> None:
        self.sessions.clear()

    def cut_streams(self) -> None:
        """Ends every standalone stream, in the middle of nothing."""

        async def cut() -> None:
            for writer in list(self.standalone):
                writer.close()

        Loop.run(cut())

    async def converse(self, reader, writer) -> None:
        connection = HttpConnection(reader, writer)
        connection.piece = self.piece
        while (request := await read_request(reader)) is not None:
            if not await self._answer(connection, request):
                return

    async def _answer(self, connection: HttpConnection, request: Request) -> bool:
        """Whether the connection may carry another request."""
        message = json.loads(request.body) if request.body else {}
        self.server.note(message, verb=request.verb, path=request.path, fields=request.fields)
        if self.first is not None and (answer := await self.first(request)) is not None:
            await connection.whole(answer)
            return True
        if message.get("method") != "initialize" and self.sessions is not None:
            if request.header("mcp-session-id") not in self.sessions:
                await connection.whole(self.lost)
                return True
        if request.verb == "DELETE":
            if self.sessions is not None:
                self.sessions.discard(request.header("mcp-session-id"))
            await connection.whole(Answer(200))
            return True
        if request.verb == "GET":
            return await self._get_stream(connection)
        if "id" not in message or "method" not in message:
            await connection.whole(self.note_answer)
            return True
        return await self._respond(connection, message)

    @staticmethod
    async def _unless_closed(connection: HttpConnection, work) -> tuple[bool, dict | None]:
        """(True, its result), or (False, None) when the peer goes away first."""
        working, closing = asyncio.ensure_future(work), asyncio.ensure_future(connection.closed())
        try:
            await asyncio.wait({working, closing}, return_when=asyncio.FIRST_COMPLETED)
            return (True, working.result()) if working.done() else (False, None)
        finally:
            for task in (working, closing):
                task.cancel()
            await asyncio.gather(working, closing, return_exceptions=True)

    def _writer(self, connection: HttpConnection) -> Callable:
        transform = self.transform() if self.transform else lambda data: data

        async def write(data: bytes) -> None:
            await connection.chunk(transform(data))

        return write

    async def _begin(self, connection: HttpConnection, fields: dict | None = None) -> Callable:
        await connection.begin_stream({**self.stream_fields, **(fields or {})})
        write = self._writer(connection)
        for piece in self.preamble:
            await write(piece)
        return write

    async def _get_stream(self, connection: HttpConnection) -> bool:
        if not self.get_stream:
            await connection.whole(Answer(405))
            return True
        write = await self._begin(connection)

        async def channel(message: dict) -> None:
            await write(self.encode(json.dumps(message)))

        self.server.channels.append(channel)
        self.standalone.append(connection.writer)
        try:
            await connection.closed()
        finally:
            self.server.channels.remove(channel)
            self.standalone.remove(connection.writer)
        return False

    async def _respond(self, connection: HttpConnection, message: dict) -> bool:
        write = None
        fields = {}
        if message["method"] == "initialize" and self.sessions is not None:
            fields[self.session_field] = session = uuid.uuid4().hex
            self.sessions.add(session)

        async def send(before: dict) -> None:
            nonlocal write
            write = write or await self._begin(connection, fields)
            await write(self.encode(json.dumps(before)))

        if self.always_stream:
            write = await self._begin(connection, fields)
        answered, response = await self._unless_closed(connection, self.server.respond(message, send))
        if not answered:
            self.server.abandoned.append(message)
            return False
        if response is None:
            await connection.closed()
            return False
        if write is None:
            await connection.whole(Answer(200, json.dumps(response).encode(), "application/json", fields))
            return True
        await write(self.encode(json.dumps(response)))
        if self.linger:
            await connection.closed()
            return False
        await connection.end_stream()
        return True


class SseCarrier(Listening):
    """HTTP+SSE as of 2024-11-05: a stream at /sse whose first event names where to POST; answers come on the stream.
    `endpoint`: what that event says; {session} and {port} are filled in."""

    def __init__(self, server: ToolServer, port: int = 0, endpoint: str = "/messages?session={session}"):
        super().__init__(server, port)
        self.endpoint = endpoint
        self.encode = plain_event
        self.preamble: list[bytes] = []
        self.streams: dict[str, Callable] = {}

    @property
    def url(self) -> str:
        return f"{self.origin}/sse"

    async def converse(self, reader, writer) -> None:
        connection = HttpConnection(reader, writer)
        while (request := await read_request(reader)) is not None:
            message = json.loads(request.body) if request.body else {}
            self.server.note(message, verb=request.verb, path=request.path, fields=request.fields)
            session = request.path.partition("session=")[2]
            if request.verb == "GET" and request.path == "/sse":
                await self._stream(connection)
                return
            if request.verb != "POST" or session not in self.streams:
                await connection.whole(Answer(405 if request.path == "/sse" else 404))
                continue
            await connection.whole(Answer(202, b"Accepted", "text/plain"))
            if "id" in message and "method" in message:
                task = asyncio.create_task(self._respond(message, self.streams[session]))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)

    async def _respond(self, message: dict, send: Callable) -> None:
        response = await self.server.respond(message, send)
        if response is not None:
            await send(response)

    async def _stream(self, connection: HttpConnection) -> None:
        session = uuid.uuid4().hex
        await connection.begin_stream()
        for piece in self.preamble:
            await connection.chunk(piece)

        async def send(message: dict) -> None:
            await connection.chunk(self.encode(json.dumps(message)))

        self.streams[session] = send
        self.server.channels.append(send)
        endpoint = self.endpoint.format(session=session, port=self.port)
        await connection.chunk(f"event: endpoint\ndata: {endpoint}\n\n".encode())
        try:
            await connection.closed()
        finally:
            del self.streams[session]
            self.server.channels.remove(send)


class StdioCarrier(Listening):
    """A child process (test/support/stdio_bridge.py) whose lines come here."""

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(SUPPORT / "stdio_bridge.py"), str(self.port)]

    async def converse(self, reader, writer) -> None:
        async def send(message: dict) -> None:
            line = json.dumps(message).encode() + b"\n"
            for start in range(0, len(line), 64 * 1024):
                writer.write(line[start : start + 64 * 1024])
            await writer.drain()

        async def respond(message: dict) -> None:
            response = await self.server.respond(message, send)
            if response is not None:
                await send(response)

        running: set[asyncio.Task] = set()
        self.server.channels.append(send)
        try:
            while line := await read_line(reader):
                message = json.loads(line)
                self.server.note(message)
                if "id" in message and "method" in message:
                    task = asyncio.create_task(respond(message))
                    running.add(task)
                    task.add_done_callback(running.discard)
        finally:
            self.server.channels.remove(send)
            for task in running:
                task.cancel()


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """A line of any length."""
    line = b""
    while not line.endswith(b"\n"):
        try:
            return line + await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            line += await reader.readexactly(error.consumed)
        except asyncio.IncompleteReadError:
            return b""
    return line


def upstream_of(carrier) -> dict:
    """The configuration of an upstream behind this carrier."""
    return {"command": carrier.command} if isinstance(carrier, StdioCarrier) else {"url": carrier.url}


