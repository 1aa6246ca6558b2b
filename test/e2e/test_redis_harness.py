"""The instruments themselves: a proxy that misbehaves as told, and Redis servers that fail over and move slots."""

import time

import pytest

from harness.redis import RedisError, Resp
from harness.waiting import until


def test_the_proxy_passes_delays_and_freezes(redis, proxy):
    server = redis()
    server.ask("SET", "key", "value")
    between = proxy(server.port)
    with Resp(between.port, timeout=0.5) as client:
        assert client.ask("GET", "key") == b"value"

        between.do(down={"delay": 0.2})
        started = time.monotonic()
        assert client.ask("GET", "key") == b"value"
        assert 0.2 <= time.monotonic() - started < 0.4

        between.heal()
        between.do(down={"stall_after": 4})
        with pytest.raises(TimeoutError):
            client.ask("GET", "key")
    between.heal()

    with Resp(between.port, timeout=0.3) as client:
        between.do(up={"drop": True})
        with pytest.raises(TimeoutError):
            client.ask("SET", "key", "lost")
    between.heal()
    assert server.ask("GET", "key") == b"value"


def test_the_proxy_refuses_and_cuts(redis, proxy):
    between = proxy(redis().port)
    with Resp(between.port) as client:
        assert client.ask("PING") == b"PONG"
        between.do(refuse=True)
        with pytest.raises(ConnectionRefusedError):
            Resp(between.port)
        assert client.ask("PING") == b"PONG"  # open ones stay

        between.do(cut=1)
        with pytest.raises(ConnectionError):
            client.ask("PING")
    between.do(refuse=False)
    with Resp(between.port) as client:
        assert client.ask("PING") == b"PONG"


def test_the_proxy_loses_a_share(redis, proxy):
    between = proxy(redis().port)
    between.do(up={"drop": 0.5})
    for _ in range(60):
        with Resp(between.port, timeout=0.05) as client:
            try:
                client.ask("PING")
            except TimeoutError:
                pass
    state = between.state()["up"]
    assert state["lost"] > 0 and state["passed"] > 0


def test_a_sentinel_promotes_the_replica(sentinels):
    before = sentinels.leader()
    before.kill()
    until(lambda: sentinels.leader() is not before, 15, "the replica is the primary now")
    until(lambda: sentinels.leader().info("role") == "master", 10, "and says so")


def test_roles_are_exchanged_under_open_connections(sentinels):
    before = sentinels.leader()
    with Resp(before.port) as client:
        client.ask("SET", "key", "value")
        sentinels.exchange_roles()
        with pytest.raises(RedisError, match="READONLY"):
            client.ask("SET", "key", "other")  # the same connection
    assert sentinels.leader() is not before
    until(lambda: before.info("master_link_status") == "up", 10, "the old primary follows")


def test_a_node_is_found_behind_its_proxy(cluster, proxy):
    node = cluster.nodes[1]
    between = proxy(node.port)
    cluster.announce(node, between.port)
    slots = cluster.nodes[0].ask("CLUSTER", "SLOTS")
    assert sorted(row[2][1] for row in slots) == sorted([cluster.nodes[0].port, between.port, cluster.nodes[2].port])


def test_a_slot_moves_between_nodes(cluster):
    node = cluster.owner("{tag}:key")
    node.ask("SET", "{tag}:key", "value")
    other = next(each for each in cluster.nodes if each is not node)

    with cluster.moving("{tag}:key", other):
        with pytest.raises(RedisError, match="ASK"):
            node.ask("GET", "{tag}:key")
        assert cluster.owner("{tag}:key") is node

    assert cluster.owner("{tag}:key") is other
    assert other.ask("GET", "{tag}:key") == b"value"
    with pytest.raises(RedisError, match="MOVED"):
        node.ask("GET", "{tag}:key")
