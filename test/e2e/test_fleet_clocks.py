"""Wall clocks that differ and jump, on the gateways and on Redis' own host: breakers go by none of them. And events
that fall into one tick: each counts."""

import asyncio
import json
import statistics
import time
from contextlib import ExitStack
from dataclasses import astuple, dataclass

import pytest

from harness.clock import WallClock
from harness.fleet import QUICK, Fleet, FleetLoad, assert_all_answered
from harness.load import read_answer
from harness.mcp_client import McpClient
from harness.watch import Watch
from harness.waiting import holds, until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

TOOL = "up__echo"
RATE = 90
COOLDOWN = 1.5
POLL = 0.02  # how exactly a change can be seen from outside
PROBE = 0.1  # a probe's length, several polls
SAME_TIME = 0.1 + POLL
BREAKER = {**QUICK, "cooldown": "1500ms", "probes_in_flight": 3, "probes_needed": 2}


@dataclass
class Life:
    """How long the parts of a trip took, for the gateway that was last to know. Seconds."""

    detected: float
    open: float
    half_open: float

    def __str__(self) -> str:
        return f"{self.detected * 1e3:.0f} + {self.open * 1e3:.0f} + {self.half_open * 1e3:.0f} ms"


class Observed:
    """A fleet under load, every gateway followed: by the lengths that it tells, which no clock of a wall is in."""

    def __init__(self, gateways: Fleet, upstream):
        self.gateways = gateways
        self.upstream = upstream
        self.load = FleetLoad(gateways, TOOL, RATE)
        self.watches = [Watch(gateway, every=POLL) for gateway in gateways]
        self.stack = ExitStack()

    def __enter__(self) -> "Observed":
        for each in (self.load, *self.watches):
            self.stack.enter_context(each)
        time.sleep(1)
        return self

    def __exit__(self, *_) -> None:
        self.stack.close()

    def last(self, state: str, after: float) -> float:
        """When the last gateway came to it."""

        def all_know() -> list:
            found = [watch.first(state, after, TOOL) for watch in self.watches]
            return found if all(found) else []

        return max(change.at for change in until(all_know, COOLDOWN + 5, f"{state} everywhere"))

    def trip(self, meanwhile=lambda: None) -> Life:
        """A short outage from beginning to end; `meanwhile` is done in the middle of the open time."""
        broken_at = time.monotonic()
        self.upstream.call("echo", "rpc_error", code=-32603)
        opened = self.last("open", broken_at)
        self.upstream.call("echo", "answer", delay=PROBE)
        time.sleep(max(0.0, opened + COOLDOWN / 2 - time.monotonic()))
        meanwhile()
        half_open = self.last("half_open", broken_at)
        closed = self.last("closed", broken_at)
        self.upstream.call("echo", "answer")
        time.sleep(0.3)
        return Life(opened - broken_at, half_open - opened, closed - half_open)


def middle(lives: list[Life]) -> Life:
    return Life(*(statistics.median(parts) for parts in zip(*map(astuple, lives))))


# ---- RC-061


def test_clocks_that_differ_move_nothing(fleet, fake, redis, tmp_path, figure):
    """Minus 5 s, right, plus 5 s; in the middle one jumps back by a minute, then by the time of day."""
    rounds = 3
    upstream = fake()
    equal = fleet(3, redis().url, upstream, BREAKER)
    with Observed(equal, upstream) as observed:
        expected = middle([observed.trip() for _ in range(rounds)])
    assert_all_answered(observed.load.between())

    clocks = [WallClock(tmp_path, f"gateway-{offset}", offset) for offset in (-5, 0, 5)]
    differing = fleet(3, redis().url, upstream, BREAKER, clocks=clocks)
    steps = iter((-60, +3600, -3600))
    with Observed(differing, upstream) as observed:
        found = middle([observed.trip(lambda: clocks[1].step(next(steps))) for _ in range(rounds)])
    assert_all_answered(observed.load.between())
    figure("clocks -5, 0, +5 s, one jumps", detected_open_half_open=found, with_equal_clocks=expected)
    assert abs(found.detected - expected.detected) <= SAME_TIME
    assert abs(found.open - expected.open) <= SAME_TIME
    assert abs(found.half_open - expected.half_open) <= SAME_TIME
    assert differing.log_counts("board_local") == [0, 0, 0]


def test_redis_clock_steps_and_no_breaker_is_freed_or_frozen(fleet, fake, redis, tmp_path, figure):
    upstream = fake()
    clock = WallClock(tmp_path, "redis")
    gateways = fleet(3, redis(clock=clock).url, upstream, BREAKER)
    lives: dict[str, Life] = {}
    with Observed(gateways, upstream) as observed:
        lives["steady"] = observed.trip()
        for seconds in (-60, -0.7, -3600):
            lives[f"{seconds} s"] = observed.trip(lambda seconds=seconds: clock.step(seconds))
        lives["+2 s"] = observed.trip(lambda: clock.step(2))
        lives["afterwards"] = observed.trip()
    assert_all_answered(observed.load.between())
    figure("Redis' clock steps while open", **{name: f"{life.open:.2f} s" for name, life in lives.items()})
    for name in ("steady", "-60 s", "-3600 s", "afterwards"):
        # A step costs what has passed since the last exchange, which comes each 100 ms.
        assert abs(lives[name].open - COOLDOWN) <= SAME_TIME + 0.1, name
    # A step of less than a second is waited out: it may be a correction that goes on.
    assert COOLDOWN - SAME_TIME <= lives["-0.7 s"].open <= COOLDOWN + 0.7 + SAME_TIME + 0.1
    # Forwards, probing may begin early, and no more than that.
    assert lives["+2 s"].open <= COOLDOWN + SAME_TIME
    assert gateways.log_counts("board_local") == [0, 0, 0]


def test_redis_clock_steps_while_closed_and_nothing_is_lost(fleet, fake, redis, tmp_path):
    """Totals stay what they were: a backward step keeps the window, and new calls are added to it."""
    never = {**BREAKER, "window": "60s", "minimum_calls": 10000, "outage_threshold": 0}
    upstream = fake()
    clock = WallClock(tmp_path, "redis")
    server = redis(clock=clock)
    gateways = fleet(2, server.url, upstream, never, wait=False)
    expected = 0

    def known() -> set[int]:
        return {gateway.circuit(TOOL)["calls"] for gateway in gateways}

    for seconds in (0, -60, -0.5, -7200):
        clock.step(seconds)
        gateways.call_each(TOOL, 20)
        expected += 40
        until(lambda: known() == {expected}, 3, f"{expected} calls after {seconds} s")
    holds(lambda: known() == {expected}, 1.2, "all that was counted")
    for key in server.keys("*}:s:*"):
        assert server.ask("PTTL", key) >= 60_000, f"{key} may go within the window"


async def fail_together(gateways: Fleet, each: int, held, break_it) -> float:
    """`each` calls on every gateway are under way when `break_it` is called. Seconds from then to the last answer."""
    exchanges = []
    for gateway in gateways:
        with McpClient(gateway.port) as client:
            session, version = client.session, client.version
        for number in range(each):
            parameters = {"name": TOOL, "arguments": {}}
            body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": parameters}).encode()
            head = (
                f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n"
                f"Mcp-Session-Id: {session}\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
            writer.write(head.encode() + body)
            exchanges.append((reader, writer))
    deadline = time.monotonic() + 20
    while held() < len(exchanges):
        assert time.monotonic() < deadline, f"{held()} of {len(exchanges)} calls are under way"
        await asyncio.sleep(0.05)
    broken_at = time.monotonic()
    break_it()
    answers = await asyncio.wait_for(asyncio.gather(*(read_answer(reader) for reader, _ in exchanges)), 20)
    took = time.monotonic() - broken_at
    for _, writer in exchanges:
        writer.close()
    assert {status for status, _, _ in answers} == {200}
    return took


def test_a_thousand_failures_at_once_are_a_thousand(fleet, fake, redis, figure):
    """The server dies under a thousand calls: every connection breaks in the same instant, on all gateways."""
    each = 334
    watched = {**BREAKER, "mode": "observe", "window": "60s"}
    upstream = fake({"calls": {"echo": {"do": "stall"}}})
    gateways = fleet(3, redis().url, upstream, watched, wait=False)
    took = asyncio.run(fail_together(gateways, each, lambda: upstream.state()["stalled"], upstream.kill))
    total = 3 * each

    def failures() -> list[int]:
        return [gateway.circuit("up", "server")["failures"] for gateway in gateways]

    until(lambda: failures() == [total] * 3, 3, f"every gateway shows {total} failures", every=0.1)
    holds(lambda: failures() == [total] * 3, 1.2, "and no more", every=0.2)
    figure(f"{total} calls fail at once", last_answer_after=f"{took * 1e3:.0f} ms", counted=total)
