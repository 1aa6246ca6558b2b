"""A tool server that lives in the test: what it says to a message is Python of the test, over whichever transport.

A `ToolServer` answers messages and knows no transport; a carrier (harness/carriers.py) brings them. Handlers run on the
loop of a thread of their own, one for all servers; `tell`, `ask` and the journal are for the test's thread.
"""

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

LATEST = "2025-11-25"


class Loop:
    """The thread that all servers of a run share."""

    _loop: asyncio.AbstractEventLoop | None = None

    @classmethod
    def submit(cls, work: Awaitable) -> Future:
        if cls._loop is None:
            cls._loop = asyncio.new_event_loop()
            threading.Thread(target=cls._loop.run_forever, name="tool servers", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, cls._loop)

    @classmethod
    def run(cls, work: Awaitable, limit: float = 15.0) -> Any:
        return cls.submit(work).result(limit)


class RpcError(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code, self.message = code, message


SILENCE = object()  # what a handler returns when there is to be no answer


@dataclass
class Arrival:
    """One request of HTTP, or one line; `at` on time.monotonic()."""

    at: float
    message: dict = field(default_factory=dict)
    verb: str = ""
    path: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)  # header fields as they came

    def headers(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        found = self.headers(name)
        assert len(found) <= 1, f"{name} came {len(found)} times: {found}"
        return found[0] if found else None


class Call:
    """A request that is being answered. `send` puts a message before the response, on the call's own stream."""

    def __init__(self, server: "ToolServer", message: dict, send: Callable[[dict], Awaitable[None]]):
        self.server = server
        self.message = message
        self.send = send
        self.cancelled = asyncio.Event()

    @property
    def params(self) -> dict:
        return self.message.get("params") or {}

    @property
    def arguments(self) -> dict:
        return self.params.get("arguments") or {}

    @property
    def token(self):
        """The progress token that came, or None."""
        return (self.params.get("_meta") or {}).get("progressToken")

    async def notify(self, method: str, **params) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def progress(self, step: int, total: int) -> None:
        """Whether a token came or not is the server's business: with none it must not send any."""
        if self.token is not None:
            await self.notify("notifications/progress", progressToken=self.token, progress=step, total=total)


def text_result(text: str) -> dict:
    return {"content": [{"type": "text", "text": text}]}


async def until_cancelled(call):
    """A tool that works for as long as it may; once it was told to stop it says nothing more."""
    try:
        await asyncio.wait_for(call.cancelled.wait(), 8)
        return SILENCE
    except TimeoutError:
        return text_result("worked to the end")


def tool(name: str, **members) -> dict:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


async def echo(call: Call) -> dict:
    return text_result(json.dumps(call.arguments, sort_keys=True))


class ToolServer:
    """`tools`: names or whole definitions. `calls`: what a tool does, `answers`: what a method does; each an async
    function of a Call that returns a result, raises RpcError, or returns SILENCE. A tool with no entry echoes."""

    def __init__(self, tools=("echo",), *, revision: str | None = None, capabilities: dict | None = None, **calls):
        self.tools = list(tools)
        self.revision = revision  # None: the one that was asked for
        self.capabilities = capabilities or {"tools": {"listChanged": True}}
        self.calls: dict[str, Callable[[Call], Awaitable]] = dict(calls)
        self.answers: dict[str, Callable[[Call], Awaitable]] = {}
        self.journal: list[Arrival] = []
        self.abandoned: list[dict] = []  # requests whose peer went away before the answer
        self.running: dict[Any, Call] = {}
        self.channels: list[Callable[[dict], Awaitable[None]]] = []  # where messages outside of any call go

    # ---- for the test

    def arrived(self, method: str, name: str | None = None) -> list[Arrival]:
        return [
            arrival
            for arrival in list(self.journal)
            if arrival.message.get("method") == method
            and (name is None or (arrival.message.get("params") or {}).get("name") == name)
        ]

    def responses(self) -> list[Arrival]:
        """What came in answer to the server's own requests."""
        return [arrival for arrival in list(self.journal) if arrival.message and "method" not in arrival.message]

    def tell(self, method: str, params: dict | None = None, *, id: Any = None, times: int = 1) -> None:
        """A notification, or with `id` a request, on the stream that belongs to no call."""
        message = {"jsonrpc": "2.0", "method": method}
        if id is not None:
            message["id"] = id
        if params is not None:
            message["params"] = params

        async def tell() -> None:
            for _ in range(times):
                for channel in list(self.channels):
                    await channel(message)

        assert self.channels, "nobody listens outside of calls"
        Loop.run(tell())

    # ---- for carriers

    def note(self, message: dict, **fields) -> None:
        self.journal.append(Arrival(time.monotonic(), message, **fields))
        if message.get("method") == "notifications/cancelled":
            call = self.running.get((message.get("params") or {}).get("requestId"))
            if call is not None:
                call.cancelled.set()

    async def respond(self, message: dict, send: Callable[[dict], Awaitable[None]]) -> dict | None:
        """The response to a request; None: there is to be none."""
        call = Call(self, message, send)
        self.running[message["id"]] = call
        try:
            result = await self._result(call)
        except RpcError as error:
            return {
                "jsonrpc": "2.0",
                "id": message["id"],
                "error": {"code": error.code, "message": error.message},
            }
        finally:
            self.running.pop(message["id"], None)
        return None if result is SILENCE else {"jsonrpc": "2.0", "id": message["id"], "result": result}

    async def _result(self, call: Call):
        method = call.message["method"]
        if method in self.answers:
            return await self.answers[method](call)
        if method == "initialize":
            return {
                "protocolVersion": self.revision or call.params["protocolVersion"],
                "capabilities": self.capabilities,
                "serverInfo": {"name": "tool-server", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": [each if isinstance(each, dict) else tool(each) for each in self.tools]}
        if method == "tools/call":
            return await self.calls.get(call.params["name"], echo)(call)
        if method == "ping":
            return {}
        raise RpcError(-32601, f"Method not found: {method}")
