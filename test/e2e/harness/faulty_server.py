"""A tool server that breaks off a call at a given byte, counts what arrives, and counts what it carries out.

Every call has a name of its own in its argument `run`: {"run": "write-17"}. A plan says what goes wrong with it.
"""

import asyncio
import json
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from harness.carriers import HttpCarrier
from harness.scripted_http import Answer, HttpConnection, Request, parse_head
from harness.tool_server import Call, Loop, ToolServer, text_result, tool

RUN = re.compile(rb'"run": ?"([^"]+)"')
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Fault:
    """How one exchange goes wrong.

    `where`   request: after `at` bytes of it were read, and before it is carried out
              answer: it is carried out, and `at` bytes of the answer are written
              after: it is answered, and the connection ends together with the answer
              instead: `answer` is all that it gets
    `how`     reset, close or stall: what happens to the connection
    """

    where: str
    at: int = 0
    how: str = "reset"
    answer: Answer | None = None
    carried_out: bool = True  # of `instead`
    streamed: bool = False  # the answer is an event stream


def well(run: str, arrival: int) -> None:
    """The plan by which nothing goes wrong."""


class FaultyCarrier(HttpCarrier):
    """Streamable HTTP; a call goes as `plan(run, arrival)` says: `arrival` is 0 for the first time that it comes."""

    def __init__(self, server: ToolServer, port: int = 0, *, most_buffered: int = 16 * 1024, **options):
        super().__init__(server, port, **{"sessions": False, "get_stream": False, **options})
        self.plan: Callable[[str, int], Fault | None] = well
        self.arrived: Counter[str] = Counter()  # calls of which any byte came
        self.declined: Counter[str] = Counter()  # calls that were answered and not carried out
        self.request_sizes: set[int] = set()  # bytes, of calls that were read to the end
        self.answer_sizes: set[int] = set()  # and of their answers, had they been written to the end
        self.most_buffered = most_buffered
        self.writers: set[asyncio.StreamWriter] = set()
        self.unread = 0  # so many of the next connections are reset before anything is read
        self.idle_limit: float | None = None  # seconds after which a connection without a request is closed
        self.connected = 0

    def shut(self, *, how: str = "close") -> None:
        """Nobody listens any more, and every connection has been ended."""
        Loop.run(self._shut(how))

    def cut_all(self, *, how: str = "close") -> None:
        """Ends every connection; new ones are welcome."""
        Loop.run(self._cut(how))

    def open_again(self) -> None:
        self.start()

    def restart(self, *, how: str = "close", away: float = 0.0) -> None:
        self.shut(how=how)
        time.sleep(away)
        self.open_again()

    async def _shut(self, how: str) -> None:
        self.socket.close()
        await self._cut(how)

    async def _cut(self, how: str) -> None:
        writers = list(self.writers)
        for writer in writers:
            end(writer, how)
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

    async def converse(self, reader, writer) -> None:
        if self.unread > 0:
            self.unread -= 1
            end(writer, "reset")
            return
        self.connected += 1
        self.writers.add(writer)
        try:
            connection = HttpConnection(reader, writer)
            while (request := await self._next(reader, writer)) is not None:
                if not await self._serve(connection, *request):
                    return
        finally:
            self.writers.discard(writer)

    async def _next(self, reader, writer) -> tuple[Request, Fault | None] | None:
        """A whole request and what shall become of it; None: the connection is over."""
        data, body_from, total, fault, known = b"", 0, None, None, False
        while True:
            if total is None and (end_of_head := data.find(b"\r\n\r\n")) >= 0:
                request = parse_head(data[:end_of_head])
                body_from = end_of_head + 4
                total = body_from + int(request.header("content-length") or 0)
            if not known and (named := RUN.search(data)):
                known = True
                run = named[1].decode()
                fault = self.plan(run, self.arrived[run])
                self.arrived[run] += 1
            if fault is not None and fault.where == "request" and len(data) >= min(fault.at, total or fault.at):
                await self._break(reader, writer, fault.how)
                return None
            if total is not None and len(data) >= total:
                request.body = data[body_from:total]
                if known:
                    self.request_sizes.add(total)
                return request, fault
            try:
                async with asyncio.timeout(None if data else self.idle_limit):
                    more = await reader.read(64 * 1024)
            except TimeoutError:
                more = b""
            if not more:
                return None
            data += more

    async def _serve(self, connection: HttpConnection, request: Request, fault: Fault | None) -> bool:
        """Whether the connection may carry another request."""
        if fault is None or (self.first is not None and await self.first(request) is not None):
            return await self._answer(connection, request)
        message = json.loads(request.body)
        self.server.note(message, verb=request.verb, path=request.path, fields=request.fields)
        if fault.where == "instead":
            if fault.carried_out:
                await self.server.respond(message, ignore)
            else:
                self.declined[message["params"]["arguments"]["run"]] += 1
            await connection.whole(fault.answer)
            return True
        text = json.dumps(await self.server.respond(message, ignore))
        written = streamed(text) if fault.streamed else Answer(200, text.encode(), "application/json").written()
        self.answer_sizes.add(len(written))
        if fault.where == "after":
            self._end_with(connection.writer, written, fault.how)
            return False
        connection.writer.write(written[: fault.at])
        await connection.writer.drain()
        await self._break(connection.reader, connection.writer, fault.how)
        return False

    @staticmethod
    def _end_with(writer, data: bytes, how: str) -> None:
        """The end of the connection travels in the packet of the last byte, so that nobody can see the one without the
        other."""
        if how == "close":
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            writer.write(data)
            writer.write_eof()
        else:
            writer.write(data)
        end(writer, how)

    @staticmethod
    async def _break(reader, writer, how: str) -> None:
        if how == "stall":
            while await reader.read(64 * 1024):
                pass
            return
        end(writer, how)


def end(writer: asyncio.StreamWriter, how: str) -> None:
    """`close`: FIN; `reset`: RST, and what was not yet read is lost."""
    if writer.transport.is_closing():
        return
    if how == "close":
        writer.close()
        return
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def ignore(_: dict) -> None:
    pass


def streamed(text: str) -> bytes:
    """A whole answer as an event stream."""
    event = f"event: message\ndata: {text}\n\n".encode()
    return STREAM_HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(event), event)


class CountingServer(ToolServer):
    """Its tools do nothing but count how often each run was carried out. `tools`: definitions, or names."""

    def __init__(self, *tools: str | dict):
        self.carried_out: Counter[str] = Counter()
        self.delay = 0.0  # seconds that it takes
        names = [each if isinstance(each, str) else each["name"] for each in tools]
        super().__init__(tools, **{name: self._count for name in names})

    async def _count(self, call: Call) -> dict:
        run = call.arguments["run"]
        self.carried_out[run] += 1
        if self.delay:
            await asyncio.sleep(self.delay)
        return text_result(f"done {run}")


def hinted(name: str, *hints: str) -> dict:
    """hinted("look", "readOnlyHint")."""
    return tool(name, annotations=dict.fromkeys(hints, True))
