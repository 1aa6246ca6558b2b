"""A Redis that refuses for long, in each way there is. It is tried seldom, it is spoken of twice, and being without it
is no more work than having it."""

import statistics
import time

import pytest

from harness.fleet import FleetLoad, alone_for, assert_all_answered, events
from harness.waiting import until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

TOOL = "up__echo"
REPLICAS = 4
RATE = 300  # calls a second, over all
BREAKER = {"window": "10s", "cooldown": "1s", "jitter": "0%", "p99": "0s", "ramp": "0s"}
LAST_RETRY = 0.5  # seconds: a replica that is alone for long tries again after 0.5 to 1
ROUND = 1.5


class Refusing:
    """One way to refuse: how it begins and ends, and how it is counted what came to Redis all the same."""

    # A try of connections opens five at most: for questions about breakers and about sessions, for news, for letters in
    # and out.
    at_once = 5

    def __init__(self, server, between):
        self.server = server
        self.between = between

    def begin(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        self.between.heal()

    def attempts(self) -> int:
        """Commands or connections so far."""
        raise NotImplementedError


class HangsUp(Refusing):
    """Connections are taken and ended at once, as by a balancer with nobody behind it: so they can be counted."""

    def begin(self) -> None:
        self.between.do(to="127.0.0.1:1", cut=1)

    def end(self) -> None:
        self.between.do(to=f"127.0.0.1:{self.between.to_port}")

    def attempts(self) -> int:
        return self.between.state()["accepted"]


class Silent(Refusing):
    def begin(self) -> None:
        self.between.do(up={"drop": True})

    def attempts(self) -> int:
        return self.between.state()["accepted"]


class Forbids(Refusing):
    """Every command of the board gets an error, on connections that stand."""

    # A try of an exchange is two commands: for the tool's breaker and the server's.
    at_once = 2

    def begin(self) -> None:
        self.server.ask("ACL", "SETUSER", "default", "-fcall")

    def end(self) -> None:
        self.server.ask("ACL", "SETUSER", "default", "+fcall")

    def attempts(self) -> int:
        return self.server.asked("fcall")


@pytest.mark.parametrize("way", [HangsUp, Silent, Forbids])
def test_a_refusing_redis_is_tried_seldom(fleet, fake, redis, proxy, figure, way):
    upstream = fake()
    server = redis()
    between = proxy(server.port)
    gateways = fleet(REPLICAS, f"redis://127.0.0.1:{between.port}/0", upstream, BREAKER)
    refusing = way(server, between)
    cpu = {"shared": [], "alone": []}  # seconds a call
    attempts, attempted_for = 0, 0.0

    def work(load: FleetLoad, mode: str) -> None:
        began, before = time.monotonic(), sum(gateway.process.cpu_seconds() for gateway in gateways)
        time.sleep(ROUND)
        spent = sum(gateway.process.cpu_seconds() for gateway in gateways) - before
        cpu[mode].append(spent / len(load.between(began)))

    with FleetLoad(gateways, TOOL, RATE) as load:
        work(load, "shared")
        for _ in range(2):
            refusing.begin()
            gateways.wait_local(3)
            work(load, "alone")  # retries come at growing intervals in here
            began, before = time.monotonic(), refusing.attempts()
            work(load, "alone")
            attempts += refusing.attempts() - before
            attempted_for += time.monotonic() - began
            refusing.end()
            gateways.wait_shared(6)
            work(load, "shared")
    assert_all_answered(load.between())
    shared_cpu, alone_cpu = (statistics.median(cpu[mode]) * 1e6 for mode in ("shared", "alone"))
    a_replica = attempts / REPLICAS / attempted_for
    figure(
        f"Redis {way.__name__.lower()}",
        attempts=f"{a_replica:.2f} a second and replica, at {RATE / REPLICAS:.0f} calls",
        CPU_of_a_call=f"{alone_cpu:.0f} us alone, {shared_cpu:.0f} us shared",
        alone_again=f"{max(gateways.log_counts('board_local'))} times",
    )
    assert a_replica <= way.at_once / LAST_RETRY
    assert alone_cpu <= 1.2 * shared_cpu
    assert gateways.log_counts("board_local") == [2] * REPLICAS
    assert gateways.log_counts("board_shared") == [3] * REPLICAS


def test_keys_of_another_type_are_asked_for_no_oftener(fleet, fake, redis, figure):
    """Redis works, its keys do not: each breaker is decided alone, and looked for at growing intervals."""
    upstream = fake()
    server = redis()
    gateways = fleet(REPLICAS, server.url, upstream, BREAKER)
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(1)
        before = server.asked("fcall")
        time.sleep(ROUND)
        healthy = (server.asked("fcall") - before) / ROUND

        states = server.keys("*}:s:*")
        for key in states:
            server.ask("MULTI")
            server.ask("DEL", key)
            server.ask("SET", key, "mine")
            server.ask("EXEC")
        until(lambda: min(gateways.log_counts("board_local")) > 0, 2, "every log says it")
        before = server.asked("fcall")
        time.sleep(ROUND)
        wrong = (server.asked("fcall") - before) / ROUND
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 3)
        assert [server.ask("GET", key) for key in states] == [b"mine"] * len(states)

        for key in states:
            server.ask("DEL", key)
        until(lambda: set(server.keys("*}:s:*")) == set(states), 3, "the breakers are in Redis again")
        gateways.wait(TOOL, "open", 3)
        until(lambda: len({gateway.circuit(TOOL)["generation"] for gateway in gateways}) == 1, 3, "and shared")
        until(lambda: gateways.log_counts("board_shared") == [2] * REPLICAS, 3, "every log says that it is over")
    assert_all_answered(load.between())
    figure("WRONGTYPE at every key", commands=f"{wrong:.0f}/s, healthy {healthy:.0f}/s")
    assert wrong <= healthy / 2
    for gateway in gateways:
        told = [event["reason"] for event in events(gateway, "board_local")]
        assert len(told) == 1 and "WRONGTYPE" in told[0], (
            "a line when it begins; the rest is summed up ten seconds later"
        )


def test_a_hiccup_is_no_minute_alone(fleet, fake, redis, proxy, figure):
    """Half a second of latency costs about as much of sharing."""
    upstream = fake()
    between = proxy(redis().port)
    gateways = fleet(REPLICAS, f"redis://127.0.0.1:{between.port}/0", upstream, BREAKER)
    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(1)
        between.do(down={"delay": 0.5})
        time.sleep(0.5)
        between.heal()
        gateways.wait_shared(2)
        time.sleep(1)
    assert_all_answered(load.between())
    alone = [alone_for(gateway) for gateway in gateways]
    figure("a hiccup of 500 ms", alone=", ".join(f"{length:.2f} s" for length in alone))
    assert max(alone) <= 2
    assert max(gateways.log_counts("board_local")) <= 1
