"""What may happen to a breaker's keys in Redis: no room for them, evicted, deleted, replaced by somebody else's. An
open breaker stays open, no call fails, and what is not ours is left alone."""

import threading
import time
from contextlib import contextmanager

import pytest

from harness.fleet import QUICK, Fleet, FleetLoad, assert_all_answered, events, shared
from harness.load import percentile
from harness.waiting import holds, until

pytestmark = [pytest.mark.seconds, pytest.mark.slow]

TOOL = "up__echo"
RATE = 60
BREAKER = {**QUICK, "cooldown": "2s", "probes_needed": 2}
LONG = {**BREAKER, "cooldown": "20s"}
MOST_KEYS = 4  # of a breaker
MOST_BYTES = 16 * 1024  # of a tool
REDIS_BUDGET = 0.05


def keys_of(server, tool: str = TOOL) -> list[str]:
    return [key for key in server.keys() if key.endswith(f":{tool}")]


def state_key(server) -> str:
    return next(key for key in keys_of(server) if ":s:" in key)


def stays_open(gateways: Fleet, span: float) -> None:
    holds(lambda: set(gateways.states(TOOL)) == {"open"}, span, "open, whatever Redis lost", every=0.1)


# ---- RC-065: a full Redis


def test_a_full_redis_costs_nothing(fleet, fake, redis):
    """Writes are refused: an open breaker goes through its whole life in each replica alone."""
    upstream = fake()
    server = redis(maxmemory_policy="noeviction")
    gateways = fleet(2, server.url, upstream, BREAKER)
    gateways.trip(TOOL, upstream)
    arrived = len(upstream.arrived("tools/call"))
    opened_at = time.monotonic()
    server.ask("CONFIG", "SET", "maxmemory", "1mb")
    with FleetLoad(gateways, TOOL, RATE) as load:
        gateways.wait_local(3)
        stays_open(gateways, max(0.0, opened_at + 1.5 - time.monotonic()))
        assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
        upstream.call("echo", "answer")
        gateways.wait(TOOL, "closed", 6)
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 5)
        server.ask("CONFIG", "SET", "maxmemory", "0")
        gateways.wait_shared(4)
    assert_all_answered(load.between())
    for gateway in gateways:
        assert [event["reason"].split()[0] for event in events(gateway, "board_local")] == ["OOM"]


@contextmanager
def pressure(server):
    """Somebody else fills Redis as fast as it evicts; yields how often the breaker's state was found gone."""
    gone: list[float] = []
    done = threading.Event()

    def fill() -> None:
        number = 0
        key = state_key(server)
        while not done.wait(0.005):
            number += 1
            server.ask("SET", f"other:{number}", "x" * 40_000)
            if not server.ask("EXISTS", key):
                gone.append(time.monotonic())

    thread = threading.Thread(target=fill)
    used = int(server.info("used_memory"))
    server.ask("CONFIG", "SET", "maxmemory", used + 1_000_000)
    thread.start()
    try:
        yield gone
    finally:
        done.set()
        thread.join()


def test_an_evicted_breaker_stays_open(fleet, fake, redis, figure):
    upstream = fake()
    # Of one sample the oldest is any: so that breakers are evicted, which everybody's traffic keeps young.
    server = redis(maxmemory_policy="allkeys-lru", maxmemory_samples=1)
    gateways = fleet(2, server.url, upstream, LONG)
    generation = gateways.trip(TOOL, upstream)
    arrived = len(upstream.arrived("tools/call"))
    with FleetLoad(gateways, TOOL, RATE) as load, pressure(server) as gone:
        stays_open(gateways, 3)
    assert_all_answered(load.between())
    figure("pressure from other keys", evicted=server.info("evicted_keys"), state_found_gone=f"{len(gone)} times")
    assert gone, "the breaker was not evicted, so this proves nothing"
    assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
    until(lambda: server.ask("HGET", state_key(server), "state") == b"open", 2, "it is written back")
    assert int(server.ask("HGET", state_key(server), "gen")) >= generation
    assert gateways.log_counts("board_local") == [0, 0]


# ---- RC-065: keys that go


def emptied(server) -> None:
    server.ask("FLUSHALL")


def without_its_state(server) -> None:
    for key in server.keys("*}:s:*"):
        server.ask("DEL", key)


def without_functions(server) -> None:
    server.ask("FUNCTION", "FLUSH")


def restarted_empty(server) -> None:
    server.kill()
    server.start()


@pytest.mark.parametrize("loss", [emptied, without_its_state, without_functions, restarted_empty])
def test_an_open_breaker_is_not_forgotten(fleet, fake, redis, loss):
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, LONG)
    generation = gateways.trip(TOOL, upstream)
    arrived = len(upstream.arrived("tools/call"))

    loss(server)
    with FleetLoad(gateways, TOOL, 20) as load:
        stays_open(gateways, 2)
        gateways.wait_shared(5)
    assert_all_answered(load.between())
    assert len(upstream.arrived("tools/call")) == arrived
    assert server.ask("HGET", state_key(server), "state") == b"open"
    assert int(server.ask("HGET", state_key(server), "gen")) >= generation


def test_keys_are_deleted_between_exchanges(fleet, fake, redis):
    """Now this key of the breaker, now that one: it stays open till its time, and closes when it is left in peace."""
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    gateways.trip(TOOL, upstream)
    opened_at = time.monotonic()
    upstream.call("echo", "answer")
    kinds = "wips"
    with FleetLoad(gateways, TOOL, RATE) as load:
        for number in range(40):
            server.ask("DEL", f"cb1:{{up}}:{kinds[number % 4]}:{TOOL}")
            if time.monotonic() - opened_at < 1.8:
                assert set(gateways.states(TOOL)) == {"open"}
            time.sleep(0.06)
        gateways.wait(TOOL, "closed", 4)
    assert_all_answered(load.between())
    assert gateways.log_counts("board_local") == [0, 0]
    reached = [sample for sample in load.between(opened_at, opened_at + 1.8) if not sample.refused]
    assert not reached, f"{len(reached)} calls were let through an open breaker"


# ---- RC-065: a pause of a second, as when a large Redis forks to save


def test_a_pause_of_a_second_is_no_call_s(fleet, fake, redis, figure):
    upstream = fake()
    server = redis(enable_debug_command="local")
    gateways = fleet(2, server.url, upstream, LONG)
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(1)
        gateways.trip(TOOL, upstream)
        arrived = len(upstream.arrived("tools/call"))
        began = time.monotonic()
        server.ask("DEBUG", "SLEEP", "1")
        ended = time.monotonic()
        assert set(gateways.states(TOOL)) == {"open"}
        gateways.wait_shared(2)
    assert_all_answered(load.between())
    assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
    before, during = ([sample.took for sample in load.between(*span)] for span in ((0, began - 0.5), (began, ended)))
    figure(
        "Redis pauses for a second",
        p95=f"{percentile(during, 0.95) * 1e3:.1f} ms (before {percentile(before, 0.95) * 1e3:.1f})",
    )
    assert percentile(during, 0.95) <= percentile(before, 0.95) + REDIS_BUDGET
    assert max(gateways.log_counts("board_local")) <= 1


# ---- RC-065: keys of somebody else


def test_a_key_of_another_type_is_named_and_left_alone(fleet, fake, redis):
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    gateways.trip(TOOL, upstream)
    opened_at = time.monotonic()
    arrived = len(upstream.arrived("tools/call"))
    key = state_key(server)
    server.ask("DEL", key)
    server.ask("SET", key, "mine")
    with FleetLoad(gateways, TOOL, RATE) as load:
        stays_open(gateways, max(0.0, opened_at + 1.5 - time.monotonic()))
        assert len(upstream.arrived("tools/call")) == arrived, "no call was let through"
        upstream.call("echo", "answer")
        gateways.wait(TOOL, "closed", 6)
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 5)
    assert_all_answered(load.between())
    assert server.ask("GET", key) == b"mine"
    assert all(shared(gateway) for gateway in gateways), "the other breakers are shared on"
    for gateway in gateways:
        told = [event["reason"] for event in events(gateway, "board_local")]
        assert len(told) == 1 and "WRONGTYPE" in told[0] and TOOL in told[0], "the log names it, once"


@pytest.mark.parametrize("kind", ["w", "i", "p"])
def test_the_other_keys_of_another_type_are_left_alone_too(fleet, fake, redis, kind):
    """Through a whole life of the breaker: no step of it deletes or replaces what is not its own."""
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, {**BREAKER, "cooldown": "1s"})
    key = f"cb1:{{up}}:{kind}:{TOOL}"
    server.ask("DEL", key)
    server.ask("SET", key, "mine")
    with FleetLoad(gateways, TOOL, RATE) as load:
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 5)
        upstream.call("echo", "answer")
        gateways.wait(TOOL, "closed", 6)
    assert_all_answered(load.between())
    assert server.ask("GET", key) == b"mine"
    for gateway in gateways:
        told = [event["reason"] for event in events(gateway, "board_local")]
        assert len(told) == 1 and "WRONGTYPE" in told[0] and TOOL in told[0], "the log names it, once"


def test_keys_of_a_newer_version_are_left_alone(fleet, fake, redis):
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    key = state_key(server)
    server.ask("HSET", key, "v", 99, "gen", 7)
    with FleetLoad(gateways, TOOL, RATE) as load:
        until(lambda: gateways.log_counts("board_local") == [1, 1], 5, "each names it, once")
        time.sleep(1)
    assert_all_answered(load.between())
    assert server.ask("HMGET", key, "v", "gen") == [b"99", b"7"]
    assert gateways.log_counts("board_local") == [1, 1]


def test_a_library_of_our_name_with_other_functions_is_named(fleet, fake, redis):
    """Somebody loaded another library under our name: it is not replaced, calls go on."""
    upstream = fake()
    server = redis()
    server.ask("FUNCTION", "LOAD", "#!lua name=switchgear_v1\nredis.register_function('something', function() end)")
    gateways = fleet(1, server.url, upstream, BREAKER, wait=False)
    with FleetLoad(gateways, TOOL, 20) as load:
        until(lambda: gateways.log_counts("board_local") == [1], 5, "the log says it")
        time.sleep(1)
    assert_all_answered(load.between())
    assert b"something" in repr(server.ask("FUNCTION", "LIST")).encode()


# ---- RC-065: how much it is


def test_keys_are_few_and_mortal_and_do_not_grow_with_calls(fleet, fake, redis, figure):
    window = 10.0
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    found: list[tuple[int, int]] = []

    def weigh() -> None:
        # The fleet's secret lasts as long as its Redis.
        for key in [key for key in server.keys() if not key.endswith(":key")]:
            assert server.ask("PTTL", key) >= window * 1000, f"{key} may go within the window"
        bytes_of = {key: server.ask("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys_of(server)}
        found.append((len(bytes_of), sum(bytes_of.values())))

    for rate in (30, 300):
        with FleetLoad(gateways, TOOL, rate) as load:
            time.sleep(2.5)
        weigh()
    gateways.trip(TOOL, upstream)
    upstream.call("echo", "answer", delay=0.5)
    with FleetLoad(gateways, TOOL, RATE):
        gateways.wait(TOOL, "half_open", 4)
        until(lambda: any(":p:" in key for key in keys_of(server)), 2, "leases are given")
        weigh()  # with leases
        gateways.wait(TOOL, "closed", 4)
    assert_all_answered(load.between())
    figure("keys of a tool", **{name: f"{keys}, {size} bytes" for name, (keys, size) in
                                zip(("at_30_calls_a_second", "at_300", "half_open"), found)})  # fmt: skip
    assert max(keys for keys, _ in found) <= MOST_KEYS
    assert max(size for _, size in found) <= MOST_BYTES
    assert found[1][1] - found[0][1] <= 1024, "ten times the calls, and three more seconds in the window"
