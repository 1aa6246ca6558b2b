"""RC-028: protocol headers of each side of the hop are that side's own, complete, and there once."""

import json

import pytest

from harness.carriers import HttpCarrier
from harness.mcp_client import McpClient, initialize_params, messages_of
from harness.modern_server import MODERN, ModernServer, modern_carrier
from harness.raw_http import RawConnection, post
from harness.scripted_http import Answer
from harness.tool_server import ToolServer
from harness.waiting import until

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
CLIENTS = ["2025-03-26", "2025-06-18", "2025-11-25"]


async def with_progress(call) -> dict:
    for step in range(1, 4):
        await call.progress(step, 3)
    return {"content": [{"type": "text", "text": json.dumps(call.arguments)}]}


def strict_carrier(server: ToolServer) -> HttpCarrier:
    """Refuses what a strict server of its revision may refuse: the version, the media types, a session told twice."""
    carrier = HttpCarrier(server)

    async def first(request) -> Answer | None:
        names = [name.lower() for name, _ in request.fields]
        if len(names) != len(set(names)):
            return Answer(400, b"a header came twice", "text/plain")
        accept = request.header("accept") or ""
        wanted = ["text/event-stream"] if request.verb == "GET" else ["application/json", "text/event-stream"]
        if request.verb != "DELETE" and not all(media_type in accept for media_type in wanted):
            return Answer(406, b"Accept is too narrow", "text/plain")
        version = request.header("mcp-protocol-version")
        if request.verb == "POST" and json.loads(request.body).get("method") == "initialize":
            return None if version is None else Answer(400, b"no version is agreed on yet", "text/plain")
        return None if version == server.revision else Answer(400, b"another version was agreed on", "text/plain")

    carrier.first = first
    return carrier


# ---- towards upstreams


@pytest.mark.parametrize("client_revision", CLIENTS)
@pytest.mark.parametrize("revision", LEGACY)
def test_an_upstream_sees_the_version_it_agreed_to_and_nothing_twice(revision, client_revision, gateway, serve):
    """RC-028 (a), (c): whatever the client speaks, in every request after `initialize`, the GET and DELETE too."""
    server = ToolServer(["echo"], revision=revision, echo=with_progress)
    carrier = serve(strict_carrier(server))
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    client = McpClient(through.port).initialize(client_revision)
    assert client.version == client_revision, "the revisions on the two sides have nothing to do with each other"
    assert list(client.tools()) == ["up__echo"]
    for nonce in range(3):
        reply = client.call("up__echo", {"nonce": nonce}, meta={"progressToken": "t"})
        assert json.loads(reply.text) == {"nonce": nonce} and len(reply.notifications) == 3
    client.close()
    until(lambda: [each for each in server.journal if each.verb == "GET"], 5, "it listens to the server")
    through.stop()
    sessions = {arrival.header("mcp-session-id") for arrival in server.journal} - {None}
    assert len(sessions) == 1
    for arrival in server.journal:
        if arrival.message.get("method") in ("initialize", "server/discover"):
            assert arrival.header("mcp-session-id") is None
            continue
        assert arrival.header("mcp-session-id") in sessions
        assert arrival.header("mcp-protocol-version") == revision, arrival
        assert arrival.header("accept") is not None or arrival.verb == "DELETE"
    assert {arrival.verb for arrival in server.journal} == {"POST", "GET", "DELETE"}


@pytest.mark.parametrize("client_revision", CLIENTS)
def test_an_upstream_of_the_newest_revision_only_is_spoken_to_in_it(client_revision, gateway, serve):
    """RC-028 (b): it would refuse any other version, any header that does not mirror the body, and any session."""
    server = ModernServer(["echo"], echo=with_progress)
    through = gateway({"upstreams": {"up": {"url": serve(modern_carrier(server)).url}}})
    client = McpClient(through.port).initialize(client_revision)
    assert list(client.tools()) == ["up__echo"]
    for nonce in range(3):
        reply = client.call("up__echo", {"nonce": nonce}, meta={"progressToken": 0})
        assert json.loads(reply.text) == {"nonce": nonce}
        assert [note["params"]["progressToken"] for note in reply.notifications] == [0, 0, 0]
    client.close()
    calls = server.arrived("tools/call")
    assert len(calls) == 3
    for arrival in server.journal:
        assert arrival.header("mcp-session-id") is None
        assert arrival.message.get("method") == "initialize" or arrival.header("mcp-protocol-version") == MODERN


@pytest.mark.parametrize("name", ["MCP-SESSION-ID", "mcp-session-id", "mCP-sESSION-iD", "Mcp-Session-Id"])
def test_a_session_header_counts_in_any_case(name, gateway, serve):
    """RC-028 (d)."""
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))
    carrier.session_field = name
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    with McpClient(through.port) as client:
        for _ in range(3):
            assert not client.call("up__echo").is_error
    assert len(server.arrived("initialize")) == 1
    for arrival in server.arrived("tools/call"):
        assert arrival.header("mcp-session-id") in carrier.sessions


# ---- towards clients

ACCEPTED = {
    # Accept of the client -> media types it can read
    "application/json": {"application/json"},
    "text/event-stream": {"text/event-stream"},
    "*/*": {"application/json", "text/event-stream"},
    "application/json, text/event-stream": {"application/json", "text/event-stream"},
    "text/event-stream, application/json": {"application/json", "text/event-stream"},
    None: {"application/json", "text/event-stream"},
}


@pytest.mark.parametrize("version_header", [True, False], ids=["version header", "no version header"])
@pytest.mark.parametrize("accept", ACCEPTED)
def test_a_client_gets_its_answer_in_a_form_that_it_accepts(accept, version_header, gateway, serve):
    """RC-028: a client that reads JSON alone still gets the result of a tool that streams, one that reads events alone
    gets events."""
    server = ToolServer(["echo", "plain"], echo=with_progress)
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(server)).url}}})
    with McpClient(through.port) as client:
        fields = {"Accept": accept, "Mcp-Session-Id": client.session}
        if version_header:
            fields["MCP-Protocol-Version"] = client.version
        with RawConnection(through.port) as connection:
            for id, (tool, token) in enumerate([("echo", 7), ("echo", None), ("plain", 7), ("plain", None)]):
                meta = {"_meta": {"progressToken": token}} if token is not None else {}
                params = {"name": f"up__{tool}", "arguments": {"id": id}, **meta}
                call = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
                answer = connection.exchange(post(json.dumps(call).encode(), fields))
                assert answer.status == 200
                assert answer.media_type in ACCEPTED[accept]
                messages = messages_of(answer.media_type, answer.body)
                *notes, response = messages
                assert response["id"] == id and json.loads(response["result"]["content"][0]["text"]) == {"id": id}
                streamed = tool == "echo" and token is not None and answer.media_type == "text/event-stream"
                assert len(notes) == (3 if streamed else 0)


def raw_head(port: int, request: bytes) -> list[tuple[str, str]]:
    """The header fields of an answer as they are on the wire, twice those that come twice."""
    with RawConnection(port) as connection:
        connection.send(request)
        while b"\r\n\r\n" not in connection.buffer:
            assert connection._more()
        head = connection.buffer.split(b"\r\n\r\n")[0].decode("latin-1")
    fields = (line.partition(":") for line in head.split("\r\n")[1:])
    return [(name.lower(), value.strip()) for name, _, value in fields]


def test_a_client_sees_its_own_session_once(gateway, serve):
    """RC-028: not the upstream's, and not twice."""
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))
    through = gateway({"upstreams": {"up": {"url": carrier.url}}})
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-06-18")}
    body = json.dumps(hello).encode()
    sessions = [value for name, value in raw_head(through.port, post(body)) if name == "mcp-session-id"]
    assert len(sessions) == 1 and sessions[0] not in carrier.sessions
    call = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"up__echo","arguments":{}}}'
    fields = raw_head(through.port, post(call, {"Mcp-Session-Id": sessions[0]}))
    told = [value for name, value in fields if name == "mcp-session-id"]
    assert told in ([], sessions)
    names = [name for name, _ in fields]
    assert len(names) == len(set(names)), fields


@pytest.mark.parametrize("version", ["2023-01-01", "2025-03-27", "latest", "2025-11-25, 2025-11-25", "2025-11-25x"])
def test_a_version_that_nobody_knows_is_400(version, gateway, serve):
    server = ToolServer(["echo"])
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(server)).url}}})
    with McpClient(through.port) as client:
        client.version = version
        reply = client.request("tools/call", {"name": "up__echo", "arguments": {}}, id="mine")
        assert reply.status == 400
        assert reply.message["error"]["code"] < 0
    assert not server.arrived("tools/call")
