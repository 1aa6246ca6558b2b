"""Eight gateways, one Redis, one breaker: what one sees all know, nobody probes on his own, and all come back."""

import time

import pytest

from harness.fleet import QUICK, FleetLoad, assert_all_answered, metric
from harness.load import percentile
from harness.waiting import until

pytestmark = [pytest.mark.timing, pytest.mark.slow]

REPLICAS = 8
ROUNDS = 20
RATE = 80  # calls a second, over all
TOOL = "up__echo"
COOLDOWN = 1.0
CAP = 3
NEEDED = 4
PROBE_WAIT = 0.05
BREAKER = {**QUICK, "cooldown": f"{COOLDOWN:.0f}s", "probes_in_flight": CAP, "probes_needed": NEEDED}


def most_at_once(moments: list[float], length: float) -> int:
    """How many of the calls that arrived at these moments were under way together, if each took `length`."""
    return max((sum(start <= other < start + length for other in moments) for start in moments), default=0)


def first_knowledge(changes, state: str, after: float) -> dict[int, float]:
    """When each gateway came to know of it."""
    known: dict[int, float] = {}
    for change in changes:
        if change.state == state and change.at >= after:
            known.setdefault(change.gateway, change.at)
    return known


def test_eight_gateways_have_one_breaker(fleet, fake, redis, figure):
    upstream = fake()
    server = redis()
    gateways = fleet(REPLICAS, server.url, upstream, BREAKER)
    detected, spread, recovered, probes_at_once, probes, admitted_late = [], [], [], [], [], 0

    with FleetLoad(gateways, TOOL, RATE) as load:
        time.sleep(1)  # healthy traffic
        for _ in range(ROUNDS):
            broken_at = time.monotonic()
            upstream.call("echo", "rpc_error", code=-32603)
            gateways.wait(TOOL, "open", 5)
            probe_length = 0.1
            upstream.call("echo", "answer", delay=probe_length)  # mended before the cooldown ends
            gateways.wait(TOOL, "closed", COOLDOWN + 5)

            # A log's line may come after the state that it tells of.
            until(
                lambda began=broken_at: len(first_knowledge(gateways.changes(TOOL), "closed", began)) == REPLICAS,
                2,
                "all log it",
            )
            changes = gateways.changes(TOOL)
            opened = first_knowledge(changes, "open", broken_at)
            closed = first_knowledge(changes, "closed", broken_at)
            assert len(opened) == REPLICAS
            assert {change.reason for change in changes if change.state == "open"} == {"outage"}
            first = min(opened.values())
            detected.append(first - broken_at)
            spread.append(max(opened.values()) - first)
            recovered.append(min(closed.values()) - first)

            half_open = min(first_knowledge(changes, "half_open", broken_at).values())
            for index, known_at in opened.items():
                # The log's clock has whole milliseconds; and a call may wait for the first probe's place.
                sent = load.loads[index].between(known_at + 0.002, half_open - PROBE_WAIT - 0.01)
                admitted_late += sum(not sample.refused for sample in sent)
            skew = upstream.state()["now"] - time.monotonic()
            arrivals = [
                entry["at"] - skew
                for entry in upstream.arrived("tools/call")
                if max(opened.values()) + 0.05 < entry["at"] - skew < min(closed.values())
            ]
            probes.append(len(arrivals))
            probes_at_once.append(most_at_once(arrivals, probe_length))
            upstream.call("echo", "answer")
            upstream.control(clear_journal=True)

    assert_all_answered(load.between())
    figure(
        f"{REPLICAS} gateways, {ROUNDS} trips",
        detected=f"{percentile(detected, 0.5) * 1e3:.0f} ms, p99 {percentile(detected, 0.99) * 1e3:.0f} ms",
        known_by_all=f"{percentile(spread, 0.5) * 1e3:.0f} ms after the first, p99 {percentile(spread, 0.99) * 1e3:.0f} ms",
        probes=f"{max(probes)} at most, {max(probes_at_once)} at once (cap {CAP})",
        closed=f"{percentile(recovered, 0.5):.2f} s after the trip, slowest {max(recovered):.2f} s",
        admitted_while_known_open=admitted_late,
    )
    assert percentile(spread, 0.99) <= 0.25
    assert max(probes_at_once) <= CAP
    assert max(recovered) <= COOLDOWN + 3
    assert admitted_late == 0

    generations = [change.generation for change in gateways.changes(TOOL) if change.gateway == 0]
    assert generations == sorted(generations)


def test_an_outage_is_found_by_the_sum_of_all(fleet, fake, redis, figure):
    """Ten calls a second over eight gateways: one alone would need seven seconds for its nine failures."""
    upstream = fake()
    gateways = fleet(REPLICAS, redis().url, upstream, {**BREAKER, "cooldown": "30s"})
    with FleetLoad(gateways, TOOL, 10) as load:
        time.sleep(2)
        upstream.call("echo", "rpc_error", code=-32603)
        gateways.wait(TOOL, "open", 5)
    failed = [
        sample for sample in load.between() if sample.message and "error" in sample.message and not sample.refused
    ]
    opened = first_knowledge(gateways.changes(TOOL), "open", 0)
    took = max(opened.values()) - failed[0].answered_at
    figure("10 calls/s over 8 gateways", open_everywhere=f"{took:.2f} s after the first failed call")
    assert took <= 1.2 + 0.25


def test_one_sick_gateway_opens_for_itself_alone(fleet, fake, redis, proxy):
    """A gateway whose own road to the tool is broken keeps away from it; the others, who see it work, go on."""
    upstream = fake()
    server = redis()
    others = fleet(3, server.url, upstream, BREAKER)
    road = proxy(upstream.port)

    class Detour:
        url = f"http://127.0.0.1:{road.port}/mcp"

    sick = fleet(1, server.url, Detour, BREAKER)
    with FleetLoad(others, TOOL, 30), FleetLoad(sick, TOOL, 30) as load:
        time.sleep(1.5)
        road.do(refuse=True, cut=1)
        until(lambda: sick[0].state("up", "server") == "open", 10, "the sick gateway keeps away")
        time.sleep(1)
        assert {other.state("up", "server") for other in others} == {"closed"}
        road.do(refuse=False)
        until(lambda: sick[0].state("up", "server") == "closed", COOLDOWN + 5, "and comes back")
    assert_all_answered([sample for sample in load.between() if sample.refused or sample.served_by == "primary"])
    assert not [change for change in others.changes("server:up") if change.state == "open"]


def test_figures_of_the_board(fleet, fake, redis):
    gateways = fleet(3, redis().url, fake(), BREAKER)
    with FleetLoad(gateways, TOOL, 30):
        until(lambda: metric(gateways[0], "switchgear_board_replicas") == 3, 5, "three replicas are seen")
        answered = metric(gateways[0], "switchgear_board_flushes_total", result="answered")
        until(
            lambda: metric(gateways[0], "switchgear_board_flushes_total", result="answered") > answered + 5,
            5,
            "flushes are answered",
        )
    assert metric(gateways[0], "switchgear_board_flush_seconds_sum") > 0
    flushes = metric(gateways[0], "switchgear_board_flush_seconds_count")
    assert flushes > answered + 5
    assert metric(gateways[0], "switchgear_board_flush_seconds_bucket", le="+Inf") >= flushes
    assert metric(gateways[0], "switchgear_board_flush_seconds_bucket", le="0.05") > 0, "the timeout is 50 ms"
    assert metric(gateways[0], "switchgear_board_losses_total") == 0
