"""RC-037: a cancellation reaches the server that does the work, at once, under the id that this server knows."""

import asyncio
import json
import threading
import time

import pytest

from harness.carriers import HttpCarrier, SseCarrier, StdioCarrier, upstream_of
from harness.mcp_client import McpClient
from harness.modern_client import ModernClient
from harness.modern_server import ModernServer, modern_carrier
from harness.tool_server import ToolServer, text_result, until_cancelled
from harness.waiting import holds, until

SOON = 0.1
CARRIERS = {"HTTP": HttpCarrier, "stdio": StdioCarrier, "HTTP+SSE": SseCarrier}


async def late_result(call):
    """The result crosses the cancellation."""
    await call.cancelled.wait()
    return text_result("too late")


async def half_a_second(call):
    await asyncio.sleep(0.5)
    return text_result("done")


def server() -> ToolServer:
    tools = {"slow": until_cancelled, "late": late_result, "half": half_a_second}
    return ToolServer(["echo", *tools], **tools)


class Calling:
    """A call in the background, and its reply."""

    def __init__(self, client: McpClient, tool: str, id):
        self.double = client.double()
        self.reply = None
        self.thread = threading.Thread(target=self._run, args=(tool, id))
        self.thread.start()

    def _run(self, tool: str, id) -> None:
        self.reply = self.double.call(tool, id=id)
        self.double.close()

    def end(self, limit: float = 5.0):
        self.thread.join(limit)
        assert not self.thread.is_alive(), "the exchange does not end"
        return self.reply


def cancel(client: McpClient, id) -> float:
    """The moment at which it was sent."""
    sent = time.monotonic()
    params = {"requestId": id, "reason": "the user pressed stop"}
    reply = client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    assert reply.status == 202 and reply.body == b""
    return sent


@pytest.fixture
def pair(gateway, serve):
    """pair(carrier): a gateway with two upstreams, `a` and `b`, and their servers."""

    def start(carrier=HttpCarrier):
        servers = server(), server()
        carriers = [serve(carrier(each)) for each in servers]
        upstreams = {alias: upstream_of(each) for alias, each in zip("ab", carriers)}
        made = gateway({"upstreams": upstreams, "tools": {"*": {"deadline": "10s"}}})
        return made, *servers

    return start


@pytest.mark.timing
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_cancellation_reaches_its_server_under_the_servers_id(carrier, pair, figure):
    """Client id 101 runs on `a`, another call waits beside it; `b` hears nothing, and the other call goes on."""
    through, a, b = pair(CARRIERS[carrier])
    with McpClient(through.port) as client:
        for _ in range(5):
            client.call("a__echo")  # so that the ids on the two sides differ
        stopped = Calling(client, "a__slow", 101)
        until(lambda: a.arrived("tools/call", "slow"), 3, "the call is with the server")
        other = Calling(client, "a__half", 102)
        elsewhere = Calling(client, "b__half", 103)
        until(lambda: a.arrived("tools/call", "half"), 3, "a second call is there")
        sent = cancel(client, 101)
        until(lambda: a.arrived("notifications/cancelled"), 2, "the server hears of it", every=0.005)
        (told,) = a.arrived("notifications/cancelled")
        figure(f"cancelled over {carrier}", after=f"{(told.at - sent) * 1000:.1f} ms")
        assert told.at - sent < SOON
        (work,) = a.arrived("tools/call", "slow")
        assert told.message["params"]["requestId"] == work.message["id"] != 101
        stopped.end()
        assert other.end().text == "done" and elsewhere.end().text == "done"
        assert not b.arrived("notifications/cancelled")
        assert len(a.arrived("notifications/cancelled")) == 1
        assert not client.call("a__echo").is_error
    for circuit in (through.circuit("a__slow"), through.circuit("a", "server")):
        assert not circuit or circuit["failures"] == 0, "it says nothing about the tool"


def test_a_modern_server_is_told_by_the_end_of_the_request(gateway, serve):
    """2026-07-28 has no notification for it over HTTP: the stream is closed."""
    modern = ModernServer(["slow", "echo"], slow=until_cancelled)
    through = gateway({"upstreams": {"up": {"url": serve(modern_carrier(modern)).url}}})
    with McpClient(through.port) as client:
        stopped = Calling(client, "up__slow", 101)
        until(lambda: modern.arrived("tools/call", "slow"), 3, "the call is with the server")
        cancel(client, 101)
        until(lambda: [each for each in modern.abandoned if each["method"] == "tools/call"], 2, "it is let go")
        stopped.end()
        assert not modern.arrived("notifications/cancelled")
        assert not client.call("up__echo").is_error


@pytest.mark.parametrize("carrier", ["HTTP", "stdio"])
def test_a_modern_client_cancels_by_going_away(carrier, pair):
    through, a, _ = pair(CARRIERS[carrier])
    with ModernClient(through.port) as client:
        stream = client.stream("tools/call", {"name": "a__slow", "arguments": {}}, id=101)
        until(lambda: a.arrived("tools/call", "slow"), 3, "the call is with the server")
        stream.close()
        until(lambda: a.arrived("notifications/cancelled"), 2, "the server hears of it")
        (told,) = a.arrived("notifications/cancelled")
        assert told.message["params"]["requestId"] == a.arrived("tools/call", "slow")[0].message["id"]
        assert not client.call("a__echo").is_error


def test_a_legacy_client_that_goes_away_has_not_cancelled(pair):
    """The protocol says so: the work goes on, and is counted as what it was."""
    through, a, _ = pair()
    with McpClient(through.port) as client:
        double = client.double()
        message = {"jsonrpc": "2.0", "id": 101, "method": "tools/call", "params": {"name": "a__half", "arguments": {}}}
        from_now = len(a.arrived("tools/call"))
        double.connection.request("POST", "/mcp", json.dumps(message).encode(), double.headers())
        until(lambda: len(a.arrived("tools/call")) > from_now, 3, "the call is with the server")
        double.close()
        holds(lambda: not a.arrived("notifications/cancelled") and not a.abandoned, 0.8, "nobody stops the work")
        assert not client.call("a__echo").is_error
    assert not through.circuit("a__half") or through.circuit("a__half")["failures"] == 0


# ---- what cancels nothing


def test_ids_that_are_unknown_finished_or_foreign_cancel_nothing(pair):
    through, a, b = pair()
    with McpClient(through.port) as client, McpClient(through.port) as stranger:
        assert not client.call("a__echo", id="finished").is_error
        running = Calling(client, "a__half", 101)
        until(lambda: a.arrived("tools/call", "half"), 3, "the call is with the server")
        upstream_id = a.arrived("tools/call", "half")[0].message["id"]
        cancel(stranger, 101)  # another session's request
        cancel(client, "101")  # another type is another id
        cancel(client, "finished")
        cancel(client, upstream_id)
        for odd in (None, {"a": 1}, [101], 1.5, True, 10**30):
            cancel(client, odd)
        assert running.end().text == "done"
        assert not a.arrived("notifications/cancelled") and not b.arrived("notifications/cancelled")


def test_one_of_two_sessions_with_the_same_id_is_cancelled(pair):
    through, a, _ = pair()
    with McpClient(through.port) as one, McpClient(through.port) as two:
        stopped = Calling(one, "a__slow", 101)
        until(lambda: a.arrived("tools/call", "slow"), 3, "the first call is with the server")
        goes_on = Calling(two, "a__half", 101)
        until(lambda: a.arrived("tools/call", "half"), 3, "the second call is with the server")
        cancel(one, 101)
        stopped.end()
        assert goes_on.end().text == "done"
        (told,) = a.arrived("notifications/cancelled")
        assert told.message["params"]["requestId"] == a.arrived("tools/call", "slow")[0].message["id"]


def test_initialize_cannot_be_cancelled(gateway, serve):
    """Neither a client's, nor the gateway's own by a client's id that happens to be the same."""
    started = threading.Event()

    async def first_initialize(call):
        started.set()
        await asyncio.sleep(0.5)
        information = {"name": "slow", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": information}

    slow = server()
    slow.answers["initialize"] = first_initialize
    through = gateway({"upstreams": {"up": {"url": serve(HttpCarrier(slow)).url}}}, wait=False)
    assert started.wait(5)
    until(lambda: through.probe("/healthz") == 200, 5, "the gateway is there")
    client = McpClient(through.port).initialize(id=1)
    for id in range(5):
        cancel(client, id)
    through.wait_ready()
    until(lambda: "up__echo" in client.tools(), 5, "the upstream is there")
    assert not slow.arrived("notifications/cancelled") and not slow.abandoned
    client.close()


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_result_that_crosses_the_cancellation_is_dropped_quietly(carrier, pair):
    through, a, _ = pair(CARRIERS[carrier])
    with McpClient(through.port) as client:
        for id in range(200, 205):
            crossed = Calling(client, "a__late", id)
            until(lambda: len(a.arrived("tools/call", "late")) == id - 199, 3, "the call is with the server")
            cancel(client, id)
            crossed.end()
            assert client.call("a__echo", {"id": id}).text == f'{{"id": {id}}}', "no answer of another call"
    lines = through.process.stderr.splitlines()
    assert not [line for line in lines if " warn " in line or " error " in line], lines
    assert not through.circuit("a__late") or through.circuit("a__late")["failures"] == 0
