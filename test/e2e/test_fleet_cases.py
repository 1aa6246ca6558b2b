"""What replicas count together: results of yesterday, which decide nothing, and how many of today it takes."""

import threading
import time

import pytest

from harness.fleet import QUICK, metric
from harness.load import percentile
from harness.mcp_client import McpClient
from harness.waiting import holds, until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

TOOL = "up__echo"
COOLDOWN = 1.0
WINDOW = 10.0
BREAKER = {
    **QUICK,
    "window": f"{WINDOW:.0f}s",
    "cooldown": f"{COOLDOWN:.0f}s",
    "probes_in_flight": 1,
    "probes_needed": 1,
}


def reaches(client: McpClient, upstream, tool: str = TOOL) -> bool:
    """Makes a call; whether the upstream saw it."""
    before = len(upstream.arrived("tools/call"))
    client.call(tool)
    return len(upstream.arrived("tools/call")) > before


# ---- RC-008: results of an earlier period


@pytest.mark.parametrize("layout", ["one gateway", "another gateway"])
def test_old_results_decide_nothing(fleet, fake, redis, layout):
    upstream = fake({"calls": {"echo": {"do": "answer", "delay": 4, "error_share": 0.4}}})
    # Ready is known before the slow script is: `wait` would call the tool.
    gateways = fleet(2, redis().url, upstream, {**BREAKER, "probe_timeout": "20s"}, wait=False)
    old_from, probe_from = gateways[0], gateways[0 if layout == "one gateway" else 1]
    replies: list = []

    def old_call() -> None:
        with McpClient(old_from.port) as client:
            replies.append(client.call(TOOL))

    old = [threading.Thread(target=old_call) for _ in range(5)]
    for thread in old:
        thread.start()
    until(lambda: len(upstream.arrived("tools/call")) == 5, 3, "five calls are under way")
    began = time.monotonic()
    gateways.trip(TOOL, upstream)
    arrived = len(upstream.arrived("tools/call"))

    upstream.call("echo", "answer", delay=6)
    with McpClient(probe_from.port) as client:
        probe = threading.Thread(target=lambda: until(lambda: reaches(client, upstream), 20, "a probe is sent"))
        probe.start()
        until(lambda: len(upstream.arrived("tools/call")) == arrived + 1, COOLDOWN + 2, "the probe is under way")
        until(lambda: set(gateways.states(TOOL)) == {"half_open"}, 1, "half open everywhere")
        assert time.monotonic() - began < 3.8, "too slow to tell: the old calls are over"
        stale = sum(metric(gateway, "switchgear_stale_results_total") for gateway in gateways)
        for thread in old:
            thread.join()
        # Nobody's old call frees the place that the probe has.
        with McpClient(old_from.port) as other:
            holds(
                lambda: set(gateways.states(TOOL)) == {"half_open"} and not reaches(other, upstream),
                1.0,
                "half open, and refusing",
            )
        assert len(upstream.arrived("tools/call")) == arrived + 1
        until(
            lambda: sum(metric(gateway, "switchgear_stale_results_total") for gateway in gateways) > stale,
            2,
            "the old results are counted as stale",
        )
        gateways.wait(TOOL, "closed", 10)
        probe.join()
    assert len(replies) == 5
    # Their callers got what the tool said, good or bad.
    assert all(reply.marker.get("steps", ["primary:ok"])[0] in ("primary:ok", "primary:failed") for reply in replies)


# ---- RC-010: how many calls it takes, over all


VOLUME = {**BREAKER, "error_rate": "50%", "minimum_calls": 10, "certainty": "none", "outage_threshold": 0}


def test_how_many_calls_it_takes_is_counted_over_all(fleet, fake, redis, figure):
    """One failure in a quiet window and nine of nine say nothing; ten open; and half open, every probe says all, however
    long ago the window was full."""
    rounds, late = 10, "up__late"
    upstream = fake({"server": {"tools": ["echo", "late"]}, "calls": {"*": {"do": "rpc_error", "code": -32603}}})
    gateways = fleet(3, redis().url, upstream, VOLUME, wait=False)

    def each_shows(failures: int, limit: float) -> None:
        for gateway in gateways:
            until(lambda gateway=gateway: gateway.circuit(TOOL)["failures"] == failures, limit, f"{failures} failures")

    gateways.call_each(late, 4)
    gateways.wait(late, "open", 3)
    gateways.call_each(TOOL, 3)
    each_shows(9, 3)
    assert gateways.states(TOOL) == ["closed"] * 3  # nine of nine are no 50 % of ten
    each_shows(0, WINDOW + 3)  # they have left the window
    with McpClient(gateways[0].port) as client:
        client.call(TOOL)
    each_shows(1, 3)
    assert gateways.states(TOOL) == ["closed"] * 3
    gateways.call_each(TOOL, 3)
    gateways.wait(TOOL, "open", 2)
    assert {change.reason for change in gateways.changes(TOOL)} == {"error_rate"}

    open_for = []
    clients = [McpClient(gateway.port).initialize() for gateway in gateways]
    for number in range(rounds):
        client = clients[number % 3]
        opened = time.monotonic()
        until(lambda client=client: reaches(client, upstream, late), COOLDOWN + 2, "a probe reaches the upstream")
        if number > 0:  # the first time is long over
            open_for.append(time.monotonic() - opened)
        gateways.wait(late, "open", 1)
    upstream.call("late", "answer")
    until(lambda: clients[0].call(late).marker == {}, COOLDOWN + 2, "a good probe")
    gateways.wait(late, "closed", 1)
    for client in clients:
        client.close()
    figure("each failing probe opens anew", open_for=f"{min(open_for):.2f} to {max(open_for):.2f} s, {rounds} times")
    assert COOLDOWN - 0.2 <= min(open_for) and max(open_for) <= COOLDOWN + 1  # once in ten times the machine is busy
    assert percentile(open_for, 0.5) <= COOLDOWN + 0.2
