"""The agents: one MCP session over Streamable HTTP, as many kept connections as calls are in flight, and what each call
came to. Knows nothing of the server or the gateway but what an MCP client sees."""
import asyncio
import json
import ssl
import time
import urllib.parse
from typing import NamedTuple

VERSION = "2025-11-25"
MARKER = "dev.switchgear/call"
LARGEST = 4 * 1024 * 1024


class Sample(NamedTuple):
    """One call. Times on time.monotonic()."""

    part: int  # what it asked for; no two calls ask for the same
    due: float  # when it was to be sent; what it took counts from here
    sent: float
    answered: float
    kind: str  # primary, stand-in or error
    detail: str  # of an error: timeout, connection, HTTP 502, JSON-RPC -32603, isError, wrong answer
    text: str = ""

    @property
    def took(self):
        return self.answered - self.due

    @property
    def from_gateway(self):
        """Somebody answered, be it with an error."""
        return self.detail not in ("timeout", "connection")


def sort_out(status, message, expected, stand_in):
    """(kind, detail, text) of an answer. A stand-in wears Switchgear's marker, or has the text that stand-ins have."""
    if message is None:
        return "error", f"HTTP {status}", ""
    if "error" in message:
        return "error", f"JSON-RPC {message['error'].get('code')}", str(message["error"].get("message"))
    result = message.get("result") or {}
    text = "\n".join(block.get("text", "") for block in result.get("content") or [])
    if result.get("isError"):
        return "error", "isError", text
    marked = ((result.get("_meta") or {}).get(MARKER) or {}).get("degraded") is True
    if marked or (stand_in and stand_in in text):
        return "stand-in", "", text
    # What was asked for comes back, so that an answer to another call, or half of one, is not taken for it.
    return ("primary", "", text) if expected in text else ("error", "wrong answer", text)


class Client:
    """`patience`: how long a call is waited for, in seconds, and then it is an error."""

    def __init__(self, url, tool, answer_to, patience, headers=(), stand_in=None):
        self.url = urllib.parse.urlsplit(url)
        self.tool, self.answer_to, self.patience, self.stand_in = tool, answer_to, patience, stand_in
        self.headers = list(headers)
        self.session = self.version = None
        self.opening = None
        self.idle = []

    async def open(self):
        """A session; an OSError when there is none to be had."""
        self.session = self.version = None
        asked = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench-failure", "version": "1"}}
        status, headers, message = await self.exchange("initialize", asked)
        if message is None or "result" not in message:
            raise ConnectionError(f"initialize: HTTP {status}, {message}")
        self.session, self.version = headers.get("mcp-session-id"), message["result"]["protocolVersion"]
        await self.exchange("notifications/initialized", None, notification=True)

    async def tools(self):
        _, _, message = await self.exchange("tools/list", {})
        return [tool["name"] for tool in ((message or {}).get("result") or {}).get("tools", [])]

    async def call(self, part, due=None):
        sent = time.monotonic()
        due = sent if due is None else due
        try:
            async with asyncio.timeout(self.patience - (sent - due)):
                if self.opening:
                    await asyncio.shield(self.opening)
                status, _, message = await self.exchange("tools/call",
                                                         {"name": self.tool, "arguments": {"part": part}}, part)
            found = sort_out(status, message, self.answer_to(part), self.stand_in)
            if status == 404 and self.session and not (self.opening and not self.opening.done()):
                self.opening = asyncio.ensure_future(self.reopen())  # what the protocol asks of a client
        except TimeoutError:
            found = "error", "timeout", ""
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            found = "error", "connection", str(error)
        return Sample(part, due, sent, time.monotonic(), *found)

    async def reopen(self):
        try:
            await self.open()
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass  # the next call hears 404 again, or worse

    def close(self):
        for _, writer in self.idle:
            writer.close()
        self.idle.clear()

    # ---- the wire

    async def exchange(self, method, params, number=0, notification=False):
        """(status, headers, the response or None)."""
        said = {"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}
        if not notification:
            said["id"] = number
        reader, writer = await self.connection()
        kept = False
        try:
            writer.write(self.request(json.dumps(said).encode()))
            status, headers, body, kept = await read_answer(reader)
        finally:
            if kept:
                self.idle.append((reader, writer))
            else:
                writer.transport.abort()
        responses = [one for one in messages(headers.get("content-type", ""), body)
                     if one.get("id") == number and ("result" in one or "error" in one)]
        return status, headers, responses[0] if len(responses) == 1 else None

    async def connection(self):
        while self.idle:
            reader, writer = self.idle.pop()
            if not reader.at_eof() and not writer.transport.is_closing():
                return reader, writer
        secure = ssl.create_default_context() if self.url.scheme == "https" else None
        port = self.url.port or (443 if secure else 80)
        return await asyncio.open_connection(self.url.hostname, port, ssl=secure, limit=LARGEST)

    def request(self, body):
        path = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        lines = [f"POST {path} HTTP/1.1", f"Host: {self.url.netloc}", "Content-Type: application/json",
                 "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}", *self.headers]
        if self.session:
            lines.append(f"Mcp-Session-Id: {self.session}")
        if self.version:
            lines.append(f"MCP-Protocol-Version: {self.version}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


async def read_answer(reader):
    """(status, headers, body, whether the connection may carry another)."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status_line, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = int(status_line.split()[1])
    kept = headers.get("connection", "").lower() != "close"
    if status in (202, 204):
        length = int(headers.get("content-length", 0))
    elif headers.get("transfer-encoding", "").lower() == "chunked":
        return status, headers, await read_chunks(reader), kept
    elif "content-length" not in headers:
        return status, headers, await reader.read(LARGEST), False
    else:
        length = int(headers["content-length"])
    return status, headers, await reader.readexactly(length), kept


async def read_chunks(reader):
    body = b""
    while (size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)) > 0:
        body += (await reader.readexactly(size + 2))[:-2]
        if len(body) > LARGEST:
            raise ValueError("an endless answer")
    await reader.readuntil(b"\r\n")
    return body


def messages(media_type, body):
    """The JSON-RPC messages of an answer, be it JSON or an event stream; none of what is neither."""
    try:
        if media_type.startswith("application/json"):
            found = json.loads(body)
        elif media_type.startswith("text/event-stream"):
            events = body.decode().replace("\r\n", "\n").split("\n\n")
            texts = ["\n".join(line[5:].lstrip() for line in event.split("\n") if line.startswith("data:"))
                     for event in events]
            found = [json.loads(text) for text in texts if text]
        else:
            return []
    except ValueError:
        return []
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]
