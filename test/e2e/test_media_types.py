"""RC-025: media types with parameters, in other case, missing; and the media type of everything the gateway writes."""

import json

import pytest

from harness.mcp_client import McpClient, initialize_params
from harness.raw_http import RawConnection, post

PARAMETERS = [
    "{}; charset=utf-8",
    '{}; charset="utf-8"',
    "{};charset=UTF-8",
    "{}  ;  charset=utf-8  ",
    "{}; charset=utf-8; profile=mcp",
    "{};",
]
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()}).encode()


@pytest.fixture
def through(gateway, fake):
    upstream = fake({"server": {"tools": ["echo", "events"]}, "calls": {"events": {"do": "stream"}}})
    made = gateway({"upstreams": {"up": {"url": upstream.url}}, "limits": {"max_request": "1MiB"}})
    made.fake = upstream
    return made


@pytest.mark.parametrize("given", [*PARAMETERS, "APPLICATION/JSON", "Application/Json; Charset=UTF-8"])
def test_a_request_of_the_right_type_is_accepted(given, through):
    with RawConnection(through.port) as connection:
        answer = connection.exchange(post(INITIALIZE, {"Content-Type": given.format("application/json")}))
    assert answer.status == 200


@pytest.mark.parametrize(
    "given",
    [
        "text/plain",
        "application/jsonx",
        "application/json-rpc",
        "json",
        "",
        None,
        "text/html; x=application/json",
        "*/*",
    ],
)
def test_a_request_of_another_type_is_415_with_a_json_rpc_error(given, through):
    with RawConnection(through.port) as connection:
        answer = connection.exchange(post(INITIALIZE, {"Content-Type": given}))
        assert answer.status == 415
        assert answer.media_type == "application/json"
        assert "error" in json.loads(answer.body)
        # The body may be left unread; then the end of the connection is announced.
        if answer.headers.get("connection") != "close":
            assert connection.exchange(post(INITIALIZE)).status == 200


@pytest.mark.parametrize(
    "given",
    [
        "application/json, text/event-stream",
        "text/event-stream,application/json",
        "application/json;q=0.9, text/event-stream;q=0.8",
        "APPLICATION/JSON , TEXT/EVENT-STREAM",
        "application/json; charset=utf-8, text/event-stream; charset=utf-8",
        "*/*",
        "application/*, text/*",
        "text/html, application/json, text/event-stream, */*;q=0.1",
    ],
)
def test_a_client_that_takes_both_kinds_of_answer_is_served(given, through):
    with RawConnection(through.port) as connection:
        assert connection.exchange(post(INITIALIZE, {"Accept": given})).status == 200


@pytest.mark.parametrize("given", ["text/html", "image/png", "text/plain, image/*", "application/jsonx"])
def test_a_client_that_takes_neither_is_406(given, through):
    with RawConnection(through.port) as connection:
        answer = connection.exchange(post(INITIALIZE, {"Accept": given}))
        assert answer.status == 406
        assert answer.media_type == "application/json"
        assert "error" in json.loads(answer.body)
        # The body may be left unread; then the end of the connection is announced.
        if answer.headers.get("connection") != "close":
            assert connection.exchange(post(INITIALIZE)).status == 200


@pytest.mark.parametrize("accepted", ["application/json", "text/event-stream"])
def test_a_client_that_takes_one_kind_gets_that_kind(accepted, through):
    with McpClient(through.port) as client:
        call = {"name": "up__events", "arguments": {"a": 1}, "_meta": {"progressToken": "t"}}
        message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call}
        reply = client.post(message, {"Accept": accepted})
        assert reply.media_type == accepted
        assert reply.message["id"] == 5 and reply.text == '{"a": 1}'


@pytest.mark.parametrize("given", [*PARAMETERS, "APPLICATION/JSON"])
def test_a_json_answer_is_read_whatever_its_parameters(given, through):
    through.fake.control(server={"content_type": given.format("application/json")})
    with McpClient(through.port) as client:
        assert client.call("up__echo", {"a": 1}).text == '{"a": 1}'


@pytest.mark.parametrize("given", [*PARAMETERS, "TEXT/EVENT-STREAM"])
def test_an_event_stream_is_read_whatever_its_parameters(given, through):
    through.fake.control(server={"event_stream_type": given.format("text/event-stream")})
    with McpClient(through.port) as client:
        assert client.call("up__events", {"a": 1}).text == '{"a": 1}'


@pytest.mark.parametrize("given", ["text/plain", "application/problem+json", None])
def test_an_answer_of_another_type_is_an_upstream_failure(given, through):
    through.fake.call("echo", "answer", content_type=given)
    with McpClient(through.port) as client:
        assert client.call("up__echo").marker["reason"] == "upstream_error"


def test_every_error_the_gateway_writes_carries_its_media_type(gateway, fake):
    upstream = fake({"server": {"tools": ["echo", "stall"]}, "calls": {"stall": {"do": "stall"}}})
    breaker = {"error_rate": "50%", "minimum_calls": 5, "certainty": "none"}
    through = gateway(
        {
            "upstreams": {"up": {"url": upstream.url}},
            "limits": {"max_request": "64KiB"},
            "tools": {"up__stall": {"deadline": "150ms", "breaker": breaker}},
        }
    )

    def assert_json(answer, status: int) -> None:
        assert answer.status == status
        assert answer.media_type == "application/json"
        assert json.loads(answer.body)["jsonrpc"] == "2.0"

    with McpClient(through.port) as client:
        assert_json(client.post(b"{not json"), 400)
        assert_json(client.post({"jsonrpc": "2.0", "id": 1, "method": "no/such/method"}), 200)
        assert_json(client.call("up__missing"), 200)
        for _ in range(6):  # time-outs, then the open breaker
            assert_json(client.call("up__stall"), 200)
        assert client.call("up__stall").marker["reason"] == "open"
        client.session = "0123456789abcdef0123456789abcdef"
        assert_json(client.call("up__echo"), 404)
    with RawConnection(through.port) as connection:
        assert_json(connection.exchange(post(b" " * (65 * 1024))), 413)
