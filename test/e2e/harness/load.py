"""Many calls over keep-alive connections, each answer kept: steady traffic in the background (`Load`), or so many clients
at once (`Callers`)."""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from harness.mcp_client import MARKER, McpClient, messages_of


# Threads of this process hand over within half a millisecond instead of five, so that times measured in one of them are
# not those of another.
sys.setswitchinterval(0.0005)


@dataclass
class Sample:
    """One call. Times in seconds on time.monotonic()."""

    sent: float
    took: float
    status: int
    message: dict | None  # None: no well-formed answer with the call's id came

    @property
    def answered_at(self) -> float:
        return self.sent + self.took

    @property
    def result(self) -> dict:
        return (self.message or {}).get("result") or {}

    @property
    def text(self) -> str:
        return "\n".join(block.get("text", "") for block in self.result.get("content", []))

    @property
    def marker(self) -> dict:
        return (self.result.get("_meta") or {}).get(MARKER, {})

    @property
    def steps(self) -> list[str]:
        return self.marker.get("steps", [])

    @property
    def served_by(self) -> str:
        """primary, cache, static, ..., none; `lost` without a well-formed answer."""
        if self.message is None or "error" in self.message:
            return "lost"
        return self.marker.get("served_by", "primary")

    @property
    def refused(self) -> bool:
        """The breaker kept this call from the primary."""
        return any(step == "primary:refused" for step in self.steps)


class Connections:
    """Kept connections of one session, as many as there are calls at once."""

    def __init__(self, port: int):
        with McpClient(port) as client:
            self.session, self.version = client.session, client.version
        self.port = port
        self.idle: list[tuple] = []

    def close(self) -> None:
        for _, writer in self.idle:
            writer.close()
        self.idle.clear()

    async def call(self, number: int, tool: str, arguments: dict) -> Sample:
        """A call with this number as its id."""
        params = {"name": tool, "arguments": arguments}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {self.version}\r\n"
            f"Mcp-Session-Id: {self.session}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        sent = time.monotonic()
        status, message = 0, None
        try:
            reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(head.encode() + body)
            status, media_type, answer = await read_answer(reader)
            responses = [found for found in messages_of(media_type, answer) if found.get("id") == number]
            message = responses[0] if len(responses) == 1 else None
            self.idle.append((reader, writer))
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass  # the sample says that no answer came
        return Sample(sent, time.monotonic() - sent, status, message)


class Load:
    """`rate` calls a second for as long as the `with` block lasts. A call that is late does not delay the next."""

    def __init__(self, port: int, tool: str, arguments: dict, rate: float):
        self.connections = Connections(port)
        self.session = self.connections.session
        self.port = port
        self.tool = tool
        self.arguments = arguments
        self.rate = rate
        self.samples: list[Sample] = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="load")

    def __enter__(self) -> "Load":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join(60)

    def between(self, start: float, end: float = float("inf")) -> list[Sample]:
        """Calls that were sent in this stretch, in the order in which they were sent."""
        return sorted(
            (sample for sample in list(self.samples) if start <= sample.sent < end), key=lambda sample: sample.sent
        )

    async def _run(self) -> None:
        running: set[asyncio.Task] = set()
        start = time.monotonic()
        sent = 0
        while not self.stopping.is_set():
            due = start + sent / self.rate
            if (pause := due - time.monotonic()) > 0:
                await asyncio.sleep(min(pause, 0.05))
                continue
            task = asyncio.create_task(self._call(sent))
            running.add(task)
            task.add_done_callback(running.discard)
            sent += 1
        if running:
            await asyncio.wait(running, timeout=30)
        self.connections.close()

    async def _call(self, number: int) -> None:
        self.samples.append(await self.connections.call(number, self.tool, self.arguments))


class Callers:
    """`at_once` clients, in a `with` block. Not thread-safe."""

    def __init__(self, port: int, at_once: int):
        self.connections = Connections(port)
        self.at_once = at_once
        self.runner = asyncio.Runner()
        self.made = 0

    def __enter__(self) -> "Callers":
        return self

    def __exit__(self, *_) -> None:
        async def close() -> None:
            self.connections.close()

        self.runner.run(close())
        self.runner.close()

    def all(self, calls: Iterable[tuple[str, dict]]) -> list[Sample]:
        """Makes each (tool, arguments); the samples in the order of the calls. A client makes its next call when it has
        the answer to the one before."""
        return self.runner.run(self._all(list(calls)))

    async def _all(self, calls: list[tuple[str, dict]]) -> list[Sample]:
        samples: list[Sample | None] = [None] * len(calls)
        waiting = iter(enumerate(calls))
        first, self.made = self.made, self.made + len(calls)

        async def client() -> None:
            for index, (tool, arguments) in waiting:
                samples[index] = await self.connections.call(first + index, tool, arguments)

        await asyncio.gather(*(client() for _ in range(min(self.at_once, len(calls)))))
        return samples


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status_line, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = b""
    if headers.get("transfer-encoding") == "chunked":
        while (size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)) > 0:
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return int(status_line.split()[1]), headers.get("content-type", "").split(";")[0], body


def percentile(values: list[float], share: float) -> float:
    """Nearest rank; nan of nothing."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
