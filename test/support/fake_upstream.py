"""A scriptable MCP tool server over Streamable HTTP that counts what arrives.

Runs as a process of its own, so that a test may stop, freeze or kill it like a real one:

    fake_upstream.py [--port N] [--cert FILE --key FILE] [--script JSON]

It prints one line, {"port": N, "control": N}. On the control port, GET returns what has happened so far and POST
merges a script: {"server": {...}, "calls": {tool: {"do": NAME, ...options}}}. The names of `do` are the functions of
fake_answers.py; "*" stands for every tool that has no entry. The options of "server" are the fields of ServerScript.
"""

import argparse
import asyncio
import json
import ssl
import sys
import time
import uuid
from dataclasses import dataclass, field

import fake_answers

MAX_JOURNAL = 200_000


@dataclass
class ServerScript:
    """How the server behaves before it comes to a call."""

    tools: list = field(default_factory=lambda: ["echo"])  # names, or whole definitions
    page_size: int = 0  # 0: all tools on one page
    sessions: bool = True
    lost_status: int = 404  # what an unknown session gets
    lost_id_echoed: bool = False  # SDK servers answer with id null: they have not read the body by then
    forget_after: int = 0  # every session is forgotten once, after so many calls; 0: never
    forget_at_once: bool = False  # every session is unknown from the first call on
    initialize_status: int = 200
    reinitialize_status: int = 200  # of every initialize but the first
    initialize_delay: float = 0.0
    list_failures: int = 0  # so many tools/list get a 500
    strict_ids: bool = False  # silent unless an id is an integer in 0 ... 2^31-1
    web_page: bool = False  # HTML to everything
    content_type: str | None = "application/json"
    event_stream_type: str = "text/event-stream"


class FakeUpstream:
    def __init__(self) -> None:
        self.script = ServerScript()
        self.calls: dict[str, dict] = {}
        self.journal: list[dict] = []
        self.sessions: set[str] = set()
        self.call_count: dict[str, int] = {}
        self.method_count: dict[str, int] = {}
        self.open_connections = 0
        self.stalled = 0
        self.forgot = False
        self.running: dict[str, int] = {}  # calls under way, by tool
        self.most_at_once: dict[str, int] = {}  # the most there were of them; "*": of all tools together
        self.queued: dict[str, int] = {}  # calls that found every worker busy
        self.pool: asyncio.Semaphore | None = None

    # ---- control

    def apply(self, script: dict) -> None:
        for name, value in script.get("server", {}).items():
            if not hasattr(self.script, name):
                raise ValueError(f"no such option: {name}")
            setattr(self.script, name, value)
        for tool, behaviour in script.get("calls", {}).items():
            if behaviour["do"] not in fake_answers.BEHAVIOURS:
                raise ValueError(f"no such behaviour: {behaviour['do']}")
            self.calls[tool] = dict(behaviour)
            self.call_count[tool] = 0
        if script.get("forget_sessions"):
            self.sessions.clear()
        if script.get("clear_journal"):
            self.journal.clear()
            self.most_at_once.clear()
            self.queued.clear()

    def workers(self, number: int) -> asyncio.Semaphore:
        """Made by the first call that needs them."""
        if self.pool is None:
            self.pool = asyncio.Semaphore(number)
        return self.pool

    def state(self) -> dict:
        return {
            "journal": self.journal,
            "open_connections": self.open_connections,
            "stalled": self.stalled,
            "running": self.running,
            "most_at_once": self.most_at_once,
            "queued": self.queued,
            "sessions": sorted(self.sessions),
            "now": time.monotonic(),
        }

    # ---- the wire

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        try:
            while (request := await read_request(reader)) is not None:
                verb, headers, body = request
                if not await self.answer(verb, headers, body, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass  # the peer went away, or talks nonsense: both end the connection
        finally:
            self.open_connections -= 1
            writer.close()

    async def answer(self, verb, headers, body, reader, writer) -> bool:
        """True if the connection may carry another request."""
        session = headers.get("mcp-session-id")
        entry = {"at": time.monotonic(), "http": verb, "session": session}
        if len(self.journal) < MAX_JOURNAL:
            self.journal.append(entry)
        if verb != "POST":
            if verb == "DELETE":
                self.sessions.discard(session)
            await fake_answers.write_response(writer, 200 if verb == "DELETE" else 405, b"", None)
            return True

        if self.script.web_page:
            await fake_answers.write_response(writer, 200, fake_answers.HTML, "text/html")
            return True
        message = json.loads(body)
        parameters = message.get("params") or {}
        entry.update(
            method=message.get("method"),
            id=message.get("id"),
            name=parameters.get("name"),
            token=(parameters.get("_meta") or {}).get("progressToken"),
            version=headers.get("mcp-protocol-version"),
            accept=headers.get("accept"),
            authorization=headers.get("authorization"),
        )
        self.method_count[message["method"]] = self.method_count.get(message["method"], 0) + 1
        exchange = fake_answers.Exchange(self, reader, writer, message)
        if "id" not in message:
            await fake_answers.write_response(writer, 202, b"", None)
            return True
        if self.script.strict_ids and not (type(message["id"]) is int and 0 <= message["id"] < 2**31):
            await exchange.wait_for_peer()
            return False
        if message["method"] == "initialize":
            return await self.initialize(exchange)
        if self.script.sessions and self.unknown(session, message["method"]):
            await exchange.lost_session(self.script.lost_status, self.script.lost_id_echoed)
            return True
        if message["method"] == "tools/list":
            return await self.list_tools(exchange, parameters)
        if message["method"] == "tools/call":
            return await self.call_tool(exchange, parameters["name"])
        if message["method"] == "ping":
            await exchange.result({})
            return True
        await exchange.rpc_error(-32601, "Method not found")
        return True

    def unknown(self, session, method: str) -> bool:
        return session not in self.sessions or (self.script.forget_at_once and method == "tools/call")

    async def initialize(self, exchange) -> bool:
        first = self.method_count["initialize"] == 1
        await asyncio.sleep(self.script.initialize_delay)
        status = self.script.initialize_status if first else self.script.reinitialize_status
        if status != 200:
            await exchange.rpc_error(-32603, "initialize refused by script", status=status)
            return True
        headers = {}
        if self.script.sessions:
            session = uuid.uuid4().hex
            self.sessions.add(session)
            headers["Mcp-Session-Id"] = session
        await exchange.result(
            {
                "protocolVersion": exchange.message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "fake-upstream", "version": "1"},
            },
            headers,
        )
        return True

    async def list_tools(self, exchange, parameters) -> bool:
        if self.script.list_failures > 0:
            self.script.list_failures -= 1
            await exchange.rpc_error(-32603, "tools/list fails by script", status=500)
            return True
        tools = [self.definition(tool) for tool in self.script.tools]
        size = self.script.page_size or max(1, len(tools))
        start = int((parameters.get("cursor") or "page-0").removeprefix("page-"))
        result = {"tools": tools[start : start + size]}
        if start + size < len(tools):
            result["nextCursor"] = f"page-{start + size}"
        await exchange.result(result)
        return True

    async def call_tool(self, exchange, tool: str) -> bool:
        if self.script.forget_after and not self.forgot and self.method_count["tools/call"] >= self.script.forget_after:
            self.forgot = True
            self.sessions.clear()
        key = tool if tool in self.calls else "*"
        behaviour = self.calls.get(key, {"do": "answer"})
        index = self.call_count.get(key, 0)
        self.call_count[key] = index + 1
        if "times" in behaviour and index >= behaviour["times"]:
            behaviour = {"do": "answer"}
        for each in (tool, "*"):
            self.running[each] = self.running.get(each, 0) + 1
            self.most_at_once[each] = max(self.most_at_once.get(each, 0), self.running[each])
        try:
            return await fake_answers.BEHAVIOURS[behaviour["do"]](exchange, behaviour, index)
        finally:
            for each in (tool, "*"):
                self.running[each] -= 1

    @staticmethod
    def definition(tool) -> dict:
        if isinstance(tool, dict):
            return tool
        return {"name": tool, "description": f"fake {tool}", "inputSchema": {"type": "object"}}


async def read_request(reader: asyncio.StreamReader):
    """(verb, headers in lower case, body), or None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    body = b""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        while (size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)) > 0:
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
    elif "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    return lines[0].split(" ")[0], headers, body


async def serve_control(fake: FakeUpstream, reader, writer) -> None:
    try:
        while (request := await read_request(reader)) is not None:
            verb, _, body = request
            status = 200
            try:
                if verb == "POST":
                    fake.apply(json.loads(body))
                answer = fake.state() if verb == "GET" else {}
            except (ValueError, KeyError) as error:
                status, answer = 400, {"error": str(error)}
            await fake_answers.write_response(writer, status, json.dumps(answer).encode(), "application/json")
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--cert")
    arguments.add_argument("--key")
    arguments.add_argument("--script", default="{}")
    options = arguments.parse_args()

    fake = FakeUpstream()
    fake.apply(json.loads(options.script))
    tls = None
    if options.cert:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.cert, options.key)
    limit = 64 * 1024 * 1024
    server = await asyncio.start_server(
        fake.serve_connection, "127.0.0.1", options.port, ssl=tls, limit=limit, backlog=1024
    )
    control = await asyncio.start_server(
        lambda reader, writer: serve_control(fake, reader, writer), "127.0.0.1", 0, limit=limit
    )
    ports = {"port": server.sockets[0].getsockname()[1], "control": control.sockets[0].getsockname()[1]}
    print(json.dumps(ports), flush=True)
    # The parent's end of stdin is how this process learns that the test run is over, however it ended.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
