"""The same as faulty_server.py, for a tool server that is a child process: it dies, or writes half a line."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable

from harness.carriers import StdioCarrier
from harness.faulty_server import RUN, Fault, end, ignore, well
from harness.tool_server import ToolServer


class FaultyChild(StdioCarrier):
    """stdin and stdout; a call goes as `plan(run, arrival)` says. `close` and `reset` end the process, `stall` ends the
    line, and nothing more comes of it. `instead` writes the body of its answer as a line."""

    def __init__(self, server: ToolServer, port: int = 0):
        super().__init__(server, port)
        self.most_buffered = 16 * 1024
        self.plan: Callable[[str, int], Fault | None] = well
        self.arrived: Counter[str] = Counter()
        self.started = 0

    async def converse(self, reader, writer) -> None:
        self.started += 1
        buffered = b""
        while True:
            line, newline, rest = buffered.partition(b"\n")
            fault = None
            if (named := RUN.search(line)) and newline:
                run = named[1].decode()
                fault = self.plan(run, self.arrived[run])
                self.arrived[run] += 1
            elif named and self._dies_early(named[1].decode(), len(line)):
                end(writer, "close")
                return
            if not newline:
                if not (more := await reader.read(64 * 1024)):
                    return
                buffered += more
                continue
            buffered = rest
            if not await self._serve(writer, json.loads(line), fault):
                return

    def _dies_early(self, run: str, size: int) -> bool:
        """In the middle of a long line, which is still being written."""
        fault = self.plan(run, self.arrived[run])
        if fault is None or fault.where != "request" or fault.how == "stall" or size < fault.at:
            return False
        self.arrived[run] += 1
        return True

    async def _serve(self, writer: asyncio.StreamWriter, message: dict, fault: Fault | None) -> bool:
        """Whether the child lives on."""
        self.server.note(message)
        if "id" not in message or "method" not in message:
            return True
        if fault is not None and fault.where == "request":
            return self._break(writer, b"", fault)
        written = json.dumps(await self.server.respond(message, ignore)).encode() + b"\n"
        if fault is None:
            writer.write(written)
            return True
        if fault.where == "instead":
            writer.write(fault.answer.body + b"\n")
            return True
        return self._break(writer, written[: fault.at], fault)

    @staticmethod
    def _break(writer: asyncio.StreamWriter, written: bytes, fault: Fault) -> bool:
        stays = fault.how == "stall"
        writer.write(written + b"\n" if stays and written else written)
        if not stays:
            end(writer, "close")
        return stays
