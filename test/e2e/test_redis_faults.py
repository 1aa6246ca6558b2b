"""Redis on its bad days: frozen, refusing, slow, full, emptied, tampered with. No call notices; each replica goes on with
what it knows, says so once, and shares again when Redis is back."""

import time

import pytest

from harness.fleet import Fleet, FleetLoad, assert_all_answered, events, metric, shared
from harness.load import percentile
from harness.redis import RedisError
from harness.waiting import holds, until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

TOOL = "up__echo"
RATE = 60
BREAKER = {
    "window": "10s",
    "cooldown": "1s",
    "growth": 1,
    "jitter": "0%",
    "p99": "0s",
    "probe_share": "25%",
    "probes_needed": 2,
    "probe_failures_allowed": 0,
    "ramp": "0s",
}
LONG = {**BREAKER, "cooldown": "20s"}


def p99_of(samples) -> float:
    return percentile([sample.took for sample in samples], 0.99)


def trip_all(gateways: Fleet, upstream) -> None:
    upstream.call("echo", "rpc_error", code=-32603)
    gateways.call_each(TOOL, 9)
    gateways.wait(TOOL, "open", 3)


# ---- RC-058: Redis frozen, silent, slow


FAULTS = {
    "silent": {"up": {"stall": True}},
    "refused": {"refuse": True, "cut": 1},
    "packets lost": {"up": {"drop": True}, "down": {"drop": True}},
    "1 s late": {"down": {"delay": 1.0}},
    "200 ms late": {"down": {"delay": 0.2}},
    "frozen in a reply": {"down": {"stall_after": 7}},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_call_waits_for_redis(fleet, fake, redis, proxy, figure, fault):
    upstream = fake()
    between = proxy(redis().port)
    gateways = fleet(3, f"redis://127.0.0.1:{between.port}/0", upstream, BREAKER)
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(1.5)
        broken_at = time.monotonic()
        between.do(**FAULTS[fault])
        gateways.wait_local(5)
        went_local = time.monotonic() - broken_at
        time.sleep(1)
        # The breakers go on: an upstream that dies now is cut off by each replica.
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 5)
        upstream.call("echo", "answer")
        gateways.wait(TOOL, "closed", 10)
        healed_at = time.monotonic()
        between.heal()
        gateways.wait_shared(5)
        back = time.monotonic() - healed_at
        time.sleep(0.5)
    healthy, during = load.between(0, broken_at), load.between(broken_at, healed_at)
    assert_all_answered(healthy + during)
    figure(
        f"Redis {fault}",
        alone_after=f"{went_local:.2f} s",
        p99=f"{p99_of(during) * 1e3:.1f} ms (healthy {p99_of(healthy) * 1e3:.1f})",
        shared_again=f"{back:.2f} s",
    )
    assert p99_of(during) <= p99_of(healthy) + 0.05
    assert gateways.log_counts("board_local") == [1, 1, 1]
    assert back <= 3


def test_a_late_redis_is_still_shared(fleet, fake, redis, proxy):
    """20 ms are within the limit of 50: no reason to go on alone."""
    upstream = fake()
    between = proxy(redis().port)
    gateways = fleet(2, f"redis://127.0.0.1:{between.port}/0", upstream, BREAKER)
    between.do(down={"delay": 0.02})
    with FleetLoad(gateways, TOOL, 20):
        holds(lambda: all(shared(gateway) for gateway in gateways), 3, "shared", every=0.2)
    assert gateways.log_counts("board_local") == [0, 0]


def test_short_freezes_again_and_again_are_no_burst_of_lines(fleet, fake, redis):
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    with FleetLoad(gateways, TOOL, RATE) as load:
        for _ in range(4):
            server.pause()
            time.sleep(0.3)
            server.resume()
            time.sleep(1.2)
    assert_all_answered(load.between())
    gateways.wait_shared(5)
    assert max(gateways.log_counts("board_local")) <= 4


# ---- RC-062: a Redis that refuses for long


def test_a_refusing_redis_is_tried_seldom(fleet, fake, redis, proxy, figure):
    upstream = fake()
    between = proxy(redis().port)
    gateways = fleet(3, f"redis://127.0.0.1:{between.port}/0", upstream, BREAKER)
    between.do(to="127.0.0.1:1", cut=1)  # accepts, and ends the connection at once
    gateways.wait_local(5)
    time.sleep(2)
    with FleetLoad(gateways, TOOL, RATE) as load:
        before = between.state()["accepted"]
        time.sleep(6)
        attempts = between.state()["accepted"] - before
    assert_all_answered(load.between())
    figure("Redis refuses", attempts=f"{attempts / 3 / 6:.1f} a second and replica, two connections each")
    assert attempts <= 3 * 6 * 4
    assert gateways.log_counts("board_local") == [1, 1, 1]
    between.do(to=f"127.0.0.1:{between.to_port}")
    gateways.wait_shared(6)
    assert gateways.log_counts("board_shared") == [2, 2, 2]


# ---- RC-065: memory full, keys gone, keys of somebody else


def test_a_full_redis_costs_nothing(fleet, fake, redis):
    upstream = fake()
    server = redis(maxmemory_policy="noeviction")
    gateways = fleet(2, server.url, upstream, BREAKER)
    server.ask("CONFIG", "SET", "maxmemory", "1mb")
    with FleetLoad(gateways, TOOL, RATE) as load:
        gateways.wait_local(8)
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 5)
        upstream.call("echo", "answer")
        gateways.wait(TOOL, "closed", 10)
        server.ask("CONFIG", "SET", "maxmemory", "0")
        gateways.wait_shared(6)
    assert_all_answered(load.between())


def emptied(server) -> None:
    server.ask("FLUSHALL")


def without_its_state(server) -> None:
    for key in server.keys("*:s:*"):
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
    trip_all(gateways, upstream)
    generation = gateways[0].circuit(TOOL)["generation"]
    arrived = len(upstream.arrived("tools/call"))

    loss(server)
    with FleetLoad(gateways, TOOL, 20) as load:
        holds(lambda: set(gateways.states(TOOL)) == {"open"}, 3, "open after the loss", every=0.1)
        gateways.wait_shared(5)
    assert_all_answered(load.between())
    assert len(upstream.arrived("tools/call")) == arrived
    state_key = next(key for key in server.keys("*:s:*") if key.endswith(f":{TOOL}"))
    assert server.ask("HGET", state_key, "state") == b"open"
    assert int(server.ask("HGET", state_key, "gen")) >= generation


def test_a_key_of_another_type_is_named_and_left_alone(fleet, fake, redis):
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    state_key = next(key for key in server.keys("*:s:*") if key.endswith(f":{TOOL}"))
    server.ask("DEL", state_key)
    server.ask("SET", state_key, "mine")
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(1)
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 5)
    assert_all_answered(load.between())
    assert server.ask("GET", state_key) == b"mine"
    for gateway in gateways:
        told = [event for event in events(gateway, "board_local") if "WRONGTYPE" in event["reason"]]
        assert len(told) == 1, f"the log names it once, not {len(told)} times"


def test_keys_of_a_newer_version_are_left_alone(fleet, fake, redis):
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    state_key = next(key for key in server.keys("*:s:*") if key.endswith(f":{TOOL}"))
    server.ask("HSET", state_key, "v", 99, "gen", 7)
    with FleetLoad(gateways, TOOL, RATE) as load:
        until(lambda: gateways.log_counts("board_local") == [1, 1], 5, "each names it, once")
        time.sleep(1)
    assert_all_answered(load.between())
    assert server.ask("HMGET", state_key, "v", "gen") == [b"99", b"7"]
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


def test_a_redis_that_is_missing_at_the_start_is_found_later(fleet, fake, redis):
    upstream = fake()
    server = redis()
    server.kill()
    gateways = fleet(2, server.url, upstream, BREAKER, wait=False)
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(2)
        server.start()
        gateways.wait_shared(8)
    assert_all_answered(load.between())
    assert all(metric(gateway, "switchgear_board_losses_total") == 1 for gateway in gateways)
    with pytest.raises(RedisError, match="ERR|WRONGTYPE"):
        server.ask("INCR", next(key for key in server.keys("*:s:*")))
