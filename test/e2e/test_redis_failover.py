"""Redis that changes under the gateways: primaries that fall, load, hand over and move slots. No call notices, an open
breaker stays open, and no replica needs a restart."""

import time

import pytest

from harness.fleet import Fleet, FleetLoad, alone_for, assert_all_answered, events, shared
from harness.redis import RedisServer
from harness.together import together
from harness.waiting import holds, until

pytestmark = [pytest.mark.seconds, pytest.mark.slow]

TOOL = "up__echo"
RATE = 60
BREAKER = {"window": "10s", "cooldown": "20s", "jitter": "0%", "p99": "0s", "ramp": "0s"}
COUNTING = {**BREAKER, "window": "60s", "minimum_calls": 10000, "outage_threshold": 0}  # never trips
GRACE = 2.0  # how much longer than Redis itself the gateways may be away


def state_key(servers: list[RedisServer], tool: str = TOOL) -> str:
    return next(key for server in servers for key in server.keys("*}:s:*") if key.endswith(f":{tool}"))


# ---- RC-059 with Sentinel


def test_a_failover_keeps_an_open_breaker_open(fleet, fake, sentinels, figure):
    upstream = fake()
    gateways = fleet(2, sentinels.url, upstream, BREAKER)
    generation = gateways.trip(TOOL, upstream)
    arrived = len(upstream.arrived("tools/call"))
    before, after = sentinels.leader(), sentinels.follower()

    with FleetLoad(gateways, TOOL, RATE) as load:
        began = time.monotonic()
        before.kill()
        until(lambda: sentinels.leader() is after, 15, "the replica is promoted")
        until(lambda: after.info("role") == "master", 10, "and says so")
        promoted_after = time.monotonic() - began
        until(lambda: after.asked("fcall") > 0, GRACE, "the new primary is asked")
        gateways.wait_shared(GRACE)
        until(lambda: after.keys("*}:s:*"), 2, "the state is with the new primary")
        time.sleep(0.5)
    assert_all_answered(load.between())
    alone = [alone_for(gateway) for gateway in gateways]
    figure(
        "failover by death",
        promoted_after=f"{promoted_after:.2f} s",
        alone=", ".join(f"{length:.2f} s" for length in alone),
    )
    assert max(alone) <= promoted_after + GRACE
    assert set(gateways.states(TOOL)) == {"open"}
    assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
    assert int(after.ask("HGET", state_key([after]), "gen")) >= generation


def test_a_primary_that_is_replaced_is_left(fleet, fake, sentinels, figure):
    """A failover that is asked for: the old primary lives, and takes writes, until its sentinel demotes it seconds later.
    Nobody may stay with it for so long, while others have gone to the new one."""
    upstream = fake()
    gateways = fleet(2, sentinels.url, upstream, BREAKER)
    generation = gateways.trip(TOOL, upstream)
    arrived = len(upstream.arrived("tools/call"))
    before, after = sentinels.leader(), sentinels.follower()

    with FleetLoad(gateways, TOOL, RATE) as load:
        began = time.monotonic()
        sentinels.sentinel.fail_over()
        until(lambda: sentinels.leader() is after and after.info("role") == "master", 15, "the replica is promoted")
        promoted_after = time.monotonic() - began
        until(lambda: after.asked("fcall") > 0, GRACE, "the new primary is asked")
        asked_after = time.monotonic() - began
        still_asked = before.asked("fcall")
        gateways.wait_shared(GRACE)
        until(lambda: before.info("role") == "slave", 25, "the old primary follows")
        demoted_after = time.monotonic() - began
        still_asked = before.asked("fcall") - still_asked
    assert_all_answered(load.between())
    figure(
        "failover asked for",
        promoted_after=f"{promoted_after:.2f} s",
        demoted_after=f"{demoted_after:.2f} s",
        asked_after=f"{asked_after:.2f} s",
        old_one_asked_after_that=f"{still_asked} times",
        alone=", ".join(f"{alone_for(gateway):.2f} s" for gateway in gateways),
    )
    assert max(alone_for(gateway) for gateway in gateways) <= GRACE
    assert still_asked <= 2 * 2 * 20, "by the other replica, for a second or two, a scope every 100 ms"
    assert set(gateways.states(TOOL)) == {"open"}
    assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
    assert int(after.ask("HGET", state_key([after]), "gen")) >= generation


def test_a_primary_that_turns_read_only_is_left_after_one_look(fleet, fake, sentinels, proxy, figure):
    """Roles are exchanged and no connection ends: only READONLY tells. What was counted meanwhile counts once or not."""
    upstream = fake()
    guide = proxy(sentinels.sentinel.port)
    gateways = fleet(2, f"redis+sentinel://127.0.0.1:{guide.port}/{sentinels.service}", upstream, COUNTING)
    before, after = sentinels.leader(), sentinels.follower()
    looked_up = guide.state()["accepted"]
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(1)
        sentinels.exchange_roles()
        until(lambda: after.asked("fcall") > 0, GRACE, "the new primary is asked")
        gateways.wait_shared(GRACE)
        time.sleep(1.5)
    time.sleep(0.3)  # the last calls are told
    assert_all_answered(load.between())
    refused, looked_up = before.errors("READONLY"), guide.state()["accepted"] - looked_up
    made, counted = len(load.between()) + len(gateways), gateways[0].circuit(TOOL)["calls"]
    figure(
        "a primary turned read-only",
        READONLY=refused,
        asked_the_sentinel=f"{looked_up} times",
        counted=f"{counted} of {made} calls",
        alone=", ".join(f"{alone_for(gateway):.2f} s" for gateway in gateways),
    )
    assert 0 < refused <= 2 * 2 * len(gateways), "each replica was refused once: a command a scope, twice at most"
    assert looked_up <= 2 * len(gateways)
    assert max(alone_for(gateway) for gateway in gateways) <= GRACE
    # The calls of a second either side of the exchange may be lost with the old primary's last writes.
    assert made - 2 * RATE <= counted <= made


def test_a_redis_that_loads_for_long_gets_its_state_back(fleet, fake, redis, figure):
    """Killed, and back with an old state and so much of other data that it answers LOADING for seconds."""
    keys, each = 6000, 500  # microseconds
    upstream = fake()
    server = redis(
        enable_debug_command="local", loading_process_events_interval_bytes=1024, dbfilename="dump.rdb"
    )  # fmt: skip
    gateways = fleet(2, server.url, upstream, BREAKER)
    server.ask("DEBUG", "POPULATE", keys)
    server.ask("SAVE")
    generation = gateways.trip(TOOL, upstream)
    arrived = len(upstream.arrived("tools/call"))

    with FleetLoad(gateways, TOOL, RATE) as load:
        began = time.monotonic()
        server.kill()
        server.options["key_load_delay"] = each
        server.start()
        until(lambda: server.errors("LOADING") > 0 or server.info("loading") == "1", 3, "it loads")
        until(lambda: server.info("loading") == "0", 30, "it has loaded")
        loaded_after = time.monotonic() - began
        gateways.wait_shared(GRACE)
        holds(lambda: set(gateways.states(TOOL)) == {"open"}, 1, "open, as before")
    assert_all_answered(load.between())
    alone = [alone_for(gateway) for gateway in gateways]
    figure("LOADING", for_=f"{loaded_after:.2f} s", alone=", ".join(f"{length:.2f} s" for length in alone))
    assert loaded_after > 2.5
    assert max(alone) <= loaded_after + GRACE
    assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
    assert int(server.ask("HGET", state_key([server]), "gen")) >= generation
    assert gateways.log_counts("board_local") == [1, 1]


# ---- RC-059 in a cluster


def test_a_slot_moves_under_load(fleet, fake, cluster, figure):
    """On its way a slot answers ASK, and TRYAGAIN as long as a scope's keys are not all on one side; then MOVED. A new
    map is asked for once, and nothing counts twice."""
    moving_for = 1.0
    upstream = fake()
    gateways = fleet(2, cluster.url, upstream, COUNTING)
    key = state_key(cluster.nodes)
    home = cluster.owner(key)
    other = next(node for node in cluster.nodes if node is not home)
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(0.5)
        with cluster.moving(key, other):
            maps = sum(node.asked("cluster|slots") for node in cluster.nodes)
            time.sleep(moving_for)
            asked = home.errors("ASK")
            maps_while_moving = sum(node.asked("cluster|slots") for node in cluster.nodes) - maps
        gateways.wait_shared(GRACE)
        holds(lambda: all(shared(gateway) for gateway in gateways), 1.5, "shared after the move")
    time.sleep(0.3)
    assert_all_answered(load.between())
    maps = sum(node.asked("cluster|slots") for node in cluster.nodes) - maps
    moved = sum(node.errors("MOVED") for node in cluster.nodes)
    listened = sum(node.asked("ssubscribe") for node in cluster.nodes)
    alone = [alone_for(gateway) for gateway in gateways]
    made, counted = len(load.between()) + len(gateways), gateways[0].circuit(TOOL)["calls"]
    figure(
        "a slot moves",
        ASK=asked, MOVED=moved, maps=maps, listened=listened, counted=f"{counted} of {made} calls",
        alone=", ".join(f"{length:.2f} s" for length in alone),
    )  # fmt: skip
    assert asked > 0 and maps_while_moving == 0, "ASK is for one command: the map holds"
    # The commands of two passes a replica at most, and its channel of news.
    assert moved <= 8 * len(gateways)
    assert maps <= 3 * len(gateways) and listened <= 8 * len(gateways)
    assert max(alone) <= moving_for + GRACE
    assert max(gateways.log_counts("board_local")) <= 1
    assert made - (max(alone) + 1) * RATE <= counted <= made


def six_servers(gateway, cluster, upstream) -> Fleet:
    """Two gateways with six servers between them, whose slots lie all over the cluster."""
    upstreams = {f"u{number}": {"url": upstream.url} for number in range(6)}
    configuration = {"state": cluster.url, "upstreams": upstreams, "breaker": BREAKER}
    gateways = Fleet([gateway(configuration) for _ in range(2)])
    for number in range(6):
        gateways.call_each(f"u{number}__echo")
    gateways.wait_shared()
    return gateways


def tools_by_node(cluster) -> dict[int, list[str]]:
    """The tools of each node, by its number."""
    found: dict[int, list[str]] = {number: [] for number in range(3)}
    for number in range(6):
        tool = f"u{number}__echo"
        found[cluster.nodes.index(cluster.owner(f"cb1:{{u{number}}}:s:{tool}"))].append(tool)
    return found


class Background:
    """Steady traffic through a fleet to several tools."""

    def __init__(self, gateways: Fleet, tools: list[str], rate: float):
        self.loads = [FleetLoad(gateways, tool, rate / len(tools)) for tool in tools]

    def __enter__(self) -> "Background":
        for load in self.loads:
            load.__enter__()
        return self

    def __exit__(self, *_) -> None:
        for load in self.loads:
            load.__exit__()

    def samples(self) -> list:
        return [sample for load in self.loads for sample in load.between()]


def same_generation(gateways: Fleet, tool: str) -> bool:
    """They know of one and the same change: it went through Redis."""
    circuits = [gateway.circuit(tool) for gateway in gateways]
    return len({(circuit["state"], circuit["generation"]) for circuit in circuits}) == 1


@pytest.mark.parametrize("fault", ["dies", "is silent"])
def test_a_lost_shard_takes_its_own_breakers_alone(fake, cluster, gateway, proxy, figure, fault):
    upstream = fake()
    gone = next(number for number, tools in tools_by_node(cluster).items() if 0 < len(tools) < 6)
    node = cluster.nodes[gone]
    between = proxy(node.port)
    cluster.announce(node, between.port)
    gateways = six_servers(gateway, cluster, upstream)
    tools = tools_by_node(cluster)
    theirs = tools.pop(gone)
    living = [tool for number in tools for tool in tools[number]]

    with Background(gateways, [living[0], theirs[0]], 40) as load:
        time.sleep(0.5)
        if fault == "dies":
            node.kill()
            between.do(cut=1)
        else:
            between.do(up={"drop": True}, down={"drop": True})
        time.sleep(2)
        upstream.call("echo", "rpc_error", code=-32603)
        # One gateway alone sees the failures; the other knows of the breaker from Redis.
        started = time.monotonic()
        Fleet([gateways[0]]).call_each(living[1], 9)
        until(lambda: gateways[1].state(living[1]) == "open", 1.5, "a living shard's breaker is shared")
        news = time.monotonic() - started
        gateways.wait(theirs[0], "open", 4)  # each finds out by itself
        upstream.call("echo", "answer")
        if fault == "dies":
            node.start()
            cluster.wait_ok()
        else:
            between.heal()
        healed_at = time.monotonic()
        gateways.wait_shared(GRACE)
        until(
            lambda: any(key.endswith(f":{theirs[0]}") for key in node.keys("*}:s:*")), GRACE, "its keys are there again"
        )
        until(lambda: same_generation(gateways, theirs[0]), GRACE, "the lost shard's breaker is shared again")
        back = time.monotonic() - healed_at
    assert_all_answered(load.samples())
    figure(
        f"one of three primaries {fault}",
        news_of_a_living_shard_after=f"{news:.2f} s",
        shared_again=f"{back:.2f} s",
    )
    place = f"127.0.0.1:{between.port}"
    for each in gateways:
        told = [event["reason"] for event in events(each, "board_local")]
        assert len(told) == 1 and told[0].startswith(place), "the log names the node, once"
        assert [event["reason"].startswith(place) for event in events(each, "board_shared")] == [False, True]


def test_a_cluster_without_its_majority_is_down_for_all(fake, cluster, gateway, figure):
    """Two of three shards are lost, and the third answers CLUSTERDOWN to everything."""
    upstream = fake()
    gateways = six_servers(gateway, cluster, upstream)
    tools = tools_by_node(cluster)
    left = next(number for number in tools if tools[number])
    lost = [node for number, node in enumerate(cluster.nodes) if number != left]
    kept = tools[left][0]
    away = next(tools[number][0] for number in tools if number != left and tools[number])

    with Background(gateways, [kept, away], 40) as load:
        for node in lost:
            node.kill()
        until(lambda: cluster.nodes[left].errors("CLUSTERDOWN") > 0, 8, "the survivor refuses")
        gateways.wait_local(4)
        time.sleep(2)
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(kept, "open", 5)  # each cuts them off by itself
        gateways.wait(away, "open", 5)
        upstream.call("echo", "answer")
        together([node.start for node in lost])
        cluster.wait_ok()
        healed_at = time.monotonic()
        gateways.wait_shared(GRACE)
        until(lambda: same_generation(gateways, kept) and same_generation(gateways, away), GRACE, "all is shared again")
        back = time.monotonic() - healed_at
    assert_all_answered(load.samples())
    figure("two of three shards lost", shared_again=f"{back:.2f} s after the cluster")
    assert max(gateways.log_counts("board_local")) <= 3, "a line a node"
    assert max(gateways.log_counts("board_shared")) <= 1 + 3
