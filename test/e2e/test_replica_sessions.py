"""RC-019: three replicas behind plain round robin. A session is every replica's, and what is said to it arrives."""

import itertools
import threading
import time

import pytest

from harness.carriers import HttpCarrier
from harness.event_stream import EventStream
from harness.fleet import QUICK
from harness.mcp_client import McpClient, Reply, initialize_params
from harness.together import together
from harness.tool_server import ToolServer, until_cancelled
from harness.waiting import holds, until

CHANGED = "notifications/tools/list_changed"
REPLICAS, CLIENTS, CALLS = 3, 20, 50


class RoundRobin:
    """A client whose every request goes to the next replica, over a connection of its own to each."""

    def __init__(self, ports: list[int], first: int = 0):
        self.ports = ports
        self.turn = itertools.count(first)
        self.session = self.version = None
        self.lost = 0
        self._connect()

    def _connect(self) -> None:
        self.connections = [McpClient(port) for port in self.ports]

    def on(self, replica: int) -> McpClient:
        client = self.connections[replica % len(self.connections)]
        client.session, client.version = self.session, self.version
        return client

    def next(self) -> McpClient:
        return self.on(next(self.turn))

    def initialize(self) -> "RoundRobin":
        client = self.next()
        reply = client.request("initialize", initialize_params())
        assert reply.status == 200
        self.session, self.version = reply.headers["mcp-session-id"], reply.result["protocolVersion"]
        told = self.next().post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert told.status == 202, told
        return self

    def call(self, tool: str, arguments: dict | None = None, id=None) -> Reply:
        return self.next().call(tool, arguments, id)

    def only(self, ports: list[int]) -> None:
        """From now on the balancer knows these alone."""
        self.close()
        self.ports = ports
        self._connect()

    def close(self) -> None:
        for client in self.connections:
            client.close()


class Replicated:
    def __init__(self, gateway, serve, state: str, **settings):
        self.server = ToolServer(["echo", "slow"], slow=until_cancelled)
        self.upstream = serve(HttpCarrier(self.server))
        configuration = {"state": state, "upstreams": {"up": {"url": self.upstream.url}}, "breaker": QUICK, **settings}
        self.gateways = [gateway(configuration, wait=False) for _ in range(REPLICAS)]
        for each in self.gateways:
            each.wait_ready()
        self.ports = [each.port for each in self.gateways]

    def client(self, first: int = 0) -> RoundRobin:
        return RoundRobin(self.ports, first).initialize()


@pytest.fixture
def replicated(gateway, serve, redis):
    """replicated(...): three gateways on one Redis; `.redis` is it."""

    def start(**settings) -> Replicated:
        server = redis()
        made = Replicated(gateway, serve, server.url, **settings)
        made.redis = server
        return made

    return start


def calls(client: RoundRobin, count: int = CALLS) -> None:
    for nonce in range(count):
        reply = client.call("up__echo", {"nonce": nonce})
        assert reply.status == 200, (reply.status, reply.body)
        assert reply.text == f'{{"nonce": {nonce}}}'


def on_every_replica(clients: list[RoundRobin], count: int) -> None:
    together([lambda client=client: calls(client, count) for client in clients])


@pytest.mark.seconds
def test_a_session_is_known_to_every_replica(replicated, figure):
    """No request meets an unknown session, the very first ones after `initialize` included (50 calls a client here,
    1,000 in the field)."""
    through = replicated()
    clients = [through.client(first) for first in range(CLIENTS)]
    begin = time.monotonic()
    on_every_replica(clients, CALLS)
    took = time.monotonic() - begin
    figure("round robin over three", clients=CLIENTS, calls=CLIENTS * CALLS, unknown_sessions=0, took=f"{took:.1f} s")
    assert len(through.server.arrived("initialize")) == REPLICAS, "one upstream session for each replica"
    for client in clients:
        client.close()


@pytest.mark.parametrize("streams_on", ["the replica of initialize", "another replica"])
def test_notifications_reach_a_client_wherever_its_stream_is(streams_on, replicated):
    through = replicated()
    clients = [through.client(first) for first in range(6)]
    elsewhere = 0 if streams_on == "the replica of initialize" else 1
    streams = [EventStream(client.on(first + elsewhere)).wait_head() for first, client in enumerate(clients)]
    assert [stream.status for stream in streams] == [200] * 6
    until(lambda: len(through.server.channels) == REPLICAS, 5, "every replica listens to the server")
    through.server.tools.append("late")
    through.server.tell(CHANGED)
    until(lambda: all(stream.of(CHANGED) for stream in streams), 3, "every client is told")
    holds(lambda: all(len(stream.of(CHANGED)) == 1 for stream in streams), 0.5, "and once")
    on_every_replica(clients, 3)
    for each in [*streams, *clients]:
        each.close()


def test_a_cancellation_finds_its_call_on_another_replica(replicated, figure):
    through = replicated()
    client = through.client()
    calling = threading.Thread(target=lambda: client.on(0).call("up__slow", id=101))
    calling.start()
    until(lambda: through.server.arrived("tools/call", "slow"), 3, "the call is with the server")
    sent = time.monotonic()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 101}}
    assert client.on(1).post(cancel).status == 202
    until(lambda: through.server.arrived("notifications/cancelled"), 2, "the server hears of it", every=0.005)
    (told,) = through.server.arrived("notifications/cancelled")
    figure("cancelled on another replica", after=f"{(told.at - sent) * 1000:.1f} ms")
    assert told.message["params"]["requestId"] == through.server.arrived("tools/call", "slow")[0].message["id"]
    calling.join(5)
    assert not calling.is_alive()
    client.close()


def test_a_session_that_ended_is_404_everywhere(replicated):
    through = replicated()
    ended, other = through.client(0), through.client(1)
    calls(ended, 6)
    assert ended.next().send("DELETE").status in (200, 202, 204)
    for replica in range(REPLICAS):
        home = ended.on(replica)
        until(lambda home=home: home.call("up__echo").status == 404, 1, f"it is unknown on replica {replica} too")
    for replica in range(2 * REPLICAS):
        assert ended.on(replica).call("up__echo").status == 404, "and stays unknown"
        assert EventStream(ended.on(replica)).wait_head().status == 404
        assert ended.on(replica).send("DELETE").status == 404
    calls(other, 6)
    ended.close()
    other.close()


def go_on(client: RoundRobin, count: int) -> int:
    """Calls as a client makes them that starts anew when its session is unknown. How often that was."""
    lost = 0
    for nonce in range(count):
        reply = client.call("up__echo", {"nonce": nonce})
        if reply.status == 404:
            lost += 1
            client.initialize()
            reply = client.call("up__echo", {"nonce": nonce})
        assert reply.status == 200, (reply.status, reply.body)
        assert reply.text == f'{{"nonce": {nonce}}}'
    return lost


@pytest.mark.seconds
def test_sessions_outlive_the_replica_that_made_them(replicated, figure):
    """One of three is killed: each session goes on, or is unknown once and works after a new `initialize`. Streams of
    the dead one are opened again elsewhere, and hear what comes."""
    through = replicated()
    clients = [through.client(first) for first in range(CLIENTS)]
    on_every_replica(clients, 10)
    stream = EventStream(clients[0].on(0)).wait_head()
    through.gateways[0].abandon()
    through.gateways[0].stop = lambda: 0.0
    assert stream.ended.wait(5), "its stream has ended with it"
    for client in clients:
        client.only(through.ports[1:])
    lost = together([lambda client=client: go_on(client, CALLS) for client in clients])
    figure("a replica is killed", sessions=CLIENTS, unknown_once=sum(lost))
    assert max(lost) <= 1
    with EventStream(clients[0].on(0)) as stream:
        assert stream.wait_head().status == 200
        through.server.tools.append("late")
        through.server.tell(CHANGED)
        stream.wait_for(CHANGED)
    for client in clients:
        client.close()


@pytest.mark.seconds
def test_without_redis_the_known_sessions_go_on(replicated, figure):
    """Redis is stopped for 2 s (5 s in the field). Sessions that a replica knows are served, and no call waits."""
    through = replicated()
    clients = [through.client(first) for first in range(CLIENTS)]
    on_every_replica(clients, 2 * REPLICAS)  # so that each replica has seen each of them
    through.redis.pause()
    longest, begin = 0.0, time.monotonic()
    try:
        while time.monotonic() - begin < 2:
            for client in clients:
                called = time.monotonic()
                assert client.call("up__echo", {"q": 1}).text == '{"q": 1}'
                longest = max(longest, time.monotonic() - called)
        new = through.client()
        assert not new.next().call("up__echo").status == 500, "a new one is answered, whatever the answer is"
    finally:
        through.redis.resume()
    figure("Redis away", longest_call=f"{longest * 1000:.0f} ms")
    assert longest < 1
    on_every_replica(clients, 2 * REPLICAS)
    until(lambda: [new.call("up__echo").status for _ in range(REPLICAS)] == [200] * REPLICAS, 10, "the new one, too")
    for client in [*clients, new]:
        client.close()


# ---- without Redis


def test_replicas_with_one_key_serve_each_others_sessions(gateway, serve):
    """`sessions.key` and nothing else in common: ids are sealed, and whoever has the key can open them."""
    through = Replicated(gateway, serve, "memory", sessions={"key": "the same secret on every replica"})
    clients = [through.client(first) for first in range(3)]
    on_every_replica(clients, 3 * REPLICAS)
    for client in clients:
        client.close()


def test_a_session_outlives_a_restart_with_its_key(gateway, serve):
    server = ToolServer()
    upstreams = {"up": {"url": serve(HttpCarrier(server)).url}}
    through = gateway({"upstreams": upstreams, "sessions": {"key": "kept in a safe place"}})
    with McpClient(through.port) as client:
        assert not client.call("up__echo").is_error
        through.stop()
        through.start()
        again = client.double()
        assert not again.call("up__echo").is_error
        again.close()


def test_a_session_sealed_with_another_key_is_unknown(gateway, serve):
    server = ToolServer()
    url = serve(HttpCarrier(server)).url
    keys = ["one secret, long enough", "another, which is not it"]
    one, other = [gateway({"upstreams": {"up": {"url": url}}, "sessions": {"key": key}}) for key in keys]
    with McpClient(one.port) as client:
        stranger = McpClient(other.port)
        stranger.session, stranger.version = client.session, client.version
        assert stranger.call("up__echo").status == 404
        assert EventStream(stranger).wait_head().status == 404
        stranger.close()
    assert not server.arrived("tools/call")
