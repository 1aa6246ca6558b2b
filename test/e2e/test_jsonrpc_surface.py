"""The JSON-RPC side of the endpoint: garbage of every kind gets its error, and the connection lives on."""

import threading

import pytest

from harness.gateway import Gateway
from harness.mcp_client import McpClient
from harness.servers import FakeUpstream
from harness.waiting import until

DEEP = 100_000
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'

# name -> body, and the codes that may answer it
GARBAGE = {
    "nothing": (b"", {-32700, -32600}),
    "spaces": (b"   ", {-32700, -32600}),
    "cut": (b'{"jsonrpc":"2.0","id":1,"method":"ping"', {-32700}),
    "no JSON": (b"hello", {-32700}),
    "HTML": (b"<html></html>", {-32700}),
    "trailing garbage": (PING + b" x", {-32700, -32600}),
    "two objects": (PING + PING, {-32700, -32600}),
    "single quotes": (b"{'jsonrpc':'2.0','id':1,'method':'ping'}", {-32700}),
    "trailing comma": (b'{"jsonrpc":"2.0","id":1,"method":"ping",}', {-32700, -32600}),
    "NaN": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', {-32700, -32600}),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', {-32700, -32600}),
    "a NUL": (b'{"jsonrpc":"2.0","id":1,\x00"method":"ping"}', {-32700, -32600}),
    "UTF-16": ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), {-32700}),
    "a raw line break in a string": (b'{"jsonrpc":"2.0","id":1,"method":"pi\nng"}', {-32700, -32600}),
    "a lone surrogate": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', {-32700, -32600, -32601}),
    "deep arrays": (PING[:-1] + b',"params":' + b"[" * DEEP + b"]" * DEEP + b"}", {-32700, -32600, -32602}),
    "deep objects": (b'{"a":' * DEEP + b"1" + b"}" * DEEP, {-32700, -32600}),
    "open arrays": (b"[" * DEEP, {-32700, -32600}),
    "a string": (b'"ping"', {-32600, -32700}),
    "a number": (b"42", {-32600, -32700}),
    "null": (b"null", {-32600, -32700}),
    "an empty object": (b"{}", {-32600}),
    "an empty array": (b"[]", {-32600}),
    "no version": (b'{"id":1,"method":"ping"}', {-32600}),
    "version 1.0": (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', {-32600}),
    "version as number": (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', {-32600}),
    "id null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', {-32600}),
    "id true": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', {-32600}),
    "id an object": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', {-32600}),
    "id an array": (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', {-32600}),
    "id twice": (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', {-32600, -32700}),
    "method twice": (b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', {-32600, -32700}),
    "method a number": (b'{"jsonrpc":"2.0","id":1,"method":1}', {-32600}),
    "method and result": (b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', {-32600}),
    "params a string": (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}', {-32600, -32602}),
    "call without params": (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', {-32602, -32600}),
    "call without name": (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', {-32602, -32600}),
    "name a number": (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}', {-32602, -32600}),
    "unknown tool": (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}', {-32602}),
    "initialize without params": (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', {-32602, -32600}),
    "unknown method": (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', {-32601}),
    "empty method": (b'{"jsonrpc":"2.0","id":1,"method":""}', {-32600, -32601}),
    "prompts": (b'{"jsonrpc":"2.0","id":1,"method":"prompts/list"}', {-32601}),
    "resources": (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', {-32601}),
    "server/discover": (b'{"jsonrpc":"2.0","id":"d","method":"server/discover"}', {-32601}),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]', {-32600}),
}  # fmt: skip


@pytest.fixture(scope="module")
def through(tmp_path_factory):
    folder = tmp_path_factory.mktemp("surface")
    upstream = FakeUpstream(folder).start()
    made = Gateway({"upstreams": {"up": {"url": upstream.url}}}, folder).start()
    made.fake = upstream
    yield made
    made.stop()
    upstream.kill()


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_gets_its_error_and_the_connection_lives_on(name, through):
    body, codes = GARBAGE[name]
    with McpClient(through.port) as client:
        connection = client.connection.sock
        reply = client.post(body)
        assert reply.status in (200, 400, 404)
        assert reply.media_type == "application/json"
        assert reply.error["code"] in codes, reply.error
        assert reply.error["message"]
        if reply.error["code"] == -32700:
            assert reply.message["id"] is None
        assert client.request("ping").result == {}
        assert client.connection.sock is connection, "still the same connection"


def test_an_error_of_a_readable_request_carries_its_id(through):
    with McpClient(through.port) as client:
        for name in ("unknown tool", "unknown method", "prompts", "call without name"):
            assert client.post(GARBAGE[name][0]).message["id"] == 1


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {"odd": True}}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        {"jsonrpc": "2.0", "method": "notifications/no-such-thing", "params": {"x": [1, 2, 3]}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "up__echo", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}},
    ],
)
def test_what_needs_no_answer_gets_202_and_no_body(message, through):
    with McpClient(through.port) as client:
        reply = client.post(message)
        assert reply.status == 202
        assert reply.body == b""


def test_a_batch_of_the_revision_that_had_them_is_answered_or_refused_whole(through):
    client = McpClient(through.port).initialize("2025-03-26")
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    reply = client.post(batch)
    if reply.status == 200 and "error" not in reply.messages[0]:
        assert sorted(message["id"] for message in reply.messages) == [1, 2]
    else:
        assert reply.message["error"]["code"] == -32600
    assert client.request("ping").result == {}
    client.close()


def test_members_nobody_knows_are_carried_through(through):
    result = {
        "content": [{"type": "text", "text": "t", "future": {"a": [1, None]}}, {"type": "hologram", "data": 1}],
        "unknown": {"big": 12345678901234567890, "float": 1.0, "exponent": 1e3},
        "_meta": {"example.org/trace": "abc"},
    }
    through.fake.call("echo", "answer", result=result)
    with McpClient(through.port) as client:
        assert client.call("up__echo").result == result
    through.fake.call("echo", "answer")


def test_numbers_and_text_pass_as_they_were_written(through):
    text = '{"content":[],"n":[9007199254740993,1.0,1e2,-0.0,0.1000000000000000055],"s":"\\u00fc\\ud83d\\ude00\\/"}'
    through.fake.call("echo", "raw_result", text=text)
    with McpClient(through.port) as client:
        assert text.encode() in client.call("up__echo").body
    through.fake.call("echo", "answer")


@pytest.mark.parametrize("code", [-32602, -32603, -32000, -32042, 1, 2**31])
def test_a_json_rpc_error_of_the_upstream_is_passed_on_or_told(code, through):
    through.fake.call("echo", "rpc_error", code=code, message="says the upstream")
    with McpClient(through.port) as client:
        reply = client.call("up__echo", id="e")
        assert reply.message["id"] == "e"
        if "error" in reply.message:
            assert reply.error["code"] == code and reply.error["message"] == "says the upstream"
        else:
            assert reply.is_error and "says the upstream" in reply.text
    through.fake.call("echo", "answer")


@pytest.mark.parametrize("do", ["stream", "stream_in_bytes"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_event_streams_of_any_framing_are_read(do, newline, through):
    through.fake.call("echo", do, newline=newline)
    with McpClient(through.port) as client:
        reply = client.call("up__echo", {"a": 1}, meta={"progressToken": "t"})
        assert reply.text == '{"a": 1}'
        if do == "stream":
            assert [step["params"]["progress"] for step in reply.notifications] == [1, 2, 3]
    through.fake.call("echo", "answer")


@pytest.mark.parametrize("arguments", ["[]", "[1]", '"text"', "0", "null", "true"])
def test_arguments_of_an_odd_kind_are_judged_by_someone(arguments, through):
    """The gateway may leave that to the tool; an answer comes in any case."""
    with McpClient(through.port) as client:
        message = client.post(CALL + b'{"name":"up__echo","arguments":' + arguments.encode() + b"}}").message
        assert message["id"] == 1 and ("result" in message or "error" in message)


def test_a_megabyte_passes_unchanged(through):
    text = "äöü" * 200_000
    through.fake.call("echo", "answer", result={"content": [{"type": "text", "text": text}]})
    with McpClient(through.port) as client:
        assert client.call("up__echo").text == text
    through.fake.call("echo", "answer")


def test_cancelling_a_call_releases_the_upstream(gateway, fake):
    upstream = fake({"server": {"tools": ["stall"]}, "calls": {"stall": {"do": "stall"}}})
    made = gateway({"upstreams": {"up": {"url": upstream.url}}})
    with McpClient(made.port) as client:
        waiting = McpClient(made.port)
        waiting.session, waiting.version = client.session, client.version
        replies = []
        thread = threading.Thread(target=lambda: replies.append(waiting.call("up__stall", id="slow")))
        thread.start()
        until(lambda: upstream.state()["stalled"] == 1, 5, "the call is with the upstream")
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
        assert client.post(cancelled).status == 202
        until(lambda: upstream.state()["stalled"] == 0, 3, "the upstream's request is released")
        thread.join(5)
        assert not thread.is_alive(), "the exchange ends"
        circuit = made.circuit("up__stall")
        assert not circuit or circuit["failures"] == 0, "a cancelled call says nothing about the tool"
