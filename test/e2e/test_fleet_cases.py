"""Field cases of breakers that replicas share: probes that never settle, probes of everybody, results of yesterday, the
count of all, clocks and ticks."""

import threading
import time
from http.client import HTTPException

import pytest

from harness.fleet import Fleet, metric
from harness.mcp_client import McpClient
from harness.together import together
from harness.waiting import holds, until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

TOOL = "up__echo"
COOLDOWN = 1.0
PROBE_TIMEOUT = 2.0
LEASE = 1.0 + PROBE_TIMEOUT + 0.5  # use within, result within, and what the news may take
BREAKER = {
    "window": "10s",
    "cooldown": f"{COOLDOWN:.0f}s",
    "growth": 1,
    "jitter": "0%",
    "p99": "0s",
    "probe_share": "25%",
    "probes_in_flight": 1,
    "probes_needed": 1,
    "probe_failures_allowed": 0,
    "probe_timeout": f"{PROBE_TIMEOUT:.0f}s",
    "ramp": "0s",
}


def trip(gateways: Fleet, upstream) -> None:
    """Nine failures in a row over all gateways."""
    upstream.call("echo", "rpc_error", code=-32603)
    gateways.call_each(TOOL, 9 // len(gateways) + 2)
    gateways.wait(TOOL, "open", 3)


def reaches(client: McpClient, upstream) -> bool:
    before = len(upstream.arrived("tools/call"))
    client.call(TOOL)
    return len(upstream.arrived("tools/call")) > before


# ---- RC-005: a probe that never settles


def test_a_probe_without_an_answer_counts_as_failed_at_its_deadline(fleet, fake, redis, figure):
    upstream = fake()
    gateways = fleet(2, redis().url, upstream, BREAKER)
    trip(gateways, upstream)
    upstream.call("echo", "stall")

    with McpClient(gateways[0].port) as first, McpClient(gateways[1].port) as second:
        prober = threading.Thread(target=lambda: until(lambda: reaches(first, upstream), 20, "a probe is sent"))
        prober.start()
        until(lambda: upstream.state()["stalled"] == 1, COOLDOWN + 3, "the probe is held by the upstream")
        stalled_at = time.monotonic()
        upstream.call("echo", "answer")
        assert gateways.states(TOOL) == ["half_open", "half_open"]

        # The other replica may not probe beside it, and must as soon as the lease is over.
        until(lambda: second.call(TOOL).marker == {}, LEASE + COOLDOWN + 2, "another probe is admitted")
        took = time.monotonic() - stalled_at
        gateways.wait(TOOL, "closed", 2)
        prober.join()
    figure("a probe that is never answered", healthy_again=f"{took:.1f} s later (lease {LEASE:.1f} s)")
    reasons = [change.reason for change in gateways.changes(TOOL) if change.state == "open"]
    assert reasons[-1] in ("probes_failed", "probe_lost")


def test_a_probe_dies_with_its_gateway(fleet, fake, redis, figure):
    upstream = fake()
    gateways = fleet(2, redis().url, upstream, BREAKER)
    trip(gateways, upstream)
    upstream.call("echo", "stall")

    def probe_for_ever() -> None:
        try:
            with McpClient(gateways[0].port) as client:
                while True:
                    client.call(TOOL)
        except (OSError, HTTPException):
            return  # what a client sees of a killed server

    prober = threading.Thread(target=probe_for_ever)
    prober.start()
    until(lambda: upstream.state()["stalled"] == 1, COOLDOWN + 3, "the probe is under way")
    time.sleep(0.3)  # its use is known to the board
    gateways[0].abandon()
    killed_at = time.monotonic()
    prober.join()
    upstream.call("echo", "answer")

    with McpClient(gateways[1].port) as client:
        until(lambda: client.call(TOOL).marker == {}, LEASE + COOLDOWN + 2, "the survivor probes")
    took = time.monotonic() - killed_at
    until(lambda: gateways[1].state(TOOL) == "closed", 2, "and closes")
    figure("a probe whose gateway is killed", healthy_again=f"{took:.1f} s later (lease {LEASE:.1f} s)")


# ---- RC-007: everybody probes


def test_a_recovering_server_gets_the_permitted_probes_and_no_more(fleet, fake, redis, figure):
    needed = 3
    breaker = {**BREAKER, "probes_in_flight": needed, "probes_needed": needed, "probe_timeout": "10s"}
    upstream = fake()
    gateways = fleet(4, redis().url, upstream, breaker)
    trip(gateways, upstream)
    upstream.call("echo", "answer", delay=2)
    upstream.control(clear_journal=True)
    until(lambda: min(gateway.circuit(TOOL)["retry_after_ms"] for gateway in gateways) == 0, 3, "the cooldown is over")

    refusals: list[float] = []

    def calls(gateway) -> None:
        with McpClient(gateway.port) as client:
            for _ in range(10):
                started = time.monotonic()
                if client.call(TOOL).marker:
                    refusals.append(time.monotonic() - started)

    together([lambda gateway=gateway: calls(gateway) for gateway in gateways.gateways * 5])  # 200 calls
    gateways.wait(TOOL, "closed", 5)
    closings = until(
        lambda: [moments for moments in [[change.at for change in gateways.changes(TOOL) if change.state == "closed"]]
                 if len(moments) == len(gateways)],
        2, "every gateway logs it",
    )[0]  # fmt: skip
    closed = min(closings)
    skew = upstream.state()["now"] - time.monotonic()
    probes = [entry for entry in upstream.arrived("tools/call") if entry["at"] - skew < closed]

    refusals.sort()
    figure(
        "4 gateways, 200 calls at the end of a cooldown",
        reached_the_server=f"{len(probes)} (permitted {needed})",
        refused=f"{len(refusals)}, median {refusals[len(refusals) // 2] * 1e3:.1f} ms",
        all_agree=f"{(max(closings) - closed) * 1e3:.0f} ms after the verdict",
    )
    assert len(probes) == needed
    # A call may wait `probe_wait` for a probe's place to come free; the others are refused at once.
    assert refusals[len(refusals) // 2] < 0.06
    assert max(closings) - closed < 1


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
    trip(gateways, upstream)

    upstream.call("echo", "answer", delay=6)
    with McpClient(probe_from.port) as client:
        probe = threading.Thread(target=lambda: until(lambda: reaches(client, upstream), 20, "a probe is sent"))
        probe.start()
        until(lambda: set(gateways.states(TOOL)) == {"half_open"}, COOLDOWN + 2, "half open everywhere")
        assert time.monotonic() - began < 3.8, "too slow to tell: the old calls are over"
        stale = sum(metric(gateway, "switchgear_stale_results_total") for gateway in gateways)
        for thread in old:
            thread.join()
        holds(lambda: set(gateways.states(TOOL)) == {"half_open"}, 1.0, "the state after the old results")
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


def test_failures_of_all_replicas_are_one_count(fleet, fake, redis):
    upstream = fake()
    gateways = fleet(3, redis().url, upstream, VOLUME, wait=False)
    upstream.call("echo", "rpc_error", code=-32603)
    gateways.call_each(TOOL, 3)
    for gateway in gateways:
        until(lambda gateway=gateway: gateway.circuit(TOOL)["failures"] == 9, 3, "each shows the failures of all")
    assert gateways.states(TOOL) == ["closed"] * 3  # nine of nine are no 50 % of ten
    with McpClient(gateways[0].port) as client:
        client.call(TOOL)
    gateways.wait(TOOL, "open", 2)
    assert {change.reason for change in gateways.changes(TOOL)} == {"error_rate"}


def test_every_failing_probe_opens_again_whoever_sends_it(fleet, fake, redis):
    upstream = fake()
    gateways = fleet(3, redis().url, upstream, VOLUME, wait=False)
    upstream.call("echo", "rpc_error", code=-32603)
    gateways.call_each(TOOL, 4)
    gateways.wait(TOOL, "open", 3)
    for round_number in range(6):
        with McpClient(gateways[round_number % 3].port) as client:
            opened = time.monotonic()
            until(lambda client=client: reaches(client, upstream), COOLDOWN + 2, "a probe reaches the upstream")
            assert COOLDOWN - 0.2 <= time.monotonic() - opened <= COOLDOWN + 0.8
        gateways.wait(TOOL, "open", 1)
    upstream.call("echo", "answer")
    with McpClient(gateways[0].port) as client:
        until(lambda: client.call(TOOL).marker == {}, COOLDOWN + 2, "a good probe")
    gateways.wait(TOOL, "closed", 1)
