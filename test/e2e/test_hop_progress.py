"""RC-038: what a tool tells on its way arrives on its call's stream, in order, with the client's own token."""

import asyncio
import json

import pytest

from harness.carriers import HttpCarrier, SseCarrier, StdioCarrier, upstream_of
from harness.event_stream import call_stream
from harness.mcp_client import McpClient
from harness.modern_client import ModernClient
from harness.modern_server import PREFIX, ModernServer, modern_carrier
from harness.together import together
from harness.tool_server import ToolServer, text_result
from harness.waiting import until

STEPS, LINES = 10, 3
CARRIERS = {"HTTP": HttpCarrier, "stdio": StdioCarrier, "HTTP+SSE": SseCarrier}


async def long_work(call) -> dict:
    """Ten steps and three lines of log, each with the call's own mark."""
    mark = call.arguments["mark"]
    for step in range(1, STEPS + 1):
        if call.token is not None:
            await call.notify(
                "notifications/progress", progressToken=call.token, progress=step, total=STEPS, message=mark
            )
        if step % 3 == 0:
            await call.notify("notifications/message", level="info", data={"mark": mark, "step": step})
        await asyncio.sleep(call.arguments.get("pause", 0))
    return text_result(mark)


@pytest.fixture(params=[*CARRIERS, "modern HTTP"])
def through(request, gateway, serve):
    capabilities = {"tools": {}, "logging": {}}
    if request.param == "modern HTTP":
        server = ModernServer(["work"], capabilities=capabilities, work=long_work)
        carrier = serve(modern_carrier(server))
    else:
        server = ToolServer(["work"], capabilities=capabilities, work=long_work)
        carrier = serve(CARRIERS[request.param](server))
    made = gateway({"upstreams": {"up": upstream_of(carrier)}})
    made.server, made.carrier = server, request.param
    return made


def logged(messages: list[dict]) -> list[int]:
    return [each["params"]["data"]["step"] for each in messages if each.get("method") == "notifications/message"]


def progressed(messages: list[dict], token, mark: str) -> list[int]:
    """The steps; each must carry this token, in value and type."""
    found = [each["params"] for each in messages if each.get("method") == "notifications/progress"]
    for params in found:
        assert params["progressToken"] == token and type(params["progressToken"]) is type(token), params
        assert params["message"] == mark and params["total"] == STEPS
    return [params["progress"] for params in found]


@pytest.mark.parametrize("token", ["t", 0, 7, "", "ünï \"quoted\"", -(2**53)], ids=repr)
def test_progress_comes_in_order_before_the_result_with_its_token(token, through):
    with McpClient(through.port) as client:
        with call_stream(client, "up__work", {"mark": "m"}, token=token) as stream:
            assert stream.response()["result"]["content"][0]["text"] == "m"
        *before, last = stream.messages
        assert "result" in last, "the response comes last"
        assert progressed(before, token, "m") == list(range(1, STEPS + 1))
        if through.carrier != "modern HTTP":  # which logs for those alone that name a level
            assert logged(before) == [3, 6, 9]
    (call,) = through.server.arrived("tools/call")
    sent = call.message["params"]["_meta"]["progressToken"]
    assert isinstance(sent, (int, str)), "the gateway's own token, whatever it is"


def test_without_a_token_there_is_no_progress(through):
    with McpClient(through.port) as client:
        with call_stream(client, "up__work", {"mark": "m"}) as stream:
            assert stream.response()["result"]["content"][0]["text"] == "m"
        assert not stream.of("notifications/progress")
    (call,) = through.server.arrived("tools/call")
    assert "progressToken" not in (call.message["params"].get("_meta") or {})


def test_a_client_that_reads_json_alone_gets_just_the_result(through):
    with McpClient(through.port) as client:
        with call_stream(client, "up__work", {"mark": "m"}, token="t", Accept="application/json") as stream:
            assert stream.response()["result"]["content"][0]["text"] == "m"
        assert not stream.is_events and len(stream.messages) == 1


def test_two_clients_with_one_token_hear_of_their_own_calls(through):
    def work(mark: str) -> None:
        with McpClient(through.port) as client:
            for turn in range(3):
                own = f"{mark}-{turn}"
                with call_stream(client, "up__work", {"mark": own, "pause": 0.005}, token="t") as stream:
                    assert stream.response()["result"]["content"][0]["text"] == own
                assert progressed(stream.messages, "t", own) == list(range(1, STEPS + 1))
                marks = {each["params"]["data"]["mark"] for each in stream.of("notifications/message")}
                assert marks <= {own}, "somebody else's log"

    together([lambda mark=mark: work(mark) for mark in ("left", "right", "third", "fourth")])


def test_one_client_may_use_a_token_for_two_calls_at_once(through):
    """It should not, and each stream still tells of its own call."""
    with McpClient(through.port) as client:
        streams = [
            call_stream(client, "up__work", {"mark": str(id), "pause": 0.01}, id=id, token="same") for id in range(3)
        ]
        for id, stream in enumerate(streams):
            assert stream.response()["id"] == id
            assert progressed(stream.messages, "same", str(id)) == list(range(1, STEPS + 1))
            stream.close()


def test_a_modern_client_hears_of_progress_too(through):
    with ModernClient(through.port) as client:
        params = {"name": "up__work", "arguments": {"mark": "m"}}
        meta = {"progressToken": "t", f"{PREFIX}/logLevel": "debug"}
        with client.stream("tools/call", {**params, "_meta": meta}) as stream:
            assert stream.response()["result"]["content"][0]["text"] == "m"
            assert progressed(stream.messages, "t", "m") == list(range(1, STEPS + 1))
            assert logged(stream.messages) == [3, 6, 9]
        with client.stream("tools/call", params) as stream:
            assert stream.response()["result"]["content"][0]["text"] == "m"
            assert not stream.of("notifications/progress"), "no token was given"
            assert not stream.of("notifications/message"), "no level was named"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_progress_for_nobody_is_dropped_and_harms_no_call(carrier, gateway, serve):
    """Tokens that were never given out, of a call that is over, of no type that a token can have."""

    async def odd(call) -> dict:
        for token in ("never-given", 10**12, None, {"a": 1}, [1], 1.5):
            await call.notify("notifications/progress", progressToken=token, progress=1)
        await call.send({"jsonrpc": "2.0", "method": "notifications/progress"})
        return text_result("fine")

    server = ToolServer(["odd", "echo"], odd=odd)
    through = gateway({"upstreams": {"up": upstream_of(serve(CARRIERS[carrier](server)))}})
    with McpClient(through.port) as client:
        for id in range(5):
            with call_stream(client, "up__odd", id=id, token="mine") as stream:
                assert stream.response()["result"]["content"][0]["text"] == "fine"
            assert not stream.of("notifications/progress")
            assert client.call("up__echo", {"q": id}).text == json.dumps({"q": id})
    until(lambda: through.upstream("up")["state"] == "ready", 2, "the upstream is used as before")
