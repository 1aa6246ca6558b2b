"""What fake_upstream.py can do with a call: one function a behaviour, named in BEHAVIOURS.

A behaviour gets the exchange, its options and how many calls it has seen before; it returns whether the connection may
carry another request.
"""

import asyncio
import json
import random

HTML = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Please sign in</h1></body></html>"
REASONS = {200: "OK", 202: "Accepted", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


async def write_response(
    writer, status: int, body: bytes, content_type: str | None, headers: dict | None = None
) -> None:
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", f"Content-Length: {len(body)}"]
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)
    await writer.drain()


class Exchange:
    """One request and the means to answer it."""

    def __init__(self, fake, reader, writer, message: dict) -> None:
        self.fake = fake
        self.reader = reader
        self.writer = writer
        self.message = message

    @property
    def arguments(self) -> dict:
        return self.message["params"].get("arguments") or {}

    @property
    def progress_token(self):
        return (self.message["params"].get("_meta") or {}).get("progressToken")

    def response(self, result: dict, message_id=None) -> dict:
        return {"jsonrpc": "2.0", "id": self.message["id"] if message_id is None else message_id, "result": result}

    def call_result(self, options: dict) -> dict:
        """The scripted result, or the arguments back as text."""
        if "result" in options:
            return options["result"]
        if "size" in options:
            return {"content": [{"type": "text", "text": "x" * options["size"]}]}
        return {"content": [{"type": "text", "text": json.dumps(self.arguments, sort_keys=True)}]}

    async def send(self, status: int, body: bytes, content_type: str | None, headers: dict | None = None) -> None:
        await write_response(self.writer, status, body, content_type, headers)

    async def result(self, result: dict, headers: dict | None = None) -> None:
        await self.send(200, json.dumps(self.response(result)).encode(), self.fake.script.content_type, headers)

    async def rpc_error(self, code: int, text: str, status: int = 200, headers: dict | None = None) -> None:
        error = {"jsonrpc": "2.0", "id": self.message["id"], "error": {"code": code, "message": text}}
        await self.send(status, json.dumps(error).encode(), "application/json", headers)

    async def lost_session(self, status: int, id_echoed: bool) -> None:
        error = {"code": -32001, "message": "Session not found"}
        answer = {"jsonrpc": "2.0", "id": self.message["id"] if id_echoed else None, "error": error}
        await self.send(status, json.dumps(answer).encode(), "application/json")

    async def open_stream(self) -> None:
        media_type = self.fake.script.event_stream_type
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.writer.write(head.encode())
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self.writer.drain()

    async def event(self, message: dict, newline: str = "\n") -> None:
        await self.chunk(f"event: message{newline}data: {json.dumps(message)}{newline}{newline}".encode())

    async def close_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def wait_for_peer(self) -> None:
        """Says nothing more until the peer gives up. Counted, so that a test can see that the gateway let go."""
        self.fake.stalled += 1
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass
        finally:
            self.fake.stalled -= 1


async def pause(options: dict) -> None:
    if "delay_up_to" in options:
        await asyncio.sleep(random.uniform(0, options["delay_up_to"]))
    else:
        await asyncio.sleep(options.get("delay", 0))


def fails_now(options: dict, index: int) -> bool:
    """An even share of failures, so that a test with 30 % errors has 30 % of them in every stretch."""
    share = options.get("error_share", 0)
    return int((index + 1) * share) > int(index * share)


async def answer(exchange: Exchange, options: dict, index: int) -> bool:
    await pause(options)
    if fails_now(options, index):
        await exchange.send(options.get("status", 500), b"scripted failure", "text/plain")
        return True
    body = json.dumps(exchange.response(exchange.call_result(options))).encode()
    await exchange.send(200, body, options.get("content_type", exchange.fake.script.content_type))
    return True


async def work(exchange: Exchange, options: dict, index: int) -> bool:
    """Keeps one of the server's `workers`, which all tools share, busy as long as the answer takes; with `hang` until
    the peer gives up. Calls that find none free wait, and are counted."""
    tool = exchange.message["params"]["name"]
    workers = exchange.fake.workers(options["workers"])
    if workers.locked():
        exchange.fake.queued[tool] = exchange.fake.queued.get(tool, 0) + 1
    async with workers:
        return await (stall if options.get("hang") else answer)(exchange, options, index)


async def stall(exchange: Exchange, options: dict, index: int) -> bool:
    await exchange.wait_for_peer()
    return False


async def head_then_stall(exchange: Exchange, options: dict, index: int) -> bool:
    await exchange.open_stream()
    await exchange.wait_for_peer()
    return False


async def half_body(exchange: Exchange, options: dict, index: int) -> bool:
    body = json.dumps(exchange.response(exchange.call_result(options))).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    exchange.writer.write(head.encode() + body[: len(body) // 2])
    await exchange.writer.drain()
    if options.get("then") != "close":
        await exchange.wait_for_peer()
    return False


async def comments(exchange: Exchange, options: dict, index: int) -> bool:
    """An event stream that is kept alive and never brings a result."""
    await exchange.open_stream()
    exchange.fake.stalled += 1
    try:
        while True:
            await exchange.chunk(b": keep-alive\n\n")
            await asyncio.sleep(options.get("every", 0.1))
            if exchange.reader.at_eof():
                return False
    except ConnectionError:
        return False
    finally:
        exchange.fake.stalled -= 1


async def html(exchange: Exchange, options: dict, index: int) -> bool:
    await exchange.send(options.get("status", 200), HTML, "text/html")
    return True


async def raw_body(exchange: Exchange, options: dict, index: int) -> bool:
    await pause(options)
    headers = options.get("headers")
    await exchange.send(
        options.get("status", 200), options.get("body", "").encode(), options.get("type", "application/json"), headers
    )
    return True


async def raw_result(exchange: Exchange, options: dict, index: int) -> bool:
    """A result as text, so that its numbers and escapes reach the wire as they are written."""
    body = f'{{"jsonrpc":"2.0","id":{json.dumps(exchange.message["id"])},"result":{options["text"]}}}'
    await exchange.send(200, body.encode(), "application/json")
    return True


async def rpc_error(exchange: Exchange, options: dict, index: int) -> bool:
    await exchange.rpc_error(options["code"], options.get("message", "scripted"), options.get("status", 200))
    return True


async def is_error(exchange: Exchange, options: dict, index: int) -> bool:
    text = options.get("text", "not found")
    await exchange.result({"content": [{"type": "text", "text": text}], "isError": True})
    return True


async def wrong_id(exchange: Exchange, options: dict, index: int) -> bool:
    await exchange.send(
        200, json.dumps(exchange.response(exchange.call_result(options), 987654321)).encode(), "application/json"
    )
    return True


async def duplicate(exchange: Exchange, options: dict, index: int) -> bool:
    """The right answer, then another one under the same id."""
    await exchange.open_stream()
    await exchange.event(exchange.response(exchange.call_result(options)))
    await exchange.event(exchange.response({"content": [{"type": "text", "text": "second answer"}]}))
    await exchange.close_stream()
    return True


async def html_stream(exchange: Exchange, options: dict, index: int) -> bool:
    await exchange.open_stream()
    await exchange.chunk(HTML + b"\n\n")
    await exchange.close_stream()
    return True


async def empty_stream(exchange: Exchange, options: dict, index: int) -> bool:
    await exchange.open_stream()
    await exchange.close_stream()
    return True


async def stream(exchange: Exchange, options: dict, index: int) -> bool:
    """Progress (if asked for), then the result, all as events."""
    newline = options.get("newline", "\n")
    steps = options.get("steps", 3)
    await exchange.open_stream()
    for step in range(1, steps + 1):
        await asyncio.sleep(options.get("every", 0.0))
        if exchange.progress_token is not None:
            parameters = {"progressToken": exchange.progress_token, "progress": step, "total": steps}
            await exchange.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": parameters}, newline)
    await exchange.event(exchange.response(exchange.call_result(options)), newline)
    await exchange.close_stream()
    return True


async def stream_in_bytes(exchange: Exchange, options: dict, index: int) -> bool:
    """A stream with one byte in each chunk."""
    newline = options.get("newline", "\n")
    await exchange.open_stream()
    text = f"data: {json.dumps(exchange.response(exchange.call_result(options)))}{newline}{newline}"
    for byte in text.encode():
        await exchange.chunk(bytes([byte]))
    await exchange.close_stream()
    return True


async def disconnect(exchange: Exchange, options: dict, index: int) -> bool:
    await pause(options)
    return False


BEHAVIOURS = {
    behaviour.__name__: behaviour
    for behaviour in (
        answer, comments, disconnect, duplicate, empty_stream, half_body, head_then_stall, html, html_stream, is_error,
        raw_body, raw_result, rpc_error, stall, stream, stream_in_bytes, work, wrong_id,
    )
}  # fmt: skip
