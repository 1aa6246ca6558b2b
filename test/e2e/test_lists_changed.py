"""RC-040: a server's tools change, and every client of every replica comes to know; a server that pings is answered."""

import asyncio
import time

import pytest

from harness.carriers import HttpCarrier, SseCarrier, StdioCarrier, upstream_of
from harness.event_stream import EventStream
from harness.mcp_client import McpClient
from harness.modern_server import ModernServer, modern_carrier
from harness.tool_server import RpcError, ToolServer, text_result, tool
from harness.waiting import holds, until

CHANGED = "notifications/tools/list_changed"
SOON = 2.0
SPOKEN = {
    "the GET stream": HttpCarrier,
    "stdio": StdioCarrier,
    "HTTP+SSE": SseCarrier,
    "a modern listen": modern_carrier,
}


async def announce(call) -> dict:
    """Says so on the stream of a call."""
    await call.notify(CHANGED)
    return text_result("announced")


class Audience:
    """Two replicas before the same two servers, and three clients on them, each with its stream."""

    def __init__(self, gateway, serve, carrier, server: ToolServer):
        self.server = server
        self.bystander = ToolServer(["rest"])
        beside = serve(HttpCarrier(self.bystander))
        self.carrier = serve(carrier(server))
        upstreams = {"up": upstream_of(self.carrier), "beside": {"url": beside.url}}
        self.replicas = [gateway({"upstreams": upstreams}) for _ in range(2)]
        self.clients = [McpClient(self.replicas[index].port).initialize() for index in (0, 0, 1)]
        self.streams = [EventStream(client).wait_head() for client in self.clients]
        for stream in self.streams:
            assert stream.status == 200

    def __enter__(self) -> "Audience":
        return self

    def __exit__(self, *_) -> None:
        for stream in self.streams:
            stream.close()
        for client in self.clients:
            client.close()

    def listens(self) -> None:
        until(lambda: len(self.server.channels) >= 2, 5, "both replicas listen to the server")

    def lists(self) -> list[dict]:
        return [client.tools() for client in self.clients]

    def wait_tools(self, names: set[str], limit: float = SOON) -> None:
        until(
            lambda: all(set(tools) == names | {"beside__rest"} for tools in self.lists()),
            limit,
            f"every replica lists {sorted(names)}",
        )

    def wait_told(self, times: int = 1, limit: float = SOON) -> None:
        until(
            lambda: all(len(stream.of(CHANGED)) >= times for stream in self.streams), limit, "every client is told"
        )

    def told(self) -> list[int]:
        return [len(stream.of(CHANGED)) for stream in self.streams]


def change(server: ToolServer) -> None:
    """One tool more, one less, and one with another schema."""
    properties = {"type": "object", "properties": {"depth": {"type": "integer"}}, "required": ["depth"]}
    server.tools = ["added", "announce", tool("changed", inputSchema=properties)]


TOOLS = ["removed", "announce", "changed"]
CHANGED_TO = {"up__added", "up__announce", "up__changed"}


@pytest.mark.parametrize("spoken", [*SPOKEN, "a call's stream"])
def test_a_change_reaches_every_client_once(spoken, gateway, serve):
    """(a) to (c): announced wherever the server speaks. Only its own list is asked for again."""
    make = ModernServer if spoken == "a modern listen" else ToolServer
    server = make(TOOLS, announce=announce)
    with Audience(gateway, serve, SPOKEN.get(spoken, HttpCarrier), server) as audience:
        listed = len(audience.bystander.arrived("tools/list"))
        if spoken == "a call's stream":
            change(server)
            for client in (audience.clients[0], audience.clients[2]):
                assert client.call("up__announce").text == "announced"
        else:
            audience.listens()
            change(server)
            server.tell(CHANGED)
        audience.wait_tools(CHANGED_TO)
        audience.wait_told()
        for tools in audience.lists():
            assert tools["up__changed"]["inputSchema"]["required"] == ["depth"]
        holds(lambda: audience.told() == [1, 1, 1], 0.5, "each client is told once")
        assert len(audience.bystander.arrived("tools/list")) == listed, "the other server is left in peace"
        for client in audience.clients:
            assert not client.call("up__added").is_error
            gone = client.request("tools/call", {"name": "up__removed", "arguments": {}})
            assert gone.error["code"] == -32602 and "up__removed" in gone.error["message"]
    assert not server.arrived("tools/call", "removed")


@pytest.mark.parametrize("spoken", SPOKEN)
def test_a_hundred_notices_make_few_listings(spoken, gateway, serve, figure):
    """One listing at a time, and about one a second; the last state is what everybody sees."""
    server = (ModernServer if spoken == "a modern listen" else ToolServer)(TOOLS)
    with Audience(gateway, serve, SPOKEN[spoken], server) as audience:
        audience.listens()
        before = len(server.arrived("tools/list"))
        begin = time.monotonic()
        for number in range(10):
            server.tools = [*TOOLS, f"number-{number}"]
            server.tell(CHANGED, times=10)
        audience.wait_tools({"up__removed", "up__announce", "up__changed", "up__number-9"}, 3)

        def listings() -> float:
            return (len(server.arrived("tools/list")) - before) / len(audience.replicas)

        holds(lambda: listings() <= 2 + time.monotonic() - begin, 0.5, "about one listing a second")
        figure(f"100 notices, {spoken}", listings_a_replica=listings(), told=max(audience.told()))
        assert max(audience.told()) <= listings() and min(audience.told()) >= 1


def test_a_notice_without_a_change_is_told_to_nobody(gateway, serve):
    server = ToolServer(TOOLS)
    with Audience(gateway, serve, HttpCarrier, server) as audience:
        audience.listens()
        before = len(server.arrived("tools/list"))
        server.tell(CHANGED)
        until(lambda: len(server.arrived("tools/list")) >= before + 2, SOON, "both replicas look")
        holds(lambda: audience.told() == [0, 0, 0], 0.5, "the same list is no news")


def test_a_list_that_fails_after_a_notice_leaves_the_old_one(gateway, serve):
    async def fails(call):
        raise RpcError(-32603, "the database is away")

    server = ToolServer(TOOLS)
    with Audience(gateway, serve, HttpCarrier, server) as audience:
        audience.listens()
        server.answers["tools/list"] = fails
        server.tell(CHANGED)
        until(lambda: audience.replicas[0].upstream("up")["state"] == "degraded", SOON, "it is known")
        assert set(audience.clients[0].tools()) == {"up__removed", "up__announce", "up__changed", "beside__rest"}
        assert audience.told() == [0, 0, 0]
        del server.answers["tools/list"]
        change(server)
        audience.wait_tools(CHANGED_TO, 10)
        audience.wait_told()


@pytest.mark.parametrize("carrier", [HttpCarrier, SseCarrier], ids=["HTTP", "HTTP+SSE"])
def test_a_change_across_a_restart_is_found(carrier, gateway, serve):
    """(d): nobody says so. The new process does not know the session, or its stream has ended."""
    server = ToolServer(TOOLS)
    with Audience(gateway, serve, carrier, server) as audience:
        audience.listens()
        audience.carrier.stop()
        again = ToolServer([])
        change(again)
        serve(carrier(again, audience.carrier.port))
        audience.wait_tools(CHANGED_TO, 10)
        audience.wait_told()
        holds(lambda: audience.told() == [1, 1, 1], 0.5, "each client is told once")


# ---- a server that pings

IDS = ["text", 0, 7, "", "ünï", 2**53 - 1]


@pytest.mark.timing
@pytest.mark.parametrize("carrier", [HttpCarrier, SseCarrier, StdioCarrier], ids=["HTTP", "HTTP+SSE", "stdio"])
def test_a_ping_is_answered_with_its_id(carrier, gateway, serve):
    """Outside of any call, and in the middle of one."""

    async def pings(call) -> dict:
        for id in IDS:
            await call.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
        await asyncio.sleep(0.2)
        return text_result("pinged")

    server = ToolServer(["pings"], pings=pings)
    through = gateway({"upstreams": {"up": upstream_of(serve(carrier(server)))}})

    def answered() -> list:
        for arrival in server.responses():
            assert arrival.message["result"] == {} and arrival.message["jsonrpc"] == "2.0"
        return [arrival.message["id"] for arrival in server.responses()]

    until(lambda: server.channels, 5, "the gateway listens outside of calls")
    begin = time.monotonic()
    for id in IDS:
        server.tell("ping", id=id)
    until(lambda: len(answered()) == len(IDS), 1, "each ping is answered")
    assert sorted(map(repr, answered())) == sorted(map(repr, IDS)), "in type and value"
    assert all(arrival.at - begin < 1 for arrival in server.responses())
    with McpClient(through.port) as client:
        assert client.call("up__pings").text == "pinged"
        until(lambda: len(answered()) == 2 * len(IDS), 1, "those on the way, too")
        assert sorted(map(repr, answered())) == sorted(map(repr, 2 * IDS))
