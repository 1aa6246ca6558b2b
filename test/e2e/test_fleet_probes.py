"""Probes of breakers that replicas share: those that never settle, and those of everybody at once."""

import threading
import time
from http.client import HTTPException

import pytest

from harness.fleet import QUICK, FleetLoad, assert_all_answered
from harness.load import percentile
from harness.mcp_client import McpClient
from harness.together import together
from harness.waiting import until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

TOOL = "up__echo"
COOLDOWN = 1.0
PROBE_TIMEOUT = 2.0
LEASE = 1.0 + PROBE_TIMEOUT + 0.5  # use within, result within, and what the news may take
BREAKER = {
    **QUICK,
    "cooldown": f"{COOLDOWN:.0f}s",
    "probes_in_flight": 1,
    "probes_needed": 1,
    "probe_timeout": f"{PROBE_TIMEOUT:.0f}s",
}


def reaches(client: McpClient, upstream) -> bool:
    """Makes a call; whether the upstream saw it."""
    before = len(upstream.arrived("tools/call"))
    client.call(TOOL)
    return len(upstream.arrived("tools/call")) > before


# ---- RC-005: a probe that never settles


def test_a_probe_without_an_answer_counts_as_failed_at_its_deadline(fleet, fake, redis, figure):
    upstream = fake()
    gateways = fleet(2, redis().url, upstream, BREAKER)
    gateways.trip(TOOL, upstream)
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
    assert took <= PROBE_TIMEOUT + COOLDOWN + 1
    figure("a probe that is never answered", healthy_again=f"{took:.1f} s later (lease {LEASE:.1f} s)")
    reasons = [change.reason for change in gateways.changes(TOOL) if change.state == "open"]
    assert reasons[-1] == "probes_failed", "the stalled probe itself counts"


def test_a_probe_dies_with_its_gateway(fleet, fake, redis, figure):
    upstream = fake()
    gateways = fleet(2, redis().url, upstream, BREAKER)
    gateways.trip(TOOL, upstream)
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
    assert took <= LEASE + COOLDOWN + 1
    figure("a probe whose gateway is killed", healthy_again=f"{took:.1f} s later (lease {LEASE:.1f} s)")


def test_a_cancelled_probe_gives_its_place_back(fleet, fake, redis, figure):
    """Its caller wants no answer any more: it says nothing about the tool, and another may take its place."""
    upstream = fake()
    gateways = fleet(2, redis().url, upstream, BREAKER)
    gateways.trip(TOOL, upstream)
    upstream.call("echo", "stall")

    with (
        McpClient(gateways[0].port) as first,
        McpClient(gateways[0].port) as same,
        McpClient(gateways[1].port) as second,
    ):
        same.session, same.version = first.session, first.version
        prober = threading.Thread(target=lambda: until(lambda: reaches(first, upstream), 20, "a probe is sent"))
        prober.start()
        until(lambda: upstream.state()["stalled"] == 1, COOLDOWN + 3, "the probe is under way")
        upstream.call("echo", "answer")
        cancelled = {"requestId": first.next_id - 1}
        same.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        cancelled_at = time.monotonic()
        until(lambda: second.call(TOOL).marker == {}, PROBE_TIMEOUT, "another probe is admitted")
        took = time.monotonic() - cancelled_at
        gateways.wait(TOOL, "closed", 2)
        prober.join()
    figure("a cancelled probe", healthy_again=f"{took:.1f} s later (lease {LEASE:.1f} s)")
    assert [change.reason for change in gateways.changes(TOOL) if change.state == "open"] == ["outage"] * 2


# ---- RC-007: everybody probes


def test_a_recovering_server_gets_the_permitted_probes_and_no_more(fleet, fake, redis, figure):
    """200 calls come at the end of the open time, from all sides, to a server that is back and takes 2 s a call."""
    needed, rate = 3, 100
    breaker = {**BREAKER, "probes_in_flight": needed, "probes_needed": needed, "probe_timeout": "10s"}
    upstream = fake()
    gateways = fleet(4, redis().url, upstream, breaker)
    gateways.trip(TOOL, upstream)
    upstream.call("echo", "answer", delay=2)
    upstream.control(clear_journal=True)
    left = max(gateway.circuit(TOOL)["retry_after_ms"] for gateway in gateways) / 1000
    time.sleep(max(0.0, left - 0.1))
    with FleetLoad(gateways, TOOL, rate) as load:
        time.sleep(200 / rate)
    gateways.wait(TOOL, "closed", 5)
    closings = until(
        lambda: [moments for moments in [[change.at for change in gateways.changes(TOOL) if change.state == "closed"]]
                 if len(moments) == len(gateways)],
        2, "every gateway logs it",
    )[0]  # fmt: skip
    skew = upstream.state()["now"] - time.monotonic()
    probes = [entry for entry in upstream.arrived("tools/call") if entry["at"] - skew < min(closings)]
    calls = load.between()
    assert_all_answered(calls)
    refusals = sorted(sample.took for sample in calls if sample.refused)
    waited = sum(took >= 0.02 for took in refusals)
    figure(
        f"4 gateways, {len(calls)} calls at the end of an open time",
        reached_the_server=f"{len(probes)} (permitted {needed})",
        refused=f"{len(refusals)}, median {percentile(refusals, 0.5) * 1e3:.1f} ms, p95 {percentile(refusals, 0.95) * 1e3:.1f} ms",
        waited_for_a_place=waited,
        all_agree=f"{(max(closings) - min(closings)) * 1e3:.0f} ms after the verdict",
    )
    assert len(probes) == needed
    assert len(refusals) == len(calls) - needed
    assert percentile(refusals, 0.95) < 0.02
    # One call a gateway may wait `probe_wait` for a place, once when the open time ends and once when places run out.
    assert waited <= 2 * len(gateways)
    assert max(closings) - min(closings) < 1


def test_twenty_breakers_that_open_together_do_not_probe_together(fleet, fake, redis, figure):
    """Jitter spreads their first probes; five tools without it show what they would do else."""
    cooldown, jitter, slot = 2.0, 0.5, 0.2
    spread = [f"spread{number}" for number in range(20)]
    in_step = [f"step{number}" for number in range(5)]
    breaker = {**BREAKER, "cooldown": f"{cooldown:.0f}s", "jitter": f"{jitter:.0%}"}
    upstream = fake({"server": {"tools": spread + in_step}, "calls": {"*": {"do": "rpc_error", "code": -32603}}})
    tools = {"up__step*": {"breaker": {"jitter": "0%"}}}
    gateways = fleet(4, redis().url, upstream, breaker, wait=False, tools=tools)
    names = [f"up__{tool}" for tool in spread + in_step]

    def call_all(gateway, times: int, until_closed: bool) -> None:
        with McpClient(gateway.port) as client:
            while times > 0 and not (until_closed and all(gateway.state(name) == "closed" for name in names)):
                times -= 1
                for name in names:
                    client.call(name)

    together([lambda gateway=gateway: call_all(gateway, 4, False) for gateway in gateways])
    for name in names:
        gateways.wait(name, "open", 2)
    upstream.control(calls={"*": {"do": "answer"}}, clear_journal=True)
    together([lambda gateway=gateway: call_all(gateway, 1000, True) for gateway in gateways])
    for name in names:
        gateways.wait(name, "closed", 2)

    skew = upstream.state()["now"] - time.monotonic()
    first: dict[str, float] = {}  # how long after the trip its first probe came
    for entry in upstream.arrived("tools/call"):
        first.setdefault(entry["name"], entry["at"] - skew)
    for tool in first:
        first[tool] -= next(change.at for change in gateways.changes(f"up__{tool}") if change.state == "open")
    at = sorted(first[tool] for tool in spread)
    most = max(sum(start <= other < start + slot for other in at) for start in at)
    alike = [first[tool] for tool in in_step]
    figure(
        "20 breakers open together",
        first_probes=f"{at[0]:.2f} to {at[-1]:.2f} s after, {most} at most in {slot * 1e3:.0f} ms",
        without_jitter=f"{min(alike):.2f} to {max(alike):.2f} s",
    )
    assert cooldown * (1 - jitter) <= at[0] and at[-1] <= cooldown * (1 + jitter) + 0.5
    assert at[-1] - at[0] >= cooldown * jitter, "half of the width that chance has"
    assert most <= len(spread) // 2
    assert max(alike) - min(alike) <= 0.3 and min(alike) >= cooldown - 0.01
