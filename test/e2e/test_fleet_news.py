"""News of a transition, to a gateway that has nothing to say itself and so would ask once a second only."""

import time

import pytest

from harness.fleet import Fleet, metric
from harness.mcp_client import McpClient
from harness.waiting import until

pytestmark = [pytest.mark.seconds, pytest.mark.slow]

BREAKER = {"window": "10s", "cooldown": "20s", "jitter": "0%", "p99": "0s"}
SERVERS = 6
WELL_BEFORE_THE_POLL = 0.35


def pair(gateway, upstream, state: str) -> Fleet:
    upstreams = {f"u{number}": {"url": upstream.url} for number in range(SERVERS)}
    gateways = Fleet([gateway({"state": state, "upstreams": upstreams, "breaker": BREAKER}) for _ in range(2)])
    gateways.wait_shared()
    return gateways


def trip_by_the_first(gateways: Fleet, tool: str) -> float:
    """Returns how much later than the first gateway the idle one knew."""
    with McpClient(gateways[0].port) as client:
        for _ in range(9):
            client.call(tool)
    gateways.wait(tool, "open", 4)
    until(lambda: len(gateways.changes(tool)) == 2, 2, "both logs have it")
    first, second = gateways.changes(tool)
    return second.at - first.at


def assert_news(gateways: Fleet, servers: range, figure, name: str) -> None:
    late = [trip_by_the_first(gateways, f"u{number}__echo") for number in servers]
    figure(name, known_after=", ".join(f"{each * 1e3:.0f} ms" for each in late))
    assert max(late) <= WELL_BEFORE_THE_POLL


def test_an_idle_gateway_is_told_at_once(gateway, fake, redis, figure):
    upstream = fake()
    gateways = pair(gateway, upstream, redis().url)
    upstream.call("echo", "rpc_error", code=-32603)
    assert_news(gateways, range(SERVERS), figure, "news of one Redis")


def test_an_idle_gateway_is_told_at_once_by_a_cluster(gateway, fake, cluster, figure):
    upstream = fake()
    gateways = pair(gateway, upstream, cluster.url)
    upstream.call("echo", "rpc_error", code=-32603)
    assert_news(gateways, range(SERVERS // 2), figure, "news of a cluster")
    for number in range(SERVERS // 2, SERVERS):
        state_key = f"cb1:{{u{number}}}:s:u{number}__echo"
        home = cluster.owner(state_key)
        other = next(node for node in cluster.nodes if node is not home)
        with cluster.moving(state_key, other):
            pass
        channel = f"cb1:{{u{number}}}:ev"
        until(
            lambda other=other, channel=channel: other.ask("PUBSUB", "SHARDNUMSUB", channel)[1] == len(gateways),
            3,
            "both listen at the slot's new home",
        )
    assert_news(gateways, range(SERVERS // 2, SERVERS), figure, "news of slots that have moved")
    assert all(metric(each, "switchgear_board_losses_total") == 0 for each in gateways)


def test_news_are_heard_again_after_a_restart(gateway, fake, redis, figure):
    upstream = fake()
    server = redis()
    gateways = pair(gateway, upstream, server.url)
    server.kill()
    gateways.wait_local(5)
    server.start()
    until(lambda: server.ask("CLIENT", "LIST", "TYPE", "PUBSUB").count(b"\n") == len(gateways), 5, "both listen again")
    gateways.wait_shared(5)
    time.sleep(0.2)  # the exchange that found Redis is over
    upstream.call("echo", "rpc_error", code=-32603)
    assert_news(gateways, range(2), figure, "news after a restart of Redis")
