"""RC-026: five and more ways to answer a notification, and the one that the gateway has."""

import asyncio
import json
import threading
import time

import pytest

from harness.carriers import HttpCarrier
from harness.mcp_client import McpClient
from harness.raw_http import RawConnection, post
from harness.scripted_http import Answer
from harness.tool_server import SILENCE, ToolServer
from harness.waiting import until

JSON, TEXT, EVENTS = "application/json", "text/plain", "text/event-stream"

WELCOME = {
    "202": Answer(202),
    "202 with a media type": Answer(202, b"", JSON),
    "200 and nothing": Answer(200),
    "200 and nothing, called JSON": Answer(200, b"", JSON),
    "200 null": Answer(200, b"null", JSON),
    "200 {}": Answer(200, b"{}", JSON),
    "204": Answer(204),
    "200 text": Answer(200, b"Accepted", TEXT),
    "200 events that end at once": Answer(200, b"", EVENTS),
    "200 with a comment as events": Answer(200, b": done\n\n", EVENTS),
    "200 with a message nobody asked for": Answer(
        200, b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"stray"}}', JSON
    ),
}


async def in_between(call) -> dict:
    """A tool during which the server is told something: its answer to a cancellation is one to a notification, too."""
    await call.notify("notifications/message", level="info", data="from the tool")
    return {"content": [{"type": "text", "text": json.dumps(call.arguments)}]}


@pytest.mark.parametrize("answer", WELCOME)
def test_any_2xx_lets_the_handshake_go_on(answer, gateway, serve):
    server = ToolServer(["echo"], echo=in_between)
    carrier = serve(HttpCarrier(server))
    carrier.note_answer = WELCOME[answer]
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    assert through.upstream("up")["state"] == "ready"
    with McpClient(through.port) as client:
        assert list(client.tools()) == ["up__echo"]
        for nonce in range(5):
            reply = client.call("up__echo", {"nonce": nonce})
            assert json.loads(reply.text) == {"nonce": nonce}
            assert [note["params"]["data"] for note in reply.notifications] in ([], ["from the tool"])
    assert len(server.arrived("initialize")) == 1
    assert len(server.arrived("notifications/initialized")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer.rpc(400, -32600, "not while the moon is full"),
        Answer(500, b"the database is away", TEXT),
        Answer(404),
    ],
    ids=lambda answer: str(answer.status),
)
def test_a_refusal_fails_the_handshake_and_the_cause_is_shown(answer, gateway, serve):
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))
    carrier.note_answer = answer
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    reason = through.wait_upstream("up", "degraded")["reason"]
    assert str(answer.status) in reason
    assert "moon" in reason or answer.status != 400, "the server's own words"
    assert not server.arrived("tools/call")
    carrier.note_answer = Answer(202)
    until(lambda: through.upstream("up")["state"] == "ready", 20, "it is tried again", every=0.1)
    with McpClient(through.port) as client:
        assert not client.call("up__echo").is_error


# ---- what the gateway answers

NOTIFICATIONS = {
    "initialized": ("notifications/initialized", None),
    "cancelled, nothing known": ("notifications/cancelled", {"requestId": 77, "reason": "changed my mind"}),
    "cancelled, no id": ("notifications/cancelled", {}),
    "progress": ("notifications/progress", {"progressToken": 5, "progress": 1}),
    "roots": ("notifications/roots/list_changed", None),
    "unknown": ("notifications/of/tomorrow", {"deep": {"er": [1, 2]}}),
    "no notification by its name": ("tools/call", {"name": "up__echo"}),
}


@pytest.mark.parametrize("notification", NOTIFICATIONS)
def test_the_gateway_answers_202_and_nothing_else(notification, gateway, serve):
    server = ToolServer(["echo"])
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(server)).url}}})
    method, params = NOTIFICATIONS[notification]
    message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}
    with McpClient(through.port) as client:
        fields = {"Mcp-Session-Id": client.session, "MCP-Protocol-Version": client.version}
        with RawConnection(through.port) as connection:
            for _ in range(3):
                answer = connection.exchange(post(json.dumps(message).encode(), fields))
                assert answer.status == 202
                assert answer.body == b"" and "content-type" not in answer.headers
        assert not client.call("up__echo").is_error
    assert len(server.arrived("tools/call")) == 1, "what has no id is no call"


@pytest.mark.timing
def test_the_gateway_does_not_wait_for_the_upstream(gateway, serve, figure):
    """The upstream is silent, with a call under way; notifications are taken in under 50 ms."""

    async def stall(call):
        await call.cancelled.wait()
        return SILENCE

    async def slow_note(request):
        if b"notifications/cancelled" in request.body:
            slow_note.seen.set()
            await slow_note.released.wait()
        return None

    slow_note.seen = threading.Event()
    slow_note.released = asyncio.Event()
    server = ToolServer(["stall"], stall=stall)
    carrier = serve(HttpCarrier(server))
    carrier.first = slow_note
    through = gateway({"upstreams": {"up": {"url": carrier.url}}, "tools": {"up__stall": {"deadline": "3s"}}})
    with McpClient(through.port) as client:
        double = client.double()
        calling = threading.Thread(target=lambda: double.call("up__stall", id="mine"))
        calling.start()
        until(lambda: server.arrived("tools/call"), 3, "the call is under way")
        longest = 0.0
        for method, params in NOTIFICATIONS.values():
            begin = time.monotonic()
            assert client.post({"jsonrpc": "2.0", "method": method, "params": params or {}}).status == 202
            longest = max(longest, time.monotonic() - begin)
        begin = time.monotonic()
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mine"}}
        assert client.post(cancel).status == 202
        longest = max(longest, time.monotonic() - begin)
        figure("a notification is taken", longest=f"{longest * 1000:.1f} ms")
        assert longest < 0.05
        assert slow_note.seen.wait(2), "the upstream is told"
        calling.join(10)
        assert not calling.is_alive()
        double.close()
