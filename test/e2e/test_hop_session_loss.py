"""RC-016 and RC-017: servers that have lost our session say so in many ways, and the gateway says it in one."""

import json
import time

import pytest

from harness.carriers import HttpCarrier
from harness.mcp_client import McpClient
from harness.raw_http import RawConnection
from harness.scripted_http import Answer
from harness.together import together
from harness.tool_server import ToolServer, tool
from harness.waiting import until

CLIENTS = 10
CALLS_EACH = 5
JSON = "application/json"

# How a restarted server refuses the old session, unread.
SAID_ELSEWISE = {
    "400 with a session message": Answer.rpc(400, -32000, "Bad Request: No valid session ID provided"),
    "400 with a page about it": Answer(400, b"Invalid session id", "text/plain"),
    "401 without a challenge": Answer(401, b'{"error":"Session expired or unknown"}', JSON),
    "503 with JSON about it": Answer(503, b'{"error":{"message":"unknown session"}}', JSON),
    "200 and not initialized": Answer.rpc(200, -32002, "Server not initialized"),
    "404 without a body": Answer(404),
}


def start(gateway, serve, *, reads: bool = True, **settings):
    server = ToolServer([tool("echo", annotations={"readOnlyHint": reads})])
    carrier = serve(HttpCarrier(server, get_stream=False))
    through = gateway(
        {"upstreams": {"up": {"url": carrier.url}}, "tools": {"up__*": {"deadline": "3s"}}, **settings}
    )
    clients = [McpClient(through.port).initialize() for _ in range(CLIENTS)]
    for client in clients:
        assert not client.call("up__echo").marker
    return through, server, carrier, clients


def all_call(clients) -> list:
    """Every client makes several calls at once, on connections of their own."""
    doubles = [client.double() for client in clients for _ in range(CALLS_EACH)]
    try:
        return together(
            [
                lambda double=double, number=number: double.call("up__echo", {"nonce": number})
                for number, double in enumerate(doubles)
            ]
        )
    finally:
        for double in doubles:
            double.close()


def echoing_id(lost: Answer):
    """The answer under the id of the request that it refuses, as it stands in a 200."""

    async def first(request):
        message = json.loads(request.body) if request.body else {}
        known = request.header("mcp-session-id") in first.sessions
        if known or message.get("method") == "initialize" or "id" not in message:
            return None
        body = json.loads(lost.body)
        body["id"] = message["id"]
        return Answer(lost.status, json.dumps(body).encode(), JSON)

    return first


@pytest.mark.parametrize("said", SAID_ELSEWISE)
def test_a_lost_session_is_recognised_however_it_is_told(said, gateway, serve):
    """RC-017 (a)-(d): one new session, and each refused call is sent again once."""
    through, server, carrier, clients = start(gateway, serve)
    carrier.lost = SAID_ELSEWISE[said]
    if carrier.lost.status == 200:
        carrier.first = echoing_id(carrier.lost)
        carrier.first.sessions = carrier.sessions
    before = len(server.arrived("tools/call"))
    carrier.forget_sessions()

    for number, reply in enumerate(all_call(clients)):
        assert not reply.is_error and not reply.marker, reply.body
        assert json.loads(reply.text) == {"nonce": number}

    initializes = server.arrived("initialize")
    assert len(initializes) == 2, "a single flight, whoever noticed first"
    assert all(arrival.header("mcp-session-id") is None for arrival in initializes)
    assert len(server.arrived("notifications/initialized")) == 2
    calls = len(server.arrived("tools/call")) - before
    assert calls <= 2 * CLIENTS * CALLS_EACH, "a refused call is sent again once"
    for circuit in (through.circuit("up__echo"), through.circuit("up", "server")):
        assert not circuit or circuit["failures"] == 0
    for client in clients:
        assert not client.call("up__echo").is_error, "the clients' own sessions are what they were"
        client.close()


@pytest.mark.parametrize("said", SAID_ELSEWISE)
def test_a_deed_is_sent_again_only_where_it_was_not_read(said, gateway, serve):
    """A tool can say the same words once it has done what it was asked for. The next call has a new session either way."""
    through, server, carrier, clients = start(gateway, serve, reads=False, breaker={"mode": "observe"})
    carrier.lost = SAID_ELSEWISE[said]
    if carrier.lost.status == 200:
        carrier.first = echoing_id(carrier.lost)
        carrier.first.sessions = carrier.sessions
    carrier.forget_sessions()
    before = len(server.arrived("tools/call"))

    reply = clients[0].call("up__echo")

    sent = len(server.arrived("tools/call")) - before
    if said in ("404 without a body", "400 with a session message"):
        assert not reply.is_error and sent == 2
    else:
        assert reply.is_error and reply.marker["outcome"] == "unknown" and sent == 1, reply.text
    assert not clients[0].call("up__echo").is_error
    assert len(server.arrived("initialize")) == 2
    for client in clients:
        client.close()


REFUSALS = {
    # (what the server answers to calls, the marker's reason)
    "plain 503": (Answer(503, b"no healthy upstream", "text/plain"), "upstream_error"),
    "503 without a body": (Answer(503), "upstream_error"),
    "401 with a challenge": (
        Answer(401, b'{"error":"session token expired"}', JSON, {"WWW-Authenticate": 'Bearer error="invalid_token"'}),
        "denied",
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_an_outage_and_a_login_problem_are_no_lost_session(refusal, gateway, serve):
    """RC-017 (e), (f): neither a new session nor a second try; the client reads which of the two it is."""
    through, server, carrier, clients = start(gateway, serve, breaker={"mode": "observe"})
    answer, reason = REFUSALS[refusal]

    async def first(request):
        return answer if b'"tools/call"' in request.body else None

    carrier.first = first
    before = len(server.arrived("tools/call"))

    replies = all_call(clients[:2])

    for reply in replies:
        assert reply.status == 200 and reply.is_error
        assert reply.marker["reason"] == reason
        assert str(answer.status) in reply.text
    assert len(server.arrived("initialize")) == 1
    assert len(server.arrived("tools/call")) - before == len(replies), "no call was sent twice"
    for client in clients:
        client.close()


def test_a_server_that_restarts_is_used_again_at_once(gateway, serve):
    """RC-016: the process is gone and comes back on its port with nothing in its memory."""
    through, server, carrier, clients = start(gateway, serve)
    carrier.stop()
    assert clients[0].call("up__echo").is_error, "nobody is there"
    again = ToolServer(["echo"])
    serve(HttpCarrier(again, carrier.port, get_stream=False))
    until(lambda: not clients[0].call("up__echo").is_error, 5, "the new process is used")
    for client in clients:
        assert not client.call("up__echo").is_error
        client.close()
    assert len(again.arrived("initialize")) == 1


# ---- the gateway's own word


def ask(port: int, verb: str, session: str | None) -> int:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}' if verb == "POST" else b""
    accept = "text/event-stream" if verb == "GET" else "application/json, text/event-stream"
    head = f"{verb} /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\nContent-Type: application/json\r\n"
    head += "MCP-Protocol-Version: 2025-11-25\r\n"
    head += f"Mcp-Session-Id: {session}\r\n" if session is not None else ""
    with RawConnection(port) as connection:
        return connection.exchange(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body).status


@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE"])
def test_the_gateway_answers_404_to_a_session_that_it_does_not_know(verb, gateway, fake):
    """RC-017: made up, torn, too long, or ended by its client: all are 404, so that clients start anew."""
    through = gateway({"upstreams": {"up": {"url": fake().url}}})
    client = McpClient(through.port).initialize()
    ended = client.session
    assert client.send("DELETE").status in (200, 202, 204)
    alive = McpClient(through.port).initialize().session
    turned = ("A" if alive[0] != "A" else "B") + alive[1:]
    for unknown in ("0f8fad5b-d9cb-469f-a165-70867728950e", ended, alive[:-1], alive + "x", turned, "x" * 2000, "!~"):
        assert ask(through.port, verb, unknown) == 404, unknown
    if verb == "POST":
        assert ask(through.port, verb, alive) == 200


def test_an_unknown_session_is_refused_quickly_and_the_connection_lives(gateway, fake):
    """RC-017: a client that asks again and again gets the same word each time, and no stream that hangs."""
    through = gateway({"upstreams": {"up": {"url": fake().url}}})
    client = McpClient(through.port)
    client.session, client.version = "unknown", "2025-11-25"
    begin = time.monotonic()
    for _ in range(50):
        reply = client.request("tools/list", id="mine")
        assert reply.status == 404
        assert reply.message["error"]["code"] < 0
    assert time.monotonic() - begin < 2
    client.initialize()
    assert not client.call("up__echo").is_error
    client.close()
