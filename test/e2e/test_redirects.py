"""RC-056: an upstream sends the gateway elsewhere. Within its origin it is followed, once; no credential leaves it."""

import json

import pytest

from harness.carriers import HttpCarrier, SseCarrier
from harness.certificates import Authority
from harness.mcp_client import McpClient, initialize_params
from harness.raw_http import RawConnection, post
from harness.scripted_http import Answer
from harness.tool_server import ToolServer
from harness.waiting import until

SECRET = "Bearer of-this-upstream-only"
HEADERS = {"Authorization": SECRET, "X-Tenant": "blue"}


def sends_on(ways: dict[str, str], status: int, only: str = ""):
    """Answers requests for these paths with a redirect; `only`: those whose body holds this text."""

    async def first(request) -> Answer | None:
        if request.path in ways and only.encode() in request.body:
            return Answer(status, b"moved", "text/plain", {"Location": ways[request.path]})
        return None

    return first


def configured(url: str, **settings) -> dict:
    return {"upstreams": {"up": {"url": url, "headers": HEADERS, **settings}}, "breaker": {"mode": "observe"}}


@pytest.fixture
def elsewhere(serve):
    """Another server, which would love to have the credential."""
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))
    carrier.seen = server.journal
    return carrier


# ---- within the origin


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("location", ["/mcp/", "mcp/", "{origin}/mcp/"], ids=["path", "relative", "absolute"])
def test_a_redirect_to_the_slash_form_is_followed_with_everything(status, location, gateway, serve):
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))
    carrier.first = sends_on({"/mcp": location.format(origin=carrier.origin)}, status)
    through = gateway(configured(carrier.url))
    with McpClient(through.port) as client:
        for nonce in range(3):
            reply = client.call("up__echo", {"nonce": nonce})
            assert not reply.is_error and json.loads(reply.text) == {"nonce": nonce}
    there = [arrival for arrival in server.journal if arrival.path == "/mcp/" and arrival.verb == "POST"]
    called = [arrival for arrival in there if arrival.message.get("method") == "tools/call"]
    assert [arrival.message["params"]["arguments"] for arrival in called] == [{"nonce": nonce} for nonce in range(3)]
    for arrival in there:
        assert arrival.header("authorization") == SECRET and arrival.header("x-tenant") == "blue"
        assert arrival.header("content-type") == "application/json"
        assert "text/event-stream" in arrival.header("accept")
        if arrival.message.get("method") not in ("initialize", "server/discover"):
            assert arrival.header("mcp-session-id") in carrier.sessions
            assert arrival.header("mcp-protocol-version") == "2025-11-25"


# ---- everything else

REDIRECTS = {
    # name: (status, where from /mcp)
    "301": (301, {"/mcp": "/mcp/"}),
    "302": (302, {"/mcp": "/mcp/"}),
    "303": (303, {"/mcp": "/mcp/"}),
    "307 to another port": (307, {"/mcp": "{elsewhere}/mcp"}),
    "308 to another port": (308, {"/mcp": "{elsewhere}/mcp"}),
    "302 to another port": (302, {"/mcp": "{elsewhere}/mcp"}),
    "307 to another host": (307, {"/mcp": "{elsewhere_by_name}/mcp"}),
    "307 without a scheme": (307, {"/mcp": "//localhost:{elsewhere_port}/mcp"}),
    "307 with a user": (307, {"/mcp": "http://127.0.0.1:{port}@localhost:{elsewhere_port}/mcp"}),
    "a loop of one": (307, {"/mcp": "/mcp"}),
    "a loop of two": (307, {"/mcp": "/two", "/two": "/mcp"}),
    "11 hops": (308, {"/mcp": "/1", **{f"/{hop}": f"/{hop + 1}" for hop in range(1, 11)}}),
    "no address": (307, {"/mcp": "http://[::1"}),
}


def filled_in(ways: dict[str, str], carrier, elsewhere) -> dict[str, str]:
    """The addresses of this test in the places kept for them."""
    texts = {
        "{elsewhere}": elsewhere.origin,
        "{elsewhere_by_name}": f"http://localhost:{elsewhere.port}",
        "{elsewhere_port}": str(elsewhere.port),
        "{port}": str(carrier.port),
    }
    filled = {}
    for path, target in ways.items():
        for place, text in texts.items():
            target = target.replace(place, text)
        filled[path] = target
    return filled


@pytest.mark.parametrize("redirect", REDIRECTS)
def test_a_call_that_is_sent_elsewhere_fails_with_the_reason(redirect, gateway, serve, elsewhere):
    """The server has been well so far, and redirects a call."""
    status, ways = REDIRECTS[redirect]
    server = ToolServer(["echo"])
    carrier = serve(HttpCarrier(server))
    through = gateway(configured(carrier.url))
    with McpClient(through.port) as client:
        assert not client.call("up__echo").is_error
        before = len(server.arrived("tools/call"))
        carrier.first = sends_on(filled_in(ways, carrier, elsewhere), status, only='"tools/call"')
        reply = client.call("up__echo", id="mine")
        assert reply.status == 200 and reply.message["id"] == "mine"
        assert reply.is_error and reply.marker["reason"] == "upstream_error"
        assert "redirect" in reply.text.lower() and "up" in reply.text
        assert len(server.arrived("tools/call")) - before <= 2, "followed once at most"
        carrier.first = None
        until(lambda: not client.call("up__echo").is_error, 5, "the upstream is used again", every=0.1)
    assert not elsewhere.seen, "nothing at all was sent to another origin"


@pytest.mark.parametrize("redirect", REDIRECTS)
def test_a_handshake_that_is_sent_elsewhere_says_why_the_upstream_is_down(redirect, gateway, serve, elsewhere):
    status, ways = REDIRECTS[redirect]
    carrier = serve(HttpCarrier(ToolServer(["echo"])))
    carrier.first = sends_on(filled_in(ways, carrier, elsewhere), status)
    through = gateway(configured(carrier.url))
    assert "redirect" in through.wait_upstream("up", "degraded")["reason"].lower()
    assert not elsewhere.seen, "nothing at all was sent to another origin"


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_downgrade_from_tls_is_not_followed(status, gateway, serve, elsewhere, tmp_path):
    authority = Authority(tmp_path)
    carrier = serve(HttpCarrier(ToolServer(["echo"]), tls=authority.issue("127.0.0.1")))
    through = gateway(configured(carrier.url, tls={"ca": str(authority.path)}))
    with McpClient(through.port) as client:
        assert not client.call("up__echo").is_error
        carrier.first = sends_on({"/mcp": f"{elsewhere.origin}/mcp"}, status, only='"tools/call"')
        reply = client.call("up__echo")
        assert reply.is_error and "redirect" in reply.text.lower()
    assert not elsewhere.seen, "the credential never travels in the clear"


# ---- the endpoint event of HTTP+SSE


@pytest.mark.parametrize(
    "endpoint",
    ["/messages?session={session}", "messages?session={session}", "http://127.0.0.1:{port}/messages?session={session}"],
    ids=["path", "relative", "absolute"],
)
def test_an_endpoint_within_the_origin_is_used(endpoint, gateway, serve):
    server = ToolServer(["echo"])
    carrier = serve(SseCarrier(server, endpoint=endpoint))
    through = gateway(configured(carrier.url))
    with McpClient(through.port) as client:
        reply = client.call("up__echo", {"nonce": 1})
        assert json.loads(reply.text) == {"nonce": 1}
    for arrival in server.arrived("tools/call"):
        assert arrival.path.startswith("/messages?session=")
        assert arrival.header("authorization") == SECRET


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://localhost:{elsewhere}/messages?session={session}",
        "http://127.0.0.1:{elsewhere}/messages?session={session}",
        "//localhost:{elsewhere}/messages?session={session}",
        "http://10.11.12.13:80/messages?session={session}",
        "https://127.0.0.1:{port}/messages?session={session}",
        "http://127.0.0.1:{port}@localhost:{elsewhere}/messages?session={session}",
    ],
    ids=["another host", "another port", "without a scheme", "an inner address", "another scheme", "a user"],
)
def test_an_endpoint_of_another_origin_is_refused(endpoint, gateway, serve, elsewhere):
    server = ToolServer(["echo"])
    carrier = serve(SseCarrier(server, endpoint=endpoint.replace("{elsewhere}", str(elsewhere.port))))
    through = gateway(configured(carrier.url))
    reason = through.wait_upstream("up", "degraded")["reason"].lower()
    assert "endpoint" in reason or "origin" in reason, reason
    assert not elsewhere.seen, "nothing at all was sent to another origin"


# ---- the gateway's own address


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp?key=1", "/mcp/?key=1"])
def test_both_spellings_work_at_the_gateway_without_a_redirect(path, gateway, fake):
    through = gateway({"upstreams": {"up": {"url": fake().url}}})
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize_params()}).encode()
    with RawConnection(through.port) as connection:
        answer = connection.exchange(post(body, path=path))
    assert answer.status == 200
    assert "location" not in answer.headers
    assert b"127.0.0.1" not in answer.body, "no address of ours is told, so none can be wrong behind a prefix"
    client = McpClient(through.port, path=path).initialize()
    assert not client.call("up__echo", {"q": 1}).is_error
    client.close()
