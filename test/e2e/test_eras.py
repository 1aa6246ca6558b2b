"""Clients of the modern era: every request for itself, checked against its headers, beside legacy clients."""

import json
import socket

import pytest

from harness.mcp_client import McpClient, messages_of
from harness.raw_http import RawConnection, post
from harness.waiting import until

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


def request(method: str, params: dict | None = None, *, id="m-1", meta: dict | None = None, version: str = MODERN):
    own = {META + "protocolVersion": version, META + "clientCapabilities": {}, **(meta or {})}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": own}}


def mirrored(message: dict) -> dict:
    params = message["params"]
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    if message["method"] in ("tools/call", "prompts/get"):
        headers["Mcp-Name"] = params["name"]
    return headers


class ModernClient:
    """Sends each request with the headers that it needs; `headers` replaces some of them."""

    def __init__(self, port: int):
        self.port = port

    def post(self, message: dict, headers: dict | None = None):
        with RawConnection(self.port) as connection:
            answer = connection.exchange(post(json.dumps(message).encode(), {**mirrored(message), **(headers or {})}))
        (response,) = (one for one in messages_of(answer.media_type, answer.body) if "method" not in one)
        return answer, response


@pytest.fixture
def through(gateway, fake):
    return gateway({"upstreams": {"up": {"url": fake().url}}})


@pytest.fixture
def client(through):
    return ModernClient(through.port)


def test_discover_names_every_revision_that_is_served(client):
    answer, response = client.post(request("server/discover"))
    assert answer.status == 200 and "mcp-session-id" not in answer.headers
    result = response["result"]
    assert result["supportedVersions"] == [MODERN, "2025-11-25", "2025-06-18", "2025-03-26"]
    assert result["resultType"] == "complete" and result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")
    assert result["_meta"][META + "serverInfo"]["name"] == "switchgear"
    assert "tools" in result["capabilities"]


def test_both_eras_see_the_same_tools_on_one_endpoint(through, client):
    _, response = client.post(request("tools/list"))
    assert response["result"]["resultType"] == "complete"
    with McpClient(through.port) as legacy:
        assert response["result"]["tools"] == legacy.request("tools/list").result["tools"]


@pytest.mark.parametrize("id", [0, 7, "seven", -1, 9007199254740993])
def test_a_call_is_answered_under_its_own_id(id, client):
    _, response = client.post(request("tools/call", {"name": "up__echo", "arguments": {"a": 1}}, id=id))
    assert response["id"] == id and "result" in response


def test_a_session_of_another_era_is_ignored(client):
    answer, response = client.post(request("tools/list"), {"Mcp-Session-Id": "no such session", "Last-Event-ID": "9"})
    assert answer.status == 200 and "result" in response


@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities"])
def test_a_request_without_its_meta_is_400(missing, client):
    message = request("server/discover")
    del message["params"]["_meta"][META + missing]
    answer, response = client.post(message)
    assert (answer.status, response["error"]["code"], response["id"]) == (400, -32602, "m-1")


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp-Method": None},
        {"Mcp-Method": "TOOLS/CALL"},
        {"Mcp-Name": None},
        {"Mcp-Name": "up__other"},
        {"Mcp-Name": "=?base64?dXBfX2VjaG8?="},  # padding is missing
        {"Mcp-Name": "=?base64?dXBf!!!X2VjaG8=?="},
        {"MCP-Protocol-Version": None},
        {"MCP-Protocol-Version": "2025-11-25"},
    ],
)
def test_a_header_that_is_missing_or_differs_is_400(headers, client):
    answer, response = client.post(request("tools/call", {"name": "up__echo"}), headers)
    assert (answer.status, response["error"]["code"], response["id"]) == (400, -32020, "m-1")


@pytest.mark.parametrize("name", ["  up__echo ", "=?base64?dXBfX2VjaG8=?="])
def test_a_header_may_be_padded_or_wrapped(name, client):
    answer, _ = client.post(request("tools/call", {"name": "up__echo"}), {"Mcp-Name": name})
    assert answer.status == 200


def test_a_revision_that_is_not_served_is_400_and_told_what_is(client):
    message = request("server/discover", version="v999.0.0")
    answer, response = client.post(message, {"MCP-Protocol-Version": "v999.0.0"})
    assert (answer.status, response["error"]["code"]) == (400, -32022)
    assert response["error"]["data"]["requested"] == "v999.0.0"
    assert MODERN in response["error"]["data"]["supported"]


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such/method"])
def test_a_method_of_another_era_or_of_none_is_404(method, client):
    answer, response = client.post(request(method, id=500))
    assert (answer.status, response["error"]["code"], response["id"]) == (404, -32601, 500)


def test_a_notification_is_accepted_and_a_response_is_not(through):
    notification = {"jsonrpc": "2.0", "method": "notifications/x", "params": {"_meta": request("x")["params"]["_meta"]}}
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    for message, status in ((notification, 202), (response, 400)):
        with RawConnection(through.port) as connection:
            answer = connection.exchange(post(json.dumps(message).encode(), {"MCP-Protocol-Version": MODERN}))
        assert answer.status == status


def test_a_client_that_closes_its_connection_takes_its_call_back(gateway, fake):
    server = fake()
    server.call("echo", "stall")
    through = gateway({"upstreams": {"up": {"url": server.url}}})
    message = request("tools/call", {"name": "up__echo"})
    with RawConnection(through.port) as connection:
        connection.send(post(json.dumps(message).encode(), mirrored(message)))
        until(lambda: server.arrived("tools/call"), 5, "the call arrives")
        connection.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: server.arrived("notifications/cancelled"), 5, "the server is told that nobody waits any more")


def test_a_legacy_client_that_closes_its_connection_does_not(gateway, fake):
    server = fake()
    server.call("echo", "stall")
    through = gateway({"upstreams": {"up": {"url": server.url}}})
    with McpClient(through.port) as client:
        fields = {"Mcp-Session-Id": client.session}
        call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "up__echo"}}
        with RawConnection(through.port) as connection:
            connection.send(post(json.dumps(call).encode(), fields))
            until(lambda: server.arrived("tools/call"), 5, "the call arrives")
            connection.socket.shutdown(socket.SHUT_RDWR)
        # Whatever the gateway had to say about the connection, it would have said before it answers this.
        assert client.request("ping").result == {}
        assert not server.arrived("notifications/cancelled")
        client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        until(lambda: server.arrived("notifications/cancelled"), 5, "the client's own word is passed on")
