"""Streams that clients hold open: a session's own, and subscriptions/listen; what is told on them, and what they cost."""

import json
import resource
from pathlib import Path

import pytest

from harness.mcp_client import McpClient
from harness.raw_http import RawConnection, post

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


class Stream:
    """An event stream that a request has opened."""

    def __init__(self, port: int, request: bytes):
        self.connection = RawConnection(port)
        self.connection.send(request)
        self.text = ""
        self.until("\r\n\r\n")
        head, _, self.text = self.text.partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 200 "), head

    def until(self, part: str) -> None:
        while part not in self.text:
            assert self.connection._more(), f"the stream ended with {self.text!r}"
            self.text += self.connection.buffer.decode()
            self.connection.buffer = b""

    def messages(self) -> list[dict]:
        return [json.loads(line[6:]) for line in self.text.split("\n") if line.startswith("data: {")]


def get(session: str) -> bytes:
    return (
        f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    ).encode()


def listen(filter: dict, id="sub-1") -> bytes:
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen"}
    message["params"] = {"notifications": filter, "_meta": meta}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"}
    return post(json.dumps(message).encode(), headers)


@pytest.fixture
def through(gateway, fake):
    return gateway({"upstreams": {"up": {"url": fake().url}}})


def test_a_sessions_stream_begins_with_a_comment_and_ends_with_its_session(through):
    with McpClient(through.port) as client:
        stream = Stream(through.port, get(client.session))
        stream.until(": ")
        assert client.send("DELETE").status == 204
        stream.until("0\r\n\r\n")


def test_the_stream_that_was_opened_last_stays(through):
    with McpClient(through.port) as client:
        first = Stream(through.port, get(client.session))
        first.until(": ")
        second = Stream(through.port, get(client.session))
        second.until(": ")
        first.until("0\r\n\r\n")
        assert not second.connection.closed_within(0.05)


def test_a_subscription_is_acknowledged_with_what_is_honoured_of_it(through):
    stream = Stream(through.port, listen({"toolsListChanged": True, "unheardOf": True}))
    stream.until("\n\n\r\n")
    (message,) = stream.messages()
    assert message["method"] == "notifications/subscriptions/acknowledged"
    assert message["params"] == {"_meta": {META + "subscriptionId": "sub-1"}, "notifications": {"toolsListChanged": True}}


def test_streams_end_well_when_the_gateway_does(through):
    with McpClient(through.port) as client:
        standing = Stream(through.port, get(client.session))
        standing.until(": ")
        listening = Stream(through.port, listen({"toolsListChanged": True}))
        listening.until("acknowledged")
        assert through.stop() < 5
        standing.until("0\r\n\r\n")
        listening.until("0\r\n\r\n")
        assert listening.messages()[-1]["result"]["resultType"] == "complete"


@pytest.mark.parametrize("headers", ["", "Last-Event-ID: of-another-time\r\n"])
def test_a_get_that_cannot_be_served_says_so(headers, through):
    with McpClient(through.port) as client:
        with RawConnection(through.port) as connection:
            session = f"Mcp-Session-Id: {client.session}\r\n" if headers else ""
            request = f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{session}{headers}\r\n"
            assert connection.exchange(request.encode()).status == 405
        assert client.request("ping").result == {}


@pytest.mark.timing
def test_idle_streams_cost_little_memory(through, figure):
    count = min(2000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - 100)

    def resident() -> int:
        status = Path(f"/proc/{through.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024

    sessions = []
    for _ in range(count):
        with McpClient(through.port) as client:
            sessions.append(client.session)
    before = resident()
    streams = [Stream(through.port, get(session)) for session in sessions]
    for stream in streams:
        stream.until(": ")
    each = (resident() - before) / count
    figure("idle streams", streams=count, bytes_each=int(each))
    assert each < 16 * 1024
    for stream in streams:
        stream.connection.close()
