"""The HTTP side of the endpoint: verbs, paths, sessions, versions, who may connect, how much may be sent."""

import contextlib
import json

import pytest

from harness.mcp_client import VERSION, McpClient, initialize_params
from harness.raw_http import RawConnection, post

LEGACY = ["2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.fixture
def through(gateway, fake):
    return gateway({"upstreams": {"up": {"url": fake().url}}, "limits": {"max_request": "256KiB"}})


def initialize_body(version: str = VERSION) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params(version)}
    return json.dumps(message).encode()


# ---- initialize, versions, sessions


@pytest.mark.parametrize("version", LEGACY)
def test_a_supported_version_is_agreed_to(version, through):
    client = McpClient(through.port).initialize(version)
    result = client.initialized_reply.result
    assert result["protocolVersion"] == version
    assert "tools" in result["capabilities"]
    assert result["serverInfo"]["name"] and result["serverInfo"]["version"]
    assert not client.call("up__echo").is_error
    client.close()


@pytest.mark.parametrize("version", ["2024-11-05", "2026-07-28", "2099-01-01", "nonsense"])
def test_another_version_is_answered_with_one_of_ours(version, through):
    client = McpClient(through.port)
    reply = client.request("initialize", initialize_params(version))
    assert reply.status == 200
    assert reply.result["protocolVersion"] in LEGACY
    client.close()


def test_session_ids_are_visible_ascii_and_never_repeat(through):
    sessions = set()
    for _ in range(50):
        with McpClient(through.port) as client:
            assert all(0x21 <= ord(letter) <= 0x7E for letter in client.session)
            assert len(client.session) >= 16
            sessions.add(client.session)
    assert len(sessions) == 50


def test_an_unknown_session_is_404_and_the_connection_lives_on(through):
    with McpClient(through.port) as client:
        good = client.session
        client.session = "00000000000000000000000000000000"
        reply = client.call("up__echo", id="mine")
        assert reply.status == 404
        assert "error" in reply.message
        client.session = good
        assert not client.call("up__echo").is_error


@pytest.mark.parametrize("session", ["", " ", "x" * 4000, "ü", "a b", "../../etc/passwd", "%00"])
def test_a_session_id_of_any_shape_is_refused_calmly(session, through):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    with RawConnection(through.port) as connection:
        answer = connection.exchange(post(body, {"Mcp-Session-Id": session}))
    assert answer.status in (400, 404)


def test_delete_ends_a_session_for_good(through):
    with McpClient(through.port) as client:
        assert client.send("DELETE").status in (200, 202, 204)
        assert client.call("up__echo").status == 404
        assert client.send("DELETE").status == 404


def test_delete_without_a_session_is_refused(through):
    with RawConnection(through.port) as connection:
        assert connection.exchange(b"DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 405


@pytest.mark.parametrize("version", ["2024-01-01", "2026-07-28", "1", "nonsense"])
def test_an_unknown_version_header_is_400(version, through):
    with McpClient(through.port) as client:
        client.version = None
        reply = client.post({"jsonrpc": "2.0", "id": 7, "method": "ping"}, {"MCP-Protocol-Version": version})
        assert reply.status == 400
        assert reply.media_type == "application/json"
        assert client.request("ping").status == 200


@pytest.mark.parametrize("version", [*LEGACY, None])
def test_a_known_or_absent_version_header_is_served(version, through):
    with McpClient(through.port) as client:
        client.version = version
        assert client.request("ping").result == {}


# ---- verbs and paths


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_a_verb_about_sessions_is_405_without_one(verb, through):
    with RawConnection(through.port) as connection:
        request = f"{verb} /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode()
        answer = connection.exchange(request)
        assert answer.status == 405
        assert answer.headers["allow"] == "POST"
        assert connection.exchange(post(initialize_body())).status == 200


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "BREW", "post"])
def test_other_verbs_are_405(verb, through):
    with RawConnection(through.port) as connection:
        answer = connection.exchange(f"{verb} /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode())
    assert answer is None or answer.status in (400, 405, 501)


@pytest.mark.parametrize("path", ["/", "/mcpx", "/mcp/x", "/.well-known/oauth-protected-resource", "/../mcp", "/%6dcp"])
def test_other_paths_are_404(path, through):
    with RawConnection(through.port) as connection:
        answer = connection.exchange(post(initialize_body(), path=path))
        assert answer.status in (400, 404)


def test_a_query_does_not_change_the_path(through):
    with RawConnection(through.port) as connection:
        assert connection.exchange(post(initialize_body(), path="/mcp?x=1")).status == 200


# ---- who may connect


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:1", "[::1]", "[::1]:9"])
def test_a_loopback_host_is_served(host, through):
    with RawConnection(through.port) as connection:
        assert connection.exchange(post(initialize_body(), host=host)).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "192.0.2.1", "127.0.0.1@evil"]
)
def test_another_host_is_refused(host, through):
    with RawConnection(through.port) as connection:
        assert connection.exchange(post(initialize_body(), host=host)).status in (400, 403)


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://localhost:3000", "http://127.0.0.1:5173", "https://[::1]:8443"]
)
def test_a_loopback_origin_is_served(origin, through):
    with RawConnection(through.port) as connection:
        assert connection.exchange(post(initialize_body(), {"Origin": origin})).status == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "file://"],
)
def test_another_origin_is_403(origin, through):
    with RawConnection(through.port) as connection:
        answer = connection.exchange(post(initialize_body(), {"Origin": origin}))
    assert answer.status == 403


def test_configured_hosts_and_origins_are_served(gateway, fake):
    through = gateway(
        {
            "upstreams": {"up": {"url": fake().url}},
            "allowed_hosts": ["gateway.example"],
            "allowed_origins": ["https://app.example"],
        }
    )
    with RawConnection(through.port) as connection:
        headers = {"Origin": "https://app.example"}
        assert connection.exchange(post(initialize_body(), headers, host="gateway.example")).status == 200
    for refused in (
        post(initialize_body(), {"Origin": "https://other.example"}),
        post(initialize_body(), host="a.example"),
    ):
        with RawConnection(through.port) as connection:
            assert connection.exchange(refused).status == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
def test_the_admin_port_refuses_other_hosts_too(host, through):
    assert through.admin("/api/circuits", headers={"Host": host})[0] in (403, 421)
    assert through.admin("/api/circuits", headers={"Origin": "https://evil.example"})[0] == 403


def test_the_admin_port_answers_what_it_has_and_no_more(through):
    assert through.admin("/healthz")[0] == 200
    assert through.admin("/readyz")[0] == 200
    assert through.admin("/nothing")[0] == 404
    assert through.admin("/metrics", "POST")[0] == 405
    status, page = through.admin("/")
    assert status == 200 and "<html" in page
    assert "http://" not in page and "https://" not in page, "the page needs nothing from elsewhere"
    with McpClient(through.port) as client:
        client.call("up__echo")
    assert "switchgear_calls_total" in through.metrics()


# ---- sizes


def test_a_body_over_the_limit_is_413(through):
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * (256 * 1024) + b'"}}'
    with RawConnection(through.port) as connection:
        connection.send(post(body)[:4096])  # the head alone says that it is too large
        answer = connection.receive()
    assert answer.status == 413
    assert "error" in json.loads(answer.body)


def test_a_chunked_body_over_the_limit_is_413(through):
    head = post(b"", {"Content-Length": None, "Transfer-Encoding": "chunked"})
    with RawConnection(through.port) as connection:
        connection.send(head)
        with contextlib.suppress(OSError):  # it may stop reading at any point
            for _ in range(64):
                connection.send(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        answer = None
        with contextlib.suppress(OSError):
            answer = connection.receive()
    assert answer is None or answer.status == 413


def test_a_body_just_under_the_limit_arrives_whole(through):
    with McpClient(through.port) as client:
        text = "x" * (255 * 1024)
        assert json.loads(client.call("up__echo", {"text": text}).text) == {"text": text}


def test_a_chunked_request_is_read(through):
    body = initialize_body()
    head = post(b"", {"Content-Length": None, "Transfer-Encoding": "chunked"})
    chunks = b"".join(b"%x;name=value\r\n%b\r\n" % (len(piece), piece) for piece in (body[:1], body[1:10], body[10:]))
    with RawConnection(through.port) as connection:
        assert connection.exchange(head + chunks + b"0\r\nTrailer: ignored\r\n\r\n").status == 200


def test_requests_one_after_the_other_without_waiting_are_answered_in_order(through):
    with McpClient(through.port) as client:
        fields = {"Mcp-Session-Id": client.session}
    bodies = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() for number in range(10)]
    with RawConnection(through.port) as connection:
        connection.send(b"".join(post(body, fields) for body in bodies))
        assert [json.loads(connection.receive().body)["id"] for _ in bodies] == list(range(10))


def test_a_client_that_expects_a_continue_gets_one(through):
    body = initialize_body()
    request = post(body, {"Expect": "100-continue"})
    head, _, _ = request.partition(b"\r\n\r\n")
    with RawConnection(through.port, timeout=3) as connection:
        connection.send(head + b"\r\n\r\n")
        answer = connection.receive()
        if answer.status == 100:
            connection.send(body)
            answer = connection.receive()
    assert answer.status in (200, 417)


def test_http_1_0_is_served_and_closed(through):
    body = initialize_body()
    request = post(body).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    with RawConnection(through.port) as connection:
        connection.send(request)
        answer = connection.receive()
        assert answer.status in (200, 505)
        assert connection.closed_within(5)


def test_connection_close_is_honoured(through):
    with RawConnection(through.port) as connection:
        assert connection.exchange(post(initialize_body(), {"Connection": "close"})).status == 200
        assert connection.closed_within(5)
